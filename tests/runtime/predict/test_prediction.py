"""Predictions of kernels that Weft makes: what their machine code executes, and how the tool shows it."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import weft
from weft import cli
from weft.dsl.diagnostics import WeftError
from weft.execution import predicted
from weft.pipeline import Choice, Planned, applied, planned
from weft.runtime.cuda.nvrtc import compile_cubin
from weft.runtime.plan.plan import Launch, triple
from weft.runtime.predict import prediction, sass
from weft.runtime.predict.chips import CHIPS, Gpu
from weft.runtime.predict.operands import Grid
from weft.runtime.predict.pipes import bank_conflicts, flops
from weft.runtime.predict.processor.memory import Accesses
from weft.runtime.predict.sass import MachineInstruction, disassembled
from weft.runtime.predict.trace import Execution
from weft.runtime.predict.tracks import Trace


@cache
def made(name: str, **settings: object) -> Planned:
    return planned(applied(Choice(name, None, {key: str(value) for key, value in settings.items()}).open()))


def executed(plan: Planned, chip: Gpu, block: tuple[int, int, int]) -> tuple[tuple[MachineInstruction, ...], Trace]:
    """One block of the first launch."""
    (step, *_) = (s for s in plan.plan.steps if isinstance(s, Launch))
    entry = next(k for k in plan.plan.kernels if k.name == step.kernel)
    code = disassembled(compile_cubin(plan.cuda, chip.arch).cubin)[entry.name]
    bases = {buffer.name: number << 40 for number, buffer in enumerate(plan.plan.buffers, 1)}
    grid = Grid(triple(step.block), [block], prediction.constants(plan.plan, step, entry, bases, chip))
    return code.instructions, Execution(code, grid).run()


K = 192
CASES = [
    ("naive", {"bm": 16, "bn": 16}), ("shared", {}), ("simt", {}), ("simt_pipelined", {}),
    ("simt", {"m": 300, "n": 260, "k": 100}), ("tensor", {}), ("tensor", {"type": "i8"}), ("tensor", {"type": "f64", "stages": 2}),
]  # fmt: skip


WIDE = [("simt_pipelined", {}), ("simt_pipelined", {"bn": 256}), ("simt_pipelined", {"bm": 128, "bn": 256, "wm": 64, "wn": 64})]
"""128 sums a thread."""


@pytest.mark.few(2)
@pytest.mark.parametrize(("name", "settings"), WIDE, ids=str)
def test_wide_tiles_store_whole_sectors_and_conflict_in_few_registers(name: str, settings: dict[str, object]) -> None:
    """A warp writes 512 bytes at a time: 16 sectors, of 8 lines at most, or of 4."""
    plan = made(name, m=512, n=512, k=K, **settings)
    instructions, trace = executed(plan, CHIPS["h200"], (0, 0, 0))
    accesses, stores = Accesses(instructions, len(trace.tracks)), Counter[tuple[int, int]]()
    for warp, track in enumerate(trace.tracks):
        for at in (at for at, code in enumerate(track.code) if instructions[code].mnemonic == "STG"):
            access = accesses.of_global(track, at, warp)
            stores[len(access.sectors), int(access.wavefronts)] += 1
    assert stores == {(16, 4 if "wn" in settings else 8): 32 * len(trace.tracks)}
    conflicts = sum(bank_conflicts(instructions))
    assert conflicts <= 0.02 * sum(one.mnemonic == "FFMA" for one in instructions), conflicts


@pytest.mark.few(4)
@pytest.mark.parametrize("chip", ["a100", "h200"])
@pytest.mark.parametrize(("name", "settings"), CASES, ids=lambda x: x if isinstance(x, str) else "-".join(map(str, x.values())))
def test_a_block_executes_its_products_and_stores_its_tile(name: str, settings: dict[str, object], chip: str) -> None:
    """The machine code, executed: as many products as the tile has, each element of C written once, nothing out of bounds."""
    plan = made(name, **({"m": 512, "n": 256, "k": K} | settings))
    instructions, trace = executed(plan, CHIPS[chip], (1, 0, 0))
    work: float = 0
    stored: Counter[int] = Counter()
    sides = {b.name: (n, math.prod(b.shape) * _width(b.dtype)) for n, b in enumerate(plan.plan.buffers, 1)}  # type: ignore[type-var]
    for warp, track in enumerate(trace.tracks):
        lanes = slice(32 * warp, 32 * warp + 32)
        for at, place, active in zip(track.code, track.places, track.active, strict=True):
            one = instructions[at]
            work += flops(one) / 2 if one.mnemonic in ("FFMA", "HMMA", "IMMA", "DMMA") else 0
            if one.mnemonic in ("LDG", "STG", "LDGSTS") and active is not False:
                here = np.broadcast_to(place, 32 * len(trace.tracks))[lanes]
                here = here if not isinstance(active, np.ndarray) else here[active[lanes]]
                for number in set((here >> 40).tolist()):
                    size = next(size for n, size in sides.values() if n == number)
                    assert ((here & (1 << 40) - 1)[here >> 40 == number] + one.bits // 8 <= size).all(), one
                if one.mnemonic == "STG":
                    stored.update((here[:, None] + np.arange(0, one.bits // 8, 4)).ravel().tolist())
    assert not trace.unknown and set(stored.values()) == {2 if name == "naive" else 1}  # which stores zeros first
    elements = len(stored) // (2 if settings.get("type") == "f64" else 1)
    if "m" not in settings:
        assert work == elements * K


def _width(dtype: str) -> int:
    return {"f32": 4, "bf16": 2, "i8": 1, "i32": 4, "f64": 8}[dtype]


@pytest.mark.soak
def test_a_larger_product_takes_longer_and_each_chip_its_time() -> None:
    times = {chip: predicted(made("simt", m=1024, n=1024, k=256), chip).kernels[0] for chip in CHIPS}
    longer = predicted(made("simt", m=1024, n=1024, k=512), "h200").kernels[0]
    assert longer.flops == 2 * times["h200"].flops == 2 * 1024 * 1024 * 512
    assert 1.5 < longer.seconds / times["h200"].seconds < 2
    assert all(0.1 < kernel.share < 1 for kernel in times.values()) and len({k.seconds for k in times.values()}) >= 4
    for kernel in times.values():
        assert sum(kernel.issue.values()) == pytest.approx(1, abs=0.02) and max(kernel.busy.values()) <= 1.01


@pytest.mark.soak
def test_open_sizes_are_named() -> None:
    open_ = made("simt", m="?", n="?", k="?")
    with pytest.raises(WeftError, match="W0719"):
        predicted(open_, "h200")
    fixed = predicted(made("simt", m=512, n=512, k=512), "h200")
    dynamic = predicted(open_, "h200", {"m": "512", "n": "512", "k": "512"})
    assert dynamic.seconds == pytest.approx(fixed.seconds, rel=0.15)


def test_blocks_without_a_tile_take_no_time() -> None:
    """A grid whose size is known at run time has a row of blocks for each group of 8 rows of tiles; here there is one of these."""
    (open_,) = predicted(made("simt", m="?", n="?", k="?"), "h200", {"m": "64", "n": "380", "k": "64"}).kernels
    (fixed,) = predicted(made("simt", m=64, n=380, k=64), "h200").kernels
    assert (math.prod(open_.grid), open_.working, open_.idle) == (24, 3, 129)
    assert math.prod(fixed.grid) == fixed.working == 3
    assert open_.flops == fixed.flops
    assert open_.seconds == pytest.approx(fixed.seconds, rel=0.4)


PERSISTENT = """
payload matmul(m = {m}, n = 352, k = 64)
schedule persistent() {{
  let gemm = match linalg.matmul
  let init = match linalg.fill
  let (tiles, tile_mm) = tile gemm [32, 32]
  fuse init into tiles
  map tiles to blocks(x: 132) cyclic
  let (k, step) = tile tile_mm [_, _, 16]
  let (b, copy_b) = promote-to-shared step.rhs
  map copy_b to threads(*) cyclic
  let (lanes, one) = tile step [4, 4]
  map lanes to threads(y, x)
  promote-to-registers one.acc across k
  insert-barriers
  launch tiles
}}
"""


@pytest.mark.parametrize("cluster", [1, 2])
@pytest.mark.few(1)
def test_blocks_that_stay_do_the_operations_that_there_are(cluster: int) -> None:
    """140 tiles of 132 blocks, eight of which take two: operations are those of all, whichever is timed. Warp groups meet to store
    their parts while the producer runs ahead."""
    plan = made("hopper", m=128, n=128 * 140, k=256, bn=128, blocks=132, group=1, cluster=cluster)
    (found,) = prediction.predict(plan.plan, plan.cuda, CHIPS["h200"]).kernels
    assert (found.grid, found.cluster) == ((132, 1, 1), cluster)
    assert found.flops == pytest.approx(2 * 128 * 128 * 140 * 256, rel=1e-3)


def test_l2_and_dram_move_no_more_than_they_can() -> None:
    """Tiles of short sums that are stored, and that no warp waits for: the launch lasts until they are, and nothing is in use for
    longer than that. With less DRAM than there is it is that which they wait for, with more it is L2."""
    plan, h200 = made("hopper", m=2048, n=8192, k=128, bn=256, blocks=132), CHIPS["h200"]
    stored, loaded = 4 * 2048 * 8192, (128 + 256) * 128 * 2 * 512
    for times, limit in ((0.5, "DRAM"), (4, "L2")):
        chip = replace(h200, dram=times * h200.dram, launch=0)
        (found,) = prediction.predict(plan.plan, plan.cuda, chip).kernels
        assert found.limit == limit and found.busy[limit] == pytest.approx(1, abs=0.05)
        assert max(found.busy.values()) < 1 + 1e-9 and sum(found.issue.values()) == pytest.approx(1, abs=0.01)
        clocks = stored / chip.l2_stores + loaded / chip.l2
        assert found.seconds * chip.gigahertz * 1e9 >= clocks * (1 - 1e-9)


def test_blocks_that_stay_end_with_the_last_of_them() -> None:
    """132 tiles are one for each block; of 143, eleven blocks have two."""
    few, more = (predicted(planned(applied(weft.load(PERSISTENT.format(m=m)))), "h200").kernels[0] for m in (384, 416))
    assert few.working == more.working == 132 and few.flops == 2 * 384 * 352 * 64
    assert 1.5 < more.seconds / few.seconds < 2.1
    assert more.flops == 2 * 416 * 352 * 64


@pytest.mark.parametrize("name", ["shared", "tensor"])
def test_places_in_ragged_tiles_are_known(name: str) -> None:
    """Addresses are computed under the predicate that they are used under."""
    kernels = predicted(made(name, m=130, n=131, k=100), "h200").kernels
    assert [kernel.assumed for kernel in kernels] == [0]


@pytest.mark.few(1)
@pytest.mark.parametrize("chip", sorted(CHIPS, key="h100".__ne__))
def test_convolutions_with_padding(chip: str) -> None:
    assert len(predicted(made("concurrent_convs", batch=1, filters=4, size=7), chip).kernels) == 3
    assert predicted(made("igemm_bias_relu", h=13, w=11, c=17, k=19), chip).kernels


def test_a_block_that_does_not_fit() -> None:
    plan = made("tensor", m=512, n=512, k=512, bm=128, bn=256, bk=64, wm=64, wn=64, stages=3)
    assert predicted(plan, "h200").kernels[0].resident == 1
    with pytest.raises(WeftError, match=r"W0726.*147456"):
        predicted(plan, "rtx4090")


def test_more_warps_ask_for_a_place_than_the_queue_has() -> None:
    """All that had one have left, and nobody is in it."""
    assert predicted(made("layernorm", m=528, n=20001, type="f16"), "h200").kernels


@pytest.mark.parametrize(
    ("threads", "registers", "shared", "blocks"),
    [(256, 128, 0, 2), (256, 129, 0, 1), (1024, 32, 0, 2), (32, 16, 0, 32), (256, 64, 48 * 1024, 4), (256, 255, 0, 1)],
)
def test_resident_blocks(threads: int, registers: int, shared: int, blocks: int) -> None:
    """The occupancy that CUDA's own calculator gives for compute capability 9.0."""
    assert prediction.resident_blocks(CHIPS["h200"], threads, registers, shared) == blocks


