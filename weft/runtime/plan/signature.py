"""The arguments and results of a function, by name: for inputs, reference, host plan and bundle. No
MLIR."""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from ...dsl.records import record
from .dtypes import FLOATS, is_float
from .plan import Plan

Shape = tuple[int | None, ...]
"""None: a dynamic dimension."""


@record
class Argument:
    """One argument or result.

    Args:
        name: the argument's `weft.name`, else `arg0` …; a result is `result0` ….
        dtype: the element type.
        shape: None for a scalar.
        role: `input`; `inout`, an argument that the function writes; or `output`, a result.
    """

    name: str
    dtype: str
    shape: Shape | None
    role: Literal["input", "output", "inout"]

    def __str__(self) -> str:
        return f"{self.name}: {type_text(self.dtype, self.shape)}"


@record
class FunctionSignature:
    """The arguments and results of a function. `inside`: the element types that it computes with,
    as far as they are known."""

    entry: str
    arguments: tuple[Argument, ...]
    results: tuple[Argument, ...] = ()
    inside: frozenset[str] = field(default=frozenset(), compare=False)

    @property
    def outputs(self) -> tuple[Argument, ...]:
        """Everything that the function writes: its `inout` arguments and its results."""
        return tuple(a for a in self.arguments if a.role == "inout") + self.results

    @property
    def lowest_precision(self) -> str | None:
        """The float type of lowest precision among its types; None if there are only integers."""
        floats = {a.dtype for a in (*self.arguments, *self.results) if is_float(a.dtype)}
        return max(floats | (self.inside & set(FLOATS)), key=FLOATS.index) if floats else None

    def __str__(self) -> str:
        arguments = ", ".join(str(a) for a in self.arguments)
        results = ", ".join(str(r) for r in self.results)
        return f"@{self.entry}({arguments})" + (f" -> ({results})" if results else "")


def type_text(dtype: str, shape: Shape | None) -> str:
    """`4x?xf32`, or `f32` for a scalar."""
    return "".join(f"{'?' if s is None else s}x" for s in shape or ()) + dtype


def plan_signature(plan: Plan) -> FunctionSignature:
    """The signature of a plan's entry, in the payload's form: outputs are results."""
    arguments = [
        Argument(b.name, b.dtype, static_shape(b.shape), "input" if b.role == "input" else "inout") for b in plan.inputs
    ]
    arguments += [Argument(s.name, s.dtype, None, "input") for s in plan.scalars]
    if plan.arguments:
        arguments.sort(key=lambda argument: plan.arguments.index(argument.name))
    results = [Argument(b.name, b.dtype, static_shape(b.shape), "output") for b in plan.buffers if b.role == "output"]
    return FunctionSignature(plan.entry, tuple(arguments), tuple(results))


def static_shape(sizes: tuple[object, ...]) -> Shape:
    """The shape of a caller's array: a dimension that is a symbol is dynamic."""
    return tuple(s if isinstance(s, int) else None for s in sizes)
