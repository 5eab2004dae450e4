"""Bad input: each gets an exit code, one clear diagnostic with its code and place, no traceback, nothing half written.

The texts are snapshots (`pytest --snapshot-update` writes them anew). Every case runs in a folder of its own, so that
places are relative paths.
"""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from syrupy.assertion import SnapshotAssertion

from weft import cli

GEMM = """\
func.func @gemm(%lhs: tensor<8x8xf32>, %rhs: tensor<8x8xf32>, %out: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %r = linalg.matmul ins(%lhs, %rhs : tensor<8x8xf32>, tensor<8x8xf32>) outs(%out : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}
"""
STRANGE = """\
func.func @strange(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%a: f32, %b: f32):
      %s = "vendor.secret"(%a) : (f32) -> f32
      linalg.yield %s : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}
"""
TWO = GEMM.replace("@gemm", "@first") + GEMM.replace("@gemm", "@second")
ADD = """\
func.func @add(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.add ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
"""
GOOD = """\
schedule good(bm: int = 4 in [4, 8]) {
  let gemm = match linalg.matmul
  let (tiles, one) = tile gemm [bm, 4]
  map tiles to blocks(y, x)
  let (lanes, element) = tile one [1, 1]
  map lanes to threads(y: bm, x: 4)
  launch tiles
}
"""
CONV = "payload conv2d({})\n\nschedule conv() {{\n  let conv = match linalg.conv_2d_nhwc_hwcf\n}}\n"
SMALL = ("--set", "m=8", "--set", "n=8", "--set", "k=8")


def body(*lines: str, parameters: str = "") -> str:
    """A schedule of these lines."""
    return "schedule t(" + parameters + ") {\n" + "".join(f"  {line}\n" for line in lines) + "}\n"


def npz(**arrays: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, allow_pickle=True, **arrays)
    return stream.getvalue()


@dataclass(frozen=True)
class Case:
    """A command line, and the files it finds; `prepare` makes what is not a file."""

    name: str
    arguments: tuple[str, ...]
    exit_code: int = 1
    files: dict[str, str | bytes] = field(default_factory=dict)
    prepare: Callable[[Path], None] | None = None


def schedule(name: str, text: str | bytes, *more: str, command: str = "check") -> Case:
    return Case(name, (command, "t.weft", *more), files={"t.weft": text})


def on_gemm(name: str, text: str, payload: str | bytes = GEMM, *more: str, command: str = "apply") -> Case:
    files: dict[str, str | bytes] = {"t.weft": text, "p.mlir": payload}
    return Case(name, (command, "t.weft", "--payload", "p.mlir", *more), files=files)


def inputs(name: str, data: bytes) -> Case:
    files: dict[str, str | bytes] = {"t.weft": GOOD, "p.mlir": GEMM, "x.npz": data}
    return Case(name, ("run", "t.weft", "--payload", "p.mlir", "--target", "sim", "--inputs", "x.npz"), files=files)


def _folder_with_a_file(here: Path) -> None:
    (here / "folder").mkdir()
    (here / "folder" / "notes.txt").write_text("mine")


ARRAY = np.zeros((8, 8), np.float32)

