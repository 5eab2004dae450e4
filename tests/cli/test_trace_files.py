"""`weft run --trace T.json`: the two files, what the report shows, and places that are refused before anything runs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from places import TESTS

from weft.cli import run

EXAMPLES = TESTS / "interpreter" / "statements" / "examples"
FORK = ["run", "async-fork.weft", "--target", "sim", "--reference", "none"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("async-fork.weft", "launches.mlir"):
        shutil.copy(EXAMPLES / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    return tmp_path


def test_two_files(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*FORK, "--json", "--trace", "t.json"]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out)["ok"] is None and told.err == "t.json, t.svg: written\n"
    events = json.loads(Path("t.json").read_text())["traceEvents"]
    assert {e["name"]: e["tid"] for e in events if e["ph"] == "X"} == {"left": 0, "right": 1, "sum": 1}
    picture = Path("t.svg").read_text()
    assert "3 steps on 2 streams" in picture and "sum (step" in picture and "the simulator has no clock" in picture


def test_the_picture_is_the_same_in_every_order() -> None:
    pictures = set()
    for seed in range(4):
        assert run([*FORK, "--json", "--trace", "t.json", "--seed", str(seed)]) == 0
        pictures.add(Path("t.svg").read_text())
    assert len(pictures) == 1


def test_the_report(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*FORK, "--trace", "t.json"]) == 0
    lines = capsys.readouterr().err.splitlines()
    first = next(n for n, line in enumerate(lines) if line.startswith("Streams  3 steps on 2 streams"))
    assert [line.rstrip() for line in lines[first + 1 : first + 7]] == [
        f"  stream 0  {'█' * 14} left {'█' * 14}",
        f"  stream 1  {'█' * 13} right {'█' * 14}{'▓' * 14} sum {'▓' * 15}",
        f"  overlap   {'━' * 34}",
        "            0                                                            2 steps",
        "  makespan 2 steps; one after the other 3 steps, 1.50×",
        "  overlap 50%: two or more streams busy for 1 step",
    ]
    assert lines[-1] == "t.json, t.svg: written" and all(len(line) <= 80 for line in lines) and "\x1b" not in "".join(lines)


def test_without_a_trace_no_streams_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(FORK) == 0
    assert "Streams " not in capsys.readouterr().err and not list(Path().glob("*.svg"))


def test_a_bundle() -> None:
    assert run(["build", "async-fork.weft", "-o", "b"]) == 0
    assert run(["run", "b", "--target", "sim", "--trace", "t.json"]) == 0
    assert "3 steps on 2 streams" in Path("t.svg").read_text()


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--trace", "out.svg"], "W0714", "`out.svg` is the path of the trace's picture"),
        (["--trace", "out.SVG"], "W0714", "`out.SVG` is the path of the trace's picture"),
        (["--trace", "missing/t.json"], "W0054", "cannot write `missing/t.json`: the folder `missing` does not exist"),
        (["--trace", "."], "W0054", "cannot write `.`: it is a directory"),
        (["--trace", "taken.json"], "W0054", "cannot write `taken.svg`: it is a directory"),
        (["--trace", "/dev/null"], "W0714", "`/dev/null` is not a file, and the trace's picture is written next to it"),
        (["--trace", "y.json", "--save", "y.json"], "W0714", "--trace would overwrite `y.json`, which is --save"),
        (["--trace", "y.json", "--save", "./y.svg"], "W0714", "the picture of --trace would overwrite `y.svg`, which is --save"),
        (["--trace", "async-fork.weft"], "W0714", "--trace would overwrite `async-fork.weft`, which is the schedule"),
        (["--trace", "link.json"], "W0714", "--trace would overwrite `link.json`, which is the schedule"),
        (["--trace", "x.json", "--inputs", "x.json"], "W0714", "--trace would overwrite `x.json`, which is --inputs"),
    ],
)
def test_refused_before_anything_runs(
    options: list[str], code: str, message: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "taken.svg").mkdir()
    (folder / "link.json").symlink_to("async-fork.weft")
    before = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    assert run([*FORK, *options]) == 1
    told = capsys.readouterr().err
    assert told.startswith(f"error[{code}]: {message}") and "Traceback" not in told and "Streams" not in told
    assert {path: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


def test_nothing_is_left_in_a_bundle(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["build", "async-fork.weft", "-o", "b"]) == 0
    for name in ("plan.json", "t.json"):
        assert run(["run", "b", "--target", "sim", "--trace", f"b/{name}"]) == 1
    assert "error[W0714]" in capsys.readouterr().err and len(list(Path("b").iterdir())) == 3


def test_a_run_that_fails_writes_nothing() -> None:
    assert run([*FORK, "--trace", "t.json", "--inputs", "missing.npz"]) == 1
    assert not Path("t.json").exists() and not Path("t.svg").exists()


def test_a_recipe_of_the_same_name_is_no_file() -> None:
    assert run(["run", "naive", "--target", "sim", "--set", "m=8", "--set", "n=8", "--set", "k=8", "--trace", "naive"]) == 0
    assert Path("naive").is_file() and "1 step on 1 stream" in Path("naive.svg").read_text()
