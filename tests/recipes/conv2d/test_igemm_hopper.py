"""The recipe `igemm_hopper`: layers and random sizes, proven, right and race-free, on the simulator and as text; its machine code;
and mistakes, which the proof and the simulator both see."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
import sass
from contexts import one_context
from native_device import NativeDevice
from places import ROOT
from test_hopper import SOAK, expect_right

from weft.dsl.diagnostics import WeftError
from weft.execution import predicted
from weft.interpreter.hardware.hopper.tensor_maps import LOAD_PIXELS
from weft.interpreter.ir.mlir import operations, parse
from weft.interpreter.proof.kernels.kernels import kernel_uses, model_of
from weft.interpreter.proof.races.proof import Findings
from weft.pipeline import Choice, Planned, applied, planned
from weft.recipes.conv2d.geometry import LAYERS as NETWORK
from weft.runtime.cuda.module import emit
from weft.runtime.files.inputs import random_inputs, sized
from weft.runtime.host.functions import signature
from weft.runtime.run.runner import RunResult, run_plan
from weft.runtime.simulator.device import SimDevice
from weft.runtime.simulator.kernel import SimKernel

RECIPES = ROOT / "weft" / "recipes" / "conv2d"
RESNET = {name.removeprefix("resnet50."): layer for name, layer in NETWORK.items() if layer["c"] > 3}
SMALL = {"n": 2, "h": 7, "w": 9, "c": 64, "k": 64, "bm": 64, "bn": 64, "stages": 2}
LAYERS: dict[str, dict[str, object]] = {
    "3x3": {}, "3x3, stride 2": {"stride": 2, "w": 8}, "dilation 2": {"dilation": 2, "pad": 2, "c": 128},
    "1x1": {"r": 1, "s": 1, "pad": 0}, "1x1, stride 2": {"r": 1, "s": 1, "pad": 0, "stride": 2},
    "unpadded, ragged": {"pad": 0, "n": 3, "k": 72}, "5x2, f16": {"r": 5, "s": 2, "stride": 3, "type": "f16"},
    "one image": {"n": 1, "h": 12, "w": 11}, "a tile of 128 channels": {"bk": 128, "c": 256, "n": 1},
    "one pixel": {"n": 1, "h": 6, "w": 1, "r": 3, "s": 1, "stride": 3, "dilation": 2, "pad": 0, "k": 8},
    "rows in whole tiles": {"n": 1, "h": 1, "w": 130, "r": 1, "pad": 0, "k": 8},
    "one row of pixels": {"n": 1, "h": 1, "w": 50, "r": 1, "pad": 0, "stride": 2},
    "a cluster shares pixels": {"k": 128, "cluster": 2, "group": 1, "stride": 2},
    "a cluster shares filters": {"bn": 128, "k": 128, "cluster": 2},
    "threads store": {"store": 0, "k": 72}, "a warp group stores in parts": {"store": 16, "k": 104, "bn": 128, "n": 3},
    "wide": {"bm": 128, "bn": 128, "gm": 128, "stages": 1}, "one pixel each": {"h": 3, "w": 3, "pad": 0, "n": 70},
}  # fmt: skip
QUICK = ("3x3", "5x2, f16", "a tile of 128 channels", "rows in whole tiles", "one pixel each")


def made(**settings: object) -> Planned:
    chosen = {name: str(value) for name, value in {**SMALL, **settings}.items()}
    return planned(applied(Choice("igemm_hopper", None, chosen).open()))


def pixel_loads(done: Planned) -> int:
    return len(list(operations(done.applied.module, LOAD_PIXELS)))


@pytest.mark.parametrize("name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.soak) for name in LAYERS])
def test_layers(name: str) -> None:
    done = made(**LAYERS[name])
    assert bool(pixel_loads(done)) == (name not in ("1x1", "one pixel each")), "the image is a matrix as it is"
    expect_right(done, {}, SimDevice(), NativeDevice())


@pytest.mark.parametrize("window", [{}, {"stride": 2}, {"dilation": 2, "pad": 2}], ids=str)
@pytest.mark.few(1)
def test_sizes_that_a_run_brings(window: dict[str, object]) -> None:
    """One kernel for channels that a tile divides, and one for any others."""
    draw = random.Random(str(window))
    done = made(**dict.fromkeys("nhwck", "?"), **window)
    for turn in range(8 if SOAK else 1):
        n, h, w, c, k = (draw.randrange(a, b) for a, b in ((1, 4), (5, 14), (5, 14), (1, 3), (1, 12)))
        sizes = {"X.0": n, "X.1": h, "X.2": w, "X.3": 64 * c if turn != 1 else 24 * c, "W.3": 8 * k}
        expect_right(done, {name: str(size) for name, size in sizes.items()}, SimDevice())


@pytest.mark.parametrize("layer", RESNET if SOAK else ["layer4.1.conv2"])
def test_layers_of_a_network_have_tensor_maps(layer: str) -> None:
    """All but the first, whose images have three channels."""
    done = made(**{**RESNET[layer], "n": 8, "bm": 128, "stages": 4})
    assert bool(pixel_loads(done)) == (RESNET[layer]["r"] * RESNET[layer]["stride"] > 1) and "load_box_2d(&W_shared" in done.cuda


def test_channels_that_a_tile_does_not_divide() -> None:
    """They are multiplied by warps, and the plan has nothing of a tensor map."""
    done = made(c=40)
    assert not list(operations(done.applied.module, "nvgpu.tma.create.descriptor"))
    expect_right(done, {}, SimDevice())


ACCUMULATING = """
func.func @convolution(%X: tensor<1x6x7x64xbf16>, %W: tensor<3x3x64x64xbf16>, %Y: tensor<1x4x5x64xf32>) -> tensor<1x4x5x64xf32> {
  %r = linalg.conv_2d_nhwc_hwcf ins(%X, %W : tensor<1x6x7x64xbf16>, tensor<3x3x64x64xbf16>)
    outs(%Y : tensor<1x4x5x64xf32>) -> tensor<1x4x5x64xf32>
  return %r : tensor<1x4x5x64xf32>
}
"""


def test_accumulates(tmp_path: Path) -> None:
    (tmp_path / "conv.mlir").write_text(ACCUMULATING)
    settings = {"bm": "64", "bn": "64", "stages": "2"}
    done = planned(applied(Choice("igemm_hopper", tmp_path / "conv.mlir", settings).open()))
    assert pixel_loads(done)
    expect_right(done, {}, SimDevice(), NativeDevice())


OTHER_AXES = {
    "conv_1d_nwc_wcf": """
