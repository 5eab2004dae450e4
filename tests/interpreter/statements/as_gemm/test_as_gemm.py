"""Every form of convolution that is a product, on tensors and on memrefs: right, race-free, in place, nothing of m·k elements."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from executors import expect_report
from scheduled import ran

import weft
from weft.dsl.diagnostics import WeftError
from weft.interpreter.ir import mlir
from weft.interpreter.ir.structured import shape_of
from weft.pipeline import Choice, applied


@dataclass(frozen=True)
class Form:
    """A named convolution; `axes` are its product's dimensions: `b`atch, `m` rows, `n` columns, in order."""

    op: str
    image: str
    filter: str
    result: str
    axes: str
    attributes: str = ""


FORMS = {
    "fhwc": Form("conv_2d_nhwc_fhwc", "2x9x8x5", "6x3x3x5", "2x7x6x6", "mn"),
    "1d": Form("conv_1d_nwc_wcf", "2x20x5", "3x5x6", "2x18x6", "mn"),
    "1d channels first": Form("conv_1d_ncw_fcw", "2x5x20", "6x5x3", "2x6x18", "bmn"),
    "3d": Form("conv_3d_ndhwc_dhwcf", "1x6x7x8x3", "2x3x3x3x4", "1x4x3x3x4", "mn",
               "{dilations = dense<[2, 1, 1]> : tensor<3xi64>, strides = dense<[1, 2, 2]> : tensor<3xi64>}"),
    "3d channels first": Form("conv_3d_ncdhw_fcdhw", "1x3x6x7x8", "4x3x3x2x3", "1x4x4x6x6", "bmn"),
    "groups fg": Form("conv_2d_ngchw_fgchw", "1x2x3x8x9", "4x2x3x3x3", "1x2x4x6x7", "bbmn"),
    "groups gf": Form("conv_2d_ngchw_gfchw", "1x2x3x8x9", "2x4x3x3x3", "1x2x4x6x7", "bbmn"),
    "groups last": Form("conv_2d_nhwgc_gfhwc", "1x8x9x2x3", "2x4x3x3x3", "1x6x7x2x4", "mbn"),
    "1x1": Form("conv_2d_nhwc_hwcf", "2x5x6x7", "1x1x7x4", "2x5x6x4", "mn"),
    "1x1 channels first": Form("conv_2d_nchw_fchw", "2x7x5x6", "4x7x1x1", "2x4x5x6", "bmn"),
    "1x1 with a stride": Form("conv_2d_nhwc_hwcf", "2x5x7x7", "1x1x7x4", "2x3x4x4", "mn",
                              "{dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}"),
}  # fmt: skip

HEAD = """
  %zero = arith.constant 0.0 : f32
"""


def on_tensors(form: Form) -> str:
    x, w, y = (f"tensor<{shape}xf32>" for shape in (form.image, form.filter, form.result))
    return f"""func.func @f(%x: {x}, %w: {w}) -> {y} {{{HEAD}
  %e = tensor.empty() : {y}
  %i = linalg.fill ins(%zero : f32) outs(%e : {y}) -> {y}
  %y = linalg.{form.op} {form.attributes} ins(%x, %w : {x}, {w}) outs(%i : {y}) -> {y}
  return %y : {y}
}}"""


def on_memrefs(form: Form) -> str:
    """The same, accumulating into an argument."""
    x, w, y = (f"memref<{shape}xf32>" for shape in (form.image, form.filter, form.result))
    return f"""func.func @f(%x: {x}, %w: {w}, %y: {y}) {{
  linalg.{form.op} {form.attributes} ins(%x, %w : {x}, {w}) outs(%y : {y})
  return
}}"""


PADDED_BUFFER = """func.func @f(%x: memref<2x8x7x5xf32>, %w: memref<3x3x5x6xf32>, %y: memref<2x8x8x6xf32>) {
  %zero = arith.constant 0.0 : f32
  %p = memref.alloc() : memref<2x10x10x5xf32>
  linalg.fill ins(%zero : f32) outs(%p : memref<2x10x10x5xf32>)
  %v = memref.subview %p[0, 1, 2, 0] [2, 8, 7, 5] [1, 1, 1, 1]
    : memref<2x10x10x5xf32> to memref<2x8x7x5xf32, strided<[500, 50, 5, 1], offset: 60>>
  memref.copy %x, %v : memref<2x8x7x5xf32> to memref<2x8x7x5xf32, strided<[500, 50, 5, 1], offset: 60>>
  linalg.fill ins(%zero : f32) outs(%y : memref<2x8x8x6xf32>)
  linalg.conv_2d_nhwc_hwcf ins(%p, %w : memref<2x10x10x5xf32>, memref<3x3x5x6xf32>) outs(%y : memref<2x8x8x6xf32>)
  memref.dealloc %p : memref<2x10x10x5xf32>
  return
}"""


