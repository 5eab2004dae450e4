"""Ordinary kernels, changed before they are made: operands exchanged, indices, masks, copies, maps moved or dropped. What is still
proven is equal."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from coverage_mutations import CHANGES, COPIES, ELEMENTS, copies, mutants, opened
from ordinary_windows import by_tiles, pool
from test_coverage_mutants import SOAK, expect_equal
from test_ordinary_programs import PROGRAMS as ORDINARY
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
    "of a tensor and its transpose": (
        against_its_transpose(), each_alone(f"{GENERIC} #0 / 4, 1 on y, x", f"{GENERIC} #1 / 1 < {FILL}")
    ),
    "windows, ragged tiles": (pool("max", h=7, w=8, c=3), by_tiles("linalg.pooling_nhwc_max")),
    **{name: ORDINARY[name] for name in (
        "reductions: lower triangle", "elements: lower triangle", "elements: transpose in shared memory",
        "chains: difference to the row before", "chains: rows weighted by a broadcast, fused",
        "chains: rows weighted by a broadcast, a launch each",
        "chains: separable convolution", "chains: sum of a reshape", "windows: groups as products",
        "products: a matrix and its transpose, shared memory", "products: product, persistent blocks",
    )},
}  # fmt: skip
FEW = 4
"""Mutants of a program in `make test`."""


@pytest.mark.few(6)
@pytest.mark.parametrize("name", PROGRAMS)
def test_of_which_operand_a_read_is(name: str, tmp_path: Path) -> None:
    payload, lines = PROGRAMS[name]
    (tmp_path / "p.mlir").write_text(payload)
    (tmp_path / "s.weft").write_text(f'payload "p.mlir"\nschedule s() {{\n{lines}}}\n')
    session, done = opened(str(tmp_path / "s.weft"), {})
    made = [(where, mutant, None) for where, mutant in mutants(session, {"operands exchanged": _exchanged, **CHANGES})]
    every = [*made, *copies(session, COPIES | ELEMENTS)]
    random.Random(name).shuffle(every)
    found = expect_equal(session, done, every if SOAK else every[:FEW])
    if SOAK:
        print(f"{name}: of {len(every)} changes {found} are found by both")
