"""Sums that are corrected as an extreme grows: each form that the algebra knows, against the payload; what it does not know."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from judging import expect_right, scheduled

from weft.dsl.diagnostics import WeftError

ROW = "affine_map<(i, j) -> (i)>"
WHOLE = "affine_map<(i, j) -> (i, j)>"


def payload(
    terms: str, extreme: str = "maximumf", least: str = "0xFF800000", weigh: str = "%r", zero: str = "0.0"
) -> str:
    """m over x; p = `terms` of %a and %m; Σ `weigh` of p, of 5 rows of 77."""
    x, row = "tensor<5x77xf32>", "tensor<5xf32>"
    return f"""\
func.func @f(%x: {x}) -> {row} {{
  %least = arith.constant {least} : f32
  %zero = arith.constant {zero} : f32
  %k = arith.constant 0.75 : f32
  %e = tensor.empty() : {row}
  %f = tensor.empty() : {x}
  %m0 = linalg.fill ins(%least : f32) outs(%e : {row}) -> {row}
  %m = linalg.reduce {{ arith.{extreme} }} ins(%x : {x}) outs(%m0 : {row}) dimensions = [1]
  %p = linalg.generic {{indexing_maps = [{WHOLE}, {ROW}, {WHOLE}], iterator_types = ["parallel", "parallel"]}}
      ins(%x, %m : {x}, {row}) outs(%f : {x}) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
{terms}
    linalg.yield %r : f32
  }} -> {x}
  %s0 = linalg.fill ins(%zero : f32) outs(%e : {row}) -> {row}
  %s = linalg.generic {{indexing_maps = [{WHOLE}, {WHOLE}, {ROW}], iterator_types = ["parallel", "reduction"]}}
      ins(%p, %x : {x}, {x}) outs(%s0 : {row}) {{
  ^bb0(%r: f32, %a: f32, %o: f32):
{weigh}
    linalg.yield %t : f32
  }} -> {row}
  return %s : {row}
}}
"""


PLAIN = "    %d = arith.subf %a, %b : f32\n    %r = math.exp %d : f32"
ADDED = "    %t = arith.addf %o, %r : f32"
FORMS = {
    "softmax": (PLAIN, ADDED),
    "of a multiple": (
        "    %d = arith.subf %a, %b : f32\n    %w = arith.mulf %d, %k : f32\n    %r = math.exp %w : f32",
        ADDED,
    ),
    "power of two": (
        "    %d = arith.subf %a, %b : f32\n    %w = arith.divf %d, %k : f32\n    %r = math.exp2 %w : f32",
        ADDED,
    ),
    "weighted": (PLAIN, "    %w = arith.mulf %r, %a : f32\n    %t = arith.addf %w, %o : f32"),
    "negated": ("    %d = arith.subf %b, %a : f32\n    %w = arith.negf %d : f32\n    %r = math.exp %w : f32", ADDED),
    "masked": (
        "    %c = arith.cmpf ogt, %a, %k : f32\n    %d = arith.subf %a, %b : f32\n    %w = math.exp %d : f32\n"
        "    %n = arith.constant 0.0 : f32\n    %r = arith.select %c, %w, %n : f32",
        ADDED,
    ),
    "squared": (PLAIN, "    %w = arith.mulf %r, %r : f32\n    %t = arith.addf %w, %o : f32"),
    "shifted": (
        "    %d = arith.subf %a, %b : f32\n    %w = arith.addf %d, %k : f32\n    %r = math.exp %w : f32",
        ADDED,
    ),
}
REFUSED = {
    "squares": ("    %d = arith.subf %a, %b : f32\n    %r = arith.mulf %d, %d : f32", ADDED, "by a factor"),
    "one more": (PLAIN, "    %w = arith.addf %r, %k : f32\n"
                 "    %t = arith.addf %w, %o : f32", "by a factor"),
    "largest power": (PLAIN, "    %t = arith.maximumf %o, %r : f32", "only sums"),
    "horner": (PLAIN, "    %w = arith.mulf %o, %k : f32\n    %t = arith.addf %w, %r : f32", "by one operation"),
    "growing": ("    %d = arith.subf %b, %a : f32\n    %r = math.exp %d : f32", ADDED, "grow with the extreme"),
    "free": ("    %r = math.exp %a : f32", ADDED, "depend on its result"),
    "of another": ("    %d = arith.subf %k, %b : f32\n    %r = math.exp %d : f32", ADDED, "by a factor"),
    "of a part": (
        "    %h = arith.mulf %a, %k : f32\n    %d = arith.subf %h, %b : f32\n    %r = math.exp %d : f32", ADDED, "by a factor",
    ),
    "masked by zero": (
        "    %n = arith.constant 0.0 : f32\n    %c = arith.cmpf ogt, %a, %k : f32\n    %w = arith.select %c, %a, %n : f32\n"
        "    %d = arith.subf %w, %b : f32\n    %r = math.exp %d : f32",
        ADDED, "by a factor",
    ),
}  # fmt: skip


@pytest.mark.few()
@pytest.mark.parametrize("n", [1, 16, 77, 100])
@pytest.mark.parametrize("form", FORMS)
def test_right(form: str, n: int, tmp_path: Path) -> None:
    terms, weigh = FORMS[form]
    made = scheduled(payload(terms, weigh=weigh), in_one_pass(n), tmp_path)
    expect_right(made, 7, form, native=True)


def in_one_pass(n: int) -> str:
    """Two rows for each block, whose warps share them."""
    return f"""\
