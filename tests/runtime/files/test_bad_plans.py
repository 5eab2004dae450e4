"""Bundles whose plan somebody edited: `weft run DIR` and `python -m weft.runtime DIR` refuse each before anything is allocated,
and name the place in the JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from weft import cli
from weft.runtime import __main__ as standalone

V = "memref<64xf32>"
PAYLOAD = f"""module attributes {{gpu.container_module}} {{
gpu.module @k {{
  gpu.func @set(%x: {V}) kernel attributes {{known_block_size = array<i32: 64, 1, 1>}} {{
    %t = gpu.thread_id x
    %v = arith.constant 1.0 : f32
    memref.store %v, %x[%t] : {V}
    gpu.return
  }}
  gpu.func @add(%x: {V}, %y: {V}, %z: {V}) kernel attributes {{known_block_size = array<i32: 64, 1, 1>}} {{
    %t = gpu.thread_id x
    %v = memref.load %x[%t] : {V}
    %w = memref.load %y[%t] : {V}
    %s = arith.addf %v, %w : f32
    memref.store %s, %z[%t] : {V}
    gpu.return
  }}
}}
func.func @f(%A: {V}) {{
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %m = memref.alloc() : {V}
  %n = memref.alloc() : {V}
  gpu.launch_func @k::@set blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%m : {V})
  gpu.launch_func @k::@set blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%n : {V})
  gpu.launch_func @k::@add blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%m : {V}, %n : {V}, %A : {V})
  memref.dealloc %m : {V}
  memref.dealloc %n : {V}
  return
}}
}}
"""
Step = dict[str, Any]


def launches(steps: list[Step]) -> list[Step]:
    return [step for step in steps if step["do"] == "launch"]


def free(steps: list[Step]) -> Step:
    return next(step for step in steps if step["do"] == "free")


EDITS: dict[str, Callable[[list[Step]], object]] = {
    "steps that wait for each other": lambda s: launches(s)[0].update(after=[s.index(launches(s)[2])]),
    "a step that waits for itself": lambda s: launches(s)[0].update(after=[s.index(launches(s)[0])]),
    "an event that is waited for before it is recorded": lambda s: s[0].update(after=[1]),
    "a step below zero": lambda s: launches(s)[2].update(after=[-1]),
    "a step that is not a number": lambda s: launches(s)[2].update(after=["two"]),
    "a stream below zero": lambda s: launches(s)[1].update(stream=-1),
    "a stream beyond all": lambda s: launches(s)[1].update(stream=10**9),
    "a stream that is not an integer": lambda s: launches(s)[1].update(stream=0.5),
    "an edge that is missing": lambda s: launches(s)[2].update(after=[]),
    "a kernel that is not there": lambda s: launches(s)[1].update(kernel="nothing"),
    "an argument too few": lambda s: launches(s)[2]["args"].pop(),
    "an argument too many": lambda s: launches(s)[2]["args"].append(launches(s)[2]["args"][0]),
    "freed twice": lambda s: s.append(deepcopy(free(s))),
    "used after it was freed": lambda s: s.append(deepcopy(launches(s)[0])),
    "used before it is allocated": lambda s: s.pop(0),
    "allocated twice": lambda s: s.insert(1, deepcopy(s[0])),
    "freed on a stream of its own": lambda s: free(s).update(stream=7, after=[]),
    "an argument of the function that is freed": lambda s: s.append({"do": "free", "buffer": "A", "stream": 0, "after": []}),
    "a step of an unknown kind": lambda s: s[0].update(do="sleep"),
    "a key that nobody knows": lambda s: s[0].update(priority=3),
}


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("bundles")
    (folder / "p.mlir").write_text(PAYLOAD)
    (folder / "fork.weft").write_text("schedule fork() {\n  async-fork\n}\n")
    bundle = folder / "bundle"
    assert cli.run(["build", str(folder / "fork.weft"), "--payload", str(folder / "p.mlir"), "-o", str(bundle)]) == 0
    made = json.loads((bundle / "plan.json").read_text())
    assert len({step["stream"] for step in made["steps"]}) == 2
    return bundle, made


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_plan(
    edit: str,
    plan: tuple[Path, dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    snapshot: SnapshotAssertion,
) -> None:
    bundle, made = plan
    edited = deepcopy(made)
    EDITS[edit](edited["steps"])
    (bundle / "plan.json").write_text(json.dumps(edited))
    monkeypatch.chdir(bundle.parent)
    monkeypatch.setenv("COLUMNS", "132")
    capsys.readouterr()
    assert cli.run(["run", "bundle", "--target", "sim"]) == 1
    out, said = capsys.readouterr()
    assert out == "" and "error[W07" in said and "steps[" in said and "in bundle/plan.json" in said
    assert standalone.main(["bundle"]) == 1
    out, alone = capsys.readouterr()
    assert [line for line in alone.splitlines() if "error[" in line] == [line for line in said.splitlines() if "error[" in line]
    assert said == snapshot
