"""What is said of layouts that put several elements at one address: `weft verify`, a map of a loop, a run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from executors import expect_report
from scheduled import run_schedule

from weft.dsl.diagnostics import Source, WeftError
from weft.runtime.run.execution import RunOptions
from weft.runtime.run.report import Report
from weft.verify import Verdict, verify_source

KERNELS = sorted((Path(__file__).parent / "layouts").glob("*.mlir"))
SHARED = "#gpu.address_space<workgroup>"
SIDES = "known_block_size = array<i32: 8, 8, 1>, known_grid_size = array<i32: 1, 1, 1>"


def verified(text: str) -> Verdict:
    return verify_source(Source("k.mlir", text))


def kernel(kind: str, at: str = "%y, %x", *, argument: str = "", before: str = "") -> str:
    """A kernel of 8 x 8 threads, each of which stores to `%m`."""
    return f"""gpu.module @m {{ gpu.func @k({argument or f"%m: {kind}"}) kernel attributes {{{SIDES}}} {{
      %x = gpu.thread_id x
      %y = gpu.thread_id y
      %c0 = arith.constant 0 : index
      %c2 = arith.constant 2 : index
      %f = arith.constant 1.0 : f32
      {before}
      memref.store %f, %m[{at}] : {kind}
      gpu.return
    }} }}"""


def hosted(kind: str, *, argument: str, before: str = "", at: str = "%ty, %tx", more: str = "") -> str:
    """A host function that launches 8 x 8 threads, each of which stores its row's number to `%m`."""
    return f"""func.func @f({argument}) {{
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      {before}
      gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
                 threads(%tx, %ty, %tz) in (%sx = %c8, %sy = %c8, %sz = %c1) {{
        %row = arith.index_cast %ty : index to i32
        %f = arith.sitofp %row : i32 to f32
        {more}
        memref.store %f, %m[{at}] : {kind}
        gpu.terminator
      }}
      return
    }}"""


# ---- weft verify -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_elements_at_one_address_race(path: Path) -> None:
    text = path.read_text()
    verdict = verified(text)
    assert not verdict.ok and [race for judged in verdict.kernels for race in judged.races if not race["assumed"]]
    notes = [note for judged in verdict.kernels for d in judged.diagnostics for note in d.notes]
    assert any("its layout may put several elements at one address" in note for note in notes)
    for overlapping in ("strided<[4, 1]>", "strided<[32, 1]>", "strided<[1, 1]>", "affine_map<(i, j) -> (i + j)>"):
        text = text.replace(overlapping, "strided<[65, 1]>")
    assert verified(text).ok, "the same with padded rows"


APART = {
    "plain": "memref<8x8xf32>",
    "rows": "memref<8x8xf32, strided<[8, 1]>>",
    "padded rows": "memref<8x8xf32, strided<[12, 1]>>",
    "columns": "memref<8x8xf32, strided<[1, 8]>>",
    "a window": "memref<8x8xf32, strided<[100, 3], offset: 7>>",
    "backward": "memref<8x8xf32, strided<[-8, 1], offset: 56>>",
    "rows in rows": "memref<8x8xf32, strided<[2, 16]>>",
    "neither divides the other": "memref<8x8xf32, strided<[9, 8]>>",
    "offset known at run time": "memref<8x8xf32, strided<[8, 1], offset: ?>>",
    "sizes known at run time": "memref<?x?xf32>",
    "rows known at run time": "memref<?x8xf32, strided<[8, 1]>>",
    "length known at run time": "memref<8x?xf32, strided<[8, 1]>>",
    "a map": "memref<8x8xf32, affine_map<(i, j) -> (j * 8 + i + 3)>>",
}
TOGETHER = {
    "rows overlap": "memref<8x8xf32, strided<[7, 1]>>",
    "one row": "memref<8x8xf32, strided<[0, 1]>>",
    "one element": "memref<8x8xf32, strided<[0, 0]>>",
    "backward": "memref<8x8xf32, strided<[-4, 1], offset: 56>>",
    "neither divides the other": "memref<8x8xf32, strided<[7, 6]>>",
    "offset known at run time": "memref<8x8xf32, strided<[4, 1], offset: ?>>",
    "rows known at run time": "memref<?x8xf32, strided<[4, 1]>>",
    "a map": "memref<8x8xf32, affine_map<(i, j) -> (i * 2 + j * 2)>>",
    "of bytes": "memref<8x8xi8, strided<[4, 1]>>",
}


