"""The threads of a warp group: what goes through the kernel in lock step, while other groups are elsewhere."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ....interpreter.memory.limits import WARP
from ...devices.report import Fault, Race, RaceKind, ThreadOp
from ..machine.lanes import Lane, Lanes
from ..machine.local_memory import Shared, WindowParts
from ..machine.memory import Global, Tracked
from ..machine.shadow import KeyLayout, Mask
from .clocks import GLOBAL, SHARED, Moment
from .ordering import ClockShadow, OrderedMemory

if TYPE_CHECKING:
    from .cluster import Cluster, Flight


@dataclass(eq=False)
class BlockState:
    """What the warp groups of a block share.

    Args:
        rank: in its cluster; `number`: its linear id.
        memories, orders: shared buffers and what is known of them, by their number in the kernel's text.
        barriers: groups of memory barriers likewise.
        met: by number, what those knew who met last at a barrier that has it.
        free: registers that none of its threads has.
    """

    rank: int
    number: int
    groups: list[GroupLanes] = field(default_factory=list)
    memories: dict[int, tuple[Shared, OrderedMemory | None]] = field(default_factory=dict)
    barriers: dict[int, Any] = field(default_factory=dict)
    met: dict[int, Moment] = field(default_factory=dict)
    free: int = 0


class GroupLanes(Lanes):
    """Those lanes: a batch of a block and of threads of it.

    Args:
        threads: their linear ids in the block; `number`: the group's.

    Attributes:
        registers: of each thread.
        products: those that are in flight, or not yet waited for, the first one first.
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
        self.who = self.rows
        self.check, self.layout, self.atomics = launch.check, launch.layout, launch.atomics
        self.banks = launch.counter(threads)
        self.watch = launch.watch
        home.groups.append(self)

    @property
    def label(self) -> tuple[int, int]:
        return self.home.rank, self.number

    # ---- order --------------------------------------------------------------------------------------------------------

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
        """Positions of the lanes of a mask."""
        return np.arange(self.nt) if mask is None else np.flatnonzero(self.full(mask)[:, 0])

    def block_of(self, number: int) -> int:
        return self.home.number

    # ---- memory -------------------------------------------------------------------------------------------------------

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

    def of_launch(self, memory: Global, order: OrderedMemory | None) -> Global:
        """A buffer in global memory, as this group accesses it."""
        port = copy(memory)
        port.lanes, port.watched = self, None
        rows = self.rows.astype(np.int64)[:, None] << self.layout.site
        port.keys = rows | np.int64(self.cluster.number << self.layout.blocks)
        self._follow(port, order)
        return port

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

    # ---- findings ------------------------------------------------------------------------------------------------------

    def _race(self, memory: Tracked, kind: RaceKind, elements: np.ndarray, old: np.ndarray, new: np.ndarray) -> None:
        """Record the races of one op, one for each op that it meets."""
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
        message = f"`{name}`{list(element)} is accessed by the async proxy, and {first} wrote it without a fence behind it"
        self.found.fault(Fault("missing proxy fence", message, second, name, element, len(elements)))

    def doing(self, lane: int, site: int) -> ThreadOp:
        """A lane that does an op."""
        return self.access(site, int(self.threads[lane]), self.home.number)

    def same(self, value: Lane, mask: Mask, what: str, site: int) -> int:
        """A number that all lanes agree on; a fault where they don't."""
        given = np.asarray(value)
        if given.size == 1:
            return int(given.reshape(-1)[0])
        active = np.broadcast_to(given, self.shape)[:, 0][self.active(mask)]
        if (active != active[0]).any():
            bad = self.full(mask) & (np.broadcast_to(given, self.shape) != active[0])
            self.fault("divergent barrier", bad, site, f"the threads of a warp group have different {what}")
        return int(active[0])
