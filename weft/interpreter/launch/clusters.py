"""Clusters, `launch … cluster(n)`: loads that blocks of one cluster share.

    nvgpu.tma.async.load %B_map[%col, %k], %full[%s]  →  …load %B_map[%col + rank · part, %k], %full[%s]
        to %B_shared                                         to a part of %B_shared multicast_mask = 0b11
    nvgpu.mbarrier.arrive %empty[%s]                  →  arrival at %empty[%s] of each block, which
                                                         expects n times as many
    products; stores to %C[…]                         →  products; scf.if (the block has a tile) {
                                                         stores to %C[…] }
    init of barriers; gpu.barrier; …                  →  init of barriers; barrier of the cluster; …;
                                                         barrier of the cluster at the block's end

If all blocks of a cluster read the same tile, each of them loads a part of it for all. A tile is
the same if its box begins at the same place for every rank in the cluster.

In clusters that are not full, some blocks have no tile of their own. They load, wait, multiply and
arrive like the others, which depend on these arrivals; elements of a box outside of a tensor are
zeros. They skip their reads and writes of global memory. If a skipped read would fill
thread-private memory that is used later, the memory is filled with zeros.
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
from ..memory.views import is_view, may_share, root_memref

_MADE = ("memref.alloc", "memref.alloca")
_WAY_OUT = "choose tiles so that the cluster's size divides their number, or leave `cluster` out"


@record
class TilePart:
    """A part of a tile: `rows` rows of a panel, from `row` on. It is loaded for all blocks of a
    cluster (`shared`), or for this block only."""

    row: Linear
    rows: int
    panel: Linear
    shared: bool = False


@dataclass
class Sharing:
    """The shared copies of a kernel that runs in clusters.

    Args:
        alone: for each tile that is not shared, the reason.
        uneven: whether some tile is not shared only because it cannot be divided into that many
            parts.
        remarks: the shared copies, as remarks.
    """

    cluster: BlockClusters
    hardware: Hardware
    alone: dict[str, str] = field(default_factory=dict)
    uneven: bool = False
    remarks: list[Remark] = field(default_factory=list)

    @cached_property
    def rank(self) -> Linear:
        """The block's rank in its cluster."""
        return index_of(self.hardware.rank(), self.cluster.size)

    @cached_property
    def _neighbours(self) -> Neighbours:
        function = next(op for op in ancestors(maker(value_of(self.rank))) if op.name == "gpu.func")
        ids = [op.results[0] for op in operations(function, "gpu.block_id") if "x" in str(op.attributes["dimension"])]
        return Neighbours(ids, self.cluster.size, [term for term, _ in terms_of(self.rank)])

    def pieces(
        self, op: ir.Operation, name: str, starts: Sequence[Linear], rows: int, panels: int, row_bytes: int
    ) -> list[TilePart] | None:
        """The parts of a tile that the block loads for all blocks of the cluster; None if it loads
        the whole tile for its own use."""
        size = self.cluster.size
        if not any(PRODUCER in around.attributes for around in ancestors(op)):
            self.alone[name] = "no producer starts it: nothing waits until the other blocks have released the tile"
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
        text = "{}: each of {} blocks loads {} for all"
        self.remarks.append(Remark.of(text, Name(name), self.cluster.size, part))

    def mask(self) -> ir.Value:
        """The multicast mask of all blocks of the cluster, emitted at the insertion point."""
        return arith.ConstantOp(ir.IntegerType.get_signless(16), (1 << self.cluster.size) - 1).result


def run_in_clusters(function: ir.Operation, sharing: Sharing, there: ir.Value | None) -> list[Remark]:
    """Makes the blocks of a cluster share loads. `there`: the condition that a block has a tile;
    None if every block has one. Returns remarks on what is shared. Raises W0407."""
    if not sharing.remarks:
        hint = "leave `cluster` out; or let `map copy to tma` and `pipeline … producer` load tiles that blocks along x share"
        if sharing.uneven:
            hint = "give `cluster` as many blocks as a tile has parts, or larger tiles; or leave `cluster` out"
        why = f"blocks of a cluster of {sharing.cluster.size} share no tile that the tensor memory accelerator brings"
        raise refuse("W0407", why, function, hint, *(f"`{name}`: {reason}" for name, reason in sharing.alone.items()))
    if there is not None:
        made = maker(there)
        ops = ops_of(made.block)
        _guard(ops[ops.index(made) + 1 : -1], there)
    _arrive_in_all(function, sharing.cluster.size)
    with ahead_of(ops_of(body_of(function))[-1]):
        meet()
    return sharing.remarks


def _arrive_in_all(function: ir.Operation, size: int) -> None:
    """Replaces each arrival at a barrier by arrivals at that barrier in every block of the cluster.

    If the first thread of a warp group arrives, then its first `size` threads arrive instead, each
    in one block: an arrival in another block waits for the earlier effects of its thread, so that
    several arrivals of one thread would wait one after the other. A relaxed arrival does not wait.
    It suffices if only products read the tile that is to be overwritten, and these have completed.
    """
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
    """Whether only products of warp groups read the tiles that are loaded after waits for these
    barriers, and only loads fill them. An op without known accesses is assumed to access its
    operands; the proof of the kernel checks the result."""
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
    """Widens a condition that selects the first thread of a warp group to its first `count`
    threads. Returns their numbers; None for another condition."""
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
    """Emits a barrier of all threads of the cluster at the insertion point. Returns the op at which
    they wait."""
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
    """Guards the part of a run of ops that begins with the first and ends with the last access to
    global memory, or use of such an access's result. Each thread executes the ops independently."""
    first = next((number for number, op in enumerate(ops) if _is_global(op)), None)
    if first is None:
        return
    start, staying = ops[first], list[ir.Operation]()
    for op in ops[first:]:  # pure ops stay before the guard
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
                why = "is used where all blocks of a cluster work together: a block without a tile reads nothing"
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
    filled = dict.fromkeys(base for value in changed if not _is_argument(base := root_memref(value)))
    left = [  # views of a buffer, created before the guard, do not access it
        buffer
        for buffer in filled
        if not all(is_view(op) or op.name == "memref.dealloc" or is_within(op, inside) for op in all_users(buffer))
    ]
    shared = next((buffer for buffer in left if is_shared(buffer.type)), None)
    if shared is not None:
        why = "from global memory, and a block of a cluster without a tile reads nothing"
        raise refuse(
            "W0407",
            f"threads fill `{value_name(shared)}` {why}",
            moved[0],
            f"`map` the copy `to tma`; or {_WAY_OUT}",
        )
    if left:
        with ir.InsertionPoint(choice.regions[1].blocks.append()):
            for buffer in left:
                kind = ir.MemRefType(buffer.type).element_type
                zero = ir.FloatAttr.get(kind, 0.0) if isinstance(kind, ir.FloatType) else ir.IntegerAttr.get(kind, 0)
                fill_with(buffer, arith.ConstantOp(kind, zero).result)
            scf.YieldOp([])


def _is_global(op: ir.Operation) -> bool:
    """Whether an op, or an op nested in it, reads or writes an argument of the kernel."""
    for inner in operations(op):
        found = accesses(inner)
        if found is None or any(is_memref(one.value) and _is_argument(root_memref(one.value)) for one in found):
            return True
    return False


def _is_argument(buffer: ir.Value) -> bool:
    return isinstance(buffer.owner, ir.Block) and buffer.owner.owner.operation.name == "gpu.func"
