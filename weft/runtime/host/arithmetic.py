"""Host rules for integers, loops, branches and calls: constants are folded, other values become
expressions."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import partial, reduce

from ...interpreter.ir.affine_maps import results_of
from ...interpreter.ir.mlir import ir, made_by
from ..form.kernel_form import named, refuse
from ..plan.plan import DimOf, Operator
from ..plan.resolve import fold
from .functions import callee_of, has_body
from .program import Claim, Host, HostValue, rule

_SIGNED_OR_NOT: tuple[Operator, ...] = ("div", "ceildiv", "rem", "min", "max")
ARITHMETIC: dict[str, Operator] = {f"arith.{name}{sign}i": name for name in _SIGNED_OR_NOT for sign in "su"}
ARITHMETIC |= {"arith.addi": "add", "arith.subi": "sub", "arith.muli": "mul", "arith.floordivsi": "floordiv"}

NUMBERS = frozenset(ARITHMETIC) | named(arith="constant index_cast index_castui extsi extui", affine="apply min max")
"""Ops from integers to integers."""


@rule(*ARITHMETIC)
def _arithmetic(host: Host, op: ir.Operation) -> Sequence[HostValue]:
    return [fold(ARITHMETIC[op.name], host.size(op.operands[0], op), host.size(op.operands[1], op))]


@rule("arith.constant")
def _constant(host: Host, op: ir.Operation) -> Sequence[HostValue]:
    value = op.attributes["value"]
    if isinstance(value, ir.IntegerAttr | ir.BoolAttr):
        return [int(value.value)]
    if isinstance(value, ir.FloatAttr):
        return [float(value.value)]
    raise refuse("W0731", f"the host supports no constant of type {op.results[0].type}", op)


@rule("arith.index_cast", "arith.index_castui", "arith.extsi", "arith.extui")
def _same_number(host: Host, op: ir.Operation) -> Sequence[HostValue]:
    return [host.size(op.operands[0], op)]


@rule("arith.trunci")
def _truncate(host: Host, op: ir.Operation) -> Sequence[HostValue]:
    value = host.number(op.operands[0], op, "the operand")
    width = ir.IntegerType(op.results[0].type).width
    return [(value + (1 << (width - 1))) % (1 << width) - (1 << (width - 1))]


PREDICATES = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)


@rule("arith.cmpi")
def _compare(host: Host, op: ir.Operation) -> Sequence[HostValue]:
    predicate = ir.IntegerAttr(op.attributes["predicate"]).value
    size = made_by(op.operands[0], "memref.dim")
    claimed = host.value(op.operands[0], op)
    if not predicate and size is not None and isinstance(claimed, DimOf) and claimed.buffer in host.shapeless:
        return [Claim(size.operands[0], claimed, host.size(op.operands[1], op))]
    left, right = (host.number(v, op, "an operand") for v in op.operands)
    if predicate >= len(PREDICATES):  # unsigned predicates follow the signed ones, from slt on
        left, right, predicate = left % 2**64, right % 2**64, predicate - 4
    return [int(PREDICATES[predicate](left, right))]


@rule("cf.assert")
def _assert(host: Host, op: ir.Operation) -> Sequence[HostValue]:
    """Takes an assertion about a result's size as true, since the caller allocates the result so.
    Raises W0731 for another assertion that does not hold."""
    claim = host.value(op.operands[0], op)
    if isinstance(claim, Claim):
        host.give_size(claim)
    elif not host.number(op.operands[0], op, "the condition"):
        raise refuse("W0731", "an assertion of the host program does not hold", op)
    return []


@rule("arith.select")
def _select(host: Host, op: ir.Operation) -> Sequence[HostValue]:
    condition = host.number(op.operands[0], op, "the condition")
    return [host.value(op.operands[1 if condition else 2], op)]


@rule("affine.apply", "affine.min", "affine.max")
def _affine(host: Host, op: ir.Operation) -> Sequence[HostValue]:
    affine_map = ir.AffineMapAttr(op.attributes["map"]).value
    results = results_of(affine_map, [host.size(v, op) for v in op.operands], int, fold)
    return [reduce(partial(fold, "min" if op.name == "affine.min" else "max"), results)]


# ---- control ---------------------------------------------------------------------------------------------------------


@rule("scf.for")
def _for(host: Host, op: ir.Operation) -> Sequence[HostValue]:
    low, high, step = (host.number(op.operands[i], op, what) for i, what in enumerate(("bound", "bound", "step")))
    if step <= 0:
        raise refuse("W0731", f"the step {step} of scf.for is not positive", op)
    carried = [host.value(v, op) for v in op.operands[3:]]
    body = op.regions[0].blocks[0]
    for i in range(low, high, step):
        host.values.update(zip(body.arguments, [i, *carried], strict=True))
        carried = host.run_block(body)
    return carried


@rule("scf.if")
def _if(host: Host, op: ir.Operation) -> Sequence[HostValue]:
    taken = op.regions[0 if host.number(op.operands[0], op, "the condition") else 1]
    return host.run_block(taken.blocks[0]) if len(taken.blocks) else []


@rule("func.call")
def _call(host: Host, op: ir.Operation) -> Sequence[HostValue]:
    callee, _ = callee_of(op)
    if callee is None or not has_body(callee):
        hint = "give the `func.func` a body: what it does cannot be seen"
        raise refuse("W0731", f"{op.name} calls a function that has no body", op, hint)
    return host.run_function(callee, [host.value(v, op) for v in op.operands], op)
