"""Evaluates the expressions of a schedule: integers are exact and stay within 64 bits.

The checker evaluates them too, before all values are known: a value known at run time only is an
`UnknownValue` of some kind.
"""

from __future__ import annotations

import contextlib
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

from . import tree
from .diagnostics import Span, WeftError, fail, quoted
from .records import record

Value = int | float | bool | str | tuple | tree.NoValue
Kind = Literal["int", "float", "bool", "str", "type", "list", "none", "handle", "unknown"]

ELEMENT_TYPES = ("f8E4M3FN", "f8E5M2", "f16", "bf16", "f32", "f64", "tf32", "i1", "i8", "i16", "i32", "i64", "index")
"""The values of the parameter type `type`; as Python values they are strings."""

SPLIT_TYPES = ("3xtf32", "bf16x3")
"""Further types that `as` accepts for operands; no element has such a type."""

NAMES: Mapping[Kind, str] = {
    "int": "an integer",
    "float": "a float",
    "bool": "true or false",
    "str": "a text",
    "type": "an element type",
    "list": "a list",
    "none": "`none`",
    "handle": "a handle",
    "unknown": "unknown",
}

_WANTED = {"number": "numbers", "int": "integers", "bool": "true or false", "type": "an element type"}
"""The kinds that operators and functions take, in words."""

INT_LIMIT = 2**63


@record
class UnknownValue:
    """A value known at run time only. Its kind may be unknown, too."""

    kind: Kind = "unknown"


UNKNOWN = UnknownValue()


@record
class KnownValue(UnknownValue):
    """A value known before the run: that of a name bound by `let`, or a parameter's default."""

    value: Any = None


Read = Callable[[tree.Property], Any]
"""Returns the value of a property."""


def no_payload(asked: tree.Property) -> Any:
    """Refuses a property where no op is known: in a default or a domain. Raises W0221."""
    raise fail("W0221", f"`{asked.spelling}` belongs to an op, and none is known here", span=asked.span)


def evaluate(expr: tree.Expr | tree.HandleRef, values: Mapping[str, Any], read: Read = no_payload) -> Any:
    """The value of an expression. `values`: the values of the names in scope; `read`: those of
    properties.

    Raises:
        WeftError: W0220 unknown name, W0221 a handle, W0232 wrong type, W0234 inexact division,
            W0235 division by zero, W0236 overflow, W0237 unknown function or wrong number of
            arguments.
    """
    return evaluator(values, read).value(expr)


def evaluator(values: Mapping[str, Any], read: Read = no_payload) -> Evaluator:
    """An evaluator that raises errors."""

    def lookup(ref: tree.NameRef) -> Any:
        value = values.get(ref.name, ref.name if ref.name in ELEMENT_TYPES else None)
        if value is None:
            raise fail("W0220", f"`{ref.name}` is not defined", span=ref.span)
        if kind_of(value) == "handle":
            raise fail("W0221", f"`{ref.name}` is a handle, not a value", span=ref.span)
        return value

    def refuse(error: WeftError) -> None:
        raise error

    def present(ref: tree.NameRef) -> Any:
        value = values.get(ref.name)
        return None if value is None or kind_of(value) != "handle" else not getattr(value, "absent", False)

    return Evaluator(lookup, refuse, present, read)


