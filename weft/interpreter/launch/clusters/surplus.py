"""Blocks that have no tile, in clusters that are not full: what they would read and write of global memory, they leave out.

    products; stores to %C[…]     →     products; scf.if (the block has a tile) { stores to %C[…] }

What is read into memory of their own, and used behind, is zero there. They load, wait, multiply and arrive like all others of their
cluster, which count on it: what a box brings from outside of a tensor are zeros.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...buffers.views import all_users
from ...hardware.queries import ORDERED
from ...ir.copying import fill_with
from ...ir.mlir import arith, ir, is_within, maker, operations, ops_of, producer, scf, users
from ...ir.refusing import describe, refuse
from ...memory.effects import accesses, is_memref, is_pure
from ...memory.layouts import is_shared, value_name
from ...memory.views import behind, is_view

_MADE = ("memref.alloc", "memref.alloca")
_WAY_OUT = "take tiles of which there are whole clusters, or leave `cluster` out"


def leave_out(there: ir.Value) -> None:
    """Guard what stands behind a condition, which a block's tile begins with. Raises W0407."""
    made = maker(there)
    ops = ops_of(made.block)
    _guard(ops[ops.index(made) + 1 : -1], there)


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
    left = [buffer for buffer in _filled(inside) if not all(_is_within(user, inside) for user in all_users(buffer))]
    shared = next((buffer for buffer in left if is_shared(buffer.type)), None)
    if shared is not None:
        why = "from global memory, and a block of a cluster without a tile has nothing to read"
        raise refuse("W0407", f"threads fill `{value_name(shared)}` {why}", moved[0], f"let `map … to tma` bring it; or {_WAY_OUT}")
    if left:
        with ir.InsertionPoint(choice.regions[1].blocks.append()):
            for buffer in left:
                fill_with(buffer, _zero(ir.MemRefType(buffer.type).element_type))
            scf.YieldOp([])


def _filled(op: ir.Operation) -> list[ir.Value]:
    """What ops in this one write that is no argument of the kernel."""
    found = [one.value for inner in operations(op) for one in accesses(inner) or () if one.changes and is_memref(one.value)]
    return list(dict.fromkeys(base for value in found if not _is_argument(base := behind(value))))


def _is_within(user: ir.Operation, op: ir.Operation) -> bool:
    """Whether an op uses a buffer in another one; views of it, in front, use nothing of it."""
    return is_view(user) or user.name == "memref.dealloc" or is_within(user, op)


def _zero(kind: ir.Type) -> ir.Value:
    number = ir.FloatAttr.get(kind, 0.0) if isinstance(kind, ir.FloatType) else ir.IntegerAttr.get(kind, 0)
    return arith.ConstantOp(kind, number).result


def _is_global(op: ir.Operation) -> bool:
    """Whether an op, or one in it, reads or writes an argument of the kernel."""
    for inner in operations(op):
        found = accesses(inner)
        if found is None or any(is_memref(one.value) and _is_argument(behind(one.value)) for one in found):
            return True
    return False


def _is_argument(buffer: ir.Value) -> bool:
    return isinstance(buffer.owner, ir.Block) and buffer.owner.owner.operation.name == "gpu.func"
