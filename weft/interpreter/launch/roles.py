"""The roles of a kernel's warp groups. Maps distribute iterations over the consumers; one more warp
group after these, the producer, executes the copies that `pipeline … producer` moved to it.

    init; barrier                                          init; barrier
    scf.if (thread 256) { copies } {weft.producer}    →    scf.if (thread < 256) { setmaxregister increase; products; write-back }
    products; write-back                                   else { setmaxregister decrease; scf.if (thread 256) { copies } }

Ops that both roles need come before the branch, and both roles execute them.
"""

from __future__ import annotations

from dataclasses import replace

from ..buffers.tensor_copies import PRODUCER
from ..hardware import limits
from ..hardware.hopper.mbarriers import MEET_CLUSTER, REGISTERS
from ..hardware.hopper.warpgroups import GROUP
from ..indices.arithmetic import is_zero, less
from ..indices.linear import Linear
from ..ir.functions import register_cap
from ..ir.mlir import ahead_of, ancestors, i64, ir, is_used, is_within, operations, ops_of, producer, scf
from ..ir.refusing import refuse
from ..ir.structured import body_of
from ..mapping.geometry import Geometry
from ..mapping.processors import Hardware, when
from ..memory.effects import is_pure
from ..outlining.kernel import Outlined
from .barriers import meet_apart
from .shape import state_sizes

MOST = 240
"""The most registers that a thread can request."""


def begin_role(thread: Linear, threads: int, loop: ir.Operation) -> None:
    """Replaces a loop of one iteration by a branch: only thread number `threads`, the first after
    the consumers' threads, executes the body."""
    with ahead_of(loop), when(is_zero(thread + -threads)):
        block = ir.InsertionPoint.current.block
        for op in ops_of(body_of(loop))[:-1]:
            op.detach_from_parent()
            ir.InsertionPoint.current.insert(op)
        block.owner.operation.attributes[PRODUCER] = (
            loop.attributes[PRODUCER] if PRODUCER in loop.attributes else i64(0)
        )


def split_roles(kernel: Outlined, start: ir.Operation | None, hardware: Hardware) -> Geometry:
    """Splits the kernel into roles. Returns its shape with the producer's threads. `start`: the op
    after which the roles begin. Raises W0406."""
    function, entry, geometry = kernel.function, kernel.entry, hardware.geometry
    roles = [op for op in operations(function, "scf.if") if PRODUCER in op.attributes]
    if not roles or start is None:
        return geometry
    role = roles[0]
    _check(roles, geometry)
    registers, location = ir.IntegerAttr(role.attributes[PRODUCER]).value, role.location
    del role.attributes[PRODUCER]
    for alloc in operations(function, "memref.alloc"):  # the block's, whichever role uses it
        alloc.move_before(start)
    mine = _alone(role, entry)
    ops = ops_of(entry)
    needed = _needed(mine)
    for op in needed.intersection(ops[ops.index(start) :]):
        if not is_pure(op):
            raise refuse(
                "W0406", "the producer's copies depend on results of the consumers", op, "`pipeline … async` instead"
            )
    later = ops[ops.index(start) + 1 :]
    end = next((op for op in later if op.name == MEET_CLUSTER), ops[-1])
    consumers = [op for op in later[: later.index(end)] if op != mine and op not in needed]
    with ir.InsertionPoint(end), location:
        split = scf.IfOp(less(hardware.linear_thread().index, geometry.threads), has_else=True)
        groups = geometry.threads // GROUP
        all_of_them = limits.registers_at_start(geometry.threads + GROUP, MOST, register_cap(function)) * (groups + 1)
        given = min(MOST, (all_of_them - registers) // groups // limits.REGISTERS_STEP * limits.REGISTERS_STEP)
        mine_and_theirs = (
            (split.then_block, consumers, "increase", given),
            (split.else_block, [mine], "decrease", registers),
        )
        for block, moved, action, count in mine_and_theirs:
            with ir.InsertionPoint(block):
                if registers:
                    number = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), count)
                    how = ir.Attribute.parse(f"#nvvm<action {action}>")
                    ir.Operation.create(REGISTERS, attributes={"action": how, "regCount": number})
                end = scf.YieldOp([]).operation
            for op in moved:
                op.move_before(end)
    meet_apart(split, geometry.threads)
    geometry = replace(geometry, block={**geometry.block, "x": geometry.block["x"] + GROUP})
    state_sizes(function, geometry)
    return geometry


def _alone(role: ir.Operation, entry: ir.Block) -> ir.Operation:
    """The producer's part as a single op at the kernel's top level. Loops over tiles around it are
    cloned: the clone holds only the producer's part, and the original loops keep all other ops."""
    if role.block == entry:
        return role
    outer = next(op for op in ancestors(role) if op.block == entry)
    number = list(operations(outer)).index(role)
    copy = outer.clone(ir.InsertionPoint(outer)).operation
    mine = list(operations(copy))[number]
    keep = {mine, *ancestors(mine)}
    for around in [op for op in ancestors(mine) if is_within(op, copy)]:
        for op in reversed(ops_of(body_of(around))[:-1]):
            if op not in keep and not is_used(*op.results):
                op.erase()
    role.erase()
    return copy


def _check(roles: list[ir.Operation], geometry: Geometry) -> None:
    role = roles[0]
    if len(roles) > 1:
        way_out = "give one of them a producer, and `pipeline` the other `async`"
        raise refuse("W0406", "two loops have a producer each", roles[1], way_out)
    x, *others = (geometry.static_block()[n] for n in range(3))
    if x is None or x % GROUP or others != [1, 1]:
        why = "the consumers of a producer's tiles are whole warp groups, along x"
        raise refuse("W0406", why, role, "map all loops to `warpgroups`")
    if x + GROUP > limits.THREADS:
        why = f"with a producer the block has {x + GROUP} threads, and a block has at most {limits.THREADS}"
        raise refuse("W0346", why, role, "`map` to fewer `warpgroups`")


def _needed(role: ir.Operation) -> set[ir.Operation]:
    """The ops before a role that compute its operands."""
    found: set[ir.Operation] = set()
    waiting = [value for op in operations(role) for value in op.operands]
    while waiting:
        made = producer(waiting.pop())
        if made is not None and made.block == role.block and made not in found and made != role:
            found.add(made)
            waiting += [value for op in operations(made) for value in op.operands]
    return found
