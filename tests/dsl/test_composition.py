"""What schedules are composed of: names after blocks, schedules inside others, clauses with conditions, handles with defaults."""

from __future__ import annotations

from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from weft.dsl.checker import check
from weft.dsl.diagnostics import WeftError, render_all
from weft.dsl.parser import parse_text
from weft.interpreter.session.statement import signatures

GEMM = "let gemm = match linalg.matmul"
TILE = "let (tiles, inner) = tile gemm [4, 4]"


MORE = "split: bool = true, n: int = 4"


def body(*lines: str, parameters: str = MORE, before: str = "") -> str:
    return (
        f"{before}schedule t({parameters}) {{\n"
        + "".join(f"  {line}\n" for line in lines)
        + "  require split or n > 0\n}\n"
    )


def said_about(text: str) -> str:
    try:
        return render_all(check(parse_text(text, "t.weft"), signatures()))
    except WeftError as error:
        return render_all(error.diagnostics)


CUT = "schedule cut(op: handle, other: handle = none) {\n  let (t, op) = tile op [4]\n  print other\n  return (t, op)\n}\n"
STAGE = "schedule stage(op: handle, n: int, m: int = 2) {\n  require m > n\n  print op\n}\n"
WRONG = {
    "bound in one branch": body(GEMM, "if split {", f"  {TILE}", "} else {", "  let m = 3", "}", "map tiles to blocks(y, x)"),
    "bound where there is no else": body(GEMM, "if split {", "  let m = 3", "}", "require m == n"),
    "bound in one branch of several": body(
        "if n == 1 {", "  let m = 1", "} else if n == 2 {", "  print", "} else {", "  let m = 2", "}", "require m == n"
    ),
    "bound in one version": body(GEMM, "versions {", "  assume A.1 % 4 == 0", "  let m = 3", "} else {}", "require m == n"),
    "bound to a handle and to a value": body(GEMM, "if split {", f"  {TILE}", "} else {", "  let tiles = 3", "}", "print tiles"),
    "named anew and used": body(GEMM, "let product = gemm", "print gemm"),
    "bound again in one branch, and consumed": body(
        GEMM, "if split {", "  let gemm = interchange gemm [1, 0, 2]", "}", "tile gemm [2]", "print gemm"
    ),
    "bound in a loop": body("foreach m in [1, 2] {", f"  {GEMM}", f"  {TILE}", "}", "launch tiles"),
    "appended and used": body(GEMM, "let all = []", f"{TILE}", "append tiles to all", "launch tiles"),
    "appended to no list": body(GEMM, "append gemm to n"),
    "appended to a handle": body(GEMM, TILE, "append inner to tiles"),
    "appended in each iteration": body(GEMM, "let all = []", "foreach m in [1, 2] {", "  append gemm to all", "}"),
    "a loop over one op": body("foreach f in match linalg.fill {", "  print f", "}"),
    "a loop that consumes what it finds": body("foreach f in match* linalg.fill {", "  tile f [4]", "  print f", "}"),
    "list used up": body(
        "let all = []", "foreach m in [1, 2] {", "  let f = match linalg.fill", "  append f to all", "}",
        "foreach f in all {", "  tile f [4]", "}", "foreach f in all {", "  print f", "}",
    ),
    "capture of a consumed handle": body(GEMM, "schedule look() {", "  print gemm", "}", TILE, "look()"),
    "capture of a handle that is consumed before": body(GEMM, TILE, "schedule look() {", "  print gemm", "}", "look()"),
    "capture of a handle that may be consumed": body(
        GEMM, "schedule look() {", "  print gemm", "}", "if split {", "  tile gemm [4]", "}", "look()"
    ),
    "consumed by a nested schedule": body(GEMM, "schedule cut() {", "  tile gemm [4]", "}", "cut()", "print gemm"),
    "consumed by one nested in that": body(
        GEMM, "schedule outer() {", "  schedule cut() {", "    tile gemm [4]", "  }", "  cut()", "}", "outer()", "print gemm"
    ),
    "consumed twice by a nested schedule": body(GEMM, "schedule cut() {", "  tile gemm [4]", "}", "cut()", "cut()"),
    "consumed by a nested schedule in a loop": body(
        GEMM, "schedule cut() {", "  tile gemm [4]", "}", "foreach m in [1, 2] {", "  cut()", "}"
    ),
    "bound after the schedule that uses it": body("schedule look() {", "  print gemm", "}", GEMM, "look()"),
    "bound inside a nested schedule": body("schedule find() {", f"  {GEMM}", "}", "find()", "print gemm"),
    "captures and recurses": body(GEMM, "schedule again() {", "  tile gemm [4]", "  again()", "}", "again()"),
    "recursion through a schedule of the file": "schedule a() {\n  schedule b() {\n    a()\n  }\n  b()\n}\n" + body("a()"),
    "nested schedule called from outside": body("schedule b() {", "  print", "}") + "schedule u() {\n  b()\n}\n",
    "nested schedule called before": body("b()", "schedule b() {", "  print", "}"),
    "nested schedule twice": body("schedule b() {", "  print", "}", "schedule b() {", "  bufferize", "}"),
    "nested schedule named like another": "schedule b() {\n  print\n}\n" + body("schedule b() {", "  print", "}"),
    "nested schedule named like a statement": body("schedule tile() {", "  print", "}"),
    "unclosed schedule before another": "schedule a() {\n  foreach x in [1] {\n    print\n}\n\n" + body("print"),
    "none where a clause is required": body(GEMM, "pipeline gemm stages none"),
    "a value that is none where a clause is required": body(GEMM, "let m = none", "split-k gemm m"),
    "none in a list of sizes": body(GEMM, "tile gemm [none, 4]"),
    "arithmetic with none": body("let m = none", "require m + 1 == n"),
    "none as an argument": body(
        "stage(none, none)", before="schedule stage(op: handle, m: int) {\n  require m == 1\n  print op\n}\n"
    ),
    "none as a name": body("let none = 3"),
    "a condition of a number": body(GEMM, TILE, "map tiles to blocks(x) cyclic if n"),
    "a condition of a handle": body(GEMM, TILE, "map tiles to blocks(x) cyclic if inner"),
    "a condition after what is required": body(GEMM, "pipeline gemm stages 3 if split"),
    "a condition after a statement": body(GEMM, "vectorize gemm if split"),
    "a condition after the results of a statement": body(
        GEMM, "let (tiles, inner) = tile gemm [4] if split else tile gemm [n]", "print tiles"
    ),
    "two lists": body(GEMM, TILE, "fuse [inner] into [tiles, tiles]"),
    "two lists by name": body("let a = match* linalg.fill", "let b = match* linalg.add", "fuse a into b"),
    "a list in a clause with a condition": body(GEMM, TILE, "promote-to-registers inner.acc across [tiles, inner] if split"),
    "a list with an op twice": body(GEMM, "tile [gemm, gemm] [4]"),
    "a list with a consumed op": body(GEMM, TILE, "vectorize [gemm, inner]"),
    "a list with an unknown name": body(GEMM, "let (a, b) = promote-to-shared [gemm.lhs, gem.rhs]", "map b to tma"),
    "a list of a value": body("vectorize [n]"),
    "a list with nothing in it": body("vectorize []"),
    "a list used after its ops are consumed": body("let fills = match* linalg.fill", "let c = coalesce fills", "print fills"),
    "one op of a list of results": body(
        GEMM, "let (a, b) = promote-to-shared [gemm.lhs, gemm.rhs]",
        "foreach c in b { print c.x }"
    ),
    "a list that is named, and its op used": body(GEMM, TILE, "let both = [tiles, inner]", "print inner"),
    "a list that is named, of one op twice": body(GEMM, "let both = [gemm, gemm]", "print both"),
    "a list of handles and values": body(GEMM, "let both = [gemm, n]", "print both"),
    "a list in a list that is used up": body(
        "let a = match* linalg.add", "let b = match linalg.sub", "foreach op in [a, b] {", "  tile op [4]", "}", "print a"
    ),
    "a call for each op of two lists": body("let a = match* linalg.add", "let b = match* linalg.sub", "cut(a, b)", before=CUT),
    "a call for each op that consumes one more": body("let a = match* linalg.add", GEMM, "cut(gemm, a)", "print gemm", before=CUT),
    "a call for each op that consumes what is around it": body(
        "let a = match* linalg.add", GEMM, "schedule part(op: handle) {", "  tile gemm [4]", "  print op", "}", "part(a)"
    ),
    "a call for each op, under one name": body("let a = match* linalg.add", "let t = cut(a)", "print t.op", before=CUT),
    "a call for each op that consumes all": body("let a = match* linalg.add", "let (t, op) = cut(a)", "print a", before=CUT),
    "one name for the results for a list": body(GEMM, "let t = tile [gemm] [4, 4]", "print t.op"),
    "two names for one result for each": body("let f = match* linalg.fill", "let (a, b) = coalesce f", "print a"),
    "a property of a list": body("let f = match* linalg.fill", "tile f [f.rank]"),
    "a loop over what is found in a list": body("let f = match* loop", "foreach op in match* linalg.fill in f { print op }"),
    "a handle and itself in a list": body(GEMM, TILE, "fuse [inner, tiles] into tiles"),
    "a list that is compared by size": body(GEMM, "require gemm.sizes < [1, 2]"),
    "a list that is compared with a number": body(GEMM, "let op = match any where rank == [1, 2]", "print op"),
    "a gap in a list that is compared": body(GEMM, "require gemm.sizes == [1, _]"),
    "a condition of a match that is no condition": body("let op = match any where rank == 1 if n", "print op"),
    "a condition after what a match requires": body("let op = match linalg.fill if split", "print op"),
    "more than `...`": body(GEMM, "stage(..., m = 3)", before=STAGE),
    "`...` without a name for a parameter": f"{STAGE}schedule t() {{\n  {GEMM}\n  stage(gemm, ...)\n}}\n",
    "`...` with a consumed handle": body("let op = match linalg.add", "tile op [4]", "stage(...)", before=STAGE),
    "`...` with a handle for a value": body("let op = match linalg.add", "let m = match linalg.sub", "stage(...)", before=STAGE),
    "`...` with a name of one block": body(GEMM, "if split { let m = 3 }", "stage(gemm, ...)", before=STAGE),
    "`...` of a function": body("require min(n, ...) > 2"),
    "`...` twice": body("stage(..., ...)", before=STAGE),
    "default that rewrites": body("print h", parameters=f"{MORE}, h: handle = tile g [3]"),
    "default of a number": body("print h", parameters=f"{MORE}, h: handle = 3"),
    "default of all": body("print h", parameters=f"{MORE}, h: handle = match* linalg.fill"),
    "domain of a handle": body("print h", parameters=f"{MORE}, h: handle = none in [1, 2]"),
    "default of an op for a value": body("print", parameters=f"{MORE}, h: int = match linalg.fill"),
    "default in a handle after it": body("print h", parameters=f"{MORE}, h: handle = match linalg.fill in g, g: handle"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_wrong(case: str, snapshot: SnapshotAssertion) -> None:
    text = said_about(WRONG[case])
    assert text.startswith(("error[W02", "error[W01"))
    assert text == snapshot


def test_many_arguments_by_position_are_warned_of() -> None:
    names = "abcdefg"
    stage = f"schedule stage({', '.join(f'{n}: int' for n in names)}) {{\n  require {' + '.join(names)} > 0\n}}\n"
    (found,) = check(parse_text(stage + "schedule t() {\n  stage(1, 2, 3, 4, 5, 6, 7)\n}\n", "t.weft"), signatures())
    assert (found.code, found.severity, found.span and found.span.line) == ("W0217", "warning", 5)
    assert found.hint == f"name them: `stage({', '.join(f'{n} = …' for n in names)})`"
    assert not check(
        parse_text(stage + "schedule t(g: int) {\n  stage(1, 2, 3, 4, 5, 6, ...)\n}\n", "t.weft"), signatures()
    )


def test_a_file_calls_its_own_schedules_and_those_it_includes(tmp_path: Path) -> None:
    part = "schedule part(op: handle, n: int) {\n  let (tiles, _) = tile op [n, %d]\n  return tiles\n}\n"
    for name, own in {"a": 4, "b": 8}.items():
        uses = f"schedule {name}(op: handle) {{\n  let n = 2\n  let tiles = part(op, ...)\n  return tiles\n}}\n"
        (tmp_path / f"{name}.weft").write_text(part % own + uses)
    (tmp_path / "both.weft").write_text('include "a.weft"\ninclude "b.weft"\nschedule both() {\n  print\n}\n')

    def said(*lines: str, include: tuple[str, ...] = ("a", "b")) -> str:
        text = (
            "".join(f'include "{name}.weft"\n' for name in include)
            + "schedule t(op: handle) {\n"
            + "\n".join(lines)
            + "\n}\n"
        )
        return render_all(check(parse_text(text, str(tmp_path / "t.weft")), signatures()))

    assert said("let tiles = a(op)", "print tiles") == "" == said("b(op)")
    assert said("part(op, n = 3)", include=("b",)) == ""
    assert said("part(op, n = 3)").startswith("error[W0201]: two of the included files have a schedule `part`")
    assert said("part(op, n = 3)").count("error[") == 1
    assert said("a(op)", include=("both",)).startswith("error[W0203]")
    assert said("schedule part(op: handle) { print op }", "part(op)") == ""


def test_parameters_that_are_never_used_are_warned_of() -> None:
    text = """schedule part(op: handle, k: int = 2, unread: handle = match linalg.fill) {
  print op
}
schedule t(
  n: int = 4, m: int = n, raw: handle = match linalg.add, op: handle = match linalg.sub, inner: bool = true, spare: int = 1
) {
  schedule nested(spare: int, size: int = 3) {
    require inner and spare > 0
  }
  nested(m)
  part(op, k = 3)
  transform { %g = transform.x %raw }
}
"""
    found = check(parse_text(text, "t.weft"), signatures())
    names = [d.message.partition(" ")[0] for d in found]
    assert {(d.code, d.severity) for d in found} == {("W0216", "warning")}
    assert names == ["`k`", "`unread`", "`spare`", "`size`"]
    wrong = text.replace("part(op, k = 3)", "part(op, k = f32)")  # errors come first
    assert {d.code for d in check(parse_text(wrong, "t.weft"), signatures())} == {"W0210"}


RIGHT = {
    "bound in every branch": body(
        GEMM, "if split {", f"  {TILE}", "  let m = 3", "} else {", "  let (tiles, inner) = tile gemm [2]", "  let m = 4", "}",
        "map tiles to blocks(y, x)", "require m == n", "print inner",
    ),
    "bound in every branch of several": body(
        "if n == 1 {", "  let m = 1", "} else if n == 2 {", "  let m = 3", "} else {", "  let m = 2", "}", "require m == n"
    ),
    "bound in every version": body(
        GEMM, "versions {", "  assume A.1 % 4 == 0", f"  {TILE}", "} else {", f"  {TILE}", "}", "launch tiles"
    ),
    "named anew in one branch": body(
        GEMM, "if split {", f"  {TILE}", "} else {", "  let inner = gemm", "}", "tile inner [2]", GEMM,
    ),
    "bound again in one branch": body(GEMM, "if split {", "  let gemm = interchange gemm [1, 0, 2]", "}", "tile gemm [2]"),
    "a handle or none": body(
        GEMM, "if split {", f"  {TILE}", "} else {", "  let tiles = none", "}", "if tiles {", "  launch tiles", "}"
    ),
    "a loop over all ops": body(
        GEMM, "foreach f in match* linalg.fill in gemm {", "  tile f [4]", "}", "foreach f in match* a.b { print f }"
    ),
    "matches with conditions": body(
        GEMM, 'let f = match? fill #n of gemm.acc if split in gemm if n > 1 where rank == 2 if not split',
        'let g = match* any where "weft.name" = "a" if split consumer of gemm if not split where sizes == [n, 2] if split',
        "let wanted = [n, 2]", "require gemm.sizes != [1, n, 3] and gemm.sizes == wanted", "print [f, g]",
        "let i = match linalg.fill #none", "versions {", "  if split { assume A.1 % 4 == 0 }", "} else {}", "print i",
    ),
    "`...` in a call": body(
        "let op = match linalg.add", "stage(...)", "stage(op, ...)", "stage(n = 1, ...)", "let r = stage(op, m = n, ...)",
        "schedule inner(split: bool, op: handle, p: handle = none) {", "  if split { print op }", "  print p", "}", "inner(...)",
        "print r",
        before="schedule stage(op: handle, n: int, m: int = 2) {\n  require m > n\n  return op\n}\n",
    ),
    "lists of handles": body(
        GEMM, "let (tiles, inner) = tile gemm [n, n]", "let none_yet = match? linalg.add", "fuse [none_yet, inner] into tiles",
        "let (_, copies) = promote-to-shared [inner.lhs, inner.rhs,] pad 4 if split", "map copies to tma",
        "foreach copy in copies { print copy }", "let fills = match* linalg.fill", "print [inner, fills]",
        "let (loops, ops) = tile [fills, none_yet] [1]", "let flat = coalesce loops", "vectorize ops", "launch [tiles, flat]",
    ),
    "lists of handles that are named": body(
        GEMM, TILE, "let fills = match* linalg.fill", "let all = [tiles, inner, fills]", "print all", "let no = match? linalg.add",
        "foreach op in [all, no] { vectorize op }",
    ),
    "a call for each op of a list": body(
        "let op = match* linalg.add", "stage(...)", "stage(op)", "let b = match linalg.sub", "let (loops, ops) = cut(op, b)",
        "launch [loops, b]", "print ops", before=CUT + STAGE.replace("n: int,", "n: int = 1,"),
    ),
    "a requirement that leads to the next block": body("alternatives {", '  require 3 > 4, "no"', "} else {}"),
    "a list that names another": body("let fills = match* linalg.fill", "let fills = coalesce fills", "launch fills"),
    "none as a handle": body(
        "schedule nothing() {", "  let h = none", "  return h", "}", "let h = nothing()", "tile h [n]",
        "let g = none", "vectorize g", "tile g [4]", "print g", "if g {", "  print", "}",
    ),
    "a list that a loop extends": body(
        "let all = []", "foreach m in [1, 2] {", "  let f = match linalg.fill", "  append f to all", "}",
        "foreach f in all { tile f [4] }"
    ),
    "capture": body(
        GEMM, "let some = n * 2", "schedule cut(size: int = some) {", "  let (tiles, op) = tile gemm [size]",
        "  return (tiles, op)", "}",
        "let (tiles, op) = cut()", "launch tiles", "print op",
    ),
    "a parameter named like a handle": body(
        GEMM, "schedule look(gemm: handle) {", "  print gemm", "}", "look(gemm)", TILE, "look(inner)"
    ),
    "a nested schedule in another": body(
        GEMM, "schedule outer(m: int) {", "  schedule cut() {", "    tile gemm [m]", "  }", "  cut()", "}", "outer(3)"
    ),
    "nested schedules that call each other": body(
        GEMM, "schedule a() {", "  print gemm", "}", "schedule b() {", "  a()", "  print gemm", "}", "b()", "a()"
    ),
    "equal names in different schedules": "schedule a() {\n  schedule part() {\n    print\n  }\n  part()\n}\n"
    + body("schedule part() {", "  a()", "}", "part()"),
    "clauses with conditions": body(
        GEMM, TILE, "map tiles to blocks(x: m) cyclic if m != none order grouped(n) if split vector n if not split",
        "promote-to-shared inner.lhs transpose if split pad select(split, 4, none) swizzle m",
        "launch tiles cluster(m) max-registers n if split unproven if not split",
        parameters="split: bool = true, n: int = 4, m: int = none",
    ),
    "handles with defaults": body(
        "stage()", "stage(init)", "stage(m = 4)", "stage(init, n = none)", "print gemm",
        parameters=f"{MORE}, gemm: handle = match linalg.matmul, init: handle = match? linalg.fill in gemm",
        before="schedule stage(op: handle = match linalg.matmul, m: int = 3, n: handle = none) {\n  print op\n  print n\n"
        "  require m > 0\n}\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", RIGHT)
def test_right(case: str) -> None:
    assert said_about(RIGHT[case]) == ""
