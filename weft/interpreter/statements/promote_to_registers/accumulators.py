"""Accumulators in registers: a buffer that a loop updates in place is kept by its owners while the
loop runs.

The rewrite is on memrefs, and is correct even if all loops run sequentially: a temporary replaces
the buffer in the loop. If loops over threads are inside that loop, each of their iterations owns a
tile of the temporary; a copy of their nest fills those tiles before the loop, another one writes
them back after it. Because each iteration of the nest accesses only its own tile, `launch` converts
the temporary into an array per thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import prod

from ....dsl.diagnostics import fail
from ...buffers.elements import copy_per_thread, widest
from ...buffers.temporaries import REGISTERS
from ...buffers.tiles import ThreadTile, clone_nest, is_distributed, thread_nest, tiles_of
from ...buffers.views import in_own_array, is_temporary, rebased, retype
from ...hardware.ampere.fragments import sums_of
from ...ir.cloning import replace_operands
from ...ir.copying import fill_value, fill_with
from ...ir.element_sizes import MOST_REGISTERS, registers_of
from ...ir.functions import set_name
from ...ir.mlir import (
    ahead_of,
    ancestors,
    ir,
    is_within,
    made_within,
    memref,
    move_in_front,
    operations,
    ops_of,
    producer,
)
from ...ir.refusing import describe
from ...ir.structured import element_type, is_structured
from ...loops.forall import end_of
from ...memory.effects import is_memref, is_pure
from ...memory.views import is_view, root_memref
from ...proof.overlaps import apart


def keep_in_registers(op: ir.Operation, position: int, loop: ir.Operation) -> tuple[ir.Operation, list[str]]:
    """Keeps the operand at `position` of a structured op on memrefs in registers while `loop` (a
    `scf.for` around it) runs.

    Returns the accumulator's allocation, and remarks. Raises W0383 to W0387 and W0395, without
    spans.
    """
    base = _hoist(op.operands[position], loop)
    made = producer(base)
    if made is not None and made.name == "memref.alloc" and is_within(made, loop):
        raise fail(
            "W0383",
            "the operand is a buffer of its own in each iteration: a tile that does not divide, or the op was"
            " vectorized before",
            "choose sizes that divide the tile around; `promote-to-registers` first, then `vectorize`",
        )
    if _depends_on_loop(base, loop) or (made is not None and is_within(made, loop)):
        raise fail(
            "W0383",
            "which part of the buffer the op writes changes within the loop",
            "write `across` an inner loop that does not move the accumulator",
        )
    _check_per_thread(base, loop)
    if sums_of(op) not in (None, str(element_type(base))):
        _expect_all_of_the_sum(base, loop)
    around = thread_nest(loop)
    if any(map(is_distributed, thread_nest(op)[len(around) :])):
        return _across_threads(op, base, loop)
    if not any(map(is_distributed, around)):
        raise fail(
            "W0385",
            "no loop over threads determines the owners, so every thread would keep all of it",
            "`tile` the op's parallel dimensions, and `map` the loop to `threads(y, x)`",
        )
    return _within_a_thread(base, loop)


def _expect_all_of_the_sum(base: ir.Value, loop: ir.Operation) -> None:
    """Raises W0379 if sums that are accumulated in a wider type would be rounded between two parts."""
    outer = next((a for a in ancestors(loop) if a.name == "scf.for" and not _depends_on_loop(base, a)), None)
    if outer is not None and _first_value(base, loop) is None:
        raise fail(
            "W0379",
            "sums that `mma` accumulates in f32 would be rounded in each iteration of a loop around the one that is"
            " named",
            "`promote-to-registers … across` the outermost loop of the sum",
        )


def _check_new(buffer: ir.Operation) -> None:
    if REGISTERS in buffer.attributes:
        raise fail(
            "W0395",
            "the operand is kept in registers already",
            "delete this `promote-to-registers`, or name another operand",
        )


def _check_per_thread(base: ir.Value, loop: ir.Operation) -> None:
    """Raises W0384 if the loop accesses these elements through anything but this base."""
    for inner in operations(loop):
        for operand in inner.operands if not is_view(inner) else ():
            known = base in (operand, *(view.operands[0] for view in _views(operand)))
            if not known and _overlaps(operand, base, loop):
                raise fail(
                    "W0384",
                    f"{inner.name} in the loop accesses the same elements in another way",
                    "`promote-to-registers` its operand first, or name an inner loop",
                )


def _overlaps(value: ir.Value, base: ir.Value, loop: ir.Operation | None = None) -> bool:
    """Whether a value may contain an element of `base`, in any iteration of the loop."""
    return is_memref(base) and is_memref(value) and not apart(base, value, loop)


def _views(value: ir.Value) -> list[ir.Operation]:
    """The views from which a value is derived, the last one first."""
    found: list[ir.Operation] = []
    while (view := producer(value)) is not None and is_view(view):
        found.append(view)
        value = view.operands[0]
    return found


# ---- loops over threads inside the loop ------------------------------------------------------------------------------


def _across_threads(op: ir.Operation, base: ir.Value, loop: ir.Operation) -> tuple[ir.Operation, list[str]]:
    tile = _own_tile(op, base, loop)
    kind, total = tile.kind, sums_of(op)  # `launch` keeps it in the type that the op accumulates in
    element = kind.element_type if total is None else ir.Type.parse(total, kind.context)
    held = ir.MemRefType.get(kind.shape, element, kind.layout, kind.memory_space)
    part = affordable(held, [dimension.static_trips or 0 for _, dimension in tile.pieces(base)])
    if is_temporary(base):
        kept = producer(base)
        assert kept is not None
        before = _last_touch(base, loop)
        if before is None or not is_structured(before):
            _check_new(kept)  # if one op fills all of it, its elements are not distributed over threads yet
        first = _first_value(base, loop)
        remarks = ["it accumulates in a temporary already, which stays in registers"]
    else:
        first = _first_value(base, loop)
        kept = _temporary(ir.MemRefType(base.type), first or loop)
        _replace(base, kept.results[0], loop)
        tile = _own_tile(op, kept.results[0], loop)
        remarks = [_write_back(tile, kept.results[0], base, loop)]
    kept.attributes[REGISTERS] = ir.UnitAttr.get()
    set_name(kept, "acc")
    remarks.insert(0, _first_values(tile, kept.results[0], base, first, loop))
    return kept, [f"each thread keeps {part} in registers", *(r for r in remarks if r)]


def _own_tile(op: ir.Operation, buffer: ir.Value, loop: ir.Operation) -> ThreadTile:
    for tile in tiles_of(buffer, loop):
        if not is_within(op, tile.nest[-1]):
            continue
        if _depends_on_loop(tile.view.results[0], loop):
            raise fail(
                "W0383",
                "which part of the operand a thread owns changes within the loop",
                "write `across` an inner loop that does not move the tile",
            )
        between = [o for o in ancestors(tile.view) if is_within(o, tile.nest[0]) and o not in tile.nest]
        if between:
            raise fail(
                "W0385",
                f"{describe(between[0])} is between the loops that determine the owner thread",
                "`tile` the reduction before the loops over `warps` and `lanes`, or inside the innermost of them",
            )
        return tile
    raise fail(
        "W0385",
        "no loop over threads takes a tile of the operand, so every thread would keep all of it",
        "`tile` the op's parallel dimensions, and `map` the loop to `threads(y, x)`",
    )


def affordable(kind: ir.MemRefType, pieces: Sequence[int] = ()) -> str:
    """A description of a thread's part of the accumulator, which has `pieces` tiles. Raises W0332,
    W0387."""
    if not kind.has_static_shape:
        raise fail("W0332", f"a thread's part, {kind}, has no static shape", "`tile` with static sizes")
    registers = prod(pieces) * registers_of(kind)
    shape = " of ".join("x".join(map(str, each)) for each in (pieces, kind.shape) if each) or "1"
    if registers > MOST_REGISTERS:
        raise fail(
            "W0387",
            f"a thread's part, {shape} {kind.element_type}, takes {registers} registers, and a thread has"
            f" {MOST_REGISTERS}",
            "`tile` to smaller tiles per thread",
        )
    return f"{shape} {kind.element_type}"


def _first_value(base: ir.Value, loop: ir.Operation) -> ir.Operation | None:
    """The fill before the loop that overwrites all of the base, if no op accesses the buffer in
    between; otherwise None."""
    op = _last_touch(base, loop)
    return op if op is not None and fill_value(op) is not None and op.operands[-1] == base else None


def _last_touch(base: ir.Value, loop: ir.Operation) -> ir.Operation | None:
    """The last op before the loop that accesses the buffer, or contains one that does; None if
    there is none."""
    before = ops_of(loop.block)
    for op in reversed(before[: before.index(loop)]):
        if not is_view(op) and any(_overlaps(v, base) for inner in operations(op) for v in inner.operands):
            return op
    return None


def _temporary(kind: ir.MemRefType, before: ir.Operation) -> ir.Operation:
    if not kind.has_static_shape:
        raise fail("W0332", f"the block's part, {kind}, has no static shape", "`tile` with static sizes")
    with ahead_of(before):
        return memref.AllocOp(ir.MemRefType.get(kind.shape, kind.element_type), [], []).operation


def _replace(base: ir.Value, kept: ir.Value, loop: ir.Operation) -> None:
    """Lets the loop use `kept` instead of `base`."""
    replace_operands(loop, {base: kept})
    retype(kept, ir.MemRefType(kept.type))


def _write_back(tile: ThreadTile, kept: ir.Value, base: ir.Value, loop: ir.Operation) -> str:
    following = ops_of(loop.block)
    owned = clone_nest(tile, following[following.index(loop) + 1])
    with ir.InsertionPoint(end_of(owned.nest[-1])), loop.location:
        copied = copy_per_thread(owned.view.results[0], _same_tile(owned, kept, base))
        return "written back after the loop" + _at_once(copied)


def _first_values(
    tile: ThreadTile, kept: ir.Value, base: ir.Value, first: ir.Operation | None, loop: ir.Operation
) -> str:
    """Initializes each thread's part before the loop; returns a remark."""
    if first is None and base == kept:
        return ""
    owned = clone_nest(tile, first or loop)
    value = None if first is None else fill_value(first)
    with ir.InsertionPoint(end_of(owned.nest[-1])), loop.location:
        if first is None or value is None:
            copied = copy_per_thread(_same_tile(owned, kept, base), owned.view.results[0])
            return "loaded before the loop" + _at_once(copied)
        moved = fill_with(owned.view.results[0], value)
    for key in first.attributes:
        if key.startswith("weft.h"):
            moved.attributes[key] = first.attributes[key]
    first.erase()
    return "the fill before the loop is their first value"


