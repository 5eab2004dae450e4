"""Merges the loops of several reductions over the same tiles into one loop, in which sums are
corrected whenever the extreme grows."""

from __future__ import annotations

from collections.abc import Sequence

from ....dsl.records import record
from ...ir.cloning import clone_body, clone_with, replace_operands
from ...ir.copying import fill_with
from ...ir.mlir import ahead_of, arith, ir, operations, ops_of, producer, scf
from ...ir.sizes import iterations_of, sizes_of
from ...ir.structured import (
    body_of,
    copy_marks,
    element_type,
    empty,
    generic,
    loop_inits,
    replace,
    segments,
    shape_of,
    structure,
    yielded,
)
from ...padding.rounding import start_of
from ...reductions.identities import number
from .algebra import Chain, CorrectedSum


@record
class OnePass:
    """The merged loop, with the fill that the extreme of a tile starts from, the op that computes
    the factors, and the op that corrects each sum."""

    loop: ir.Operation
    least: ir.Operation
    factor: ir.Operation
    scaled: list[ir.Operation]


def own_terms(one: CorrectedSum, sums: Sequence[ir.Value]) -> list[ir.Operation]:
    """Clones, for one sum only, the ops that make its terms and the sum itself, without factors
    that are the same in all terms. Returns the clones, the sum last."""
    made: list[ir.Operation] = []
    copies: dict[ir.Value, ir.Value] = {}
    with ahead_of(one.op):
        for op in one.inside:
            copy = _without(op, sums, copies)
            if copy is not None:
                copy_marks(op, copy)
                made.append(copy)
        left = _without(one.op, sums, copies, keep=True)
    assert left is not None
    copy_marks(one.op, left)
    replace(one.op, left.results)
    made.append(left)
    return made


def _without(
    op: ir.Operation, sums: Sequence[ir.Value], copies: dict[ir.Value, ir.Value], *, keep: bool = False
) -> ir.Operation | None:
    """A clone of an op with 1 in place of each of `sums`; None if the op would only pass on an
    input."""
    if not any(value in sums for value in op.operands):
        return clone_with(op, copies)
    space, (inputs, _) = structure(op), segments(op)
    kept = [n for n in range(inputs) if op.operands[n] not in sums]
    arguments = list(body_of(op).arguments)
    out = yielded(op)[0] if len(yielded(op)) == 1 else None
    taken = _passed_on(op, sums, out)
    if (
        taken is not None
        and not keep
        and space.maps[taken] == space.maps[-1]
        and op.operands[taken].type == op.results[0].type
    ):
        copies[op.results[0]] = copies.get(op.operands[taken], op.operands[taken])
        return None

    def body(own: list[ir.Value]) -> list[ir.Value]:
        given, rest = [], iter(own)
        for n, argument in enumerate(arguments):
            if n < inputs and n not in kept:
                given.append(arith.ConstantOp(argument.type, ir.FloatAttr.get(argument.type, 1.0)).result)
            else:
                given.append(next(rest))
        return clone_body(body_of(op), given)

    operands = [copies.get(value, value) for value in op.operands]
    maps = [*(space.maps[n] for n in kept), *space.maps[inputs:]]
    made = generic([operands[n] for n in kept], operands[inputs:], maps, space.iterators, body)
    copies.update(zip(op.results, made.results, strict=True))
    return made


def _passed_on(op: ir.Operation, sums: Sequence[ir.Value], out: ir.Value | None) -> int | None:
    """The number of the input that an op multiplies by, or divides by, a sum, if it does nothing
    else; otherwise None."""
    maker = None if out is None else producer(out)
    arguments = list(body_of(op).arguments)
    if maker is None or not isinstance(maker.opview, (arith.DivFOp, arith.MulFOp)) or len(ops_of(body_of(op))) != 2:
        return None
    numbers = [arguments.index(v) if v in arguments else None for v in maker.operands]
    if None in numbers:
        return None
    first, second = (n for n in numbers if n is not None)
    if op.operands[second] in sums:
        return first
    return second if op.operands[first] in sums and isinstance(maker.opview, arith.MulFOp) else None


def times_power(op: ir.Operation, one: CorrectedSum, by: ir.Value, power: int) -> ir.Operation:
    """The complete sum, multiplied or divided by another one. A sum without terms is not divided: s
    is 0 then, whereas the payload's `(p / s)·v` has no terms to add."""
    result = op.results[0]
    uses = [use.owner for use in result.uses]
    rank = len(shape_of(result))
    whole = ir.AffineMap.get_identity(rank)

    def body(own: list[ir.Value]) -> list[ir.Value]:
        other = _converted(own[1], own[0].type)
        made = (arith.divf if power < 0 else arith.mulf)(own[0], other)
        if terms is None:
            return [made]
        some = arith.cmpi(arith.CmpIPredicate.sgt, terms, arith.constant(ir.IndexType.get(), 0))
        return [arith.select(some, made, own[0])]

    with ahead_of(op):
        place = empty(sizes_of(result), element_type(result))
        number_of_terms = iterations_of(op, structure(op))[one.walked]
        terms = number_of_terms if power < 0 and isinstance(number_of_terms, ir.Value) else None
        made = generic(
            [result, by], [place], [whole, whole.get_submap(list(one.rows)), whole], ["parallel"] * rank, body
        )
    made.move_after(op)
    for user in uses:
        replace_operands(user.operation, {result: made.results[0]})
    return made


