"""A program without a schedule: kernels run as they are, any other program takes `weft:rest`; the suffix tells them apart."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import weft
from weft import cli
from weft.dsl.diagnostics import WeftError
from weft.pipeline import Choice

PROGRAM = """\
func.func @f(%x: tensor<40x100xf32>) -> (tensor<40xf32>, tensor<100x40xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<40xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<40xf32>) -> tensor<40xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<40x100xf32>) outs(%z : tensor<40xf32>) dimensions = [1]
  %t = tensor.empty() : tensor<100x40xf32>
  %r = linalg.transpose ins(%x : tensor<40x100xf32>) outs(%t : tensor<100x40xf32>) permutation = [1, 0]
  return %s, %r : tensor<40xf32>, tensor<100x40xf32>
}
"""
SCHEDULE = "schedule s() {\n  let op = match linalg.transpose\n  map op to grid(y, x)\n  launch op\n}\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("model.mlir").write_text(PROGRAM)
    Path("s.weft").write_text(SCHEDULE)


def weft_says(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = cli.run(arguments)
    return code, "".join(capsys.readouterr())


def test_a_program_takes_the_schedule_of_the_rest(capsys: pytest.CaptureFixture[str]) -> None:
    code, shown = weft_says(capsys, "run", "model.mlir", "--target", "sim")
    assert code == 0 and "Schedule rest" in shown and "2 launches" in shown and "✓ right on simulator" in shown


def test_its_parameters_can_be_set(capsys: pytest.CaptureFixture[str]) -> None:
    long = Choice("model.mlir", settings={"long": "200"}).open()
    assert long.values["long"] == 200
    code, shown = weft_says(capsys, "apply", "model.mlir", "--set", "long=200")
    assert code == 0 and "gpu.shuffle" not in shown
    code, shown = weft_says(capsys, "apply", "model.mlir", "--set", "long=50")
    assert code == 0 and "gpu.shuffle" in shown


def test_a_file_of_kernels_runs_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert weft_says(capsys, "apply", "model.mlir", "-o", "kernels.mlir")[0] == 0
    code, shown = weft_says(capsys, "run", "kernels.mlir", "--target", "sim")
    assert code == 0 and "Schedule rest" not in shown and "2 launches" in shown and "✓ right on simulator" in shown


def test_ops_that_were_not_launched_are_the_rest(capsys: pytest.CaptureFixture[str]) -> None:
    Path("first.weft").write_text('include "weft:rest"\n' + SCHEDULE.replace("launch op\n", "launch op\n  rest()\n"))
    code, shown = weft_says(capsys, "run", "first.weft", "--payload", "model.mlir", "--target", "sim")
    assert code == 0 and "2 launches" in shown and "✓ right on simulator" in shown


def test_the_compiled_function_needs_no_schedule() -> None:
    kernel = weft.compile(None, payload=PROGRAM, target="cpu")
    x = np.random.default_rng(0).random((40, 100), dtype=np.float32)
    sums, turned = kernel(x)
    np.testing.assert_allclose(sums, x.sum(axis=1), rtol=1e-5)
    np.testing.assert_array_equal(turned, x.T)
    report = weft.run(None, payload="model.mlir", target="sim")
    assert report.ok and report.races == ()


def test_without_a_program_there_is_nothing_to_run() -> None:
    with pytest.raises(WeftError, match="W0485"):
        weft.run(None)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("model.mlir", "--payload", "model.mlir"), "`model.mlir` is a program, and the payload is one, too"),
        (("program.weft",), "`program.weft` holds a program, not a schedule"),
        (("schedule.mlir",), "`schedule.mlir` holds a schedule, not a program"),
        (("s.weft", "--payload", "s.weft"), "`s.weft` holds a schedule, not a program"),
    ],
)
def test_a_misfit_says_so(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], says: str) -> None:
    Path("program.weft").write_text(f"// a comment\n{PROGRAM}")
    Path("schedule.mlir").write_text(SCHEDULE)
    code, shown = weft_says(capsys, "run", *arguments)
    assert code == 1 and "W0068" in shown and says in " ".join(shown.split())


def test_a_program_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    code, shown = weft_says(capsys, "run", "nothing.mlir")
    assert code == 1 and "W0001" in shown
