"""The elements of the payload's tensors: those of arguments, and of results of structured ops, which
other ops only move: slices, reshapes, padding, pieces that are put together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from .....dsl.records import record
from ....indices.linear import TRUE, Formula, Linear, at_least, both, equal, less
from ....indices.values import Values
from ....ir.functions import symbol
from ....ir.mlir import ir, made_by, maker, ops_of, producer, tensor
from ....ir.reshapes import groups_of
from ....ir.sizes import pad_widths
from ....ir.structured import is_structured, structure
from ....memory.layouts import kept_dimensions, mixed
from .bodies import repeats
from .initial_payload import Untouched, digits, joined, size

Key = tuple[str, str, int]
"""A tensor or buffer of the payload: an argument of a function, or a result of the op at a
location, by number."""
Coordinates = tuple[Linear, ...]
PIECES = "pieces"
"""The kind of key of a buffer of the host with several pieces, in one launch."""


@record
class Element:
    """An element of a tensor of the payload, where `when` holds; else padding, the constant
    `outside`."""

    key: Key
    at: Coordinates
    when: Formula = TRUE
    outside: ir.Attribute | None = None


Piece = tuple[Formula, "Element | ir.Attribute | None"]
"""An element, or a constant, with the condition that it is that; None: unknown."""


@dataclass
class Elements:
    """Values of the payload as elements of tensors.

    Args:
        values: forms of the payload's numbers.
        untouched: the payload.
        pieces_of: the pieces of tensors that are buffers of the host.
    """

    values: Values
    untouched: Untouched
    pieces_of: dict[Key, Callable[[Coordinates], list[Piece]]] = field(default_factory=dict, repr=False)
    _elements: dict[ir.Value, Callable[[Coordinates], Element]] = field(default_factory=dict, repr=False)
    _unread_values: dict[Key, ir.Value] = field(default_factory=dict, repr=False)

    def returned(self, function: str, number: int) -> ir.Value | None:
        """A tensor that a function returns."""
        if function not in self.untouched.functions:
            return None
        returned = list(self.untouched.functions[function].regions[0].blocks[0].operations[-1].operation.operands)
        return returned[number] if number < len(returned) and isinstance(returned[number].type, ir.ShapedType) else None

    def result(self, function: str, number: int) -> Callable[[Coordinates], Element] | None:
        """A function's result, as elements of the payload."""
        returned = self.returned(function, number)
        return None if returned is None else self.of(returned)

    def pieces(self, function: str, number: int) -> list[Callable[[Coordinates], Element]]:
        """The tensors inserted into a function's result, the last one first, and the tensor that these
        are inserted into: their elements by coordinates of the result, inside of them and beyond."""
        found: list[Callable[[Coordinates], Element]] = []
        value = self.returned(function, number)
        while (op := None if value is None else producer(value)) and isinstance(op.opview, tensor.InsertSliceOp):
            if (piece := self._inserted(op)) is None:
                break
            found.append(piece)
            value = op.operands[1]
        empty = value is None or (op is not None and isinstance(op.opview, tensor.EmptyOp))
        return found if empty else [*found, self.of(value)]

    def of(self, value: ir.Value) -> Callable[[Coordinates], Element]:
        """The elements of a value, by coordinates."""
        if value not in self._elements:
            self._elements[value] = self._element_of(value)
        return self._elements[value]

    def _element_of(self, value: ir.Value) -> Callable[[Coordinates], Element]:
        op = producer(value)
        if op is None:
            around = maker(value)
            if around.name == "func.func":
                key: Key = ("argument", symbol(around), ir.BlockArgument(value).arg_number)
                return lambda at: Element(key, at)
            return lambda at: Element(self._unread(value), at)
        if repeats(op):
            source, indexing = self.of(op.operands[0]), structure(op).maps[0]
            return lambda at: source(tuple(self.values.affine_map(indexing, list(at))))
        if is_structured(op) and isinstance(value.type, ir.RankedTensorType):
            key = ("result", str(op.location), list(op.results).index(value))
            return lambda at: Element(key, at)
        if op.name in ("tensor.cast", "memref.cast"):
            return self.of(op.operands[0])
        if op.name in ("tensor.extract_slice", "memref.subview"):
            return self._slice(op)
        if op.name.partition(".")[2] in ("collapse_shape", "expand_shape"):
            return self._reshape(op)
        if isinstance(op.opview, tensor.PadOp):
            return self._padded(op)
        return lambda at: Element(self._unread(value), at)

    def _unread(self, value: ir.Value) -> Key:
        """A tensor of its own, for a value of unknown definition, or of several pieces."""
        op = producer(value)
        key: Key = "value", "" if op is None else f"{op.name} {op.location}", self.untouched.number(value)
        self._unread_values[key] = value
        return key

    def pieces_at(self, key: Key, at: Coordinates) -> list[Piece]:
        """What an element of a tensor of several pieces is: the first of these with a condition that
        holds; none for another tensor."""
        if key in self.pieces_of:
            return self.pieces_of[key](at)
        op = producer(self._unread_values[key]) if key in self._unread_values else None
        if op is None:
            return []
        if isinstance(op.opview, tensor.PadOp):
            inner, here, held = self._unpadded(op, at)
            return [] if held is None else [(here, self.of(op.operands[0])(inner)), (TRUE, held)]
        if isinstance(op.opview, tensor.InsertSliceOp):
            inner, here = self._within(op, at)
            return [(here, self.of(op.operands[0])(inner)), (TRUE, self.of(op.operands[1])(at))]
        if not isinstance(op.opview, tensor.ConcatOp):
            return []
        axis, found = ir.IntegerAttr(op.attributes["dim"]).value, list[Piece]()
        start = Linear.of(0)
        for operand in op.operands:
            end = start + size(self.values, operand, axis)
            inner = tuple(place - start if d == axis else place for d, place in enumerate(at))
            found.append((less(at[axis], end), self.of(operand)(inner)))
            start = end
        return [*found[:-1], (TRUE, found[-1][1])]

    def _within(self, op: ir.Operation, at: Coordinates) -> tuple[Coordinates, Formula]:
        """Coordinates in the tensor that an op inserts, and the condition that it has an element there."""
        rows = mixed(op, "static_offsets", "static_sizes", "static_strides", first=2)
        offsets, counts, steps = ([self.values.number(n) for n in row] for row in rows)
        sizes, kind = list(ir.DenseI64ArrayAttr(op.attributes["static_sizes"])), op.operands[0].type
        kept = kept_dimensions(sizes, kind) if len(kind.shape) < len(sizes) else list(range(len(sizes)))
        inner, parts = list[Linear](), list[Formula]()
        for d, (place, offset, n, step) in enumerate(zip(at, offsets, counts, steps, strict=True)):
            rest = place - offset
            inner.append(self.values.operate("floordiv", rest, step))
            parts += [at_least(inner[d], 0), less(inner[d], n)]
            parts += [] if step == Linear.of(1) else [equal(self.values.operate("mod", rest, step), Linear.of(0))]
        return tuple(inner[d] for d in kept), both(*parts)

    def _slice(self, op: ir.Operation) -> Callable[[Coordinates], Element]:
        rows = mixed(op, "static_offsets", "static_sizes", "static_strides")
        offsets, _, steps = ([self.values.number(n) for n in row] for row in rows)
        sizes, kind = list(ir.DenseI64ArrayAttr(op.attributes["static_sizes"])), op.results[0].type
        kept = kept_dimensions(sizes, kind) if len(kind.shape) < len(sizes) else list(range(len(sizes)))
        source = self.of(op.operands[0])

        def element(at: Coordinates) -> Element:
            whole = [*offsets]
            for place, dimension in zip(at, kept, strict=True):
                whole[dimension] = whole[dimension] + self.values.product(place, steps[dimension])
            return source(tuple(whole))

        return element

    def _inserted(self, op: ir.Operation) -> Callable[[Coordinates], Element] | None:
        """The tensor that an op inserts; None if its elements are not neighbours in the result."""
        rows = mixed(op, "static_offsets", "static_sizes", "static_strides", first=2)
        offsets, _, steps = ([self.values.number(n) for n in row] for row in rows)
        sizes, kind = list(ir.DenseI64ArrayAttr(op.attributes["static_sizes"])), op.operands[0].type
        kept = kept_dimensions(sizes, kind) if len(kind.shape) < len(sizes) else list(range(len(sizes)))
        source = self.of(op.operands[0])

        def element(at: Coordinates) -> Element:
            inner = [place - offset for place, offset in zip(at, offsets, strict=True)]
            found = source(tuple(inner[d] for d in kept))
            here = (equal(form, Linear.of(0)) for d, form in enumerate(inner) if d not in kept)
            return Element(found.key, found.at, both(found.when, *here), found.outside)

        return element if all(step == Linear.of(1) for step in steps) else None

    def _reshape(self, op: ir.Operation) -> Callable[[Coordinates], Element]:
        source, groups, values = self.of(op.operands[0]), groups_of(op), self.values
        longer = op.operands[0] if op.name.endswith("collapse_shape") else op.results[0]
        sizes = [size(values, longer, axis) for axis in range(len(longer.type.shape))]

        def collapsed(at: Coordinates) -> Coordinates:
            return tuple(joined(values, [at[d] for d in group], [sizes[d] for d in group]) for group in groups)

        def expanded(at: Coordinates) -> Coordinates:
            pairs = zip(at, groups, strict=True)
            return tuple(digit for n, group in pairs for digit in digits(values, n, [sizes[d] for d in group]))

        change = expanded if op.name.endswith("collapse_shape") else collapsed
        return lambda at: source(change(at))

    def _padded(self, op: ir.Operation) -> Callable[[Coordinates], Element]:
        source, low = self.of(op.operands[0]), pad_widths(op, "low")

        def element(at: Coordinates) -> Element:
            if None in low:
                return Element(self._unread(op.results[0]), at)
            inner, inside, value = self._unpadded(op, at)
            found = source(inner)
            own = found.outside  # of one padded before, with the same constant
            if found.when != TRUE and (own is None or value is None or own != value):
                return Element(self._unread(op.results[0]), at)
            return Element(found.key, found.at, both(found.when, inside), value)

        return element

    def _unpadded(self, op: ir.Operation, at: Coordinates) -> tuple[Coordinates, Formula, ir.Attribute | None]:
        """Coordinates in the tensor that an op pads, the condition that it has an element there, and the
        constant that is elsewhere."""
        constant = made_by(ops_of(op.regions[0].blocks[0])[-1].operands[0], "arith.constant")
        inner = tuple(place - (n or 0) for place, n in zip(at, pad_widths(op, "low"), strict=True))
        sizes = (size(self.values, op.operands[0], axis) for axis in range(len(inner)))
        parts = (part for place, n in zip(inner, sizes, strict=True) for part in (at_least(place, 0), less(place, n)))
        return inner, both(*parts), None if constant is None else constant.attributes["value"]
