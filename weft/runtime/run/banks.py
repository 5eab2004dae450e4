"""Bank conflicts as a run reports them: launches of one kernel together, and the statement that made each buffer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter

from ...dsl.records import record
from ..devices.report import BankUse


@record(kw_only=True)
class BankAccess(BankUse):
    """What an op on shared memory cost, over all launches of its kernel. `statement`: that which made the buffer, where known."""

    kernel: str
    statement: str | None


def bank_accesses(
    uses: Sequence[tuple[str, BankUse]] | None, statements: Callable[[], Mapping[str, str]]
) -> tuple[BankAccess, ...] | None:
    """One entry per kernel, op and buffer, in the order of the launches; None where nobody counted. `statements`: buffer → the
    statement that made it."""
    if uses is None:
        return None
    made = statements() if uses else {}
    found = [BankAccess(**vars(use), kernel=kernel, statement=made.get(use.buffer)) for kernel, use in uses]
    return tuple(map(_together, _grouped(found, "kernel", "site", "buffer", "kind")))


def _grouped(accesses: Iterable[BankAccess], *names: str) -> list[list[BankAccess]]:
    """Those of which these fields are the same, together."""
    groups: dict[object, list[BankAccess]] = {}
    for access in accesses:
        groups.setdefault(attrgetter(*names)(access), []).append(access)
    return list(groups.values())


def _together(same: Sequence[BankAccess]) -> BankAccess:
    """What they cost together; and what is advised, if it is the same for all that conflict."""
    total = {name: sum(getattr(access, name) for access in same) for name in ("executions", "wavefronts", "ideal")}
    pads = {access.pad for access in same if access.conflicts}
    pad = pads.pop() if len(pads) == 1 else None
    padded = None if pad is None else sum(a.wavefronts if a.padded is None else a.padded for a in same)
    return replace(same[0], **total, pad=pad, padded=padded)


def conflicts(accesses: Sequence[BankAccess]) -> Iterator[tuple[str, list[str]]]:
    """For people: a line for each place, buffer and direction with conflicts, the worst first, with what to do; ops that an
    unrolled loop repeated are one."""
    groups = [
        (_together(group), len(group)) for group in _grouped(accesses, "kernel", "buffer", "kind", "location", "width")
    ]
    for use, count in sorted(groups, key=lambda group: -group[0].conflicts):
        if not use.conflicts:
            return
        ops = f"{count} ops, " if count > 1 else ""
        text = (
            f"{use.buffer}: {use.kind} of {use.width} bytes a lane, {use.degree:.3g}-way "
            f"({ops}{use.executions:,} warps: {use.wavefronts:,} wavefronts for {use.ideal:,})"
        )
        place = f"made by {use.statement}" if use.statement is not None else use.location and f"at {use.location}"
        hints = [place] if place else []
        if use.padded is not None:
            left = "without conflicts" if use.padded == use.ideal else f"{use.padded / use.ideal:.3g}-way"
            hints.append(f"hint: {use.pad} more to `pad` would do {left}")
        yield text, hints
