"""The parameters of a schedule: their values (from defaults, arguments of a call, or the texts of
`--set`), and the checks of parameters and of a call's arguments before values are known."""

from __future__ import annotations

import contextlib
import re
from collections import ChainMap
from collections.abc import Callable, Container, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, cast

from . import tree
from .diagnostics import Diagnostic, Span, WeftError, count, did_you_mean, fail, quoted
from .expressions import ELEMENT_TYPES, NAMES, UNKNOWN, KnownValue, UnknownValue, Value, evaluate, fits, kind_of, show
from .lookups import ScopeCheck
from .scopes import Part

FINDING = ("match", "match?")
"""The statements that may be the default of a handle."""

MOST_BY_POSITION = 6
"""The most arguments of a call by position, without a warning."""

RESERVED = frozenset({"true", "false", "none", "not", "_"})

_WANTED = {**NAMES, "float": "a number"}


def bind(schedule: tree.Schedule, settings: Mapping[str, object]) -> dict[str, Value]:
    """The parameter values of a schedule that is run directly. Raises W0230 as well if it has
    handle parameters without a default."""
    for parameter in schedule.parameters:
        if parameter.type == "handle" and parameter.default is None:
            message = f"`{schedule.name}` cannot be run alone: `{parameter.name}` is a handle"
            hint = f"call it from a schedule after it, `{schedule.name}(…)`, or give it a default, `match …`"
            raise fail("W0230", message, span=parameter.span, hint=hint)
    return bind_parameters(schedule, settings)


def bind_parameters(
    schedule: tree.Schedule, settings: Mapping[str, object], around: Mapping[str, Any] = MappingProxyType({})
) -> dict[str, Value]:
    """Parameter name → value; handle parameters are left out.

    Args:
        settings: name → value, or a text (`--set bm=64`) that is read according to the parameter's
            type. Other parameters have their defaults, which may use the parameters before them.
        around: the names around a schedule that is written in another one.

    Raises:
        WeftError: W0210 not of the parameter's type, W0211 not in its domain, W0213 no value, W0482
            unknown name.
    """
    known = {parameter.name: parameter for parameter in schedule.parameters if parameter.type != "handle"}
    wrong = [_unknown(schedule, name, list(known)) for name in settings if name not in known]
    values: dict[str, Value] = {}
    for parameter in known.values():
        try:
            values[parameter.name] = _value(
                schedule, parameter, settings, ChainMap(values, cast(dict[str, Any], around))
            )
        except WeftError as error:
            wrong.append(error)
            break  # later defaults may need this value
    if wrong:
        raise WeftError(*(diagnostic for error in wrong for diagnostic in error.diagnostics))
    return values


def matched(schedule: tree.Schedule, given: Container[str]) -> tuple[tree.Let, ...]:
    """The statements that find the handles which a call does not give."""
    missing = [p for p in schedule.parameters if p.type == "handle" and p.name not in given]
    return tuple(
        tree.Let(p.span, (tree.Binding(p.span, p.name),), False, p.default)
        for p in missing
        if isinstance(p.default, tree.StatementNode)
    )


def _value(
    schedule: tree.Schedule, parameter: tree.Parameter, settings: Mapping[str, object], values: Mapping[str, Value]
) -> Value:
    if parameter.name in settings:
        given = settings[parameter.name]
        is_text = isinstance(given, str) and parameter.type not in ("str", "type")
        return fit(parameter, read_setting(parameter, given) if is_text else given)
    if isinstance(parameter.default, tree.Expr):
        return fit(parameter, evaluate(parameter.default, values), parameter.default.span)
    message = f"`{parameter.name}` of `{schedule.name}` has no value"
    hint = f"give one with `--set {parameter.name}=…`, or a default: `{parameter.name}: {parameter.type} = …`"
    raise fail("W0213", message, span=parameter.span, hint=hint)


def read_setting(parameter: tree.Parameter, text: object) -> Value:
    """The value of a text from `--set`, according to the parameter's type. Raises W0210."""
    text = str(text).strip()
    value: Value | None = None
    if text == "none" and _may_be_none(parameter.default):
        return tree.NONE
    match parameter.type:
        case "int" if re.fullmatch(r"[+-]?[0-9]{1,18}", text, re.ASCII):
            value = int(text)
        case "float" if re.fullmatch(r"[+-]?[0-9]{1,30}(\.[0-9]{0,30})?([eE][+-]?[0-9]{1,2})?", text, re.ASCII):
            value = float(text)
        case "bool" if text in ("true", "false"):
            value = text == "true"
        case "str" | "type":
            return fit(parameter, text, parameter.span)
    if value is None:
        shown = text if len(text) <= 40 else text[:37] + "…"
        wanted = _WANTED[parameter.type]
        if parameter.type == "int" and re.fullmatch(r"[+-]?[0-9]+", text, re.ASCII):
            wanted += " of at most 18 digits"
        message = f"`{parameter.name}` takes {wanted}, not `{shown}`"
        raise fail("W0210", message, span=parameter.span, hint=_legal_hint(parameter))
    return value


