"""vector: values of a few elements, each element an expression of its own. Loads and stores move several at once."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

from ....interpreter.ir.mlir import ir, producer
from ..errors import refuse
from ..expression import Expr, cast
from ..integers import add, literal
from ..kernel import Kernel, Lanes, has_effects
from ..registry import writes
from ..types import Scalar, element
from ..views import View, access, access_width, lane, vector_type, wide_access
from . import arith

DYNAMIC = -(1 << 63)
SHORT = 24  # characters of a subscript that may be repeated


def shape_of(value: ir.Value) -> list[int]:
    return list(value.type.shape) if isinstance(value.type, ir.VectorType) else []


def put(kernel: Kernel, result: ir.Value, lanes: Sequence[Expr]) -> None:
    """Bind a result that is a vector or one element of one."""
    if isinstance(result.type, ir.VectorType):
        kernel.bind_lanes(result, lanes)
    else:
        kernel.bind(result, lanes[0])


# ---- memory -----------------------------------------------------------------------------------------------------------


def rows(shape: Sequence[int], indices: Sequence[Expr]) -> Iterator[tuple[Expr, ...]]:
    """Where each contiguous row of a vector of `shape` begins: the last dimension is contiguous."""
    first = len(indices) - len(shape)
    for place in itertools.product(*(range(n) for n in shape[:-1])):
        yield tuple(
            add(index, literal(place[d - first])) if first <= d < len(indices) - 1 else index
            for d, index in enumerate(indices)
        )


def _unit_stride(view: View) -> bool:
    return bool(view.axes) and view.axes[-1].dimension == len(view.shape) - 1 and view.strides()[-1].constant == 1


def _shift(view: View, start: tuple[Expr, ...], by: int) -> tuple[Expr, ...]:
    return view.buffer_indices((*start[:-1], add(start[-1], literal(by))))


def read(kernel: Kernel, view: View, shape: Sequence[int], indices: Sequence[Expr]) -> Lanes:
    """The elements of a vector in memory, by accesses as wide as the alignment proves."""
    made: list[Expr] = []
    for start in rows(shape, indices):
        count = shape[-1] if shape else 1
        width = access_width(view.buffer, _shift(view, start, 0), count) if shape and _unit_stride(view) else 1
        if width == 1:
            made += [access(view.buffer, _shift(view, start, k) if shape else view.buffer_indices(start))
                     for k in range(count)]  # fmt: skip
            continue
        type = vector_type(view.element, width)
        kernel.align(view.buffer.root)
        for k in range(0, count, width):
            source = wide_access(view.buffer, _shift(view, start, k), type, const=True)
            plain = view.buffer.root.lower()
            variable = kernel.fresh(plain if view.buffer.space == "global" and plain != view.buffer.root else "v")
            kernel.line(f"const {type} {variable} = {source.text};")
            kernel.vectors[variable] = type
            made += [lane(variable, type, view.element, number) for number in range(width)]
    return tuple(made)


def write(kernel: Kernel, view: View, shape: Sequence[int], indices: Sequence[Expr], lanes: Lanes) -> None:
    """Store the elements of a vector, by accesses as wide as the alignment proves."""
    kernel.flush()
    count = shape[-1] if shape else 1
    for number, start in enumerate(rows(shape, indices)):
        row = lanes[number * count : (number + 1) * count]
        width = access_width(view.buffer, _shift(view, start, 0), count) if shape and _unit_stride(view) else 1
        for k in range(0, count, width):
            if width == 1:
                target = kernel.target(view, (*start[:-1], add(start[-1], literal(k))) if start else ())
                kernel.line(f"{target.text} = {row[k].text};")
                continue
            type = vector_type(view.element, width)
            kernel.align(view.buffer.root)
            kernel.target(view, tuple(start))
            target = wide_access(view.buffer, _shift(view, start, k), type, const=False)
            kernel.line(f"{target.text} = {_gathered(kernel, type, view.element, row[k : k + width])};")


def _gathered(kernel: Kernel, type: str, kind: Scalar, row: Lanes) -> str:
    """The elements as one value: the variable they come from if they are all of it."""
    variable = row[0].text.removesuffix(".x").removesuffix(".at[0]")
    whole = kernel.vectors.get(variable) == type
    if whole and [e.text for e in row] == [lane(variable, type, kind, n).text for n in range(len(row))]:
        return variable
    inside = ", ".join(cast(kind.cxx, e).text for e in row)  # an `int` in braces does not become a narrower type by itself
    return f"{type}{{{{{inside}}}}}" if type.startswith("vec<") else f"make_{type}({inside})"


@writes("vector.load")
def load(kernel: Kernel, op: ir.Operation) -> None:
    if not list(op.results[0].uses) or _stored_at_once(op) is not None:
        return  # the store writes the whole move
    put(kernel, op.results[0], _loaded(kernel, op))


def _loaded(kernel: Kernel, op: ir.Operation) -> Lanes:
    view, indices = _place(kernel, op, 0)
    return read(kernel, view, shape_of(op.results[0]), indices)


def _place(kernel: Kernel, op: ir.Operation, buffer: int) -> tuple[View, list[Expr]]:
    """The buffer and the subscripts of an access; long ones get a name, since the access may be written in parts."""
    view = kernel.view(op.operands[buffer])
    indices: list[Expr] = []
    for subscript in list(op.operands)[buffer + 1 :]:
        e = kernel.expr(subscript)
        short = len(e.text) <= SHORT and not e.reads and not e.mutable
        indices.append(e if short else kernel.named(e, kernel.base_name(subscript)))
    return view, indices


def _stored_at_once(op: ir.Operation) -> ir.Operation | None:
    """The store that a load's only use is, with nothing between them that could change the memory or leave the block."""
    uses = list(op.results[0].uses)
    user = uses[0].owner.operation if len(uses) == 1 else None
    if user is None or user.name != "vector.store" or user.block != op.block or uses[0].operand_number != 0:
        return None
    between = False
    for other in op.block.operations:
        if other.operation == user:
            return user
        if between and (other.operation.regions or has_effects(other.operation)):
            return None
        between = between or other.operation == op
    return None


