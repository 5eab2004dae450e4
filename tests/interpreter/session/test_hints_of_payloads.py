"""Hints about what a payload has that no statement takes as it is: followed, they lead to a schedule that is right."""

from __future__ import annotations

from pathlib import Path

import pytest
from judging import expect_right, scheduled

from weft.dsl.diagnostics import Diagnostic, WeftError

MOVED = """\
func.func @f(%x: tensor<3x50xf32>) -> tensor<3x105xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x105xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<3x105xf32>) -> tensor<3x105xf32>
  %r = tensor.insert_slice %x into %z[0, 3] [3, 50] [1, 2] : tensor<3x50xf32> into tensor<3x105xf32>
  return %r : tensor<3x105xf32>
}
"""
COPIED = """\
func.func @f(%x: memref<9x50xf32>, %y: memref<9x50xf32>) {
  memref.copy %x, %y : memref<9x50xf32> to memref<9x50xf32>
  return
}
"""
WINDOWS = """\
func.func @f(%x: tensor<3x102xf32>) -> tensor<3x100xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x100xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<3x100xf32>) -> tensor<3x100xf32>
  %w = tensor.empty() : tensor<3xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(b, t, r) -> (b, t - r + 2)>, affine_map<(b, t, r) -> (r)>, affine_map<(b, t, r) -> (b, t)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<3x102xf32>, tensor<3xf32>) outs(%z : tensor<3x100xf32>) {
    ^bb0(%a: f32, %none: f32, %sum: f32):
      %s = arith.addf %sum, %a : f32
      linalg.yield %s : f32
  } -> tensor<3x100xf32>
  return %y : tensor<3x100xf32>
}
"""
FINISHED = """\
func.func @f(%a: tensor<20x24xf32>, %b: tensor<24x16xf32>, %bias: tensor<16xf32>) -> tensor<20x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<20x16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<20x16xf32>) -> tensor<20x16xf32>
  %p = linalg.matmul ins(%a, %b : tensor<20x24xf32>, tensor<24x16xf32>) outs(%z : tensor<20x16xf32>) -> tensor<20x16xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%p, %bias : tensor<20x16xf32>, tensor<16xf32>) outs(%e : tensor<20x16xf32>) {
    ^bb0(%x: f32, %c: f32, %out: f32):
      %s = arith.addf %x, %c : f32
      linalg.yield %s : f32
  } -> tensor<20x16xf32>
  return %r : tensor<20x16xf32>
}
"""
FINISH = """\
let gemm = match linalg.matmul
let init = match linalg.fill
let bias = match linalg.generic
let (tiles, t) = tile bias [8, 8]
fuse gemm into tiles
fuse init into tiles
map tiles to blocks(y, x)
let (k, step) = tile gemm [_, _, 8]
let (lanes, one) = tile step [1, 1]
map lanes to threads(y, x)
promote-to-registers one.acc across k
{more}{finish}insert-barriers
launch tiles
"""


def refused(payload: str, body: str, folder: Path, code: str) -> Diagnostic:
    with pytest.raises(WeftError) as caught:
        scheduled(payload, body, folder)
    (found,) = caught.value.diagnostics
    assert found.code == code and found.hint is not None, found
    return found


@pytest.mark.parametrize(("statement", "code"), [("map op to grid(y, x)", "W0344"), ("let (t, o) = tile op [1, 8]", "W0320")])
def test_a_tensor_that_is_put_into_another(statement: str, code: str, tmp_path: Path) -> None:
    found = refused(MOVED, f"let op = match tensor.insert_slice\n{statement}", tmp_path, code)
    (made,) = (part for part in str(found.hint).split("`") if part.startswith("let copy"))
    body = f"let z = match linalg.fill\nlet op = match tensor.insert_slice\n{made}\n"
    body += "map z to grid(y, x)\nmap copy to grid(y, x)\nlaunch z\nlaunch copy"
    expect_right(scheduled(MOVED, body, tmp_path), 0, body)


def test_a_copy_of_a_memref(tmp_path: Path) -> None:
    found = refused(COPIED, "let op = match memref.copy\nmap op to grid(y, x)", tmp_path, "W0344")
    assert "linalg.copy" in str(found.hint)
    kind = "memref<9x50xf32>"
    payload = COPIED.replace(f"memref.copy %x, %y : {kind} to {kind}", f"linalg.copy ins(%x : {kind}) outs(%y : {kind})")
    body = "let op = match linalg.copy\nmap op to grid(y, x)\nlaunch op"
    expect_right(scheduled(payload, body, tmp_path), 0, body)


def test_a_loop_whose_iterations_no_operand_counts(tmp_path: Path) -> None:
    body = "let op = match linalg.generic\nlet z = match linalg.fill\nlet (t, one) = tile op [1, 1]\nfuse z into t\n"
    body += "map t to grid(y, x)\nlaunch t"
    expect_right(scheduled(WINDOWS, body, tmp_path), 0, body)
    without = WINDOWS.replace(", affine_map<(b, t, r) -> (r)>", "").replace("%none: f32, ", "")
    without = without.replace("ins(%x, %w : tensor<3x102xf32>, tensor<3xf32>)", "ins(%x : tensor<3x102xf32>)")
    assert "`tensor.empty()`" in str(refused(without, body, tmp_path, "W0487").hint)


def test_an_op_that_is_mapped_itself_beside_loops_over_elements(tmp_path: Path) -> None:
    """Of a ragged tile it loads what it finishes where it is; of a whole one it reads a slice."""
    body = FINISH.format(more="", finish="map t to threads(y, x)\n")
    assert "`tile`" in str(refused(FINISHED, body, tmp_path, "W0380").hint)
    followed = FINISH.format(more="", finish="let (own, cell) = tile t [1, 1]\nmap own to threads(y, x)\n")
    expect_right(scheduled(FINISHED, followed, tmp_path), 0, followed)
    twice = FINISH.format(more="map init to threads(y, x)\n", finish="")
    assert "needs no `map`" in str(refused(FINISHED, twice, tmp_path, "W0342").hint)


def test_several_names_for_one_match(tmp_path: Path) -> None:
    assert "#1" in str(refused(FINISHED, "let (a, b) = match linalg.generic", tmp_path, "W0226").hint)
