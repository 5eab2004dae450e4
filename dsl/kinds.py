"""What is known of an expression before the schedule runs: its kind, and its value where it is constant."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from . import tree
from .diagnostics import Diagnostic, WeftError, fail
from .expressions import ELEMENT_TYPES, TAKES, binary, call, check_call, unary

Kind = Literal["int", "float", "bool", "str", "type", "list", "unknown"]

NAMES: Mapping[str, str] = {
    "int": "an integer",
    "float": "a float",
    "bool": "true or false",
    "str": "a text",
    "type": "an element type",
    "list": "a list",
    "unknown": "unknown",
}
_NUMBERS = ("int", "float", "unknown")


@dataclass(frozen=True)
class Known:
    """A kind, and the value if it is constant (`constant` says so)."""

    kind: Kind
    value: Any = None
    constant: bool = False


UNKNOWN = Known("unknown")


def known_value(value: Any) -> Known:
    kind: Kind = "unknown"
    match value:
        case bool():
            kind = "bool"
        case int():
            kind = "int"
        case float():
            kind = "float"
        case str():
            kind = "type" if value in ELEMENT_TYPES else "str"
        case tuple():
            kind = "list"
    return Known(kind, value, True)


class Inference:
    """Infers expressions in one scope.

    Args:
        lookup: what a name stands for; None where it is no value (then the lookup has reported it).
        report: takes what is wrong.
    """

    def __init__(self, lookup: Callable[[tree.NameRef], Known | None], report: Callable[[Diagnostic], None]) -> None:
        self.lookup = lookup
        self.report = report

    def infer(self, expr: tree.Expr) -> Known:
        match expr:
            case tree.Literal():
                return known_value(expr.value) if not isinstance(expr.value, str) else Known("str", expr.value, True)
            case tree.NameRef():
                return self.lookup(expr) or UNKNOWN
            case tree.Unary():
                return self._unary(expr, self.infer(expr.operand))
            case tree.Binary():
                return self._binary(expr, self.infer(expr.left), self.infer(expr.right))
            case tree.CallExpr():
                return self._call(expr, [self.infer(argument) for argument in expr.arguments])
            case tree.ListExpr():
                items = [self.infer(item) for item in expr.items if not isinstance(item, tree.Skip)]
                return Known("list", tuple(item.value for item in items), all(item.constant for item in items))
            case tree.Skip():
                return self._wrong(fail("W0232", "`_` stands only in a list of tile sizes", span=expr.span))
        return UNKNOWN

    def _unary(self, expr: tree.Unary, operand: Known) -> Known:
        if operand.constant:
            return self._compute(lambda: unary(expr, operand.value))
        legal = ("bool", "unknown") if expr.operator == "not" else _NUMBERS
        if operand.kind not in legal:
            wanted = "true or false" if expr.operator == "not" else "a number"
            return self._wrong(
                fail("W0232", f"`{expr.operator}` takes {wanted}, not {NAMES[operand.kind]}", span=expr.span)
            )
        return Known("bool") if expr.operator == "not" else Known(operand.kind)

    def _binary(self, expr: tree.Binary, left: Known, right: Known) -> Known:
        if left.constant and right.constant:
            return self._compute(lambda: binary(expr, left.value, right.value))
        operator = expr.operator
        if operator in ("and", "or"):
            wrong = next((side for side in (left, right) if side.kind not in ("bool", "unknown")), None)
            wanted, result = "true or false", Known("bool")
        elif operator in ("==", "!="):
            return self._equality(expr, left, right)
        else:
            legal = ("int", "unknown") if operator == "%" else _NUMBERS
            wrong = next((side for side in (left, right) if side.kind not in legal), None)
            wanted = "integers" if operator == "%" else "numbers"
            result = Known("bool") if operator[0] in "<>" else _wider(left, right)
            if wrong is None and operator in "/%" and right.constant and right.value == 0:
                return self._wrong(fail("W0235", "this divides by zero", span=expr.span))
        if wrong is not None:
            return self._wrong(fail("W0232", f"`{operator}` takes {wanted}, not {NAMES[wrong.kind]}", span=expr.span))
        return result

    def _equality(self, expr: tree.Binary, left: Known, right: Known) -> Known:
        groups = {"int": "number", "float": "number", "type": "text", "str": "text"}
        kinds = {groups.get(side.kind, side.kind) for side in (left, right)}
        if len(kinds) > 1 and "unknown" not in kinds:
            message = f"`{expr.operator}` compares {NAMES[left.kind]} with {NAMES[right.kind]}"
            return self._wrong(fail("W0232", message, span=expr.span))
        return Known("bool")

    def _call(self, expr: tree.CallExpr, arguments: list[Known]) -> Known:
        if (wrong := check_call(expr)) is not None:
            return self._wrong(wrong)
        if all(argument.constant for argument in arguments):
            return self._compute(lambda: call(expr, [argument.value for argument in arguments]))
        takes = TAKES.get(expr.function, "numbers")
        legal = {"integers": ("int", "unknown"), "an element type": ("type", "unknown")}.get(takes, _NUMBERS)
        for argument, node in zip(arguments, expr.arguments, strict=True):
            if argument.kind not in legal:
                message = f"`{expr.function}` takes {takes}, not {NAMES[argument.kind]}"
                return self._wrong(fail("W0232", message, span=node.span))
        return Known("int") if expr.function in TAKES else _wider(*arguments)

    def _compute(self, compute: Callable[[], Any]) -> Known:
        try:
            return known_value(compute())
        except WeftError as error:
            return self._wrong(error)

    def _wrong(self, error: WeftError) -> Known:
        for diagnostic in error.diagnostics:
            self.report(diagnostic)
        return UNKNOWN


def _wider(*sides: Known) -> Known:
    kinds = {side.kind for side in sides}
    return Known("float") if "float" in kinds else Known("unknown") if "unknown" in kinds else Known("int")
