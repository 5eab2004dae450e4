"""affine: apply, min, max, load, store, for, if, with the division and remainder of affine expressions."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ....interpreter.ir.mlir import ir
from ..errors import refuse
from ..expression import RELATION, Expr, binary, combine
from ..integers import (
    INDEX,
    add,
    bounds,
    ceil_divide,
    decide,
    extreme,
    floor_divide,
    literal,
    modulo,
    multiply,
    subtract,
)
from ..kernel import Kernel
from ..loops import assignment, bind_all, carry, header, loop_bounds, trip_count, unroll_pragma
from ..ranges import Range
from ..registry import writes
from ..views import access
from . import scf


def expand(kernel: Kernel, e: ir.AffineExpr, dims: Sequence[Expr], symbols: Sequence[Expr]) -> Expr:
    """An affine expression as a C++ one."""
    if isinstance(e, ir.AffineConstantExpr):
        return literal(ir.AffineConstantExpr(e).value)
    if isinstance(e, ir.AffineDimExpr):
        return dims[ir.AffineDimExpr(e).position]
    if isinstance(e, ir.AffineSymbolExpr):
        return symbols[ir.AffineSymbolExpr(e).position]
    pair = ir.AffineBinaryExpr(e)
    a, b = (expand(kernel, part, dims, symbols) for part in (pair.lhs, pair.rhs))
    if isinstance(e, ir.AffineAddExpr):
        return _sum(kernel, pair, a, b, dims, symbols)
    if isinstance(e, ir.AffineMulExpr):
        return multiply(a, b)
    if isinstance(e, ir.AffineModExpr):
        return modulo(a, b, kernel.need)
    if isinstance(e, ir.AffineFloorDivExpr):
        return floor_divide(a, b, INDEX, kernel.need)
    return ceil_divide(a, b, INDEX, kernel.need)


def _sum(
    kernel: Kernel, pair: ir.AffineBinaryExpr, a: Expr, b: Expr, dims: Sequence[Expr], symbols: Sequence[Expr]
) -> Expr:
    """`a + b`; `a - b * 3` for MLIR's `a + b * -3`; `a % n` for its `a - (a floordiv n) * n`."""
    for one, part in ((a, pair.rhs), (b, pair.lhs)):
        factor = _negative_factor(part)
        if factor is not None:
            rest, count = factor
            inner = expand(kernel, rest, dims, symbols)
            return subtract(one, multiply(inner, literal(count)))
    return add(a, b)


def _negative_factor(e: ir.AffineExpr) -> tuple[ir.AffineExpr, int] | None:
    if not isinstance(e, ir.AffineMulExpr):
        return None
    pair = ir.AffineBinaryExpr(e)
    if isinstance(pair.rhs, ir.AffineConstantExpr) and ir.AffineConstantExpr(pair.rhs).value < 0:
        return pair.lhs, -ir.AffineConstantExpr(pair.rhs).value
    return None


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
    kernel.bind(op.results[0], _fold(op.name[-3:], values))


def _fold(function: str, values: Sequence[Expr]) -> Expr:
    total = values[0]
    for value in values[1:]:
        total = extreme(function, total, value)
    return total


@writes("affine.load")
def load(kernel: Kernel, op: ir.Operation) -> None:
    view = kernel.view(op.operands[0])
    indices = results_of(kernel, op.attributes["map"], list(op.operands)[1:])
    kernel.bind(op.results[0], access(view.buffer, view.buffer_indices(tuple(indices))))


@writes("affine.store")
def store(kernel: Kernel, op: ir.Operation) -> None:
    value, view = kernel.expr(op.operands[0]), kernel.view(op.operands[1])
    indices = results_of(kernel, op.attributes["map"], list(op.operands)[2:])
    target = kernel.target(view, tuple(indices))
    kernel.flush()
    kernel.line(assignment(target.text, value))


@writes("affine.for")
def for_loop(kernel: Kernel, op: ir.Operation) -> None:
    block = kernel.single_block(op)
    lows, highs, inits = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
    operands = list(op.operands)
    lower = _fold("max", results_of(kernel, op.attributes["lowerBoundMap"], operands[:lows]))
    upper = _fold("min", results_of(kernel, op.attributes["upperBoundMap"], operands[lows : lows + highs]))
    step = literal(ir.IntegerAttr(op.attributes["step"]).value)
    lower, upper, step = loop_bounds(kernel, lower, upper, step)
    arguments, start = list(block.arguments), operands[lows + highs : lows + highs + inits]
    carried = [carry(kernel, op, v, i, "acc") for v, i in zip(arguments[1:], start, strict=True)]
    with kernel.nested() as body:
        text = header(kernel, arguments[0], lower, upper, step)
        scf.write_body(kernel, block, carried)
    pragma = unroll_pragma(op, trip_count(lower, upper, step))
    if pragma is not None:
        kernel.line(pragma)
    kernel.put(text, body.lines)
    for result, variable in zip(op.results, carried, strict=True):
        bind_all(kernel, result, variable.after)


@writes("affine.if")
def if_then_else(kernel: Kernel, op: ir.Operation) -> None:
    condition = _condition(kernel, op)
    scf.write_conditional(kernel, op, condition)


def _condition(kernel: Kernel, op: ir.Operation) -> Expr:
    """The set's constraints, joined. The bindings give no access to the set of an attribute, so its text is read."""
    text = str(op.attributes["condition"])
    found = re.fullmatch(r"affine_set<(\(.*?\)(?:\[.*?\])?) : \((.*)\)>", text)
    if found is None:
        raise refuse("W0503", f"affine.if with the condition {text}", op)
    constraints = [c.strip() for c in found[2].split(",") if c.strip()]
    sides = [re.sub(r" (>=|==) 0$", "", c) for c in constraints]
    attribute = ir.Attribute.parse(f"affine_map<{found[1]} -> ({', '.join(sides)})>", op.context)
    values = results_of(kernel, attribute, list(op.operands))
    terms = [_compare(v, "==" if c.endswith("== 0") else ">=") for v, c in zip(values, constraints, strict=True)]
    false = next((t for t in terms if t.constant == 0), None)
    open_terms = [t for t in terms if t.constant is None]
    if false is not None or not open_terms:
        return false if false is not None else _truth(True)
    total = open_terms[0]
    for term in open_terms[1:]:
        total = binary("&&", total, term, "bool")
    return total


def _truth(known: bool) -> Expr:
    return Expr("true" if known else "false", "bool", range=Range.constant(int(known)), atom=True)


def _compare(value: Expr, operator: str) -> Expr:
    """`value >= 0` or `value == 0`, as a comparison of its two sides where it is a difference."""
    known = decide(operator, bounds(value, INDEX), Range.constant(0))
    if known is not None:
        return _truth(known)
    if value.split is not None and value.split[1] == "-":
        left, _, right = value.split
        if left.isdigit():
            left, operator, right = right, {">=": "<=", "==": "=="}[operator], left
        return combine(f"{left} {operator} {right}", "bool", (value,), RELATION)
    return binary(operator, value, literal(0), "bool")
