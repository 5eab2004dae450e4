"""Several syntax errors of one text: each is reported once, in its place, and what only follows from one is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from weft import cli
from weft.dsl.diagnostics import WeftError
from weft.dsl.parser import parse_file, parse_text
from weft.recipes import schedules


def errors(text: str) -> list[str]:
    """Line, code and message of each, as they are shown."""
    try:
        parse_text(text, "t.weft")
    except WeftError as error:
        return [f"{d.span.line if d.span else 0} {d.code} {d.message}" for d in error.diagnostics]
    return []


TEXTS = {
    "two of one schedule": (
        "schedule t() {\n  foo g\n  let g = match linalg.matmul\n  print g g\n}\n",
        ["2 W0102 `foo` is not a statement", "4 W0101 expected a new line, found `g`"],
    ),
    "three in nested blocks": (
        "schedule t() {\n  if a {\n    let (a b) = tile g [16]\n    if b = 3 {\n      map a too blocks(x)\n    }\n  }\n}\n",
        [
            "3 W0101 expected `)` or `,`, found `b`",
            "4 W0101 expected `{`, found `=`",
            "5 W0101 expected `like` or `to`, found `too`",
        ],
    ),
    "of two schedules": (
        "schedule t(bm int) {\n  print g\n}\nschedule u(\n  a: handle,\n  b handle,\n  c: handle\n) {\n  print g g\n}\n",
        [
            "1 W0101 expected `:`, found `int`",
            "6 W0101 expected `:`, found `handle`",
            "9 W0101 expected a new line, found `g`",
        ],
    ),
    "in blocks of one line": (
        "schedule t() {\n  if a { print g g }\n  schedule u() { return }\n  foreach op in [match linalg.add, a] { print op }\n}\n",
        [
            "2 W0101 expected a new line, found `g`",
            "3 W0101 expected `(` or a name, found `}`",
            "4 W0101 expected `,` or `]`, found `linalg`",
        ],
    ),
    "an unclosed bracket": (
        "schedule t() {\n  tile g [16, 16\n  map a to blocks(x)\n  print g g\n}\n",
        ["3 W0101 expected `,` or `]`, found `map`", "4 W0101 expected a new line, found `g`"],
    ),
    "an unclosed brace": (
        "schedule t() {\n  if a {\n  print g g\n\nschedule u() {\n  print h h\n}\n",
        [
            "1 W0105 this `{` is never closed",
            "3 W0101 expected a new line, found `g`",
            "6 W0101 expected a new line, found `h`",
        ],
    ),
    "an unclosed brace at the end": (
        "schedule t() {\n  print g g\n  if a {\n",
        ["2 W0101 expected a new line, found `g`", "3 W0105 this `{` is never closed"],
    ),
    "a brace too many": (
        "schedule t() {\n  print g g\n  }\n  print a\n  print b\n}\nschedule u() {\n  print h h\n}\n",
        ["2 W0101 expected a new line, found `g`", "8 W0101 expected a new line, found `h`"],
    ),
    "an unclosed string": (
        'schedule t() {\n  run-pass "cse\n  print g g\n  let a = "x\\q"\n}\n',
        ["2 W0103 this text has no end", "3 W0101 expected a new line, found `g`", "4 W0103 unknown escape in a text"],
    ),
    "an unclosed transform": (
        "schedule t() {\n  print g g\n  transform {\n    %0 = foo {\n  print h h\n}\n",
        ["2 W0101 expected a new line, found `g`", "3 W0105 this `{` is never closed"],
    ),
    "a misspelled block": (
        "schedule t() {\n  forech a in b {\n    print a\n  }\n  print g g\n}\n",
        ["2 W0102 `forech` is not a statement", "5 W0101 expected a new line, found `g`"],
    ),
    "a header without its brace": (
        "schedule t() {\n  if a ==\n    print a\n  } else {\n    print b\n  }\n  print g g\n}\n",
        ["3 W0101 expected `{`, found `a`", "7 W0101 expected a new line, found `g`"],
    ),
    "a call of several lines": (
        "schedule t() {\n  u(a,\n    b c,\n    d)\n  print g g\n}\n",
        ["3 W0101 expected `)`, `,` or `=`, found `c`", "5 W0101 expected a new line, found `g`"],
    ),
    "what the tree finds": (
        "payload matmul(m = 4)\npayload matmul(m = 4)\nschedule t() {\n  assume A.1 % 4 == 1\n  print g g\n"
        "  tile g [99999999999999999999]\n  map a to blocks(x) order hilbert order hilbert\n}\n",
        [
            "2 W0108 a file has one payload; line 1 names one already",
            "4 W0109 the only assumption on a size is that a number divides it",
            "5 W0101 expected a new line, found `g`",
            "6 W0104 this integer does not fit in 64 bits",
            "7 W0101 expected `vector` or a new line, found `order`",
        ],
    ),
    "outside of schedules": (
        "schedul t() {\n  print a\n}\npaylod matmul\nschedule u() {\n  print g g\n}\n",
        [
            "1 W0101 expected `include`, `payload` or `schedule`, found `schedul`",
            "6 W0101 expected a new line, found `g`",
        ],
    ),
}


@pytest.mark.parametrize("case", TEXTS)
def test_each_is_reported_once(case: str) -> None:
    text, wanted = TEXTS[case]
    assert errors(text) == wanted


def test_at_most_twenty_are_reported() -> None:
    lines = "".join(f"  print {number} {number}\n" for number in range(30))
    found = errors(f"schedule t() {{\n{lines}}}\n")
    assert [int(each.split()[0]) for each in found] == list(range(2, 22))


def test_check_lists_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, wanted = TEXTS["three in nested blocks"]
    (tmp_path / "t.weft").write_text(text)
    assert cli.run(["check", str(tmp_path / "t.weft"), "--json"]) == 1
    listed = json.loads(capsys.readouterr().out)
    assert not listed["ok"] and [each["message"] for each in listed["diagnostics"]] == [each[8:] for each in wanted]


def test_one_broken_line_is_one_error() -> None:
    """Each line of a recipe in turn with a sign in it that cannot be there: one error, in that line."""
    text = parse_file(schedules()["shared"]).source.text
    lines = text.splitlines(keepends=True)
    for number, line in enumerate(lines):
        code = line.partition("//")[0].rstrip()
        if code.strip() and not code.rstrip().endswith(("{", "(", ",")) and code.strip() not in ("}", ") {"):
            broken = "".join([*lines[:number], code, " ^\n", *lines[number + 1 :]])
            assert len(errors(broken)) == 1 and errors(broken)[0].startswith(f"{number + 1} "), errors(broken)
