"""Rings of clusters: the right ones are proven, and each mistake in their order that the simulator's table has is found."""

from __future__ import annotations

import os
import random
from collections import Counter

import numpy as np
import pytest
from cluster_kernels import CLUSTER, CLUSTER_MUTANTS, RELEASING, cluster
from cluster_rings import ClusterRing, cluster_rings
from group_kernels import kernel
from signal_rings import TILE
from test_products import judged, said

from weft.dsl.diagnostics import WeftError
from weft.runtime.simulator.kernel import Order

RIGHT = {
    "two blocks": CLUSTER, "four blocks": cluster(4), "one stage": cluster(2, stages=1), "two stages": cluster(2, stages=2, k=1024),
    "four stages of four": cluster(4, stages=4, k=1024), "five stages": cluster(2, stages=5, k=4096),
    "fewer steps than stages": cluster(2, stages=4, k=128), "one step": cluster(4, k=64), "three blocks": cluster(3),
    "sizes known at run time": cluster(2, open_sizes=True), "arrivals that release": RELEASING,
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


@pytest.mark.parametrize("how", ["", "{scope = #nvvm.mem_scope<cta>}", "{relaxed = true, scope = #nvvm.mem_scope<cta>}"])
def test_arrivals_elsewhere_that_order_nothing(how: str) -> None:
    text = CLUSTER.text().replace("{relaxed = true, scope = #nvvm.mem_scope<cluster>}", how)
    assert text != CLUSTER.text()
    with pytest.raises(WeftError, match=r"W0640: .*arrivals, which do not order"):
        judged(text)
    with pytest.raises(WeftError, match=r"W0750: .*does not order"):
        kernel(text)


# ---- random rings -------------------------------------------------------------------------------------------------------------

COUNT = 60 if "WEFT_SOAK" in os.environ else 2
ORDERS: list[Order] = ["forward", "reverse", *range(40)]
STRICT = {"W0660"}
"""One arrival too many in the last phase of a barrier counts in one that nobody waits for: that is a mistake, and does no harm."""


def alarm(ring: ClusterRing, orders: list[Order]) -> bool:
    """Whether the simulator finds something in one of these orders."""
    made = kernel(ring.text())
    arrays = [np.zeros(TILE * (ring.trips + 1), np.float32), np.zeros(ring.shape, np.float32)]
    reports = (made.launch((ring.blocks, 1, 1), (ring.readers + 1, 1, 1), arrays, order=order) for order in orders)
    return any(report.races or report.faults for report in reports)


def test_proof_and_simulator_agree_on_random_rings() -> None:
    counts: Counter[tuple[bool, bool]] = Counter()
    for seed in range(COUNT):
        ring = cluster_rings(random.Random(seed))
        found = judged(ring.text())
        heard = alarm(ring, ORDERS[:6] if found.clean else ORDERS)
        assert not (found.clean and heard), ring
        assert heard or found.clean or {d.code for d in found.diagnostics()} <= STRICT, (ring, found.diagnostics())
        counts[found.clean, heard] += 1
    assert counts[True, False] > COUNT / 6 and counts[False, True] > COUNT / 3, counts


def test_lanes_go_on_together_behind_a_branch() -> None:
    """A stage is expected in an iteration that its reader keeps the loader from, since both are lanes of one warp."""
    ring = ClusterRing(blocks=4, stages=3, trips=3, readers=2, expect=1, to="others")
    assert {d.code for d in judged(ring.text()).diagnostics()} == {"W0665"} and alarm(ring, [0])


@pytest.mark.few(3)
@pytest.mark.parametrize("blocks", [2, 4])
@pytest.mark.parametrize("stages", [1, 2, 3, 4, 5])
def test_right_ones_of_any_size_are_proven(blocks: int, stages: int) -> None:
    ring = ClusterRing(blocks, stages, 2 * stages + 1, 2)
    assert judged(ring.text()).clean and not alarm(ring, [0])
