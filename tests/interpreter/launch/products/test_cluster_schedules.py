"""Schedules of blocks in clusters: what their launches share, at sizes that fill no clusters, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from schedules import Case, launched
from test_schedules import expect_right, run_right

from weft.dsl.diagnostics import WeftError
from weft.interpreter.hardware import limits
from weft.interpreter.hardware.hopper.tensor_maps import tensor_map
from weft.interpreter.ir.functions import CLUSTER_SIZE, sizes_of
from weft.interpreter.ir.mlir import constant_of, ir, maker, operations
from weft.runtime.host.host import make_plan

RING = "pipeline k stages 3 producer"
SMALL = Case(m=192, n=192, k=128, bm=64, bn=64, pipeline=RING, cluster=2)


def made(**changes: Any) -> ir.Module:
    return launched(replace(SMALL, **changes))


def shared(module: ir.Module) -> dict[str, list[int]]:
    """By tile, the rows of each load for the whole cluster."""
    kernel = next(operations(module.operation, "gpu.func"))
    found: dict[str, list[int]] = {}
    size = sizes_of(kernel, CLUSTER_SIZE)
    assert size is not None
    for op in operations(kernel, "nvgpu.tma.async.load"):
        mask = op.opview.multicastMask
        if mask is not None:
            assert constant_of(mask) == (1 << size[0]) - 1
            box = tensor_map(op.opview.tensorMapDescriptor.type)
            assert box is not None
            name = ir.BlockArgument(op.opview.tensorMapDescriptor).arg_number
            found.setdefault("AB"[min(name, 1)], []).append(box.box[0])
    return found


def test_which_tile_is_shared() -> None:
    """The one that is the same for blocks that follow each other: of A row by row, of B down columns; by rows, or by panels."""
    assert shared(made()) == {"A": [32]}
    assert shared(made(tiles="blocks(y, x) order grouped(2)")) == {"B": [32]}
    assert shared(made(tiles="blocks(y, x) order grouped(4)", cluster=4)) == {"B": [16]}
    assert shared(made(tiles="blocks(x: 4) cyclic order grouped(2)")) == {"B": [32]}
    assert shared(made(tiles="blocks(y, x) order hilbert")) == {"B": [32]}
    assert shared(made(tiles="blocks(x: 4) cyclic order hilbert")) == {"B": [32]}
    assert shared(made(tiles="blocks(y, x) order grouped(2)", bn=128)) == {"B": [64]}, "a panel of two each"
    assert shared(made(tiles="blocks(y, x) order grouped(2)", along=True)) == {"B": [32]}


def test_the_plan() -> None:
    module = made(m=300)
    with module.context:
        (kernel,) = make_plan(module).kernels
    assert kernel.requires == "sm_90a"


def test_who_arrives_of_a_cluster() -> None:
    """The consumers of all blocks empty a tile, and each tile is filled by the bytes of whole boxes."""
    module = made(bm=128, cluster=4, tiles="blocks(y, x) order grouped(4)")
    kernel = next(operations(module.operation, "gpu.func"))
    assert [constant_of(op.operands[1]) for op in operations(kernel, "nvgpu.mbarrier.init")] == [1, 8]
    (arrives,) = operations(kernel, "nvvm.mbarrier.arrive")
    assert constant_of(maker(arrives.parent.operation.operands[0]).operands[1]) == 4, "so many threads, one for each block"
    (expected,) = operations(kernel, "nvgpu.mbarrier.arrive.expect_tx")
    assert constant_of(expected.operands[1]) == 2 * 64 * (128 + 64)
    assert len(list(operations(kernel, "nvvm.cluster.wait"))) == 2 and not list(operations(kernel, "gpu.barrier"))


RIGHT: dict[str, dict[str, Any]] = {
    "row by row": {},
    "down columns": {"tiles": "blocks(y, x) order grouped(2)"},
    "one tile": {"m": 64, "n": 64},
    "one column of tiles": {"n": 64, "tiles": "blocks(y, x) order grouped(4)", "cluster": 4},
    "ragged": {"m": 200, "n": 136, "k": 168, "tiles": "blocks(y, x) order grouped(2)"},
    "two warp groups": {"m": 300, "bm": 128, "cluster": 4, "tiles": "blocks(y, x) order grouped(4)"},
    "two panels of each": {"bk": 128, "bn": 128, "n": 256, "k": 256, "cluster": 4, "tiles": "blocks(y, x) order grouped(4)"},
    "three": {"m": 192, "n": 256, "bm": 192, "cluster": 3},
    "eight": {"m": 64, "n": 192, "tiles": "blocks(y, x) order grouped(8)", "cluster": 8},
    "blocks that stay": {"tiles": "blocks(x: 4) cyclic order grouped(2)"},
    "blocks that stay, row by row": {"m": 264, "n": 72, "tiles": "blocks(x: 2) cyclic"},
    "more blocks that stay than tiles": {"m": 128, "n": 64, "tiles": "blocks(x: 8) cyclic order grouped(4)", "cluster": 4},
    "along a curve": {"m": 328, "n": 200, "tiles": "blocks(y, x) order hilbert"},
    "blocks that stay, along a curve": {"m": 328, "n": 200, "tiles": "blocks(x: 8) cyclic order hilbert", "cluster": 4},
    "one stage": {"pipeline": "pipeline k stages 1 producer registers 24"},
    "columns that are rows": {"along": True, "tiles": "blocks(y, x) order grouped(2)"},
}


@pytest.mark.few(4)
@pytest.mark.parametrize("name", RIGHT)
def test_right(name: str, tmp_path: Path) -> None:
    """Proven, and right on the simulator, where blocks may have ended that others arrive at; surplus blocks have no tile."""
    expect_right(replace(SMALL, barriers="insert-barriers", **RIGHT[name]), tmp_path)


LAYER = Path(__file__).parent / "layer"


def test_an_epilogue(tmp_path: Path) -> None:
    """Whose bias a block without a tile does not read: of three rows of whole tiles, the fourth is none."""
    (tmp_path / "layer.mlir").write_text((LAYER / "layer.mlir").read_text().replace("200x", "384x"))
    text = (LAYER / "layer.weft").read_text().replace("blocks(y, x)", "blocks(y, x) order grouped(2)")
    (tmp_path / "layer.weft").write_text(text.replace("launch tiles", "launch tiles cluster(2)"))
    run_right(tmp_path / "layer.weft")


REFUSED: dict[str, tuple[dict[str, Any], str, str, str]] = {
    "counts": ({"tiles": "blocks(x: 5) cyclic"}, "W0407", "5 blocks along x are not whole clusters of 2", "a count of 4 or 6"),
    "too few": ({"tiles": "blocks(x: 3) cyclic", "cluster": 4}, "W0407", "3 blocks along x", "a count of 4"),
    "groups": ({"tiles": "blocks(y, x) order grouped(3)"}, "W0407", "are not whole clusters", "`order grouped(2)`"),
    "chunks": ({"tiles": "blocks(x: 4) block"}, "W0407", "gives each block tiles side by side", "cyclic"),
    "open counts": ({"tiles": "blocks(x: ?) cyclic"}, "W0407", "the number of blocks of", "a count"),
    "other axes": ({"tiles": "blocks(z, y)"}, "W0407", "`blocks(z, y)` has no blocks along x", "blocks(y, x)"),
    "no producer": ({"pipeline": "pipeline k stages 2 async"}, "W0407", "share no tile", "producer"),
    "parts": ({"cluster": 3}, "W0407", "of a cluster of 3 share no tile", "as many blocks as a tile has parts"),
    "copies of threads": ({"copy": "threads(*) cyclic vector 8", "pipeline": ""}, "W0369", "tiles that tensor maps bring", ""),
    "too many": ({"cluster": limits.MOST_OF_CLUSTER + 1}, "W0231", "it must be at most 8", "all chips with clusters"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    changes, code, said, hint = REFUSED[name]
    with pytest.raises(WeftError) as raised:
        made(**changes)
    found = raised.value.diagnostics[0]
    assert found.code == code and said in found.message and hint in (found.hint or ""), str(found)
