"""Each mistake in a ring of warp groups is found, in whichever order they act; what is right raises no alarm."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import pytest
from group_kernels import DRAIN, FENCE, arguments, expected, kernel, squared, stored
from group_mutants import EQUAL, MUTANTS, RING, SELDOM
from hopper import Product, rankings

from weft.runtime.devices.report import LaunchReport
from weft.runtime.simulator.kernel import Order, SimKernel

ORDERS: list[Order] = ["forward", "reverse", *range(200 if "WEFT_SOAK" in os.environ else 1)]
RIGHT = {
    "ring": RING.ring(), "two stages": replace(RING, stages=2, k=256).ring(), "together": replace(RING, k=192).together(),
    **{name: mutant.text() for name, mutant in EQUAL.items()},
}  # fmt: skip


def run(made: SimKernel, product: Product, order: Order) -> tuple[LaunchReport, bool]:
    """The report, and whether the numbers are right."""
    a, b, c = arguments(product)
    assert made.known_block is not None
    report = made.launch((1, 1, 1), made.known_block, [a, b, c], order=order)
    return report, np.array_equal(c, expected(a, b, product))


def kinds(report: LaunchReport) -> set[str]:
    return {found.kind for found in (*report.races, *report.faults)}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mistake_is_found(name: str) -> None:
    mutant, orders = MUTANTS[name], ORDERS[: len(ORDERS) if name != "all threads load" else 1]
    made = kernel(mutant.text())
    for order in orders:
        report, _ = run(made, RING, order)
        assert kinds(report) & mutant.found, (order, kinds(report))


@pytest.mark.parametrize("name", SELDOM)
def test_a_mistake_that_needs_a_slow_thread_is_found_where_one_after_the_other_is(name: str) -> None:
    made = kernel(SELDOM[name].text())
    found = [kinds(run(made, RING, order)[0]) for order in rankings(3)]
    assert {kind for each in found for kind in each} & SELDOM[name].found and set() in found


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_raises_no_alarm(name: str) -> None:
    text = RIGHT[name]
    made, steps = kernel(text), int(text.split("%steps = arith.constant ")[1].split()[0])
    for order in ORDERS:
        report, right = run(made, replace(RING, k=64 * steps), order)
        assert report.clean and right


def test_a_deadlock_says_who_waits_for_what() -> None:
    report, _ = run(kernel(MUTANTS["release missing"].text()), RING, "forward")
    producer, *consumers = sorted(report.faults, key=lambda fault: fault.access.thread)
    assert producer.kind == "deadlock" and producer.access.thread == (0, 0, 0)
    assert producer.message == "waits for phase 0 of `empty`[0]: 2 of 2 arrivals and 0 bytes are missing"
    assert [fault.message for fault in consumers] == [
        "waits for phase 1 of `full`[0]: 1 of 1 arrivals and 0 bytes are missing"
    ]
    assert consumers[0].count == 256


MATRIX = np.random.default_rng(0).integers(-4, 5, (64, 64))
BEHIND = {
    "": set(), "gpu.barrier": {"missing proxy fence"}, f"gpu.barrier\n{FENCE}": {"missing proxy fence"}, FENCE: {"RAW"},
}  # fmt: skip
"""What stands behind ordinary stores instead of a fence and a barrier, and what is found."""


@pytest.mark.parametrize("behind", BEHIND)
def test_ordinary_stores_are_fenced_for_products(behind: str) -> None:
    made = squared(behind) if behind else squared()
    for order in ORDERS[:4]:
        matrix, product = MATRIX.astype(arguments(RING)[0].dtype), np.zeros((64, 64), np.float32)
        report = made.launch((1, 1, 1), (128, 1, 1), [matrix, product, matrix], order=order)
        assert kinds(report) == BEHIND[behind] and np.array_equal(product, MATRIX @ MATRIX)


@pytest.mark.parametrize("behind", BEHIND)
def test_ordinary_stores_are_fenced_for_boxes(behind: str) -> None:
    made = stored(behind) if behind else stored()
    for order in ORDERS[:4]:
        matrix = MATRIX.astype(arguments(RING)[0].dtype)
        out = np.full((60, 72), 77, matrix.dtype)
        report = made.launch((1, 1, 1), (128, 1, 1), [matrix, out], order=order)
        want = np.full((60, 72), 77)
        want[2:, 8:] = MATRIX[:58]
        assert kinds(report) == BEHIND[behind] and np.array_equal(out, want)


OVERWRITE = "%nought = arith.constant 0.0 : bf16\n memref.store %nought, %s[%c0, %c0] : !tile"
DRAINS = {
    (DRAIN, OVERWRITE): set(), (f"{DRAIN} {{read}}", OVERWRITE): set(), ("", ""): {"unfinished copy"},
    ("", f"{OVERWRITE}\n{DRAIN}"): {"in-flight"}, (DRAIN.replace("0", "1"), OVERWRITE): {"in-flight", "unfinished copy"},
}  # fmt: skip
"""What waits for a store, and what comes then; and what is found."""


@pytest.mark.parametrize(("drain", "after"), DRAINS)
def test_a_tile_that_is_stored_is_left_alone_until_it_was_read(drain: str, after: str) -> None:
    made = stored(drain=drain, after=after)
    for order in ORDERS[:4]:
        matrix = MATRIX.astype(arguments(RING)[0].dtype)
        report = made.launch((1, 1, 1), (128, 1, 1), [matrix, np.zeros((66, 72), matrix.dtype)], order=order)
        assert kinds(report) == DRAINS[drain, after]