def fit(parameter: tree.Parameter, value: Any, span: Span | None = None) -> Any:
    """`value` as a value of the parameter: an integer becomes a float if the parameter is one; an
    unknown value stays unknown.

    Raises:
        WeftError: W0210 not of the parameter's type, W0211 not in its domain; at `span`, or at the
            parameter.
    """
    if kind_of(value) == "none" and _may_be_none(parameter.default):
        return value
    if not fits(parameter.type, value):
        given = NAMES[kind_of(value)]
        if parameter.type == "type" and isinstance(value, str):
            given = f"`{value[:40]}`"
        message = f"`{parameter.name}` takes {_WANTED[parameter.type]}, not {given}"
        raise fail("W0210", message, span=span or parameter.span, hint=_legal_hint(parameter))
    if isinstance(value, UnknownValue):
        return value
    if parameter.domain is not None and value not in evaluate(parameter.domain, {}):
        message = f"`{parameter.name}` = {show(value)} is not in its domain"
        raise fail("W0211", message, span=span or parameter.domain.span, hint=_legal_hint(parameter))
    return float(value) if parameter.type == "float" else value


def _may_be_none(default: object) -> bool:
    """Whether a default has the value `none`, at least by one side of a `select`: then a parameter
    takes it."""
    match default:
        case tree.Literal(value=tree.NONE):
            return True
        case tree.CallExpr(function="select", arguments=(_, *choices)):
            return any(map(_may_be_none, choices))
    return False


def _legal_hint(parameter: tree.Parameter) -> str | None:
    """A hint with the legal values of a parameter, if they can be listed."""
    legal: tuple[object, ...] = ()
    if parameter.domain is not None:
        with contextlib.suppress(WeftError):
            legal = evaluate(parameter.domain, {})
    elif parameter.type == "type":
        legal = ELEMENT_TYPES
    return f"write one of {quoted(map(show, legal))}" if legal else None


def _unknown(schedule: tree.Schedule, name: str, known: list[str]) -> WeftError:
    notes = (f"its parameters are {', '.join(known) or 'none'}",)
    message = f"`{schedule.name}` has no parameter `{name}`"
    return fail("W0482", message, span=schedule.span, notes=notes, hint=did_you_mean(name, known))


def check_parameters(
    schedule: tree.Schedule, check: ScopeCheck, handle: Callable[[tree.Parameter], None], *, settled: bool = False
) -> None:
    """Adds the parameters to the scope and reports their errors. `handle`: adds a handle. `settled`:
    whether they have their defaults."""
    seen: set[str] = set()
    for parameter in schedule.parameters:
        name = parameter.name
        if name in RESERVED or name in ELEMENT_TYPES:
            what = "an element type" if name in ELEMENT_TYPES else "a word of the language"
            check.error("W0205", f"`{name}` is {what} and can't name a parameter", parameter.span)
        if name in seen:
            check.error("W0206", f"there are two parameters `{name}`", parameter.span)
            continue
        seen.add(name)
        if parameter.type == "handle":
            _check_handle(parameter, check)
            handle(parameter)
            check.scope.parameters[name] = False
            continue
        legal = parameter if _domain_is_right(parameter, check) else replace(parameter, domain=None)
        default = UNKNOWN if not isinstance(parameter.default, tree.Expr) else check.value(parameter.default)
        check.scope.names[name], check.scope.parameters[name] = UnknownValue(parameter.type), False
        if isinstance(parameter.default, tree.StatementNode):
            check.error("W0212", f"`{name}` is {NAMES[parameter.type]}, and no op", parameter.default.span)
        elif parameter.default is not None:
            with check.reporting():
                value = fit(legal, default, parameter.default.span)
                if settled and not isinstance(value, UnknownValue):
                    check.scope.names[name] = KnownValue(parameter.type, value)


def _check_handle(parameter: tree.Parameter, check: ScopeCheck) -> None:
    default = parameter.default
    if parameter.domain is not None:
        check.error("W0212", f"`{parameter.name}` is a handle: it has no domain", parameter.domain.span)
    if isinstance(default, tree.StatementNode) and default.keyword not in FINDING:
        message = f"the default of a handle is a `match`, not a `{default.keyword}`"
        check.error(
            "W0212", message, default.span, f"write `{parameter.name}: handle = match …`, and rewrite it in the body"
        )
    elif isinstance(default, tree.Expr) and not check.is_none(default):
        hint = f"write `{parameter.name}: handle = match …`, or `= none`"
        check.error(
            "W0212", f"the default of the handle `{parameter.name}` is a `match`, or `none`", default.span, hint
        )


