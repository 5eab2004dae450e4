"""A small schedule to have goldens of."""

from __future__ import annotations

from pathlib import Path

SCALE = """\
payload "scale.mlir"

schedule scale(width: int = 8 in [4, 8]) {
  let op = match linalg.generic
  let (tiles, tile) = tile op [width]
  map tiles to blocks(x)
  let (lanes, one) = tile tile [1]
  map lanes to threads(x: width)
  launch tiles
}
"""
PAYLOAD = """\
func.func @scale(%x: tensor<64xf32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %a : f32
      linalg.yield %s : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
}
"""
CHECKS = """\
// weft golden scale.weft --cuda
// A comment may speak of CHECK: lines.
// CHECK-LABEL: scale(
// CHECK: const int [[i:[a-z]+]] = {{.*}} * 8
// CHECK-NEXT: [[i]]]
// CHECK-NOT: __syncthreads
"""


def write_samples(folder: Path) -> None:
    (folder / "scale.weft").write_text(SCALE)
    (folder / "scale.mlir").write_text(PAYLOAD)