def schedule(op: str, axes: str, init: str = "match? linalg.fill") -> str:
    sizes = ", ".join({"b": "1", "m": "8", "n": "4"}[a] for a in axes)
    ones, rest = ", ".join("1" for _ in axes), ", ".join("_" for _ in axes)
    blocks = f"map tiles to blocks({', '.join('zyx'[-len(axes):])})" if len(axes) <= 3 else (
        "let flat = coalesce tiles\n  map flat to blocks(x)"
    )  # fmt: skip
    return f"""schedule product() {{
  let conv = match linalg.{op}
  let init = {init}
  let gemm = as-gemm conv
  let (tiles, tile_mm) = tile gemm [{sizes}]
  fuse init into tiles
  {blocks}
  let (k, step) = tile tile_mm [{rest}, 10]
  let (a, copy_a) = promote-to-shared step.lhs
  let (b, copy_b) = promote-to-shared step.rhs
  map copy_a to threads(*) cyclic
  map copy_b to threads(*) cyclic
  let (lanes, one) = tile step [{ones}]
  let lane = coalesce lanes
  map lane to threads(x)
  promote-to-registers one.acc across k
  insert-barriers
  launch {"tiles" if len(axes) <= 3 else "flat"}
}}
"""


def check(tmp_path: Path, payload: str, text: str) -> None:
    source, weft = tmp_path / "payload.mlir", tmp_path / "product.weft"
    source.write_text(payload)
    weft.write_text(text)
    report, done = ran(weft, 1, source)
    expect_report(report)
    made = list(mlir.operations(done.applied.session.module.operation, "memref.alloc", "memref.copy"))
    assert not made, [str(op) for op in made]
    private = [shape_of(op.results[0]) for op in mlir.operations(done.applied.session.module.operation, "memref.alloca")]
    assert all(set(shape) == {1} for shape in private)


@pytest.mark.few(4)
@pytest.mark.parametrize("name", FORMS)
def test_on_tensors(name: str, tmp_path: Path) -> None:
    form = FORMS[name]
    check(tmp_path, on_tensors(form), schedule(form.op, form.axes))


@pytest.mark.few(4)
@pytest.mark.parametrize("name", FORMS)
def test_on_memrefs(name: str, tmp_path: Path) -> None:
    form = FORMS[name]
    check(tmp_path, on_memrefs(form), schedule(form.op, form.axes))


def test_a_padded_buffer_is_never_made(tmp_path: Path) -> None:
    check(tmp_path, PADDED_BUFFER, schedule("conv_2d_nhwc_hwcf", "mn", "match linalg.fill #1"))


STAYING = """func.func @f(%x: tensor<2x6x6x3xf32>, %w: tensor<3x3x3x4xf32>, %rows: tensor<4xf32>) -> tensor<2x4x4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4x4x4xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x4x4xf32>) -> tensor<2x4x4x4xf32>
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<2x6x6x3xf32>, tensor<3x3x3x4xf32>) outs(%i : tensor<2x4x4x4xf32>)
    -> tensor<2x4x4x4xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(n, h, w, f) -> (n, h, w, f)>, affine_map<(n, h, w, f) -> (h)>,
                                        affine_map<(n, h, w, f) -> (n, h, w, f)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%y, %rows : tensor<2x4x4x4xf32>, tensor<4xf32>) outs(%e : tensor<2x4x4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<2x4x4x4xf32>
  return %z : tensor<2x4x4x4xf32>
}"""


def test_an_op_that_stays_behind_is_named(tmp_path: Path) -> None:
    source, weft = tmp_path / "payload.mlir", tmp_path / "s.weft"
    source.write_text(STAYING)
    weft.write_text("schedule s() {\n  let conv = match linalg.conv_2d_nhwc_hwcf\n  let gemm = as-gemm conv\n}\n")
    steps = applied(Choice(str(weft), source, {}).open()).session.steps
    assert any("linalg.generic stays after the reshape" in remark for remark in steps[-1].remarks)


STEPPED = """func.func @f(%x: tensor<1x6x7x3xf32>, %w: tensor<3x3x3x4xf32>) -> tensor<1x3x4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 0] high[0, 1, 2, 0] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<1x6x7x3xf32> to tensor<1x7x10x3xf32>
  %e = tensor.empty() : tensor<1x3x4x4xf32>
  %s = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>}
    ins(%p, %w : tensor<1x7x10x3xf32>, tensor<3x3x3x4xf32>) outs(%s : tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>
  return %r : tensor<1x3x4x4xf32>
}"""


@pytest.mark.parametrize(
    ("stated", "right"), [("[0, 1, 1, 2]", True), ("[1, 0, 2, 1]", False), ("[1, 1]", False), ("[0, 1, 1]", False)]
)
def test_padding_that_differs_before_and_behind_is_stated_for_each(stated: str, right: bool, tmp_path: Path) -> None:
    (tmp_path / "p.mlir").write_text(STEPPED)
    body = f"let conv = match linalg.conv_2d_nhwc_hwcf\n  let gemm = as-gemm conv padding {stated}"
    (tmp_path / "s.weft").write_text(f'payload "p.mlir"\nschedule s() {{\n  {body}\n}}\n')
    if right:
        assert "linalg.matmul" in weft.apply(tmp_path / "s.weft").text
        return
    with pytest.raises(WeftError, match="W0446"):
        weft.apply(tmp_path / "s.weft")
