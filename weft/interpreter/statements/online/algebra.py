"""What depends on an extreme in such a way that it can be corrected afterwards.

    m = max x_j        p_j = exp(x_j - m)        s = Σ p_j        o = Σ (p_j / s) · v_j

A value is read as `v · b^(c·m) · Π s^k`, with v free of both, or as the exponent `v + c·m`. Sums of terms that share c
and k keep the form, so a sum over the terms so far, made with the extreme so far, is corrected by the factor b^(c·(m' -
m)) when that becomes m'; and s^k, which no term changes, is multiplied to the whole sum behind it. The exponent has to
be c·(m - x), x what the extreme is of, but for what has nothing to do with x: with the extreme of the terms so far
others could leave the range of their type.

Source: Milakov and Gimelshein, "Online normalizer calculation for softmax" (arXiv 1805.02867); Dao et al.,
    "FlashAttention"
(arXiv 2205.14135); with the division behind the sum as in FlashAttention-2 (arXiv 2307.08691).
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
    """Of a tensor: its elements' weight (None: something else), which axis of it is which of the extreme's, which is
    walked."""

    weight: Weight | None
    rows: tuple[int, ...]
    along: int | None


@record
class CorrectedSum:
    """A sum of terms of such a weight.

    Args:
        rows: for each axis of the extreme, which axis of the result it is.
        inside: what makes the terms from the extreme, elementwise ops in their order.
    """

    op: ir.Operation
    weight: Weight
    walked: int
    rows: tuple[int, ...]
    inside: list[ir.Operation]


@record
class Chain:
    """An extreme along a dimension, and the sums along the same one that depend on it."""

    extreme: ir.Operation
    walked: int
    combiner: str
    sums: list[CorrectedSum] = field(default_factory=list)

    @property
    def bound(self) -> float:
        """What the extreme of nothing is."""
        return EXTREMES[self.combiner] * inf


EXTREMES = {"arith.maximumf": -1, "arith.maxnumf": -1, "arith.minimumf": 1, "arith.minnumf": 1}
"""The sign of c with which nothing grows beyond its bounds while the extreme is not final."""


def read(extreme: ir.Operation) -> Chain:
    """The sums that depend on an extreme. Raises W0470 for an op that is none, and W0471 for what is not of the
    form."""
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
    """W0471 where no sum was found. `lost`: ops behind which nothing is known of what depends on the extreme."""
    if not structure(extreme).maps[-1].results and any(True for _ in extreme.results[0].uses):
        return fail(
            "W0471",
            f"the result of {extreme.name} is a single element, and sums are corrected row by row",
            "give what is reduced a dimension of one row: `tensor<1x64xf32>` in place of `tensor<64xf32>`",
        )
    if lost:
        return fail(
            "W0471",
            f"what depends on the result of {extreme.name} is not followed behind {describe(lost[0])}",
            f"move `{lost[0].name}` after the sum in the payload: before it, elementwise ops alone may read the"
            f" extreme",
        )
    return fail(
        "W0471",
        f"no sum along the dimension of {extreme.name} has terms that depend on its result, as exp(x - max) does",
        "`fuse` it as any other producer",
    )


def _given(op: ir.Operation, states: Sequence[tuple[ir.Value, Reading]]) -> list[Reading | None] | None:
    """What is known of each operand; None where nothing is."""
    given = [next((state for known, state in states if known == value), None) for value in op.operands]
    return given if any(given) else None


def _depends(value: ir.Value, states: Sequence[tuple[ir.Value, Reading]]) -> bool:
    """Whether a value depends on the extreme."""
    return any(known == value and (state.weight is None or not state.weight.is_free) for known, state in states)


def _follow(
    op: ir.Operation, given: list[Reading | None], states: list[tuple[ir.Value, Reading]], chain: Chain
) -> None:
    """What is known of the results of one op; a sum joins the chain."""
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
    """Which dimensions of an op are the extreme's axes, and which is walked over."""
    dims = [dimension_of(e) for e in indexing.results]
    return tuple(dims[axis] for axis in state.rows) or (None,), None if state.along is None else dims[state.along]


def _met(state: Reading, indexing: ir.AffineMap) -> Weight | None:
    """The weight of what an op reads. An element of another tile is none that the extreme so far is of."""
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
            "write the terms as `math.exp(x - m)` or `math.exp2(x - m)`, x the one input of the extreme m, times or"
            " divided by what does not depend on m",
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
    """What a reduction does that cannot be corrected, in words."""
    if found is not None and found.combiner in SUMS:
        return "adds up integers: a factor that corrects a sum is a floating-point number"
    does = "does not combine what it has so far with a term by one operation"
    if found is not None:
        does = f"combines its terms by {found.combiner}"
    elif len(space.maps) - space.inputs > 1:
        does = "has several results"
    return f"{does}: only sums can be corrected by a factor"


def _expect_followed(ops: Sequence[ir.Operation], chain: Chain) -> None:
    """That what is moved into the loop reads nothing that is computed from its results in ways that were not read."""
    allowed = [*ops, chain.extreme, *(one.op for one in chain.sums)]
    behind = list(chain.extreme.results)
    for op in ops_of(chain.extreme.block):
        used = [value for inner in operations(op) for value in inner.operands]
        if not any(value in behind for value in used):
            continue
        behind += list(op.results)
        for inner in operations(op) if op in ops else ():
            for value in inner.operands:
                if value in behind and not (inner == op and producer(value) in allowed):
                    maker = producer(value)
                    raise fail(
                        "W0471",
                        f"{describe(op)} reads {describe(maker) if maker else 'a value'}, which depends on"
                        f" the result of "
                        f"{chain.extreme.name} in a way that is not known",
                        "compute the terms by elementwise ops with the extreme as an operand, such as `arith.subf` and"
                        " `math.exp`, none of which cancels it",
                    )


def extent(op: ir.Operation, dimension: int) -> int | None:
    """How many iterations a dimension has; None where that is not known."""
    return structure(op).extents[dimension]


def _kind(op: ir.Operation) -> ir.Type:
    return ir.RankedTensorType(op.results[0].type).element_type
