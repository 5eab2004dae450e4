"""What an operation waits for, against all pairs: on buffers that overlap or do not, in windows of all kinds."""

from __future__ import annotations

import random

import pytest

from weft.interpreter.forking.dependences import Dependences
from weft.interpreter.proof.hosts.effects import Effect
from weft.interpreter.proof.hosts.windows import HostBuffer, Window

BUFFERS = [HostBuffer("global", name) for name in "abcd"]
WINDOWS: list[tuple[int, tuple[tuple[int, int], ...] | None]] = [
    (0, None), (0, ((8, 8), (8, 1))),  # all of an 8x8 buffer, known or not
    (0, ((4, 8), (8, 1))), (32, ((4, 8), (8, 1))),  # halves
    (0, ((4, 8), (4, 1))), (4, ((4, 8), (4, 1))), (32, ((4, 8), (4, 1))), (36, ((4, 8), (4, 1))), (18, ((4, 8), (4, 1))),  # tiles
    (0, ((8, 8), (1, 1))), (1, ((8, 8), (1, 1))), (7, ((8, 8), (1, 1))),  # columns
    (0, ((32, 2),)), (1, ((32, 2),)),  # even and odd
]  # fmt: skip


def random_effects(draw: random.Random) -> tuple[Effect, ...]:
    made: list[Effect] = []
    for buffer in draw.sample(BUFFERS, k=draw.choice((1, 1, 1, 2, 3))):
        offset, dims = draw.choice(WINDOWS[1:] if draw.random() < 0.9 else WINDOWS)
        made.append(Effect("write" if draw.random() < 0.4 else "read", Window(buffer, offset, dims)))
    return tuple(made)


def conflicts(first: Effect, second: Effect, loose: set[HostBuffer]) -> bool:
    if not (first.changes or second.changes):
        return False
    if first.buffer != second.buffer:
        return {first.buffer, second.buffer} <= loose
    return not first.window.disjoint(second.window)


@pytest.mark.parametrize("seed", range(60))
def test_against_all_pairs(seed: int) -> None:
    draw = random.Random(seed)
    loose = set(draw.sample(BUFFERS, k=seed % 5))
    found = Dependences(lambda buffer: buffer in loose)
    effects = [random_effects(draw) for _ in range(60)]
    before: list[set[int]] = []
    done = 0
    for number, mine in enumerate(effects):
        if draw.random() < 0.05:  # the host waits for one, and for what is behind it
            done |= found.closure([draw.randrange(number)]) if number else 0
        assert found.add(mine, done) == number
        direct = {i for i in range(number) if any(conflicts(a, b, loose) for a in effects[i] for b in mine)}
        direct = {i for i in direct if not done >> i & 1}
        before.append(direct.union(*(before[i] for i in direct)))
        assert {i for i in range(number) if found.before[number] >> i & 1} == before[number]
        kept = {i for i in direct if not any(i in before[j] for j in direct)}
        assert set(found.direct[number]) == kept
