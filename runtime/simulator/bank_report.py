"""Bank conflicts as a launch reports them, and which padding would end them: tried on what was really accessed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .banks import WORD, BankCounter, Count, Kind, Tally
from .report import Site

MOST_PADDING = 64
"""Bytes that a row may grow by."""
MOST_TRIALS = 2048
"""Patterns and places to begin, of all ops on a buffer together, up to which a padding is looked for."""


@dataclass(frozen=True)
class BankUse:
    """What the executions of one op on one shared buffer cost. Counted exactly, over all warps of the launch.

    Args:
        buffer, kind, op, location: which access; `site` is the op's number in the kernel.
        width: bytes of a lane.
        executions: how often a warp executed it; lanes masked off take no part, and a warp without any is not counted.
        wavefronts, ideal: how many it took, and the fewest possible for an access of that width and those lanes.
        pad: elements a row of the buffer should be longer, where it was tried and the buffer's accesses take fewer wavefronts so.
        padded: the wavefronts of this access then.
    """

    site: int
    buffer: str
    kind: Kind
    op: str
    location: str
    width: int
    executions: int
    wavefronts: int
    ideal: int
    pad: int | None = None
    padded: int | None = None

    @property
    def conflicts(self) -> int:
        return self.wavefronts - self.ideal

    @property
    def degree(self) -> float:
        """Wavefronts over the fewest possible: 1.0 without a conflict."""
        return self.wavefronts / self.ideal if self.ideal else 1.0


def bank_uses(counter: BankCounter, sites: Sequence[Site]) -> tuple[BankUse, ...]:
    """One entry an op and buffer, in the order of the kernel's text."""
    by_buffer: dict[str, list[Tally]] = {}
    for (_, name, _), tally in counter.tallies.items():
        tally.settle()
        by_buffer.setdefault(name, []).append(tally)
    padding = {name: _padding(tallies) for name, tallies in by_buffer.items()}
    uses: list[BankUse] = []
    for (number, name, kind), tally in sorted(counter.tallies.items(), key=lambda item: (item[0][0], item[0][2])):
        total, site, pad = tally.total(), sites[number], padding[name]
        padded = tally.padded(pad) if pad is not None and total.wavefronts > total.ideal else None
        uses.append(
            BankUse(
                number, name, kind, site.op, site.location, tally.width, total.executions, total.wavefronts, total.ideal,
                None if padded is None else pad, None if padded is None else padded.wavefronts,
            )
        )  # fmt: skip
    return tuple(uses)


def _padding(tallies: Sequence[Tally]) -> int | None:
    """The least padding with the fewest wavefronts, of those that keep the buffer's accesses aligned; None where none helps."""
    now = _sum(tally.total() for tally in tallies)
    shape, itemsize = tallies[0].shape, tallies[0].itemsize
    trials = sum(tally.begins for tally in tallies)
    if now.wavefronts == now.ideal or len(shape) < 2 or trials > MOST_TRIALS:
        return None
    unit = max(*(tally.width // itemsize for tally in tallies), WORD // itemsize, 1)
    if shape[-1] % unit:
        return None
    best, fewest = None, now.wavefronts
    for more in range(unit, MOST_PADDING // itemsize + 1, unit):
        tried = [tally.padded(more) for tally in tallies]
        found = _sum(one for one in tried if one is not None)
        if None in tried:
            return None
        if found.wavefronts < fewest:
            best, fewest = more, found.wavefronts
        if fewest == found.ideal:
            break
    return best


def _sum(counts: Iterable[Count]) -> Count:
    return sum(counts, Count())
