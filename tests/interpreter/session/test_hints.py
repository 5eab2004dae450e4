"""Hints, followed to the letter: what a diagnostic proposes makes the schedule pass, right by all witnesses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from judging import expect_right, scheduled
from places import TESTS

from weft.dsl.diagnostics import Diagnostic, WeftError

ROWS = """\
func.func @f(%x: tensor<12x90xf32>) -> tensor<12xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<12xf32>
  %s = linalg.fill ins(%zero : f32) outs(%e : tensor<12xf32>) -> tensor<12xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<12x90xf32>) outs(%s : tensor<12xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<12xf32>
  return %r : tensor<12xf32>
}
"""


def refused(payload: str, body: str, folder: Path, code: str) -> Diagnostic:
    with pytest.raises(WeftError) as caught:
        scheduled(payload, body, folder)
    (found,) = caught.value.diagnostics
    assert found.code == code, found
    return found


def expect_followed(payload: str, body: str, folder: Path) -> None:
    expect_right(scheduled(payload, body, folder), 0, body)


# ---- W0351: a running result that lanes share, in registers across the loop ---------------------------------------------------

SHARED = """\
let g = match linalg.generic
let z = match linalg.fill
let (t, o) = tile g [4]
fuse z into t
map t to blocks(x)
let (w, one) = tile o [1]
map w to warps(x)
fuse z into w
let (k, step) = tile one [_, 30]
map step to lanes{how}
map z to lanes{how}
promote-to-registers step.out0 across k
insert-barriers
launch t"""
PROMOTED, LOOP = "promote-to-registers step.out0 across k\n", "let (k, step) = tile one [_, 30]\n"


@pytest.mark.parametrize("how", [" cyclic", " block"])
def test_a_running_result_that_lanes_share(how: str, tmp_path: Path) -> None:
    body = SHARED.format(how=how)
    found = refused(ROWS, body, tmp_path, "W0351")
    assert (
        "share the running result of linalg.generic" in found.message
        and "`promote-to-registers … across`" in found.message
    )
    assert found.hint is not None and found.hint.startswith("leave `promote-to-registers` out")
    assert "or leave out the loop, and `map` the whole op the same way" in found.hint
    without = body.replace(PROMOTED, "")
    expect_followed(ROWS, without, tmp_path)
    whole = without.replace(LOOP, "").replace("map step to", "map one to")
    expect_followed(ROWS, whole, tmp_path)
    assert "memref.alloca" in scheduled(ROWS, whole, tmp_path).applied.text, "in registers, to the end"


@pytest.mark.parametrize("promoted", ["", PROMOTED])
def test_its_fill(promoted: str, tmp_path: Path) -> None:
    """The hint of the fill does not propose what is refused next."""
    body = SHARED.format(how=" cyclic").replace(PROMOTED, promoted)
    body = body.replace("map z to lanes cyclic\n", "").replace("fuse z into w\n", "")
    found = refused(ROWS, body, tmp_path, "W0351")
    assert found.hint == "map it, or `tile` it and map the loop"
    body = body.replace("map w to", "map z to threads(*) cyclic\nmap w to")
    if promoted:
        assert "share the running result" in refused(ROWS, body, tmp_path, "W0351").message
        body = body.replace(promoted, "")
    expect_followed(ROWS, body, tmp_path)


def test_the_fill_of_a_result_of_one_thread(tmp_path: Path) -> None:
    """There each of the three that the hint names does."""
    body = """let g = match linalg.generic
