"""Ops that only the simulator knows: it runs them, the report states that there is no text, and a bundle is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from weft.dsl.diagnostics import WeftError
from weft.execution import run_recipe
from weft.pipeline import Choice, applied, planned
from weft.runtime.run.execution import RunOptions

TOGETHER = """\
func.func @f(%x: memref<64xf32>, %y: memref<64xf32>) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%a, %b, %c) in (%g = %c1, %h = %c1, %i = %c1) threads(%t, %u, %v) in (%s = %c64, %p = %c1, %q = %c1) {
    %one = memref.load %x[%t] : memref<64xf32>
    %sum = gpu.all_reduce add %one uniform {} : (f32) -> f32
    memref.store %sum, %y[%t] : memref<64xf32>
    gpu.terminator
  }
  return
}
"""
POWERS = """\
func.func @f(%x: memref<64xi32>, %y: memref<64xi32>) {
  %two = arith.constant 2 : i32
  affine.for %i = 0 to 64 {
    %a = affine.load %x[%i] : memref<64xi32>
    %b = math.ipowi %a, %two : i32
    affine.store %b, %y[%i] : memref<64xi32>
  }
  return
}
"""


def choice(folder: Path, payload: str, body: str) -> Choice:
    (folder / "p.mlir").write_text(payload)
    (folder / "s.weft").write_text(f'payload "p.mlir"\nschedule s() {{\n  {body}\n}}\n')
    return Choice(str(folder / "s.weft"))


@pytest.mark.parametrize(
    ("payload", "body", "compared"),
    [
        (TOGETHER, 'run-pass "gpu-kernel-outlining"', False),
        (POWERS, "let l = match affine.for\n  map l to grid(x)\n  launch l", True),
    ],
    ids=["threads together", "arithmetic"],
)
def test_the_simulator_runs_what_has_no_text(payload: str, body: str, compared: bool, tmp_path: Path) -> None:
    one = choice(tmp_path, payload, body)
    done = run_recipe(one.open(), None, RunOptions(target="sim", reference="jit" if compared else "none"))
    assert not done.report.races and done.report.ok is (True if compared else None)
    assert done.cuda.startswith("// no text: the CUDA emitter does not support")
    with pytest.raises(WeftError) as caught:
        planned(applied(one.open()))
    assert [found.code for found in caught.value.diagnostics] == ["W0501"]
