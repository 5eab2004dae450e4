"""The handles of a session: what each names, where it was made, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass

from ..dsl.diagnostics import Span, fail
from ..dsl.wording import did_you_mean, quoted
from ..interpreter.ir.cloning import tagged
from ..interpreter.session.environment import named_handles
from ..interpreter.session.session import Session
from ..interpreter.session.statement import Handle
from ..pipeline import TYPED


@dataclass(frozen=True)
class Known:
    """One handle. `op` is the name of the op it names, None where that is gone; `state` says why."""

    name: str
    kind: str
    op: str | None
    made: str
    state: str

    @property
    def alive(self) -> bool:
        return self.op is not None


def known(session: Session) -> list[Known]:
    """All handles that were made up to here, in the order in which they were made."""
    state = session.state
    ops = tagged(state.module)
    current = {handle.number: name for name, handle in named(session).items()}
    out: list[Known] = []
    for number, made in sorted(state.made.items()):
        death, op = state.dead.get(number), ops.get(number)
        if death is not None:
            op, text = None, f"consumed by {death.by.strip('`')}, {_place(death.span)}"
        elif op is None:
            text = "gone: a rewrite removed its op"
        else:
            text = "alive" if number in current else "alive, without a name here"
        where = f"{made.keyword}, {_place(made.span)}"
        out.append(Known(current.get(number, made.name), made.kind, op.name if op is not None else None, where, text))
    return out


def named(session: Session) -> dict[str, Handle]:
    """The handles in scope by the name a user writes."""
    return dict(named_handles(session.environment))


def live(session: Session) -> dict[str, Handle]:
    """Those in scope that name an op now."""
    ops, dead = tagged(session.module), session.state.dead
    return {name: h for name, h in named(session).items() if h.number not in dead and h.number in ops}


def find(session: Session, name: str) -> Handle:
    """The live handle of this name. Raises W0065."""
    alive = live(session)
    if name in alive:
        return alive[name]
    gone = [one for one in known(session) if one.name == name and not one.alive]
    notes = [f"`{name}` was made by {one.made}; {one.state}" for one in gone[-1:]]
    message = f"`{name}` names no op any more" if gone else f"there is no live handle `{name}`"
    names = quoted(alive) or "none yet: `step`, or `let x = match …`"
    raise fail("W0065", message, notes=(*notes, f"alive: {names}"), hint=did_you_mean(name, alive))


def _place(span: Span) -> str:
    """`line 7`, `typed 2`."""
    return f"{'typed' if span.source.name == TYPED else 'line'} {span.line}"
