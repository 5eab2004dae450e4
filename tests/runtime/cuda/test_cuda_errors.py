"""What the emitter refuses, and that it says which op, where, and why."""

from __future__ import annotations

from pathlib import Path

import pytest
from cuda_cases import emit_text
from pinned import pinned

from weft.dsl.diagnostics import WeftError, render
from weft.explain import all_codes
from weft.runtime.cuda.nvrtc import compile_cubin

FOLDER = Path(__file__).parent / "errors"
CASES = sorted(p.stem for p in FOLDER.glob("*.mlir"))


@pytest.mark.parametrize("case", CASES)
def test_refused(case: str, update: bool) -> None:
    with pytest.raises(WeftError) as caught:
        emit_text((FOLDER / f"{case}.mlir").read_text())
    (found,) = caught.value.diagnostics
    assert found.code in all_codes()
    assert found.payload is not None
    pinned(FOLDER / f"{case}.txt", render(found) + "\n", update)


def test_every_code_of_the_emitter_has_a_case() -> None:
    pinned_codes = {(FOLDER / f"{case}.txt").read_text()[6:11] for case in CASES}
    of_the_emitter = {code for code in all_codes() if code.startswith("W05")}
    assert pinned_codes | {"W0505", "W0509"} == of_the_emitter | {"W0398"}  # one needs NVRTC, one a command line


def test_nvrtc_refuses_with_its_log() -> None:
    with pytest.raises(WeftError) as caught:
        compile_cubin('extern "C" __global__ void k(float* x) { x[0] = nothing; }', "sm_80")
    found = caught.value.diagnostics[0]
    assert found.code == "W0505"
    assert any('identifier "nothing" is undefined' in note for note in found.notes)
