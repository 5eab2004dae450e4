"""Digits of an index that a loop advances by a constant, carried from step to step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd, prod

from ...mlir import affine, arith, ir, operations, scf
from ..ranges import range_of
from .linear import DELINEARIZE, NAMES, Sum, basis_of, emitted, sum_of
from .unrolling import enclosing_loop, trips_of

COUNTERS = "weft.counters"
"""On a loop: of each of its iteration arguments, the name, what it stays below (never negative), what it is a multiple of."""


@dataclass(frozen=True)
class _Advance:
    """An index taken apart in a loop: at the start it is `start + low`, every step adds `step`.

    Args:
        basis: the sizes of all digits but the first.
        low: what is added to the last digit alone, whatever the step: it stays below what all else is a multiple of. None:
            nothing.
        names: what the digits are called.
        largest: the largest value that is taken apart, where it is known.
    """

    op: ir.Operation
    loop: ir.Operation
    basis: tuple[int, ...]
    start: Sum
    low: Sum | None
    step: int
    names: tuple[str, ...]
    largest: int | None

    @property
    def multiples(self) -> list[int]:
        """What each digit is a multiple of: only the last one, which nothing is carried into, of more than 1."""
        factors = [factor for _, factor in self.start.terms]
        return [*(1 for _ in self.basis), gcd(self.start.constant, *factors, self.step, self.basis[-1])]

    @property
    def below(self) -> list[int | None]:
        """What each digit stays below; None where nothing is known."""
        outer = None if self.largest is None else self.largest // prod(self.basis) + 1
        return [outer, *self.basis]

    def counts_like(self, other: _Advance) -> bool:
        """Whether one set of counters serves both."""
        return (self.basis, self.start, self.step) == (other.basis, other.start, other.step)


def carry_digits(function: ir.Operation) -> None:
    """Replace each `affine.delinearize_index` of an index that the loop around it advances by digits that the loop carries.

    Loop-invariant ones are left to hoisting; what depends on a loop in between, or on something computed in it, stays divided.
    """
    while found := _all_of_a_loop(function):
        loop = found[0].loop
        kinds: list[_Advance] = []
        for one in found:
            if not any(one.counts_like(other) for other in kinds):
                kinds.append(one)
        with ir.InsertionPoint(loop), loop.location:
            firsts = [_apart(one) for one in kinds]
        counters = _carried(loop, kinds, firsts)
        for one in found:
            _use(one, next(c for kind, c in zip(kinds, counters, strict=True) if one.counts_like(kind)))
            one.op.erase()


def _all_of_a_loop(function: ir.Operation) -> list[_Advance]:
    """The indices that one loop advances, of the first loop that advances any."""
    found: list[_Advance] = []
    for op in operations(function, DELINEARIZE):
        with ir.InsertionPoint(op), op.location:
            one = _advance(op)
        if one is not None and (not found or one.loop == found[0].loop):
            found.append(one)
    return found


# ---- what is advanced ------------------------------------------------------------------------------------------------------


def _advance(op: ir.Operation) -> _Advance | None:
    basis, whole = basis_of(op), sum_of(op.operands[0])
    loop = enclosing_loop(op)
    while loop is not None and not whole.factor(loop.regions[0].blocks[0].arguments[0]):
        loop = enclosing_loop(loop)
    trips = None if loop is None else trips_of(loop)
    if not basis or loop is None or trips is None or len(trips) < 2:
        return None
    counter = loop.regions[0].blocks[0].arguments[0]
    rest, factor = whole.without(counter), whole.factor(counter)
    if factor < 1 or any(not _is_outside(value, loop) for value, _ in rest.terms):
        return None
    step = factor * trips.step
    start = Sum(rest.terms, rest.constant + factor * trips.start)
    names = _names(op, len(basis) + 1)
    low, carried = _below(start, gcd(step, basis[-1]))
    bounds = _bounds(carried)
    if bounds is None or bounds[0] < 0:
        return _Advance(op, loop, basis, carried, low, step, names, None)
    return _Advance(op, loop, basis, carried, low, step, names, bounds[1] + step * len(trips))


def _names(op: ir.Operation, count: int) -> tuple[str, ...]:
    if NAMES not in op.attributes:
        return ("digit",) * count
    return tuple(ir.StringAttr(a).value for a in ir.ArrayAttr(op.attributes[NAMES]))


def _is_outside(value: ir.Value, loop: ir.Operation) -> bool:
    block = value.owner if isinstance(value.owner, ir.Block) else value.owner.operation.block
    holder: ir.Operation | None = block.owner.operation
    while holder is not None:
        if holder == loop:
            return False
        holder = None if holder.parent is None else holder.parent.operation
    return True


def _below(start: Sum, limit: int) -> tuple[Sum | None, Sum]:
    """The part of the start that surely stays in 0 … limit-1, if there is one, and the rest: then a multiple of `limit`."""
    whole = tuple((value, factor) for value, factor in start.terms if factor % limit == 0)
    low = Sum(tuple(term for term in start.terms if term not in whole), start.constant % limit)
    bounds = _bounds(low)
    if bounds is None or bounds[0] < 0 or bounds[1] >= limit:
        return None, start
    return low, Sum(whole, start.constant - low.constant)


def _bounds(total: Sum) -> tuple[int, int] | None:
    smallest = largest = total.constant
    for value, factor in total.terms:
        low, high = range_of(value)
        if low is None or high is None:
            return None
        ends = [factor * low, factor * high]
        smallest, largest = smallest + min(ends), largest + max(ends)
    return smallest, largest


# ---- carrying --------------------------------------------------------------------------------------------------------------


def _carried(
    loop: ir.Operation, kinds: Sequence[_Advance], firsts: Sequence[Sequence[ir.Value]]
) -> list[list[ir.Value]]:
    """The digits of each kind as the loop's body sees them; the loop is made anew to carry those that change."""
    steps = [_digits_of(one.step, one.basis) for one in kinds]
    # a digit changes by its own step, or by a carry from further right
    moving = [[i for i in range(len(step)) if any(step[i:])] for step in steps]
    starts = [first[i] for first, places in zip(firsts, moving, strict=True) for i in places]
    new, arguments = _with_counters(loop, starts)
    facts = [(o.names[i], o.below[i], o.multiples[i]) for o, places in zip(kinds, moving, strict=True) for i in places]
    _note(new, facts)
    found: list[list[ir.Value]] = []
    for first, places in zip(firsts, moving, strict=True):
        mine, arguments = arguments[: len(places)], arguments[len(places) :]
        found.append(list(first))
        for i, argument in zip(places, mine, strict=True):
            found[-1][i] = argument
    position = len(new.results) - len(starts)
    for one, digits, step, places in zip(kinds, found, steps, moving, strict=True):
        _advance_at_end(new, position, digits, step, places, one.basis)
        position += len(places)
    return found


