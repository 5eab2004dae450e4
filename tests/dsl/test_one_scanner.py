"""A terminal that matches first is what Lark's scanner of a parser's state finds."""

from __future__ import annotations

from pathlib import Path

import pytest
from lark.lexer import ContextualLexer
from lark.utils import TextSlice
from places import ROOT

from weft.dsl import parser, syntax
from weft.dsl.diagnostics import WeftError
from weft.dsl.syntax import OfState

TEXTS = sorted(ROOT.glob("weft/recipes/**/*.weft"))
HARD = "schedule threads(block: int, let_: int = 1) { let lets = match linalg.matmul\n  tile lets [block, _, 3]\n  map-x }\n§"


def test_each_match_is_that_of_the_state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    whole, seen = OfState.match, 0

    def both(self: OfState, text: TextSlice[str], pos: int) -> tuple[str, str] | None:
        nonlocal seen
        found = whole(self, text, pos)
        seen += 1
        assert found == self.scanner.match(text, pos)
        return found

    monkeypatch.setattr(OfState, "match", both)
    parser._built.cache_clear()
    for path in TEXTS:
        parser.parse_file(path)
    (hard := tmp_path / "hard.weft").write_text(HARD)
    with pytest.raises(WeftError):
        parser.parse_file(hard)
    assert seen > 5000


def test_no_state_has_a_callback() -> None:
    lexer = syntax.load().parser.lexer.lexer
    assert isinstance(lexer, ContextualLexer)
    for state in lexer.lexers.values():
        assert isinstance(state, OfState)
        assert state.scanner is not None and not state.callback
