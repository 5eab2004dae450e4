"""Where a block's temporaries live: in each thread's registers if nobody else looks at its part, else in shared memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...dsl.diagnostics import fail
from ..mlir import ir, memref, operations
from ..rewriter import describe
from .kernel import Outlined
from .lowering import bytes_of, is_shared
from .mapping import enclosing_maps, mapping_of
from .space import loop_dimensions
from .symbolic import spelled
from .trips import Mapped, trip_counts
from .views import VIEWS, retype, users

_TAKES_ANY_LAYOUT = (
    "linalg.",
    "memref.load",
    "memref.store",
    "memref.copy",
    "memref.subview",
    "memref.dim",
    "vector.load",
    "vector.store",
)


@dataclass(frozen=True)
class Tile:
    """The part of a temporary that an iteration of a loop over threads looks at."""

    view: ir.Operation
    loop: ir.Operation


def place_temporaries(kernel: Outlined, mapped: Sequence[Mapped], *, single_thread: bool = False) -> list[str]:
    """Turn every allocation of the kernel into what it is for the threads; what was decided, in a few words each.

    Where a block is a single thread, all that is in no particular memory is that thread's own.
    """
    remarks: list[str] = []
    by_op = {one.op: one for one in mapped}
    for alloc in list(operations(kernel.root, "memref.alloc")):
        kind = alloc.results[0].type
        assert isinstance(kind, ir.MemRefType)
        _drop_deallocs(alloc)
        in_threads = any(m.space != "blocks" for _, m in enclosing_maps(alloc))
        if in_threads:
            if is_shared(kind):
                raise fail(
                    "W0355",
                    f"{describe(alloc)} allocates shared memory in a loop over threads",
                    hint="allocate it in the loop over blocks",
                )
            _check_own(alloc)
            _per_thread(alloc, kind)
        elif kind.memory_space is not None:
            if "private" in str(kind.memory_space):
                _per_thread(alloc, kind)
        elif single_thread:
            _per_thread(alloc, kind)
        else:
            remarks.append(_place(alloc, kind, by_op))
    return remarks


def _drop_deallocs(alloc: ir.Operation) -> None:
    for user in users(alloc.results[0]):
        if user.name == "memref.dealloc" or (
            user.name == "memref.subview" and not any(True for _ in user.results[0].uses)
        ):
            user.erase()


def _check_own(alloc: ir.Operation) -> None:
    """What is allocated in a loop over threads is one thread's: a loop inside must not hand it to several."""
    around = {op for op, _ in enclosing_maps(alloc)}
    for user in _all_users(alloc.results[0]):
        inner = [(op, m) for op, m in enclosing_maps(user) if op not in around]
        own = mapping_of(user)
        inner += [(user, own)] if own is not None else []
        if inner:
            raise fail(
                "W0355",
                f"{describe(alloc)} stands in a loop over threads, and `{inner[0][1]}` inside hands it to several",
                hint="tile once, and map the loop to all the axes; or promote the buffer to shared memory outside",
            )


def _all_users(buffer: ir.Value) -> Iterator[ir.Operation]:
    """Who uses the buffer, or a view of it."""
    for user in users(buffer):
        yield user
        if user.name in VIEWS:
            yield from _all_users(user.results[0])


def _per_thread(alloc: ir.Operation, kind: ir.MemRefType) -> None:
    bytes_of(kind)
    with ir.InsertionPoint(alloc), alloc.location:
        own = memref.AllocaOp(kind, [], [])
    alloc.results[0].replace_all_uses_with(own.result)
    alloc.erase()


def _place(alloc: ir.Operation, kind: ir.MemRefType, by_op: dict[ir.Operation, Mapped]) -> str:
    size = bytes_of(kind)
    tiles, reason = _private_tiles(alloc, by_op)
    shape = "x".join(str(e) for e in kind.shape)
    if tiles:
        own = tiles[0].view.results[0].type
        assert isinstance(own, ir.MemRefType)
        _privatise(alloc, tiles, ir.MemRefType.get(own.shape, own.element_type))
        part = "x".join(str(e) for e in own.shape)
        return f"temporary {shape}: each thread keeps its {part} part, {kind.element_type}, to itself"
    shared = ir.MemRefType.get(
        kind.shape, kind.element_type, kind.layout, ir.Attribute.parse("#gpu.address_space<workgroup>")
    )
    retype(alloc.results[0], shared)
    return f"temporary {shape}: in shared memory, {size} bytes ({reason})"


def _private_tiles(alloc: ir.Operation, by_op: dict[ir.Operation, Mapped]) -> tuple[list[Tile], str]:
    """All tiles of a temporary if each thread only ever looks at its own one; else none, and why."""
    tiles: list[Tile] = []
    for user in users(alloc.results[0]):
        loops = [op for op, m in enclosing_maps(user) if m.space != "blocks"]
        if user.name != "memref.subview" or not loops:
            return [], f"{user.name} looks at all of it"
        if len(loops) > 1:
            return [], "loops over threads are nested around it"
        if not _any_layout(user):
            return [], f"a view of it goes to {', '.join(sorted({u.name for u in users(user.results[0])}))}"
        tiles.append(Tile(user, loops[0]))
    if not tiles:
        return [], "nobody takes a tile of it"
    if len({_ownership(tile, by_op[tile.loop]) for tile in tiles}) > 1:
        return [], "threads look at each other's parts"
    kind = tiles[0].view.results[0].type
    if not isinstance(kind, ir.MemRefType) or not kind.has_static_shape:
        return [], "its tiles have no static size"
    if not _one_iteration_each(by_op[tiles[0].loop]):
        return [], "a thread owns several tiles of it"
    return tiles, ""


def _any_layout(view: ir.Operation) -> bool:
    """Whether everybody who takes the view takes it in another layout, too."""
    return all(
        user.name.startswith(_TAKES_ANY_LAYOUT)
        and (user.name != "memref.subview" or (_same_rank(user) and _any_layout(user)))
        for user in users(view.results[0])
    )


def _same_rank(view: ir.Operation) -> bool:
    source, result = view.operands[0].type, view.results[0].type
    return isinstance(source, ir.MemRefType) and isinstance(result, ir.MemRefType) and source.rank == result.rank


def _ownership(tile: Tile, owner: Mapped) -> tuple[object, ...]:
    """Equal for two tiles if every thread looks at the same elements through both."""
    bounds = tuple((d.lower, d.upper, d.step) for d in loop_dimensions(tile.loop))
    return owner.mapping, bounds, spelled(tile.view.results[0], tile.loop)


def _one_iteration_each(owner: Mapped) -> bool:
    if owner.mapping.dist is None:
        return True
    if owner.mapping.every:
        return False
    if owner.mapping.dist == "block-cyclic" and owner.mapping.chunk != 1:
        return all(trips == 1 for trips in trip_counts(owner))  # a chunk goes to one processor, however many there are
    counts = zip(owner.mapping.counts, trip_counts(owner), strict=True)
    return all(count == -1 or (trips is not None and 0 < trips <= count) for count, trips in counts)


def _privatise(alloc: ir.Operation, tiles: Sequence[Tile], kind: ir.MemRefType) -> None:
    with ir.InsertionPoint(alloc), alloc.location:
        own = memref.AllocaOp(kind, [], [])
    for tile in tiles:
        view = tile.view.results[0]
        retype(view, kind)
        view.replace_all_uses_with(own.result)
        tile.view.erase()
    alloc.erase()
