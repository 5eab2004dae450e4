"""Frozen data classes with a short start-up time: no generated method until a class is used.

`dataclasses` writes and compiles six methods for a frozen class: 0.5 ms at each start, and Weft has
hundreds of classes, of which a command uses a third. The `__init__` of a record is compiled at its
first call, and records share the other methods. Only the type checker enforces that fields are not
assigned, and that fields without a default precede the others.
"""

from __future__ import annotations

import dataclasses
import inspect
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
        own, text = vars(cls), cls.__doc__
        shared = {"__repr__": _repr} | ({"__eq__": _eq, "__hash__": _hash} if eq and not compared else {})
        hashed = eq and compared and "__hash__" not in own
        written = "__init__" in own
        cls = dataclasses.dataclass(init=False, eq=eq and compared, repr=False, kw_only=kw_only, unsafe_hash=hashed)(
            cls
        )
        cls.__doc__ = text
        if not written:
            _complete_later(cls)
        for name, method in shared.items():
            if name not in own:
                setattr(cls, name, method)
        return cls

    return register if made is None else register(made)


def _complete_later(cls: Any) -> None:
    """Gives a class an `__init__` that the compiled one replaces at its first call."""

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        _complete(cls)
        cls.__init__(self, *args, **kwargs)

    cls.__init__ = __init__
    cls.__signature__ = _Signature()


class _Signature:
    """The signature of a record's constructor, for `help` and `inspect`."""

    def __get__(self, instance: object, cls: Any) -> inspect.Signature:
        owner = next(c for c in cls.__mro__ if "__init__" in vars(c))
        if isinstance(vars(owner).get("__signature__"), _Signature):
            _complete(owner)
        whole = inspect.signature(owner.__init__)
        return whole.replace(parameters=list(whole.parameters.values())[1:])


class _Absent:
    """The default of a parameter that a factory makes when no value is given."""

    def __repr__(self) -> str:
        return "<factory>"


_ABSENT = _Absent()


def _complete(cls: Any) -> None:
    """Compiles the `__init__` of a class: its fields in order, those given by name alone last."""
    fields = dataclasses.fields(cls)
    names: dict[str, Any] = {"_Absent": _ABSENT}
    by_place: list[str] = []
    by_name: list[str] = []
    body: list[str] = []
    for field in fields:
        name, default = field.name, ""
        if field.default_factory is not dataclasses.MISSING:
            names[f"_make_{name}"], default = field.default_factory, "_Absent"
        elif field.default is not dataclasses.MISSING:
            names[f"_default_{name}"] = field.default
            default = f"_default_{name}"
        if field.init:
            (by_name if field.kw_only is True else by_place).append(f"{name}={default}" if default else name)
        if default == "_Absent":
            given = f"{name} if {name} is not _Absent else " if field.init else ""
            body.append(f"self.{name} = {given}_make_{name}()")
        elif field.init:
            body.append(f"self.{name} = {name}")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    text = ", ".join(["self", *by_place, *(["*", *by_name] if by_name else [])])
    exec(f"def __init__({text}):\n " + "\n ".join(body or ["pass"]), names)
    made = names["__init__"]
    made.__qualname__, made.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    made.__annotations__ = {field.name: field.type for field in fields if field.init} | {"return": None}
    cls.__init__ = made


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
