"""What is said about wrong schedules, word for word (`pytest --snapshot-update` writes the snapshots anew)."""

from __future__ import annotations

import pytest
from sample_signatures import SIGNATURES
from syrupy.assertion import SnapshotAssertion

from weft.dsl.checker import check
from weft.dsl.diagnostics import WeftError, render_all
from weft.dsl.parser import parse_text


def said_about(text: str) -> str:
    try:
        return render_all(check(parse_text(text, "t.weft"), SIGNATURES))
    except WeftError as error:
        return render_all(error.diagnostics)


def body(*lines: str, parameters: str = "") -> str:
    return f"schedule t({parameters}) {{\n" + "".join(f"  {line}\n" for line in lines) + "}\n"


GEMM = "let gemm = match linalg.matmul"
INIT = "let init = match linalg.fill"
TILE = "let (tiles, inner) = tile gemm [4, 4]"
STAGE = "schedule stage(step: handle, bk: int = 8 in [4, 8]) {\n  let (l, o) = tile step [bk]\n  return (l, o)\n}\n"

SYNTAX = {
    "unclosed list": body(GEMM, "tile gemm [4, 4", "launch gemm"),
    "unclosed schedule": f"schedule t() {{\n  {GEMM}\n",
    "unclosed call": body("stage(a,") + "// end\n",
    "too many braces": "schedule t() {\n}\n}\n",
    "missing name": body("tile"),
    "missing sizes": body("tile gemm"),
    "double comma": body("tile gemm [4,, 4]"),
    "misspelled statement": body("tyle gemm [4]"),
    "misspelled hyphenated statement": body("promote-shared gemm.lhs"),
    "nothing like a statement": body("frobnicate"),
    "let forgotten": body("gemm = match linalg.matmul"),
    "parentheses forgotten": body("let a, b = tile gemm [4, 4]"),
    "let of a word": body("let a = tille gemm [4]"),
    "let of nothing": body("let a ="),
    "let of a value that goes on": body("let a = 3 4"),
    "let of a value with an operator too many": body("let a = b + * 2"),
    "let of several values": body("let (a, b) = 3"),
    "two statements on a line": body(f"{GEMM} tile gemm [4]"),
    "semicolon": body("bufferize; insert-barriers"),
    "misspelled space": body("map a to bloks(x)"),
    "misspelled distribution": body("map a to blocks(x) cyclick"),
    "wrong axis": body("map a to blocks(w)"),
    "axes forgotten": body("map a to blocks"),
    "block-cyclic without a chunk": body("map a to blocks(x) block-cyclic"),
    "option of another statement": body("fuse a into b vector 4"),
    "option twice": body("promote-to-shared a.lhs pad 1 transpose pad 2"),
    "strange character": body("let gemm = match § linalg.matmul"),
    "control character": body("tile gemm \x1b[31m"),
    "unclosed text": body('require 1 == 1, "oh'),
    "unknown escape": body(r'run-pass "a\q"'),
    "single quotes": body("run-pass 'cse'"),
    "bad number": body("tile gemm [4x4]"),
    "huge number": body("tile gemm [99999999999999999999]"),
    "C's and": body("require 1 == 1 && 2 == 2"),
    "assignment in a condition": body("require bm = 4"),
    "chained comparison": body("require 1 < 2 < 3"),
    "dangling operator": body("require 1 +"),
    "space without its end": body("map a to blocks(x", "bufferize"),
    "statement called": body(GEMM, "tile(gemm)"),
    "unclosed transform": body("transform { if {"),
    "statement outside": f"{GEMM}\n" + body("bufferize"),
    "schedule without a name": "schedule {\n}\n",
    "parameter without a type": body("bufferize", parameters="bm = 4"),
    "unknown parameter type": body("bufferize", parameters="bm: integer = 4"),
    "two payloads": "payload a\npayload b\n" + body("bufferize"),
    "return of a value": body("return 3"),
    "deep nesting": body("require " + "(" * 60 + "1" + ")" * 60 + " == 1"),
    "long expression": body("require " + " + ".join(["1"] * 400) + " == 400"),
    "empty": "",
    "only a payload": "payload matmul\n",
}

