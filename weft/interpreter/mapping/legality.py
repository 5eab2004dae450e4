"""Legality of a map: target, axes, counts, vector, nest."""

from __future__ import annotations

import math

from ...dsl.diagnostics import fail
from ..hardware import limits
from ..ir.affine_maps import dimension_of
from ..ir.mlir import has_parent, ir, producer, users
from ..ir.refusing import WAYS_OUT, describe, refuse
from ..ir.structured import element_type, is_parallel_op, is_structured, structure
from .curves import check_curve
from .lane_grids import check_lanes, check_lanes_in_lanes
from .mapping import (
    OF_ALL,
    SYMBOLIC,
    Mapped,
    Mapping,
    enclosing_maps,
    handed_out,
    loop_dimensions,
    most_trips,
    nested_maps,
    row_divides,
    trip_counts,
)
from .reductions import why_not_shared

MAX_VECTOR_BITS = 128

LARGEST_COUNT = 2**31 - 1
"""CUDA's limit along x; a larger chunk or count would overflow 64 bits when multiplied."""


def check_map(op: ir.Operation, mapping: Mapping, *, inside: bool = True, promised: bool = False) -> None:
    """Refuses an illegal map: W0341 … W0349. For tensors and memrefs. `inside`: maps in the op are
    checked, too. `promised`: its vector is that of the statement that made the op."""
    _check_target(op, mapping)
    _check_axes(op, mapping)
    _check_numbers(mapping)
    _check_order(op, mapping)
    _check_fit(op, mapping)
    _check_block(op, mapping)
    _check_vector(op, mapping, promised)
    for outer, around in enclosing_maps(op):
        _check_nest(op, mapping, outer, around)
    for inner, within in nested_maps(op) if inside else ():
        _check_nest(inner, within, op, mapping)


def _check_target(op: ir.Operation, mapping: Mapping) -> None:
    if op.name == "scf.forall" or is_parallel_op(op):
        return
    if op.name in ("scf.for", "affine.for"):
        carried = len(op.results)
        why = (
            f"its iterations carry {carried} value{'s' * (carried > 1)} along"
            if carried
            else "nothing states that its iterations are independent"
        )
        raise refuse(
            "W0343",
            "a sequential loop is not distributed",
            op,
            "`map` the loop that `tile` makes of the parallel dimensions; each thread executes all of this one",
            f"{why}: iteration 1 takes what iteration 0 leaves",
        )
    if is_structured(op):
        obstacle = why_not_shared(op, mapping)
        if obstacle is None:
            return
        dimension = structure(op).iterators.index("reduction")
        raise refuse(
            "W0343",
            f"dimension {dimension} of this op is a reduction, and {obstacle[0]}",
            op,
            obstacle[1],
            f"iterations d{dimension} = 0 and d{dimension} = 1 update the same element of the result",
        )
    if op.name in ("scf.parallel", "affine.parallel") and op.results:
        raise refuse(
            "W0343",
            "a parallel loop with a reduction is not distributed: its processors would have to combine their results",
            op,
            "store the partial results, and reduce them by a `linalg.reduce` after the loop",
            "iterations 0 and 1 contribute to the same result",
        )
    raise refuse(
        "W0344",
        "only a parallel loop or an op without reductions can be mapped",
        op,
        WAYS_OUT.get(op.name, "`tile` it, and `map` the loop; or `map` the loop around it"),
    )


def _check_pieces(op: ir.Operation, mapping: Mapping) -> None:
    """Checks maps to `registers`: a loop with a known trip count, or an op in a loop, which each
    thread executes entirely; and to the tensor memory accelerator: an op that copies."""
    if mapping.space == "tma":
        loop = op.name == "scf.forall"
        why = "a loop is not a copy" if loop else "boxes are copied whole, without a distribution or a vector"
        hint = "map the copy that `promote-to-shared` returns" + ("" if loop else ", with `tma` alone")
        if not loop and mapping.dist is None and mapping.vector == 1:
            return
    elif op.name != "scf.forall" and not has_parent(op, "scf.forall", "scf.for"):
        why, hint = "each thread would do all of an op that is in no loop", "`map` it to `threads(x)`, or `grid(x)`"
    elif mapping.dist is not None:
        why, hint = (
            "each thread does all of these iterations: there is nothing to distribute",
            "write `to registers` alone",
        )
    elif None in trip_counts(Mapped(op, mapping)):
        why = "how many registers are taken must be known when the kernel is built"
        hint = "`tile` with static sizes; or map the loop over all pieces to fewer blocks, `blocks(x: n) block`"
    else:
        return
    raise refuse("W0349", f"`{mapping}`: {why}", op, hint)