def _note(loop: ir.Operation, counters: Sequence[tuple[str, int | None, int]]) -> None:
    """Say on the loop what its counters are called, what they stay below, and what they are multiples of."""
    i64 = ir.IntegerType.get_signless(64)
    entries = [ir.DictAttr.get({})] * (len(loop.results) - len(counters))
    for name, below, multiple in counters:
        facts: dict[str, ir.Attribute] = {"name": ir.StringAttr.get(name)}
        if multiple > 1:
            facts["multiple"] = ir.IntegerAttr.get(i64, multiple)
        if below is not None:
            facts["below"] = ir.IntegerAttr.get(i64, below)
        entries.append(ir.DictAttr.get(facts))
    loop.attributes[COUNTERS] = ir.ArrayAttr.get(entries)


def _apart(one: _Advance) -> list[ir.Value]:
    kind = ir.IndexType.get()
    if not one.start.terms:
        return [arith.ConstantOp(kind, n).result for n in _digits_of(one.start.constant, one.basis)]
    made = affine.AffineDelinearizeIndexOp([kind] * (len(one.basis) + 1), emitted(one.start), [], list(one.basis))
    return list(made.results)


def _digits_of(number: int, basis: Sequence[int]) -> list[int]:
    digits: list[int] = []
    for size in reversed(basis):
        number, digit = divmod(number, size)
        digits.append(digit)
    return [number, *reversed(digits)]


def _with_counters(loop: ir.Operation, starts: Sequence[ir.Value]) -> tuple[ir.Operation, list[ir.Value]]:
    """The loop with more iteration arguments; its terminator yields them as they are, for now."""
    body = loop.regions[0].blocks[0]
    carried = list(loop.operands)[3:]
    terminator = body.operations[len(body.operations) - 1].operation
    with ir.InsertionPoint(loop), loop.location:
        new = scf.ForOp(loop.operands[0], loop.operands[1], loop.operands[2], [*carried, *starts])
    for name in loop.attributes:
        new.operation.attributes[name] = loop.attributes[name]
    target = new.regions[0].blocks[0]
    for old, made in zip(body.arguments, target.arguments, strict=False):
        old.replace_all_uses_with(made)
    added = list(target.arguments)[1 + len(carried) :]
    yielded = list(terminator.operands)
    terminator.erase()
    for op in list(body.operations):
        target.append(op.operation)
    with ir.InsertionPoint(target), loop.location:
        scf.YieldOp([*yielded, *added])
    for old, made in zip(loop.results, new.results, strict=False):
        old.replace_all_uses_with(made)
    loop.erase()
    return new.operation, added


def _advance_at_end(
    loop: ir.Operation,
    position: int,
    digits: Sequence[ir.Value],
    step: Sequence[int],
    places: Sequence[int],
    basis: Sequence[int],
) -> None:
    """Yield the digits of the next iteration, from operand `position` of the terminator on."""
    body = loop.regions[0].blocks[0]
    terminator = body.operations[len(body.operations) - 1].operation
    carry: ir.Value | None = None
    with ir.InsertionPoint(terminator), loop.location:
        for i in reversed(places):
            value = _plus(digits[i], step[i]) if step[i] else digits[i]
            if carry is not None:
                value = arith.SelectOp(carry, _plus(value, 1), value).result
            if i:
                size = arith.ConstantOp(ir.IndexType.get(), basis[i - 1]).result
                carry = arith.cmpi(arith.CmpIPredicate.sge, value, size)
                value = arith.SelectOp(carry, _plus(value, -basis[i - 1]), value).result
            terminator.operands[position + i - places[0]] = value


def _plus(value: ir.Value, number: int) -> ir.Value:
    applied = ir.AffineMap.get(1, 0, [ir.AffineExpr.get_add(ir.AffineDimExpr.get(0), number)])
    return affine.AffineApplyOp(applied, [value]).result


def _use(one: _Advance, digits: Sequence[ir.Value]) -> None:
    """Read the carried digits where the index was taken apart."""
    last = digits[-1]
    if one.low is not None and (one.low.terms or one.low.constant):
        with ir.InsertionPoint(one.op), one.op.location:
            last = emitted(Sum((*one.low.terms, (last, 1)), one.low.constant))
    for old, new in zip(one.op.results, [*digits[:-1], last], strict=True):
        old.replace_all_uses_with(new)
