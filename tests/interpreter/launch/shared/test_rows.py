"""Softmax and layer norm in one kernel: right at random sizes, each element read once and written once, all else in registers."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from judging import expect_right, scheduled
from rows import PAYLOADS
from rows import scheduled as statements
from sass import COMPILED_FOR, resources

from weft.dsl.diagnostics import WeftError
from weft.interpreter.ir.mlir import operations
from weft.runtime.files.inputs import random_inputs
from weft.runtime.host import functions
from weft.runtime.predict.chips import CHIPS
from weft.runtime.predict.prediction import predict
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice

SOAK = "WEFT_SOAK" in os.environ


@pytest.mark.few()
@pytest.mark.parametrize("seed", range(40 if SOAK else 2))
@pytest.mark.parametrize("payload", PAYLOADS)
def test_random_rows(payload: str, seed: int, tmp_path: Path) -> None:
    r = random.Random(seed)
    kind = r.choice(("f32", "f32", "f64"))
    n = r.choice((4 * r.randint(1, 300), r.randint(1, 700)))
    space = r.choice(("lanes", f"threads(x: {32 * r.choice((1, 2, 4, 8))})"))
    rows = r.randint(1, 4) if space == "lanes" else 1
    wide = 4 if kind == "f32" else 2
    how = r.choice(("cyclic", "block", "block-cyclic(2)")) + (f" vector {wide}" if n % wide == 0 and r.random() < 0.7 else "")
    text = PAYLOADS[payload](rows * r.randint(1, 4), n, kind)
    body = statements(payload, rows, space, how)
    try:
        made = scheduled(text, body, tmp_path)
    except WeftError as error:
        assert "W0380" in str(error) and n > 512, f"{error}\n{body}"  # more than a thread keeps
        return
    expect_right(made, seed, f"\n{text}\n{body}\n", native=True)


@pytest.mark.few()
@pytest.mark.parametrize("space", ["lanes", "threads(x: 64)"])
@pytest.mark.parametrize("payload", PAYLOADS)
def test_each_element_is_read_and_written_once(payload: str, space: str, tmp_path: Path) -> None:
    """By the simulator's count: in 16 bytes at a time; and of what stands for a column, one in each row."""
    rows, columns, each = 6, 512, 2 if space == "lanes" else 1
    made = scheduled(PAYLOADS[payload](rows, columns), statements(payload, each, space, "cyclic vector 4"), tmp_path)
    inputs = random_inputs(functions.signature(made.applied.payload, made.plan.entry), 0)
    done = run_plan(made.plan, SimDevice(), inputs, text=made.applied.text)
    found = {(use.buffer, use.kind): use for _, use in done.traffic or ()}
    assert {key: use.once for key, use in found.items() if use.size == rows * columns} == {
        ("x", "load"): True, ("result0", "store"): True,
    }  # fmt: skip
    assert all(use.accesses == ((16, rows * columns // 4),) for use in found.values())
    assert len(found) == (2 if payload == "softmax" else 4)


@pytest.mark.parametrize("payload", PAYLOADS)
def test_one_read_and_one_write(payload: str, tmp_path: Path) -> None:
    """In 16 bytes at a time, of 8192 elements a row; nothing in local memory on any chip; as fast as memory is."""
    made = scheduled(PAYLOADS[payload](8192, 8192), statements(payload, 1, "threads(x: 512)", "cyclic vector 4"), tmp_path)
    (kernel,) = operations(made.applied.module.operation, "gpu.func")
    x, out = kernel.regions[0].blocks[0].arguments[0], kernel.regions[0].blocks[0].arguments[len(made.plan.buffers) - 1]
    assert [use.owner.name for use in x.uses] == ["vector.load"]
    assert [use.owner.name for use in out.uses] == ["vector.store"]
    (name,) = (entry.name for entry in made.plan.kernels)
    for chip in COMPILED_FOR:
        found = resources(made.cuda, name, chip)
        assert (found.spill_bytes, found.stack_bytes) == (0, 0), chip
    chip = CHIPS["h200"]
    (guess,) = predict(made.plan, made.cuda, chip).kernels
    assert guess.seconds < 1.1 * 2 * 4 * 8192**2 / (chip.dram * chip.dram_share) + chip.launch


HALVES = """\
#whole = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @f(%x: tensor<3x512xf16>) -> (tensor<3x512xf32>, tensor<3x512xf16>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3xf32>
  %w = tensor.empty() : tensor<3x512xf32>
  %h = tensor.empty() : tensor<3x512xf16>
  %p = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<3x512xf16>) outs(%w : tensor<3x512xf32>) {
  ^bb0(%a: f16, %o: f32):
    %b = arith.extf %a : f16 to f32
    %r = arith.addf %b, %b : f32
    linalg.yield %r : f32
  } -> tensor<3x512xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %s = linalg.reduce { arith.addf } ins(%p : tensor<3x512xf32>) outs(%s0 : tensor<3xf32>) dimensions = [1]
  %y = linalg.generic {indexing_maps = [#whole, #row, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%p, %s : tensor<3x512xf32>, tensor<3xf32>) outs(%h : tensor<3x512xf16>) {
  ^bb0(%a: f32, %sum: f32, %o: f16):
    %d = arith.subf %sum, %a : f32
    %r = arith.truncf %d : f32 to f16
    linalg.yield %r : f16
  } -> tensor<3x512xf16>
  %q = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<3x512xf16>) outs(%w : tensor<3x512xf32>) {
  ^bb0(%a: f16, %o: f32):
    %r = arith.extf %a : f16 to f32
    linalg.yield %r : f32
  } -> tensor<3x512xf32>
  return %q, %y : tensor<3x512xf32>, tensor<3x512xf16>
}
"""


def test_halves_are_read_16_bytes_at_a_time_beside_rows_of_f32(tmp_path: Path) -> None:
    """What is wider takes two accesses, whether it is in memory or in registers."""
    body = "let sum = match linalg.reduce\nlet init = match linalg.fill\n"
    body += "".join(f"let {op} = match linalg.generic #{n}\n" for n, op in enumerate("pyq"))
    body += "let (rows, row) = tile y [1, _]\nfuse sum into rows\nfuse init into rows\nfuse p into rows\n"
    body += "map rows to blocks(x)\nlet (others, other) = tile q [1, _]\nmap others to blocks(x)\n"
    body += "".join(f"map {op} to threads(x: 32) cyclic vector 8\n" for op in ("p", "sum", "row", "other"))
    made = scheduled(HALVES, f"{body}insert-barriers\nlaunch rows\nlaunch others", tmp_path)
    expect_right(made, 1, made.cuda, native=True)
    assert "__shared__" not in made.cuda and made.cuda.count("const vec<f16, 8>*>(&x[") == 2
    assert made.cuda.count("<vec<f16, 8>*>(&result1[") == 1 and made.cuda.count("<float4*>(&result0[") == 2
    with pytest.raises(WeftError, match="16 elements of f16 are 256 bits"):
        scheduled(HALVES, body.replace("vector 8", "vector 16") + "insert-barriers\nlaunch rows\nlaunch others", tmp_path)
