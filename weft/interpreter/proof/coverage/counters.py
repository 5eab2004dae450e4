"""Counters of loops as digits: a loop that was coalesced from several has one digit for each of
them. The digits follow from the numbers by which index arithmetic divides the loop's variable."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce

from ....dsl.records import record
from ...indices.algebra import at_or_above, factors_of
from ...indices.linear import NOTHING, Formula, Linear, Symbol, at_least, less
from ...indices.values import Values
from ...ir.mlir import ir, made_by, users
from ..kernels.model import digits_of
from .labels import collect_radices


@record
class LoopCounter:
    """A counter of a loop.

    Args:
        symbols: its digits, the most significant first.
        number: the counter as a form of these.
        variable: the loop's variable as a form of these.
        within: constraints on them.
    """

    symbols: tuple[Symbol, ...]
    number: Linear
    variable: Linear
    within: tuple[Formula, ...]


def counted(
    values: Values,
    variable: ir.Value,
    low: int | ir.Value,
    high: int | ir.Value,
    step: int | ir.Value,
    *,
    parallel: bool,
) -> LoopCounter:
    """The counter of a loop. If index arithmetic divides the counter of a parallel loop, as in
    coalesced loops, the counter is split into digits. In a sequential loop such a quotient or
    remainder numbers the stages of a buffer, and the counter stays whole."""
    first, end, by = map(values.number, (low, high, step))
    from_0 = parallel and first == Linear.of(0) and by == Linear.of(1)
    if from_0 and isinstance(high, ir.Value) and (found := _open_digits(values, variable, high)) is not None:
        return found
    counter, form, below = values.counter(first, ends_of(values, end), by)
    (symbol,) = counter.symbols()
    digits = _counted_digits(values, variable, symbol, form) if parallel else None
    if digits is None:
        return LoopCounter((symbol,), counter, form, tuple(below))
    table, high_end = {symbol: digits}, symbol.high or 0
    within = [] if digits.bounds()[1] == symbol.high else [at_least(digits * -1, -high_end)]
    within += [each.changed(lambda part: part.put(table)) for each in below]
    return LoopCounter(tuple(digits.symbols()), digits, form.put(table), tuple(within))


def ends_of(values: Values, n: Linear) -> list[Linear]:
    """The operands of the minimum that computes an extent; the extent alone if it is no minimum."""
    found = values.at_most(n)
    return found if found == [n] else [end for each in found for end in ends_of(values, each)]


def _counted_digits(values: Values, variable: ir.Value, counter: Symbol, form: Linear) -> Linear | None:
    """A counter as digits, by the divisors of its variable in later index arithmetic: loops that
    were coalesced."""
    forms, radices = {variable: form}, dict[Symbol, set[int]]()
    for value in (waiting := [variable]):
        for user in users(value):
            if user.name != "affine.apply" or user.results[0] in forms:
                continue
            operands = [forms.get(operand, Linear.of(0)) for operand in user.operands]
            (found,) = values.affine_map(ir.AffineMapAttr(user.attributes["map"]).value, operands)
            collect_radices(found, radices)
            forms[user.results[0]] = found
            waiting.append(user.results[0])
    return digits_of(counter, sorted(radices[counter])) if counter in radices else None


def _open_digits(values: Values, variable: ir.Value, count: ir.Value) -> LoopCounter | None:
    """The variable of a loop from 0 to `count` as digits, where sizes known only at run time divide
    it: if these are factors of `count`, one after the other, each digit becomes a symbol below its
    size. The values of the quotients and remainders are bound to the digits."""
    factors = list(_factors(values, count))
    if not all(at_or_above(factor, 0) for factor in factors):
        return None
    steps: list[tuple[list[ir.Value], list[ir.Value], Linear]] = []
    divided = [variable]
    while (step := _step(values, divided)) is not None:
        *_, base = step
        left = [*factors]
        for part in _parts(base):
            same = (factor for factor in left if factor == part or values.none_at_least(factor) == part)
            if (found := next(same, None)) is None:
                break
            left.remove(found)
        else:
            factors, divided = left, step[0]
            steps.append(step)
            continue
        break
    if all(base.is_constant for *_, base in steps):
        return None
    rest = reduce(values.product, factors, Linear.of(1))
    top = values.fresh("loop", NOTHING, 0, rest.constant - 1 if rest.is_constant else None)
    counters, number, within = [top], Linear.of(top), [] if rest.is_constant else [less(Linear.of(top), rest)]
    for quotients, remainders, base in reversed(steps):
        digit = values.fresh("loop", NOTHING, 0, base.constant - 1 if base.is_constant else None)
        for value, form in (*((q, number) for q in quotients), *((r, Linear.of(digit)) for r in remainders)):
            values.bind(value, form)
        counters.append(digit)
        within += [] if base.is_constant else [less(Linear.of(digit), base)]
        number = values.product(number, base) + Linear.of(digit)
    return LoopCounter(tuple(counters), number, number, tuple(within))


def _step(values: Values, divided: list[ir.Value]) -> tuple[list[ir.Value], list[ir.Value], Linear] | None:
    """The quotients and the remainders in the division of a number by a size, and that size; None
    if no size divides the number, or several do. `divided`: the values that hold the number."""
    found: tuple[list[ir.Value], list[ir.Value]] = [], []
    bases: dict[Linear, None] = {}
    for user in (user for value in divided for user in users(value)):
        base, part = None, 0
        if user.name in ("arith.divsi", "arith.remsi") and user.operands[0] in divided:
            base, part = values.linear(user.operands[1]), int(user.name == "arith.remsi")
        elif user.name == "affine.apply" and len(user.operands) == 1:
            (form,) = ir.AffineMapAttr(user.attributes["map"]).value.results
            kinds = (ir.AffineFloorDivExpr, ir.AffineModExpr)
            if isinstance(form, kinds) and isinstance(form.lhs, ir.AffineDimExpr):
                base, part = Linear.of(ir.AffineConstantExpr(form.rhs).value), int(isinstance(form, ir.AffineModExpr))
        if base is not None:
            found[part].append(user.results[0])
            bases[base] = None
    return (*found, next(iter(bases))) if len(bases) == 1 else None


def _factors(values: Values, count: ir.Value) -> Iterator[Linear]:
    product, scaled = made_by(count, "arith.muli"), made_by(count, "affine.apply")
    if scaled is not None and len(scaled.operands) == 1:
        (form,) = ir.AffineMapAttr(scaled.attributes["map"]).value.results
        if isinstance(form, ir.AffineMulExpr) and isinstance(form.lhs, ir.AffineDimExpr):
            yield Linear.of(ir.AffineConstantExpr(form.rhs).value)
            product = scaled
    for operand in () if product is None else product.operands:
        yield from _factors(values, operand)
    if product is None:
        yield from _parts(values.linear(count))


def _parts(form: Linear) -> Iterator[Linear]:
    """The factors of a form."""
    if form.is_constant or form.content == 1:
        yield from factors_of(form)
    else:
        yield Linear.of(form.content)
        yield from _parts(form.floordiv(form.content))
