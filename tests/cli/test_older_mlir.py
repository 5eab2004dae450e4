"""Text of older MLIR: loop variables as symbols become dimensions, everywhere else it stays as it is and what is wrong is said."""

from __future__ import annotations

import numpy as np
import pytest

from weft.dsl.diagnostics import Source, WeftError
from weft.interpreter.ir.mlir import operations
from weft.payloads.older_mlir import Edit, Older, rewritten
from weft.payloads.payload import parse_payload
from weft.runtime.reference.reference import reference

LOOPS = """\
func.func @f(%A: memref<64xf32>, %n: index) {
  affine.for %i = 0 to 4 {
    affine.for %j = 0 to 4 {
      BODY
    }
  }
  return
}
"""

READ = [
    # what older MLIR took, and what it becomes
    ("%x = affine.apply affine_map<(d0)[s0] -> (d0 + s0)>(%i)[%j]", "affine_map<(d0, s0) -> (d0 + s0)>(%i, %j)"),
    ("%x = affine.apply affine_map<()[s0] -> (s0 * 2)>()[%j]", "affine_map<(s0) -> (s0 * 2)>(%j)"),
    ("%x = affine.apply #m(%i)[%j, %j]", "affine_map<(d0, s0, s1) -> (d0 + s0 - s1)>(%i, %j, %j)"),
    ("%x = affine.apply #m(%i) [%j, %n] // [%k]", "affine_map<(d0, s0, s1) -> (d0 + s0 - s1)>(%i, %j, %n) // [%k]"),
    (
        "%x = affine.apply affine_map<(d0)[s0, s1] -> ((d0 * s0 + s1) floordiv 3)>(%i)[%n, %j]",
        "affine_map<(d0, s1)[s0] -> ((d0 * s0 + s1) floordiv 3)>(%i, %j)[%n]",
    ),
    ("%x = affine.load %A[%i * 4 + symbol(%j)] : memref<64xf32>", "%A[%i * 4 + %j]"),
    ("%x = affine.load %A[%i * symbol(%n) + symbol(%j)] : memref<64xf32>", "%A[%i * symbol(%n) + %j]"),
    ("%x = affine.vector_load %A[symbol(%j)] : memref<64xf32>, vector<2xf32>", "%A[%j]"),
    ("%c = arith.constant 1.0 : f32 affine.store %c, %A[%i + symbol(%j)] : memref<64xf32>", "%A[%i + %j]"),
    (
        '%x = "affine.apply"(%i, %j) {map = affine_map<(d0)[s0] -> (d0 + s0)>} : (index, index) -> index',
        "{map = affine_map<(d0, s0) -> (d0 + s0)>}",
    ),
    ('%x = "affine.apply"(%i, %j, %j) <{map = #m}> : (index, index, index) -> index', "<{map = affine_map<(d0, s0, s1)"),
]


@pytest.mark.parametrize(("body", "becomes"), READ)
def test_symbols_become_dimensions(body: str, becomes: str) -> None:
    text = "#m = affine_map<(d0)[s0, s1] -> (d0 + s0 - s1)>\n" + LOOPS.replace("BODY", body)
    older = rewritten(Source("p.mlir", text))
    assert older is not None and becomes in older.source.text, older and older.source.text
    parse_payload(Source("p.mlir", text))


LEFT = [
    # text in strings and comments, valid symbols, what older MLIR refused as well
    'func.func @f() attributes {a = "affine.apply #m(%i)[%j]"} { return }',
    "// affine.apply affine_map<(d0)[s0] -> (d0 + s0)>(%i)[%j]\nfunc.func @f() { return }",
    LOOPS.replace("BODY", "%x = affine.apply affine_map<(d0)[s0] -> (d0 * s0)>(%i)[%n]"),
    LOOPS.replace("BODY", "%x = affine.load %A[%i * symbol(%n)] : memref<64xf32>"),
    LOOPS.replace("BODY", "affine.for %k = 0 to %n { }"),
]


