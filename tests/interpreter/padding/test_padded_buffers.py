"""Paddings as buffers have them: a fill, and copies of images into windows of it. They are read through, and never made."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from executors import expect_report
from scheduled import ran, run_schedule

from weft.dsl.diagnostics import WeftError
from weft.runtime.plan.plan import Launch
from weft.runtime.run.execution import RunOptions

PADDED = "memref<2x9x9x3xf32>"
STRIDES = (243, 27, 3, 1)
CONV = ("%w: memref<3x3x3x4xf32>", "memref<2x7x7x4xf32>", "linalg.conv_2d_nhwc_hwcf", "%w : PADDED, memref<3x3x3x4xf32>")
POOL = ("%w: memref<3x3xf32>", "memref<2x7x7x3xf32>", "linalg.pooling_nhwc_sum", "%w : PADDED, memref<3x3xf32>")
TILES = """
  fuse init into tiles
  let blocks = coalesce tiles
  map blocks to blocks(x)
  let (lanes, _) = tile part [{}]
  fuse init into lanes
  let lane = coalesce lanes
  map lane to threads(x)
  launch blocks
}}
"""
HEAD = "schedule s() {\n  let op = match linalg.OP\n  let init = match linalg.fill #1\n  "
SCHEDULES = {
    "as-gemm": (CONV, HEAD + "let gemm = as-gemm op\n  let (tiles, part) = tile gemm [8, 3]" + TILES.format("1, 1")),
    "tile": (POOL, HEAD + "let (tiles, part) = tile op [1, 4, 4, 2]" + TILES.format("1, 1, 1, 1")),
}


def layout(shape: Sequence[int], strides: Sequence[int], offset: int) -> str:
    return f"memref<{'x'.join(map(str, shape))}xf32, strided<{list(strides)}, offset: {offset}>>"


def copied(number: int, source: str, kind: str, place: Sequence[int], sizes: Sequence[int], steps: Sequence[int] = (1,) * 4) -> str:
    """A copy of `source` into a window of the padded buffer."""
    offset = sum(a * b for a, b in zip(place, STRIDES, strict=True))
    window = layout(sizes, [a * b for a, b in zip(STRIDES, steps, strict=True)], offset)
    return f"""  %v{number} = memref.subview %p{list(place)} {list(sizes)} {list(steps)} : {PADDED} to {window}
  memref.copy {source}, %v{number} : {kind} to {window}
"""


def half(number: int) -> tuple[str, str]:
    """One of the two images, and its type."""
    kind = layout((1, 7, 7, 3), (147, 21, 3, 1), 147 * number)
    return f"  %s{number} = memref.subview %x[{number}, 0, 0, 0] [1, 7, 7, 3] [1, 1, 1, 1] : memref<2x7x7x3xf32> to {kind}\n", kind


WHOLE, SMALL = "memref<2x7x7x3xf32>", "memref<2x4x4x3xf32>"
BUFFERS = {
    "in the middle": (WHOLE, copied(0, "%x", WHOLE, (0, 1, 1, 0), (2, 7, 7, 3))),
    "in a corner": (WHOLE, copied(0, "%x", WHOLE, (0, 2, 0, 0), (2, 7, 7, 3))),
    "each image at its own place": (WHOLE, "".join(
        half(n)[0] + copied(n, f"%s{n}", half(n)[1], (n, 2 * n, 1 - n, 0), (1, 7, 7, 3)) for n in range(2))),
    "one over the other": (WHOLE, "".join(copied(n, "%x", WHOLE, (0, 2 * n, 2 * n, 0), (2, 7, 7, 3)) for n in range(2))),
    "every other row and column": (SMALL, copied(0, "%x", SMALL, (0, 1, 1, 0), (2, 4, 4, 3), (1, 2, 2, 1))),
}  # fmt: skip


@pytest.mark.parametrize("how", SCHEDULES)
@pytest.mark.parametrize("name", BUFFERS)
def test_only_the_product_is_launched(name: str, how: str, tmp_path: Path) -> None:
    (image, copies), ((weights, result, op, operands), text) = BUFFERS[name], SCHEDULES[how]
    source, schedule = tmp_path / "p.mlir", tmp_path / "s.weft"
    source.write_text(f"""func.func @f(%x: {image}, {weights}, %y: {result}) {{
  %around = arith.constant 0.5 : f32
  %zero = arith.constant 0.0 : f32
  %p = memref.alloc() : {PADDED}
  linalg.fill ins(%around : f32) outs(%p : {PADDED})
{copies}  linalg.fill ins(%zero : f32) outs(%y : {result})
  {op} ins(%p, {operands.replace("PADDED", PADDED)}) outs(%y : {result})
  memref.dealloc %p : {PADDED}
  return
}}""")
    schedule.write_text(text.replace("linalg.OP", op))
    report, made = ran(Path(schedule), 1, source)
    expect_report(report)
    steps = made.plan.steps
    assert [type(step) for step in steps] == [Launch]


def test_a_copy_that_converts_is_no_image(tmp_path: Path) -> None:
    """What is put into the fill has another type than what was copied."""
    (tmp_path / "p.mlir").write_text("""\
func.func @f(%x: tensor<4x6xf32>) -> tensor<6x8xf16> {
  %c = arith.constant 1.5 : f16
  %e = tensor.empty() : tensor<6x8xf16>
  %f = linalg.fill ins(%c : f16) outs(%e : tensor<6x8xf16>) -> tensor<6x8xf16>
  %n = tensor.empty() : tensor<4x6xf16>
  %h = linalg.copy ins(%x : tensor<4x6xf32>) outs(%n : tensor<4x6xf16>) -> tensor<4x6xf16>
  %v = tensor.insert_slice %h into %f[1, 1] [4, 6] [1, 1] : tensor<4x6xf16> into tensor<6x8xf16>
  %y = linalg.add ins(%v, %v : tensor<6x8xf16>, tensor<6x8xf16>) outs(%e : tensor<6x8xf16>) -> tensor<6x8xf16>
  return %y : tensor<6x8xf16>
}
""")
    statements = ["let sum = match linalg.add", "let fill = match linalg.fill", "let (tiles, one) = tile sum [4, 4]"]
    statements += ["map tiles to grid(y, x)", "map fill to grid(y, x)"]
    launches = ["launch fill", "launch tiles"]

    def run(lines: list[str]) -> bool:
        (tmp_path / "s.weft").write_text('payload "p.mlir"\nschedule s() {\n  ' + "\n  ".join(lines) + "\n}\n")
        report = run_schedule(str(tmp_path / "s.weft"), None, {}, None, RunOptions("sim", 3)).report
        return report.ok and not report.races and not report.faults

    with pytest.raises(WeftError, match=r"W0730: linalg\.copy"):
        run([*statements, *launches])
    assert run(["let half = match linalg.copy", *statements, "map half to grid(y, x)", "launch half", *launches])
