"""Random straight code in which several agents touch one tile of shared memory, as text and as an enumeration.

Agents: ordinary loads and stores, the tensor memory accelerator (loads and stores of the tile), products of a warp group, and
asynchronous copies. Between them there are barriers, fences of the proxy, and waits for what is on its way, some for one thread
alone. An access is over where a thread sees that it is: at the wait for its memory barrier, for its group, or at the product's.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

THREADS = 128
FENCE = "nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}"
Kind = Literal[
    "read", "write", "copy", "load", "store", "product",
    "barrier", "fence", "commit", "wait", "look", "drain", "drain read",
]  # fmt: skip
AGENTS: tuple[Kind, ...] = ("read", "write", "copy", "load", "store", "product")
FIRST = frozenset(("load", "store", "drain", "drain read"))
"""What the first thread does alone."""


@dataclass(frozen=True)
class Step:
    """What happens.

    Args:
        turn: of `read`, `write` and `copy`: whose element is meant, by the thread.
        number: of a `load`, and of a `look` for it: its memory barrier. Of a wait, how many groups may be pending.
        one: of a `look` or a `fence`: the first thread does it alone.
    """

    kind: Kind
    turn: int = 0
    number: int = 0
    one: bool = False

    def text(self, n: int) -> str:
        row = f"%r{n} = affine.apply affine_map<(d0) -> ((d0 + {self.turn}) mod 64)>(%t)"
        column = f"%k{n} = affine.apply affine_map<(d0) -> ((d0 + {self.turn}) mod 128 floordiv 64 * 32)>(%t)"
        at = f"{row}\n{column}\n"
        text = {
            "read": f"{at}%v{n} = memref.load %s[%r{n}, %k{n}] : !tile",
            "write": f"{at}memref.store %x, %s[%r{n}, %k{n}] : !tile",
            "copy": f"{at}%v{n} = nvgpu.device_async_copy %A[%c0, %c0], %s[%r{n}, %k{n}], 8 : memref<64x64xbf16> to !tile",
            "load": f"nvgpu.mbarrier.arrive.expect_tx %bars[%c{self.number}], %bytes : !bars\n"
                    f"nvgpu.tma.async.load %map[%c0, %c0], %bars[%c{self.number}] to %s : !map, !bars -> !tile",
            "store": "nvgpu.tma.async.store %s to %to[%c0, %c0] : !tile -> !map\nnvvm.cp.async.bulk.commit.group",
            "product": f"%d{n} = nvgpu.warpgroup.generate.descriptor %s, %map : !tile, !map -> !matrix\n"
                       f"%z{n} = nvgpu.warpgroup.mma.init.accumulator -> !sums\n"
                       f"%p{n} = nvgpu.warpgroup.mma %d{n}, %d{n}, %z{n} {{transposeB, waitGroup = 0 : i64}}"
                       " : !matrix, !matrix, !sums -> !sums",
            "barrier": "gpu.barrier", "fence": FENCE, "commit": f"%g{n} = nvgpu.device_async_create_group {{}}",
            "wait": f"nvgpu.device_async_wait %token {{numGroups = {self.number} : i32}}",
            "look": f"nvgpu.mbarrier.try_wait.parity %bars[%c{self.number}], %even, %ticks : !bars",
            "drain": f"nvvm.cp.async.bulk.wait_group {self.number}",
            "drain read": f"nvvm.cp.async.bulk.wait_group {self.number} {{read}}",
        }[self.kind]  # fmt: skip
        return f"scf.if %first {{\n{text}\n}}" if self.kind in FIRST or self.one else text


@dataclass(eq=False)
class Reach:
    """An access of a part of memory: `seen`: what its agent knows of where each thread is, and of which accesses are over, when it
    begins. `number`: its own, or, of an ordinary one, how far its thread is."""

    memory: str
    element: int | None
    kind: str
    writes: bool
    agent: object
    number: int
    seen: dict[object, int]
    fences: list[int] = field(default_factory=list)
    late: bool = False
    proxy: bool = False

    def before(self, other: Reach) -> bool:
        known = other.seen.get(self.agent, -1)
        if known < self.number:
            return False
        if self.writes and other.proxy and not self.proxy:  # where it is over, a fence has to come, of its thread
            thread = self.agent[0] if isinstance(self.agent, tuple) else self.agent
            over = self.fences
            return any(other.seen.get(thread, -1) >= fence for fence in over)
        return True


@dataclass
class Kernel:
    """Straight code. With memory barriers, or with copies."""

    steps: list[Step]

    def text(self) -> str:
        numbers = "\n".join(f"%c{n} = arith.constant {n} : index" for n in range(4))
        loads = [step for step in self.steps if step.kind == "load"]
        inits = "\n".join(f"nvgpu.mbarrier.init %bars[%c{step.number}], %c1 : !bars" for step in loads)
        bars = f"""%bars = nvgpu.mbarrier.create -> !bars
