"""Rounding modes that an op asks for. All here rounds to nearest, ties to even, as an op without one means."""

from __future__ import annotations

from ...interpreter.ir.mlir import ir

MODES = ("to_nearest_even", "downward", "upward", "toward_zero", "to_nearest_away")
"""By their numbers in MLIR's `RoundingMode`."""


def own_rounding(op: ir.Operation) -> str | None:
    """The mode of an op that rounds otherwise."""
    if "roundingmode" not in op.attributes or not hasattr(op.opview, "roundingmode"):  # of another op it says nothing
        return None
    mode = ir.IntegerAttr(op.attributes["roundingmode"]).value
    return MODES[mode] if mode else None
