"""Random programs: formatting changes nothing but the looks; random junk: nothing but `WeftError` ever comes out."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from places import ROOT
from sample_signatures import SIGNATURES

from weft.dsl import tree
from weft.dsl.checker import check
from weft.dsl.diagnostics import WeftError, render
from weft.dsl.formatter import format_text
from weft.dsl.highlighter import WeftLexer
from weft.dsl.parameters import bind_parameters
from weft.dsl.parser import parse_items, parse_text

NAMES = st.sampled_from(["gemm", "k", "x", "tile", "block", "bm", "_a", "into", "t1", "map", "lanes"])
SPACES = st.sampled_from(["", " ", "  ", "\t"])


@st.composite
def expressions(draw: st.DrawFn, depth: int = 2) -> str:
    if depth == 0 or draw(st.booleans()):
        return draw(st.sampled_from(["1", "0", "12", "0.5", "bm", "k", "f32", "true", '"a b"', '"\\n"']))
    inner = expressions(depth - 1)
    form = draw(st.integers(0, 5))
    gap = draw(SPACES)
    if form == 0:
        return f"({gap}{draw(inner)}{gap})"
    if form == 1:
        return f"-{gap}{draw(inner)}" if draw(st.booleans()) else f"(not {draw(inner)})"
    if form == 2:
        return f"min({draw(inner)},{gap}{draw(inner)})"
    if form == 3:
        return f"select({draw(inner)},{gap}{draw(inner)}, {draw(inner)})"
    operator = draw(st.sampled_from(["+", "-", "*", "/", "%", " and ", " or "]))
    return f"({draw(inner)}){gap}{operator}{gap}{draw(inner)}".replace("(not", " (not")


@st.composite
def handles(draw: st.DrawFn) -> str:
    return ".".join(draw(st.lists(NAMES, min_size=1, max_size=3)))


@st.composite
def statements(draw: st.DrawFn) -> str:
    h, e = draw(handles()), draw(expressions())
    gap = draw(SPACES)
    sizes = (
        f"[{gap}"
        + f",{gap}".join(draw(st.lists(st.sampled_from(["_", "0", "4", "bm", "-1", "bm/2"]), max_size=3)))
        + "]"
    )
    space = draw(
        st.sampled_from(["blocks(y,x)", "threads( * )", "warps(x:4)", "lanes", "grid(x : ?)", "threads(y:bm/2, x)"])
    )
    orders = [f" order grouped( {e} )", " order  hilbert"]
    dist = draw(st.sampled_from(["", " cyclic", " block", f" block-cyclic( {e} )", f" cyclic vector {e}", *orders]))
    return draw(
        st.sampled_from(
            [
                f"match linalg.matmul in {h}",
                'match? a.b where "x"="y"#1',
                f"tile  {h}{gap}{sizes}",
                f"fuse {h} into {h}",
                f"map {h} to {space}{dist}",
                f"interchange {h} {sizes}",
                f"promote-to-shared {h} pad {e} transpose",
                f"promote-to-shared {h}",
                "insert-barriers",
                "transform {\n  %a = b { c }  // }\n }",
                'run-pass "cse"',
                f"print {h}",
                "print",
                f"stage({h},{gap}bk{gap}={gap}{e})",
                f"unroll {h} by {e}",
                f"unroll {h} by {e} if {e}",
                f"map {h} to {space} cyclic  if {e} vector none",
                f"promote-to-shared {h} transpose if{gap} {e}  pad {e} if not k",
            ]
        )
    )


COMMENTS = st.sampled_from(["", "// a", "  //b }", "//", "// \u00fc \u4e2d {"])


@st.composite
def items(draw: st.DrawFn, depth: int = 2) -> str:
    form = draw(st.integers(0, 10))
    end = draw(COMMENTS) + "\n" + draw(st.sampled_from(["", "\n", "\n\n\n", "   // own line\n", "\t\n"]))
    if form == 0 and depth:
        inner = "".join(draw(st.lists(items(depth - 1), max_size=2)))
        other = draw(
            st.sampled_from(["", " else {\n}", "\n// c\nelse { print }", f" else if k {{{draw(COMMENTS)}\n{inner}}}"])
        )
        return f"if {draw(expressions())} {{{draw(COMMENTS)}\n{inner}}}{other}{end}"
    if form == 1 and depth:
        inner = "".join(draw(st.lists(items(depth - 1), max_size=2)))
        over = draw(st.sampled_from(["[1, 2]", "ops", "t.all"]))
        return f"foreach {draw(NAMES)} in {over} {{\n{inner}}}{end}"
    if form == 7:
        return f"append {draw(handles())}  to all{end}"
    if form == 2:
        return f"require {draw(expressions())}{end}"
    if form == 3:
        return f"let {draw(NAMES)} = {draw(statements())}{end}"
    if form == 4:
        names = draw(st.lists(NAMES, min_size=1, max_size=3))
        return f"let ( {', '.join(names)}) ={draw(st.sampled_from(['', chr(10)]))} {draw(statements())}{end}"
    if form in (5, 6) and depth:
        inner = "".join(draw(st.lists(items(depth - 1), max_size=2)))
        other = "".join(draw(st.lists(items(depth - 1), max_size=1)))
        begin = draw(
            st.sampled_from(["schedule part(h: handle = match? a.b,  n:int=none)", "schedule  part", "alternatives"])
        )
        more = f"\n else {{\n{other}}}" if begin == "alternatives" else ""
        return f"{begin} {{{draw(COMMENTS)}\n{inner}}}{more}{end}"
    return draw(SPACES) + draw(statements()) + end


@st.composite
def programs(draw: st.DrawFn) -> str:
    parameters = draw(
        st.sampled_from(["", "bm: int = 4 in [4,8]", "\n bm:int=1, // c\n k : type = f32,\n", "h: handle"])
    )
    body = "".join(draw(st.lists(items(), max_size=6)))
    payload = draw(st.sampled_from(["", "payload matmul( m=4,type = f32 )\n\n\n", 'payload "a.mlir"//x\n']))
    return f"{draw(COMMENTS)}\n{payload}schedule s({parameters}) {{\n{body}}}"


def shape(value: object) -> object:
    """A tree as nested tuples, without spans and sources."""
    if isinstance(value, tree.Node):
        fields = [getattr(value, name) for name in value.__dataclass_fields__ if name not in ("span", "source", "doc")]
        return (type(value).__name__, *map(shape, fields))
    if isinstance(value, dict):
        return {name: shape(item) for name, item in value.items()}
    return tuple(map(shape, value)) if isinstance(value, tuple) else value


SLOW = settings(
    max_examples=100 if "WEFT_SOAK" in os.environ else 20, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


@SLOW
@given(programs())
def test_formatting_keeps_the_tree_and_the_comments_and_is_idempotent(text: str) -> None:
    formatted = format_text(text, "t")
    assert format_text(formatted, "t") == formatted
    assert shape(parse_text(formatted, "t")) == shape(parse_text(text, "t"))
    assert comments(formatted) == comments(text)
    assert all(line == line.rstrip() for line in formatted.split("\n"))


def comments(text: str) -> list[str]:
    return [line[line.index("//") :].rstrip() for line in text.split("\n") if "//" in line]


def survives(text: str) -> None:
    """Parse, check, format, highlight: a result, or a `WeftError` whose rendering works."""
    assert "".join(value for _, value in WeftLexer(ensurenl=False, stripnl=False).get_tokens(text)) == text.replace(
        "\r\n", "\n"
    ).replace("\r", "\n")
    found = []
    try:
        file = parse_text(text, "t\n\x1b.weft")
        found = check(file, SIGNATURES)
        bind_parameters(file.main, {})
        format_text(text, "t")
    except WeftError as error:
        found = [*found, *error.diagnostics]
    for diagnostic in found:
        plain = render(diagnostic)
        assert "\x1b" not in plain and "\r" not in plain
        assert render(diagnostic, color=True)


@SLOW
@given(programs(), st.data())
def test_a_program_with_a_wound_gives_diagnostics(text: str, data: st.DataObject) -> None:
    """Characters deleted, put in twice, or replaced by others."""
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        end = min(len(text), at + data.draw(st.integers(0, 5)))
        patch = data.draw(
            st.sampled_from(
                ["", "{", "}", "(", ")", "[", "]", '"', "//", "\n", ",", "=", "let ", ".", text[at:end] * 2]
            )
        )
        text = text[:at] + patch + text[end:]
    survives(text)


@SLOW
@given(st.text(max_size=60))
@example("schedule s() {\n  transform {")
@example("schedule s() {\n  require " + "not " * 5000 + "a\n}")
@example("schedule s() {\n" + "if a {" * 3000)
@example("schedule s() {\n" + "if a {} else " * 3000 + "{}\n}")
@example("schedule s() {\n  tile h [" + "1," * 20000 + "]\n}")
@example("schedule s() {\n  print a" + ".b" * 20000 + "\n}")
@example("schedule s() {\n  require \u0663 == 1\n}")
@example("schedule s() {\n  let \u00fc = match a.b\n  print \u00fc\n}")
@example("schedule s() {\n  print\x0c\n  print\u2028print\n}")
def test_junk_gives_diagnostics(text: str) -> None:
    survives(text)


@SLOW
@given(st.lists(st.sampled_from([
    "schedule", "s", "(", ")", "{", "}", "\n", "let", "=", "match", "linalg.matmul", "tile", "[", "]", ",", "_", "1", "h",
    "if", "else", "foreach", "in", "transform", "//", '"a"', "-", "*", "map", "to", "blocks", "x", ":", "?", "require", "not",
    "return", "include", "payload", "vector", ".", "#", "print",
]), max_size=40))  # fmt: skip
def test_word_salad_gives_diagnostics(words: list[str]) -> None:
    survives(" ".join(words))
    survives("schedule s() {\n" + " ".join(words) + "\n}")


@SLOW
@given(st.binary(max_size=200))
def test_binary_junk_as_a_file(data: bytes) -> None:
    from weft.dsl.diagnostics import decode

    try:
        text = decode(data, "t")
    except WeftError:
        return
    survives(text)


def test_mutants_of_the_recipes() -> None:
    """Every recipe without a line, or cut off: a diagnostic, or still a schedule. (In a soak each line, and each place.)"""
    soak = "WEFT_SOAK" in os.environ
    for first, path in enumerate(sorted((ROOT / "weft" / "recipes").glob("*/*.weft"))):
        lines = path.read_text().split("\n")
        for index in range(0 if soak else first % 16, len(lines), 1 if soak else 16):
            survives("\n".join(lines[:index] + lines[index + 1 :]))
        text = path.read_text()
        for end in range(0 if soak else 101 * (first % 7), len(text), 101 if soak else 1001):
            survives(text[:end])


def test_lines_of_a_repl() -> None:
    for text in ["", "\n", "print", "let a = match b.c", "// c", "if a {\n print\n}"]:
        parse_items(text, "<repl>")
