"""What `launch … cluster(2)` makes is proven; without any one of the ops that order it, both witnesses object."""

from __future__ import annotations

import os
import re

import numpy as np
import pytest
from group_kernels import arguments, expected, kernel
from hopper import Product
from places import TESTS
from proven import expect_proven, expect_refuted
from test_products import judged

from weft.runtime.simulator.kernel import Order

GOLDEN = TESTS / "interpreter" / "launch" / "products" / "golden"
TEXTS = {name: (GOLDEN / f"{name}.mlir").read_text() for name in ("cluster", "cluster_over_tiles", "cluster_along_a_curve")}
ORDERS: list[Order] = ["forward", "reverse", *range(30)]
NEEDED = (
    "nvgpu.mbarrier.try_wait.parity", "nvgpu.mbarrier.arrive.expect_tx", "nvvm.mbarrier.arrive", "nvgpu.tma.async.load",
    "nvgpu.mbarrier.init", "nvvm.fence.mbarrier.init", "nvvm.cluster.arrive",
)  # fmt: skip
OPS = [
    (name, number) for name, text in TEXTS.items() for number, line in enumerate(text.splitlines())
    if re.match(rf"\s+({'|'.join(map(re.escape, NEEDED))}) ", line)
]  # fmt: skip
QUICK = OPS[:: max(1, len(OPS) // 4)]


def without(name: str, number: int) -> str:
    """The text without a line; where that is an arrival of a cluster, without its wait as well."""
    lines = TEXTS[name].splitlines()
    gone = 2 if "nvvm.cluster.arrive" in lines[number] else 1
    assert gone == 1 or "nvvm.cluster.wait" in lines[number + 1]
    return "\n".join([*lines[:number], *lines[number + gone :]])


def alarm(text: str, orders: list[Order]) -> bool:
    """Whether the simulator finds something in one of these orders, or the numbers are wrong."""
    ((m, k), (_, n)) = (
        map(int, re.findall(rf'memref<(\d+)x(\d+)xbf16> {{weft.name = "{letter}"}}', text)[0]) for letter in "AB"
    )
    made, product = kernel(text), Product(m, n, k)
    (grid,) = re.findall(r"known_grid_size = array<i32: (\d+), (\d+), (\d+)>", text)
    assert made.known_block is not None
    for order in orders:
        a, b, c = arguments(product)
        x, y, z = map(int, grid)
        report = made.launch((x, y, z), made.known_block, [a, b, c], order=order)
        if report.races or report.faults or not np.array_equal(c, expected(a, b, product)):
            return True
    return False


@pytest.mark.parametrize("name", TEXTS)
def test_both_are_right(name: str) -> None:
    found = judged(TEXTS[name])
    expect_proven(found)
    assert not alarm(TEXTS[name], ORDERS[:3])


@pytest.mark.parametrize(("name", "number"), OPS if "WEFT_SOAK" in os.environ else QUICK)
def test_without_one_both_object(name: str, number: int) -> None:
    text = without(name, number)
    expect_refuted(judged(text))
    assert alarm(text, ORDERS)
