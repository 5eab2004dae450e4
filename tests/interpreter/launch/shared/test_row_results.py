"""What is made of the results of rows: scalars that each thread computes, and what blocks combine atomically."""

from __future__ import annotations

from pathlib import Path

import pytest
from judging import barriers, expect_right, scheduled
from rows import PAYLOADS
from rows import scheduled as statements

from weft.dsl.diagnostics import WeftError

MEANS = """\
#whole = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#each = affine_map<(i) -> (i)>
func.func @f(%x: tensor<6x100xf32>) -> tensor<6x100xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 100.0 : f32
  %e = tensor.empty() : tensor<6xf32>
  %w = tensor.empty() : tensor<6x100xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<6xf32>) -> tensor<6xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<6x100xf32>) outs(%z : tensor<6xf32>) dimensions = [1]
  %mean = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]}
      ins(%s : tensor<6xf32>) outs(%e : tensor<6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.divf %a, %n : f32
    linalg.yield %r : f32
  } -> tensor<6xf32>
  %y = linalg.generic {indexing_maps = [#whole, #row, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%x, %mean : tensor<6x100xf32>, tensor<6xf32>) outs(%w : tensor<6x100xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %r = arith.subf %a, %m : f32
    linalg.yield %r : f32
  } -> tensor<6x100xf32>
  return %y : tensor<6x100xf32>
}
"""


STRIPS = "let (blocks, each) = tile rows [2]"


@pytest.mark.few()
@pytest.mark.parametrize("space", ["lanes", "threads(x: 64)"])
@pytest.mark.parametrize("rows", ["map rows to blocks(x)", f"{STRIPS}\nmap blocks to blocks(x)\nmap each to {{}}"])
def test_each_thread_makes_a_scalar_of_a_result(space: str, rows: str, tmp_path: Path) -> None:
    """An op on what all threads have needs no memory that they share, and no barrier; of several rows one after the other, too."""
    body = f"""\
let sum = match linalg.reduce
let mean = match linalg.generic #0
let last = match linalg.generic #1
let zero = match linalg.fill
let (rows, row) = tile last [1, _]
fuse mean into rows
fuse sum into rows
fuse zero into rows
promote-to-registers sum.in0
bufferize
{rows.format("warps(x)" if space == "lanes" else "registers")}
map sum to {space} cyclic
map mean to registers
map row to {space} cyclic
insert-barriers
launch {"blocks" if "tile" in rows else "rows"}"""
    made = scheduled(MEANS, body, tmp_path)
    expect_right(made, 0, body, native=True)
    assert len(barriers(made.applied.module)) == {"lanes": 0, "threads(x: 64)": 1 if "tile" not in rows else 2}[space]


@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_row_of_a_block_of_one_warp(payload: str, tmp_path: Path) -> None:
    """Lanes are all threads of the block: nobody else reads what they keep."""
    body = statements(payload, 1, "threads(x: 32)", "cyclic").replace("threads(x: 32)", "lanes")
    expect_right(scheduled(PAYLOADS[payload](5, 70), body, tmp_path), 0, body, native=True)


@pytest.mark.parametrize(
    ("how", "threads", "reason"),
    [
        (
            "lanes cyclic",
            "",
            "`lanes cyclic` gives each thread 129 elements of f32, 516 bytes, and it keeps at most 512",
        ),
        ("lanes cyclic", "threads(x: 64)", "fills it in one warp, and others of the block read it"),
    ],
)
def test_why_a_row_is_not_kept(how: str, threads: str, reason: str, tmp_path: Path) -> None:
    body = statements("softmax", 1, "threads(x: 32)", "cyclic").replace("threads(x: 32) cyclic", how)
    if threads:
        body = body.replace(f"map row to {how}", f"map row to {threads} cyclic")
    with pytest.raises(WeftError, match="W0380") as refused:
        scheduled(PAYLOADS["softmax"](5, 100 if threads else 4097), body, tmp_path)
    assert reason in refused.value.diagnostics[0].message


