"""Reductions that processors may share: each reduces its own iterations, and then they combine
their results."""

from __future__ import annotations

import math

from ..hardware.limits import OF_A_THREAD, WARP
from ..ir.affine_maps import dimension_of
from ..ir.mlir import ir
from ..ir.structured import element_type, structure
from ..reductions.combiners import combiner
from ..reductions.scans import is_scan, read_scan, running
from .mapping import Mapping, handed_out

EXCHANGED = ("i1", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64")
"""Types that lanes can exchange (`__shfl_xor_sync`; fewer than 32 bits travel in 32)."""


def why_not_shared(op: ir.Operation, mapping: Mapping) -> tuple[str, str] | None:
    """The reason why processors cannot share a reduction, with a hint; None if they can."""
    space, reduced = structure(op), handed_out(op)
    whole = "let one processor compute all of it: `threads(x: 1)`"
    if mapping.space not in ("lanes", "threads"):
        return f"`{mapping.space}` do not combine partial results", "map it to `lanes` or `threads`, which do"
    if mapping.vector > 1 and space.rank - 1 not in reduced:
        return f"vectors lie along d{space.rank - 1}, and the reduced dimensions do not", "leave `vector` out"
    if is_scan(op) and len(mapping.axes) > 1:
        hint = f"`tile` the parallel dimensions, and map the loop; or share it along one axis, `threads(x: 128)`; or {whole}"
        return f"`{mapping}` are processors along several axes, and a scan is shared along one", hint
    known = math.prod(count for count in mapping.counts if count > 0)
    if is_scan(op) and mapping.space == "threads" and any(count > 0 for count in mapping.counts) and known % WARP:
        return (
            f"`{mapping}` are {known} threads, and whole warps share it",
            f"give a multiple of {WARP}, such as `threads(x: 128)`; or {whole}",
        )
    if is_scan(op) and mapping.space == "lanes" and not mapping.is_whole:
        return "a scan goes along all lanes of a warp", "map it to `lanes`"
    if is_scan(op):
        if isinstance(scan := read_scan(op), str):
            return scan, whole
        if mapping.dist == "block":
            why = "a thread keeps its iterations of a round in registers, which with `block` are all that it has"
            return why, "write `cyclic`, or `block-cyclic(n)`"
        found = scan.combiner
    elif (found := combiner(op)) is None:
        return (
            "its body is not one associative operation on the result so far and on a term that does not read it",
            whole,
        )
    kinds = [element_type(op.operands[space.inputs + n]) for n in running(op)]
    if odd := [kind for kind in kinds if str(kind) not in EXCHANGED]:
        return (
            f"lanes exchange {', '.join(EXCHANGED)}, and not {odd[0]}",
            f"write the reduction in one of these types in the payload; or {whole}",
        )
    for walked in (space.maps[space.inputs + n] for n in running(op)):
        if not all(e is not None and e not in reduced for e in map(dimension_of, walked.results)):
            return f"its result is indexed with more than the dimensions that are not reduced: {walked}", whole
    results = [space.extents[d] for d in range(space.rank) if d not in reduced]
    bits = sum(kind.width for kind in kinds if isinstance(kind, ir.IntegerType | ir.FloatType))
    if None in results or math.prod(n or 0 for n in results) * bits > 8 * OF_A_THREAD:
        many = " × ".join("?" if n is None else str(n) for n in results)
        why = f"each thread would keep all of its {many} results ({found.words})"
        return why, "`tile` the parallel dimensions, and map the loop"
    return None