CHECKS = {
    "unknown handle": body(GEMM, "launch gem"),
    "no handle at all": body("launch tiles"),
    "consumed handle": body(GEMM, TILE, "tile gemm [2, 2]"),
    "consumed, result not named": body(GEMM, "tile gemm [4]", "print gemm"),
    "consumed, one name": body(GEMM, "let t = tile gemm [4]", "print gemm"),
    "consumed part": body(GEMM, "let t = tile gemm [4]", "tile t.op [2]", "print t.op"),
    "consumed in one branch": body(GEMM, "if a {", "  tile gemm [4]", "}", "print gemm", parameters="a: bool = true"),
    "consumed in both branches": body(
        GEMM, "if a {", "  tile gemm [4]", "} else {", "  tile gemm [2]", "}", "print gemm", parameters="a: bool = true"
    ),
    "consumed in a loop": body(GEMM, "foreach n in [1, 2] {", "  tile gemm [n]", "}"),
    "consumed by a call": STAGE + body(GEMM, "let (a, b) = stage(gemm)", "print gemm"),
    "consumed in raw text": body(GEMM, TILE, "transform { transform.print %gemm : !transform.any_op }"),
    "all matches consumed": body("let ops = match* a.b", "foreach op in ops { tile op [1] }", "foreach op in ops { print op }"),
    "bundle as a handle": body(GEMM, "let t = tile gemm [4]", "launch t"),
    "matches as a handle": body("let all = match* linalg.add", "let t = tile all [4]"),
    "field of a single handle": body(GEMM, "tile gemm.op [4]"),
    "operand without a name": body(GEMM, "promote-to-shared gemm"),
    "no such result": body(GEMM, "let (b, c) = promote-to-shared gemm.lhs", "let t = stage(gemm)", "print t.x")
    + "schedule stage(s: handle) {\n  let (a, b) = tile s [4]\n  return (a, b)\n}\n" + body("bufferize").replace(" t(", " u("),
    "value as a handle": body("launch bm", parameters="bm: int = 4"),
    "handle as a value": body(GEMM, "let (a, b) = tile gemm [gemm]"),
    "handle in a condition": body(GEMM, "if not gemm { bufferize }"),
    "unknown value": body(GEMM, "tile gemm [bk, 4]", parameters="bm: int = 4"),
    "too few names": body(GEMM, "let (a) = tile gemm [4]"),
    "too many names": body(GEMM, "let (a, b, c) = promote-to-shared gemm.lhs"),
    "let of nothing": body("let a = bufferize"),
    "name of a parameter": body("let bm = match linalg.matmul", parameters="bm: int = 4"),
    "name twice": body("let a = match linalg.matmul", "let a = match linalg.fill"),
    "reserved name": body("let true = match linalg.matmul"),
    "negative tile size": body(GEMM, "tile gemm [-4, 4]"),
    "float tile size": body(GEMM, "tile gemm [0.5]"),
    "type as a tile size": body(GEMM, "tile gemm [t]", parameters="t: type = f32"),
    "skip in a permutation": body(GEMM, "interchange gemm [_, 1]"),
    "chunk of zero": body(GEMM, TILE, "map tiles to blocks(x) block-cyclic(0)"),
    "count of zero": body(GEMM, TILE, "map tiles to blocks(x: 0)"),
    "vector of zero": body(GEMM, TILE, "map tiles to blocks(x) vector 0"),
    "axis twice": body(GEMM, TILE, "map tiles to blocks(x, x)"),
    "inexact division": body(GEMM, "tile gemm [7 / 2]"),
    "division by zero": body("require bm % 0 == 1", parameters="bm: int = 4"),
    "condition of a number": body("if bm { bufferize }", parameters="bm: int = 4"),
    "comparison of a type with a number": body("require t == 4", parameters="t: type = f32"),
    "unknown function": body("require floor(1) == 1"),
    "what may be selected": body("require select(bm == 1, bn, -f32) == 2", parameters="bm: int"),
    "condition of a select": body("require select(bm, 1, 2) == 2", parameters="bm: int"),
    "operands of a function": body(GEMM, "let x = select(1 == 1, gemm.lhs, 2)", "require min(1, gemm.rhs) == 1"),
    "wrong number of arguments": body("require ceildiv(1) == 1"),
    "statement of a later version": body(GEMM, "pipeline gemm stages 2"),
    "option of a later version": body(GEMM, "promote-to-shared gemm.lhs vector 4"),
    "unknown schedule": STAGE + body(GEMM, "stge(gemm)"),
    "operator that takes the next line": body("require 1 +", "bufferize"),
    "unknown argument": STAGE + body(GEMM, "stage(gemm, bkk = 8)"),
    "argument twice": STAGE + body(GEMM, "stage(gemm, step = gemm)"),
    "missing argument": STAGE + body("stage(bk = 8)"),
    "too many arguments": STAGE + body(GEMM, "stage(gemm, 8, 9)"),
    "argument outside its domain": STAGE + body(GEMM, "stage(gemm, bk = 5)"),
    "argument of a wrong type": STAGE + body(GEMM, "stage(gemm, bk = f32)"),
    "handle for a value": STAGE + body(GEMM, "stage(gemm, gemm)"),
    "value for a handle": STAGE + body("stage(4)"),
    "default outside its domain": body("bufferize", parameters="bm: int = 5 in [4, 8]"),
    "default of a wrong type": body("bufferize", parameters="bm: int = f32"),
    "domain of a wrong type": body("bufferize", parameters="bm: int = 4 in [4, f32]"),
    "empty domain": body("bufferize", parameters="bm: int = 4 in []"),
    "domain that lists twice": body("bufferize", parameters="bm: int = 4 in [4, 4]"),
    "handle with a default": body("bufferize", parameters="h: handle = 4"),
    "parameter twice": body("bufferize", parameters="a: int = 1, a: int = 2"),
    "parameter named like a type": body("bufferize", parameters="f32: int = 1"),
    "schedule twice": body("bufferize") + body("bufferize"),
    "schedule named like a statement": "schedule tile(h: handle) {\n}\n" + body("bufferize"),
    "recursion": body("t()"),
    "recursion in a circle": "schedule a() {\n  b()\n}\nschedule b() {\n  a()\n}\n",
    "return in the middle": body(GEMM, "return gemm", "bufferize"),
    "results of one name": body(GEMM, "let t = tile gemm [4]", "let u = tile t.op [2]", "return (t.loop, u.loop)"),
    "foreach over a handle": body(GEMM, "foreach g in gemm { print g }"),
    "foreach over an unknown name": body("foreach g in ops { print g }"),
    "foreach over handles and values": body(GEMM, "foreach g in [gemm, 4] { print g }"),
    "foreach over a handle and an unknown name": body(GEMM, "foreach g in [gemm, gem] { print g }"),
    "foreach over a handle and a parameter": body(GEMM, "foreach g in [bm, gemm] { print g }", parameters="bm: int = 4"),
    "foreach over an operand": body(GEMM, "foreach g in [gemm.lhs] { print g }"),
    "foreach over several results": body(GEMM, "let t = tile gemm [4]", "foreach g in [t] { print g }"),
    "foreach over a handle that is gone": body(GEMM, "tile gemm [4]", "foreach g in [gemm] { print g }"),
    "foreach over `_`": body(GEMM, "foreach g in [gemm, _] { print g }"),
    "a list of handles consumed": body(
        GEMM, INIT, "foreach g in [gemm, init] {", "  tile g [4]", "}", "print init", "let gemm = match a.b"
    ),
    "a list of handles, some of which are consumed": body(
        GEMM, INIT, "foreach g in [gemm, init] { if bm == 4 { tile g [4] } }", "print init", parameters="bm: int = 4 in [2, 4]"
    ),
    "a list of one handle twice": body(GEMM, "foreach g in [gemm, gemm] { tile g [4] }"),
    "a list of handles, twice consumed": body(GEMM, "foreach n in [1, 2] {", "  foreach g in [gemm] { tile g [n] }", "}"),
    "a list of handles in a let": body(GEMM, "let all = [gemm, gemm]"),
    "payload argument twice": "payload matmul(m = 1, m = 2)\n" + body("bufferize"),
    "payload argument unknown": "payload matmul(m = bm)\n" + body("bufferize"),
    "several at once": body("launch tiles", GEMM, "tile gemm [-1, q]", "print gemm", "let x = bufferize"),
}  # fmt: skip


