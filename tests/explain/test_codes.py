"""Every code that is used has a page, every page is of a code that is used, and the index of the docs is made of them."""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path

import pytest
from pinned import pinned

from weft.dsl import diagnostics
from weft.explain import all_codes, page_of, pages
from weft.interpreter.session.statement import signatures

ROOT = Path(__file__).parents[2]
INDEX = ROOT / "docs" / "diagnostics.md"
RANGES = dict(re.findall(r"^\| W(\d\d)xx \| (.+) \|$", diagnostics.__doc__ or "", re.MULTILINE))


def used() -> dict[str, str]:
    """Codes that are in the source, with a file each."""
    files = ((path, path.read_text()) for path in (ROOT / "weft").rglob("*.py"))
    return {code: str(path.relative_to(ROOT)) for path, text in files for code in re.findall(r"\"(W\d{4})\"", text)}


def test_every_code_that_is_used_has_a_page_and_the_reverse() -> None:
    named = used()
    assert {code: where for code, where in named.items() if code not in all_codes()} == {}
    assert [code for code in all_codes() if code not in named] == []


def test_pages_have_a_title_and_a_text() -> None:
    for code, page in all_codes().items():
        assert page.title and page.text.strip(), code
        assert not page.title.endswith("."), code


def test_no_two_pages_have_the_same_title() -> None:
    titles = [page.title for page in pages()]
    assert sorted(titles) == sorted(set(titles))


def test_a_merged_code_leads_to_the_page_of_the_one_that_is_used() -> None:
    merged = {alias: page.code for page in pages() for alias in page.aliases}
    assert not set(merged) & (set(used()) | set(all_codes()))
    for alias, code in merged.items():
        found = page_of(alias)
        assert found is not None and found.code == code


def test_statements_list_codes_that_have_pages() -> None:
    for keyword, signature in signatures().items():
        listed = re.search(r"^ *Errors: ((?:W\d{4},\s+)*W\d{4})\.$", signature.doc, re.MULTILINE)
        assert listed is not None or "Errors" not in signature.doc, f"{keyword}: `Errors: W0340, W0341.`, codes alone"
        for code in re.findall(r"W\d{4}", listed[1]) if listed else ():
            assert code in all_codes()


def index() -> str:
    """The titles of all pages, a table for each hundred."""
    lines = ["# Diagnostics", "", "One page per code; `weft explain CODE` prints it. This index is made from the pages' titles."]
    for hundred, group in groupby(pages(), lambda page: page.code[1:3]):
        lines += ["", f"## W{hundred}xx: {RANGES[hundred]}", "", "| code | |", "|---|---|"]
        lines += [f"| [{page.code}](../weft/explain/{page.code}.md) | {page.title.replace('|', chr(92) + '|')} |" for page in group]
    return "\n".join(lines) + "\n"


def test_the_index_of_the_docs_lists_all_pages(update: bool) -> None:
    pinned(INDEX, index(), update)


@pytest.mark.parametrize("code", ["w0405", "405", "W0405"])
def test_a_page_is_found_by_its_number(code: str) -> None:
    found = page_of(code)
    assert found is not None and str(found).startswith("W0405: ")
    assert page_of("W9999") is None and page_of("x") is None