def takes_a_row(op: ir.Operation, mapping: Mapping) -> bool:
    """Whether one axis takes several dimensions of a loop, row by row, and the loop has to become
    one of one dimension. (Blocks with a distribution number the tiles of a loop as it is.)"""
    numbered = mapping.space == "blocks" and mapping.dist is not None
    alone = len(mapping.axes) == 1 and mapping.distributes and not mapping.ordered and not numbered
    return alone and op.name == "scf.forall" and len(loop_dimensions(op)) > 1


def _check_axes(op: ir.Operation, mapping: Mapping) -> None:
    if not mapping.distributes:
        return _check_pieces(op, mapping)
    if mapping.space == "producer":
        return
    if mapping.every:
        if mapping.space != "threads":
            raise refuse(
                "W0349", f"`*` is every thread of a block: `{mapping.space}(*)` means nothing", op, "`threads(*)`"
            )
        return
    check_lanes(op, mapping)
    if mapping.space == "warps" and SYMBOLIC in mapping.counts and len(mapping.axes) > 1:
        raise refuse(
            "W0349",
            f"`{mapping}`: how a number of warps that is known only at run time splits over axes is not fixed",
            op,
            "`coalesce` the loop and give one axis, `warps(x: ?)`; or give counts",
        )
    if mapping.space == "warpgroups" and SYMBOLIC in mapping.counts:
        why = f"`{mapping}`: how many warp groups a block has is part of the kernel"
        raise refuse("W0349", why, op, "give counts, `warpgroups(y: 2)`")
    if len(set(mapping.axes)) != len(mapping.axes):
        raise refuse("W0341", f"an axis is named twice in `{mapping}`", op, "name each of `x`, `y`, `z` at most once")
    given = len(mapping.axes)
    rank = len(loop_dimensions(op)) if op.name == "scf.forall" else len(handed_out(op))
    linear = given == 1 and (op.name != "scf.forall" or (mapping.space == "blocks" and mapping.dist is not None))
    if given != rank and not linear:
        kind = "loop" if op.name == "scf.forall" else "op"
        wanted = f"{rank} dimension{'s' * (rank != 1)}"
        raise refuse(
            "W0341",
            f"`{mapping}` has {given} {'axis' if given == 1 else 'axes'}, and the {kind} has {wanted}",
            op,
            _axes_hint(rank),
        )


def _axes_hint(rank: int) -> str:
    row = "one axis takes all of them in a row: `blocks(x)`"
    return (
        f"{rank} dimensions are more than there are axes, but {row}"
        if rank > 3
        else f"name {rank} of `x`, `y`, `z`; or {row}"
    )


def _check_numbers(mapping: Mapping) -> None:
    for axis, count in zip(mapping.axes, mapping.counts, strict=True):
        if count == 0 or count < SYMBOLIC:
            raise fail(
                "W0347",
                f"a count of {count} processors along {axis} distributes nothing",
                f"write 1 or more: `{axis}: 1`",
            )
    if mapping.dist == "block-cyclic" and (mapping.chunk is None or mapping.chunk < 1):
        raise fail(
            "W0347",
            f"block-cyclic({mapping.chunk}) has no iterations in a chunk",
            "write 1 iteration or more, `block-cyclic(4)`; a chunk of 1 is `cyclic`",
        )
    for number in (*mapping.counts, mapping.chunk or 1, mapping.group or 1, mapping.panel or 1):
        if number > LARGEST_COUNT:
            raise fail(
                "W0347",
                f"{number} is more than any launch has",
                f"write at most `{LARGEST_COUNT}`",
            )
    if mapping.group is not None and mapping.group < 1:
        raise fail(
            "W0347",
            f"grouped({mapping.group}) has no rows in a group",
            "write 1 row or more, such as `order grouped(8)`",
        )
    if mapping.panel is not None and mapping.panel < 1:
        raise fail(
            "W0347", f"panels({mapping.panel}) have no columns", "write 1 column or more, such as `order panels(8)`"
        )
    known = [c for c in mapping.counts if c > 0]
    if (wrong := limits.too_many_threads(mapping.space, known, str(mapping))) is not None:
        raise fail("W0346", *wrong)
    for axis, count in zip(mapping.axes, mapping.counts, strict=True) if mapping.space == "threads" else ():
        if (wrong := limits.too_long(axis, count)) is not None:
            raise fail("W0346", *wrong)


