"""`0 <= x` and `x < n` as one comparison of unsigned numbers: a negative one is larger than every size.

    x >= 0 && x < n   →   (unsigned)x < n

The machine compares once instead of twice, and what is left of a gather's guard is short enough for the compiler to make it a
predicate: of two comparisons for each of two dimensions it makes branches. (Caffe's im2col does it, `is_a_ge_zero_and_a_lt_b`.)
"""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.mlir import arith, ir, operations, producer
from .arithmetic import conjunction, constant_of


def join_bounds(function: ir.Operation) -> None:
    """Join such pairs wherever both must hold; run `cse` afterwards."""
    for op in operations(function, "arith.andi"):
        if any(use.owner.operation.name == "arith.andi" for use in op.results[0].uses):
            continue  # part of a larger condition
        parts = _parts(op.results[0])
        joined = _joined(parts)
        if len(joined) < len(parts):
            with ir.InsertionPoint(op), op.location:
                op.results[0].replace_all_uses_with(conjunction(joined))
            _drop(op)


def _parts(condition: ir.Value) -> list[ir.Value]:
    """The conditions that must all hold, from left to right, each once."""
    op = producer(condition)
    if op is None or op.name != "arith.andi":
        return [condition]
    return list(dict.fromkeys(part for operand in op.operands for part in _parts(operand)))


def _drop(op: ir.Operation) -> None:
    """Erase a condition that nobody asks for any more, and then its parts."""
    if op.name in ("arith.andi", "arith.cmpi") and not any(True for _ in op.results[0].uses):
        parts = [inner for operand in dict.fromkeys(op.operands) if (inner := producer(operand)) is not None]
        op.erase()
        for inner in parts:
            _drop(inner)


def _joined(parts: Sequence[ir.Value]) -> list[ir.Value]:
    lower = {op.operands[0]: part for part in parts if (op := _bound(part, arith.CmpIPredicate.sge)) is not None}
    upper = {op.operands[0]: part for part in parts if (op := _bound(part, arith.CmpIPredicate.slt)) is not None}
    pairs = {lower[x]: x for x in lower if x in upper}
    spent = {upper[x] for x in pairs.values()}
    return [_unsigned(upper[pairs[p]]) if p in pairs else p for p in parts if p not in spent]


def _bound(condition: ir.Value, predicate: arith.CmpIPredicate) -> ir.Operation | None:
    """The comparison that a condition is: `x >= 0`, or `x < n` with a number n that is not negative."""
    op = producer(condition)
    if op is None or op.name != "arith.cmpi" or ir.IntegerAttr(op.attributes["predicate"]).value != predicate:
        return None
    if not isinstance(op.operands[0].type, ir.IndexType):
        return None
    number = constant_of(op.operands[1])
    fits = number is not None and (number == 0 if predicate == arith.CmpIPredicate.sge else number >= 0)
    return op if fits else None


def _unsigned(below: ir.Value) -> ir.Value:
    """`x < n`, unsigned, where the signed comparison stands."""
    op = producer(below)
    assert op is not None
    with ir.InsertionPoint(op), op.location:
        return arith.CmpIOp(arith.CmpIPredicate.ult, *op.operands).result