scf.if %first {{
{inits}
nvvm.fence.mbarrier.init
}}
gpu.barrier""" if loads else ""  # fmt: skip
        body = "\n".join(step.text(n) for n, step in enumerate(self.steps))
        return f"""
!tile = memref<64x64xbf16, #gpu.address_space<workgroup>>
!map = !nvgpu.tensormap.descriptor<tensor = !tile, swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none>
!sums = !nvgpu.warpgroup.accumulator<fragmented = vector<64x64xf32>>
!matrix = !nvgpu.warpgroup.descriptor<tensor = !tile>
!bars = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
module {{ gpu.module @kernels {{
  gpu.func @f(%A: memref<64x64xbf16>, %map: !map, %to: !map) workgroup(%s: !tile {{weft.name = "s"}}) kernel
      attributes {{known_block_size = array<i32: {THREADS}, 1, 1>, known_grid_size = array<i32: 1, 1, 1>}} {{
{numbers}
%x = arith.constant 1.0 : bf16
%bytes = arith.constant 8192 : index
%ticks = arith.constant 1000 : index
%even = arith.constant false
%t = gpu.thread_id x
%first = arith.cmpi eq, %t, %c0 : index
%token = nvgpu.device_async_create_group {{}}
{bars}
{body}
gpu.return
  }}
}} }}"""

    def events(self) -> list[Reach]:
        """All accesses; threads and accesses on their way are agents, of which others know how far they are."""
        seen: list[dict[object, int]] = [{} for _ in range(THREADS)]
        out: list[Reach] = []
        pending: list[list[Reach]] = [[] for _ in range(THREADS)]  # copies of no group yet
        groups: list[list[list[Reach]]] = [[[]] for _ in range(THREADS)]
        stores: list[tuple[Reach, Reach]] = []
        loads: dict[int, tuple[Reach, dict[object, int]]] = {}
        fences: list[list[int]] = [[] for _ in range(THREADS)]
        waited: list[tuple[Reach, int, int]] = []
        written: list[tuple[Reach, int, int]] = []
        for now, step in enumerate(self.steps):
            for t in range(THREADS):
                seen[t] = {**seen[t], t: now - 1}
            who = (0,) if step.kind in FIRST or step.one else range(THREADS)
            match step.kind:
                case "read" | "write":
                    for t in who:
                        made = Reach("s", (t + step.turn) % THREADS * 32, "plain", step.kind == "write", t, now, seen[t])
                        out.append(made)
                        written.append((made, t, now))
                case "copy":
                    for t in who:
                        made = Reach("s", (t + step.turn) % THREADS * 32, "copy", True, (t, now), 0, seen[t], late=True)
                        out.append(made)
                        pending[t].append(made)
                case "commit":
                    for t in who:
                        groups[t].append(pending[t])
                        pending[t] = []
                case "wait":
                    for t in who:
                        for group in groups[t][: max(0, len(groups[t]) - step.number)]:
                            for copy in group:
                                if copy.agent not in seen[t]:
                                    seen[t] = {**seen[t], copy.agent: 0}
                                    waited.append((copy, t, now))
                case "load":
                    made = Reach("s", None, "load", True, ("load", now), 0, {**seen[0]}, late=True, proxy=True)
                    out.append(made)
                    loads[step.number] = made, {**seen[0], 0: now - 1}
                case "look":
                    if step.number in loads:
                        made, told = loads[step.number]
                        for t in who:
                            seen[t] = _merged(seen[t], told, {made.agent: 0})
                case "store":
                    read = Reach("s", None, "store", False, ("store", now), 0, seen[0], late=True, proxy=True)
                    write = Reach("to", None, "store", True, ("stored", now), 0, seen[0], late=True, proxy=True)
                    out += [read, write]
                    stores.append((read, write))
                case "drain" | "drain read":
                    for read, write in stores[: max(0, len(stores) - step.number)]:
                        over = {read.agent: 0} | ({write.agent: 0} if step.kind == "drain" else {})
                        seen[0] = {**seen[0], **over}
                case "product":
                    common = {agent: min(s.get(agent, -1) for s in seen) for agent in seen[0]}
                    made = Reach("s", None, "product", False, ("product", now), 0, common, late=True, proxy=True)
                    out.append(made)
                    seen = [{**s, made.agent: 0} for s in seen]
                case "barrier":
                    every = _merged(*seen)
                    seen = [every for _ in seen]
                case "fence":
                    for t in who:
                        fences[t].append(now)
        for made, t, over in (*written, *waited):
            made.fences = [fence for fence in fences[t] if fence > over]
        return out

    def racy(self) -> bool:
        """Whether two of them conflict."""
        events = self.events()
        return any(
            (a.writes or b.writes) and a.memory == b.memory and _one_element(a, b) and not a.before(b) and not b.before(a)
            for n, a in enumerate(events) for b in events[n + 1 :]
        )  # fmt: skip


def _merged(*some: dict[object, int]) -> dict[object, int]:
    out: dict[object, int] = {}
    for each in some:
        for agent, number in each.items():
            out[agent] = max(out.get(agent, -1), number)
    return out


def _one_element(a: Reach, b: Reach) -> bool:
    """A copy has eight of a row."""
    if a.element is None or b.element is None:
        return True
    return a.element == b.element


def random_agents(seed: int) -> Kernel:
    """Two to four accesses, and what is between."""
    draw = random.Random(seed)
    copies = draw.random() < 0.4
    agents: list[Kind] = [kind for kind in AGENTS if kind != ("load" if copies else "copy")]
    steps: list[Step] = []
    loads = 0
    for _ in range(draw.choice([2, 2, 3, 3, 4])):
        kind = draw.choice(agents)
        if kind == "load" and loads == 4:
            continue
        turn = draw.choice([0, 0, 0, 1])
        steps.append(Step(kind, turn, loads if kind == "load" else 0))
        loads += kind == "load"
        steps += _between(draw, kind, loads, copies)
    return Kernel(steps)


def _between(draw: random.Random, kind: Kind, loads: int, copies: bool) -> list[Step]:
    """What orders an access before the next one, mostly less than that."""
    look: Callable[[], Step] = lambda: Step("look", number=draw.randrange(loads), one=draw.random() < 0.3)  # noqa: E731
    own: dict[Kind, list[Step]] = {
        "write": [Step("fence", one=draw.random() < 0.1)], "read": [], "product": [],
        "copy": [Step("commit"), Step("wait", number=draw.choice([0, 0, 0, 1])), *([Step("fence")] if draw.random() < 0.6 else [])],
        "load": [Step("look", number=max(loads - 1, 0), one=draw.random() < 0.3)],
        "store": [Step(draw.choice(["drain", "drain read"]), number=draw.choice([0, 0, 0, 1]))],
    }  # fmt: skip
    found = [step for step in own.get(kind, []) if draw.random() < 0.85]
    found += [Step("barrier")] if draw.random() < 0.75 else []
    if draw.random() < 0.3:
        extra = [Step("barrier"), Step("fence"), *([look()] if loads else []), *([Step("commit"), Step("wait")] if copies else [])]
        found.insert(draw.randint(0, len(found)), draw.choice(extra))
    return found