let z = match linalg.fill
let (t, o) = tile g [4]
fuse z into t
map t to blocks(x)
let (k, step) = tile o [_, 30]
let (lanes, one) = tile step [1]
map lanes to threads(x: 4)
insert-barriers
launch t"""
    found = refused(ROWS, body, tmp_path, "W0351")
    assert (
        found.hint is not None and "or `promote-to-registers` the accumulator across the outermost loop" in found.hint
    )
    for lines in ("map z to threads(*) cyclic", "let (zl, zo) = tile z [1]\nmap zl to threads(x: 4)",
                  "promote-to-registers one.out0 across k"):  # fmt: skip
        expect_followed(ROWS, body.replace("insert-barriers", f"{lines}\ninsert-barriers"), tmp_path)


# ---- W0310: the op of a handle is gone; W0326: a loop that does not read what is fused into it ----------------------------------

EXAMPLES = TESTS / "interpreter" / "statements" / "examples"
MATMUL, RELU = ((EXAMPLES / f"{name}.mlir").read_text() for name in ("matmul", "relu_matmul"))
HEAD = "let gemm = match linalg.matmul\nlet init = match linalg.fill\n"
RELU_HEAD = f"{HEAD}let relu = match linalg.generic\n"
LANES = """let (lanes, one) = tile {op} [1, 1]
map t to blocks(y, x)
map lanes to threads(y, x)
{more}insert-barriers
launch t"""


def test_a_loop_that_a_pass_removed(tmp_path: Path) -> None:
    """Its handle is used before the pass."""
    canonical = 'run-pass "canonicalize"\n'
    body = f"{HEAD}let (t, o) = tile gemm [16, 16]\nfuse init into t\nlet (k, step) = tile o [_, _, 32]\n{canonical}print k\n"
    body += LANES.format(op="step", more="map init to threads(*) cyclic\n")
    found = refused(MATMUL, body, tmp_path, "W0310")
    assert re.match(r'`run-pass "canonicalize"` in line \d+ left no scf.for at ', found.notes[0])
    assert found.hint == (
        "`match` it again, or use the handle before the rewrite; ops that no result and no memory depends on are removed"
    )
    expect_followed(MATMUL, body.replace(f"{canonical}print k\n", f"print k\n{canonical}"), tmp_path)


WINDOW = """func.func @f(%A: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %e = tensor.empty() : tensor<32x32xf32>
  %s = tensor.extract_slice %A[0, 0] [32, 32] [1, 1] : tensor<64x32xf32> to tensor<32x32xf32>
  %r = linalg.exp ins(%s : tensor<32x32xf32>) outs(%e : tensor<32x32xf32>) -> tensor<32x32xf32>
  %i = tensor.insert_slice %r into %A[32, 0] [32, 32] [1, 1] : tensor<32x32xf32> into tensor<64x32xf32>
  return %i : tensor<64x32xf32>
}"""


@pytest.mark.parametrize(
    ("op", "by", "becomes"),
    [
        ("empty", "bufferize", "memref.alloc"),
        ("extract_slice", "bufferize", "memref.subview"),
        ("insert_slice", "bufferize", "memref.subview"),
        ("extract_slice", "let (t, o) = tile x [1, 1]", None),
    ],
)
def test_what_has_become_of_an_op(op: str, by: str, becomes: str | None, tmp_path: Path) -> None:
    """The statement that removed it, its line, and what the op is now, which the hint's `match` finds."""
    body = f"let it = match tensor.{op}\nlet x = match linalg.exp\n{by}\nprint it"
    found = refused(WINDOW, body, tmp_path, "W0310")
    assert found.notes[0].startswith(f"`{by}` in line 5 left no tensor.{op} at "), found.notes
    if becomes is not None:
        assert found.hint is not None and found.hint.startswith(
            "use the handle before that, or `match` its replacement: "
        )
        led = f"let x = match linalg.exp\n{by}\nlet it = match {re.findall('`([^` ]*)`', found.hint)[1]} #0\nprint it"
        assert becomes in found.hint
        expect_followed(WINDOW, f"{led}\nmap x to grid(y, x)\nlaunch x", tmp_path)


def test_fused_into_the_loop_that_takes_it_first(tmp_path: Path) -> None:
    body = f"{HEAD}let (t, o) = tile gemm [16, 16]\n{LANES.format(op='o', more='')}".replace(
        "map t", "fuse init into lanes\nmap t"
    )
    found = refused(MATMUL, body, tmp_path, "W0326")
    assert found.hint is not None and found.hint.startswith("`fuse` it into the loop that takes it: scf.forall")
    expect_followed(MATMUL, body.replace("fuse init into lanes", "fuse init into t\nfuse init into lanes"), tmp_path)