@record
class Evaluator:
    """Evaluates expressions in one scope. `and`, `or` and `select` evaluate only the operands that
    decide the result.

    Args:
        lookup: a function from a name to its value.
        report: takes errors. If it does not raise, the value is unknown and the evaluation
            continues.
        present: a function from a name to whether its handle is present; None: it names no handle.
        read: a function from a property to its value.
    """

    lookup: Callable[[tree.NameRef], Any]
    report: Callable[[WeftError], None]
    present: Callable[[tree.NameRef], Any]
    read: Read = no_payload

    def value(self, expr: tree.Expr | tree.HandleRef | tree.Call) -> Any:
        try:
            return self._value(expr)
        except WeftError as error:
            self.report(error)
            return UNKNOWN

    def expect(
        self, expr: tree.Expr | tree.HandleRef, kind: Kind, what: str, minimum: int | None, maximum: int | None = None,
        hint: str | None = None, *, none: bool = False,
    ) -> Any:  # fmt: skip
        """The value of `expr`; `what` names it in messages. Reports a value of another kind or out
        of range. `none`: whether it may be `none`."""
        value = self.value(expr)
        if none and value is tree.NONE:
            return value
        if not fits(kind, value):
            self.report(fail("W0232", f"{what} is {NAMES[kind]}, not {NAMES[kind_of(value)]}", span=expr.span))
        elif minimum is not None and not isinstance(value, UnknownValue) and value < minimum:
            self.report(fail("W0231", f"{what} is {value}; it must be at least {minimum}", hint, span=expr.span))
        elif maximum is not None and not isinstance(value, UnknownValue) and value > maximum:
            self.report(fail("W0231", f"{what} is {value}; it must be at most {maximum}", hint, span=expr.span))
        return value

    def _value(self, expr: tree.Expr | tree.HandleRef | tree.Call) -> Any:
        match expr:
            case tree.Literal():
                return expr.value
            case tree.NameRef():
                return self.lookup(expr)
            case tree.Property():
                return self.read(expr)
            case tree.Unary():
                value = self.value(expr.operand)
                _take(expr.operator, "bool" if expr.operator == "not" else "number", [value], [expr.span])
                if isinstance(value, UnknownValue):
                    return UnknownValue("bool") if expr.operator == "not" else value
                return not value if expr.operator == "not" else _within(-value, expr.span)
            case tree.Binary(
                left=tree.NameRef() as name, operator="==" | "!=", right=tree.Literal(value=tree.NONE)
            ) if (found := self.present(name)) is not None:
                return found if isinstance(found, UnknownValue) else found is (expr.operator == "!=")
            case tree.Binary():
                left = self.value(expr.left)
                if expr.operator in _DECIDED_BY and left is _DECIDED_BY[expr.operator]:
                    return left
                return _binary(expr, left, self.value(expr.right))
            case tree.CallExpr(function="select", arguments=(condition, *choices)) if len(choices) == 2:
                return self._select(self.value(condition), condition.span, choices)
            case tree.CallExpr():
                return _call(expr, [self.value(argument) for argument in expr.arguments])
            case tree.ListExpr():
                items = tuple(self.value(item) for item in expr.items)
                return UnknownValue("list") if any(isinstance(item, UnknownValue) for item in items) else items
            case tree.Skip() | tree.Rest():
                word = "_" if isinstance(expr, tree.Skip) else "..."
                raise fail("W0232", f"`{word}` is only allowed in a list of tile sizes", span=expr.span)
            case tree.Call():
                if handles := [
                    argument.value for argument in expr.arguments if isinstance(argument.value, tree.HandleRef)
                ]:
                    return self._value(handles[0])
                message = f"`{expr.schedule}` is used in an expression, where functions take values by position"
                raise fail("W0237", message, span=expr.span, notes=(f"functions: {quoted(FUNCTIONS)}",))
            case tree.HandleRef():  # no property either
                return self.read(tree.Property(expr.span, expr.name, expr.fields))

    def _select(self, condition: Any, span: Span, choices: Sequence[tree.Expr]) -> Any:
        if not fits("bool", condition):
            raise fail("W0232", f"`select` takes a condition, not {NAMES[kind_of(condition)]}", span=span)
        if not isinstance(condition, UnknownValue):
            return self.value(choices[not condition])
        return one_of([self.value(choice) for choice in choices])


