"""Decomposed indices: the digits of `affine.delinearize_index`."""

from __future__ import annotations

from ..ir.mlir import ir
from ..memory.layouts import mixed

NAMES = "weft.names"
"""On the op: the names of its results, `kh`, `kw`, `c`."""
OUTER = "weft.outer"
"""On the op: the count of values of its first result, if constant."""

Size = int | ir.Value | None


def digits_of(op: ir.Operation) -> list[tuple[ir.Value, Size]]:
    """The results, most significant first, each with its count of values; None for an unknown
    count."""
    outer = ir.IntegerAttr(op.attributes[OUTER]).value if OUTER in op.attributes else None
    basis = mixed(op, "static_basis")[0]
    return list(zip(op.results, [outer, *basis[len(basis) - len(op.results) + 1 :]], strict=True))
