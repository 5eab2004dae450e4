"""What happens in a host function, once each: operations, tokens and their uses, and the choices under which they happen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ...dsl.diagnostics import WeftError, fail
from ..mlir import ir
from ..rewriter import describe
from .effects import DEVICE, Effect

Condition = tuple[object, bool]
"""A choice of the program (which condition, in which iteration), and how it was made."""


@dataclass(frozen=True, eq=False)
class Event:
    """An operation that touches memory, as it happens once.

    Args:
        number: its place in program order.
        path: the iterations of the loops around it, outermost first.
        when: the choices under which it happens.
        asynchronous: it may go on after the host is past it.
    """

    number: int
    op: ir.Operation
    path: tuple[int, ...]
    when: frozenset[Condition]
    asynchronous: bool
    effects: tuple[Effect, ...]

    @property
    def on_device(self) -> bool:
        return self.op.name in DEVICE

    def excludes(self, other: Event) -> bool:
        return contradict(self.when, other.when)


@dataclass(eq=False)
class Token:
    """A token as it is made once. `covers`: the events that are done when it is ready; `uses`: by whom, under which choices."""

    value: ir.Value
    maker: ir.Operation | None
    when: frozenset[Condition]
    covers: int
    uses: list[Use] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Use:
    """One use of a token. `event`: what started with it, if anything did; `past`: the events done when the host was there."""

    op: ir.Operation
    when: frozenset[Condition]
    past: int
    event: int | None = None


def contradict(first: frozenset[Condition], second: frozenset[Condition]) -> bool:
    return any((key, not value) in second for key, value in first)


def bits(mask: int) -> Iterator[int]:
    """The numbers of the bits that are set, the highest first."""
    while mask:
        number = mask.bit_length() - 1
        yield number
        mask ^= 1 << number


def both(sets: list[int]) -> int:
    """What is in all of them."""
    found = -1
    for each in sets:
        found &= each
    return found


def unknown(op: ir.Operation, what: str, hint: str) -> WeftError:
    return fail("W0634", f"the order of launches cannot be followed through {describe(op)}: {what}", hint=hint)
