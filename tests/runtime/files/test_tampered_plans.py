"""Plans that somebody changed anywhere: refused with a diagnostic, or run; a traceback never."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_bad_plans import PAYLOAD

from weft import cli
from weft.dsl.diagnostics import WeftError
from weft.runtime.run import execution
from weft.runtime.run.execution import RunOptions, run_bundle

SOAK = "WEFT_SOAK" in os.environ
COUNT = 3000 if SOAK else 150

DYNAMIC = """func.func @f(%A: memref<?x8xf32>, %B: memref<?x8xf32>, %n: index, %v: f32) {
  linalg.copy ins(%A : memref<?x8xf32>) outs(%B : memref<?x8xf32>)
  return }"""
RECIPES = {
    "streams": (PAYLOAD, "schedule s() {\n  async-fork\n}\n"),
    "shapes": (DYNAMIC, "schedule s() {\n  let c = match linalg.copy\n  map c to grid(x: 64, y: 8) cyclic\n  launch c\n}\n"),
}
INPUTS = {
    "streams": {"A": np.ones(64, np.float32)},
    "shapes": {name: np.ones((9, 8), np.float32) for name in "AB"} | {"n": np.array(3), "v": np.array(2.5, np.float32)},
}
POOL: list[Any] = [
    None, True, False, 0, 1, -1, 2, 3, 7, 64, 1 << 31, 1 << 40, 1 << 63, -(1 << 63), 1 << 64, 1 << 200, 0.5, -1.5,
    1e300, "", "nan", "x", "A", "B", "n", "v", "f", "f32", "f64", "i32", "index", "bf16", "i1", "temp", "input",
    "constant", [], [1], {}, {"scalar": "n"},      {"scalar": "v"}, {"scalar": "nobody"}, {"dim": ["A", 0]}, {"dim":
    ["A", 9]}, {"dim": ["nobody", 0]}, {"dim": ["B", -1]}, {"op": "mul", "args": [{"scalar": "n"}, 2]}, {"op": "div",
    "args": [1, 0]}, {"op": "mod", "args": [{"scalar": "nobody"}, 0]}, {"op": "sub", "args": [0, {"dim": ["A", 0]}]},
    {"op": "pow", "args": [9, 9]}, {"op": "add", "args": [1 << 63, 1 << 63]},
]  # fmt: skip


@pytest.fixture(scope="module", params=RECIPES)
def bundle(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("bundles")
    payload, schedule = RECIPES[request.param]
    (folder / "p.mlir").write_text(payload)
    (folder / "s.weft").write_text(schedule)
    made = folder / "bundle"
    np.savez(folder / "x.npz", **INPUTS[request.param])
    assert cli.run(["build", str(folder / "s.weft"), "--payload", str(folder / "p.mlir"), "-o", str(made)]) == 0
    return made, json.loads((made / "plan.json").read_text())


def places(node: Any) -> Iterator[tuple[Any, Any]]:
    """Every place of a document: what holds it, and its key or number."""
    for key, value in list(node.items()) if isinstance(node, dict) else list(enumerate(node)) if isinstance(node, list) else []:
        yield node, key
        yield from places(value)


def tamper(plan: dict[str, Any], dice: random.Random) -> dict[str, Any]:
    made = deepcopy(plan)
    for _ in range(dice.choice((1, 1, 1, 2, 3))):
        known = list(places(made))
        holder, key = dice.choice(known)
        match dice.randrange(6):
            case 0 if isinstance(holder, list):
                holder.insert(key, deepcopy(holder[dice.randrange(len(holder))]))
            case 1:
                del holder[key]
            case 2:
                other, at = dice.choice(known)
                holder[key] = deepcopy(other[at]) if other[at] is not made else 0
            case _:
                holder[key] = deepcopy(dice.choice(POOL))
    return made


def test_tampered(bundle: tuple[Path, dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execution, "physical_memory", lambda: 1 << 22)
    monkeypatch.setenv("WEFT_SIM_SECONDS", "5")
    folder, plan = bundle
    dice = random.Random(7)
    ran = refused = 0
    for number in range(COUNT):
        text = json.dumps(tamper(plan, dice))
        (folder / "plan.json").write_text(text)
        try:
            run_bundle(folder, RunOptions("sim", number, inputs=folder.parent / "x.npz"))
            ran += 1
        except WeftError:
            refused += 1
        except BaseException:
            print(text)
            raise
    assert ran > COUNT // 100 and refused > COUNT // 3, (ran, refused)
