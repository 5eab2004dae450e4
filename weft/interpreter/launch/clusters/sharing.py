"""What blocks of a cluster do for each other: each loads a part of a tile that all of them read, and all wait for all.

    nvgpu.tma.async.load %B_map[%col, %k], %full[%s]     →   nvgpu.tma.async.load %B_map[%col + rank · part, %k], %full[%s]
        to %B_shared                                             to a part of %B_shared multicast_mask = 0b11
    nvgpu.mbarrier.arrive %empty[%s]                     →   arrives at %empty[%s] of each block, which expects as many more
    init of barriers; gpu.barrier                        →   init of barriers; the cluster meets
                                                             … the cluster meets, before any of its blocks ends

A tile is the same for all of them where the box begins at the same place, whatever the block's number in the cluster is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ....dsl.records import record
from ...buffers.tensor_copies import ARRIVALS, PRODUCER
from ...hardware.hopper.mbarriers import (
    ADDRESS,
    ARRIVE,
    ARRIVE_THERE,
    AWAIT,
    AWAIT_CLUSTER,
    MEET_CLUSTER,
    OTHER_BLOCK,
    POINTER,
    barrier_of,
)
from ...hardware.hopper.tensor_maps import LINE, LINES, LOADS, load_of
from ...hardware.hopper.warpgroups import PRODUCTS
from ...indices.arithmetic import index_of, less, terms_of, value_of
from ...indices.linear import Linear
from ...indices.neighbours import Neighbours
from ...ir.mlir import ahead_of, ancestors, arith, constant_of, i64, ir, made_by, maker, operations
from ...ir.refusing import refuse
from ...mapping.clusters import BlockClusters
from ...memory.effects import accesses, shows_memory
from ...memory.views import may_share


@record
class TilePart:
    """A part of a tile: rows from one on, of a panel; for all blocks of a cluster, or this one."""

    row: Linear
    rows: int
    panel: Linear
    shared: bool = False


@dataclass
class Sharing:
    """The copies of a kernel whose blocks run in clusters.

    Args:
        rank: which block of its cluster the block is.
        alone: why copies are not shared.
        uneven: whether one is not for no other reason than the number of parts.
        remarks: those that are, in words.
    """

    cluster: BlockClusters
    rank: Linear
    alone: dict[str, str] = field(default_factory=dict)
    uneven: bool = False
    remarks: list[str] = field(default_factory=list)

    @cached_property
    def _neighbours(self) -> Neighbours:
        function = next(op for op in ancestors(maker(value_of(self.rank))) if op.name == "gpu.func")
        ids = [op.results[0] for op in operations(function, "gpu.block_id") if "x" in str(op.attributes["dimension"])]
        return Neighbours(ids, self.cluster.size, [term for term, _ in terms_of(self.rank)])

    def pieces(
        self, op: ir.Operation, name: str, starts: Sequence[Linear], rows: int, panels: int, row_bytes: int
    ) -> list[TilePart] | None:
        """The part of a tile that the block loads for all, of a marked copy; None where it loads the tile for itself."""
        size = self.cluster.size
        if not any(PRODUCER in around.attributes for around in ancestors(op)):
            self.alone[name] = "no producer starts it, which waits until the other blocks have left the tile"
            return None
        if not all(self._neighbours.steady(term) for start in starts for term, _ in terms_of(start)):
            self.alone[name] = "each block of a cluster has another tile of it"
            return None
        if panels % size == 0:
            each = panels // size
            self.remarks.append(f"{name}: each of {size} blocks loads {each} of {panels} panels for all")
            return [TilePart(Linear.of(), rows, self.rank * each + n, True) for n in range(each)]
        if rows % size or rows // size * row_bytes % (LINE * LINES):
            self.uneven = True
            self.alone[name] = f"{rows} rows of {row_bytes} bytes make no {size} parts of whole {LINES} lines of {LINE} bytes"
            return None
        self.remarks.append(f"{name}: each of {size} blocks loads {rows // size} of {rows} rows for all")
        return [TilePart(self.rank * (rows // size), rows // size, Linear.of(n), True) for n in range(panels)]

    def mask(self) -> ir.Value:
        """All blocks of the cluster, at the insertion point."""
        return arith.ConstantOp(ir.IntegerType.get_signless(16), (1 << self.cluster.size) - 1).result

    def expect_some(self, op: ir.Operation) -> None:
        """Raises W0407 where the blocks of a cluster have nothing to do with each other."""
        if not self.remarks:
            hint = "leave `cluster` out; or let `map copy to tma` and `pipeline … producer` bring what is the same for blocks that "
            hint += "follow each other along x"
            if self.uneven:
                hint = "take clusters of as many blocks as a tile has parts, or larger tiles; or leave `cluster` out"
            why = f"blocks of a cluster of {self.cluster.size} share no tile that the tensor memory accelerator brings"
            raise refuse("W0407", why, op, hint, *(f"`{name}`: {said}" for name, said in self.alone.items()))


def arrive_in_all(function: ir.Operation, size: int) -> None:
    """Who arrives at a barrier arrives at that of each block of the cluster. Where the first thread of a warp group does, the first
    ones do, each in one block: an arrival in another block waits for what its thread has done, each one anew. One that is relaxed
    does not; it is enough where products alone read what is to be overwritten, and are over."""
    i32 = ir.IntegerType.get_signless(32)
    here, there = ir.Type.parse("!llvm.ptr<3>"), ir.Type.parse("!llvm.ptr<7>")
    scope = {"scope": ir.Attribute.parse("#nvvm.mem_scope<cluster>")}
    relaxed: dict[ir.Operation, dict[str, ir.Attribute]] = {}
    for op in list(operations(function, ARRIVE)):
        barriers, number = barrier_of(op)
        made = maker(barriers)
        if made not in relaxed:
            made.attributes[ARRIVALS] = i64(ir.IntegerAttr(made.attributes[ARRIVALS]).value * size)
            relaxed[made] = {"relaxed": ir.BoolAttr.get(True)} if _empties_for_products(function, barriers) else {}
        with ahead_of(op):
            address = ir.Operation.create(ADDRESS, [i32], [barriers, number]).results[0]
            pointer = ir.Operation.create(POINTER, [here], [address]).results[0]
            number = _let_first(op.parent.operation, size)
            blocks = [arith.IndexCastOp(i32, number).result] if number else [arith.ConstantOp(i32, n).result for n in range(size)]
            for block in blocks:
                other = ir.Operation.create(OTHER_BLOCK, [there], [pointer, block]).results[0]
                ir.Operation.create(ARRIVE_THERE, [], [other], scope | relaxed[made])
        op.erase()


def _empties_for_products(function: ir.Operation, barriers: ir.Value) -> bool:
    """Whether products of warp groups alone read the tiles whose loads wait for these barriers, and loads alone fill them. The
    proof has the last word: an op that is not known is taken to touch what it is given."""
    loops = [op.parent.operation for op in operations(function, AWAIT) if barrier_of(op)[0] == barriers]
    loads = [load_of(op) for loop in loops for op in operations(loop, *LOADS)]
    tiles = [load.tile for load in loads if load is not None]
    if not tiles or len(tiles) < len(loads):
        return False
    others = [op for op in operations(function) if op.name not in (*LOADS, *PRODUCTS)]
    return not any(may_share(value, tile) for op in others for value in _touched(op) for tile in tiles)


def _touched(op: ir.Operation) -> list[ir.Value]:
    found = accesses(op)
    if found is None:
        return [value for value in op.operands if shows_memory(value)]
    return [one.value for one in found if one.kind not in ("alloc", "free")]


def _let_first(choice: ir.Operation, count: int) -> ir.Value | None:
    """Let not the first thread of a warp group do what stands under a condition, but so many; their numbers."""
    test = made_by(choice.operands[0], "arith.cmpi") if choice.name == "scf.if" else None
    if test is None or constant_of(test.operands[1]) != 0 or int(test.attributes["predicate"]) != arith.CmpIPredicate.eq:
        return None
    with ahead_of(choice):
        choice.operands[0] = less(index_of(test.operands[0]), count)
    return test.operands[0]


def meet() -> ir.Operation:
    """All threads of the cluster meet, at the insertion point; the op in which they wait."""
    aligned = {"aligned": ir.UnitAttr.get()}
    ir.Operation.create(MEET_CLUSTER, attributes=aligned)
    return ir.Operation.create(AWAIT_CLUSTER, attributes=aligned)
