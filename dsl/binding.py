"""Parameters get their values: defaults, arguments of a call, and what `--set` gives as text."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from typing import Any

from . import tree
from .diagnostics import Span, WeftError, fail
from .expressions import ELEMENT_TYPES, NAMES, UnknownValue, Value, evaluate, fits, kind_of, show
from .wording import did_you_mean

_WANTED = {**NAMES, "float": "a number"}


def bind(schedule: tree.Schedule, settings: Mapping[str, object]) -> dict[str, Value]:
    """The parameters of a schedule that is run by itself. Raises also W0230 if it wants handles."""
    for parameter in schedule.parameters:
        if parameter.type == "handle":
            message = f"`{schedule.name}` can't be run by itself: `{parameter.name}` is a handle"
            hint = "call it from a schedule that comes after it"
            raise fail("W0230", message, span=parameter.span, hint=hint)
    return bind_parameters(schedule, settings)


def bind_parameters(schedule: tree.Schedule, settings: Mapping[str, object]) -> dict[str, Value]:
    """Parameter name → value; parameters that are handles are left out.

    Args:
        settings: name → value, or a text (`--set bm=64`) that is read as the parameter's type says. Defaults fill in the
            rest; they may use the parameters before them.

    Raises:
        WeftError: W0210 not of the parameter's type, W0211 not in its domain, W0213 no value, W0214 unknown name.
    """
    known = {parameter.name: parameter for parameter in schedule.parameters if parameter.type != "handle"}
    wrong = [_unknown(schedule, name, list(known)) for name in settings if name not in known]
    values: dict[str, Value] = {}
    for parameter in known.values():
        try:
            values[parameter.name] = _value(schedule, parameter, settings, values)
        except WeftError as error:
            wrong.append(error)
            break  # later defaults may need this one
    if wrong:
        raise WeftError(*(diagnostic for error in wrong for diagnostic in error.diagnostics))
    return values


def _value(
    schedule: tree.Schedule, parameter: tree.Parameter, settings: Mapping[str, object], values: Mapping[str, Value]
) -> Value:
    if parameter.name in settings:
        given = settings[parameter.name]
        is_text = isinstance(given, str) and parameter.type not in ("str", "type")
        return fit(parameter, read_setting(parameter, given) if is_text else given)
    if parameter.default is not None:
        return fit(parameter, evaluate(parameter.default, values), parameter.default.span)
    message = f"`{parameter.name}` of `{schedule.name}` has no value"
    hint = f"give one with `--set {parameter.name}=…`, or a default: `{parameter.name}: {parameter.type} = …`"
    raise fail("W0213", message, span=parameter.span, hint=hint)


def read_setting(parameter: tree.Parameter, text: object) -> Value:
    """A text from `--set`, as the type of the parameter says. Raises W0210."""
    text = str(text).strip()
    value: Value | None = None
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
    """`value` as a value of the parameter: an integer becomes a float where one is wanted, what is unknown stays so.

    Raises:
        WeftError: W0210 not of the parameter's type, W0211 not in its domain; at `span`, or else at the parameter.
    """
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


def _legal_hint(parameter: tree.Parameter) -> str | None:
    """The legal values of a parameter, where they can be listed."""
    legal: tuple[object, ...] = ()
    if parameter.domain is not None:
        with contextlib.suppress(WeftError):
            legal = evaluate(parameter.domain, {})
    elif parameter.type == "type":
        legal = ELEMENT_TYPES
    return f"legal: {', '.join(map(show, legal))}" if legal else None


def _unknown(schedule: tree.Schedule, name: str, known: list[str]) -> WeftError:
    notes = (f"its parameters are {', '.join(known) or 'none'}",)
    message = f"`{schedule.name}` has no parameter `{name}`"
    return fail("W0214", message, span=schedule.span, notes=notes, hint=did_you_mean(name, known))