CASES = [
    # ---- the command line itself
    Case("no arguments at all", (), 2),
    Case("no such command", ("weave",), 2),
    Case("no such option", ("run", "shared", "--fast"), 2),
    Case("no file named", ("run",), 2),
    Case("an unknown target", ("run", "shared", "--target", "tpu"), 2),
    Case("a negative seed", ("run", "shared", "--seed", "-1"), 2),
    Case("build without an output", ("build", "shared"), 2),
    Case("build with a seed of no data", ("build", "shared", "--seed", "5", "-o", "bundle"), 2),
    Case("no such recipe", ("run", "shraed")),
    Case("explain an unknown code", ("explain", "W9999")),
    Case("an unknown statement", ("statements", "tle")),
    # ---- settings
    Case("a setting without a value", ("run", "shared", "--set", "bm"), 2),
    Case("a setting given twice", ("run", "shared", "--set", "bm=8", "--set", "bm=16"), 2),
    Case("an unknown parameter", ("run", "shared", "--set", "bmm=8")),
    Case("a parameter outside its domain", ("run", "shared", "--set", "bm=12")),
    Case("a parameter that is not an integer", ("run", "shared", "--set", "bm=wide")),
    Case("a payload size of zero", ("run", "shared", "--set", "m=0")),
    Case("a payload size beyond all memory", ("run", "naive", "--set", "m=500000", "--set", "n=500000", "--target", "sim")),
    Case("a payload size with an underscore", ("run", "shared", "--set", "m=1_0")),
    Case("an unknown element type", ("run", "shared", "--set", "type=f31")),
    # ---- sizes that don't go together, and layers
    schedule("a filter larger than the image", CONV.format("h = 8, w = 8, r = 3, s = 9, pad = 0")),
    schedule("a stride of zero", CONV.format("stride = 0")),
    schedule("a negative padding", CONV.format("pad = -1")),
    schedule("a dilated filter beyond the padding", CONV.format("h = 8, w = 8"), "--set", "dilation=5", command="apply"),
    schedule("a size that does not fit a layer", CONV.format(""), "--layer", "resnet50.conv1", "--set", "w=0", command="run"),
    schedule("a filter larger than a layer", CONV.format(""), "--layer", "resnet50.conv1", "--set", "s=231", command="apply"),
    schedule("an unknown layer", CONV.format(""), "--layer", "resnet50.layer1.0.conv4", command="run"),
    Case("a layer of a payload without layers", ("run", "shared", "--layer", "resnet50.conv1")),
    on_gemm("a layer of a text", GOOD, GEMM, "--layer", "resnet50.conv1"),
    Case("a layer of a bundle", ("run", ".", "--layer", "resnet50.conv1"), 2),
    Case("an unknown payload to list", ("payloads", "conv2")),
    Case("a layer to bench that is none", ("bench", "conv2d", "--layer", "conv2_x")),
    # ---- files
    Case("a missing schedule file", ("check", "missing.weft")),
    Case("a directory as a schedule", ("check", "folder"), prepare=lambda here: (here / "folder").mkdir()),
    Case("a directory as a payload", ("apply", "shared", "--payload", "folder"), prepare=lambda h: (h / "folder").mkdir()),
    Case("a missing payload", ("apply", "shared", "--payload", "missing.mlir")),
    schedule("an empty schedule", ""),
    schedule("a schedule of comments alone", "// nothing\n"),
    schedule("binary junk as a schedule", bytes(range(256))),
    schedule("a schedule of ten megabytes", "// filler\n" * 1_050_000 + GOOD),
    Case("an unwritable output folder", ("apply", "naive", *SMALL, "-o", "missing/out.mlir")),
    Case("an output that is a directory", ("apply", "naive", *SMALL, "-o", "folder"), prepare=lambda h: (h / "folder").mkdir()),
    Case("a bundle's place is a file", ("build", "naive", *SMALL, "-o", "taken"), files={"taken": "mine"}),
    Case("a bundle's parents are missing", ("build", "naive", *SMALL, "-o", "missing/bundle")),
    Case("a bundle among other things", ("build", "naive", *SMALL, "-o", "folder"), prepare=_folder_with_a_file),
    Case("unwritable saved outputs", ("run", "naive", *SMALL, "--save", "missing/y.npz")),
    # ---- syntax
    schedule("a missing bracket", body("let gemm = match linalg.matmul", "tile gemm [4, 4", "launch gemm")),
    schedule("an unknown word", body("tyle gemm [4]")),
    schedule("an unclosed schedule", "schedule t() {\n  let gemm = match linalg.matmul\n"),
    schedule("an unclosed string", body('require 1 == 1, "oh')),
    schedule("a strange character", body("let gemm = match § linalg.matmul")),
    # ---- names, types, arity, domains
    schedule("an unknown handle", body("launch tiles")),
    schedule("a consumed handle", body("let gemm = match linalg.matmul", "let (a, b) = tile gemm [4, 4]", "tile gemm [2, 2]")),
    schedule("more names than results", body("let (a, b) = match linalg.matmul")),
    schedule("fewer names than results", body("let g = match linalg.matmul", "let (a) = tile g [4, 4]")),
    schedule("a name defined twice", body("let bm = match linalg.matmul", parameters="bm: int = 4")),
    schedule("a negative tile size", body("let gemm = match linalg.matmul", "let (a, b) = tile gemm [-4, 4]")),
    schedule("an unknown parameter in an expression", body("let g = match linalg.matmul", "let (a, b) = tile g [bk, 4]")),
    schedule("a default outside its domain", body("let g = match linalg.matmul", parameters="bm: int = 5 in [4, 8]")),
    schedule("a call of an unknown schedule", body("let g = match linalg.matmul", "stage(g)")),
    # ---- include
    Case("an include cycle", ("check", "a.weft"), files={"a.weft": 'include "b.weft"\n', "b.weft": 'include "a.weft"\n' + GOOD}),
    schedule("a missing include", 'include "missing.weft"\n' + GOOD),
    Case("an include beside one of nearly that name", ("check", "t.weft"), files={
        "t.weft": 'include "stages.weft"\n' + GOOD, "stage.weft": GOOD,
    }),
    schedule("an include of nearly a recipe", 'include "weft:matmul/smt"\n' + GOOD),
    schedule("an include of no recipe", 'include "weft:nothing"\n' + GOOD),
    # ---- payloads
    Case("no payload", ("apply", "t.weft"), files={"t.weft": GOOD}),
    schedule("an unknown builder", "payload matmlu(m = 8)\n" + GOOD, command="apply"),
    schedule("a wrong builder argument", "payload matmul(rows = 8)\n" + GOOD, command="apply"),
    schedule("a builder argument of zero", "payload matmul(m = 0)\n" + GOOD, command="apply"),
    schedule("the schedule's payload file is missing", 'payload "missing.mlir"\n' + GOOD, command="apply"),
    schedule("checking an unknown builder", "payload nosuch(m = 8)\n" + GOOD),
    schedule("checking a wrong builder argument", "payload matmul(rows = 8)\n" + GOOD),
    schedule("checking a builder argument below zero", "payload matmul(m = -1)\n" + GOOD),
    schedule("checking a missing payload file", 'payload "missing.mlir"\n' + GOOD),
    on_gemm("a payload that does not parse", GOOD, GEMM.replace("ins(", "inns(")),
    on_gemm("a payload with a type error", GOOD, GEMM.replace("%lhs: tensor<8x8xf32>", "%lhs: tensor<8x8xf64>")),
    on_gemm("binary junk as a payload", GOOD, bytes(range(256))),
    on_gemm("an empty payload", GOOD, ""),
    on_gemm("a payload without the op", GOOD, ADD),
    on_gemm("several matches", GOOD, TWO),
    on_gemm("an unknown entry", GOOD, GEMM, "--entry", "nope", command="run"),
    # ---- statements that refuse
    on_gemm("a zero tile size", body("let g = match linalg.matmul", "let (a, b) = tile g [0, 0]", "launch a")),
    on_gemm("too many tile sizes", body("let g = match linalg.matmul", "let (a, b) = tile g [4, 4, 4, 4]")),
    on_gemm("an unknown operand", body("let g = match linalg.matmul", "let (k, s) = tile g [_, _, 4]", "promote-to-shared s.left")),
    on_gemm("a requirement that fails", body("require bm % 3 == 0", parameters="bm: int = 4")),
    on_gemm("a pass that does not exist", body('run-pass "no-such-pass"')),
    on_gemm("broken transform text", body("transform { this is not MLIR }")),
    on_gemm("an op nobody distributes", body(
        "let g = match linalg.matmul", "let (t, o) = tile g [4, 4]", "map t to blocks(y, x)", "launch t",
    )),
    on_gemm("an op the emitter does not know", body(
        "let g = match linalg.generic", "let (t, o) = tile g [4]", "map t to blocks(x)",
        "let (l, e) = tile o [1]", "map l to threads(x: 4)", "launch t",
    ), STRANGE, "-o", "bundle", command="build"),
    on_gemm("nothing launched", body("let g = match linalg.matmul"), GEMM, command="run"),
    on_gemm("too many threads", body(
        "let g = match linalg.matmul", "let (t, o) = tile g [8, 8]", "map t to blocks(y, x)",
        "let (l, e) = tile o [1, 1]", "map l to threads(y: 64, x: 64)", "launch t",
    )),
    # ---- inputs
    inputs("inputs that are not npz", b"PK junk"),
    inputs("pickled inputs", npz(lhs=np.array([{"a": 1}], dtype=object), rhs=ARRAY, out=ARRAY)),
    inputs("an input of a wrong shape", npz(lhs=ARRAY[:4], rhs=ARRAY, out=ARRAY)),
    inputs("an input of a wrong type", npz(lhs=ARRAY.astype("U3"), rhs=ARRAY, out=ARRAY)),
    inputs("an unknown input", npz(lhs=ARRAY, rhs=ARRAY, out=ARRAY, bias=ARRAY)),
    # ---- bundles
    Case("a folder that is not a bundle", ("run", "folder"), prepare=lambda here: (here / "folder").mkdir()),
    Case("a bundle takes no settings", ("run", ".", "--set", "m=3"), 2),
    # ---- formatting and goldens
    Case("formatting a recipe that ships", ("fmt", "shared")),
    Case("formatting what is nowhere", ("fmt", "shraed")),
    schedule("formatting what does not parse", "schedule {", command="fmt"),
    schedule("a schedule without a golden", GOOD, command="golden"),
    Case("a recipe that ships without a golden", ("golden", "shared")),
    Case("a golden of unknown origin", ("golden", "x.golden.mlir"), files={"x.golden.mlir": "module {}\n"}),
    Case("the repl of nothing", ("repl",), 2),
    # ---- not in this version
    Case("tuning", ("tune", "shared")),
]  # fmt: skip


