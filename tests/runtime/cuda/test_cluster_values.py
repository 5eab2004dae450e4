"""Kernels of clusters, run by g++ with the blocks of a cluster side by side: values beside NumPy's, and what a mistake does."""

from __future__ import annotations

import numpy as np
import pytest
from cluster_kernels import CLUSTER, CLUSTER_MUTANTS, cluster
from cuda_cases import emit_text
from group_mutants import RingMutant
from native import Mode, NativeMap, NativeResult, run_native
from test_warp_groups_values import DTYPES

from weft.runtime.plan.plan import Boxes

RINGS = {"two blocks": CLUSTER, "four blocks": cluster(4, k=128), "one stage": cluster(2, stages=1, k=128)}


def run(ring: RingMutant, mode: Mode = "fibers", *, reverse: bool = False) -> tuple[NativeResult, bool]:
    """What came of it, and whether the result is right."""
    product = ring.product
    draw = np.random.default_rng(3)
    a, b = (
        draw.integers(-4, 5, shape).astype(DTYPES[product.type])
        for shape in ((product.m, product.k), (product.k, product.n))
    )
    c = np.full((product.m, product.n), np.nan, np.float32)
    given = [NativeMap(a, Boxes((64, 64), 128)), NativeMap(b, Boxes((64, 64), 128)), c]
    grid, block = (product.n // product.bn, 1, 1), (128 * (product.consumers + 1), 1, 1)
    found = run_native(emit_text(ring.text()), "product", grid, block, given, mode, reverse=reverse)
    return found, np.array_equal(c, a.astype(np.float32) @ b.astype(np.float32))


@pytest.mark.parametrize("name", RINGS)
def test_rings(name: str) -> None:
    for reverse in (False, True):
        found, right = run(RINGS[name], reverse=reverse)
        assert right and not (found.diverged or found.wrong)


def test_under_the_thread_sanitizer() -> None:
    found, right = run(cluster(2, stages=2, k=192), "tsan")
    assert right and not (found.races or found.wrong)


UNSEEN = {"no meeting at the start", "a meeting that orders nothing"}
"""Here all threads have begun, and made their barriers, before a box is brought."""


@pytest.mark.few(8)
@pytest.mark.parametrize("name", sorted(CLUSTER_MUTANTS.keys() - UNSEEN))
def test_what_is_wrong_shows(name: str) -> None:
    runs = [run(CLUSTER_MUTANTS[name], reverse=reverse) for reverse in (False, True)]
    assert any(found.diverged or found.wrong or not right for found, right in runs)
