"""`match` by structure: labels, relations, conditions; properties as values; what a miss says."""

from __future__ import annotations

import pytest

from weft.dsl.checker import check
from weft.dsl.diagnostics import Source, WeftError
from weft.dsl.parser import parse_text
from weft.interpreter.session.session import Session
from weft.interpreter.session.state import Step
from weft.interpreter.session.statement import signatures
from weft.payloads.payload import parse_payload

CHAIN = """
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @chain(%a: tensor<8x16xf32>, %b: tensor<16x4xf32>, %x: tensor<4x8xf32>) -> (tensor<8xf32>, tensor<4x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x4xf32>
  %rows = tensor.empty() : tensor<8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %product = linalg.matmul ins(%a, %b : tensor<8x16xf32>, tensor<16x4xf32>) outs(%init : tensor<8x4xf32>) -> tensor<8x4xf32>
  %flat = tensor.collapse_shape %product [[0, 1]] : tensor<8x4xf32> into tensor<32xf32>
  %again = tensor.expand_shape %flat [[0, 1]] output_shape [8, 4] : tensor<32xf32> into tensor<8x4xf32>
  %powers = linalg.exp {weft.name = "powers"} ins(%again : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%rows : tensor<8xf32>) -> tensor<8xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%powers : tensor<8x4xf32>) outs(%s0 : tensor<8xf32>) {
  ^bb0(%v: f32, %so_far: f32):
    %next = arith.addf %so_far, %v : f32
    linalg.yield %next : f32
  } -> tensor<8xf32> loc(fused["sums", "of powers"])
  %t = tensor.empty() : tensor<4x8xf32>
  %twice = linalg.add ins(%x, %x : tensor<4x8xf32>, tensor<4x8xf32>) outs(%t : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %sum, %twice : tensor<8xf32>, tensor<4x8xf32>
}
"""


def steps(lines: str, payload: str = CHAIN) -> dict[str, Step]:
    """The steps of a schedule's lines, by the names that they bind."""
    file = parse_text(f"schedule s(n: int = 8, type: type = f32) {{\n{lines}\n}}\n", "s.weft")
    if wrong := [d for d in check(file, signatures()) if d.severity == "error"]:
        raise WeftError(*wrong)
    session = Session(parse_payload(Source("p.mlir", payload)), file, {"n": 8, "type": "f32"})
    session.run()
    return {step.text.partition(" = ")[0].removeprefix("let "): step for step in session.steps}


def found(lines: str, payload: str = CHAIN) -> str:
    """The op that the last line's `match` has found, as its remark names it."""
    return [*steps(lines, payload).values()][-1].remarks[0].partition(" at ")[0]


FORMS = {
    "a kind": ("match contraction", "linalg.matmul"),
    "a kind and a relation": ("match elementwise consumer of gemm", "linalg.exp"),
    "a result": ("match consumer of gemm.acc", "linalg.exp"),
    "the fill of an accumulator": ("match fill of gemm.acc", "linalg.fill"),
    "the producer of an operand": ("match producer of powers.in0", "linalg.matmul"),
    "any producer": ("match contraction producer of powers", "linalg.matmul"),
    "a label": ('match "powers"', "linalg.exp"),
    "a label that is a location": ('match "of powers"', "linalg.generic"),
    "a label or a kind": ('match "nothing" or contraction', "linalg.matmul"),
    "the first of several": ("match fill #1", "linalg.fill"),
    "a condition": ("match elementwise where sizes.0 == 4 and sizes.1 == n", "linalg.add"),
    "a condition on an operand": ("match elementwise where inputs == 2 and in0.type == f32", "linalg.add"),
    "a parameter of a property's name": ("match contraction where type == f32", "linalg.matmul"),
    "a property of another op": ("match elementwise where sizes.0 == gemm.rhs.1", "linalg.add"),
    "a size of an argument": ("match elementwise where sizes.0 == x.0", "linalg.add"),
    "a combiner": ('match reduction where combiner == "addf"', "linalg.generic"),
    "either": ('match reduction or pooling where combiner != "maximumf"', "linalg.generic"),
    "a kind as a value": ('match any where kind == "reduction"', "linalg.generic"),
    "a list of sizes": ("match elementwise where sizes == [4, n]", "linalg.add"),
    "another list of sizes": ("match reduction where sizes != [n, 4, 2]", "linalg.generic"),
    "clauses with conditions": (
        "match fill #0 of gemm.acc if n > 0 in powers if n < 0 where rank == 9 if n == 0",
        "linalg.fill",
    ),
    "an attribute with a condition": ('match fill of gemm.acc where "weft.name" = "nothing" if n == 0', "linalg.fill"),
    "a number that is none": ("match contraction #none", "linalg.matmul"),
    "a function": ("match contraction in @chain", "linalg.matmul"),
}


