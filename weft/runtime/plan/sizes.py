"""Numbers of a plan, as expressions over the inputs' dimensions and the scalars, and conditions on
them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, get_args

from ...dsl.records import record

Operator = Literal["add", "sub", "mul", "floordiv", "ceildiv", "div", "mod", "rem", "min", "max", "reciprocal"]
OPERATORS: tuple[Operator, ...] = get_args(Operator)


@record
class DimOf:
    """Dimension `axis` of buffer `buffer`, from the caller's array."""

    buffer: str
    axis: int


@record
class ScalarOf:
    """The value of the scalar `name`."""

    name: str


@record
class Apply:
    """An operation on two numbers. `div` and `rem` truncate, `floordiv` and `mod` round down,
    `ceildiv` up; for `reciprocal` see `resolve.py`."""

    operator: Operator
    left: Size
    right: Size


Expr = DimOf | ScalarOf | Apply
Size = int | Expr
Value = int | float | bool | Expr
"""The value of a scalar argument."""


Relation = Literal["==", ">="]
RELATIONS: tuple[Relation, ...] = get_args(Relation)


@record
class Agreement:
    """A condition between two integers that `op` requires: equal sizes, or no access beyond an end."""

    left: Size
    right: Size
    op: str
    relation: Relation = "=="


@record
class Assumption:
    """A condition on a size that the kernels' correctness requires: a multiple of a number, and at
    most `most` (None: unbounded). `by`: its source, for people."""

    size: Size
    multiple: int
    by: str
    most: int | None = None

    def holds(self, number: int) -> bool:
        """Whether this number satisfies the assumption."""
        return number % self.multiple == 0 and (self.most is None or number <= self.most)

    def implies(self, other: Assumption) -> bool:
        """Whether the assumption implies the other one."""
        smaller = other.most is None or (self.most is not None and self.most <= other.most)
        return self.size == other.size and self.multiple % other.multiple == 0 and smaller

    @property
    def holds_always(self) -> bool:
        return self.multiple == 1 and self.most is None

    @property
    def made_for(self) -> str:
        """The condition, in words."""
        return f"multiples of {self.multiple}" if self.most is None else f"{self.most} at most"

    def __str__(self) -> str:
        size = f"{self.size.buffer}.{self.size.axis}" if isinstance(self.size, DimOf) else "a computed size"
        return f"{size} % {self.multiple} == 0" if self.most is None else f"{size} <= {self.most}"


def stated_texts(assumptions: Iterable[Assumption]) -> list[str]:
    """The assumptions that a schedule has stated, in its syntax."""
    return [str(one) for one in assumptions if one.by]
