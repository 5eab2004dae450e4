"""Ops on windows of one buffer, in place: tiled more than once, staged, in registers, on tensor cores; then blocked factorizations.

Right and proven where the windows are disjoint; refused, with an element as the witness, where they are not.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from executors import expect_report
from scheduled import run_schedule
from windowed import factorization, update

from weft.dsl.diagnostics import WeftError
from weft.runtime.run.execution import RunOptions
from weft.runtime.run.report import Report


def run(folder: Path, payload: str, body: str, options: RunOptions | None = None) -> Report:
    (folder / "p.mlir").write_text(payload)
    (folder / "s.weft").write_text(f'payload "p.mlir"\nschedule s() {{\n{body}\n}}\n')
    return run_schedule(str(folder / "s.weft"), None, {}, None, options or RunOptions("sim", 0)).report


def refused(folder: Path, payload: str, body: str) -> WeftError:
    with pytest.raises(WeftError) as caught:
        run(folder, payload, body)
    assert [d.code for d in caught.value.diagnostics] == ["W0396"]
    return caught.value


TILES = "let op = match linalg.generic\nlet (tiles, tile) = tile op [8, 8]\nmap tiles to blocks(y, x)\n"
SUMS = "let (k, step) = tile tile [_, _, 4]\n"
STAGED = """let (a, copy_a) = promote-to-shared step.lhs
map copy_a to threads(*) cyclic
let (b, copy_b) = promote-to-shared step.rhs
map copy_b to threads(*) cyclic
"""
LANES = "let (lanes, one) = tile step [2, 2]\nmap lanes to threads(y, x)\n"
KEPT = "promote-to-registers one.acc across k\n"
END = "insert-barriers\nlaunch tiles"
USUAL = TILES + SUMS + STAGED + LANES + KEPT + END
CASES = {
    "staged, in registers": USUAL,
    "ragged": USUAL.replace("[8, 8]", "[6, 10]").replace("_, 4]", "_, 3]").replace("[2, 2]", "[3, 5]"),
    "three times": TILES + SUMS + STAGED + "let (w, part) = tile step [4, 4]\nmap w to registers\n" + LANES.replace("step", "part")
    + END,
    "pipelined": TILES + SUMS + STAGED + LANES + KEPT + "pipeline k stages 2 async\n" + END,
    "vectors": TILES + SUMS + STAGED.replace("cyclic", "cyclic vector 4") + LANES + KEPT + "vectorize one\n" + END,
    "interchanged": TILES + SUMS + "let turned = interchange step [2, 0, 1]\n" + LANES.replace("step [", "turned [_, ") + END,
    "inputs in registers": TILES + SUMS + LANES + "promote-to-registers one.lhs\npromote-to-registers one.rhs\n" + END,
    "the result staged": TILES + "let (c, copy, merge) = promote-to-shared tile.acc\nmap copy to threads(*) cyclic\n"
    "map merge to threads(*) cyclic\n" + SUMS + LANES + END,
    "bufferized before": "bufferize\n" + USUAL,
    "coalesced": TILES.replace("map tiles to blocks(y, x)", "let line = coalesce tiles\nmap line to blocks(x)") + SUMS + LANES
    + "insert-barriers\nlaunch line",
}  # fmt: skip


@pytest.mark.few(4)
@pytest.mark.parametrize("name", CASES)
def test_windows_that_share_nothing(name: str, tmp_path: Path) -> None:
    report = run(tmp_path, update(), CASES[name])
    expect_report(report)


def test_one_window_read_twice(tmp_path: Path) -> None:
    assert run(tmp_path, update(turned=True), USUAL).ok


def test_tensor_cores(tmp_path: Path) -> None:
    body = TILES.replace("[8, 8]", "[16, 16]") + SUMS + STAGED + "let (w, part) = tile step [8, 8]\nmap w to warps(y, x)\n"
    body += "let product = mma part [8, 8, 4]\npromote-to-registers product.acc across k\n" + END
    assert run(tmp_path, update(element="f64", combine="addf"), body).ok


@pytest.mark.parametrize("body", [USUAL, "let op = match linalg.generic\nmap op to grid(y, x)\nlaunch op", "bufferize\n" + TILES])
def test_windows_that_meet_are_refused_with_an_element(body: str, tmp_path: Path) -> None:
    error = refused(tmp_path, update(up=1), body)
    (found,) = error.diagnostics
    assert "`rhs` and `acc`" in found.message and " overlap:" in found.message
    note = next(note for note in found.notes if note.startswith("iteration"))
    assert "reads `A[7, " in note and note.endswith("writes")


VECTORS = """func.func @f(%A: memref<{size}xf32>{more}) {{
  {before}
  %x = memref.subview %A[{x}] [{n}] [1] : memref<{size}xf32> to memref<{n_type}xf32, strided<[1], offset: ?>>
  %y = memref.subview %A[{y}] [{n}] [1] : memref<{size}xf32> to memref<{n_type}xf32, strided<[1], offset: ?>>
  linalg.add ins(%x, %y : memref<{n_type}xf32, strided<[1], offset: ?>>, memref<{n_type}xf32, strided<[1], offset: ?>>)
    outs(%y : memref<{n_type}xf32, strided<[1], offset: ?>>)
  return
}}"""
HALVES = "%c0 = arith.constant 0 : index\n%c2 = arith.constant 2 : index\n%n = memref.dim %A, %c0 : memref<?xf32>\n"
HALVES += "%h = arith.divui %n, %c2 : index"
TWICE = "let op = match linalg.add\nlet (tiles, tile) = tile op [{}]\nmap tiles to blocks(x)\nlet (lanes, one) = tile tile [2]\n"
TWICE += "map lanes to threads(x)\nlaunch tiles"


@pytest.mark.parametrize("tile", [8, 7])
def test_halves_of_an_open_size(tile: int, tmp_path: Path) -> None:
    payload = VECTORS.format(size="?", more="", before=HALVES, x="%z", y="%h", n="%h", n_type="?")
    payload = payload.replace("[%z]", "[%c0]")
    assert run(tmp_path, payload, TWICE.format(tile), RunOptions("sim", 0, rest=37)).ok


@pytest.mark.parametrize("distance", [16, 15])
def test_windows_at_a_place_that_is_known_at_run_time(distance: int, tmp_path: Path) -> None:
    before = f"%j = affine.apply affine_map<(d0) -> (d0 + {distance})>(%i)"
    payload = VECTORS.format(size=40, more=", %i: index", before=before, x="%i", y="%j", n=16, n_type=16)
    if distance < 16:
        refused(tmp_path, payload, TWICE.format(8))
    else:
        assert run(tmp_path, payload, TWICE.format(8), RunOptions("sim", 0, asked={"i": "5"})).ok


def test_elements_in_place_are_no_overlap(tmp_path: Path) -> None:
    payload = VECTORS.format(size=40, more="", before="%c3 = arith.constant 3 : index", x="%c3", y="%c3", n=16, n_type=16)
    assert run(tmp_path, payload, TWICE.format(8)).ok


SLICES = """func.func @f(%A: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %l = tensor.extract_slice %A[8, 0] [24, 8] [1, 1] : tensor<32x32xf32> to tensor<24x8xf32>
  %u = tensor.extract_slice %A[0, 8] [8, 24] [1, 1] : tensor<32x32xf32> to tensor<8x24xf32>
  %c = tensor.extract_slice %A[8, 8] [24, 24] [1, 1] : tensor<32x32xf32> to tensor<24x24xf32>
  %r = linalg.matmul ins(%l, %u : tensor<24x8xf32>, tensor<8x24xf32>) outs(%c : tensor<24x24xf32>) -> tensor<24x24xf32>
  %B = tensor.insert_slice %r into %A[8, 8] [24, 24] [1, 1] : tensor<24x24xf32> into tensor<32x32xf32>
  return %B : tensor<32x32xf32>
}"""


def test_slices_of_one_tensor(tmp_path: Path) -> None:
    assert run(tmp_path, SLICES, USUAL.replace("linalg.generic", "linalg.matmul")).ok


FUSED = """func.func @f(%A: memref<64xf32>) {
  %t = memref.alloc() : memref<32xf32>
  %x = memref.subview %A[0] [32] [1] : memref<64xf32> to memref<32xf32, strided<[1]>>
  %z = memref.subview %A[32] [32] [1] : memref<64xf32> to memref<32xf32, strided<[1], offset: 32>>
  linalg.exp ins(%x : memref<32xf32, strided<[1]>>) outs(%t : memref<32xf32>)
  linalg.add ins(%x, %t : memref<32xf32, strided<[1]>>, memref<32xf32>) outs(%z : memref<32xf32, strided<[1], offset: 32>>)
  memref.dealloc %t : memref<32xf32>
  return
}"""


@pytest.mark.parametrize("tile", [8, 7])
def test_a_producer_is_fused_between_windows(tile: int, tmp_path: Path) -> None:
    body = f"let e = match linalg.exp\nlet a = match linalg.add\nlet (tiles, tile) = tile a [{tile}]\nfuse e into tiles\n"
    body += f"map tiles to blocks(x)\nmap tile to threads(x: {tile})\nmap e to threads(x: {tile})\ninsert-barriers\nlaunch tiles"
    assert run(tmp_path, FUSED, body).ok


IN_A_LOOP = """func.func @f(%a: memref<3x8x8xf32>, %b: memref<8x8xf32>, %c: memref<8x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %c0 to %c3 step %c1 {
    %v = memref.subview %a[%i, 0, 0] [1, 8, 8] [1, 1, 1] : memref<3x8x8xf32> to memref<8x8xf32, strided<[8, 1], offset: ?>>
    linalg.matmul ins(%v, %b : memref<8x8xf32, strided<[8, 1], offset: ?>>, memref<8x8xf32>) outs(%c : memref<8x8xf32>)
  }
  return
}"""


@pytest.mark.parametrize("tile", [4, 6])
def test_shared_memory_is_of_each_block_in_a_loop_of_the_host(tile: int, tmp_path: Path) -> None:
    body = USUAL.replace("linalg.generic", "linalg.matmul").replace("[8, 8]", f"[{tile}, {tile}]")
    assert run(tmp_path, IN_A_LOOP, body).ok


def test_shared_memory_that_is_made_on_the_host_is_refused(tmp_path: Path) -> None:
    body = "let op = match linalg.generic\nlet (k, step) = tile op [_, _, 4]\nlet (a, copy) = promote-to-shared step.lhs\n"
    body += "let (tiles, tile) = tile step [8, 8]\nmap tiles to blocks(y, x)\nmap copy to threads(x: 32) cyclic\n"
    body += LANES.replace("tile step", "tile tile") + END
    with pytest.raises(WeftError) as caught:
        run(tmp_path, update(), body)
    assert caught.value.diagnostics[0].code == "W0361" and "`A_shared`" in caught.value.diagnostics[0].message


DIVIDE = "let divide = match scf.parallel #{}\nlet panel = match scf.parallel #{}\n"
DIVIDE += "map divide to grid(x: 32) cyclic\nmap panel to grid(y: 4, x: 8) cyclic\nlaunch divide\nlaunch panel\n"
LU = "let solve = match scf.parallel #2\n" + DIVIDE.format(0, 1) + "map solve to grid(x: 32) cyclic\nlaunch solve\n"
CHOLESKY = "let root = match scf.parallel #0\n" + DIVIDE.format(1, 2) + "map root to grid(x: 1) cyclic\nlaunch root\n"


def reference(matrix: np.ndarray, *, cholesky: bool) -> np.ndarray:
    """The factors, by columns."""
    out = matrix.copy()
    for p in range(len(out)):
        if cholesky:
            out[p, p] = np.sqrt(out[p, p])
        out[p + 1 :, p] /= out[p, p]
        other = out[p + 1 :, p] if cholesky else out[p, p + 1 :]
        out[p + 1 :, p + 1 :] -= np.outer(out[p + 1 :, p], other)
    return out


@pytest.mark.few()
@pytest.mark.parametrize(("size", "block"), [(24, 8), (15, 5)])
@pytest.mark.parametrize("cholesky", [False, True])
def test_blocked_factorizations(size: int, block: int, cholesky: bool, tmp_path: Path) -> None:
    """Each launch of the loop over blocks is scheduled; the update by two levels of tiles, staged and in registers."""
    half = np.random.default_rng(size).random((size, size))
    matrix = half @ half.T + size * np.eye(size)
    options = RunOptions("sim", 0, inputs={"A": matrix.copy()}, save=tmp_path / "out.npz")
    report = run(tmp_path, factorization(size, block, cholesky=cholesky), (CHOLESKY if cholesky else LU) + USUAL, options)
    expect_report(report)
    got = np.load(tmp_path / "out.npz")["A"]
    lower = np.tril if cholesky else np.asarray  # nothing is said of what is above
    np.testing.assert_allclose(lower(got), lower(reference(matrix, cholesky=cholesky)), rtol=1e-10)


@pytest.mark.parametrize("cholesky", [False, True])
def test_racy_factorizations_are_refused(cholesky: bool, tmp_path: Path) -> None:
    refused(tmp_path, factorization(24, 8, cholesky=cholesky, racy=True), USUAL)
