"""The roles of a kernel's warp groups: one behind those that maps distribute over does what `pipeline … producer` put aside.

    init; barrier                                          init; barrier
    scf.if (thread 256) { copies } {weft.producer}    →    scf.if (thread < 256) { setmaxregister increase; products; write-back }
    products; write-back                                   else { setmaxregister decrease; scf.if (thread 256) { copies } }

The kernel has a warp group more then. What both need stands in front, and is computed by both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..buffers.tensor_copies import PRODUCER
from ..indices.arithmetic import Sum, is_zero, less
from ..ir.mlir import ahead_of, i64, ir, operations, ops_of, producer, scf
from ..ir.structured import body_of
from ..mapping.geometry import MAX_THREADS, Geometry
from ..mapping.processors import when
from ..memory.effects import is_pure
from ..memory.mbarriers import REGISTERS
from ..memory.warpgroups import GROUP
from ..session.rewriter import refuse

OF_BLOCK, MOST = 65536, 240
"""Registers of a block's threads together; the most that one can ask for."""


def begin_role(thread: Sum, threads: int, loop: ir.Operation) -> None:
    """What a loop of one iteration holds is done by the first thread behind so many, in the loop's place."""
    with ahead_of(loop), when(is_zero(thread + Sum(-threads))):
        block = ir.InsertionPoint.current.block
        for op in ops_of(body_of(loop))[:-1]:
            op.detach_from_parent()
            ir.InsertionPoint.current.insert(op)
        block.owner.operation.attributes[PRODUCER] = loop.attributes[PRODUCER] if PRODUCER in loop.attributes else i64(0)


def split_roles(entry: ir.Block, start: ir.Operation | None, thread: Callable[[], Sum], geometry: Geometry) -> Geometry:
    """Split the kernel, and give it the producer's threads. Raises W0406.

    Args:
        start: the op behind which roles begin.
        thread: emits the thread's number in its block.
    """
    roles = [op for op in operations(entry.owner.operation, "scf.if") if PRODUCER in op.attributes]
    if not roles or start is None:
        return geometry
    role = roles[0]
    _check(entry, roles, geometry)
    registers = ir.IntegerAttr(role.attributes[PRODUCER]).value
    del role.attributes[PRODUCER]
    ops = ops_of(role.block)
    first = ops.index(start) + 1 if start in ops else 0
    needed = _needed(role)
    for op in needed.intersection(ops[first:]):
        if not (is_pure(op) or op.name == "memref.alloc"):
            raise refuse("W0406", "what the producer copies depends on what the others do", op, "`pipeline … async` instead")
    consumers = [op for op in ops[first:-1] if op != role and op not in needed]
    with ir.InsertionPoint(ops[-1]), role.location:
        split = scf.IfOp(less(thread(), geometry.threads), has_else=True)
        groups = geometry.threads // GROUP
        given = min(MOST, (OF_BLOCK // GROUP - registers) // groups // 8 * 8)
        for block, moved, action, count in (
            (split.then_block, consumers, "increase", given), (split.else_block, [role], "decrease", registers)
        ):  # fmt: skip
            with ir.InsertionPoint(block):
                if registers:
                    _set_registers(action, count)
                end = scf.YieldOp([]).operation
            for op in moved:
                op.move_before(end)
    return replace(geometry, block={**geometry.block, "x": geometry.block["x"] + GROUP})


def _check(entry: ir.Block, roles: list[ir.Operation], geometry: Geometry) -> None:
    role = roles[0]
    if len(roles) > 1:
        way_out = "give one of them a producer, and `pipeline` the other `async`"
        raise refuse("W0406", "two loops have a producer each", roles[1], way_out)
    inner = role
    while inner.block != entry:  # blocks without a tile do nothing
        inner = inner.parent.operation
        if inner.name != "scf.if":
            raise refuse(
                "W0406", "a block has several tiles, and its producer starts with the first one's alone", inner,
                "as many blocks as tiles: `map tiles to blocks(y, x)`",
            )  # fmt: skip
    x, *others = (geometry.static_block()[n] for n in range(3))
    if x is None or x % GROUP or others != [1, 1]:
        said = "the consumers of a producer's tiles are whole warp groups, along x"
        raise refuse("W0406", said, role, "map all loops to `warpgroups`")
    if x + GROUP > MAX_THREADS:
        said = f"with a producer the block has {x + GROUP} threads, and a block has at most {MAX_THREADS}"
        raise refuse("W0346", said, role, "let fewer warp groups compute")


def _needed(role: ir.Operation) -> set[ir.Operation]:
    """The ops in front of a role that make what it takes."""
    found: set[ir.Operation] = set()
    waiting = [value for op in operations(role) for value in op.operands]
    while waiting:
        made = producer(waiting.pop())
        if made is not None and made.block == role.block and made not in found and made != role:
            found.add(made)
            waiting += made.operands
    return found


def _set_registers(action: str, count: int) -> None:
    """`nvvm.setmaxregister`, at the insertion point."""
    said = ir.Attribute.parse(f"#nvvm<action {action}>")
    kind = ir.IntegerType.get_signless(32)
    ir.Operation.create(REGISTERS, attributes={"action": said, "regCount": ir.IntegerAttr.get(kind, count)})
