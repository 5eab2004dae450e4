"""The storage that the temporaries of a plan share.

A temporary may take the bytes of another one once each use of that is ordered before its own
allocation, by streams and events (`order.unfinished`). The places are chosen greedily, each in the
smallest gap between those of temporaries that may be in use at the same time (Y. Pisarchyk, J. Lee:
Efficient Memory Management for Deep Neural Net Inference, 2020), in several orders, of which the
one with the smallest sum of bytes is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from math import prod

from ...dsl.records import record
from .dtypes import itemsize
from .order import unfinished
from .plan import Alloc, AnyStep, Buffer, Free, Launch, Plan, integers

ALIGNMENT = 256
"""Of each temporary, in bytes: that of CUDA's allocations."""

MOST_ON_STREAMS = 4000
"""Most temporaries of a plan on several streams that share bytes: there, the pairs in use at the same
time may be as many as all pairs."""

Neighbours = Mapping[str, set[str]]
"""For each temporary, those that may be in use at the same time."""


@record
class Storage:
    """The storage of a plan's temporaries, in bytes, each rounded up to a multiple of `ALIGNMENT`.

    Attributes:
        size: of all of it.
        apart: of temporaries that share nothing.
        live: at each launch, the temporaries that are allocated and not freed, in the plan's order.
        on_one_stream: the size if all steps were on one stream, in that order.
    """

    size: int
    apart: int
    live: tuple[int, ...]
    on_one_stream: int

    @property
    def needed(self) -> int:
        """The most that is live at once: no plan on one stream takes less."""
        return max(self.live, default=0)

    @property
    def by_streams(self) -> int:
        """What streams add."""
        return self.size - self.on_one_stream


def storage_of(plan: Plan) -> Storage:
    """The storage of a plan with places."""
    sizes = _sizes(plan)
    live = tuple(bytes_ for step, bytes_ in _live(plan.steps, sizes) if isinstance(step, Launch))
    ordered = any(step.stream != plan.steps[0].stream for step in plan.steps)
    serial = [replace(step, stream=0, after=()) for step in plan.steps] if ordered else ()
    size = storage_bytes(plan)
    alone = min(size, _size(_places(serial, sizes), sizes)) if ordered else size
    return Storage(size, sum(sizes.values()), live, alone)


def storage_bytes(plan: Plan) -> int:
    """The size of the storage of a plan with places."""
    return _size({b.name: b.place or 0 for b in plan.buffers}, _sizes(plan))


def placed(plan: Plan) -> Plan:
    """The plan with a place for each temporary; without places if a size is open."""
    if any(b.role == "temp" and not all(isinstance(n, int) for n in b.shape) for b in plan.buffers):
        return plan
    places = _places(plan.steps, _sizes(plan))
    buffers = tuple(replace(b, place=places.get(b.name, 0)) if b.role == "temp" else b for b in plan.buffers)
    return replace(plan, buffers=buffers)


def early_reuses(plan: Plan) -> Iterator[tuple[int, str, str]]:
    """Pairs of temporaries that share bytes, where nothing orders all uses of the first before the
    allocation of the second, with the number of that step."""
    sizes = _sizes(plan)
    at = {b.name: (b.place, b.place + sizes[b.name]) for b in plan.buffers if b.place is not None and b.name in sizes}
    in_order = sorted(at.values())
    if all(end <= begin for (_, end), (begin, _) in pairwise(in_order)):
        return
    for number, name, others in unfinished(plan.steps):
        for other in sorted(others & at.keys() if name in at else ()):
            if at[name][0] < at[other][1] and at[other][0] < at[name][1]:
                yield number, other, name


def _sizes(plan: Plan) -> dict[str, int]:
    """The bytes that each temporary with known sizes takes, rounded up."""
    known = (b for b in plan.buffers if b.role == "temp" and all(isinstance(n, int) for n in b.shape))
    return {b.name: _rounded(b) for b in known}


def _rounded(buffer: Buffer) -> int:
    return -(-prod(integers(buffer.shape)) * itemsize(buffer.dtype) // ALIGNMENT) * ALIGNMENT


def _size(places: Mapping[str, int], sizes: Mapping[str, int]) -> int:
    return max((place + sizes[name] for name, place in places.items() if name in sizes), default=0)


def _live(steps: Sequence[AnyStep], sizes: Mapping[str, int]) -> Iterator[tuple[AnyStep, int]]:
    """Each step, and the bytes that are allocated then."""
    live = 0
    for step in steps:
        live += sizes.get(step.buffer, 0) if isinstance(step, Alloc) else 0
        yield step, live
        live -= sizes.get(step.buffer, 0) if isinstance(step, Free) else 0


def _places(steps: Sequence[AnyStep], sizes: Mapping[str, int]) -> dict[str, int]:
    """A place for each temporary that is allocated."""
    if len(sizes) > MOST_ON_STREAMS and any(step.stream != steps[0].stream for step in steps):
        ends = accumulate(sizes.values(), initial=0)
        return dict(zip(sizes, ends, strict=False))
    near: dict[str, set[str]] = {}
    for _, name, others in unfinished(steps):
        near[name] = others
        for other in others:
            near[other].add(name)
    least = max((bytes_ for _, bytes_ in _live(steps, sizes)), default=0)
    width = {name: sizes[name] + sum(sizes[other] for other in others) for name, others in near.items()}
    by_size = sorted(near, key=lambda name: -sizes[name])
    best: dict[str, int] | None = None
    for order in (by_size, sorted(by_size, key=lambda name: -width[name]), [*near]):
        found = _placed_in(order, near, sizes)
        if best is None or _size(found, sizes) < _size(best, sizes):
            best = found
        if _size(best, sizes) == least:
            break
    return best or {}


def _placed_in(order: Sequence[str], near: Neighbours, sizes: Mapping[str, int]) -> dict[str, int]:
    """Places chosen one after the other, each the smallest gap that is large enough, else the end."""
    places: dict[str, int] = {}
    for name in order:
        taken = sorted((places[other], places[other] + sizes[other]) for other in near[name] if other in places)
        ends = accumulate((end for _, end in taken), max, initial=0)
        gaps = [(begin - end, end) for end, (begin, _) in zip(ends, taken, strict=False) if begin - end >= sizes[name]]
        places[name] = min(gaps)[1] if gaps else max((end for _, end in taken), default=0)
    return places
