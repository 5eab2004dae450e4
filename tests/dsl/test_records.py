"""Records behave as data classes do; their constructors are compiled at the first call."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from typing import Any

import pytest

from weft.dsl.records import record


@record
class Point:
    """A record with a default, a factory, a field by name alone and one that is not given."""

    x: int
    label: str = "a"
    tags: list[str] = dataclasses.field(default_factory=list)
    scale: int = dataclasses.field(default=3, kw_only=True)
    twice: int = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "twice", 2 * self.x)


@record(compared=True)
class Mark(Point):
    value: int = 5


@dataclasses.dataclass
class Reference:
    x: int
    label: str = "a"
    tags: list[str] = dataclasses.field(default_factory=list)
    scale: int = dataclasses.field(default=3, kw_only=True)
    twice: int = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        self.twice = 2 * self.x


def test_objects_have_the_fields_of_a_data_class() -> None:
    for args, named in (((1,), {}), ((1, "b", ["c"]), {"scale": 4}), ((), {"x": 2, "label": "d"})):
        assert vars(Point(*args, **named)) == vars(Reference(*args, **named))  # type: ignore[arg-type]
    assert Point(1).tags is not Point(1).tags


def test_derived_records_are_copied_compared_and_pickled() -> None:
    one = Mark(1, value=7)
    assert (one.twice, one.value, one.scale) == (2, 7, 3)
    for other in (copy.copy(one), pickle.loads(pickle.dumps(one)), dataclasses.replace(one)):
        assert other == one
    assert dataclasses.replace(one, x=4).twice == 8
    assert Point(1) == Point(1)
    assert Point(1) != Point(2)
    assert Point(1) != Mark(1)


def test_a_class_with_a_constructor_of_its_own_keeps_it() -> None:
    @record
    class Own:
        x: int

        def __init__(self) -> None:
            object.__setattr__(self, "x", 9)

    class Derived(Point):
        def __init__(self, size: int) -> None:
            super().__init__(size)

    assert Own().x == 9
    assert Derived(3).twice == 6
    assert list(inspect.signature(Derived).parameters) == ["size"]


def test_wrong_arguments_are_refused_before_and_after_the_constructor_is_compiled() -> None:
    @record
    class Fresh:
        x: int

    wrong: Any = Fresh
    for _ in range(2):
        with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
            wrong()
        with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
            wrong(1, z=2)


def test_signatures_are_those_of_a_data_class() -> None:
    assert str(inspect.signature(Point)) == str(inspect.signature(Reference))
    assert Point(1).__init__.__qualname__ == "Point.__init__"
