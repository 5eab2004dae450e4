"""`affine`: maps."""

from __future__ import annotations

from collections.abc import Sequence

from ....interpreter.ir.mlir import ir
from ...kernel_form import refuse
from ..translate import INT64, Translator, Val, handles, literal

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
    pure = b.const is not None
    if b.const is not None and b.const <= 0:
        raise refuse("W0750", f"an affine map divides by {b.const}", op)
    if not pure:
        b = t.define(f"L.nonzero({b.text}, {t.mask}, {t.site(op)})", [b], INT64, pure=False)
    if isinstance(node, ir.AffineCeilDivExpr):
        return t.define(f"-(-{a.text} // {b.text})", [a, b], INT64, pure=pure)
    return t.define(f"{a.text} {_SIGNS[type(node).__name__]} {b.text}", [a, b], INT64, pure=pure)


def results_of(t: Translator, op: ir.Operation) -> list[Val]:
    mapping, values = ir.AffineMapAttr(op.attributes["map"]).value, t.operands(op)
    dims, symbols = values[: mapping.n_dims], values[mapping.n_dims :]
    return [expression(t, node, dims, symbols, op) for node in mapping.results]


@handles("affine.apply")
def apply(t: Translator, op: ir.Operation) -> None:
    (t.values[op.results[0]],) = results_of(t, op)


@handles("affine.min", "affine.max")
def extremum(t: Translator, op: ir.Operation) -> None:
    values = results_of(t, op)
    kind = "minimum" if op.name == "affine.min" else "maximum"
    made = values[0] if len(values) == 1 else t.define(f"N.{kind}_of({', '.join(v.text for v in values)})", values, INT64)
    t.values[op.results[0]] = made
