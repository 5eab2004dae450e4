"""The execution of a cluster: warp groups as coroutines, asynchronous operations, a schedule.

A group runs until it waits; then `GroupSchedule` chooses the next one. It also chooses when each
operation in flight completes: immediately, or as late as possible, when no group can proceed
without it. If no group can proceed at all, that is a deadlock.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from ....interpreter.hardware.hopper.warpgroups import GROUP
from ....interpreter.hardware.limits import WARP
from ...devices.report import Fault, FaultKind, Race, RaceKind, Recorder, Site, ThreadOp, Triple
from ..machine.banks import BankCounter
from ..machine.lanes import Lane, Lanes
from ..machine.local_memory import Shared, WindowParts
from ..machine.memory import Global, Tracked
from ..machine.shadow import KeyLayout, Mask
from .clocks import GLOBAL, SHARED, Moment, OperationKind, Ranking, VectorClocks
from .ordering import ClockShadow, OrderedMemory
from .schedule import Coroutine, GroupSchedule, Joined, Steps

WATCHED_STEPS = 64


@dataclass(eq=False)
class ClusterMeeting:
    """The barrier of a cluster.

    Args:
        generation: how often the barrier has completed.
        count: the arrivals since then.
        arrivals, waits: how often each row has arrived, and waited.
    """

    generation: int = 0
    count: int = 0
    arrivals: Counter[int] = field(default_factory=Counter)
    waits: Counter[int] = field(default_factory=Counter)
    gathering: Moment | None = None
    told: Moment | None = None


@dataclass(eq=False)
class BlockState:
    """State that the warp groups of a block share.

    Args:
        rank, number: the linear numbers of the block: in its cluster, and in the grid.
        memories, orders: shared buffers, and their shadow memory, by their numbers in the kernel.
        barriers: the groups of memory barriers, by their numbers in the kernel.
        met: for each named barrier, by number, the clock that its last phase published.
        free: the number of registers that no thread of the block holds.
    """

    rank: int
    number: int
    groups: list[GroupLanes] = field(default_factory=list)
    memories: dict[int, tuple[Shared, OrderedMemory | None]] = field(default_factory=dict)
    barriers: dict[int, Any] = field(default_factory=dict)
    met: dict[int, Moment] = field(default_factory=dict)
    free: int = 0


class GroupLanes(Lanes):
    """The lanes of a warp group: threads of one block, as a batch.

    Args:
        threads, number: the linear ids of the threads in the block, and the number of the group.

    Attributes:
        registers: the registers of each thread.
        products: the products that are in flight, or have not been waited for, oldest first.
    """

    def __init__(self, cluster: Cluster, home: BlockState, number: int, threads: np.ndarray) -> None:
        launch = cluster.launch
        super().__init__(launch.grid, launch.block, threads, np.array([home.number]), launch.sites, launch.found)
        self.cluster, self.home, self.number = cluster, home, number
        self.local, self.registers = threads - threads.min(), launch.registers
        self.products: list[Flight] = []
        self.rows = threads + home.rank * cluster.threads
        dims = launch.dims
        self.cluster_dim = dims
        self.rank_in_cluster = home.rank % dims[0], home.rank // dims[0] % dims[1], home.rank // (dims[0] * dims[1])
        self.ids = self.rows
        self.check, self.layout, self.atomics = launch.check, launch.layout, launch.atomics
        self.banks = launch.counter(threads)
        self.watch = launch.watch
        home.groups.append(self)

    @property
    def label(self) -> tuple[int, int]:
        return self.home.rank, self.number

    # ---- order -----------------------------------------------------------------------------------

    def stamp(self, space: str, layout: KeyLayout, site: int) -> np.ndarray:
        return (self.cluster.clocks.epochs(self.rows).astype(np.int64)[:, None] << layout.interval) + site

    def meet(self, passed: int | np.ndarray) -> None:
        clocks = self.cluster.clocks
        here = np.broadcast_to(np.asarray(passed) > 0, self.shape)[:, 0]
        for warp in np.unique(self.local // WARP):
            rows = self.rows[here & (self.local // WARP == warp)]
            if len(rows):
                clocks.learn(rows, clocks.told(rows))

    def active(self, mask: Mask) -> np.ndarray:
        """Positions of the active lanes."""
        return np.arange(self.nt) if mask is None else np.flatnonzero(self.full(mask)[:, 0])

    def block_of(self, number: int) -> int:
        return self.home.number

    # ---- memory ----------------------------------------------------------------------------------

    def shared(
        self, number: int, name: str, shape: tuple[int, ...], dtype: np.dtype, window: WindowParts | None = None
    ) -> Shared:
        """The block's shared buffer of that number, as this group accesses it."""
        found = self.home.memories.get(number)
        if found is None:
            made = Shared(name, shape, dtype, self, window)
            order = None
            if self.check:
                made.layout = replace(self.layout, block=0)
                order = OrderedMemory(made.size, made.layout, self.atomics)
            found = self.home.memories[number] = made, order
        port, order = copy(found[0]), found[1]
        port.origin = number, name, shape, dtype, window
        port.lanes, port.loads, port.stores, port.banks = self, {}, {}, self.banks
        port.keys = self.rows.astype(np.int64) << port.layout.site
        self._follow(port, order)
        return port

    def of_launch(self, memory: Global) -> Global:
        """A buffer in global memory, as this group accesses it."""
        port = copy(memory)
        port.lanes, port.watched = self, None
        rows = self.rows.astype(np.int64)[:, None] << self.layout.site
        port.keys = rows | np.int64(self.cluster.number << self.layout.blocks)
        self._follow(port, self.cluster.launch.orders.get(id(memory)))
        return port

    def seen(self, value: Any) -> Any:
        """An argument of the kernel, as this group accesses it."""
        if isinstance(value, Global):
            return self.of_launch(value)
        return value.seen_by(self) if hasattr(value, "seen_by") else value

    def _follow(self, port: Tracked, order: OrderedMemory | None) -> None:
        if order is None:
            port.shadow = None
            return
        found, unfenced = partial(self._race, port), partial(self._unfenced, port)
        cluster = self.cluster
        space = SHARED if isinstance(port, Shared) else GLOBAL
        port.shadow = ClockShadow(  # type: ignore[assignment]
            order, cluster.clocks, cluster.number, self.label, port.address, found, unfenced, space
        )

    # ---- findings --------------------------------------------------------------------------------

    def _race(self, memory: Tracked, kind: RaceKind, elements: np.ndarray, old: np.ndarray, new: np.ndarray) -> None:
        """Records the races of one op, one for each op that it conflicts with."""
        layout, witness = memory.layout, self.cluster.witness
        sites = layout.sites_of(old)
        for site in np.unique(sites):
            chosen = np.flatnonzero(sites == site)
            at = chosen[0]
            flying = self.cluster.is_operation(int(old[at]), layout)
            row = int(layout.threads_of(int(old[at])))
            first, second = witness(int(old[at]), layout, self.home), witness(int(new[at]), layout, self.home, row)
            shown = memory.element(int(elements[at]))
            self.found.race(Race("in-flight" if flying else kind, *shown, first, second, len(chosen)))

    def _unfenced(self, memory: Tracked, elements: np.ndarray, old: np.ndarray, new: np.ndarray) -> None:
        witness = self.cluster.witness
        first, second = (witness(int(keys[0]), memory.layout, self.home) for keys in (old, new))
        name, element = memory.element(int(elements[0]))
        message = (
            f"`{name}`{list(element)} is accessed by the async proxy, and {first} wrote it without a fence after it"
        )
        self.found.fault(Fault("missing proxy fence", message, second, name, element, len(elements)))

    def doing(self, lane: int, site: int) -> ThreadOp:
        """The thread of a lane that executes an op, for a report."""
        return self.access(site, int(self.threads[lane]), self.home.number)

    def same(self, value: Lane, mask: Mask, what: str, site: int) -> int:
        """A number that must be uniform over the active lanes; else a fault."""
        given = np.asarray(value)
        if given.size == 1:
            return int(given.reshape(-1)[0])
        active = np.broadcast_to(given, self.shape)[:, 0][self.active(mask)]
        if (active != active[0]).any():
            bad = self.full(mask) & (np.broadcast_to(given, self.shape) != active[0])
            self.fault("divergent barrier", bad, site, f"the threads of a warp group have different {what}")
        return int(active[0])


