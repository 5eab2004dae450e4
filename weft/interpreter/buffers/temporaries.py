"""Placement of a block's temporaries: in registers if each thread makes all accesses to its
elements, else in shared memory.

A temporary is a thread-private array if all accesses agree on the owner of each element (`owners`).

An allocation in a loop over threads moves into the block's shared memory if inner loops (or ops)
distribute it to several threads: a loop over warps allocates a row, which the lanes inside fill and
read. Each iteration of the loops around the allocation gets its own part of one shared buffer, so
that iterations stay independent, whichever processor runs them.
"""

from __future__ import annotations

import math

from ...dsl.diagnostics import WeftError, fail
from ..hardware.limits import OF_A_THREAD
from ..indices.arithmetic import divide, index_of, value_of
from ..indices.linear import Linear
from ..ir.element_sizes import bytes_of
from ..ir.functions import name_of
from ..ir.mlir import ahead_of, ir, is_used, memref, operations, users
from ..ir.refusing import Name, Remark, describe
from ..ir.structured import body_of
from ..mapping.geometry import Geometry
from ..mapping.mapping import LoopDimension, Mapping, enclosing_maps, loop_dimensions, mapping_of
from ..memory.layouts import is_shared, space_of, subview
from ..outlining.kernel import Outlined
from .owners.arrays import STAGE, OwnArray, is_stage, own_array_of, staged
from .owners.digits import Unowned
from .tiles import (
    ThreadTile,
    is_distributed,
    is_in_thread,
    kept_elements,
    thread_nest,
    tiles_of,
    whole_users,
)
from .views import all_users, named_like, own_array, retype

REGISTERS = "weft.registers"
"""On a temporary that `promote-to-registers` made: each thread keeps its part in registers, or the
launch is refused."""


def place_temporaries(kernel: Outlined, geometry: Geometry) -> tuple[list[Remark], list[OwnArray]]:
    """Turns every allocation of the kernel into a thread-private array or a shared buffer. Returns
    remarks on the decisions, and the arrays with elements that are owned by digits.

    If a block is a single thread, all temporaries in no particular memory are that thread's own.
    """
    remarks: list[Remark] = []
    arrays: list[OwnArray] = []
    single_thread = geometry.static_block() == (1, 1, 1)
    threads = None if None in geometry.static_block() else geometry.threads
    for alloc in list(operations(kernel.root, "memref.alloc")):
        if is_stage(alloc.results[0]):
            arrays.append(staged(alloc, threads))
            continue
        kind = ir.MemRefType(alloc.results[0].type)
        drop_deallocs(alloc)
        kept, why_not = kept_elements(alloc, threads)
        if kind.memory_space is None and kept:
            alloc.attributes[STAGE] = ir.UnitAttr.get()
            arrays.append(staged(alloc, threads))
            makes = "{}: each thread keeps the {} elements that it makes, {}"
            remarks.append(Remark.of(makes, _name_in_remarks(alloc, kind), kept, kind.element_type))
        elif is_in_thread(alloc):
            remarks += _place_inside(alloc, kind)
        elif kind.memory_space is not None:
            if space_of(kind) == "private":
                _per_thread(alloc, kind)
        elif single_thread:
            _per_thread(alloc, kind)
        else:
            remarks.append(_place(alloc, kind, why_not, arrays))
    return remarks, arrays


def _place_inside(alloc: ir.Operation, kind: ir.MemRefType) -> list[Remark]:
    """Places an allocation in a loop over threads: private to a thread, unless the loop distributes
    it to several."""
    sharers = handed_on(alloc)
    if sharers is None and not is_shared(kind):
        large = bytes_of(kind) > OF_A_THREAD
        text = "{}: each thread keeps all of it, {} bytes, which registers do not hold"
        remark = Remark.of(text, _name_in_remarks(alloc, kind), bytes_of(kind))
        _per_thread(alloc, kind)
        return [remark] if large else []
    if REGISTERS in alloc.attributes:
        raise _not_in_registers(kind, f"`{sharers}` distributes it to several processors")
    return [share(alloc)]


def _not_in_registers(
    kind: ir.MemRefType, reason: str, mapped: ir.Operation | None = None, thread_tile: ThreadTile | None = None
) -> WeftError:
    """The error W0380. `mapped`: an op that is mapped over the whole buffer, if loops over threads
    also take tiles of it."""
    hint = (
        "`map` all loops and ops that access it to the same threads, as many as it has parts; an accumulator has one"
        " tile per thread, or pieces mapped to `registers`"
    )
    if mapped is not None and thread_tile is not None:
        cut = f"`tile` {describe(mapped)} by [{', '.join(map(str, thread_tile.kind.shape))}]"
        as_others = f"map that loop like the other: `{mapping_of(thread_tile.nest[-1])}`"
        hint = f"`{mapping_of(mapped)}` is on the op itself: {cut}, and {as_others}"
    message = f"the {'x'.join(map(str, kind.shape))} buffer cannot be in the registers of each thread: {reason}"
    return fail("W0380", message, hint)


def _per_thread(alloc: ir.Operation, kind: ir.MemRefType) -> None:
    bytes_of(kind)
    alloc.results[0].replace_all_uses_with(own_array(alloc, kind))
    alloc.erase()


