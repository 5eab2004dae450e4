"""`python -m weft.runtime DIR` in a process of its own, in which only NumPy and (a stand-in for) CuPy can be imported."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from places import STAND_INS
from runtime_programs import two_stream_plan

from weft.runtime.files.bundle import write_bundle

CUDA = 'extern "C" __global__ void scale(const float* x, float* y, float f) { }\n'
INPUTS = {"x": np.arange(8, dtype=np.float32), "factor": np.array(3, np.float32)}
EXPECTED = {"y": 3 * INPUTS["x"]}
FAKE = STAND_INS

BLOCKED = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        root = name.split(".")[0]
        if root in {"torch_mlir", "lark", "islpy", "click", "rich_click", "rich", "prompt_toolkit", "pygments", "ml_dtypes"}:
            raise ModuleNotFoundError(f"{name} is blocked", name=name)
        return None
sys.meta_path.insert(0, Blocker())
import runpy
sys.argv = ["weft.runtime", *sys.argv[1:]]
runpy.run_module("weft.runtime", run_name="__main__")
"""


def run(*arguments: str, cupy: bool = True) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"WEFT_CACHE_DIR": os.devnull, "PYTHONPATH": str(FAKE) if cupy else ""}
    return subprocess.run(
        [sys.executable, "-c", BLOCKED, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_bundle(tmp_path / "b", two_stream_plan(), CUDA, "module {}", inputs=INPUTS, expected=EXPECTED)


def test_right(folder: Path) -> None:
    done = run(str(folder), "--json", "--bench", "3")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found["ok"] is True and found["max_rel_error"] == 0 and found["races"] is None
    assert found["device"] == "Fake GPU" and found["target"] == "cuda"
    launch = {"name": "scale", "grid": [1, 1, 1], "block": [8, 1, 1], "shared_bytes": 128, "unproven": None}
    assert found["kernels"] == [launch | {"temporary_bytes": live} for live in (256, 512)]
    assert found["streams_created"] == found["streams_destroyed"] == 2
    assert len(found["repeats"]) == 3
    text = run(str(folder), "--bench", "2").stdout
    assert "y: error 0, ok" in text and "2 more runs: median" in text


def test_a_graph(folder: Path, tmp_path: Path) -> None:
    done = run(str(folder), "--json", "--bench", "2", "--graph")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found["ok"] is True and found["graphs_created"] == found["graphs_destroyed"] == 1
    assert len(found["repeats"]) == len(found["issued"]) == 2 and "capture" in found["seconds"]
    refused = run(str(folder), "--graph", "--trace", str(tmp_path / "t.json"))
    assert refused.returncode == 2 and "without --graph" in refused.stderr and not (tmp_path / "t.json").exists()


def test_wrong(folder: Path) -> None:
    write_bundle(folder, two_stream_plan(), CUDA, "", inputs=INPUTS, expected={"y": INPUTS["x"]})
    done = run(str(folder))
    assert done.returncode == 1 and "y: error 2, WRONG" in done.stdout


def test_nothing_to_compare_with(tmp_path: Path) -> None:
    folder = write_bundle(tmp_path / "b", two_stream_plan(), CUDA, "")
    found = json.loads(run(str(folder), "--json").stdout)
    assert found["ok"] is None and found["max_rel_error"] is None


def test_inputs_and_outputs_as_files(folder: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", **(INPUTS | {"factor": np.array(5, np.float32)}))
    done = run(str(folder), "--inputs", str(tmp_path / "x.npz"), "--save", str(tmp_path / "y.npz"), "--json")
    assert json.loads(done.stdout)["ok"] is None
    with np.load(tmp_path / "y.npz") as saved:
        np.testing.assert_array_equal(saved["y"], 5 * INPUTS["x"])


def test_bad_input(folder: Path, tmp_path: Path) -> None:
    done = run(str(tmp_path / "missing"))
    assert done.returncode == 1 and done.stderr.startswith("error[W0710]: ") and "Traceback" not in done.stderr
    plan = two_stream_plan()
    write_bundle(folder, replace(plan, kernels=(replace(plan.kernels[0], name="other"),)), CUDA, "")
    done = run(str(folder))
    assert done.returncode == 1 and "error[W0702]: steps[1].kernel: no kernel `scale`" in done.stderr
    assert done.stdout == ""


def test_usage() -> None:
    assert run().returncode == 2
    assert run("x", "--bench", "many").returncode == 2


def test_without_a_gpu(folder: Path) -> None:
    assert run("--help", cupy=False).returncode == 0
    done = run(str(folder), cupy=False)
    assert done.returncode == 1 and "error[W0720]" in done.stderr and "Traceback" not in done.stderr


def test_a_trace_and_its_picture(folder: Path, tmp_path: Path) -> None:
    done = run(str(folder), "--trace", str(tmp_path / "out.json"))
    assert done.returncode == 0 and done.stderr == f"{tmp_path}/out.json, {tmp_path}/out.svg: written\n"
    events = json.loads((tmp_path / "out.json").read_text())["traceEvents"]
    assert {(e["name"], e["tid"]) for e in events if e["ph"] == "X"} == {("scale", 0), ("t → u", 1)}
    picture = (tmp_path / "out.svg").read_text()
    assert "@f on Fake GPU: 3 steps on 2 streams" in picture
    assert picture.count("waits for") == 3 and "makespan" in done.stdout and "stream 1" in done.stdout
    silent = run(str(folder), "--trace", str(tmp_path / "out.json"), "--json")
    assert json.loads(silent.stdout)["ok"] is True and silent.stderr == done.stderr


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--trace", "{tmp}/out.svg"], "W0714", "is the path of the trace's picture"),
        (["--trace", "{tmp}/missing/out.json"], "W0054", "does not exist"),
        (["--trace", "{tmp}"], "W0054", "is a directory"),
        (["--trace", "{tmp}/b/out.json"], "W0714", "which is the bundle"),
        (["--trace", "{tmp}/y.json", "--save", "{tmp}/y.json"], "W0714", "which is --save"),
        (["--trace", "{tmp}/y.json", "--save", "{tmp}/y.svg"], "W0714", "which is --save"),
        (["--trace", "/dev/null"], "W0714", "is not a file"),
        (["--save", "{tmp}/b/plan.json"], "W0714", "--save would overwrite"),
        (["--save", "{tmp}/missing/y.npz"], "W0054", "does not exist"),
    ],
)
def test_places_that_nothing_can_be_written_to(
    folder: Path, tmp_path: Path, options: list[str], code: str, message: str
) -> None:
    before = sorted(tmp_path.rglob("*"))
    done = run(str(folder), *(option.format(tmp=tmp_path) for option in options))
    assert done.returncode == 1 and done.stderr.startswith(f"error[{code}]: ") and message in done.stderr
    assert done.stdout == "" and sorted(tmp_path.rglob("*")) == before


def test_a_terminal_without_block_characters(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    done = run(str(folder), "--trace", str(tmp_path / "out.json"))
    assert done.returncode == 0 and "stream 1" in done.stdout and "?" in done.stdout
