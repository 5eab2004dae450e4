"""Preconditions of a launch: a mapped loop on memrefs in which exactly one map covers each effect."""

from __future__ import annotations

from collections.abc import Iterator

from ..hardware.lanes import BARRIERS
from ..hardware.queries import FREE
from ..ir.copying import fill_value
from ..ir.mlir import ancestors, children, ir, is_tensor, is_within, operations
from ..ir.refusing import describe, refuse
from ..ir.structured import ATOMIC, WRITEBACK, body_of, is_structured, segments, yielded
from ..memory.effects import accesses, is_memref, is_pure
from ..memory.views import is_own_array, root_memref
from .geometry import Geometry, count_warps
from .legality import check_map
from .mapping import (
    Mapped,
    enclosing_maps,
    is_mapped,
    is_shared_reduction,
    mapping_of,
    most_trips,
    nested_maps,
)


def check_launch(root: ir.Operation) -> None:
    """W0336, W0350, W0359: the launched op is a mapped, outermost, bufferized loop; its maps are
    still legal."""
    if not is_mapped(root):
        raise refuse(
            "W0350",
            "this loop has no map: no processors are assigned to its iterations",
            root,
            "`map LOOP to blocks(y, x)` before the launch",
        )
    for outer, around in enclosing_maps(root):
        raise refuse(
            "W0359",
            "this loop runs inside a mapped loop",
            root,
            "`launch` the outer loop",
            f"`{around}` on {describe(outer)}",
        )
    for op in operations(root):
        if any(map(is_tensor, (*op.operands, *op.results))):
            raise refuse("W0336", "a launch needs memrefs, and this op is still on tensors", op, "`bufferize` first")


def mapped_things(root: ir.Operation) -> list[Mapped]:
    """All maps of a launch in program order, each with the enclosing ones. Raises where one is no
    longer legal."""
    found: list[Mapped] = []
    for op in operations(root):
        mapping = mapping_of(op)
        if mapping is not None:
            check_map(op, mapping, inside=False)  # they are checked on their own
            found.append(count_warps(Mapped(op, mapping)))
    return found


def independent(root: ir.Operation) -> bool:
    """Whether a launch executes only iterations of one nest of mapped loops, so that no two threads
    execute the same iteration.

    The nest's loops are parallel: proven by `map`, or parallel in the payload without a known
    collision, or made by `tile` from an op's parallel dimensions. So accesses of two threads, which
    are in different iterations, do not conflict. That holds even if the analysis of the kernel must
    assume a conflict, because an index depends on data, or sizes known only at run time are
    multiplied.
    """
    op, ops = root, list(operations(root))
    if any(map(is_shared_reduction, ops)):
        return False
    inside = ops
    while is_mapped(op):
        if not any(map(is_mapped, inside[1:])):
            return not any(ATOMIC in inner.attributes for inner in ops)
        working = [inner for inner in children(op) if not (is_pure(inner) or inner.name in _NO_EFFECT)]
        if len(working) != 1:
            return False
        (op,) = working
        inside = list(operations(op))
    return False


_CONTROL = ("scf.for", "scf.if", "scf.while", "affine.for", "affine.if", "scf.execute_region")
_NO_EFFECT = ("scf.yield", "scf.condition", "scf.reduce", "scf.forall.in_parallel", "affine.yield", *BARRIERS)
_OWN_MEMORY = ("memref.alloc", "memref.alloca", "memref.dealloc")


