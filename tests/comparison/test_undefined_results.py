"""What MLIR leaves undefined is not built as equal: a CPU computes both sides in its own way, a GPU in another."""

from __future__ import annotations

from pathlib import Path

import pytest

from weft import cli

SCHEDULE = """payload "p.mlir"
schedule s() {
  let op = match linalg.generic
  let (tiles, one) = tile op [32]
  map tiles to blocks(x)
  map one to threads(x)
  insert-barriers
  launch tiles
}
"""


def payload(body: str, kind: str = "i32", result: str = "i32") -> str:
    return f"""#id = affine_map<(i) -> (i)>
func.func @f(%a: tensor<64x{kind}>, %b: tensor<64x{kind}>) -> tensor<64x{result}> {{
  %e = tensor.empty() : tensor<64x{result}>
  %r = linalg.generic {{indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}}
      ins(%a, %b : tensor<64x{kind}>, tensor<64x{kind}>) outs(%e : tensor<64x{result}>) {{
  ^bb0(%x: {kind}, %y: {kind}, %o: {result}):
    %zero = arith.constant 0 : i32
    %three = arith.constant 3 : i32
    %width = arith.constant 32 : i32
    %less = arith.constant -1 : i32
    %least = arith.constant -2147483648 : i32
    {body}
    linalg.yield %q : {result}
  }} -> tensor<64x{result}>
  return %r : tensor<64x{result}>
}}
"""


LARGE = "%c = arith.constant 1.0e20 : f32\n%m = arith.mulf %x, %c : f32\n"
UNDEFINED = {
    "a shift by data": payload("%q = arith.shli %x, %y : i32"),
    "a shift by the width": payload("%q = arith.shrsi %x, %width : i32"),
    "of vectors": payload("%v = vector.broadcast %x : i32 to vector<2xi32>\n"
                          "%d = vector.broadcast %y : i32 to vector<2xi32>\n"
                          "%w = arith.shrui %v, %d : vector<2xi32>\n%q = vector.extract %w[0] : i32 from vector<2xi32>"),
    "a float too large": payload(f"{LARGE}%q = arith.fptosi %m : f32 to i32", "f32"),
    "a negative float": payload("%q = arith.fptoui %x : f32 to i32", "f32"),
    "the least integer by -1": payload("%n = arith.muli %zero, %x : i32\n%q = arith.divsi %least, %less : i32"),
}  # fmt: skip
DEFINED = {
    "a shift that is selected": payload("%s = arith.shrui %x, %y : i32\n%c = arith.cmpi ult, %y, %width : i32\n"
                                        "%q = arith.select %c, %s, %zero : i32"),
    "a shift by what is masked": payload("%m = arith.constant 31 : i32\n%d = arith.andi %y, %m : i32\n"
                                       "%q = arith.shli %x, %d : i32"),
    "a shift by a constant": payload("%q = arith.shrsi %x, %three : i32"),
    "a float that fits": payload("%q = arith.fptosi %x : f32 to i32", "f32"),
}  # fmt: skip
BROKEN_PROMISES = {
    "an exact division": payload("%q = arith.divsi %x, %three exact : i32"),
    "an exact shift": payload("%q = arith.shrsi %x, %three exact : i32"),
    "a sum that does not wrap": payload("%h = arith.ori %x, %least : i32\n%q = arith.addi %h, %h overflow<nsw, nuw> : i32"),
    "no negative number": payload("%q = arith.extui %x nneg : i32 to i64", result="i64"),
    "no NaN": payload("%n = arith.divf %x, %x fastmath<nnan> : f32\n%z = arith.subf %n, %n fastmath<nnan,ninf> : f32\n"
                      "%q = arith.mulf %z, %y fastmath<fast> : f32", "f32", "f32"),
}  # fmt: skip
"""Of the numbers that they are given. Without the promise they compute what they say."""


def built(text: str, folder: Path) -> int:
    (folder / "p.mlir").write_text(text)
    (folder / "s.weft").write_text(SCHEDULE)
    return cli.run(["build", str(folder / "s.weft"), "-o", str(folder / "bundle")])


@pytest.mark.parametrize("name", UNDEFINED)
def test_undefined_results_are_not_built(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert built(UNDEFINED[name], tmp_path) == 1
    said = capsys.readouterr().err
    assert "W0081" in said and "undefined result" in said and not (tmp_path / "bundle").exists(), said


@pytest.mark.parametrize("name", DEFINED)
def test_what_is_defined_is_built(name: str, tmp_path: Path) -> None:
    assert built(DEFINED[name], tmp_path) == 0


@pytest.mark.parametrize("name", BROKEN_PROMISES)
@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_promises_change_nothing(name: str, target: str, tmp_path: Path) -> None:
    """Machine code that uses them would differ from the simulator, and from texts, which do not know of them."""
    (tmp_path / "p.mlir").write_text(BROKEN_PROMISES[name])
    (tmp_path / "s.weft").write_text(SCHEDULE)
    assert cli.run(["run", str(tmp_path / "s.weft"), "--target", target]) == 0
