"""Evaluate the fields of a statement: from the syntax tree's to what the statement's dataclass holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...dsl import tree
from ...dsl.diagnostics import Diagnostic, WeftError
from ...dsl.expressions import evaluate
from ...dsl.signature import Field, Signature
from .environment import Death, Environment, resolve, single
from .statement import DistributionSpec, Handle, Operand, SpaceSpec


def evaluate_fields(
    node: tree.Statement, signature: Signature, env: Environment, dead: Mapping[int, Death]
) -> dict[str, Any]:
    """The keyword arguments of the statement's dataclass. Raises `WeftError` at the field that is wrong."""
    values: dict[str, Any] = {}
    for field in signature.fields:
        if field.kind == "handles":
            values[field.name] = {
                name: value
                for name, value in env.items()
                if isinstance(value, Handle) and value.number not in dead and not value.absent
            }
            continue
        given = node.fields.get(field.name)
        if given is None or given is False:
            if not field.optional:
                raise _error("W0230", f"`{signature.keyword}` needs its {field.name}", node)
            continue
        values[field.name] = _evaluate(field, given, env, dead)
    return values


def _evaluate(field: Field, given: Any, env: Environment, dead: Mapping[int, Death]) -> Any:
    match field.kind:
        case "handle" | "operand":
            return _handle(field, given, env, dead)
        case "int":
            return _at_least(field, _integer(given, env), given)
        case "sizes" | "ints":
            return _list(field, given, env)
        case "str":
            return str(_evaluated(given, env))
        case "space":
            return _space(given, env)
        case "distribution":
            if given.chunk is None:
                return DistributionSpec(given.kind)
            chunk = _integer(given.chunk, env)
            if chunk < 1:
                raise _error("W0231", f"chunks of {chunk} iterations make no sense", given.chunk, "at least 1")
            return DistributionSpec(given.kind, chunk)
        case "flag":
            return True
        case "names":
            return tuple(_spelled(item) for item in given.items) if isinstance(given, tree.ListExpr) else ()
        case "raw" | "word":
            return given.spelling if isinstance(given, tree.HandleRef) else given.text
    raise AssertionError(field.kind)


def _handle(field: Field, given: Any, env: Environment, dead: Mapping[int, Death]) -> Handle | Operand | str:
    if isinstance(given, tree.Word):
        return given.text
    handle, rest = single(given, env, dead)
    if field.kind == "operand":
        if len(rest) != 1:
            raise _error("W0224", f"`{given.spelling}` names no operand", given, f"write `{given.name}.lhs`, say")
        return Operand(handle, rest[0], given.spelling)
    if rest:
        raise _error("W0222", f"`{given.name}` has no result `{rest[0]}`", given)
    return handle


def _evaluated(expr: tree.Expr, env: Environment) -> Any:
    return evaluate(expr, {k: v for k, v in env.items() if isinstance(v, (int, float, bool, str, tuple))})


def _integer(expr: tree.Expr, env: Environment) -> int:
    value = _evaluated(expr, env)
    if isinstance(value, bool) or not isinstance(value, int):
        raise _error("W0232", f"{value!r} is no integer", expr)
    return value


def _at_least(field: Field, value: int, node: tree.Node) -> int:
    if field.minimum is not None and value < field.minimum:
        raise _error("W0231", f"{field.name} is {value}; it must be at least {field.minimum}", node)
    return value


def _list(field: Field, given: tree.Expr, env: Environment) -> tuple[int | None, ...]:
    if not isinstance(given, tree.ListExpr):
        value = _evaluated(given, env)
        if not isinstance(value, tuple) or not all(isinstance(v, int) for v in value):
            raise _error("W0232", f"{field.name} must be a list of integers", given)
        return tuple(_at_least(field, v, given) for v in value)
    out: list[int | None] = []
    for item in given.items:
        if isinstance(item, tree.Skip):
            out.append(None)
        else:
            number = _at_least(field, _integer(item, env), item)
            out.append(None if field.kind == "sizes" and number == 0 else number)
    return tuple(out)


def _spelled(item: tree.Expr) -> str:
    return item.name if isinstance(item, tree.NameRef) else str(getattr(item, "value", ""))


def _space(given: tree.Space, env: Environment) -> SpaceSpec:
    counts: list[Any] = []
    for dimension in given.dimensions:
        if dimension.count is None or dimension.count == "?":
            counts.append(dimension.count)
            continue
        number = _integer(dimension.count, env)  # type: ignore[arg-type]
        if number < 1:
            raise _error("W0231", f"{number} processors along {dimension.axis}; there must be at least 1", dimension)
        counts.append(number)
    return SpaceSpec(given.kind, tuple(d.axis for d in given.dimensions), tuple(counts), given.all)


def absent_handles(values: Mapping[str, Any]) -> bool:
    """Whether one of the handles is one that `match?` left absent: then the statement has nothing to do."""
    handles = [v.handle if isinstance(v, Operand) else v for v in values.values()]
    return any(isinstance(h, Handle) and h.absent for h in handles)


def handle_of(expr: tree.HandleRef, env: Environment) -> Any:
    """What a `foreach` or an `if` over a handle sees: a tuple of handles, or a single one."""
    value, _ = resolve(expr, env)
    return value


def _error(code: str, message: str, node: tree.Node, hint: str | None = None) -> WeftError:
    return WeftError(Diagnostic(code, message, node.span, hint=hint))
