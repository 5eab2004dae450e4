"""Rounding modes of ops. Weft rounds to nearest, ties to even, which is the mode of an op without
one."""

from __future__ import annotations

from ...interpreter.ir.mlir import ir

MODES = ("to_nearest_even", "downward", "upward", "toward_zero", "to_nearest_away")
"""By number in MLIR's `RoundingMode`."""


def own_rounding(op: ir.Operation) -> str | None:
    """The mode of an op that rounds in another way; else None."""
    if "roundingmode" not in op.attributes or not hasattr(
        op.opview, "roundingmode"
    ):  # on other ops the attribute has no meaning
        return None
    mode = ir.IntegerAttr(op.attributes["roundingmode"]).value
    return MODES[mode] if mode else None