@pytest.mark.parametrize("name", APART)
def test_no_false_alarm(name: str) -> None:
    assert verified(kernel(APART[name])).ok


@pytest.mark.parametrize("name", TOGETHER)
def test_no_false_proof(name: str) -> None:
    text = kernel(TOGETHER[name])
    if "i8" in text:
        text = text.replace("1.0 : f32", "1 : i8")
    (judged,) = verified(text).kernels
    assert [race["kind"] for race in judged.races if not race["assumed"]] == ["WAW"]


@pytest.mark.parametrize("kind, at, proven", [
    ("memref<8x8xf32, strided<[?, 1]>>", "%y, %x", False),
    ("memref<8x8xf32, strided<[?, ?], offset: ?>>", "%y, %x", False),
    ("memref<8x8xf32, affine_map<(i, j)[s] -> (i * s + j)>>", "%y, %x", False),
    ("memref<?x?xf32, strided<[?, 1]>>", "%y, %x", False),
    ("memref<1x64xf32, strided<[?, 1]>>", "%c0, %l", True),
    ("memref<8x64xf32, strided<[?, 1]>>", "%c2, %l", True),  # one row, wherever it is
])  # fmt: skip
def test_strides_known_at_run_time(kind: str, at: str, proven: bool) -> None:
    linear = "%l = affine.apply affine_map<(d0, d1) -> (d0 * 8 + d1)>(%y, %x)"
    (judged,) = verified(kernel(kind, at, before=linear)).kernels
    assert judged.ok == proven
    for race in judged.races:
        assert race["assumed"]
    for diagnostic in judged.diagnostics:
        assert any("are known only at run time" in note and kind[:10] in note for note in diagnostic.notes)


def test_reading_is_no_race() -> None:
    kind = "memref<8x8xf32, strided<[4, 1]>>"
    text = kernel(kind).replace("memref.store %f, %m[%y, %x]", "%v = memref.load %m[%y, %x]")
    assert verified(text).ok


def test_a_layout_without_strides_is_refused() -> None:
    for layout in ("(i, j) -> ((i * 8 + j) mod 16)", "(i, j) -> (i floordiv 4, j, i mod 4)", "(i, j) -> (j, i)"):
        (judged,) = verified(kernel(f"memref<8x8xf32, affine_map<{layout}>>")).kernels
        assert [d.code for d in judged.diagnostics] == ["W0398"]


def test_two_views_of_one_buffer() -> None:
    """One layout is without overlap, the other one is too, and both together are not."""
    view = "memref<8x8xf32, strided<[16, 1], offset: {}>>"
    cast = "%{} = memref.reinterpret_cast %a to offset: [{}], sizes: [8, 8], strides: [16, 1] : memref<256xf32> to " + view
    for offset, apart in ((8, True), (4, False)):
        before = f"{cast.format('n', 0, 0)}\nmemref.store %f, %n[%y, %x] : {view.format(0)}\n{cast.format('m', offset, offset)}"
        assert verified(kernel(view.format(offset), argument="%a: memref<256xf32>", before=before)).ok == apart


def test_what_a_launch_passes_tells() -> None:
    """Strides that the kernel's type leaves open are those of what is passed."""
    kind = "memref<8x8xf32, strided<[?, ?], offset: ?>>"
    for step, apart in ((8, True), (9, True), (4, False), (0, False)):
        shown = f"memref<8x8xf32, strided<[{step}, 1]>>"
        before = f"%v = memref.reinterpret_cast %a to offset: [0], sizes: [8, 8], strides: [{step}, 1] : memref<128xf32> to {shown}"
        before += f"\n%m = memref.cast %v : {shown} to {kind}"
        assert verified(hosted(kind, argument="%a: memref<128xf32>", before=before)).ok == apart
    assert not verified(hosted(kind, argument=f"%m: {kind}")).ok


def test_a_cast_that_contradicts_what_is_known() -> None:
    """`memref.cast` to strides that the buffer does not have: nothing is proven of it."""
    loose, kind = "memref<8x8xf32, strided<[?, ?], offset: ?>>", "memref<8x8xf32, strided<[4, 1]>>"
    before = f"%v = memref.cast %a : memref<8x8xf32> to {loose}\n%m = memref.cast %v : {loose} to {kind}"
    assert not verified(hosted(kind, argument="%a: memref<8x8xf32>", before=before)).ok


