"""The table of a program's ops: `weft show-ops`, and the section of a report."""

from __future__ import annotations

import json
import xml.etree.ElementTree as xml
from itertools import islice
from pathlib import Path

import pytest
from random_networks import program

from weft import api, cli
from weft.interpreter.ir.mlir import operations
from weft.op_table import op_table
from weft.pipeline import applied, planned

PROGRAM = """\
func.func @f(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %b: tensor<64xf32>) -> (tensor<64x64xf32>, tensor<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p = linalg.matmul {weft.name = "first"}
    ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
  %q = linalg.matmul {weft.name = "second"}
    ins(%p, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = linalg.broadcast ins(%b : tensor<64xf32>) outs(%e : tensor<64x64xf32>) dimensions = [0]
  %s = linalg.add ins(%q, %c : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %v = tensor.empty() : tensor<64xf32>
  %t = linalg.tanh ins(%b : tensor<64xf32>) outs(%v : tensor<64xf32>) -> tensor<64xf32> loc("activation")
  return %s, %t : tensor<64x64xf32>, tensor<64xf32>
}
"""
SCHEDULE = """\
include "weft:matmul/simt"
include "weft:rest"

payload "f.mlir"

schedule plan() {
  foreach product in match* contraction {
    simt(product)
  }
  rest()
}
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    Path("f.mlir").write_text(PROGRAM)
    Path("plan.weft").write_text(SCHEDULE)


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert cli.run(words) == 0
    return capsys.readouterr().out


def test_each_op_has_its_schedule_and_its_kernels(capsys: pytest.CaptureFixture[str]) -> None:
    rows = json.loads(shown(capsys, "show-ops", "plan.weft", "--json"))
    found = [(row["label"], row["kind"], row["schedule"], list(row["kernels"]), row["launches"]) for row in rows]
    assert found == [
        (None, "fill", "plan › simt", ["f", "f_1"], 2),
        ("first", "contraction", "plan › simt", ["f"], 1),
        ("second", "contraction", "plan › simt", ["f_1"], 1),
        (None, "broadcast", "plan › rest › by_vectors", ["f_2"], 1),
        (None, "elementwise", "plan › rest › by_vectors", ["f_3"], 1),
        ("activation", "elementwise", "plan › rest › by_vectors", ["f_4"], 1),
    ]
    assert [row["place"].rpartition("/")[2] for row in rows[:2]] == ["f.mlir:4:8", "f.mlir:5:8"]


def test_the_summary_comes_first_and_a_row_for_each_kernel(capsys: pytest.CaptureFixture[str]) -> None:
    first, _, *rows = (line.rstrip() for line in shown(capsys, "show-ops", "plan.weft").splitlines())
    assert first == "6 ops in 5 kernels, 5 launches: 3 by plan › simt, 3 by plan › rest › by_vectors"
    assert [row.split()[:3] for row in rows][1] == ["f_1", "1", "second,"] and len(rows) == 5


def test_the_picture_has_every_op(capsys: pytest.CaptureFixture[str]) -> None:
    shown(capsys, "show-ops", "plan.weft", "-o", "ops.svg")
    texts = "".join(xml.fromstring(Path("ops.svg").read_text()).itertext()).replace("\xa0", " ")
    assert all(word in texts for word in ("first", "second", "activation", "broadcast", "f.mlir:10:8"))


def test_the_report_of_a_run_has_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["run", "plan.weft", "--target", "sim"]) == 0
    assert "Ops  6 ops in 5 kernels, 5 launches" in "".join(capsys.readouterr())
    report = json.loads(shown(capsys, "run", "plan.weft", "--target", "sim", "--json"))
    assert [op["label"] for op in report["ops"]] == [None, "first", "second", None, None, "activation"]


def test_ops_in_no_launch_are_named_in_one_diagnostic(capsys: pytest.CaptureFixture[str]) -> None:
    Path("plan.weft").write_text(SCHEDULE.replace("  rest()\n", ""))
    assert cli.run(["run", "plan.weft", "--target", "sim"]) == 1
    said = capsys.readouterr().err
    assert said.count("error[") == 1 and "W0730" in said and "weft:rest" in said
    assert all(op in said for op in ("linalg.broadcast at f.mlir", "linalg.add at f.mlir", "linalg.tanh at activation"))


@pytest.mark.parametrize("seed", list(islice((s for s in range(300) if program(s).ops <= 14), 5)))
def test_ops_and_kernels_of_random_programs_know_each_other(seed: int) -> None:
    """Each kernel executes an op, and each op with a reduction is in a kernel."""
    made = program(seed)
    done = applied(api.load(None, payload=made.text))
    for entry in made.sizes:
        plan = planned(done, entry)
        rows = op_table(plan)
        launched = {step.kernel for step in plan.plan.launches}
        assert {kernel for row in rows for kernel in row.kernels} == launched
        busy = [row for row in rows if row.kind in ("contraction", "convolution", "pooling", "reduction")]
        assert all(row.kernels and row.schedule for row in busy), busy
        left = {row.kind for row in rows if not row.kernels and not row.kind.startswith("tensor.")}
        assert left <= {"copy", "elementwise", "fill", "broadcast", "transpose"}
        assert len(rows) <= sum(1 for _ in operations(done.payload.operation))
