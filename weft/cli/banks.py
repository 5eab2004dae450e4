"""Bank conflicts as a run reports them: launches of one kernel together, and the statement that made each buffer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..result import BankAccess
from .console import shortened

if TYPE_CHECKING:
    from ..interpreter.session.session import Step
    from ..runtime.simulator.report import BankUse


def bank_accesses(
    uses: Sequence[tuple[str, BankUse]] | None, steps: Sequence[Step] = ()
) -> tuple[BankAccess, ...] | None:
    """One entry per kernel, op and buffer, in the order of the launches; None where nobody counted."""
    if uses is None:
        return None
    statements = _statements(steps) if uses else {}
    found: dict[tuple[object, ...], list[BankUse]] = {}
    for kernel, use in uses:
        found.setdefault((kernel, use.site, use.buffer, use.kind), []).append(use)
    return tuple(_together(str(key[0]), same, statements.get(same[0].buffer)) for key, same in found.items())


def _together(kernel: str, uses: Sequence[BankUse], statement: str | None) -> BankAccess:
    first = uses[0]
    wavefronts, ideal = sum(use.wavefronts for use in uses), sum(use.ideal for use in uses)
    advised = {use.pad for use in uses}
    pad = first.pad if len(advised) == 1 else None
    return BankAccess(
        kernel, first.buffer, first.kind, first.op, first.location, first.width, sum(use.executions for use in uses),
        wavefronts, ideal, wavefronts - ideal, round(wavefronts / ideal, 3) if ideal else 1.0, statement, pad,
        sum(use.padded or 0 for use in uses) if pad is not None else None,
    )  # fmt: skip


def _statements(steps: Sequence[Step]) -> dict[str, str]:
    """Shared buffer → the statement that made it: the first after which there is a buffer of that name."""
    from ..interpreter.ir.mlir import ir, operations

    found: dict[str, str] = {}
    for step in steps:
        for alloc in operations(step.module.operation, "memref.alloc"):
            if "weft.name" in alloc.attributes:
                name = ir.StringAttr(alloc.attributes["weft.name"]).value
                found.setdefault(name, shortened(f"{step.span.source.name}:{step.span.line}: {step.text}"))
    return found


# ---- for people -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Conflict:
    """Ops of one place, buffer and direction that conflict, together. `text`: a line; `hints`: what to do."""

    text: str
    hints: tuple[str, ...]


def conflicts(accesses: Sequence[BankAccess]) -> Iterator[Conflict]:
    """The accesses that conflict, worst first; ops that an unrolled loop repeated are one."""
    groups: dict[tuple[object, ...], list[BankAccess]] = {}
    for access in accesses:
        key = (access.kernel, access.buffer, access.kind, access.location, access.width)
        groups.setdefault(key, []).append(access)
    bad = [group for group in groups.values() if any(access.conflicts for access in group)]
    for group in sorted(bad, key=lambda g: -sum(access.conflicts for access in g)):
        yield _conflict(group)


def _conflict(group: Sequence[BankAccess]) -> Conflict:
    first = group[0]
    wavefronts, ideal = sum(a.wavefronts for a in group), sum(a.ideal for a in group)
    executions = sum(a.executions for a in group)
    ops = f"{len(group)} ops, " if len(group) > 1 else ""
    text = (
        f"{first.buffer}: {first.kind} of {first.width} bytes a lane, {wavefronts / ideal:.3g}-way "
        f"({ops}{executions:,} warps: {wavefronts:,} wavefronts for {ideal:,})"
    )
    hints = []
    if first.statement is not None:
        hints.append(f"made by {first.statement}")
    elif first.location:
        hints.append(f"at {first.location}")
    if first.pad is not None and all(a.pad == first.pad for a in group if a.conflicts):
        padded = sum(a.wavefronts if a.padded is None else a.padded for a in group)
        left = "without conflicts" if padded == ideal else f"{padded / ideal:.3g}-way"
        hints.append(f"hint: {first.pad} more to `pad` would do {left}")
    return Conflict(text, tuple(hints))
