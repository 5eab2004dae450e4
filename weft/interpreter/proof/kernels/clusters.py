"""The blocks of a cluster: the target blocks of a load, the cluster barriers, and the owner block
of an accessed shared buffer.

The proof covers the threads of a whole cluster together: the block of a thread is one more of its
ids (`Algebra.rank`). Each block has its own shared memory, so the block number becomes an
additional, first subscript of a shared buffer. A load for several blocks is modelled as one load of
the same box for each of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ....dsl.diagnostics import fail
from ....dsl.records import record
from ...hardware.hopper.mbarriers import AWAIT_CLUSTER, MEET_CLUSTER
from ...hardware.limits import MASK_BITS
from ...indices.linear import TRUE, Formula, Linear, at_least, equal
from ...indices.values import Values
from ...ir.mlir import ir
from ...ir.refusing import describe
from .places import Place
from .root_buffers import RootBuffer


@record(eq=False)
class Gathering:
    """A cluster barrier: all threads of the cluster arrive at one place and wait at another.

    Args:
        spaces: the memory spaces in which the barrier orders accesses; none if arrivals are relaxed.
    """

    arrival: Place
    wait: Place
    spaces: frozenset[str]
    op: str
    waiting_op: str


@record(eq=False)
class ClusterOp:
    """An arrival at a cluster barrier, or a wait there."""

    place: Place
    op: ir.Operation


def gatherings(ops: list[ClusterOp], spaces: frozenset[str]) -> Iterator[Gathering]:
    """Yields the cluster barriers that pairs of an arrival and a wait form, in text order.
    `spaces`: the memory spaces that an arrival orders unless it is relaxed.

    Raises:
        WeftError: W0640 if an arrival and its wait are not in one block of ops, one after the
            other.
    """
    for one, other in zip(ops[::2], (*ops[1::2], None), strict=False):
        paired = other is not None and one.op.name != AWAIT_CLUSTER and other.op.name == AWAIT_CLUSTER
        if other is None or not paired or one.place.steps != other.place.steps:
            raise fail(
                "W0640",
                f"the race analysis cannot match the arrival and the wait of a cluster barrier: {describe(one.op)}",
                hint="let each `nvvm.cluster.arrive` be followed by its `nvvm.cluster.wait`, in the same block of ops",
            )
        orders = spaces if one.op.name == MEET_CLUSTER else frozenset[str]()
        yield Gathering(one.place, other.place, orders, describe(one.op), describe(other.op))


def targets(load: ir.Operation, values: Values) -> Iterator[tuple[Linear, Formula]]:
    """Yields the target blocks of a load, each with the condition under which it is a target. A
    block that does not exist may be among them."""
    mask = load.opview.multicastMask
    if mask is None:
        yield values.rank, TRUE
        return
    form, blocks = values.linear(mask), values.shape.blocks
    if form.is_constant:
        yield from ((Linear.of(n), TRUE) for n in range(MASK_BITS) if form.constant >> n & 1)
        return
    yield from ((Linear.of(n), equal(form.floordiv(2**n).modulo(2), Linear.of(1))) for n in range(blocks))
    yield Linear.of(blocks), at_least(form.floordiv(2**blocks).modulo(2 ** (MASK_BITS - blocks)), 1)


class OfBlocks:
    """The shared buffers of a cluster: one instance for each block.

    Args:
        values: the values of the kernel.
    """

    def __init__(self, values: Values) -> None:
        self.values = values
        self._made: dict[RootBuffer, RootBuffer] = {}

    def buffer(self, buffer: RootBuffer) -> RootBuffer:
        """The buffer; a shared buffer gets the block number as its first subscript."""
        blocks = self.values.shape.blocks
        if buffer.space != "workgroup" or blocks == 1:
            return buffer
        if buffer not in self._made:
            self._made[buffer] = replace(buffer, shape=(blocks, *buffer.shape), strides=None, of_each_block=True)
        return self._made[buffer]

    def place(
        self, buffer: RootBuffer, block: Linear | None, coordinates: tuple[Linear, ...] | None
    ) -> tuple[RootBuffer, tuple[Linear, ...] | None]:
        """The buffer and the coordinates of an element, from its coordinates in the buffer of
        `block` (None: the thread's own block)."""
        found = self.buffer(buffer)
        if found is buffer or coordinates is None:
            return found, coordinates
        return found, (self.values.rank if block is None else block, *coordinates)
