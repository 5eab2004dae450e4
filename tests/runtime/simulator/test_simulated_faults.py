"""Faults other than races, and launches and kernels that are refused."""

from __future__ import annotations

import numpy as np
import pytest
from gpu_kernels import WORKGROUP, func, sim

from weft.dsl.diagnostics import WeftError
from weft.explain import all_codes

SHARED = f"memref<4x8xf32, {WORKGROUP}>"
ARGUMENTS = '%A: memref<6x10xf32> {weft.name = "A"}, %n: index'
PREPARED = """
  %f = arith.constant 1.0 : f32
  %v = arith.constant dense<1.0> : vector<4xf32>
  %few = arith.cmpi slt, %tx, %c4 : index
"""

FAULTS = {
    # name: (body, kind, buffer, element, thread, count) in blocks of 8 threads, two of them
    "read behind the row": (
        "%x = memref.load %A[%c0, %c9] : memref<6x10xf32>\n%j = arith.addi %tx, %c3 : index\n"
        "%y = memref.load %A[%c1, %j] : memref<6x10xf32>",
        ("out-of-bounds read", "A", (1, 10), (7, 0, 0), 2),
    ),
    "write before the row": (
        "%j = arith.subi %tx, %c2 : index\nmemref.store %f, %A[%bx, %j] : memref<6x10xf32>",
        ("out-of-bounds write", "A", (0, -2), (0, 0, 0), 4),
    ),
    "vector over the end": (
        "vector.store %v, %A[%c4, %c8] : memref<6x10xf32>, vector<4xf32>",
        ("out-of-bounds write", "A", (4, 8), (0, 0, 0), 16),
    ),
    "window over the end": (
        "%w = memref.subview %A[%c4, %tx] [3, 1] [1, 1] : memref<6x10xf32> to "
        "memref<3x1xf32, strided<[10, 1], offset: ?>>\n"
        "%x = memref.load %w[%c2, %c0] : memref<3x1xf32, strided<[10, 1], offset: ?>>",
        ("out-of-bounds read", "A", (2, 0), (0, 0, 0), 16),
    ),
    "shared memory nobody wrote": (
        f"scf.if %few {{ memref.store %f, %s[%c1, %tx] : {SHARED} }}\ngpu.barrier\n%x = memref.load %s[%c1, %tx] : {SHARED}",
        ("uninitialized read", "shared0", (1, 4), (4, 0, 0), None),
    ),
    "private memory this thread did not write": (
        "%p = memref.alloca() : memref<2xf32>\nscf.if %few { memref.store %f, %p[%c1] : memref<2xf32> }\n"
        "%x = memref.load %p[%c1] : memref<2xf32>",
        ("uninitialized read", None, (1,), (4, 0, 0), 8),
    ),
    "private memory behind a lane's own index": (
        "%p = memref.alloca() : memref<8xf32>\nmemref.store %f, %p[%tx] : memref<8xf32>\n"
        "%x = memref.load %p[%c3] : memref<8xf32>",
        ("uninitialized read", None, (3,), (0, 0, 0), 14),
    ),
    "barrier under a condition": ("scf.if %few { gpu.barrier }", ("divergent barrier", None, None, (0, 0, 0), 8)),
    "barrier in both arms": (
        "scf.if %few { gpu.barrier } else { gpu.barrier }",
        ("divergent barrier", None, None, (0, 0, 0), 8),
    ),
    "barrier in a loop of uneven length": (
        "scf.for %i = %tx to %c8 step %c4 { gpu.barrier }",
        ("divergent barrier", None, None, (0, 0, 0), 8),
    ),
    "misaligned vector": (
        "%x = vector.load %A[%c0, %c2] : memref<6x10xf32>, vector<4xf32>",
        ("misaligned access", "A", (0, 2), (0, 0, 0), 16),
    ),
    "division by zero": ("%q = arith.divsi %c7, %tx : index", ("division by zero", None, None, (0, 0, 0), 2)),
    "modulus of zero in a map": (
        "%q = affine.apply affine_map<(d)[s] -> (d mod s)>(%tx)[%n]",
        ("division by zero", None, None, (0, 0, 0), 16),
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_fault(name: str) -> None:
    body, (kind, buffer, element, thread, count) = FAULTS[name]
    kernel = func(ARGUMENTS, PREPARED + body, shared=f"%s: {SHARED}")
    report = kernel.launch((2, 1, 1), (8, 1, 1), [np.zeros((6, 10), np.float32), 0])
    fault = next(f for f in report.faults if f.kind == kind)
    assert {f.kind for f in report.faults} == {kind}
    assert buffer is None or fault.buffer == buffer
    assert fault.element == element and fault.access.thread == thread and fault.access.block == (0, 0, 0)
    assert count is None or fault.count == count
    assert fault.access.location, "the op's place is told"
    assert all(f.code in all_codes() for f in report.faults)


FINE = {
    "guarded edge": "%in = arith.cmpi slt, %tx, %c3 : index\nscf.if %in { %j = arith.addi %tx, %c7 : index\n"
    "%x = memref.load %A[%c0, %j] : memref<6x10xf32> }",
    "guarded division": "%z = arith.cmpi ne, %tx, %c0 : index\nscf.if %z { %q = arith.remui %c7, %tx : index }",
    "barrier in a block-wide condition": "%z = arith.cmpi eq, %bx, %c0 : index\nscf.if %z { gpu.barrier }",
    "barrier in a loop that each block leaves at its own time": "scf.for %i = %bx to %c4 step %c1 { gpu.barrier }",
    "barrier in a loop of even length": "%e = arith.addi %tx, %c4 : index\nscf.for %i = %tx to %e step %c2 { gpu.barrier }",
    "an alignment that is stated": "%x = vector.load %A[%c0, %c2] {alignment = 8 : i64} : memref<6x10xf32>, vector<4xf32>",
    "shared memory filled by each block for itself": f"memref.store %f, %s[%c1, %tx] : {SHARED}\n"
    f"%x = memref.load %s[%c1, %tx] : {SHARED}",
    "private memory of a loop": "scf.for %i = %c0 to %c2 step %c1 { %p = memref.alloca() : memref<1xf32>\n"
    "memref.store %f, %p[%c0] : memref<1xf32>\n%x = memref.load %p[%c0] : memref<1xf32> }",
}


@pytest.mark.parametrize("name", FINE)
@pytest.mark.parametrize("batch", [8, 16])
def test_no_false_alarm(name: str, batch: int) -> None:
    kernel = func(ARGUMENTS, PREPARED + FINE[name], shared=f"%s: {SHARED}")
    report = kernel.launch((2, 1, 1), (8, 1, 1), [np.zeros((6, 10), np.float32), 0], batch=batch)
    assert report.clean, [str(x) for x in (*report.races, *report.faults)]


def test_faulty_lanes_harm_no_one() -> None:
    """What lies inside is computed, what lies outside is dropped, in NumPy's memory too."""
    memory = np.zeros(30, np.int32)
    body = """
    %w = arith.index_cast %tx : index to i32
    %j = arith.subi %tx, %c4 : index
    memref.store %w, %A[%j] : memref<10xi32>
    """
    kernel = func("%A: memref<10xi32>", body)
    report = kernel.launch((1, 1, 1), (32, 1, 1), [memory[10:20]])
    assert memory[10:20].tolist() == list(range(4, 14)) and not memory[:10].any() and not memory[20:].any()
    assert report.fault_count == 22


def test_temporaries_that_nobody_wrote() -> None:
    body = """
    %in = arith.cmpi slt, %tx, %c4 : index
    scf.if %in { memref.store %n, %A[%tx] : memref<8xi32> }
    gpu.barrier
    %x = memref.load %A[%tx] : memref<8xi32>
    """
    kernel = func('%A: memref<8xi32> {weft.name = "T"}, %n: i32', body)
    written = np.zeros(8, bool)
    report = kernel.launch((1, 1, 1), (8, 1, 1), [np.zeros(8, np.int32), 3], written=[written, None])
    (fault,) = report.faults
    assert (fault.kind, fault.buffer, fault.element) == ("uninitialized read", "T", (4,)) and report.fault_count == 4
    assert written.tolist() == [True] * 4 + [False] * 4


KERNEL = "gpu.func @k(%A: memref<8x?xf32>, %n: i32) kernel attributes {known_block_size = array<i32: 8, 1, 1>} { gpu.return }"
GOOD = [np.zeros((8, 3), np.float32), 1]
MEMORY = np.zeros(96, np.uint8)

REFUSED = {
    "too few arguments": ("W0752", KERNEL, (8, 1, 1), GOOD[:1]),
    "wrong element type": ("W0752", KERNEL, (8, 1, 1), [np.zeros((8, 3)), 1]),
    "wrong shape": ("W0752", KERNEL, (8, 1, 1), [np.zeros((7, 3), np.float32), 1]),
    "array for a scalar": ("W0752", KERNEL, (8, 1, 1), [GOOD[0], GOOD[0]]),
    "scalar for an array": ("W0752", KERNEL, (8, 1, 1), [1, 1]),
    "backward strides": ("W0752", KERNEL, (8, 1, 1), [GOOD[0][::-1], 1]),
    "other block size than known": ("W0753", KERNEL, (16, 1, 1), GOOD),
    "more than 1024 threads": (
        "W0753", KERNEL.replace("8, 1, 1", "64, 32, 1"), (64, 32, 1), GOOD,
    ),
    "overlap in two types": (
        "W0754", "gpu.func @k(%A: memref<24xf32>, %B: memref<24xi32>) kernel { gpu.return }", (8, 1, 1),
        [MEMORY.view(np.float32), MEMORY.view(np.int32)],
    ),
    "unknown op": (
        "W0750", "gpu.func @k(%A: memref<4xf32>) kernel { %f = arith.constant 0.0 : f32\n"
        "linalg.fill ins(%f : f32) outs(%A : memref<4xf32>)\ngpu.return }", (8, 1, 1), [],
    ),
    "unknown type": ("W0751", "gpu.func @k(%A: memref<4xi4>) kernel { gpu.return }", (8, 1, 1), []),
    "layout without strides": (
        "W0398", "gpu.func @k() kernel { %p = memref.alloca() : memref<4x4xf32, affine_map<(i, j) -> (j mod 2, i)>>\n"
        "gpu.return }", (8, 1, 1), [],
    ),
    "endless loop": (
        "W0756", "gpu.func @k() kernel { %t = arith.constant true\nscf.while : () -> () { scf.condition(%t) } do "
        "{ scf.yield }\ngpu.return }", (8, 1, 1), [],
    ),
    "a memref per thread": (
        "W0755", "gpu.func @k(%A: memref<4xf32>, %B: memref<4xf32>) kernel { %t = gpu.thread_id x\n"
        "%c0 = arith.constant 0 : index\n%c = arith.cmpi eq, %t, %c0 : index\n"
        "%m = arith.select %c, %A, %B : memref<4xf32>\n%x = memref.load %m[%c0] : memref<4xf32>\ngpu.return }",
        (8, 1, 1), [np.zeros(4, np.float32), np.zeros(4, np.float32)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str) -> None:
    code, text, block, args = REFUSED[name]
    with pytest.raises(WeftError) as caught:
        sim(text).launch((1, 1, 1), block, args)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == code and code in all_codes()
