"""Completes stores by the tensor memory accelerator. The threads that write a tile in shared memory
fence their writes. One thread issues the copy and commits it as a group. It waits until the copy
has read the tile, before the buffer is written again, and before the block ends.

    for tile {                                              for tile {
      for part { fill C_shared; copy C_shared → C {tma} }     for part {
    }                                                   →       one thread: wait until its stores have read
                                                                fill C_shared;  fence of each thread's writes
                                                                one thread: copy C_shared → C
                                                                    {weft.tma};  commit the group }
                                                                    }
                                                            one thread: wait until its stores have
                                                                read

So the last part of a tile is read while the next tile is computed. If parts rotate through several
buffers (`pipeline`), the wait in a part comes after its fence, and is for the buffer of the next
part: the barrier that publishes a part also releases that buffer. Before the first part no store is
pending. In a loop over warp groups, one thread of each group waits. `insert-barriers` adds the
barriers: after each wait, and after the fence. `boxes.py` lowers the marked copies.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from ...buffers.tensor_copies import BY_TENSOR_MAP, is_tensor_copy
from ...hardware.hopper.mbarriers import FENCE_PROXY
from ...hardware.hopper.tensor_maps import COMMIT, DRAIN
from ...hardware.lanes import BARRIERS
from ...ir.mlir import ahead_of, ancestors, child_of, ir, is_within, operations, ops_of
from ...ir.refusing import refuse
from ...ir.structured import is_structured
from ...loops.forall import end_of, make_forall
from ...mapping.mapping import ATTRIBUTE, Mapped, Mapping, loop_dimensions, mapping_of, trip_counts
from ...memory.effects import written
from ...memory.layouts import is_shared
from ...memory.views import root_memref

BUFFERS = "weft.buffers"
"""On a loop over parts that are stored: the number of shared buffers that its iterations rotate
through."""
_LOOPS = ("scf.for", "scf.forall")


def is_tensor_store(op: ir.Operation) -> bool:
    """Whether an op copies a tile out of shared memory, and is mapped to the tensor memory
    accelerator, or marked for it."""
    ours = is_tensor_copy(op) or BY_TENSOR_MAP in op.attributes
    return ours and is_structured(op) and len(op.operands) == 2 and is_shared(op.operands[0].type)


def complete_stores(root: ir.Operation) -> list[ir.Operation]:
    """Completes the stores in a launched loop. Returns the last waits: mapped loops that follow the
    launched loop. Raises W0405."""
    last: dict[ir.Attribute, ir.Operation] = {}
    for store in [op for op in operations(root) if is_tensor_store(op) and is_tensor_copy(op)]:
        with store.location:
            thread = _complete(store)
            with ir.InsertionPoint.after(root):
                waiting = _wait(thread)
            if last.setdefault(waiting.attributes[ATTRIBUTE], waiting) != waiting:
                waiting.erase()
    return list(last.values())


def _complete(store: ir.Operation) -> Callable[[], ir.Operation]:
    """Emits all waits except the last one. Returns a function that makes a loop over the threads
    that must wait."""
    unit, thread = _started_by(store)
    around = unit.parent.operation
    first, last = _fills(store, unit)
    with ir.InsertionPoint.after(last):
        kinds = {"kind": "#nvvm.proxy_kind<async.shared>", "space": "#nvvm.shared_space<cta>"}
        fence = ir.Operation.create(
            FENCE_PROXY, attributes={name: ir.Attribute.parse(kind) for name, kind in kinds.items()}
        )
    if unit == store:
        with ahead_of(store):
            unit = thread()
        store.move_before(end_of(unit))
    del store.attributes[ATTRIBUTE]
    store.attributes[BY_TENSOR_MAP] = ir.UnitAttr.get()
    with ir.InsertionPoint.after(store):
        ir.Operation.create(COMMIT)
    if BUFFERS in around.attributes:
        buffers, parts = (
            ir.IntegerAttr(around.attributes[BUFFERS]).value,
            [d.static_trips for d in loop_dimensions(around)],
        )
        if None in parts or prod(n or 1 for n in parts) > buffers:
            with ir.InsertionPoint.after(fence):
                _wait(thread, buffers - 2)
        if any(map(_repeats, ancestors(around))):
            with _ahead(around):
                _wait(thread)
    elif _repeats(around):
        with _ahead(first):
            _wait(thread)
    return thread


def _repeats(op: ir.Operation) -> bool:
    """Whether a block executes the loop's body more than once."""
    mapping = mapping_of(op)
    return op.name in _LOOPS and not (mapping is not None and mapping.space == "blocks" and mapping.dist is None)


def _ahead(op: ir.Operation) -> ir.InsertionPoint:
    """The insertion point before an op and the barriers directly before it."""
    before = ops_of(op.block)
    at = before.index(op)
    while at and before[at - 1].name in BARRIERS:
        at -= 1
    return ir.InsertionPoint(before[at])


def _wait(thread: Callable[[], ir.Operation], pending: int = 0) -> ir.Operation:
    """Emits, at the insertion point, a wait of the threads that start stores, until at most
    `pending` of their groups have yet to be read."""
    number = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), pending)
    loop = thread()
    with ir.InsertionPoint(end_of(loop)):
        ir.Operation.create(DRAIN, attributes={"group": number, "read": ir.UnitAttr.get()})
    return loop


def _started_by(store: ir.Operation) -> tuple[ir.Operation, Callable[[], ir.Operation]]:
    """The store, or the loop over warp groups around it; and a function that makes a loop over the
    threads that start the store. Raises W0405."""
    loop = store.parent.operation
    mapping = mapping_of(loop)
    if mapping is not None and mapping.space == "warpgroups":
        groups = trip_counts(Mapped(loop, mapping))
        if None in groups or len(groups) != 1:
            raise refuse(
                "W0405",
                "how many warp groups store the tile is not known",
                store,
                "`tile` the copy once, by a number of rows, such as `[64, _]`",
            )
        count = prod(n or 1 for n in groups)
        return loop, lambda: _mapped(count, Mapping("warpgroups", ("x",), (count,)))
    if mapping is not None and mapping.space not in ("blocks", "registers"):
        raise refuse(
            "W0405",
            f"a store in a loop over `{mapping}`: a thread of the block starts it, or one of each warp group",
            store,
            "put only loops over `registers`, sequential loops and a loop over `warpgroups` around it",
        )
    return store, lambda: _mapped(1, Mapping("threads", every=True))


def _mapped(count: int, mapping: Mapping) -> ir.Operation:
    loop = make_forall([0], [count], [1])
    loop.attributes[ATTRIBUTE] = mapping.attribute()
    return loop


def _fills(store: ir.Operation, unit: ir.Operation) -> tuple[ir.Operation, ir.Operation]:
    """The first and the last op in the store's block that write its tile. Raises W0405."""
    base = root_memref(store.operands[0])
    around = unit.parent.operation
    here = ops_of(unit.block)
    writers = [op for op in operations(list(ancestors(store))[-1]) if base in map(root_memref, written(op))]
    beside = [child_of(around, op) for op in writers if is_within(op, around)]
    before = [op for op in here[: here.index(unit)] if op in beside]
    if len(beside) < len(writers) or not before or any(op is not None and op not in before for op in beside):
        raise refuse(
            "W0405",
            "the tile that a store takes out of shared memory is filled elsewhere",
            store,
            "put the op that fills the tile staged by `promote-to-shared` before the copy that reads it, in one loop",
        )
    return before[0], before[-1]
