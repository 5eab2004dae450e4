"""Structured (linalg) ops: dimensions, extents, and operands by name; slices of tensors and
memrefs.

Shapes are those of the op's operands; an extent is None where it is dynamic.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from ...dsl.diagnostics import fail
from ...dsl.records import record
from .affine_maps import dimension_of, dimensions_of
from .mlir import DYNAMIC, entries, ir, is_used, linalg, made_by, producer, tensor

Iterator = Literal["parallel", "reduction"]

_PASS_THROUGH = {"arith.extf", "arith.extsi", "arith.extui", "arith.sitofp", "arith.uitofp", "arith.truncf"}
_PRODUCTS = {"arith.mulf", "arith.muli"}
_SUMS = {"arith.addf", "arith.addi", "arith.subf", "arith.subi"}

WRITEBACK = "weft.writeback"
"""On a copy, or an op that adds to a result: writes a tile back to its buffer, by the owners of its
temporary's elements."""
ATOMIC = "weft.atomic"
"""On an elementwise op: iterations, including those of other threads and blocks, add to elements of
its output. On a sum: the blocks that compute its summands may accumulate them."""


UNROLL = "weft.unroll"
"""On a sequential loop: the compiler unrolls it, in full (a unit attribute), or by this factor."""


@record
class Structure:
    """The iteration space of a structured op.

    Args:
        iterators: `parallel` or `reduction`, one per dimension.
        extents: trip count per dimension; None where dynamic.
        maps: indexing map per operand (inputs, then outputs).
        inputs, outputs: the number of operands of each kind.
    """

    iterators: tuple[Iterator, ...]
    extents: tuple[int | None, ...]
    maps: tuple[ir.AffineMap, ...]
    inputs: int
    outputs: int

    @property
    def rank(self) -> int:
        return len(self.iterators)

    def text(self) -> str:
        """`(d0: parallel 1000, d1: reduction 333)`, for diagnostics."""
        parts = [
            f"d{i}: {kind} {'?' if n is None else n}"
            for i, (kind, n) in enumerate(zip(self.iterators, self.extents, strict=True))
        ]
        return f"({', '.join(parts)})"


def is_structured(op: ir.Operation | ir.OpView) -> bool:
    """Whether `op` is a linalg op with an iteration space: `linalg.pack`, `linalg.softmax`,
    `linalg.winograd_…` have none."""
    return indexing_maps(op.operation) is not None


def is_parallel_op(op: ir.Operation) -> bool:
    """Whether all iterators of a structured op are parallel, so that each element of its result is
    written once."""
    return is_structured(op) and "reduction" not in structure(op).iterators


def segments(op: ir.Operation) -> tuple[int, int]:
    """The numbers of inputs and outputs of a structured op."""
    outputs = len(op.results) or len(yielded(op))
    return len(op.operands) - outputs, outputs


def structure(op: ir.Operation) -> Structure:
    """The iteration space of a structured op. Raises `ValueError` if it has none."""
    maps = indexing_maps(op)
    if maps is None:
        raise ValueError(f"{op.name} is not a structured op")
    inputs, outputs = segments(op)
    rank = maps[0].n_dims if maps else 0
    iterators = _iterators(op, maps, inputs, rank)
    return Structure(iterators, _extents(op, maps, rank), maps, inputs, outputs)


def indexing_maps(op: ir.Operation) -> tuple[ir.AffineMap, ...] | None:
    """The indexing maps of a structured op, inputs first; None for any other op."""
    maps = linalg.get_indexing_maps(op) if op.name.startswith("linalg.") else None
    return None if maps is None else tuple(m.value for m in maps)


def _iterators(op: ir.Operation, maps: Sequence[ir.AffineMap], inputs: int, rank: int) -> tuple[Iterator, ...]:
    if "iterator_types" in op.attributes:
        return tuple(re.findall("parallel|reduction", str(op.attributes["iterator_types"])))
    written = {d for m in maps[inputs:] for e in m.results for d in dimensions_of(e)}
    return tuple("parallel" if d in written else "reduction" for d in range(rank))


