"""Sums of 16-bit floats that tensor cores accumulate in f32: the threads' arrays become arrays of
f32.

    mma … accumulate f32 : acc[…] += lhs · rhs          (acc: memref<…xbf16>, in registers)
    →   acc: memref<…xf32>; what others store in it is extended, and what they load is rounded

So a sum is rounded only once, when it is loaded from the array, and not in each step.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...buffers.views import retype
from ...hardware.ampere.fragments import sums_of
from ...ir.mlir import ahead_of, arith, ir, is_used, linalg, made_by, maker, memref, operations, ops_of, users, vector
from ...ir.refusing import describe, refuse
from ...ir.structured import body_of, element_type, segments
from ...memory.views import is_own_array, is_view, root_memref


def accumulate_in_wider(function: ir.Operation) -> None:
    """Gives each array in which marked products accumulate the accumulator type of their
    instructions. Raises W0369."""
    for product in list(operations(function)):
        total = sums_of(product)
        if total is None or str(ir.MemRefType(product.operands[-1].type).element_type) == total:
            continue
        array = root_memref(product.operands[-1])
        if is_own_array(array):  # otherwise it is refused where the instruction is emitted
            _widen(array, ir.Type.parse(total, function.context), product)


def _widen(array: ir.Value, wide: ir.Type, product: ir.Operation) -> None:
    old = ir.MemRefType(array.type)
    looking = list(_looking(array))
    retype(array, ir.MemRefType.get(old.shape, wide, old.layout, old.memory_space))
    for view in looking:
        if is_view(view):
            kind = ir.MemRefType(view.results[0].type)
            view.results[0].set_type(ir.MemRefType.get(kind.shape, wide, kind.layout, kind.memory_space))
    for op in looking:
        with op.location:
            if isinstance(op.opview, memref.LoadOp | vector.LoadOp):
                _round(op)
            elif isinstance(op.opview, memref.StoreOp | vector.StoreOp | linalg.FillOp):
                with ahead_of(op):
                    op.operands[0] = _extended(op.operands[0], wide)
            elif isinstance(op.opview, linalg.GenericOp) and sums_of(op) is None:
                _convert(op, old.element_type, wide)
            elif not is_view(op) and sums_of(op) != str(wide):
                raise refuse(
                    "W0369",
                    f"{describe(op)} takes sums in their type in memory, and they are accumulated in {wide}",
                    product,
                    "leave out `accumulate`, or let the op read the sums from the buffer in which they are stored",
                )


def _looking(value: ir.Value) -> Iterator[ir.Operation]:
    """All users of an array, or of a view of it; views before their users."""
    for user in users(value):
        yield user
        if is_view(user):
            yield from _looking(user.results[0])


def _like(kind: ir.Type, element: ir.Type) -> ir.Type:
    return ir.VectorType.get(ir.VectorType(kind).shape, element) if isinstance(kind, ir.VectorType) else element


def _round(load: ir.Operation) -> None:
    """Rounds a loaded value to the previous type for all of its users."""
    narrow = load.results[0].type
    load.results[0].set_type(_like(narrow, ir.MemRefType(load.operands[0].type).element_type))
    with ir.InsertionPoint.after(load):
        rounded = arith.TruncFOp(narrow, load.results[0])
    load.results[0].replace_all_uses_except(rounded.result, rounded.operation)


def _convert(op: ir.Operation, narrow: ir.Type, wide: ir.Type) -> None:
    """Makes an elementwise op round the elements that it reads from the array, and extend those
    that it stores."""
    body, inputs = body_of(op), segments(op)[0]
    for operand, element in zip(op.operands, body.arguments, strict=True):
        if element_type(operand) != wide or element.type != narrow:
            continue
        element.set_type(wide)
        if is_used(element):
            with ir.InsertionPoint.at_block_begin(body):
                rounded = arith.TruncFOp(narrow, element)
            element.replace_all_uses_except(rounded.result, rounded.operation)
    end = ops_of(body)[-1]
    with ahead_of(end):
        for number, operand in enumerate(list(op.operands)[inputs:]):
            if element_type(operand) == wide and end.operands[number].type == narrow:
                end.operands[number] = _extended(end.operands[number], wide)


def _extended(value: ir.Value, wide: ir.Type) -> ir.Value:
    """A stored value, extended. A constant is extended to a constant, so that zero is still
    recognized."""
    kind = _like(value.type, wide)
    if made_by(value, "arith.constant") is None:
        return arith.ExtFOp(kind, value).result
    given = maker(value).attributes["value"]
    if isinstance(given, ir.FloatAttr):
        return arith.ConstantOp(kind, ir.FloatAttr.get(wide, given.value)).result
    dense = ir.DenseFPElementsAttr(given)
    if dense.is_splat:
        splat = ir.FloatAttr.get(wide, ir.FloatAttr(dense.get_splat_value()).value)
        return arith.ConstantOp(kind, ir.DenseElementsAttr.get_splat(kind, splat)).result
    return arith.ExtFOp(kind, value).result
