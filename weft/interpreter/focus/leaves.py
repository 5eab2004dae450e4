"""What the ops outside of a part of a module leave in buffers of the part: stated of the gap in their
place, for proofs of what a launch finds there."""

from __future__ import annotations

import json
from collections.abc import Iterable

from ..ir.cloning import LEAVES, LEAVES_IN_ARGUMENTS
from ..ir.functions import arguments
from ..ir.mlir import GAP, ir
from ..memory.view_steps import Step, step_of
from ..memory.views import is_view, last_writer
from .sections import Body, Section, changes_buffer

MOST_LAUNCHES = 16
"""Changes of a buffer in a stretch that are inspected for the contents they leave there."""
UNCHANGED = "[null, null, false, null, 0, []]"
"""What a launch states of a buffer that it only reads."""
_DEEPEST = 3
"""Copies of copies of a buffer that are followed."""


def state_leaves(
    gap: ir.Operation, range_: tuple[int, int], own: Iterable[int], passed: Iterable[int], body: Body
) -> None:
    """Annotates a gap with the contents that the ops in its place leave in buffers.

    Args:
        range_: the sections that it replaces.
        own: the values that it uses, and those that it defines.
        passed: arguments of the function.
    """
    found = [_left(number, *range_, body) for number in own]
    if any(found):
        gap.attributes[LEAVES] = ir.StringAttr.get(json.dumps(found))
    given = {n - body.first: left for n in passed if (left := _left(n, *range_, body))}
    if given:
        gap.attributes[LEAVES_IN_ARGUMENTS] = ir.StringAttr.get(json.dumps(given))


Entry = str | tuple[str, int, list[int]] | dict[str, object] | None
"""Contents that an op leaves in a buffer: those that a launch states; the op that writes it, and the
buffer's shape, where it is not launched yet; those of a view (`view`, by steps, and `left`), or of
another buffer of which they are a copy (`copy`, and the steps to the source); None: unknown."""


def _left(number: int, start: int, stop: int, body: Body, deep: int = 0) -> list[Entry]:
    """The contents that ops in a range leave in a buffer, the last one first, up to one that writes
    all of it."""
    left: list[Entry] = []
    for user, inner, steps in _users_of(number, start, stop, body):
        found = _entries(user, inner, body, deep)
        if not any(map(_changes, found)):
            left += [] if left else found[:1]
            continue
        if steps is None or len(left) >= MOST_LAUNCHES:
            return [*left, None]
        left += [{"view": steps, "left": found}] if steps else found
        if not steps and all(entry is not None for entry in found):
            break
    return left


def _changes(entry: Entry) -> bool:
    """Whether an entry is not that a launch leaves the buffer as it is."""
    return not isinstance(entry, str) or changes_buffer(entry)


def _users_of(number: int, start: int, stop: int, body: Body) -> list[tuple[Section, int, list[Step] | None]]:
    """The sections in a range that use a buffer or a view of it, the last one first: with the value
    that they use, and the steps to it; None where these are unknown."""
    found: list[tuple[Section, int, list[Step] | None]] = []
    waiting: list[tuple[int, list[Step] | None]] = [(number, [])]
    for value, steps in waiting:
        for user in body.users_between(value, start, stop):
            if not is_view(user.op):
                found.append((user, value, steps))
                continue
            step = step_of(user.op)
            waiting += ((made, None if steps is None or step is None else [*steps, step]) for made in user.outputs)
    return sorted(found, key=lambda each: -body.place(each[0]))


def _entries(user: Section, number: int, body: Body, deep: int) -> list[Entry]:
    """The contents that a section leaves in a buffer; none where it only reads it."""
    block, op = user.holder.regions[0].blocks[0], user.op
    passed = block.arguments[user.inputs.index(number)]
    if not isinstance(passed.type, ir.MemRefType):
        return [None]
    if op.name == GAP or LEAVES in op.attributes:
        places = [*op.operands] if op.name == GAP else arguments(op)
        if LEAVES not in op.attributes:
            return []
        if passed not in places:
            return [None]
        stated = json.loads(ir.StringAttr(op.attributes[LEAVES]).value)[places.index(passed)]
        return stated if op.name == GAP else [stated]
    if op.name == "memref.copy" and op.operands[1] == passed:
        return [_copied(user, body, deep)]
    if number not in user.changed:
        return [UNCHANGED] if op.name == "memref.copy" else []
    writer = last_writer(op, passed)
    return [None if writer is None else (*writer, list(passed.type.shape))]


def _copied(user: Section, body: Body, deep: int) -> Entry:
    """The contents that a copy leaves in its target."""
    block, steps = user.holder.regions[0].blocks[0], list[Step]()
    if user.op.operands[0].owner != block or deep > _DEEPEST:
        return None
    source = user.inputs[list(block.arguments).index(user.op.operands[0])]
    while (maker := body.makers.get(source)) is not None and is_view(maker.op):
        step = step_of(maker.op)
        if step is None or len(maker.inputs) != 1:
            return None
        steps.insert(0, step)
        source = maker.inputs[0]
    given = source - body.first if body.is_argument(source) else None
    return {"copy": _left(source, 0, body.place(user), body, deep + 1), "view": steps, "argument": given}
