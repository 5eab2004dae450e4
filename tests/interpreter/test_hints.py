"""Hints, followed to the letter: what a diagnostic proposes makes the schedule pass, right by all witnesses."""

from __future__ import annotations

from pathlib import Path

import pytest
from judging import expect_right, scheduled

from weft.dsl.diagnostics import Diagnostic, WeftError

ROWS = """\
func.func @f(%x: tensor<12x90xf32>) -> tensor<12xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<12xf32>
  %s = linalg.fill ins(%zero : f32) outs(%e : tensor<12xf32>) -> tensor<12xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<12x90xf32>) outs(%s : tensor<12xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<12xf32>
  return %r : tensor<12xf32>
}
"""


def refused(payload: str, body: str, folder: Path, code: str) -> Diagnostic:
    with pytest.raises(WeftError) as caught:
        scheduled(payload, body, folder)
    (found,) = caught.value.diagnostics
    assert found.code == code, found
    return found


def expect_followed(payload: str, body: str, folder: Path) -> None:
    expect_right(scheduled(payload, body, folder), 0, body)


# ---- W0351: a running result that lanes share, in registers across the loop ---------------------------------------------------

SHARED = """\
let g = match linalg.generic
let z = match linalg.fill
let (t, o) = tile g [4]
fuse z into t
map t to blocks(x)
let (w, one) = tile o [1]
map w to warps(x)
fuse z into w
let (k, step) = tile one [_, 30]
map step to lanes{how}
map z to lanes{how}
promote-to-registers step.out0 across k
insert-barriers
launch t"""
PROMOTED, LOOP = "promote-to-registers step.out0 across k\n", "let (k, step) = tile one [_, 30]\n"


@pytest.mark.parametrize("how", [" cyclic", " block"])
def test_a_running_result_that_lanes_share(how: str, tmp_path: Path) -> None:
    body = SHARED.format(how=how)
    found = refused(ROWS, body, tmp_path, "W0351")
    assert "share the running result of linalg.generic" in found.message and "`promote-to-registers … across`" in found.message
    assert found.hint is not None and found.hint.startswith("leave `promote-to-registers` out")
    assert "or leave out the loop, and map the whole op alike" in found.hint
    without = body.replace(PROMOTED, "")
    expect_followed(ROWS, without, tmp_path)
    whole = without.replace(LOOP, "").replace("map step to", "map one to")
    expect_followed(ROWS, whole, tmp_path)
    assert "memref.alloca" in scheduled(ROWS, whole, tmp_path).applied.text, "in registers, to the end"


@pytest.mark.parametrize("promoted", ["", PROMOTED])
def test_its_fill(promoted: str, tmp_path: Path) -> None:
    """The hint of the fill does not propose what is refused next."""
    body = SHARED.format(how=" cyclic").replace(PROMOTED, promoted)
    body = body.replace("map z to lanes cyclic\n", "").replace("fuse z into w\n", "")
    found = refused(ROWS, body, tmp_path, "W0351")
    assert found.hint == "map it, or `tile` it and map the loop"
    body = body.replace("map w to", "map z to threads(*) cyclic\nmap w to")
    if promoted:
        assert "share the running result" in refused(ROWS, body, tmp_path, "W0351").message
        body = body.replace(promoted, "")
    expect_followed(ROWS, body, tmp_path)


def test_the_fill_of_a_result_of_one_thread(tmp_path: Path) -> None:
    """There each of the three that the hint names does."""
    body = """let g = match linalg.generic
let z = match linalg.fill
let (t, o) = tile g [4]
fuse z into t
map t to blocks(x)
let (k, step) = tile o [_, 30]
let (lanes, one) = tile step [1]
map lanes to threads(x: 4)
insert-barriers
launch t"""
    found = refused(ROWS, body, tmp_path, "W0351")
    assert found.hint is not None and "or `promote-to-registers` the accumulator across the outermost loop" in found.hint
    for lines in ("map z to threads(*) cyclic", "let (zl, zo) = tile z [1]\nmap zl to threads(x: 4)",
                  "promote-to-registers one.out0 across k"):  # fmt: skip
        expect_followed(ROWS, body.replace("insert-barriers", f"{lines}\ninsert-barriers"), tmp_path)

