"""The events of a host function, each of which happens once: operations, tokens and their uses, and
the choices under which they happen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ....dsl.diagnostics import WeftError, fail
from ....dsl.records import record
from ...ir.functions import KERNEL_OPERANDS, segments
from ...ir.mlir import ir, operations
from ...ir.refusing import describe
from .effects import DEVICE, Effect

TOKEN = "!gpu.async.token"

LOOPS = ("scf.for", "affine.for")
BRANCHES = ("scf.if", "affine.if")


def is_token(value: ir.Value) -> bool:
    """Whether the value is a `!gpu.async.token`."""
    return str(value.type) == TOKEN


def dependencies(op: ir.Operation) -> list[ir.Value]:
    """The tokens that `op` waits for; for a loop, its initial tokens."""
    return [v for v in op.operands if is_token(v)]


def made_tokens(op: ir.Operation) -> list[ir.Value]:
    """The op's results that are tokens."""
    return [v for v in op.results if is_token(v)]


def is_fork(op: ir.Operation) -> bool:
    """Whether the op is `gpu.wait async`: a root, a join or an explicit fork. Any number of forks
    may use one token."""
    return op.name == "gpu.wait" and bool(made_tokens(op))


def is_blocking(op: ir.Operation) -> bool:
    """Whether the op is `gpu.wait [%t]`: the host waits until the tokens are ready, and their
    streams are destroyed."""
    return op.name == "gpu.wait" and not made_tokens(op)


def uses_tokens(root: ir.Operation) -> bool:
    """Whether an op in `root` makes or uses a token."""
    return any(is_token(v) for op in operations(root) for v in (*op.results, *op.operands))


def takes_a_stream(op: ir.Operation) -> bool:
    """Whether the op is `gpu.launch_func <%stream : i64>`, a launch on the caller's stream: the end
    of its work is unknown here."""
    return op.name == "gpu.launch_func" and bool(segments(op)[KERNEL_OPERANDS + 1])


MOST_STREAMS = 64
"""The most sets of choices that are distinguished for one stream of a token; beyond that, only the
choices common to all are kept."""

Condition = tuple[object, bool]
"""A choice of the program (a condition, in an iteration) and its outcome."""


@record(eq=False)
class Event:
    """One execution of an operation that touches memory.

    Args:
        number: its place in program order.
        loops, path: the walked loops around it, outermost first, and the iteration of each.
        when: the choices under which it happens.
        asynchronous: it may continue after the host is past it.
    """

    number: int
    op: ir.Operation
    loops: tuple[ir.Operation, ...]
    path: tuple[int, ...]
    when: frozenset[Condition]
    asynchronous: bool
    effects: tuple[Effect, ...]

    @property
    def on_device(self) -> bool:
        return self.op.name in DEVICE

    @property
    def may_not_run(self) -> bool:
        """Whether the event may not happen: it is a whole loop, which may have no iteration."""
        return self.op.name in (*LOOPS, "scf.while")

    def excludes(self, other: Event) -> bool:
        return contradict(self.when, other.when)


@dataclass(eq=False)
class Stream:
    """The stream that a token denotes: all uses, in program order, of the token under all of its
    names. Each loop or branch that passes the token on gives it another name."""

    uses: list[tuple[NamedToken, Use]] = field(default_factory=list)


Streams = tuple[tuple[Stream, frozenset[Condition]], ...]
"""The streams that a token may denote, each with the choices under which it does."""


@dataclass(eq=False)
class NamedToken:
    """A token made once, under one name.

    Args:
        covers: the events that are done when the token is ready.
        uses: its uses, each with the choices under which it happens.
    """

    value: ir.Value
    maker: ir.Operation | None
    when: frozenset[Condition]
    covers: int
    streams: Streams
    uses: list[Use] = field(default_factory=list)


@record(eq=False)
class Use:
    """One use of a token. `event`: the event that started with it, if any; `past`: the events that
    are done for the host at the use."""

    op: ir.Operation
    when: frozenset[Condition]
    past: int
    event: int | None = None


def contradict(first: frozenset[Condition], second: frozenset[Condition]) -> bool:
    """Whether the two sets of conditions never hold together."""
    return any((key, not value) in second for key, value in first)


def one_of(found: Iterable[tuple[Streams, frozenset[Condition]]]) -> Streams:
    """The streams of a token that is one of several tokens, each with the choices under which it is
    that one."""
    ways: dict[Stream, set[frozenset[Condition]]] = {}
    for streams, under in found:
        for stream, when in streams:
            ways.setdefault(stream, set()).add(when | under)
    for stream, choices in ways.items():
        _merge(choices)
        if len(choices) > MOST_STREAMS:
            ways[stream] = {frozenset.intersection(*choices)}
    return tuple((stream, when) for stream, choices in ways.items() for when in choices)


def _merge(choices: set[frozenset[Condition]]) -> None:
    """Drops choices that do not matter: two sets that differ only in the outcome of one condition
    become one set without that condition."""
    waiting = list(choices)
    while waiting:
        when = waiting.pop()
        for key, value in when:
            other, rest = when ^ {(key, value), (key, not value)}, when - {(key, value)}
            if when in choices and other in choices:
                choices -= {when, other}
                choices.add(rest)
                waiting.append(rest)


def bits(mask: int) -> Iterator[int]:
    """The numbers of the set bits, the highest first."""
    while mask:
        number = mask.bit_length() - 1
        yield number
        mask ^= 1 << number


@dataclass
class Touched:
    """The events so far that touched a buffer, as bit sets: all of them, those that changed it, and
    those that freed it."""

    any: int = 0
    changed: int = 0
    freed: int = 0

    def before(self, *, changes: bool) -> int:
        """The events that a new access must be ordered after."""
        return self.any if changes else self.changed

    def enter(self, bit: int, *, changes: bool, frees: bool = False) -> None:
        self.any |= bit
        self.changed |= bit * changes
        self.freed |= bit * frees


def unknown(op: ir.Operation, what: str, hint: str) -> WeftError:
    """The error W0634, for an op that the history cannot follow."""
    return fail("W0634", f"the order of launches cannot be followed through {describe(op)}: {what}", hint=hint)