@writes("vector.store")
def store(kernel: Kernel, op: ir.Operation) -> None:
    source = producer(op.operands[0])
    loaded = source is not None and source.name == "vector.load" and _stored_at_once(source) is not None
    moved = source if loaded else None
    if moved is not None and _move(kernel, moved, op):
        return
    lanes = kernel.lanes(op.operands[0]) if moved is None else _loaded(kernel, moved)
    view, indices = _place(kernel, op, 1)
    write(kernel, view, shape_of(op.operands[0]), indices, lanes)


def _move(kernel: Kernel, load: ir.Operation, store: ir.Operation) -> bool:
    """`*reinterpret_cast<float4*>(&A_frag[0]) = *reinterpret_cast<const float4*>(&A_shared[kk][row]);`, where both are aligned."""
    shape = shape_of(load.results[0])
    if len(shape) != 1:
        return False
    (source, start), (target, to) = _place(kernel, load, 0), _place(kernel, store, 1)
    width = shape[0]
    for view, indices in ((source, start), (target, to)):
        private = view.buffer.space == "private"
        aligned = access_width(view.buffer, _shift(view, tuple(indices), 0), shape[0], registers=private)
        width = min(width, aligned if _unit_stride(view) else 1)
    if width == 1:
        return False
    kernel.flush()
    type = vector_type(source.element, width)
    kernel.target(target, tuple(to))
    for view in (source, target):
        kernel.align(view.buffer.root)
    for k in range(0, shape[0], width):
        left = wide_access(target.buffer, _shift(target, tuple(to), k), type, const=False)
        right = wide_access(source.buffer, _shift(source, tuple(start), k), type, const=True)
        kernel.line(f"{left.text} = {right.text};")
    return True


# ---- elements ---------------------------------------------------------------------------------------------------------


@writes("vector.broadcast")
def broadcast(kernel: Kernel, op: ir.Operation) -> None:
    source, target = shape_of(op.operands[0]), shape_of(op.results[0])
    lanes = kernel.lanes(op.operands[0])
    if math.prod(target) > len(lanes):
        lanes = tuple(kernel.named(e) for e in lanes)
    padded = [1] * (len(target) - len(source)) + source
    kernel.bind_lanes(op.results[0], [
        lanes[_position([0 if n == 1 else p for n, p in zip(padded, place, strict=True)], padded)] for place in _places(target)
    ])  # fmt: skip


def _places(shape: Sequence[int]) -> Iterator[tuple[int, ...]]:
    return itertools.product(*(range(n) for n in shape))


def _position(place: Sequence[int], shape: Sequence[int]) -> int:
    total = 0
    for index, size in zip(place, shape, strict=True):
        total = total * size + index
    return total


def _static_position(op: ir.Operation) -> list[int]:
    position = list(ir.DenseI64ArrayAttr(op.attributes["static_position"]))
    if DYNAMIC in position:
        raise refuse("W0503", f"`{op.name}` at a dynamic position: elements are registers", op,
                     hint="unroll the loop over the position first")  # fmt: skip
    return position


@writes("vector.extract")
def extract(kernel: Kernel, op: ir.Operation) -> None:
    shape, position = shape_of(op.operands[0]), _static_position(op)
    size = math.prod(shape[len(position) :])
    first = _position(position, shape[: len(position)]) * size
    put(kernel, op.results[0], kernel.lanes(op.operands[0])[first : first + size])


