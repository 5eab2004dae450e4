"""The one place that asks ISL, under a budget of work.

ISL counts its operations, and gives up at a limit. Each question is first asked with a small limit, then with larger ones, and
what was allowed is charged to the budget of the analysis: so its work is bounded, and the same on every machine. A question
that ISL gives up on, or that nothing is left for, has no answer (`Unknown`): what it would have proven is assumed not to hold.
Nearly all calls take less than a second, so that an interrupt is heard; the hardest seen take four. The command line ends a child
that is in one for too long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import islpy as isl

from .linear import Formula, Symbol
from .matrices import Unknown, conjunctions, matrix

BUDGET = 16_000_000
"""Operations of ISL that the questions of one analysis may take."""
LIMITS = (200, 2_000, 25_000, 100_000, 400_000)
"""Operations of ISL allowed to a question, one after the other."""

T = TypeVar("T")

__all__ = ["Solver", "Unknown"]


class Solver:
    """An ISL context with a budget.

    Args:
        limit: the most operations that one question may take.
        budget: the most that all of them may.
    """

    def __init__(self, limit: int = LIMITS[-1], budget: int = BUDGET) -> None:
        self.context = isl.Context()
        self.limits = [*(n for n in LIMITS if n < limit), limit]
        self.left = budget
        self.questions = 0
        self._sets: dict[str, isl.Set] = {}

    def spend(self, work: int) -> None:
        """Work done elsewhere, in about as many operations. Raises `Unknown` if nothing is left."""
        self.left -= work
        if self.left <= 0:
            raise Unknown

    # ---- questions ----------------------------------------------------------------------------------------------------------

    def set(self, dimensions: Sequence[Symbol], formulas: Iterable[Formula], ranged: Iterable[Symbol] = ()) -> isl.Set:
        """The points that meet all formulas; `ranged`: dimensions that are in their symbol's range, too."""
        alternatives, more = conjunctions(formulas)
        ranged = tuple(ranged)
        out = self._union(dimensions, alternatives, ranged)
        for choice in more:
            other = self._union(dimensions, choice, ())
            out = self._ask(lambda out=out, other=other: out.intersect(other))
        return out

    def nothing(self, dimensions: Sequence[Symbol]) -> isl.Set:
        """The empty set: no work at all."""
        return isl.Set.empty(isl.Space.set_alloc(self.context, 0, len(dimensions)))

    def project(self, what: isl.Set, count: int) -> isl.Set:
        """The set in its first `count` dimensions."""
        rest = what.dim(isl.dim_type.set) - count
        return self._ask(lambda: what.project_out(isl.dim_type.set, count, rest)) if rest else what

    def is_empty(self, what: isl.Set) -> bool:
        return what.plain_is_empty() or self._ask(lambda: what.is_empty())

    def subtract(self, a: isl.Set, b: isl.Set) -> isl.Set:
        return self._ask(lambda: a.subtract(b))

    def union(self, a: isl.Set, b: isl.Set) -> isl.Set:
        return self._ask(lambda: a.union(b))

    def sample(self, what: isl.Set) -> list[int] | None:
        """The coordinates of a point, the lexicographically least where ISL finds it; None where it finds none."""
        for d in range(what.dim(isl.dim_type.set)):
            if not what.involves_dims(isl.dim_type.set, d, 1):  # ISL finds no least one of what nothing bounds
                what = what.fix_val(isl.dim_type.set, d, isl.Val(0, self.context))
        try:
            point = self._ask(lambda: what.lexmin().sample_point())
        except Unknown:  # ISL's lexmin does not manage every set that it can sample
            try:
                point = self._ask(lambda: what.sample_point())
            except Unknown:
                return None
        if point.is_void():
            return None
        count = point.get_space().dim(isl.dim_type.set)
        return [point.get_coordinate_val(isl.dim_type.set, d).to_python() for d in range(count)]

    # ---- ISL ----------------------------------------------------------------------------------------------------------------

    def _union(self, dimensions: Sequence[Symbol], alternatives: list[list[Formula]], ranged: Sequence[Symbol]) -> isl.Set:
        texts = dict.fromkeys(matrix(dimensions, conjunction, ranged) for conjunction in alternatives)
        out: isl.Set | None = None
        for text in texts:
            if text is not None:
                part = self._read(text)
                out = part if out is None else self.union(out, part)
        return self.nothing(dimensions) if out is None else out

    def _read(self, text: str) -> isl.Set:
        """Sets of one matrix are made once."""
        if text not in self._sets:
            self._sets[text] = self._ask(lambda: isl.BasicSet.read_from_str(self.context, text).to_set())
        return self._sets[text]

    def _ask(self, question: Callable[[], T]) -> T:
        for limit in self.limits:
            self.spend(limit)
            self.questions += limit == self.limits[0]
            self.context.reset_operations()
            self.context.set_max_operations(limit)
            try:
                return question()
            except isl.Error:
                pass  # mostly the limit (of which the parser speaks as a syntax error), seldom a set that ISL does not manage
            finally:
                self.context.set_max_operations(0)
        raise Unknown
