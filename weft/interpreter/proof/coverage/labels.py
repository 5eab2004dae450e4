"""Labels of buffers: for each element, the element of the payload that it holds, in terms of its
coordinates and of loop counters.

    copy A[128*b + m, 16*k + c] → A_shared[m, c]        A_shared[m, c] is A[128*b + m, 16*k + c], in iteration k

A buffer of n stages is labelled in terms of the number i of the tile; its coordinate, the stage, is
`i mod n`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import replace
from math import prod

from ....dsl.records import record
from ...indices.algebra import PRODUCT
from ...indices.linear import NOTHING, TRUE, Floor, Formula, Linear, Symbol, at_least, both, either, equal, less
from ...indices.values import Values
from ...ir.mlir import ir
from ..kernels.root_buffers import RootBuffer
from .payload.bodies import value_of
from .payload.elements import Coordinates, Key
from .payload.initial_payload import digits


@record
class Read:
    """An element that an iteration reads: its identity in the payload, and its place.

    Args:
        key, at: the tensor and element; the key is None for an operand of which only the sizes
            matter, and for a constant that is no element of the payload.
        parts: for an incomplete sum, the forms that distinguish its parts.
        since: the loops that initialize the sum again in each of their iterations.
        each: the number of consecutive iterations in each part; 0 where unknown.
        rows: the condition that the element holds a result; in rows beyond the end of a tile it is
            arbitrary.
    """

    key: Key | None
    at: Coordinates
    when: Formula
    outside: ir.Attribute | None = None
    parts: Coordinates = ()
    since: tuple[Symbol, ...] = ()
    each: int = 0
    rows: Formula = TRUE

    @property
    def constant(self) -> float | None:
        """The value, if it is a constant and no element of the payload."""
        return value_of(self.outside) if self.key is None else None


@record
class Label:
    """The identity of a buffer's elements.

    Args:
        key: the payload's tensor; None for elements that only hold a constant.
        cells: for each axis of the buffer, a symbol for the coordinate, or, on an axis of stages,
            for the number of which the coordinate is the remainder by `turns`; a form if the label
            holds only at that coordinate.
        at: the element of the payload, in terms of the cells and of loop counters.
        when: the condition under which the buffer holds that element; elsewhere it holds padding,
            with the value `outside`.
        parts, since, each, rows: as in `Read`, in terms of the cells.
    """

    key: Key | None
    cells: tuple[Symbol | Linear, ...] = ()
    turns: tuple[int, ...] = ()
    at: Coordinates = ()
    when: Formula = TRUE
    outside: ir.Attribute | None = None
    parts: Coordinates = ()
    since: tuple[Symbol, ...] = ()
    each: int = 0
    rows: Formula = TRUE

    def read(self, coordinates: Coordinates) -> Read | None:
        """The element at these coordinates; None where the label does not describe them."""
        table = self.within(coordinates)
        if table is None:
            return None
        at, parts = (tuple(form.put(table) for form in forms) for forms in (self.at, self.parts))

        def change(form: Linear) -> Linear:
            return form.put(table)

        when, rows = self.when.changed(change), where_bounds_leave_it(self.rows.changed(change))
        return Read(self.key, at, when, self.outside, parts, self.since, self.each, rows)

    @property
    def is_everywhere(self) -> bool:
        """Whether all elements of the buffer are one constant."""
        return self.key is None and self.rows == TRUE and not any(isinstance(cell, Linear) for cell in self.cells)

    def start(self, coordinates: Coordinates) -> Read | None:
        """The value of this element as the initial value of a sum: an element of the payload, or a
        known constant; else None."""
        found = Read(None, (), TRUE, self.outside) if self.is_everywhere else self.read(coordinates)
        return None if found is None or (found.key is None and found.constant is None) else found

    def is_in_place(self, shape: Sequence[int | None]) -> bool:
        """Whether each element of a buffer holds the payload's element with the same
        coordinates."""
        forms = (Linear.of(cell) if isinstance(cell, Symbol) else cell for cell in self.cells)
        return all(n == 1 or at == cell for n, at, cell in zip(shape, self.at, forms, strict=True))

    def within(self, coordinates: Coordinates) -> dict[Symbol, Linear] | None:
        """The values of the cells at these coordinates; None if the label does not describe
        these."""
        table: dict[Symbol, Linear] = {}
        for cell, turn, coordinate in zip(self.cells, self.turns, coordinates, strict=True):
            if isinstance(cell, Linear):
                if cell != coordinate:
                    return None
                continue
            whole = coordinate
            if turn:
                whole = remainder_of(coordinate, turn) or (coordinate if is_within(coordinate, turn) else None)
            if whole is None:
                return None
            table[cell] = whole
        return table


def between(labels: Sequence[Label], coordinates: Coordinates) -> list[Label]:
    """A label for all stages, interpolated from the labels of single stages: their elements must
    move by the same distance from stage to stage."""
    staged = [label for label in labels if any(isinstance(cell, Linear) and cell.is_constant for cell in label.cells)]
    if len(staged) < 2 or any(label.key != staged[0].key for label in staged):
        return []
    first = staged[0]
    axes = [n for n, cell in enumerate(first.cells) if isinstance(cell, Linear)]
    if len(axes) != 1 or any(not isinstance(label.cells[axes[0]], Linear) for label in staged):
        return []
    stage = Symbol("stage", "lane", NOTHING)
    numbers = [n.constant for label in staged if isinstance(n := label.cells[axes[0]], Linear)]
    low, high = coordinates[axes[0]].bounds()
    if low is None or high is None or not min(numbers) <= low <= high <= max(numbers):
        return []
    same = [first, *(_renamed(label, first) for label in staged[1:])]
    start, then = (label.cells[axes[0]] for label in same[:2])
    assert isinstance(start, Linear) and isinstance(then, Linear)
    if (then - start).constant != 1:
        return []

    def at_stage(one: Linear, other: Linear) -> Linear:
        return one + (Linear.of(stage) - start.constant) * (other - one).constant

    moves = all((other - one).is_constant for one, other in zip(first.at, same[1].at, strict=True))
    when, rows = _mixed(first.when, same[1].when, at_stage), _mixed(first.rows, same[1].rows, at_stage)
    if not moves or when is None or rows is None:
        return []
    at = tuple(at_stage(one, other) for one, other in zip(first.at, same[1].at, strict=True))
    made = replace(
        first, cells=tuple(stage if n in axes else c for n, c in enumerate(first.cells)), at=at, when=when, rows=rows
    )
    for label in same:
        there = made.read(tuple(Linear.of(c) if isinstance(c, Symbol) else c for c in label.cells))
        if there is None or there.at != label.at:
            return []
    return [made]


def agreed(label: Label, others: Sequence[Label], coordinates: Coordinates) -> Read | None:
    """The element that a label gives at these coordinates, if the labels of single stages, from the
    first iterations, give the same one. Padding may differ. None if they disagree, or if the label
    does not describe these coordinates."""
    found, table = label.read(coordinates), label.within(coordinates)
    if found is None or table is None:
        return None
    for other in others:
        single = [axis for axis, cell in enumerate(other.cells) if isinstance(cell, Linear)]
        if other is label or not single or len(other.cells) != len(label.cells):
            continue
        at = tuple(cell if isinstance(cell, Linear) else Linear.of(cell) for cell in other.cells)
        there = label.read(at)
        if there is None or (there.key, there.at) != (other.key, other.at):
            return None
        if (_parts(there.when), _parts(there.rows)) != (_parts(other.when), _parts(other.rows)):
            wholes = [table[cell] if isinstance(cell, Symbol) else cell for cell in label.cells]
            its = {cell: whole for cell, whole in zip(other.cells, wholes, strict=True) if isinstance(cell, Symbol)}
            here = both(*(equal(wholes[axis], at[axis]) for axis in single))
            when, rows = (f.changed(lambda form, its=its: form.put(its)) for f in (other.when, other.rows))
            when, rows = (
                either(both(here, one), both(here.negate(), its))
                for one, its in ((when, found.when), (rows, found.rows))
            )
            found = replace(found, when=when, rows=rows)
    return found


def _parts(formula: Formula) -> frozenset[Formula]:
    """The conjuncts that do not always hold."""
    parts = formula.parts if formula.kind == "and" else (formula,)
    lows = ((part, part.form.bounds()[0] if part.kind == "ge" and part.form is not None else None) for part in parts)
    return frozenset(part for part, low in lows if low is None or low < 0)


def _renamed(label: Label, like: Label) -> Label:
    """The label in terms of another one's cells."""
    pairs = zip(label.cells, like.cells, strict=True)
    table = {mine: its for mine, its in pairs if isinstance(mine, Symbol) and isinstance(its, Symbol)}
    forms = {mine: Linear.of(its) for mine, its in table.items()}
    cells = tuple(table.get(c, c) if isinstance(c, Symbol) else c for c in label.cells)
    at = tuple(form.put(forms) for form in label.at)
    when, rows = (formula.changed(lambda form: form.put(forms)) for formula in (label.when, label.rows))
    return replace(label, cells=cells, at=at, when=when, rows=rows)


