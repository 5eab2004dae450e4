"""vector: values of a few elements, each an expression of its own. Loads and stores move several
elements at once."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from functools import partial, reduce

from ....interpreter.ir.mlir import DYNAMIC, ir, is_used, producer
from ....interpreter.memory.effects import in_bounds, mask_of
from ...form.kernel_form import ARRANGING, arranged, integers, kind_of, refuse
from ..kernel import KernelWriter, Lanes, has_effects, writes
from ..values.expression import ARRAY, Expr, cast, whole
from ..values.integers import add, literal, multiply
from ..values.types import element
from ..values.views import NamedView, access_width, lanes_of, vector_type, wide
from . import arith

SHORT = 24  # longest subscript, in characters, that may be repeated


def shape_of(value: ir.Value) -> list[int]:
    return list(value.type.shape) if isinstance(value.type, ir.VectorType) else []


# ---- memory --------------------------------------------------------------------------------------


def rows(shape: Sequence[int], indices: Sequence[Expr]) -> Iterator[tuple[Expr, ...]]:
    """The indices at which each contiguous row of a vector of `shape` begins; the last dimension is
    contiguous."""
    first = len(indices) - len(shape)
    for place in itertools.product(*(range(n) for n in shape[:-1])):
        yield tuple(
            add(index, literal(place[d - first])) if first <= d < len(indices) - 1 else index
            for d, index in enumerate(indices)
        )


def _unit_stride(view: NamedView) -> bool:
    return bool(view.axes) and view.axes[-1].dimension == len(view.shape) - 1 and view.strides()[-1].constant == 1


def _shift(start: tuple[Expr, ...], by: int) -> tuple[Expr, ...]:
    return (*start[:-1], *(add(last, literal(by)) for last in start[-1:]))


def _accesses(
    view: NamedView, shape: Sequence[int], indices: Sequence[Expr]
) -> Iterator[tuple[int, tuple[Expr, ...], int]]:
    """The accesses to a vector in memory, as wide as the proven alignment allows: number of the
    first element, its indices, width."""
    number, count = 0, shape[-1] if shape else 1
    for start in rows(shape, indices):
        width = access_width(view.buffer, view.buffer_indices(start), count) if shape and _unit_stride(view) else 1
        for k in range(0, count, width):
            yield number + k, _shift(start, k), width
        number += count


def read(kernel: KernelWriter, view: NamedView, shape: Sequence[int], indices: Sequence[Expr]) -> Lanes:
    """The elements of a vector in memory."""
    made: list[Expr] = []
    for _, at, width in _accesses(view, shape, indices):
        first = kernel.place(view, at)
        if width == 1:
            made.append(first)
            continue
        type, variable = vector_type(view.element, width), kernel.fresh(view.buffer.value_name)
        kernel.aligned.add(view.buffer.root)
        kernel.line(f"const {type} {variable} = {wide(first, type, const=True)};")
        made += lanes_of(variable, view.element, width)
    return tuple(made)


def write(kernel: KernelWriter, view: NamedView, shape: Sequence[int], indices: Sequence[Expr], lanes: Lanes) -> None:
    """Emits stores of the elements of a vector."""
    kernel.flush()
    for number, at, width in _accesses(view, shape, indices):
        place, made = kernel.target(view, at), lanes[number].text
        target = place.text
        if width > 1:
            type = vector_type(view.element, width)
            kernel.aligned.add(view.buffer.root)
            target = wide(place, type, const=False)
            row = lanes[number : number + width]
            made = whole(row, type)
            if made is None:  # an initializer list does not narrow an `int` implicitly
                inside = ", ".join(cast(view.element.cxx, e).text for e in row)
                made = f"{type}{{{{{inside}}}}}" if type.startswith("vec<") else f"make_{type}({inside})"
        if made != target:  # computed in place: nothing to store
            kernel.line(f"{target} = {made};")


def _check(op: ir.Operation, buffer: int) -> None:
    """Refuses transfers with a mask, a permutation, or dimensions that may be out of bounds; all
    others are plain loads and stores."""
    if not op.name.startswith("vector.transfer"):
        return
    memref, moved = op.operands[buffer], op.operands[0] if buffer else op.results[0]
    if not isinstance(memref.type, ir.MemRefType):
        raise refuse("W0503", f"`{op.name}` on {memref.type}: bufferize first", op)
    if mask_of(op) is not None:
        raise refuse("W0503", f"`{op.name}` with a mask", op)
    map, shape = ir.AffineMapAttr(op.attributes["permutation_map"]).value, shape_of(moved)
    if map != ir.AffineMap.get_minor_identity(memref.type.rank, len(shape), op.context):
        raise refuse(
            "W0503",
            f"`{op.name}` with the permutation {map}",
            op,
            hint="lower it by `transform.apply_patterns.vector.transfer_permutation_patterns`",
        )
    if not in_bounds(op):
        raise refuse(
            "W0503", f"`{op.name}` that may be out of bounds", op, hint="guard it by `scf.if`, and state `in_bounds`"
        )


@writes("vector.load", "vector.transfer_read")
def load(kernel: KernelWriter, op: ir.Operation) -> Lanes | None:
    _check(op, 0)
    if not is_used(op.results[0]) or _stored_at_once(op) is not None:
        return None  # emitted with its store
    return _loaded(kernel, op)


def _loaded(kernel: KernelWriter, op: ir.Operation) -> Lanes:
    view, indices = _place(kernel, op, 0)
    return read(kernel, view, shape_of(op.results[0]), indices)


def _place(kernel: KernelWriter, op: ir.Operation, buffer: int) -> tuple[NamedView, list[Expr]]:
    """The view and the subscripts of an access; long subscripts are bound to names, since the
    access may be split into several."""
    view = kernel.view(op.operands[buffer])
    indices: list[Expr] = []
    for subscript in op.operands[buffer + 1 : buffer + 1 + len(view.shape)]:
        e = kernel.expr(subscript)
        short = len(e.text) <= SHORT and not e.reads and not e.mutable
        indices.append(e if short else kernel.named(e, kernel.base_name(subscript)))
    return view, indices


def _stored_at_once(op: ir.Operation) -> ir.Operation | None:
    """The store that is a load's only use, if no op between them may change the memory or has a
    region; else None."""
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


@writes("vector.store", "vector.transfer_write")
def store(kernel: KernelWriter, op: ir.Operation) -> None:
    _check(op, 1)
    source = producer(op.operands[0])
    loaded = source is not None and source.name == "vector.load" and _stored_at_once(source) is not None
    moved = source if loaded else None
    if moved is not None and _move(kernel, moved, op):
        return
    lanes = kernel.lanes(op.operands[0]) if moved is None else _loaded(kernel, moved)
    view, indices = _place(kernel, op, 1)
    write(kernel, view, shape_of(op.operands[0]), indices, lanes)


def _move(kernel: KernelWriter, load: ir.Operation, store: ir.Operation) -> bool:
    """Emits a load and its store as wide moves if both are aligned; returns whether it did.

    `*reinterpret_cast<float4*>(&A_frag[0]) = *reinterpret_cast<const float4*>(&A_shared[kk][row]);`
    """
    shape = shape_of(load.results[0])
    if len(shape) != 1:
        return False
    (source, start), (target, to) = _place(kernel, load, 0), _place(kernel, store, 1)
    width = shape[0]
    for view, indices in ((source, start), (target, to)):
        private = view.buffer.space == "private"
        aligned = access_width(view.buffer, view.buffer_indices(tuple(indices)), shape[0], registers=private)
        width = min(width, aligned if _unit_stride(view) else 1)
    if width == 1:
        return False
    kernel.flush()
    type = vector_type(source.element, width)
    kernel.aligned |= {source.buffer.root, target.buffer.root}
    for k in range(0, shape[0], width):
        left = wide(kernel.target(target, _shift(tuple(to), k)), type, const=False)
        right = wide(kernel.place(source, _shift(tuple(start), k)), type, const=True)
        kernel.line(f"{left} = {right};")
    return True


# ---- elements ------------------------------------------------------------------------------------


@writes(*ARRANGING)
def arrange(kernel: KernelWriter, op: ir.Operation) -> Lanes:
    numbers = arranged(op)
    if numbers is None and op.name == "vector.extract" and (array := whole(kernel.lanes(op.operands[0]), ARRAY)):
        return _picked(kernel, op, array)
    if numbers is None:
        hint = "`unroll` the loop over the position first"
        raise refuse("W0503", f"`{op.name}` at a dynamic position: elements are registers", op, hint=hint)
    lanes = [e for v in op.operands for e in kernel.lanes(v)]
    return tuple(lanes[number] for number in numbers.flat)


def _picked(kernel: KernelWriter, op: ir.Operation, array: str) -> Lanes:
    """Elements of an array in registers at a dynamic position, which becomes constant once the
    surrounding loops are unrolled."""
    shape, dynamic = shape_of(op.operands[0]), iter(kernel.exprs(list(op.operands)[1:]))
    static = integers(op.attributes["static_position"])
    place = literal(0)
    for axis, number in enumerate(static):
        index = next(dynamic) if number == DYNAMIC else literal(number)
        place = add(place, multiply(index, literal(math.prod(shape[axis + 1 :]))))
    kind, count = element(op.results[0].type, op)
    subscripts = (add(place, literal(number)) for number in range(count or 1))
    return tuple(Expr(f"{array}[{at.text}]", kind.cxx, range=kind.full_range, reads=True) for at in subscripts)


@writes("vector.to_elements")
def to_elements(kernel: KernelWriter, op: ir.Operation) -> None:
    for result, e in zip(op.results, kernel.lanes(op.operands[0]), strict=True):
        kernel.bind(result, e)


@writes("vector.reduction")
def reduction(kernel: KernelWriter, op: ir.Operation) -> Lanes:
    """Reduces in order, starting from the accumulator: the order determines floating-point sums."""
    kind, _ = element(op.operands[0].type, op)
    lanes = list(kernel.lanes(op.operands[0]))
    if len(op.operands) > 1:
        lanes.insert(0, kernel.expr(op.operands[1]))
    word = kind_of(op)
    name = f"arith.{(_ON_FLOATS if kind.floating else _ON_INTEGERS).get(word, word)}"
    return (reduce(partial(arith.FUNCTIONS[name], arith.ElementwiseSite(kernel, op, kind, kind, name)), lanes),)


_ON_INTEGERS = {"add": "addi", "mul": "muli", "and": "andi", "or": "ori", "xor": "xori"}
_ON_FLOATS = {"add": "addf", "mul": "mulf"}
