"""Kernels that combine the wrong parts: the comparison with the payload finds each, where no race is to be found."""

from __future__ import annotations

import pytest
from shared_mutants import SharedMutant, all_warps

from weft.dsl.diagnostics import Source
from weft.pipeline import Choice, applied, planned
from weft.runtime.cpu.reference import reference
from weft.runtime.files.inputs import random_inputs
from weft.runtime.host import functions
from weft.runtime.run.compare import compare
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice
from weft.verify import verify_source


@pytest.mark.parametrize("mutant", all_warps(), ids=lambda one: one.schedule.stem)
def test_parts_of_all_warps(mutant: SharedMutant) -> None:
    made = planned(applied(Choice(str(mutant.schedule), None, {}).open()))
    signature = functions.signature(made.applied.payload, made.plan.entry)
    inputs = random_inputs(signature, 1)
    expected = reference(made.applied.payload, made.plan.entry, inputs)
    for text, right in ((made.applied.text, True), (mutant.text, False)):
        ran = run_plan(made.plan, SimDevice(), inputs, text=text)
        assert not ran.races and not ran.faults
        assert compare(signature, ran.outputs, expected).ok == right
    assert verify_source(Source("right.mlir", made.applied.text)).ok
    assert {d.code for d in verify_source(Source("wrong.mlir", mutant.text)).diagnostics} == {"W0614"}
