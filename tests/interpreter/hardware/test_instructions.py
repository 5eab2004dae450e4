"""The records of instructions: every op of a GPU's dialect has one or is unknown, and what is unknown is refused."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from string import Formatter

import pytest
from pinned import pinned
from places import ROOT
from test_table import OPS, op_of

from weft.interpreter.hardware import queries
from weft.interpreter.hardware.ampere import fragments
from weft.interpreter.hardware.ampere.fragments import NUMBERS
from weft.interpreter.hardware.hopper import warpgroups
from weft.interpreter.hardware.instructions import DIALECTS, INSTRUCTIONS, Instruction, known
from weft.interpreter.memory import effects, table
from weft.interpreter.statements.mma import Mma
from weft.runtime.cuda.prelude import PIECES

PAGE = ROOT / "docs" / "house.md"
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


def test_a_text_is_a_call_of_a_device_function() -> None:
    """Of numbers and operands that the op has."""
    for op, text in queries.TEXTS.items():
        assert text.partition("(")[0].partition("<")[0].partition("{")[0] in PIECES, op
        names = {name for _, name, _, _ in Formatter().parse(text) if name} - {"barrier"}
        made = vars(importlib.import_module(f"torch_mlir.dialects._{op.partition('.')[0]}_ops_gen")).values()
        has = set(dir(next(each for each in made if getattr(each, "OPERATION_NAME", "") == op)))
        assert {name.removeprefix("_") for name in names} <= has, (op, names - has)


# ---- the tables of docs/house.md, which are printed from the records --------------------------------------------------------


def rows_of_the_form() -> dict[str, dict[str, str]]:
    """The rows of the normal form's table, by dialect and by what ops do: those that do one thing are in one row."""
    found: dict[str, dict[str, list[str]]] = {}
    for op, row in sorted(INSTRUCTIONS.items(), key=lambda item: item[1].since):
        dialect, _, rest = op.partition(".")
        if row.does:
            found.setdefault(dialect, {}).setdefault(row.does, []).append(rest)
    return {dialect: {does: ", ".join(ops) for does, ops in rows.items()} for dialect, rows in found.items()}


def rows_of_products() -> list[str]:
    """Of the table of products."""
    rows: dict[tuple[str, str, str], list[str]] = {}
    for each in fragments.PRODUCTS:
        rows.setdefault(("`mma.sync`", each.kind, each.sum), []).append(f"[{each.m}, {each.n}, {each.k}]")
    for kind, taken in warpgroups.OPERANDS.items():
        columns = f"n: a multiple of {taken.columns}{''.join(f', {n}' for n in taken.fewer)}, up to {warpgroups.MOST_COLUMNS}"
        turned = "row by row or column by column" if taken.transposable else "column by column"
        shape = f"[{warpgroups.ROWS}, n, {taken.k}], {columns}; B {turned}"
        rows.update({("`wgmma`", kind, total): [shape] for total in taken.sums})
    return [f"| {name} | {kind} | {total} | {', '.join(shapes)} |" for (name, kind, total), shapes in rows.items()]


def printed(page: str) -> str:
    """The page with the rows that its tables should have: what a row says that no record has is left alone."""
    head, form, products, rest = re.split(r"(?=^## The normal form)|(?=^### Products)|(?=^## What holds)", page, flags=re.MULTILINE)
    wanted, lines, dialect = rows_of_the_form(), list[str](), ""
    for line in form.split("\n"):
        cells = line.split(" | ", 2)
        if len(cells) == 3 or (line.startswith("| | ") and len(cells) == 2):
            dialect = cells[0].strip("| `") or dialect
        lead, _, does = line.removesuffix(" |").rpartition(" | ")
        if dialect in wanted and (ops := wanted[dialect].pop(does, None)) is not None:
            line = f"| `{dialect}` | {ops} | {does} |" if not lead.startswith("| |") else f"| | {ops} | {does} |"
        elif dialect in wanted and {f"{dialect}.{op}" for op in lead.rpartition("| ")[2].split(", ")} <= INSTRUCTIONS.keys():
            continue
        lines.append(line)
    missing = [f"| `{dialect}` | {ops} | {does} |" for dialect, rows in wanted.items() for does, ops in rows.items()]
    last = max(number for number, line in enumerate(lines) if line.startswith("| "))
    lines[last + 1 : last + 1] = missing
    kept = [line for line in products.split("\n") if not re.match(r"\| `(mma.sync|wgmma)`", line)]
    at = next(number for number, line in enumerate(kept) if line.startswith("|---")) + 1
    kept[at:at] = rows_of_products()
    return head + "\n".join(lines) + "\n".join(kept) + rest


def test_the_page_has_the_records(update: bool) -> None:
    pinned(PAGE, printed(PAGE.read_text()), update)


def test_a_record_that_the_page_has_otherwise_is_found() -> None:
    page = PAGE.read_text()
    for wrong in ("ldmatrix, ", "| `wgmma` | i8", "cluster.arrive, ", "a thread's copies"):
        assert wrong in page and printed(page.replace(wrong, "", 1)) != page.replace(wrong, "", 1)
    assert printed(page.replace("| `nvgpu` | ldmatrix, mma.sync | tensor", "| `nvgpu` | ldmatrix | tensor")) == page


def test_the_statement_says_what_the_records_have() -> None:
    for kind, taken in warpgroups.OPERANDS.items():
        assert f"[{warpgroups.ROWS}, n, {taken.k}]" in str(Mma.__doc__) and kind in str(Mma.__doc__), kind
    for each in fragments.PRODUCTS:
        assert each.kind in str(Mma.__doc__) and NUMBERS[each.kind].each == each.each


def test_sums_are_as_wide_as_the_operands_of_a_row() -> None:
    """A row of an operand of an instruction of warp groups has 32 bytes."""
    for kind, taken in warpgroups.OPERANDS.items():
        assert taken.k * NUMBERS[kind].bits == 8 * warpgroups.SUM_BYTES
    found = [str(product) for product in warpgroups.every_product()]
    assert len(found) == len(set(found)) == 32 * 7 + 18