def _extents(op: ir.Operation, maps: Sequence[ir.AffineMap], rank: int) -> tuple[int | None, ...]:
    extents: list[int | None] = [None] * rank
    for value, indexing in zip(op.operands, maps, strict=True):
        shape = shape_of(value)
        for axis, expr in enumerate(indexing.results):
            d = dimension_of(expr)
            if d is not None and extents[d] is None:
                extents[d] = shape[axis]
    return tuple(extents)


def subscripts(op: ir.Operation, maps: Sequence[ir.AffineMap]) -> Iterable[tuple[ir.Value, int, ir.AffineExpr]]:
    """Each axis of each operand of a structured op, and its subscript."""
    for operand, indexing in zip(op.operands, maps, strict=True):
        for axis, expr in enumerate(indexing.results):
            yield operand, axis, expr


def generic(
    inputs: Sequence[ir.Value],
    outputs: Sequence[ir.Value],
    maps: Sequence[ir.AffineMap],
    iterators: Sequence[str],
    body: Callable[[list[ir.Value]], Sequence[ir.Value]],
) -> ir.Operation:
    """A `linalg.generic`, created at the insertion point. `body` computes the yielded values from
    the block arguments."""
    made = linalg.GenericOp(
        result_tensors=[v.type for v in outputs if isinstance(v.type, ir.RankedTensorType)],
        inputs=list(inputs),
        outputs=list(outputs),
        indexing_maps=ir.ArrayAttr.get([ir.AffineMapAttr.get(m) for m in maps]),
        iterator_types=ir.ArrayAttr.get([ir.Attribute.parse(f"#linalg.iterator_type<{k}>") for k in iterators]),
    )
    block = made.regions[0].blocks.append(*[element_type(v) for v in (*inputs, *outputs)])
    with ir.InsertionPoint(block):
        linalg.YieldOp(list(body(list(block.arguments))))
    return made.operation


def body_of(op: ir.Operation) -> ir.Block:
    """The single block of a structured op, or of a loop."""
    return op.regions[0].blocks[0]


def yielded(op: ir.Operation) -> list[ir.Value]:
    """The values that the body of a structured op, or of a loop, yields."""
    return list(body_of(op).operations[-1].operation.operands)


def is_read(op: ir.Operation, position: int) -> bool:
    """Whether the body of a structured op reads an operand; an operand that is only written needs
    no contents."""
    return is_used(body_of(op).arguments[position])


SEQUENTIAL = ("scf.for", "affine.for")
PARALLEL = ("scf.parallel", "affine.parallel", "scf.forall")


def is_loop(op: ir.Operation) -> bool:
    """Whether `op` is a counted loop: its trip count is known before it begins."""
    return op.name in SEQUENTIAL or op.name in PARALLEL


def loop_inits(loop: ir.Operation) -> list[ir.Value]:
    """The initial values of the shared outputs of a `scf.forall`, or of the iteration arguments of
    a `scf.for`."""
    operands = list(loop.operands)
    return operands[len(operands) - len(loop.results) :]


def loop_outputs(loop: ir.Operation) -> list[ir.Value]:
    """The shared outputs of a `scf.forall`, or the iteration arguments of a `scf.for`, in its body."""
    arguments = list(body_of(loop).arguments)
    return arguments[len(arguments) - len(loop.results) :]


def replace(op: ir.Operation, values: Sequence[ir.Value]) -> None:
    """Replaces an op's results by values, and erases it."""
    for old, new in zip(op.results, values, strict=True):
        old.replace_all_uses_with(new)
    op.erase()


def copy_marks(old: ir.Operation, new: ir.Operation) -> None:
    """Copies Weft's attributes from one op to another, handles included."""
    for name in old.attributes:
        if name.startswith("weft."):
            new.attributes[name] = old.attributes[name]


def move_marks(old: ir.Operation, new: ir.Operation) -> None:
    """Moves Weft's attributes from one op to another; its handles then name the latter."""
    copy_marks(old, new)
    for name in [name for name in old.attributes if name.startswith("weft.")]:
        del old.attributes[name]


