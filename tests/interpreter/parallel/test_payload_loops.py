"""Loops of the payload: which are parallel, what becomes of them under maps, `tile` and `coalesce`; judged by the JIT."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from contexts import one_context
from judged import Program, codes, program, refusal

from weft.interpreter.ir import mlir
from weft.interpreter.loops.forall import without_affine_loops
from weft.interpreter.parallel.collisions import collision

CONSTANTS = "\n".join(f"%c{n} = arith.constant {n} : index" for n in (0, 1, 2, 3, 5, 7, 11, 23, 40))
DIMS = "%m = memref.dim %A, %c0 : memref<?x?xf32>\n%n = memref.dim %A, %c1 : memref<?x?xf32>"


def payload(loops: str, shape: str = "23x40") -> str:
    kind = f"memref<{shape}xf32>"
    dims = DIMS if "?" in shape else ""
    return f"""\
func.func @f(%A: {kind} {{weft.name = "A"}}, %B: {kind} {{weft.name = "B"}}, %s: memref<40xf32> {{weft.name = "s"}}) {{
  %one = arith.constant 1.0 : f32
  {CONSTANTS}
  {dims}
  {loops}
  return
}}
""".replace("KIND", kind)


BODY = """%v = memref.load %A[%i, %j] : KIND
  %w = arith.addf %v, %one : f32
  memref.store %w, %B[%i, %j] : KIND"""
AFFINE_BODY = BODY.replace("memref.load", "affine.load").replace("memref.store", "affine.store")
NESTS = {
    "scf.for": f"scf.for %i = %c1 to %M step %c2 {{ scf.for %j = %c3 to %N step %c5 {{ {BODY} }} }}",
    "affine.for": f"affine.for %i = 1 to %M step 2 {{ affine.for %j = 3 to %N step 5 {{ {AFFINE_BODY} }} }}",
    "scf.parallel": f"scf.parallel (%i, %j) = (%c1, %c3) to (%M, %N) step (%c2, %c5) {{ {BODY} }}",
    "affine.parallel": f"affine.parallel (%i, %j) = (1, 3) to (symbol(%M), symbol(%N)) step (2, 5) {{ {AFFINE_BODY} }}",
    "scf.forall": f"scf.forall (%i, %j) = (1, 3) to (%M, %N) step (2, 5) {{ {BODY} }}",
}
WAYS = {
    "grid": "map l to grid(y, x)",
    "counted grid": "map l to grid(y: 5, x: 40) cyclic",
    "symbolic blocks": "map l to blocks(y: ?, x: ?) block",
    "threads": "map l to threads(y: 4, x: 3) block-cyclic(2)",
    "warps": "map l to warps(y: 2, x: 2) cyclic",
    "coalesced": "let l = coalesce l\nmap l to grid(x: ?) block-cyclic(3)",
    "coalesced over lanes": "let l = coalesce l\nmap l to lanes cyclic",
    "tiled": "let (l, i) = tile l [4, 3]\nmap l to blocks(y, x)\nmap i to threads(y, x)",
    "tiled in one dimension": "let (l, i) = tile l [_, 3]\nmap l to blocks(x: 2) cyclic\nmap i to threads(y: 4, x: 3) block",
    "tiled, then coalesced": "let (l, i) = tile l [4, 3]\nlet i = coalesce i\nmap l to blocks(y, x)\nmap i to threads(x: 8) cyclic",
    "rows to warps": (
        "let (l, i) = tile l [4, _]\nmap l to blocks(x)\nlet (w, r) = tile i [1, _]\nmap w to warps(x)\n"
        "let r = coalesce r\nmap r to lanes cyclic"
    ),
}


def made(folder: Path, loops: str, ways: str, shape: str = "23x40") -> Program:
    bounds = ("%m", "%n") if "?" in shape else ("%c23", "%c40")
    text = payload(loops.replace("%M", bounds[0]).replace("%N", bounds[1]), shape)
    name = next(
        word for word in ("scf.forall", "affine.parallel", "scf.parallel", "affine.for", "scf.for") if word in loops
    )
    first = f"let l = match {name}{' #0' if name.endswith('.for') else ''}"
    return program(folder, text, f"{first}\n{ways}\nlaunch l")


@pytest.mark.few()
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("spelling", ["scf.for", "affine.parallel"])
def test_static(way: str, spelling: str, tmp_path: Path) -> None:
    assert not made(tmp_path, NESTS[spelling], WAYS[way]).wrong()


EXPANDED = """\
func.func @f(
  %A: memref<12x30xf32> {weft.name = "A"}, %D: memref<?xf32> {weft.name = "D"}, %B: memref<2x5x4xf32> {weft.name = "B"},
  %n: index {weft.name = "n"}
) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %S = memref.subview %A[2, 3] [6, 20] [1, 1] : memref<12x30xf32> to memref<6x20xf32, strided<[30, 1], offset: 63>>
  %E = memref.expand_shape %S [[0], [1, 2]] output_shape [6, 5, 4]
    : memref<6x20xf32, strided<[30, 1], offset: 63>> into memref<6x5x4xf32, strided<[30, 4, 1], offset: 63>>
  %F = memref.expand_shape %D [[0, 1, 2]] output_shape [2, %n, 4] : memref<?xf32> into memref<2x?x4xf32>
  scf.parallel (%h, %i, %j) = (%c0, %c0, %c0) to (%c2, %c5, %c4) step (%c1, %c1, %c1) {
    %u = memref.load %E[%h, %i, %j] : memref<6x5x4xf32, strided<[30, 4, 1], offset: 63>>
    %v = memref.load %F[%h, %i, %j] : memref<2x?x4xf32>
    %w = arith.addf %u, %v : f32
    memref.store %w, %B[%h, %i, %j] : memref<2x5x4xf32>
  }
  return
}
"""


def test_reshapes(tmp_path: Path) -> None:
    """A view that takes a dimension apart puts the indices of its accesses together: sums, and no op that nobody knows."""
    found = program(tmp_path, EXPANDED, "let l = match scf.parallel\nmap l to grid(z, y, x)\nlaunch l")
    assert "linearize_index" not in found.module
    sizes = {"A": (12, 30), "D": (48,), "B": (2, 5, 4)}
    draw = np.random.default_rng(0)
    inputs = {name: draw.random(shape, np.float32) for name, shape in sizes.items()}
    assert not found.wrong({**inputs, "n": np.int64(6)}, native=True, folder=tmp_path)


WIDE = {
    "a row": ("1x8", "memref.subview %A[0, 0] [1, 8] [1, 1] : memref<1x8xf32> to", "memref<8xf32, strided<[1]>>", True),
    "a column": ("8x1", "memref.subview %A[0, 0] [8, 1] [1, 1] : memref<8x1xf32> to", "memref<8xf32, strided<[1]>>", False),
    "a column on its side": (
        "8x1", "memref.transpose %A (i, j) -> (j, i) : memref<8x1xf32> to", "memref<1x8xf32, strided<[1, 1]>>", False,
    ),
    "rows end to end": ("4x2", "memref.collapse_shape %A [[0, 1]] : memref<4x2xf32> into", "memref<8xf32>", True),
}  # fmt: skip


@pytest.mark.parametrize("view", WIDE)
def test_wide_accesses_stay_in_their_row(view: str, tmp_path: Path) -> None:
    """A column of one element per row lies in one piece, and yet no access of four elements may begin in it."""
    shape, made_by, kind, wide = WIDE[view]
    result = f"memref<{kind[7:].split(',')[0].strip('>')}>"
    text = f"""func.func @f(%A: memref<{shape}xf32> {{weft.name = "A"}}, %B: {result} {{weft.name = "B"}}) {{
  %v = {made_by} {kind}
  linalg.copy ins(%v : {kind}) outs(%B : {result})
  return
}}
"""
    found = program(tmp_path, text, "let c = match linalg.copy\nmap c to grid(x) vector 4\nlaunch c")
    assert not found.wrong(native=True)
    assert ("vector.load" in found.module) == wide and "vector.store" in found.module


@pytest.mark.parametrize("way", WAYS)
def test_proven_race_free(way: str, tmp_path: Path) -> None:
    """Independent iterations need no barrier under any map, and the analysis of the kernel proves it."""
    ready = made(tmp_path, NESTS["affine.for"], f"{WAYS[way]}\ninsert-barriers\nverify-sync")
    assert "no barrier needed: proven" in ready.remarks
    assert "__syncthreads" not in ready.cuda


@pytest.mark.few()
@pytest.mark.parametrize("spelling", NESTS)
@pytest.mark.parametrize("way", ["grid", "coalesced", "tiled", "threads"])
def test_bounds_known_at_run_time(way: str, spelling: str, tmp_path: Path) -> None:
    ready = made(tmp_path, NESTS[spelling], WAYS[way], "?x?")
    for rows, columns in ((23, 40), (2, 4), (1, 2)):
        a = np.random.default_rng(0).random((rows, columns), dtype=np.float32)
        inputs = {"A": a, "B": np.zeros_like(a), "s": np.zeros(40, np.float32)}
        assert not ready.wrong(inputs, folder=tmp_path)


@pytest.mark.parametrize("way", ["grid", "coalesced", "rows to warps"])
def test_text(way: str, tmp_path: Path) -> None:
    assert not made(tmp_path, NESTS["affine.for"], WAYS[way]).wrong(native=True)


MORE = {
    "one loop after the other, on blocks and threads": (
        NESTS["scf.for"].replace("%M", "%c23").replace("%N", "%c40"),
        "let i = match scf.for #0\nlet j = match scf.for #1\nmap i to blocks(x: 4) block\nmap j to threads(x: 3) cyclic\nlaunch i",
    ),
    "the inner one first": (
        NESTS["affine.for"].replace("%M", "23").replace("%N", "40"),
        "let j = match affine.for #1\nlet i = match affine.for #0\nmap j to threads(x: 3) cyclic\nmap i to blocks(x)\nlaunch i",
    ),
    "a reduction inside": (
        "affine.for %i = 0 to 23 { affine.for %j = 0 to 40 { %a = affine.load %A[%i, %j] : KIND\n"
        "%x = affine.load %s[%i] : memref<40xf32>\n%y = arith.addf %x, %a : f32\naffine.store %y, %s[%i] : memref<40xf32> } }",
        "let i = match affine.for #0\nmap i to grid(x)\nlaunch i",
    ),
    "a reduction in a value": (
        "affine.for %i = 0 to 23 { %r = affine.for %j = 0 to 40 iter_args(%x = %one) -> f32 { %a = affine.load %A[%i, %j] : KIND\n"
        "%y = arith.addf %x, %a : f32\naffine.yield %y : f32 }\naffine.store %r, %s[%i] : memref<40xf32> }",
        "let i = match affine.for #0\nmap i to blocks(x: 4) cyclic\nlaunch i",
    ),
    "a triangle": (
        f"affine.for %i = 0 to 23 {{ affine.for %j = 0 to affine_map<(d0) -> (d0 + 1)>(%i) {{ {AFFINE_BODY} }} }}",
        "let i = match affine.for #0\nlet j = match affine.for #1\nmap i to blocks(x)\nmap j to threads(x: 7) cyclic\nlaunch i",
    ),
    "bounds that are minima": (
        "affine.for %i = max affine_map<(d0) -> (d0, 2)>(%c3) to min affine_map<(d0)[s0] -> (d0, s0 + 3)>(%c23)[%c11] "
        f"{{ affine.for %j = 0 to 40 {{ {AFFINE_BODY} }} }}",
        "let i = match affine.for #0\nmap i to grid(y, x)\nlaunch i",
    ),
    "an if": (
        "affine.for %i = 0 to 23 { affine.for %j = 0 to 40 { affine.if affine_set<(d0, d1) : (d0 - d1 >= 0, d1 - 2 >= 0)>(%i, %j) "
        f"{{ {AFFINE_BODY} }} else {{ affine.store %one, %B[%i, %j] : KIND }} }} }}",
        "let i = match affine.for #0\nmap i to grid(y, x)\nlaunch i",
    ),
    "not perfectly nested: a single thread does what stands between": (
        f"affine.for %i = 0 to 23 {{ affine.store %one, %s[%i] : memref<40xf32>\naffine.for %j = 0 to 40 {{ {AFFINE_BODY} }} }}",
        "let i = match affine.for #0\nlet j = match affine.for #1\nlet s = match affine.store #0\n"
        "map i to blocks(x)\nmap j to threads(x: 16) cyclic\nmap s to threads(*)\nlaunch i",
    ),
    "index arithmetic between the loops": (
        "scf.for %i = %c0 to %c11 step %c1 { %k = arith.muli %i, %c2 : index\nscf.for %j = %c0 to %c40 step %c1 { "
        + BODY.replace("%i,", "%k,") + " } }",
        "let i = match scf.for #0\nmap i to grid(y, x)\nlaunch i",
    ),
    "parallel loops in each other": (
        f"scf.parallel (%i) = (%c0) to (%c23) step (%c1) {{ scf.parallel (%j) = (%c0) to (%c40) step (%c3) {{ {BODY} }} }}",
        "let i = match scf.parallel #0\nlet flat = coalesce i\nmap flat to grid(x)\nlaunch flat",
    ),
    "a buffer of its own in each iteration": (
        "scf.for %i = %c0 to %c23 step %c1 { %t = memref.alloca() : memref<2xf32>\n%v = memref.load %A[%i, %c0] : KIND\n"
        "memref.store %v, %t[%c1] : memref<2xf32>\n%w = memref.load %t[%c1] : memref<2xf32>\n"
        "memref.store %w, %s[%i] : memref<40xf32> }",
        "let i = match scf.for\nmap i to grid(x)\nlaunch i",
    ),
    "an allocation of its own in each iteration, on blocks": (
        "scf.for %i = %c0 to %c23 step %c1 { %t = memref.alloc() : memref<2xf32>\n%v = memref.load %A[%i, %c0] : KIND\n"
        "memref.store %v, %t[%c1] : memref<2xf32>\n%w = memref.load %t[%c1] : memref<2xf32>\n"
        "memref.store %w, %s[%i] : memref<40xf32>\nmemref.dealloc %t : memref<2xf32> }",
        "let i = match scf.for\nmap i to blocks(x)\nlaunch i",
    ),
    "two halves of one buffer": (
        "%a = memref.subview %s[0] [20] [1] : memref<40xf32> to memref<20xf32, strided<[1]>>\n"
        "%b = memref.subview %s[20] [20] [1] : memref<40xf32> to memref<20xf32, strided<[1], offset: 20>>\n"
        "scf.for %i = %c0 to %c11 step %c1 { %v = memref.load %a[%i] : memref<20xf32, strided<[1]>>\n"
        "memref.store %v, %b[%i] : memref<20xf32, strided<[1], offset: 20>> }",
        "let i = match scf.for\nmap i to grid(x)\nlaunch i",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MORE)
def test_more(name: str, tmp_path: Path) -> None:
    loops, statements = MORE[name]
    assert not program(tmp_path, payload(loops), statements).wrong()


def test_no_iterations_times_no_iterations_is_none(tmp_path: Path) -> None:
    """Two upper bounds below the lower ones: their trip counts must not make a product above 0."""
    loops = NESTS["scf.for"].replace("%c1 to", "%c23 to").replace("%c3 to", "%c23 to")
    ready = made(tmp_path, loops, WAYS["coalesced"], "?x?")
    a = np.ones((3, 4), np.float32)
    assert not ready.wrong({"A": a, "B": a, "s": np.zeros(40, np.float32)}, folder=tmp_path)


LOADS = "%v = memref.load %s[%p] : memref<40xf32>\nmemref.store %v, %s[%q] : memref<40xf32>"


def indices(p: str, q: str) -> str:
    lines = [f"%{name} = affine.apply affine_map<(d0) -> ({form})>(%i)" for name, form in (("p", p), ("q", q))]
    return "\n".join(lines) + "\n" + LOADS


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        (indices("d0", "d0"), None),
        (indices("d0", "d0 + 1"), (0, 1)),
        (indices("d0 + 1", "d0"), (0, 1)),
        (indices("d0 * 2", "d0 * 2 + 1"), None),
        (indices("d0 * 2", "d0 * 2 + 4"), (0, 2)),
        (indices("d0", "d0 + 22"), (0, 22)),
        (indices("d0", "d0 + 23"), None),
        (indices("d0 mod 8", "d0 mod 8 + 8"), (0, 8)),
        (indices("d0 + 8", "d0 floordiv 4"), (0, 1)),
        (indices("0", "1"), (0, 1)),
        ("memref.store %one, %s[%i] : memref<40xf32>", None),
        ("memref.store %one, %s[%c5] : memref<40xf32>", (0, 1)),
        ("%v = memref.load %s[%c5] : memref<40xf32>\nmemref.store %v, %A[%i, %c0] : KIND", None),
        ("memref.atomic_rmw addf %one, %s[%c5] : (f32, memref<40xf32>) -> f32", None),
        (
            "%f = memref.load %A[%i, %c0] : KIND\n%t = arith.fptosi %f : f32 to i32\n%at = arith.index_cast %t : i32 to index\n"
            "memref.store %one, %s[%at] : memref<40xf32>",
            "assumed",
        ),
        ('%u = "test.unknown"(%s) : (memref<40xf32>) -> f32\nmemref.store %u, %A[%i, %c0] : KIND', "assumed"),
    ],
)
def test_dependence(body: str, wanted: tuple[int, int] | str | None) -> None:
    module = mlir.parse(payload(f"scf.for %i = %c0 to %c23 step %c1 {{ {body} }}"), one_context())
    (loop,) = mlir.operations(module.operation, "scf.for")
    before = str(module)
    found = collision(module, loop)
    assert str(module) == before
    if wanted is None or found is None:
        assert found is wanted
    else:
        assert found.assumed == (wanted == "assumed")
        if not found.assumed:
            assert found.iterations is not None
            i, j = found.iterations
            assert i < j and (wanted[1] - wanted[0] == j - i or "mod" in body or "floordiv" in body or "%c5" in body)


@pytest.mark.parametrize("spelling", ["scf.parallel (%i) = (%c0) to (%c23) step (%c1)", "scf.forall (%i) in (23)"])
def test_what_the_payload_calls_parallel(spelling: str, tmp_path: Path) -> None:
    """Believed where nothing is proven, refused where a collision is."""
    name = spelling.split()[0]
    statements = f"let l = match {name}\nmap l to grid(x)\nlaunch l"
    scatter = "%f = memref.load %A[%i, %c0] : KIND\n%t = arith.fptosi %f : f32 to i32\n%at = arith.index_cast %t : i32 to index\n"
    scatter += "memref.store %one, %s[%at] : memref<40xf32>"
    assert not refusal(tmp_path, payload(f"{spelling} {{ {scatter} }}"), statements)
    said = refusal(tmp_path, payload(f"{spelling} {{ {indices('d0', 'd0 + 1')} }}"), statements)
    assert codes(said) == ["W0343"] and f"the payload declares this {name} parallel, but iterations" in said


def test_affine_loops_are_lowered_alone() -> None:
    text = payload(NESTS["affine.for"].replace("%M", "%c23").replace("%N", "%c40") * 2)
    module = mlir.parse(text, one_context())
    first = next(mlir.operations(module.operation, "affine.for"))
    with module.context:
        made_of = without_affine_loops(first)
    module.operation.verify()
    assert made_of.name == "scf.for" and not list(mlir.operations(made_of, "affine.load", "affine.store", "affine.for"))
    assert len(list(mlir.operations(module.operation, "affine.for"))) == 2


@pytest.mark.parametrize(
    "spelling", ["scf.for %i = %lo to %hi step %st", "scf.parallel (%i) = (%lo) to (%hi) step (%st)"]
)
def test_all_bounds_at_run_time(spelling: str, tmp_path: Path) -> None:
    text = f"""\
