"""The session: transactions, undo and redo, control flow, handles that survive, and handles that do not."""

from __future__ import annotations

from pathlib import Path

import pytest
from places import TESTS
from scheduled import diagnostics_of

from weft.dsl.checker import check
from weft.dsl.diagnostics import WeftError
from weft.dsl.parameters import bind_parameters
from weft.dsl.parser import parse_items, parse_text
from weft.interpreter.ir import mlir
from weft.interpreter.ir.mlir import ir
from weft.interpreter.session.frames import around
from weft.interpreter.session.session import Session
from weft.interpreter.session.statement import signatures
from weft.pipeline import Choice, applied

MATMUL = (TESTS / "interpreter" / "statements" / "examples" / "matmul.mlir").read_text()
GENERICS = (TESTS / "interpreter" / "statements" / "examples" / "two_generics.mlir").read_text()


def session(body: str, payload: str = MATMUL, parameters: str = "", before: str = "") -> Session:
    file = parse_text(f"{before}\nschedule case({parameters}) {{\n{body}\n}}\n", "case.weft")
    found = [d for d in check(file, signatures()) if d.severity == "error"]
    if found:
        raise WeftError(*found)
    context = mlir.context()
    with context, ir.Location.unknown():
        module = ir.Module.parse(payload)
    return Session(module, file, bind_parameters(file.main, {}))


TILED = "let gemm = match linalg.matmul\nlet (tiles, inner) = tile gemm [16, 16]\nmap tiles to blocks(y, x)"


def test_steps_and_remarks() -> None:
    made = session(TILED)
    made.run()
    assert [s.text for s in made.steps] == TILED.splitlines()
    assert made.steps[1].remarks == ("tiles: 4 × 16 over d0 (parallel), 4 × 16 over d1 (parallel)",)
    assert all(s.seconds >= 0 and not s.skipped for s in made.steps)


def test_undo_and_redo_are_exact() -> None:
    made = session(TILED)
    texts = [made.ir]
    while made.step() is not None:
        texts.append(made.ir)
    for text in reversed(texts[:-1]):
        assert made.undo()
        assert made.ir == text
    assert not made.undo()
    for text in texts[1:]:
        assert made.redo()
        assert made.ir == text
    assert not made.redo()


def test_a_step_after_undo_forgets_what_was_undone() -> None:
    made = session(TILED)
    made.run()
    end = made.ir
    made.undo()
    made.undo()
    made.step()
    assert not made.redo()
    made.run()
    assert made.ir == end


def test_a_failed_statement_changes_nothing() -> None:
    made = session(TILED + "\nlaunch tiles")
    with pytest.raises(WeftError) as caught:
        made.run()
    assert caught.value.diagnostics[0].code == "W0351"
    before, names = made.ir, dict(made.environment)
    with pytest.raises(WeftError):
        made.step()
    assert made.ir == before
    assert dict(made.environment) == names
    assert len(made.steps) == 3


def test_the_payload_is_never_changed() -> None:
    file = parse_text(f"schedule case() {{\n{TILED}\n}}\n", "case.weft")
    context = mlir.context()
    with context, ir.Location.unknown():
        module = ir.Module.parse(MATMUL)
    text = str(module)
    Session(module, file, {}).run()
    assert str(module) == text


def test_same_schedule_same_ir() -> None:
    first, second = session(TILED), session(TILED)
    first.run()
    second.run()
    assert first.ir == second.ir


@pytest.mark.parametrize(
    ("condition", "count"), [("b > 8", 1), ("b < 8", 0), ("b == 16 and not (b % 3 == 0)", 1)], ids=str
)
def test_if_on_a_value(condition: str, count: int) -> None:
    made = session(f"if {condition} {{ let gemm = match linalg.matmul }}", parameters="b: int = 16")
    made.run()
    assert len(made.steps) == count


def test_if_and_statements_on_an_absent_handle() -> None:
    body = "let a = match? linalg.conv_2d\nlet b = match? linalg.fill\n"
    body += "if a { let x = match linalg.conv_2d } else { let y = match linalg.matmul }\n"
    body += "if b { let z = match linalg.fill }\nlet (t, i) = tile a [4]\nmap t to blocks(x)"
    made = session(body)
    made.run()
    assert [s.keyword for s in made.steps] == ["match?", "match?", "match", "match", "tile", "map"]
    assert [s.skipped for s in made.steps] == [False, False, False, False, True, True]


def test_foreach_over_handles_and_values() -> None:
    body = "let ops = match* linalg.generic\nforeach op in ops { let (t, i) = tile op [4]\nmap t to blocks(x) }"
    made = session(body, GENERICS)
    made.run()
    assert [s.keyword for s in made.steps] == ["match*", "tile", "map", "tile", "map"]
    assert made.ir.count("weft.map") == 2
    values = session("let g = match linalg.matmul\nforeach n in [16, 4] { require 64 % n == 0 }")
    values.run()
    assert len(values.steps) == 1


