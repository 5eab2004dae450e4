"""Random convolutions as implicit GEMMs, on the simulator: judged by the payload, compiled for the CPU, and by plain loops."""

from __future__ import annotations

import random
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np
from convolution_oracle import bias_relu, convolved, random_sizes
from executors import expect_computed
from recipe_space import members

from weft.pipeline import Choice, Planned, applied, planned
from weft.recipes import builders
from weft.runtime.cpu.reference import reference
from weft.runtime.files.inputs import random_inputs
from weft.runtime.host import functions
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice

HERE = Path(__file__).parent
ANY_TILES = {"conv2d": str(HERE / "any_tiles.weft"), "conv2d_nchw": str(HERE / "any_tiles_nchw.weft")}
"""By payload: schedules with tiles of any size."""
PAYLOADS = {"igemm": "conv2d", "igemm_pipelined": "conv2d", "igemm_nchw": "conv2d_nchw", "igemm_bias_relu": "conv2d_bias_relu"} | {
    schedule: payload for payload, schedule in ANY_TILES.items()
}
TYPES = ("f32", "f32", "f64", "f32", "f16", "f32", "bf16")


def random_layer(seed: int) -> tuple[str, dict[str, str]]:
    """A schedule and its settings: three in five a recipe with a member of its space, else tiles of any size."""
    choose = random.Random(seed)
    schedule = list(PAYLOADS)[seed % len(PAYLOADS)]
    layer = random_sizes(70_000 + seed)
    if PAYLOADS[schedule] == "conv2d_bias_relu":
        layer["residual"] = choose.randint(0, 1)
    settings = {name: str(value) for name, value in layer.items()} | {"type": choose.choice(TYPES)}
    if schedule in ANY_TILES.values():
        tiles = {name: str(choose.randint(1, most)) for name, most in (("bm", 32), ("bn", 32), ("bk", 20))}
        return schedule, settings | tiles
    return schedule, settings | choose.choice([{}, choose.choice(members(schedule, type=settings["type"]))])


def made(schedule: str, settings: Mapping[str, str]) -> Planned:
    return _made(schedule, tuple(sorted(settings.items())))


@cache
def _made(schedule: str, settings: tuple[tuple[str, str], ...]) -> Planned:
    return planned(applied(Choice(schedule, None, dict(settings)).open()))


def plain_loops(schedule: str, settings: Mapping[str, str], arrays: Mapping[str, np.ndarray]) -> np.ndarray:
    """What the payload says, tap by tap."""
    payload = PAYLOADS[schedule]
    values = {p.name: settings.get(p.name, p.default) for p in builders()[payload].parameters}
    steps = {name: int(values[name]) for name in ("stride", "pad", "dilation")}
    result = convolved(arrays, first=payload == "conv2d_nchw", **steps)
    return bias_relu(result, arrays) if payload == "conv2d_bias_relu" else result


def check(schedule: str, settings: Mapping[str, str], seed: int = 1) -> None:
    """Right by both references, race-free, and the lanes of a recipe's warps never read two words of one bank at once."""
    done = made(schedule, settings)
    signature = functions.signature(done.applied.payload, done.plan.entry)
    arrays = random_inputs(signature, seed)
    result = run_plan(done.plan, SimDevice(), arrays, text=done.applied.text)
    assert not result.races and not result.faults, (schedule, settings, result.races, result.faults)
    if schedule not in ANY_TILES.values():
        assert result.banks, (schedule, settings)
        loads = [use for _, use in result.banks if use.kind == "load" and use.wavefronts > use.ideal]
        assert not loads, (schedule, settings, loads)
    wanted = reference(done.applied.payload, None, arrays)
    expect_computed("the simulator", result, signature, wanted, shown=f"\n{schedule}\n{settings}")
    wanted, got = plain_loops(schedule, settings, arrays), result.outputs["Y"]
    assert got.shape == wanted.shape, (schedule, settings)
    allowed = 1e-12 if settings.get("type") == "f64" else 1e-5
    assert np.max(np.abs(got - wanted)) <= allowed * max(np.max(np.abs(wanted)), 1e-30), (schedule, settings)
