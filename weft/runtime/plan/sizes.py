"""Numbers of a plan, over the inputs' dimensions and the scalars, and what has to hold of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, get_args

from ...dsl.records import record

Operator = Literal["add", "sub", "mul", "floordiv", "ceildiv", "div", "mod", "rem", "min", "max", "reciprocal"]
OPERATORS: tuple[Operator, ...] = get_args(Operator)


@record
class DimOf:
    """Dimension `axis` of buffer `buffer`, as the caller's array has it."""

    buffer: str
    axis: int


@record
class ScalarOf:
    """The value of the scalar `name`."""

    name: str


@record
class Apply:
    """`div` and `rem` truncate, `floordiv` and `mod` round down, `ceildiv` up; `reciprocal`: see `resolve.py`."""

    operator: Operator
    left: Size
    right: Size


Expr = DimOf | ScalarOf | Apply
Size = int | Expr
Value = int | float | bool | Expr
"""What a scalar argument may be."""


Relation = Literal["==", ">="]
RELATIONS: tuple[Relation, ...] = get_args(Relation)


@record
class Agreement:
    """What has to hold between two integers for `op` to mean something: equal sizes, or no reads beyond an end."""

    left: Size
    right: Size
    op: str
    relation: Relation = "=="


@record
class Assumption:
    """A size that has to be a multiple of a number, and no larger than another (None: of any size): the kernels are
    right for such sizes alone. `by`: what says so, for people.
    """

    size: Size
    multiple: int
    by: str
    most: int | None = None

    def holds(self, number: int) -> bool:
        """Whether this number is as assumed."""
        return number % self.multiple == 0 and (self.most is None or number <= self.most)

    def implies(self, other: Assumption) -> bool:
        """Whether the other one holds where this one does."""
        smaller = other.most is None or (self.most is not None and self.most <= other.most)
        return self.size == other.size and self.multiple % other.multiple == 0 and smaller

    @property
    def holds_always(self) -> bool:
        return self.multiple == 1 and self.most is None

    @property
    def made_for(self) -> str:
        """What is wanted, in words."""
        return f"multiples of {self.multiple}" if self.most is None else f"{self.most} at most"

    def __str__(self) -> str:
        size = f"{self.size.buffer}.{self.size.axis}" if isinstance(self.size, DimOf) else "a computed size"
        return f"{size} % {self.multiple} == 0" if self.most is None else f"{size} <= {self.most}"


def said(assumptions: Iterable[Assumption]) -> list[str]:
    """Those that a schedule has stated, as it does."""
    return [str(one) for one in assumptions if one.by]
