"""Payloads on memrefs: raised to tensors where values say the same, left alone where they would not."""

from __future__ import annotations

from pathlib import Path

import pytest
from scheduled import run_schedule

from weft.dsl.diagnostics import WeftError
from weft.pipeline import Choice, applied
from weft.runtime.run.execution import RunOptions

IN_PLACE = """
func.func @f(%a: memref<16x16xf32>) {
  linalg.matmul ins(%a, %a : memref<16x16xf32>, memref<16x16xf32>) outs(%a : memref<16x16xf32>)
  return
}
"""
ELEMENTWISE = """
func.func @f(%a: memref<16x18xf32>, %b: memref<16x18xf32>) {
  linalg.add ins(%a, %b : memref<16x18xf32>, memref<16x18xf32>) outs(%a : memref<16x18xf32>)
  linalg.mul ins(%a, %b : memref<16x18xf32>, memref<16x18xf32>) outs(%b : memref<16x18xf32>)
  return
}
"""


def written(folder: Path, payload: str, body: str) -> str:
    (folder / "p.mlir").write_text(payload)
    (folder / "s.weft").write_text(f'payload "p.mlir"\nschedule s() {{\n{body}\n}}\n')
    return str(folder / "s.weft")


def test_an_op_that_overwrites_what_it_reads_elsewhere_is_refused(tmp_path: Path) -> None:
    body = "let e = match linalg.matmul\nlet (t, i) = tile e [8, 8]"
    with pytest.raises(WeftError) as caught:
        applied(Choice(written(tmp_path, IN_PLACE, body), None, {}).open())
    assert caught.value.diagnostics[0].code == "W0396"


@pytest.mark.parametrize("size", [8, 5])
def test_elementwise_in_place_is_raised_and_right(tmp_path: Path, size: int) -> None:
    body = f"let a = match linalg.add\nlet m = match linalg.mul\nlet (t, i) = tile a [{size}, {size}]\nmap t to blocks(y, x)\n"
    body += f"map i to threads(x: 32) cyclic\nlet (u, j) = tile m [{size}, {size}]\nmap u to blocks(y, x)\n"
    body += "map j to threads(x: 32) cyclic\nlaunch t\nlaunch u"
    report = run_schedule(written(tmp_path, ELEMENTWISE, body), None, {}, None, RunOptions("sim", 0)).report
    assert report.ok, report


def test_a_dimension_of_size_zero_is_refused(tmp_path: Path) -> None:
    payload = """func.func @f(%x: tensor<0x5xf32>) -> tensor<0x5xf32> {
  %e = tensor.empty() : tensor<0x5xf32>
  %r = linalg.exp ins(%x : tensor<0x5xf32>) outs(%e : tensor<0x5xf32>) -> tensor<0x5xf32>
  return %r : tensor<0x5xf32>
}"""
    with pytest.raises(WeftError) as caught:
        applied(
            Choice(written(tmp_path, payload, "let e = match linalg.exp\nlet (t, i) = tile e [4, 4]"), None, {}).open()
        )
    assert caught.value.diagnostics[0].code == "W0338"


WINDOW_IN_A_WINDOW = """
func.func @f(%x: memref<4x8xf32>, %y: memref<6x8xf32>) {
  %a = memref.subview %y[0, 0] [5, 8] [1, 1] : memref<6x8xf32> to memref<5x8xf32>
  %v = memref.subview %a[1, 0] [4, 8] [1, 1] : memref<5x8xf32> to memref<4x8xf32, strided<[8, 1], offset: 8>>
  linalg.exp ins(%x : memref<4x8xf32>) outs(%v : memref<4x8xf32, strided<[8, 1], offset: 8>>)
  return
}
"""


def test_what_goes_into_a_window_of_a_window_reaches_the_buffer(tmp_path: Path) -> None:
    body = """let op = match linalg.exp
let (tiles, tile_exp) = tile op [3, 8]
map tiles to blocks(y, x)
let (lanes, one) = tile tile_exp [1, 1]
map lanes to threads(y, x)
launch tiles"""
    schedule = written(tmp_path, WINDOW_IN_A_WINDOW, body)
    assert run_schedule(schedule, None, {}, None, RunOptions("sim", 1)).report.ok
