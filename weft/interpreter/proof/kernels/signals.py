"""The ops of a kernel on memory barriers, warp groups and proxies, as index forms: the input of the
proofs in `proof/signals/`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Literal

from ....dsl.diagnostics import fail
from ....dsl.records import record
from ...hardware.hopper.mbarriers import (
    ADDRESS,
    ARRIVE,
    ARRIVE_THERE,
    AWAIT,
    FENCE_INIT,
    INIT,
    MAKE,
    OTHER_BLOCK,
    POINTER,
    RELEASING,
    barrier_of,
    count_of,
    fenced_spaces,
    ordered_by,
)
from ...hardware.hopper.tensor_maps import LOADS, load_of, tensor_map
from ...indices.linear import TRUE, Formula, Linear, both
from ...indices.values import Values
from ...ir.mlir import ir, producer
from ...ir.refusing import describe
from .clusters import targets
from .places import Place


@record(eq=False)
class Ring:
    """A group of memory barriers."""

    name: str
    size: int


@record(eq=False)
class Signal:
    """An op on a memory barrier.

    Args:
        index: the index of the barrier in its ring.
        block: the number, in the cluster, of the block that owns the barrier.
        when: the condition under which the op takes effect, in addition to the guards of the place.
        amount: for an `init`, the number of arrivals that complete a phase; for an arrival, the
            number of further bytes that the barrier is to expect; for a load, the number of bytes
            that it copies.
        odd: for a wait, the condition that it waits for parity 1.
        relaxed: for an arrival: it orders time only, and no memory accesses.
    """

    kind: Literal["init", "arrive", "load", "wait"]
    ring: Ring
    index: Linear
    block: Linear
    place: Place
    op: str
    when: Formula = TRUE
    amount: Linear = Linear.of(0)
    odd: Formula = TRUE
    relaxed: bool = False

    def changed(self, change: Callable[[Linear], Linear]) -> Signal:
        """The signal with `change` applied to its forms."""
        index, block, amount = change(self.index), change(self.block), change(self.amount)
        return replace(
            self, index=index, block=block, amount=amount, when=self.when.changed(change), odd=self.odd.changed(change)
        )


@record(eq=False)
class Fence:
    """A fence: makes ordinary stores of its thread to these memories visible to asynchronous
    accesses; with `inits`, it makes the initialization of barriers visible."""

    place: Place
    op: str
    spaces: frozenset[str] = frozenset()
    inits: bool = False


@record(eq=False)
class RegisterChange:
    """A register change: from this place on, each thread of a warp group has `count` registers.
    `more`: this is an increase."""

    place: Place
    op: str
    count: int
    more: bool


class Signals:
    """Reads the ops of a kernel."""

    def __init__(self, values: Values, name: Callable[[ir.Value], str]) -> None:
        self.values, self.name = values, name
        self._rings: dict[ir.Value, Ring] = {}

    def signals(self, op: ir.Operation, place: Place) -> Iterator[Signal]:
        """Yields the signals of an op on a memory barrier: one, or one for each target block of a
        load."""
        found = self._signal(op, place)
        if op.name not in LOADS:
            yield found
            return
        for block, when in targets(op, self.values):
            yield replace(found, block=block, when=both(found.when, when))

    def _signal(self, op: ir.Operation, place: Place) -> Signal:
        load = load_of(op) if op.name in LOADS else None
        if load is None and op.name in LOADS:
            raise fail(
                "W0640",
                f"the race analysis does not determine what {describe(op)} loads",
                hint="make each pointer by one `builtin.unrealized_conversion_cast`, of a memref, of a tensor map or"
                " of a memory barrier",
            )
        told, block = self._addressed(op) if op.name == ARRIVE_THERE else (op, self.values.rank)
        group, number = barrier_of(told)
        made = producer(group)
        if made is None or made.name != MAKE:
            raise fail(
                "W0640",
                f"the race analysis does not know the group of memory barriers of {describe(op)}",
                hint="use the result of `nvgpu.mbarrier.create` directly",
            )
        ring = self._rings.setdefault(group, Ring(self.name(group), count_of(group.type)))
        found = Signal("wait", ring, self.values.linear(number), block, place, describe(op))
        view = op.opview
        if op.name == AWAIT:
            return replace(found, odd=self.values.condition(view.phaseParity))
        if load is not None:
            box = tensor_map(load.map.type)
            assert box is not None
            return replace(found, kind="load", amount=Linear.of(box.bytes), when=self._if(load.predicate))
        if op.name in (ARRIVE, ARRIVE_THERE):
            return replace(found, kind="arrive", relaxed=op.name == ARRIVE_THERE and self._orders(op) == "time")
        amount = self.values.linear(view.count if op.name == INIT else view.txcount)
        return replace(
            found, kind="init" if op.name == INIT else "arrive", amount=amount, when=self._if(view.predicate)
        )

    def _addressed(self, op: ir.Operation) -> tuple[ir.Operation, Linear]:
        """For an arrival at an address: the op that takes the address of the barrier, and the block
        of the cluster that owns the barrier."""
        made, block = producer(op.operands[0]), self.values.rank
        while made is not None and made.name in (POINTER, OTHER_BLOCK):
            block = self.values.linear(made.operands[1]) if made.name == OTHER_BLOCK else block
            made = producer(made.operands[0])
        if made is None or made.name != ADDRESS or len(op.operands) > 1:
            raise fail(
                "W0640",
                f"the race analysis does not know the memory barrier at which {describe(op)} arrives",
                hint="take its address by `nvgpu.mbarrier.get`, and that of another block's barrier by `nvvm.mapa` of this address",
            )
        if self._orders(op) is None:
            raise fail(
                "W0640",
                f"the race analysis does not follow relaxed arrivals, which order nothing for the threads that wait:"
                f" {describe(op)}",
                hint=RELEASING,
            )
        return made, block

    def _orders(self, op: ir.Operation) -> str | None:
        made = producer(op.operands[0])
        return ordered_by(op, elsewhere=made is not None and made.name == OTHER_BLOCK)

    def _if(self, predicate: ir.Value | None) -> Formula:
        return TRUE if predicate is None else self.values.condition(predicate)


def fence(op: ir.Operation, place: Place) -> Fence:
    """The fence of an op, with the memories that it makes visible."""
    return Fence(place, describe(op), fenced_spaces(op), op.name == FENCE_INIT)
