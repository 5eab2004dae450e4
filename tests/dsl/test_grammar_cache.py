"""The kept parse tables are those of the grammar, and a damaged file of them does no harm."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from lark import Lark

from weft.dsl import syntax
from weft.dsl.syntax import Lines

TEXT = "schedule s() {\n  tile h [1, _]\n}"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "__pycache__" / "weft.lark.tables"
    monkeypatch.setattr(syntax, "tables", lambda: str(path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return path


def spellings(parser: Lark) -> dict[str, str | None]:
    return {terminal.name: syntax._spelling(terminal) for terminal in parser.terminals}


def test_kept_tables_parse_the_same(place: Path) -> None:
    made = syntax.load()
    assert place.exists()
    kept = syntax.load()
    assert kept is not made and spellings(kept) == spellings(made) and "block-cyclic" in spellings(kept).values()
    assert kept.parse(TEXT, start="file") == made.parse(TEXT, start="file")
    assert isinstance(kept.options.postlex, Lines)
    assert next(iter(kept.parse(TEXT, start="file").find_data("handle"))).meta.column == 8
    assert [p.name for p in place.parent.iterdir()] == [place.name]


@pytest.mark.parametrize("damage", [b"", b"x" * 500, None])
def test_damaged_tables_are_made_anew(place: Path, damage: bytes | None) -> None:
    syntax.load()
    good = place.read_bytes()
    place.write_bytes(good[: len(good) // 2] if damage is None else damage)
    assert syntax.load().parse(TEXT, start="file").data == "file"
    assert place.read_bytes()[:64] == good[:64] and len(place.read_bytes()) > 0.9 * len(good)


def test_a_folder_that_takes_no_file_costs_only_time(place: Path) -> None:
    place.parent.parent.joinpath("__pycache__").write_text("in the way")
    assert syntax.load().parse(TEXT, start="file").data == "file"
