"""What a product starts from is the place of its result: a plan's allocations and copies, with tiles that divide and that do not.

A tensor argument is a value and is never written: a result that starts from one is a copy of it, made once. A buffer that is an
argument, and one that a fill starts, are written where they are.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from executors import expect_report

from weft.execution import run_applied
from weft.pipeline import Choice, applied, planned
from weft.runtime.plan.plan import Alloc, Copy, Launch
from weft.runtime.run.execution import RunOptions
from weft.runtime.simulator.device import SimDevice


@dataclass(frozen=True)
class Form:
    """An op that adds products up; `batches` come first in its product, which `even` tiles divide."""

    op: str
    inputs: tuple[str, str]
    result: str
    batches: int = 0
    even: tuple[int, int, int] = (14, 6, 9)
    ragged: tuple[int, int, int] = (8, 4, 10)


FORMS = {
    "nhwc": Form("conv_2d_nhwc_hwcf", ("2x9x8x5", "3x3x5x6"), "2x7x6x6"),
    "fhwc": Form("conv_2d_nhwc_fhwc", ("2x9x8x5", "6x3x3x5"), "2x7x6x6"),
    "nchw": Form("conv_2d_nchw_fchw", ("2x5x9x8", "6x5x3x3"), "2x6x7x6", 1, (6, 14, 9), (4, 8, 10)),
    "groups": Form("conv_2d_ngchw_gfchw", ("1x2x3x8x9", "2x4x3x3x3"), "1x2x4x6x7", 2, (4, 14, 9), (3, 8, 10)),
    "1x1": Form("conv_2d_nhwc_hwcf", ("2x5x6x7", "1x1x7x4"), "2x5x6x4", 0, (15, 4, 7), (8, 3, 4)),
    "matmul": Form("matmul", ("30x21", "21x12"), "30x12", 0, (15, 4, 7), (8, 5, 4)),
}


def types(form: Form, kind: str = "tensor") -> list[str]:
    return [f"{kind}<{shape}xf32>" for shape in (*form.inputs, form.result)]


def to_a_value(form: Form) -> str:
    x, w, y = types(form)
    return f"""func.func @f(%x: {x}, %w: {w}, %y: {y}) -> {y} {{
  %r = linalg.{form.op} ins(%x, %w : {x}, {w}) outs(%y : {y}) -> {y}
  return %r : {y}
}}"""


def to_a_fill(form: Form) -> str:
    x, w, y = types(form)
    return f"""func.func @f(%x: {x}, %w: {w}) -> {y} {{
  %start = arith.constant 1.5 : f32
  %e = tensor.empty() : {y}
  %i = linalg.fill ins(%start : f32) outs(%e : {y}) -> {y}
  %r = linalg.{form.op} ins(%x, %w : {x}, {w}) outs(%i : {y}) -> {y}
  return %r : {y}
}}"""


def to_a_buffer(form: Form) -> str:
    x, w, y = types(form, "memref")
    return f"""func.func @f(%x: {x}, %w: {w}, %y: {y}) {{
  linalg.{form.op} ins(%x, %w : {x}, {w}) outs(%y : {y})
  return
}}"""


def to_a_filled_buffer(form: Form) -> str:
    x, w, y = types(form, "memref")
    return f"""func.func @f(%x: {x}, %w: {w}, %y: {y}) {{
  %start = arith.constant 1.5 : f32
  linalg.fill ins(%start : f32) outs(%y : {y})
  linalg.{form.op} ins(%x, %w : {x}, {w}) outs(%y : {y})
  return
}}"""


def twice(form: Form) -> str:
    """The result, and what it started from."""
    y = types(form)[2]
    return to_a_value(form).replace(f"-> {y} {{", f"-> ({y}, {y}) {{").replace(f"return %r : {y}", f"return %r, %y : {y}, {y}")


def schedule(form: Form, sizes: tuple[int, int, int], *, init: str = "fused", parts: int = 0) -> str:
    """Every product's statements; a fill is fused, or tiled by itself: `first`, `later` or `last`."""
    m, n, k = sizes
    batches, whole = "1, " * (form.batches + bool(parts)), "_, " * (form.batches + bool(parts))
    lines = [f"let gemm = match linalg.{form.op}", "let init = match? linalg.fill"]
    if form.op != "matmul":
        lines.append("let gemm = as-gemm gemm")
    if parts:
        lines += [f"let (gemm, zeros, sum) = split-k gemm {parts}"]
    own = {when: alone("init", form) if init == when else [] for when in ("first", "later", "last")}
    lines += own["first"]
    lines += [f"let (tiles, tile_mm) = tile gemm [{batches}{m}, {n}]"]
    lines += ["fuse zeros into tiles"] if parts else ["fuse init into tiles"] if init == "fused" else own["later"]
    lines += [
        "let blocks = coalesce tiles",
        "map blocks to blocks(x)",
        f"let (k, step) = tile tile_mm [{whole}_, _, {k}]",
        "let (a, copy_a) = promote-to-shared step.lhs",
        "let (b, copy_b) = promote-to-shared step.rhs",
        "map copy_a to threads(*) cyclic",
        "map copy_b to threads(*) cyclic",
        f"let (lanes, one) = tile step [{batches}1, 1]",
        "let lane = coalesce lanes",
        "map lane to threads(x)",
        "promote-to-registers one.acc across k",
    ]
    lines += alone("sum", form) if parts else own["last"]
    lines += ["insert-barriers", "launch blocks"] + (["launch rows"] if parts or init != "fused" else [])
    return "schedule s() {\n  " + "\n  ".join(lines) + "\n}\n"


