"""Small random kernels of a thread that loads and of others that read, as text and as what each thread does; and all their runs.

The runs are those of a machine of its own: words of memory barriers that count arrivals and bytes, loads that end at any time, and
threads that go on in any order. Nothing of the proof is used.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

TILE = 32
"""Elements of a stage: 128 bytes, where boxes may begin."""


@dataclass(frozen=True)
class Step:
    """What a thread does: `at` is a barrier (full ones first, then empty ones) or a stage; `amount`: bytes, or a parity."""

    kind: Literal["wait", "expect", "load", "read", "arrive", "block"]
    at: int = 0
    amount: int = 0
    into: int = 0


@dataclass(frozen=True)
class Ring:
    """A ring; each field beside the sizes that is not the default is a mistake, or harmless.

    Args:
        refill, expect, load, into, look, read, release: what is added to the iteration for the number of a barrier or of a stage.
        odd_refill, odd_look: what is added to the parity.
        waits, looks, releases, meets: whether the one that loads waits for empty stages, the others for full ones, and arrive at
            empty ones; whether all meet at a barrier of the block behind each step.
        early: they arrive before they read.
        arrivals, bytes: what is added to the right ones.
        together: the one that loads reads, too, and takes part in what the others do.
    """

    stages: int = 2
    trips: int = 4
    readers: int = 2
    refill: int = 0
    expect: int = 0
    load: int = 0
    into: int = 0
    look: int = 0
    read: int = 0
    release: int = 0
    odd_refill: int = 0
    odd_look: int = 0
    waits: bool = True
    looks: bool = True
    releases: bool = True
    meets: bool = False
    early: bool = False
    arrivals: int = 0
    bytes: int = 0
    together: bool = False

    @property
    def counted(self) -> int:
        """Arrivals that end a phase of an empty stage."""
        return self.readers + self.together + self.arrivals

    # ---- as text --------------------------------------------------------------------------------------------------------

    def text(self) -> str:
        """A module with the kernel."""
        loop = "scf.for %k = %c0 to %trips step %c1 {"
        if self.together:
            body = f"{loop}\nscf.if %first {{\n{self._fill()}\n}}\n{self._use()}\n{self._meet()}\n}}"
        else:
            body = f"scf.if %first {{\n{loop}\n{self._fill()}\n}}\n}} else {{\n{loop}\n{self._use()}\n}}\n}}"
        kind = "!nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = " + f"{self.stages}>"
        numbers = {"c0": 0, "c1": 1, "c2": 2, "S": self.stages, "trips": self.trips, "count": max(self.counted, 0), "ticks": 1000,
                   "bytes": 4 * TILE + self.bytes}  # fmt: skip
        constants = "\n".join(f"%{name} = arith.constant {n} : index" for name, n in numbers.items())
        return f"""
!bars = {kind}
!map = !nvgpu.tensormap.descriptor<tensor = memref<{TILE}xf32, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
gpu.module @m {{
  gpu.func @f(%map: !map, %out: memref<{self.trips}x{self.readers + 1}xf32>) workgroup(%buf: memref<{self.stages}x{TILE}xf32, 3>)
      kernel attributes {{known_block_size = array<i32: {self.readers + 1}, 1, 1>, known_grid_size = array<i32: 1, 1, 1>}} {{
    {constants}
    %t = gpu.thread_id x
    %full = nvgpu.mbarrier.create -> !bars
    %empty = nvgpu.mbarrier.create -> !bars
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {{
      scf.for %i = %c0 to %S step %c1 {{
        nvgpu.mbarrier.init %full[%i], %c1 : !bars
        nvgpu.mbarrier.init %empty[%i], %count : !bars
      }}
      nvvm.fence.mbarrier.init
    }}
    gpu.barrier
    {body}
    gpu.return
  }}
}}
"""

    def _number(self, name: str, shift: int) -> str:
        return f"""%{name}_d = arith.constant {shift} : index
%{name}_k = arith.addi %k, %{name}_d : index
%{name} = arith.remui %{name}_k, %S : index"""

    def _wait(self, group: str, name: str, shift: int, odd: int) -> str:
        return f"""{self._number(name, shift)}
