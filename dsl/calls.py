"""Checks the arguments of a schedule's call against the parameters."""

from __future__ import annotations

from . import tree
from .binding import fit, outside_domain
from .diagnostics import WeftError
from .expressions import evaluate
from .kinds import NAMES
from .scopes import Part
from .statement_check import ScopeCheck
from .wording import count, did_you_mean


def check_arguments(
    call: tree.Call, schedule: tree.Schedule, check: ScopeCheck
) -> dict[str, tuple[Part, tree.HandleRef]]:
    """Report what is wrong with the arguments; return the live handles that are passed, by parameter."""
    given = _by_parameter(call, schedule, check)
    handles: dict[str, tuple[Part, tree.HandleRef]] = {}
    for parameter in schedule.parameters:
        argument = given.get(parameter.name)
        if argument is None:
            if parameter.type == "handle" or parameter.default is None:
                what = "handle" if parameter.type == "handle" else "value"
                message = f"the call of `{schedule.name}` gives no {what} for `{parameter.name}`"
                check.error("W0209", message, call.span, f"`{signature_of(schedule)}`")
        elif parameter.type == "handle":
            if (found := _handle(parameter, argument, check)) is not None:
                handles[parameter.name] = found
        else:
            _value(parameter, argument, check)
    return handles


def signature_of(schedule: tree.Schedule) -> str:
    """`stage(step: handle, bk: int = …)`."""
    parts = (f"{p.name}: {p.type}{' = …' if p.default is not None else ''}" for p in schedule.parameters)
    return f"{schedule.name}({', '.join(parts)})"


def _by_parameter(call: tree.Call, schedule: tree.Schedule, check: ScopeCheck) -> dict[str, tree.Argument]:
    names = [parameter.name for parameter in schedule.parameters]
    given: dict[str, tree.Argument] = {}
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
            given[name] = argument
    return given


def _handle(
    parameter: tree.Parameter, argument: tree.Argument, check: ScopeCheck
) -> tuple[Part, tree.HandleRef] | None:
    value = argument.value
    ref = tree.HandleRef(value.span, value.name) if isinstance(value, tree.NameRef) else value
    if not isinstance(ref, tree.HandleRef):
        check.error("W0221", f"`{parameter.name}` takes a handle", value.span)
        return None
    part = check.op(ref)
    return None if part is None else (part, ref)


def _value(parameter: tree.Parameter, argument: tree.Argument, check: ScopeCheck) -> None:
    value = argument.value
    if isinstance(value, tree.HandleRef):
        message = f"`{parameter.name}` takes {NAMES[parameter.type]}; `{value.spelling}` is a handle"
        check.error("W0221", message, value.span)
        return
    known = check.inference.infer(value)
    if not known.constant:
        fitting = (parameter.type, "unknown", *(("int",) if parameter.type == "float" else ()))
        if known.kind not in fitting:
            message = f"`{parameter.name}` takes {NAMES[parameter.type]}, not {NAMES[known.kind]}"
            check.error("W0210", message, value.span)
        return
    try:
        fitted = fit(parameter, known.value, value.span)
        legal = evaluate(parameter.domain, {}) if parameter.domain is not None else None
        if isinstance(legal, tuple) and fitted not in legal:
            raise outside_domain(parameter, fitted, legal, value.span)
    except WeftError as error:
        for diagnostic in error.diagnostics:
            check.report(diagnostic)