def alone(op: str, form: Form) -> list[str]:
    """An op over the result in a launch of its own."""
    ones = ", ".join(["1"] * (form.batches + 2))
    tile = f"let (row, _) = tile {op} [{ones}]"
    return [tile, "let rows = coalesce row", "map rows to grid(x: 128) cyclic"]


def steps(folder: Path, payload: str, text: str) -> Counter[type]:
    """How many steps of each kind the plan of a run has that is right."""
    source, weft = folder / "payload.mlir", folder / "s.weft"
    source.write_text(payload)
    weft.write_text(text)
    done = applied(Choice(str(weft), source, {}).open())
    report = run_applied(done, None, RunOptions("sim", 1), SimDevice()).report
    expect_report(report)
    return Counter(type(step) for step in planned(done).plan.steps)


def tiles(form: Form, number: int) -> tuple[tuple[int, int, int], ...]:
    """Tiles that divide and such that do not: in a soak both, else by turns."""
    both = (form.even, form.ragged)
    return both if "WEFT_SOAK" in os.environ else (both[number % 2],)


EXPECTED = {to_a_value: 1, to_a_fill: 0, to_a_buffer: 0, to_a_filled_buffer: 0, twice: 2}
"""The copies that are needed: nothing that is given is written, and each result is a buffer of its own."""


@pytest.mark.few()
@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("start", EXPECTED, ids=lambda s: s.__name__)
def test_no_buffer_and_no_copy_too_many(name: str, start, tmp_path: Path) -> None:
    form = FORMS[name]
    for sizes in tiles(form, list(FORMS).index(name) + list(EXPECTED).index(start)):
        found = steps(tmp_path, start(form), schedule(form, sizes))
        assert found == Counter({Launch: 1, Copy: EXPECTED[start]}) - Counter(), (sizes, found)


@pytest.mark.few()
@pytest.mark.parametrize("init", ["first", "later", "last"])
@pytest.mark.parametrize("start", [to_a_fill, to_a_filled_buffer], ids=lambda s: s.__name__)
@pytest.mark.parametrize("name", ["nchw", "matmul"])
def test_a_fill_of_its_own_launch_fills_the_result(name: str, start, init: str, tmp_path: Path) -> None:
    form = FORMS[name]
    for sizes in tiles(form, (name == "nchw") + (start is to_a_fill) + (init == "later")):
        assert steps(tmp_path, start(form), schedule(form, sizes, init=init)) == Counter({Launch: 2}), sizes


@pytest.mark.parametrize("name", ["nhwc", "nchw", "matmul"])
def test_parts_are_added_to_the_result(name: str, tmp_path: Path) -> None:
    """`split-k` has one buffer more, of the partial sums."""
    form = FORMS[name]
    for sizes in (form.even, form.ragged):
        found = steps(tmp_path, to_a_value(form), schedule(form, sizes, parts=2))
        assert (found[Launch], found[Copy], found[Alloc]) == (2, 1, 1)


OWN_IMAGE = """func.func @f(%x: tensor<1x6x6x3xf32>, %w: tensor<1x1x3x3xf32>) -> tensor<1x6x6x3xf32> {
  %r = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x6x6x3xf32>, tensor<1x1x3x3xf32>)
    outs(%x : tensor<1x6x6x3xf32>) -> tensor<1x6x6x3xf32>
  return %r : tensor<1x6x6x3xf32>
}"""


@pytest.mark.parametrize("sizes", [(12, 3, 3), (5, 2, 2), (64, 4, 5)])
def test_what_the_result_starts_from_is_read_as_it_was(sizes: tuple[int, int, int], tmp_path: Path) -> None:
    """A convolution that adds to its own image: the image is the argument, and not what other blocks have added to."""
    form = Form("conv_2d_nhwc_hwcf", ("", ""), "")
    assert steps(tmp_path, OWN_IMAGE, schedule(form, sizes)) == Counter({Launch: 1, Copy: 1})


def test_an_image_that_an_op_makes_and_a_result_that_starts_from_an_argument(tmp_path: Path) -> None:
    x, w, y = types(FORMS["nhwc"])
    payload = f"""func.func @f(%x: {x}, %w: {w}, %y: {y}) -> {y} {{
  %e = tensor.empty() : {x}
  %i = linalg.exp ins(%x : {x}) outs(%e : {x}) -> {x}
  %r = linalg.conv_2d_nhwc_hwcf ins(%i, %w : {x}, {w}) outs(%y : {y}) -> {y}
  return %r : {y}
}}"""
    image = "let image = match linalg.exp\n  map image to grid(x: 64) cyclic\n  "
    text = schedule(FORMS["nhwc"], FORMS["nhwc"].ragged).replace("launch blocks", "launch image\n  launch blocks")
    found = steps(tmp_path, payload, text.replace("  let gemm", f"  {image}let gemm", 1))
    assert (found[Launch], found[Copy], found[Alloc]) == (2, 1, 1)
