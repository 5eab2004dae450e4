"""Labels of ops: the attribute `weft.name`, or the names in an op's location, `loc("scores")`."""

from __future__ import annotations

from collections.abc import Iterator

from ..ir.functions import NAME
from ..ir.mlir import ir
from ..ir.structured import is_loop, is_structured
from ..memory.table import ALLOCATIONS


def labels_of(op: ir.Operation) -> list[str]:
    """The labels of an op. The name of a buffer is not one, and names in locations are labels of
    structured ops and loops: the constants and slices around them have the same locations."""
    if op.name in ALLOCATIONS:
        return []
    if isinstance(name := op.attributes.get(NAME), ir.StringAttr):
        return [name.value]
    return list(dict.fromkeys(_names(op.location))) if is_structured(op) or is_loop(op) else []


def _names(place: ir.Location) -> Iterator[str]:
    if isinstance(place, ir.NameLoc):
        yield place.name_str
        yield from _names(place.child_loc)
    elif isinstance(place, ir.FusedLoc):
        for part in place.locations:
            yield from _names(part)
    elif isinstance(place, ir.CallSiteLoc):
        yield from _names(place.callee)
