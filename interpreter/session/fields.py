"""Evaluate the fields of a statement: from the syntax tree's to what the statement's dataclass holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...dsl import tree
from ...dsl.diagnostics import fail
from ...dsl.expressions import evaluator
from ...dsl.scopes import Gone
from ...dsl.signature import Field, Signature, field_value
from .environment import Environment, single
from .statement import Handle, Operand


def evaluate_fields(
    node: tree.StatementNode, signature: Signature, env: Environment, dead: Mapping[int, Gone]
) -> dict[str, Any]:
    """The keyword arguments of the statement's dataclass. Raises `WeftError` at the field that is wrong."""
    values: dict[str, Any] = {}
    for field in signature.fields:
        given = node.fields.get(field.name)
        if field.kind == "handles":
            live = {n: v for n, v in env.items() if isinstance(v, Handle) and v.number not in dead and not v.absent}
            values[field.name] = live
        elif isinstance(given, tree.HandleRef):
            values[field.name] = _handle(field, given, env, dead)
        elif given is not None:
            values[field.name] = field_value(field, given, evaluator(env))
        elif not field.optional:
            raise fail("W0230", f"`{signature.keyword}` needs its {field.word}", span=node.span)
    return values


def _handle(field: Field, ref: tree.HandleRef, env: Environment, dead: Mapping[int, Gone]) -> Handle | Operand | str:
    if field.kind in ("raw", "word"):
        return ref.spelling
    handle, rest = single(ref, env, dead)
    if field.kind == "operand":
        if len(rest) != 1:
            hint = f"write `{ref.name}.lhs`, say"
            raise fail("W0224", f"`{ref.spelling}` names no operand", span=ref.span, hint=hint)
        return Operand(handle, rest[0], ref.spelling)
    if rest:
        raise fail("W0222", f"`{ref.name}` has no result `{rest[0]}`", span=ref.span)
    return handle


def handles_of(values: Mapping[str, Any]) -> dict[str, Handle]:
    """The handles among the values of the fields, that of an operand included."""
    named = {name: v.handle if isinstance(v, Operand) else v for name, v in values.items()}
    return {name: v for name, v in named.items() if isinstance(v, Handle)}