GATHER = """
func.func @gather(%i: memref<1024xi32>, %y: memref<1024xf32>) {
  affine.for %a = 0 to 1024 {
    %n = memref.load %i[%a] : memref<1024xi32>
    %z = arith.constant 0 : i32
    %c = arith.constant 0.0 : f32
    %d = arith.constant 1.5 : f32
    %w:2 = scf.while (%k = %n, %f = %c) : (i32, f32) -> (i32, f32) {
      %p = arith.cmpi sgt, %k, %z : i32
      scf.condition(%p) %k, %f : i32, f32
    } do {
    ^bb0(%k: i32, %f: f32):
      %o = arith.constant 1 : i32
      %l = arith.subi %k, %o : i32
      %g = math.sin %f : f32
      %h = arith.addf %g, %d : f32
      scf.yield %l, %h : i32, f32
    }
    memref.store %w#1, %y[%a] : memref<1024xf32>
  }
  return
}
"""


def test_a_loop_that_data_end_is_refused(tmp_path: Path) -> None:
    (tmp_path / "p.mlir").write_text(GATHER)
    (tmp_path / "s.weft").write_text(
        'payload "p.mlir"\nschedule s() {\n  let loop = match affine.for\n  map loop to grid(x)\n  launch loop\n}\n'
    )
    with pytest.raises(WeftError, match=r"W0782.*depends on data"):
        predicted(made(str(tmp_path / "s.weft")), "h200")