def _mixed(one: Formula, other: Formula, mix: Callable[[Linear, Linear], Linear]) -> Formula | None:
    """Two formulas of one shape, combined form by form by `mix`; None for formulas of different
    shapes."""
    if one.kind != other.kind or len(one.parts) != len(other.parts):
        return None if one != TRUE else other
    parts = [_mixed(a, b, mix) for a, b in zip(one.parts, other.parts, strict=True)]
    if None in parts:
        return None
    form = None if one.form is None or other.form is None else mix(one.form, other.form)
    if one.form is not None and other.form is not None and not (other.form - one.form).is_constant:
        return None
    return Formula(one.kind, form, tuple(p for p in parts if p is not None))


def in_terms(form: Linear, ways: Sequence[tuple[Symbol, Linear]]) -> Linear:
    """A form in which cells replace the forms that they are equal to: if the cell `c` is `8*l + t`,
    `128*b + 8*l + t` becomes `128*b + c`."""
    for cell, whole in ways:
        if (form - whole).is_constant and not whole.is_constant:
            return Linear.of(cell) + (form - whole).constant
    form = _whole_in_terms(form, ways)
    for term, count in list(form.terms.items()):
        if isinstance(term, Floor) or term.made is not None:
            made = (
                _floor_in_terms(term, ways)
                if isinstance(term, Floor)
                else term.changed(lambda part: in_terms(part, ways))
            )
            form = form - Linear({term: count}, 0) + made * count
    return _whole_in_terms(form, ways)


