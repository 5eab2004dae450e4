"""Who waits for whom where steps are counted through all tiles: circles of what is in those steps, beside them, and around the
tiles. What is proven for all sizes is right at those that are tried."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from hopper_verdicts import proof
from ring_roles import ONCE, awaited, meet, roles, simulated, steps, thread, tiles, told

CONSUME = [("full1", "empty1"), ("full2", "empty2")]
PRODUCE = [("empty1", "full1"), ("empty2", "full2")]
ONE_RING = tiles(steps(thread(0), CONSUME[0]))
CIRCLES = {
    "two rings, in another order": (
        tiles(steps(thread(0), CONSUME[0]), steps(thread(0), PRODUCE[1])),
        tiles(steps(thread(1), CONSUME[1]), steps(thread(1), PRODUCE[0])),
    ),
    "two rings, of threads that meet between": (
        tiles(steps(thread(0), CONSUME[0]), meet(0), steps(thread(0, 1), PRODUCE[1])),
        tiles(steps(thread(1), CONSUME[1], PRODUCE[0])),
    ),
    "in front of tiles, what is told behind them": (
        ONE_RING + told(thread(0)), awaited(thread(1, 1)) + tiles(meet(1), steps(thread(1), PRODUCE[0]))
    ),
    "in front of tiles, what is told behind them, by way of another group": (
        ONE_RING + told(thread(0)),
        awaited(thread(1, 1), 1) + tiles(meet(1), steps(thread(1), PRODUCE[0])),
        awaited(thread(2)) + told(thread(2), 1),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CIRCLES)
def test_circles_are_found(name: str) -> None:
    """Each wait in steps needs the same step: what leads back is beside them."""
    text = roles(*CIRCLES[name])
    assert proof(text)
    assert all("deadlock" in found for found in simulated(text, 5, 2))


def test_told_behind_tiles_and_awaited_there() -> None:
    text = roles(ONE_RING + told(thread(0)), tiles(meet(1), steps(thread(1), PRODUCE[0])) + awaited(thread(1, 1)))
    assert not proof(text) and not any(simulated(text, 5, 2))


Statement = tuple[str, int, int, list[tuple[str, str]]]
"""What it is, by which warp of its group, of which barrier of one phase, and which turns a step takes."""


@dataclass
class Role:
    """What a warp group does: in front of its tiles, in each of them, and behind them. Without `inside` it has no tiles."""

    group: int
    front: list[Statement]
    inside: list[Statement]
    behind: list[Statement]

    def text(self) -> str:
        front, inside, behind = ("".join(map(self._text, part)) for part in (self.front, self.inside, self.behind))
        return front + (tiles(inside) if inside else "") + behind

    def _text(self, statement: Statement) -> str:
        kind, warp, number, turns = statement
        who = thread(self.group, warp)
        if kind == "meet":
            return meet(self.group)
        return steps(who, *turns) if kind == "steps" else (told if kind == "told" else awaited)(who, number)

    def events(self, warp: int, tiles: int, steps: int) -> Iterator[Event]:
        """What one of its threads does, of the first block of two."""
        done = [(self.front, 0), *((self.inside, turn) for turn in range((tiles + 1) // 2)), (self.behind, 0)]
        for kind, who, number, turns, turn in ((*each, turn) for part, turn in done for each in part):
            if kind == "meet":
                yield "meet", f"meet{self.group}", 0
            elif who == warp and kind == "steps":
                for step in range(turn * steps, (turn + 1) * steps):
                    for waits, arrives in turns:
                        yield "wait", f"{waits} {step % 3}", step // 3 - waits.startswith("empty")
                        yield "arrive", f"{arrives} {step % 3}", 0
            elif who == warp:
                yield ("arrive" if kind == "told" else "wait"), f"once{number}", 0


Event = tuple[str, str, int]


def ends(roles: list[Role], tiles: int, steps: int) -> bool:
    """Whether all threads come to their ends: each by itself, as far as it can."""
    left = [list(role.events(warp, tiles, steps))[::-1] for role in roles for warp in range(2)]
    arrivals: Counter[str] = Counter()
    met = [0] * len(left)
    moved = True
    while moved:
        moved = False
        for number, events in enumerate(left):
            while events:
                kind, barrier, phase = events[-1]
                if kind == "meet":
                    phase, barrier = met[number], f"{barrier} {number ^ 1}"
                    arrivals[f"meet{number // 2} {number}"] = phase + 1
                if kind == "arrive":
                    arrivals[barrier] += 1
                elif arrivals[barrier] <= phase:
                    break
                met[number] += kind == "meet"
                events.pop()
                moved = True
    return not any(left)


def drawn(r: random.Random) -> list[Role]:
    """Two groups that hand on turns of one ring or two, and perhaps a third one; who waits for whom beside that is drawn."""
    groups, rings = r.choice((2, 2, 3)), r.choice((1, 2))
    out = [Role(group, [], [], []) for group in range(groups)]
    for number in range(r.randrange(ONCE + 1)):
        for kind in ("told", "awaited"):
            role = r.choice(out)
            r.choice((role.front, role.behind)).append((kind, r.randrange(2), number, []))
    for role in out:
        for part in (role.front, role.behind):
            part += [("meet", 0, 0, [])] if r.random() < 0.3 else []
            r.shuffle(part)
        turns = [(CONSUME if role.group == n else PRODUCE)[n] for n in range(rings)]
        r.shuffle(turns)
        warp = r.randrange(2)
        loops = [turns] if r.random() < 0.9 else [[turn] for turn in turns]
        if role.group < 2:
            role.inside += [("steps", warp, 0, some) for some in loops]
            for at in (0, len(role.inside)):
                role.inside[at:at] = [("meet", 0, 0, [])] if r.random() < 0.3 else []
    return out


SOAK = "WEFT_SOAK" in os.environ
SIZES = [(5, 2), (1, 1), (2, 4), (6, 3), (4, 0), (0, 2)]


@pytest.mark.parametrize("first", range(0, 320 if SOAK else 16, 16))
def test_what_is_proven_ends_at_all_sizes(first: int) -> None:
    proven = 0
    for seed in range(first, first + 16):
        found = drawn(random.Random(seed))
        if not proof(roles(*(role.text() for role in found))):
            proven += 1
            assert all(ends(found, *sizes) for sizes in SIZES), seed
    assert proven
