"""Traffic of global memory as a run reports it: launches of one kernel together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from ...dsl.records import record
from ..devices.report import Traffic


@record(kw_only=True)
class BufferTraffic(Traffic):
    """What all launches of a kernel read, or wrote, of a buffer."""

    kernel: str


def buffer_traffic(uses: Sequence[tuple[str, Traffic]] | None) -> tuple[BufferTraffic, ...] | None:
    """One entry per kernel, buffer and direction, in the order of the launches; None where nobody counted."""
    if uses is None:
        return None
    found: dict[object, BufferTraffic] = {}
    for kernel, use in uses:
        key, one = (kernel, use.buffer, use.kind), BufferTraffic(**vars(use), kernel=kernel)
        found[key] = _together(found[key], one) if key in found else one
    return tuple(found.values())


def _together(a: BufferTraffic, b: BufferTraffic) -> BufferTraffic:
    """Of two launches: nobody knows whether their elements are the same."""
    accesses = Counter(dict(a.accesses)) + Counter(dict(b.accesses))
    wide_first, sums = tuple(sorted(accesses.items(), reverse=True)), (a.elements + b.elements, a.bytes + b.bytes)
    return replace(a, elements=sums[0], bytes=sums[1], accesses=wide_first, distinct=None)
