"""Clusters of blocks: boxes for several of them, arrivals at each other's barriers, meetings, blocks that end too early."""

from __future__ import annotations

import os

import numpy as np
import pytest
from cluster_kernels import CLUSTER, CLUSTER_MUTANTS, PAIR, cluster
from group_kernels import arguments, expected, kernel
from group_mutants import RingMutant

from weft.dsl.diagnostics import WeftError
from weft.runtime.devices.report import LaunchReport
from weft.runtime.simulator.kernel import Order, SimKernel

ORDERS: list[Order] = ["forward", "reverse", *range(200 if "WEFT_SOAK" in os.environ else 2)]


def run(made: SimKernel, mutant: RingMutant, order: Order) -> tuple[LaunchReport, bool]:
    """The report, and whether the numbers are right."""
    a, b, c = arguments(mutant.product)
    assert made.known_block is not None
    report = made.launch((mutant.product.n // mutant.product.bn, 1, 1), made.known_block, [a, b, c], order=order)
    return report, np.array_equal(c, expected(a, b, mutant.product))


def test_a_ring_of_two_blocks() -> None:
    made = kernel(CLUSTER.text())
    for order in ORDERS:
        report, right = run(made, CLUSTER, order)
        assert report.clean and right
        assert report.traffic is not None
        read = {traffic.buffer: traffic.elements for traffic in report.traffic if traffic.kind == "load"}
        assert read["A_map"] == PAIR.m * PAIR.k, "each element once, for both blocks"


def test_a_ring_of_four_blocks() -> None:
    mutant = cluster(4, stages=2, k=256)
    report, right = run(kernel(mutant.text()), mutant, 0)
    assert report.clean and right


@pytest.mark.parametrize("name", CLUSTER_MUTANTS)
def test_a_mistake_is_found(name: str) -> None:
    mutant = CLUSTER_MUTANTS[name]
    made = kernel(mutant.text())
    for order in ORDERS:
        report, right = run(made, mutant, order)
        found = {finding.kind for finding in (*report.races, *report.faults)}
        assert found & mutant.found if mutant.found else report.clean and not right, (order, found)


def test_a_grid_is_whole_clusters() -> None:
    with pytest.raises(WeftError) as raised:
        kernel(CLUSTER.text().replace("known_grid_size = array<i32: 2", "known_grid_size = array<i32: 3")).launch(
            (3, 1, 1), (384, 1, 1), arguments(PAIR)
        )
    assert raised.value.diagnostics[0].code == "W0753"
