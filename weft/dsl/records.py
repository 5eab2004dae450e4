"""Frozen data classes with a short start-up time: one generated method per class instead of six.

`dataclasses` writes and compiles six methods for a frozen class: 0.5 ms at each start, and Weft has
hundreds of classes. A record has its own `__init__` and shares the other methods. Only the type
checker enforces that fields are not assigned.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, TypeVar, dataclass_transform, overload

T = TypeVar("T", bound=type)


@overload
def record(made: T) -> T: ...
@overload
def record(*, eq: bool = True, kw_only: bool = False, compared: bool = False) -> Callable[[T], T]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
def record(made: Any = None, *, eq: bool = True, kw_only: bool = False, compared: bool = False) -> Any:
    """A decorator that makes a class a record.

    Args:
        eq: whether objects with equal fields are equal; otherwise only an object itself is.
        kw_only: whether fields are given by name.
        compared: whether objects are often compared or hashed: generates methods of its own for
            that.
    """

    def register(cls: Any) -> Any:
        own = vars(cls)
        shared = {"__repr__": _repr} | ({"__eq__": _eq, "__hash__": _hash} if eq and not compared else {})
        hashed = eq and compared and "__hash__" not in own
        cls = dataclasses.dataclass(eq=eq and compared, repr=False, kw_only=kw_only, unsafe_hash=hashed)(cls)
        for name, method in shared.items():
            if name not in own:
                setattr(cls, name, method)
        return cls

    return register if made is None else register(made)


def _compared(cls: Any) -> tuple[str, ...]:
    """The fields that are compared, computed at the first comparison."""
    names = vars(cls).get("__compared__")
    if names is None:
        names = tuple(field.name for field in dataclasses.fields(cls) if field.compare)
        cls.__compared__ = names
    return names


def _eq(self: Any, other: object) -> Any:
    if self is other:
        return True
    if other.__class__ is not self.__class__:
        return NotImplemented
    return all(getattr(self, name) == getattr(other, name) for name in _compared(self.__class__))


def _hash(self: Any) -> int:
    return hash(tuple(getattr(self, name) for name in _compared(self.__class__)))


def _repr(self: Any) -> str:
    shown = (f"{field.name}={getattr(self, field.name)!r}" for field in dataclasses.fields(self) if field.repr)
    return f"{self.__class__.__qualname__}({', '.join(shown)})"
