"""Is every token waited for exactly once, on every path, and is its stream given up then and not before?"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Literal

from ...ir.mlir import ir
from .events import Condition, NamedToken, Use, contradict, dependencies, is_blocking, is_fork
from .history import History

TokenFaultKind = Literal["never", "leaks", "some paths", "forked", "twice", "destroyed in use", "used after", "synchronous"]
MOST_CHOICES = 12
"""Whether a token is used on all paths is asked of at most so many conditions at once."""


@dataclass(frozen=True)
class TokenFault:
    """What is wrong with a token, and the two uses that clash, where it is that.

    Args:
        made: where the token comes from; None for an argument of the function.
    """

    kind: TokenFaultKind
    value: ir.Value
    made: ir.Operation | None
    first: ir.Operation | None = None
    second: ir.Operation | None = None


def token_faults(history: History) -> list[TokenFault]:
    """All of them, each once, in program order of where the tokens are made."""
    found: dict[TokenFault, None] = {}
    for event in history.events:
        if event.on_device and not event.asynchronous and dependencies(event.op):
            first = dependencies(event.op)[0]
            found[TokenFault("synchronous", first, None, event.op)] = None
    for token in history.tokens:
        for fault in (_never(token), *_clashes(token), *_by_other_names(token)):
            if fault is not None:
                found[fault] = None
    return list(found)


def _never(token: NamedToken) -> TokenFault | None:
    if not token.uses:
        kind: TokenFaultKind = "leaks" if token.maker is not None and is_fork(token.maker) else "never"
        return TokenFault(kind, token.value, token.maker)
    if not _on_every_path(token):
        return TokenFault("some paths", token.value, token.maker, token.uses[0].op)
    return None


def _on_every_path(token: NamedToken) -> bool:
    """Whether one of the uses happens, whatever the conditions are, wherever the token is made."""
    rest = [use.when - token.when for use in token.uses if not contradict(use.when, token.when)]
    if frozenset() in rest:
        return True
    keys = list(dict.fromkeys(key for when in rest for key, _ in when))
    if len(keys) > MOST_CHOICES:
        return False
    for values in product((True, False), repeat=len(keys)):
        world: set[Condition] = set(zip(keys, values, strict=True))
        if not any(when <= world for when in rest):
            return False
    return True


def _clashes(token: NamedToken) -> list[TokenFault]:
    found: list[TokenFault] = []
    for number, use in enumerate(token.uses):
        for earlier in token.uses[:number]:
            kind = None if contradict(earlier.when, use.when) else _clash(earlier, use)
            if kind is not None:
                found.append(TokenFault(kind, token.value, token.maker, earlier.op, use.op))
                break
    return found


def _clash(earlier: Use, later: Use) -> TokenFaultKind | None:
    """Two uses of one token: one of them has to be an explicit fork, and none comes after its stream was given up."""
    if is_blocking(earlier.op):
        return "twice" if is_blocking(later.op) else "used after"
    if is_fork(earlier.op) or is_fork(later.op):
        return None
    if not is_blocking(later.op):
        return "forked"
    finished = earlier.event is not None and later.past >> earlier.event & 1
    return "twice" if finished else "destroyed in use"


def _by_other_names(token: NamedToken) -> list[TokenFault]:
    """Uses of `token` after a blocking wait for what it stands for, under another name that it was handed on by."""
    found: list[TokenFault] = []
    for stream, _ in token.streams:
        waits = [(name, use) for name, use in stream.uses if is_blocking(use.op)] if len(stream.uses) > 1 else []
        for name, wait in waits:
            if name is token:
                continue
            behind = stream.uses[next(i for i, (n, u) in enumerate(stream.uses) if n is name and u is wait) + 1 :]
            for other, use in behind:
                if other is token and not contradict(wait.when, use.when):
                    kind: TokenFaultKind = "twice" if is_blocking(use.op) else "used after"
                    found.append(TokenFault(kind, token.value, token.maker, wait.op, use.op))
    return found
