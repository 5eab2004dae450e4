"""The spelling of an index or a view: equal spellings are equal values, though the ops that make them are different ones."""

from __future__ import annotations

from ..ir.mlir import ir, producer
from ..mapping.mapping import mapping_of
from ..memory.effects import is_pure


def spelled(value: ir.Value, *loops: ir.Operation) -> str:
    """What `value` computes, from values that pure ops do not make.

    Variables of `loops` (a nest, outermost first) are spelled by depth and axis: the tiles that two nests take can be compared.
    """
    op = producer(value)
    if op is None:
        assert isinstance(value, ir.BlockArgument)
        for depth, loop in enumerate(loops):
            if value.owner.owner.operation == loop:
                return f"iv{depth}.{_axis(loop, value.arg_number)}"
        return f"value{hash(value)}"
    if not is_pure(op):
        return f"value{hash(value)}"
    attributes = ", ".join(f"{key} = {op.attributes[key]}" for key in op.attributes if not key.startswith("weft."))
    return f"{op.name}({', '.join(spelled(o, *loops) for o in op.operands)}){{{attributes}}}: {value.type}"


def _axis(loop: ir.Operation, number: int) -> str:
    """Which processors a loop's variable counts: the axis of its map, or its place where it has none."""
    mapping = mapping_of(loop)
    return mapping.axes[number] if mapping is not None and number < len(mapping.axes) else str(number)
