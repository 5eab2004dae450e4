"""Clusters, `launch … cluster(n)`: what blocks that run side by side do for each other.

    nvgpu.tma.async.load %B_map[%col, %k], %full[%s]  →  …load %B_map[%col + rank · part, %k], %full[%s]
        to %B_shared                                         to a part of %B_shared multicast_mask = 0b11
    nvgpu.mbarrier.arrive %empty[%s]                  →  arrives at %empty[%s] of each block, which
                                                         expects as many more
    products; stores to %C[…]                         →  products; scf.if (the block has a tile) {
                                                         stores to %C[…] }
    init of barriers; gpu.barrier; …                  →  init of barriers; the cluster meets; …;
                                                         it meets again, before a block ends

Each loads a part of a tile that all of them read: of one whose box begins at the same place, whatever
the block's number in the cluster is. In clusters that are not full, blocks without a tile load, wait,
multiply and arrive like the others, which count on it (what a box brings from outside of a tensor are
zeros), and leave out their reads and writes of global memory. What these would read into memory of
their own, and what uses it behind, is zero there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ...dsl.records import record
from ..buffers.tensor_copies import ARRIVALS, PRODUCER
from ..buffers.views import all_users
from ..hardware.hopper.mbarriers import (
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
from ..hardware.hopper.tensor_maps import LINE, LINES, LOADS, load_of
from ..hardware.hopper.warpgroups import PRODUCTS
from ..hardware.queries import ORDERED
from ..indices.arithmetic import index_of, less, terms_of, value_of
from ..indices.linear import Linear
from ..indices.neighbours import Neighbours
from ..ir.copying import fill_with
from ..ir.mlir import (
    ahead_of,
    ancestors,
    arith,
    constant_of,
    i64,
    ir,
    is_within,
    made_by,
    maker,
    operations,
    ops_of,
    producer,
    scf,
    users,
)
from ..ir.refusing import Name, Remark, describe, refuse
from ..ir.structured import body_of
from ..mapping.clusters import BlockClusters
from ..mapping.processors import Hardware
from ..memory.effects import accesses, is_memref, is_pure, shows_memory
from ..memory.layouts import is_shared, value_name
from ..memory.views import behind, is_view, may_share

_MADE = ("memref.alloc", "memref.alloca")
_WAY_OUT = "take tiles of which there are whole clusters, or leave `cluster` out"


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
        alone: why copies are not shared.
        uneven: whether one is not for no other reason than the number of parts.
        remarks: those that are, in words.
    """

    cluster: BlockClusters
    hardware: Hardware
    alone: dict[str, str] = field(default_factory=dict)
    uneven: bool = False
    remarks: list[Remark] = field(default_factory=list)

    @cached_property
    def rank(self) -> Linear:
        """Which block of its cluster the block is."""
        return index_of(self.hardware.rank(), self.cluster.size)

    @cached_property
    def _neighbours(self) -> Neighbours:
        function = next(op for op in ancestors(maker(value_of(self.rank))) if op.name == "gpu.func")
        ids = [op.results[0] for op in operations(function, "gpu.block_id") if "x" in str(op.attributes["dimension"])]
        return Neighbours(ids, self.cluster.size, [term for term, _ in terms_of(self.rank)])

    def pieces(
        self, op: ir.Operation, name: str, starts: Sequence[Linear], rows: int, panels: int, row_bytes: int
    ) -> list[TilePart] | None:
        """The part of a tile that the block loads for all, of a marked copy; None where it loads the tile for
        itself."""
        size = self.cluster.size
        if not any(PRODUCER in around.attributes for around in ancestors(op)):
            self.alone[name] = "no producer starts it, which waits until the other blocks have left the tile"
            return None
        if not all(self._neighbours.steady(term) for start in starts for term, _ in terms_of(start)):
            self.alone[name] = "each block of a cluster has another tile of it"
            return None
        if panels % size == 0:
            each = panels // size
            self._note(name, f"{each} of {panels} panels")
            return [TilePart(Linear.of(), rows, self.rank * each + n, True) for n in range(each)]
        if rows % size or rows // size * row_bytes % (LINE * LINES):
            self.uneven = True
            self.alone[name] = (
                f"{rows} rows of {row_bytes} bytes make no {size} parts of whole {LINES} lines of {LINE} bytes"
            )
            return None
        self._note(name, f"{rows // size} of {rows} rows")
        return [TilePart(self.rank * (rows // size), rows // size, Linear.of(n), True) for n in range(panels)]

    def _note(self, name: str, part: str) -> None:
        said = "{}: each of {} blocks loads {} for all"
        self.remarks.append(Remark.of(said, Name(name), self.cluster.size, part))

    def mask(self) -> ir.Value:
        """All blocks of the cluster, at the insertion point."""
        return arith.ConstantOp(ir.IntegerType.get_signless(16), (1 << self.cluster.size) - 1).result


def run_in_clusters(function: ir.Operation, sharing: Sharing, there: ir.Value | None) -> list[Remark]:
    """Let the blocks of a cluster share what they load. `there`: whether a block has a tile, where some
    may have none. Returns what they share. Raises W0407.
    """
    if not sharing.remarks:
        hint = "leave `cluster` out; or let `map copy to tma` and `pipeline … producer` bring what is the same for blocks that "
        hint += "follow each other along x"
        if sharing.uneven:
            hint = "take clusters of as many blocks as a tile has parts, or larger tiles; or leave `cluster` out"
        why = f"blocks of a cluster of {sharing.cluster.size} share no tile that the tensor memory accelerator brings"
        raise refuse("W0407", why, function, hint, *(f"`{name}`: {said}" for name, said in sharing.alone.items()))
    if there is not None:
        made = maker(there)
        ops = ops_of(made.block)
        _guard(ops[ops.index(made) + 1 : -1], there)
    _arrive_in_all(function, sharing.cluster.size)
    with ahead_of(ops_of(body_of(function))[-1]):
        meet()
    return sharing.remarks


def _arrive_in_all(function: ir.Operation, size: int) -> None:
    """Who arrives at a barrier arrives at that of each block of the cluster. Where the first thread of a warp group
    does, the first ones do, each in one block: an arrival in another block waits for what its thread has done, each one
        anew. One that is relaxed
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
            blocks = (
                [arith.IndexCastOp(i32, number).result]
                if number
                else [arith.ConstantOp(i32, n).result for n in range(size)]
            )
            for block in blocks:
                other = ir.Operation.create(OTHER_BLOCK, [there], [pointer, block]).results[0]
                ir.Operation.create(ARRIVE_THERE, [], [other], scope | relaxed[made])
        op.erase()


def _empties_for_products(function: ir.Operation, barriers: ir.Value) -> bool:
    """Whether products of warp groups alone read the tiles whose loads wait for these barriers, and loads alone fill
    them. The proof has the last word: an op that is not known is taken to touch what it is given."""
    loops = [op.parent.operation for op in operations(function, AWAIT) if barrier_of(op)[0] == barriers]
    loads = [load_of(op) for loop in loops for op in operations(loop, *LOADS)]
    tiles = [load.tile for load in loads if load is not None]
    if not tiles or len(tiles) < len(loads):
        return False
    for op in operations(function):
        if op.name not in (*LOADS, *PRODUCTS):
            found = accesses(op)
            touched = [one.value for one in found or () if one.kind not in ("alloc", "free")]
            touched += filter(shows_memory, op.operands if found is None else ())
            if any(may_share(value, tile) for value in touched for tile in tiles):
                return False
    return True


def _let_first(choice: ir.Operation, count: int) -> ir.Value | None:
    """Let not the first thread of a warp group do what stands under a condition, but so many; their numbers."""
    test = made_by(choice.operands[0], "arith.cmpi") if choice.name == "scf.if" else None
    if (
        test is None
        or constant_of(test.operands[1]) != 0
        or int(test.attributes["predicate"]) != arith.CmpIPredicate.eq
    ):
        return None
    with ahead_of(choice):
        choice.operands[0] = less(index_of(test.operands[0]), count)
    return test.operands[0]


def meet() -> ir.Operation:
    """All threads of the cluster meet, at the insertion point; the op in which they wait."""
    aligned = {"aligned": ir.UnitAttr.get()}
    ir.Operation.create(MEET_CLUSTER, attributes=aligned)
    return ir.Operation.create(AWAIT_CLUSTER, attributes=aligned)


def _guard(ops: Sequence[ir.Operation], there: ir.Value) -> None:
    run: list[ir.Operation] = []
    for op in ops:
        if not any(inner.name in ORDERED for inner in operations(op)):
            run.append(op)
            continue
        _guard_run(run, there)
        run = []
        for region in op.regions:
            for block in region.blocks:
                _guard(ops_of(block)[:-1], there)
    _guard_run(run, there)


def _guard_run(ops: Sequence[ir.Operation], there: ir.Value) -> None:
    """Of ops that each thread does for itself, those from the first to the last that has to do with global memory."""
    first = next((number for number, op in enumerate(ops) if _is_global(op)), None)
    if first is None:
        return
    start, staying = ops[first], list[ir.Operation]()
    for op in ops[first:]:  # what only computes stays in front
        computed = is_pure(op) or op.name in _MADE
        if computed and not any((made := producer(value)) is not None and made in staying for value in op.operands):
            op.move_before(start)
        else:
            staying.append(op)
    last = max(number for number, op in enumerate(staying) if _is_global(op))
    for number, op in enumerate(staying):
        if number > last:
            break
        for user in (user for result in op.results for user in users(result)):
            holder = next((n for n, other in enumerate(staying) if user in operations(other)), None)
            if holder is None:
                why = "is used where all blocks of a cluster work together: one without a tile has nothing to read"
                raise refuse("W0407", f"what {describe(op)} reads of global memory {why}", op, _WAY_OUT)
            last = max(last, holder)
    moved = staying[: last + 1]
    with ir.InsertionPoint(moved[0]), moved[0].location:
        choice = scf.IfOp(there)
        with ir.InsertionPoint(choice.then_block):
            end = scf.YieldOp([]).operation
    for op in moved:
        op.move_before(end)
    inside = choice.operation
    changed = [
        one.value for op in operations(inside) for one in accesses(op) or () if one.changes and is_memref(one.value)
    ]
    filled = dict.fromkeys(base for value in changed if not _is_argument(base := behind(value)))
    left = [  # views of a buffer, in front, use nothing of it
        buffer
        for buffer in filled
        if not all(is_view(op) or op.name == "memref.dealloc" or is_within(op, inside) for op in all_users(buffer))
    ]
    shared = next((buffer for buffer in left if is_shared(buffer.type)), None)
    if shared is not None:
        why = "from global memory, and a block of a cluster without a tile has nothing to read"
        raise refuse(
            "W0407",
            f"threads fill `{value_name(shared)}` {why}",
            moved[0],
            f"let `map … to tma` bring it; or {_WAY_OUT}",
        )
    if left:
        with ir.InsertionPoint(choice.regions[1].blocks.append()):
            for buffer in left:
                kind = ir.MemRefType(buffer.type).element_type
                zero = ir.FloatAttr.get(kind, 0.0) if isinstance(kind, ir.FloatType) else ir.IntegerAttr.get(kind, 0)
                fill_with(buffer, arith.ConstantOp(kind, zero).result)
            scf.YieldOp([])


def _is_global(op: ir.Operation) -> bool:
    """Whether an op, or one in it, reads or writes an argument of the kernel."""
    for inner in operations(op):
        found = accesses(inner)
        if found is None or any(is_memref(one.value) and _is_argument(behind(one.value)) for one in found):
            return True
    return False


def _is_argument(buffer: ir.Value) -> bool:
    return isinstance(buffer.owner, ir.Block) and buffer.owner.owner.operation.name == "gpu.func"
