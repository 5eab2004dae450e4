"""Whether an op of a kernel computes what an iteration of the payload's op does, where the two differ
in form: producers were fused into it, others were read through (slices, reshapes, padding,
concatenations), or elements come from several pieces of a buffer.

Both are expressions of elements. These are compared from the results down, an op that one of the
two reads in memory is replaced by what it computes, and choices by index are followed case by case:

    kernel    tanh(if i < 5 then x[i] else y[i - 5])
    payload   tanh(c[i])                             c is the concatenation of x and y, so c[i] is: if i < 5 then …

The iteration is any that makes the two equal: equations of elements propose one, and the comparison
proves it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ....dsl.records import record
from ...indices.linear import NOTHING, TRUE, Formula, Linear, Symbol, involved, redefined
from ...ir.mlir import ir, ops_of, producer
from ...ir.structured import body_of, segments, structure, yielded
from ...reductions.identities import COMMUTATIVE, IDEMPOTENT
from ..solver import Unknown, is_zero, point_where
from .labels import Label, Read
from .payload.bodies import is_of_data, value_of
from .payload.elements import Coordinates, Element, Key, Piece
from .payload.payloads import PayloadOps
from .points import Executes, determined


@record
class Leaf:
    """An element of a tensor of the payload, or of a buffer of several pieces; or what an output
    held before."""

    key: Key
    at: tuple[Linear, ...]
    kind: str


@record
class Constant:
    """A number; `rounded`: the result of a function that libraries round in different ways."""

    value: float | int
    rounded: bool = False


@record
class Index:
    """A number that is computed of indices."""

    form: Linear


@record(eq=False)
class OpBody:
    """An iteration of a structured op.

    Args:
        op: the op.
        put: changes forms of its iteration to those of the comparison.
        read: what an argument of its body, or a load in it, is.
    """

    op: ir.Operation
    put: Callable[[Linear], Linear]
    read: Callable[[ir.Value], Expression | None]


@record
class Term:
    """A value in the body of an op, not yet looked into."""

    value: ir.Value
    scope: OpBody


@record
class ByCase:
    when: Formula
    then: Expression | None
    otherwise: Expression | None


@record
class ComputedBy:
    """An op on values."""

    name: tuple[str, str, str]
    operands: tuple[Expression, ...]


Expression = Leaf | Constant | Index | Term | ByCase | ComputedBy
ACCUMULATOR = "accumulator"
"""The kind of key of what a reduction has summed up so far."""
_UNDOES = {"arith.negf": "arith.negf", "arith.truncf": "arith.extf", "arith.trunci": "arith.extsi"}
"""Ops that undo another one, exactly."""
_FOLDED: dict[str, Callable[..., Any]] = {
    "addf": np.add, "subf": np.subtract, "mulf": np.multiply, "divf": np.divide, "negf": np.negative, "absf": np.abs,
    "maximumf": np.maximum, "minimumf": np.minimum, "tanh": np.tanh, "exp": np.exp, "sin": np.sin, "cos": np.cos, "sqrt": np.sqrt,
    "extf": np.positive, "truncf": np.positive,
}  # fmt: skip
_ROUNDED = 2.0**-20
"""The relative difference of functions' results that are rounded in different ways."""
MOST = 4000
"""Steps of a comparison."""


