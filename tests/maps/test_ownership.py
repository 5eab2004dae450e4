"""What `show-map` says of ownership, against who wrote each element when the launched kernel ran on the simulator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from weft.interpreter.ir.mlir import operations
from weft.maps.ownership import Ownership, live_maps, ownership
from weft.pipeline import Applied, Choice, applied
from weft.runtime.simulator.kernel import SimKernel
from weft.runtime.simulator.machine.memory import Tracked

DOUBLE = """func.func @double(%x: tensor<24x40xf32>) -> tensor<24x40xf32> {
  %empty = tensor.empty() : tensor<24x40xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<24x40xf32>) outs(%empty : tensor<24x40xf32>) {
    ^bb0(%value: f32, %out: f32):
      %sum = arith.addf %value, %value : f32
      linalg.yield %sum : f32
  } -> tensor<24x40xf32>
  return %y : tensor<24x40xf32>
}
"""


def schedule(folder: Path, body: str, payload: str = 'payload "double.mlir"') -> Applied:
    (folder / "double.mlir").write_text(DOUBLE)
    (folder / "case.weft").write_text(f"{payload}\n\nschedule case() {{\n{body}\n}}\n")
    return applied(Choice(str(folder / "case.weft")).open())


def shown(done: Applied, name: str) -> Ownership:
    (live,) = live_maps(done.session, [name])
    return ownership(live)


def writers(done: Applied, buffer: str, shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> np.ndarray:
    """The thread (of block 0) that wrote each element of a buffer when the launched kernel ran; -1 for none."""
    found = np.full(int(np.prod(shape)), -1)

    def note(self: Tracked, flat: Any, mask: Any, site: int) -> None:
        if self.name == buffer:
            lanes = self.lanes
            where = np.broadcast_to(flat, (*lanes.shape, *np.shape(flat)[2:]))[:, 0].reshape(lanes.nt, -1)
            active = lanes.full(mask)[:, 0]
            for row in np.flatnonzero(active):
                found[where[row]] = lanes.threads[row]

    for home in (Tracked, *Tracked.__subclasses__()):
        if "note_write" in vars(home):
            monkeypatch.setattr(home, "note_write", note)
    (function,) = operations(done.module.operation, "gpu.func")
    kernel = SimKernel(function)
    arrays = [np.zeros((24, 40) if "memref<24x40" in kind else (64, 64), np.float32) for kind in _memrefs(function)]
    assert kernel.known_grid is not None and kernel.known_block is not None
    kernel.launch(kernel.known_grid, kernel.known_block, arrays, check=False)
    return found.reshape(shape)


def _memrefs(function: Any) -> list[str]:
    shared = int(str(function.attributes.get("workgroup_attributions", "0")).split()[0])
    kinds = [str(argument.type) for argument in function.regions[0].blocks[0].arguments]
    return [kind for kind in kinds[: len(kinds) - shared] if kind.startswith("memref")]


TILES = "  let op = match linalg.generic\n  let (tiles, tile) = tile op [24, 40]\n  map tiles to blocks(y, x)\n"


@pytest.mark.parametrize(
    "how",
    [
        "threads(y: 24, x: 40)",
        "threads(y: 4, x: 8) block",
        "threads(y: 4, x: 8) cyclic",
        "threads(y: 5, x: 7) cyclic",
        "threads(y: 7, x: 16) block",
        "threads(y: 4, x: 8) block-cyclic(2)",
        "threads(y: 3, x: 8) block-cyclic(3)",
        "threads(x: 8, y: 4) cyclic",
    ],
)
def test_a_loop_over_threads(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = f"{TILES}  let (lanes, one) = tile tile [1, 1]\n  map lanes to {how}\n  launch tiles"
    done = schedule(tmp_path, body)
    found = shown(done, "lanes")
    assert found.map[-1] == how and found.space == "threads" and found.owners.shape == (24, 40)
    assert np.array_equal(found.owners, writers(done, "result0", (24, 40), monkeypatch))


@pytest.mark.parametrize("how", ["threads(x: 64) cyclic", "threads(x: 96) block", "threads(x: 32) block-cyclic(4)"])
def test_an_op_whose_elements_are_mapped(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = schedule(tmp_path, f"{TILES}  map tile to {how}\n  launch tiles")
    found = shown(done, "tile")
    assert found.unit == "element"
    assert np.array_equal(found.owners, writers(done, "result0", (24, 40), monkeypatch))


def test_an_op_mapped_to_vectors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = schedule(tmp_path, f"{TILES}  map tile to threads(x: 32) cyclic vector 4\n  launch tiles")
    found = shown(done, "tile").owners
    assert (found[:, ::4] == found[:, 3::4]).all()
    assert np.array_equal(found, writers(done, "result0", (24, 40), monkeypatch))


@pytest.mark.parametrize("how", ["cyclic", "block", "block-cyclic(3)"])
def test_lanes_within_warps(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = (
        f"{TILES}  let (warps, part) = tile tile [12, 20]\n  map warps to warps(y, x)\n"
        f"  let (each, one) = tile part [1, 1]\n  let lanes = coalesce each\n  map lanes to lanes {how}\n  launch tiles"
    )
    done = schedule(tmp_path, body)
    found = shown(done, "lanes")
    assert found.map == ("warps(y: 2, x: 2)", f"lanes {how}") and found.owners.shape == (2, 2, 240)
    wrote = writers(done, "result0", (24, 40), monkeypatch)
    assert np.array_equal(found.owners, wrote.reshape(2, 12, 2, 20).transpose(0, 2, 1, 3).reshape(2, 2, 240))
    warps = shown(done, "warps")
    assert warps.space == "warps" and np.array_equal(warps.owners, wrote[::12, ::20] // 32)


STAGED = """  let gemm = match linalg.matmul
  let (tiles, tile_mm) = tile gemm [32, 32]
  map tiles to blocks(y, x)
  let (k, step) = tile tile_mm [_, _, 16]
  let (a, copy_a) = promote-to-shared step.lhs {how}
  map copy_a to threads(*) {dist}
  let (lanes, one) = tile step [1, 1]
  map lanes to threads(y: 8, x: 16) cyclic
  insert-barriers
  launch tiles"""


@pytest.mark.parametrize("dist", ["cyclic", "block", "cyclic vector 4", "block vector 2", "block-cyclic(2) vector 4"])
def test_a_copy_by_all_threads(dist: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    payload = "payload matmul(m = 64, n = 64, k = 64, type = f32)"
    done = schedule(tmp_path, STAGED.format(how="", dist=dist), payload)
    found = shown(done, "copy_a")
    assert found.map == (f"threads(*) {dist}",) and found.block == (16, 8, 1)
    assert np.array_equal(found.owners, writers(done, "A_shared", (32, 16), monkeypatch))
    assert found.banks is not None and np.array_equal(found.banks, np.arange(512).reshape(32, 16) % 32)


def test_banks_follow_transpose_and_padding(tmp_path: Path) -> None:
    payload = "payload matmul(m = 64, n = 64, k = 64, type = f32)"
    banks = shown(schedule(tmp_path, STAGED.format(how="transpose pad 4", dist="cyclic"), payload), "copy_a").banks
    rows, columns = np.indices((32, 16))
    assert banks is not None and np.array_equal(banks, (columns * 36 + rows) % 32)


def test_blocks_in_their_order_and_everything_by_default(tmp_path: Path) -> None:
    done = schedule(tmp_path, STAGED.format(how="", dist="cyclic"), "payload matmul(m = 96, n = 64, k = 64, type = f32)")
    maps = live_maps(done.session)
    assert [live.name for live in maps] == ["tiles", "copy_a", "lanes"]
    tiles = ownership(maps[0])
    assert tiles.owners.tolist() == [[0, 1], [2, 3], [4, 5]] and tiles.grid == (2, 3, 1)


def test_a_grid(tmp_path: Path) -> None:
    done = schedule(tmp_path, "  let op = match linalg.generic\n  map op to grid(y, x)\n  launch op")
    owners = shown(done, "op").owners
    rows, columns = np.indices((24, 40))
    block = rows // 16 * 3 + columns // 16
    assert np.array_equal(owners, block * 256 + rows % 16 * 16 + columns % 16)
