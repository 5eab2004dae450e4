"""`alternatives { … } else { … }`: the first block that is not refused.

To enter a block is a step. If an item of it is refused, the session returns to the state before the
`alternatives`, and enters the next block. Only refusals lead there: what is wrong with a kernel (a
race, a fault) or with Weft (a defect) is an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from ...dsl import tree
from ...dsl.diagnostics import WeftError
from ...dsl.scopes import bound_by_all
from .state import Attempt, Frame, State, Step, after, statement_text

REFUSALS = re.compile(r"W0211|W0240|W03(?!13)\d\d|W04(?!34)\d\d")
"""The codes of refusals: a value outside its domain, a requirement that does not hold, a statement
that the payload does not allow; not W0313, a defect, and not W0434, a use after free."""


def first(item: tree.Alternatives, state: State, at: int) -> Attempt:
    """The first block, at a position of the session."""
    return Attempt(item, replace(state, frames=after(state.frames)), at)


def enter_block(attempt: Attempt) -> State:
    """The state at the begin of a block."""
    item, before = attempt.item, attempt.before
    block = item.blocks[attempt.number]
    line = f", line {block[0].span.line}" if block else ""
    remarks = (f"block {attempt.number + 1} of {len(item.blocks)}{line}", *attempt.refused)
    step = Step(statement_text(item), item.span, "alternatives", remarks, 0.0, before.version)
    frame = Frame(block, keeps=bound_by_all(item.blocks), attempt=attempt)
    return replace(before, frames=(*before.frames, frame), step=step)


def instead(frames: tuple[Frame, ...], error: WeftError, since: int) -> Attempt | None:
    """The block to enter after an error: the next block of the innermost `alternatives` that has a
    further block, and was entered at the position `since` or later; None if there is none, or the
    error is no refusal."""
    if not all(REFUSALS.fullmatch(diagnostic.code) for diagnostic in error.diagnostics):
        return None
    for frame in reversed(frames):
        if (tried := frame.attempt) is not None and not tried.last and tried.at >= since:
            return replace(tried, number=tried.number + 1, refused=(*tried.refused, _refusal(tried, error)))
    return None


@contextmanager
def with_refusals(frames: tuple[Frame, ...]) -> Iterator[None]:
    """A context that adds to errors the blocks that were refused before."""
    try:
        yield
    except WeftError as error:
        tried = [frame.attempt for frame in reversed(frames) if frame.attempt is not None]
        notes = tuple(why for attempt in tried for why in attempt.refused)
        if not notes:
            raise
        raise WeftError(*(replace(d, notes=(*d.notes, *notes)) for d in error.diagnostics)) from error


def _refusal(attempt: Attempt, error: WeftError) -> str:
    first = error.diagnostics[0]
    where = f" in line {first.span.line}" if first.span is not None else ""
    return f"block {attempt.number + 1} is refused: {first.code}{where}, {first.message}"
