"""What is wrong with a kernel's synchronization, as diagnostics that a person understands, and where in a text it is shown."""

from __future__ import annotations

import re
from dataclasses import replace

from ....dsl.diagnostics import Diagnostic, Source, Span
from ..kernels.model import Barrier, KernelModel
from .barriers import superfluous_barriers
from .conflicts import DATA, LIMIT, Conflict, conflicts, conflicts_between_blocks
from .unwritten import UnwrittenRead, unwritten_reads

_PLACE = re.compile(r"^(?P<op>\S+) at .*?(?P<line>\d+):(?P<column>\d+)\)*$")


def span(source: Source | None, op: str) -> Span | None:
    """Where `op` stands, as `describe` says it."""
    found = _PLACE.match(op)
    if found is None or source is None:
        return None
    line, column = int(found["line"]), int(found["column"])
    return Span(source, line, column, line, column + len(found["op"]))


def quoted(source: Source | None, op: str) -> str:
    """The line of `op`, below what is said of it."""
    at = span(source, op)
    text = at.source.line(at.line).strip() if at is not None else ""
    return f"\n    {text}" if text else ""


def first_few(found: list[Diagnostic], most: int, where: str) -> list[Diagnostic]:
    """So many of them; the last one says how many more there are."""
    shown = found[:most]
    if len(found) > most:
        more = f"and {len(found) - most} more in this {where}"
        shown[-1] = replace(shown[-1], notes=(*shown[-1].notes, more))
    return shown


SHOWN = 5
EXACT = "; a loop that the payload calls parallel is believed where it is all that is launched"
"""What helps against an assumption, in a schedule."""


class Findings:
    """What the analysis finds in one kernel.

    Args:
        source: the text the kernel stands in, so that places in it can be shown.
        independent: threads do different iterations of loops that are parallel: what is only assumed to collide does not.

    Attributes:
        conflicts: those in a block, then those between blocks.
        unwritten: reads of shared memory before any write; looked for only where there are no conflicts (which come first,
            because the order of the program says nothing where they are).
        believed: how many conflicts were assumed, and are none because iterations are `independent`.
    """

    def __init__(self, model: KernelModel, source: Source | None = None, *, independent: bool = False) -> None:
        self.model = model
        self.source = source
        found = [*conflicts(model), *conflicts_between_blocks(model)]
        self.conflicts: list[Conflict] = [c for c in found if not (independent and c.assumed)]
        self.believed = len(found) - len(self.conflicts)
        shared = any(c.space == "workgroup" for c in self.conflicts) or model.divergent
        self.unwritten: list[UnwrittenRead] = [] if shared else unwritten_reads(model)

    @property
    def clean(self) -> bool:
        return not (self.model.divergent or self.conflicts or self.unwritten)

    def superfluous(self) -> list[Barrier]:
        """The barriers each of which could go, and the others would still order everything."""
        return superfluous_barriers(self.model) if self.clean else []

    def diagnostics(self) -> list[Diagnostic]:
        """All of it; of many conflicts the first few."""
        found = [self._conflict(c) for c in self.conflicts] + [self._unwritten(r) for r in self.unwritten]
        return [*(self._divergent(barrier) for barrier in self.model.divergent), *first_few(found, SHOWN, "kernel")]

    # ---- one of each ------------------------------------------------------------------------------------------------------

    def _divergent(self, barrier: Barrier) -> Diagnostic:
        group = "a subgroup" if barrier.narrow else "a block"
        message = f"not all threads of {group} reach {barrier.op}"
        note = "a condition or a loop around it is not the same for all of them"
        if barrier.assumed:
            message = f"not all threads of {group} may reach {barrier.op} (assumed)"
            note = (
                "assumed, not proven: it is not known whether a condition or a loop around it is the same for all of them;"
                " conditions and trip counts of affine indices, or of memory that the kernel does not write, make it exact"
            )
        hint = "move the barrier out of the condition or loop"
        return Diagnostic("W0603", message, span(self.source, barrier.op), notes=(note,), hint=hint)

    def _conflict(self, conflict: Conflict) -> Diagnostic:
        space = "shared" if conflict.space == "workgroup" else conflict.space
        who = "blocks" if conflict.across_blocks else "threads"
        state = "may conflict (assumed)" if conflict.assumed else "conflict"
        carried = f", carried by {conflict.carried_by}" if conflict.carried_by else ""
        message = f"two {who} {state}: {conflict.kind} on {space} memory `{conflict.buffer}`{carried}"
        notes = conflict.notes(lambda op: quoted(self.source, op))
        if conflict.across_blocks:
            hint = "no barrier orders blocks: let one block make all accesses to an element, or split the kernel in two"
            if self.source is None:
                hint = "no barrier orders blocks: map the loop so that all accesses to one element are in one block"
                hint += EXACT if conflict.assumed else "; the parts of a sum are added up by `split-k … atomic`"
            return Diagnostic("W0602", message, span(self.source, conflict.second_op), notes=notes, hint=hint)
        finds = " (`insert-barriers` finds the place)" if self.source is None else ""
        hint = f"put a barrier between the two operations{finds}, or give the element one owner"
        hint += EXACT if conflict.assumed and self.source is None else ""
        return Diagnostic("W0601", message, span(self.source, conflict.second_op), notes=notes, hint=hint)

    def _unwritten(self, read: UnwrittenRead) -> Diagnostic:
        element = f"[{', '.join(map(str, read.element))}]" if read.element else " (any element)"
        state = "may read" if read.assumed else "reads"
        notes = [f"element {read.buffer}{element}"]
        if read.reader is None:
            notes.append(LIMIT)
        else:
            notes += [read.reader.said() + quoted(self.source, read.op), *([DATA] if read.assumed else [])]
        message = f"a thread {state} shared memory `{read.buffer}` that nobody wrote"
        hint = "write the element before it is read: shared memory holds what an earlier block left there"
        return Diagnostic("W0610", message, span(self.source, read.op), notes=tuple(notes), hint=hint)
