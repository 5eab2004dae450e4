"""Sizes known only at run time: tiled, distributed, proven race-free, and right for sizes that divide nothing."""

from __future__ import annotations

import os
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from executors import expect_report
from scheduled import run_schedule

from weft.dsl.diagnostics import WeftError
from weft.execution import run_applied
from weft.pipeline import Choice, applied
from weft.runtime.run.execution import RunOptions, open_device

PAYLOAD = """#id = affine_map<(i, j) -> (i, j)>
func.func @dynamic(%x: memref<?x?xf32>, %y: memref<?x?xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%x : memref<?x?xf32>) outs(%y : memref<?x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %e = math.exp %a : f32
    linalg.yield %e : f32
  }
  return
}
"""
SCHEDULE = """payload "p.mlir"
schedule s() {{
  let op = match linalg.generic
  let (tiles, inner) = tile op [8, 8]
  map tiles to {blocks}
  let (lanes, one) = tile inner [1, 1]
  map lanes to {threads}
  insert-barriers
  verify-sync
  launch tiles
}}
"""


BLOCKS = ("blocks(y, x)", "blocks(y: 4, x: 2) block", "blocks(y: ?, x: ?) cyclic")
THREADS = ("threads(y: 8, x: 8)", "threads(y: 2, x: 4) cyclic", "threads(y: 3, x: 2) block")
LONG = {(BLOCKS[1], THREADS[2]), (BLOCKS[2], THREADS[2])}
"""Half a minute each: parts of parts of a size that nobody knows."""


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("blocks", "threads"), [p for p in product(BLOCKS, THREADS) if "WEFT_SOAK" in os.environ or p not in LONG]
)
def test_right_and_proven(tmp_path: Path, blocks: str, threads: str) -> None:
    (tmp_path / "p.mlir").write_text(PAYLOAD)
    (tmp_path / "s.weft").write_text(SCHEDULE.format(blocks=blocks, threads=threads))
    done = applied(Choice(str(tmp_path / "s.weft"), None, {}).open())
    for shape in ((37, 53), (8, 8), (1, 70)):
        x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
        np.savez(tmp_path / "x.npz", x=x, y=np.zeros(shape, np.float32))
        report = run_applied(done, None, RunOptions("sim", 0, tmp_path / "x.npz"), open_device("sim")).report
        expect_report(report, shape)
        assert report.barriers == 0


def test_what_is_assumed_of_two_loops_is_refused_and_called_so(tmp_path: Path) -> None:
    """What a loop's iterations do to each other is settled, they are independent; what two loops do to each other is not."""
    body = """    scf.forall (%i) in (%m) {
      %t = memref.load %x[%b, %i] : KIND
      memref.store %t, %y[%b, %t] : KIND
    }
    scf.forall (%i) in (%m) {
      %t = memref.load %y[%b, %i] : KIND
      memref.store %t, %z[%b, %i] : KIND
    }
"""
    text = f"func.func @f(%m: index, %x: KIND, %y: KIND, %z: KIND) {{\n  scf.forall (%b) in (4) {{\n{body}  }}\n  return\n}}\n"
    (tmp_path / "p.mlir").write_text(text.replace("KIND", "memref<4x?xindex>"))
    maps = "".join(f"  let l{n} = match scf.forall #{n}\n  map l{n} to threads(x: 3) block\n" for n in (1, 2))
    text = f'payload "p.mlir"\nschedule s() {{\n  let t = match scf.forall #0\n  map t to blocks(x)\n{maps}  launch t\n}}\n'
    (tmp_path / "s.weft").write_text(text)
    with pytest.raises(WeftError) as caught:
        run_schedule(str(tmp_path / "s.weft"), None, {}, None, RunOptions("sim", 0))
    diagnostic = caught.value.diagnostics[0]
    assert diagnostic.code == "W0601" and "(assumed)" in diagnostic.message
    assert any("assumed" in note for note in diagnostic.notes)


SUMS = """func.func @f(%x: tensor<?x40xi32>, %i: tensor<?xi32>) -> tensor<?xi32> {
  %r = linalg.reduce { arith.addi } ins(%x : tensor<?x40xi32>) outs(%i : tensor<?xi32>) dimensions = [1]
  return %r : tensor<?xi32>
}
"""
ROWS = """payload "p.mlir"
schedule s() {{
  let sums = match linalg.reduce
  let (rows, row) = tile sums [1, _]
  map rows to {rows}
  map row to {row}
  insert-barriers
  launch rows
}}
"""


@pytest.mark.parametrize(
    ("rows", "row"),
    [("warps(x: 3) block", "lanes block"), ("warps(x: 2) block", "lanes cyclic"), ("threads(y: 3) block", "threads(x: 32) cyclic"),
     ("threads(x: 3) block", "threads(y: 4) block"), ("blocks(x: 3) block", "lanes block")],
)  # fmt: skip
def test_shares_of_an_open_size_beside_a_shared_reduction(tmp_path: Path, rows: str, row: str) -> None:
    """A share is a product of a processor's number, which may be a part of its thread's, and a size: all are apart."""
    (tmp_path / "p.mlir").write_text(SUMS)
    (tmp_path / "s.weft").write_text(ROWS.format(rows=rows, row=row))
    done = applied(Choice(str(tmp_path / "s.weft"), None, {}).open())
    assert done.assumed == [] and not any("assumed" in line for step in done.session.steps for line in step.remarks)
    for n in (0, 1, 4, 7):
        np.savez(tmp_path / "x.npz", x=np.arange(n * 40, dtype=np.int32).reshape(n, 40), i=np.arange(n, dtype=np.int32))
        report = run_applied(done, None, RunOptions("sim", 0, tmp_path / "x.npz"), open_device("sim")).report
        assert report.ok and report.races == (), (n, report)