def _converted(value: ir.Value, kind: ir.Type) -> ir.Value:
    if value.type == kind:
        return value
    wider = ir.FloatType(kind).width > ir.FloatType(value.type).width
    return (arith.extf if wider else arith.truncf)(kind, value)


def merge(chain: Chain, loops: Sequence[ir.Operation]) -> OnePass:
    """Builds the merged loop at the place of the last one: `loops[0]` is that of the extreme, the
    others are those of the sums.

    All carried values are updated in place: the value of an iteration is not read once the next
    iteration has computed its own.
    """
    first, last = loops[0], loops[-1]
    start = start_of(loop_inits(first)[0])
    late = _dependents(loops)
    lower, upper, step = list(first.operands)[:3]
    with ahead_of(last):
        new = scf.ForOp(lower, upper, step, [init for loop in loops for init in loop_inits(loop)]).operation
    counter, *carried = list(body_of(new).arguments)
    with ir.InsertionPoint(body_of(new)):
        end = scf.YieldOp(carried).operation
    with ir.InsertionPoint(end):
        place = empty(sizes_of(carried[0]), element_type(carried[0]))
        least = fill_with(place, number(chain.bound, element_type(place))).results[0]
    (of_tile,) = _moved(first, end, counter, least)
    with ir.InsertionPoint(end):
        wide = max(map(element_type, carried), key=lambda each: ir.FloatType(each).width)
        factor = _factor(carried[0], of_tile, chain, start, wide)
        now, power, used = list(factor.results)
    results: list[ir.Value] = [now]
    scaled: list[ir.Operation] = []
    for loop, so_far, one in zip(loops[1:], carried[1:], chain.sums, strict=True):
        with ir.InsertionPoint(end):
            scaled.append(_scaled(so_far, power, one.rows))
        before = ops_of(body_of(new))
        results += _moved(loop, end, counter, scaled[-1].results[0])
        for op in ops_of(body_of(new))[len(before) - 1 :]:
            replace_operands(op, {first.results[0]: used})
    for position, value in enumerate(results):
        end.operands[position] = value
    for op in reversed(late):
        op.move_after(new)
    for loop, result in zip(loops, new.results, strict=True):
        replace(loop, [result])
    return OnePass(new, least.owner.operation, factor, scaled)


def _moved(loop: ir.Operation, end: ir.Operation, counter: ir.Value, so_far: ir.Value) -> list[ir.Value]:
    """Moves the body of a loop before `end`; returns the yielded values."""
    own = list(body_of(loop).arguments)
    own[0].replace_all_uses_with(counter)
    own[1].replace_all_uses_with(so_far)
    *ops, leave = ops_of(body_of(loop))
    made = list(leave.operands)
    for op in ops:
        op.move_before(end)
    return made


def _dependents(loops: Sequence[ir.Operation]) -> list[ir.Operation]:
    """The ops between the loops that depend on one of them, in program order."""
    found: list[ir.Operation] = []
    made = [value for loop in loops for value in loop.results]
    between = ops_of(loops[0].block)
    start, stop = between.index(loops[0]), between.index(loops[-1])
    for op in between[start + 1 : stop]:
        if any(op == loop for loop in loops):
            continue
        if any(value in made for inner in operations(op) for value in inner.operands):
            found.append(op)
            made += list(op.results)
    return found


def _factor(
    before: ir.Value, of_tile: ir.Value, chain: Chain, start: ir.Attribute | None, wide: ir.Type
) -> ir.Operation:
    """The op that computes the extreme so far, in place; the factor b^(c·(now - before)), in the
    widest type of a sum; and the extreme for the terms: 0 while the extreme is infinite, because
    exp(x - m) has no value there."""
    rank, kind, weight = len(shape_of(before)), element_type(before), chain.sums[0].weight
    bound = chain.bound
    infinite = start is None or ir.FloatAttr(start).value == bound

    def body(own: list[ir.Value]) -> list[ir.Value]:
        new, old = own[0], own[1]
        now = used = ir.Operation.create(chain.combiner, results=[kind], operands=[old, new]).result
        if infinite:
            is_bound = arith.cmpf(arith.CmpFPredicate.OEQ, now, number(bound, kind))
            used = arith.select(is_bound, number(0.0, kind), now)
        before, after = _converted(old, wide), _converted(used, wide)
        grown = arith.subf(before, after) if weight.exponent < 0 else arith.subf(after, before)
        if abs(weight.exponent) != 1:
            grown = arith.mulf(grown, number(abs(weight.exponent), wide))
        return [now, ir.Operation.create(str(weight.base), results=[wide], operands=[grown]).result, used]

    places = [before, *(empty(sizes_of(before), each) for each in (wide, kind))]
    return generic([of_tile], places, [ir.AffineMap.get_identity(rank)] * 4, ["parallel"] * rank, body)


def _scaled(so_far: ir.Value, factor: ir.Value, rows: Sequence[int]) -> ir.Operation:
    rank = len(shape_of(so_far))
    whole = ir.AffineMap.get_identity(rank)
    return generic(
        [factor],
        [so_far],
        [whole.get_submap(list(rows)), whole],
        ["parallel"] * rank,
        lambda own: [arith.mulf(own[1], _converted(own[0], own[1].type))],
    )