def one_of(values: Sequence[object]) -> UnknownValue:
    """An unknown one of several values. It has their kind, if that is common to all; it may be
    `none`, too."""
    kinds: set[Kind] = {kind_of(value) for value in values}
    some: set[Kind] = kinds - {"none"} or kinds
    return UnknownValue(some.pop()) if len(some) == 1 else UNKNOWN


def show(value: object) -> str:
    """A value in the syntax of a schedule."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return value if value in ELEMENT_TYPES else f'"{value}"'
        case tuple():
            return f"[{', '.join(map(show, value))}]"
    return str(value)


def kind_of(value: object) -> Kind:
    """The kind of a value."""
    match value:
        case UnknownValue():
            return value.kind
        case bool():
            return "bool"
        case int():
            return "int"
        case float():
            return "float"
        case str():
            return "type" if value in ELEMENT_TYPES else "str"
        case tuple():
            return "list"
        case tree.NoValue():
            return "none"
    return "handle"


_TAKEN = {"float": ("int",), "str": ("type",), "number": ("int", "float")}
"""Kind → other kinds that are accepted in its place. (A text may name an element type.)"""


def fits(wanted: str, value: object) -> bool:
    """Whether a value is, or may be, of the wanted kind."""
    kind = kind_of(value)
    return kind in ("unknown", wanted) or kind in _TAKEN.get(wanted, ())


def _take(taker: str, wanted: str, values: Sequence[object], spans: Sequence[Span]) -> None:
    for value, span in zip(values, spans, strict=True):
        if not fits(wanted, value):
            message = f"`{taker}` takes {_WANTED[wanted]}, not {NAMES[kind_of(value)]}"
            raise fail("W0232", message, span=span)


def _wider(values: Sequence[object]) -> UnknownValue:
    kinds = {kind_of(value) for value in values}
    return UnknownValue("float") if "float" in kinds else UNKNOWN if "unknown" in kinds else UnknownValue("int")


def _within(value: int | float, span: Span) -> int | float:
    if isinstance(value, int) and not -INT_LIMIT <= value < INT_LIMIT:
        raise fail("W0236", "the result does not fit in 64 bits", span=span)
    if isinstance(value, float) and not math.isfinite(value):
        raise fail("W0236", "the result is too large for a float", span=span)
    return value


# ---- operators -------------------------------------------------------------------------------------------------------

_DECIDED_BY = {"and": False, "or": True}
_OPERATORS: Mapping[str, tuple[str, Kind | None, Callable[[Any, Any], Any]]] = {
    "and": ("bool", "bool", operator.and_),
    "or": ("bool", "bool", operator.or_),
    "<": ("number", "bool", operator.lt),
    "<=": ("number", "bool", operator.le),
    ">": ("number", "bool", operator.gt),
    ">=": ("number", "bool", operator.ge),
    "+": ("number", None, operator.add),
    "-": ("number", None, operator.sub),
    "*": ("number", None, operator.mul),
    "/": ("number", None, operator.truediv),
    "%": ("int", "int", operator.mod),
}
"""Operator → the kind of its operands, the kind of its result (None: an integer for integers,
otherwise a float), and its function."""


def _binary(expr: tree.Binary, left: Any, right: Any) -> Any:
    sides, unknown = (left, right), isinstance(left, UnknownValue) or isinstance(right, UnknownValue)
    if expr.operator in ("==", "!="):
        groups = {"int": "number", "float": "number", "type": "text", "str": "text"}
        kinds = {groups.get(kind_of(side), kind_of(side)) for side in (left, right)}
        if not (len(kinds) == 1 or kinds & {"unknown", "none"}):
            message = f"`{expr.operator}` compares {NAMES[kind_of(left)]} with {NAMES[kind_of(right)]}"
            raise fail("W0232", message, span=expr.span)
        return UnknownValue("bool") if unknown else (left == right) is (expr.operator == "==")
    wanted, given, compute = _OPERATORS[expr.operator]
    _take(expr.operator, wanted, sides, (expr.span, expr.span))
    if expr.operator in "/%" and not isinstance(right, UnknownValue) and right == 0:
        raise fail("W0235", "this divides by zero", span=expr.span)
    if unknown:
        return UnknownValue(given) if given else _wider(sides)
    if expr.operator == "/" and isinstance(left, int) and isinstance(right, int):
        if left % right:
            hint = "`ceildiv(a, b)` rounds up; `require a % b == 0` refuses such values by name"
            raise fail("W0234", f"{left} / {right} is not exact", span=expr.span, hint=hint)
        compute = operator.floordiv
    return _within(compute(left, right), expr.span)


# ---- functions -------------------------------------------------------------------------------------------------------


@record
class Builtin:
    """A function of expressions: the kind and number of its arguments (None: at least one), and its
    computation."""

    takes: str
    count: int | None
    compute: Callable[..., int | float]


FUNCTIONS: Mapping[str, Builtin] = {
    "min": Builtin("number", None, lambda *values: min(values)),
    "max": Builtin("number", None, lambda *values: max(values)),
    "ceildiv": Builtin("int", 2, lambda a, b: -(-a // b)),
    "pow2": Builtin("int", 1, lambda n: 1 << max(n - 1, 0).bit_length()),
    "bits": Builtin("type", 1, lambda kind: 64 if kind == "index" else int(kind.lstrip("bfit").partition("E")[0])),
    "select": Builtin("bool", 3, lambda condition, a, b: a if condition else b),
}
"""The functions: `pow2(n)` is the least power of two ≥ n; `bits(type)` the width of an element;
`select` takes two values of any kind."""


def _call(expr: tree.CallExpr, arguments: list[Any]) -> Any:
    function = FUNCTIONS.get(expr.function)
    if function is None:
        notes = (f"functions: {quoted(FUNCTIONS)}",)
        raise fail("W0237", f"there is no function `{expr.function}`", span=expr.span, notes=notes)
    given = len(arguments)
    if given != (function.count or max(given, 1)):
        wanted = function.count or "at least 1"
        raise fail("W0237", f"`{expr.function}` takes {wanted} arguments, not {given}", span=expr.span)
    _take(expr.function, function.takes, arguments, [argument.span for argument in expr.arguments])
    if expr.function == "ceildiv" and arguments[1] == 0:
        raise fail("W0235", "this divides by zero", span=expr.span)
    if any(isinstance(argument, UnknownValue) for argument in arguments):
        return _wider(arguments) if function.takes == "number" else UnknownValue("int")
    return _within(function.compute(*arguments), expr.span)


# ---- requirements ----------------------------------------------------------------------------------------------------


def unmet(item: tree.Require, values: Mapping[str, Any], read: Read = no_payload) -> WeftError:
    """W0240: the requirement does not hold; with the values of its names and properties."""
    known: dict[str, Any] = {}
    for part in parts_of(item.condition):
        with contextlib.suppress(WeftError):
            if isinstance(part, tree.Property):
                known[part.spelling] = read(part)
            elif isinstance(part, tree.NameRef) and part.name in values:
                known[part.name] = values[part.name]
    written = " ".join(item.condition.span.text.split())
    shown = ", ".join(f"{name} = {value}" for name, value in known.items())
    text = item.message or "the schedule's requirement does not hold"
    return fail("W0240", text, span=item.condition.span, notes=(f"{written}, with {shown}" if shown else written,))


def parts_of(expr: tree.Expr | tree.HandleRef) -> Iterator[tree.Expr | tree.HandleRef]:
    """An expression and all parts of it, in order."""
    yield expr
    match expr:
        case tree.Unary():
            yield from parts_of(expr.operand)
        case tree.Binary():
            yield from (*parts_of(expr.left), *parts_of(expr.right))
        case tree.CallExpr(arguments=parts) | tree.ListExpr(items=parts):
            for part in parts:
                yield from parts_of(part)