def test_a_fill_is_fused_into_the_loop_around(tmp_path: Path) -> None:
    steps = "let (k, step) = tile {} [_, _, 8]\n"
    found = refused(MATMUL, f"{HEAD}{steps.format('gemm')}fuse init into k", tmp_path, "W0326")
    assert found.hint == "`fuse` it into the enclosing loop, which runs over the tiles of the result"
    body = f"{HEAD}let (t, o) = tile gemm [16, 16]\n{steps.format('o')}fuse init into t\n"
    expect_followed(MATMUL, body + LANES.format(op="step", more="map init to threads(*) cyclic\n"), tmp_path)


def test_a_producer_of_ragged_steps(tmp_path: Path) -> None:
    """Sizes that divide."""
    body = f"{RELU_HEAD}let (t, o) = tile gemm [8, 8]\nfuse init into t\nlet (k, step) = tile o [_, _, 12]\n"
    body += "fuse relu into t\nfuse relu into k\n"
    body += LANES.format(op="step", more="map relu to threads(*) cyclic\nmap init to threads(*) cyclic\n")
    found = refused(RELU, body, tmp_path, "W0326")
    assert found.hint is not None and "or choose tile sizes that divide" in found.hint
    expect_followed(RELU, body.replace("12", "8"), tmp_path)


def test_a_producer_in_front_of_parts(tmp_path: Path) -> None:
    """Mapped and launched on its own."""
    body = f"{RELU_HEAD}let (part, zeros, sum) = split-k gemm 3\nlet (t, o) = tile part [1, 8, 8]\nfuse zeros into t\n"
    body += (
        "fuse relu into t\nlet (lanes, one) = tile o [_, 1, 1]\nmap t to blocks(z, y, x)\nmap lanes to threads(y, x)\n"
    )
    body += "map zeros to threads(*) cyclic\n"
    body += "let (each, add) = tile sum [1, 1]\nfuse init into each\nmap each to grid(y, x)\ninsert-barriers\nlaunch t\nlaunch each"
    found = refused(RELU, body, tmp_path, "W0326")
    assert found.hint is not None and "`map` and `launch` it on its own, before `as-gemm` or `split-k`" in found.hint
    body = body.replace("fuse relu into t", "map relu to grid(y, x)").replace("launch t\n", "launch relu\nlaunch t\n")
    expect_followed(RELU, body, tmp_path)


# ---- W0355: more shared memory than a block has -------------------------------------------------------------------------------

STAGED = """let (t, o) = tile gemm [64, 64]
fuse init into t
let (k, step) = tile o [_, _, {step}]
let (a, copy_a) = promote-to-shared step.lhs
let (b, copy_b) = promote-to-shared step.rhs{pad}
map copy_a to threads(*) cyclic
map copy_b to threads(*) cyclic
let (lanes, one) = tile step [4, 4]
map t to blocks(y, x)
map lanes to threads(y, x)
map init to threads(*) cyclic
{pipeline}insert-barriers
launch t"""


def test_more_stages_than_shared_memory_holds(tmp_path: Path) -> None:
    def body(step: int, pipeline: str) -> str:
        return HEAD + STAGED.format(step=step, pad=" pad 900", pipeline=pipeline)

    found = refused(MATMUL, body(32, "pipeline k stages 2\n"), tmp_path, "W0355")
    assert found.hint == "`tile` the loop with smaller steps, or take fewer `stages`"
    expect_followed(MATMUL, body(8, "pipeline k stages 2\n"), tmp_path)
    expect_followed(MATMUL, body(32, ""), tmp_path)


def test_larger_tiles_than_shared_memory_holds(tmp_path: Path) -> None:
    def body(step: int) -> str:
        return HEAD + STAGED.format(step=step, pad=" pad 1700", pipeline="")

    found = refused(MATMUL, body(32), tmp_path, "W0355")
    assert found.hint == "`tile` by smaller sizes, or give `pipeline` fewer `stages`"
    expect_followed(MATMUL, body(8), tmp_path)