def drop_handles(op: ir.Operation) -> None:
    """Removes the handles from a copy."""
    for name in [name for name in op.attributes if name.startswith("weft.h")]:
        del op.attributes[name]


def shape_of(value: ir.Value) -> tuple[int | None, ...]:
    """The shape of a tensor or memref value, None where dynamic; () for a scalar, and for an
    unranked value."""
    kind = value.type
    if not isinstance(kind, ir.ShapedType) or not kind.has_rank:
        return ()
    return tuple(None if n == DYNAMIC else n for n in kind.shape)


def extents_of(value: ir.Value) -> list[int]:
    """The shape of a value of static shape. Raises W0322 for another."""
    shape = shape_of(value)
    if None in shape:
        raise fail(
            "W0322",
            f"a size of {value.type} is known only at run time",
            "write a number instead of each `?` in the payload's types, or give a builder its sizes: `--set m=512`",
        )
    return [n for n in shape if n is not None]


def element_type(value: ir.Value) -> ir.Type:
    """A shaped value's element type, or a scalar's type."""
    return ir.ShapedType(value.type).element_type if isinstance(value.type, ir.ShapedType) else value.type


def operand_names(op: ir.Operation) -> tuple[str, ...]:
    """`lhs`, `rhs`, `acc` for contractions, else `in0`…, `out0`…: the operand names of schedules."""
    inputs, outputs = segments(op)
    if inputs == 2 and outputs == 1 and (linalg.isa_contraction_op(op) or adds_a_product(op)):
        return ("lhs", "rhs", "acc")
    return (*(f"in{i}" for i in range(inputs)), *(f"out{i}" for i in range(outputs)))


def operand_number(op: ir.Operation, name: str) -> int | None:
    """The number of the operand of a structured op with this name; `in0`…, `out0`… name those of a
    contraction, too. None if it has none."""
    names, (inputs, outputs) = operand_names(op), segments(op)
    plain = (*(f"in{i}" for i in range(inputs)), *(f"out{i}" for i in range(outputs)))
    return next((known.index(name) for known in (names, plain) if name in known), None)


def adds_a_product(op: ir.Operation) -> bool:
    """Whether the body adds products of two inputs to its output, apart from conversions and a mask
    of the update."""
    inputs, _ = segments(op)
    if "reduction" not in structure(op).iterators:
        return False
    body = body_of(op)
    total = producer(yielded(op)[0])
    if total is not None and total.name == "arith.select" and total.operands[2] == body.arguments[inputs]:
        total = producer(total.operands[1])
    if total is None or total.name not in _SUMS or body.arguments[inputs] not in list(total.operands):
        return False
    left, right = total.operands
    term = right if left == body.arguments[inputs] else left
    product = producer(_unwrapped(term)) if "sub" not in total.name or term == right else None
    arguments = list(body.arguments)[:inputs]
    return (
        product is not None and product.name in _PRODUCTS and all(_unwrapped(v) in arguments for v in product.operands)
    )


def beside_products(op: ir.Operation) -> tuple[str, ...]:
    """The names of the ops in a multiply-add body that are neither the product, nor the sum, nor a
    conversion; empty where the body adds no product."""
    inputs, _ = segments(op)
    body = body_of(op)
    names = {view.operation.name for view in body.operations}
    if names.isdisjoint(_PRODUCTS) or names.isdisjoint(_SUMS):
        return ()
    outputs, extra, multiplied = list(body.arguments)[inputs:], list[str](), False
    for view in list(body.operations)[:-1]:
        inner = view.operation
        if inner.name in _PRODUCTS and not multiplied:
            multiplied = True
        elif inner.name not in _PASS_THROUGH and not (
            inner.name in _SUMS and any(v in outputs for v in inner.operands)
        ):
            extra.append(inner.name)
    return tuple(dict.fromkeys(extra))


