"""affine: apply, min and max, with the division and remainder of affine expressions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial, reduce

from ....interpreter.ir.mlir import ir
from ..kernel import Kernel
from ..registry import writes
from ..values.expression import Expr
from ..values.integers import INDEX, add, ceil_divide, extreme, floor_divide, literal, modulo, multiply


def expand(kernel: Kernel, e: ir.AffineExpr, dims: Sequence[Expr], symbols: Sequence[Expr]) -> Expr:
    """An affine expression as a C++ one."""
    if isinstance(e, ir.AffineConstantExpr):
        return literal(e.value)
    if isinstance(e, ir.AffineDimExpr | ir.AffineSymbolExpr):
        return (dims if isinstance(e, ir.AffineDimExpr) else symbols)[e.position]
    assert isinstance(e, ir.AffineBinaryExpr)
    a, b = (expand(kernel, part, dims, symbols) for part in (e.lhs, e.rhs))
    if isinstance(e, ir.AffineAddExpr):
        return add(a, b)
    if isinstance(e, ir.AffineMulExpr):
        return multiply(a, b)
    if isinstance(e, ir.AffineModExpr):
        return modulo(a, b, kernel.need)
    if isinstance(e, ir.AffineFloorDivExpr):
        return floor_divide(a, b, INDEX, kernel.need)
    return ceil_divide(a, b, INDEX, kernel.need)


def operands_of(kernel: Kernel, map: ir.AffineMap, values: Sequence[ir.Value]) -> tuple[list[Expr], list[Expr]]:
    """The map's operands; those it uses more than once, by name."""
    text = str(map).split("->", 1)[1]
    made = []
    for number, value in enumerate(values):
        letter = f"d{number}" if number < map.n_dims else f"s{number - map.n_dims}"
        repeated = len(re.findall(rf"\b{letter}\b", text)) > 1
        made.append(kernel.atom(value, "idx") if repeated else kernel.expr(value))
    return made[: map.n_dims], made[map.n_dims :]


def results_of(kernel: Kernel, attribute: ir.Attribute, values: Sequence[ir.Value]) -> list[Expr]:
    map = ir.AffineMapAttr(attribute).value
    dims, symbols = operands_of(kernel, map, values)
    return [expand(kernel, e, dims, symbols) for e in map.results]


@writes("affine.apply")
def apply(kernel: Kernel, op: ir.Operation) -> None:
    kernel.bind(op.results[0], results_of(kernel, op.attributes["map"], list(op.operands))[0])


@writes("affine.min", "affine.max")
def extremes(kernel: Kernel, op: ir.Operation) -> None:
    values = results_of(kernel, op.attributes["map"], list(op.operands))
    kernel.bind(op.results[0], reduce(partial(extreme, op.name[-3:]), values))