@pytest.mark.parametrize("case", SYNTAX)
def test_syntax(case: str, snapshot: SnapshotAssertion) -> None:
    text = said_about(SYNTAX[case])
    assert text.startswith(("error[W01", "error[W0003]"))
    assert text == snapshot


@pytest.mark.parametrize("case", CHECKS)
def test_checks(case: str, snapshot: SnapshotAssertion) -> None:
    text = said_about(CHECKS[case])
    assert text.startswith("error[W02")
    assert text == snapshot


def test_no_terminal_name_is_ever_shown() -> None:
    """Terminals show as they are spelled: `]`, never RSQB."""
    for text in SYNTAX.values():
        said = said_about(text)
        for line in said.splitlines():
            if " | " not in line:
                assert not any(
                    name in line for name in ("RSQB", "LPAR", "RPAR", "__ANON", "COMMA", "_NL", "$END", "NAME")
                ), line


# ---- what is right ---------------------------------------------------------------------------------------------------

RIGHT = {
    "rebinding a consumed name": body(GEMM, "let gemm = interchange gemm [1, 0, 2]", "print gemm"),
    "throwing results away": body(GEMM, "let (_, _) = tile gemm [4]"),
    "extra loops of a variadic statement": body(GEMM, "let (a, b, c) = tile gemm [4, 4, 4]"),
    "result of a bundle": body(GEMM, "let t = tile gemm [4]", "promote-to-shared t.op.lhs", "launch t.loop"),
    "absent handle": body("let init = match? linalg.fill", "if init { print init } else { bufferize }"),
    "all matches": body("let ops = match* linalg.generic", "foreach op in ops { let (l, o) = tile op [4] }"),
    "handles written out": body(
        GEMM,
        INIT,
        "let t = tile gemm [4]",
        "foreach op in [init, t.op,] { tile op [2] }",
        "let init = match a.b",
        "print t.loop",
    ),
    "handles that stay": body(
        GEMM, INIT, "foreach op in [init, gemm, init] { print op }", "foreach op in [gemm] { tile op [2] }"
    ),
    "no handles": body("foreach n in [] { print n }"),
    "values": body("foreach n in [1, 2] { require n % 2 == bm % 2 or n > 1.5 }", parameters="bm: int = 4"),
    "parameter in a default": body(GEMM, "tile gemm [bn]", parameters="bm: int = 4, bn: int = bm * 2"),
    "call by position and by name": STAGE + body(GEMM, "let (a, b) = stage(gemm, bk = 4)", "let (c, d) = stage(b, 8)"),
    "all results of a call": STAGE + body(GEMM, "let s = stage(gemm)", "print s.l"),
    "types": body('require t == f32 or t == "f16"', parameters="t: type = f32"),
    "handle alive after a call that keeps it": "schedule s(h: handle) {\n  print h\n}\n"
    + body(GEMM, "s(gemm)", "s(gemm)"),
    "transform": body(GEMM, "let g = transform { %g = transform.x %gemm }", "print g"),
    "branch that only looks": body(GEMM, "if bm == 4 { print gemm }", "tile gemm [bm]", parameters="bm: int = 4"),
    "float from an integer": body("require f < 2.0", parameters="f: float = 1 in [1, 1.5]"),
}


@pytest.mark.parametrize("case", RIGHT)
def test_right(case: str) -> None:
    assert said_about(RIGHT[case]) == ""