@pytest.mark.parametrize("name", FORMS)
def test_forms(name: str) -> None:
    line, op = FORMS[name]
    assert found(f'let gemm = match contraction\nlet powers = match "powers"\nlet x_ = {line}') == op


def test_several_kinds_in_program_order() -> None:
    """Also by name and by label, and each op once."""
    made = steps('let ops = match* reduction or "powers" or linalg.fill or fill\nforeach op in ops { print op }')
    assert made["ops"].remarks == ('4 × reduction or "powers" or linalg.fill or fill',)
    assert [step.remarks[0].partition(" ")[0] for step in made.values() if step.keyword == "print"][
        -1
    ] == "linalg.generic"


def test_relations_go_through_loops() -> None:
    """An op in a loop over tiles is found by what its results become, and so is the fill of a part."""
    tiled = (
        "let gemm = match contraction\nlet (tiles, gemm_t) = tile gemm [4, 4]\nlet (k, part) = tile gemm_t [_, _, 8]\n"
    )
    assert found(f"{tiled}let init = match fill of part.acc") == "linalg.fill"
    assert found(f"{tiled}let powers = match elementwise consumer of part") == "linalg.exp"
    assert found(f"{tiled}let powers = match elementwise consumer of tiles") == "linalg.exp"
    powers = 'let powers = match "powers"\n'
    assert found(f"{tiled}{powers}let again = match contraction producer of powers") == "linalg.matmul"
    assert found(f"{tiled}let inside = match contraction in tiles") == "linalg.matmul"


def test_relations_go_through_masked_loads() -> None:
    """Tiles that do not divide read their operands through a check of the index."""
    tiled = 'let powers = match "powers"\nlet (tiles, one) = tile powers [3, 3]\nlet gemm = match contraction\n'
    assert found(f"{tiled}let made = match contraction producer of one.in0") == "linalg.matmul"
    assert found(f"{tiled}let read = match elementwise consumer of gemm") == "linalg.exp"


def test_a_label_stays_with_its_op() -> None:
    """The loops, and the loads of ragged tiles, have the same location."""
    tiled = 'let sum = match "sums"\nlet (tiles, one) = tile sum [3]\nlet (k, part) = tile one [_, 3]\n'
    assert found(f'{tiled}let again = match "sums"') == "linalg.generic"
    assert found(f'{tiled}let again = match "of powers" in k') == "linalg.generic"


def test_relations_on_memrefs_follow_the_text() -> None:
    buffers = "bufferize\nlet gemm = match contraction\n"
    assert found(f"{buffers}let init = match fill of gemm.acc") == "linalg.fill"
    assert found(f"{buffers}let powers = match elementwise consumer of gemm") == "linalg.exp"
    assert found(f"{buffers}let sum = match reduction\nlet powers = match producer of sum.in0") == "linalg.exp"


