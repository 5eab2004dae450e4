"""Kernels that read one tensor twice, or an operand that only has sizes, changed before they are made: two operands exchanged, a window
that is moved, and what coverage is mutated by. What is still proven is equal."""

from __future__ import annotations

from pathlib import Path

import pytest
from coverage_mutations import CHANGES, copies, mutants, opened
from ordinary_windows import by_tiles, pool
from test_coverage_mutants import SOAK, expect_equal
from usual_schedules import each_alone, tiles
from written_payloads import Written

from weft.interpreter.ir.mlir import ir


def _exchanged(op: ir.Operation) -> bool:
    """Two inputs of one type are exchanged."""
    if not op.name.startswith("linalg.") or len(op.operands) < 3 or op.operands[0].type != op.operands[1].type:
        return False
    op.operands[0], op.operands[1] = op.operands[1], op.operands[0]
    return True


def gaps() -> str:
    """How much each row exceeds each other: not that of the other."""
    p = Written(x="9x7xi32")
    p.each("y", "9x9xi32", "i, j, k*", "x[i, k]; x[j, k]", "subi a b; maxsi . 0; addi . o", start=0)
    return p.text("y")


def against_its_transpose() -> str:
    p = Written(x="9x9xi32")
    p.each("s", "9x9xi32", "i, j", "x[i, j]; x[j, i]", "muli a 2; subi . b")
    p.each("y", "9xi32", "i, j*", "s[i, j]", "addi a o", start=0)
    return p.text("y")


GENERIC, FILL = "linalg.generic", "linalg.fill"
PROGRAMS = {
    "of one tensor, an element a thread": (gaps(), each_alone(f"{GENERIC} / 1, 1 < {FILL}")),
    "of one tensor, ragged tiles": (gaps(), tiles(GENERIC, "4, 4", "y: 4, x: 4", FILL)),
    "of a tensor and its transpose": (against_its_transpose(), each_alone(f"{GENERIC} #0 / 4, 1 on y, x", f"{GENERIC} #1 / 1 < {FILL}")),
    "windows, ragged tiles": (pool("max", h=7, w=8, c=3), by_tiles("linalg.pooling_nhwc_max")),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_of_which_operand_a_read_is(name: str, tmp_path: Path) -> None:
    payload, lines = PROGRAMS[name]
    (tmp_path / "p.mlir").write_text(payload)
    (tmp_path / "s.weft").write_text(f'payload "p.mlir"\nschedule s() {{\n{lines}}}\n')
    session, done = opened(str(tmp_path / "s.weft"), {})
    made = [(where, mutant, None) for where, mutant in mutants(session, {"operands exchanged": _exchanged, **CHANGES})]
    assert made
    assert expect_equal(session, done, [*made, *copies(session)] if SOAK else made)
