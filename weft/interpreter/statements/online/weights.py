"""The dependence of a scalar on an extreme m and on sums: `v · b^(c·m) · Π s^k`, or the exponent `v
+ c·m`, with v independent of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf, isclose

from ....dsl.records import record
from ...ir.mlir import arith, ir, is_within, producer
from ...ir.structured import body_of

Powers = tuple[tuple[int, int], ...]
POWERS = ("math.exp", "math.exp2")


@record
class Weight:
    """The dependence of a value on the extreme and the sums.

    Args:
        exponent: c.
        base: `math.exp` or `math.exp2`; None: the value is `v + c·m` itself.
        powers: pairs of a sum's number and its power as a factor.
        own: the coefficient of the extreme's input in v.
    """

    exponent: float = 0.0
    base: str | None = None
    powers: Powers = ()
    own: float = 0.0

    @property
    def is_free(self) -> bool:
        return replace(self, own=0.0) == FREE

    @property
    def is_linear(self) -> bool:
        return self.base is None and not self.powers

    @property
    def is_factor(self) -> bool:
        """Whether the value is zero where v is: not of the form `v + c·m` with c ≠ 0."""
        return self.base is not None or self.exponent == 0

    def times(self, other: Weight, sign: int = 1) -> Weight | None:
        """The weight of a product, or (sign -1) of a quotient; None if it has no such form."""
        if not (self.is_factor and other.is_factor) or (self.base and other.base and self.base != other.base):
            return None
        powers = dict(self.powers)
        for number, power in other.powers:
            powers[number] = powers.get(number, 0) + sign * power
        exponent = self.exponent + sign * other.exponent
        kept = tuple(sorted((n, k) for n, k in powers.items() if k))
        return Weight(exponent, (self.base or other.base) if exponent else None, kept)

    def plus(self, other: Weight, sign: int = 1) -> Weight | None:
        """The weight of a sum, or (sign -1) of a difference; None if it has no such form."""
        if self.is_linear and other.is_linear:
            return Weight(self.exponent + sign * other.exponent, own=self.own + sign * other.own)
        return self if self == other else None

    def scaled(self, number: float) -> Weight:
        """The weight of the product of a linear value with a number."""
        return Weight(self.exponent * number, own=self.own * number)


FREE = Weight()


def weight_of(op: ir.Operation, given: Sequence[Weight | None], value: ir.Value) -> Weight | None:
    """The weight of a value in the body of an op; None if it has no such form."""
    body = body_of(op)
    if isinstance(value.owner, ir.Block):
        return given[list(body.arguments).index(value)] if value in list(body.arguments) else FREE
    maker = producer(value)
    if maker is None or not is_within(maker, op):
        return FREE
    if len(list(maker.regions)):
        return FREE if all(weight is not None and weight.is_free for weight in given) else None
    parts = [weight_of(op, given, v) for v in maker.operands]
    if any(part is None for part in parts):
        return None
    made = _made(maker, [part for part in parts if part is not None])
    if all(part is not None and part.is_free for part in parts):
        return made if made is not None and made.is_free else FREE
    return made


def _made(op: ir.Operation, parts: Sequence[Weight]) -> Weight | None:
    """The weight of the result of one scalar op; None if it has no such form."""
    made = op.opview
    if isinstance(made, (arith.AddFOp, arith.SubFOp)):
        return parts[0].plus(parts[1], 1 if isinstance(made, arith.AddFOp) else -1)
    if isinstance(made, arith.MulFOp):
        factors = [_number(value) for value in op.operands]
        for number, other in ((factors[0], parts[1]), (factors[1], parts[0])):
            if number is not None and other.is_linear:
                return other.scaled(number)
        return parts[0].times(parts[1])
    if isinstance(made, arith.DivFOp):
        number = _number(op.operands[1])
        return parts[0].scaled(1 / number) if number and parts[0].is_linear else parts[0].times(parts[1], -1)
    if isinstance(made, arith.NegFOp):
        return parts[0].scaled(-1) if parts[0].is_linear else parts[0]
    if op.name in POWERS:
        bounded = not parts[0].is_factor and isclose(parts[0].own, -parts[0].exponent)
        return replace(parts[0], base=op.name, own=0.0) if bounded else None
    if isinstance(made, arith.ExtFOp) or (isinstance(made, arith.TruncFOp) and parts[0].is_factor):
        return parts[0]
    if isinstance(made, arith.SelectOp) and parts[0].is_free:
        kept = [
            part
            for part, value in zip(parts[1:], list(op.operands)[1:], strict=True)
            if _number(value) not in (0.0, -inf)
        ]
        nothing = {0.0 if part.is_factor and not part.own else -inf for part in kept}
        others = {number for value in list(op.operands)[1:] if (number := _number(value)) is not None}
        return kept[0] if kept and kept.count(kept[0]) == len(kept) and others <= nothing else None
    return None


def _number(value: ir.Value) -> float | None:
    """The value of a floating-point constant; None for any other value."""
    maker = producer(value)
    if maker is None or not isinstance(maker.opview, arith.ConstantOp) or not isinstance(value.type, ir.FloatType):
        return None
    return ir.FloatAttr(maker.attributes["value"]).value