def _at_once(made: ir.Operation) -> str:
    lanes = widest(made)
    return f", {lanes} elements at once" if lanes > 1 else ""


def _same_tile(owned: ThreadTile, kept: ir.Value, base: ir.Value) -> ir.Value:
    """The tile of `base` that corresponds to the tile `owned` of `kept`, at the insertion point:
    the same views of another buffer."""
    views = _views(owned.view.results[0])
    last = next(n for n, view in enumerate(views) if view.operands[0] == kept)
    return reduce(lambda source, view: rebased(view, source), reversed(views[: last + 1]), base)


# ---- the loop inside a loop over threads -----------------------------------------------------------------------------


def _within_a_thread(base: ir.Value, loop: ir.Operation) -> tuple[ir.Operation, list[str]]:
    kind = ir.MemRefType(base.type)
    part = affordable(kind)
    made = producer(root_memref(base))
    if made is not None and in_own_array(base):
        _check_new(made)
        made.attributes[REGISTERS] = ir.UnitAttr.get()
        return made, [f"each thread keeps {part} in registers", "it is a thread's own already"]
    first = _first_value(base, loop)
    kept = _temporary(kind, first or loop)
    set_name(kept, "acc")
    _replace(base, kept.results[0], loop)
    with ir.InsertionPoint.after(loop), loop.location:
        stored = "written back after the loop" + _at_once(copy_per_thread(kept.results[0], base))
    if first is not None:
        first.operands[len(first.operands) - 1] = kept.results[0]
        loaded = "the fill before the loop is their first value"
    else:
        with ahead_of(loop):
            loaded = "loaded before the loop" + _at_once(copy_per_thread(base, kept.results[0]))
    return kept, [f"each thread keeps {part} in registers", loaded, stored]


