"""Asynchronous copies in the proof: when each has arrived, and what meets it on its way."""

from __future__ import annotations

import os
import re

import pytest
from contexts import one_context
from copy_rings import Ring, random_laps, random_ring
from proven import expect_proven

import weft
from weft.dsl.diagnostics import Diagnostic
from weft.interpreter.ir import mlir
from weft.interpreter.proof.kernels.kernels import kernel_model, kernel_uses, model_of
from weft.interpreter.proof.races.conflicts import Conflict
from weft.interpreter.proof.races.proof import Findings

RINGS = 600 if "WEFT_SOAK" in os.environ else 20

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


@pytest.mark.parametrize("start", range(0, RINGS, 20))
def test_copies_that_the_next_lap_waits_for(start: int) -> None:
    wrong = 0
    for seed in range(start, start + 20):
        ring = random_laps(seed)
        expected, shared = ring.conflicts(), found_in(ring)
        assert bool(shared) == expected, f"seed {seed}: {shared}\n{ring.text()}"
        wrong += expected
    assert 0 < wrong < 20, "the sample must hold kernels of both kinds"


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


@pytest.mark.few(3)
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
            assert any("not all by the same swizzle" in note for note in notes)
            assert not any("depends on data" in note for note in notes)


# ---- each class by hand ---------------------------------------------------------------------------------------------------

SHARED = "memref<3x32xf32, #gpu.address_space<workgroup>>"
HEAD = """
%t = gpu.thread_id x
%b = gpu.block_id x
%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%c2 = arith.constant 2 : index
%c4 = arith.constant 4 : index
%zero = arith.constant 0.0 : f32
%o = arith.constant 31 : index
%other = arith.subi %o, %t : index
%half = arith.divui %t, %c2 : index
%none = arith.constant 0 : i32
%g = nvgpu.device_async_create_group {}
"""
COMMIT, WAIT, BARRIER = "%n = nvgpu.device_async_create_group {}", "nvgpu.device_async_wait %g", "gpu.barrier"


def copied(stage: str = "%c0", at: str = "%t", commit: bool = True) -> str:
    inner = f"%m = nvgpu.device_async_copy %in[%t], %s[{stage}, {at}], 1 : memref<64xf32> to {SHARED}"
    return "\n".join(["scf.execute_region {", inner, *([COMMIT] if commit else []), "scf.yield", "}"])


def waited(pending: int) -> str:
    return f"nvgpu.device_async_wait %g {{numGroups = {pending} : i32}}"


def read(stage: str = "%c0", at: str = "%other") -> str:
    return f"scf.execute_region {{\n%v = memref.load %s[{stage}, {at}] : {SHARED}\nscf.yield\n}}"


def when(condition: str, *body: str) -> str:
    lines = "\n".join(body)
    return f"scf.execute_region {{\n{condition}\nscf.if %c {{\n{lines}\n}}\nscf.yield\n}}"


def loop(*body: str) -> str:
    return "\n".join(["scf.for %k = %c0 to %c4 step %c1 {", *body, "}"])


DATA = "%f = memref.load %flags[%t] : memref<64xi32>\n%c = arith.cmpi ne, %f, %none : i32"
EVEN = "%r = arith.remui %k, %c2 : index\n%c = arith.cmpi eq, %r, %c0 : index"
FIRST = "%c = arith.cmpi eq, %t, %c0 : index"
CASES: dict[str, tuple[list[str], set[str]]] = {
    "two threads copy to one element": ([copied(at="%half"), WAIT, BARRIER], {"W0606"}),
    "all of them to one": ([copied(at="%c0"), WAIT, BARRIER], {"W0606"}),
    "in a loop": ([loop(copied(at="%half"), WAIT, BARRIER)], {"W0606"}),
    "two copies, no wait between": ([copied(), copied(), WAIT, BARRIER], {"W0606"}),
    "two copies, a wait between": ([copied(), WAIT, copied(), WAIT, BARRIER, read()], set()),
    "two copies of two threads": ([copied(), WAIT, copied(at="%other"), WAIT, BARRIER], {"W0601"}),
    "of no group": ([copied(commit=False), WAIT, BARRIER, read()], {"W0606"}),
    "no barrier behind the wait": ([copied(), WAIT, read()], {"W0601"}),
    "a commit under a condition": ([loop(when(EVEN, copied()), WAIT, BARRIER, read(), BARRIER)], set()),
    "every other commit is missing": (
        [loop(copied(commit=False), when(EVEN, COMMIT), WAIT, BARRIER, read(), BARRIER)], {"W0606"}),
    "a thread that commits too late": ([copied(commit=False), when(FIRST, WAIT), COMMIT, WAIT, BARRIER, read()], set()),
    "the first thread waits for more": ([copied(), waited(1), when(FIRST, WAIT), BARRIER, read()], {"W0606"}),
    "only one thread copies and waits": ([when(FIRST, copied(), WAIT), BARRIER, read(at="%c0")], set()),
    "another one waits": (
        [when(FIRST, copied()), when(FIRST.replace("%c0", "%c1"), WAIT), BARRIER, read(at="%c0")], {"W0606"}),
}  # fmt: skip


def model_text(body: list[str], attributes: str = "known_grid_size = array<i32: 1, 1, 1>") -> str:
    lines = "\n".join(body)
    return f"""module {{ gpu.module @m {{ gpu.func @k(%in: memref<64xf32>, %flags: memref<64xi32>) workgroup(%s: {SHARED}) kernel
  attributes {{known_block_size = array<i32: 32, 1, 1>, {attributes}}} {{ {HEAD}
{lines}
gpu.return }} }} }}"""


@pytest.mark.parametrize("cluster", [False, True], ids=["block", "cluster"])
@pytest.mark.parametrize("case", CASES)
def test_by_hand(case: str, cluster: bool) -> None:
    """Barriers alone are asked, or all paths: of blocks of a cluster."""
    body, expected = CASES[case]
    two = "known_grid_size = array<i32: 2, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>"
    found = diagnostics(model_text(body, two) if cluster else model_text(body))
    assert {d.code for d in found} - {"W0610"} == expected, found
    assert all(d.hint and d.notes for d in found)


@pytest.mark.parametrize("case", [
    [copied(commit=False), when(DATA, COMMIT), WAIT, BARRIER, read()],
    [copied(), when(DATA, WAIT), BARRIER, read()],
    [copied(), when(DATA, COMMIT), waited(1), BARRIER, read()],
])  # fmt: skip
def test_what_data_decides_is_assumed(case: list[str]) -> None:
    (found,) = diagnostics(model_text(case))
    assert found.code == "W0606" and "(assumed)" in found.message
    assert any("how many groups are committed" in note for note in found.notes)


def test_a_barrier_is_needed_behind_a_wait_under_a_condition() -> None:
    module = mlir.parse(model_text([copied(), loop(when(EVEN, WAIT), BARRIER, read())]), one_context())
    found = Findings(kernel_model(next(mlir.operations(module.operation, "gpu.func"))))
    expect_proven(found)
    assert found.superfluous() == []
