"""Copies between a block's temporary and global memory inherit the map of the loop that owns the temporary's tiles.

A ragged tile is computed whole in a temporary of static size, and then written back under a guard. Nobody maps that copy: each
thread copies the part of the temporary that it wrote (or, for a copy into it, that it is going to read).
"""

from __future__ import annotations

import dataclasses
import math

from ...dsl.diagnostics import fail
from ..mlir import ir, operations, producer, scf
from ..rewriter import describe
from ..structured import WRITEBACK
from .alone import VECTOR
from .arithmetic import Sum, delinearise
from .elements import StructuredOp
from .kernel import Outlined
from .legality import MAX_VECTOR_BITS
from .lowering import copies_to_linalg
from .mapping import ATTRIBUTE, mapping_of
from .parts import Part
from .space import extents, indexing_maps, is_parallel_op, static_extents, subview_offsets, subview_sizes
from .symbolic import spelled
from .temporaries import REGISTERS
from .tiles import clone_nest, end_of, thread_nest, tiles_of
from .views import base_of, drop_dead_view, is_temporary


def inherit_maps(kernel: Outlined) -> list[str]:
    """Give every unmapped copy of a temporary a loop with its owner's map; what was done, in a few words each."""
    remarks: list[str] = []
    for copy in list(_unmapped_copies(kernel.root)):
        if copy.name == "memref.copy" and spelled(copy.operands[0]) == spelled(copy.operands[1]):
            copy.erase()  # bufferization writes a tile back onto itself
    _copies_between_loops_to_linalg(kernel.root)
    for copy in list(_unmapped_copies(kernel.root)):
        remark = _inherit(kernel.root, copy)
        if remark:
            remarks.append(remark)
    return remarks


def _unmapped_copies(root: ir.Operation) -> list[ir.Operation]:
    """Copies, and ops marked as write-backs, that stand outside the loops over threads and have no map."""
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> None:
        mapping = mapping_of(op)
        if mapping is None and (op.name in ("memref.copy", "linalg.copy") or WRITEBACK in op.attributes):
            found.append(op)
            return
        if mapping is not None and mapping.space != "blocks":
            return
        for region in op.regions:
            for block in region.blocks:
                for inner in block.operations:
                    visit(inner.operation)

    visit(root)
    return found


def _copies_between_loops_to_linalg(root: ir.Operation) -> None:
    for copy in _unmapped_copies(root):
        if copy.name == "memref.copy":
            copies_to_linalg(copy)


def _inherit(root: ir.Operation, copy: ir.Operation) -> str | None:
    if not is_parallel_op(copy):
        raise fail("W0357", f"{describe(copy)} is marked as a write-back and is not an op without reductions")
    structured = StructuredOp.of(copy)
    for number in (*structured.input_numbers(), *structured.output_numbers()):
        temporary = base_of(structured.operands[number])
        if temporary is None or not is_temporary(temporary):
            continue
        owner = _owner(root, copy, temporary, writes=number in structured.input_numbers())
        if owner is None:
            continue
        _check_view(owner, copy, structured, number)
        mapping = mapping_of(owner)
        with copy.location:
            if owner.name == "scf.forall":
                _copy_tiles(owner, copy, structured, number, temporary)
            else:
                _copy_elements(owner, copy, structured, number, temporary)
        where = describe(copy)
        operands = list(copy.operands)
        copy.erase()
        for operand in operands:
            drop_dead_view(operand)
        return f"{where} follows its temporary's owner: {mapping}"
    return None


def _owner(root: ir.Operation, copy: ir.Operation, temporary: ir.Value, *, writes: bool) -> ir.Operation | None:
    """The mapped loop (the outermost of a nest) or op nearest to the copy that touches the temporary: before the copy if that reads
    the temporary, else after."""
    order = list(operations(root))
    here = order.index(copy)
    nearby = reversed(order[:here]) if writes else order[here + 1 :]
    for op in nearby:
        mapping = mapping_of(op)
        if mapping is None or mapping.space == "blocks":
            continue
        touched = (base_of(v) for inner in operations(op) for v in (_written(inner) if writes else inner.operands))
        if any(base is not None and base == temporary for base in touched):
            return next(iter(thread_nest(op)), op)
    return None


def _written(op: ir.Operation) -> list[ir.Value]:
    """The buffers that an op writes."""
    operands = list(op.operands)
    if op.name in ("memref.store", "affine.store", "vector.store", "memref.copy"):
        return operands[1:2]
    if indexing_maps(op) is not None:
        return operands[StructuredOp.of(op).output_numbers().start :]
    return []


def _check_view(owner: ir.Operation, copy: ir.Operation, structured: StructuredOp, number: int) -> None:
    """The copy walks the temporary from its first element, each element once."""
    results = list(structured.maps[number].results)
    once = structured.maps[number].is_permutation
    view = producer(structured.operands[number])
    start = view is None or view.name != "memref.subview" or all(o == 0 for o in subview_offsets(view))
    if not once or not start or not all(isinstance(r, ir.AffineDimExpr) for r in results):
        raise fail(
            "W0357",
            f"{describe(copy)} does not walk its temporary element by element, so it cannot follow the temporary's owner",
            hint=_by_hand(copy, owner),
        )


