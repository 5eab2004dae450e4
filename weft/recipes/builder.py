"""A payload builder as data: its parameters with types, defaults and domains, the function that
makes the MLIR text, and named lists of sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Value = int | str

OPEN = "?"
"""The value of a size that is known at run time only."""


@dataclass(frozen=True)
class BuilderParameter:
    """A parameter of a builder.

    Args:
        name: its name in a schedule and in `--set`.
        type: `int`, or `type` for an element type such as `f32`.
        default: its value if none is given.
        minimum: the smallest legal value of an int.
        maximum: the largest legal value of an int.
        domain: the legal values; empty if `minimum` and `maximum` define them.
        meaning: a short description for `weft explain` and the documentation.
        axis: `A.0` if the parameter is the size of argument `A` along axis 0; the value may then be
            `OPEN`.
    """

    name: str
    type: Literal["int", "type"]
    default: Value
    minimum: int = 1
    maximum: int = 2**31 - 1
    domain: tuple[Value, ...] = ()
    meaning: str = ""
    axis: str | None = None

    @property
    def legal(self) -> str:
        """The legal values of an int, or of a type with a domain, in words."""
        listed = ", ".join(map(str, self.domain)) or f"{self.minimum} … {self.maximum}"
        return listed if self.axis is None else f"{listed}, {OPEN}"

    def objection(self, value: object) -> str | None:
        """The reason why `value` is illegal, or None. A `bool` is no int here."""
        if value == OPEN and self.type == "int":
            return None if self.axis is not None else f"only the size of an argument may be `{OPEN}`"
        if self.type == "int" and (not isinstance(value, int) or isinstance(value, bool)):
            return "it must be an integer"
        if self.type == "type" and not isinstance(value, str):
            return "it must be an element type"
        if self.domain and value not in self.domain:
            return f"it must be one of {', '.join(map(str, self.domain))}"
        if isinstance(value, int) and not self.minimum <= value <= self.maximum:
            return f"it must be at least {self.minimum} and at most {self.maximum}"
        return None


@dataclass(frozen=True)
class Misfit:
    """Values that are legal one by one and inconsistent together.

    Args:
        parameters: the parameters with these values, the main cause first.
        reason: the reason, with the numbers.
        hint: a way out.
    """

    parameters: tuple[str, ...]
    reason: str
    hint: str


@dataclass(frozen=True)
class Builder:
    """A payload with parameters.

    Args:
        name: its name in a schedule.
        summary: what it computes.
        parameters: in the order of positional arguments.
        build: `build(**values)` returns the MLIR text; the values have been checked against
            `parameters`.
        operations: `operations(**values)` counts its arithmetic operations, for benchmarks.
        baseline: `baseline(xp, arrays, **values)` computes the same with an array library, NumPy or
            CuPy, from arrays by name.
        misfit: `misfit(**values)` returns a `Misfit` for inconsistent values, otherwise None.
        layers: named values of several parameters, for `--layer`: the layers of a well-known
            network.
    """

    name: str
    summary: str
    parameters: tuple[BuilderParameter, ...]
    build: Callable[..., str]
    operations: Callable[..., int]
    baseline: Callable[..., Any]
    misfit: Callable[..., Misfit | None] | None = None
    layers: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)

    def open_axes(self, values: Mapping[str, Value]) -> dict[str, str]:
        """The parameters with the value `OPEN`, each with the axis of which it is the size."""
        return {p.name: p.axis for p in self.parameters if p.axis is not None and values[p.name] == OPEN}

    def parameter(self, name: str) -> BuilderParameter | None:
        return next((p for p in self.parameters if p.name == name), None)


def tensor(type: str, *sizes: Value) -> str:
    """The type of a tensor with elements of type `type`."""
    return f"tensor<{'x'.join([*map(str, sizes), type])}>"


def sizes_at_run_time(*axes: tuple[Value, str, str, int, str]) -> str:
    """Lines that read the `OPEN` sizes from the shapes of arguments.

    Args:
        axes: for each size its value, its SSA name, the argument, the axis, and the argument's
            type.
    """
    return "".join(
        f"  %{name}_axis = arith.constant {axis} : index\n  %{name} = tensor.dim %{argument}, %{name}_axis : {type}\n"
        for size, name, argument, axis, type in axes
        if size == OPEN
    )


def named_sizes(**sizes: Value) -> str:
    """The operands of a `tensor.empty` with these sizes: the names of the `OPEN` ones."""
    return ", ".join(f"%{name}" for name, size in sizes.items() if size == OPEN)