@dataclass
class Equality:
    """A comparison.

    Args:
        payload: the untouched module.
        equations: of coordinates, the payload's first: while an iteration is searched.
    """

    payload: PayloadOps
    equations: list[tuple[Linear, Linear]] | None = None
    _of_data: dict[Symbol, Term] = field(default_factory=dict)
    _steps: int = 0
    _possible: dict[tuple[Formula, ...], bool] = field(default_factory=dict)
    _same: dict[tuple[Expression, Expression, tuple[Formula, ...]], bool] = field(default_factory=dict)

    def same(self, mine: Expression | None, its: Expression | None, cases: tuple[Formula, ...]) -> bool:
        """Whether two expressions are equal wherever the formulas hold.

        Args:
            mine, its: the kernel's, and the payload's.
        """
        if mine is None or its is None:
            return False
        asked = (mine, its, cases)
        if asked not in self._same:
            self._steps += 1
            self._same[asked] = self._steps < MOST and self._are_same(*asked)
        return self._same[asked]

    def _are_same(self, mine: Expression, its: Expression, cases: tuple[Formula, ...]) -> bool:
        one, other = self._opened(mine), self._opened(its)
        if one is None or other is None:
            return False
        if isinstance(one, ByCase) and isinstance(other, ByCase) and self.equations is not None:
            return self.same(one.then, other.then, cases) | self.same(one.otherwise, other.otherwise, cases)
        for choice, arms in ((one, lambda arm: (arm, other)), (other, lambda arm: (one, arm))):
            if isinstance(choice, ByCase):
                parts = [(choice.when, choice.then), (choice.when.negate(), choice.otherwise)]
                asked = [((*cases, when), arm) for when, arm in parts]
                if self.equations is not None:
                    return max([self.same(*arms(arm), cases) for _, arm in asked])  # each arm has equations
                return all(self.same(*arms(arm), more) for more, arm in asked if self._is_possible(more))
        if isinstance(one, Leaf) and isinstance(other, Leaf) and one.key == other.key:
            return (one.kind == other.kind or "" in (one.kind, other.kind)) and self._at_one_place(one, other, cases)
        if isinstance(other, Leaf) and (made := self._made(other)) is not None:
            return self.same(one, made, cases)
        if (
            isinstance(other, ComputedBy)
            and (folded := self._folded(other)) is not None
            and self.same(one, folded, cases)
        ):
            return True
        if isinstance(one, Leaf) and (made := self._made(one)) is not None:
            return self.same(made, other, cases)
        if isinstance(one, ComputedBy) and isinstance(other, ComputedBy) and one.name == other.name:
            orders = [other.operands, other.operands[::-1]] if one.name[0] in COMMUTATIVE else [other.operands]
            if any(all(map(lambda a, b: self.same(a, b, cases), one.operands, order)) for order in orders):
                return True
        if isinstance(one, Index) and isinstance(other, Index):
            return self._equal(one.form, other.form, cases)
        return isinstance(one, Constant) and isinstance(other, Constant) and _is_one(one, other)

    def _folded(self, apply: ComputedBy) -> Expression | None:
        """One of the operands, where it is the result for all numbers: those that upstream folds."""
        name, operands = apply.name[0], apply.operands
        numbers = [self._opened_number(each) for each in operands]
        known = [each for each in numbers if each is not None]
        if len(known) == len(operands) and (found := _computed(name, apply.name[2], known)) is not None:
            return found
        inner = self._opened(operands[0]) if name in _UNDOES else None
        if isinstance(inner, ComputedBy) and inner.name[0] == _UNDOES[name]:
            before = inner.operands[0]
            kind = str(before.value.type) if isinstance(before, Term) else ""
            return before if kind == apply.name[2] else None
        pair = operands[1:] if name == "arith.select" else operands if name in IDEMPOTENT else ()
        return pair[0] if len(pair) == 2 and Equality(self.payload).same(pair[0], pair[1], ()) else None

    def _opened_number(self, expression: Expression) -> Constant | None:
        found = self._opened(expression)
        while isinstance(found, Leaf) and (made := self._made(found)) is not None:
            found = self._opened(made)
        if isinstance(found, ComputedBy):
            folded = self._folded(found)
            return None if folded is None else self._opened_number(folded)
        return found if isinstance(found, Constant) else None

    def _is_possible(self, cases: tuple[Formula, ...]) -> bool:
        if cases not in self._possible:
            try:
                self._possible[cases] = point_where(cases) is not None
            except Unknown:
                self._possible[cases] = True
        return self._possible[cases]

    def _at_one_place(self, one: Leaf, other: Leaf, cases: tuple[Formula, ...]) -> bool:
        if len(one.at) != len(other.at):
            return False
        return all(map(lambda a, b: self._equal(a, b, cases), one.at, other.at))

    def _equal(self, mine: Linear, its: Linear, cases: tuple[Formula, ...]) -> bool:
        """Whether two numbers are equal; with a part that depends on data, whether that is computed
        equally."""
        asked, found = ([s for s in involved(form) if s in self._of_data] for form in (mine, its))
        if len(asked) != len(found):
            return False
        for one, other in zip(asked, found, strict=True):
            if not self.same(self._of_data[one], self._of_data[other], cases):
                return False
            its = its.put({other: Linear.of(one)})
        if self.equations is not None:
            self.equations.append((its, mine))
            return True
        return is_zero(mine - its, cases)

    def _at(self, at: Coordinates, scope: OpBody) -> Coordinates:
        """Coordinates in an iteration; what depends on data is a symbol of this iteration."""
        for symbol in [s for s in involved(*at) if s in self.payload.of_data]:
            own = self.payload.values.fresh("opaque", NOTHING)
            self._of_data[own] = Term(self.payload.of_data[symbol], scope)
            at = tuple(form.put({symbol: Linear.of(own)}) for form in at)
        return tuple(map(scope.put, at))

    # ---- expressions -------------------------------------------------------------------------------------------------

    def _opened(self, expression: Expression) -> Expression | None:
        """An expression that is no value in a body; None where it is unknown."""
        while isinstance(expression, Term):
            if (found := self._open(expression.value, expression.scope)) is None:
                return None
            expression = found
        return expression

    def _open(self, value: ir.Value, scope: OpBody) -> Expression | None:
        body, values = body_of(scope.op), self.payload.values
        if (read := scope.read(value)) is not None:
            return read
        if (made := producer(value)) is None:
            return None
        if made.name == "arith.constant":
            return _constant(made.attributes["value"])
        if made.name in ("arith.select", "scf.if"):
            arms = list(made.operands)[1:]
            if made.name == "scf.if":
                number = list(made.results).index(value)
                arms = [ops_of(region.blocks[0])[-1].operands[number] for region in made.regions]
            then, otherwise = (Term(arm, scope) for arm in arms)
            if not is_of_data(made.operands[0], body):
                return ByCase(values.condition(made.operands[0]).changed(scope.put), then, otherwise)
            return ComputedBy(("arith.select", "", str(value.type)), (Term(made.operands[0], scope), then, otherwise))
        if not is_of_data(value, body) and isinstance(value.type, ir.IndexType | ir.IntegerType):
            if str(value.type) == "i1":
                return ByCase(values.condition(value).changed(scope.put), Constant(-1), Constant(0))
            form = scope.put(values.linear(value))
            return Constant(form.constant) if form.is_constant else Index(form)
        if len(made.regions) or len(made.results) != 1 or made.name.split(".")[0] not in ("arith", "math"):
            return None
        predicate = str(made.attributes["predicate"]) if "predicate" in made.attributes else ""
        return ComputedBy((made.name, predicate, str(value.type)), tuple(Term(each, scope) for each in made.operands))

    def _made(self, leaf: Leaf) -> Expression | None:
        """What an element is computed from, by one op, or which element of another tensor it is."""
        if pieces := self.payload.elements.pieces_at(leaf.key, leaf.at):
            return _chain(pieces, leaf.kind)
        of = self.payload.at(leaf.key[1]) if leaf.key[0] == "result" else None
        if of is None or of.reductions:
            return None
        known = determined(list(zip(of.writes[leaf.key[2]].at, leaf.at, strict=True)), of.dims)
        return None if known is None else self.of_payload(of.location, known)[leaf.key[2]]

    def of_payload(self, location: str, point: dict[Symbol, Linear]) -> list[Expression]:
        """The results of an op of the payload, in an iteration."""
        of, op = self.payload.at(location), self.payload.untouched.places[location]
        assert of is not None and op is not None
        inputs, body = segments(op)[0], body_of(op)

        def put(form: Linear) -> Linear:
            return form.put(redefined(point, form.symbols()))

        def element(found: Element, kind: ir.Type) -> Expression | None:
            leaf = Leaf(found.key, self._at(found.at, scope), str(kind))
            return _masked(leaf, found.when.changed(put), found.outside)

        def read(value: ir.Value) -> Expression | None:
            if (found := of.given.get(value)) is not None:
                return element(found, value.type)
            if value.owner != body:
                return None
            number = ir.BlockArgument(value).arg_number - inputs
            if number < 0:
                return Term(op.operands[number + inputs], scope)
            if of.reductions:
                return Leaf((ACCUMULATOR, "", number), (), str(value.type))
            held, begin = value_of(of.starts[number]), of.begins[number]
            return Constant(held) if held is not None else None if begin is None else element(begin, value.type)

        scope = OpBody(op, put, read)
        return [Term(value, scope) for value in yielded(op)]

    def of_kernel(self, execution: Executes, previous: Sequence[Read | None]) -> list[Expression]:
        """The results of an op of a kernel.

        Args:
            previous: by output, what it holds before.
        """
        op, body = execution.op, body_of(execution.op)
        inputs, reads = segments(op)[0], dict(zip(execution.values, execution.reads, strict=True))

        def element(found: Read | None, kind: ir.Type) -> Expression | None:
            if found is None or found.rows != TRUE or found.parts:
                return None
            if found.key is None:
                held = found.constant
                return None if held is None else Constant(held)
            return _masked(Leaf(found.key, self._at(found.at, scope), str(kind)), found.when, found.outside)

        def read(value: ir.Value) -> Expression | None:
            if value.owner != body:
                return element(reads[value], value.type) if value in reads else None
            number = ir.BlockArgument(value).arg_number
            if number < inputs:
                is_shaped = isinstance(op.operands[number].type, ir.ShapedType)
                return element(reads[value], value.type) if is_shaped else Term(op.operands[number], scope)
            if execution.of.reductions:
                return Leaf((ACCUMULATOR, "", number - inputs), (), str(value.type))
            return element(previous[number - inputs], value.type)

        scope = OpBody(op, lambda form: form, read)
        return [Term(value, scope) for value in yielded(op)]


