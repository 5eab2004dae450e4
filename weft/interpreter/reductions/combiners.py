"""Combiners: how two partial results of a reduction become one.

    %s = arith.addf %acc, %t                                      each result by its own operation: sums, products, extremes, bits
    %c = arith.cmpf ogt, %a, %best                                argmax and argmin: the value, and its index
    %v = arith.select %c, %a, %best; %i = arith.select %c, %j, %at
    %n = %count + 1; %d = %a - %mean; %m = %mean + %d / %n    count, mean and squared differences: Welford's recurrence
    %s = %squares + %d * (%a - %m)

A partial result of other iterations is combined like a term. The order matters only if an extreme
occurs twice: a loop keeps the first one, so the one with the smaller index is kept, whichever
processor has found it.

Source: Blelloch, "Prefix Sums and Their Applications", for reductions by associative operations;
`torch.argmax`, `tl.max` with `return_indices` and its rule for ties; Welford 1962, and Chan, Golub
and LeVeque, "Updating Formulae and a Pairwise Algorithm for Computing Sample Variances".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...dsl.records import record
from ..ir.cloning import clone_with
from ..ir.mlir import arith, ir, made_by, producer
from ..ir.structured import body_of, is_structured, segments, structure, yielded
from .identities import SUMS, Combination, Identity, identity, update

Values = Sequence[ir.Value]


@record
class Combiner:
    """The combiner of a reduction's results.

    Args:
        identities: the identity of each result.
        together: emits the combination of two partial results, at the insertion point. `ordered`:
            the first one's iterations came first, so that it wins a tie.
        words: a description, for reports.
    """

    identities: tuple[Identity, ...]
    together: Callable[[Values, Values, bool], list[ir.Value]]
    words: str


def added(one: ir.Value, other: ir.Value) -> ir.Value:
    """The sum of two partial results."""
    return (arith.addi if isinstance(one.type, ir.IntegerType) else arith.addf)(one, other)


def combiner(op: ir.Operation) -> Combiner | None:
    """The combiner of a structured op with reductions; None where its body does not show one."""
    accumulators = list(body_of(op).arguments)[segments(op)[0] :]
    found = _combiner(op, yielded(op), 0)
    made = [made_by(value, "arith.select") for value in yielded(op)]
    choices = [list(choice.operands) for choice in made if choice is not None]
    if found is None and [c[2] for c in choices] == accumulators and all(c[0] == choices[0][0] for c in choices):
        return _combiner(op, [c[1] for c in choices], 1)  # a masked update, where the mask is true
    return found


def _combiner(op: ir.Operation, values: Values, masked: int) -> Combiner | None:
    """The combiner that computes these new values of the results; None if there is none. `masked`:
    the number of other uses of each previous result."""
    updates = [update(op, number, value, 1 + masked) for number, value in enumerate(values)]
    found = [u for u in updates if u is not None]
    if len(found) < len(updates):
        return _extreme(op, values, masked) or _welford(op, values, masked)
    return each_by_itself(values, found)


def each_by_itself(values: Values, found: Sequence[Combination]) -> Combiner:
    """Each result by its own operation. `values`: the results' new values; `found`: their
    operations."""

    def together(ones: Values, others: Values, _: bool) -> list[ir.Value]:
        made = []
        for number, (one, other) in enumerate(zip(ones, others, strict=True)):
            by = made_by(values[number], found[number].combiner)
            assert by is not None, "it was found there"
            if by.name in SUMS:
                made.append(added(one, other))
            else:
                made.append(clone_with(by, dict(zip(by.operands, (one, other), strict=True))).results[0])
        return made

    names = dict.fromkeys(u.combiner for u in found)
    return Combiner(tuple(identity(u.combiner) for u in found), together, " and ".join(names))


_GREATER = {"ogt": True, "olt": False, "sgt": True, "slt": False, "ugt": True, "ult": False}


def _extreme(op: ir.Operation, values: Values, masked: int) -> Combiner | None:
    """The largest or smallest term and its index: the first of several in a loop's order or, if the
    op's comparison includes the index, the one with the smallest index."""
    inputs, outputs = segments(op)
    reduced = [d for d, kind in enumerate(structure(op).iterators) if kind == "reduction"]
    picks = [made_by(value, "arith.select") for value in values]
    if outputs != 2 or len(reduced) != 1 or any(pick is None for pick in picks):
        return None
    best, place = list(body_of(op).arguments)[inputs:]
    (chosen, term, kept), (also, index, stays) = (list(pick.operands) for pick in picks if pick is not None)
    either = made_by(chosen, "arith.ori")
    compare = made_by(chosen if either is None else either.operands[0], "arith.cmpf", "arith.cmpi")
    if compare is None or chosen != also or (kept, stays) != (best, place):
        return None
    if either is None:
        decided = _is_index(index, reduced[0])
    else:
        decided = _on_ties(either.operands[1], (term, best), (index, place))
    order = _order(compare, term, best)
    uses = (2 + masked, 1 + masked) if either is None else (3 + masked, 2 + masked)
    if not decided or order is None or (len(list(best.uses)), len(list(place.uses))) != uses:
        return None
    greater, worst = order

    def together(ones: Values, others: Values, ordered: bool) -> list[ir.Value]:
        wins = clone_with(compare, {term: others[0], best: ones[0]}).results[0]
        if not ordered or either is not None:
            real = isinstance(ones[0].type, ir.FloatType)
            pair = others[0], ones[0]
            equal = arith.cmpf(arith.CmpFPredicate.OEQ, *pair) if real else arith.cmpi(arith.CmpIPredicate.eq, *pair)
            before = arith.cmpi(arith.CmpIPredicate.slt, others[1], ones[1])
            wins = arith.ori(wins, arith.andi(equal, before))
        return [arith.select(wins, other, one) for one, other in zip(ones, others, strict=True)]

    return Combiner((worst, "max"), together, f"the {'largest' if greater else 'smallest'} and its index")