@pytest.mark.parametrize("step, apart", [(8, True), (12, True), (4, False)])
def test_a_cast_tells_strides(step: int, apart: bool) -> None:
    """`memref.cast` to strides that its type states: they are those of what is passed, or the program is wrong."""
    loose, kind = "memref<8x8xf32, strided<[?, ?], offset: ?>>", f"memref<8x8xf32, strided<[{step}, 1], offset: ?>>"
    (judged,) = verified(kernel(kind, argument=f"%a: {loose}", before=f"%m = memref.cast %a : {loose} to {kind}")).kernels
    assert judged.ok == apart and not any(race["assumed"] for race in judged.races)


# ---- map -------------------------------------------------------------------------------------------------------------------

LOOPS = """func.func @f({argument}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %f = arith.constant 1.0 : f32
  {before}
  scf.for %i = %c0 to %c8 step %c1 {{
    scf.for %j = %c0 to %c8 step %c1 {{
      memref.store %f, %m[%i, %j] : {kind}
    }}
  }}
  return
}}"""
FORALL = """func.func @f({argument}) {{
  %f = arith.constant 1.0 : f32
  {before}
  scf.forall (%i, %j) in (8, 8) {{
    memref.store %f, %m[%i, %j] : {kind}
  }}
  return
}}"""
COPY = """func.func @f({argument}, %y: memref<8x8xf32>) {{
  {before}
  linalg.copy ins(%y : memref<8x8xf32>) outs(%m : {kind})
  return
}}"""
SCHEDULES = {
    LOOPS: "let l = match scf.for #0\n  map l to blocks(x)",
    FORALL: "let l = match scf.forall\n  map l to threads(y, x)",
    COPY: "let l = match linalg.copy\n  map l to threads(y, x)",
}


def run(tmp_path: Path, text: str, steps: str) -> Report:
    (tmp_path / "p.mlir").write_text(text)
    (tmp_path / "s.weft").write_text(f"schedule s() {{\n  {steps}\n}}\n")
    return run_schedule(str(tmp_path / "s.weft"), tmp_path / "p.mlir", {}, None, RunOptions("sim", 1)).report


Given = Callable[[int], dict[str, str]]


def as_argument(step: int) -> dict[str, str]:
    kind = f"memref<8x8xf32, strided<[{step}, 1]>>"
    return {"argument": f"%m: {kind}", "before": "", "kind": kind}


def as_view(step: int) -> dict[str, str]:
    kind = f"memref<8x8xf32, strided<[{step}, 1]>>"
    before = f"%m = memref.reinterpret_cast %a to offset: [0], sizes: [8, 8], strides: [{step}, 1] : memref<128xf32> to {kind}"
    return {"argument": "%a: memref<128xf32>", "before": before, "kind": kind}


@pytest.mark.parametrize("given", [as_argument, as_view])
@pytest.mark.parametrize("text, code", [(LOOPS, "W0343"), (FORALL, "W0343"), (COPY, "W0396")], ids=["loops", "forall", "copy"])
def test_iterations_that_write_one_address_depend_on_each_other(tmp_path: Path, text: str, code: str, given: Given) -> None:
    steps = f"{SCHEDULES[text]}\n  insert-barriers\n  launch l"
    with pytest.raises(WeftError) as caught:
        run(tmp_path, text.format(**given(4)), steps)
    assert caught.value.diagnostics[0].code == code
    if given is as_view:
        report = run(tmp_path, text.format(**given(9)), steps)
        expect_report(report)


def test_strides_that_the_caller_leaves_open(tmp_path: Path) -> None:
    """What is run gets arrays that lie row by row, whatever its types leave open."""
    kind = "memref<8x8xf32, strided<[?, ?], offset: ?>>"
    text = LOOPS.format(argument=f"%m: {kind}", before="", kind=kind)
    assert run(tmp_path, text, f"{SCHEDULES[LOOPS]}\n  insert-barriers\n  launch l").ok
    made = "%m = memref.reinterpret_cast %a to offset: [0], sizes: [8, 8], strides: [%c1, 1] : memref<128xf32> to "
    kind = "memref<8x8xf32, strided<[?, 1]>>"
    text = LOOPS.format(argument="%a: memref<128xf32>", before=made + kind, kind=kind)
    with pytest.raises(WeftError) as caught:
        run(tmp_path, text, f"{SCHEDULES[LOOPS]}\n  insert-barriers\n  launch l")
    assert caught.value.diagnostics[0].code == "W0343"


