"""Hints that are followed to the letter: what they say is done, and the run is right."""

from __future__ import annotations

import copy
import pickle
import re
from pathlib import Path

import numpy as np
import pytest

import weft
from weft.dsl.diagnostics import Diagnostic, WeftError


def refused(schedule: str, payload: str, code: str) -> Diagnostic:
    with pytest.raises(WeftError) as found:
        weft.run(schedule, payload=payload, target="sim")
    (said,) = found.value.diagnostics
    assert said.code == code and said.hint, str(found.value)
    return said


EPILOGUE = """func.func @mm(%A: tensor<64x32xf32>, %B: tensor<32x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = linalg.matmul ins(%A, %B : tensor<64x32xf32>, tensor<32x64xf32>) outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.exp ins(%c : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
"""


@pytest.mark.parametrize("piece", ["1, 1", "2, 4"])
def test_an_epilogue_that_is_mapped_as_an_op(piece: str) -> None:
    threads = {"1, 1": "y: 16, x: 16", "2, 4": "y: 8, x: 4"}[piece]
    schedule = f"""schedule s() {{
  let mm = match linalg.matmul
  let z = match linalg.fill
  let act = match linalg.exp
  let (tiles, t) = tile act [16, 16]
  fuse mm into tiles
  fuse z into tiles
  map tiles to blocks(y, x)
  let (k, step) = tile mm [_, _, 16]
  let (lanes, one) = tile step [{piece}]
  map lanes to threads(y, x)
  promote-to-registers one.acc across k
  map t to threads({threads}) block
  insert-barriers
  launch tiles
}}
"""
    said = refused(schedule, EPILOGUE, "W0380")
    assert re.search(r"registers of each thread: the op at \S+:5:8 takes tiles of it, in a loop$", said.message)
    hint = said.hint
    assert hint is not None and f"`tile` linalg.exp at {hint.split(' at ')[1].split(' by ')[0]} by [{piece}]" in hint
    led = f"let (cut, part) = tile t [{piece}]\n  map cut to threads(y, x)"
    assert weft.run(schedule.replace(f"map t to threads({threads}) block", led), payload=EPILOGUE, target="sim").ok


HOST_LOOP = """func.func @f(%a: memref<66xf32>) {
  affine.for %t = 0 to 4 {
    affine.for %i = 0 to 66 {
      %n = affine.load %a[%i] : memref<66xf32>
      %m = arith.addf %n, %n : f32
      affine.store %m, %a[%i] : memref<66xf32>
    }
  }
  return
}
"""


def test_a_loop_of_the_host_that_is_affine() -> None:
    schedule = "schedule s() {\n  let i = match affine.for #1\n  map i to grid(x)\n  launch i\n}\n"
    hint = refused(schedule, HOST_LOOP, "W0730").hint
    found = re.match(r"`(run-pass [^`]*)`", hint or "")
    assert found
    assert weft.run(schedule.replace("launch i\n", f"launch i\n  {found[1]}\n"), payload=HOST_LOOP, target="sim").ok


PERMUTED = """func.func @f(%p: memref<64xi32>, %y: memref<64xi32>) {
  %c1 = arith.constant 1 : i32
  KIND {
    %v = affine.load %p[%i] : memref<64xi32>
    %at = arith.index_cast %v : i32 to index
    memref.store %c1, %y[%at] : memref<64xi32>
  }
  return
}
"""


def test_a_scatter_that_no_data_makes_collide() -> None:
    schedule = "schedule s() {\n  let i = match affine.for\n  map i to grid(x)\n  launch i\n}\n"
    hint = refused(schedule, PERMUTED.replace("KIND", "affine.for %i = 0 to 64"), "W0343").hint
    assert hint is not None and "`affine.parallel`" in hint
    stated = PERMUTED.replace("KIND", "affine.parallel (%i) = (0) to (64)")
    assert "gpu.launch_func" in weft.apply(schedule.replace("affine.for", "affine.parallel"), payload=stated).text


def test_a_payload_in_the_place_of_a_schedule(tmp_path: Path) -> None:
    """It is scheduled by `weft:rest`, unless it is in a file of another suffix, or has no op that `rest` schedules."""
    (tmp_path / "hand.mlir").write_text("module {\n}\n")
    with pytest.raises(WeftError, match=r"W0488: payload `.*hand\.mlir` has no function"):
        weft.run(str(tmp_path / "hand.mlir"))
    for text in (HOST_LOOP, "#map = affine_map<(d0) -> (d0)>\n" + HOST_LOOP):
        (tmp_path / "hand.mlir").write_text(text)
        with pytest.raises(WeftError, match=r"W0068.*has no op that `weft:rest` schedules(.*\n)*.*hint: .*--payload"):
            weft.run(str(tmp_path / "hand.mlir"))
        (tmp_path / "hand.txt").write_text(text)
        with pytest.raises(WeftError, match=r"W0068.*holds a program, not a schedule(.*\n)*.*hint: .*--payload"):
            weft.run(str(tmp_path / "hand.txt"))


def test_a_kernel_is_of_one_process() -> None:
    kernel = weft.compile("naive", settings={"m": 16, "n": 16, "k": 16}, target="cpu")
    for make in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(WeftError, match=r"W0768.*(\n.*)*weft\.load_bundle"):
            make(kernel)
    with pytest.raises(WeftError, match="W0740: a list cannot be passed as an array"):
        kernel([1.0], np.ones((16, 16), np.float32))


@pytest.mark.parametrize("width", [64, 80, 120])
def test_lists_break_between_words(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The list of statements on a terminal: whole words, and each summary a sentence that ends."""
    from weft.cli.commands.reference import statements
    from weft.interpreter.session.statement import signatures
    from weft.output import console

    monkeypatch.setattr(console, "columns_of", lambda _: width)
    statements.main([], standalone_mode=False)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= width
    shown = " ".join(" ".join(lines).split())
    for keyword, signature in signatures().items():
        assert signature.summary.endswith(".") and f"{keyword} {signature.summary}" in shown


LOOKUP = """func.func @f(%table: tensor<50x8xf32>, %ids: tensor<12xi32>) -> tensor<12x8xf32> {
  %e = tensor.empty() : tensor<12x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(t, d) -> (t)>, affine_map<(t, d) -> (t, d)>],
                       iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<12xi32>) outs(%e : tensor<12x8xf32>) {
  ^bb0(%i: i32, %o: f32):
    %d = linalg.index 1 : index
    %row = arith.index_cast %i : i32 to index
    %v = tensor.extract %table[%row, %d] : tensor<50x8xf32>
    linalg.yield %v : f32
  } -> tensor<12x8xf32>
  return %r : tensor<12x8xf32>
}
"""


@pytest.mark.parametrize("target", ["sim", "cpu"])
@pytest.mark.parametrize("width", ["", " vector 4"])
def test_an_index_that_is_a_random_input(
    width: str, target: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """N28: outside of its table it is a fault, and the report names the option that bounds it."""
    from weft import cli

    (tmp_path / "p.mlir").write_text(LOOKUP)
    schedule = tmp_path / "s.weft"
    schedule.write_text(
        f'payload "p.mlir"\nschedule s() {{\n  let g = match linalg.generic\n  map g to grid(y, x){width}\n  launch g\n}}\n'
    )
    run = ["run", str(schedule), "--target", target]
    assert cli.run(run) == 1
    said = " ".join("".join(capfd.readouterr()).split())
    assert "W0652" in said and "in `table`, where 50 x " in said and "--input NAME=0:SIZE" in said
    assert cli.run([*run, "--input", "ids=0:50"]) == 0
