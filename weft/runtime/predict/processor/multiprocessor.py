"""One multiprocessor, clock by clock: four schedulers, each of which issues at most one instruction
of its warps per clock; with clusters, as many multiprocessors as a cluster has blocks.

A warp's next instruction waits for the stall count and the scoreboards of the control words, for
its pipe, for a place in the queue of memory instructions, and at barriers. A loop is executed until
its iterations take equal times; then the time of the remaining iterations is extrapolated. If
blocks progress at different rates, the average is used, because further blocks replace those that
end.
"""

from __future__ import annotations

from collections import defaultdict

from ....dsl.diagnostics import fail
from ....interpreter.hardware.limits import NUMBERED, WARP
from ..chips import Gpu
from ..operands import Grid, many
from ..pipes import SCHEDULERS, bank_conflicts, interval, is_of_group, pipe_of
from ..repeats import WINDOW, Repeats
from ..sass import Disassembly
from ..signals import BEFORE, BLOCK_SHIFT, BarrierUse, MemoryBarrier
from ..tracks import Trace
from .clocks import NEVER, Clocks, Counts, Scheduler, Warp
from .memory import SECTOR, Accesses
from .ports import L2, REMOTE, ClusterClock, MemoryPorts

SHARED, STORE, OTHER = 30, 20, 12
"""Clocks from issue to result: of shared loads, of stores, and of other instructions that set a
scoreboard. These, QUEUE, STAGGER and the latencies of global memory are calibrated."""
FENCED = L2
"""Clocks from a fence of chip scope to the next instruction: until L2 has answered. This is an
estimate."""
BOX, DRAINED, SEEN = 820, 24, 20
"""Clocks from the issue of a tensor box to its bytes, from the last product of a warp group to its
sums, and from the end of a memory barrier's phase to the waiting threads. These are estimates: from
a load and the cost of starting a copy."""
QUEUE = 8
"""Memory instructions of a scheduler's warps that can be queued for their pipe."""
RELEASE = 8
"""Clocks from the last warp's arrival at a barrier to the next instruction."""
LATEST = 5 * WINDOW
"""Iterations after which a loop that has not settled is extrapolated from its average."""
INSTRUCTION, CODE = 16, 32 * 1024
"""Bytes of an instruction, and bytes of a multiprocessor's instruction cache: a larger loop is
fetched again in each iteration. The cache size is not published; by measurement a loop of 34.5 KiB
is slower, and loops of 21 KiB are not."""
SETTLED = 0.01
"""The relative difference up to which two windows of a loop take the same time."""
WARM = 4000
"""Clocks after which the order of the warps in a loop is assumed to be steady."""
SIMULATE = "`--target sim` reports which warps wait for what"


def large_loops(program: Disassembly) -> list[range]:
    """The innermost loops that exceed the instruction cache, so that each iteration fetches them
    again."""
    return [loop for loop in program.innermost() if len(loop) * INSTRUCTION > CODE]


