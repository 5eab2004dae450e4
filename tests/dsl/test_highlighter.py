"""Colors of a schedule."""

from __future__ import annotations

from pathlib import Path

import pytest
from pygments.token import Comment, Keyword, Name, Number, String

from weft.dsl.highlighter import WeftLexer
from weft.dsl.parser import parse_file
from weft.dsl.syntax import language
from weft.dsl.tree import Let, Statement

RECIPES = sorted((Path(__file__).parents[2] / "recipes").glob("*/*.weft"))


@pytest.mark.parametrize("keyword", sorted(language().statements))
def test_every_statement_is_colored_as_one(keyword: str) -> None:
    """Also those that are added to the grammar tomorrow."""
    for text in (f"{keyword} a.b", f"  {keyword} h", f"let x = {keyword} h", f"if a {{ {keyword} h }}"):
        assert (Name.Builtin, keyword) in list(WeftLexer().get_tokens(text))


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("schedule my-s(a: int = 1)", Name.Class, "my-s"),
        ("let a = match? linalg.fill // b", Name.Entity, "linalg.fill"),
        ("let a = b c // d", Comment.Single, "// d"),
        ("foreach x in [1]", Keyword, "foreach"),
        ("s(a: type = f32)", Keyword.Type, "f32"),
        ("map a to blocks(y, x)", Keyword.Pseudo, "blocks"),
        ("require 0.5 < 1", Number.Float, "0.5"),
        ('run-pass "cse"', String.Double, '"cse"'),
        ("stage(op)", Name.Function, "stage"),
        ("fuse init into tiles", Name, "tiles"),
    ],
)
def test_colors(text: str, kind: object, value: str) -> None:
    assert (kind, value) in list(WeftLexer().get_tokens(text))


@pytest.mark.parametrize("path", RECIPES, ids=lambda p: p.stem)
def test_statements_of_recipes(path: Path) -> None:
    body = [item for schedule in parse_file(path).schedules for item in schedule.body]
    items = [item.value if isinstance(item, Let) else item for item in body]
    wanted = [item.keyword for item in items if isinstance(item, Statement)]
    tokens = list(WeftLexer().get_tokens(path.read_text()))
    assert [value for kind, value in tokens if kind is Name.Builtin] == wanted
    assert "".join(value for _, value in tokens).strip() == path.read_text().strip()