def test_foreach_over_handles_written_out() -> None:
    """In the order of the list, results of statements among them; what an iteration consumes is gone behind the loop."""
    body = "let a = match linalg.generic #0\nlet b = match linalg.generic #1\nlet t = tile b [4]\n"
    body += "foreach op in [t.op, a] { let (l, one) = tile op [2] }\nmap t.loop to blocks(x)"
    made = session(body, GENERICS)
    made.run()
    assert [s.keyword for s in made.steps] == ["match", "match", "tile", "tile", "tile", "map"]
    assert [s.remarks[0].split(" over")[0] for s in made.steps[2:5]] == ["tiles: 2 × 4", "tiles: 2 × 2", "tiles: 4 × 2"]
    with pytest.raises(WeftError, match="W0223: `a` was consumed by `tile` in line 6"):
        session(f"{body}\nprint a", GENERICS)


def test_handles_written_out_that_are_absent() -> None:
    made = session("let a = match? linalg.conv_2d\nlet b = match linalg.matmul\nforeach op in [a, b] { tile op [4] }")
    made.run()
    assert [(s.keyword, s.skipped) for s in made.steps] == [("match?", False), ("match", False), ("tile", True), ("tile", False)]


def test_a_listed_handle_is_gone_under_its_own_name() -> None:
    """Inside the iteration that consumes it, the statement sees that."""
    made = session("let g = match linalg.matmul\nforeach op in [g] { tile op [4]\nprint g }")
    with pytest.raises(WeftError, match="W0223: `g` was consumed by `tile`"):
        made.run()


CALLED = """schedule halves(op: handle, size: int = 8) {
  let (tiles, inner) = tile op [size, size]
  map tiles to blocks(y, x)
  return (tiles, inner)
}
"""


def test_schedule_calls_return_handles() -> None:
    made = session(
        "let gemm = match linalg.matmul\nlet (t, i) = halves(gemm, size = 32)\nlet (l, o) = tile i [1, 1]",
        before=CALLED,
    )
    made.run()
    assert [s.keyword for s in made.steps] == ["match", "tile", "map", "tile"]
    assert "(%arg2, %arg3) in (2, 2)" in made.ir


def test_a_handle_consumed_by_a_called_schedule_is_dead_here() -> None:
    with pytest.raises(WeftError) as caught:
        session("let gemm = match linalg.matmul\nhalves(gemm)\nlet (l, o) = tile gemm [1, 1]", before=CALLED).run()
    assert caught.value.diagnostics[0].code == "W0223"


def test_require_says_the_values() -> None:
    made = session('require b % 7 == 0, "tiles of seven"', parameters="b: int = 16")
    with pytest.raises(WeftError) as caught:
        made.run()
    diagnostic = caught.value.diagnostics[0]
    assert diagnostic.message == "tiles of seven"
    assert "b = 16" in diagnostic.notes[0]


def test_handles_survive_cse_and_bufferization() -> None:
    made = session(TILED + "\nlet (lanes, one) = tile inner [1, 1]\nbufferize\nmap lanes to threads(y: 16, x: 16)")
    made.run()
    assert made.ir.count("weft.map") == 2
    assert "memref" in made.ir


def test_a_pass_that_removes_a_loop_is_told_by_the_next_use() -> None:
    body = 'let gemm = match linalg.matmul\nlet (k, step) = tile gemm [_, _, 32]\nrun-pass "canonicalize"\nprint k'
    with pytest.raises(WeftError) as caught:
        session(body).run()
    assert caught.value.diagnostics[0].code == "W0310"


def test_tile_with_both_kinds_returns_both_loops() -> None:
    made = session(
        "let gemm = match linalg.matmul\nlet (tiles, k, step) = tile gemm [16, 16, 8]\nmap tiles to blocks(y, x)"
    )
    made.run()
    assert "scf.for" in made.ir
    assert made.ir.count("weft.map") == 1


def test_results_by_name() -> None:
    made = session("let gemm = match linalg.matmul\nlet t = tile gemm [16, 16]\nmap t.loop to blocks(y, x)\nprint t.op")
    made.run()
    assert "linalg.matmul" in made.steps[-1].remarks[0]


def test_an_unknown_result_name() -> None:
    said = diagnostics_of(
        'payload "matmul.mlir"\nschedule c() {\n  let g = match linalg.matmul\n  let t = tile g [4]\n  print t.lop\n}\n',
        TESTS / "interpreter" / "statements" / "examples",
    )
    assert "lop" in said


def test_a_name_for_a_value_is_seen_where_it_is_bound() -> None:
    made = session(
        "let half = size / 2\nlet sizes = [half, size]\n"
        "foreach n in sizes {\nlet twice = 2 * n\nlet gemm = match linalg.matmul #0\nlet (l, one) = tile gemm [twice]\n}",
        parameters="size: int = 8",
    )
    made.run()
    said = [step.remarks[-1] for step in made.steps if step.keyword == "let"]
    assert said == ["half = 4", "sizes = [4, 8]", "twice = 8", "twice = 16"]
    tiles = [step.remarks[-1] for step in made.steps if step.keyword == "tile"]
    assert [text.split(" over ")[0] for text in tiles] == ["tiles: 8 × 8", "tiles: 1 × 16"]
    made.goto(2)
    assert made.environment["sizes"] == (4, 8) and "twice" not in made.environment
    assert not made.do(parse_items("let more = half * 3", "typed"))[0].skipped and made.environment["more"] == 12
    assert made.undo() and "more" not in made.environment


