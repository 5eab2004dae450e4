"""Moves elementwise ops after a convolution to before the reshape: they become ops on the product's
own result.

A bias, a ReLU or a residual is then visible to `tile` and `fuse`, and runs on each tile while the
tile is still close.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....dsl.records import record
from ...ir.cloning import clone_body
from ...ir.mlir import GAP, NotLocalError, ahead_of, ir, made_by, operations, producer, users
from ...ir.reshapes import collapsed, expanded
from ...ir.sizes import sizes_of
from ...ir.structured import Structure, body_of, dimension_of, generic, is_structured, move_marks, shape_of, structure
from .product import matrix


@record
class _Read:
    """An operand of an elementwise op: the tensor, and the loop dimension of each of its axes (None
    for an axis of size 1)."""

    value: ir.Value
    axes: tuple[int | None, ...]


def move_consumers(value: ir.Value, together: Sequence[Sequence[int]]) -> list[str]:
    """Moves the chain of elementwise ops that starts at `value` (the product's result, expanded);
    returns their names.

    The chain ends where a result has several readers, or where an op is not elementwise, or reads
    an operand that does not fit the dimensions of the product.
    """
    moved: list[str] = []
    while (op := _only_reader(value)) is not None:
        space = structure(op)
        reads = _reads(op, space, value, together)
        if reads is None:
            break
        with ahead_of(op):
            matrix_value = ir.OpResult(value).owner.operands[0]
            made = _made(op, space, reads, value, matrix_value, together)
            result = expanded(made.results[0], sizes_of(op.results[0]), together)
        move_marks(op, made)
        op.results[0].replace_all_uses_with(result)
        moved.append(op.name)
        op.erase()
        value = result
    return moved


def staying(product: ir.Operation) -> str | None:
    """The name of the first elementwise op after the chain, which was not moved; None if there is
    none."""
    value = product.results[0]
    while True:
        reader = _single_reader(value)
        if reader is None or not reader.results:
            return None
        if reader.name == "tensor.expand_shape":
            op = _only_reader(reader.results[0])
            return None if op is None else op.name
        if not is_structured(reader):
            return None
        value = reader.results[0]


def _only_reader(value: ir.Value) -> ir.Operation | None:
    """The single reader of `value`, if it is elementwise and has the same shape; otherwise None."""
    op = _single_reader(value)
    if made_by(value, "tensor.expand_shape") is None or op is None or not is_structured(op) or len(op.results) != 1:
        return None
    space = structure(op)
    elementwise = all(kind == "parallel" for kind in space.iterators)
    identity = ir.AffineMap.get_identity(space.rank)
    if not elementwise or space.maps[-1] != identity or shape_of(op.results[0]) != shape_of(value):
        return None
    return None if any(operations(op, "linalg.index", "tensor.extract")) else op


def _single_reader(value: ir.Value) -> ir.Operation | None:
    """The only op that reads `value`; None if there are several. Raises `NotLocalError` if one is
    outside the part of the module that is present."""
    readers = set(users(value))
    if any(reader.name == GAP for reader in readers):
        raise NotLocalError
    return readers.pop() if len(readers) == 1 else None


def _reads(
    op: ir.Operation, space: Structure, value: ir.Value, together: Sequence[Sequence[int]]
) -> list[_Read] | None:
    """The read of each operand of `op`; None if one cannot be indexed by the dimensions of the
    product."""
    reads: list[_Read] = []
    for position, (operand, indexing) in enumerate(zip(op.operands, space.maps, strict=True)):
        read = _through_broadcast(operand, indexing, whole=position >= space.inputs)
        if read is None or (operand == value and indexing != ir.AffineMap.get_identity(space.rank)):
            return None
        if operand != value and _grouped(read, together, shape_of(value)) is None:
            return None
        reads.append(read)
    return reads


def _through_broadcast(operand: ir.Value, indexing: ir.AffineMap, *, whole: bool) -> _Read | None:
    """The read of an operand; for the result of a `linalg.broadcast` (or an equivalent generic),
    that of the small tensor which it broadcasts. `whole`: always of the operand itself, because an
    output is written in its own shape."""
    axes = _axes(operand, indexing)
    owner = producer(operand)
    if whole or axes is None or owner is None or not is_structured(owner) or not _is_broadcast(owner):
        return None if axes is None else _Read(operand, axes)
    inner = _axes(owner.operands[0], structure(owner).maps[0])
    if inner is None:
        return _Read(operand, axes)
    return _Read(owner.operands[0], tuple(None if d is None else axes[d] for d in inner))


def _axes(operand: ir.Value, indexing: ir.AffineMap) -> tuple[int | None, ...] | None:
    """The loop dimension of each axis; None for an axis of size 1; None as a whole if an axis is
    indexed with anything but a single dimension."""
    found: list[int | None] = []
    for expr, size in zip(indexing.results, shape_of(operand), strict=True):
        d = dimension_of(expr)
        if d is None and (not isinstance(expr, ir.AffineConstantExpr) or size != 1):
            return None
        found.append(d)
    return tuple(found)


def _is_broadcast(op: ir.Operation) -> bool:
    space = structure(op)
    body = body_of(op)
    return (
        space.inputs == 1
        and len(op.results) == 1
        and space.maps[-1] == ir.AffineMap.get_identity(space.rank)
        and len(body.operations) == 1
        and body.operations[0].operation.operands[0] == body.arguments[0]
    )


def _grouped(
    read: _Read, together: Sequence[Sequence[int]], shape: Sequence[int | None]
) -> tuple[list[list[int]], list[int]] | None:
    """The axes of the operand to collapse, and the product's dimension of each resulting axis; None
    if the operand does not fit."""
    groups: list[list[int]] = []
    numbers: list[int] = []
    place = {d: number for number, dimensions in enumerate(together) for d in dimensions}
    done: list[int] = []
    for axis, d in enumerate(read.axes):
        if d is None or shape[d] == 1:
            if groups:
                groups[-1].append(axis)
            continue
        if not numbers or numbers[-1] != place[d]:
            if place[d] in numbers:
                return None
            numbers.append(place[d])
            groups.append(list(range(axis)) if not groups else [axis])
            if len(groups) == 1:
                groups[0].append(axis)
        else:
            groups[-1].append(axis)
        done.append(d)
    for number in numbers:
        wanted = [d for d in together[number] if shape[d] != 1]
        if [d for d in done if place[d] == number] != wanted:
            return None
    if read.axes and not groups:  # a single element, as the bias of a single filter
        single = [place[d] for d in read.axes if d is not None and all(shape[e] == 1 for e in together[place[d]])]
        return ([list(range(len(read.axes)))], single[:1]) if single else None
    return groups, numbers


def _made(
    op: ir.Operation,
    space: Structure,
    reads: Sequence[_Read],
    value: ir.Value,
    product: ir.Value,
    together: Sequence[Sequence[int]],
) -> ir.Operation:
    """Rebuilds `op` as a generic on the dimensions of the product."""
    rank = len(together)
    operands: list[ir.Value] = []
    maps: list[ir.AffineMap] = []
    for position, read in enumerate(reads):
        if read.value == value:
            operands.append(product)
            numbers = list(range(rank))
        elif position >= space.inputs:
            operands.append(matrix(read.value, together))
            numbers = list(range(rank))
        else:
            groups, numbers = _grouped(read, together, shape_of(value)) or ([], [])
            operands.append(collapsed(read.value, groups) if shape_of(read.value) else read.value)
        maps.append(ir.AffineMap.get_identity(rank).get_submap(numbers))
    return generic(operands[:-1], operands[-1:], maps, ["parallel"] * rank, lambda own: clone_body(body_of(op), own))
