"""Which steps of a plan are done before which, and temporaries that this does not suffice for."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from .plan import Alloc, AnyStep, Free, used_buffers


def behind(steps: Sequence[AnyStep]) -> list[set[int]]:
    """By step of a plan, those that it waits for, and the one in front of it on its stream."""
    last: dict[int, int] = {}
    found: list[set[int]] = []
    for i, step in enumerate(steps):
        found.append({*step.after, *([last[step.stream]] if step.stream in last else [])})
        last[step.stream] = i
    return found


def closed(needs: Sequence[Collection[int]]) -> Iterator[int]:
    """For each step all that are done before it. A set is dropped when nobody needs it any more."""
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
    """Temporaries that one stream uses before another has allocated them, or frees while another uses them."""
    if len({step.stream for step in steps}) < 2:
        return
    allocated: dict[str, int] = {}
    uses: dict[str, int] = {}
    for i, (step, before) in enumerate(zip(steps, closed(behind(steps)), strict=True)):
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
