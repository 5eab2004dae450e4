"""The recipe `hopper`: random sizes and tiles, proven, right and race-free, on the simulator and as text; its machine code."""

from __future__ import annotations

import os
import random
import re
from pathlib import Path

import pytest
import sass
from executors import expect_computed
from native_device import NativeDevice

from weft.dsl.diagnostics import WeftError
from weft.interpreter.hardware.limits import registers_at_start
from weft.interpreter.ir.mlir import operations
from weft.pipeline import Choice, Planned, applied, planned
from weft.runtime.cpu.reference import reference
from weft.runtime.files.inputs import random_inputs, sized
from weft.runtime.host.functions import signature
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice
from weft.runtime.simulator.machine import fragments

SOAK = "WEFT_SOAK" in os.environ
TILES = [  # a block's, a warp group's rows, and stages
    {"bm": 64, "bn": 64, "gm": 64, "stages": 2},
    {"bm": 128, "bn": 128, "gm": 64, "stages": 3},
    {"bm": 128, "bn": 64, "gm": 128, "stages": 1},
    {"bm": 192, "bn": 64, "bk": 128, "gm": 64, "stages": 2},
]


def made(**settings: object) -> Planned:
    return planned(applied(Choice("hopper", None, {name: str(value) for name, value in settings.items()}).open()))


def expect_right(done: Planned, sizes: dict[str, str], *devices: SimDevice | NativeDevice) -> None:
    payload = signature(done.applied.payload)
    arrays = random_inputs(sized(payload, sizes, done.plan.agreements, None), 1)
    wanted = reference(done.applied.payload, None, dict(arrays))
    for device in devices:
        ran = run_plan(done.plan, device, arrays, text=done.cuda if device.wants == "cuda" else done.applied.located_text)
        expect_computed(device, ran, payload, wanted, rounded=done.plan.rounded)