@pytest.mark.parametrize("text", LEFT)
def test_what_is_no_older_text_stays_as_it_is(text: str) -> None:
    assert rewritten(Source("p.mlir", text)) is None
    parse_payload(Source("p.mlir", text))


WRONG = [
    ("%x = affine.apply affine_map<(d0)[s0] -> (d0 * s0)>(%i)[%j]", "cannot be used as a symbol", (4, 12)),
    ("%x = affine.apply affine_map<(d0)[s0] -> (d0 + s0)>(%i)[%j, %j]", "dimension or symbol index mismatch", (4, 12)),
    ("affine.for %k = %i to 9 { }", "cannot be used as a symbol", (4, 7)),
    ("%x = affine.apply #gone(%i)[%j]", "undefined symbol alias id 'gone'", (4, 30)),
    (
        "%x = affine.apply affine_map<(d0)[s0] -> (d0 + s0)>(%i)[%j]\n %y = affine.load %A[%x * symbol(%j)] : memref<64xf32>",
        "cannot be used as a symbol",
        (5, 7),
    ),
    (
        "%x = affine.apply affine_map<(d0)[s0] -> (d0 + s0)>(%i)[%j] affine.for %k = %i to 9 { }",
        "cannot be used as a symbol",
        (4, 67),
    ),
]


@pytest.mark.parametrize(("body", "message", "place"), WRONG)
def test_the_rest_gets_the_parsers_message_at_its_place(body: str, message: str, place: tuple[int, int]) -> None:
    with pytest.raises(WeftError) as caught:
        parse_payload(Source("p.mlir", LOOPS.replace("BODY", body)))
    first = caught.value.diagnostics[0]
    assert first.code == "W0487" and message in first.message
    assert first.span is not None and (first.span.line, first.span.column) == place


def test_ops_keep_their_places_behind_what_was_rewritten() -> None:
    line = "%x = affine.apply affine_map<(d0)[s0] -> (d0 + s0)>(%i)[%j] %y = affine.load %A[%x] : memref<64xf32>"
    source = Source("p.mlir", LOOPS.replace("BODY", line))
    module = parse_payload(source)  # kept: its ops must not outlive it
    (load,) = operations(module.operation, "affine.load")
    assert f'"p.mlir":4:{source.line(4).index("affine.load") + 1}' in str(load.location)


def test_places_lead_back_through_several_edits() -> None:
    text = "ab cd\nef gh\nij kl\n"
    older = Older(Source("p.mlir", text), [Edit(9, 11, "a longer one"), Edit(0, 2, ""), Edit(12, 14, "x\ny")])
    assert older.source.text == " cd\nef a longer one\nx\ny kl\n"
    places = {(1, 2): (1, 4), (2, 1): (2, 1), (2, 6): (2, 4), (2, 16): (2, 6), (3, 1): (3, 1), (4, 3): (3, 4), (5, 1): (4, 1)}
    assert {at: older.place(*at) for at in places} == places


def test_a_dimension_in_a_symbols_place_computes_the_same() -> None:
    text = """\
#m = affine_map<(d0)[s0, s1] -> ((d0 * 5 + s0 * 3 - s1) mod 7 + s1 floordiv 2)>
func.func @f(%A: memref<64xi32>, %C: memref<4x5x6xi32>) {
  affine.for %i = 0 to 4 {
    affine.for %j = 0 to 5 {
      affine.for %k = 0 to 6 {
        %at = affine.apply #m(%i)[%j, %k]
        %x = affine.load %A[%at * 2 + symbol(%j)] : memref<64xi32>
        affine.store %x, %C[%i, symbol(%j), symbol(%k)] : memref<4x5x6xi32>
      }
    }
  }
  return
}
"""
    values = np.arange(100, 164, dtype=np.int32)
    inputs = {"A": values, "C": np.zeros((4, 5, 6), np.int32)}
    found = reference(parse_payload(Source("p.mlir", text)), None, inputs)["C"]
    i, j, k = np.ogrid[:4, :5, :6]
    np.testing.assert_array_equal(found, values[((i * 5 + j * 3 - k) % 7 + k // 2) * 2 + j])
