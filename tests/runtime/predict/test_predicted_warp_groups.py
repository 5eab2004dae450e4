"""Kernels of warp groups by the model: what it counts, what limits, and how the steps of a well-known ladder compare."""

from __future__ import annotations

import pytest
from contexts import one_context
from hopper import Product

from weft.dsl.diagnostics import WeftError
from weft.interpreter.ir.mlir import parse
from weft.runtime.cuda.module import emit
from weft.runtime.host.host import make_plan
from weft.runtime.predict.chips import chip_named
from weft.runtime.predict.prediction import KernelPrediction, predict
from weft.runtime.predict.signals import MemoryBarrier


def predicted(product: Product, kind: str, change: tuple[str, str] = ("", "")) -> KernelPrediction:
    module = parse(getattr(product, kind)(), one_context())
    text = emit(module)
    assert change[0] in text
    (found,) = predict(make_plan(module), text.replace(*change), chip_named("h100")).kernels
    return found


def test_a_ladder() -> None:
    """fast.cu on an H100, bf16, 4096: 317, 498, 631 TFLOP/s; the model has no power limit but of the tensor cores."""
    n = 4096
    one = predicted(Product(n, n, n, 64, 64, stages=1, consumers=1), "together")
    ring = predicted(Product(n, n, n, 128, 128, stages=5, consumers=1), "ring")
    wide = predicted(Product(n, n, n, 128, 256), "ring")
    assert one.flops == ring.flops == wide.flops == 2 * n**3
    for found, published in ((one, 317), (ring, 498), (wide, 631)):
        assert 0.95 < found.rate / 1e12 / published < 1.3
    assert one.rate < ring.rate < wide.rate and wide.limit == "tensor cores"
    assert wide.peak == chip_named("h100").tensor_peak("bf16") and 0.85 < wide.busy["tensor cores"] < 1


def test_types_have_their_rates() -> None:
    half = predicted(Product(1024, 1024, 2048, 128, 256, type="f16"), "ring")
    single = predicted(Product(1024, 1024, 2048, 128, 256, bk=32, type="f32", by_rows=False), "ring")
    assert single.peak == half.peak / 2 and 0.35 < single.rate / half.rate < 0.65


def test_a_producer_that_waits_for_copies_before_it_starts_the_next_is_slower() -> None:
    product = Product(1024, 1024, 4096, 128, 256)
    alone = predicted(Product(1024, 1024, 4096, 128, 256, stages=1), "ring")
    assert predicted(product, "ring").seconds < 0.7 * alone.seconds
    assert alone.issue["waiting at memory barriers"] > 0.4


def test_waits_for_what_never_comes() -> None:
    with pytest.raises(WeftError, match=r"W0782: .*warps wait at a memory barrier forever"):
        predicted(Product(), "ring", ("barrier_expect(&full[d0], 49152);", "barrier_expect(&full[d0], 49168);"))


def test_a_phase_ends_with_its_last_arrival_and_its_last_bytes() -> None:
    barrier = MemoryBarrier(2, 2)
    assert barrier.over(1) == 0.0 and barrier.over(0) is None
    barrier.waiting.append("warp")
    assert barrier.change(10, 1, 64) == [] and barrier.change(11, 0, 0, 64, 500.0) == []
    assert barrier.change(20, 1, 0) == ["warp"] and barrier.over(0) == 500.0 and barrier.over(1) is None
