"""Checks the parameters of a schedule (names, defaults, domains), and the arguments of its calls against them."""

from __future__ import annotations

from dataclasses import replace

from . import tree
from .binding import fit
from .expressions import ELEMENT_TYPES, NAMES, UnknownValue, fits, kind_of, show
from .scopes import Part
from .statement_check import ScopeCheck
from .wording import count, did_you_mean


def check_parameters(schedule: tree.Schedule, reserved: frozenset[str], check: ScopeCheck) -> None:
    """Put the parameters that are values into the scope; report what is wrong with any of them."""
    seen: set[str] = set()
    for parameter in schedule.parameters:
        name = parameter.name
        if name in reserved or name in ELEMENT_TYPES:
            what = "an element type" if name in ELEMENT_TYPES else "a word of the language"
            check.error("W0205", f"`{name}` is {what} and can't name a parameter", parameter.span)
        if name in seen:
            check.error("W0206", f"there are two parameters `{name}`", parameter.span)
            continue
        seen.add(name)
        if parameter.type == "handle":
            if parameter.default is not None or parameter.domain is not None:
                check.error("W0212", f"`{name}` is a handle: it has neither a default nor a domain", parameter.span)
            continue
        legal = parameter if _domain_is_right(parameter, check) else replace(parameter, domain=None)
        if parameter.default is not None:
            with check.reporting():
                fit(legal, check.value(parameter.default), parameter.default.span)
        check.scope.names[name] = UnknownValue(parameter.type)


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
            if value.kind != "unknown":  # else reported
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


def check_arguments(
    call: tree.Call, schedule: tree.Schedule, check: ScopeCheck
) -> dict[str, tuple[Part, tree.HandleRef]]:
    """Report what is wrong with the arguments; return the live handles that are passed, by parameter."""
    given = _by_parameter(call, schedule, check)
    handles: dict[str, tuple[Part, tree.HandleRef]] = {}
    for parameter in schedule.parameters:
        value = given.get(parameter.name)
        if value is None:
            if parameter.type == "handle" or parameter.default is None:
                what = "handle" if parameter.type == "handle" else "value"
                message = f"the call of `{schedule.name}` gives no {what} for `{parameter.name}`"
                check.error("W0209", message, call.span, f"`{signature_of(schedule)}`")
        elif parameter.type == "handle":
            ref = tree.HandleRef(value.span, value.name) if isinstance(value, tree.NameRef) else value
            if not isinstance(ref, tree.HandleRef):
                check.error("W0221", f"`{parameter.name}` takes a handle", value.span)
            elif (part := check.op(ref)) is not None:
                handles[parameter.name] = part, ref
        elif isinstance(ref := check.scope.as_handle(value), tree.HandleRef):
            message = f"`{parameter.name}` takes {NAMES[parameter.type]}; `{ref.spelling}` is a handle"
            check.error("W0221", message, ref.span)
        else:
            with check.reporting():
                fit(parameter, check.value(value), value.span)
    return handles


def signature_of(schedule: tree.Schedule) -> str:
    """`stage(step: handle, bk: int = …)`."""
    parts = (f"{p.name}: {p.type}{' = …' if p.default is not None else ''}" for p in schedule.parameters)
    return f"{schedule.name}({', '.join(parts)})"


def _by_parameter(
    call: tree.Call, schedule: tree.Schedule, check: ScopeCheck
) -> dict[str, tree.Expr | tree.HandleRef]:
    names = [parameter.name for parameter in schedule.parameters]
    given: dict[str, tree.Expr | tree.HandleRef] = {}
    position, named = 0, False
    for argument in call.arguments:
        if argument.name is not None:
            name, named = argument.name, True
        elif named:
            check.error("W0208", "an argument by position stands before those by name", argument.span)
            continue
        elif position >= len(names):
            message = f"`{schedule.name}` has {count(len(names), 'parameter')}, not {position + 1}"
            check.error("W0208", message, argument.span, f"`{signature_of(schedule)}`")
            break
        else:
            name = names[position]
            position += 1
        if name not in names:
            hint = did_you_mean(name, names) or f"`{signature_of(schedule)}`"
            check.error("W0208", f"`{schedule.name}` has no parameter `{name}`", argument.span, hint)
        elif name in given:
            check.error("W0208", f"`{name}` is given twice", argument.span)
        else:
            given[name] = argument.value
    return given
