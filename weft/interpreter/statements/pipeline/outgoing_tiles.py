"""Outgoing tiles: the parts of a result that are stored out of shared memory in boxes rotate
through several buffers.

    for part { fill C_shared; copy C_shared → C {tma} }  →  for part { fill C_shared[part mod n]; copy C_shared[part mod n] → C }

So a part is written while earlier ones are read; `launch` inserts the waits for these reads
(`launch/stores/completion.py`).
"""

from __future__ import annotations

from collections.abc import Iterator

from ...buffers.tensor_copies import is_tensor_copy
from ...ir.mlir import affine, i64, ir, is_within, made_by, operations
from ...ir.refusing import refuse
from ...ir.structured import body_of
from ...launch.stores.completion import BUFFERS, is_tensor_store
from ...mapping.mapping import loop_dimensions, mapping_of
from ...memory.views import root_memref
from .pipelined_copies import all_users, buffer_key, check_fresh
from .rotation import drop, redirect, several_tiles


def goes_out(loop: ir.Operation) -> bool:
    """Whether a loop is over parts that are stored in this way."""
    mapping = mapping_of(loop)
    return loop.name == "scf.forall" and mapping is not None and mapping.space == "registers" and any(_stores(loop))


def rotate_buffers(loop: ir.Operation, buffers: int) -> list[ir.Operation]:
    """Rewrites the loop in place. Returns the buffers, with `buffers` tiles each, or one per part
    if there are fewer parts; empty for a single part. Raises W0374, W0376, W0377, W0388, W0389."""
    if BUFFERS in loop.attributes:
        raise refuse(
            "W0389", "parts of this loop rotate through buffers already", loop, "write one `pipeline` for the loop"
        )
    check_fresh(loop)
    dimensions = loop_dimensions(loop)
    if len(dimensions) != 1:
        raise refuse(
            "W0374",
            "parts that rotate through buffers are counted along one dimension",
            loop,
            "`tile` columns alone, `tile … [_, n]`",
        )
    (parts,) = dimensions
    buffers = buffers if parts.static_trips is None else min(buffers, parts.static_trips)
    if not isinstance(parts.lower, int) or not isinstance(parts.step, int):
        raise refuse("W0374", "where parts begin is known only at run time", loop, "`tile` with a number")
    allocs = list(dict.fromkeys(_filled(loop, store) for store in _stores(loop)))
    if buffers < 2:
        return []
    first = body_of(loop).operations[0].operation
    made: list[ir.Operation] = []
    with loop.location:
        turn = ir.AffineExpr.get_mod(
            ir.AffineExpr.get_floor_div(ir.AffineDimExpr.get(0) - parts.lower, parts.step), buffers
        )
        with ir.InsertionPoint(first):
            number = affine.AffineApplyOp(ir.AffineMap.get(1, 0, [turn]), [body_of(loop).arguments[0]]).result
        for alloc in allocs:
            several = several_tiles(alloc, buffers)
            redirect(loop, alloc, several, number, first)
            drop(alloc)
            made.append(several.owner.operation)
    loop.attributes[BUFFERS] = i64(buffers)
    return made


def _stores(loop: ir.Operation) -> Iterator[ir.Operation]:
    return (op for op in operations(loop) if is_tensor_copy(op) and is_tensor_store(op))


def _filled(loop: ir.Operation, store: ir.Operation) -> ir.Operation:
    """The buffer from which a store takes its tile. Raises W0374, W0376, W0377."""
    around = store.parent.operation
    mapping = mapping_of(around)
    if mapping is not None and mapping.space == "warpgroups":
        around = around.parent.operation
    if around != loop:
        raise refuse("W0374", "a loop in this one holds the copy out of shared memory", store, "`pipeline` that one")
    alloc = made_by(root_memref(store.operands[0]), "memref.alloc")
    if alloc is None:
        raise refuse(
            "W0376", "what is stored lies in no buffer of the block", store, "`promote-to-shared` the result of the op"
        )
    for user in all_users(alloc.results[0]):
        if not is_within(user, loop):
            message = f"{buffer_key(alloc)} is used outside the loop, where it is not known which of its tiles is meant"
            raise refuse("W0377", message, user)
    return alloc
