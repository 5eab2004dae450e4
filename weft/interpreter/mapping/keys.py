"""A key for a value's computation: equal for values computed in the same way."""

from __future__ import annotations

from ..ir.mlir import ir, producer
from ..memory.effects import is_pure
from .mapping import mapping_of


def structural_key(value: ir.Value, *loops: ir.Operation) -> str:
    """The computation of `value`, from values that are not defined by pure ops.

    Variables of `loops` (a nest, outermost first) are replaced by depth and axis, so that the tiles
    of two nests can be compared.
    """
    op = producer(value)
    if op is None:
        assert isinstance(value, ir.BlockArgument)
        for depth, loop in enumerate(loops):
            if value.owner.owner.operation == loop:
                mapping, number = mapping_of(loop), value.arg_number  # its axis, or its position if it has none
                return f"iv{depth}.{mapping.axes[number] if mapping is not None and number < len(mapping.axes) else number}"
        return f"value{hash(value)}"
    if not is_pure(op):
        return f"value{hash(value)}"
    attributes = ", ".join(f"{key} = {op.attributes[key]}" for key in op.attributes if not key.startswith("weft."))
    return f"{op.name}({', '.join(structural_key(o, *loops) for o in op.operands)}){{{attributes}}}: {value.type}"
