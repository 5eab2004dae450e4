"""The kept parse tables are those of the grammar, and a damaged file of them does no harm."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from weft.dsl import grammar_cache
from weft.dsl.lines import Lines

TEXT = "schedule s() {\n  tile h [1, _]\n}"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "__pycache__" / "weft.lark.tables"
    monkeypatch.setattr(grammar_cache, "_place", lambda: path)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return path


def test_kept_tables_parse_the_same(place: Path) -> None:
    made, spellings = grammar_cache.load()
    assert place.exists()
    kept, again = grammar_cache.load()
    assert kept is not made and again == spellings
    assert kept.parse(TEXT, start="file") == made.parse(TEXT, start="file")
    assert isinstance(kept.options.postlex, Lines)
    assert next(iter(kept.parse(TEXT, start="file").find_data("handle"))).meta.column == 8
    assert [p.name for p in place.parent.iterdir()] == [place.name]


@pytest.mark.parametrize("damage", [b"", b"x" * 500, None])
def test_damaged_tables_are_made_anew(place: Path, damage: bytes | None) -> None:
    grammar_cache.load()
    good = place.read_bytes()
    place.write_bytes(good[:-1] + b"?" if damage is None else damage)
    parser, _ = grammar_cache.load()
    assert parser.parse(TEXT, start="file").data == "file"
    assert place.read_bytes()[:32] == good[:32] and len(place.read_bytes()) > 1000


def test_tables_of_another_grammar_are_not_read(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grammar_cache.load()
    monkeypatch.setattr(grammar_cache, "__version__", "0")
    assert grammar_cache._read(place, grammar_cache._key("other")) is None


def test_a_folder_that_takes_no_file_costs_only_time(place: Path) -> None:
    place.parent.parent.joinpath("__pycache__").write_text("in the way")
    parser, _ = grammar_cache.load()
    assert parser.parse(TEXT, start="file").data == "file"
