"""Where a block's temporaries live: in a thread's registers if it makes all accesses to its part, else in shared memory.

A part is a thread's own if every op that touches it stands in equal loops over threads, is not mapped itself, and nothing inside
these loops is: the same thread does the same iteration of each, and threads along axes that no map takes do nothing (`realise.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

from ...dsl.diagnostics import WeftError, fail
from ..ir.mlir import ir, operations, users
from ..launch.kernel import Outlined
from ..mapping.mapping import nested_maps
from ..mapping.space import Mapped
from ..memory.layouts import bytes_of, is_shared, space_of
from ..session.rewriter import describe
from .sharing import drop_deallocs, handed_on, share
from .staging import is_stage
from .tiles import ThreadTile, moves_with_a_loop, one_each, ownership, thread_nest, tiles_of, whole_users
from .views import drop_dead_view, own_array, retype, takes_any_layout

REGISTERS = "weft.registers"
"""On a temporary that `promote-to-registers` made: each thread keeps its part to itself, or the launch is refused."""


def place_temporaries(kernel: Outlined, mapped: Sequence[Mapped], *, single_thread: bool = False) -> list[str]:
    """Turn every allocation of the kernel into what it is for the threads; what was decided, in a few words each.

    Where a block is a single thread, all that is in no particular memory is that thread's own.
    """
    remarks: list[str] = []
    by_op = {one.op: one for one in mapped}
    for alloc in list(operations(kernel.root, "memref.alloc")):
        if is_stage(alloc.results[0]):
            continue
        kind = ir.MemRefType(alloc.results[0].type)
        drop_deallocs(alloc)
        if thread_nest(alloc):
            remarks += _place_inside(alloc, kind)
        elif kind.memory_space is not None:
            if space_of(kind) == "private":
                _per_thread(alloc, kind)
        elif single_thread:
            _per_thread(alloc, kind)
        else:
            remarks.append(_place(alloc, kind, by_op))
    return remarks


def _place_inside(alloc: ir.Operation, kind: ir.MemRefType) -> list[str]:
    """What is allocated in a loop over threads is one thread's, unless the loop hands it on to several."""
    sharers = handed_on(alloc)
    if sharers is None and not is_shared(kind):
        _per_thread(alloc, kind)
        return []
    if REGISTERS in alloc.attributes:
        raise _not_in_registers(kind, f"`{sharers}` hands it to several")
    return [share(alloc)]


def _not_in_registers(kind: ir.MemRefType, reason: str) -> WeftError:
    return fail(
        "W0380",
        f"the {'x'.join(map(str, kind.shape))} accumulator cannot live in each thread's registers: {reason}",
        hint="map every loop that looks at it alike, one tile per thread",
    )


def _per_thread(alloc: ir.Operation, kind: ir.MemRefType) -> None:
    bytes_of(kind)
    alloc.results[0].replace_all_uses_with(own_array(alloc, kind))
    alloc.erase()


def _place(alloc: ir.Operation, kind: ir.MemRefType, by_op: dict[ir.Operation, Mapped]) -> str:
    tiles, reason = _private_tiles(alloc, by_op)
    shape = "x".join(str(e) for e in kind.shape)
    if tiles:
        own = tiles[0].kind
        _privatise(alloc, tiles, ir.MemRefType.get(own.shape, own.element_type))
        part = "x".join(str(e) for e in own.shape)
        return f"temporary {shape}: each thread keeps its {part} part, {kind.element_type}, to itself"
    if REGISTERS in alloc.attributes:
        raise _not_in_registers(kind, reason)
    size = bytes_of(kind)
    shared = ir.MemRefType.get(
        kind.shape, kind.element_type, kind.layout, ir.Attribute.parse("#gpu.address_space<workgroup>")
    )
    retype(alloc.results[0], shared)
    return f"temporary {shape}: in shared memory, {size} bytes ({reason})"


def _private_tiles(alloc: ir.Operation, by_op: dict[ir.Operation, Mapped]) -> tuple[list[ThreadTile], str]:
    """All tiles of a temporary if each thread only ever looks at its own one; else none, and why."""
    buffer = alloc.results[0]
    for user in whole_users(buffer):
        return [], f"{describe(user)} looks at all of it"
    tiles = tiles_of(buffer)
    for tile in tiles:
        if not takes_any_layout(tile.view, strides=True):
            return [], f"a view of it goes to {', '.join(sorted({u.name for u in users(tile.view.results[0])}))}"
        for _, inner in nested_maps(tile.nest[-1]):
            return [], f"`{inner}` hands a tile of it to several threads"
        if moves_with_a_loop(tile, buffer):
            return [], "which part a thread looks at changes within a loop"
    if not tiles:
        return [], "nobody takes a tile of it"
    if len({ownership(tile, by_op) for tile in tiles}) > 1:
        return [], "threads look at each other's parts"
    if not tiles[0].kind.has_static_shape:
        return [], "its tiles have no static size"
    if not all(one_each(by_op[loop]) for loop in tiles[0].nest):
        return [], "a thread owns several tiles of it"
    return tiles, ""


def _privatise(alloc: ir.Operation, tiles: Sequence[ThreadTile], kind: ir.MemRefType) -> None:
    own = own_array(alloc, kind)
    for tile in tiles:
        view, source = tile.view.results[0], tile.view.operands[0]
        retype(view, kind)
        view.replace_all_uses_with(own)
        tile.view.erase()
        drop_dead_view(source)
    alloc.erase()