@writes("vector.insert")
def insert(kernel: Kernel, op: ir.Operation) -> None:
    shape, position = shape_of(op.operands[1]), _static_position(op)
    size = math.prod(shape[len(position) :])
    first = _position(position, shape[: len(position)]) * size
    value, lanes = kernel.lanes(op.operands[0]), list(kernel.lanes(op.operands[1]))
    lanes[first : first + size] = value
    kernel.bind_lanes(op.results[0], lanes)


@writes("vector.shape_cast", "vector.from_elements")
def same_elements(kernel: Kernel, op: ir.Operation) -> None:
    put(kernel, op.results[0], [e for v in op.operands for e in kernel.lanes(v)])


@writes("vector.to_elements")
def to_elements(kernel: Kernel, op: ir.Operation) -> None:
    for result, e in zip(op.results, kernel.lanes(op.operands[0]), strict=True):
        kernel.bind(result, e)


def _integers(op: ir.Operation, attribute: str) -> list[int]:
    return [ir.IntegerAttr(a).value for a in op.attributes[attribute]]


@writes("vector.extract_strided_slice")
def extract_slice(kernel: Kernel, op: ir.Operation) -> None:
    shape, target = shape_of(op.operands[0]), shape_of(op.results[0])
    offsets = _integers(op, "offsets") + [0] * len(shape)
    lanes = kernel.lanes(op.operands[0])
    put(kernel, op.results[0], [
        lanes[_position([p + o for p, o in zip(place, offsets, strict=False)], shape)] for place in _places(target)
    ])  # fmt: skip


@writes("vector.insert_strided_slice")
def insert_slice(kernel: Kernel, op: ir.Operation) -> None:
    inner, shape = shape_of(op.operands[0]), shape_of(op.operands[1])
    value, lanes = kernel.lanes(op.operands[0]), list(kernel.lanes(op.operands[1]))
    offsets = _integers(op, "offsets")
    for number, place in enumerate(_places(inner)):
        full = [0] * (len(shape) - len(inner)) + list(place)
        lanes[_position([p + o for p, o in zip(full, offsets, strict=True)], shape)] = value[number]
    kernel.bind_lanes(op.results[0], lanes)


@writes("vector.shuffle")
def shuffle(kernel: Kernel, op: ir.Operation) -> None:
    lanes = (*kernel.lanes(op.operands[0]), *kernel.lanes(op.operands[1]))
    size = math.prod(shape_of(op.operands[0])[1:])
    mask = list(ir.DenseI64ArrayAttr(op.attributes["mask"]))
    if -1 in mask:
        raise refuse("W0503", "vector.shuffle with poison elements", op)
    kernel.bind_lanes(op.results[0], [e for m in mask for e in lanes[m * size : (m + 1) * size]])


@writes("vector.transpose")
def transpose(kernel: Kernel, op: ir.Operation) -> None:
    shape, target = shape_of(op.operands[0]), shape_of(op.results[0])
    order = list(ir.DenseI64ArrayAttr(op.attributes["permutation"]))
    lanes = kernel.lanes(op.operands[0])
    made = []
    for place in _places(target):
        source = [0] * len(shape)
        for d, from_dimension in enumerate(order):
            source[from_dimension] = place[d]
        made.append(lanes[_position(source, shape)])
    kernel.bind_lanes(op.results[0], made)


@writes("vector.reduction")
def reduction(kernel: Kernel, op: ir.Operation) -> None:
    """In order, from the accumulator on: floating-point sums depend on it."""
    kind, _ = element(op.operands[0].type, op)
    lanes = list(kernel.lanes(op.operands[0]))
    if len(op.operands) > 1:
        lanes.insert(0, kernel.expr(op.operands[1]))
    word = str(op.attributes["kind"]).split("<")[-1].rstrip(">")
    total = lanes[0]
    for e in lanes[1:]:
        total = _combined(kernel, op, word, kind, total, e)
    kernel.bind(op.results[0], total)


_ON_INTEGERS = {"add": "addi", "mul": "muli", "and": "andi", "or": "ori", "xor": "xori"}
_ON_FLOATS = {"add": "addf", "mul": "mulf"}


def _combined(kernel: Kernel, op: ir.Operation, word: str, kind: Scalar, a: Expr, b: Expr) -> Expr:
    """What the op of arith makes of two elements."""
    name = f"arith.{(_ON_FLOATS if kind.floating else _ON_INTEGERS).get(word, word)}"
    return arith.FUNCTIONS[name](arith.Site(kernel, op, kind, kind, name), a, b)
