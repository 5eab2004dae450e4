"""Asynchronous copies in the proof: when each has arrived, and what meets it on its way."""

from __future__ import annotations

import os
import re

import pytest
from contexts import one_context
from copy_rings import Ring, random_laps, random_ring

import weft
from weft.dsl.diagnostics import Diagnostic
from weft.interpreter.ir import mlir
from weft.interpreter.proof.kernels.kernels import kernel_model, kernel_uses, model_of
from weft.interpreter.proof.races.conflicts import Conflict
from weft.interpreter.proof.races.proof import Findings

RINGS = 600 if "WEFT_SOAK" in os.environ else 60

SCHEDULE = """
payload matmul(m = {m}, n = {n}, k = {k})

schedule ring() {{
  let gemm = match linalg.matmul
  let init = match linalg.fill
  let (tiles, tile_mm) = tile gemm [32, 32]
  fuse init into tiles
  map tiles to blocks(y, x)
  let (k, step) = tile tile_mm [_, _, 8]
  let (a, copy_a) = promote-to-shared step.lhs
  let (b, copy_b) = promote-to-shared step.rhs swizzle 128
  map copy_a to threads(*) cyclic vector 4
  map copy_b to threads(*) cyclic vector 4
  let (lanes, one) = tile step [2, 2]
  map lanes to threads(y: 16, x: 16)
  promote-to-registers one.acc across k
  pipeline k stages {stages} async
  insert-barriers
  launch tiles
}}
"""


def codes(text: str) -> set[str]:
    """What is wrong with the kernels of a module."""
    return {found.code for found in diagnostics(text)}


def diagnostics(text: str) -> list[Diagnostic]:
    module = mlir.parse(text, one_context())
    return [found for use in kernel_uses(module) for found in Findings(model_of(use)).diagnostics()]


def found_in(ring: Ring) -> list[Conflict]:
    """The conflicts of shared memory."""
    module = mlir.parse(ring.text(), one_context())
    found = Findings(kernel_model(next(mlir.operations(module.operation, "gpu.func"))))
    return [c for c in found.conflicts if c.space == "workgroup"]


@pytest.mark.parametrize("start", range(0, RINGS, 60))
def test_copies_that_the_next_lap_waits_for(start: int) -> None:
    wrong = 0
    for seed in range(start, start + 60):
        ring = random_laps(seed)
        expected, shared = ring.conflicts(), found_in(ring)
        assert bool(shared) == expected, f"seed {seed}: {shared}\n{ring.text()}"
        wrong += expected
    assert 0 < wrong < 60, "the sample must hold kernels of both kinds"


@pytest.mark.parametrize("start", range(0, RINGS, 20))
def test_same_as_enumerated(start: int) -> None:
    wrong = 0
    for seed in range(start, start + 20):
        ring = random_ring(seed)
        expected, shared = ring.conflicts(), found_in(ring)
        assert bool(shared) == expected, f"seed {seed}: {shared}\n{ring.text()}"
        wrong += expected
    assert 0 < wrong < 20, "the sample must hold kernels of both kinds"


MUTANTS = {
    "the barrier": (r"\n *gpu.barrier[^\n]*", "", "W0601"),
    "the wait": (r"\n *nvgpu.device_async_wait[^\n]*", "", "W0606"),
    "a wait for one group less": (r"numGroups = (\d)", lambda found: f"numGroups = {int(found[1]) + 1}", "W0606"),
    "one stage less": (r"mod ([345])(?=[)>])", lambda found: f"mod {int(found[1]) - 1}", "W0606"),
    "the groups of the loop": (r"(scf.for(?:.|\n)*)%\d+ = nvgpu.device_async_create_group[^\n]*", lambda found: found[1], "W0606"),
    "a swizzle": (r"(= arith.xori %\d+, )%\d+", lambda found: f"{found[1]}%c1", ""),
}


@pytest.mark.parametrize(("m", "n", "k", "stages"), [(64, 64, 64, 3), (64, 64, 40, 5), (33, 65, 50, 4), ("?", "?", "?", 3)])
def test_mutants(m: object, n: object, k: object, stages: int) -> None:
    text = str(weft.apply(SCHEDULE.format(m=m, n=n, k=k, stages=stages)).module)
    assert text.count("gpu.barrier") == 1
    assert codes(text) == set()
    for what, (pattern, instead, code) in MUTANTS.items():
        changed = re.sub(pattern, instead, text, count=1)
        if what == "one stage less":
            changed = re.sub(pattern, instead, text)
        assert changed != text, what
        found = codes(changed)
        assert code in found if code else found, what
        if what == "a swizzle":
            notes = [note for one in diagnostics(changed) for note in one.notes]
            assert any("not all of them do so alike" in note for note in notes)
            assert not any("depends on data" in note for note in notes)