def _masked(leaf: Leaf, when: Formula, outside: ir.Attribute | None) -> Expression:
    return leaf if when == TRUE else ByCase(when, leaf, _constant(outside))


def _constant(attribute: ir.Attribute | None) -> Constant | None:
    held = value_of(attribute)
    return None if held is None else Constant(held)


def _chain(pieces: Sequence[Piece], kind: str) -> Expression | None:
    """The first of some elements with a condition that holds."""
    out: Expression | None = None
    for when, piece in reversed(pieces):
        one = (
            _masked(Leaf(piece.key, piece.at, kind), piece.when, piece.outside)
            if isinstance(piece, Element)
            else _constant(piece)
        )
        out = one if when == TRUE else ByCase(when, one, out)
    return out


def _is_one(one: Constant, other: Constant) -> bool:
    if one.value == other.value or (one.value != one.value and other.value != other.value):
        return True
    return (one.rounded or other.rounded) and math.isclose(one.value, other.value, rel_tol=_ROUNDED, abs_tol=0.0)


def _computed(name: str, kind: str, operands: Sequence[Constant]) -> Constant | None:
    """The result of an op on numbers, as upstream folds it."""
    of_kind = {"f32": np.float32, "f64": np.float64}.get(kind)
    dialect, _, short = name.partition(".")
    if of_kind is None or short not in _FOLDED:
        return None
    with np.errstate(all="ignore"):
        found = _FOLDED[short](*(of_kind(each.value) for each in operands))
    return Constant(
        float(of_kind(found)), (dialect == "math" and short != "absf") or any(each.rounded for each in operands)
    )


