"""Which errors lead to the next block of `alternatives`, and what is left of the block before."""

from __future__ import annotations

import pytest
from test_compositions import PAYLOAD

from weft.dsl.checker import check
from weft.dsl.diagnostics import WeftError, fail
from weft.dsl.parameters import bind_parameters
from weft.dsl.parser import parse_items, parse_text
from weft.explain import all_codes
from weft.interpreter.ir import mlir
from weft.interpreter.session.alternatives import REFUSALS
from weft.interpreter.session.frames import around
from weft.interpreter.session.rewriter import Rewriter
from weft.interpreter.session.session import Session
from weft.interpreter.session.statement import signatures
from weft.interpreter.statements.print import Print

TWICE = """schedule s(n: int = 4, all: bool = true) {
  let add = match linalg.add
  alternatives {
    let (tiles, one) = tile add [n, n]
    print one
    map tiles to blocks(z, y, x)
  } else {
    alternatives {
      require n == 3, "only of three"
      let (tiles, one) = tile add [3, 3]
    } else {
      let (tiles, one) = tile add [2 * n, n]
      require all
    }
  } else {
    let (tiles, one) = tile add [16, 16]
  }
  map tiles to blocks(y, x)
}
"""


def session(text: str, **values: object) -> Session:
    file = parse_text(text, "s.weft")
    assert not check(file, signatures())
    return Session(mlir.parse(PAYLOAD, mlir.context()), file, bind_parameters(file.main, values))


def taken(made: Session) -> list[str]:
    return [step.text for step in made.steps]


def test_the_first_block_without_a_refusal_is_taken_and_nothing_of_others_is_left() -> None:
    made = session(TWICE)
    made.run()
    assert taken(made) == [
        "let add = match linalg.add", "alternatives", "alternatives", "let (tiles, one) = tile add [2 * n, n]",
        "map tiles to blocks(y, x)",
    ]  # fmt: skip
    outer, inner = made.steps[1], made.steps[2]
    assert outer.remarks[0] == "block 2 of 3, line 8" and len(outer.remarks) == 2
    assert outer.remarks[1].startswith("block 1 is refused: W0341 in line 6, ")
    assert inner.remarks == ("block 2 of 2, line 12", "block 1 is refused: W0240 in line 9, only of three")
    places = tuple(around(made.steps[3].frames, str))
    assert places == ("block 2 of `alternatives` in line 3", "block 2 of `alternatives` in line 8")


def test_where_all_inner_blocks_are_refused_the_outer_next_is_taken() -> None:
    made = session(TWICE, all=False)
    made.run()
    assert taken(made)[1:] == ["alternatives", "let (tiles, one) = tile add [16, 16]", "map tiles to blocks(y, x)"]
    assert [remark.partition(",")[0] for remark in made.steps[1].remarks] == [
        "block 3 of 3", "block 1 is refused: W0341 in line 6", "block 2 is refused: W0240 in line 13",
    ]  # fmt: skip


def test_an_error_of_the_last_block_names_the_refusals_before_it() -> None:
    made = session("schedule s(n: int = 1) {\n  alternatives {\n    require n == 2\n  } else {\n    let x = match linalg.exp\n"
                   "  }\n}\n")  # fmt: skip
    with pytest.raises(WeftError) as caught:
        made.run()
    (found,) = caught.value.diagnostics
    assert found.code == "W0401" and any("block 1 is refused: W0240 in line 3" in note for note in found.notes)
    assert len(made.steps) == 1 and made.steps[0].remarks[0] == "block 2 of 2, line 5"


def test_an_error_after_the_blocks_is_no_refusal_of_one() -> None:
    made = session("schedule s(n: int = 1) {\n  alternatives {\n    let x = match linalg.add\n  } else {\n"
                   "    let x = match linalg.sub\n  }\n  print x\n  require n == 2\n}\n")  # fmt: skip
    with pytest.raises(WeftError, match="W0240"):
        made.run()
    assert taken(made) == ["alternatives", "let x = match linalg.add", "print x"]


@pytest.mark.parametrize("code", ["W0313", "W0434", "W0601", "W0602", "W0610", "W0629", "W0234", "W0220"])
def test_defects_races_and_faults_lead_nowhere_else(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(self: Print, rewrite: Rewriter) -> None:
        raise fail(code, "wrong", span=self.node.span)

    monkeypatch.setattr(Print, "apply", wrong)
    made = session("schedule s() {\n  alternatives {\n    print\n  } else {\n    bufferize\n  }\n}\n")
    with pytest.raises(WeftError, match=code):
        made.run()
    assert taken(made) == ["alternatives"]


def test_refusals_are_what_statements_and_requirements_raise() -> None:
    """Every code is one or is none: those of values out of a domain, of requirements, and of statements on a payload."""
    refusals = {code for code in all_codes() if REFUSALS.fullmatch(code)}
    assert {"W0211", "W0240", "W0341", "W0369", "W0401", "W0440"} <= refusals
    assert not {code for code in refusals if code[:3] not in ("W02", "W03", "W04")} and len(refusals) > 100
    assert not refusals & {"W0313", "W0434", "W0202", "W0220", "W0223"}


RACE = """schedule s() {
  let gemm = match linalg.matmul
  alternatives {
    let (tiles, tile_mm) = tile gemm [8, 8]
    map tiles to blocks(y, x)
    let (k, step) = tile tile_mm [_, _, 8]
    let (b, copy) = promote-to-shared step.rhs
    map copy to threads(*) cyclic
    let (lanes, one) = tile step [1, 1]
    map lanes to threads(y, x)
    launch tiles  // without `insert-barriers`
  } else {
    print gemm
  }
}
"""
GEMM = """func.func @f(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<16x16xf32>, tensor<16x16xf32>) outs(%c : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %r : tensor<16x16xf32>
}"""


def test_a_race_in_a_block_is_an_error() -> None:
    made = Session(mlir.parse(GEMM, mlir.context()), parse_text(RACE, "s.weft"), {})
    with pytest.raises(WeftError, match="W0601"):
        made.run()


def test_typed_alternatives_choose_among_their_own_blocks() -> None:
    made = session(TWICE)
    while made.step() is not None and len(made.steps) < 3:
        pass
    before = made.state
    with pytest.raises(WeftError, match="W0240"):  # what is typed in a block is refused, and the block stays
        made.do(parse_items("require n == 5", "typed"))
    assert made.state is before
    made.do(parse_items("alternatives {\n  let m = 5\n  require n == m\n} else {\n  let m = n\n}", "typed"))
    assert taken(made)[-2:] == ["alternatives", "let m = n"] and made.environment["m"] == 4
