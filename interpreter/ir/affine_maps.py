"""Affine maps, evaluated over whatever stands for numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeVar

from .mlir import ir

T = TypeVar("T")

Operator = Literal["add", "mul", "mod", "floordiv", "ceildiv"]
_OPERATORS: dict[str, Operator] = {
    "AffineAddExpr": "add", "AffineMulExpr": "mul", "AffineModExpr": "mod", "AffineFloorDivExpr": "floordiv",
    "AffineCeilDivExpr": "ceildiv",
}  # fmt: skip


def results_of(
    affine_map: ir.AffineMap, operands: Sequence[T], constant: Callable[[int], T], operate: Callable[[Operator, T, T], T]
) -> list[T]:
    """The map's results, of its dimensions and then its symbols."""

    def value(e: ir.AffineExpr) -> T:
        kind = type(e).__name__
        if kind == "AffineConstantExpr":
            return constant(e.value)
        if kind in ("AffineDimExpr", "AffineSymbolExpr"):
            return operands[e.position + (affine_map.n_dims if kind == "AffineSymbolExpr" else 0)]
        return operate(_OPERATORS[kind], value(e.lhs), value(e.rhs))

    return [value(e) for e in affine_map.results]
