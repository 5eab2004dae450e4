"""Where a value comes from: the function argument behind slices, views and gathers, for naming what is made of it."""

from __future__ import annotations

from ..ir.functions import given_name
from ..ir.mlir import ir, maker, operations
from ..memory.views import VIEWS
from ..padding.gathers import is_gather

_THROUGH = ("tensor.extract_slice", "tensor.cast", "tensor.collapse_shape", "tensor.expand_shape", *VIEWS)


def origin(value: ir.Value) -> str | None:
    """The `weft.name` of the function argument that `value` is a part of; None where it was computed."""
    while not isinstance(value.owner, ir.Block):
        op = value.owner.operation
        if op.name in _THROUGH:
            value = op.operands[0]
        elif is_gather(op) and (images := [o.operands[0] for o in operations(op, "tensor.extract")]):
            value = images[0]
        else:
            return None
    function = maker(value)
    return given_name(function, ir.BlockArgument(value).arg_number) if function.name == "func.func" else None