def _order(compare: ir.Operation, term: ir.Value, best: ir.Value) -> tuple[bool, Identity] | None:
    """Whether the comparison is true for a term greater than the best so far, and the identity;
    None for another comparison, or one that is also true for equal values."""
    asked, real = _predicate(compare), compare.name == "arith.cmpf"
    greater = _GREATER.get(asked)
    if greater is None or real != asked.startswith("o"):
        return None
    if list(compare.operands) == [best, term]:
        greater = not greater
    elif list(compare.operands) != [term, best]:
        return None
    return greater, ("-inf" if greater else "inf") if real else _WORST[asked[0], greater]


def _on_ties(value: ir.Value, terms: tuple[ir.Value, ir.Value], places: tuple[ir.Value, ir.Value]) -> bool:
    """Whether a condition is true for equal values with a smaller index."""
    both = made_by(value, "arith.andi")
    if both is None:
        return False
    equal, before = (made_by(operand, "arith.cmpf", "arith.cmpi") for operand in both.operands)
    if equal is None or before is None or _predicate(equal) not in ("oeq", "eq") or _predicate(before) != "slt":
        return False
    return list(equal.operands) == list(terms) and list(before.operands) == list(places)


_WORST: dict[tuple[str, bool], Identity] = {
    ("s", True): "min",
    ("s", False): "max",
    ("u", True): 0,
    ("u", False): "umax",
}


def _welford(op: ir.Operation, values: Values, masked: int) -> Combiner | None:
    """The combiner of a count, a mean, and the sum of squared differences from the mean, in this
    order, with a term that reads none of them."""
    inputs, outputs = segments(op)
    if outputs != 3 or not all(isinstance(value.type, ir.FloatType) for value in values):
        return None
    count, mean, squares = list(body_of(op).arguments)[inputs:]
    more, after, _ = values
    step, product = _other(values[1], "arith.addf", mean), _other(values[2], "arith.addf", squares)
    added, part = _other(more, "arith.addf", count), _divided(step, more) if step is not None else None
    if added is None or part is None or product is None or not _is_one(added):
        return None
    first = made_by(part, "arith.subf")
    again = _other(product, "arith.mulf", part)
    second = made_by(again, "arith.subf") if again is not None else None
    if first is None or second is None or first.operands[1] != mean or second.operands[1] != after:
        return None
    uses = [len(list(value.uses)) for value in (count, mean, squares, more, after)]
    if first.operands[0] != second.operands[0] or uses != [1 + masked, 2 + masked, 1 + masked, 2, 2]:
        return None

    def together(ones: Values, others: Values, ordered: bool) -> list[ir.Value]:
        """Combines two partial results, with equal bits in either order: exchanging them changes
        only signs that cancel. The first may have any initial count; a part's count is its number
        of terms."""

        def constant(value: float) -> ir.Value:
            return arith.constant(ones[0].type, value)

        whole = arith.addf(ones[0], others[0])
        none = arith.cmpf(arith.CmpFPredicate.OEQ, whole, constant(0.0)) if ordered else None
        least = arith.maximumf(whole, constant(1.0)) if none is None else arith.select(none, constant(1.0), whole)
        # without terms there is no mean
        apart = arith.subf(others[1], ones[1])
        share = arith.divf(arith.subf(others[0], ones[0]), least)
        twice = arith.addf(arith.addf(ones[1], others[1]), arith.mulf(apart, share))
        weight = arith.divf(arith.mulf(ones[0], others[0]), least)
        between = arith.mulf(arith.mulf(apart, apart), weight)
        return [whole, arith.mulf(twice, constant(0.5)), arith.addf(arith.addf(ones[2], others[2]), between)]

    return Combiner((0, 0, 0), together, "a count, a mean, and squared differences from it")


