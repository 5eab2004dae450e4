"""What MLIR leaves open is a fault on the simulator where it is needed, and none where it is not."""

from __future__ import annotations

import numpy as np
import pytest
from gpu_kernels import func

FIRST = """
  %k3 = arith.constant 3 : i32
  %zero = arith.constant 0 : i32
  %less = arith.constant -1 : i32
  %width = arith.constant 32 : i32
  %x = memref.load %A[%tx] : memref<64xi32>
  %f = memref.load %F[%tx] : memref<64xf32>
"""
LAST = "\nmemref.store %r, %A[%tx] : memref<64xi32>"
SHIFTED = "%s = arith.shli %k3, %x : i32\n"
INSIDE = "%i = arith.cmpi ult, %x, %width : i32\n"
VECTOR = "%v = vector.broadcast %x : i32 to vector<4xi32>\n"
ADDED = "\n%r = vector.reduction <add>, %p : vector<4xi32> into i32"
PART = "%d = arith.constant dense<[1, 2, 3, 40]> : vector<4xi32>\n%p = arith.shli %v, %d : vector<4xi32>\n"
"""The last element of `%p` is left open."""
CASES = {
    "a shift by what is the same for all": ("%r = arith.shli %x, %n : i32" + LAST, 64),
    "a shift by data": ("%r = arith.shrui %k3, %x : i32" + LAST, 33),
    "a shift by a constant": ("%r = arith.shrsi %x, %k3 : i32" + LAST, 0),
    "a shift by a constant that is the width": ("%r = arith.shrsi %x, %width : i32" + LAST, 64),
    "one that nothing uses": ("%r = arith.shli %x, %n : i32", 0),
    "one that is not selected": (
        f"{SHIFTED}{INSIDE}%q = arith.addi %s, %k3 : i32\n%r = arith.select %i, %q, %zero : i32{LAST}", 0,
    ),
    "one that is selected": (
        f"{SHIFTED}%i = arith.cmpi ule, %x, %width : i32\n%r = arith.select %i, %s, %zero : i32{LAST}", 1,
    ),
    "one that selects": (f"{SHIFTED}%i = arith.cmpi ult, %s, %width : i32\n%r = arith.select %i, %k3, %zero : i32{LAST}", 33),
    "a branch around it": (
        f"{INSIDE}%r = scf.if %i -> (i32) {{\n{SHIFTED}scf.yield %s : i32 }} else {{ scf.yield %zero : i32 }}{LAST}", 0,
    ),
    "a branch by it": (
        f"{SHIFTED}%i = arith.cmpi ult, %s, %width : i32\n"
        "scf.if %i { memref.store %zero, %A[%tx] : memref<64xi32> }", 33,
    ),
    "an address": (f"{SHIFTED}%j = arith.index_cast %s : i32 to index\n%k = arith.remui %j, %c9 : index\n"
                   "%r = memref.load %A[%k] : memref<64xi32>", 33),
    "in a loop": ("%r = scf.for %k = %c0 to %c4 step %c1 iter_args(%a = %x) -> (i32) {\n%s = arith.shli %a, %n : i32\n"
                  "scf.yield %s : i32 }" + LAST, 256),
    "of lanes that have left a loop": ("%r = scf.for %k = %c0 to %tx step %c1 iter_args(%a = %x) -> (i32) {\n"
                                       "%s = arith.shli %k3, %x : i32\nscf.yield %s : i32 }" + LAST, sum(range(32, 64)) + 5),
    "of a vector": (f"{VECTOR}%d = arith.constant dense<[1, 2, 3, 40]> : vector<4xi32>\n"
        f"%p = arith.shli %v, %d : vector<4xi32>{ADDED}{LAST}", 64),
    "of a vector, by one constant": (f"{VECTOR}%d = arith.constant dense<31> : vector<4xi32>\n"
        f"%p = arith.shli %v, %d : vector<4xi32>{ADDED}{LAST}", 0),
    "elements that are not selected": (f"{VECTOR}%d = arith.constant dense<[1, 2, 3, 40]> : vector<4xi32>\n"
        "%b = arith.constant dense<[true, true, true, false]> : vector<4xi1>\n%s = arith.shli %v, %d : vector<4xi32>\n"
        f"%p = arith.select %b, %s, %v : vector<4xi1>, vector<4xi32>{ADDED}{LAST}", 0),
    "vectors that are not selected": (f"{VECTOR}{INSIDE}%s = arith.shli %v, %v : vector<4xi32>\n"
        f"%p = arith.select %i, %s, %v : vector<4xi32>{ADDED}{LAST}", 0),
    "a position outside of a vector": (f"{VECTOR}%r = vector.extract %v[%tx] : i32 from vector<4xi32>{LAST}", 60),
    "a position to insert at": (f"{VECTOR}%p = vector.insert %k3, %v[%tx] : i32 into vector<4xi32>{ADDED}{LAST}", 60),
    "an element beside it": (f"{VECTOR}{PART}%r = vector.extract %p[2] : i32 from vector<4xi32>{LAST}", 0),
    "the element": (f"{VECTOR}{PART}%r = vector.extract %p[3] : i32 from vector<4xi32>{LAST}", 64),
    "elements at a position of the run": (
        f"{VECTOR}{PART}%i2 = arith.remui %tx, %c4 : index\n%r = vector.extract %p[%i2] : i32 from vector<4xi32>{LAST}", 16),
    "an element over it": (f"{VECTOR}{PART}%q = vector.insert %k3, %p[3] : i32 into vector<4xi32>\n"
        "%r = vector.reduction <add>, %q : vector<4xi32> into i32" + LAST, 0),
    "an element over another one": (f"{VECTOR}{PART}%q = vector.insert %k3, %p[2] : i32 into vector<4xi32>\n"
        "%r = vector.extract %q[3] : i32 from vector<4xi32>" + LAST, 64),
    "elements over others at a position of the run": (
        f"{VECTOR}{PART}%i2 = arith.remui %tx, %c4 : index\n%q = vector.insert %k3, %p[%i2] : i32 into vector<4xi32>\n"
        "%r = vector.reduction <add>, %q : vector<4xi32> into i32" + LAST, 48),
    "it among others, inserted": (f"{VECTOR}{SHIFTED}%q = vector.insert %s, %v[1] : i32 into vector<4xi32>\n"
        "%r = vector.extract %q[0] : i32 from vector<4xi32>" + LAST, 0),
    "a shuffle without it": (f"{VECTOR}{PART}%q = vector.shuffle %p, %v [0, 1, 5, 7] : vector<4xi32>, vector<4xi32>\n"
        "%r = vector.reduction <add>, %q : vector<4xi32> into i32" + LAST, 0),
    "a shuffle with it": (f"{VECTOR}{PART}%q = vector.shuffle %v, %p [0, 7] : vector<4xi32>, vector<4xi32>\n"
        "%r = vector.extract %q[1] : i32 from vector<2xi32>" + LAST, 64),
    "a slice without it": (f"{VECTOR}{PART}%q = vector.extract_strided_slice %p {{offsets = [1], sizes = [2], strides = [1]}}"
        " : vector<4xi32> to vector<2xi32>\n%r = vector.reduction <add>, %q : vector<2xi32> into i32" + LAST, 0),
    "a splat of it": (f"{SHIFTED}%q = vector.broadcast %s : i32 to vector<2x2xi32>\n"
        "%r = vector.extract %q[1, 0] : i32 from vector<2x2xi32>" + LAST, 33),
    "rows of a broadcast": (f"{VECTOR}{PART}%q = vector.broadcast %p : vector<4xi32> to vector<2x4xi32>\n"
        "%r = vector.extract %q[1, 1] : i32 from vector<2x4xi32>" + LAST, 0),
    "a column of a transpose": (f"{VECTOR}{PART}%q = vector.broadcast %p : vector<4xi32> to vector<2x4xi32>\n"
        "%t = vector.transpose %q, [1, 0] : vector<2x4xi32> to vector<4x2xi32>\n"
        "%r = vector.extract %t[3, 0] : i32 from vector<4x2xi32>" + LAST, 64),
    "elements as values": (f"{VECTOR}{PART}%e:4 = vector.to_elements %p : vector<4xi32>\n"
        "%r = arith.addi %e#0, %e#2 : i32" + LAST, 0),
    "a vector of values": (f"{SHIFTED}%q = vector.from_elements %s, %x : vector<2xi32>\n"
        "%r = vector.extract %q[1] : i32 from vector<2xi32>" + LAST, 0),
    "halves of an element beside it": (f"{VECTOR}{PART}%q = vector.bitcast %p : vector<4xi32> to vector<8xi16>\n"
        "%h = vector.extract %q[5] : i16 from vector<8xi16>\n%r = arith.extsi %h : i16 to i32" + LAST, 0),
    "a half of it": (f"{VECTOR}{PART}%q = vector.bitcast %p : vector<4xi32> to vector<8xi16>\n"
        "%h = vector.extract %q[6] : i16 from vector<8xi16>\n%r = arith.extsi %h : i16 to i32" + LAST, 64),
    "two elements in one": (f"{VECTOR}{PART}%q = vector.bitcast %p : vector<4xi32> to vector<2xi64>\n"
        "%h = vector.extract %q[0] : i64 from vector<2xi64>\n%r = arith.trunci %h : i64 to i32" + LAST, 0),
    "it and another in one": (f"{VECTOR}{PART}%q = vector.bitcast %p : vector<4xi32> to vector<2xi64>\n"
        "%h = vector.extract %q[1] : i64 from vector<2xi64>\n%r = arith.trunci %h : i64 to i32" + LAST, 64),
    "sums of rows without it": (f"{VECTOR}{PART}%m = vector.broadcast %k3 : i32 to vector<2x4xi32>\n"
        "%q = vector.insert %p, %m[1] : vector<4xi32> into vector<2x4xi32>\n%z = arith.constant dense<0> : vector<2xi32>\n"
        "%s2 = vector.multi_reduction <add>, %q, %z [1] : vector<2x4xi32> to vector<2xi32>\n"
        "%r = vector.extract %s2[0] : i32 from vector<2xi32>" + LAST, 0),
    "an outer product beside it": (f"{VECTOR}{PART}%q = vector.outerproduct %v, %p : vector<4xi32>, vector<4xi32>\n"
        "%r = vector.extract %q[3, 2] : i32 from vector<4x4xi32>" + LAST, 0),
    "a mask that leaves it out": (f"{VECTOR}{PART}%b = arith.constant dense<[true, true, true, false]> : vector<4xi1>\n"
        "%at = arith.remui %tx, %c4 : index\nvector.maskedstore %A[%at], %b, %p : memref<64xi32>, vector<4xi1>, vector<4xi32>", 0),
    "a step of 0": ("%m = arith.subi %tx, %c4 : index\n"
                    "scf.for %k = %c0 to %c8 step %m { memref.store %x, %A[%tx] : memref<64xi32> }", 5),
    "a step of 0, the same for all": ("%m = arith.subi %n, %n : i32\nscf.for %k = %zero to %k3 step %m : i32 {\n"
                                      "memref.store %x, %A[%tx] : memref<64xi32> }", 64),
    "the least integer by -1": ("%r = arith.divsi %x, %less : i32", 1),
    "a remainder of it": ("%r = arith.remsi %x, %less : i32", 1),
    "a float that is too large": ("%r = arith.fptosi %f : f32 to i32" + LAST, 64),
    "a float that fits without a sign": ("%r = arith.fptoui %f : f32 to i32" + LAST, 0),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_where_it_is_needed(name: str) -> None:
    body, count = CASES[name]
    kernel = func("%A: memref<64xi32>, %F: memref<64xf32>, %n: i32", FIRST + body)
    data = np.arange(64, dtype=np.int32)
    data[5] = -(2**31)
    report = kernel.launch((1, 1, 1), (64, 1, 1), [data, np.full(64, 3e9, np.float32), 40])
    assert sum(fault.count for fault in report.faults) == count, [str(fault) for fault in report.faults]
    assert {fault.kind for fault in report.faults} <= {"undefined result"}
