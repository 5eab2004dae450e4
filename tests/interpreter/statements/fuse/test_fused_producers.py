"""`fuse` of producers that others read as well, behind the loop, in front of it, or in another loop: right, and never an abort."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from judged import codes, refusal

import weft
from weft.runtime.cpu.reference import reference
from weft.runtime.files.inputs import random_inputs
from weft.runtime.host import functions

PAYLOAD = """\
#id = affine_map<(i, j) -> (i, j)>
func.func @f(%a: tensor<12x12xf32>, %v: tensor<12x12xf32>) -> (tensor<12x12xf32>, tensor<12x12xf32>) {{
  %e = tensor.empty() : tensor<12x12xf32>
  %zero = arith.constant 0.0 : f32
  %p:2 = linalg.generic {{indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}}
      ins(%a : tensor<12x12xf32>) outs(%e, %e : tensor<12x12xf32>, tensor<12x12xf32>) {{
    ^bb0(%x: f32, %o: f32, %q: f32):
      %d = arith.mulf %x, %x : f32
      %n = arith.negf %x : f32
      linalg.yield %d, %n : f32, f32
  }} -> (tensor<12x12xf32>, tensor<12x12xf32>)
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<12x12xf32>) -> tensor<12x12xf32>
  {before}
  %r = linalg.matmul ins({read}, %v : tensor<12x12xf32>, tensor<12x12xf32>) outs(%z : tensor<12x12xf32>) -> tensor<12x12xf32>
  {behind}
  return %s, %r : tensor<12x12xf32>, tensor<12x12xf32>
}}
"""
ADD = "linalg.add ins({}, {} : tensor<12x12xf32>, tensor<12x12xf32>) outs(%e : tensor<12x12xf32>) -> tensor<12x12xf32>"
READERS = {
    "behind": ("", f"%s = {ADD.format('%p#0', '%r')}", "%p#0"),
    "in front": (f"%s = {ADD.format('%p#0', '%v')}", "", "%p#0"),
    "the other result behind": ("", f"%s = {ADD.format('%p#1', '%r')}", "%p#0"),
    "returned": ("%s = tensor.extract_slice %p#1[0, 0] [12, 12] [1, 1] : tensor<12x12xf32> to tensor<12x12xf32>", "", "%p#1"),
}
LOOPS = {
    "for": "let (k, step) = tile mm [_, _, 4]\nfuse p into k\n",
    "for twice": "let (k, step) = tile mm [_, _, 6]\nlet (l, small) = tile step [_, _, 3]\nfuse p into k\nfuse p into l\n",
    "forall": "let (tiles, step) = tile mm [3, 4]\nfuse p into tiles\n",
    "for in forall": "let (tiles, one) = tile mm [4, _]\nlet (k, step) = tile one [_, _, 6]\nfuse p into tiles\nfuse p into k\n",
    "ragged for": "let (k, step) = tile mm [_, _, 5]\nfuse p into k\n",
    "ragged forall": "let (tiles, step) = tile mm [5, 7]\nfuse p into tiles\n",
    "ragged for in ragged forall": "let (tiles, one) = tile mm [5, 8]\nfuse p into tiles\n"
    "let (k, step) = tile one [_, _, 7]\nfuse p into k\n",
    "ragged rows, twice": "let (tiles, one) = tile mm [8, _]\nfuse p into tiles\n"
    "let (lanes, step) = tile one [3, _]\nfuse p into lanes\n",
}


@pytest.mark.few(8)
@pytest.mark.parametrize("readers", READERS)
@pytest.mark.parametrize("loops", LOOPS)
def test_a_producer_with_other_readers(readers: str, loops: str, tmp_path: Path) -> None:
    before, behind, read = READERS[readers]
    (tmp_path / "p.mlir").write_text(PAYLOAD.format(before=before, behind=behind, read=read))
    lines = f"let p = match linalg.generic\nlet mm = match linalg.matmul\n{LOOPS[loops]}bufferize"
    (tmp_path / "s.weft").write_text(f'payload "p.mlir"\nschedule s() {{\n{lines}\n}}\n')
    done = weft.apply(tmp_path / "s.weft")
    arrays = random_inputs(functions.signature(done.payload, None), 1)
    wanted, got = (reference(module, None, arrays) for module in (done.payload, done.module))
    for name, array in wanted.items():
        assert np.allclose(got[name], array, rtol=1e-5, atol=1e-4), name


def test_a_loop_over_sums_only_starts_from_its_fill(tmp_path: Path) -> None:
    before, behind, read = READERS["behind"]
    said = refusal(
        tmp_path, PAYLOAD.format(before=before, behind=behind, read=read),
        "let z = match linalg.fill\nlet mm = match linalg.matmul\nlet (k, step) = tile mm [_, _, 5]\nfuse z into k",
    )  # fmt: skip
    assert codes(said) == ["W0326"] and "only as its initial value" in said