def _place(alloc: ir.Operation, kind: ir.MemRefType, not_kept: str, arrays: list[OwnArray]) -> Remark:
    """Places an allocation of the block. `not_kept`: the reason why threads do not keep the
    elements that they compute, for a temporary that no loops over threads partition."""
    buffer, called = alloc.results[0], _name_in_remarks(alloc, kind)
    try:
        arrays.append(own_array_of(alloc))
    except Unowned as unowned:
        (reason,) = unowned.args
    else:
        copies = ", in a copy of each that has it" * arrays[-1].shared_out
        text = "{}: each thread keeps its {} part, {}, to itself{}"
        return Remark.of(text, called, arrays[-1].holds, kind.element_type, copies)
    if REGISTERS in alloc.attributes:
        looking = list(all_users(buffer))
        loose = [op for op in looking if not is_in_thread(op) and is_distributed(op)]
        loose += filter(None, map(_hands_out, looking))
        views = [buffer, *(user.results[0] for user in looking if user.name == "memref.subview")]
        by_loops = [tile for view in views for tile in tiles_of(view) if is_distributed(tile.nest[-1])]
        why = not_kept if whole_users(buffer) else str(reason)
        raise _not_in_registers(kind, why, *loose[:1], *(by_loops[:1] if loose else ()))
    size = bytes_of(kind)
    shared = ir.MemRefType.get(
        kind.shape, kind.element_type, kind.layout, ir.Attribute.parse("#gpu.address_space<workgroup>")
    )
    retype(alloc.results[0], shared)
    return Remark.of("{}: in shared memory, {} bytes ({})", called, size, reason)


def _hands_out(load: ir.Operation) -> ir.Operation | None:
    """The loop into which a mapped op was converted, if its body loads the element of an iteration;
    else None."""
    if load.name != "memref.load":
        return None
    around = load.parent.operation
    while around.name == "scf.if":
        around = around.parent.operation
    return around if is_distributed(around) else None


def iteration(variable: ir.Value, dimension: LoopDimension) -> Linear:
    """The number of the iteration of a loop with a static step."""
    step = dimension.step if isinstance(dimension.step, int) else 1
    index, _ = divide(index_of(variable) - index_of(dimension.lower), step)
    return index


def drop_deallocs(alloc: ir.Operation) -> None:
    """Erases deallocations, which a kernel does not need, and views without users."""
    for user in users(alloc.results[0]):
        if user.name == "memref.dealloc" or (user.name == "memref.subview" and not is_used(user.results[0])):
            user.erase()


def handed_on(alloc: ir.Operation) -> Mapping | None:
    """The map by which a nested loop or op distributes an allocation to several processors; None if
    none does."""
    around = {op for op, _ in enclosing_maps(alloc)}
    for user in all_users(alloc.results[0]):
        own = mapping_of(user)
        inside = [] if own is None else [own]
        inside += [mapping for op, mapping in enclosing_maps(user) if op not in around]
        sharing = [mapping for mapping in inside if mapping.distributes]
        if sharing:
            return sharing[-1]
    return None


def share(alloc: ir.Operation) -> Remark:
    """Moves an allocation in loops over threads to shared memory. Returns a remark. Raises W0355."""
    kind = ir.MemRefType(alloc.results[0].type)
    bytes_of(kind)
    nest = thread_nest(alloc)
    indices: list[Linear] = []
    parts: list[int] = []
    with ahead_of(alloc):
        for loop in nest:
            mapping = mapping_of(loop)
            for variable, dimension in zip(body_of(loop).arguments, loop_dimensions(loop), strict=True):
                most, step = dimension.most_trips, dimension.step
                if most is None or not isinstance(step, int) or mapping is None or mapping.space == "grid":
                    raise fail(
                        "W0355",
                        f"{describe(alloc)} is in a loop over threads, threads inside share it, and the number of its"
                        f" parts in a block is not known: `{mapping}` on {describe(loop)}",
                        "`tile` the loop, map the tiles to `blocks` and the loop inside to `threads`: a tile has a"
                        " known number"
                        " of parts",
                    )
                indices.append(iteration(variable, dimension))
                parts.append(max(most, 1))
        whole = [*parts, *kind.shape]
        space = ir.Attribute.parse("#gpu.address_space<workgroup>")
        outer = nest[0]
        with ahead_of(outer):
            made = memref.AllocOp(ir.MemRefType.get(whole, kind.element_type, None, space), [], [])
        shared = named_like(alloc, made.result)
        starts = [*(value_of(i) for i in indices), *[0] * kind.rank]
        mine = subview(shared, [starts, [*[1] * len(parts), *kind.shape], [1] * len(whole)], kind)
    drop_deallocs(alloc)
    called = _name_in_remarks(alloc, kind)
    retype(alloc.results[0], ir.MemRefType(mine.type))
    alloc.results[0].replace_all_uses_with(mine)
    alloc.erase()
    text = "{} of each of {} iterations: in shared memory, {} bytes"
    return Remark.of(text, called, math.prod(parts), bytes_of(shared.type))


def _name_in_remarks(alloc: ir.Operation, kind: ir.MemRefType) -> Remark:
    """A name for remarks, such as: temporary `S`, 16x64"""
    name, shape = name_of(alloc.results[0]), "x".join(map(str, kind.shape))
    return Remark.of("temporary {}", shape) if name is None else Remark.of("temporary `{}`, {}", Name(name), shape)
