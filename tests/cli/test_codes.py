"""Every code that is used is explained, every code that is explained is used, and stands in its room's range."""

from __future__ import annotations

import re

from places import ROOT

from weft.codes import all_codes

EXPLAINED = r"^(?:(W0\d{3}) .*\n {4}\S| {8}(W0\d{3}): .*\n {12}\S)"


def codes_in(*, explaining: bool) -> dict[str, str]:
    """Codes that stand in the source, with a file each: those that it explains (in a `codes.py`, or below a line of a statement's
    "Errors:"), or those that it raises."""
    found: dict[str, str] = {}
    for path in (ROOT / "weft").rglob("*.py"):
        if path.name == "codes.py" and not explaining:
            continue
        pattern = EXPLAINED if explaining else r"\"(W0\d{3})\""
        codes = [m[m.lastindex or 0] for m in re.finditer(pattern, path.read_text(), re.MULTILINE)]
        assert not explaining or not set(codes) & set(found), f"{path} explains what is explained elsewhere"
        found |= dict.fromkeys(codes, str(path.relative_to(ROOT)))
    return found


def test_every_code_that_is_used_is_explained() -> None:
    explained = all_codes()
    assert {code: where for code, where in codes_in(explaining=False).items() if code not in explained} == {}


def test_every_explanation_is_reachable_and_used() -> None:
    used = codes_in(explaining=False)
    assert set(codes_in(explaining=True)) == set(all_codes())
    assert [code for code in all_codes() if code not in used] == []


def test_explanations_have_a_title_and_a_text() -> None:
    for code, explanation in all_codes().items():
        assert explanation.title and explanation.text, code
        assert not explanation.title.endswith("."), code
