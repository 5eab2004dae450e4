"""Affine maps, evaluated over any domain of numbers; their dimensions; integer sets."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Literal, TypeVar

from .mlir import ir

T = TypeVar("T")

Operator = Literal["add", "mul", "mod", "floordiv", "ceildiv"]
OPERATORS: dict[str, Operator] = {
    "AffineAddExpr": "add",
    "AffineMulExpr": "mul",
    "AffineModExpr": "mod",
    "AffineFloorDivExpr": "floordiv",
    "AffineCeilDivExpr": "ceildiv",
}


def results_of(
    mapping: ir.AffineMap, operands: Sequence[T], constant: Callable[[int], T], operate: Callable[[Operator, T, T], T]
) -> list[T]:
    """The map's results, from the values of its dimensions and then its symbols."""

    def value(e: ir.AffineExpr) -> T:
        kind = type(e).__name__
        if kind == "AffineConstantExpr":
            return constant(e.value)
        if kind in ("AffineDimExpr", "AffineSymbolExpr"):
            return operands[e.position + (mapping.n_dims if kind == "AffineSymbolExpr" else 0)]
        return operate(OPERATORS[kind], value(e.lhs), value(e.rhs))

    return [value(e) for e in mapping.results]


def dimension_of(expr: ir.AffineExpr) -> int | None:
    """The position of `expr` if it is a single dimension, else None."""
    return expr.position if isinstance(expr, ir.AffineDimExpr) else None


def single_dimensions(affine_map: ir.AffineMap) -> list[int]:
    """The results of the map that are single dimensions."""
    return [d for expr in affine_map.results if (d := dimension_of(expr)) is not None]


def dimensions_of(expr: ir.AffineExpr) -> set[int]:
    """The positions of all dimensions that occur in `expr`."""
    return _positions(expr, ir.AffineDimExpr)


def symbols_of_divisors(expr: ir.AffineExpr) -> set[int]:
    """The positions of all symbols that occur in divisors in `expr`."""
    if not isinstance(expr, ir.AffineBinaryExpr):
        return set()
    inside = symbols_of_divisors(expr.lhs) | symbols_of_divisors(expr.rhs)
    divides = isinstance(expr, ir.AffineModExpr | ir.AffineFloorDivExpr | ir.AffineCeilDivExpr)
    return inside | _positions(expr.rhs, ir.AffineSymbolExpr) if divides else inside


def _positions(expr: ir.AffineExpr, kind: type[ir.AffineDimExpr | ir.AffineSymbolExpr]) -> set[int]:
    if isinstance(expr, kind):
        return {expr.position}
    return _positions(expr.lhs, kind) | _positions(expr.rhs, kind) if isinstance(expr, ir.AffineBinaryExpr) else set()


def constraints(integer_set: ir.Attribute) -> tuple[ir.AffineMap, list[bool]]:
    """The constraints of an integer set, as results of a map: each is zero (True) or non-negative.

    The bindings have no access to the constraints of a set; they are read from its text, parsed as
    a map.
    """
    head, _, body = str(integer_set).removeprefix("affine_set<").removesuffix(">").partition(":")
    parts = [part.strip() for part in body.strip()[1:-1].split(",") if part.strip()]
    forms = ", ".join(re.sub(r"\s*(>=|==)\s*0$", "", part) for part in parts)
    made = ir.AffineMapAttr.parse(f"affine_map<{head.strip()} -> ({forms})>", integer_set.context)
    return made.value, ["==" in part for part in parts]
