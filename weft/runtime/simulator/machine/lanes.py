"""A batch of blocks in flight: the thread of each lane, the active lanes, and the effect of
barriers.

A value of the kernel is kept as small as possible: a scalar if it is equal in all lanes, else an
array that broadcasts to (threads, blocks): (threads, 1) if it is equal in all blocks, (1, blocks)
if it is equal in all threads. Vectors append their own dimensions. A mask is None (all lanes),
False (no lane; it is only tested, never passed on), or such an array of booleans.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

import numpy as np

from ....dsl.diagnostics import fail
from ...devices.report import Fault, FaultKind, Recorder, Site, ThreadOp, Triple
from ..values.conversion import beside
from .banks import BankCounter
from .shadow import KeyLayout

MOST_ROUNDS = 1 << 22
WATCHED = 256
"""Loop iterations between two checks of the clock."""
Lane = Any
"""A Python or NumPy scalar, or an array that broadcasts to (threads, blocks, …)."""


class Ordered(Protocol):
    """The memory of one address space, which barriers order."""

    space: str

    def barrier(self, everyone: bool) -> None: ...


class Lanes:
    """The lanes of a batch of blocks.

    Args:
        grid, block: sizes (x, y, z) of the launch.
        threads: the linear thread id of each row: a permutation, which is the order in which lanes
            execute an op.
        blocks: linear block ids of the columns.
        sites: the kernel's memory and barrier ops by number.
    """

    def __init__(
        self, grid: Triple, block: Triple, threads: np.ndarray, blocks: np.ndarray, sites: list[Site], found: Recorder
    ) -> None:
        self.grid, self.block = grid, block
        self.threads, self.blocks = threads, blocks
        self.local = threads  # relative to the first thread of the batch
        self.ids = threads  # as keys number them
        self.nt, self.nb = len(threads), len(blocks)
        self.shape = (self.nt, self.nb)
        self.sites = sites
        self.found = found
        self.memories: list[Ordered] = []
        self.check = True
        self.layout: KeyLayout
        self.atomics: frozenset[int] = frozenset()
        self.banks: BankCounter | None = None
        self.copies: Any = None  # copies in flight, where there are any
        self.seed: tuple[int, int] = (0, 0)
        self.columns = np.arange(self.nb, dtype=np.int64)
        self.thread_id = [_compact(part)[..., None] for part in _split(threads, block)]
        self.block_id = [_compact(part) for part in _split(blocks, grid)]
        self.thread_id = [part if part.size > 1 else np.int64(part.item()) for part in self.thread_id]
        self.block_id = [part[None, :] if part.size > 1 else np.int64(part.item()) for part in self.block_id]
        self.intervals: dict[str, int | np.ndarray] = {"shared": 0, "global": 0}
        self.turns: int | np.ndarray = 0
        """Warp barriers that a lane has passed: a number, or one for each lane."""
        self.executed: int | np.ndarray = 0
        self.most_barriers: int | None = None  # as many as keys can tell apart; no limit without a check
        self.most_turns: int | None = None
        self.loads = self.stores = 0
        self.watch: Callable[[], None] = lambda: None
        """Called regularly while loops run; raises where they take too long."""
        self._turns = 0

    # ---- masks -----------------------------------------------------------------------------------

    @staticmethod
    def split(mask: Any, condition: Lane) -> tuple[Any, Any]:
        """The lanes of `mask` for which `condition` holds, and those for which it does not."""
        if not isinstance(condition, np.ndarray):
            return (mask, False) if condition else (False, mask)
        if mask is None:
            if condition.all():
                return None, False
            return (condition, ~condition) if condition.any() else (False, None)
        taken, other = mask & condition, mask & ~condition
        if not taken.any():
            return False, mask
        return (taken, other) if other.any() else (mask, False)

    @staticmethod
    def choose(where: Any, a: Any, b: Any, rank: int | None, taken: Any = None, other: Any = None) -> Any:
        """`a` in the lanes of `where`, `b` elsewhere. `taken`, `other`: the lanes of the two arms,
        if `where` is the condition of a branch.

        `rank`: the rank of the values' vector type; None for a part of a memref, which must be
        uniform over converged lanes (W0755).
        """
        if taken is False:
            return b
        if where is None or other is False or a is b:
            return a
        if rank is not None:
            return np.where(beside(where, rank), a, b)
        if isinstance(a, int) and a == b:
            return a
        raise fail("W0755", "converged threads have different memrefs")

    def full(self, mask: Any) -> np.ndarray:
        """The mask with all its lanes."""
        return np.broadcast_to(True if mask is None else mask, self.shape)

    # ---- ids ------------------------------------------------------------------------------------

    def block_at(self, linear: int) -> Triple:
        x, y, z = _split(np.int64(linear), self.grid)
        return int(x), int(y), int(z)

    def block_of(self, number: int) -> int:
        """The linear id of the block with this number in keys."""
        return number

    def access(self, site: int, thread: int, linear_block: int) -> ThreadOp:
        """The access of a thread (a linear id) at a site, for a report."""
        where, (x, y, z) = self.sites[site], _split(thread, self.block)
        return ThreadOp(where.op, where.location, self.block_at(linear_block), (x, y, z))

    def fault(
        self,
        kind: FaultKind,
        bad: np.ndarray,
        site: int,
        message: str,
        buffer: str | None = None,
        element: tuple[int, ...] | None = None,
    ) -> None:
        """Records a fault of the lanes `bad` (threads, blocks); the witness is the first of them."""
        row, column = first_lane(bad)
        access = self.access(site, int(self.threads[row]), int(self.blocks[column]))
        self.found.fault(Fault(kind, message, access, buffer, element, int(np.count_nonzero(bad))))

    def printf(self, form: Callable[..., str], values: tuple[Lane, ...], mask: Any) -> None:
        """Prints for the active lanes."""
        spread = [np.broadcast_to(value, self.shape) for value in values]
        for row, column in np.argwhere(self.full(mask)):
            text = form(*(value[row, column] for value in spread))
            self.found.printed(int(self.blocks[column]), int(self.threads[row]), text)

    def nonzero(self, divisor: Lane, mask: Any, site: int) -> Lane:
        """The divisor, with 1 in place of 0; records a fault for a 0 in an active lane."""
        zero = np.equal(divisor, 0)
        if not zero.any():
            return divisor
        lanes = zero if zero.ndim <= 2 else zero.any(axis=tuple(range(2, zero.ndim)))
        bad = np.broadcast_to(lanes, self.shape) & self.full(mask)
        if bad.any():
            self.fault("division by zero", bad, site, "an integer is divided by zero")
        return np.where(zero, np.asarray(divisor).dtype.type(1), divisor)

    def left_open(self, where: Any, mask: Any, site: int, what: str) -> None:
        """Records a fault for a value that is needed but undefined in the active lanes `where`."""
        if not np.any(where):
            return
        found = np.asarray(where)
        lanes = found if found.ndim <= 2 else found.any(axis=tuple(range(2, found.ndim)))
        bad = np.broadcast_to(lanes, self.shape) & self.full(mask)
        if bad.any():
            self.fault("undefined result", bad, site, what)

    # ---- what the generated code asks for --------------------------------------------------------

    def steps(self, counted: range) -> Iterable[int]:
        """The iterations of a `for`, under the time limit."""
        if self._turns + len(counted) < WATCHED:
            self._turns += len(counted)
            return counted
        self._turns = 0
        self.watch()
        return counted if len(counted) <= WATCHED else self._watched(counted)

    def _watched(self, counted: range) -> Iterator[int]:
        for first in range(0, len(counted), WATCHED):
            self.watch()
            yield from counted[first : first + WATCHED]

    def turn(self, rounds: int, site: int) -> int:
        """Counts the rounds of a `while`. Raises W0756 for one that seems not to terminate."""
        if rounds >= MOST_ROUNDS:
            where = self.sites[site]
            raise fail("W0756", f"`{where.op}` at {where.location} went {rounds} rounds: it may never end")
        if rounds % WATCHED == WATCHED - 1:
            self.watch()
        return rounds + 1

    # ---- barriers --------------------------------------------------------------------------------

    def barrier(self, mask: Any, spaces: tuple[str, ...], site: int) -> None:
        """A barrier of all threads of each block; orders accesses of `spaces` before it with those
        after it. Raises W0757."""
        _expect_fewer(self.executed, self.most_barriers, "barriers")
        passed: Any = 1
        if mask is not None:
            here = self.full(mask)
            reached, some = np.all(here, axis=0, keepdims=True), np.any(here, axis=0, keepdims=True)
            divergent = some & ~reached
            if divergent.any():
                row, _ = first_lane(~here & divergent)
                x, y, z = (int(n) for n in _split(self.threads[row], self.block))
                absent = f"thread {(x, y, z)} of its block does not reach this barrier together with it"
                self.fault("divergent barrier", here & divergent, site, absent)
            passed = some.astype(np.int64)
        self.executed = self.executed + passed
        for memory in self.memories:
            if memory.space in spaces:
                memory.barrier(everyone=mask is None)
        for space in spaces:
            self.intervals[space] = self.intervals[space] + passed

    def meet(self, passed: int | np.ndarray) -> None:
        """A barrier of some warps, which orders their accesses. `passed`: 1 for each of their
        lanes, else 0. Raises W0757."""
        _expect_fewer(self.turns, self.most_turns, "barriers of its warp")
        for memory in self.memories:
            memory.barrier(everyone=False)
        self.turns = self.turns + passed
        if isinstance(self.turns, np.ndarray) and (self.turns == self.turns[:, :1]).all():  # the blocks agree
            self.turns = self.turns[:, :1]

    def stamp(self, space: str, layout: KeyLayout, site: int) -> np.ndarray:
        """The part of the keys of an access that does not depend on the thread: a single number, or
        one for each block or lane."""
        turns = np.asarray(self.turns, dtype=np.int64) << layout.turns if layout.turn else np.int64(0)
        return (np.asarray(self.intervals[space], dtype=np.int64) << layout.interval) + turns + site

    @property
    def barriers(self) -> int:
        """The largest number of barriers that a thread executed."""
        return int(np.max(self.executed))


def _expect_fewer(passed: int | np.ndarray, most: int | None, what: str) -> None:
    """Raises W0757 for more threads, blocks or barriers than a race check can distinguish."""
    if most is not None and int(np.max(passed)) >= most:
        raise fail(
            "W0757",
            f"a thread passes more than {most} {what}, more than a race check of this launch tells apart",
            hint="check a smaller launch, of fewer blocks or shorter loops: `--set m=256`",
        )


def _split(linear: Any, sizes: Triple) -> tuple[Any, Any, Any]:
    return linear % sizes[0], linear // sizes[0] % sizes[1], linear // (sizes[0] * sizes[1])


def first_lane(lanes: np.ndarray) -> tuple[int, int]:
    """The row and column of the first true lane, in the order of blocks, then of threads."""
    column = int(lanes.any(axis=0).argmax())
    return int(lanes[:, column].argmax()), column


def _compact(ids: np.ndarray) -> np.ndarray:
    return ids if (ids != ids[0]).any() else ids[:1]
