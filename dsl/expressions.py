"""Expressions of a schedule, evaluated: integers are exact and stay within 64 bits."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from . import tree
from .diagnostics import WeftError, fail

Value = int | float | bool | str | tuple

ELEMENT_TYPES = ("f16", "bf16", "f32", "f64", "tf32", "i1", "i8", "i16", "i32", "i64", "index")
"""Words that are values of the parameter type `type`; as Python values they are strings."""

_INT_LIMIT = 2**63


def evaluate(expr: tree.Expr, values: Mapping[str, Any]) -> Value:
    """The value of an expression. `values`: the parameters and loop variables in scope.

    Raises:
        WeftError: W0220 unknown name, W0232 wrong type, W0234 inexact division, W0235 division by zero, W0236 overflow,
            W0237 unknown function or wrong number of arguments.
    """
    match expr:
        case tree.Literal():
            return expr.value
        case tree.NameRef():
            return _name(expr, values)
        case tree.Unary():
            return unary(expr, evaluate(expr.operand, values))
        case tree.Binary(operator="and" | "or"):
            left = _truth(expr, evaluate(expr.left, values))
            if left is (expr.operator == "or"):
                return left
            return _truth(expr, evaluate(expr.right, values))
        case tree.Binary():
            return binary(expr, evaluate(expr.left, values), evaluate(expr.right, values))
        case tree.CallExpr():
            return call(expr, [evaluate(argument, values) for argument in expr.arguments])
        case tree.ListExpr():
            return tuple(evaluate(item, values) for item in expr.items)
        case tree.Skip():
            raise fail("W0232", "`_` stands only in a list of tile sizes", span=expr.span)
        case tree.HandleRef():
            raise fail("W0221", f"`{expr.spelling}` is a handle, not a value", span=expr.span)
    raise TypeError(expr)


def _name(expr: tree.NameRef, values: Mapping[str, Any]) -> Value:
    if expr.name in values:
        return values[expr.name]
    if expr.name in ELEMENT_TYPES:
        return expr.name
    raise fail("W0220", f"`{expr.name}` is not defined", span=expr.span)


def show(value: object) -> str:
    """A value as a schedule would write it."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return value if value in ELEMENT_TYPES else f'"{value}"'
        case tuple():
            return f"[{', '.join(map(show, value))}]"
    return str(value)


def kind_of(value: object) -> str:
    """What a value is, for messages: "an integer", "a text", …"""
    match value:
        case bool():
            return "true or false"
        case int():
            return "an integer"
        case float():
            return "a float"
        case str():
            return "an element type" if value in ELEMENT_TYPES else "a text"
        case tuple():
            return "a list"
    return "a handle"


# ---- operators -------------------------------------------------------------------------------------------------------


def unary(expr: tree.Unary, value: Any) -> Value:
    if expr.operator == "not":
        return not _truth(expr, value)
    if not _is_number(value):
        raise fail("W0232", f"`-` takes a number, not {kind_of(value)}", span=expr.span)
    return _fits(expr, -value)


def binary(expr: tree.Binary, left: Any, right: Any) -> Value:
    """A binary operator on values; `and` and `or` on values that are both known."""
    operator = expr.operator
    if operator in ("and", "or"):
        first, second = _truth(expr, left), _truth(expr, right)
        return (first and second) if operator == "and" else (first or second)
    if operator in ("==", "!="):
        if not _comparable(left, right):
            raise fail("W0232", f"`{operator}` compares {kind_of(left)} with {kind_of(right)}", span=expr.span)
        return (left == right) is (operator == "==")
    if not (_is_number(left) and _is_number(right)):
        wrong = right if _is_number(left) else left
        raise fail("W0232", f"`{operator}` takes numbers, not {kind_of(wrong)}", span=expr.span)
    if operator in _ORDER:
        return _ORDER[operator](left, right)
    if operator == "%":
        return _remainder(expr, left, right)
    if operator == "/":
        return _quotient(expr, left, right)
    return _fits(expr, _ARITHMETIC[operator](left, right))


_ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
}


