"""Kernels of clusters by the model: what comes for several blocks is read once, arrivals elsewhere and meetings take their time."""

from __future__ import annotations

import pytest
from cluster_kernels import of_blocks
from contexts import one_context
from group_mutants import RingMutant
from hopper import Product

from weft.dsl.diagnostics import WeftError
from weft.interpreter.ir.mlir import parse
from weft.runtime.cuda.module import emit
from weft.runtime.cuda.nvrtc import compile_cubin
from weft.runtime.host.host import make_plan
from weft.runtime.predict.chips import chip_named
from weft.runtime.predict.prediction import KernelPrediction, predict
from weft.runtime.predict.processor.clocks import Clocks
from weft.runtime.predict.processor.ports import PORT, MemoryPorts
from weft.runtime.predict.sass import clusters
from weft.runtime.predict.signals import BEFORE, BarrierUse, MemoryBarrier

LARGE = Product(2048, 1024, 4096, 128, 128, stages=4)


def predicted(text: str, change: tuple[str, str] = ("", "")) -> KernelPrediction:
    module = parse(text, one_context())
    cuda = emit(module)
    assert change[0] in cuda
    (found,) = predict(make_plan(module), cuda.replace(*change), chip_named("h100")).kernels
    return found


def pair(product: Product = LARGE) -> RingMutant:
    return RingMutant(of_blocks(product, 2), frozenset(), product)


def test_what_comes_for_two_blocks_is_read_once() -> None:
    """The tiles are square: half of A's and all of B's is three quarters of what a block alone reads."""
    alone, both = predicted(LARGE.ring()), predicted(pair().text())
    read = [found.busy["L2"] * found.seconds for found in (alone, both)]
    h100 = chip_named("h100")
    stored = 4 * LARGE.m * LARGE.n * h100.l2 / h100.l2_stores
    loaded = (LARGE.bm + LARGE.bn) * LARGE.k * 2 * (LARGE.m // LARGE.bm) * (LARGE.n // LARGE.bn)
    assert read[1] / read[0] == pytest.approx((0.75 * loaded + stored) / (loaded + stored), rel=0.01)
    assert (alone.cluster, both.cluster) == (1, 2) and alone.flops == both.flops == 2 * LARGE.m * LARGE.n * LARGE.k


def test_fences_of_arrivals_take_their_time() -> None:
    """An arrival elsewhere that releases stands behind a fence for the whole chip; relaxed ones are without, and clusters pay."""
    alone, both = predicted(LARGE.ring()), predicted(pair().text())
    fenced = predicted(pair().text(), ("mbarrier.arrive.shared::cluster", "mbarrier.arrive.release.cluster.shared::cluster"))
    assert both.seconds < fenced.seconds and both.seconds < alone.seconds


def test_what_waits_for_ever_in_a_cluster() -> None:
    with pytest.raises(WeftError, match=r"W0782: .*warps wait at a memory barrier forever"):
        predicted(pair().text(), ("(unsigned short)3", "(unsigned short)1"))


def test_multiprocessors_that_clusters_may_have() -> None:
    h100 = chip_named("h100")
    assert sum(h100.groups) == h100.processors == h100.usable(1) == h100.usable(2) == 132
    assert h100.usable(4) == h100.usable(8) == 128 and chip_named("a100").usable(1) == 108


def test_a_cubin_tells_the_clusters() -> None:
    texts = "".join(f'extern "C" __global__ void {say} {name}(int* a) {{ *a = 1; }}\n' for say, name in (
        ("__cluster_dims__(2, 1, 1)", "two"), ("", "alone"), ("__cluster_dims__(1, 4, 2)", "eight")
    ))  # fmt: skip
    assert clusters(compile_cubin(texts, "sm_90a").cubin) == {"two": (2, 1, 1), "eight": (1, 4, 2)}


def test_what_a_multiprocessor_takes_in() -> None:
    unit = MemoryPorts(32.0, 16.0, 8, Clocks())
    assert unit.read(64, 10.0) == 12.0 and unit.read(64, 0.0) == 14.0 and unit.write(64, 0.0) == 18.0
    assert unit.take(640, 100.0) == 100.0 + 640 / PORT


def test_an_arrival_from_elsewhere_comes_later() -> None:
    barrier = MemoryBarrier(2, 2)
    assert barrier.change(10, 1, 0, 0, 190.0) == [] and barrier.change(20, 1, 0) == [] and barrier.over(0) == 190.0


def test_who_is_late_has_waited_all_the_same() -> None:
    barrier = MemoryBarrier(1, 1)
    assert barrier.over(1, BEFORE) == 0.0 and barrier.passed(1, BEFORE) == -1 and barrier.over(0, -1) is None
    barrier.change(5, 1, 0)
    assert barrier.over(0, -1) == 5.0 and barrier.passed(0, -1) == 0
    barrier.change(7, 1, 0)
    assert barrier.over(0, -1) == 7.0 and barrier.passed(0, -1) == 0, "it waited for phase 0, not for phase 2"
    assert barrier.over(0, 0) is None and barrier.over(1, 0) == 7.0 and barrier.passed(1, 0) == 1


def test_a_box_is_for_the_blocks_of_its_mask() -> None:
    assert BarrierUse("load", 0, 128, 0b1010).for_blocks(0) == [1, 3] and BarrierUse("load", 0, 128).for_blocks(0) == []