def test_properties_decide() -> None:
    made = steps("""
    let gemm = match contraction
    let inner = gemm.sizes.2 / 2
    if gemm.rank == 2 and gemm.lhs.1 > n {
      let init = match fill of gemm.acc
    } else {
      let init = match linalg.exp
    }
    foreach size in gemm.sizes { require size < a.1 + 1 }
    let (k, part) = tile gemm [_, _, gemm.lhs.sizes.1 / 4]
    require part.sizes.2 == 4 and part.type == type
    """)
    assert made["inner"].remarks == ("inner = 8",) and made["init"].remarks[0].startswith("linalg.fill")
    with pytest.raises(WeftError, match=r"gemm.rank != 2, with gemm.rank = 2"):
        steps("let gemm = match contraction\nrequire gemm.rank != 2")


def test_arguments_of_a_call() -> None:
    file = parse_text("""
    schedule inner(op: handle, width: int) {
      let (loop, one) = tile op [width, width]
    }
    schedule s() {
      let gemm = match contraction
      inner(gemm, width = max(gemm.acc.1, 2))
    }
    """, "s.weft")  # fmt: skip
    assert not check(file, signatures())
    session = Session(parse_payload(Source("p.mlir", CHAIN)), file, {})
    session.run()
    assert "tiles: 2 × 4 over d0" in session.steps[-1].remarks[0]


WRONG = {
    "no condition": ("match any where rank + 1", "W0232"),
    "a condition of other kinds": ("match any where combiner == 4", "W0232"),
    "a relation to no handle": ("match fill of n", "W0221"),
    "a relation to an operand of an operand": ("match fill of gemm.acc.acc", "W0224"),
    "a consumer of an input": ("match elementwise consumer of gemm.lhs", "W0409"),
    "a property of an absent op": ("match any where sizes.0 == absent.rank", "W0408"),
    "too large a number": ("match fill #2", "W0402"),
    "twice one clause": ("match fill of gemm.acc of gemm.lhs", "W0106"),
}


@pytest.mark.parametrize("name", WRONG)
def test_refusals(name: str) -> None:
    line, code = WRONG[name]
    with pytest.raises(WeftError) as caught:
        steps(f"let gemm = match contraction\nlet absent = match? linalg.max\nlet x_ = {line}")
    assert [d.code for d in caught.value.diagnostics] == [code]


HINTS = {
    "match fill of act.acc": "the first result of any op is `act.out0`",
    "match fill of gemm.lsh": "did you mean `lhs`?",
    "match any where rank == absent.rank": "the op is absent, which `if absent { … }` tests",
    "match elementwise producer of gemm": "linalg.exp at p.mlir:12:13: gemm does not read it",
}


@pytest.mark.parametrize("line", HINTS)
def test_ways_out(line: str) -> None:
    with pytest.raises(WeftError) as caught:
        steps(
            f"let gemm = match contraction\nlet act = match linalg.exp\nlet absent = match? linalg.max\nlet x_ = {line}"
        )
    (found,) = caught.value.diagnostics
    assert HINTS[line] in "\n".join((found.message, found.hint or "", *found.notes)), found


def test_a_miss_has_a_row_for_each_candidate() -> None:
    """Those that differ least come first."""
    with pytest.raises(WeftError) as caught:
        steps(
            "let gemm = match contraction\nlet x_ = match elementwise consumer of gemm where rank == 3 and inputs == 1"
        )
    first, *others = caught.value.diagnostics[0].notes
    assert first == "linalg.exp at p.mlir:12:13: rank is 2" and len(others) == 5
    assert "linalg.matmul at p.mlir:9:14: contraction, it does not read gemm, rank is 2, inputs is 2" in others


def test_a_probable_typo_in_an_optional_match_is_in_the_report() -> None:
    assert steps('let x_ = match? "power"')["x_"].remarks == ('no "power": absent; did you mean `powers`?',)
    assert steps("let x_ = match? linalg.ecp")["x_"].remarks == ("no linalg.ecp: absent; did you mean `linalg.exp`?",)
    assert steps("let x_ = match? linalg.max")["x_"].remarks == ("no linalg.max: absent",)
    assert steps("let x_ = match? pooling")["x_"].remarks == ("no pooling: absent",)
