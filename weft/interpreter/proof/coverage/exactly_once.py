"""Whether the kernel executes each iteration of the payload's op once.

In each dimension, the iteration is a form of the counters of the kernel's loops (`points.solved`).
The proof is by mixed radices: if `i = 128*b + 64*w + 8*l + t` with t < 8, l < 8, w < 2 and b < 4,
then each i below 512 has exactly one (b, w, l, t). Dimensions that are digits of one number are
joined first: in an implicit GEMM, the image and the position in it are digits of the row. Guards
must not exclude any iteration inside the iteration space; for a reduction they must exclude all
iterations outside. ISL answers these questions about one iteration at a time, not about pairs.

A dimension that is not reduced may be executed in part, or several times if each execution has a
result of its own (a producer that is fused into several tiles). Along a reduced dimension, each
result needs all iterations.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import reduce

from ....dsl.records import record
from ...indices.algebra import PRODUCT, QUOTIENT, REMAINDER, Algebra
from ...indices.linear import TRUE, Floor, Formula, Linear, Symbol, at_least, both, either, involved, less, redefined
from ..kernels.model import digits_of
from ..solver import Unknown, point_where
from .labels import Read, collect_radices, is_within
from .payload.elements import Coordinates
from .payload.payloads import PayloadOp
from .points import Executes, Iterations


@record
class Store:
    """A write to a buffer of the host. The coordinates `at` are forms of the enclosing counters
    (`symbols`). `updated`: a reduction updates its own result; `adds`: the value is added to the
    previous contents."""

    at: Coordinates
    what: Read
    symbols: tuple[Symbol, ...]
    guards: tuple[Formula, ...]
    updated: bool
    adds: bool = False


class Unclear(Exception):
    """The forms do not show it."""


def expect_once(
    execution: Iterations, point: Sequence[Linear], extents: Sequence[Linear], algebra: Algebra
) -> str | None:
    """A fault, with an iteration that is executed twice or not at all; None if each iteration is
    executed once.

    Args:
        point: the iteration, by dimension of the payload's op.
        extents: of the dimensions.

    Raises:
        Unclear: the forms do not show it.
        Unknown: the sets are too hard.
    """
    of = execution.of
    masks = [read.when for read in execution.reads if read is not None]
    reduced = [d in of.reductions for d in range(len(point))]
    every = [*zip(point, extents, reduced, strict=True), *_numbers(point, extents, reduced, algebra)]
    found, own, guards = _in_digits(
        [form for each in every for form in each[:2]], execution.symbols, [*execution.guards, *masks]
    )
    every = [(form, n, kind) for form, n, (_, _, kind) in zip(found[::2], found[1::2], every, strict=True)]
    forms, numbers = [form for form, _, _ in every[: len(point)]], every[len(point) :]
    used = [s for s in involved(*(form for form, _, _ in numbers)) if s.made is None]
    if any(s.kind in ("opaque", "defined") or s.guessed for s in used):
        raise Unclear("its place is not affine in the loops around it")
    if any(s.kind != "parameter" and s not in own for s in used):
        raise Unclear("its place depends on loops that are not around it")
    telling = {*execution.since, *involved(*point)}
    again = _in_one_cell([s for s in execution.symbols if s not in telling and s.high != 0], execution, algebra)
    if any(s.high is None for s in again):
        raise Unclear("a loop around it may have one iteration, or several")
    if again:
        return "it is executed again in each iteration of a loop around it"
    table = dict(zip(of.dims, forms, strict=True))
    whens = (of.fits, *(element.when for element in of.reads if element is not None))
    valid = [when.changed(lambda form: form.put(table)) for when in whens]
    inside = [part for form, n, _ in every for part in (at_least(form, 0), less(form, n))]
    results = [part for form, n, kind in every if not kind for part in (at_least(form, 0), less(form, n))]
    joint = _joined(numbers, algebra)
    counts: list[Linear] = []
    told = [s for form, _, _ in joint for s in counters_of(form)]
    if len(told) != len(set(told)):
        raise Unclear("a loop around it determines two of its dimensions")
    for form, _, _ in joint:
        count, below = _count(form, guards, algebra)
        counts.append(count)
        inside += below
    telling = {*used, *involved(*(n for _, n, _ in every))}
    if (lost := point_where([*inside, *valid, _first(guards, own, telling).negate()])) is not None:
        if of.chooses:
            raise Unclear("its own conditions may leave out iterations")
        return f"iteration {_at(forms, lost)} is left out"
    executed = [*guards[: len(execution.guards)], *guards[len(execution.guards) + len(masks) :]]
    padded = any(when != TRUE for when in valid[1:])  # where the payload reads a constant, it may count
    if padded and point_where([*inside, valid[0], _first(executed, own, telling).negate()]) is not None:
        raise Unclear("its own padding may be left out")
    for form, n, kind in numbers:
        beyond = either(less(form, Linear.of(0)), at_least(form, n))
        if kind and not _is_inside(form, n) and (more := point_where([*guards, *results, beyond])) is not None:
            if of.chooses:
                raise Unclear("its own conditions determine the iterations that are executed")
            return f"iteration {_at(forms, more)} is executed, beyond a reduction over {_named(n)}"
    for (form, extent, kind), count in zip(joint, counts, strict=True):
        known = extent.is_constant and count.is_constant
        short = form.constant > 0 or (known and count.constant < extent.constant)
        if short and not kind:
            raise Unclear("some of its results are made elsewhere")
        if short:
            return f"of {_named(extent)} iterations of a reduction only {_named(count)} are executed, from {form.constant} on"
        if not known and count is not _ENDLESS and point_where([less(count, extent), at_least(extent, 1)]):
            what = "a reduction" if kind else "a dimension"
            raise Unclear(f"{what} with a size known only at run time may be executed only in part")
    return None


def _is_inside(form: Linear, size: Linear) -> bool:
    """Whether the bounds of its symbols keep a number below a size that is known."""
    return size.is_constant and is_within(form, size.constant)


def _first(guards: Sequence[Formula], own: Sequence[Symbol], telling: Collection[Symbol]) -> Formula:
    """The guards in the first iteration of all loops on which the payload's iteration does not
    depend."""
    free = {s: Linear.of(0) for s in own if s not in telling}
    return both(*(guard.changed(lambda form: form.put(free)) for guard in guards))


def expect_order(execution: Executes, point: Sequence[Linear]) -> None:
    """Checks that an op that writes running results executes its iterations in the payload's order:
    its loops are digits of the iteration number, the outermost loop the most significant digit. In
    parts that begin with the sum of earlier parts, the order matters only within each part.

    Raises:
        Unclear: the forms do not show it.
    """
    of = execution.of
    if not any(of.is_running(output) for output in range(len(execution.cells))):
        return
    order: list[int] = []
    for d in of.reductions:
        digits = [(n, s) for s, n in point[d].terms.items() if isinstance(s, Symbol)]
        if len(digits) < len(point[d].terms) or any(n < 0 or s not in execution.symbols for n, s in digits):
            raise Unclear("its iterations are not known to be executed in their order")
        digits.sort(key=lambda each: -each[0])
        order += [execution.symbols.index(s) for _, s in digits if s not in execution.since]
    if order != sorted(order):
        raise Unclear("its iterations are not executed in their order")


def covers(
    at: Sequence[Linear],
    symbols: Sequence[Symbol],
    guards: Sequence[Formula],
    sizes: Sequence[Linear],
    algebra: Algebra,
    wanted: Formula = TRUE,
) -> bool:
    """Whether a store writes each element of a buffer.

    Args:
        at: the element's coordinates, as forms of `symbols`, the enclosing counters.
        guards: conditions of its execution.
        sizes: of the buffer.
        wanted: the condition on elements that must be written.
    """
    numbers = _joined(_numbers(at, sizes, [False] * len(at), algebra), algebra, inside=True)
    forms, own, guards = _in_digits([form for form, _, _ in numbers], symbols, guards)
    used = [symbol for form in forms for symbol in counters_of(form)]
    if len(used) != len(set(used)) or any(s not in own for s in used):
        return False
    sizes = [n for _, n, _ in numbers]
    inside = [part for form, n in zip(forms, sizes, strict=True) for part in (at_least(form, 0), less(form, n))]
    try:
        for form, n in zip(forms, sizes, strict=True):
            count, below = _count(form, guards, algebra)
            inside += below
            if form.constant > 0 or (
                count is not _ENDLESS and point_where([less(count, n), at_least(n, 1)]) is not None
            ):
                return False
        return point_where([*inside, wanted, _first(guards, own, used).negate()]) is None
    except (Unclear, Unknown):
        return False


def iterates(extents: Sequence[Linear | None]) -> Formula:
    """The condition that dimensions have iterations; true for dimensions of unknown size."""
    return both(*(at_least(n, 1) for n in extents if n is not None))


def executes_all(
    of: PayloadOp, dims: Sequence[Symbol], point: Mapping[Symbol, Linear], symbols: Sequence[Symbol],
    guards: Sequence[Formula], algebra: Algebra, wanted: Formula = TRUE,
) -> bool:  # fmt: skip
    """Whether each iteration of some dimensions of an op is among those of an execution.

    Args:
        point: the iteration, by dimension, as forms of `symbols`, the enclosing counters.
        guards: conditions of its execution.
        wanted: the condition on iterations that must be executed.
    """
    extents = [n for d, n in zip(of.dims, of.extents, strict=True) if d in dims and n is not None]
    if len(extents) < len(dims):
        return False
    part = replace(of, dims=tuple(dims), reductions=(), reads=(), fits=both(of.fits, wanted))
    try:
        each = Iterations(part, tuple(symbols), tuple(guards), (), (), tuple(symbols))
        return expect_once(each, [point[d] for d in dims], extents, algebra) is None
    except (Unclear, Unknown):
        return False


def reads_outside(
    execution: Executes, point: Sequence[Linear], extents: Sequence[Linear], read: Read, own: Formula
) -> bool:
    """Whether an iteration that contributes to a result may read beyond the end of a tensor, and so
    get a constant, where the payload reads an element (`own`).

    Raises:
        Unknown: the sets are too hard.
    """
    of, table = execution.of, dict(zip(execution.of.dims, point, strict=True))
    inside = [both(at_least(form, 0), less(form, n)) for form, n in zip(point, extents, strict=True)]
    results = [part for d, part in enumerate(inside) if d not in of.reductions]
    fits = either(both(*inside).negate(), of.fits.changed(lambda form: form.put(table)))
    return point_where([*execution.guards, *results, fits, own, read.when.negate()]) is not None


def _in_one_cell(symbols: Sequence[Symbol], execution: Iterations, algebra: Algebra) -> list[Symbol]:
    """The loop counters on which the updated elements do not depend."""
    left = dict.fromkeys(symbols)
    for cell in execution.cells if left else ():
        told = set[Symbol]()
        for form in () if cell is None else cell[1]:
            part = form.put({s: Linear.of(0) for s in counters_of(form) if s not in left})
            try:
                _count(part - part.constant, execution.guards, algebra)
            except Unclear:
                continue
            told.update(counters_of(part))
        left = {s: None for s in left if cell is not None and s not in told}
    return list(left)


def _at(point: Sequence[Linear], where: dict[Symbol, int]) -> str:
    values = (form.value(where) for form in point)
    return "(" + ", ".join("?" if n is None else str(n) for n in values) + ")"


def _named(size: Linear) -> str:
    return str(size.constant) if size.is_constant else "?"


def _in_digits(
    point: Sequence[Linear], symbols: Sequence[Symbol], guards: Sequence[Formula]
) -> tuple[list[Linear], list[Symbol], list[Formula]]:
    """Replaces counters that are divided by constants by their digits: a lane l that is divided by
    4 becomes the two digits `floor(l/4)` and `l - 4*floor(l/4)`. Returns the point, the counters
    and the guards in terms of these."""
    radices: dict[Symbol, set[int]] = {}
    for form in point:
        collect_radices(form, radices)
    split = {s: made for s, found in radices.items() if (made := digits_of(s, sorted(found))) is not None}
    own = [part for s in symbols for part in (split[s].symbols() if s in split else (s,))]
    ends = [at_least(made * -1, -(s.high or 0)) for s, made in split.items() if made.bounds()[1] != s.high]
    split = redefined(split, (s for part in (*point, *guards) for s in part.symbols()))
    parts = [guard.changed(lambda form: form.put(split)) for guard in guards]
    return [form.put(split) for form in point], own, [*parts, *ends]


Number = tuple[Linear, Linear, bool]
"""A number whose digits are dimensions, its extent, and whether the dimensions are reduced."""


def _numbers(
    point: Sequence[Linear], extents: Sequence[Linear], reduced: Sequence[bool], algebra: Algebra
) -> list[Number]:
    """The dimensions, where a number replaces two dimensions that are its digits by a run-time size
    n: `i` below m*n replaces `i floordiv n` below m and `i mod n` below n. Each pair of digits is
    one i. A remainder is always below n, so i is inside its extent whenever the digits are."""
    found = list(zip(point, extents, reduced, strict=True))
    while True:
        pairs = ((a, b) for a in range(len(found)) for b in range(len(found)) if a != b)
        joint = ((a, b, form) for a, b in pairs if (form := _whole(found[a], found[b])) is not None)
        if (pair := next(joint, None)) is None:
            return found
        a, b, form = pair
        found[a] = form, algebra.product(found[a][1], found[b][1]), found[a][2]
        del found[b]


def _whole(upper: Number, lower: Number) -> Linear | None:
    """The number that, divided by the extent of `lower`, has the quotient `upper` and the remainder
    `lower`; None if there is no such number."""
    (quotient, _, kind), (remainder, size, other) = upper, lower
    if kind != other:
        return None
    divided = () if quotient.alone is None else quotient.alone.operands(*QUOTIENT)
    if len(divided) == 2:
        for term, factor in remainder.terms.items():
            if isinstance(term, Symbol) and term.operands(*REMAINDER) == divided and divided[1] * factor == size:
                rest = remainder - Linear({term: factor}, 0)
                if factor > 0 and is_within(rest, factor):
                    return divided[0] * factor + rest
    of_quotient = any(map(_is_of_quotient, (*quotient.terms, *remainder.terms)))
    if not of_quotient or not _is_inside(remainder, size):
        return None
    whole = quotient * size.constant + remainder
    return None if any(map(_is_of_quotient, whole.terms)) else whole


def _is_of_quotient(term: Symbol | Floor) -> bool:
    """Whether the term is a division by a constant of the quotient by a number known only at run
    time."""
    return isinstance(term, Floor) and any(s.made is not None for s in term.numerator.symbols())


def _joined(numbers: Sequence[Number], algebra: Algebra, *, inside: bool = False) -> list[Number]:
    """The dimensions, where `a*n + b` replaces two digits a and b if this takes fewer divisions. n
    is the extent of b, or an upper bound of it. `inside`: only digits b that are known to be below
    n."""
    found = list(numbers)
    while True:
        floors = [_floors(form) for form, _, _ in found]
        pairs = ((a, b) for a in range(len(found)) for b in range(len(found)) if a != b and max(floors[a], floors[b]))
        digits = ((a, b, radix) for a, b in pairs if (radix := _radix(found[b])) > 1)
        joint = (
            (a, b, radix, found[a][0] * radix + found[b][0])
            for a, b, radix in digits
            if not inside or is_within(found[b][0], radix)
        )
        fewer = (each for each in joint if _floors(each[3]) < max(floors[n] for n in each[:2]))
        if (pair := next(fewer, None)) is None:
            return found
        a, b, radix, whole = pair
        found[a] = whole, algebra.product(found[a][1], Linear.of(radix)), found[a][2] or found[b][2]
        del found[b]


def _radix(number: Number) -> int:
    """The number of values of a digit; 0 where unknown."""
    form, extent, _ = number
    most = extent.bounds()[1] or 0
    return most if extent.is_constant or is_within(form, most) else 0


def _floors(form: Linear) -> int:
    return sum(1 + _floors(term.numerator) for term in form.terms if isinstance(term, Floor))


def counters_of(form: Linear) -> list[Symbol]:
    """The counters in a form."""
    return [s for s in involved(form) if s.kind != "parameter" and s.made is None]


def _digit(term: Symbol, factor: int, algebra: Algebra) -> tuple[Linear, Symbol] | None:
    """A counter as a digit, and its weight: `factor`, or a multiple by a run-time size; None for
    any other term."""
    factors = term.operands(PRODUCT)
    if not factors:
        return None if term.kind == "parameter" or term.made else (Linear.of(factor), term)
    counters, others = ([form for form in factors if bool(counters_of(form)) == kind] for kind in (True, False))
    counter = counters[0].alone if len(counters) == 1 else None
    return (
        None if counter is None or counter.made else (reduce(algebra.product, others, Linear.of(1)) * factor, counter)
    )


def _count(form: Linear, guards: Sequence[Formula], algebra: Algebra) -> tuple[Linear, list[Formula]]:
    """How many consecutive numbers, from its constant on, a form of counters takes, each once. Also
    returns conditions on the lower digits, where their range does not end at the weight of the next
    digit: in `17*b + 2*l + t`, guards must keep `2*l + t` below 17; in `s*b + t`, t below s. A
    digit that guards keep at 0 is ignored. The range of a counter without a known bound is found by
    queries about its guards.

    Raises:
        Unclear: the counters are not digits of the form.
    """
    total, lower, below = Linear.of(1), Linear.of(0), list[Formula]()
    found = [_digit(s, n, algebra) if isinstance(s, Symbol) else None for s, n in form.terms.items()]
    digits = [each for each in found if each is not None]
    if len(digits) < len(found):
        raise Unclear("its place is not made of digits, one for each loop")
    for unit, symbol in sorted(digits, key=lambda each: (_size(each[0]), each[1].high is None)):
        if unit != total and _is_at_least(total, unit) and point_where([*guards, at_least(lower, unit)]) is None:
            total, below = unit, [*below, less(lower, unit)]
        if unit != total and point_where([*guards, at_least(Linear.of(symbol), 1)]) is None:
            below = [
                *below,
                less(Linear.of(symbol), Linear.of(1)),
            ]  # always 0, as in tiles that are longer than the rest
            continue
        if unit != total:
            raise Unclear("its place is not made of digits, one for each loop")
        total = _ENDLESS if symbol.high is None else unit * (symbol.high + 1)
        lower = lower + algebra.product(unit, Linear.of(symbol))
    return total, below


def _size(unit: Linear) -> tuple[int, int]:
    """A sort key for the weights of digits: numbers first, then run-time sizes, then products of
    sizes."""
    return max((len(s.operands(PRODUCT)) or 1 for s in unit.symbols()), default=0), unit.content


def _is_at_least(total: Linear, unit: Linear) -> bool:
    """Whether the count reaches the weight of the next digit."""
    if unit.is_constant and (unit.constant < 1 or total.is_constant):
        return 0 < unit.constant <= total.constant
    return total is _ENDLESS or point_where([less(total, unit)]) is None


_ENDLESS = Linear.of(2**62)
