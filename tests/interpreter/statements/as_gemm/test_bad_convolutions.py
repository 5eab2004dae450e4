"""Convolutions that are none, that don't fit together, or that `as-gemm` can't make a product of: one clear diagnostic each.

The texts are snapshots (`pytest --snapshot-update` writes them anew): numbers and place, and no traceback.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from weft import cli

NHWC, GROUPED = "linalg.conv_2d_nhwc_hwcf", "linalg.conv_2d_ngchw_gfchw"


def schedule(op: str = NHWC, *lines: str) -> str:
    """`as-gemm` of the op, or these lines."""
    body = [f"let conv = match {op}", *(lines or ("as-gemm conv",))]
    return "schedule t() {\n" + "".join(f"  {line}\n" for line in body) + "}\n"


def conv(
    image: str = "1x8x8x4",
    filters: str = "3x3x4x8",
    result: str = "1x6x6x8",
    op: str = NHWC,
    strides: str = "1",
    dilations: str = "1",
    kind: str = "tensor",
) -> str:
    """A payload that is one convolution."""
    x, w, y = (f"{kind}<{shape}xf32>" for shape in (image, filters, result))
    steps = f"dilations = dense<{dilations}> : tensor<2xi64>, strides = dense<{strides}> : tensor<2xi64>"
    return f"""\
func.func @conv(%image: {x}, %filter: {w}, %out: {y}) -> {y} {{
  %r = {op} {{{steps}}}
    ins(%image, %filter : {x}, {w}) outs(%out : {y}) -> {y}
  return %r : {y}
}}
"""


MATMUL = """\
func.func @gemm(%lhs: tensor<8x8xf32>, %rhs: tensor<8x8xf32>, %out: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %r = linalg.matmul ins(%lhs, %rhs : tensor<8x8xf32>, tensor<8x8xf32>) outs(%out : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}
"""
POOLING = """\
func.func @pool(%x: tensor<1x8x8x4xf32>, %out: tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32> {
  %w = tensor.empty() : tensor<3x3xf32>
  %r = linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
    ins(%x, %w : tensor<1x8x8x4xf32>, tensor<3x3xf32>) outs(%out : tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32>
  return %r : tensor<1x6x6x4xf32>
}
"""
PADDED = """\
func.func @conv(%image: tensor<1x8x8x4xf32>, %filter: tensor<3x3x4x8xf32>, %out: tensor<1x8x7x8xf32>) -> tensor<1x8x7x8xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %image low[0, 1, 1, 0] high[0, 1, 0, 0] {
  ^bb0(%n: index, %h: index, %w: index, %c: index):
    tensor.yield %zero : f32
  } : tensor<1x8x8x4xf32> to tensor<1x10x9x4xf32>
  %r = linalg.conv_2d_nhwc_hwcf ins(%p, %filter : tensor<1x10x9x4xf32>, tensor<3x3x4x8xf32>)
    outs(%out : tensor<1x8x7x8xf32>) -> tensor<1x8x7x8xf32>
  return %r : tensor<1x8x7x8xf32>
}
"""
MEMREFS_IN_A_LOOP = """\
func.func @again(%image: memref<1x8x8x4xf32>, %filter: memref<3x3x4x8xf32>, %out: memref<1x6x6x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    linalg.conv_2d_nhwc_hwcf ins(%image, %filter : memref<1x8x8x4xf32>, memref<3x3x4x8xf32>) outs(%out : memref<1x6x6x8xf32>)
  }
  return
}
"""
PARALLEL = "scf.parallel (%i) = (%c0) to (%c4) step (%c1) {"
SPLIT = """\
func.func @grouped(%x: tensor<1x10x8x8xf32>, %filter: tensor<3x8x3x3x3xf32>, %out: tensor<1x3x8x6x6xf32>) -> tensor<1x3x8x6x6xf32> {
  %image = tensor.expand_shape %x [[0], [1, 2], [3], [4]] output_shape [1, 3, 3, 8, 8]
    : tensor<1x10x8x8xf32> into tensor<1x3x3x8x8xf32>
  %r = linalg.conv_2d_ngchw_gfchw ins(%image, %filter : tensor<1x3x3x8x8xf32>, tensor<3x8x3x3x3xf32>)
    outs(%out : tensor<1x3x8x6x6xf32>) -> tensor<1x3x8x6x6xf32>
  return %r : tensor<1x3x8x6x6xf32>
}
"""
OFFSET = """\
func.func @offset(%x: tensor<8xf32>, %out: tensor<6xf32>) -> tensor<6xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i * 2 + 3)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%out : tensor<6xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<6xf32>
  return %r : tensor<6xf32>
}
"""
STRIDED = """\
func.func @conv(%x: memref<1x6x6x4xf32, strided<[200, 20, 4, 1], offset: 5>>, %w: memref<3x3x4x8xf32>, %y: memref<1x4x4x8xf32>) {
  linalg.conv_2d_nhwc_hwcf
    ins(%x, %w : memref<1x6x6x4xf32, strided<[200, 20, 4, 1], offset: 5>>, memref<3x3x4x8xf32>) outs(%y : memref<1x4x4x8xf32>)
  return
}
"""
WINDOW = """\
func.func @conv(%b: memref<1x10x20x4xf32>, %w: memref<3x3x4x8xf32>, %y: memref<1x4x4x8xf32>) {
  %x = memref.subview %b[0, 1, 2, 0] [1, 6, 6, 4] [1, 1, 1, 1]
    : memref<1x10x20x4xf32> to memref<1x6x6x4xf32, strided<[800, 80, 4, 1], offset: 88>>
  linalg.conv_2d_nhwc_hwcf
    ins(%x, %w : memref<1x6x6x4xf32, strided<[800, 80, 4, 1], offset: 88>>, memref<3x3x4x8xf32>) outs(%y : memref<1x4x4x8xf32>)
  return
}
"""


WINDOW_OF_ANY_PLACE = WINDOW.replace("%b[0, 1,", "%b[0, %i,").replace("offset: 88", "offset: ?").replace(
    "%y: memref<1x4x4x8xf32>)", "%y: memref<1x4x4x8xf32>, %i: index)", 1)


def body(*lines: str, scalar: bool = False) -> str:
    """A convolution as a generic whose body makes `%s` of the product `%p` and the output `%o`, with a third input or without."""
    d = "n, h, w, f, y, x, c"
    number, indexed, type_, argument = (", %f", f"affine_map<({d}) -> ()>, ", ", f32", "%c: f32, ") if scalar else ("",) * 4
    return f"""\
