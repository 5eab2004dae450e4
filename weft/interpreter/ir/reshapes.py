"""Reshapes: `expand_shape` and `collapse_shape`, and their groups of axes."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from .mlir import DYNAMIC, ir, producer, tensor
from .structured import dynamic_and_static, element_type, is_structured, shape_of, uncut


def is_reshape(op: ir.Operation) -> bool:
    """Whether the op reshapes a tensor."""
    return isinstance(op.opview, (tensor.ExpandShapeOp, tensor.CollapseShapeOp))


def groups_of(op: ir.Operation) -> list[list[int]]:
    """By axis of the smaller of a reshape's two shapes, the corresponding axes of the larger one."""
    return [
        [ir.IntegerAttr(axis).value for axis in ir.ArrayAttr(group)]
        for group in ir.ArrayAttr(op.attributes["reassociation"])
    ]


def expanded(value: ir.Value, sizes: Sequence[int | ir.Value], together: Sequence[Sequence[int]]) -> ir.Value:
    """A tensor expanded to these sizes, created at the insertion point. `together`: for each axis
    of the tensor, the axes into which it is expanded."""
    if all(len(axes) == 1 for axes in together):
        return value
    given, shape = dynamic_and_static(sizes)
    kind = ir.RankedTensorType.get(shape, element_type(value))
    return tensor.ExpandShapeOp(kind, value, [list(axes) for axes in together], given, shape).result


def collapsed(value: ir.Value, together: Sequence[Sequence[int]]) -> ir.Value:
    """A tensor with each of these groups of axes collapsed to one; created at the insertion point."""
    if all(len(axes) == 1 for axes in together):
        return value
    sizes = [[shape_of(value)[a] for a in axes] for axes in together]
    shape = [DYNAMIC if None in part else prod(n for n in part if n is not None) for part in sizes]
    kind = ir.RankedTensorType.get(shape, element_type(value))
    return tensor.CollapseShapeOp(kind, value, [list(axes) for axes in together]).result


def reshaped_alike(value: ir.Value, reshape: ir.Operation, sizes: Sequence[int | ir.Value]) -> ir.Value:
    """A tensor reshaped in the way of `reshape`, to these sizes; created at the insertion point."""
    together = groups_of(reshape)
    return expanded(value, sizes, together) if is_expanding(reshape) else collapsed(value, together)


def is_expanding(reshape: ir.Operation) -> bool:
    """Whether the result has a higher rank than the source."""
    return len(shape_of(reshape.results[0])) > len(shape_of(reshape.operands[0]))


def larger_source(reshape: ir.Operation, shape: Sequence[int | None]) -> list[int] | None:
    """The shape of the source of a reshape that yields the larger `shape`, where a structured op
    defines the source; None if the larger source would not begin with the same elements."""
    if not is_reshape(reshape):
        return None
    source, old = shape_of(reshape.operands[0]), shape_of(reshape.results[0])
    if None in (*source, *old, *shape):
        return None
    found, expanding = [n or 0 for n in source], is_expanding(reshape)
    for number, axes in enumerate(groups_of(reshape)):
        if expanding and any(shape[axis] != old[axis] for axis in axes[1:]):
            return None
        rows = (shape[axes[0] if expanding else number] or 0) * prod(old[axis] or 0 for axis in axes[1:] if expanding)
        row = 1 if expanding else prod(source[axis] or 0 for axis in axes[1:])
        if rows % row:
            return None
        found[number if expanding else axes[0]] = rows // row
    behind = producer(uncut(reshape.operands[0]))
    return found if behind is not None and (is_structured(behind) or larger_source(behind, found)) else None
