"""Every statement has an example that runs, a golden of the IR after it, an error snapshot and a page in the reference.

`examples/KEYWORD.weft` holds the statement line of its docstring; the IR before and after that line is matched against the
docstring's `before:` and `after:` (`…` stands for anything), and the IR after it is pinned in `golden/KEYWORD.mlir`.
`errors/KEYWORD.weft` holds schedules that it refuses, separated by `// ----`; `errors/KEYWORD.txt` pins what is said.
`pytest --update` writes goldens and snapshots anew.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from executors import alone
from pinned import pinned
from places import ROOT
from scheduled import diagnostics_of, session_of

from weft.interpreter.session.statement import registry, signatures

HERE = Path(__file__).parent
KEYWORDS = list(registry())


def stem(keyword: str) -> str:
    """A file name for a keyword: `match?` → `match-optional`, `match*` → `match-all`."""
    return keyword.replace("?", "-optional").replace("*", "-all")


def example(keyword: str) -> tuple[str, str, str]:
    """The statement line, the `before:` and the `after:` of a statement's docstring."""
    doc = signatures()[keyword].doc
    found = re.search(r"Example:\n(?P<line>.*?)\n\s*before:(?P<before>.*?)\n\s*after:(?P<after>.*)", doc, re.S)
    assert found, f"{keyword}: no Example with a statement, before: and after: in the docstring"
    return " ".join(found["line"].split()), " ".join(found["before"].split()), " ".join(found["after"].split())


def holds(pattern: str, text: str) -> bool:
    """Whether the parts of `pattern`, between `…` and `;`, stand in `text` in this order; `%a` is any value."""
    flat, at = " ".join(text.split()), 0
    for part in (p.strip() for p in re.split("…|;", pattern)):
        values = re.sub("%[a-zA-Z_0-9]+", lambda _: "%[a-zA-Z_0-9]+", re.escape(part))
        found = re.compile(values).search(flat, at)
        if found is None:
            return False
        at = found.end()
    return True


@pytest.mark.parametrize("keyword", KEYWORDS)
def test_example(keyword: str, update: bool) -> None:
    line, before, after = example(keyword)
    path = HERE / "examples" / f"{stem(keyword)}.weft"
    assert path.exists(), f"{path} is missing: a schedule with the line `{line}`"
    session = session_of(path)
    previous = session.ir
    while (step := session.step()) is not None:
        if step.text == line:
            break
        previous = step.ir
    assert step is not None, f"examples/{stem(keyword)}.weft does not hold the docstring's line `{line}`"
    shown = step.ir + "\n" + "\n".join(step.remarks)
    for word, pattern, text in (("before:", before, previous), ("after:", after, shown)):
        assert holds(pattern, text), (
            f"{word} {pattern}\nis not in the module {word[:-1]} `{line}`.\n"
            f"If the change is meant, correct `{word}` in the docstring of `{keyword}` in `weft/interpreter/statements/`"
            f"{alone()}\n{text}"
        )
    pinned(HERE / "golden" / f"{stem(keyword)}.mlir", step.ir, update)


@pytest.mark.parametrize("keyword", KEYWORDS)
def test_errors(keyword: str, update: bool) -> None:
    path = HERE / "errors" / f"{stem(keyword)}.weft"
    assert path.exists(), f"{path} is missing: schedules that `{keyword}` refuses, with `// ----` between them"
    cases = path.read_text().split("// ----\n")
    shown = []
    for case in cases:
        said = diagnostics_of(case, HERE / "examples")
        assert said, f"{path.name}: a case is accepted; correct it, or the statement that should refuse it{alone()}\n{case}"
        assert keyword in case, f"{path.name}: a case does not use {keyword}"
        shown.append(said)
    pinned(path.with_suffix(".txt"), "\n\n".join(shown) + "\n", update)


@pytest.mark.parametrize("keyword", KEYWORDS)
def test_documented(keyword: str) -> None:
    page = (ROOT / "docs" / "statements.md").read_text()
    assert f"## `{keyword}`" in page, "run `pytest --update tests/docs/test_statement_reference.py`"
    doc = signatures()[keyword].doc
    for field in signatures()[keyword].fields:
        if field.kind != "handles":
            assert re.search(rf"\b{field.name}\b", doc), f"{keyword}: field {field.name} is not in the docstring"
