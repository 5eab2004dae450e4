"""Small random kernels with asynchronous copies, as text and as what each thread does."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import Literal

THREADS = 4


@dataclass(frozen=True)
class Step:
    """One op of the prologue, of the loop's body, or behind it.

    Args:
        stage: which buffer of the ring, beside the iteration.
        turn: of the thread whose element is meant.
        pending: of a wait.
        until: only that many iterations from the end on not (of a copy in the loop).
    """

    kind: Literal["copy", "read", "write", "commit", "wait", "barrier"]
    stage: int = 0
    turn: int = 0
    pending: int = 0
    until: int = 0


@dataclass(frozen=True)
class Event:
    """What a thread does to an element of the ring: from when to when, in barriers passed and in its own steps."""

    thread: int
    element: tuple[int, int]
    writes: bool
    begin: tuple[int, int]
    end: tuple[int, int] | None

    def before(self, other: Event) -> bool:
        """Whether it is over when the other one begins, whatever the threads' pace."""
        if self.end is None:
            return False
        own = self.thread == other.thread
        return self.end[1] < other.begin[1] if own else self.end[0] < other.begin[0]


@dataclass
class Ring:
    """A loop, what stands in front of it and behind it; with `laps`, it and its `head` are in a loop of so many."""

    stages: int
    trips: int
    prologue: list[Step] = field(default_factory=list)
    body: list[Step] = field(default_factory=list)
    epilogue: list[Step] = field(default_factory=list)
    laps: int = 0
    head: list[Step] = field(default_factory=list)

    # ---- as text --------------------------------------------------------------------------------------------------------

    def text(self) -> str:
        lines = [line for step in self.prologue for line in self._op(step, "%c0")]
        lap = [line for step in self.head for line in self._op(step, "%c0")]
        lap.append("scf.for %i = %c0 to %trips step %c1 {")
        lap += [f"  {line}" for step in self.body for line in self._op(step, "%i")]
        lap.append("}")
        lines += ["scf.for %lap = %c0 to %laps step %c1 {", *lap, "}"] if self.laps else lap
        lines += [line for step in self.epilogue for line in self._op(step, "%c0")]
        body = "\n      ".join(lines)
        return f"""
module attributes {{gpu.container_module}} {{
  gpu.module @m {{
    gpu.func @ring(%src: memref<1024xf32>, %out: memref<{THREADS}xf32>)
        workgroup(%s: memref<{self.stages}x{THREADS}xf32, #gpu.address_space<workgroup>>) kernel
        attributes {{known_block_size = array<i32: {THREADS}, 1, 1>, known_grid_size = array<i32: 1, 1, 1>}} {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %trips = arith.constant {self.trips} : index
      %laps = arith.constant {self.laps} : index
      %x = arith.constant 1.0 : f32
      %t = gpu.thread_id x
      %g = nvgpu.device_async_create_group {{all}}
      {body}
      gpu.return
    }}
  }}
}}"""

    def _op(self, step: Step, i: str) -> list[str]:
        kind = f"memref<{self.stages}x{THREADS}xf32, #gpu.address_space<workgroup>>"
        at = [
            f"%r = affine.apply affine_map<(d0) -> ((d0 + {step.stage}) mod {self.stages})>({i})",
            f"%e = affine.apply affine_map<(d0) -> ((d0 + {step.turn}) mod {THREADS})>(%t)",
        ]
        match step.kind:
            case "copy":
                moved = [*at, f"%n = nvgpu.device_async_copy %src[%t], %s[%r, %e], 1 : memref<1024xf32> to {kind}"]
                last = f"%last = arith.constant {self.trips - step.until} : index"
                guarded = [last, f"%in = arith.cmpi slt, {i}, %last : index", "scf.if %in {", *moved, "}"]
                return ["scf.execute_region {", *(guarded if step.until else moved), "scf.yield", "}"]
            case "read":
                return ["scf.execute_region {", *at, f"%v = memref.load %s[%r, %e] : {kind}",
                        f"memref.store %v, %out[%t] : memref<{THREADS}xf32>", "scf.yield", "}"]  # fmt: skip
            case "write":
                return ["scf.execute_region {", *at, f"memref.store %x, %s[%r, %e] : {kind}", "scf.yield", "}"]
            case "commit":
                return ["nvgpu.device_async_create_group {all}"]
            case "wait":
                return [f"nvgpu.device_async_wait %g {{numGroups = {step.pending} : i32}}"]
            case "barrier":
                return ["gpu.barrier"]

    # ---- as what happens ------------------------------------------------------------------------------------------------

    def _steps(self) -> Iterator[tuple[Step, int]]:
        yield from ((step, 0) for step in self.prologue)
        for _ in range(self.laps or 1):
            yield from ((step, 0) for step in self.head)
            for i in range(self.trips):
                yield from ((step, i) for step in self.body)
        yield from ((step, 0) for step in self.epilogue)

    def events(self) -> list[Event]:
        """Of all threads."""
        found: list[Event] = []
        steps = list(self._steps())
        for thread in range(THREADS):
            epoch = 0
            groups = 1  # the one of the text's first line
            flying: list[tuple[int, tuple[int, int], tuple[int, int]]] = []
            for now, (step, i) in enumerate(steps):
                element = (i + step.stage) % self.stages, (thread + step.turn) % THREADS
                here = epoch, now
                match step.kind:
                    case "barrier":
                        epoch += 1
                    case "commit":
                        groups += 1
                    case "wait":
                        over = [f for f in flying if f[0] <= groups - 1 - step.pending]
                        found += [Event(thread, element, True, begin, here) for _, begin, element in over]
                        flying = [f for f in flying if f not in over]
                    case "copy":
                        if not step.until or i < self.trips - step.until:
                            flying.append((groups, here, element))
                    case _:
                        found.append(Event(thread, element, step.kind == "write", here, here))
            found += [Event(thread, element, True, begin, None) for _, begin, element in flying]
        return found

    def conflicts(self) -> bool:
        """Whether two of them touch one element, at least one writes it, and neither is over when the other begins."""
        return any(
            a.element == b.element and (a.writes or b.writes) and not a.before(b) and not b.before(a)
            for a, b in combinations(self.events(), 2)
        )


