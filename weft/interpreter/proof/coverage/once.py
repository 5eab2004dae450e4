"""Whether an execution does each iteration of the payload's op once.

The iteration is a form of the execution's counters in each dimension (`points.solved`). Mixed radices make the proof: of
`i = 128*b + 64*w + 8*l + t` with t < 8, l < 8, w < 2 and b < 4, each i below 512 has one (b, w, l, t). Dimensions that are digits
of one number (of an implicit GEMM's row, the image and the place in it) are joined first. Guards then may leave out nothing inside
the iteration space, and of a reduction have to leave out all that is beyond: questions to ISL about one execution, not about pairs.

A dimension that is not reduced may be executed in part, or again by others that have a result of their own (a producer that is
fused into several tiles); of one that is reduced, each result takes all.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...indices.algebra import Algebra
from ...indices.linear import Floor, Formula, Linear, Symbol, at_least, both, either, less, redefined
from ..kernels.model import digits_of
from ..solver import Unknown
from .labels import Read, collect_radices
from .payloads import put_in
from .points import Executes, Iterations
from .questions import point_where


class Unclear(Exception):
    """The forms do not show it."""


def expect_once(
    execution: Iterations, point: Sequence[Linear], extents: Sequence[Linear], algebra: Algebra
) -> str | None:
    """What is wrong, with an iteration, where one is executed twice or not at all; None where each is executed once.

    Args:
        point: the iteration, by dimension of the payload's op.
        extents: of the dimensions.

    Raises:
        Unclear: the forms do not show it.
        Unknown: the sets are too hard.
    """
    of = execution.of
    masks = [read.when for read in execution.reads if read is not None]
    split, own, guards = _in_digits([*point, *extents], execution.symbols, [*execution.guards, *masks])
    forms, extents = split[: len(point)], split[len(point) :]
    used = dict.fromkeys(symbol for form in forms for symbol in form.symbols())
    if any(s.kind in ("opaque", "defined") or s.guessed for s in used):
        raise Unclear("its place is not affine in the loops around it")
    if any(s.kind != "parameter" and s not in own for s in used):
        raise Unclear("its place depends on loops that are not around it")
    apart = {
        *execution.since,
        *(s for cell in execution.cells if cell is not None for form in cell[1] for s in form.symbols()),
    }
    again = [
        s for s in execution.symbols if s not in apart and s.high != 0 and not any(_occurs(s, form) for form in point)
    ]
    if any(s.high is None for s in again):
        raise Unclear("a loop around it may have one iteration, or several")
    if again:
        return "it is executed again in each iteration of a loop around it"
    table = dict(zip(of.dims, forms, strict=True))
    valid = [element.when.changed(lambda form: put_in(form, table)) for element in of.reads if element is not None]
    inside = [part for form, n in zip(forms, extents, strict=True) for part in (at_least(form, 0), less(form, n))]
    results = [part for d, part in enumerate(inside) if d // 2 not in of.reductions]
    joint = _joined(list(forms), list(extents), [d in of.reductions for d in range(len(forms))], algebra)
    counts: list[Linear] = []
    told = [s for form, _, _ in joint for s in dict.fromkeys(form.symbols()) if s.kind != "parameter"]
    if len(told) != len(set(told)):
        raise Unclear("a loop around it tells two of its dimensions")
    for form, _, _ in joint:
        count, below = _count(form, guards)
        counts.append(count)
        inside += below
    seen = {*used, *(s for n in extents for s in n.symbols())}
    free = {s: Linear.of(0) for s in own if s not in seen}  # of those that do not tell which it is, the first executes it
    first = [guard.changed(lambda form: put_in(form, free)) for guard in guards]
    if (lost := point_where([*inside, *valid, both(*first).negate()])) is not None:
        if of.chooses:
            raise Unclear("its own conditions may leave out iterations")
        return f"iteration {_at(forms, lost)} is left out"
    for d in of.reductions:
        beyond = either(less(forms[d], Linear.of(0)), at_least(forms[d], extents[d]))
        if (more := point_where([*guards, *results, beyond])) is not None:
            if of.chooses:
                raise Unclear("its own conditions decide what counts")
            return f"iteration {_at(forms, more)} counts, of a reduction over {_named(extents[d])}"
    for (form, extent, reduced), count in zip(joint, counts, strict=True):
        short = form.constant > 0 or (extent.is_constant and count.constant < extent.constant)
        if short and not reduced:
            raise Unclear("some of its results are made elsewhere")
        if short:
            return f"of {_named(extent)} iterations of a reduction only {_named(count)} are executed, from {form.constant} on"
        if (
            reduced
            and count is not _ENDLESS
            and not extent.is_constant
            and point_where([less(count, extent), at_least(extent, 1)])
        ):
            raise Unclear("a reduction over a size that is known at run time only may be executed in part")
    return None


def expect_order(execution: Executes, point: Sequence[Linear]) -> None:
    """Of an op that writes what it has summed up so far, iterations follow one another as they do in the payload: the loops are
    digits, the outermost the most significant. Of parts that begin with the sum of those before, within each.

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