let largest = match linalg.reduce
let powers = match linalg.generic #0
let sum = match linalg.generic #1
let fills = match* linalg.fill
let (rows, total) = tile sum [2, _]
fuse powers into rows
fuse largest into rows
foreach fill in fills {{
fuse fill into rows
}}
map rows to blocks(x)
let (walk, least, factor, scaled) = online largest by {n}
map fills to threads(*) cyclic
map largest to threads(x: 64) cyclic
map factor to threads(*) cyclic
map powers to threads(x: 64) cyclic
map scaled to threads(*) cyclic
map total to threads(x: 64) cyclic
insert-barriers
launch rows
"""


def test_what_depends_on_the_extreme_by_another_op(tmp_path: Path) -> None:
    """A weight that another op makes of the extreme is not there before the loop ends."""
    text = payload(PLAIN, weigh="    %w = arith.mulf %r, %a : f32\n    %t = arith.addf %w, %o : f32")
    made = "%cut = tensor.generate {\n  ^bb0(%i: index):\n    %q = tensor.extract %m[%i] : tensor<5xf32>\n"
    made += "    tensor.yield %q : f32\n  } : tensor<5xf32>\n  %s0 ="
    text = text.replace(f"{WHOLE}, {WHOLE}, {ROW}", f"{WHOLE}, {ROW}, {ROW}").replace("%s0 =", made, 1)
    text = text.replace("%p, %x : tensor<5x77xf32>, tensor<5x77xf32>", "%p, %cut : tensor<5x77xf32>, tensor<5xf32>")
    with pytest.raises(WeftError, match="W0471"):
        scheduled(
            text,
            "let largest = match linalg.reduce\nlet (walk, least, factor, scaled) = online largest by 16",
            tmp_path,
        )


@pytest.mark.parametrize("form", REFUSED)
def test_refused(form: str, tmp_path: Path) -> None:
    terms, weigh, reason = REFUSED[form]
    with pytest.raises(WeftError, match=f"(?s)W0471.*{reason}"):
        scheduled(payload(terms, weigh=weigh), in_one_pass(16), tmp_path)


ALONE = "let largest = match linalg.reduce\nlet (walk, least, factor, scaled) = online largest by 16"


def test_what_is_said_of_a_single_row(tmp_path: Path) -> None:
    """It is refused; with a dimension for the row, as the hint has it, it is not."""
    row = payload(PLAIN, weigh=ADDED).replace("tensor<5x", "tensor<1x")
    with pytest.raises(WeftError, match="W0733"):  # nothing was launched
        scheduled(row, ALONE, tmp_path)
    single = (
        row.replace("<1xf32>", "<f32>")
        .replace("<1x77xf32>", "<77xf32>")
        .replace("dimensions = [1]", "dimensions = [0]")
    )
    single = (
        single.replace(WHOLE, "affine_map<(j) -> (j)>")
        .replace(ROW, "affine_map<(j) -> ()>")
        .replace('["parallel", ', "[")
    )
    with pytest.raises(WeftError, match=r"W0471.*a single element"):
        scheduled(single, ALONE, tmp_path)


RESHAPED = {
    "m": """\
  %flat = tensor.expand_shape %m [[0, 1]] output_shape [5, 1] : tensor<5xf32> into tensor<5x1xf32>
  %back = tensor.collapse_shape %flat [[0, 1]] : tensor<5x1xf32> into tensor<5xf32>
  %p =""",
    "p": """\
  %flat = tensor.collapse_shape %p [[0, 1]] : tensor<5x77xf32> into tensor<385xf32>
  %back = tensor.expand_shape %flat [[0, 1]] output_shape [5, 77] : tensor<385xf32> into tensor<5x77xf32>
  %s0 =""",
}


@pytest.mark.parametrize("value", RESHAPED)
def test_what_is_said_of_a_reshape(value: str, tmp_path: Path) -> None:
    views = RESHAPED[value]
    text = payload(PLAIN, weigh=ADDED).replace(views.splitlines()[-1], views)
    text = (
        text.replace("ins(%x, %m :", "ins(%x, %back :") if value == "m" else text.replace("ins(%p, %x", "ins(%back, %x")
    )
    with pytest.raises(WeftError, match=r"(?s)W0471.*ends at tensor\.(collapse|expand)_shape"):
        scheduled(text, ALONE, tmp_path)


SQUARE, OTHER_BASE = "    %d = arith.mulf %a, %a : f32", "    %w = arith.addf %a, %a : f32\n    %d = math.exp2 %w : f32"


@pytest.mark.parametrize("power", [SQUARE, OTHER_BASE])
def test_sums_of_other_powers_are_refused(power: str, tmp_path: Path) -> None:
    """One factor corrects all sums: exp(x - m) and its square take two."""
    x, row = "tensor<5x77xf32>", "tensor<5xf32>"
    source = "%p" if "mulf" in power else "%shift"
    text = payload(PLAIN, weigh=ADDED).replace(f"  return %s : {row}", f"""\
  %shift = linalg.generic {{indexing_maps = [{WHOLE}, {ROW}, {WHOLE}], iterator_types = ["parallel", "parallel"]}}
      ins(%x, %m : {x}, {row}) outs(%f : {x}) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    linalg.yield %d : f32
  }} -> {x}
  %other = linalg.generic {{indexing_maps = [{WHOLE}, {ROW}], iterator_types = ["parallel", "reduction"]}}
      ins({source} : {x}) outs(%s0 : {row}) {{
  ^bb0(%a: f32, %o: f32):
{power}
    %t = arith.addf %o, %d : f32
    linalg.yield %t : f32
  }} -> {row}
  %both = linalg.add ins(%s, %other : {row}, {row}) outs(%e : {row}) -> {row}
  return %both : {row}""")  # fmt: skip
    with pytest.raises(WeftError, match=r"(?s)W0471.*another power"):
        scheduled(text, ALONE, tmp_path)


def test_what_cancels_the_extreme_is_refused(tmp_path: Path) -> None:
    """(x - m) + m is x, and yet is there only when m is."""
    x, row = "tensor<5x77xf32>", "tensor<5xf32>"
    shifted = f"""\
  %y = linalg.generic {{indexing_maps = [{WHOLE}, {ROW}, {WHOLE}], iterator_types = ["parallel", "parallel"]}}
      ins(%x, %m : {x}, {row}) outs(%f : {x}) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %r = arith.addf %d, %b : f32
    linalg.yield %r : f32
  }} -> {x}
  %p = """
    text = payload(PLAIN, weigh=ADDED).replace("ins(%x, %m", "ins(%y, %m").replace("  %p = ", shifted)
    assert text.count("linalg.generic") == 3
    with pytest.raises(WeftError, match=r"(?s)W0471.*in a way that is not known"):
        scheduled(text, ALONE, tmp_path)


def test_the_factor_is_as_exact_as_the_sum(tmp_path: Path) -> None:
    """The largest of halves, of which sums are taken in f32: they are scaled by a power that was computed in f32."""
    text = payload(PLAIN, weigh=ADDED).replace("ins(%x, %p", "ins(%p").replace("%a, %b : f32\n", "%aw, %bw : f32\n")
    text = text.replace("^bb0(%a: f32, %b: f32", "^bb0(%a: f16, %b: f16").replace("    %d =", (
        "    %aw = arith.extf %a : f16 to f32\n    %bw = arith.extf %b : f16 to f32\n    %d ="
    ))  # fmt: skip
    text = text.replace("%x: tensor<5x77xf32>", "%x: tensor<5x77xf16>").replace("%least = arith.constant 0xFF800000 : f32", (
        "%least = arith.constant 0xFC00 : f16\n  %h = tensor.empty() : tensor<5xf16>"
    ))  # fmt: skip
    text = text.replace("ins(%least : f32) outs(%e : tensor<5xf32>) -> tensor<5xf32>", (
        "ins(%least : f16) outs(%h : tensor<5xf16>) -> tensor<5xf16>"
    ))  # fmt: skip
    text = text.replace("ins(%x : tensor<5x77xf32>) outs(%m0 : tensor<5xf32>)", (
        "ins(%x : tensor<5x77xf16>) outs(%m0 : tensor<5xf16>)"
    ))  # fmt: skip
    text = text.replace(
        "ins(%x, %m : tensor<5x77xf32>, tensor<5xf32>)", "ins(%x, %m : tensor<5x77xf16>, tensor<5xf16>)"
    )
    text = text.replace(
        "ins(%p, %x : tensor<5x77xf32>, tensor<5x77xf32>)", "ins(%p, %x : tensor<5x77xf32>, tensor<5x77xf16>)"
    )
    text = text.replace("^bb0(%r: f32, %a: f32", "^bb0(%r: f32, %a: f16")
    made = scheduled(text, in_one_pass(16), tmp_path)
    assert made.applied.text.count("math.exp") == 2
    assert not re.search(r"math\.exp .* : f16", made.applied.text)
    expect_right(made, 3, made.cuda, native=True)


@pytest.mark.parametrize("space", ["", "lanes", "threads(x: 64)"])
def test_terms_that_others_read_are_made_outside_too(space: str, tmp_path: Path) -> None:
    """The handle names the op in the loop, as after `fuse`, and a result the one that stays."""
    shares = f"""\
  %y = linalg.generic {{indexing_maps = [{WHOLE}, {ROW}, {WHOLE}], iterator_types = ["parallel", "parallel"]}}
      ins(%p, %s : tensor<5x77xf32>, tensor<5xf32>) outs(%f : tensor<5x77xf32>) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.divf %a, %b : f32
    linalg.yield %r : f32
  }} -> tensor<5x77xf32>
  return %y"""
    text = payload(*FORMS["softmax"][:1], weigh=ADDED).replace("  return %s", shares)
    text = re.sub(r"-> tensor<5xf32> \{\n", "-> tensor<5x77xf32> {\n", text, count=1).replace(
        "return %y : tensor<5xf32>", "return %y : tensor<5x77xf32>"
    )
    mapped = ("m", "p", "s", "one.outside", "row")
    maps = [
        *(f"map {op} to {space} cyclic" for op in mapped),
        "map one.factor to registers",
        "map one.scaled to registers",
    ]
    body = "\n".join([
        "let m = match linalg.reduce", *(f"let {op} = match linalg.generic #{n}" for n, op in enumerate("psy")),
        "let (rows, row) = tile y [1, _]", *(f"fuse {op} into rows" for op in "spm"),
        "let fills = match* linalg.fill", "foreach fill in fills {\nfuse fill into rows\n}",
        f"map rows to {'blocks' if space else 'grid'}(x)", "let one = online m by 16",
        *(maps if space else []), "insert-barriers", "launch rows",
    ])  # fmt: skip
    expect_right(scheduled(text, body, tmp_path), 0, body, native=True)