TOTAL = """\
func.func @f(%x: tensor<3x1000x{kind}>) -> tensor<3x{kind}> {{
  %c = arith.constant {start} : {kind}
  %e = tensor.empty() : tensor<3x{kind}>
  %z = linalg.fill ins(%c : {kind}) outs(%e : tensor<3x{kind}>) -> tensor<3x{kind}>
  %s = linalg.reduce {{ arith.{what} }} ins(%x : tensor<3x1000x{kind}>) outs(%z : tensor<3x{kind}>) dimensions = [1]
  return %s : tensor<3x{kind}>
}}
"""


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("what", "kind", "start"), [("addf", "f32", "0.0"), ("maxsi", "i32", "-2147483648"), ("xori", "i64", "0")]
)
@pytest.mark.parametrize("space", ["threads(x: 64)", "lanes"])
def test_a_result_that_all_threads_have_is_combined_once(
    what: str, kind: str, start: str, space: str, tmp_path: Path
) -> None:
    """The sum of `split-k … atomic` needs no map of its own: the first threads that have the parts combine them."""
    body = f"""\
let s = match linalg.reduce
let z = match linalg.fill
let (partial, zeros, merge) = split-k s 4 atomic
let (blocks, part) = tile partial [1, 1]
fuse zeros into blocks
fuse merge into blocks
map blocks to blocks(y, x)
map part to {space} cyclic
map z to threads(x: 3)
insert-barriers
launch z
launch blocks"""
    made = scheduled(TOTAL.format(kind=kind, start=start, what=what), body, tmp_path)
    expect_right(made, 0, body, native=True)


@pytest.mark.parametrize("how", ["", " block", " vector 4"])
def test_as_many_threads_as_a_row_has_elements(how: str, tmp_path: Path) -> None:
    """They copy the row's result, too, which has a single element."""
    body = f"""\
let s = match linalg.reduce
let z = match linalg.fill
let (rows, row) = tile s [1]
fuse z into rows
map rows to blocks(x)
map row to threads(x){how}
insert-barriers
launch rows"""
    made = scheduled(TOTAL.format(kind="f32", start="0.0", what="addf").replace("1000", "128"), body, tmp_path)
    expect_right(made, 0, body, native=True)


FROM_ONE_FILL = """\
#whole = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @f(%x: tensor<5x96xf32>) -> tensor<5xf32> {
  %half = arith.constant 0.5 : f32
  %e = tensor.empty() : tensor<5xf32>
  %z = linalg.fill ins(%half : f32) outs(%e : tensor<5xf32>) -> tensor<5xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<5x96xf32>) outs(%z : tensor<5xf32>) dimensions = [1]
  %t = linalg.generic {indexing_maps = [#whole, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %s : tensor<5x96xf32>, tensor<5xf32>) outs(%z : tensor<5xf32>) {
  ^bb0(%a: f32, %sum: f32, %o: f32):
    %p = arith.mulf %a, %sum : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  } -> tensor<5xf32>
  return %t : tensor<5xf32>
}
"""


@pytest.mark.parametrize("space", ["lanes", "threads(x: 64)"])
def test_two_reductions_from_one_fill(space: str, tmp_path: Path) -> None:
    """The first one starts from a copy of what the second one's result is filled with, not from what is in memory there."""
    body = f"""\
let first = match linalg.reduce
let second = match linalg.generic
let zero = match linalg.fill
let (rows, row) = tile second [1]
fuse first into rows
fuse zero into rows
map rows to blocks(x)
map first to {space} cyclic
map row to {space} cyclic
insert-barriers
launch rows"""
    made = scheduled(FROM_ONE_FILL, body, tmp_path)
    expect_right(made, 0, body, native=True)
    assert len(barriers(made.applied.module)) == {"lanes": 0, "threads(x: 64)": 2}[space]