class Multiprocessor:
    """A trace's blocks on one multiprocessor of a chip; with clusters on several, each of which has
    one block of each cluster. The counts are the average of one multiprocessor.

    Args:
        l1_bytes: bytes of each L1 cache that shared memory does not use.
        l2: bytes per clock that each multiprocessor reads from L2.
        stores: bytes per clock that each multiprocessor writes to L2.
    """

    def __init__(
        self, program: Disassembly, trace: Trace, grid: Grid, chip: Gpu, l1_bytes: int, l2: float, stores: float
    ) -> None:
        every = program.instructions
        self.instructions, self.together = every, grid.together
        self.accesses = Accesses(every, len(trace.tracks))
        tracks = {id(track): track for track in trace.tracks}
        repeats = {key: Repeats(track, program) for key, track in tracks.items()}
        self.warps = []
        for n, track in enumerate(trace.tracks):
            block = n // grid.warps
            self.warps.append(Warp(n, block, track, repeats[id(track)], *divmod(block, self.together), chip.start))
        each = [[warp for warp in self.warps if warp.unit == unit] for unit in range(self.together)]
        self.schedulers = [
            Scheduler(mine) for warps in each for s in range(SCHEDULERS) if (mine := warps[s::SCHEDULERS])
        ]
        self.scheduler_of = {warp: scheduler for scheduler in self.schedulers for warp in scheduler.warps}
        self.skipped = self.end = 0.0
        self.first, self.warm = 0, 0.0
        self.history: list[tuple[float, float, tuple[Counts, ...]]] = []
        self.timing = Clocks()
        self.units = [MemoryPorts(l2, stores, l1_bytes // SECTOR, self.timing) for _ in range(self.together)]
        self.meetings = [ClusterClock(grid.warps * self.together) for _ in range(len(grid.blocks) // self.together)]
        self.pipe = [pipe_of(one) for one in every]
        self.of_group = [is_of_group(one) for one in every]
        self.barriers: defaultdict[tuple[int, int], MemoryBarrier] = defaultdict(MemoryBarrier)
        self.interval = [interval(one, chip) for one in every]
        self.conflict = bank_conflicts(every)
        self.stall: list[float] = [max(1, one.control.stall) for one in every]
        for at in (at for loop in large_loops(program) for at in loop):
            self.stall[at] = max(self.stall[at], INSTRUCTION / chip.fetch)
        self.waits = [[b for b in range(6) if one.control.waits >> b & 1] for one in every]
        self.allowed = [
            int(one.arguments[1], 0) if one.mnemonic == "DEPBAR" or "DEPBAR" in one.modifiers else -1 for one in every
        ]

    def run(self) -> Clocks:
        """Simulates until every warp has ended, and returns the counts. Raises W0782 if warps
        deadlock at a memory barrier."""
        while (now := min(s.next for s in self.schedulers)) < NEVER:
            for scheduler in self.schedulers:
                if scheduler.next <= now:
                    self._turn(scheduler, now)
        if not all(warp.ended for warp in self.warps):
            raise fail(
                "W0782", "the time of a kernel is not predicted: warps wait at a memory barrier forever", hint=SIMULATE
            )
        for scheduler in self.schedulers:
            self._lost(scheduler, self.end)
        found = Clocks()
        found.add(self.timing, 1 / self.together)
        stored = max(unit.l2_free for unit in self.units)  # no warp waits for its stores, but the next block's loads do
        found.clocks = self.skipped + self.end
        found.wait("global", stored - self.end)
        return found

    def _turn(self, scheduler: Scheduler, now: float) -> None:
        """Simulates one clock of a scheduler: issues from the warp that issued last if it is ready,
        else from the oldest ready warp."""
        soonest = NEVER
        for warp in (scheduler.last, *scheduler.warps):
            if warp.ready <= now:
                code = warp.track.code[warp.at]
                warp.ready = self._from(scheduler, warp, code, now)
                if warp.ready <= now:
                    if scheduler.idle is not None:
                        self._lost(scheduler, now)
                    scheduler.next, scheduler.last = now + 1, warp
                    self._issue(scheduler, warp, code, now)
                    return
            if warp.ready < soonest:
                soonest = warp.ready
        if scheduler.idle is None:
            scheduler.idle = (now, [warp.why for warp in scheduler.warps if not warp.ended])
        scheduler.next = soonest

    def _lost(self, scheduler: Scheduler, now: float) -> None:
        """Counts the clocks since the scheduler last issued, divided among the reasons of its
        warps."""
        if scheduler.idle is not None:
            since, reasons = scheduler.idle
            for why in reasons or ["ended"]:
                self.timing.lost[why] += (now - since) / max(len(reasons), 1)
            scheduler.idle = None

    def _from(self, scheduler: Scheduler, warp: Warp, code: int, now: float) -> float:
        """The clock at which the warp can issue its next instruction, as far as known; records the
        reason of a wait."""
        wake, why = now, warp.why
        for board in self.waits[code]:
            if warp.boards[board][0] > wake:
                wake, why = warp.boards[board]
        pipe = self.pipe[code]
        if wake == now and pipe in ("shared", "global"):
            if (free := self._queued(scheduler, warp, now)) > now:
                wake, why = free, "queue"
        elif wake == now and pipe == "signal":
            wake, why = self._over(warp, now)
        elif wake == now and pipe == "meeting":
            meeting = self.meetings[warp.block // self.together]
            if (when := meeting.over(warp)) is None:
                meeting.waiting.append(warp)
            wake, why = (NEVER, "cluster") if when is None else (max(when, now), "cluster")
        elif wake == now and pipe == "products" and len(warp.batches) > self.allowed[code] >= 0:
            done = warp.batches[len(warp.batches) - 1 - self.allowed[code]]
            wake, why = (done, "pipe") if done > now else (now, why)
        elif wake == now and self.interval[code] and not self.of_group[code] and scheduler.pipes[pipe] >= now + 1:
            wake, why = float(int(scheduler.pipes[pipe])), "pipe"
        elif wake == now and pipe == "wait" and len(warp.groups) > self.allowed[code]:
            done = warp.groups[len(warp.groups) - 1 - self.allowed[code]]
            wake, why = (done, "global") if done > now else (now, why)
        warp.why = why
        return wake

    @staticmethod
    def _queued(scheduler: Scheduler, warp: Warp, now: float) -> float:
        """The clock at which the queue has a place for the warp; warps obtain places in the order
        of their requests."""
        queue, line = scheduler.queue, scheduler.line
        while queue and queue[0] <= now:
            queue.popleft()
        before = line.index(warp) if warp in line else len(line)
        if len(queue) + before < QUEUE:
            if before < len(line):
                line.remove(warp)
            return now
        if before == len(line):
            line.append(warp)
        over = len(queue) + before - QUEUE
        return queue[over] if over < len(queue) else (queue[-1] if queue else now) + 1

    def _issue(self, scheduler: Scheduler, warp: Warp, code: int, now: float) -> None:
        self.timing.issued[code] += 1
        pipe, control = self.pipe[code], self.instructions[code].control
        warp.ready, warp.why = now + self.stall[code], "pipe" if pipe == "tensor" else "latency"
        why, done, freed = "latency", now + OTHER, now + OTHER / 2
        if pipe == "shared":
            why = pipe
            through = self.units[warp.unit].shared(self.accesses.wavefronts(warp.track, warp.at), now)
            scheduler.queue.append(through)
            freed, done = through + 4, through
            done += (SHARED if control.sets < 6 else STORE) - 4
        elif pipe == "global":
            why = pipe
            mnemonic, access = (
                self.instructions[code].mnemonic,
                self.accesses.of_global(warp.track, warp.at, warp.number),
            )
            begin, done = self.units[warp.unit].access(mnemonic, access, now)
            scheduler.queue.append(begin + 2)
            freed = begin + 10
            warp.copied = max(warp.copied, done) if mnemonic == "LDGSTS" else warp.copied
        elif pipe == "group":
            warp.groups = [*(g for g in warp.groups if g > now), warp.copied]
            done = warp.copied
        elif pipe in ("signal", "boxes"):
            self._signal(warp, now)
        elif pipe == "arrival":
            meeting = self.meetings[warp.block // self.together]
            for other in meeting.arrive(warp, now):
                self._wake(other, meeting.ended)
        elif pipe == "fence":
            if "GPU" in self.instructions[code].modifiers and self._lanes(warp):
                warp.ready = now + FENCED
        elif length := self.interval[code]:
            scheduler.pipes[pipe] = max(scheduler.pipes[pipe], now) + length
            self.timing.busy[pipe] += length
            if self.of_group[code] and "gsb0" in self.instructions[code].operands:
                warp.batches = [*(b for b in warp.batches if b > now), scheduler.pipes[pipe] + DRAINED]
        if self.conflict[code]:
            scheduler.next = now + 2
            self.timing.lost["bank"] += 1
        for board, when in ((control.sets, done), (control.frees, freed)):
            if board < 6 and pipe != "group" and when > warp.boards[board][0]:
                warp.boards[board] = (when, why)
        warp.at += 1
        if pipe == "barrier":
            met = warp.track.places[warp.at - 1]
            warp.waiting, warp.ready, warp.why = int(met[warp.number * WARP] if many(met) else met), NEVER, "barrier"
        if warp.at == len(warp.track.code):
            warp.ended, warp.ready, self.end = True, NEVER, now
            if warp.number == self.first:
                self.first = next((other.number for other in self.warps if not other.ended), -1)
                self.history.clear()
        if warp.waiting is not None or warp.ended:
            self._gather(warp, now)
        elif warp.number == self.first and warp.repeats.begins(warp.at):
            self._settle(now)

    def _lanes(self, warp: Warp) -> list[int]:
        """The numbers of the warp's threads that execute its next instruction."""
        active, first = warp.track.active[warp.at], warp.number * WARP
        return [n for n in range(first, first + WARP) if (active if isinstance(active, bool) else active[n])]

    def _barrier(self, warp: Warp, place: int) -> tuple[int, int]:
        """The block and the offset of a barrier, from the address that a warp uses for it."""
        return warp.block - warp.unit + (place >> BLOCK_SHIFT), place & ((1 << BLOCK_SHIFT) - 1)

    def _wake(self, warp: Warp, when: float) -> None:
        warp.ready = when
        scheduler = self.scheduler_of[warp]
        scheduler.next = min(scheduler.next, when)

    def _over(self, warp: Warp, now: float) -> tuple[float, str]:
        """The clock at which a warp that waits for a phase of a memory barrier continues, as far as
        known, and the reason."""
        found: BarrierUse = warp.track.places[warp.at]
        if found.kind != "wait" or not (lanes := self._lanes(warp)):
            return now, warp.why
        place, parity = found.of(lanes[0])
        barrier = self.barriers[self._barrier(warp, place)]
        seen = warp.seen.get(barrier, BEFORE)
        if (when := barrier.over(parity, seen)) is None:
            barrier.waiting.append(warp)
            return NEVER, "signal"
        if when + SEEN <= now or when <= 0:
            warp.seen[barrier] = barrier.passed(parity, seen)
        return (when + SEEN, "signal") if when + SEEN > now and when > 0 else (now, warp.why)

    def _signal(self, warp: Warp, now: float) -> None:
        """Applies the effects of a warp's threads on a memory barrier."""
        found: BarrierUse = warp.track.places[warp.at]
        once = found.kind in ("init", "load", "store")  # one effect per warp, not per thread
        for lane in self._lanes(warp)[: 1 if once else WARP] if found.kind != "wait" else ():
            place, amount = found.of(lane)
            at = self._barrier(warp, place)
            if found.kind == "init":
                self.barriers[at] = MemoryBarrier(amount, amount)
            elif found.kind == "store":
                self.units[warp.unit].write(amount, now)
                self.timing.moved["stored"] += amount
            elif found.kind == "load":
                self._load(warp, at, amount, found.for_blocks(lane), now)
            else:
                barrier, far = self.barriers[at], at[0] != warp.block
                self._go_on(
                    barrier, barrier.change(now, found.kind == "arrive", amount, 0, now + REMOTE if far else 0.0)
                )

    def _load(self, warp: Warp, at: tuple[int, int], size: int, blocks: list[int], now: float) -> None:
        """Delivers a box, which L2 reads once, to each of the blocks."""
        read = self.units[warp.unit].read(size, now)
        self.timing.moved["loaded"] += size
        for block in [warp.block - warp.unit + n for n in blocks] or [at[0]]:
            taken = self.units[block % self.together].take(size, now)
            barrier = self.barriers[block, at[1]]
            self._go_on(barrier, barrier.change(now, 0, 0, size, max(now + BOX, read + L2, taken + L2)))

    def _go_on(self, barrier: MemoryBarrier, warps: list[Warp]) -> None:
        for other in warps:
            self._wake(other, barrier.ended + SEEN)

    def _gather(self, warp: Warp, now: float) -> None:
        """Handles the arrival of a warp at a block barrier, or its end: releases the waiting warps
        if all have arrived."""
        mine = [other for other in self.warps if other.block == warp.block and not other.ended]
        barrier = warp.waiting or 0
        there = [other for other in mine if other.waiting == barrier]
        if there and len(there) >= (barrier // NUMBERED // WARP or len(mine)):
            for other in there:
                other.waiting = None
                self._wake(other, now + RELEASE)

    def _settle(self, now: float) -> None:
        """Begins an iteration of the first warp: if the previous iterations took equal times, skips
        most of the remaining ones."""
        running = [warp for warp in self.warps if not warp.ended]
        here = [warp.repeats.at(warp.at) for warp in running]
        head = here[0].head if here[0] is not None else None
        if head is None or any(one is None or one.head != head for one in here):
            self.history.clear()
            self.warm = now + WARM
        if now < self.warm:
            return
        alive = [(warp, one) for warp, one in zip(running, here, strict=True) if one is not None]
        done = sum(warp.at / one.length for warp, one in alive) / len(alive)  # iterations, averaged over warps
        self.history.append((now, done, self.timing.copied()))
        if len(self.history) <= 2 * WINDOW:
            return
        (then, old, since), (before, older, _) = self.history[-1 - WINDOW], self.history[-1 - 2 * WINDOW]
        new, last = (now - then) / (done - old), (then - before) / (old - older)
        if abs(new - last) > SETTLED * new:
            if len(self.history) <= LATEST:
                return
            then, old, since = self.history[WINDOW]
            new = (now - then) / (done - old)
        times = min(one.left for _, one in alive) - WINDOW // 2
        times -= times % (2 * len({place for _, place in self.barriers}) or 1)  # phases keep their parities then
        if times > 0:
            for warp, one in alive:
                warp.at += times * one.length
            self.skipped += new * times
            self.timing.repeat(since, times / (done - old))
        self.history.clear()
