"""Random schedules for random payloads: which ops are fused, what is tiled, and who does it. Up to three maps nested in each other,
over blocks, grids, threads along one to three axes, warps, lanes, every thread; fewer and more processors than iterations.

A launch has one team: threads of a shape, or warps. Each of its ops is tiled and mapped for itself, so that what one fills under
one map is read under another. Random, but not blind: without a word for the distribution an iteration needs a processor, an axis is
taken once in a nest, and a reduction is tiled before it is mapped; nearly everything is legal then.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field

from chain_parts import Op
from random_chains import payload

DISTRIBUTIONS = ("block", "cyclic", "cyclic", "block-cyclic(2)", "block-cyclic(3)")
COUNTS = (1, 2, 3, 4, 5, 7, 8, 16, 32)


@dataclass
class Team:
    """The threads of a block. `warps`: how many, where they are named so; else `counts` of threads along x, y, z."""

    warps: int | None
    counts: dict[str, int]
    symbolic: bool = False

    @classmethod
    def choose(cls, r: random.Random) -> Team:
        if r.random() < 0.4:
            return cls(r.choice([1, 2, 2, 3, 4]), {})
        counts = {axis: r.choice(COUNTS) for axis in "xyz"[: r.choice([1, 2, 2, 3])]}
        while math.prod(counts.values()) > 256:
            counts[r.choice(list(counts))] = 2
        return cls(None, counts, r.random() < 0.04)

    def levels(self, r: random.Random) -> list[str]:
        """What the maps of a nest take, outermost first: `warps`, `lanes`, or some of the axes each."""
        if self.warps is not None:
            return r.choice([["warps", "lanes"], ["warps", "lanes"], ["warps", "lanes"], ["warps"], ["lanes"]])
        axes = r.sample(sorted(self.counts), len(self.counts))
        groups: list[str] = []
        while axes:
            size = r.randint(1, len(axes))
            groups.append("".join(axes[:size]))
            axes = axes[size:]
        return groups[: r.randint(1, len(groups))] if r.random() < 0.3 else groups

    def space(self, r: random.Random, level: str, trips: list[int], known: bool) -> str:
        """The processors of a level for a loop (or op) with so many iterations, and which iterations each of them does. `known`:
        it has just as many."""
        if level == "lanes":
            return "lanes" + distribution(r, trips, [32])
        if level == "warps":
            counts = [self.warps or 1] if len(trips) == 1 else [1, self.warps or 1]
            axes = ["x"] if len(trips) == 1 else ["y", "x"]
            if known and counts == trips and r.random() < 0.5:
                return f"warps({', '.join(axes)})"
            return f"warps({named(axes, counts)})" + distribution(r, trips, counts)
        counts = [self.counts[axis] for axis in level]
        if self.symbolic:
            return f"threads({named(list(level), ['?'] * len(level))}) {r.choice(DISTRIBUTIONS)}"
        if known and counts == trips and r.random() < 0.5:
            return f"threads({', '.join(level)})"
        return f"threads({named(list(level), counts)})" + distribution(r, trips, counts)


def named(axes: list[str], counts: list[int] | list[str]) -> str:
    return ", ".join(f"{axis}: {count}" for axis, count in zip(axes, counts, strict=True))


def distribution(r: random.Random, trips: list[int], counts: list[int]) -> str:
    """A word for it; none where each iteration has a processor, sometimes."""
    fit = all(n <= p for n, p in zip(trips, counts, strict=True))
    return "" if fit and r.random() < 0.6 else f" {r.choice(DISTRIBUTIONS)}"


def width(level: str) -> int:
    """How many dimensions a level's loop has."""
    return 1 if level in ("warps", "lanes") else len(level)