@dataclass(eq=False)
class Flight:
    """An asynchronous operation in flight.

    Args:
        row, epoch: the operation's row in the clocks, and its epoch.
        finish: completes it.
        lanes, site: the lanes, and the number of the op, that issued it.
        first: its priority, as in `Ranked`.
    """

    row: int
    epoch: int
    finish: Callable[[Flight], None]
    group: GroupLanes
    lanes: np.ndarray
    site: int
    first: float = 0.0
    over: bool = False

    def witness(self, unlike: int | None = None) -> ThreadOp:
        """A thread that issued the operation; if several did, not that of the row `unlike`."""
        rows = self.group.rows[self.lanes]
        lane = int(self.lanes[int((rows != unlike).argmax())])
        return self.group.doing(lane, self.site)


@dataclass(eq=False)
class GroupLaunch:
    """State that all clusters of a launch share.

    Args:
        run, values: the generated function and its arguments.
        threads: ids of a block's threads, in the order in which they execute.
        seed: the seed of the schedule: 0 (forward), 1 (reverse), or 2 and more (random).
        ranking: a priority order in place of the seed's.
        banks: counts bank conflicts.

    Attributes:
        dims: the numbers of blocks of a cluster along x, y, z.
        registers: the registers of each thread at the beginning.
        turns: the largest number of scheduling decisions in a cluster.
        orders: shadow memory, by buffer in global memory.
        owners: for each operation on global memory, by its key, the thread that issued it.
    """

    run: Callable[..., Steps]
    values: Sequence[Any]
    grid: Triple
    block: Triple
    sites: list[Site]
    found: Recorder
    layout: KeyLayout
    check: bool
    atomics: frozenset[int]
    threads: np.ndarray
    seed: int
    watch: Callable[[], None]
    banks: BankCounter | None
    dims: Triple = (1, 1, 1)
    registers: int = 0
    ranking: Ranking | None = None
    orders: dict[int, OrderedMemory] = field(default_factory=dict)
    owners: dict[int, ThreadOp] = field(default_factory=dict)
    counters: dict[int, BankCounter] = field(default_factory=dict)
    turns: int = 0

    def follow(self, memories: Sequence[Global]) -> None:
        """Checks these buffers for races; a buffer that is never written can have none."""
        for memory in memories:
            memory.shadow = None
            if memory.changes:
                self.orders[id(memory)] = OrderedMemory(memory.size, self.layout, self.atomics)

    def counter(self, threads: np.ndarray) -> BankCounter | None:
        """The bank counter of a warp group. Groups of one size share a counter, and all counters
        share their tallies."""
        if self.banks is None:
            return None
        made = self.counters.setdefault(len(threads), BankCounter(threads - threads.min()))
        made.tallies = self.banks.tallies
        return made

    def run_cluster(self, number: int) -> Sequence[GroupLanes]:
        """Runs one cluster, and returns its warp groups."""
        made = Cluster(self, number, blocks_of(number, self))
        made.run()
        return [group for home in made.blocks for group in home.groups]


