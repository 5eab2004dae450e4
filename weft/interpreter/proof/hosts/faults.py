"""Faults in the tokens, streams and memory accesses of a host function, as diagnostics for users.

Checks that every token is waited for exactly once on every path, and that its stream is destroyed
at that wait and not before.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Literal

from ....dsl.diagnostics import Diagnostic, Source, Span
from ....dsl.records import record
from ...ir.functions import callee
from ...ir.mlir import ir, maker
from ...ir.refusing import describe
from ..races.proof import first_few, quoted, span
from .effects import DEVICE, Effect, Effects
from .events import Condition, Event, NamedToken, Use, contradict, dependencies, is_blocking, is_fork
from .history import History
from .memory_order import MemoryFault, MemoryOrder
from .windows import HostBuffer

SHOWN = 10
Names = Callable[["ir.Value"], "str | None"]

_DOES = {"read": "reads it", "write": "writes it", "alloc": "allocates it", "free": "frees it"}


@record
class HostFindings:
    """The verdict on a host function.

    Args:
        operations, tokens: the numbers of device operations and of tokens in its text.
        distinct: the arguments for which the verdict depends on the assumption that they are
            distinct memory.
    """

    function: ir.Operation
    operations: int
    tokens: int
    diagnostics: tuple[Diagnostic, ...]
    distinct: tuple[str, ...]


def judge_host(
    function: ir.Operation, effects: Effects, *, source: Source, names: Names = lambda _: None, may_alias: bool = False
) -> HostFindings:
    """Checks the tokens, the streams and the order of memory accesses of one host function.

    Raises:
        WeftError: W0634 for ops that cannot be followed.
    """
    order = MemoryOrder(may_alias)
    history = History(function, effects, order.watch)
    report = _Reporter(source, names, effects.opaque)
    found = [*(report.token(f) for f in token_faults(history)), *(report.memory(f) for f in order.faults)]
    touched = {e.buffer: None for event in history.events for e in event.effects if e.buffer.kind == "argument"}
    distinct = tuple(report.buffer(b) for b in touched) if len(touched) > 1 and not may_alias else ()
    operations = len({e.op for e in history.events if e.on_device})
    tokens = len({t.value for t in history.tokens})
    return HostFindings(function, operations, tokens, tuple(first_few(found, SHOWN, "function")), distinct)


_AFFINE = "offsets and sizes that are constants, or affine in loop variables and ids,"
_APART = ("these parts of it share no element", _AFFINE)
_STATIC = "buffers chosen or freed under no run-time condition, and known ops,"
_DIFFERENT = ("these are different memory", _STATIC)


class _Reporter:
    """Builds diagnostics that refer to the source text."""

    def __init__(self, source: Source, names: Names, opaque: Callable[[ir.Operation], bool]) -> None:
        self.source = source
        self.names = names
        self.opaque = opaque

    # ---- tokens ------------------------------------------------------------------------------------------------------

    def token(self, fault: TokenFault) -> Diagnostic:
        name = self.value(fault.value)
        made = "" if fault.made is None else f", made by {self.op(fault.made)},"
        first, second = fault.first, fault.second
        again = first is not None and second is not None and first == second
        if fault.kind == "never":
            return self._diagnostic("W0620", f"the token `{name}` is never waited"
                                             f" for", fault.made or maker(fault.value),
                              "no op waits for its work, and its stream is never destroyed",
                              hint=f"wait for it before the function returns: `gpu.wait [{name}]`")  # fmt: skip
        if fault.kind == "leaks":
            return self._diagnostic(
                "W0621",
                f"the stream of `{name}` would leak: nothing uses the token",
                fault.made,
                hint=f"remove this `gpu.wait async`, or wait for its token: `gpu.wait [{name}]`",
            )
        if fault.kind == "some paths":
            return self._diagnostic("W0621", f"the stream of `{name}` would leak: its token is not waited for on every"
                                             f" path",
                              fault.made or maker(fault.value),
                              *self._at("it is used by", first), "a branch or a loop around that use may not run",
                              hint="wait for it in both arms, or after the branch or loop:"
                                   " `gpu.wait [%t]`")  # fmt: skip
        if fault.kind == "synchronous":
            return self._diagnostic("W0625", f"a synchronous {self.op(first)} has async dependencies", first,
                              f"it waits for `{name}` on a stream, and makes no token for later ops",
                              hint=f"make it asynchronous: `%t = {first.name if first else 'op'} async [{name}] …`, or"
                                   f" block "
                                   f"before it: `gpu.wait [{name}]`")  # fmt: skip
        where = ("it is used in every iteration of a loop",) if again else self._at("the first is", first)
        if fault.kind == "forked":
            return self._diagnostic("W0622", f"`{name}`{made} is used twice, and the fork is not"
                                             f" explicit", second, *where,
                              hint=f"fork it: `%f = gpu.wait async [{name}]`, and let one of the two wait for"
                                   f" `%f`")  # fmt: skip
        if fault.kind == "twice":
            return self._diagnostic("W0623", f"`{name}`{made} is waited for twice", second, *where,
                              "the first wait destroyed its stream",
                              hint="delete one of the two `gpu.wait`")  # fmt: skip
        if fault.kind == "used after":
            return self._diagnostic(
                "W0624",
                f"`{name}`{made} is used after its stream was destroyed",
                second,
                *self._at("the stream is destroyed by", first),
                hint="depend on a new root, `gpu.wait async`: a blocking wait completes what is before it",
            )
        return self._diagnostic("W0624", f"the stream of `{name}` is destroyed while it is in use", second,
                          *self._at("its work still runs:", first),
                          hint="wait for the token of the last operation on the stream:"
                               " `gpu.wait [%last]`")  # fmt: skip

    # ---- memory ------------------------------------------------------------------------------------------------------

    def memory(self, fault: MemoryFault) -> Diagnostic:
        first, second, buffer = fault.first, fault.second, self.buffer(fault.wanted.buffer)
        if fault.assumed and fault.done.buffer != fault.wanted.buffer:
            buffer = f"{self.buffer(fault.done.buffer)} and {buffer}"
        may = " (assumed)" if fault.assumed else ""
        notes = [self.does(first, fault.done), self.does(second, fault.wanted)]
        for op in dict.fromkeys(event.op for event in (first, second) if self.opaque(event.op)):
            notes.append(
                f"assumed, not proven: @{callee(op)} is precompiled (gpu.binary) and may read and write"
                f" all of its arguments;"
                " its `gpu.func` in the module makes it exact"
            )
        if fault.assumed and not (self.opaque(first.op) or self.opaque(second.op)):
            parts = fault.done.buffer == fault.wanted.buffer and (fault.done.window.part or fault.wanted.window.part)
            what, exact = _APART if parts else _DIFFERENT
            notes.append(f"assumed, not proven: it is not known that {what}; {exact} make it exact")
        if fault.kind == "used after free":
            return self._diagnostic("W0631", f"`{buffer}` is used after it was freed{may}", second.op, *notes,
                              hint=f"move `{first.op.name}` after its last use" if second.op.name != "func.return" else
                              f"delete `{first.op.name}`: the caller frees what it gets; or return a copy")  # fmt: skip
        if fault.kind == "freed twice":
            again = "in another iteration of a loop" if first.op == second.op else "by two operations"
            return self._diagnostic("W0632", f"`{buffer}` is freed twice{may}, {again}", second.op, *notes,
                              hint=f"keep one `{second.op.name}`, after its last use")  # fmt: skip
        notes.append(self._missing(first, second))
        if fault.kind == "freed in use":
            return self._diagnostic("W0633", f"`{buffer}` is freed while it may be in use{may}", second.op, *notes,
                              hint=self._way_out(first, second))  # fmt: skip
        if fault.kind == "host":
            does = "reads" if fault.wanted.kind == "read" else "writes"
            still = "write" if fault.done.changes else "read"
            message = f"the host {does} `{buffer}` while {first.op.name} may still {still} it{may}: {fault.hazard}"
            return self._diagnostic("W0630", message, second.op, *notes, hint=self._way_out(first, second))
        return self._diagnostic("W0629", f"two operations on `{buffer}` are not ordered{may}:"
                                   f" {fault.hazard}", second.op, *notes,
                          hint=self._way_out(first, second))  # fmt: skip

    def does(self, event: Event, effect: Effect) -> str:
        which = f" @{callee(event.op)}" if event.op.name == "gpu.launch_func" else ""
        iteration = f" (iteration {', '.join(map(str, event.path))})" if event.path else ""
        does = "returns it" if event.op.name == "func.return" else _DOES[effect.kind]
        return f"{self.op(event.op)}{which}{iteration} {does}{quoted(self.source, self.op(event.op))}"

    def _missing(self, first: Event, second: Event) -> str:
        start, end = self._line(first.op), self._line(second.op)
        if not second.asynchronous:
            return f"the missing edge: a blocking wait for {start} before {end}"
        return f"the missing edge: {start} → {end}"

    def _way_out(self, first: Event, second: Event) -> str:
        made = next((v for v in first.op.results if str(v.type) == "!gpu.async.token"), None)
        token = "its token" if made is None else self.value(made)
        if second.asynchronous and second.op.name in DEVICE:
            others = [self.value(v) for v in dependencies(second.op)]
            joined = ", ".join([*others, token])
            return f"let the second operation wait for the first: `%j = gpu.wait async [{joined}]`, then `async [%j]`"
        if made is not None and any(made.uses):
            fork = f"`%f = gpu.wait async [{token}]`, then `gpu.wait [%f]`"
            return f"{token} is used elsewhere too: wait before it for a fork of the token, {fork}"
        return f"wait before it: `gpu.wait [{token}]`"

    # ---- places and names --------------------------------------------------------------------------------------------

    def _diagnostic(self, code: str, message: str, op: ir.Operation | None, *notes: str, hint: str) -> Diagnostic:
        return Diagnostic(code, message, self.span(op), notes=notes, hint=hint)

    def value(self, value: ir.Value) -> str:
        name = self.names(value)
        return f"%{name}" if name is not None else value.get_name(use_local_scope=True)

    def buffer(self, buffer: HostBuffer) -> str:
        name = None if isinstance(buffer.key, str) else self.names(buffer.key)
        return name or buffer.name.lstrip("%")

    def op(self, op: ir.Operation | None) -> str:
        return "an op" if op is None else describe(op)

    def _at(self, what: str, op: ir.Operation | None) -> tuple[str, ...]:
        return () if op is None else (f"{what} {self.op(op)}{quoted(self.source, self.op(op))}",)

    def span(self, op: ir.Operation | None) -> Span | None:
        return None if op is None else span(self.source, describe(op))

    def _line(self, op: ir.Operation) -> str:
        at = self.span(op)
        which = f"{op.name} @{callee(op)}" if op.name == "gpu.launch_func" else op.name
        return which if at is None else f"{which} in line {at.line}"


# ---- tokens ----------------------------------------------------------------------------------------------------------


TokenFaultKind = Literal[
    "never", "leaks", "some paths", "forked", "twice", "destroyed in use", "used after", "synchronous"
]
MOST_CHOICES = 12
"""The most conditions for which the check that every path uses a token enumerates all cases; with
more, the token counts as unused on some path."""


@record
class TokenFault:
    """A fault of a token; if the fault is a conflict, with the two uses that conflict.

    Args:
        made: the op that makes the token; None for an argument of the function.
    """

    kind: TokenFaultKind
    value: ir.Value
    made: ir.Operation | None
    first: ir.Operation | None = None
    second: ir.Operation | None = None


def token_faults(history: History) -> list[TokenFault]:
    """All token faults of a function, each once, ordered by the op that makes the token."""
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
    """Whether a use happens on every path on which the token is made, under all combinations of
    conditions."""
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
    """The fault in two uses of one token; None if one of them is an explicit fork, and neither
    follows the destruction of the token's stream."""
    if is_blocking(earlier.op):
        return "twice" if is_blocking(later.op) else "used after"
    if is_fork(earlier.op) or is_fork(later.op):
        return None
    if not is_blocking(later.op):
        return "forked"
    finished = earlier.event is not None and later.past >> earlier.event & 1
    return "twice" if finished else "destroyed in use"


def _by_other_names(token: NamedToken) -> list[TokenFault]:
    """Faults: uses of `token` after a blocking wait for its stream through another name of the
    token."""
    found: list[TokenFault] = []
    for stream, _ in token.streams:
        waits = [(name, use) for name, use in stream.uses if is_blocking(use.op)] if len(stream.uses) > 1 else []
        for name, wait in waits:
            if name is token:
                continue
            later = stream.uses[next(i for i, (n, u) in enumerate(stream.uses) if n is name and u is wait) + 1 :]
            for other, use in later:
                if other is token and not contradict(wait.when, use.when):
                    kind: TokenFaultKind = "twice" if is_blocking(use.op) else "used after"
                    found.append(TokenFault(kind, token.value, token.maker, wait.op, use.op))
    return found