func.func @conv(%X: tensor<3x40x64xbf16>, %W: tensor<5x64x64xbf16>) -> tensor<3x18x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<3x18x64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<3x18x64xf32>) -> tensor<3x18x64xf32>
  %r = linalg.conv_1d_nwc_wcf {strides = dense<2> : tensor<1xi64>, dilations = dense<1> : tensor<1xi64>}
    ins(%X, %W : tensor<3x40x64xbf16>, tensor<5x64x64xbf16>) outs(%init : tensor<3x18x64xf32>) -> tensor<3x18x64xf32>
  return %r : tensor<3x18x64xf32>
}
""",
    "conv_3d_ndhwc_dhwcf": """
func.func @conv(%X: tensor<2x4x6x5x64xbf16>, %W: tensor<2x3x3x64x64xbf16>) -> tensor<2x3x6x5x64xf32> {
  %zero = arith.constant 0.0 : f32
  %outside = arith.constant 0.0 : bf16
  %padded = tensor.pad %X low[0, 0, 1, 1, 0] high[0, 0, 1, 1, 0] {
  ^bb0(%a: index, %b: index, %c: index, %d: index, %e: index):
    tensor.yield %outside : bf16
  } : tensor<2x4x6x5x64xbf16> to tensor<2x4x8x7x64xbf16>
  %empty = tensor.empty() : tensor<2x3x6x5x64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x3x6x5x64xf32>) -> tensor<2x3x6x5x64xf32>
  %r = linalg.conv_3d_ndhwc_dhwcf ins(%padded, %W : tensor<2x4x8x7x64xbf16>, tensor<2x3x3x64x64xbf16>)
    outs(%init : tensor<2x3x6x5x64xf32>) -> tensor<2x3x6x5x64xf32>
  return %r : tensor<2x3x6x5x64xf32>
}
""",
}
@pytest.mark.few(1)
@pytest.mark.parametrize("store", [0, 32])
@pytest.mark.parametrize("op", OTHER_AXES)
def test_images_with_one_axis_and_with_three(op: str, store: int, tmp_path: Path) -> None:
    (tmp_path / "conv.mlir").write_text(OTHER_AXES[op])
    last = OTHER_AXES[op].split("%X: tensor<")[1].split("xbf16")[0].count("x")
    text = (RECIPES / "igemm_hopper.weft").read_text().replace("linalg.conv_2d_nhwc_hwcf", f"linalg.{op}")
    text = text.replace("conv.lhs.3", f"conv.lhs.{last}").replace("conv.rhs.3", f"conv.rhs.{last}")
    (tmp_path / "other.weft").write_text(text)
    settings = {"bm": "64", "bn": "64", "stages": "2", "store": str(store), "resident": "1", "buffers": "2"}
    done = planned(applied(Choice(str(tmp_path / "other.weft"), tmp_path / "conv.mlir", settings).open()))
    axes = last + 1
    assert f"load_pixels_{axes}d(&X_shared" in done.cuda
    expect_right(done, {}, SimDevice(), NativeDevice())
    code = sass.program(done.cuda, "conv", "sm_90a").instructions
    assert (f"{axes}D", "IM2COL") in [one.modifiers for one in code if one.mnemonic == "UTMALDG"]


# ---- what there is no map for -------------------------------------------------------------------------------------------------

def refusal(**settings: object) -> str:
    with pytest.raises(WeftError) as refused:
        made(**settings)
    return "; ".join(f"{d.code}: {d.message}" for d in refused.value.diagnostics)


def test_what_a_tensor_map_has_not() -> None:
    assert "W0405: the copy takes pixels 9 apart" in refusal(stride=9, h=30, w=30).replace("would take", "takes")
    assert "a window with a corner at -140" in refusal(pad=140, h=4, w=4, n=1)


def test_loads_that_there_are_not() -> None:
    """By a map of boxes; in another mode of loads."""
    text = made().applied.text
    kernel = text.index("gpu.func @")
    window = re.search(r"weft\.im2col = \{[^}]*\}, ", text[kernel:])
    assert window is not None
    boxes = text[:kernel] + text[kernel:].replace(window[0], "")
    for wrong, reason in ((boxes, "by a tensor map of boxes"), (text.replace("<im2col>", "<im2col_w>"), "no load of pixels")):
        module = parse(wrong, one_context())
        with pytest.raises(WeftError, match=f"W0503.*{reason}"):
            emit(module)
        with pytest.raises(WeftError, match=f"W0750.*{reason}"):
            SimKernel(next(operations(module, "gpu.func")))
    (use,) = kernel_uses(module)
    with pytest.raises(WeftError, match=r"W0640: the race analysis does not determine what nvvm\.cp\.async\.bulk\.tensor.* loads"):
        model_of(use)


# ---- mistakes -----------------------------------------------------------------------------------------------------------------

WAIT = r"\n *nvgpu\.mbarrier\.try_wait\.parity [^\n]*"
LOAD = r"\n *nvvm\.cp\.async\.bulk\.tensor\.shared\.cluster\.global ([^\n]*)"
MISTAKES = {  # what is replaced by what, and which one of them
    "nobody waits for pixels": (WAIT, "", 0), "nobody waits until a stage is empty": (WAIT, "", 1),
    "no pixels come": (LOAD, "", 0), "pixels come twice": (LOAD, r"\g<0>\g<0>", 0),
    "nobody says that a stage is empty": (r"\n *%\d+ = nvgpu\.mbarrier\.arrive [^\n]*", "", 0),
    "too few bytes": (r"arith\.constant 16384 : index", "arith.constant 8192 : index", 0),
}  # fmt: skip


def ran(done: Planned, text: str) -> RunResult:
    arrays = random_inputs(sized(signature(done.applied.payload), {}, done.plan.agreements, None), 1)
    return run_plan(done.plan, SimDevice(), arrays, text=text)


@pytest.mark.few(3)
@pytest.mark.parametrize("name", ["none", *MISTAKES])
def test_mistakes(name: str) -> None:
    done = made()
    text = done.applied.located_text
    if name != "none":
        pattern, instead, number = MISTAKES[name]
        found = list(re.finditer(pattern, text))[number]
        text = text[: found.start()] + found.expand(instead) + text[found.end() :]
    module = parse(text, one_context())
    (use,) = kernel_uses(module)
    try:
        proven = Findings(model_of(use)).clean
    except WeftError:
        proven = False
    result = ran(done, text)
    assert proven == (not result.races and not result.faults) == (name == "none")


def test_a_first_pixel_outside_of_the_window() -> None:
    """Only the simulator sees that: where pixels are read is no question of order."""
    done = made(n=1)
    result = ran(done, done.applied.located_text.replace("lower = array<i64: -1, -1>", "lower = array<i64: 1, 1>"))
    assert {fault.kind for fault in result.faults or ()} >= {"out-of-bounds read"}


@pytest.mark.few(1)
@pytest.mark.parametrize("cluster", [2, 1])
def test_time(cluster: int) -> None:
    """What the model needs of the machine code is known: tensor maps, barriers, and the blocks that a load is for."""
    done = made(n=8, k=128, cluster=cluster, group=1)
    assert all(kernel.seconds > 0 for kernel in predicted(done, "h200").kernels)


# ---- machine code -------------------------------------------------------------------------------------------------------------

CODE = [
    {"n": 32, "h": 56, "w": 56, "c": 64, "k": 64, "bm": 128, "bn": 64, "stages": 4},
    {"n": 32, "h": 28, "w": 28, "c": 128, "k": 256, "stride": 2, "bm": 128, "bn": 128, "stages": 4},
    {**dict.fromkeys("nhwck", "?"), "bm": 128, "bn": 128, "stages": 4},
]


@pytest.mark.parametrize("sizes", CODE, ids=str)
@pytest.mark.few(1)
def test_machine_code(sizes: dict[str, object]) -> None:
    """No spills, no more registers than three warp groups have, pixels and tiles by UTMALDG, products by HGMMA."""
    done = made(**sizes)
    name = "conv2d_32" if "?" in sizes.values() else "conv2d"
    used = sass.resources(done.cuda, name, "sm_90a")
    assert used.spill_bytes == used.stack_bytes == 0 and used.registers <= 168, used
    assert not re.search(r"C75\d\d", sass.compiled(done.cuda, "sm_90a").log)
    code = sass.program(done.cuda, name, "sm_90a").instructions
    loads = [one.modifiers for one in code if one.mnemonic == "UTMALDG"]
    assert ("4D", "IM2COL") in loads and ("2D",) in loads
    counts = sass.whole(done.cuda, name, "sm_90a").by_mnemonic
    assert counts["HGMMA"] and counts["SYNCS"] and counts["USETMAXREG"] == 2, counts
    assert counts["UTMASTG"] and not counts["STG"], counts
