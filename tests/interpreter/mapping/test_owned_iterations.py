"""Each iteration is done exactly once, by the processor that the design's table says, in order: by brute force per thread."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loops import launched, loop_module, mapped, owner, stores_of

AXES = "xyz"
DISTS: list[tuple[str | None, int | None]] = [
    ("block", None),
    ("cyclic", None),
    ("block-cyclic", 1),
    ("block-cyclic", 3),
    ("block-cyclic", 8),
]


def check(
    space: str,
    axes: str,
    counts: Sequence[int],
    trips: Sequence[int],
    dist: str | None,
    chunk: int | None,
    *,
    dynamic: bool = False,
    lower: int = 0,
    step: int = 1,
    processors: Sequence[int] | None = None,
    **sizes: tuple[int, int, int],
) -> None:
    """Launch one loop, run it, and compare who stored what with the table. `processors`: as many as there really are."""
    text = loop_module(trips, mapped(space, axes, counts, dist, chunk), dynamic=dynamic, lower=lower, step=step)
    module, _ = launched(text)
    stores = stores_of(module, trips, dynamic=dynamic, lower=lower, step=step, **sizes)
    there = processors or [n if c == -1 else c for c, n in zip(counts, trips, strict=True)]
    wanted = {}
    for iteration in itertools.product(*(range(n) for n in trips)):
        wanted[tuple(lower + i * step for i in iteration)] = tuple(
            owner(i, n, p, dist, chunk) for i, n, p in zip(iteration, trips, there, strict=True)
        )
    got = [(s.at, tuple((s.block if space == "blocks" else s.thread)[AXES.index(a)] for a in axes)) for s in stores]
    assert len(got) == len(wanted), f"{len(got)} iterations were done, of {len(wanted)}"
    assert dict(got) == wanted
    for place in {(s.block, s.thread) for s in stores}:
        mine = [s.at for s in stores if (s.block, s.thread) == place]
        assert mine == sorted(mine), "a processor does its iterations in order"


@pytest.mark.parametrize("space", ["threads", "blocks"])
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("trips", [1, 5, 8, 16, 21, 48])
@pytest.mark.parametrize(("dist", "chunk"), DISTS)
def test_one_dimension(space: str, dynamic: bool, trips: int, dist: str, chunk: int | None) -> None:
    check(space, "x", [8], [trips], dist, chunk, dynamic=dynamic)


@pytest.mark.parametrize("trips", [1, 5, 8])
def test_one_iteration_each(trips: int) -> None:
    check("threads", "x", [8], [trips], None, None)


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("trips", [1, 7])
def test_as_many_blocks_as_iterations(trips: int, dynamic: bool) -> None:
    check("blocks", "x", [-1], [trips], None, None, dynamic=dynamic)


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize(("dist", "chunk"), DISTS)
def test_lower_bound_and_step(dist: str, chunk: int | None, dynamic: bool) -> None:
    check("threads", "x", [4], [11], dist, chunk, dynamic=dynamic, lower=3, step=5)


@pytest.mark.parametrize(
    ("axes", "counts", "trips"),
    [("yx", [2, 4], [5, 8]), ("xy", [4, 2], [4, 7]), ("zyx", [2, 2, 3], [3, 4, 7])],
    ids=["yx", "xy", "zyx"],
)
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize(("dist", "chunk"), [("block", None), ("cyclic", None), ("block-cyclic", 2)])
def test_more_dimensions(
    axes: str, counts: list[int], trips: list[int], dist: str, chunk: int | None, dynamic: bool
) -> None:
    check("threads", axes, counts, trips, dist, chunk, dynamic=dynamic)
    check("blocks", axes, counts, trips, dist, chunk, dynamic=dynamic)


@pytest.mark.parametrize("processors", [1, 3, 8, 40])
@pytest.mark.parametrize("trips", [1, 8, 21])
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize(("dist", "chunk"), DISTS)
def test_symbolic_counts_are_right_for_any_launch(
    processors: int, trips: int, dynamic: bool, dist: str, chunk: int | None
) -> None:
    check("blocks", "x", [-2], [trips], dist, chunk, dynamic=dynamic, processors=[processors], grid=(processors, 1, 1))
    check(
        "threads", "x", [-2], [trips], dist, chunk, dynamic=dynamic, processors=[processors], block=(processors, 1, 1)
    )


@settings(max_examples=60, deadline=None)
@given(
    trips=st.integers(1, 70), processors=st.integers(1, 12), chunk=st.integers(1, 9),
    dist=st.sampled_from(["block", "cyclic", "block-cyclic"]),
    dynamic=st.booleans(), lower=st.integers(0, 3), step=st.integers(1, 3), space=st.sampled_from(["threads", "blocks"]),
)  # fmt: skip
def test_any_distribution(
    trips: int, processors: int, chunk: int, dist: str, dynamic: bool, lower: int, step: int, space: str
) -> None:
    size = chunk if dist == "block-cyclic" else None
    check(space, "x", [processors], [trips], dist, size, dynamic=dynamic, lower=lower, step=step)
