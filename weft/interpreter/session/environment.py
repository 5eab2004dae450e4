"""The names in a running schedule: their values, the fate of consumed handles, and the evaluation
of a statement's fields for its dataclass."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...dsl import tree
from ...dsl.diagnostics import fail, quoted
from ...dsl.expressions import Read, evaluate, evaluator
from ...dsl.records import record
from ...dsl.scopes import Gone, consumed, written_handles
from ...dsl.signature import Field, Signature, expect_apart, field_value, given_fields, missing
from ...dsl.tree import OPERAND, PROPERTIES
from .rewriter import Handle, Operand, SizeOf


@record
class NamedResults:
    """All results of one statement, bound to a single name: `t.loop`, `t.op`. Each is a `Handle` or
    a tuple of them."""

    results: Mapping[str, Handle | tuple[Handle, ...]]


Value = int | float | bool | str | tuple | tree.NoValue | Handle | NamedResults
Environment = Mapping[str, Value]


def is_handle(value: object) -> bool:
    """Whether a value is a handle, the handles of a `match*`, or the results of a statement."""
    several = value if isinstance(value, tuple) else (value,)
    return isinstance(value, NamedResults) or any(isinstance(v, Handle) for v in several)


def named_handles(env: Environment) -> Iterator[tuple[str, Handle]]:
    """Yields the present handles, each with the user's name for it: `gemm`, `t.loop`; for display,
    those of a `match*` are `sums.0`, `sums.1`, …."""
    for name, value in env.items():
        if isinstance(value, Handle) and not value.absent:
            yield name, value
        elif isinstance(value, (NamedResults, tuple)):
            parts = value.results if isinstance(value, NamedResults) else {str(n): part for n, part in enumerate(value)}
            yield from ((f"{name}.{part}", handle) for part, handle in named_handles(parts))


def handles_in(value: tree.Expr | tree.HandleRef, env: Environment) -> tuple[Any, ...] | None:
    """The handles that a reference names; None for an expression. A bare name is a reference if it
    names a handle."""
    if isinstance(value, tree.NameRef) and is_handle(env.get(value.name)):
        value = tree.HandleRef(value.span, value.name)
    if not isinstance(value, tree.HandleRef):
        return None
    found, _ = resolve(value, env)
    return found if isinstance(found, tuple) else (found,)


def written(
    iterable: tree.Expr | tree.HandleRef, env: Environment, dead: Mapping[int, Gone]
) -> tuple[Handle, ...] | None:
    """The live handles of a list literal, those of lists in it included; None for any other expression."""
    refs = None
    if isinstance(iterable, tree.ListExpr):
        refs = written_handles(iterable, lambda name: is_handle(env.get(name)))
    return None if refs is None else tuple(handle for ref in refs for handle in _elements(ref, env, dead))


def _elements(ref: tree.HandleRef, env: Environment, dead: Mapping[int, Gone]) -> tuple[Handle, ...]:
    """The live handle that an element of a list names, or the handles of a list that it names."""
    found, fields = resolve(ref, env)
    return found if isinstance(found, tuple) and not fields else (_alone(ref, env, dead),)


def resolve(ref: tree.HandleRef, env: Environment) -> tuple[Any, tuple[str, ...]]:
    """The value that `ref` names, and its remaining fields that are not results: `step.lhs` → (the
    handle `step`, ("lhs",)).

    Raises W0220 for an unknown name, W0221 for a value that is not a handle, W0222 for a field that
    does not exist.
    """
    if ref.name not in env:
        raise fail("W0220", f"`{ref.name}` is not defined", span=ref.span)
    value = env[ref.name]
    if value is tree.NONE:
        value = Handle(-1, absent=True)
    if isinstance(value, NamedResults) and ref.fields:
        field, *rest = ref.fields
        if field in value.results:
            return value.results[field], tuple(rest)
        hint = f"it has {quoted(f'{ref.name}.{name}' for name in value.results)}"
        raise fail("W0222", f"`{ref.name}` has no result `{field}`", hint, span=ref.span)
    if is_handle(value) or value == ():
        return value, ref.fields
    raise fail("W0221", f"`{ref.name}` is a value, not a handle", span=ref.span)


def single(ref: tree.HandleRef, env: Environment, dead: Mapping[int, Gone]) -> tuple[Handle, tuple[str, ...]]:
    """The single live handle that `ref` names, and its remaining fields. Raises W0223 if it was
    consumed, W0221 if `ref` names several handles."""
    value, rest = resolve(ref, env)
    if isinstance(value, Handle):
        if value.number in dead and not value.absent:
            raise consumed(ref.spelling, ref.span, dead[value.number])
        return value, rest
    what = f"{len(value)} handles" if isinstance(value, tuple) else "several results"
    hint = "walk over them with `foreach`"
    if isinstance(value, NamedResults):
        hint = f"name one: {quoted(f'{ref.name}.{name}' for name in value.results)}"
    raise fail("W0221", f"`{ref.spelling}` names {what}", hint, span=ref.span)


@record
class Condition:
    """The condition after `where`, with the names in scope; `read`: the values of properties of
    ops."""

    expr: tree.Expr
    names: Environment
    read: Read

    def holds(self, part: tree.Expr, of: Callable[[Sequence[str]], Any]) -> Any:
        """The value of (a part of) the condition for an op with these properties."""

        def own(asked: tree.Property) -> Any:
            named = asked.name in PROPERTIES or OPERAND.fullmatch(asked.name)
            return of((asked.name, *asked.fields)) if named else self.read(asked)

        return evaluate(part, _Properties(self.names, of), own)


class _Properties(Mapping[str, Any]):
    """Names in scope, and before them the properties of an op."""

    def __init__(self, names: Environment, of: Callable[[Sequence[str]], Any]) -> None:
        self.names, self.of = names, of

    def __getitem__(self, name: str) -> Any:
        return self.of((name,)) if name in PROPERTIES else self.names[name]

    def __iter__(self) -> Iterator[str]:
        return iter({**dict.fromkeys(PROPERTIES), **self.names})

    def __len__(self) -> int:
        return len({*PROPERTIES, *self.names})


def evaluate_fields(
    node: tree.StatementNode, signature: Signature, env: Environment, dead: Mapping[int, Gone], read: Read
) -> dict[str, Any]:
    """The keyword arguments of the statement's dataclass; `read`: the values of properties. Raises
    `WeftError` at the first invalid field."""
    values: dict[str, Any] = {}
    expect_apart(node, signature)
    fields = given_fields(node, signature, evaluator(env, read))
    for field in signature.fields:
        given = fields.get(field.name)
        if field.kind == "handles":
            live = {n: v for n, v in env.items() if isinstance(v, Handle) and v.number not in dead and not v.absent}
            values[field.name] = live
        elif isinstance(given, tree.HandleRef):
            values[field.name] = _handle(field, given, env, dead)
        elif field.kind == "condition" and given is not None:
            values[field.name] = Condition(given, env, read)  # type: ignore[arg-type]
        elif given is not None:
            if (value := field_value(field.beside(fields), given, evaluator(env, read))) is not tree.NONE:
                values[field.name] = value
            elif not field.optional:
                raise missing(signature.keyword, field, given.span, True)
        elif not field.optional:
            raise missing(signature.keyword, field, node.span)
    return values


_OPERAND = Field("operand", "operand")


def _handle(
    field: Field, ref: tree.HandleRef, env: Environment, dead: Mapping[int, Gone]
) -> Handle | Operand | SizeOf | str:
    if field.kind in ("raw", "word"):
        return ref.spelling
    if field.kind == "size":
        *owner, axis = ref.fields
        of = _handle(_OPERAND, replace(ref, fields=tuple(owner)), env, dead) if owner else ref.name
        return SizeOf(of, int(axis), ref.spelling)  # type: ignore[arg-type]
    if field.kind not in ("operand", "value"):
        return _alone(ref, env, dead)
    handle, rest = single(ref, env, dead)
    if not rest and field.kind == "value":
        return handle
    if len(rest) != 1:
        hint = f"write `{ref.name}.lhs`, for example"
        raise fail("W0224", f"`{ref.spelling}` names no operand", hint, span=ref.span)
    return Operand(handle, rest[0], ref.spelling)


def _alone(ref: tree.HandleRef, env: Environment, dead: Mapping[int, Gone]) -> Handle:
    """The live handle that `ref` names. Raises W0222 if further fields follow, such as an operand."""
    handle, rest = single(ref, env, dead)
    if rest:
        raise fail("W0222", f"`{ref.name}` has no result `{rest[0]}`", span=ref.span)
    return handle