def test_no_disassembler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sass.sys, "path", [])
    sass._nvdisasm.cache_clear()
    try:
        with pytest.raises(WeftError, match="W0780") as found:
            disassembled(b"")
        assert found.value.diagnostics[0].hint == "`pip install 'weft-gpu[predict]'`"
    finally:
        sass._nvdisasm.cache_clear()


# ---- the tool ----------------------------------------------------------------------------------------------------------------


def test_the_command_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", "naive", "--predict", "--chip", "a100", "--set", "m=256", "--set", "n=256", "--set", "k=64"]
    assert cli.run(words) == 0
    shown = capsys.readouterr().err
    for part in ("@matmul: ", "TFLOP/s", "limited by: ", "schedulers' clocks", "A100 (sm_80)"):
        assert part in shown, shown
    assert cli.run([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["chip"] == "a100" and found["seconds"] == found["kernels"][0]["seconds"] > 0


REFUSED = [
    (["--chip", "gtx1080"], "W0781"),
    (["--save", "y.npz"], "--predict runs nothing: it takes no --save"),
    (["--target", "cpu", "--seed", "0"], "it takes no --target, --seed"),
]


@pytest.mark.parametrize(("words", "code"), REFUSED)
def test_what_the_command_refuses(words: list[str], code: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["run", "naive", "--predict", *words]) != 0
    assert code in capsys.readouterr().err


def test_a_chip_without_a_prediction(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["run", "naive", "--chip", "a100"]) == 2
    assert "--chip is the GPU of --predict" in capsys.readouterr().err


def test_a_chip_without_the_instructions(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["run", "hopper", "--predict", "--chip", "a100", "--set", "m=256", "--set", "n=256", "--set", "k=64"]) == 1
    shown = " ".join(capsys.readouterr().err.split())
    assert "W0727" in shown and "takes instructions that sm_90a alone has; the A100 is sm_80" in shown
    assert "take `--chip` h200 or h100, or schedule it without warp groups" in shown