@dataclass
class Schedule:
    r: random.Random
    lines: list[str] = field(default_factory=list)
    number: int = 0

    def fresh(self, stem: str) -> str:
        self.number += 1
        return f"{stem}{self.number}"

    def tile(self, handle: str, extents: list[int], dimensions: list[int], deep: bool) -> tuple[str, str, list[int]]:
        """Tile some dimensions of an op; the loop, the op inside, and its extents then. `deep`: leave something to tile again."""
        sizes = list(extents)
        for d in dimensions:
            least = -(-extents[d] // 4) if deep else 1
            sizes[d] = self.r.choice([1, 2, 3, 4, least, extents[d], max(extents[d] // 2, 1)])
            sizes[d] = max(sizes[d], -(-extents[d] // 40))  # no thousands of iterations
        loops, inner = self.fresh("loop"), self.fresh("op")
        spelled = ", ".join(str(sizes[d]) if d in dimensions else "_" for d in range(len(extents)))
        self.lines.append(f"let ({loops}, {inner}) = tile {handle} [{spelled}]")
        return loops, inner, sizes

    def map(self, handle: str, space: str) -> None:
        self.lines.append(f"map {handle} to {space}")

    def place(
        self, handle: str, extents: list[int], reduced: tuple[int, ...], team: Team, known: bool, levels: list[str] | None = None
    ) -> list[tuple[str, list[str]]]:
        """Distribute an op over the team: tiled and mapped level by level, the last level perhaps as the op itself; its loops, with
        the levels that are left inside. `known`: its extents are those; they may be smaller, where it was fused."""
        r, loops = self.r, []
        levels = team.levels(r) if levels is None else levels
        parallel = [d for d in range(len(extents)) if d not in reduced]
        for number, level in enumerate(levels):
            last = number == len(levels) - 1
            if last and not reduced and r.random() < 0.6 and width(level) in (1, len(extents)):
                trips = extents if width(level) == len(extents) else [math.prod(extents)]
                self.map(handle, team.space(r, level, trips, known))
                return loops
            if not parallel:
                break
            count = 2 if level == "warps" and len(parallel) > 1 and r.random() < 0.2 else width(level)
            if count > len(parallel):
                level, count = level[:1], 1
            before = extents
            chosen = sorted(r.sample(parallel, count))
            loop, handle, extents = self.tile(handle, extents, chosen, not last)
            self.map(loop, team.space(r, level, [-(-before[d] // extents[d]) for d in chosen], known))
            loops.append((loop, levels[number + 1 :]))
        return loops


def schedule(r: random.Random, ops: list[Op]) -> str:
    """The body of a schedule for the ops, which are a chain."""
    s = Schedule(r)
    names: list[str] = []
    fills: dict[int, str] = {}
    for number, op in enumerate(ops):
        names.append(f"e{number}")
        s.lines.append(f"let e{number} = match {op.match}")
        if op.fill is not None:
            fills[number] = f"z{number}"
            s.lines.append(f"let z{number} = match {op.fill}")
    roots: list[str] = []
    last = len(ops) - 1
    while last >= 0:
        first = last
        while first > 0 and r.random() < 0.7:
            first -= 1
        roots.insert(0, launch(s, ops, names, fills, first, last))
        last = first - 1
    s.lines.append("insert-barriers")
    if r.random() < 0.5:
        s.lines.append("verify-sync")
    return "\n".join([*s.lines, *(f"launch {root}" for root in roots)])


def launch(s: Schedule, ops: list[Op], names: list[str], fills: dict[int, str], first: int, last: int) -> str:
    """A kernel of the ops first … last: the last is tiled for blocks, the others are fused; the handle of what is launched."""
    r, op, root = s.r, ops[last], names[last]
    extents, axes = list(op.space), r.sample("xyz", 3)
    if not op.parallel:  # one number: one processor makes it
        s.map(root, r.choice(["grid(x: 1)", "threads(x: 1)"]))
        return root
    if not op.reduced and first == last and last not in fills and r.random() < 0.15:  # elements to the processors of a grid
        rank = len(extents) if len(extents) <= 3 and r.random() < 0.5 else 1
        counts = ["?" if r.random() < 0.2 else str(r.choice([1, 3, 8, 40])) for _ in range(rank)]
        how = "cyclic" if "?" in counts else r.choice(DISTRIBUTIONS)
        s.map(root, f"grid({', '.join(axes[:rank])})" if r.random() < 0.5 else f"grid({named(axes[:rank], counts)}) {how}")
        return root
    chosen = sorted(r.sample(op.parallel, r.randint(1, min(2, len(op.parallel)))))
    tiles, inner, small = s.tile(root, extents, chosen, True)
    for other in range(last - 1, first - 1, -1):
        s.lines.append(f"fuse {names[other]} into {tiles}")
    for other in range(first, last + 1):
        if other in fills:
            s.lines.append(f"fuse {fills[other]} into {tiles}")
    if r.random() < 0.75:
        s.map(tiles, f"blocks({', '.join(axes[: len(chosen)])})")
    else:
        counts = [r.choice(["?", "1", "2", "5"]) for _ in chosen]
        s.map(tiles, f"blocks({named(axes[: len(chosen)], counts)}) " + ("cyclic" if "?" in counts else r.choice(DISTRIBUTIONS)))
    team = Team.choose(r)
    if op.reduced and r.random() < 0.6:  # step by step, operands perhaps in shared memory
        (axis,) = op.reduced
        _, inner, small = s.tile(inner, small, [axis], True)
        if r.random() < 0.4:
            stage(s, inner, op)
    if last in fills:
        s.place(fills[last], [small[d] for d in op.parallel], (), team, True)
    loops = s.place(inner, small, op.reduced, team, True)
    if any(small[axis] < op.space[axis] for axis in op.reduced):
        loops = []  # the loop over steps stands between
    for other in range(last - 1, first - 1, -1):
        loops = place_fused(s, ops[other], names[other], fills.get(other), team, loops)
    return tiles


def stage(s: Schedule, step: str, op: Op) -> None:
    """The op's first operand goes to shared memory."""
    buffer, copied = s.fresh("shared"), s.fresh("copy")
    operand = "lhs" if "mat" in op.match else "in0"
    how = s.r.choice(["", "", " transpose", " pad 1"])
    s.lines.append(f"let ({buffer}, {copied}) = promote-to-shared {step}.{operand}{how}")
    s.map(copied, f"threads(*) {s.r.choice(DISTRIBUTIONS)}")


def place_fused(
    s: Schedule, op: Op, name: str, fill: str | None, team: Team, loops: list[tuple[str, list[str]]]
) -> list[tuple[str, list[str]]]:
    """An op that is fused into the loop over blocks: distributed for itself, or fused into one of its consumer's `loops` and
    distributed over what is left there; the loops that what it reads may be fused into."""
    r = s.r
    if fill is not None:
        s.map(fill, f"threads(*) {r.choice(DISTRIBUTIONS)}")
    if loops and fill is None and r.random() < 0.5:
        number = r.randrange(len(loops))
        _, left = loops[number]
        if not (op.reduced and left):
            s.lines += [f"fuse {name} into {around}" for around, _ in loops[: number + 1]]
            if left and r.random() < 0.7:
                level = left[0] if left[0] in ("warps", "lanes") else left[0][:1]
                s.map(name, team.space(r, level, [math.prod(op.space)], False))
            elif left:
                return [*loops[: number + 1], *s.place(name, list(op.space), (), team, False, left)]
            return loops[: number + 1]
    if op.reduced or r.random() < 0.6:
        s.place(name, list(op.space), op.reduced, team, False)
    else:
        s.map(name, f"threads(*) {r.choice(DISTRIBUTIONS)}")
    return []


def program(r: random.Random) -> tuple[str, str]:
    """A payload and the body of a schedule for it."""
    text, ops = payload(r)
    return text, schedule(r, ops)
