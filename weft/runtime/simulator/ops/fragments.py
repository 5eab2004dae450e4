"""`nvgpu`: products on tensor cores, and loads of their fragments."""

from __future__ import annotations

from ....interpreter.hardware.ampere.fragments import LDMATRIX, MMA, matrices, row_of
from ....interpreter.hardware.limits import WARP
from ....interpreter.ir.mlir import ir
from ...form.kernel_form import expected_product
from ..translate import INT64, Translator, Val, handles, value_type
from .memory import load


@handles(LDMATRIX)
def load_matrices(t: Translator, op: ir.Operation) -> Val:
    """Each lane reads the row at its address, of one of the matrices; lanes beyond the last matrix
    read nothing."""
    (count, transposed), mem, site = matrices(op), t.memref(op.operands[0]), t.site(op)
    at, (dtype, shape) = t.operands(op, 1), value_type(row_of(op), op)
    t.emit(f"W.whole_warps(L, {t.mask}, {site})")
    if count == 4:
        rows = load(t, op, mem, at, site, shape)
    else:
        rows, here = Val(t.fresh(), t.depth, dtype, shape=shape), t.fresh("m")
        t.emit(f"{here} = L.split({t.mask}, L.threads[:, None] % {WARP} < {8 * count})[0]")
        t.emit(f"{rows.text} = np.zeros((1, 1, *{shape}), {t.constant(dtype, INT64).text})")
        with t.block(f"if {here} is not False:", mask=here):
            t.emit(f"{rows.text} = {load(t, op, mem, at, site, shape).text}")
    return t.result(op, f"F.deal(L, {rows.text}, {count}, {transposed})", [], pure=False)


@handles(MMA)
def multiply(t: Translator, op: ir.Operation) -> Val:
    product = t.constant(expected_product(op, "W0750"), INT64)
    t.emit(f"W.whole_warps(L, {t.mask}, {t.site(op)})")
    values = ", ".join(v.text for v in t.operands(op))
    return t.result(op, f"F.multiply(L, {values}, {product.text})", [], pure=False)
