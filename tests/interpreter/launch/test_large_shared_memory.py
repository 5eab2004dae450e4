"""Kernels whose shared buffers are too large to be declared: right by every witness, their barriers needed, ready for NVRTC."""

from __future__ import annotations

from pathlib import Path

import pytest
from judging import assert_barriers_needed, expect_right, scheduled
from sass import resources

from weft.interpreter.hardware import limits

PRODUCT = """func.func @f(%A: tensor<70x{k}xf32>, %B: tensor<{k}x40xf32>) -> tensor<70x40xf32> {{
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<70x40xf32>
  %c = linalg.fill ins(%z : f32) outs(%e : tensor<70x40xf32>) -> tensor<70x40xf32>
  %p = linalg.matmul ins(%A, %B : tensor<70x{k}xf32>, tensor<{k}x40xf32>) outs(%c : tensor<70x40xf32>) -> tensor<70x40xf32>
  return %p : tensor<70x40xf32>
}}
"""


def staged(bk: int, stages: int = 1) -> str:
    return f"""let gemm = match linalg.matmul
      let init = match linalg.fill
      let (tiles, tile_mm) = tile gemm [64, 32]
      fuse init into tiles
      map tiles to blocks(y, x)
      let (k, step) = tile tile_mm [_, _, {bk}]
      let (a, copy_a) = promote-to-shared step.lhs transpose
      let (b, copy_b) = promote-to-shared step.rhs
      map copy_a to threads(*) cyclic vector 4
      map copy_b to threads(*) cyclic vector 4
      let (lanes, thread_mm) = tile step [8, 4]
      map lanes to threads(y, x)
      let (kk, micro) = tile thread_mm [_, _, 1]
      promote-to-registers micro.acc across k
      vectorize micro
      pipeline k stages {stages}
      insert-barriers
      launch tiles"""


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("bk", "stages", "size", "dynamic"),
    [(128, 1, 48 * 1024, 0), (132, 1, 50_688, 50_688), (256, 1, 96 * 1024, 96 * 1024), (72, 2, 55_296, 55_296)],
    ids=str,
)
def test_shared_memory_beyond_what_a_text_declares(bk: int, stages: int, size: int, dynamic: int, tmp_path: Path) -> None:
    made = scheduled(PRODUCT.format(k=300), staged(bk, stages), tmp_path)
    (kernel,) = made.plan.kernels
    assert (kernel.shared_bytes, kernel.dynamic_shared_bytes) == (size, dynamic)
    assert ("extern __shared__" in made.cuda) == bool(dynamic)
    remarks = "".join(remark for step in made.applied.session.steps for remark in step.remarks)
    assert ("(needs one of sm_90, sm_100, " in remarks) == bool(dynamic)
    expect_right(made, 0, "", native=True)
    assert_barriers_needed(made, 0, "")
    for chip in ("sm_80", "sm_90a"):
        found = resources(made.cuda, "f", chip)
        assert (found.shared_bytes, found.spill_bytes) == (size - dynamic, 0)


def test_chips_and_what_they_have() -> None:
    """The CUDA C++ Programming Guide's table, in its order."""
    some = "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"
    assert {chip: limits.CHIPS[chip].shared // 1024 for chip in some} == {
        "sm_75": 64, "sm_80": 163, "sm_86": 99, "sm_89": 99, "sm_90": 227, "sm_100": 227, "sm_120": 99
    }  # fmt: skip
    assert limits.chips_with(limits.MOST) == "sm_90, sm_100, sm_103, sm_110"
    most = limits.CHIPS["sm_80"].shared
    assert "sm_80" in limits.chips_with(most) and "sm_80" not in limits.chips_with(most + 1)
    assert limits.chips_with(limits.MOST + 1) == ""
