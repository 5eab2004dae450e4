"""Provenance of padded tensors: an image with padding around it, an image inserted into a filled
buffer, a window of either.

`tensor.pad`, `tensor.insert_slice` into a fill, `tensor.extract_slice` and `tensor.cast`, chained
in any order, are read as one function from the index of an element to its origin. A masked load
then reads the image in place, and no padded copy is made. Paddings by the same constant become one
box; a negative width crops, and is an offset; paddings by different values, and by values that
depend on the index, are nested choices.

A padding that no op reads through remains a copy; the op that bufferization makes of it states the
reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...dsl.records import record
from ..ir.cloning import is_named
from ..ir.copying import fill_value
from ..ir.mlir import has_parent, ir, is_used, made_by, operations, producer, users
from ..ir.refusing import describe
from ..ir.sizes import SizeForm, difference, forms_of, pad_widths
from ..ir.structured import body_of, element_type, extents_of, is_structured, place_of, segments, shape_of

PAD = "tensor.pad"


@record
class Image:
    """A tensor that is read in place."""

    value: ir.Value


@record
class Filled:
    """A tensor with one scalar in all elements."""

    value: ir.Value


@record
class Computed:
    """The value that the body of a `tensor.pad` computes from the index."""

    body: ir.Block


@record
class StridedWindow:
    """Element i is element `offsets + i · strides` of the piece inside."""

    inside: Provenance
    offsets: tuple[int, ...]
    strides: tuple[int, ...]


@record
class BoxSpan:
    """A box along one axis: index i with start ≤ i < stop is index (i - offset) / stride of the
    piece inside."""

    offset: int
    start: int
    stop: SizeForm
    stride: int = 1

    @property
    def length(self) -> SizeForm:
        """The number of elements of the piece inside that are in the box."""
        if self.stride == 1:
            return self.stop - self.start
        assert isinstance(self.stop, int), "what lies apart was put at places that are numbers"
        return (self.stop - self.start - 1) // self.stride + 1

    def moved(self, by: int) -> BoxSpan:
        return replace(self, offset=self.offset + by, start=self.start + by, stop=self.stop + by)

    def clipped(self, other: BoxSpan) -> BoxSpan | None:
        """The intersection with another box; None where it is unknown which of them ends first."""
        beyond = difference(self.stop, other.stop)
        if beyond is None:
            return None
        return replace(self, start=max(self.start, other.start), stop=self.stop if beyond <= 0 else other.stop)


@record
class Placed:
    """The piece inside a box; elsewhere the element is that of `around`."""

    inside: Provenance
    spans: tuple[BoxSpan, ...]
    around: Provenance

    @property
    def dense(self) -> bool:
        return all(span.stride == 1 for span in self.spans)


Provenance = Image | Filled | Computed | StridedWindow | Placed


# ---- what a value is -------------------------------------------------------------------------------------------------


def provenance_of(value: ir.Value) -> Provenance:
    """The pieces of which `value` is assembled; `Image(value)` if there are none, or where widths
    or offsets are not constant."""
    op = producer(value)
    made = None if op is None else {
        "tensor.pad": _of_pad, "tensor.insert_slice": _of_insertion, "tensor.extract_slice": _of_slice, "tensor.cast": _of_cast,
    }.get(op.name, lambda _: None)(op)  # fmt: skip
    return made or Image(value)


def read_through(value: ir.Value) -> Provenance | None:
    """The pieces of `value`, if reading them saves a copy; None if it is read directly, such as a
    slice of an image, which is a view."""
    if not _derived_from(value, PAD, "tensor.insert_slice"):
        return None
    piece = provenance_of(value)
    return piece if _is_pieced(piece) or derived_from_pad(value) else None


def _is_pieced(piece: Provenance) -> bool:
    return isinstance(piece, Placed) or (isinstance(piece, StridedWindow) and _is_pieced(piece.inside))


def derived_from_pad(value: ir.Value) -> bool:
    """Whether a `tensor.pad` is between the value and the image. Bufferization copies such a value
    even if the padding only crops, or does nothing."""
    return _derived_from(value, PAD) and any(op.name == PAD for op in makers(value))


def _derived_from(value: ir.Value, *names: str) -> bool:
    """Whether an op with one of these names may be in the value's definition: by names alone,
    without sizes."""
    while (op := made_by(value, *names, "tensor.extract_slice", "tensor.cast", "tensor.insert_slice")) is not None:
        if op.name in names:
            return True
        if len(op.operands) > 1 + (op.name == "tensor.insert_slice"):
            return False  # its offset is not constant
        value = op.operands[0]
    return False


def makers(value: ir.Value) -> list[ir.Operation]:
    """The ops that assemble the value, from the last one back to the image."""
    found: list[ir.Operation] = []
    while provenance_of(value) != Image(value):
        op = producer(value)
        if op is None:
            break
        found.append(op)
        value = op.operands[0]
    return found


def remove_dead(passed: Sequence[ir.Operation]) -> None:
    """Erases those of a value's defining ops that are no longer used; upstream keeps a
    `tensor.pad`."""
    for op in passed:
        if is_used(*op.results):
            break
        op.erase()


def margins(piece: Provenance, shape: Sequence[SizeForm]) -> tuple[tuple[int, ...], tuple[int | None, ...]]:
    """The numbers of elements around the image, before and after it along each axis; negative where
    it is cropped, None where known only at run time."""
    if isinstance(piece, Placed):
        low, high = margins(piece.inside, [span.length for span in piece.spans])
        ends = list(zip(piece.spans, shape, low, high, strict=True))
        behind = [(difference(n, s.stop), b) for s, n, _, b in ends]
        return tuple(s.start + a for s, _, a, _ in ends), tuple(
            None if a is None or b is None else a + b for a, b in behind
        )
    image = piece.inside if isinstance(piece, StridedWindow) else None
    if isinstance(piece, StridedWindow) and isinstance(image, Image) and None not in shape_of(image.value):
        whole = extents_of(image.value)
        rest = [
            o + (n - 1) * s + 1 - full if isinstance(n, int) else None
            for o, n, s, full in zip(piece.offsets, shape, piece.strides, whole, strict=True)
        ]
        return tuple(-o for o in piece.offsets), tuple(rest)
    return (0,) * len(shape), (0,) * len(shape)


def _of_pad(op: ir.Operation) -> Provenance | None:
    low = pad_widths(op, "low")
    if None in low:
        return None
    sizes = zip(low, forms_of(op.operands[0]), strict=True)
    spans = tuple(BoxSpan(first or 0, first or 0, n + (first or 0)) for first, n in sizes)
    return placed(provenance_of(op.operands[0]), spans, _around(op), forms_of(op.results[0]))


def _around(op: ir.Operation) -> Provenance:
    """The piece that a `tensor.pad` puts around its image."""
    block = body_of(op)
    value = block.operations[-1].operation.operands[0]
    owner = producer(value)
    if value.owner == block or (owner is not None and owner.block == block and owner.name != "arith.constant"):
        return Computed(block)
    return Filled(value)


def _of_insertion(op: ir.Operation) -> Provenance | None:
    """A padding in bufferized form: the image, or a copy of it, inside a fill that no handle names."""
    place = _place(op, 2, op.operands[0])
    around = _filled(op.operands[1])
    if place is None or around is None:
        return None
    image, copy = op.operands[0], made_by(op.operands[0], "linalg.copy")
    if copy is not None:
        if is_named(copy) or element_type(copy.operands[0]) != element_type(image):
            return None
        image = copy.operands[0]
    spans = tuple(BoxSpan(o, o, o + (n - 1) * s + 1, s) for o, n, s in place)
    return placed(provenance_of(image), spans, around, forms_of(op.results[0]))


def _filled(value: ir.Value) -> Provenance | None:
    """A fill, or a fill with something already inserted."""
    maker, insertion = producer(value), made_by(value, "tensor.insert_slice")
    if maker is not None and (filling := fill_value(maker)) is not None and not is_named(maker):
        return Filled(filling)
    return None if insertion is None else _of_insertion(insertion)


def _of_slice(op: ir.Operation) -> Provenance | None:
    place = _place(op, 1, op.results[0])
    if place is None:
        return None
    return window(provenance_of(op.operands[0]), [o for o, _, _ in place], [s for _, _, s in place])


def _place(op: ir.Operation, operands: int, part: ir.Value) -> list[tuple[int, int, int]] | None:
    """Offset, size and stride along each axis; None where one is not constant, or where the part
    has another rank."""
    found = place_of(op)
    if len(op.operands) > operands or list(shape_of(part)) != found[1] or 0 in found[1]:
        return None
    return list(zip(*found, strict=True))


def _of_cast(op: ir.Operation) -> Provenance | None:
    inside = provenance_of(op.operands[0])
    return None if isinstance(inside, Image) else inside


# ---- put together ----------------------------------------------------------------------------------------------------


def window(inside: Provenance, offsets: Sequence[int], strides: Sequence[int] | None = None) -> Provenance:
    """A window of a piece, simplified."""
    steps = tuple(strides or (1,) * len(offsets))
    if isinstance(inside, Filled) or (not any(offsets) and set(steps) <= {1}):
        return inside
    if isinstance(inside, StridedWindow):
        sums = [o + p * s for o, p, s in zip(inside.offsets, offsets, inside.strides, strict=True)]
        return window(inside.inside, sums, [a * b for a, b in zip(inside.strides, steps, strict=True)])
    if isinstance(inside, Placed) and set(steps) <= {1}:
        spans = tuple(span.moved(-o) for span, o in zip(inside.spans, offsets, strict=True))
        return Placed(inside.inside, spans, window(inside.around, offsets))
    return StridedWindow(inside, tuple(offsets), steps)


def placed(inside: Provenance, spans: tuple[BoxSpan, ...], around: Provenance, shape: Sequence[SizeForm]) -> Provenance:
    """A piece in a box, simplified: a box that fills `shape` is a window, boxes in a box of their
    constant are one."""
    made = Placed(inside, spans, around)
    if not made.dense:
        return made
    behind = [difference(n, span.stop) for span, n in zip(spans, shape, strict=True)]
    if all(span.start <= 0 and n is not None and n <= 0 for span, n in zip(spans, behind, strict=True)):
        return window(inside, [-span.offset for span in spans])
    if isinstance(inside, StridedWindow) and set(inside.strides) <= {1}:
        moved = tuple(replace(span, offset=span.offset - o) for span, o in zip(spans, inside.offsets, strict=True))
        return placed(inside.inside, moved, around, shape)
    if isinstance(inside, Placed) and inside.dense and _alike(inside.around, around):
        each = zip(inside.spans, spans, strict=True)
        clipped = [box for span, s in each if (box := span.moved(s.offset).clipped(s)) is not None]
        return placed(inside.inside, tuple(clipped), around, shape) if len(clipped) == len(spans) else made
    return made


def _alike(one: Provenance, other: Provenance) -> bool:
    if not isinstance(one, Filled) or not isinstance(other, Filled):
        return False
    makers = [made_by(piece.value, "arith.constant") for piece in (one, other)]
    constants = [op.attributes["value"] for op in makers if op is not None]
    return one.value == other.value or (len(constants) == 2 and constants[0] == constants[1])


MARK = "weft.padded_copy"
"""On the `linalg.map` that fills the copy: the reason for the copy, and a hint."""

Reason = tuple[str, str]
_BY_ITSELF = "`bufferize`, and map and launch the `linalg.map` that fills the copy"


def padded_copies(module: ir.Module) -> dict[str, Reason]:
    """The `tensor.pad`s of function bodies, by location, with the reason why each of them is not
    read through."""
    found = [op for op in operations(module.operation, PAD) if is_used(op.results[0])]
    return {str(op.location): _reason(op) for op in found if has_parent(op, "func.func")}


def name_padded_copies(module: ir.Module, copies: dict[str, Reason]) -> None:
    """Copies the reasons to the `linalg.map` that upstream makes of each of them."""
    for op in operations(module.operation, "linalg.map") if copies else ():
        reason = copies.get(str(op.location))
        if reason is not None:
            op.attributes[MARK] = ir.ArrayAttr.get([ir.StringAttr.get(text) for text in reason])


def _reason(op: ir.Operation) -> Reason:
    if None in pad_widths(op, "low"):
        return "its widths are not known numbers", f"write numbers as `low` and `high` in the payload; or {_BY_ITSELF}"
    readers = users(op.results[0])
    if any(reader.name in ("func.return", "bufferization.materialize_in_destination") for reader in readers):
        return "it is a result of the function", _BY_ITSELF
    reader = next((reader for reader in readers if is_structured(reader)), None)
    if readers[0].name in ("scf.forall", "scf.for"):
        return f"{describe(readers[0])} starts from it, and writes over the copy", _BY_ITSELF
    if readers[0].name in ("tensor.collapse_shape", "tensor.expand_shape"):
        place = describe(readers[0]).removeprefix(f"{readers[0].name} ")
        return f"the op {place} takes it in another shape", _BY_ITSELF
    if reader is None:
        return f"{describe(readers[0])} reads it, and only linalg ops read through a padding", _BY_ITSELF
    if any(reader.operands[number] == op.results[0] for number in range(segments(reader)[0])):
        return (
            f"{describe(reader)} reads it, and is not scheduled",
            "`tile`, `map` or `fuse` that: the padding is a mask then",
        )
    return f"{describe(reader)} starts from it, and writes over the copy", _BY_ITSELF
