"""Results that every thread has: each thread keeps its own copy.

All processors that share a reduction have its result, and each thread executes an op that is mapped
to `registers`. A temporary that is written only by these ops, and by the fills that initialize it,
need not be shared: it becomes a thread-private array, and needs no barrier. It stays a single
buffer, which only the first thread writes, if other ops write it, too, or if its writers are in
other loops over threads than its allocation.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection

from ..hardware.limits import OF_A_THREAD
from ..ir.cloning import replace_operands
from ..ir.copying import copies_to_linalg, copy_to, fill_value
from ..ir.element_sizes import bytes_of
from ..ir.functions import name_of, set_name
from ..ir.mlir import ahead_of, i64, in_block, ir, linalg, memref, operations, producer, users
from ..ir.refusing import Name, Remark, refuse
from ..ir.structured import ATOMIC, WRITEBACK, is_structured, segments
from ..mapping.mapping import (
    AS_MANY_AS_ITERATIONS,
    ATTRIBUTE,
    Mapped,
    Mapping,
    is_mapped,
    is_shared_reduction,
    mapping_of,
    trip_counts,
)
from ..memory.effects import read, written
from ..memory.views import is_own_array, is_view, root_memref
from ..reductions.scans import running
from .elements import VECTOR
from .owners.arrays import STAGE
from .temporaries import REGISTERS, drop_deallocs
from .tiles import kept_elements, thread_nest
from .views import all_users, is_temporary, own_array


def follow_readers(root: ir.Operation) -> None:
    """Gives the op that fills an input's tile in registers the map of the ops that read the tile,
    if they share one."""
    for alloc in operations(root, "memref.alloc"):
        if REGISTERS not in alloc.attributes:
            continue
        direct = [op for op in users(alloc.results[0]) if is_structured(op)]
        fills = [op for op in direct if alloc.results[0] in written(op) and not is_mapped(op)]
        maps = {mapping_of(op) for op in direct if op not in fills}
        if len(fills) == 1 and len(maps) == 1 and (found := maps.pop()) is not None:
            fills[0].attributes[ATTRIBUTE] = found.attribute()


def replicate(root: ir.Operation) -> list[Remark]:
    """Gives each thread its own copy of the results that all threads have. Returns remarks. Raises
    W0349.

    Allocations in a loop over threads are moved out of it, since the loop may be split at barriers.
    """
    remarks: list[Remark] = []
    for op in [op for op in operations(root) if is_shared_reduction(op)]:
        _write_last(op)
    for alloc in operations(root, "memref.alloc"):
        if thread_nest(alloc) and is_temporary(alloc.results[0]) and kept_elements(alloc, None)[0]:
            drop_deallocs(alloc)
            alloc.attributes[STAGE] = ir.UnitAttr.get()
            alloc.move_before(thread_nest(alloc)[0])
    found = _replicated(root)
    # not a set: the hash of an op changes with its attributes
    writing = [op for writers in found.values() for op in writers]
    for alloc, writers in found.items():
        buffer, kind = alloc.results[0], ir.MemRefType(alloc.results[0].type)
        for op in writers:
            if _is_started(op):
                for mark in (ATTRIBUTE, WRITEBACK):
                    if mark in op.attributes:
                        del op.attributes[mark]
                op.attributes[VECTOR] = i64(1)
        sharing = next((_copying(op) for op in writers if is_shared_reduction(op)), None)
        for op in all_users(buffer):
            takes = isinstance(op.opview, linalg.CopyOp) or ATOMIC in op.attributes  # copies a result to its place
            # every thread has the result: each copies a part
            if sharing is not None and takes and op not in writing and not is_mapped(op):
                op.attributes[ATTRIBUTE] = sharing.attribute()
        name = name_of(buffer)
        for loop in thread_nest(alloc)[:1]:
            alloc.move_before(loop)
        buffer.replace_all_uses_with(own_array(alloc, kind))
        alloc.erase()
        shape = "x".join(map(str, kind.shape)) or "1"
        called = Remark.of("temporary `{}`", Name(name)) if name else "temporary"
        remarks.append(Remark.of("{}: every thread has all of it, {} {}", called, shape, kind.element_type))
    for op in operations(root):
        for buffer in written(op) if _is_everybodys(op) else ():
            if not is_own_array(buffer):
                raise refuse(
                    "W0349",
                    f"`{mapping_of(op)}`: each thread would do this op, and write the same memory",
                    op,
                    "`map` it to `threads(x)`",
                )
    return remarks


def _write_last(op: ir.Operation) -> None:
    """Redirects a reduction that is started from fills, and writes to memory that outlives its
    iteration, to temporaries, which are then copied to that memory. So the fills need no map, and
    all threads store the results together."""
    results = _had_by_all(op)
    fills = [_fill_of(op, result) for result in results]
    between = [_between(fill, op, result) for fill, result in zip(fills, results, strict=True) if fill is not None]
    if len(between) < len(results) or any(accesses is None for accesses in between):
        return
    for result, fill, accesses in zip(results, fills, between, strict=True):
        assert fill is not None and accesses is not None
        kind = ir.MemRefType(result.type)
        with ahead_of(fill):
            made = memref.AllocOp(ir.MemRefType.get(kind.shape, kind.element_type), [], [])
        set_name(made, name_of(root_memref(result)))
        for user in (fill, *accesses, op):
            replace_operands(user, {result: made.result})
        with ahead_of(op):
            copy = copy_to(result, made.result)
        copy.move_after(op)


def _fill_of(op: ir.Operation, result: ir.Value) -> ir.Operation | None:
    """The fill without a map that a result starts from, if the result has a static shape, and is
    not a temporary of the same iteration; else None."""
    made = producer(root_memref(result)) if is_temporary(root_memref(result)) else None
    if (made is not None and thread_nest(made) == thread_nest(op)) or not ir.MemRefType(result.type).has_static_shape:
        return None
    fills = [
        user
        for user in users(result)
        if fill_value(user) is not None and not is_mapped(user) and user.block == op.block
    ]
    return fills[0] if len(fills) == 1 and fills[0].is_before_in_block(op) else None


def _between(fill: ir.Operation, op: ir.Operation, result: ir.Value) -> list[ir.Operation] | None:
    """The ops that access a result between its fill and its reduction, such as the copy from which another
    reduction with the same initial value starts; None if one of them accesses it by another view."""
    found: list[ir.Operation] = []
    for user in all_users(root_memref(result)):
        if is_view(user):
            continue
        around = in_block(user, op.block)
        if around is not None and fill.is_before_in_block(around) and around.is_before_in_block(op):
            if result not in user.operands:
                return None
            found.append(user)
    return found


def _replicated(root: ir.Operation) -> dict[ir.Operation, list[ir.Operation]]:
    """The temporaries of which every thread can have a copy, with their writers."""
    found: dict[ir.Operation, list[ir.Operation]] = {}
    writers: dict[ir.Operation, list[ir.Operation]] = {}
    for alloc in list(operations(root, "memref.alloc")):
        buffer = alloc.results[0]
        kind = ir.MemRefType(buffer.type)
        if is_temporary(buffer) and kind.has_static_shape and bytes_of(kind) <= OF_A_THREAD:
            drop_deallocs(alloc)
            for copy in [op for op in all_users(buffer) if op.name == "memref.copy"]:
                copies_to_linalg(copy)
            looking = [op for op in all_users(buffer) if not is_view(op)]
            writers[alloc] = [op for op in looking if any(root_memref(w) == buffer for w in written(op))]
    waiting = [
        alloc for alloc, ops in writers.items() if any(is_shared_reduction(op) or _is_everybodys(op) for op in ops)
    ]
    while waiting:  # and the temporaries that these start from
        alloc = waiting.pop()
        if alloc not in found:
            found[alloc] = writers[alloc]
            waiting += [
                source for op in found[alloc] if _is_started(op) for source in _sources(op) if source in writers
            ]
    while failing := [alloc for alloc, ops in found.items() if not all(_by_everybody(op, alloc, found) for op in ops)]:
        for alloc in failing:
            del found[alloc]
    return found


def _by_everybody(op: ir.Operation, alloc: ir.Operation, known: Collection[ir.Operation]) -> bool:
    """Whether all threads can write what an op writes, each into its own copy."""
    if thread_nest(op) != thread_nest(alloc):
        return False
    if is_shared_reduction(op):  # all of its results, or none
        had = [producer(root_memref(buffer)) for buffer in _had_by_all(op)]
        return all(one is not None and one in known for one in had) and alloc in had
    if _is_everybodys(op):
        return True
    return _is_started(op) and all(source in known for source in _sources(op))


def _had_by_all(op: ir.Operation) -> list[ir.Value]:
    """The results that all processors of a shared reduction have. The elements of a scan are left
    out, since a single thread writes each of them."""
    first = segments(op)[0]
    return [op.operands[first + number] for number in running(op)]


def _copying(reduction: ir.Operation) -> Mapping:
    """The map by which the processors of a reduction distribute copies of its result: its first
    axis, cyclically."""
    mapping = mapping_of(reduction)
    assert mapping is not None
    trips = trip_counts(Mapped(reduction, mapping))
    given = zip(mapping.counts, trips, strict=False)
    counts = tuple(n if count == AS_MANY_AS_ITERATIONS and n is not None else count for count, n in given)
    axes, counts = zip(*sorted(zip(mapping.axes, counts, strict=True))[:1], strict=True) if mapping.axes else ((), ())
    return dataclasses.replace(mapping, axes=axes, counts=counts, dist="cyclic", chunk=None, vector=1)


def _sources(op: ir.Operation) -> list[ir.Operation | None]:
    """The ops that allocate the buffers which an op reads; None for an argument."""
    return [producer(root_memref(buffer)) for buffer in read(op)]


def _is_started(op: ir.Operation) -> bool:
    """Whether the op is a fill or a copy: the start of a reduction."""
    return fill_value(op) is not None or (isinstance(op.opview, linalg.CopyOp) and not is_mapped(op))


def _is_everybodys(op: ir.Operation) -> bool:
    """Whether each thread executes the whole op."""
    mapping = mapping_of(op)
    return mapping is not None and mapping.space == "registers" and is_structured(op)
