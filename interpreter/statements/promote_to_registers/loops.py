"""What a loop of the payload accesses of a buffer, in the thread's registers while it runs.

    for k: C[i, j] = C[i, j] + A[i, k] · B[k, j]   →   c = C[i, j];  for k: c = c + A[i, k] · B[k, j];  C[i, j] = c

The elements are an array of the thread's own, read in front of the loop where it needs what was there, and written back behind it.
"""

from __future__ import annotations

from ....dsl.diagnostics import fail
from ...buffers.elements import VECTOR, most_lanes
from ...buffers.loop_tiles import WriteBack, move_to, read_into, tile_of, users_of
from ...buffers.temporaries import REGISTERS
from ...buffers.tiles import is_in_thread
from ...ir.mlir import ahead_of, i64, ir, is_within, memref
from ...loops.collisions import expect_apart
from ...loops.forall import without_affine_loops
from ...loops.nests import SEQUENTIAL
from ...mapping.mapping import mapping_of, nested_maps
from ...memory.names import free_name
from ...session.rewriter import describe
from ...session.statement import Rewriter
from .accumulators import affordable


def keep_tile(rewrite: Rewriter, name: str, inner: ir.Operation, loop: ir.Operation) -> ir.Operation:
    """Keep what `loop`, which is `inner` or stands around it, accesses of the buffer `name`; the array. Raises W0330, W0332, W0382,
    W0385 to W0387, W0468."""
    runs_here = loop.name in SEQUENTIAL or (loop.name == "scf.forall" and mapping_of(loop) is None)
    if not runs_here or not is_within(inner, loop):
        what = f"does not stand around {describe(inner)}" if runs_here else "is not a loop that a thread runs by itself"
        raise rewrite.error(
            "W0382", f"{describe(loop)} {what}", loop,
            "name a loop without a map, of the payload (`scf.for`, `affine.for`) or over a tile",
            at="loop" if loop != inner else "operand",
        )  # fmt: skip
    with rewrite.placing(loop, at="operand"):
        _expect_thread(loop)
        users_of(inner, name)
    loop = without_affine_loops(loop)
    with rewrite.placing(loop, at="operand"):
        tile = tile_of(loop, name, users_of(loop, name))
        kind = ir.MemRefType.get(tile.shape, ir.MemRefType(tile.buffer.type).element_type)
        rewrite.remark(f"each thread keeps {affordable(kind)} in registers")
    with ahead_of(loop):
        alloc = memref.AllocOp(kind, [], []).operation
    alloc.attributes[REGISTERS] = ir.UnitAttr.get()
    alloc.attributes["weft.name"] = ir.StringAttr.get(free_name(loop, f"{name}_tile"))
    if tile.read:
        read_into(tile, alloc.results[0]).attributes[VECTOR] = i64(most_lanes(kind.element_type))
    move_to(tile, alloc.results[0])
    if tile.written is not None:
        WriteBack(tile, alloc.results[0], tile.written).emit_in_thread()
        expect_apart(rewrite, loop, name)
    done = ["read before the loop"] * tile.read + ["written back behind it"] * (tile.written is not None)
    rewrite.remark(", ".join(done))
    return alloc


def _expect_thread(loop: ir.Operation) -> None:
    inside = next(nested_maps(loop), None)
    if inside is not None:
        raise fail(
            "W0385", f"`{inside[1]}` on {describe(inside[0])} hands the loop's iterations to several threads",
            "name a loop inside of it, that one thread runs; `promote-to-shared` stages what threads share",
        )  # fmt: skip
    if not is_in_thread(loop):
        why = "no loop over threads is around the loop, so that every thread would keep the same"
        raise fail("W0385", why, "`map` a loop around it to threads")