def can_order(op: ir.Operation, mapping: Mapping) -> bool:
    """Whether the extents of ordered iterations are known, so that the order needs only divisions
    by constants."""
    return not mapping.ordered or mapping.orders_grid or None not in trip_counts(Mapped(op, mapping))


def _check_block(op: ir.Operation, mapping: Mapping) -> None:
    """Refuses one thread (or warp) per iteration for more iterations than a block can have."""
    threads = {"threads": 1, **limits.IN_WARPS, **dict.fromkeys(OF_ALL, 0)}.get(mapping.space, 0)
    trips = trip_counts(Mapped(op, mapping)) if threads and mapping.vector <= 1 else []
    if len(trips) != len(mapping.counts) or not trips or SYMBOLIC in mapping.counts:
        return
    taken = [count if count > 0 else trip or 1 for count, trip in zip(mapping.counts, trips, strict=True)]
    if math.prod(taken) * threads > limits.THREADS:
        sizes = " × ".join(map(str, taken))
        raise refuse(
            "W0346",
            f"`{mapping}` takes {sizes} {mapping.space}, one for each iteration; a block has at most {limits.THREADS}"
            f" threads",
            op,
            "give counts and a distribution, `threads(y: 16, x: 16) cyclic`; or `tile` into larger pieces",
        )


def _check_order(op: ir.Operation, mapping: Mapping) -> None:
    """Checks that an order permutes a grid with one tile per block, or iterations, rows by columns,
    that processors share."""
    if mapping.hilbert or not mapping.ordered:
        return check_curve(op, mapping)
    rank = len(loop_dimensions(op)) if op.name == "scf.forall" else len(handed_out(op))
    axes = 1 if mapping.every else len(mapping.axes)
    what = "groups of rows are" if mapping.panel is None else "panels of columns are"
    if rank != 2 and (mapping.space == "blocks" or rank < 2):
        why, hint = f"{what} of two dimensions", "`map` the loop before `coalesce`"
    elif axes > 1 and (mapping.space != "blocks" or mapping.panel is not None):
        why = f"`{mapping.space}` with {axes} axes have rows and columns of their own"
        hint = "give one axis, such as `threads(*) cyclic`"
        hint += "; or blocks, `blocks(y, x)`" * (mapping.panel is None)
    elif axes > 1 and (mapping.dist is not None or SYMBOLIC in mapping.counts):
        why = "a block has several tiles, along each axis its own"
        hint = "give as many blocks as tiles, `blocks(y, x)`; or one axis for all tiles, `blocks(x: 132) cyclic`"
    else:
        return
    raise refuse("W0364", f"`{mapping}`: {why}", op, hint)


def _check_fit(op: ir.Operation, mapping: Mapping) -> None:
    """Checks that a map without a distribution has enough processors, one per iteration."""
    if mapping.dist is not None or mapping.every or not mapping.distributes or not mapping.axes:
        return
    for axis, count, trips in zip(mapping.axes, mapping.counts, most_trips(Mapped(op, mapping)), strict=True):
        if count == SYMBOLIC:
            have = "processors whose number is known only at run time"
        elif count > 0 and (trips is None or trips > count):
            have = f"{count} processor{'s' * (count > 1)}"
        else:
            continue
        where = "in a warp" if mapping.space == "lanes" else f"along {axis}"
        many = (
            "a number of iterations known only at run time"
            if trips is None
            else f"{trips} iteration{'s' * (trips > 1)}"
        )
        raise refuse(
            "W0345",
            f"{where} there are {many} and {have}, and without a distribution each processor gets one iteration",
            op,
            "state which iterations a processor executes: `block`, `cyclic` or `block-cyclic(n)`",
        )


