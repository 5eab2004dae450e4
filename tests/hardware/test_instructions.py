"""The records of instructions: every op of a GPU's dialect has one or is unknown, and what is unknown is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.memory.test_table import OPS, op_of
from tests.pinned import pinned
from weft.interpreter.hardware import queries
from weft.interpreter.hardware.instructions import DIALECTS, INSTRUCTIONS, Instruction, known
from weft.interpreter.memory import effects, table

UNKNOWN = Path(__file__).parent / "unknown_ops.txt"


def test_every_op_of_a_gpu_has_a_record_or_is_unknown(update: bool) -> None:
    """A new release of the bindings with a new op fails here: give it a record, or `--update` the list."""
    names = [name for dialect in DIALECTS for name in sorted(OPS[dialect])]
    pinned(UNKNOWN, "".join(f"{name}\n" for name in names if name not in INSTRUCTIONS), update)
    assert not [name for name in OPS["nvgpu"] if name not in INSTRUCTIONS]


def test_records_are_of_ops_that_there_are() -> None:
    every = {name for names in OPS.values() for name in names}
    assert sorted(INSTRUCTIONS.keys() - every) == []
    assert all(row.op == op for op, row in INSTRUCTIONS.items())


def test_no_other_table_knows_what_has_no_record() -> None:
    """So that an unknown op may do anything: neither the table of effects nor a pure dialect lets it through."""
    unknown = set(UNKNOWN.read_text().split())
    assert not unknown & {*table.RULES, *table.NO_ACCESS, *table.CONTROL, *table.CALLS, *table.FREEING}
    assert not table.PURE_DIALECTS & {*DIALECTS}
    op = op_of('func.func @f() { nvvm.breakpoint return }', "nvvm.breakpoint")
    assert effects.accesses(op) is None and not effects.only_computes(op) and not effects.is_pure(op)


@pytest.mark.parametrize("op", sorted(INSTRUCTIONS))
def test_a_record_is_consistent(op: str) -> None:
    row = INSTRUCTIONS[op]
    assert not row.only or row.since, "no later chip has it: than which one?"
    assert row.agent or row.orders not in ("commit", "drain"), "groups of what?"
    assert row.orders or row.agent != "store" or row.accesses, "asynchronous work without accesses"
    assert op not in queries.YIELDING or row.does
    if row.orders and row.agent != "copy":
        assert op in queries.SYNCHRONIZING
    if row.orders or row.takes != "thread":
        assert op in table.IMPURE


def test_the_sets_tell_instructions_apart() -> None:
    """A set that were empty, or had all of them, would let a reader through that asks for it."""
    sets = {name: value for name, value in vars(queries).items() if name.isupper() and isinstance(value, frozenset | dict)}
    assert len(sets) > 12
    for name, value in sets.items():
        assert name == "INSTRUCTIONS" or 0 < len(value) < len(INSTRUCTIONS), name


def test_an_op_has_one_record() -> None:
    with pytest.raises(ValueError, match="twice"):
        known(Instruction("nvgpu.mma.sync"))


def rows_of_the_form() -> dict[str, list[str]]:
    """The rows of the normal form's table, by dialect: ops that do one thing are in one row."""
    found: dict[str, dict[str, list[str]]] = {}
    for op, row in sorted(INSTRUCTIONS.items(), key=lambda item: item[1].since):
        dialect, _, rest = op.partition(".")
        if row.does:
            found.setdefault(dialect, {}).setdefault(row.does, []).append(rest)
    return {dialect: [f"{', '.join(ops)} | {does} |" for does, ops in rows.items()] for dialect, rows in found.items()}


def test_the_page_has_the_records() -> None:
    """A row that differs is printed as it should be."""
    page = (Path(__file__).parents[2] / "docs" / "house.md").read_text()
    table = [line.split(" | ", 1)[-1] for line in page.split("## The normal form")[1].split("\n## ")[0].split("\n")]
    rows = [row for rows in rows_of_the_form().values() for row in rows]
    assert [row for row in rows if row not in table] == []
