"""The steps of a host program with tokens, on streams: what may run at once does, what needs another waits for its event.

Launches and copies get the streams; memory is allocated on the stream of its first use and freed on that of its last,
right behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..plan.check import MAX_STREAMS
from ..plan.plan import Alloc, AnyStep, Free, used_buffers
from .streams import assign_streams, waited

Needs = Sequence[frozenset[int]]


def on_streams(
    steps: Sequence[AnyStep], needs: Needs, kept: Sequence[bool], most: int | None
) -> tuple[list[AnyStep], int]:
    """The steps with streams and events; how many streams it takes at least for all to run at once that may.

    Args:
        steps: in program order.
        needs: by step, those that must be done before.
        kept: by step, whether a free stays where it is: behind the last use, where tokens put it. All others move there.
        most: how many streams there may be.
    """
    order = _frees_moved(steps, kept)
    place = {number: i for i, number in enumerate(order)}
    issued = [steps[number] for number in order]
    behind = [{place[n] for n in needs[number]} if kept[number] else set() for number in order]
    for i, earlier in _uses_before_frees(issued):
        behind[i].update(earlier)
    streams, fewest = _streams(issued, behind, most)
    after = waited(behind, streams)
    return [replace(step, stream=s, after=a) for step, s, a in zip(issued, streams, after, strict=True)], fewest


def _frees_moved(steps: Sequence[AnyStep], kept: Sequence[bool]) -> list[int]:
    """The numbers of the steps in the order in which they are issued."""
    last: dict[str, int] = {}
    for number, step in enumerate(steps):
        if not isinstance(step, Free):
            last.update(dict.fromkeys(used_buffers(step), number))
    behind: dict[int, list[int]] = {}
    for number, step in enumerate(steps):
        if isinstance(step, Free) and not kept[number]:
            behind.setdefault(last.get(step.buffer, number), []).append(number)
    stay = [n for n, step in enumerate(steps) if not isinstance(step, Free) or kept[n]]
    return [each for number in stay for each in (number, *behind.get(number, ()))]


def _uses_before_frees(issued: Sequence[AnyStep]) -> list[tuple[int, list[int]]]:
    """Each free with all uses of its buffer in front of it."""
    uses: dict[str, list[int]] = {}
    found: list[tuple[int, list[int]]] = []
    for i, step in enumerate(issued):
        if isinstance(step, Free):
            found.append((i, uses.get(step.buffer, [])))
        for name in used_buffers(step):
            uses.setdefault(name, []).append(i)
    return found


def _streams(issued: Sequence[AnyStep], behind: Sequence[set[int]], most: int | None) -> tuple[list[int], int]:
    """A stream for each step, and the fewest that could do: launches and copies by their chains, memory by its users."""
    work = [i for i, step in enumerate(issued) if not isinstance(step, Alloc | Free)]
    number = {i: n for n, i in enumerate(work)}
    streams_of_work, fewest = assign_streams(_needs_of_work(behind, number), min(most or MAX_STREAMS, MAX_STREAMS))
    streams = [0] * len(issued)
    for i, n in number.items():
        streams[i] = streams_of_work[n]
    users: dict[str, list[int]] = {}
    for i in work:
        for name in used_buffers(issued[i]):
            users.setdefault(name, []).append(i)
    for i, step in enumerate(issued):
        if isinstance(step, Alloc | Free) and step.buffer in users:
            streams[i] = streams[users[step.buffer][0 if isinstance(step, Alloc) else -1]]
    return streams, fewest


def _needs_of_work(behind: Sequence[set[int]], number: dict[int, int]) -> list[set[int]]:
    """What launches and copies need; what they do through allocations and frees counts."""
    through: dict[int, set[int]] = {}
    needs: list[set[int]] = []
    for i, direct in enumerate(behind):
        found = {number[j] for j in direct if j in number}.union(*(through[j] for j in direct if j in through))
        if i in number:
            needs.append(found)
        else:
            through[i] = found
    return needs