def _divided(value: ir.Value, by: ir.Value) -> ir.Value | None:
    """The divisor of a value, or the reciprocal that it is multiplied by."""
    if (quotient := made_by(value, "arith.divf")) is not None:
        return quotient.operands[0] if quotient.operands[1] == by else None
    factors = list(product.operands) if (product := made_by(value, "arith.mulf")) is not None else []
    for one, other in zip(factors, reversed(factors), strict=True):
        reciprocal = made_by(other, "arith.divf")
        if reciprocal is not None and reciprocal.operands[1] == by and _is_one(reciprocal.operands[0]):
            return one
    return None


def _is_one(value: ir.Value) -> bool:
    """Whether a value is the constant 1.0."""
    made = made_by(value, "arith.constant")
    return made is not None and ir.FloatAttr(made.attributes["value"]).value == 1.0


def _other(value: ir.Value, name: str, operand: ir.Value) -> ir.Value | None:
    """The other operand of a sum or a product."""
    operands = list(made.operands) if (made := made_by(value, name)) is not None else []
    return operands[1 - operands.index(operand)] if operand in operands else None


def _predicate(compare: ir.Operation) -> str:
    kinds = arith.CmpFPredicate if compare.name == "arith.cmpf" else arith.CmpIPredicate
    return str(kinds(ir.IntegerAttr(compare.attributes["predicate"]).value)).lower()


def _is_index(value: ir.Value, dimension: int) -> bool:
    """Whether a value is the index of a dimension, in an integer type."""
    while (cast := made_by(value, "arith.index_cast", "arith.extsi")) is not None:
        value = cast.operands[0]
    return (_step(value, dimension) or 0) > 0


def _step(value: ir.Value, dimension: int) -> int | None:
    """The increment of an index from one iteration of a dimension to the next; None where unknown
    or not constant."""
    if (found := made_by(value, "linalg.index")) is not None:
        return int(ir.IntegerAttr(found.attributes["dim"]).value == dimension)
    if (applied := made_by(value, "affine.apply")) is not None:
        steps = [_step(operand, dimension) for operand in applied.operands]
        indexing = ir.AffineMapAttr(applied.attributes["map"]).value
        return _growth(indexing.results[0], steps[: indexing.n_dims], steps[indexing.n_dims :])
    made = producer(value)
    inside = made is not None and made.parent is not None and is_structured(made.parent.operation)
    return None if inside and not made_by(value, "arith.constant") else 0


def _growth(e: ir.AffineExpr, dims: Sequence[int | None], symbols: Sequence[int | None]) -> int | None:
    """The increment of an expression for given increments of its dimensions and symbols; None where
    not constant."""
    if isinstance(e, ir.AffineConstantExpr):
        return 0
    if isinstance(e, ir.AffineDimExpr):
        return dims[e.position]
    if isinstance(e, ir.AffineSymbolExpr):
        return symbols[e.position]
    if not isinstance(e, (ir.AffineAddExpr, ir.AffineMulExpr)):
        return None
    one, other = _growth(e.lhs, dims, symbols), _growth(e.rhs, dims, symbols)
    if one is None or other is None:
        return None
    if isinstance(e, ir.AffineAddExpr):
        return one + other
    factor = e.rhs if isinstance(e.rhs, ir.AffineConstantExpr) else None
    return one * factor.value if factor is not None else 0 if one == other == 0 else None
