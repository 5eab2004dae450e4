"""The order of a plan's steps, by streams and events. Sets of steps are bit sets in an integer."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import repeat, takewhile

from .plan import Alloc, AnyStep, Free, used_buffers


def direct_needs(steps: Sequence[AnyStep]) -> list[set[int]]:
    """For each step, the steps that it waits for, and its predecessor on its stream."""
    last: dict[int, int] = {}
    found: list[set[int]] = []
    for i, step in enumerate(steps):
        found.append({*step.after, *([last[step.stream]] if step.stream in last else [])})
        last[step.stream] = i
    return found


def closed(needs: Sequence[Collection[int]]) -> Iterator[int]:
    """For each step, all steps that happen before it, as a bit set. Intermediate sets are freed
    after their last use."""
    needed_until = {earlier: i for i, direct in enumerate(needs) for earlier in direct}
    kept: dict[int, int] = {}
    for i, direct in enumerate(needs):
        bits = 0
        for earlier in set(direct):
            bits |= kept[earlier] | 1 << earlier
            if needed_until[earlier] == i:
                del kept[earlier]
        if i in needed_until:
            kept[i] = bits
        yield bits


def unordered_uses(steps: Sequence[AnyStep]) -> Iterator[tuple[int, str]]:
    """Temporaries with a use that is not ordered after their allocation, or with a free not ordered
    after a use."""
    if len({step.stream for step in steps}) < 2:
        return
    allocated: dict[str, int] = {}
    uses: dict[str, int] = {}
    for i, (step, before) in enumerate(zip(steps, closed(direct_needs(steps)), strict=True)):
        for name in used_buffers(step):
            if isinstance(step, Alloc):
                allocated[name] = i
                continue
            if name in allocated and not before >> allocated[name] & 1:
                yield i, f"`{name}` is allocated at steps[{allocated[name]}], and nothing orders that before"
            missing = uses.get(name, 0) & ~before if isinstance(step, Free) else 0
            if missing:
                yield i, f"`{name}` is used at steps[{missing.bit_length() - 1}], and nothing orders that before"
            uses[name] = uses.get(name, 0) | 1 << i


def unfinished(steps: Sequence[AnyStep]) -> Iterator[tuple[int, str, set[str]]]:
    """For each allocation, its number and its temporary: the temporaries allocated earlier with a use
    that is not ordered before it."""
    several = len({step.stream for step in steps}) > 1
    allocated: set[str] = set()
    alive: set[str] = set()
    uses: dict[int, list[int]] = {}  # by stream, of which those that happen before a step are the first
    for i, (step, before) in enumerate(
        zip(steps, closed(direct_needs(steps)) if several else repeat(-1), strict=False)
    ):
        if isinstance(step, Alloc):
            late: set[str] = set()
            for of_stream in uses.values():
                for use in takewhile(lambda use, before=before: not before >> use & 1, reversed(of_stream)):
                    late |= used_buffers(steps[use])
            yield i, step.buffer, alive | (allocated & late)
            alive.add(step.buffer)
            allocated.add(step.buffer)
        elif isinstance(step, Free):
            alive.discard(step.buffer)
        elif several:
            uses.setdefault(step.stream, []).append(i)
