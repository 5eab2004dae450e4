"""The handles of a session: what each names, where it was made, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..dsl.diagnostics import Span, WeftError, fail
from ..dsl.wording import did_you_mean
from .workbench import TYPED

if TYPE_CHECKING:
    from ..interpreter.ir.mlir import ir
    from ..interpreter.session.session import Session
    from ..interpreter.session.statement import Handle


@dataclass(frozen=True)
class Known:
    """One handle. `op` is the name of the op it names, None where that is gone; `state` says why."""

    name: str
    number: int
    kind: str
    op: str | None
    made: str
    state: str
    alive: bool


def known(session: Session) -> list[Known]:
    """All handles that were made up to here, in the order in which they were made."""
    state = session.state
    ops = tagged(state.module)
    current = {handle.number: name for name, handle in named(session).items()}
    out: list[Known] = []
    for number, made in sorted(state.made.items()):
        death, op = state.dead.get(number), ops.get(number)
        if death is not None:
            alive, text = False, f"consumed by {death.keyword}, {place(death.span)}"
        elif op is None:
            alive, text = False, "gone: a rewrite removed its op"
        elif number not in current:
            alive, text = True, "alive, without a name here"
        else:
            alive, text = True, "alive"
        where = f"{made.keyword}, {place(made.span)}"
        name = current.get(number, made.name)
        out.append(Known(name, number, made.kind, op.name if op is not None and alive else None, where, text, alive))
    return out


def named(session: Session) -> dict[str, Handle]:
    """The handles in scope by the name a user writes: `gemm`, `t.loop`; those of a `match*` as `sums.0`, for showing."""
    from ..interpreter.session.environment import Bundle
    from ..interpreter.session.statement import Handle

    out: dict[str, Handle] = {}

    def add(name: str, value: object) -> None:
        if isinstance(value, Handle):
            if not value.absent:
                out[name] = value
        elif isinstance(value, Bundle):
            for result, inner in value.results.items():
                add(f"{name}.{result}", inner)
        elif isinstance(value, tuple):
            for number, inner in enumerate(value):
                add(f"{name}.{number}", inner)

    for name, value in session.environment.items():
        add(name, value)
    return out


def live(session: Session) -> dict[str, Handle]:
    """Those in scope that name an op now."""
    ops, dead = tagged(session.module), session.state.dead
    return {name: h for name, h in named(session).items() if h.number not in dead and h.number in ops}


def find(session: Session, name: str) -> Handle:
    """The live handle of this name. Raises W0065."""
    alive = live(session)
    if name in alive:
        return alive[name]
    notes: tuple[str, ...] = ()
    for one in known(session):
        if one.name == name and not one.alive:
            notes = (f"`{name}` was made by {one.made}; {one.state}",)
    message = f"there is no live handle `{name}`" if not notes else f"`{name}` names no op any more"
    names = ", ".join(f"`{n}`" for n in alive) or "none yet: `step`, or `let x = match …`"
    raise fail("W0065", message, notes=(*notes, f"alive: {names}"), hint=did_you_mean(name, alive))


def tagged(module: ir.Module) -> dict[int, ir.Operation]:
    """The ops of a module by the number of the handle on them."""
    from ..interpreter.ir.mlir import operations

    out: dict[int, ir.Operation] = {}
    for op in operations(module.operation):
        for name in op.attributes:
            if name.startswith("weft.h") and name[6:].isdigit():
                out[int(name[6:])] = op
    return out


def place(span: Span) -> str:
    """`line 7`, `typed 2`, `gemm.weft:4`."""
    if span.source.name == TYPED:
        return f"typed {span.line}"
    return f"line {span.line}"


def first(error: WeftError) -> str:
    """The message of an error on one line, with its code."""
    diagnostic = error.diagnostics[0]
    return f"{' '.join(diagnostic.message.split())} ({diagnostic.code})"
