"""How much control flow each distribution needs: divides or not × one or many per processor × static or dynamic; bodies pinned.

And the formulas of the MLIR forum's "Understanding parallel loops to GPU lowering", and one kernel for every launch."""

from __future__ import annotations

from pathlib import Path

import pytest
from judged import Program, program
from loops import launched, loop_module, mapped
from pinned import pinned

from weft.interpreter.ir import mlir

HERE = Path(__file__).parent
EIGHT = 8
CASES: dict[str, tuple[str, int | None, int, bool, tuple[int, int]]] = {
    # name: distribution, chunk, iterations on 8 processors, dynamic; (loops, guards) that are needed
    "one each, 8 of 8": ("", None, 8, False, (0, 0)),
    "one each, 5 of 8": ("", None, 5, False, (0, 1)),
    "block, one each, divides": ("block", None, 8, False, (0, 0)),
    "block, one each, does not": ("block", None, 5, False, (0, 1)),
    "block, many, divides": ("block", None, 48, False, (1, 0)),
    "block, many, does not": ("block", None, 21, False, (1, 0)),
    "block, dynamic": ("block", None, 21, True, (1, 0)),
    "cyclic, one each, divides": ("cyclic", None, 8, False, (0, 0)),
    "cyclic, one each, does not": ("cyclic", None, 5, False, (0, 1)),
    "cyclic, many, divides": ("cyclic", None, 48, False, (1, 0)),
    "cyclic, many, does not": ("cyclic", None, 21, False, (1, 0)),
    "cyclic, dynamic": ("cyclic", None, 21, True, (1, 0)),
    "block-cyclic(3), one chunk each, divides": ("block-cyclic", 3, 24, False, (1, 0)),
    "block-cyclic(3), one chunk each, does not": ("block-cyclic", 3, 21, False, (1, 0)),
    "block-cyclic(3), fewer chunks than processors": ("block-cyclic", 3, 5, False, (1, 0)),
    "block-cyclic(3), many, divides": ("block-cyclic", 3, 48, False, (2, 0)),
    "block-cyclic(3), many, chunks are whole": ("block-cyclic", 3, 51, False, (2, 0)),
    "block-cyclic(3), many, does not": ("block-cyclic", 3, 50, False, (2, 0)),
    "block-cyclic(3), dynamic": ("block-cyclic", 3, 21, True, (2, 0)),
    "block-cyclic(1), many, does not": ("block-cyclic", 1, 21, False, (1, 0)),
    "block-cyclic(1), one each, divides": ("block-cyclic", 1, 8, False, (0, 0)),
}


def kernel_of(case: str) -> tuple[str, int, int, int]:
    """The kernel's body, its loops, its guards, and the minima it takes."""
    dist, chunk, trips, dynamic, _ = CASES[case]
    _module, info = launched(loop_module([trips], mapped("threads", "x", [EIGHT], dist or None, chunk), dynamic=dynamic))
    kernel = info.kernel
    loops, guards = (len(list(mlir.operations(kernel, name))) for name in ("scf.for", "scf.if"))
    minima = len(list(mlir.operations(kernel, "affine.min")))
    return str(kernel.regions[0].blocks[0]).partition("\n")[2], loops, guards, minima


@pytest.mark.parametrize("case", CASES)
def test_control_flow(case: str) -> None:
    _, loops, guards, minima = kernel_of(case)
    assert (loops, guards) == CASES[case][-1]
    if "does not" not in case and "dynamic" not in case and "fewer" not in case:
        assert minima == 0, "a bound that divides needs no minimum"


def test_bodies(update: bool) -> None:
    pinned(
        HERE / "golden" / "control-flow.txt", "".join(f"== {case}\n{kernel_of(case)[0]}\n" for case in CASES), update
    )


# ---- the discussion's formulas -----------------------------------------------------------------------------------------

