"""From a plan with symbols to one of plain numbers: the dimensions come from the inputs' shapes, the scalars from
their values.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from ...dsl.diagnostics import fail
from .check import validate
from .plan import Apply, Buffer, DimOf, Operator, Plan, ScalarOf

Shapes = Mapping[str, tuple[int, ...]]
Scalars = Mapping[str, int | float | bool]


def resolve(plan: Plan, shapes: Shapes, scalars: Scalars) -> Plan:
    """`plan` with every `Expr` replaced by its value, validated once more.

    Args:
        shapes: the shape of each input array, by buffer name; static dimensions must agree (the caller checks).
        scalars: the value of each scalar.

    Errors: W0702 … W0708 as in `plan_check`; W0709 if an expression has no value (a division by 0).
    """
    return validate(_replace(plan, shapes, scalars), f"plan of @{plan.entry}")


def _replace(node: Any, shapes: Shapes, scalars: Scalars) -> Any:
    if isinstance(node, DimOf | ScalarOf | Apply):
        return _value(node, shapes, scalars)
    if isinstance(node, tuple):
        return tuple(_replace(item, shapes, scalars) for item in node)
    if dataclasses.is_dataclass(node) and not isinstance(node, type):
        changed = {f.name: _replace(getattr(node, f.name), shapes, scalars) for f in dataclasses.fields(node)}
        return dataclasses.replace(node, **changed)
    return node


def _value(expr: Any, shapes: Shapes, scalars: Scalars) -> int | float | bool:
    if isinstance(expr, DimOf):
        return shapes[expr.buffer][expr.axis]
    if isinstance(expr, ScalarOf):
        return scalars[expr.name]
    if isinstance(expr, Apply):
        return apply(expr.operator, int(_value(expr.left, shapes, scalars)), int(_value(expr.right, shapes, scalars)))
    return expr


def apply(operator: Operator, left: int, right: int) -> int:
    """`operator(left, right)`. W0709 for a division by 0."""
    if operator in ("floordiv", "ceildiv", "div", "mod", "rem") and right == 0:
        raise fail("W0709", f"the host program divides {left} by 0")
    match operator:
        case "add":
            return left + right
        case "sub":
            return left - right
        case "mul":
            return left * right
        case "floordiv":
            return left // right
        case "ceildiv":
            return -(-left // right)
        case "div":
            return int(math.copysign(1, left) * math.copysign(1, right)) * (abs(left) // abs(right))
        case "mod":
            return left % abs(right)
        case "rem":
            return left - right * apply("div", left, right)
        case "min":
            return min(left, right)
        case "max":
            return max(left, right)


def concrete_shape(buffer: Buffer) -> tuple[int, ...]:
    """The shape of a buffer of a resolved plan."""
    return tuple(int(s) for s in buffer.shape)  # type: ignore[arg-type]