LOOPS = """
func.func @f(%x: memref<4x8xf32>) {
  affine.for %i = 0 to 4 {
    affine.for %j = 0 to 8 {
      affine.for %k = 0 to 1 { affine.store %c, %x[%i, %j + %k] : memref<4x8xf32> }
    }
    affine.for %j = 0 to 8 { affine.store %c, %x[%i, %j] : memref<4x8xf32> }
  }
  return
}
""".replace("(%x: memref<4x8xf32>)", "(%x: memref<4x8xf32>, %c: f32)")


def test_in_a_handle_is_what_is_inside_it_and_not_the_op_itself() -> None:
    body = "let rows = match affine.for #0\nlet inner = match* affine.for in rows\n"
    made = session(body + "let first = match affine.for #0 in rows\nlet deep = match affine.for in first", LOOPS)
    made.run()
    assert made.steps[1].remarks == ("3 × affine.for",)
    with pytest.raises(WeftError, match="W0401"):
        session(body + "let nothing = match scf.for in rows", LOOPS).run()
    with pytest.raises(WeftError, match=r"W0401: no `linalg\.matmul`"):
        session("let gemm = match linalg.matmul\nlet again = match linalg.matmul in gemm").run()


def test_a_statement_on_all_that_matched_is_done_with_each() -> None:
    body = "let ops = match* linalg.generic\nlet nothing = match* linalg.exp\nmap nothing to grid(x)\nmap ops to grid(x)\n"
    made = session(body + "foreach op in ops { print op }", GENERICS)
    made.run()
    assert [s.keyword for s in made.steps] == ["match*", "match*", "map", "map", "print", "print"]
    assert made.ir.count("weft.map") == 2
    assert made.undo() and made.undo() and made.undo() and made.ir.count("weft.map") == 1


def test_a_statement_on_a_list_returns_lists() -> None:
    body = "let ops = match* linalg.generic\nlet gone = match? linalg.exp\nlet (tiles, inner) = tile [gone, ops] [4]\n"
    made = session(body + "map tiles to blocks(x)\nlet gone = match? linalg.exp\n"
                   "let none_of_them = match* fill in gone\nlet flat = coalesce none_of_them", GENERICS)
    while made.step() is not None and len(made.steps) < 4:
        pass
    assert "iteration 2 of 2 in line 5" in next(around(made.steps[3].frames, str)) and made.steps[2].skipped
    at = made.upcoming()
    assert at is not None and at.span.line == 5
    made.run()
    assert [s.keyword for s in made.steps] == ["match*", "match?", *["tile"] * 3, "map", "map", "match?", "match*"]
    sizes = [len(found) for name in ("tiles", "inner", "flat") if isinstance(found := made.environment[name], tuple)]
    assert sizes == [2, 2, 0]
    assert made.ir.count("weft.map") == 2


def test_a_statement_on_a_list_is_checked() -> None:
    body = "let ops = match* linalg.generic\n"
    for wrong, code in {
        "let t = tile ops [4]": "W0226",
        "let more = match* linalg.generic\nfuse ops into more": "W0221",
        "tile ops [4]\nmap ops to grid(x)": "W0223",
    }.items():
        with pytest.raises(WeftError) as caught:
            session(body + wrong, GENERICS)
        assert [d.code for d in caught.value.diagnostics] == [code]


NESTED = """
schedule inner(op: handle, size: int) {
  require size > 1, "tiles of more than one element"
  let (tiles, one) = tile op [size]
  tile one [1, 1, 1, 1]
}

schedule outer(op: handle, size: int = 8) {
  inner(op, size)
}

schedule main() {
  let gemm = match linalg.matmul
  outer(gemm CALL)
}
"""


@pytest.mark.parametrize(("given", "steps"), [("", 2), (", size = 1", 1)])
def test_an_error_in_a_called_schedule_says_how_it_came_there(given: str, steps: int, tmp_path: Path) -> None:
    text = NESTED.replace(" CALL", given)
    (tmp_path / "s.weft").write_text("payload matmul(m = 16, n = 16, k = 16)\n" + text)
    with pytest.raises(WeftError) as caught:
        applied(Choice(str(tmp_path / "s.weft")).open())
    (said,) = caught.value.diagnostics
    *_, inner, outer, before = said.notes
    assert inner.startswith("in `inner`, called at ") and inner.endswith("s.weft:10:3: inner(op, size)")
    assert outer.startswith("in `outer`, called at ") and outer.endswith(f"s.weft:15:3: outer(gemm{given})")
    assert before.startswith(f"{steps} step") and before.count("\n") == steps
