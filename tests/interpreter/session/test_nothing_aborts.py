"""Statements on payloads that nobody thought of: each is done or refused by a diagnostic; none raises anything else, and none ends
the process, as upstream does where it is asked for what it takes for granted.

5 payloads in a test run, 400 in a soak, 24 statements on each, in a process of their own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import weft
from weft.auditing import audit_bundle
from weft.dsl.diagnostics import Source
from weft.interpreter.ir import mlir
from weft.verify import verify_source

WORKER = Path(__file__).parent / "random_statements.py"
EACH = 5


@pytest.mark.parametrize("first", range(0, 400, EACH) if "WEFT_SOAK" in os.environ else [0, 100])  # 101 read the module's block
def test_random_statements(first: int) -> None:
    command = [sys.executable, str(WORKER), str(first), str(first + EACH)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    last = done.stdout[done.stdout.rfind("---- seed") :]
    assert done.returncode == 0 and done.stdout.endswith("---- all done\n"), f"{done.returncode}\n{last}\n{done.stderr[-3000:]}"


TWICE = """
from weft.interpreter.ir import mlir
context = mlir.context()
for _ in range(20):
    module = mlir.parse("func.func @f(%a: i32, %b: i32) -> i32 {\\n%r = math.ipowi %a, %b : i32\\nreturn %r : i32\\n}", context)
    mlir.run_passes(module, "convert-math-to-funcs")
    del module
"""


def test_a_pass_that_keeps_ops_of_one_module_does_not_meet_another() -> None:
    done = subprocess.run([sys.executable, "-c", TWICE], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-3000:]


ATTRIBUTES = ["array<ui32: 1>", "[array<si8: 1>]", "{b = array<f16: 1.0>}", 'loc("x")', 'loc(callsite("a" at "b"))']
KNOWN = ["array<i1: true>", "array<i8>", "array<i16: 1>", "array<i32: 1>", "array<i64: 1, 2>", "array<f32: 1.0>", "array<f64: 1.0>"]
HOLDERS = """func.func @f(%x: memref<8xf32> {{other.mark = {0}}}, %y: memref<8xf32>) attributes {{mark = {0}}} {{
  linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"], mark = {0}}}
      ins(%x : memref<8xf32>) outs(%y : memref<8xf32>) {{ ^bb0(%a: f32, %o: f32):
    %b = arith.mulf %a, %a {{mark = {0}}} : f32
    linalg.yield %b : f32 }}
  return
}}"""
SCHEDULE = "schedule s() {\n  let square = match linalg.generic\n  map square to threads(x: 8)\n  launch square\n}"


@pytest.mark.parametrize("attribute", ATTRIBUTES)
def test_attributes_that_the_bindings_have_no_class_for(attribute: str, tmp_path: Path) -> None:
    """They raised a TypeError where they were read, and ended the process where that was in compiled code: of an argument."""
    made = weft.build(SCHEDULE, tmp_path / "bundle", payload=HOLDERS.format(attribute))
    assert audit_bundle(made).ok
    assert verify_source(Source("kernel.mlir", (made / "module.mlir").read_text().replace("arith.mulf", "arith.addf"))).ok


def test_arrays_are_read_as_what_they_are() -> None:
    with mlir.context():
        kinds = [type(mlir.ir.Attribute.parse(array)).__name__ for array in KNOWN]
    assert kinds == [f"Dense{kind}ArrayAttr" for kind in ("Bool", "I8", "I16", "I32", "I64", "F32", "F64")]


def test_places_stay_places() -> None:
    module = mlir.parse('"some.op"() {a = loc("x")} : () -> () loc("f":3:4)', mlir.context())
    (op,) = (op for op in mlir.operations(module.operation) if op.name == "some.op")
    assert isinstance(op.location, mlir.ir.FileLineColLoc) and op.location.start_line == 3
    assert str(op.attributes["a"]) == 'loc("x")'
