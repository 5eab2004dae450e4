"""What is known of an index without running anything: the smallest and the largest value it may take."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence

from ..ir.functions import sizes_of
from ..ir.mlir import ancestors, ir, producer
from .arithmetic import Bound, known

Range = tuple[int | None, int | None]
"""Least and greatest value; None where there is no bound."""

_ANY: Range = (None, None)


def largest(bound: Bound) -> int | None:
    """The largest value that the index may take; None where nothing is known."""
    return range_of(bound)[1]


def range_of(bound: Bound) -> Range:
    """Bounds of an index from the constants, minima and loops it is made of (intervals: sound, not tight)."""
    bound = known(bound)
    if isinstance(bound, int):
        return bound, bound
    op = producer(bound)
    if op is None:
        return _loop_variable(bound)
    if op.name in ("affine.apply", "affine.min", "affine.max"):
        return _affine(op)
    if op.name in _LAUNCHED:
        return 0, _last_id(op)
    if op.name == "memref.dim" or op.name in _IDS:
        return 0, None
    if op.name == "arith.select":
        return union(range_of(op.operands[1]), range_of(op.operands[2]))
    rule = _ARITHMETIC.get(op.name)
    return _ANY if rule is None else rule(range_of(op.operands[0]), range_of(op.operands[1]))


_IDS = ("gpu.grid_dim", "gpu.block_dim", "gpu.lane_id", "gpu.subgroup_id")
_LAUNCHED = {"gpu.thread_id": "known_block_size", "gpu.block_id": "known_grid_size"}


def _last_id(op: ir.Operation) -> int | None:
    """The largest id along an axis, by the size that the kernel is known to be launched with."""
    sizes = next((sizes_of(around, _LAUNCHED[op.name]) for around in ancestors(op) if around.name == "gpu.func"), None)
    axis = "xyz".index(str(op.attributes["dimension"]).strip(">").rsplit(" ", 1)[-1])
    return None if sizes is None else sizes[axis] - 1


def _affine(op: ir.Operation) -> Range:
    mapping = ir.AffineMapAttr(op.attributes["map"]).value
    operands = [range_of(o) for o in op.operands]
    found = [expression_range(e, operands, mapping.n_dims) for e in mapping.results]
    if op.name == "affine.min":
        return least(found)
    return greatest(found) if op.name == "affine.max" else found[0]


def expression_range(e: ir.AffineExpr, operands: Sequence[Range], dims: int) -> Range:
    """The range of an affine expression from those of its operands, symbols behind the `dims` dimensions."""
    if isinstance(e, ir.AffineConstantExpr):
        return e.value, e.value
    if isinstance(e, ir.AffineDimExpr):
        return operands[e.position]
    if isinstance(e, ir.AffineSymbolExpr):
        return operands[dims + e.position]
    binary = ir.AffineBinaryExpr(e)
    left, right = expression_range(binary.lhs, operands, dims), expression_range(binary.rhs, operands, dims)
    if isinstance(e, ir.AffineAddExpr):
        return _add(left, right)
    if isinstance(e, ir.AffineMulExpr):
        return multiply(left, right)
    divisor = right[0]
    if divisor is None or divisor != right[1] or divisor <= 0:
        return _ANY
    if isinstance(e, ir.AffineModExpr):
        inside = left[0] is not None and left[0] >= 0 and left[1] is not None and left[1] < divisor
        return left if inside else (0, divisor - math.gcd(divisor, _multiple_of(binary.lhs)))
    extra = divisor - 1 if isinstance(e, ir.AffineCeilDivExpr) else 0
    low, high = (None if end is None else (end + extra) // divisor for end in left)
    return low, high


def _multiple_of(e: ir.AffineExpr) -> int:
    """A number that divides the expression, whatever its operands are."""
    if isinstance(e, ir.AffineConstantExpr):
        return abs(e.value)
    if isinstance(e, ir.AffineAddExpr):
        return math.gcd(_multiple_of(e.lhs), _multiple_of(e.rhs))
    return _multiple_of(e.lhs) * _multiple_of(e.rhs) if isinstance(e, ir.AffineMulExpr) else 1


def _loop_variable(variable: ir.Value) -> Range:
    """The counter of a sequential loop stays between its bounds (its step is positive)."""
    if not isinstance(variable, ir.BlockArgument) or variable.arg_number != 0:
        return _ANY
    loop = variable.owner.owner.operation
    if loop.name != "scf.for":
        return _ANY
    low, high = range_of(loop.operands[0])[0], range_of(loop.operands[1])[1]
    return low, None if high is None else high - 1


def _add(a: Range, b: Range) -> Range:
    return _both(operator.add, a[0], b[0]), _both(operator.add, a[1], b[1])


def _subtract(a: Range, b: Range) -> Range:
    return _both(operator.sub, a[0], b[1]), _both(operator.sub, a[1], b[0])


def multiply(a: Range, b: Range) -> Range:
    """Of two ranges without an end on one side only what their signs say, unless one of them is a number."""
    corners = [x * y for x in a for y in b if x is not None and y is not None]
    if len(corners) == len(a) * len(b):
        return min(corners), max(corners)
    if a[0] is not None and a[0] == a[1]:
        a, b = b, a
    factor = b[0]
    if factor is not None and factor == b[1]:
        low, high = (None if end is None else end * factor for end in a)
        return (low, high) if factor > 0 else (high, low) if factor < 0 else (0, 0)
    signs = a[0] is not None and a[0] >= 0 and b[0] is not None and b[0] >= 0
    return (0, _both(operator.mul, a[1], b[1])) if signs else _ANY


def _both(combine: Callable[[int, int], int], a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else combine(a, b)


def union(a: Range, b: Range) -> Range:
    return _both(min, a[0], b[0]), _both(max, a[1], b[1])


def least(ranges: Sequence[Range]) -> Range:
    lows, highs = [r[0] for r in ranges], [r[1] for r in ranges if r[1] is not None]
    return None if None in lows else min(n for n in lows if n is not None), min(highs, default=None)


def greatest(ranges: Sequence[Range]) -> Range:
    lows, highs = [r[0] for r in ranges if r[0] is not None], [r[1] for r in ranges]
    return max(lows, default=None), None if None in highs else max(n for n in highs if n is not None)


_ARITHMETIC: dict[str, Callable[[Range, Range], Range]] = {
    "arith.addi": _add,
    "arith.subi": _subtract,
    "arith.muli": multiply,
    "arith.minsi": lambda a, b: least([a, b]),
    "arith.maxsi": lambda a, b: greatest([a, b]),
}