@pytest.mark.few(1)
@pytest.mark.parametrize("tiles", TILES, ids=str)
@pytest.mark.parametrize("type", ["f16", "bf16"])
def test_random_sizes(type: str, tiles: dict[str, int]) -> None:
    """One kernel for rows of whole 16 bytes, and one for any others, at sizes that a run brings."""
    draw = random.Random(f"{type} {tiles}")
    done = made(type=type, m="?", n="?", k="?", **tiles)
    for turn in range(12 if SOAK else 1):
        m, n, k = (draw.randrange(1, 200) for _ in range(3))
        if turn != 1:
            n, k = -(-n // 8) * 8, -(-k // 8) * 8
        expect_right(done, {"A.0": str(m), "B.1": str(n), "A.1": str(k)}, SimDevice())


@pytest.mark.few(2)
@pytest.mark.parametrize("sizes", [(64, 64, 64), (100, 72, 136), (130, 200, 8)])
def test_text(sizes: tuple[int, int, int]) -> None:
    m, n, k = sizes
    expect_right(made(m=m, n=n, k=k, bm=64, bn=128, stages=2), {}, SimDevice(), NativeDevice())


OF_F32 = ["tf32", "3xtf32", "bf16x3"]


@pytest.mark.parametrize("as_type", OF_F32)
@pytest.mark.soak
def test_f32(as_type: str) -> None:
    """Copies in front of the product, at sizes that a run brings: any."""
    done = made(type="f32", as_type=as_type, m="?", n="?", k="?", bm=64, bn=64, stages=2)
    for m, n, k in ((100, 77, 136), (64, 64, 24), (30, 21, 27)):
        expect_right(done, {"A.0": str(m), "B.1": str(n), "A.1": str(k)}, SimDevice())


@pytest.mark.few(2)
@pytest.mark.parametrize("as_type", OF_F32)
def test_text_of_f32(as_type: str) -> None:
    done = made(type="f32", as_type=as_type, m=100, n=77, k=136, bm=64, bn=128, stages=2)
    assert done.plan.rounded == as_type
    expect_right(done, {}, SimDevice(), NativeDevice())


@pytest.mark.parametrize("as_type", OF_F32)
@pytest.mark.few(1)
def test_columns_of_a_tile_of_f32(as_type: str) -> None:
    """As many as are said; if none are, half of what a warp group has registers for where it adds sums to sums."""

    def tiles(**columns: int) -> int:
        return made(type="f32", as_type=as_type, m=128, n=768, k=64, **columns).plan.launches[-1].grid[0]

    assert (tiles(), tiles(bn=192), tiles(bn=64)) == (3 if as_type == "tf32" else 6, 4, 12)
    if as_type == "tf32":
        assert tiles(bn=256) == 3
    else:
        with pytest.raises(WeftError, match=r"W0240: .*at most 192 columns per tile"):
            tiles(bn=256)


BYTES = ["f8E4M3FN", "f8E5M2", "i8"]


@pytest.mark.parametrize("type", BYTES)
@pytest.mark.few(1)
def test_bytes(type: str) -> None:
    """The right operand is copied as n x k, byte by byte, and the left one where its rows are not of whole 16 bytes."""
    done = made(type=type, m="?", n="?", k="?", bm=64, bn=64, stages=2)
    for m, n, k in ((100, 77, 144), (64, 64, 16), (65, 30, 131), (1, 1, 1)):
        expect_right(done, {"A.0": str(m), "B.1": str(n), "A.1": str(k)}, SimDevice())


@pytest.mark.parametrize("type", BYTES)
@pytest.mark.few(1)
def test_text_of_bytes(type: str) -> None:
    expect_right(made(type=type, m=100, n=77, k=144, bm=64, bn=128, stages=2), {}, SimDevice(), NativeDevice())


ANYWHERE = [{"type": "f8E4M3FN"}, {"type": "i8"}, *({"type": "f32", "as_type": as_type} for as_type in OF_F32)]


@pytest.mark.few(1)
@pytest.mark.parametrize("settings", ANYWHERE, ids=str)
def test_rows_that_begin_anywhere(settings: dict[str, str]) -> None:
    """Copies whose rows take up whole 16 bytes, of whatever sizes: two kernels that copy, and one that multiplies."""
    draw = random.Random(str(settings))
    for _ in range(8 if SOAK else 1):
        m, n, k = draw.randrange(1, 150), draw.randrange(1, 150), draw.randrange(1, 40) * 4 + 1
        done = made(m=m, n=n, k=k, bm=64, bn=64, stages=2, **settings)
        assert done.cuda.count("__global__") == 3 and not list(operations(done.applied.module, "memref.copy"))
        expect_right(done, {}, SimDevice(), NativeDevice())


def test_parts_are_of_tf32(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tensor cores need not round them once more, in whatever way they do."""
    done = made(type="f32", m=64, n=64, k=40, bm=64, bn=64, stages=2)
    arrays = random_inputs(signature(done.applied.payload), 1)
    before = run_plan(done.plan, SimDevice(), arrays, text=done.applied.located_text).outputs["C"]
    monkeypatch.setattr(fragments, "to_tf32", lambda x: x)
    after = run_plan(done.plan, SimDevice(), arrays, text=done.applied.located_text).outputs["C"]
    assert (before == after).all()


def test_operands_that_lie_right_are_not_copied(tmp_path: Path) -> None:
    """Whose rows are columns of the product, in f32 as tf32."""
    (tmp_path / "product.mlir").write_text(K_MAJOR)
    settings = {"bm": "64", "bn": "64", "stages": "2", "type": "f32", "as_type": "tf32"}
    done = planned(applied(Choice("hopper", tmp_path / "product.mlir", settings).open()))
    assert "packed" not in done.cuda and done.cuda.count("__global__") == 1
    expect_right(done, {}, SimDevice(), NativeDevice())


K_MAJOR = """
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (j, k)>
#c = affine_map<(i, j, k) -> (i, j)>
func.func @product(%A: tensor<72x64xf32>, %B: tensor<77x64xf32>, %C: tensor<72x77xf32>) -> tensor<72x77xf32> {
  %r = linalg.matmul indexing_maps = [#a, #b, #c] ins(%A, %B : tensor<72x64xf32>, tensor<77x64xf32>)
       outs(%C : tensor<72x77xf32>) -> tensor<72x77xf32>
  return %r : tensor<72x77xf32>
}
"""


def test_blocks_that_stay() -> None:
    """Fewer blocks than tiles: the ring goes on from tile to tile."""
    expect_right(made(m=300, n=264, k=200, bm=64, bn=64, stages=3, blocks=7), {}, SimDevice(), NativeDevice())


CLUSTERS: list[dict[str, object]] = [
    {"cluster": 2}, {"cluster": 4, "bn": 128}, {"cluster": 2, "blocks": 6}, {"cluster": 4, "group": 1, "bm": 128},
    {"cluster": 4, "bk": 128, "type": "f16"}, {"cluster": 2, "type": "f32"}, {"cluster": 2, "type": "i8"},
]  # fmt: skip


@pytest.mark.few(1)
@pytest.mark.parametrize("settings", CLUSTERS, ids=str)
def test_clusters(settings: dict[str, object]) -> None:
    """Blocks side by side share tiles, at sizes that fill no clusters; and their text runs so."""
    tiles = {"bm": 64, "bn": 64, "stages": 2} | settings
    draw = random.Random(str(settings))
    sizes = [64, 64, 64] if SOAK else [192, 64, 72]
    for _ in range(8 if SOAK else 1):
        expect_right(made(**dict(zip("mnk", sizes, strict=True)), **tiles), {}, SimDevice(), NativeDevice())
        sizes = [draw.randrange(1, 300), draw.randrange(1, 30) * 8, draw.randrange(1, 30) * 8]


@pytest.mark.parametrize("settings", [{"cluster": 2}, {"cluster": 4, "bm": 128}], ids=str)
@pytest.mark.few(1)
def test_clusters_of_open_sizes(settings: dict[str, object]) -> None:
    done = made(m="?", n="?", k="?", **({"bm": 64, "bn": 64, "stages": 2} | settings))
    for m, n, k in ((200, 136, 72), (1, 8, 8), (64, 77, 64), (320, 64, 8)):
        expect_right(done, {"A.0": str(m), "B.1": str(n), "A.1": str(k)}, SimDevice())


def test_rows_that_no_tensor_map_has() -> None:
    """They are multiplied by warps, and the plan has nothing of a tensor map."""
    done = made(m=64, n=77, k=64)
    assert not list(operations(done.applied.module, "nvgpu.tma.create.descriptor"))
    expect_right(done, {}, SimDevice())


ACCUMULATING = """
func.func @product(%A: tensor<72x64xbf16>, %B: tensor<64x64xbf16>, %C: tensor<72x64xf32>) -> tensor<72x64xf32> {
  %r = linalg.matmul ins(%A, %B : tensor<72x64xbf16>, tensor<64x64xbf16>) outs(%C : tensor<72x64xf32>) -> tensor<72x64xf32>
  return %r : tensor<72x64xf32>
}
"""


@pytest.mark.parametrize(("type", "cluster"), [("bf16", 1), ("bf16", 4), ("i8", 1)])
def test_accumulates(tmp_path: Path, type: str, cluster: int) -> None:
    """Without a fill the result starts from its argument, which threads bring into the accumulator."""
    text = ACCUMULATING.replace("f32", "i32" if type == "i8" else "f32").replace("xbf16", f"x{type}")
    (tmp_path / "product.mlir").write_text(text)
    settings = {"bm": "64", "bn": "64", "stages": "2", "cluster": str(cluster), "type": type}
    done = planned(applied(Choice("hopper", tmp_path / "product.mlir", settings).open()))
    expect_right(done, {}, SimDevice(), NativeDevice())


def test_a_block_has_the_registers_that_its_consumers_ask_for() -> None:
    """What NVRTC gives each thread is what the proof takes it to be: all that the consumers of 256 rows can get."""
    done = made(m=512, n=512, k=512, bm=256, bn=64, stages=2)
    assert sass.resources(done.cuda, "matmul", "sm_90a").registers == registers_at_start(640, 112) == 96
    assert "more_registers<112>" in done.cuda and "fewer_registers<24>" in done.cuda


WHOLE, OPEN = {"m": 4096, "n": 4096, "k": 4096}, {"m": "?", "n": "?", "k": "?"}
CODE = [
    ("matmul", WHOLE), ("matmul", {"m": 1000, "n": 776, "k": 328}), ("matmul_32", OPEN),
    ("matmul", WHOLE | {"type": "f32", "as_type": "tf32"}), ("matmul_32", OPEN | {"type": "f32", "as_type": "3xtf32"}),
    ("matmul", {"m": 1000, "n": 777, "k": 328, "type": "f32", "as_type": "bf16x3"}),
    ("matmul", WHOLE | {"type": "f8E4M3FN"}), ("matmul_32", OPEN | {"type": "f8E5M2"}),
    ("matmul", {"m": 1000, "n": 777, "k": 333, "type": "f8E5M2"}),
    ("matmul", WHOLE | {"rounded": 1, "blocks": 132}), ("matmul", WHOLE | {"store": 32, "buffers": 2, "blocks": 132}),
    ("matmul", WHOLE | {"type": "i8"}), ("matmul_32", OPEN | {"type": "i8"}),
    ("matmul", {"m": 1000, "n": 777, "k": 333, "type": "i8"}),
]  # fmt: skip


OF_CLUSTERS = [WHOLE, {"m": 1000, "n": 776, "k": 328}, WHOLE | {"blocks": 132}, WHOLE | {"cluster": 4}]


@pytest.mark.few(1)
@pytest.mark.parametrize("sizes", OF_CLUSTERS, ids=str)
def test_machine_code_of_clusters(sizes: dict[str, object]) -> None:
    """As without them; half of a tile of B comes by each block, for both, who meet at the beginning and at the end: there alone do
    fences for the whole chip stand."""
    text = made(**{"cluster": 2} | sizes).cuda
    used = sass.resources(text, "matmul", "sm_90a")
    assert used.spill_bytes == used.stack_bytes == 0 and used.registers <= 168, used
    assert "C75" not in sass.compiled(text, "sm_90a").log
    program = sass.program(text, "matmul", "sm_90a").instructions
    loads = [one for one in program if one.mnemonic == "UTMALDG"]
    shared = [one for one in loads if "MULTICAST" in one.modifiers]
    assert (len(loads), len(shared)) == ((2, 1) if sizes.get("cluster") == 4 else (3, 2))
    code = sass.whole(text, "matmul", "sm_90a").by_mnemonic
    assert code["UCGABAR_ARV"] == code["UCGABAR_WAIT"] == 2 and code["USETMAXREG"] == 2, code
    assert sum(one.mnemonic == "MEMBAR" and "GPU" in one.modifiers for one in program) == 2


@pytest.mark.few(2)
@pytest.mark.parametrize(("name", "sizes"), CODE, ids=str)
def test_machine_code(name: str, sizes: dict[str, object]) -> None:
    """No spills, no more registers than three warp groups have, tiles by UTMALDG, products by HGMMA (of f8 QGMMA, of i8 IGMMA),
    waits by SYNCS."""
    text = made(**sizes).cuda
    used = sass.resources(text, name, "sm_90a")
    assert used.spill_bytes == used.stack_bytes == 0 and used.registers <= 168, used
    code = sass.whole(text, name, "sm_90a").by_mnemonic
    multiplies = {"f8E4M3FN": "QGMMA", "f8E5M2": "QGMMA", "i8": "IGMMA"}.get(str(sizes.get("type")), "HGMMA")
    assert code[multiplies] and code["UTMALDG"] and code["SYNCS"] and code["USETMAXREG"] == 2, code
    stored = sizes["n"] != 777  # whose rows begin anywhere
    assert (code["UTMASTG"] > 0) == stored and (code["STG"] == 0 or not stored or "?" in sizes.values()), code
    assert "C75" not in sass.compiled(text, "sm_90a").log


@pytest.mark.soak
def test_threads_may_store_what_they_have() -> None:
    """`store=0`, and any number of columns at a time, each warp group's rows of 64 or more."""
    for settings in ({"store": 0}, {"store": 8}, {"store": 32, "blocks": 3}, {"store": 32, "gm": 128}):
        expect_right(made(m=200, n=136, k=72, bm=128, bn=64, stages=2, **settings), {}, SimDevice(), NativeDevice())


TURNS: list[dict[str, object]] = [
    {"rounded": 1}, {"rounded": 1, "blocks": 4, "cluster": 2, "bn": 192}, {"store": 32, "buffers": 2, "blocks": 3},
    {"rounded": 1, "store": 16, "buffers": 4, "blocks": 3, "type": "f16"}, {"store": 32, "buffers": 4, "gm": 128, "bm": 128},
]  # fmt: skip


@pytest.mark.few(1)
@pytest.mark.parametrize("settings", TURNS, ids=str)
def test_parts_of_results_take_buffers_in_turn(settings: dict[str, object]) -> None:
    tiles = {"bm": 64, "bn": 128, "stages": 2} | settings
    draw = random.Random(str(settings))
    sizes = [200, 328, 72]
    for _ in range(8 if SOAK else 1):
        expect_right(made(**dict(zip("mnk", sizes, strict=True)), **tiles), {}, SimDevice(), NativeDevice())
        sizes = [draw.randrange(1, 300), draw.randrange(1, 60) * 8, draw.randrange(1, 30) * 8]


@pytest.mark.few(1)
@pytest.mark.parametrize(("settings", "buffers"), [
    ({"rounded": 1}, 2), ({}, 1), ({"rounded": 1, "stages": 4, "bm": 192, "bn": 192}, 1), ({"rounded": 1, "store": 128}, 1),
    ({"rounded": 1, "buffers": 1}, 1), ({"rounded": 1, "bm": 64, "buffers": 4}, 4),
])  # fmt: skip
def test_two_buffers_where_the_ring_leaves_room(settings: dict[str, object], buffers: int) -> None:
    text = made(**{"m": 512, "n": 512, "k": 256} | settings).cuda
    waits = re.findall(r"wait_stores_read<(\d)>\(\)", text.split("__global__")[1])
    assert len(re.findall(r"C_shared_plane = k % 2", text)) == (buffers == 2), text
    assert waits == (["0"] * 2 if buffers < 4 else ["0"])
