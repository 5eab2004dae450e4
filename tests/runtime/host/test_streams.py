"""The fewest streams, and events only where they are needed."""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import combinations

import pytest
from work import lines_run

from weft.runtime.host import streams
from weft.runtime.host.streams import EXACT, members, waited
from weft.runtime.plan.order import closed

Needs = list[tuple[int, ...]]


def random_needs(count: int, buffers: int, seed: int) -> Needs:
    """What operations need of each other that read and write random buffers in turn."""
    draw = random.Random(seed)
    last: dict[int, int] = {}
    readers: dict[int, list[int]] = {}
    needs: Needs = []
    for op in range(count):
        used = draw.sample(range(buffers), k=min(buffers, draw.randint(1, 4)))
        cut = draw.randint(0, len(used) - 1)
        found = {last[b] for b in used if b in last}
        for buffer in used[cut:]:
            found.update(readers.pop(buffer, ()))
        for buffer in used[:cut]:
            readers.setdefault(buffer, []).append(op)
        last.update((buffer, op) for buffer in used[cut:])
        needs.append(tuple(sorted(found)))
    return needs


def width(needs: Needs) -> int:
    """The largest set of operations of which none waits for another, by trying all sets."""
    before = list(closed(needs))

    def unordered(ops: tuple[int, ...]) -> bool:
        return not any(before[b] >> a & 1 for a, b in combinations(ops, 2))

    return max(
        size for size in range(len(needs) + 1) if any(unordered(ops) for ops in combinations(range(len(needs)), size))
    )


@dataclass(frozen=True)
class Assignment:
    """A stream for each operation, and the operations of others that it waits for."""

    streams: tuple[int, ...]
    after: tuple[tuple[int, ...], ...]
    used: int
    fewest: int


def assign_streams(needs: Needs, most: int | None = None) -> Assignment:
    found, fewest = streams.assign_streams(needs, most)
    return Assignment(found, waited(needs, found), max(found, default=-1) + 1, fewest)


def expect_sound(needs: Needs, found: Assignment) -> None:
    """Streams and events order what must be ordered; no event is implied by the others."""
    last: dict[int, int] = {}
    ordered: list[int] = []
    for op, stream in enumerate(found.streams):
        sources = [*found.after[op], *([last[stream]] if stream in last else [])]
        bits = 0
        for earlier in sources:
            bits |= ordered[earlier] | 1 << earlier
        ordered.append(bits)
        last[stream] = op
        for event in found.after[op]:
            assert found.streams[event] != stream
            others = [s for s in sources if s != event]
            assert not any((ordered[o] | 1 << o) >> event & 1 for o in others), f"{op} need not wait for {event}"
    before = list(closed(needs))
    assert all(before[op] & ~ordered[op] == 0 for op in range(len(needs)))


def expect_chains(needs: Needs, found: Assignment) -> None:
    """What shares a stream was ordered anyway."""
    before = list(closed(needs))
    last: dict[int, int] = {}
    for op, stream in enumerate(found.streams):
        assert stream not in last or before[op] >> last[stream] & 1
        last[stream] = op


@pytest.mark.parametrize("seed", range(40))
def test_as_many_streams_as_the_width(seed: int) -> None:
    draw = random.Random(seed)
    needs = random_needs(draw.randint(1, 11), draw.randint(1, 9), seed)
    found = assign_streams(needs)
    assert found.used == found.fewest == width(needs)
    expect_sound(needs, found)
    expect_chains(needs, found)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("count", [300, EXACT + 200])
def test_large_graphs_are_sound(count: int, seed: int) -> None:
    needs = random_needs(count, 40, seed)
    found = assign_streams(needs)
    assert found.fewest <= found.used
    assert (found.fewest == found.used) or count > EXACT
    expect_sound(needs, found)
    expect_chains(needs, found)


@pytest.mark.parametrize("most", [1, 2, 5])
def test_at_most(most: int) -> None:
    needs = random_needs(200, 60, 1)
    found = assign_streams(needs, most)
    assert found.used == most < assign_streams(needs).used
    expect_sound(needs, found)
    assert most > 1 or not any(found.after)


def test_chains_change_places() -> None:
    """Following the latest first leaves 3 without a place: the minimum needs the second choice of another."""
    needs: Needs = [(), (), (0, 1), (1,)]
    found = assign_streams(needs)
    assert found.used == 2
    expect_sound(needs, found)


@pytest.mark.parametrize(
    ("needs", "streams", "after"),
    [
        ([], (), ()),
        ([()], (0,), ((),)),
        ([(), (0,), (1,)], (0, 0, 0), ((), (), ())),
        ([(), (), (0, 1)], (0, 1, 1), ((), (), (0,))),
        ([(), (0,), (0,), (1, 2)], (0, 0, 1, 1), ((), (), (0,), (1,))),
    ],
)
def test_small(needs: Needs, streams: tuple[int, ...], after: tuple[tuple[int, ...], ...]) -> None:
    found = assign_streams(needs)
    assert (found.streams, found.after) == (streams, after)


def test_members() -> None:
    assert list(members(0b101001)) == [5, 3, 0] and list(members(0)) == []


def test_ten_thousand_operations() -> None:
    """Four times the operations are four times the work."""
    some = random_needs(2_500, 200, 1)
    needs = random_needs(10_000, 200, 1)
    _, few = lines_run(lambda: assign_streams(some))
    found, lines = lines_run(lambda: assign_streams(needs))
    assert lines < 5 * few
    assert found.fewest <= found.used < 3 * found.fewest