# ---- run -------------------------------------------------------------------------------------------------------------------

OUTLINE = 'run-pass "gpu-kernel-outlining"'


@pytest.mark.parametrize("strides, offset, races", [
    ("[8, 1]", 0, False), ("[4, 1]", 0, True), ("[0, 1]", 0, True), ("[-8, 1]", 56, False), ("[-4, 1]", 56, True),
])  # fmt: skip
def test_the_simulator_sees_one_address(tmp_path: Path, strides: str, offset: int, races: bool) -> None:
    kind = f"memref<8x8xf32, strided<{strides}{f', offset: {offset}' * (offset > 0)}>>"
    before = f"%m = memref.reinterpret_cast %a to offset: [{offset}], sizes: [8, 8], strides: {strides} : memref<64xf32> to {kind}"
    report = run(tmp_path, hosted(kind, argument="%a: memref<64xf32>", before=before), OUTLINE)
    assert bool(report.races) == races and (races or report.ok)


@pytest.mark.parametrize("open_", [False, True])
def test_a_view_of_a_window_counts_from_where_its_buffer_begins(tmp_path: Path, open_: bool) -> None:
    """`memref.reinterpret_cast` in a kernel, of what a launch passes: the offset of what is passed does not count."""
    kind, window, v = "memref<8x8xf32>", "memref<8xf32, strided<[1], offset: 16>>", "%v"
    before = f"%v = memref.subview %a[16] [8] [1] : memref<64xf32> to {window}"
    if open_:
        v, loose = "%w", "memref<8xf32, strided<[?], offset: ?>>"
        before, window = f"{before}\n%w = memref.cast %v : {window} to {loose}", loose
    shown = "memref<8xf32, strided<[1], offset: 4>>"
    more = f"""%r = memref.reinterpret_cast {v} to offset: [4], sizes: [8], strides: [1] : {window} to {shown}
        %g = memref.load %r[%tx] : {shown}"""
    text = hosted(kind, argument=f"%a: memref<64xf32>, %m: {kind}", before=before, more=more).replace("store %f", "store %g")
    assert run(tmp_path, text, OUTLINE).ok


REFUSED = {
    "an argument": ("W0733", hosted("memref<8x8xf32, strided<[4, 1]>>", argument="%m: memref<8x8xf32, strided<[4, 1]>>")),
    "an allocation": ("W0733", hosted(
        "memref<8x8xf32, strided<[9, 1]>>", argument="%a: memref<8xf32>",
        before="%m = memref.alloc() : memref<8x8xf32, strided<[9, 1]>>",
    )),
    "a constant of the host": ("W0733", "memref.global constant @t : memref<8x8xf32, strided<[1, 8]>> = dense<1.0>\n" + hosted(
        "memref<8x8xf32>", argument="%m: memref<8x8xf32>",
        before="%t = memref.get_global @t : memref<8x8xf32, strided<[1, 8]>>",
        more="%g = memref.load %t[%tx, %ty] : memref<8x8xf32, strided<[1, 8]>>",
    )),
    "memory of a thread": ("W0503", hosted(
        "memref<8x8xf32, strided<[9, 1]>>", argument="%a: memref<8xf32>",
        more="%m = memref.alloca() : memref<8x8xf32, strided<[9, 1]>>",
    )),
    "a cast to strides that it does not have": ("W0705", hosted(
        "memref<8x8xf32, strided<[4, 1]>>", argument="%a: memref<8x8xf32>",
        before="""%v = memref.cast %a : memref<8x8xf32> to memref<8x8xf32, strided<[?, ?], offset: ?>>
          %m = memref.cast %v : memref<8x8xf32, strided<[?, ?], offset: ?>> to memref<8x8xf32, strided<[4, 1]>>""",
    )),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_laid_out_is_refused(tmp_path: Path, name: str) -> None:
    code, text = REFUSED[name]
    with pytest.raises(WeftError) as caught:
        run(tmp_path, text, OUTLINE)
    assert caught.value.diagnostics[0].code == code
