"""Races that the simulator must find, with their witnesses, and near misses that it must not report."""

from __future__ import annotations

import numpy as np
import pytest
from gpu_kernels import WORKGROUP, func, matmul

from weft.runtime.devices.report import LaunchReport

SHARED = f"memref<32xf32, {WORKGROUP}>"


def found(report: LaunchReport) -> set[tuple[str, str, str, str]]:
    """Kind, buffer, and the two ops of each race."""
    return {(r.kind, r.buffer, r.first.op, r.second.op) for r in report.races}


STAGED = {"shared0", "shared1"}
ALL, NOTHING = "gpu.barrier", ""
SHARED_FENCE = f"gpu.barrier memfence [{WORKGROUP}]"


@pytest.mark.parametrize(
    ("filled", "used", "kinds"),
    [
        (ALL, ALL, set()),
        (SHARED_FENCE, SHARED_FENCE, set()),
        (NOTHING, ALL, {"RAW"}),
        (ALL, NOTHING, {"WAR"}),
        (NOTHING, NOTHING, {"RAW", "WAR"}),
        ("gpu.barrier memfence []", ALL, {"RAW"}),
        (ALL, "gpu.barrier memfence [#gpu.address_space<global>]", {"WAR"}),
        (ALL, "gpu.barrier memfence [#gpu.address_space<private>]", {"WAR"}),
    ],
)
@pytest.mark.parametrize("size", [(48, 48, 48), (20, 35, 40)], ids=["exact", "ragged"])
def test_each_barrier_of_the_staged_matmul(filled: str, used: str, kinds: set[str], size: tuple[int, int, int]) -> None:
    m, n, k = size
    a, b, c = np.ones((m, k), np.float32), np.ones((k, n), np.float32), np.zeros((m, n), np.float32)
    kernel = matmul(m, n, k, filled=filled, used=used)
    report = kernel.launch((-(-n // 16), -(-m // 16), 1), (16, 16, 1), [a, b, c])
    assert (c == k).all(), "in lockstep the numbers are right in any case"
    assert {r.kind for r in report.races} == kinds
    for kind in kinds:
        assert {r.buffer for r in report.races if r.kind == kind} == STAGED
    for race in report.races:
        assert race.first.block == race.second.block and race.first.thread != race.second.thread
        first, second = ("memref.load", "memref.store") if race.kind == "WAR" else ("memref.store", "memref.load")
        assert (race.first.op, race.second.op) == (first, second)
        # The tile is written by thread (x, y) = (column, row): the witness must be the writer of that very element.
        writer = race.second if race.kind == "WAR" else race.first
        assert (writer.thread[1], writer.thread[0]) == race.element
    assert not report.faults and report.race_count >= len(report.races)
    unchecked = kernel.launch((-(-n // 16), -(-m // 16), 1), (16, 16, 1), [a, b, c], check=False)
    assert unchecked.clean


CASES = {
    # name: (body, races), on %A: memref<64xf32>, %B: memref<64xf32>, %s: shared memref<32xf32>; blocks 2, threads 32
    "own element back and forth": (
        f"""memref.store %f, %s[%tx] : {SHARED}
            %x = memref.load %s[%tx] : {SHARED}
            memref.store %x, %s[%tx] : {SHARED}""",
        set(),
    ),
    "neighbour without a barrier": (
        f"""memref.store %f, %s[%tx] : {SHARED}
            %x = memref.load %s[%next] : {SHARED}""",
        {("RAW", "shared0", "memref.store", "memref.load")},
    ),
    "neighbour behind a barrier": (
        f"""memref.store %f, %s[%tx] : {SHARED}
            gpu.barrier
            %x = memref.load %s[%next] : {SHARED}""",
        set(),
    ),
    "all threads write one element": (
        f"memref.store %f, %s[%c3] : {SHARED}",
        {("WAW", "shared0", "memref.store", "memref.store")},
    ),
    "two arms write one element": (
        f"""scf.if %even {{ memref.store %f, %s[%half] : {SHARED} }} else {{ memref.store %f, %s[%half] : {SHARED} }}""",
        {("WAW", "shared0", "memref.store", "memref.store")},
    ),
    # Thread 5 reads element 0, then thread 0 does (both in one interval), then thread 0 writes it: the last reader is
    # the writer itself, and only the reader before it gives the race away.
    "write after read by an earlier reader": (
        f"""memref.store %f, %s[%tx] : {SHARED}
            gpu.barrier
            scf.if %five {{ %x = memref.load %s[%c0] : {SHARED} }}
            scf.if %zero {{ %y = memref.load %s[%c0] : {SHARED} }}
            scf.if %zero {{ memref.store %f, %s[%c0] : {SHARED} }}""",
        {("WAR", "shared0", "memref.load", "memref.store")},
    ),
    "write after read by the same thread alone": (
        f"""memref.store %f, %s[%tx] : {SHARED}
            gpu.barrier
            scf.if %zero {{ %y = memref.load %s[%c0] : {SHARED} }}
            scf.if %zero {{ memref.store %f, %s[%c0] : {SHARED} }}""",
        set(),
    ),
    "blocks read and write each other's elements": (
        """memref.store %f, %A[%i] : memref<64xf32>
           gpu.barrier
           %x = memref.load %A[%mirror] : memref<64xf32>""",
        {("RAW", "A", "memref.store", "memref.load")},
    ),
    "blocks write one element": (
        "scf.if %zero { memref.store %f, %A[%c7] : memref<64xf32> }",
        {("WAW", "A", "memref.store", "memref.store")},
    ),
    "both blocks read what one of them writes": (
        """scf.if %zero { %x = memref.load %A[%c0] : memref<64xf32>
             %first = arith.cmpi eq, %bx, %c0 : index
             scf.if %first { memref.store %f, %A[%c0] : memref<64xf32> } }""",
        {("WAR", "A", "memref.load", "memref.store")},
    ),
    "global memory inside a block, fenced for shared memory only": (
        f"""memref.store %f, %A[%i] : memref<64xf32>
            {SHARED_FENCE}
            %x = memref.load %A[%inext] : memref<64xf32>""",
        {("RAW", "A", "memref.store", "memref.load")},
    ),
    "global memory inside a block, fenced": (
        """memref.store %f, %A[%i] : memref<64xf32>
           gpu.barrier memfence [#gpu.address_space<global>]
           %x = memref.load %A[%inext] : memref<64xf32>""",
        set(),
    ),
    "an own element written again behind the barrier": (
        """memref.store %f, %A[%i] : memref<64xf32>
           gpu.barrier
           memref.store %f, %A[%i] : memref<64xf32>
           %x = memref.load %A[%inext] : memref<64xf32>""",
        {("RAW", "A", "memref.store", "memref.load")},
    ),
    "an own element read again behind the barrier": (
        """memref.store %f, %A[%i] : memref<64xf32>
           gpu.barrier
           %x = memref.load %A[%i] : memref<64xf32>
           memref.store %f, %A[%inext] : memref<64xf32>""",
        {("WAR", "A", "memref.load", "memref.store")},
    ),
    "an own element again and again": (
        """scf.for %r = %c0 to %c5 step %c1 {
             %x = memref.load %A[%i] : memref<64xf32>
             memref.store %x, %A[%i] : memref<64xf32>
             gpu.barrier
           }
           %y = memref.load %A[%inext] : memref<64xf32>""",
        set(),
    ),
    "a vector store that overlaps its neighbour's": (
        "vector.store %v, %A[%i] {alignment = 4 : i64} : memref<64xf32>, vector<2xf32>",
        {("WAW", "A", "vector.store", "vector.store")},
    ),
    "atomics among themselves": ("%o = memref.atomic_rmw addf %f, %A[%c0] : (f32, memref<64xf32>) -> f32", set()),
    "a plain read beside atomics": (
        """%o = memref.atomic_rmw addf %f, %A[%c0] : (f32, memref<64xf32>) -> f32
           %x = memref.load %A[%c0] : memref<64xf32>""",
        {("RAW", "A", "memref.atomic_rmw", "memref.load")},
    ),
    # Thread 0 reads; the last atomic is its own, and only the one before conflicts with the read.
    "an atomic hidden behind the reader's own": (
        f"""memref.store %f, %s[%tx] : {SHARED}
            gpu.barrier
            scf.if %five {{ %o = memref.atomic_rmw addf %f, %s[%c0] : (f32, {SHARED}) -> f32 }}
            scf.if %zero {{ %o = memref.atomic_rmw addf %f, %s[%c0] : (f32, {SHARED}) -> f32 }}
            scf.if %zero {{ %x = memref.load %s[%c0] : {SHARED} }}""",
        {("RAW", "shared0", "memref.atomic_rmw", "memref.load")},
    ),
    "a barrier in one loop round only counts for that round": (
        f"""memref.store %f, %s[%tx] : {SHARED}
            scf.for %r = %c0 to %c3 step %c1 {{
              %u = arith.cmpi eq, %r, %c0 : index
              scf.if %u {{ gpu.barrier }}
              %x = memref.load %s[%next] : {SHARED}
              %w = arith.cmpi eq, %r, %c2 : index
              scf.if %w {{ memref.store %x, %s[%tx] : {SHARED} }}
            }}""",
        {("WAR", "shared0", "memref.load", "memref.store")},
    ),
    "a block that skips a barrier races, the other doesn't": (
        f"""%first = arith.cmpi eq, %bx, %c0 : index
            memref.store %f, %s[%tx] : {SHARED}
            scf.if %first {{ gpu.barrier }}
            %x = memref.load %s[%next] : {SHARED}""",
        {("RAW", "shared0", "memref.store", "memref.load")},
    ),
}

BLOCKS_APART = {
    "blocks read and write each other's elements",
    "both blocks read what one of them writes",
    "a plain read beside atomics",
}

PREPARED = """
  %f = arith.constant 1.0 : f32
  %v = arith.constant dense<1.0> : vector<2xf32>
  %next = affine.apply affine_map<(t) -> ((t + 1) mod 32)>(%tx)
  %half = arith.divui %tx, %c2 : index
  %i = affine.apply affine_map<(b, t) -> (b * 32 + t)>(%bx, %tx)
  %inext = affine.apply affine_map<(b, t) -> (b * 32 + (t + 1) mod 32)>(%bx, %tx)
  %mirror = affine.apply affine_map<(b, t) -> (63 - b * 32 - t)>(%bx, %tx)
  %odd = arith.remui %tx, %c2 : index
  %even = arith.cmpi eq, %odd, %c0 : index
  %zero = arith.cmpi eq, %tx, %c0 : index
  %five = arith.cmpi eq, %tx, %c5 : index
"""


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("order", ["forward", "reverse", 5])
@pytest.mark.parametrize("batch", [32, 64])
def test_races(name: str, order, batch: int) -> None:
    body, races = CASES[name]
    arguments = '%A: memref<64xf32> {weft.name = "A"}, %B: memref<64xf32>'
    kernel = func(arguments, PREPARED + body, shared=f"%s: {SHARED}")
    a, b = np.zeros(64, np.float32), np.zeros(64, np.float32)
    report = kernel.launch((2, 1, 1), (32, 1, 1), [a, b], order=order, batch=batch)
    got = found(report)
    if name in BLOCKS_APART:  # in one batch or in several: either access may come first
        assert {buffer for _, buffer, *_ in got} == {buffer for _, buffer, *_ in races}
    else:
        assert got == races
    if name == "a block that skips a barrier races, the other doesn't":
        assert {r.first.block for r in report.races} == {(1, 0, 0)}


def test_the_second_reader_is_named() -> None:
    body, _ = CASES["write after read by an earlier reader"]
    kernel = func("%A: memref<64xf32>", PREPARED + body, shared=f"%s: {SHARED}")
    (race,) = kernel.launch((1, 1, 1), (32, 1, 1), [np.zeros(64, np.float32)]).races
    assert (race.kind, race.buffer, race.element) == ("WAR", "shared0", (0,))
    assert race.first.thread == (5, 0, 0) and race.second.thread == (0, 0, 0)


def test_two_arguments_that_are_one_buffer() -> None:
    body = """
    %x = memref.load %A[%tx] : memref<33xf32>
    memref.store %x, %B[%tx] : memref<33xf32>
    """
    kernel = func('%A: memref<33xf32> {weft.name = "A"}, %B: memref<33xf32> {weft.name = "B"}', body)
    memory = np.zeros(40, np.float32)
    same = kernel.launch((1, 1, 1), (32, 1, 1), [memory[:33], memory[:33]])
    shifted = kernel.launch((1, 1, 1), (32, 1, 1), [memory[:33], memory[1:34]], names=["in", "out"])
    apart = kernel.launch((1, 1, 1), (32, 1, 1), [memory[:33], np.zeros(33, np.float32)])
    assert same.clean and apart.clean
    (race,) = shifted.races
    assert race.kind == "WAR" and race.buffer == "in" and race.first.thread[0] == race.second.thread[0] + 1


def test_findings_are_merged_and_counted() -> None:
    stores = "\n".join("memref.store %f, %A[%c0] : memref<4xf32>" for _ in range(60))
    body = f"%f = arith.constant 0.0 : f32\n{stores}\nmemref.store %f, %B[%c1] : memref<4xf32>"
    kernel = func("%A: memref<4xf32>, %B: memref<4xf32>", body)
    report = kernel.launch((1, 1, 1), (32, 1, 1), [np.zeros(4, np.float32), np.zeros(4, np.float32)])
    assert [r.buffer for r in report.races] == ["arg0"] * 8 + ["arg1"], "many races in one buffer hide none in another"
    assert report.race_count > 60 * 31
    assert all(race.code == "W0650" for race in report.races)
