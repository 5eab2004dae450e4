"""Views as data: how coordinates of a view follow from those of its source, where all of it is known
before a run. Stated of ops that are outside of a part of a module."""

from __future__ import annotations

from ..ir.mlir import DYNAMIC, ir
from ..ir.reshapes import groups_of
from .layouts import kept_dimensions
from .views import VIEWS, is_view

Step = tuple[str, list[list[int]]]
"""`slice` with offsets, sizes, strides and the kept axes; `collapse` and `expand` with the sizes of the
longer shape and the groups of its axes; `same`."""


def step_of(op: ir.Operation) -> Step | None:
    """A view as data; None where a number in it is known at run time only."""
    kind = VIEWS[op.name] if is_view(op) else None
    if kind == "same":
        return "same", []
    if kind == "subview":
        rows = [list(op.attributes[name]) for name in ("static_offsets", "static_sizes", "static_strides")]
        made = ir.MemRefType(op.results[0].type)
        kept = kept_dimensions(rows[1], made) if made.rank < len(rows[1]) else list(range(made.rank))
        return None if any(DYNAMIC in row for row in rows) else ("slice", [*rows, kept])
    if kind == "reshape" and "reassociation" in op.attributes:
        collapses = ir.MemRefType(op.operands[0].type).rank > ir.MemRefType(op.results[0].type).rank
        longer = ir.MemRefType((op.operands[0] if collapses else op.results[0]).type)
        return (
            ("collapse" if collapses else "expand", [list(longer.shape), *groups_of(op)])
            if longer.has_static_shape
            else None
        )
    return None