def digits_of_cells(ways: Sequence[tuple[Symbol, Linear]], outer: Set[Symbol]) -> dict[Symbol | Floor, Linear]:
    """Each digit of a cell in terms of the cell: if `c = 16*(w/4) + t` with t < 16, then `w/4` is
    `floor(c/16)`, and t is the remainder.

    Args:
        outer: the symbols that stay as they are: counters of loops around the buffer's allocation.
    """
    out: dict[Symbol | Floor, Linear] = {}
    for cell, whole in ways:
        known = {term: n for term, n in whole.terms.items() if all(s in outer for s in Linear({term: 1}, 0).symbols())}
        parts = sorted(((n, term) for term, n in whole.terms.items() if term not in known), key=lambda part: part[0])
        below: int | None = 0
        for n, term in parts:
            low, high = Linear({term: 1}, 0).bounds()
            if below is None or n <= below or low != 0:
                break
            below = None if high is None else below + n * high
        else:
            rest = Linear.of(cell) - Linear(known, whole.constant)
            for n, term in reversed(parts):
                out[term] = rest.floordiv(n)
                rest = rest - out[term] * n
    for whole, form in numbers_of((whole, Linear.of(cell)) for cell, whole in ways).items():
        if (symbol := whole.alone) is not None and symbol not in outer:
            out.setdefault(symbol, form)
    return out


