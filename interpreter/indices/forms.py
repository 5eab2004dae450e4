"""Linear forms of indices: `constant + Σ coefficient * key`, where a key is a value, or a form divided by a number.

`Neighbours` makes them of values, one of which is `lanes * u + e`: what is the same for all e, or goes up by one with it, shows in
the forms; and so does what an index is a multiple of.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..ir.mlir import ir, producer
from .arithmetic import Bound, constant_of

DELINEARIZE = "affine.delinearize_index"
LINEARIZE = "affine.linearize_index"
Number = tuple[int, int]
"""Which value: its rank (block ids first, thread ids last), and its place in the order of first use."""
Key = tuple
"""What a summand is, without its coefficient: `("value", n)`, or `("floordiv" | "ceildiv" | "mod", linear form, divisor)`."""


@dataclass(frozen=True)
class IndexForm:
    """`constant + Σ coefficient * key`."""

    terms: tuple[tuple[Key, int], ...] = ()
    constant: int = 0

    def plus(self, other: IndexForm, factor: int = 1) -> IndexForm:
        if not other.terms:  # mostly so, and the terms are in order
            return IndexForm(self.terms, self.constant + other.constant * factor)
        total = dict(self.terms)
        for key, coefficient in other.terms:
            total[key] = total.get(key, 0) + coefficient * factor
        kept = tuple(sorted(((k, c) for k, c in total.items() if c), key=lambda term: _order(term[0])))
        return IndexForm(kept, self.constant + other.constant * factor)

    @property
    def content(self) -> int:
        """The largest number that divides it, whatever the values are; 0 of the form 0."""
        return math.gcd(self.constant, *(coefficient * _factor(key) for key, coefficient in self.terms))

    def values(self) -> set[Number]:
        """The numbers of the values in it."""
        return {number for key, _ in self.terms for number in values_in(key)}


def _factor(key: Key) -> int:
    """A number that divides a summand, its coefficient left aside."""
    return math.gcd(key[1].content, key[2]) if key[0] == "mod" else 1


Divide = Callable[[str, IndexForm, int], IndexForm | None]


def expression(e: ir.AffineExpr, dims: int, operands: Sequence[IndexForm], divide: Divide) -> IndexForm | None:
    """The form of an affine expression in terms of its operands', symbols behind the dimensions; None where it is divided by a
    value, or multiplied by one."""
    if isinstance(e, ir.AffineConstantExpr):
        return IndexForm((), e.value)
    if isinstance(e, ir.AffineDimExpr):
        return operands[e.position]
    if isinstance(e, ir.AffineSymbolExpr):
        return operands[dims + e.position]
    if not isinstance(e, ir.AffineBinaryExpr):
        return None
    left, right = (expression(side, dims, operands, divide) for side in (e.lhs, e.rhs))
    if left is None or right is None:
        return None
    if isinstance(e, ir.AffineAddExpr):
        return _with_remainders(left.plus(right))
    if right.terms:
        return None
    if isinstance(e, ir.AffineMulExpr):
        return IndexForm().plus(left, right.constant)
    divisions = {"floordiv": ir.AffineFloorDivExpr, "ceildiv": ir.AffineCeilDivExpr, "mod": ir.AffineModExpr}
    return divide(next(kind for kind, cls in divisions.items() if isinstance(e, cls)), left, right.constant)


def values_in(key: Key) -> set[Number]:
    return {key[1]} if key[0] == "value" else key[1].values()


def _order(key: Key) -> tuple:
    return (min(values_in(key), default=(0, 0)), key[0], repr(key))


def _with_remainders(linear: IndexForm) -> IndexForm:
    """`a*x - a*b * (x floordiv b)` → `a * (x mod b)`, and `a*x - a * (x mod b)` → `a*b * (x floordiv b)`."""
    for key, coefficient in linear.terms:
        if key[0] != "floordiv" or coefficient % key[2]:
            continue
        _, divided, divisor = key
        factor = -coefficient // divisor
        without = linear.plus(divided, -factor).plus(IndexForm(((key, coefficient),)), -1)
        if len(without.terms) < len(linear.terms) - len(divided.terms) + (1 if divided.terms else 0):
            return _with_remainders(without.plus(IndexForm(((("mod", divided, divisor), factor),))))
    for key, coefficient in linear.terms:
        if key[0] != "mod":
            continue
        _, divided, divisor = key
        without = linear.plus(divided, coefficient).plus(IndexForm(((key, coefficient),)), -1)
        if len(without.terms) < len(linear.terms) - len(divided.terms):
            return _with_remainders(without.plus(IndexForm(((("floordiv", divided, divisor), -coefficient * divisor),))))
    return linear


def divided(kind: str, form: IndexForm, divisor: int) -> IndexForm:
    """A form divided by a positive number, or the remainder: what the divisor divides, or is too small to matter, is taken out.

    `(64 * k + 4 * u + 3) floordiv 64` is `k + (4 * u) floordiv 64`, and `mod 64` is `(4 * u) mod 64 + 3`.
    """
    if kind == "ceildiv":
        return divided("floordiv", form.plus(IndexForm((), divisor - 1)), divisor)
    whole = tuple((key, c // divisor) for key, c in form.terms if c % divisor == 0)
    rest = tuple((key, c) for key, c in form.terms if c % divisor)
    small = form.constant % math.gcd(divisor, IndexForm(rest).content)
    left = IndexForm(rest, form.constant % divisor - small)
    term = IndexForm((((kind, left, divisor), 1),)) if rest else IndexForm()
    return term.plus(IndexForm(whole, form.constant // divisor) if kind == "floordiv" else IndexForm((), small))


class Neighbours:
    """Forms of index values, where an index in `last` is the e-th of `lanes` neighbours from a multiple of `lanes` on."""

    def __init__(self, last: Sequence[ir.Value] = (), lanes: int = 1) -> None:
        self._last, self.lanes = last, lanes
        self._numbers: dict[tuple[ir.Value, int], Number] = {}
        self._varying: dict[ir.Value, bool] = dict.fromkeys(last, True)
        self._forms: dict[tuple[ir.Value, int], IndexForm] = {}

    def varies(self, value: ir.Value) -> bool:
        """Whether the value depends on the last dimension's index."""
        if value not in self._varying:
            op = producer(value)
            self._varying[value] = op is not None and any(map(self.varies, op.operands))
        return self._varying[value]

    def steady(self, value: ir.Value) -> bool:
        """Whether the value is the same for all neighbours."""
        return not self.varies(value) or all(self.of(value, e) == self.of(value) for e in range(1, self.lanes))

    def steps(self, value: ir.Value) -> bool:
        """Whether the value goes up by one from each neighbour to the next, from a multiple of their number on."""
        first = self.of(value)
        steps = (self.of(value, e) == first.plus(IndexForm((), e)) for e in range(1, self.lanes))
        return first.content % self.lanes == 0 and all(steps)

    def of(self, value: ir.Value, e: int = 0) -> IndexForm:
        """The form of a value for the e-th neighbour."""
        key = value, e if self.varies(value) else 0
        if key not in self._forms:
            self._forms[key] = self._of(*key)
        return self._forms[key]

    def _of(self, value: ir.Value, e: int) -> IndexForm:
        if value in self._last:
            return IndexForm(((("value", (0, 0)), self.lanes),), e)
        op = producer(value)
        if op is None:
            return self._unknown(value, e, self._of_counter(value))
        if op.name == "arith.constant" and isinstance(value.type, ir.IndexType):
            return IndexForm((), constant_of(value) or 0)
        forms = [self.of(operand, e) for operand in op.operands] if op.name in _READ else []
        match op.name:
            case "affine.apply" | "affine.min" | "affine.max":
                mapping = ir.AffineMapAttr(op.attributes["map"]).value
                results = [expression(r, mapping.n_dims, forms, divided) for r in mapping.results]
                known = [form for form in results if form is not None]
                if len(known) == len(results) == 1:
                    return known[0]
                return self._unknown(value, e, math.gcd(*(f.content for f in known)) if len(known) == len(results) else 1)
            case "arith.addi" | "arith.subi":
                return forms[0].plus(forms[1], 1 if op.name == "arith.addi" else -1)
            case "arith.muli":
                number, form = sorted(forms, key=lambda form: len(form.terms))
                product = IndexForm().plus(form, number.constant)
                return product if not number.terms else self._unknown(value, e, number.content * form.content)
            case "affine.delinearize_index" if len(forms) == 1:
                return self._digit(op, ir.OpResult(value).result_number, forms[0])
        return self._unknown(value, e, 1)

    def _digit(self, op: ir.Operation, position: int, form: IndexForm) -> IndexForm:
        """A digit of an index: it is divided by the sizes of the digits behind; what is left of those in front goes."""
        sizes = list(ir.DenseI64ArrayAttr(op.attributes["static_basis"]))[1 - len(op.results) :]
        form = divided("floordiv", form, math.prod(sizes[position:]))
        return divided("mod", form, sizes[position - 1]) if position else form

    def _of_counter(self, variable: ir.Value) -> int:
        """A number that divides the counter of a sequential loop."""
        loop = ir.BlockArgument(variable).owner.owner.operation
        if loop.name != "scf.for" or ir.BlockArgument(variable).arg_number != 0:
            return 1
        return math.gcd(self.of(loop.operands[0]).content, self.of(loop.operands[2]).content)

    def _unknown(self, value: ir.Value, e: int, factor: int) -> IndexForm:
        """A value of which nothing is known but what divides it, and whether it is another one for each neighbour."""
        key = value, e if self.varies(value) else 0
        return IndexForm(((("value", self._numbers.setdefault(key, (1, len(self._numbers)))), factor or 1),))


_READ = ("affine.apply", "affine.min", "affine.max", "arith.addi", "arith.subi", "arith.muli", DELINEARIZE)


def divisible(bound: Bound, divisor: int) -> bool:
    """Whether the index is proven to be a multiple of `divisor`."""
    return (bound if isinstance(bound, int) else Neighbours().of(bound).content) % divisor == 0
