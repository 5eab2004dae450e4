"""Contents of the host's buffers piece by piece: what copies, fills, and launches have left in parts of
them, and in views of these; for ops of the host that are not launched yet, what they are to leave.

    memref.copy x → c[0:5]; memref.copy y → c[5:9]      c[i] is y[i - 5] where 5 ≤ i < 9, else x[i] where i < 5, else unknown
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from ....dsl.records import record
from ...indices.linear import TRUE, Formula, Linear, Symbol, at_least, both, equal, less
from ...indices.values import Values
from ...ir.cloning import LEAVES, LEAVES_IN_ARGUMENTS
from ...ir.functions import arguments, own_name
from ...ir.mlir import GAP, in_block, ir, ops_of, producer
from ...memory.view_steps import Step, step_of
from ...memory.views import changes, is_view, last_writer
from ..solver import Unknown, point_where
from .labels import Label, where_bounds_leave_it
from .launch_contents import UNCHANGED, Left, in_argument, result_of
from .payload.elements import PIECES, Coordinates, Element, Elements, Key, Piece
from .payload.initial_payload import digits, joined
from .payload.payloads import PayloadOps

Content = Callable[[Coordinates], list[Piece]]
"""The pieces of a buffer at some coordinates: the first with a condition that holds has the element."""
UNKNOWN: Piece = (TRUE, None)


@record(eq=False)
class HostPieces:
    """Finds contents before a launch.

    Args:
        payload: the untouched module.
        function: the host's, with the launch.
    """

    payload: PayloadOps
    function: ir.Operation

    def of(self, operand: ir.Value, root: ir.Operation) -> Content | None:
        """The contents of a buffer or a view before an op; None if nothing is known of them."""
        steps = list[Step]()
        while (made := producer(operand)) is not None and is_view(made):
            if (step := step_of(made)) is None:
                return None
            steps.insert(0, step)
            operand = made.operands[0]
        content = self.before(operand, root)
        return None if content is None else lambda at: content(self._source(steps, at))

    def before(self, buffer: ir.Value, root: ir.Operation) -> Content | None:
        """The contents of a buffer before an op of a function's own block; None if nothing is known
        of them.

        Args:
            buffer: an allocation, an argument, or the result of a gap: no view.
        """
        block = root.block
        if block.owner.operation.name != "func.func":
            return None
        written: list[tuple[ir.Operation, list[Step] | None, ir.Value]] = []
        views: list[tuple[ir.Value, list[Step] | None]] = [(buffer, [])]
        for view, steps in views:
            for user in dict.fromkeys(use.owner.operation for use in view.uses):
                top = in_block(user, block)
                if top is None:
                    return None
                if is_view(user) and user.block == block:
                    step = step_of(user)
                    views.append((user.results[0], None if steps is None or step is None else [*steps, step]))
                elif top != root and top.is_before_in_block(root):
                    written.append((top, steps, view))
        made, number = producer(buffer), None
        if made is None:
            number = ir.BlockArgument(buffer).arg_number
            gaps = (op for op in ops_of(block) if op.name == GAP and LEAVES_IN_ARGUMENTS in op.attributes)
            written += ((op, [], buffer) for op in gaps if op.is_before_in_block(root))
        elif made.name == GAP:
            written.append((made, [], buffer))
        order = {op: n for n, op in enumerate(ops_of(block))}
        once = {(op, view): steps for op, steps, view in written}
        found: list[Content] = []
        for (op, view), steps in sorted(once.items(), key=lambda each: -order[each[0][0]]):
            entries = self._entries(op, view)
            if entries and steps is None:
                found.append(lambda _: [UNKNOWN])
            else:
                found += (self._through(steps or (), entry) for entry in entries)
        if number is not None:
            found.append(self._argument(number))
        return self._first_of(found) if found else None

    def _argument(self, number: int) -> Content:
        name = own_name(self.function)
        payload = self.payload.untouched.functions.get(name)
        passed = payload is not None and number < len(payload.regions[0].blocks[0].arguments)
        return lambda at: [(TRUE, Element(("argument", name, number), at))] if passed else [UNKNOWN]

    def _entries(self, op: ir.Operation, view: ir.Value) -> list[Content]:
        """What an op leaves in a buffer or a view of it, the last piece first; none if it only reads it."""
        if op.name == GAP:
            if producer(view) is None and LEAVES_IN_ARGUMENTS in op.attributes:
                texts = in_argument(op, view)
            else:
                stated = json.loads(ir.StringAttr(op.attributes[LEAVES]).value) if LEAVES in op.attributes else None
                texts = [] if stated is None else stated[[*op.operands, *op.results].index(view)]
            return [content for text in texts if (content := self._stated(text)) is not None]
        if LEAVES in op.attributes:
            passed = arguments(op)
            text = (
                json.loads(ir.StringAttr(op.attributes[LEAVES]).value)[passed.index(view)] if view in passed else None
            )
            content = self._stated(text)
            return [] if content is None else [content]
        if op.name == "memref.copy":
            return [self._copied(op)] if op.operands[1] == view else []
        if not changes(op, view):
            return []
        writer = last_writer(op, view)
        return (
            [lambda _: [UNKNOWN]]
            if writer is None
            else [self._of(result_of(*writer, view.type.shape, self.payload.untouched))]
        )

    def _copied(self, copy: ir.Operation) -> Content:
        return self.of(copy.operands[0], copy) or (lambda _: [UNKNOWN])

    def _stated(self, text: Any) -> Content | None:
        """Contents that are stated of a gap or a launch; None where a buffer is left as it is."""
        if text is None:
            return lambda _: [UNKNOWN]
        if isinstance(text, str):
            return None if text == UNCHANGED else self._of(Left.read(text))
        if isinstance(text, list):
            return self._of(result_of(text[0], text[1], text[2], self.payload.untouched))
        steps: list[Step] = [(kind, rows) for kind, rows in text["view"]]
        if "left" in text:
            parts = [self._stated(each) for each in text["left"]]
            return self._through(steps, self._first_of([part for part in parts if part is not None]))
        parts = [each for entry in text["copy"] if (each := self._stated(entry)) is not None]
        if text["argument"] is not None:
            parts.append(self._argument(text["argument"]))
        content = self._first_of(parts)
        return lambda at: content(self._source(steps, at))

    def _of(self, left: Left | None) -> Content:
        if left is None or left.parts or (left.at is None and left.constant is None):
            return lambda _: [UNKNOWN]
        key, known = left.key, [self.payload.around.sizes[size] for size in left.sizes]
        if key is None:
            return lambda _: [(TRUE, left.constant)]
        return lambda at: [(TRUE, Element(key, tuple(self.values.affine_map(left.at, [*at, *known]))))]

    @property
    def values(self) -> Values:
        return self.payload.values

    def _first_of(self, contents: Sequence[Content]) -> Content:
        def content(at: Coordinates) -> list[Piece]:
            found: list[Piece] = []
            for each in contents:
                found += each(at)
                if any(when == TRUE for when, _ in found):
                    return found
            return [*found, UNKNOWN]

        return content

    def _through(self, steps: Sequence[Step], of_view: Content) -> Content:
        """The content of a buffer, from that of a view of it."""

        def content(at: Coordinates) -> list[Piece]:
            here: list[Formula] = []
            for step in steps:
                at, inside = self._inside(step, at)
                here.append(inside)
            return [(both(*here, when), piece) for when, piece in of_view(at)]

        return content

    def _inside(self, step: Step, at: Coordinates) -> tuple[Coordinates, Formula]:
        """Coordinates in a view, from those in its source, and the condition that the view has them."""
        kind, rows = step
        if kind == "slice":
            offsets, counts, strides, kept = rows
            found, parts = list[Linear](), list[Formula]()
            for place, offset, n, stride in zip(at, offsets, counts, strides, strict=True):
                found.append((place - offset).floordiv(stride))
                parts += [at_least(place, offset), less(found[-1], Linear.of(n))]
                parts += [equal((place - offset).modulo(stride), Linear.of(0))] if stride != 1 else []
            return tuple(found[d] for d in kept), both(*parts)
        return (at if kind == "same" else self._regrouped(rows, at, joins=kind == "collapse")), TRUE

    def _source(self, steps: Sequence[Step], at: Coordinates) -> Coordinates:
        """Coordinates in the source of views, from those in the last of them."""
        for kind, rows in reversed(steps):
            if kind == "slice":
                offsets, _, strides, kept = rows
                inner = dict(zip(kept, at, strict=True))
                pairs = enumerate(zip(offsets, strides, strict=True))
                at = tuple(inner.get(d, Linear.of(0)) * stride + offset for d, (offset, stride) in pairs)
            elif kind != "same":
                at = self._regrouped(rows, at, joins=kind == "expand")
        return at

    def _regrouped(self, rows: list[list[int]], at: Coordinates, *, joins: bool) -> Coordinates:
        sizes, groups = list(map(Linear.of, rows[0])), rows[1:]
        if joins:
            return tuple(joined(self.values, [at[d] for d in group], [sizes[d] for d in group]) for group in groups)
        pairs = zip(at, groups, strict=True)
        return tuple(digit for n, group in pairs for digit in digits(self.values, n, [sizes[d] for d in group]))


def labels_of(content: Content, name: str, cells: tuple[Symbol, ...], elements: Elements) -> tuple[Label, ...]:
    """The labels of a buffer with several pieces, or with one that is all of it; none where nothing is
    known.

    Args:
        name: of the buffer.
        cells: its coordinates.
    """
    at, turns = tuple(map(Linear.of, cells)), (0,) * len(cells)
    try:
        found = [piece for piece in content(at) if point_where([piece[0]]) is not None]
    except Unknown:
        return ()
    when, first = found[0] if found else UNKNOWN
    if all(piece is None for _, piece in found):
        return ()
    if where_bounds_leave_it(when) == TRUE:
        if not isinstance(first, Element):
            return (Label(None, outside=first),)
        return (Label(first.key, cells, turns, first.at, first.when, first.outside),)
    key: Key = (PIECES, name, len(elements.pieces_of))
    elements.pieces_of[key] = content
    return (Label(key, cells, turns, at),)
