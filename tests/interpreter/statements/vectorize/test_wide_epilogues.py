"""`vectorize` of what follows a product: its reads, under masks too, and its results go n wide where n are inside together."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from executors import expect_report
from native_device import NativeDevice
from scheduled import run_schedule

from weft.interpreter.ir import mlir
from weft.pipeline import Choice, Planned, applied, planned
from weft.runtime.cpu.reference import reference
from weft.runtime.files.inputs import random_inputs
from weft.runtime.host import functions
from weft.runtime.run.execution import RunOptions
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice

PAYLOAD = """#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> ({row})>
func.func @f(%A: tensor<{m}x24xf32>, %B: tensor<24x{n}xf32>, %bias: tensor<{size}xf32>, %D: tensor<{m}x{n}xf32>)
    -> tensor<{m}x{n}xf32> {{
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<{m}x{n}xf32>
  %c = linalg.fill ins(%z : f32) outs(%e : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  %p = linalg.matmul ins(%A, %B : tensor<{m}x24xf32>, tensor<24x{n}xf32>) outs(%c : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  %o = tensor.empty() : tensor<{m}x{n}xf32>
  %r = linalg.generic {{indexing_maps = [#id, #row, #id, #id], iterator_types = ["parallel", "parallel"]}}
      ins(%p, %bias, %D : tensor<{m}x{n}xf32>, tensor<{size}xf32>, tensor<{m}x{n}xf32>) outs(%o : tensor<{m}x{n}xf32>) {{
  ^bb0(%x: f32, %b: f32, %d: f32, %y: f32):
    %s = arith.addf %x, %b : f32
    %t = arith.addf %s, %d : f32
    %w = arith.maximumf %t, %z : f32
    linalg.yield %w : f32
  }} -> tensor<{m}x{n}xf32>
  return %r : tensor<{m}x{n}xf32>
}}
"""
SCHEDULE = """payload "case.mlir"
schedule case() {
  let gemm = match linalg.matmul
  let init = match linalg.fill
  let last = match linalg.generic
  let (tiles, shown) = tile last [16, 32]
  fuse gemm into tiles
  fuse init into tiles
  map tiles to blocks(y, x)
  let (k, step) = tile gemm [_, _, 8]
  let (a, copy_a) = promote-to-shared step.lhs
  let (b, copy_b) = promote-to-shared step.rhs
  map copy_a to threads(*) cyclic
  map copy_b to threads(*) cyclic
  let (lanes, mine) = tile step [4, 8]
  map lanes to threads(y, x)
  let (out_lanes, done) = tile shown [4, 8]
  map out_lanes to threads(y, x)
  let (kk, micro) = tile mine [_, _, 1]
  promote-to-registers micro.acc across k
  vectorize micro
  vectorize done
  insert-barriers
  launch tiles
}
"""


def made(folder: Path, m: int, n: int, row: str = "j") -> Planned:
    (folder / "case.mlir").write_text(PAYLOAD.format(m=m, n=n, row=row, size=n if row == "j" else m))
    (folder / "case.weft").write_text(SCHEDULE)
    return planned(applied(Choice(str(folder / "case.weft"), None, {}).open()))


WIDE = {
    # rows, columns: how many elements an access of the bias, of D, and of the result has
    (32, 64): (4, 4, 4),
    (30, 64): (4, 4, 4),  # ragged rows: all of an access is in one
    (32, 52): (4, 4, 4),  # ragged columns, a multiple of four
    (29, 36): (4, 4, 4),
    (32, 50): (2, 2, 2),
    (29, 34): (2, 2, 2),
    (32, 51): (1, 1, 1),
    (29, 33): (1, 1, 1),
    (3, 4): (4, 4, 4),
    (1, 1): (1, 1, 1),
}


def accesses(done: Planned) -> list[tuple[int, int, int]]:
    """By name of the buffer, behind the product: how wide the accesses of the bias, D and the result are."""
    (func,) = mlir.operations(done.applied.module.operation, "gpu.func")
    names = [str(a["weft.name"]).strip('"') for a in func.attributes["arg_attrs"]]
    arguments = dict(zip(func.regions[0].blocks[0].arguments, names, strict=False))
    found: dict[str, set[int]] = {}
    for op in mlir.operations(func, "memref.load", "memref.store", "vector.load", "vector.store"):
        buffer, value = (op.operands[0], op.results[0]) if "load" in op.name else (op.operands[1], op.operands[0])
        name = arguments.get(buffer)
        if name is not None:
            found.setdefault(name, set()).add(value.type.shape[0] if op.name.startswith("vector") else 1)
    read, wanted = [n for n in names if n in ("bias", "D")], [n for n in names if n not in ("A", "B", "bias", "D")]
    return [tuple(width for name in ("bias", "D", *wanted) for width in sorted(found[name]))] if read else []


@pytest.mark.few(3)
@pytest.mark.parametrize(("m", "n"), WIDE, ids=str)
def test_right_and_as_wide_as_all_are_inside_together(tmp_path: Path, m: int, n: int) -> None:
    done = made(tmp_path, m, n)
    assert accesses(done) == [WIDE[m, n]]
    arrays = random_inputs(functions.signature(done.applied.payload, done.plan.entry), 1)
    (want,) = reference(done.applied.payload, None, arrays).values()
    simulated = run_plan(done.plan, SimDevice(), arrays, text=done.applied.text)
    assert not simulated.races and not simulated.faults
    native = run_plan(done.plan, NativeDevice(), arrays, text=done.cuda)
    for run in (simulated, native):
        (got,) = run.outputs.values()
        assert np.max(np.abs(got - want)) <= 1e-5 * max(np.max(np.abs(want)), 1e-30)


def test_a_bias_of_each_row_is_read_by_elements(tmp_path: Path) -> None:
    """All elements of an access have the same one: nothing lies side by side."""
    done = made(tmp_path, 30, 36, "i")
    assert accesses(done) == [(1, 4, 4)]
    arrays = random_inputs(functions.signature(done.applied.payload, done.plan.entry), 1)
    (want,) = reference(done.applied.payload, None, arrays).values()
    (got,) = run_plan(done.plan, SimDevice(), arrays, text=done.applied.text).outputs.values()
    assert np.max(np.abs(got - want)) <= 1e-5 * np.max(np.abs(want))


SAID = {64: "in1: loaded 4 elements at once", 52: "2 of 2 reads 4 elements at once", 51: "element by element"}


@pytest.mark.parametrize(("n", "said"), SAID.items())
def test_the_report_says_how_wide(tmp_path: Path, n: int, said: str) -> None:
    steps = made(tmp_path, 30 if n != 64 else 32, n).applied.session.steps
    (step,) = [s for s in steps if "vectorize done" in str(s.text)]
    assert any(said in remark for remark in step.remarks), step.remarks


def test_a_scalar_in_memory_is_read_as_it_is(tmp_path: Path) -> None:
    """Of an op that turns its input, so that the tiles become fragments: a factor without dimensions does not."""
    (tmp_path / "p.mlir").write_text("""\
func.func @f(%x: memref<8x4xf32>, %s: memref<f32>, %y: memref<4x8xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> (j, i)>],
                  iterator_types = ["parallel", "parallel"]}
    ins(%x, %s : memref<8x4xf32>, memref<f32>) outs(%y : memref<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.mulf %a, %b : f32
    linalg.yield %t : f32
  }
  return
}
""")
    body = "let c = match linalg.generic\n  let (lanes, one) = tile c [4, 4]\n  map lanes to grid(y, x)\n  vectorize one\n"
    body += "  launch lanes"
    (tmp_path / "s.weft").write_text(f'payload "p.mlir"\nschedule s() {{\n  {body}\n}}\n')
    report = run_schedule(str(tmp_path / "s.weft"), None, {}, None, RunOptions("sim", 3)).report
    expect_report(report)