def _domain_is_right(parameter: tree.Parameter, check: ScopeCheck) -> bool:
    if parameter.domain is None:
        return True
    if not parameter.domain.items:
        check.error("W0212", f"the domain of `{parameter.name}` is empty", parameter.domain.span)
        return False
    values: list[object] = []
    for item in parameter.domain.items:
        value = check.value(item)
        if isinstance(value, UnknownValue):
            if value.kind != "unknown":  # otherwise the error is reported already
                check.error("W0212", "a domain lists constants", item.span)
            return False
        if not fits(parameter.type, value):
            has = f"{show(value)} in its domain is {NAMES[kind_of(value)]}"
            check.error("W0212", f"`{parameter.name}` is {NAMES[parameter.type]}; {has}", item.span)
            return False
        if value in values:
            check.error("W0212", f"{show(value)} is listed twice", item.span)
        values.append(value)
    return True


def unused(parameter: tree.Parameter, schedule: tree.Schedule) -> Diagnostic:
    """The warning of a parameter that its schedule does not use."""
    message = f"`{parameter.name}` of `{schedule.name}` is never used"
    hint = f"delete it, or use it: `{parameter.name}` has no effect"
    return Diagnostic("W0216", message, parameter.span, hint=hint, severity="warning")


def check_arguments(
    call: tree.Call, schedule: tree.Schedule, check: ScopeCheck
) -> dict[str, tuple[Part, tree.HandleRef]]:
    """Reports errors of the arguments; returns the live handles that are passed, by parameter."""
    given = _by_parameter(call, schedule, check)
    if (
        number := sum(a.name is None and not isinstance(a.value, tree.Rest) for a in call.arguments)
    ) > MOST_BY_POSITION:
        message = f"this call of `{schedule.name}` gives {number} arguments by position"
        named = ", ".join(f"{p.name} = …" for p in schedule.parameters[1:])
        hint = f"name them: `{schedule.name}({schedule.parameters[0].name} = …, {named})`"
        check.report(Diagnostic("W0217", message, call.span, hint=hint, severity="warning"))
    handles: dict[str, tuple[Part, tree.HandleRef]] = {}
    for parameter in schedule.parameters:
        value = given.get(parameter.name)
        if value is None:
            if parameter.default is None:
                what = "handle" if parameter.type == "handle" else "value"
                message = f"the call of `{schedule.name}` gives no {what} for `{parameter.name}`"
                check.error("W0209", message, call.span, f"`{signature_of(schedule)}`")
        elif parameter.type == "handle" and not check.is_none(value):
            ref = tree.HandleRef(value.span, value.name) if isinstance(value, tree.NameRef) else value
            if not isinstance(ref, tree.HandleRef):
                check.error("W0221", f"`{parameter.name}` takes a handle", value.span)
            else:
                with check.reporting():
                    handles[parameter.name] = check.op(ref), ref
        elif parameter.type == "handle":
            pass  # absent
        elif isinstance(ref := check.scope.as_handle(value), tree.HandleRef):
            message = f"`{parameter.name}` takes {NAMES[parameter.type]}; `{ref.spelling}` is a handle"
            check.error("W0221", message, ref.span)
        else:
            with check.reporting():
                fit(parameter, check.value(value), value.span)
    return handles


def signature_of(schedule: tree.Schedule) -> str:
    """The interface in words: `stage(step: handle, bk: int = …)`."""
    parts = (f"{p.name}: {p.type}{' = …' if p.default is not None else ''}" for p in schedule.parameters)
    return f"{schedule.name}({', '.join(parts)})"


def _others(
    rest: tree.Rest, names: list[str], given: Container[str], check: ScopeCheck
) -> dict[str, tree.Expr | tree.HandleRef]:
    """The arguments that `...` gives: for each parameter that is not given, the caller's name."""
    others = [tree.NameRef(rest.span, name) for name in names if name not in given]
    for ref in others:
        with check.reporting():
            check.expect_visible(ref)
    return {ref.name: ref for ref in others if ref.name in check.scope.names}


def _by_parameter(call: tree.Call, schedule: tree.Schedule, check: ScopeCheck) -> dict[str, tree.Expr | tree.HandleRef]:
    names = [parameter.name for parameter in schedule.parameters]
    given: dict[str, tree.Expr | tree.HandleRef] = {}
    position, named = 0, False
    for argument in call.arguments:
        if isinstance(argument.value, tree.Rest):
            given |= _others(argument.value, names, given, check)
            break
        if argument.name is not None:
            name, named = argument.name, True
        elif named:
            check.error("W0208", "arguments by position come before those by name", argument.span)
            continue
        elif position >= len(names):
            message = f"`{schedule.name}` has {count(len(names), 'parameter')}, not {position + 1}"
            check.error("W0208", message, argument.span, f"`{signature_of(schedule)}`")
            break
        else:
            name = names[position]
            position += 1
        if name not in names:
            hint = did_you_mean(name, names) or f"its parameters: `{signature_of(schedule)}`"
            check.error("W0208", f"`{schedule.name}` has no parameter `{name}`", argument.span, hint)
        elif name in given:
            check.error("W0208", f"`{name}` is given twice", argument.span)
        else:
            given[name] = argument.value
    return given