def covers(at: Sequence[Linear], symbols: Sequence[Symbol], guards: Sequence[Formula], sizes: Sequence[Linear]) -> bool:
    """Whether a store writes each element of a buffer.

    Args:
        at: the element's coordinates, as forms of `symbols`, the counters around it; `guards`: when it is executed.
        sizes: of the buffer.
    """
    forms, own, guards = _in_digits(at, symbols, guards)
    used = [symbol for form in forms for symbol in dict.fromkeys(form.symbols())]
    if len(used) != len(set(used)) or any(s not in own for s in used):
        return False
    inside = [part for form, n in zip(forms, sizes, strict=True) for part in (at_least(form, 0), less(form, n))]
    try:
        for form, n in zip(forms, sizes, strict=True):
            count, below = _count(form, guards)
            inside += below
            if form.constant > 0 or (count is not _ENDLESS and point_where([less(count, n), at_least(n, 1)]) is not None):
                return False
        return point_where([*inside, both(*guards).negate()]) is None
    except (Unclear, Unknown):
        return False


def reads_outside(
    execution: Executes, point: Sequence[Linear], extents: Sequence[Linear], read: Read, own: Formula
) -> bool:
    """Whether an iteration of a result that there is reads what is outside of a tensor, in the place of which is a constant; where
    the payload does not (`own`).

    Raises:
        Unknown: the sets are too hard.
    """
    parts = [part for d, (form, n) in enumerate(zip(point, extents, strict=True)) if d not in execution.of.reductions
             for part in (at_least(form, 0), less(form, n))]  # fmt: skip
    return point_where([*execution.guards, *parts, own, read.when.negate()]) is not None


def _occurs(symbol: Symbol, form: Linear) -> bool:
    return any(s is symbol for s in form.symbols())


def _at(point: Sequence[Linear], where: dict[Symbol, int]) -> str:
    values = (form.value(where) for form in point)
    return "(" + ", ".join("?" if n is None else str(n) for n in values) + ")"


def _named(size: Linear) -> str:
    return str(size.constant) if size.is_constant else "?"


def _in_digits(
    point: Sequence[Linear], symbols: Sequence[Symbol], guards: Sequence[Formula]
) -> tuple[list[Linear], list[Symbol], list[Formula]]:
    """Counters that are divided by constants, as digits: of a lane, `floor(l/4)` and `l - 4*floor(l/4)` are two."""
    radices: dict[Symbol, set[int]] = {}
    for form in point:
        collect_radices(form, radices)
    split = {s: made for s, found in radices.items() if (made := digits_of(s, sorted(found))) is not None}
    own = [part for s in symbols for part in (split[s].symbols() if s in split else (s,))]
    ends = [at_least(made * -1, -(s.high or 0)) for s, made in split.items() if made.bounds()[1] != s.high]
    split = redefined(split, (s for part in (*point, *guards) for s in part.symbols()))
    parts = [guard.changed(lambda form: put_in(form, split)) for guard in guards]
    return [put_in(form, split) for form in point], own, [*parts, *ends]


def _joined(
    forms: list[Linear], sizes: list[Linear], reduced: list[bool], algebra: Algebra
) -> list[tuple[Linear, Linear, bool]]:
    """Dimensions that are digits of one number, as that number: `a*n + b` divides less than a and b do."""
    while True:
        places = range(len(forms))
        pairs = ((a, b) for a in places for b in places if a != b and sizes[b].is_constant and sizes[b].constant > 1)
        fewer = (
            (a, b, joint) for a, b in pairs
            if _floors(joint := forms[a] * sizes[b].constant + forms[b]) < max(_floors(forms[a]), _floors(forms[b]))
        )  # fmt: skip
        if (found := next(fewer, None)) is None:
            return list(zip(forms, sizes, reduced, strict=True))
        a, b, forms[found[0]] = found
        sizes[a], reduced[a] = algebra.product(sizes[a], sizes[b]), reduced[a] or reduced[b]
        del forms[b], sizes[b], reduced[b]


def _floors(form: Linear) -> int:
    return sum(1 + _floors(term.numerator) for term in form.terms if isinstance(term, Floor))


def _count(form: Linear, guards: Sequence[Formula]) -> tuple[Linear, list[Formula]]:
    """How many numbers a form of counters is, each of them once, from its constant on; and what holds of its lower digits where
    they do not go up to the next: of `17*b + 2*l + t`, guards have to keep `2*l + t` below 17; a digit that they keep at 0 counts
    nothing. A last counter without a known end goes as far as its guard lets it, which is asked about.

    Raises:
        Unclear: they are not its digits.
    """
    digits = [(n, s) for s, n in form.terms.items() if isinstance(s, Symbol) and s.kind != "parameter"]
    total, lower, below = 1, Linear.of(0), list[Formula]()
    if len(digits) < len(form.terms):
        raise Unclear("its place is not made of digits, one for each loop")
    for place, (n, symbol) in enumerate(sorted(digits, key=lambda each: (each[0], each[1].high is None))):
        if total > n > 0 and point_where([*guards, at_least(lower, n)]) is None:
            total, below = n, [*below, less(lower, Linear.of(n))]
        if n != total and point_where([*guards, at_least(Linear.of(symbol), 1)]) is None:
            below = [*below, less(Linear.of(symbol), Linear.of(1))]  # always 0, as in tiles that are longer than what is left
            continue
        if n != total or (symbol.high is None and place < len(digits) - 1):
            raise Unclear("its place is not made of digits, one for each loop")
        if symbol.high is None:
            return _ENDLESS, below
        total, lower = n * (symbol.high + 1), lower + Linear({symbol: n}, 0)
    return Linear.of(total), below


_ENDLESS = Linear.of(2**62)
