"""The values that depend on an extreme in such a way that they can be corrected afterwards.

    m = max x_j        p_j = exp(x_j - m)        s = Σ p_j        o = Σ (p_j / s) · v_j

A value is represented as `v · b^(c·m) · Π s^k`, with v independent of m and s, or as the exponent
`v + c·m`. A sum of terms with the same c and k keeps that form. So a partial sum that was computed
with the current extreme m is multiplied by b^(c·(m' - m)) when the extreme becomes m'. The factor
s^k, which is the same in all terms, multiplies the complete sum afterwards. The exponent must be
c·(m - x), with x the input of the extreme, plus terms independent of both. Other exponents could
leave the range of their type while m is the extreme of only some of the terms.

Source: Milakov and Gimelshein, "Online normalizer calculation for softmax" (arXiv 1805.02867); Dao
et al., "FlashAttention" (arXiv 2205.14135); with the division after the sum as in FlashAttention-2
(arXiv 2307.08691).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from math import inf

from ....dsl.diagnostics import WeftError, fail
from ....dsl.records import record
from ...ir.affine_maps import dimension_of
from ...ir.mlir import ir, operations, ops_of, producer
from ...ir.refusing import describe
from ...ir.structured import Structure, is_structured, structure, yielded
from ...padding.rounding import start_of
from ...reductions.identities import SUMS, Combination, combination
from .weights import FREE, Weight, weight_of


@record
class Reading:
    """The dependence of a tensor on the extreme: the weight of its elements (None: another form),
    its axis for each axis of the extreme, and its axis along which the extreme is taken."""

    weight: Weight | None
    rows: tuple[int, ...]
    along: int | None


@record
class CorrectedSum:
    """A sum of terms with a weight.

    Args:
        walked: the reduced dimension of the op.
        rows: for each axis of the extreme, the axis of the result.
        inside: the elementwise ops that make the terms from the extreme, in program order.
    """

    op: ir.Operation
    weight: Weight
    walked: int
    rows: tuple[int, ...]
    inside: list[ir.Operation]


@record
class Chain:
    """An extreme along a dimension, and the sums along the same dimension that depend on it."""

    extreme: ir.Operation
    walked: int
    combiner: str
    sums: list[CorrectedSum] = field(default_factory=list)

    @property
    def bound(self) -> float:
        """The extreme of no elements: the identity of its combiner."""
        return EXTREMES[self.combiner] * inf


EXTREMES = {"arith.maximumf": -1, "arith.maxnumf": -1, "arith.minimumf": 1, "arith.minnumf": 1}
"""The required sign of c: with it, terms stay bounded while the extreme is not final."""


def read(extreme: ir.Operation) -> Chain:
    """The extreme, with the sums that depend on it. Raises W0470 for an op that is no extreme, and
    W0471 for terms of another form."""
    found, space = combination(extreme), structure(extreme)
    walked = [d for d, kind in enumerate(space.iterators) if kind == "reduction"]
    result = space.maps[-1]
    rows = [dimension_of(e) for e in result.results]
    if found is None or found.combiner not in EXTREMES or len(walked) != 1 or None in rows:
        raise fail(
            "W0470",
            f"{extreme.name} is no largest or smallest element along one dimension",
            "name the `max` of a softmax",
        )
    states: list[tuple[ir.Value, Reading]] = []
    single = weight_of(extreme, [Weight(own=1.0), FREE], found.term) if space.inputs == 1 else None
    own = Weight(own=1 / single.own) if single is not None and single.own else FREE
    for value, indexing in zip(list(extreme.operands)[: space.inputs], space.maps, strict=False):
        axes = [dimension_of(e) for e in indexing.results]
        if walked[0] in axes and all(row in axes for row in rows):
            states.append((value, Reading(own, tuple(axes.index(row) for row in rows), axes.index(walked[0]))))
    chain, lost = Chain(extreme, walked[0], found.combiner), list[ir.Operation]()
    for op in ops_of(extreme.block):
        if op == extreme:
            states.append((op.results[0], Reading(Weight(1.0), tuple(range(len(rows))), None)))
        elif is_structured(op) and (given := _given(op, states)) is not None:
            _follow(op, given, states, chain)
        elif not is_structured(op) and any(
            _depends(value, states) for inner in operations(op) for value in inner.operands
        ):
            states += [(value, Reading(None, (), None)) for value in op.results]
            lost.append(op)
    if not chain.sums:
        raise _without_sums(extreme, lost)
    return chain


def _without_sums(extreme: ir.Operation, lost: Sequence[ir.Operation]) -> WeftError:
    """The error W0471 for an extreme without sums. `lost`: unsupported ops that depend on the
    extreme, after which the analysis does not continue."""
    if not structure(extreme).maps[-1].results and any(True for _ in extreme.results[0].uses):
        return fail(
            "W0471",
            f"the result of {extreme.name} is a single element, and sums are corrected row by row",
            "give the reduced tensor a dimension of one row: `tensor<1x64xf32>` in place of `tensor<64xf32>`",
        )
    if lost:
        return fail(
            "W0471",
            f"the analysis of what depends on the result of {extreme.name} ends at {describe(lost[0])}",
            f"move `{lost[0].name}` after the sum in the payload: before it, elementwise ops alone may read the"
            f" extreme",
        )
    return fail(
        "W0471",
        f"no sum along the dimension of {extreme.name} has terms that depend on its result, as exp(x - max) does",
        "`fuse` it as any other producer",
    )


def _given(op: ir.Operation, states: Sequence[tuple[ir.Value, Reading]]) -> list[Reading | None] | None:
    """The dependence of each operand (None: unknown); None if all are unknown."""
    given = [next((state for known, state in states if known == value), None) for value in op.operands]
    return given if any(given) else None


def _depends(value: ir.Value, states: Sequence[tuple[ir.Value, Reading]]) -> bool:
    """Whether a value depends on the extreme."""
    return any(known == value and (state.weight is None or not state.weight.is_free) for known, state in states)


def _follow(
    op: ir.Operation, given: list[Reading | None], states: list[tuple[ir.Value, Reading]], chain: Chain
) -> None:
    """Records the dependence of the results of one op; a sum is added to the chain."""
    space = structure(op)
    placed = [_placed(state, m) for state, m in zip(given, space.maps, strict=True) if state is not None]
    rows = {p[0] for p in placed}
    along = {p[1] for p in placed if p[1] is not None}
    weights = [FREE if state is None else _met(state, m) for state, m in zip(given, space.maps, strict=True)]
    fits = len(rows) == 1 and len(along) <= 1 and None not in (dims := next(iter(rows)))
    walked = [d for d, kind in enumerate(space.iterators) if kind == "reduction"]
    dependent = any(weight is None or not weight.is_free for weight in weights)
    if walked:
        if dependent and fits and along == set(walked):
            chain.sums.append(_sum(op, weights, dims, walked[0], states, chain))
            number = len(chain.sums) - 1
            states.append((op.results[0], Reading(Weight(powers=((number, 1),)), chain.sums[-1].rows, None)))
        elif dependent:
            states += [(value, Reading(None, (), None)) for value in op.results]
        return
    for value, out, indexing in zip(op.results, yielded(op), space.maps[space.inputs :], strict=True):
        axes = [dimension_of(e) for e in indexing.results]
        weight = weight_of(op, weights, out)
        if fits and all(d in axes for d in dims):
            at = next(iter(along), None)
            states.append(
                (value, Reading(weight, tuple(axes.index(d) for d in dims), axes.index(at) if at in axes else None))
            )
        elif dependent:
            states.append((value, Reading(None, (), None)))


def _placed(state: Reading, indexing: ir.AffineMap) -> tuple[tuple[int | None, ...], int | None]:
    """The dimensions of an op that index the extreme's axes, and the dimension along which the
    extreme is taken."""
    dims = [dimension_of(e) for e in indexing.results]
    return tuple(dims[axis] for axis in state.rows) or (None,), None if state.along is None else dims[state.along]


def _met(state: Reading, indexing: ir.AffineMap) -> Weight | None:
    """The weight of an operand as the op reads it. An element read at another position along the
    extreme's dimension does not count as the extreme's input."""
    elsewhere = state.weight is not None and state.weight.own and _placed(state, indexing)[1] is None
    return replace(state.weight, own=0.0) if state.weight is not None and elsewhere else state.weight


def _sum(
    op: ir.Operation, weights: Sequence[Weight | None], dims: Sequence[int | None], walked: int,
    states: Sequence[tuple[ir.Value, Reading]], chain: Chain,
) -> CorrectedSum:  # fmt: skip
    found, space = combination(op), structure(op)
    axes = [dimension_of(e) for e in space.maps[-1].results]
    where = f"{op.name} along the same dimension"
    if found is None or found.combiner not in SUMS or not isinstance(_kind(op), ir.FloatType):
        raise fail("W0471", f"{where} {_reduces(found, space)}")
    weight = weight_of(op, weights, found.term)
    if weight is None or weight.base is None:
        raise fail(
            "W0471",
            f"{where} has terms that depend on the result of {chain.extreme.name}, and not by a factor b^(c·m)",
            "write the terms as `math.exp(x - m)` or `math.exp2(x - m)`, where x is the only input of the extreme m,"
            " multiplied or divided by values that do not depend on m",
        )
    first = chain.sums[0].weight if chain.sums else weight
    if (weight.exponent, weight.base) != (first.exponent, first.base):
        raise fail(
            "W0471", f"{where} has terms of another power than {describe(chain.sums[0].op)}: one factor corrects all"
        )
    if weight.exponent * EXTREMES[chain.combiner] < 0:
        raise fail(
            "W0471",
            f"{where} has terms that grow with the extreme: on the way they could leave the range of their type",
        )
    if any(abs(power) != 1 for _, power in weight.powers) or len(weight.powers) > 1:
        raise fail("W0471", f"{where} has terms divided by more than one sum, or by a power of one")
    if (start := start_of(op.operands[space.inputs])) is None or ir.FloatAttr(start).value != 0:
        raise fail(
            "W0471",
            f"{where} starts from something else than a fill of zeros, and what it starts from is not corrected",
        )
    if extent(op, walked) != extent(chain.extreme, chain.walked):
        raise fail("W0471", f"{where} has another number of terms than the extreme")
    inside: list[ir.Operation] = []
    waiting = list(op.operands)
    while waiting:
        maker = producer(waiting.pop())
        known = maker is not None and maker != chain.extreme and all(maker != s.op for s in chain.sums)
        if maker is None or not known or maker in inside:
            continue
        state = next((s for value, s in states if value == maker.results[0]), None) if maker.results else None
        if state is not None and (state.weight is None or not state.weight.is_free):
            inside.append(maker)
            waiting += list(maker.operands)
    order = [one for one in ops_of(op.block) if any(one == other for other in inside)]
    _expect_followed([*order, op], chain)
    return CorrectedSum(op, weight, walked, tuple(axes.index(d) for d in dims), order)


def _reduces(found: Combination | None, space: Structure) -> str:
    """The reason, in words, why the result of a reduction cannot be corrected."""
    if found is not None and found.combiner in SUMS:
        return "adds up integers: a factor that corrects a sum is a floating-point number"
    does = "does not combine what it has so far with a term by one operation"
    if found is not None:
        does = f"combines its terms by {found.combiner}"
    elif len(space.maps) - space.inputs > 1:
        does = "has several results"
    return f"{does}: only sums can be corrected by a factor"


def _expect_followed(ops: Sequence[ir.Operation], chain: Chain) -> None:
    """Raises W0471 if an op that moves into the loop reads a value that depends on the extreme in
    an unknown way."""
    allowed = [*ops, chain.extreme, *(one.op for one in chain.sums)]
    dependent = list(chain.extreme.results)
    for op in ops_of(chain.extreme.block):
        used = [value for inner in operations(op) for value in inner.operands]
        if not any(value in dependent for value in used):
            continue
        dependent += list(op.results)
        for inner in operations(op) if op in ops else ():
            for value in inner.operands:
                if value in dependent and not (inner == op and producer(value) in allowed):
                    maker = producer(value)
                    raise fail(
                        "W0471",
                        f"{describe(op)} reads {describe(maker) if maker else 'a value'}, which depends on"
                        f" the result of "
                        f"{chain.extreme.name} in a way that is not known",
                        "compute each term from the extreme by elementwise ops that do not cancel it, such as `arith.subf`"
                        " followed by `math.exp`",
                    )


def extent(op: ir.Operation, dimension: int) -> int | None:
    """The number of iterations of a dimension; None if unknown."""
    return structure(op).extents[dimension]


def _kind(op: ir.Operation) -> ir.Type:
    return ir.RankedTensorType(op.results[0].type).element_type