# ---- views and index arithmetic that the loop does not change --------------------------------------------------------


def _depends_on_loop(value: ir.Value, loop: ir.Operation) -> bool:
    """Whether a pure computation uses a variable of the loop, or of a sequential loop inside it."""
    if isinstance(value.owner, ir.Block):
        owner = value.owner.owner
        return owner is not None and owner.operation.name == "scf.for" and is_within(owner.operation, loop)
    op = value.owner.operation
    return is_within(op, loop) and any(_depends_on_loop(operand, loop) for operand in op.operands)


def _hoist(value: ir.Value, loop: ir.Operation) -> ir.Value:
    """Moves the views from which `value` is derived before the loop, as far as they need no value
    from inside it.

    Returns the last of these views that is now outside the loop (or the buffer itself).
    """
    chain = [value]
    while (view := producer(chain[-1])) is not None and is_view(view):
        chain.append(view.operands[0])
    outside = chain[-1]
    for nearer in reversed(chain[:-1]):
        if not is_fixed(nearer, loop):
            break
        move_in_front(nearer, loop)
        outside = nearer
    return outside


def is_fixed(value: ir.Value, loop: ir.Operation) -> bool:
    """Whether a value is defined before the loop, or could be: it is the same in all iterations."""
    op = producer(value)
    if op is None or not is_within(op, loop):
        return not made_within(value, loop)
    return is_pure(op) and all(is_fixed(operand, loop) for operand in op.operands)