def _check_vector(op: ir.Operation, mapping: Mapping, promised: bool) -> None:
    lanes = mapping.vector
    if lanes == 1:
        return
    where = ", in the statement that made the op: `promote-to-shared … vector`" if promised else ""
    if op.name == "scf.forall":
        raise refuse(
            "W0348",
            "`vector` is for an op: the iterations of a loop are not elements",
            op,
            "map the copy or the op itself, or `vectorize` the tile",
        )
    if lanes < 1 or lanes & (lanes - 1):
        raise refuse(
            "W0348",
            f"a vector of {lanes} elements is not a power of two",
            op,
            f"write `vector 2`, `vector 4`, `vector 8` or `vector 16`{where}",
        )
    last = ([1, *structure(op).extents])[-1]
    if not row_divides(op, lanes) if last is None else last % lanes:
        row = "of a length known only at run time" if last is None else f"of {last} elements"
        what = f"vectors of {lanes} do not divide a row {row}"
        fits = math.gcd(lanes, last or 1)
        some = (
            f"take `vector {fits}`, or none" if promised and fits > 1 else "take a vector that divides the row, or none"
        )
        way = f"{some}{where}"
        if not has_parent(op, "scf.forall", "scf.for"):
            way += f"; or `tile` the op, rows by a multiple of {lanes}, and map the tile"
        raise refuse("W0348", what, op, way)
    widths = {getattr(kind, "width", 64): kind for one in _with_neighbours(op) for kind in _along_rows(one)}
    width = min(widths, default=1)
    if width * lanes > MAX_VECTOR_BITS:
        raise refuse(
            "W0348",
            f"{lanes} elements of {widths[width]} are {width * lanes} bits, more than one access has",
            op,
            (f"`vector {MAX_VECTOR_BITS // width}`" if width < MAX_VECTOR_BITS else "leave `vector` out") + where,
        )


def _along_rows(op: ir.Operation) -> list[ir.Type]:
    """The element types of operands that the op's last dimension indexes."""
    walked = zip(op.operands, structure(op).maps, strict=True)
    return [element_type(v) for v, m in walked if m.results and dimension_of(m.results[-1]) == m.n_dims - 1]


def _with_neighbours(op: ir.Operation) -> list[ir.Operation]:
    """The op, and adjacent ones with which it shares operands or results: with one map they share
    elements in registers, so that all may use the widest access of any."""
    values = [*op.operands, *op.results]
    others = [*map(producer, op.operands), *(user for value in values for user in users(value))]
    return [op, *(one for one in others if one is not None and one.block == op.block and is_structured(one))]


def _check_nest(inner: ir.Operation, within: Mapping, outer: ir.Operation, around: Mapping) -> None:
    def notes() -> tuple[str, ...]:
        return f"outer: `{around}` on {describe(outer)}", f"inner: `{within}` on {describe(inner)}"

    whole = within.is_whole or around.is_whole
    slots = within.slots() & around.slots()
    shared = sorted({space if space in OF_ALL and whole else f"{space}({axis})" for space, axis in slots})
    if shared:
        raise fail(
            "W0342",
            f"{' and '.join(shared)} {'is' if len(shared) == 1 else 'are'} taken by the loop around it",
            "`map` the inner loop to another of the axes `x`, `y`, `z`; an op that `fuse` put into a mapped loop needs"
            " no `map`"
            if "lanes" not in shared
            else "`map` the inner loop to `lanes`, and the outer one to `warps`",
            notes=notes(),
        )
    check_lanes_in_lanes(within, around, notes)
    grouped = [m for m in (within, around) if m.space in limits.IN_WARPS]
    if len(grouped) == 1 and any(space == "threads" for m in (within, around) for space, _ in m.slots()):
        raise fail(
            "W0342",
            f"`{grouped[0].space}` are the block's threads in another order, and the other loop distributes over"
            f" threads",
            "`map` the outer loop to `warps` and the inner one to `lanes`; or use `threads(y, x)` alone",
            notes=notes(),
        )
    if within.space in limits.CALLED and around.space in limits.CALLED:
        said = "the warps of a block and its warp groups are the same threads in another order"
        out = "`mma` gives the warps of a warp group their part of its tile"
        if within.space == around.space:
            said = f"the {limits.CALLED[within.space]} of a block are taken by the loop around it, whatever their axes are called"
            out = f"one map takes all of them: `{within.space}(y: 2, x: 2)` of a loop of two dimensions"
        raise fail("W0342", said, out, notes=notes())
    if within.space in ("blocks", "grid") and around.space != "blocks":
        said = "a loop over blocks cannot be inside a loop over threads"
        raise fail("W0342", said, "`map` the outer loop to `blocks`, and the inner one to `threads`", notes=notes())