func.func @f(%lo: index {{weft.name = "lo"}}, %hi: index {{weft.name = "hi"}}, %st: index {{weft.name = "st"}},
             %A: memref<100xf32> {{weft.name = "A"}}, %B: memref<100xf32> {{weft.name = "B"}}) {{
  {spelling} {{
    %v = memref.load %A[%i] : memref<100xf32>
    memref.store %v, %B[%i] : memref<100xf32>
  }}
  return
}}
"""
    ready = program(
        tmp_path, text, f"let l = match {spelling.split()[0]}\nmap l to grid(x: ?) block-cyclic(2)\nlaunch l"
    )
    a = np.random.default_rng(0).random(100, dtype=np.float32)
    for lo, hi, st in ((0, 100, 1), (3, 99, 7), (5, 5, 2), (9, 2, 3)):
        inputs = {"lo": np.array(lo), "hi": np.array(hi), "st": np.array(st), "A": a, "B": np.zeros_like(a)}
        assert not ready.wrong(inputs, folder=tmp_path)


# ---- sequential loops on one processor ---------------------------------------------------------------------------------------

CARRIED = """affine.for %i = 0 to 40 iter_args(%sum = %one) -> (f32) {
    %a = affine.load %A[3, %i] : KIND
    %next = arith.addf %sum, %a : f32
    affine.store %next, %s[%i] : memref<40xf32>
    affine.yield %next : f32
  }"""
IN_ORDER = {
    "carries a value": CARRIED,
    "its result is stored, later": f"%r = {CARRIED}\n%late = arith.constant 2.0 : f32\n%d = arith.mulf %r, %late : f32\n"
    "memref.store %d, %B[%c0, %c1] : KIND\nmemref.store %r, %B[%c1, %c0] : KIND",
    "reads what it wrote": """scf.for %i = %c1 to %c40 step %c1 {
    %p = arith.subi %i, %c1 : index
    %a = memref.load %s[%p] : memref<40xf32>
    %b = memref.load %A[%c2, %i] : KIND
    %t = arith.addf %a, %b : f32
    memref.store %t, %s[%i] : memref<40xf32>
  }""",
    "Gauss-Seidel": """affine.for %i = 1 to 22 { affine.for %j = 1 to 39 {
    %a = affine.load %B[%i - 1, %j] : KIND
    %b = affine.load %B[%i, %j - 1] : KIND
    %t = arith.addf %a, %b : f32
    affine.store %t, %B[%i, %j] : KIND
  } }""",
    "depends on data": """scf.for %i = %c0 to %c23 step %c1 {
    %a = memref.load %A[%i, %c0] : KIND
    %n = arith.fptosi %a : f32 to i32
    %k = arith.index_cast %n : i32 to index
    %l = arith.remui %k, %c40 : index
    %b = memref.load %s[%l] : memref<40xf32>
    %t = arith.addf %b, %one : f32
    memref.store %t, %s[%l] : memref<40xf32>
  }""",
}


def _in_order(name: str) -> str:
    return payload(IN_ORDER[name])


@pytest.mark.few()
@pytest.mark.parametrize("space", ["threads(x: 1) cyclic", "blocks(x: 1)", "grid(y: 1, x: 1)"])
@pytest.mark.parametrize("name", IN_ORDER)
def test_one_processor_executes_a_sequential_loop(name: str, space: str, tmp_path: Path) -> None:
    loop = "match affine.for #0" if "affine.for" in IN_ORDER[name] else "match scf.for"
    assert not program(tmp_path, _in_order(name), f"let l = {loop}\nmap l to {space}\nlaunch l").wrong()


@pytest.mark.parametrize("space", ["threads(x)", "threads(x: 2) cyclic", "blocks(x: ?) cyclic"])
def test_several_processors_do_not(space: str, tmp_path: Path) -> None:
    refused = refusal(tmp_path, _in_order("reads what it wrote"), f"let l = match scf.for\nmap l to {space}\nlaunch l")
    assert codes(refused) == ["W0343"] and "or map it to one" in refused


def test_a_result_that_leaves_the_loops_processor_is_refused(tmp_path: Path) -> None:
    text = payload(f"%r = {CARRIED}\naffine.for %k = 0 to 40 {{ affine.store %r, %s[%k] : memref<40xf32> }}")
    refused = refusal(tmp_path, text, "let l = match affine.for #0\nmap l to threads(x: 1)\nlaunch l")
    assert codes(refused) == ["W0343"] and "`memref.store` the loop's results" in refused


@pytest.mark.parametrize(
    ("loops", "why"),
    [
        ("affine.for %i = 0 to 14 { affine.for %j = 0 to affine_map<(d0) -> (d0 + 1)>(%i) { AFFINE } }", "depend on the variable"),
        ("affine.for %i = 0 to 14 { affine.for %j = affine_map<(d0) -> (d0)>(%i) to 40 { AFFINE } }", "depend on the variable"),
        ("scf.for %i = %c0 to %c11 step %c1 { scf.for %j = %c0 to %i step %c1 { BODY } }", "depend on the variable"),
        ("scf.forall (%i) in (11) { scf.forall (%j) in (%i) { BODY } }", "depend on the variable"),
        (
            "scf.for %i = %c0 to %c11 step %c1 { memref.store %one, %s[%i] : memref<40xf32>\n"
            "scf.for %j = %c0 to %c11 step %c1 { BODY } }", "is between the loops",
        ),
    ],
)  # fmt: skip
def test_coalesce_says_why_no_loop_inside_joins(loops: str, why: str, tmp_path: Path) -> None:
    text = payload(loops.replace("AFFINE", AFFINE_BODY).replace("BODY", BODY))
    kind = "scf.forall #0" if "forall" in loops else "affine.for #0" if "affine" in loops else "scf.for #0"
    refused = refusal(tmp_path, text, f"let l = match {kind}\nlet flat = coalesce l")
    assert codes(refused) == ["W0363"] and why in refused