def _proposed(execution: Executes) -> list[tuple[Linear, Linear]]:
    """Equations for dimensions that no element shows: results are at their places in a buffer of their
    shape, and a reduction is made in one piece."""
    of, found = execution.of, list[tuple[Linear, Linear]]()
    for write, cell in zip(of.writes, execution.cells, strict=False):
        if cell is not None and len(cell[1]) == len(write.at):
            found += zip(write.at, cell[1], strict=True)
    own = execution.symbols[len(execution.symbols) - len(structure(execution.op).iterators) :]
    if len(own) == len(of.dims):
        found += ((Linear.of(of.dims[d]), Linear.of(own[d])) for d in of.reductions)
    return found


def are_same(
    one: Element | ir.Attribute | None,
    other: Element | ir.Attribute | None,
    cases: Sequence[Formula],
    payload: PayloadOps,
) -> bool:
    """Whether two elements, or constants, are equal wherever the formulas hold."""
    mine, its = (_chain([(TRUE, each)], "") for each in (one, other))
    return Equality(payload).same(mine, its, tuple(cases))


def iteration(
    execution: Executes, before: Sequence[Sequence[Label]], payload: PayloadOps, others: Sequence[tuple[Linear, Linear]]
) -> Coordinates | None:
    """The iteration of the payload's op with the results that an execution computes; None where none
    is known.

    Args:
        before: by output, the labels of what it holds before.
        others: equations that propose an iteration, where elements leave it open.
    """
    of, found = execution.of, list[tuple[Linear, Linear]]()
    if of.of_parts:
        return None
    pairs = zip(execution.cells, before, strict=True)
    previous = [labels[-1].start(cell[1]) if cell is not None and labels else None for cell, labels in pairs]
    searching = Equality(payload, found)
    mine = searching.of_kernel(execution, previous)
    its = searching.of_payload(of.location, {d: Linear.of(d) for d in of.dims})
    if len(mine) != len(its) or not all(map(lambda a, b: searching.same(a, b, ()), mine, its)):
        return None
    proposed = [*others, *_proposed(execution)]
    points = (determined(each, of.dims) for each in ([*found, *proposed], [*proposed, *found]))
    tried: list[Coordinates] = []
    for point in (tuple(known[d] for d in of.dims) for known in points if known is not None):
        if point not in tried and _is_at(execution, previous, payload, point):
            return point
        tried.append(point)
    return None


def _is_at(execution: Executes, previous: Sequence[Read | None], payload: PayloadOps, point: Coordinates) -> bool:
    """Whether an execution computes the results of an iteration."""
    proving, cases = Equality(payload), tuple(execution.guards)
    mine = proving.of_kernel(execution, previous)
    its = proving.of_payload(execution.of.location, dict(zip(execution.of.dims, point, strict=True)))
    return all(map(lambda a, b: proving.same(a, b, cases), mine, its))