def contents(folder: Path) -> dict[str, bytes | None]:
    """Every file below `folder` with its bytes."""
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else None for p in sorted(folder.rglob("*"))}


def check(case: Case, capsys: pytest.CaptureFixture[str], folder: Path) -> str:
    """Run a case; what a user sees, after checking what must hold of every refusal."""
    before = contents(folder)
    capsys.readouterr()
    code = cli.run(case.arguments)
    out, err = capsys.readouterr()
    assert code == case.exit_code, err
    assert out == "", "a refusal prints nothing on stdout"
    assert "Traceback" not in err and "Error(" not in err
    assert contents(folder) == before, "nothing may be left behind"
    if code == 1:
        assert re.search(r"error\[W0\d\d\d\]", err) or re.search(r"W0\d\d\d", err)
    return f"exit {code}\n" + re.sub(r"has [\d.]+ GiB", "has … GiB", err)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_refusal(case: Case, here: Path, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion) -> None:
    for name, content in case.files.items():
        (here / name).write_bytes(content.encode() if isinstance(content, str) else content)
    if case.prepare is not None:
        case.prepare(here)
    assert check(case, capsys, here) == snapshot


# ---- bundles with something wrong in them --------------------------------------------------------------------------


def test_plans_are_refused_before_anything_launches(
    here: Path, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    assert cli.run(["build", "naive", *SMALL, "-o", "good"]) == 0
    plan = json.loads((here / "good" / "plan.json").read_text())
    launch = next(i for i, step in enumerate(plan["steps"]) if "kernel" in step)
    view = next(i for i, arg in enumerate(plan["steps"][launch]["args"]) if "buffer" in arg)

    def edited(change: Callable[[dict], None]) -> str:
        copy = json.loads(json.dumps(plan))
        change(copy)
        return json.dumps(copy)

    def drop_kernel(copy: dict) -> None:
        copy["kernels"] = []

    def point_outside(copy: dict) -> None:
        copy["steps"][launch]["args"][view]["offset"] = 10**6

    def unknown_buffer(copy: dict) -> None:
        copy["steps"][launch]["args"][view]["buffer"] = "Z"

    texts = {
        "a missing kernel": edited(drop_kernel),
        "outside its buffer": edited(point_outside),
        "an unknown buffer": edited(unknown_buffer),
        "no JSON": "{",
        "another version": edited(lambda copy: copy.update(version=99)),
    }
    for name, text in texts.items():
        (here / "good" / "plan.json").write_text(text)
        assert check(Case(name, ("run", "good", "--target", "sim")), capsys, here) == snapshot(name=name)
    (here / "good" / "plan.json").write_text(json.dumps(plan))
    (here / "good" / "kernels.cu").write_text("// empty\n")
    assert check(Case("", ("run", "good", "--target", "sim")), capsys, here) == snapshot(name="a kernel that is not in the text")


def test_a_bundle_without_its_kernels(here: Path, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion) -> None:
    assert cli.run(["build", "naive", *SMALL, "-o", "good"]) == 0
    (here / "good" / "module.mlir").unlink()
    (here / "good" / "kernels.cu").unlink()
    assert check(Case("no kernels", ("run", "good", "--target", "sim")), capsys, here) == snapshot


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 40 and len({case.name for case in CASES}) == len(CASES)


def test_an_unreadable_file(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The message comes from the system; a link to itself can't be read by anybody, root included."""
    os.symlink(here / "loop.weft", here / "loop.weft")
    assert cli.run(["check", "loop.weft"]) == 1
    assert "W00" in capsys.readouterr().err