def _by_hand(copy: ir.Operation, owner: ir.Operation) -> str:
    """What to write where a copy cannot follow: bufferization has made it, so that no handle has its name yet."""
    return (
        f"name it behind a `bufferize` (`let back = match {copy.name}`) and map it, `cyclic`, to as many threads as "
        f"`{mapping_of(owner)}`; tiles that divide the result need no copy"
    )


def _copy_tiles(
    owner: ir.Operation, copy: ir.Operation, structured: StructuredOp, number: int, temporary: ir.Value
) -> None:
    """A nest of loops like the owner's in which each iteration copies the tile of the temporary that it owns."""
    tiles = tiles_of(temporary, owner)
    if not tiles or len({t.spelled for t in tiles}) != 1:
        raise fail(
            "W0357",
            f"which part of its temporary {describe(copy)} is to copy is not to be seen in the loop that fills it",
            hint=_by_hand(copy, owner),
        )
    tile = clone_nest(tiles[0], copy)
    with end_of(tile.nest[-1]):
        offsets, sizes = _offsets_in(temporary, tile.view), subview_sizes(tile.view)
        lanes = _most_lanes(temporary, owner)
        Part(structured, number, tile.view.results[0], offsets, sizes).emit(extents(copy), lanes)


def _most_lanes(temporary: ir.Value, owner: ir.Operation) -> int:
    """Elements in the widest access of a temporary: one, unless `promote-to-registers` made it, or `vectorize` its owner's ops."""
    kind, alloc = temporary.type, producer(temporary)
    assert isinstance(kind, ir.MemRefType)
    wide = (op for op in operations(owner) if VECTOR in op.attributes)
    asked = any(base is not None and base == temporary for op in wide for base in map(base_of, op.operands))
    if not asked and (alloc is None or REGISTERS not in alloc.attributes):
        return 1
    return max(MAX_VECTOR_BITS // max(getattr(kind.element_type, "width", 64), 8), 1)


def _offsets_in(buffer: ir.Value, view: ir.Operation) -> list[Sum]:
    """Where a tile (of a tile …) of a buffer starts in it."""
    source = view.operands[0]
    kind = source.type
    assert isinstance(kind, ir.MemRefType)
    rooms = zip(subview_offsets(view), kind.shape, subview_sizes(view), strict=True)
    here = [
        Sum.of(offset, extent - size + 1 if extent > 0 and isinstance(size, int) else None)
        for offset, extent, size in rooms
    ]
    outer = producer(source)
    if source == buffer or outer is None:
        return here
    return [a + b for a, b in zip(_offsets_in(buffer, outer), here, strict=True)]


def _copy_elements(
    owner: ir.Operation, copy: ir.Operation, structured: StructuredOp, number: int, temporary: ir.Value
) -> None:
    """A loop over the iterations of the op that fills the temporary, with its map; an iteration copies what it wrote."""
    mapping = mapping_of(owner)
    walked = _walked(owner, temporary)
    assert mapping is not None
    if walked is None:
        raise fail(
            "W0357",
            f"which part of its temporary {describe(copy)} is to copy is not to be seen in {describe(owner)}",
            hint=_by_hand(copy, owner),
        )
    order, space = walked
    lanes = [1] * len(space)
    if mapping.vector > 1:
        lanes[-1], space[-1] = mapping.vector, space[-1] // mapping.vector
    row = mapping.every or len(mapping.axes) != len(space)
    trips = [math.prod(space)] if row else space
    with ir.InsertionPoint(copy):
        loop = scf.ForallOp([0] * len(trips), trips, [1] * len(trips), [])
    loop.operation.attributes[ATTRIBUTE] = dataclasses.replace(mapping, vector=1).attribute()
    body = loop.operation.regions[0].blocks[0]
    with ir.InsertionPoint(body):
        if not list(body.operations):
            scf.InParallelOp()
    with ir.InsertionPoint(list(body.operations)[-1]):
        counters = [Sum.of(i, e) for i, e in zip(body.arguments, trips, strict=True)]
        at = delinearise(counters[0], space) if row else counters
        offsets = [at[d].times(lanes[d]) for d in order]
        Part(structured, number, None, offsets, [lanes[d] for d in order]).emit(extents(copy))


def _walked(owner: ir.Operation, temporary: ir.Value) -> tuple[list[int], list[int]] | None:
    """Which dimension of the owner walks each dimension of the temporary, and the owner's extents; None if it does not
    walk the whole of it, each element once."""
    structured = StructuredOp.of(owner)
    whole = [n for n, operand in enumerate(structured.operands) if operand == temporary]
    space = [extent for extent in static_extents(owner) if extent is not None]
    for number in reversed(whole):
        indexing = structured.maps[number]
        if indexing.is_permutation and indexing.n_dims == len(space):
            return [r.position for r in indexing.results if isinstance(r, ir.AffineDimExpr)], space
    return None
