"""Layouts that put several indices at one address: the proof, the simulator and brute force agree on what races.

40 kernels in a test run, 12,000 in a soak (`WEFT_SOAK`).
"""

from __future__ import annotations

import itertools
import os
import random
from collections import Counter

import pytest
from contexts import one_context
from layout_kernels import LayoutKernel

from weft.interpreter.ir import mlir
from weft.interpreter.memory.layouts import MemrefLayout
from weft.interpreter.proof.hosts.windows import HostBuffer, Window
from weft.interpreter.proof.kernels.kernels import kernel_model
from weft.interpreter.proof.races.conflicts import conflicts, conflicts_between_blocks
from weft.runtime.simulator.kernel import SimKernel

BATCHES, KERNELS = (60, 200) if "WEFT_SOAK" in os.environ else (1, 40)


@pytest.mark.parametrize("batch", range(BATCHES))
def test_three_witnesses_agree(batch: int) -> None:
    counts: Counter[str] = Counter()
    for seed in range(batch * KERNELS, (batch + 1) * KERNELS):
        kernel = LayoutKernel(seed, open_strides=seed % 4 == 0)
        where = f"seed {seed}\n{kernel.text}"
        module = mlir.parse(kernel.text, one_context())
        function = next(mlir.operations(module.operation, "gpu.func"))
        model = kernel_model(function)
        found = conflicts(model) + conflicts_between_blocks(model)
        is_open = any(root.open - {-1} for root in kernel.roots)
        assert bool(found) or not kernel.racy, f"a race is missed: {where}"
        assert kernel.racy or all(c.assumed for c in found), f"a race that is none is called definite: {where}"
        assert bool(found) == kernel.racy or is_open, f"what is known is not decided: {where}"
        report = SimKernel(function).launch((kernel.grid, 1, 1), (*kernel.block, 1), [m.array() for m in kernel.arguments])
        assert bool(report.races) == kernel.racy, f"the simulator and brute force differ: {report.races[:1]}, {where}"
        assert not [fault for fault in report.faults if fault.kind != "uninitialized read"], f"{report.faults[0]}, {where}"
        counts["racy"] += kernel.racy
        counts["overlap"] += not all(root.apart for root in kernel.roots)
        counts["open"] += is_open
        counts["assumed"] += bool(found) and not kernel.racy
    assert KERNELS / 5 < counts["racy"] < 0.9 * KERNELS, counts
    assert KERNELS / 5 < counts["overlap"] < 0.9 * KERNELS and counts["open"] > KERNELS / 20, counts
    print(counts)


def test_which_layouts_overlap() -> None:
    """The exact test against all addresses."""
    r = random.Random(39)
    for _ in range(2000):
        rank = r.randint(0, 4)
        shape = tuple(r.randint(0 if r.random() < 0.1 else 1, 6) for _ in range(rank))
        strides = tuple(r.choice([r.randint(-20, 20), r.randint(1, 9), 1]) for _ in range(rank))
        layout = MemrefLayout(shape, strides, r.randint(0, 9))
        index = list(itertools.product(*map(range, shape)))
        at = [(layout.offset or 0) + sum(i * stride for i, stride in zip(each, strides, strict=True)) for each in index]
        assert layout.apart == (len(set(at)) == len(at)), layout
        assert layout.reach == ((min(at), max(at)) if at else None), layout
        assert layout.in_rows == (at == list(range(len(at)))) or not at, layout


@pytest.mark.parametrize("shape, strides, apart", [
    ((None, 8), (8, 1), True),
    ((None, 8), (4, 1), None),
    ((8, None), (8, 1), None),
    ((8, 8), (None, 1), None),
    ((8, 8), (None, 0), False),
    ((1, 8), (None, 1), True),
    ((None,), (0,), None),
    ((None, None), (1, None), None),
    ((10**6, 10**6), (10**6 - 1, 10**6 + 1), None),
])  # fmt: skip
def test_what_is_open_decides(shape: tuple[int | None, ...], strides: tuple[int | None, ...], apart: bool | None) -> None:
    assert MemrefLayout(shape, strides, None).apart is apart


def test_windows_of_hosts_of_any_strides() -> None:
    """Windows that are called disjoint are so, and two cells of one grid are the same or disjoint: by all addresses."""
    r, buffer = random.Random(39), HostBuffer("global", "g")
    apart = cells = 0

    def window() -> Window:
        strides = r.choices([0, 1, 1, 2, 3, 4, 6, 8, -1, -2, -4, 12], k=r.randint(0, 3))
        return Window(buffer, r.randint(0, 20), tuple((r.randint(r.random() > 0.1, 4), stride) for stride in strides))

    def addresses(seen: Window) -> set[int]:
        dims = seen.dims or ()
        index = itertools.product(*(range(size) for size, _ in dims))
        return {seen.offset + sum(i * stride for i, (_, stride) in zip(at, dims, strict=True)) for at in index}

    for _ in range(4000):
        one, other = window(), window()
        mine, its = addresses(one), addresses(other)
        assert not (one.disjoint(other) and mine & its), (one, other)
        assert one.cell is None or one.cell != other.cell or mine == its or not mine & its, (one, other)
        apart += one.disjoint(other)
        cells += one.cell is not None and one.cell == other.cell
    assert apart > 1000 and cells > 50