def numbers_of(equations: Iterable[tuple[Linear, Linear]]) -> dict[Linear, Linear]:
    """The equations, as left form → right form, and an equation for each number of which two left
    forms are the quotient and the remainder: from those of `floor(n/7)` and `n - 7*floor(n/7)`
    follows one of n."""
    found = dict(equations)
    numbers = list(found)
    for below in numbers:
        floors = [term for term, n in below.terms.items() if isinstance(term, Floor) and n == -term.divisor]
        for floor, above in ((floor, above) for floor in floors for above in [*numbers] if floor in above.terms):
            whole = above * floor.divisor + below
            if floor not in whole.terms and whole not in found:
                found[whole] = found[above] * floor.divisor + found[below]
                numbers.append(whole)
    return found


def with_digits(form: Linear, table: Mapping[Symbol | Floor, Linear]) -> Linear:
    """A form with the digits replaced."""
    out = Linear.of(form.constant)
    for term, count in form.terms.items():
        if term in table:
            out = out + table[term] * count
        elif isinstance(term, Floor):
            out = out + with_digits(term.numerator, table).floordiv(term.divisor) * count
        else:
            out = out + term.changed(lambda part: with_digits(part, table)) * count
    return out


def _whole_in_terms(form: Linear, ways: Sequence[tuple[Symbol, Linear]]) -> Linear:
    for cell, whole in ways:
        counts = {divmod(form.terms.get(term, 0), n) for term, n in whole.terms.items()}
        if len(counts) == 1 and (count := next(iter(counts)))[0] and not count[1]:
            form = form - whole * count[0] + Linear.of(cell) * count[0]
    return form


def _floor_in_terms(floor: Floor, ways: Sequence[tuple[Symbol, Linear]]) -> Linear:
    """`floor(t/16)` is `floor(c/16) - 4*w`, if c is `64*w + t`."""
    for cell, whole in ways:
        rest = whole - floor.numerator
        if whole.terms and rest.content % floor.divisor == 0:
            return Linear.of(cell).floordiv(floor.divisor) - rest.floordiv(floor.divisor)
    return in_terms(floor.numerator, ways).floordiv(floor.divisor)


def remainder_of(coordinate: Linear, divisor: int) -> Linear | None:
    """The number of which a coordinate is the remainder; a constant is its own remainder. None for
    any other coordinate."""
    if coordinate.is_constant:
        return coordinate
    for term, n in coordinate.terms.items():
        if isinstance(term, Floor) and term.divisor == divisor and n == -divisor:
            whole = coordinate + Linear({term: divisor}, 0)
            return whole if whole == term.numerator else None
        if isinstance(term, Floor) and n % divisor == 0 and n < 0:
            whole = coordinate + Linear({term: -n}, 0)
            if whole.modulo(divisor) == coordinate:
                return whole
    return None


def is_within(form: Linear, size: int) -> bool:
    low, high = form.bounds()
    return low is not None and high is not None and low >= 0 and high < size


def unflattened(root: RootBuffer, position: Linear) -> Coordinates | None:
    """Coordinates of a position in a plain buffer."""
    if not root.plain or None in root.shape[1:]:
        return None
    out: list[Linear] = []
    for axis in range(len(root.shape)):
        step = prod(n or 1 for n in root.shape[axis + 1 :])
        out.append(position.floordiv(step))
        position = position - out[-1] * step
    return tuple(out)


