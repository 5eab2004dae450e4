"""Indices that are taken apart: the digits of `affine.delinearize_index`."""

from __future__ import annotations

from ..ir.mlir import ir
from ..memory.layouts import mixed

NAMES = "weft.names"
"""On the op: what its results are called, `kh`, `kw`, `c`."""
OUTER = "weft.outer"
"""On the op: how many values its first result has, where that is a number."""

Size = int | ir.Value | None


def digits_of(op: ir.Operation) -> list[tuple[ir.Value, Size]]:
    """Its results, the most significant first, and how many values each of them has; None where nothing is known of the
    first."""
    outer = ir.IntegerAttr(op.attributes[OUTER]).value if OUTER in op.attributes else None
    basis = mixed(op, "static_basis")[0]
    return list(zip(op.results, [outer, *basis[len(basis) - len(op.results) + 1 :]], strict=True))
