"""Colors of a schedule."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from places import ROOT
from pygments.token import Comment, Keyword, Name, Number, Operator, String

from weft.dsl.highlighter import WeftLexer
from weft.dsl.parser import parse_file
from weft.dsl.syntax import language
from weft.dsl.tree import Node, StatementNode

RECIPES = sorted((ROOT / "weft" / "recipes").glob("*/*.weft"))


@pytest.mark.parametrize("keyword", sorted(language().statements))
def test_every_statement_is_colored_as_one(keyword: str) -> None:
    """Also those that are added to the grammar tomorrow."""
    for text in (f"{keyword} a.b", f"  {keyword} h", f"let x = {keyword} h", f"if a {{ {keyword} h }}"):
        assert (Name.Builtin, keyword) in list(WeftLexer().get_tokens(text))


def words_of_statements() -> set[str]:
    """The words that stand inside statements, as the grammar has them."""
    made, seen, words = language(), {"statement"}, set[str]()
    todo = list(seen)
    while todo:
        origin = todo.pop()
        for rule in made.parser.rules:
            if rule.origin.name != origin:
                continue
            for symbol in rule.expansion:
                if symbol.is_term:
                    words.add(made.spellings.get(symbol.name, ""))
                elif symbol.name not in seen:
                    seen.add(symbol.name)
                    todo.append(symbol.name)
    return {word for word in words - set(made.statements) if re.fullmatch(r"[a-z][a-z-]+", word)}


@pytest.mark.parametrize("word", sorted(words_of_statements()))
def test_every_word_of_a_statement_is_colored(word: str) -> None:
    """A word that a statement brings along stands in `_OPTIONS` of `dsl/highlighter.py`."""
    kinds = {kind for kind, value in WeftLexer().get_tokens(f"launch tiles {word} [4]") if value == word}
    assert kinds and kinds <= {Keyword, Keyword.Pseudo, Keyword.Constant, Operator.Word}, kinds


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


def statements(node: object) -> Iterator[StatementNode]:
    """The statements in a part of a tree, in the order of the text; those of defaults and nested schedules, too."""
    if isinstance(node, StatementNode):
        yield node
    parts = vars(node).values() if isinstance(node, Node) else node if isinstance(node, tuple) else ()
    for part in parts:
        yield from statements(part)


@pytest.mark.parametrize("path", RECIPES, ids=lambda p: p.stem)
def test_statements_of_recipes(path: Path) -> None:
    own = [
        schedule for schedule in parse_file(path).schedules if schedule.span.source.name == str(path)
    ]  # none of an `include`
    found = sorted(statements(tuple(own)), key=lambda node: (node.span.line, node.span.column))
    wanted = [node.keyword for node in found]
    tokens = list(WeftLexer().get_tokens(path.read_text()))
    assert [value for kind, value in tokens if kind is Name.Builtin] == wanted
    assert "".join(value for _, value in tokens).strip() == path.read_text().strip()
