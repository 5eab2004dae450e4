"""`affine`: maps, and the loops, branches and accesses that use them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ....interpreter.ir.mlir import ir
from ..translate import BOOL, INT64, Translator, Val, handles, literal
from ..types import integers, refuse
from .control import branch, loop
from .memory import load, store

_SIGNS = {"AffineFloorDivExpr": "//", "AffineModExpr": "%"}


def expression(t: Translator, node: ir.AffineExpr, dims: Sequence[Val], symbols: Sequence[Val], op: ir.Operation) -> Val:
    """The value of an affine expression."""
    if isinstance(node, ir.AffineConstantExpr):
        return literal(node.value)
    if isinstance(node, ir.AffineDimExpr):
        return dims[node.position]
    if isinstance(node, ir.AffineSymbolExpr):
        return symbols[node.position]
    assert isinstance(node, ir.AffineBinaryExpr)
    a, b = (expression(t, side, dims, symbols, op) for side in (node.lhs, node.rhs))
    if isinstance(node, ir.AffineAddExpr):
        return t.add(a, b)
    if isinstance(node, ir.AffineMulExpr):
        return t.multiply(a, b)
    return quotient(t, type(node).__name__, a, b, op)


def quotient(t: Translator, kind: str, a: Val, b: Val, op: ir.Operation) -> Val:
    """`floordiv`, `ceildiv` or `mod`; the divisor is positive."""
    pure = b.const is not None
    if b.const is not None and b.const <= 0:
        raise refuse("W0750", f"an affine map divides by {b.const}", op)
    if not pure:
        b = t.define(f"L.nonzero({b.text}, {t.mask}, {t.site(op)})", [b], INT64, pure=False)
    if kind == "AffineCeilDivExpr":
        return t.define(f"-(-{a.text} // {b.text})", [a, b], INT64, pure=pure)
    return t.define(f"{a.text} {_SIGNS[kind]} {b.text}", [a, b], INT64, pure=pure)


def results_of(t: Translator, mapping: ir.AffineMap, values: Sequence[Val], op: ir.Operation) -> list[Val]:
    dims, symbols = values[: mapping.n_dims], values[mapping.n_dims :]
    return [expression(t, node, dims, symbols, op) for node in mapping.results]


def map_of(op: ir.Operation, name: str = "map") -> ir.AffineMap:
    return ir.AffineMapAttr(op.attributes[name]).value


@handles("affine.apply")
def apply(t: Translator, op: ir.Operation) -> None:
    (t.values[op.results[0]],) = results_of(t, map_of(op), t.operands(op), op)


@handles("affine.min", "affine.max")
def extremum(t: Translator, op: ir.Operation) -> None:
    _extremum(t, op, results_of(t, map_of(op), t.operands(op), op), "minimum" if op.name == "affine.min" else "maximum")


def _extremum(t: Translator, op: ir.Operation, values: list[Val], kind: str) -> None:
    t.values[op.results[0]] = least(t, values, kind)


def least(t: Translator, values: list[Val], kind: str) -> Val:
    if len(values) == 1:
        return values[0]
    return t.define(f"N.{kind}_of({', '.join(v.text for v in values)})", values, INT64)


@handles("affine.delinearize_index")
def delinearize(t: Translator, op: ir.Operation) -> None:
    basis = integers(op, "static_basis")
    if len(op.operands) > 1:
        raise refuse("W0750", "`affine.delinearize_index` with a dynamic basis", op)
    rest = t.value(op.operands[0])
    basis = basis[len(basis) - len(op.results) + 1 :]
    for result, size in zip(reversed(list(op.results)[1:]), reversed(basis), strict=True):
        t.values[result] = quotient(t, "AffineModExpr", rest, literal(size), op)
        rest = quotient(t, "AffineFloorDivExpr", rest, literal(size), op)
    t.values[op.results[0]] = rest


@handles("affine.linearize_index")
def linearize(t: Translator, op: ir.Operation) -> None:
    basis = integers(op, "static_basis")
    indices, dynamic = list(op.operands), len(op.operands)
    if dynamic not in (len(basis), len(basis) + 1):
        raise refuse("W0750", "`affine.linearize_index` with a dynamic basis", op)
    total = t.value(indices[0])
    for index, size in zip(indices[1:], basis[len(basis) - len(indices) + 1 :], strict=True):
        total = t.add(t.multiply(total, literal(size)), t.value(index))
    t.values[op.results[0]] = total


@handles("affine.load")
def affine_load(t: Translator, op: ir.Operation) -> None:
    indices = results_of(t, map_of(op), t.operands_from(op, 1), op)
    t.values[op.results[0]] = load(t, op, t.memref(op.operands[0]), indices)


@handles("affine.store")
def affine_store(t: Translator, op: ir.Operation) -> None:
    indices = results_of(t, map_of(op), t.operands_from(op, 2), op)
    store(t, op, t.memref(op.operands[1]), indices, t.value(op.operands[0]))


@handles("affine.for")
def affine_for(t: Translator, op: ir.Operation) -> None:
    lowers, uppers, _ = integers(op, "operandSegmentSizes")
    operands = list(op.operands)
    bounds = [t.value(v) for v in operands[: lowers + uppers]]
    lower = least(t, results_of(t, map_of(op, "lowerBoundMap"), bounds[:lowers], op), "maximum")
    upper = least(t, results_of(t, map_of(op, "upperBoundMap"), bounds[lowers:], op), "minimum")
    step = literal(ir.IntegerAttr(op.attributes["step"]).value)
    loop(t, op, lower, upper, step, operands[lowers + uppers :], op.regions[0].blocks[0])


@handles("affine.if")
def affine_if(t: Translator, op: ir.Operation) -> None:
    # The bindings give no access to an integer set's constraints: its text does.
    text = str(op.attributes["condition"])
    found = re.fullmatch(r"affine_set<(\(.*?\)(?:\[.*?\])?) : \((.*)\)>", text)
    if found is None:
        raise refuse("W0750", f"`{text}` is no integer set that the simulator reads", op)
    constraints = re.findall(r"(.*?) (>=|==) 0(?:, |$)", found[2])
    made = ir.AffineMapAttr.parse(f"affine_map<{found[1]} -> ({', '.join(e for e, _ in constraints)})>", op.context)
    values = results_of(t, ir.AffineMapAttr(made).value, t.operands(op), op)
    condition = Val("True", 0, BOOL, uniform=True)
    for value, (_, sign) in zip(values, constraints, strict=True):
        holds = t.define(f"{value.text} {sign} 0", [value], BOOL)
        condition = t.define(f"{condition.text} & {holds.text}", [condition, holds], BOOL)
    branch(t, op, condition)
