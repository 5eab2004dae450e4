"""Indices that machine code computes as the model has them: quotients and remainders by what the compiler makes of each divisor."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from weft.runtime.predict.chips import CHIPS
from weft.runtime.predict.operands import Grid
from weft.runtime.predict.prediction import machine_code
from weft.runtime.predict.trace import Execution

H200 = CHIPS["h200"]
DIVISORS = (2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 21, 25, 27, 28, 49, 56, 60, 64, 112, 121, 147, 224, 333, 641, 777, 1000, 3136)
THREADS, BLOCKS = 64, (0, 1, 7, 500, 40_000)


@cache
def stored(kind: str, offset: int) -> dict[str, list[np.ndarray]]:
    """By what is computed, where the threads of some blocks store: elements of an array at 0, a divisor after the other."""
    operations = {"quotient": "/", "remainder": "%"}
    lines = "\n".join(f"  a[(long long)((n {sign} ({kind}){by}))] = {by};" for sign in operations.values() for by in DIVISORS)
    number = f"({kind})(blockIdx.x * {THREADS} + threadIdx.x) + {offset}"
    text = f'extern "C" __global__ void at(volatile int *a) {{\n  {kind} n = {number};\n{lines}\n}}\n'
    code = machine_code(text, H200.arch)
    program = code.programs["at"]
    grid = Grid((THREADS, 1, 1), [(n, 0, 0) for n in BLOCKS], {0: THREADS, H200.parameters: 0, H200.parameters + 4: 0})
    trace = Execution(program, grid).run()
    (track,) = {id(track): track for track in trace.tracks}.values()
    at = [n for n, number in enumerate(track.code) if program.instructions[number].mnemonic in ("ST", "STG")]
    places = [np.broadcast_to(track.places[n], THREADS * len(BLOCKS)) for n in at]
    assert len(places) == 2 * len(DIVISORS) and not trace.unknown
    return {name: places[n * len(DIVISORS) :][: len(DIVISORS)] for n, name in enumerate(operations)}


@pytest.mark.parametrize("what", ["quotient", "remainder"])
@pytest.mark.parametrize(
    ("kind", "offset"), [("int", 0), ("unsigned", 0), ("int", 1 << 20), ("unsigned", 3_000_000_000), ("int", -70)]
)
def test_an_index_is_what_it_is(kind: str, offset: int, what: str) -> None:
    """By NumPy; of what is negative, quotients round to zero."""
    n = (np.array(BLOCKS)[:, None] * THREADS + np.arange(THREADS)).ravel().astype(np.int64) + offset
    n = n if kind == "int" else n & 0xFFFFFFFF
    for by, places in zip(DIVISORS, stored(kind, offset)[what], strict=True):
        quotient = np.sign(n) * (np.abs(n) // by)
        expected = quotient if what == "quotient" else n - quotient * by
        assert np.array_equal(places, 4 * expected & (1 << 62) - 1), f"{what} by {by}"
