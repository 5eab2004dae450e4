"""Programs as engineers of kernels write them: each is scheduled, proven, and built with nothing assumed."""

from __future__ import annotations

import ordinary_elements
import ordinary_products
import ordinary_reductions
import ordinary_windows
import pytest
from proven import expect_no_assumption

from weft.comparison.comparison import compared
from weft.dsl.diagnostics import Source
from weft.pipeline import Choice, applied, planned

KINDS = (ordinary_elements, ordinary_reductions, ordinary_products, ordinary_windows)
PROGRAMS = {f"{of.__name__.partition('_')[2]}: {name}": program for of in KINDS for name, program in of.PROGRAMS.items()}


@pytest.mark.few(14)
@pytest.mark.parametrize("name", PROGRAMS)
def test_an_ordinary_program_is_built(name: str) -> None:
    payload, lines = PROGRAMS[name]
    text = Source("s.weft", "schedule s() {\n" + lines + "}\n")
    done = applied(Choice("", text=text, program=Source("p.mlir", payload)).open())
    expect_no_assumption(done.assumed)
    assert done.unproven == []
    assert compared(planned(done), None).line is not None