def check_distributed(root: ir.Operation, geometry: Geometry) -> None:
    """W0351, W0345, W0349, W0360, W0362: every effect is covered by a map, and none is executed
    twice."""
    undistributed: list[ir.Operation] = []
    _check_blocks(root)
    for op in operations(root):
        mapping = mapping_of(op)
        if mapping is None or not mapping.every or mapping.dist is not None:
            continue
        total = next(iter(most_trips(Mapped(op, mapping))), 1)
        if total is None or total > geometry.threads or geometry.static_block().count(None):
            many = "a number of iterations known only at run time" if total is None else f"{total} iterations"
            raise refuse(
                "W0345",
                f"there are {many} and {geometry.threads} threads, and without a distribution each thread gets one"
                f" iteration",
                op,
                "state which iterations a thread executes: `block`, `cyclic` or `block-cyclic(n)`",
            )
    _collect_undistributed(root, undistributed)
    # a loop of scalar code over blocks alone: a block is one thread, which executes everything. Structured ops and
    # parallel loops are refused all the same: one thread for the whole of them is hardly intended
    scalar = not any(op.name.startswith(("linalg.", "scf.")) for op in undistributed)
    if not undistributed or (scalar and geometry.static_block() == (1, 1, 1)):
        return
    undistributed.sort(key=_is_made)  # the user's own code comes first
    first = undistributed[0]
    for op in filter(_is_copy, undistributed):
        if (reduction := _shared_reduction(op, root)) is not None:
            raise refuse(
                "W0351",
                f"`{mapping_of(reduction)}` share the running result of {describe(reduction)}, and"
                f" `promote-to-registers … across` "
                "keeps it in registers: every thread of the block would load it, and write it back",
                reduction,
                "leave `promote-to-registers` out, and the running result stays in memory; or leave out the loop, and"
                " `map` the whole op the same way: then each thread keeps its sum in registers to the end",
            )
    made = (
        f"name it after a `bufferize` (`let back = match {first.name}`), and map it; or fuse the fill into the loop"
        f" over blocks, "
        "promote the accumulator to registers, or take tiles that divide the result: then there is no such copy"
    )
    own = (
        "`tile` it and map the loop to threads, or map the op: `threads(*) cyclic`, "
        "or `registers`, if each thread holds its operands"
    )
    hints = {
        "scf.forall": "`map` this loop to `threads(x)`; or to `registers`, if each thread is to go through all of it",
        "scf.parallel": "`map` this loop to `threads(x)`",
        "fill": "map it, or `tile` it and map the loop"
        + (
            ""
            if any(_shared_in_loops(first, root))
            else "; or `promote-to-registers` the accumulator across the outermost loop of the reduction, which takes"
            " the fill along"
        ),
        "memref.store": "map it to `threads(*)`: a single thread does it; or map a loop around it to a grid, or to"
        " threads",
    }
    raise refuse(
        "W0351",
        f"{describe(first)} is distributed by no map: every thread of the block would do it",
        first,
        made if _is_made(first) else hints.get("fill" if fill_value(first) is not None else first.name, own),
        *(f"also: {describe(op)}" for op in undistributed[1:6]),
    )


def _is_made(op: ir.Operation) -> bool:
    """Whether bufferization created the op, so that no handle names it: a copy of a temporary with
    parts that have no owner."""
    return WRITEBACK in op.attributes


def _is_copy(op: ir.Operation) -> bool:
    """Whether a statement created the op, which copies a tile."""
    if not is_structured(op) or WRITEBACK in op.attributes or not all(map(is_memref, op.operands)):
        return False
    return yielded(op) == [body_of(op).arguments[0]]


def _shared_in_loops(op: ir.Operation, root: ir.Operation) -> Iterator[ir.Operation]:
    """The shared reductions in sequential loops beside the op."""
    for reduction in filter(is_shared_reduction, operations(root)):
        if any(loop.name == "scf.for" and not is_within(op, loop) for loop in ancestors(reduction)):
            yield reduction


def _shared_reduction(op: ir.Operation, root: ir.Operation) -> ir.Operation | None:
    """A shared reduction with its running result in a buffer of the op."""
    buffers = [root_memref(value) for value in op.operands if is_memref(value)]
    for reduction in _shared_in_loops(op, root):
        if any(root_memref(value) in buffers for value in list(reduction.operands)[segments(reduction)[0] :]):
            return reduction
    return None


def _check_blocks(root: ir.Operation) -> None:
    """Loops over blocks nest perfectly: code between them would be executed by several blocks."""
    for op, mapping in [*nested_maps(root)]:
        if mapping.space not in ("blocks", "grid"):
            continue
        parent = op.parent
        outer = parent.operation if parent is not None else root
        beside = [o for o in children(outer) if o != op and (mapping_of(o) is not None or not _harmless(o))]
        if mapping_of(outer) is None or beside:
            between = beside[0] if beside else outer
            raise refuse(
                "W0360",
                "two loops over blocks must nest perfectly",
                op,
                "`map` only one of them to `blocks`, or `tile` the op once",
                f"{describe(between)} is between them: several blocks would execute it",
            )


def _collect_undistributed(op: ir.Operation, found: list[ir.Operation]) -> None:
    mapping = mapping_of(op)
    inner = children(op)
    mine = mapping is not None and not mapping.distributes  # private to each thread: a loop like any other
    if mine:
        mapping = None
    leaf = mapping is not None and not any(nested_maps(op))
    if leaf and (op.name != "scf.forall" or (mapping is not None and mapping.space != "blocks")):
        for barrier in operations(op, "gpu.barrier"):
            raise refuse(
                "W0362",
                "a barrier in a loop over threads is not reached by all threads",
                barrier,
                "move the `gpu.barrier` between the loops over threads: `insert-barriers` finds the places",
            )
        return
    whole = not mine or is_structured(op)  # a loop over private memory writes only that memory: `replicate` checks it
    if mapping is None and whole and op.name not in _CONTROL:
        if not _harmless(op):
            found.append(op)
        return
    for child in inner:
        _collect_undistributed(child, found)


def _harmless(op: ir.Operation) -> bool:
    """Whether every thread may execute it: its effects are private to the thread."""
    if is_pure(op) or op.name in FREE or op.name in (*_NO_EFFECT, *_OWN_MEMORY, "llvm.intr.assume"):
        return True
    found = accesses(op)
    return bool(found) and all(access.kind == "read" or is_own_array(access.value) for access in found)
