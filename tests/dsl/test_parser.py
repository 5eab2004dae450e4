"""Texts that are accepted, and the trees they become; files that are refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from places import ROOT
from work import lines_run

from weft.dsl import tree
from weft.dsl.diagnostics import WeftError
from weft.dsl.parser import parse_file, parse_items, parse_text
from weft.dsl.syntax import language

RECIPES = sorted((ROOT / "weft" / "recipes").glob("*/*.weft"))


def statement(line: str, *handles: str) -> tree.StatementNode:
    (item,) = parse_items(line, "t")
    assert isinstance(item, tree.StatementNode)
    return item


def shape(value: object) -> object:
    """A tree as nested tuples, without spans."""
    if isinstance(value, tree.Node):
        fields = [getattr(value, name) for name in value.__dataclass_fields__ if name != "span"]
        return (type(value).__name__, *map(shape, fields))
    if isinstance(value, dict):
        return {name: shape(item) for name, item in value.items()}
    if isinstance(value, tuple):
        return tuple(map(shape, value))
    return value


def handle(name: str, *fields: str) -> tuple[object, ...]:
    return ("HandleRef", name, fields)


def kinds(*words: str) -> tuple[object, ...]:
    return ("Words", tuple(("Word", word) for word in words))


def number(value: int) -> tuple[object, ...]:
    return ("Literal", value)


@pytest.mark.parametrize(
    ("line", "keyword", "fields"),
    [
        ("match linalg.matmul", "match", {"op": kinds("linalg.matmul")}),
        (
            'match? linalg.fill in @main where "kind" = "bias" #2',
            "match?",
            {
                "op": kinds("linalg.fill"),
                "scope": ("Word", "@main"),
                "attribute": ("Literal", "kind"),
                "equals": ("Literal", "bias"),
                "index": number(2),
            },
        ),
        ("match* scf.for in t.loop", "match*", {"op": kinds("scf.for"), "scope": handle("t", "loop")}),
        (
            'match? fill or "z" of gemm.acc',
            "match?",
            {"op": kinds("fill", '"z"'), "producer_of": handle("gemm", "acc")},
        ),
        (
            "match* consumer of t.op where rank == lhs.0",
            "match*",
            {
                "consumer_of": handle("t", "op"),
                "requirement": ("Binary", ("NameRef", "rank"), "==", ("Property", "lhs", ("0",))),
            },
        ),
        (
            "tile t.op [bm, _, 0]",
            "tile",
            {"target": handle("t", "op"), "sizes": ("ListExpr", (("NameRef", "bm"), ("Skip",), number(0)))},
        ),
        ("fuse init into tiles", "fuse", {"producer": handle("init"), "loop": handle("tiles")}),
        (
            "map c to threads(*) cyclic vector 4",
            "map",
            {
                "target": handle("c"),
                "space": ("Space", "threads", (), True),
                "distribution": ("Distribution", "cyclic", None),
                "vector": number(4),
            },
        ),
        (
            "map c to blocks(y: ?, x: 4, z) block-cyclic(2)",
            "map",
            {
                "target": handle("c"),
                "space": (
                    "Space",
                    "blocks",
                    (("Dimension", "y", "?"), ("Dimension", "x", number(4)), ("Dimension", "z", None)),
                    False,
                ),
                "distribution": ("Distribution", "block-cyclic", number(2)),
            },
        ),
        ("map c to lanes block", "map", {
            "target": handle("c"), "space": ("Space", "lanes", (), False), "distribution": ("Distribution", "block", None),
        }),
        ("coalesce l", "coalesce", {"target": handle("l")}),
        ("interchange g [1, 0]", "interchange", {
            "target": handle("g"), "order": ("ListExpr", (number(1), number(0))),
        }),
        (
            "promote-to-shared step.lhs vector 4 pad 1 transpose",
            "promote-to-shared",
            {"operand": handle("step", "lhs"), "vector": number(4), "pad": number(1), "transpose": True},
        ),
        ("promote-to-registers m.acc across k", "promote-to-registers", {
            "operand": handle("m", "acc"), "loop": handle("k"),
        }),
        ("bufferize", "bufferize", {}),
        ("insert-barriers", "insert-barriers", {}),
        ("verify-sync", "verify-sync", {}),
        ("launch t max-registers 128", "launch", {"loop": handle("t"), "max_registers": number(128)}),
        ("launch t cluster(2)", "launch", {"loop": handle("t"), "cluster": number(2)}),
        ('run-pass "func.func(cse)"', "run-pass", {"pipeline": ("Literal", "func.func(cse)")}),
        ("print", "print", {}),
        ("print gemm", "print", {"target": handle("gemm")}),
        ("vectorize v", "vectorize", {"target": handle("v")}),
        ("unroll l by 2", "unroll", {"target": handle("l"), "factor": number(2)}),
        ("pipeline k stages 2", "pipeline", {"loop": handle("k"), "stages": number(2)}),
        (
            'transform { %a = "x { y" // }\n { } }',
            "transform",
            {"text": ("Word", ' %a = "x { y" // }\n { } ')},
        ),
    ],
)  # fmt: skip
def test_statement_becomes_keyword_and_fields(line: str, keyword: str, fields: dict[str, object]) -> None:
    node = statement(line)
    assert (node.keyword, shape(dict(node.fields))) == (keyword, fields)
    assert all(type(name) is str for name in node.fields)


@pytest.mark.parametrize(
    "name", ["k", "x", "y", "init", "tiles", "block", "tile", "in", "into", "launch", "by", "let", "blocks"]
)
def test_words_of_the_language_can_name_handles(name: str) -> None:
    """The grammar takes a word as a keyword only where it can be one."""
    items = parse_items(
        f"let {name} = match a.b\nfuse {name} into {name}\nlet ({name}, _) = tile {name} [1]\nstage({name}, bk = 2)",
        "t",
    )
    assert len(items) == 4
    fused = items[1]
    assert isinstance(fused, tree.StatementNode) and fused.fields["producer"] == tree.HandleRef(
        fused.fields["producer"].span,  # type: ignore[union-attr]
        name,
    )


@pytest.mark.parametrize("text", ["bm-1", "bm - 1", "bm -1", "bm- 1"])
def test_a_minus_is_a_minus_in_expressions(text: str) -> None:
    (item,) = parse_items(f"require {text} == 1", "t")
    assert isinstance(item, tree.Require) and isinstance(item.condition, tree.Binary)
    assert shape(item.condition.left) == ("Binary", ("NameRef", "bm"), "-", ("Literal", 1))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 + 2 * 3", ("+", 1, ("*", 2, 3))),
        ("(1 + 2) * 3", ("*", ("+", 1, 2), 3)),
        ("8 / 4 / 2", ("/", ("/", 8, 4), 2)),
        ("1 - 2 - 3", ("-", ("-", 1, 2), 3)),
        ("1 < 2 and not 3 < 4 or 5 == 6", ("or", ("and", ("<", 1, 2), ("not", ("<", 3, 4))), ("==", 5, 6))),
        ("-1 * 2", ("*", ("-", 1), 2)),
    ],
)
def test_precedence(text: str, expected: object) -> None:
    def brief(node: tree.Expr) -> object:
        match node:
            case tree.Literal():
                return node.value
            case tree.Binary():
                return (node.operator, brief(node.left), brief(node.right))
            case tree.Unary():
                return (node.operator, brief(node.operand))
        raise AssertionError(node)

    (item,) = parse_items(f"require {text}", "t")
    assert isinstance(item, tree.Require)
    assert brief(item.condition) == expected


def test_who_knows_the_scope_tells_handles_from_values() -> None:
    file = parse_text(
        "schedule s(h: handle, n: int) {\n  let g = match a.b\n  if g { stage(g, h, n) } else if n == 1 { print }\n"
        "  foreach n in [1] { stage(n) }\n  foreach g in t.all { stage(g) }\n}",
        "t",
    )
    _, condition, values, handles = file.main.body
    assert isinstance(condition, tree.If) and isinstance(values, tree.Foreach) and isinstance(handles, tree.Foreach)
    call = condition.then[0]
    assert isinstance(call, tree.Call)
    assert [type(a.value).__name__ for a in call.arguments] == ["NameRef", "NameRef", "NameRef"]
    assert isinstance(condition.otherwise[0], tree.If)
    inner = values.body[0]
    assert isinstance(inner, tree.Call) and isinstance(inner.arguments[0].value, tree.NameRef)


def test_lists_of_handles() -> None:
    """A name may be a handle or a value; what has a dot is a handle."""
    (item,) = parse_items("foreach g in [a, t.op, a.b.c,\n 2,] { print g }", "t")
    assert isinstance(item, tree.Foreach) and isinstance(item.iterable, tree.ListExpr)
    assert [type(i).__name__ for i in item.iterable.items] == ["NameRef", "HandleRef", "HandleRef", "Literal"]
    assert [i.spelling for i in item.iterable.items if isinstance(i, tree.HandleRef)] == ["t.op", "a.b.c"]


def test_statements_go_on_inside_brackets_and_after_operators() -> None:
    items = parse_items("tile g [\n 1, // one\n 2,\n]\nrequire a and\n // why\n b\nlet (\n x, y\n) =\n tile g [1]", "t")
    assert [type(item).__name__ for item in items] == ["StatementNode", "Require", "Let"]


def test_blocks_on_one_line_and_else_on_the_next() -> None:
    (item,) = parse_items("if a { print } // then\n\n// else\nelse { print\n\n print }", "t")
    assert isinstance(item, tree.If) and len(item.then) == 1 and len(item.otherwise) == 2


def test_spans_are_one_based_and_end_exclusive() -> None:
    node = statement("  launch tiles  // go")
    span = node.span
    assert (span.line, span.column, span.end_line, span.end_column) == (1, 3, 1, 15)
    assert node.fields["loop"].span.column == 10  # type: ignore[union-attr]


def test_parameters_payload_and_doc() -> None:
    file = parse_text(
        '// file\n\npayload "m.mlir"\n\n// first\n// second\nschedule s(a: int = 1 in [1, 2], t: type = f32, h: handle,) {}',
        "t",
    )
    assert file.payload is not None and file.payload.path == "m.mlir"
    assert file.main.doc == "first\nsecond"
    assert [(p.name, p.type) for p in file.main.parameters] == [("a", "int"), ("t", "type"), ("h", "handle")]
    assert shape(file.main.parameters[0].domain) == ("ListExpr", (("Literal", 1), ("Literal", 2)))


def test_line_ends_of_windows_and_byte_order_marks(tmp_path: Path) -> None:
    path = tmp_path / "w.weft"
    path.write_bytes(b"\xef\xbb\xbf// c\r\nschedule s() {\r\n  print\r\n\r\n  print\r\n}\r\n")
    assert len(parse_file(path).main.body) == 2


@pytest.mark.parametrize("path", RECIPES, ids=lambda p: p.stem)
def test_recipes_parse(path: Path) -> None:
    assert parse_file(path).main.name == path.stem


def test_every_statement_of_the_grammar_has_a_spelling() -> None:
    assert {"match", "match?", "match*", "promote-to-shared", "map", "transform"} <= language().statements


# ---- files -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "W0003"),
        (b"  \n", "W0003"),
        (b"// nothing\n", "W0003"),
        (b"payload matmul\n", "W0003"),
        (bytes(range(256)), "W0004"),
        ("schedule s() {}".encode("utf-16"), "W0004"),
        (b"schedule s() {}\n// \xff\n", "W0005"),
        (b"// filler\n" * 1_050_000, "W0006"),
    ],
)
def test_bad_file(tmp_path: Path, data: bytes, code: str) -> None:
    path = tmp_path / "t.weft"
    path.write_bytes(data)
    with pytest.raises(WeftError) as caught:
        parse_file(path)
    assert [d.code for d in caught.value.diagnostics] == [code]


def test_a_large_file_is_refused_before_it_is_parsed(tmp_path: Path) -> None:
    path = tmp_path / "t.weft"
    path.write_bytes(b"// filler\n" * 1_050_000)

    def refused() -> None:
        with pytest.raises(WeftError, match="W0006"):
            parse_file(path)

    assert lines_run(refused)[1] < 2_000


@pytest.mark.parametrize(
    ("name", "code"), [("missing.weft", "W0001"), (".", "W0002"), ("a\0b", "W0001"), ("x" * 5000, "W0001")]
)
def test_bad_path(tmp_path: Path, name: str, code: str) -> None:
    with pytest.raises(WeftError) as caught:
        parse_file(tmp_path / name)
    assert caught.value.diagnostics[0].code == code


def test_a_file_of_just_under_a_megabyte_parses_or_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.weft"
    path.write_text("schedule s() {\n" + "  print\n" * 100 + "// " + "x" * 900_000 + "\n}\n")
    assert len(parse_file(path).main.body) == 100


# ---- include ---------------------------------------------------------------------------------------------------------


def write(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        (folder / f"{name}.weft").write_text(text)


def test_include_brings_schedules_in_front_once(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    write(
        tmp_path / "lib",
        a='include "c.weft"\nschedule a() {}',
        b='include "../lib/c.weft"\nschedule b() {}',
        c="schedule c() {}",
    )
    write(tmp_path, main='include "lib/a.weft"\ninclude "lib/b.weft"\npayload matmul\nschedule main() {}')
    file = parse_file(tmp_path / "main.weft")
    assert [s.name for s in file.schedules] == ["c", "a", "b", "main"]
    assert file.main.name == "main" and file.schedules[0].span.source.name.endswith("c.weft")


def test_include_circle_names_its_files(tmp_path: Path) -> None:
    write(
        tmp_path, a='include "b.weft"\nschedule a() {}', b='include "a.weft"\nschedule b() {}', s='include "s.weft"\n'
    )
    with pytest.raises(WeftError) as caught:
        parse_file(tmp_path / "a.weft")
    (found,) = caught.value.diagnostics
    assert (found.code, found.message) == ("W0007", "this `include` forms a cycle: `a.weft` → `b.weft` → `a.weft`")
    assert found.span is not None and found.span.source.name.endswith("b.weft")
    with pytest.raises(WeftError) as caught:
        parse_file(tmp_path / "s.weft")
    assert caught.value.diagnostics[0].code == "W0007"


def test_what_ships_is_included_by_folder_and_name(tmp_path: Path) -> None:
    """Also from a text without a file; its payload has no effect, and what it includes comes along, once."""
    write(tmp_path, a='include "weft:matmul/hopper"\ninclude "weft:parts/by_groups"\nschedule a() {\n  naive()\n}')
    file = parse_file(tmp_path / "a.weft")
    names = [schedule.name for schedule in file.schedules]
    assert (
        file.payload is None and file.main.name == "a" and names[-1] == "a" and "hopper" in names and "tensor" in names
    )
    assert len(names) == len(set(names))
    assert parse_text('include "weft:matmul/naive"\nschedule b() {}', "b").schedules[0].name == "naive"


def test_every_recipe_is_found_by_its_folder() -> None:
    for path in RECIPES:
        file = parse_text(f'include "weft:{path.parent.name}/{path.stem}"\nschedule main() {{}}', "t")
        assert path.stem in [schedule.name for schedule in file.schedules]


@pytest.mark.parametrize(("path", "near"), [("weft:simt", "weft:matmul/simt"), ("weft:matmul/smit", "weft:matmul/simt")])
def test_what_does_not_ship_has_the_nearest_name(path: str, near: str) -> None:
    with pytest.raises(WeftError) as caught:
        parse_text(f'include "{path}"\nschedule main() {{}}', "t")
    assert caught.value.diagnostics[0].hint == f"did you mean `{near}`?"


def test_include_points_at_itself_when_the_file_is_missing(tmp_path: Path) -> None:
    write(tmp_path, a='\ninclude "nope.weft"\nschedule a() {}')
    with pytest.raises(WeftError) as caught:
        parse_file(tmp_path / "a.weft")
    (found,) = caught.value.diagnostics
    assert found.code == "W0001" and found.span is not None and found.span.line == 2