%{name}_lap = arith.divui %{name}_k, %S : index
%{name}_o = arith.constant {odd} : index
%{name}_n = arith.addi %{name}_lap, %{name}_o : index
%{name}_p = arith.remui %{name}_n, %c2 : index
%{name}_q = arith.cmpi ne, %{name}_p, %c0 : index
nvgpu.mbarrier.try_wait.parity %{group}[%{name}], %{name}_q, %ticks : !bars"""

    def _fill(self) -> str:
        wait = self._wait("empty", "w", self.refill, 1 + self.odd_refill) if self.waits else ""
        return f"""{wait}
{self._number("e", self.expect)}
nvgpu.mbarrier.arrive.expect_tx %full[%e], %bytes : !bars
{self._number("l", self.load)}
{self._number("b", self.into)}
%tile = memref.subview %buf[%b, 0] [1, {TILE}] [1, 1] : memref<{self.stages}x{TILE}xf32, 3>
  to memref<{TILE}xf32, strided<[1], offset: ?>, 3>
nvgpu.tma.async.load %map[%k], %full[%l] to %tile : !map, !bars -> memref<{TILE}xf32, strided<[1], offset: ?>, 3>"""

    def _use(self) -> str:
        look = self._wait("full", "u", self.look, self.odd_look) if self.looks else ""
        read = f"""{self._number("r", self.read)}
%v = memref.load %buf[%r, %c0] : memref<{self.stages}x{TILE}xf32, 3>
memref.store %v, %out[%k, %t] : memref<{self.trips}x{self.readers + 1}xf32>"""
        arrive = f"""{self._number("a", self.release)}