def _unwrapped(value: ir.Value) -> ir.Value:
    while (op := producer(value)) is not None and op.name in _PASS_THROUGH:
        value = op.operands[0]
    return value


# ---- `tensor.extract_slice`, `insert_slice` and `parallel_insert_slice`, and `memref.subview` ------------------------


def place_of(op: ir.Operation) -> tuple[list[int], list[int], list[int]]:
    """Offsets, sizes and strides; `DYNAMIC` where not constant."""
    offsets, sizes, strides = (entries(op.attributes[f"static_{what}"]) for what in ("offsets", "sizes", "strides"))
    return offsets, sizes, strides


def parts_of(op: ir.Operation) -> list[list[int | ir.Value]]:
    """Offsets, sizes and strides of the op: numbers where constant, else values."""
    values = iter(list(op.operands)[2 if _inserts(op) else 1 :])
    return [[next(values) if number == DYNAMIC else number for number in numbers] for numbers in place_of(op)]


def dynamic_and_static(*parts: Sequence[int | ir.Value]) -> list[list]:
    """Offsets, sizes and strides in the form of upstream's builders: the dynamic values, then all,
    with `DYNAMIC` for these."""
    values = [[one for one in part if not isinstance(one, int)] for part in parts]
    return values + [[one if isinstance(one, int) else DYNAMIC for one in part] for part in parts]


def part_of(
    value: ir.Value,
    sizes: Sequence[int | ir.Value],
    offsets: Sequence[int | ir.Value] | None = None,
    strides: Sequence[int] | None = None,
) -> ir.Value:
    """`sizes` elements of a tensor, from `offsets`, or from the first element; created at the
    insertion point."""
    rank = len(sizes)
    parts = dynamic_and_static(offsets or [0] * rank, sizes, strides or [1] * rank)
    return tensor.ExtractSliceOp(ir.RankedTensorType.get(parts[4], element_type(value)), value, *parts).result


def insert(
    part: ir.Value, into: ir.Value, offsets: Sequence[int | ir.Value], sizes: Sequence[int | ir.Value]
) -> ir.Operation:
    """A `tensor.parallel_insert_slice`, created at the insertion point."""
    return tensor.ParallelInsertSliceOp(part, into, *dynamic_and_static(offsets, sizes, [1] * len(sizes))).operation


def starts_whole(op: ir.Operation) -> bool:
    """Whether a slice starts at the first element and has unit strides."""
    return not any(entries(op.attributes["static_offsets"])) and set(entries(op.attributes["static_strides"])) <= {1}


def takes_all(op: ir.Operation) -> bool:
    """Whether a slice is the whole tensor that it is a slice of, or is inserted into."""
    whole, part = (op.operands[1], op.operands[0]) if _inserts(op) else (op.operands[0], op.results[0])
    return starts_whole(op) and None not in shape_of(part) and shape_of(whole) == shape_of(part)


def _inserts(op: ir.Operation) -> bool:
    return op.name.endswith("insert_slice")


def from_origin(op: ir.Operation) -> bool:
    """Whether `op` is a slice of a tensor from its first element, with unit strides, of the same
    rank."""
    if op.name != "tensor.extract_slice" or not starts_whole(op):
        return False
    return len(shape_of(op.results[0])) == len(place_of(op)[0])


def uncut(value: ir.Value) -> ir.Value:
    """The source of a slice from a tensor's first element; the value itself if it is none."""
    op = producer(value)
    return op.operands[0] if op is not None and from_origin(op) else value


def sliced(value: ir.Value) -> ir.Value:
    """The source of a slice; the value itself if it is none."""
    op = producer(value)
    return op.operands[0] if op is not None and op.name == "tensor.extract_slice" else value


def empty(shape: Sequence[int | ir.Value], kind: ir.Type) -> ir.Value:
    """A `tensor.empty` of that shape and element type."""
    return tensor.EmptyOp(list(shape), kind).result


def is_empty(value: ir.Value) -> bool:
    """Whether the value is a `tensor.empty`: a shape without contents."""
    return made_by(value, "tensor.empty") is not None