func.func @conv(%x: tensor<1x8x8x4xf32>, %w: tensor<3x3x4x8xf32>, %out: tensor<1x6x6x8xf32>{", %f: f32" if scalar else ""})
    -> tensor<1x6x6x8xf32> {{
  %two = arith.constant 2.0 : f32
  %r = linalg.generic {{
      indexing_maps = [affine_map<({d}) -> (n, h + y, w + x, c)>, affine_map<({d}) -> (y, x, c, f)>,
        {indexed}affine_map<({d}) -> (n, h, w, f)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}}
      ins(%x, %w{number} : tensor<1x8x8x4xf32>, tensor<3x3x4x8xf32>{type_}) outs(%out : tensor<1x6x6x8xf32>) {{
    ^bb0(%a: f32, %b: f32, {argument}%o: f32):
      %p = arith.mulf %a, %b : f32
      {" ".join(lines)}
      linalg.yield %s : f32
  }} -> tensor<1x6x6x8xf32>
  return %r : tensor<1x6x6x8xf32>
}}
"""


DEPTHWISE = "linalg.depthwise_conv_2d_nhwc_hwc"
MULTIPLIED = "linalg.depthwise_conv_2d_nhwc_hwcm"

TEXTS: dict[str, tuple[str, str]] = {
    # ---- what upstream's verifier says
    "channels that disagree": (schedule(), conv(filters="3x3x5x8")),
    "filters that disagree with the result": (schedule(), conv(filters="3x3x4x9")),
    "a filter larger than the image": (schedule(), conv(filters="9x3x4x8", result="1x1x6x8")),
    "a dilated filter larger than the image": (schedule(), conv(result="1x6x1x8", dilations="[1, 4]")),
    "a result with too many rows": (schedule(), conv(result="1x4x6x8", strides="[2, 1]")),
    "a stride of zero": (schedule(), conv(strides="[0, 1]")),
    "strides of zero": (schedule(), conv(strides="0")),
    "a negative stride": (schedule(), conv(strides="[1, -1]")),
    "a dilation of zero": (schedule(), conv(dilations="[1, 0]")),
    "groups that disagree": (schedule(GROUPED), conv("1x2x4x8x8", "3x8x4x3x3", "1x2x8x6x6", GROUPED)),
    "channels of a group that disagree": (schedule(GROUPED), conv("1x2x3x8x8", "2x8x4x3x3", "1x2x8x6x6", GROUPED)),
    "groups that do not divide the channels": (schedule(GROUPED), SPLIT),
    "an image without batches": (schedule(), conv("8x8x4")),
    "a filter without columns": (schedule(), conv(filters="3x4x8")),
    "three strides for two axes": (schedule(), conv(strides="[1, 1, 1]")),
    "a product whose sums disagree": (schedule("linalg.matmul"), MATMUL.replace("%rhs: tensor<8x8", "%rhs: tensor<7x8").replace(
        ": tensor<8x8xf32>, tensor<8x8xf32>)", ": tensor<8x8xf32>, tensor<7x8xf32>)")),
    "an index with an offset": (schedule("linalg.generic"), OFFSET),
    "an index with a negative offset": (schedule("linalg.generic"), OFFSET.replace("i * 2 + 3", "i * 2 - 1")),
    "a dilation that no number holds": (schedule(), conv(dilations=str(2**63 - 1))),
    # ---- what the statement says
    "a filter larger than the image, and an empty result": (schedule(), conv(filters="9x3x4x8", result="1x0x6x8")),
    "an empty result of a filter that fits": (schedule(), conv(result="1x0x6x8")),
    "no channels": (schedule(), conv("1x8x8x0", "3x3x0x8")),
    "products times a constant": (schedule("linalg.generic"), body(
        "%t = arith.mulf %p, %two : f32", "%s = arith.addf %o, %t : f32")),
    "products times a number": (schedule("linalg.generic"), body(
        "%t = arith.mulf %p, %c : f32", "%s = arith.addf %o, %t : f32", scalar=True)),
    "a ReLU of each sum": (schedule("linalg.generic"), body("%t = arith.addf %o, %p : f32", "%s = arith.maximumf %t, %two : f32")),
    "products times an index": (schedule("linalg.generic"), body(
        "%i = linalg.index 1 : index", "%j = arith.index_cast %i : index to i32", "%k = arith.sitofp %j : i32 to f32",
        "%t = arith.mulf %p, %k : f32", "%s = arith.addf %o, %t : f32")),
    "a buffer with a layout": (schedule(), STRIDED),
    "a buffer with a layout, split": (schedule(NHWC, "split-k conv 2"), STRIDED),
    "a depthwise convolution": (schedule(DEPTHWISE), conv(filters="3x3x4", result="1x6x6x4", op=DEPTHWISE)),
    "a depthwise convolution with a multiplier": (
        schedule(MULTIPLIED), conv(filters="3x3x4x2", result="1x6x6x4x2", op=MULTIPLIED)),
    "a product": (schedule("linalg.matmul"), MATMUL),
    "pooling": (schedule("linalg.pooling_nhwc_max"), POOLING),
    "a padding as the target": (schedule("tensor.pad"), PADDED),
    "a loop as the target": (schedule(NHWC, "let (tiles, one) = tile conv [1, 2, 3, 4]", "as-gemm tiles"), conv()),
    "twice": (schedule(NHWC, "let gemm = as-gemm conv", "as-gemm gemm"), conv()),
    "a convolution that is gone": (schedule(NHWC, "let gemm = as-gemm conv", "as-gemm conv"), conv()),
    "buffers in a parallel loop": (schedule(), MEMREFS_IN_A_LOOP.replace("scf.for %i = %c0 to %c4 step %c1 {", PARALLEL)),
    # ---- a padding that is stated
    "a padding that the payload does not have": (schedule(NHWC, "as-gemm conv padding [1, 1]"), conv()),
    "another padding than the payload's": (schedule(NHWC, "as-gemm conv padding [1, 1]"), PADDED),
    "a padding for one axis of two": (schedule(NHWC, "as-gemm conv padding [1]"), PADDED),
    "a negative padding": (schedule(NHWC, "as-gemm conv padding [1, -1]"), PADDED),
}  # fmt: skip

DYNAMIC_WIDTH = PADDED.replace("%image: t", "%more: index, %image: t").replace("low[0, 1, 1, 0]", "low[0, %more, 1, 0]").replace(
    "%p = tensor.pad", "%q = tensor.pad").replace("tensor<1x10x9x4xf32>\n  %r", """tensor<1x?x9x4xf32>
  %p = tensor.cast %q : tensor<1x?x9x4xf32> to tensor<1x10x9x4xf32>
  %r""")
BEHIND_AN_OP = PADDED.replace("%p = tensor.pad", "%q = tensor.pad").replace("  %r =", """\
  %e = tensor.empty() : tensor<1x10x9x4xf32>
  %p = linalg.exp ins(%q : tensor<1x10x9x4xf32>) outs(%e : tensor<1x10x9x4xf32>) -> tensor<1x10x9x4xf32>
  %r =""")
RETURNED = PADDED.replace("-> tensor<1x8x7x8xf32> {", "-> (tensor<1x8x7x8xf32>, tensor<1x10x9x4xf32>) {").replace(
    "return %r : tensor<1x8x7x8xf32>", "return %r, %p : tensor<1x8x7x8xf32>, tensor<1x10x9x4xf32>")
STARTS = conv().replace("%out: tensor<1x6x6x8xf32>", "%start: tensor<1x4x6x8xf32>").replace("  %r =", """\
  %zero = arith.constant 0.0 : f32
  %out = tensor.pad %start low[0, 1, 0, 0] high[0, 1, 0, 0] {
  ^bb0(%n: index, %h: index, %v: index, %c: index):
    tensor.yield %zero : f32
  } : tensor<1x4x6x8xf32> to tensor<1x6x6x8xf32>
  %r =""")
GEMM = schedule(NHWC, "let gemm = as-gemm conv", "let (t, _) = tile gemm [8, 8]", "map t to grid(y: 64, x: 1)", "launch t")

COPIES: dict[str, tuple[str, str]] = {
    "a width that only a run knows": (GEMM, DYNAMIC_WIDTH),
    "a padding in front of an op that is not scheduled": (GEMM, BEHIND_AN_OP),
    "a padding that is returned as well": (GEMM, RETURNED),
    "a padding that a product starts from": (GEMM, STARTS),
}
"""Paddings that stay copies: said of a run, by the name that they have in the payload."""

SETTINGS: dict[str, tuple[str, ...]] = {
    "a stride of zero": ("stride=0",),
    "a dilation of zero": ("dilation=0",),
    "no channels": ("c=0",),
    "a filter larger than the padded image": ("h=4", "r=7"),
    "a dilated filter larger than the padded image": ("w=4", "dilation=3"),
    "a negative padding": ("pad=-1",),
    "groups": ("groups=3",),
}


@pytest.fixture(autouse=True)
def _narrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What is said of a command line that is refused."""
    capsys.readouterr()
    assert cli.run(arguments) == 1
    out, said = capsys.readouterr()
    assert out == "" and "Traceback" not in said
    assert len(re.findall(r"error\[W0\d\d\d\]", said)) == 1 and re.search(r"^ *--> .+:\d+:\d+$", said, re.MULTILINE)
    return said


@pytest.mark.parametrize("name", TEXTS)
def test_texts(name: str, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion) -> None:
    text, payload = TEXTS[name]
    Path("t.weft").write_text(text)
    Path("p.mlir").write_text(payload)
    assert refused(capsys, "apply", "t.weft", "--payload", "p.mlir", "-o", "out.mlir") == snapshot
    assert not Path("out.mlir").exists()


@pytest.mark.parametrize("name", COPIES)
def test_padded_copies(name: str, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion) -> None:
    text, payload = COPIES[name]
    Path("t.weft").write_text(text)
    Path("p.mlir").write_text(payload)
    capsys.readouterr()
    assert cli.run(["build", "t.weft", "--payload", "p.mlir", "-o", "out"]) == 1
    out, said = capsys.readouterr()
    assert out == "" and "Traceback" not in said and "linalg.map at" not in said
    assert said == snapshot


@pytest.mark.parametrize("name", SETTINGS)
def test_settings(name: str, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion) -> None:
    Path("t.weft").write_text("payload conv2d()\n\n" + schedule())
    words = [word for setting in SETTINGS[name] for word in ("--set", setting)]
    capsys.readouterr()
    assert cli.run(["run", "t.weft", "--target", "sim", *words]) == 1
    out, said = capsys.readouterr()
    assert out == "" and "Traceback" not in said and re.search(r"error\[W04\d\d\]", said)
    assert said == snapshot


def test_what_is_no_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    """Loops around a convolution on tensors, tiles of one, buffers in a straight line and in a loop, and windows of buffers."""
    counter = "%z = arith.constant 0 : index\n  %o = arith.constant 1 : index\n  "
    carried = "%r = scf.for %i = %z to %o step %o iter_args(%acc = %out) -> (tensor<1x6x6x8xf32>) {\n  %s ="
    ended = "  scf.yield %s : tensor<1x6x6x8xf32>\n  }\n  return"
    loop = conv().replace("%r =", counter + carried).replace("outs(%out", "outs(%acc").replace("  return", ended)
    tiled = schedule(NHWC, "let (tiles, one) = tile conv [1, 2, 3, 4]", "as-gemm one")
    buffers = (schedule(NHWC, "bufferize", "as-gemm conv"), conv())
    windows = (WINDOW, WINDOW_OF_ANY_PLACE, MEMREFS_IN_A_LOOP)
    for text, payload in ((schedule(), loop), (tiled, conv()), buffers, *((schedule(), each) for each in windows)):
        Path("t.weft").write_text(text)
        Path("p.mlir").write_text(payload)
        assert cli.run(["apply", "t.weft", "--payload", "p.mlir", "-o", "out.mlir"]) == 0, capsys.readouterr().err
        assert "linalg.matmul" in Path("out.mlir").read_text()
