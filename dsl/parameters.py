"""Checks the parameters of a schedule: names, defaults and domains."""

from __future__ import annotations

from . import tree
from .binding import fit, fits, outside_domain
from .diagnostics import WeftError
from .expressions import ELEMENT_TYPES, show
from .kinds import NAMES, Known
from .statement_check import ScopeCheck


def check_parameters(schedule: tree.Schedule, reserved: frozenset[str], check: ScopeCheck) -> None:
    """Put the parameters that are values into the scope; report what is wrong with any of them."""
    seen: dict[str, tree.Parameter] = {}
    for parameter in schedule.parameters:
        name = parameter.name
        if name in reserved or name in ELEMENT_TYPES:
            what = "an element type" if name in ELEMENT_TYPES else "a word of the language"
            check.error("W0205", f"`{name}` is {what} and can't name a parameter", parameter.span)
        if name in seen:
            check.error("W0206", f"there are two parameters `{name}`", parameter.span)
            continue
        seen[name] = parameter
        if parameter.type == "handle":
            if parameter.default is not None or parameter.domain is not None:
                check.error("W0212", f"`{name}` is a handle: it has neither a default nor a domain", parameter.span)
            continue
        legal = _domain(parameter, check)
        _default(parameter, legal, check)
        check.scope.names[name] = Known(parameter.type)


def _default(parameter: tree.Parameter, legal: tuple[object, ...] | None, check: ScopeCheck) -> None:
    if parameter.default is None:
        return
    known = check.inference.infer(parameter.default)
    span = parameter.default.span
    if known.constant:
        try:
            value = fit(parameter, known.value, span)
            if legal is not None and value not in legal:
                raise outside_domain(parameter, value, legal, span)
        except WeftError as error:
            for diagnostic in error.diagnostics:
                check.report(diagnostic)
        return
    if not _kind_fits(parameter.type, known):
        message = f"the default of `{parameter.name}` is {NAMES[known.kind]}, not {NAMES[parameter.type]}"
        check.error("W0210", message, span)


def _kind_fits(kind: tree.ParameterType, known: Known) -> bool:
    return known.kind in (kind, "unknown") or (kind == "float" and known.kind == "int")


def _domain(parameter: tree.Parameter, check: ScopeCheck) -> tuple[object, ...] | None:
    """The legal values; None if there is no domain, or a wrong one."""
    if parameter.domain is None:
        return None
    if not parameter.domain.items:
        check.error("W0212", f"the domain of `{parameter.name}` is empty", parameter.domain.span)
        return None
    values: list[object] = []
    for item in parameter.domain.items:
        known = check.inference.infer(item)
        if known.kind == "unknown":
            return None  # reported
        if not known.constant:
            check.error("W0212", "a domain lists constants", item.span)
            return None
        if not fits(parameter.type, known.value):
            message = f"`{parameter.name}` is {NAMES[parameter.type]}; {show(known.value)} in its domain is {NAMES[known.kind]}"
            check.error("W0212", message, item.span)
            return None
        if known.value in values:
            check.error("W0212", f"{show(known.value)} is listed twice", item.span)
        values.append(known.value)
    return tuple(values)
