"""Indices that depend on data: out of bounds they are reported, with the element and the way out, and inside they compute."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from runtime_programs import parse

from weft.dsl.diagnostics import WeftError
from weft.runtime.cpu.checked_indices import CheckedIndices
from weft.runtime.cpu.lowering import lower
from weft.runtime.cpu.reference import reference

ROW = np.arange(8, dtype=np.float32)
TABLE = np.arange(40, dtype=np.float32).reshape(10, 4)

LOOKUP = """func.func @main(%table: tensor<10x4xf32>, %ids: tensor<3xi32>) -> tensor<3x4xf32> {
  %e = tensor.empty() : tensor<3x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(t, d) -> (t)>, affine_map<(t, d) -> (t, d)>],
      iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<3xi32>) outs(%e : tensor<3x4xf32>) {
  ^bb0(%i: i32, %o: f32):
    %d = linalg.index 1 : index
    %row = arith.index_cast %i : i32 to index
    %v = tensor.extract %table[%row, %d] : tensor<10x4xf32>
    linalg.yield %v : f32 } -> tensor<3x4xf32>
  return %r : tensor<3x4xf32> }"""
OPEN = LOOKUP.replace("10x4", "?x4")


def loops(body: str, *arguments: str) -> str:
    """Of `%i` below 3, with the id at that place as an index `%at`."""
    given = ", ".join(("%row: memref<8xf32>", "%ids: memref<3xi32>", "%y: memref<3xf32>", *arguments))
    return f"""func.func @main({given}) {{
      %c0 = arith.constant 0 : index %c1 = arith.constant 1 : index %c3 = arith.constant 3 : index
      scf.for %i = %c0 to %c3 step %c1 {{
        %id = memref.load %ids[%i] : memref<3xi32>
        %at = arith.index_cast %id : i32 to index
        {body}
      }}
      return }}"""


STORED = "memref.store %v, %y[%i] : memref<3xf32>"
READ = loops(f"%v = memref.load %row[%at] : memref<8xf32> {STORED}")
WRITTEN = loops("%v = memref.load %row[%i] : memref<8xf32> memref.store %v, %row[%at] : memref<8xf32>")
PASSED = loops(f"%j = arith.addi %i, %n : index %v = memref.load %row[%j] : memref<8xf32> {STORED}", "%n: index")
WIDE = loops(f"""%w = vector.load %row[%at] : memref<8xf32>, vector<4xf32>
  %v = vector.extract %w[3] : f32 from vector<4xf32> {STORED}""")
BETWEEN = loops(f"""%z = arith.constant 0.0 : f32
  %v = scf.for %j = %c0 to %at step %c1 iter_args(%s = %z) -> f32 {{
    %a = memref.load %row[%j] : memref<8xf32> %t = arith.addf %s, %a : f32 scf.yield %t : f32 }} {STORED}""")
CHAIN = loops(f"""%last = scf.for %j = %c0 to %c3 step %c1 iter_args(%p = %at) -> index {{
    %a = memref.load %row[%p] : memref<8xf32> %b = arith.fptosi %a : f32 to i32
    %q = arith.index_cast %b : i32 to index %next = arith.addi %q, %c1 : index scf.yield %next : index }}
  %v = memref.load %row[%last] : memref<8xf32> {STORED}""")
WINDOW = loops(f"""%w = memref.subview %row[%at] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: ?>>
  %v = memref.load %w[%c3] : memref<4xf32, strided<[1], offset: ?>> {STORED}""")
KERNEL = """func.func @main(%row: memref<8xf32>, %ids: memref<3xi32>, %y: memref<3xf32>) {
  %c1 = arith.constant 1 : index %c3 = arith.constant 3 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c3, %sy = %c1, %sz = %c1) {
    %id = memref.load %ids[%tx] : memref<3xi32> %at = arith.index_cast %id : i32 to index
    %v = memref.load %row[%at] : memref<8xf32> memref.store %v, %y[%tx] : memref<3xf32>
    gpu.terminator }
  return }"""

Inputs = Mapping[str, Any]


def by_row(*ids: int) -> dict[str, Any]:
    return {"arg0": ROW, "arg1": np.array(ids, np.int32), "arg2": np.zeros(3, np.float32)}


def by_table(*ids: int) -> Inputs:
    return {"arg0": TABLE, "arg1": np.array(ids, np.int32)}


CASES: dict[str, tuple[str, Inputs, Inputs, Callable[[Inputs], Any], str]] = {
    # payload, inputs that are inside, inputs that are not, what those inside give, what is said of the others
    "a gather": (LOOKUP, by_table(0, 9, 3), by_table(0, 10, 3), lambda x: TABLE[x["arg1"]],
                 r"read .*\[10, 0\] in `arg0`, where 10 x 4"),
    "a negative index": (LOOKUP, by_table(1, 2, 3), by_table(1, 2, -3), lambda x: TABLE[x["arg1"]], r"read .*\[-3, 0\] in `arg0`"),
    "of open size": (OPEN, by_table(0, 9, 3), by_table(0, 10, 3), lambda x: TABLE[x["arg1"]],
                     r"read .*\[10, 0\] in `arg0`, where 10 x 4"),
    "a load": (READ, by_row(7, 0, 3), by_row(7, 8, 3), lambda x: ROW[x["arg1"]], r"read .*\[8\] in `arg0`, where 8 can"),
    "far away": (READ, by_row(7, 0, 3), by_row(1 << 30, 0, 3), lambda x: ROW[x["arg1"]], r"read .*\[1073741824\] in `arg0`"),
    "a store": (WRITTEN, by_row(7, 6, 5), by_row(7, -1, 5), lambda x: [0, 1, 2, 3, 4, 2, 1, 0], r"write .*\[-1\] in `arg0`"),
    "by an argument": (PASSED, by_row(0, 0, 0) | {"arg3": np.int64(5)}, by_row(0, 0, 0) | {"arg3": np.int64(6)},
                       lambda x: [5, 6, 7], r"read .*\[8\] in `arg0`"),
    "a vector": (WIDE, by_row(0, 4, 1), by_row(0, 5, 1), lambda x: [3, 7, 4], r"read .*\[5\] in `arg0`, where 5 can"),
    "a loop between data": (BETWEEN, by_row(0, 8, 3), by_row(0, 9, 3), lambda x: [0, 28, 3], r"read .*\[8\] in `arg0`"),
    "a chain": (CHAIN, by_row(0, 4, 1), by_row(0, 5, 1), lambda x: [3, 7, 4], r"read .*\[8\] in `arg0`"),
    "a window": (WINDOW, by_row(0, 4, 1), by_row(0, 5, 1), lambda x: [3, 7, 4], r"read .*\[5\] in `arg0`, where 5 can"),
    "its own kernel": (KERNEL, by_row(7, 0, 3), by_row(7, 8, 3), lambda x: ROW[x["arg1"]], r"read .*\[8\] in `"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_an_index_out_of_bounds(case: str) -> None:
    text, inside, outside, expected, message = CASES[case]
    payload = parse(text)
    for _ in range(2):  # what was found is forgotten
        with pytest.raises(WeftError, match=rf"^W0652: out-of-bounds {message}") as caught:
            reference(payload, "main", outside)
        assert "--input NAME=0:SIZE" in (caught.value.diagnostics[0].hint or "")
        found = reference(payload, "main", inside)
        name = "arg0" if case == "a store" else "result0" if "result0" in found else "arg2"
        np.testing.assert_array_equal(found[name], expected(inside))


def test_a_guard_is_believed() -> None:
    """What is not executed is not out of bounds."""
    text = loops(f"""%z = arith.constant 0.0 : f32 %c8 = arith.constant 8 : index
      %in = arith.cmpi ult, %at, %c8 : index
      %v = scf.if %in -> f32 {{ %a = memref.load %row[%at] : memref<8xf32> scf.yield %a : f32 }} else {{ scf.yield %z : f32 }}
      {STORED}""")
    np.testing.assert_array_equal(reference(parse(text), "main", by_row(-3, 7, 100))["arg2"], [0, 7, 0])


KNOWN = {
    "counters": """func.func @main(%a: tensor<17x9xf32>, %b: tensor<9x5xf32>, %c: tensor<17x5xf32>) -> tensor<17x5xf32> {
      %r = linalg.matmul ins(%a, %b : tensor<17x9xf32>, tensor<9x5xf32>) outs(%c : tensor<17x5xf32>) -> tensor<17x5xf32>
      return %r : tensor<17x5xf32> }""",
    "open sizes": """func.func @main(%a: tensor<?x?xf32>, %c: tensor<?xf32>) -> tensor<?xf32> {
      %r = linalg.reduce ins(%a : tensor<?x?xf32>) outs(%c : tensor<?xf32>) dimensions = [1]
        (%x: f32, %s: f32) { %t = arith.addf %x, %s : f32 linalg.yield %t : f32 }
      return %r : tensor<?xf32> }""",
    "a masked index": loops(f"""%c7 = arith.constant 7 : index %m = arith.andi %at, %c7 : index
      %v = memref.load %row[%m] : memref<8xf32> {STORED}"""),
    "threads": KERNEL.replace("%row[%at]", "%row[%tx]"),
}


@pytest.mark.parametrize("case", KNOWN)
def test_indices_of_known_range_are_not_checked(case: str) -> None:
    from weft.runtime.cpu.launches import serialize_launches

    module = parse(KNOWN[case])
    count = KNOWN[case].partition("{")[0].count(": memref<") + KNOWN[case].partition("{")[0].count(": tensor<")
    checked = CheckedIndices("main", [f"arg{n}" for n in range(count)])
    serialize_launches(module)
    lower(module, checked.insert)
    assert not checked.sites


def test_the_first_of_several_is_named() -> None:
    from weft.runtime.files.inputs import random_inputs
    from weft.runtime.host.functions import signature

    module = parse(LOOKUP)
    given = random_inputs(signature(module, "main"))
    assert given["arg1"].min() < 0
    first = next(number for number in given["arg1"] if not 0 <= number < 10)
    with pytest.raises(WeftError, match=rf"\[{first}, 0\]"):
        reference(module, "main", given)
