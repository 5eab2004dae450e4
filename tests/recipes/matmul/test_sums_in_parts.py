"""Products of f32 in parts keep the digits of f32 on tensor cores that round what they add up toward zero.

Those of the text on the CPU do (`tests/runtime/cuda/shim/fragments.h`). Where sums stay on the tensor cores, it is off by more than
the tolerance of f32 at k = 4096.
"""

from __future__ import annotations

import numpy as np
import pytest
from native_device import NativeDevice

from weft.interpreter.hardware.ampere import fragments
from weft.pipeline import Choice, applied, planned
from weft.runtime.files.inputs import random_inputs
from weft.runtime.host.functions import signature
from weft.runtime.run.compare import TOLERANCES
from weft.runtime.run.runner import run_plan

TILES = {
    "tensor": {"bm": 32, "bn": 32, "wm": 16, "wn": 16}, "tensor_split_k": {"bm": 32, "bn": 32, "wm": 16, "wn": 16, "parts": 2},
    "hopper": {"bm": 64, "bn": 64, "stages": 2},
}  # fmt: skip


def error(recipe: str, as_type: str) -> float:
    """Of a sum of 4096 products, none of which is negative: what is cut off adds up."""
    settings = {"type": "f32", "as_type": as_type, "m": 64, "n": 64, "k": 4096, **TILES[recipe]}
    done = planned(applied(Choice(recipe, None, {name: str(value) for name, value in settings.items()}).open()))
    arrays = {name: np.abs(array) for name, array in random_inputs(signature(done.applied.payload), 1).items()}
    expected = arrays["A"].astype("f8") @ arrays["B"].astype("f8")
    got = run_plan(done.plan, NativeDevice(), arrays, text=done.cuda).outputs["C"]
    return float(np.abs(got - expected).max() / np.abs(expected).max())


@pytest.mark.few()
@pytest.mark.parametrize("as_type", ["3xtf32", "bf16x3"])
@pytest.mark.parametrize("recipe", TILES)
def test_steps_are_added_outside_of_the_tensor_cores(recipe: str, as_type: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without that, long sums lose what the operands' second parts were there for."""
    assert error(recipe, as_type) < 2e-6
    monkeypatch.setattr(fragments, "in_parts", lambda _: False)
    assert error(recipe, as_type) > (TOLERANCES["3xtf32"] if as_type == "3xtf32" else 5e-6)