class Cluster:
    """A cluster of the blocks with these linear ids."""

    def __init__(self, launch: GroupLaunch, number: int, blocks: Sequence[int]) -> None:
        self.launch, self.number = launch, number
        self.threads = len(launch.threads)
        self.clocks = VectorClocks(self.threads * len(blocks))
        self.turns = GroupSchedule(launch.seed, number, launch.ranking)
        self.coroutines: list[Coroutine] = []
        self.flying: list[Flight] = []
        self.issuers: dict[int, Flight] = {}
        self.owed: dict[tuple[int, int], tuple[int, ThreadOp, str]] = {}
        self.meeting = ClusterMeeting()
        self.blocks = [BlockState(rank, block) for rank, block in enumerate(blocks)]
        for home in self.blocks:
            for group in np.unique(launch.threads // GROUP):
                lanes = GroupLanes(self, home, int(group), launch.threads[launch.threads // GROUP == group])
                steps = launch.run(lanes, *map(lanes.seen, launch.values))
                self._start(steps, self.turns.of_agent(len(self.coroutines)))

    def run(self) -> None:
        while self.coroutines or self.flying:
            if self.turns.count % WATCHED_STEPS == WATCHED_STEPS - 1:
                self.launch.watch()
            able = [one for one in self.coroutines if one.waits is None or one.waits.ready()]
            if able or self.flying:
                chosen = self.turns.next(able, self.flying)
                self.end(chosen) if isinstance(chosen, Flight) else self._step(chosen)
            elif not self._give_up():
                break
        for one in self.coroutines:
            one.steps.close()
        self.launch.turns = max(self.launch.turns, self.turns.count)
        self._after()

    def _start(self, steps: Steps, first: float) -> Coroutine:
        made = Coroutine(steps, first)
        self.coroutines.append(made)
        return made

    def _step(self, one: Coroutine) -> None:
        try:
            one.waits = next(one.steps)
        except StopIteration:
            one.done = True
            self.coroutines.remove(one)

    def _give_up(self) -> bool:
        """Reports a deadlock. Returns whether any group can proceed after the report."""
        waiting = [one.waits for one in self.coroutines if one.waits is not None]
        torn = [wait for wait in waiting if wait.releases]
        for wait in torn or waiting:
            for fault in wait.stuck():
                self.launch.found.fault(fault)
        return bool(torn)

    def _after(self) -> None:
        """Checks, at the end of the blocks, that threads have waited for every operation."""
        for home in self.blocks:
            for barriers in home.barriers.values():
                barriers.at_end()
        for (rank, row), (epoch, doing, what) in self.owed.items():
            rows = np.arange(rank * self.threads, (rank + 1) * self.threads)
            if not self.coroutines and self.clocks.over[rows, row].max() < epoch:
                block = self.blocks[rank].groups[0].block_at(self.blocks[rank].number)
                message = f"{what}, and block {block} may end before that: none of its threads has waited for it"
                self.launch.found.fault(Fault("unfinished copy", message, doing))

    def owe(self, home: BlockState, row: int, epoch: int, doing: ThreadOp, what: str) -> None:
        """Records an access to a block's shared memory that a thread of that block must observe
        before the block ends."""
        self.owed[home.rank, row] = epoch, doing, what

    def split(self, arms: Sequence[Steps]) -> Steps:
        """Runs the arms of diverged lanes of a group until they reconverge."""
        if len(arms) == 1:
            yield from arms[0]
        elif arms:
            yield Joined([self._start(arm, self.turns.of_arm(number, len(arms))) for number, arm in enumerate(arms)])

    def pause(self) -> Steps:
        """Lets another group run, if the schedule is random."""
        if self.turns.pauses:
            yield None

    # ---- asynchronous operations -----------------------------------------------------------------

    def issue(
        self, kind: OperationKind, group: GroupLanes, lanes: np.ndarray, site: int, finish: Callable[[Flight], None]
    ) -> Flight:
        """Issues an operation of some lanes; `begin` starts it once its accesses are recorded."""
        row = self.clocks.start(group.rows[lanes], kind)
        made = Flight(row, int(self.clocks.epochs(np.array([row]))[0]), finish, group, np.sort(lanes), site)
        self.issuers[row] = made
        return made

    def begin(self, flight: Flight) -> None:
        """Starts the operation, which completes at once or later."""
        self.flying.append(flight)
        flight.first = self.turns.of_started()
        if self.turns.ends_at_once():
            self.end(flight)

    def end(self, flight: Flight) -> None:
        self.flying.remove(flight)
        flight.over = True
        flight.finish(flight)

    def key(self, flight: Flight, layout: KeyLayout) -> int:
        """The key of all accesses of an operation."""
        epoch = int(self.clocks.known[SHARED][flight.row, flight.row])
        made = (epoch << layout.interval) | (flight.row << layout.site) | flight.site
        if layout.block:
            made |= self.number << layout.blocks
            self.launch.owners[made] = flight.witness()
        return made

    # ---- ids ------------------------------------------------------------------------------------

    def is_operation(self, key: int, layout: KeyLayout) -> bool:
        return int(layout.threads_of(key)) >= self.clocks.threads

    def witness(self, key: int, layout: KeyLayout, home: BlockState, unlike: int | None = None) -> ThreadOp:
        """The thread of the access with this key; if several issued the operation, not that of the
        row `unlike`."""
        owned = self.launch.owners.get(key)
        row, site = int(layout.threads_of(key)), int(layout.sites_of(key))
        if owned is not None:
            return owned
        if row >= self.clocks.threads:
            return self.issuers[row].witness(unlike)
        rank, thread = divmod(row, self.threads)
        other = int(layout.blocks_of(key)) if layout.block else self.number
        block = self.blocks[rank].number if other == self.number else blocks_of(other, self.launch)[rank]
        return home.groups[0].access(site, thread, block)

    def fault(
        self, kind: FaultKind, group: GroupLanes, lane: int, site: int, message: str, buffer: str | None = None
    ) -> None:
        self.launch.found.fault(Fault(kind, message, group.doing(lane, site), buffer))


def blocks_of(number: int, launch: GroupLaunch) -> list[int]:
    """Linear ids of the blocks of a cluster, x fastest, in the order of their ranks."""
    (gx, gy, _), (cx, cy, cz) = launch.grid, launch.dims
    x, rest = number % (gx // cx) * cx, number // (gx // cx)
    y, z = rest % (gy // cy) * cy, rest // (gy // cy) * cz
    return [x + i + gx * (y + j + gy * (z + k)) for k, j, i in product(range(cz), range(cy), range(cx))]
