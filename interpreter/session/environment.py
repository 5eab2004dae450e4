"""Names of a running schedule: values, handles, and what became of the handles that were consumed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...dsl.diagnostics import Diagnostic, Span, WeftError
from ...dsl.tree import HandleRef
from .statement import Handle


@dataclass(frozen=True)
class Bundle:
    """All results of one statement, bound to a single name: `t.loop`, `t.op`. A `Handle` or a tuple of them each."""

    results: Mapping[str, Handle | tuple[Handle, ...]]


Value = int | float | bool | str | tuple | Handle | Bundle
Environment = Mapping[str, Value]


@dataclass(frozen=True)
class Death:
    """Why a handle is gone: the statement that consumed it, and the names of what that returned instead."""

    keyword: str
    span: Span
    returned: tuple[str, ...]


def resolve(ref: HandleRef, env: Environment) -> tuple[Handle | tuple[Handle, ...] | Bundle, tuple[str, ...]]:
    """What `ref` names, and those of its fields that name no result: `step.lhs` → (the handle `step`, ("lhs",)).

    Raises W0220 for an unknown name, W0221 for a value that is no handle, W0222 for a field that does not exist.
    """
    if ref.name not in env:
        raise _error("W0220", f"`{ref.name}` is not defined", ref)
    value = env[ref.name]
    if isinstance(value, Bundle):
        if not ref.fields:
            return value, ()
        field, rest = ref.fields[0], ref.fields[1:]
        if field in value.results:
            return value.results[field], rest
        known = ", ".join(f"`{ref.name}.{name}`" for name in value.results)
        raise _error("W0222", f"`{ref.name}` has no result `{field}`", ref, hint=f"it has {known}")
    if isinstance(value, Handle) or (isinstance(value, tuple) and all(isinstance(v, Handle) for v in value)):
        return value, ref.fields
    raise _error("W0221", f"`{ref.name}` is a value, not a handle", ref)


def single(ref: HandleRef, env: Environment, dead: Mapping[int, Death]) -> tuple[Handle, tuple[str, ...]]:
    """The one live handle that `ref` names. Raises W0223 if it was consumed, W0221 if it names several."""
    value, rest = resolve(ref, env)
    if isinstance(value, Bundle):
        names = ", ".join(f"`{ref.name}.{name}`" for name in value.results)
        raise _error("W0221", f"`{ref.spelling}` stands for several results", ref, hint=f"name one: {names}")
    if isinstance(value, tuple):
        raise _error(
            "W0221", f"`{ref.spelling}` stands for {len(value)} handles", ref, hint="walk over them with `foreach`"
        )
    death = dead.get(value.number)
    if death is not None and not value.absent:
        instead = f"; it returned {', '.join(f'`{n}`' for n in death.returned)} instead" if death.returned else ""
        raise _error(
            "W0223",
            f"`{ref.spelling}` was consumed by `{death.keyword}` at {death.span}",
            ref,
            notes=(f"`{death.keyword}` rewrote its op{instead}",),
            hint=f"use {' or '.join(f'`{n}`' for n in death.returned)}" if death.returned else None,
        )
    return value, rest


def _error(code: str, message: str, ref: HandleRef, notes: tuple[str, ...] = (), hint: str | None = None) -> WeftError:
    return WeftError(Diagnostic(code, message, ref.span, notes=notes, hint=hint))