def test_an_op_that_nothing_depends_on(tmp_path: Path) -> None:
    """What is put into a tensor argument, and not used as the result of that, is lost."""
    kind, body = "tensor<8x8xf32>", "let op = match linalg.exp\nmap op to grid(x) cyclic\nlaunch op"
    text = f"""func.func @f(%x: {kind}, %y: {kind}) {{
      %e = tensor.empty() : {kind}
      %r = linalg.exp ins(%x : {kind}) outs(%e : {kind}) -> {kind}
      %d = bufferization.materialize_in_destination %r in %y : ({kind}, {kind}) -> {kind}
      return
    }}"""
    found = refused(text, body, tmp_path, "W0310")
    assert found.hint is not None and "which nothing uses" in found.hint and "return it" in found.hint
    returned = text.replace(f"%y: {kind}) {{", f"%y: {kind}) -> {kind} {{").replace("return\n", f"return %d : {kind}\n")
    expect_followed(returned, body, tmp_path)
    buffer = f"memref{kind.removeprefix('tensor')}"
    assert f"`in restrict writable %… : ({kind}, {buffer}) -> ()`" in found.hint
    stored = text.replace(f"%y: {kind}", f"%y: {buffer}").replace("%d = ", "")
    stored = stored.replace(
        f"in %y : ({kind}, {kind}) -> {kind}", f"in restrict writable %y : ({kind}, {buffer}) -> ()"
    )
    expect_followed(stored, body, tmp_path)


ROW = """func.func @f(%x: tensor<{shape}xf32>) -> tensor<{shape}xf32> {{
  %e = tensor.empty() : tensor<{shape}xf32>
  %r = linalg.exp ins(%x : tensor<{shape}xf32>) outs(%e : tensor<{shape}xf32>) -> tensor<{shape}xf32>
  return %r : tensor<{shape}xf32>
}}"""


@pytest.mark.parametrize(("shape", "sizes"), [("101", "64"), ("3x101", "1, 64"), ("101", "128")])
def test_a_row_that_vectors_do_not_divide(shape: str, sizes: str, tmp_path: Path) -> None:
    axes = "y, x" if "," in sizes else "x"
    whole = f"let op = match linalg.exp\nmap op to grid({axes}) vector 4\nlaunch op"
    found = refused(ROW.format(shape=shape), whole, tmp_path, "W0348")
    assert found.hint is not None and found.hint.endswith("`tile` the op, rows by a multiple of 4, and map the tile")
    tiled = f"let op = match linalg.exp\nlet (t, i) = tile op [{sizes}]\nmap t to blocks({axes})\n"
    expect_followed(ROW.format(shape=shape), tiled + "map i to threads(x: 16) cyclic vector 4\nlaunch t", tmp_path)


COPIED = """let op = match linalg.exp
let (t, i) = tile op [{size}]
let (s, c) = promote-to-shared i.in0{vector}
map c to threads(x: 32) cyclic
map i to threads(x: 32) cyclic
map t to blocks(x)
insert-barriers
launch t"""


@pytest.mark.parametrize(("size", "vector", "led"), [(50, 4, 2), (64, 3, 4), (64, 8, 4), (25, 2, None)])
def test_a_vector_that_the_copy_was_made_with(size: int, vector: int, led: int | None, tmp_path: Path) -> None:
    """The `map` has none: what is wrong is in the statement that made the copy."""
    payload = ROW.format(shape=200)
    found = refused(payload, COPIED.format(size=size, vector=f" vector {vector}"), tmp_path, "W0348")
    assert found.hint is not None and "in the statement that made the op: `promote-to-shared … vector`" in found.hint
    assert led is None or re.search(rf"\b{led}\b", found.hint)
    expect_followed(payload, COPIED.format(size=size, vector=f" vector {led}" if led else ""), tmp_path)
