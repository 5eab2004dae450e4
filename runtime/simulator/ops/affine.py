"""`affine`: maps."""

from __future__ import annotations

from functools import partial

from ....interpreter.ir.affine_maps import results_of
from ....interpreter.ir.mlir import ir
from ...kernel_form import refuse
from ..translate import INT64, Translator, Val, handles, literal


def _operate(t: Translator, op: ir.Operation, operator: str, a: Val, b: Val) -> Val:
    if operator == "add":
        return t.add(a, b)
    if operator == "mul":
        return t.multiply(a, b)
    pure = b.const is not None
    if b.const is not None and b.const <= 0:
        raise refuse("W0750", f"an affine map divides by {b.const}", op)
    if not pure:
        b = t.define(f"L.nonzero({b.text}, {t.mask}, {t.site(op)})", [b], INT64, pure=False)
    pattern = {"mod": "{0} % {1}", "floordiv": "{0} // {1}", "ceildiv": "-(-{0} // {1})"}[operator]
    return t.define(pattern.format(a.text, b.text), [a, b], INT64, pure=pure)


def _results(t: Translator, op: ir.Operation) -> list[Val]:
    return results_of(ir.AffineMapAttr(op.attributes["map"]).value, t.operands(op), literal, partial(_operate, t, op))


@handles("affine.apply")
def apply(t: Translator, op: ir.Operation) -> None:
    (t.values[op.results[0]],) = _results(t, op)


@handles("affine.min", "affine.max")
def extremum(t: Translator, op: ir.Operation) -> None:
    values = _results(t, op)
    kind = "minimum" if op.name == "affine.min" else "maximum"
    made = values[0] if len(values) == 1 else t.define(f"N.{kind}_of({', '.join(v.text for v in values)})", values, INT64)
    t.values[op.results[0]] = made