TEN = """\
func.func @ten(%A: memref<10xf32> {weft.name = "A"}, %B: memref<10xf32> {weft.name = "B"}) {
  affine.for %i = 0 to 10 {
    %v = affine.load %A[%i] : memref<10xf32>
    affine.store %v, %B[%i] : memref<10xf32>
  }
  return
}
"""
STRIDED = """\
func.func @saxpy(%n: index {weft.name = "n"}, %x: memref<?xf32> {weft.name = "x"}, %y: memref<?xf32> {weft.name = "y"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = arith.constant 2.0 : f32
  %ub = memref.dim %x, %c0 : memref<?xf32>
  scf.parallel (%i) = (%c0) to (%ub) step (%c1) {
    %v = memref.load %x[%i] : memref<?xf32>
    %w = memref.load %y[%i] : memref<?xf32>
    %p = arith.mulf %v, %a : f32
    %s = arith.addf %p, %w : f32
    memref.store %s, %y[%i] : memref<?xf32>
  }
  return
}
""".replace('%n: index {weft.name = "n"}, ', "")
MATMUL = """\
func.func @mm(%A: tensor<64x48xf32>, %B: tensor<48x96xf32>, %C: tensor<64x96xf32>) -> tensor<64x96xf32> {
  %r = linalg.matmul ins(%A, %B : tensor<64x48xf32>, tensor<48x96xf32>) outs(%C : tensor<64x96xf32>) -> tensor<64x96xf32>
  return %r : tensor<64x96xf32>
}
"""
FORMULAS = {
    "ten-block": (TEN, "let l = match affine.for\nmap l to threads(x: 2) block\nlaunch l"),
    "ten-cyclic": (TEN, "let l = match affine.for\nmap l to threads(x: 2) cyclic\nlaunch l"),
    "ten-block-cyclic": (TEN, "let l = match affine.for\nmap l to threads(x: 2) block-cyclic(3)\nlaunch l"),
    "ten-any-number-of-processors": (TEN, "let l = match affine.for\nmap l to blocks(x: ?) cyclic\nlaunch l"),
    "grid-stride": (STRIDED, "let l = match scf.parallel\nmap l to grid(x: ?) cyclic\nlaunch l"),
    "tile-then-map": (
        MATMUL,
        "let mm = match linalg.matmul\nlet (tiles, step) = tile mm [16, 32]\nmap tiles to blocks(y: 2, x: 2) cyclic\n"
        "let (points, one) = tile step [1, 1]\nmap points to threads(y: 4, x: 32) cyclic\nlaunch tiles",
    ),
    "tile-then-map-loop": (
        STRIDED,
        "let l = match scf.parallel\nlet (blocks, threads) = tile l [128]\nmap blocks to blocks(x: ?) cyclic\n"
        "map threads to threads(x: 128)\nlaunch blocks",
    ),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_formulas(name: str, tmp_path: Path, update: bool) -> None:
    """The text of each kernel, as a reader of the discussion would write it."""
    made = program(tmp_path, *FORMULAS[name])
    pinned(HERE / "golden" / f"formula-{name}.cu", made.cuda, update)
    assert not made.wrong(*inputs_of(name), folder=tmp_path)


def inputs_of(name: str) -> tuple:
    import numpy as np

    if FORMULAS[name][0] is not STRIDED:
        return ()
    x = np.random.default_rng(2).random(1000, dtype=np.float32)
    return ({"x": x, "y": x[::-1].copy()},)


# ---- one kernel for every launch ----------------------------------------------------------------------------------------

ANY = {
    "cyclic": "map l to blocks(x: ?) cyclic",
    "block": "map l to blocks(x: ?) block",
    "block-cyclic": "map l to blocks(x: ?) block-cyclic(5)",
    "grid": "map l to grid(x: ?) cyclic",
    "threads inside": "let (l, t) = tile l [32]\nmap l to blocks(x: ?) cyclic\nmap t to threads(x: 8) cyclic",
    "two axes": "let (l, t) = tile l [32]\nmap l to blocks(x: ?) block\nmap t to threads(x: ?) cyclic",
}


@pytest.fixture(scope="module", params=ANY)
def any_launch(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Program, Path]:
    folder = tmp_path_factory.mktemp("any")
    return program(folder, STRIDED, f"let l = match scf.parallel\n{ANY[request.param]}\nlaunch l"), folder


@pytest.mark.parametrize("blocks", [1, 2, 7, 64])
@pytest.mark.parametrize("native", [False, True], ids=["simulated", "text"])
def test_one_module_for_every_launch(blocks: int, native: bool, any_launch: tuple[Program, Path]) -> None:
    made, folder = any_launch
    assert not made.wrong(*inputs_of("grid-stride"), grid=(blocks, 1, 1), native=native, folder=folder)


def test_any_threads_too(tmp_path: Path) -> None:
    made = program(tmp_path, STRIDED, f"let l = match scf.parallel\n{ANY['two axes']}\nlaunch l")
    for threads in (1, 5, 32, 100):
        assert not made.wrong(*inputs_of("grid-stride"), grid=(3, 1, 1), block=(threads, 1, 1), folder=tmp_path)
