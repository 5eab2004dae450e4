"""Sizes that satisfy a plan's rules: where dynamic dimensions cannot all have one size, each has
its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import chain

from ...dsl.diagnostics import WeftError
from ..plan.plan import Agreement, Apply, Assumption, DimOf, Plan, Size
from ..plan.resolve import apply
from ..plan.signature import FunctionSignature
from .inputs import sized

Place = tuple[str, int]
"""A dimension of an argument: its name and the axis."""
MOST_TRIED = 256
"""Largest size of a search for sizes that fit."""
MOST_STEPS = 400
"""Most changes of a size in one search."""


def fitted(signature: FunctionSignature, plan: Plan, size: int) -> FunctionSignature:
    """The signature with `size` for all dynamic dimensions, or sizes near it that satisfy the
    plan's agreements and assumptions: a size that violates one is changed to the other side's value
    or the nearest one that fits, and then kept. If the search finds none, all are `size`."""
    made = sized(signature, {}, plan.agreements, size)
    open_ = {(a.name, n) for a in signature.arguments for n, known in enumerate(a.shape or ()) if known is None}
    shapes = {(a.name, n): known or 0 for a in made.arguments for n, known in enumerate(a.shape or ())}
    found = _Search(plan, open_).fit(shapes, frozenset())
    if found is None:
        return made
    return sized(signature, {f"{name}.{axis}": str(found[name, axis]) for name, axis in open_})


class _Search:
    def __init__(self, plan: Plan, open_: set[Place]) -> None:
        self.open, self.steps = open_, 0
        self.same: dict[Place, set[Place]] = {place: {place} for place in open_}
        self.rules: list[Agreement | Assumption] = [*plan.agreements, *plan.assumptions]
        for rule in plan.agreements:
            left, right = _place(rule.left), _place(rule.right)
            if rule.relation == "==" and left in self.same and right in self.same:
                joined = self.same[left] | self.same[right]
                self.same.update(dict.fromkeys(joined, joined))

    def fit(self, shapes: Mapping[Place, int], kept: frozenset[Place]) -> Mapping[Place, int] | None:
        """Sizes that violate no rule, with those of `kept` unchanged; None if the search fails."""
        broken = next((rule for rule in self.rules if not _holds(rule, shapes)), None)
        if broken is None:
            return shapes
        for place in sorted({place for side in _sides(broken) for place in _within(side)} & self.open - kept):
            for number in self._numbers(broken, place, shapes):
                self.steps += 1
                if self.steps > MOST_STEPS:
                    return None
                changed = {**shapes, **dict.fromkeys(self.same[place], number)}
                if (found := self.fit(changed, kept | self.same[place])) is not None:
                    return found
        return None

    def _numbers(self, rule: Agreement | Assumption, place: Place, shapes: Mapping[Place, int]) -> Iterator[int]:
        """Values of a dimension that satisfy a rule, the nearest to the current one first."""
        here = shapes[place]
        far = (n for n in (_value(side, shapes) for side in _sides(rule)) if n is not None and n > MOST_TRIED)
        for number in chain(sorted(range(MOST_TRIED + 1), key=lambda n: (n == 0, abs(n - here))), far):
            if _holds(rule, {**shapes, **dict.fromkeys(self.same[place], number)}):
                yield number


def _sides(rule: Agreement | Assumption) -> tuple[Size, ...]:
    return (rule.left, rule.right) if isinstance(rule, Agreement) else (rule.size,)


def _holds(rule: Agreement | Assumption, shapes: Mapping[Place, int]) -> bool:
    """Whether a rule holds; a rule that depends on a scalar counts as true."""
    values = [_value(side, shapes) for side in _sides(rule)]
    if isinstance(rule, Assumption):
        return values[0] is None or rule.holds(values[0])
    left, right = values
    if left is None or right is None:
        return True
    return left == right if rule.relation == "==" else left >= right


def _value(size: Size, shapes: Mapping[Place, int]) -> int | None:
    if isinstance(size, int):
        return size
    if (place := _place(size)) is not None:
        return shapes.get(place)
    if isinstance(size, Apply):
        left, right = _value(size.left, shapes), _value(size.right, shapes)
        if left is not None and right is not None:
            with suppress(WeftError):
                return apply(size.operator, left, right)
    return None


def _place(size: Size) -> Place | None:
    return (size.buffer, size.axis) if isinstance(size, DimOf) else None


def _within(size: Size) -> Iterator[Place]:
    if isinstance(size, Apply):
        yield from (place for side in (size.left, size.right) for place in _within(side))
    elif (place := _place(size)) is not None:
        yield place
