"""Rings of clusters: the right ones are proven, and each mistake in their order that the simulator's table has is found."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from test_products import judged, said

sys.path.append(str(Path(__file__).parents[1] / "simulator"))

from cluster_kernels import CLUSTER, CLUSTER_MUTANTS, cluster

RIGHT = {
    "two blocks": CLUSTER, "four blocks": cluster(4), "one stage": cluster(2, stages=1), "two stages": cluster(2, stages=2, k=1024),
    "four stages of four": cluster(4, stages=4, k=1024), "five stages": cluster(2, stages=5, k=4096),
    "fewer steps than stages": cluster(2, stages=4, k=128), "one step": cluster(4, k=64), "three blocks": cluster(3),
    "sizes known at run time": cluster(2, open_sizes=True),
}  # fmt: skip
CODES = {
    "a block that ends early": "W0669", "no meeting at the start": "W0664", "a meeting that orders nothing": "W0664",
    "half of it for one block": "W0661", "a mask of a block that is not there": "W0664", "released here alone": "W0660",
    "of one's own consumers alone": "W0660", "an arrival of a block that is not there": "W0664",
    "a meeting of one warp group": "W0603",
}  # fmt: skip
NUMBERS = {"both load the same half"}
"""Mistakes that make the numbers wrong, and nothing else."""


@pytest.mark.parametrize("name", RIGHT)
def test_rings_of_clusters_are_proven(name: str) -> None:
    found = judged(RIGHT[name].text())
    assert found.clean, found.diagnostics()


@pytest.mark.parametrize("name", CLUSTER_MUTANTS)
def test_each_mistake_in_their_order_is_found(name: str) -> None:
    if name in NUMBERS:
        assert judged(CLUSTER_MUTANTS[name].text()).clean
    else:
        assert said(CLUSTER_MUTANTS[name].text())[0].code == CODES[name]


def test_witnesses_say_the_block() -> None:
    first = said(CLUSTER_MUTANTS["a block that ends early"].text())[0]
    assert first.notes[0].startswith("block 0 of the cluster, thread (128, 0, 0), iteration 6: nvvm.mbarrier.arrive at ")
    assert "`empty[0]` of block 0" in first.notes[1]