%token = nvgpu.mbarrier.arrive %empty[%a] : !bars -> !nvgpu.mbarrier.token"""
        arrive = arrive if self.releases else ""
        return "\n".join((look, arrive, read) if self.early else (look, read, arrive))

    def _meet(self) -> str:
        return "gpu.barrier" if self.meets else ""

    # ---- as what threads do -----------------------------------------------------------------------------------------------

    def threads(self) -> list[list[Step]]:
        """The steps of each."""
        fill = [[*self._fills(k)] for k in range(self.trips)]
        use = [[*self._uses(k)] for k in range(self.trips)]
        meet = [Step("block")] if self.meets and self.together else []
        first = [s for k in range(self.trips) for s in (*fill[k], *((*use[k], *meet) if self.together else ()))]
        others = [s for k in range(self.trips) for s in (*use[k], *meet)]
        return [first, *([others] * self.readers)]

    def _fills(self, k: int) -> Iterator[Step]:
        n = self.stages
        if self.waits:
            yield Step("wait", n + (k + self.refill) % n, ((k + self.refill) // n + 1 + self.odd_refill) % 2)
        yield Step("expect", (k + self.expect) % n, 4 * TILE + self.bytes)
        yield Step("load", (k + self.load) % n, 4 * TILE, (k + self.into) % n)

    def _uses(self, k: int) -> Iterator[Step]:
        n = self.stages
        if self.looks:
            yield Step("wait", (k + self.look) % n, ((k + self.look) // n + self.odd_look) % 2)
        read, arrive = Step("read", (k + self.read) % n), Step("arrive", n + (k + self.release) % n)
        yield from [read, arrive][: 1 + self.releases] if not self.early else [arrive, read][not self.releases :]


def rings(r: random.Random) -> Ring:
    """A random one: right, or with one or two mistakes."""
    together = r.random() < 0.3
    right = Ring(stages=r.randint(1, 3), trips=r.randint(1, 5), readers=r.randint(1, 2), together=together)
    if together:
        right = Ring(right.stages, right.trips, right.readers, waits=False, releases=False, meets=True, together=True)
    changes: dict[str, object] = {}
    for _ in range(r.choice((0, 1, 1, 2))):
        name = r.choice(["refill", "expect", "load", "into", "look", "read", "release", "odd_refill", "odd_look", "waits", "looks",
                         "releases", "meets", "early", "arrivals", "bytes"])  # fmt: skip
        if name in ("waits", "looks", "releases", "meets", "early"):
            changes[name] = not getattr(right, name)
        elif name in ("arrivals", "bytes"):
            changes[name] = r.choice((-1, 1)) * (1 if name == "arrivals" else 4 * TILE)
        else:
            changes[name] = 1
    found = Ring(**{**vars(right), **changes})
    return found if found.counted > 0 else right


Words = tuple[tuple[int, int, int], ...]


# ---- runs ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class State:
    """Where threads are; phase, arrivals and bytes missing of each barrier; loads under way; stages that were filled."""

    at: tuple[int, ...]
    words: Words
    loads: frozenset[tuple[int, int, int, int]] = frozenset()
    filled: frozenset[int] = frozenset()


class Machine:
    """All runs of a ring. `faults`: what goes wrong in one of them."""

    def __init__(self, ring: Ring, most: int = 60_000) -> None:
        self.threads = ring.threads()
        self.counts = [1] * ring.stages + [ring.counted] * ring.stages
        self.faults: set[str] = set()
        self.phases: dict[tuple[int, int], int] = {}
        start = State((0,) * len(self.threads), tuple((0, n, 0) for n in self.counts))
        seen, waiting = {start}, [start]
        while waiting and len(seen) < most:
            state = waiting.pop()
            for found in self._next(state):
                if found not in seen:
                    seen.add(found)
                    waiting.append(found)
        self.complete = not waiting

    def _step(self, state: State, thread: int) -> Step | None:
        steps = self.threads[thread]
        return steps[state.at[thread]] if state.at[thread] < len(steps) else None

    def _next(self, state: State) -> Iterator[State]:
        steps = [self._step(state, n) for n in range(len(self.threads))]
        self._meetings(state, steps)
        moved = False
        if all(s is not None and s.kind == "block" for s in steps):
            moved = True
            yield State(tuple(n + 1 for n in state.at), state.words, state.loads, state.filled)
        for thread, step in enumerate(steps):
            if step is not None and step.kind != "block" and (found := self._done(state, thread, step)) is not None:
                moved = True
                yield found
        for load in state.loads:
            moved = True
            _, bar, into, size = load
            self._saw(("load", *load[:2]), state.words[bar][0])
            words = self._settled(state.words, bar, 0, -size)
            yield State(state.at, words, state.loads - {load}, state.filled | {into})
        if not moved and any(s is not None for s in steps):
            self.faults.add("deadlock")
        if all(s is None for s in steps) and state.loads:
            self.faults.add("a load under way at the end")

    def _meetings(self, state: State, steps: list[Step | None]) -> None:
        """Two that touch one stage at once."""
        under_way = {load[2] for load in state.loads}
        reads = {s.at for s in steps if s is not None and s.kind == "read"}
        begins = {s.into for s in steps if s is not None and s.kind == "load"}
        if under_way & (reads | begins) or reads & begins:
            self.faults.add("conflict")
        if reads - state.filled - under_way:
            self.faults.add("unwritten")

    def _done(self, state: State, thread: int, step: Step) -> State | None:
        at = tuple(n + (i == thread) for i, n in enumerate(state.at))
        words, here = state.words, (thread, state.at[thread])
        if step.kind == "wait":
            phase = words[step.at][0]
            if phase % 2 == step.amount:
                return None
            self._saw(here, phase)
        elif step.kind in ("arrive", "expect"):
            self._saw(here, words[step.at][0])
            words = self._settled(words, step.at, 1, step.amount if step.kind == "expect" else 0)
        elif step.kind == "load":
            return State(at, words, state.loads | {(state.at[thread], step.at, step.into, step.amount)}, state.filled)
        return State(at, words, state.loads, state.filled)

    def _saw(self, who: tuple[object, ...], phase: int) -> None:
        """One op is of one phase, in all runs."""
        if self.phases.setdefault(who, phase) != phase:  # type: ignore[arg-type]
            self.faults.add("another phase")

    def _settled(self, words: Words, bar: int, arrived: int, size: int) -> Words:
        phase, missing, size_left = words[bar]
        missing, size_left = missing - arrived, size_left + size
        if missing == 0 and size_left == 0:
            phase, missing = phase + 1, self.counts[bar]
        return (*words[:bar], (phase, missing, size_left), *words[bar + 1 :])
