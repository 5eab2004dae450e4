"""Random programs run by `weft:rest` alone: on the simulator and natively, proven race-free, equal to the payload.

A test's id is its seed: `pytest 'test_whole_programs.py::test_program_runs_by_rest_alone[17]'`. `WEFT_PROGRAMS=120:300 make soak`
resumes at a seed.
"""

from __future__ import annotations

import os
from itertools import islice, product

import pytest
from executors import expect_report
from random_networks import Program, program

from weft import api
from weft.execution import run_applied
from weft.pipeline import applied
from weft.runtime.cpu.device import CpuDevice
from weft.runtime.run.execution import RunOptions
from weft.runtime.simulator.device import SimDevice

CHEAP = 24
"""The most ops of a program of `make test`."""


def is_cheap(one: Program) -> bool:
    return one.ops <= CHEAP and "large_matmul" not in one.kinds


if "WEFT_SOAK" in os.environ:
    SEEDS = list(range(*map(int, os.environ.get("WEFT_PROGRAMS", "0:300").split(":"))))
else:
    SEEDS = list(islice((seed for seed in range(300) if is_cheap(program(seed))), 20))


@pytest.mark.parametrize("seed", SEEDS)
def test_program_runs_by_rest_alone(seed: int) -> None:
    made = program(seed)
    done = applied(api.load(None, payload=made.text))
    assert done.unproven == [], made.text
    for (entry, sizes), device in product(made.sizes.items(), (SimDevice(), CpuDevice())):
        options = RunOptions(device.target, seed, sizes={place: str(size) for place, size in sizes.items()})
        expect_report(run_applied(done, entry, options, device).report, f"@{entry}\n{made.text}")


SMALL = {"large": "1", "deep": "1", "several": "1", "long": "3", "threads": "128"}
"""Settings with which small ops are scheduled as large ones are: products by recipes, rows by warps, several elements a thread."""


@pytest.mark.parametrize("units", ["tensor", "simt"])
@pytest.mark.parametrize("seed", [seed for seed in SEEDS if is_cheap(program(seed))] if "WEFT_SOAK" in os.environ else SEEDS[::5])
def test_rules_of_large_ops(seed: int, units: str) -> None:
    made = program(seed)
    done = applied(api.load(None, payload=made.text, settings={**SMALL, "units": units}))
    assert done.unproven == [], made.text
    for entry, sizes in made.sizes.items():
        options = RunOptions("sim", seed, sizes={place: str(size) for place, size in sizes.items()})
        expect_report(run_applied(done, entry, options, SimDevice()).report, f"@{entry}\n{made.text}")


def test_the_programs_are_of_all_kinds() -> None:
    """Among 300: a third with open sizes, several functions, and each kind of op many times."""
    from random_networks import KINDS

    every = [program(seed) for seed in range(300)]
    kinds = [kind for one in every for kind in one.kinds]
    assert all(kinds.count(kind) >= 40 for kind in KINDS)
    assert 80 <= sum(any(one.sizes.values()) for one in every) <= 120
    assert sum(len(one.sizes) > 1 for one in every) >= 50
    assert all(5 <= one.ops <= 64 for one in every)
