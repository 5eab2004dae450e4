"""Payloads on memrefs: raised to tensors where values say the same, left alone where they would not."""

from __future__ import annotations

from pathlib import Path

import pytest
from executors import expect_report
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
    expect_report(report)


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
    expect_report(run_schedule(schedule, None, {}, None, RunOptions("sim", 1)).report)


AROUND_A_LOOP = """
#id = affine_map<(i) -> (i)>
func.func @f(%a: memref<8xf32>, %b: memref<8xf32>, %c: memref<8xf32>) {
  %t = memref.alloc() : memref<8xf32>
  %u = memref.alloc() : memref<8xf32>
  linalg.exp ins(%a : memref<8xf32>) outs(%t : memref<8xf32>)
  linalg.abs ins(%t : memref<8xf32>) outs(%u : memref<8xf32>)
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.parallel (%i) = (%c0) to (%c8) step (%c1) {
    %x = memref.load %t[%i] : memref<8xf32>
    memref.store %x, %b[%i] : memref<8xf32>
    scf.reduce
  }
  linalg.add ins(%u, %b : memref<8xf32>, memref<8xf32>) outs(%c : memref<8xf32>)
  memref.dealloc %t : memref<8xf32>
  memref.dealloc %u : memref<8xf32>
  return
}
"""


def test_what_stands_around_a_loop_is_raised(tmp_path: Path) -> None:
    """The loop needs `%t` in memory, and writes `%b`, which is read behind it; nobody needs `%u` in memory."""
    body = "let a = match linalg.add\nlet b = match linalg.abs\nlet (t, i) = tile a [4]\nfuse b into t"
    done = applied(Choice(written(tmp_path, AROUND_A_LOOP, body), None, {}).open())
    lines = [line.strip() for line in done.text.splitlines()]
    loop = next(n for n, line in enumerate(lines) if line.startswith("scf.parallel"))
    assert sum("memref.alloc" in line for line in lines) == 1
    assert sum("materialize_in_destination" in line for line in lines) == 1
    assert any("linalg.exp" in line and "memref" in line for line in lines[:loop])
    assert any("to_tensor %arg1" in line for line in lines[loop:])