def _quotient(expr: tree.Binary, left: int | float, right: int | float) -> Value:
    if right == 0:
        raise fail("W0235", f"{show(left)} / 0", span=expr.span)
    if isinstance(left, float) or isinstance(right, float):
        return _fits(expr, left / right)
    if left % right:
        hint = "`ceildiv(a, b)` rounds up; `require a % b == 0` refuses such values by name"
        raise fail("W0234", f"{left} / {right} is not exact", span=expr.span, hint=hint)
    return _fits(expr, left // right)


def _remainder(expr: tree.Binary, left: int | float, right: int | float) -> Value:
    if isinstance(left, float) or isinstance(right, float):
        raise fail("W0232", "`%` takes integers", span=expr.span)
    if right == 0:
        raise fail("W0235", f"{left} % 0", span=expr.span)
    return left % right


def _truth(expr: tree.Unary | tree.Binary, value: Any) -> bool:
    if not isinstance(value, bool):
        raise fail("W0232", f"`{expr.operator}` takes true or false, not {kind_of(value)}", span=expr.span)
    return value


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _comparable(left: object, right: object) -> bool:
    return (_is_number(left) and _is_number(right)) or type(left) is type(right)


def _fits(expr: tree.Node, value: int | float) -> int | float:
    if isinstance(value, int) and not -_INT_LIMIT <= value < _INT_LIMIT:
        raise fail("W0236", "the result does not fit in 64 bits", span=expr.span)
    if isinstance(value, float) and not math.isfinite(value):
        raise fail("W0236", "the result is too large for a float", span=expr.span)
    return value


# ---- functions -------------------------------------------------------------------------------------------------------

FUNCTIONS: Mapping[str, tuple[int, int | None]] = {
    "min": (1, None),
    "max": (1, None),
    "ceildiv": (2, 2),
    "pow2": (1, 1),
    "bits": (1, 1),
}
"""Function → the least and the largest number of its arguments. `pow2(n)` is the least power of two that is ≥ n, `bits(type)` the
width of an element."""

TAKES: Mapping[str, str] = {"ceildiv": "integers", "pow2": "integers", "bits": "an element type"}
"""Function → what it takes, where that is not numbers of any kind. All of these give integers."""


def check_call(expr: tree.CallExpr) -> WeftError | None:
    """What is wrong with a call before its arguments are known."""
    if expr.function not in FUNCTIONS:
        known = ", ".join(f"`{name}`" for name in FUNCTIONS)
        return fail("W0237", f"there is no function `{expr.function}`", span=expr.span, notes=(f"functions: {known}",))
    least, most = FUNCTIONS[expr.function]
    given = len(expr.arguments)
    if given < least or (most is not None and given > most):
        wanted = f"{least}" if least == most else f"at least {least}"
        return fail("W0237", f"`{expr.function}` takes {wanted} arguments, not {given}", span=expr.span)
    return None


def call(expr: tree.CallExpr, arguments: list[Any]) -> Value:
    if (wrong := check_call(expr)) is not None:
        raise wrong
    takes = TAKES.get(expr.function, "numbers")
    for argument, node in zip(arguments, expr.arguments, strict=True):
        if not _accepted(takes, argument):
            raise fail("W0232", f"`{expr.function}` takes {takes}, not {kind_of(argument)}", span=node.span)
    match expr.function:
        case "min":
            return min(arguments)
        case "max":
            return max(arguments)
        case "ceildiv":
            if arguments[1] == 0:
                raise fail("W0235", f"ceildiv({arguments[0]}, 0)", span=expr.span)
            return _fits(expr, -(-arguments[0] // arguments[1]))
        case "bits":
            return 64 if arguments[0] == "index" else int(arguments[0].lstrip("bfit"))
    return _fits(expr, 1 << max(arguments[0] - 1, 0).bit_length())


def _accepted(takes: str, argument: object) -> bool:
    if takes == "an element type":
        return isinstance(argument, str) and argument in ELEMENT_TYPES
    return _is_number(argument) and (takes == "numbers" or isinstance(argument, int))