def in_other_rows(values: Values, root: RootBuffer, sizes: Sequence[Linear], at: Coordinates) -> Coordinates | None:
    """Converts coordinates between two row-major shapes of one buffer: axes of one shape are digits
    of axes of the other."""
    if None in root.shape and not isinstance(root.value, ir.Value):
        return None
    shape = [Linear.of(n) if n is not None else values.extent(root.value, axis) for axis, n in enumerate(root.shape)]
    out: list[Linear] = []
    for place, n in zip(at, sizes, strict=True):
        first, product = len(out), Linear.of(1)
        for size in shape[first:]:
            if product == n and size != Linear.of(1):
                break
            product = values.product(product, size)
            out.append(size)
        if product != n:
            break
        out[first:] = digits(values, place, out[first:])
    else:
        return tuple(out) if len(out) == len(shape) else None
    position = Linear.of(0)
    for place, n in zip(at, sizes, strict=True):
        position = values.product(position, n) + place
    return unflattened(root, position)


def collect_radices(form: Linear, found: dict[Symbol, set[int]]) -> None:
    """Collects, for each counter, the numbers by which a form divides it: `floor(8*i/64)` divides i
    by 8. Factors of products are included."""
    for term in form.terms:
        if not isinstance(term, Floor):
            for factor in term.operands(PRODUCT):
                collect_radices(factor, found)
            continue
        (symbol, factor), *more = term.numerator.terms.items()
        radix, rest = divmod(term.divisor, abs(factor))
        if not more and isinstance(symbol, Symbol) and symbol.kind != "parameter" and not rest and radix > 1:
            found.setdefault(symbol, set()).add(radix)
        collect_radices(term.numerator, found)


def where_bounds_leave_it(condition: Formula) -> Formula:
    """A condition without the conjuncts that the bounds of its symbols imply."""
    if condition.kind in ("and", "or"):
        return (both if condition.kind == "and" else either)(*map(where_bounds_leave_it, condition.parts))
    low, high = (None, None) if condition.form is None else condition.form.bounds()
    holds = low is not None and low >= 0 and (condition.kind == "ge" or low == high == 0)
    return TRUE if holds else condition


def in_range_of(form: Linear, symbol: Symbol) -> list[Formula]:
    """The conditions under which a form is in the range of a symbol."""
    ends = [] if symbol.low is None else [at_least(form, symbol.low)]
    return ends if symbol.high is None else [*ends, at_least(form * -1, -symbol.high)]


def run_of(form: Linear, cell: Linear, outer: Set[Symbol]) -> list[Formula] | None:
    """The conditions under which a cell is a value of a form. The form's counters must be digits,
    so that it takes every number between its first and its last value; None otherwise."""
    free = {s for s in form.symbols() if s not in outer and s.kind != "parameter"}
    known = {term: n for term, n in form.terms.items() if free.isdisjoint(Linear({term: 1}, 0).symbols())}
    low, total = Linear(known, form.constant), 1
    for n, term in sorted(((n, t) for t, n in form.terms.items() if t not in known), key=lambda each: each[0]):
        if n != total or not isinstance(term, Symbol) or term.low != 0:
            return None
        if term.high is None:  # of more digits
            return [at_least(cell, low)] if n == max(form.terms[t] for t in form.terms if t not in known) else None
        total *= term.high + 1
    return [at_least(cell, low), less(cell, low + total)]


def conjuncts_of(formula: Formula) -> tuple[Formula, ...]:
    """The conjuncts of a formula."""
    return formula.parts if formula.kind == "and" else (formula,)


def origin(root: RootBuffer) -> Coordinates:
    return tuple(Linear.of(0) for _ in root.shape)


def within(at: Coordinates, ends: Iterable[Linear]) -> Formula:
    """Whether each coordinate is at least 0 and below its end."""
    return both(*(part for form, end in zip(at, ends, strict=True) for part in (at_least(form, 0), less(form, end))))