def random_ring(seed: int) -> Ring:
    """A pipelined loop as it should be, and mostly one thing in it that should not be."""
    draw = random.Random(seed)
    stages = draw.choice([2, 3, 4])
    ring = Ring(stages, draw.choice([1, 2, 3, 5, 6]))
    ahead = stages - 1
    for stage in range(ahead):
        if stage < ring.trips:
            ring.prologue.append(Step("copy", stage))
        ring.prologue.append(Step("commit"))
    shift = draw.choice([0, 1, 3])
    ring.body = [Step("wait", pending=ahead - 1), Step("barrier"), Step("copy", ahead, until=ahead), Step("commit"),
                 Step("read", 0, shift)]  # fmt: skip
    for _ in range(draw.choice([0, 1, 1, 1, 2])):
        _spoil(ring, draw)
    return ring


def random_laps(seed: int) -> Ring:
    """Copies that the next lap waits for, mostly with one thing in it that should not be."""
    draw = random.Random(seed)
    stages = draw.choice([1, 1, 2, 3])
    ring = Ring(stages, draw.choice([1, 2, 3, 5]), laps=draw.choice([1, 2, 3]))
    ring.head = [Step("wait")] * (stages > 1 or draw.random() < 0.3)
    ring.body = [Step("wait", pending=stages - 1), Step("barrier"), Step("copy"), Step("commit")]
    ring.epilogue = [Step("wait"), Step("barrier"), Step("read", 0, 1)]
    for _ in range(draw.choice([0, 1, 1, 1, 2])):
        if draw.random() < 0.4:
            ring.head = [] if ring.head else [Step(draw.choice(["read", "write", "barrier"]), draw.randrange(3), draw.randrange(2))]
        else:
            _spoil(ring, draw)
    return ring


def _spoil(ring: Ring, draw: random.Random) -> None:
    part = draw.choice([ring.body, ring.body, ring.body, ring.prologue, ring.epilogue])
    match draw.randrange(7):
        case 0 if part:
            del part[draw.randrange(len(part))]
        case 1 if part:
            one, other = draw.randrange(len(part)), draw.randrange(len(part))
            part[one], part[other] = part[other], part[one]
        case 2:
            ring.body = [Step("wait", pending=max(0, s.pending + draw.choice([-1, 1]))) if s.kind == "wait" else s
                         for s in ring.body]  # fmt: skip
        case 3:
            part.insert(draw.randint(0, len(part)), Step("barrier"))
        case 4:
            use = Step(draw.choice(["read", "write"]), draw.randrange(ring.stages), draw.randrange(THREADS))
            part.insert(draw.randint(0, len(part)), use)
        case 5:
            ring.epilogue += [Step("wait"), *([Step("barrier")] if draw.random() < 0.5 else []), Step("write", draw.randrange(4))]
        case _:
            ring.stages = max(1, ring.stages + draw.choice([-1, -1, 1]))
