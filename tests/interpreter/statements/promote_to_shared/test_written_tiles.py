"""`promote-to-shared` of what a loop of the payload stores: written back after it, read first only where something of it stays;
right by every witness, each barrier needed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from judged import Program, codes, program, refusal
from judging import assert_barriers_needed, expect_right  # pyright: ignore[reportMissingImports]

READ = "read, and written back after the loop"
OVERWRITTEN = "written back after the loop, and not read"


def staged(first: str, results: str, by: str = "block") -> str:
    """A loop over blocks and the one inside; the tile's copies belong to the threads in another way than the loop's iterations."""
    lines = ["let t = match affine.for #0", "let i = match affine.for #1", "map t to blocks(x)", f"map i to threads(x: 8) {by}"]
    lines += [f"let ({results}) = promote-to-shared {first}"]
    lines += [f"map {one} to threads(x: 8) cyclic" for one in results.split(", ")[1:]]
    return "\n".join([*lines, "insert-barriers", "launch t"])


def right(folder: Path, payload: str, lines: str) -> Program:
    made = program(folder, payload, lines)
    expect_right(made.ready, 1, f"\n{payload}\n{lines}", native=True)
    assert_barriers_needed(made.ready, 1, f"\n{payload}\n{lines}")
    return made


SUMS = """\
func.func @f(%A: memref<{m}x40xf32>, %s: memref<{m}xf32>) {{
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
{size}
  affine.for %i0 = 0 to {end} step 16 {{
    affine.for %i = 0 to min affine_map<(d)[n] -> (16, n - d)>(%i0)[{end}] {{
      {start}
      affine.for %k = 0 to 40 {{
        %a = affine.load %A[%i0 + %i, %k] : memref<{m}x40xf32>
        %o = affine.load %s[%i0 + %i] : memref<{m}xf32>
        %t = arith.addf %a, %o : f32
        affine.store %t, %s[%i0 + %i] : memref<{m}xf32>
      }}
    }}
  }}
  return
}}
"""
STORE = "affine.store %zero, %s[%i0 + %i] : memref<{m}xf32>"


def sums(m: int | str, start: str) -> str:
    dynamic = m == "?"
    size = "  %n = memref.dim %s, %c0 : memref<?xf32>" if dynamic else f"  %n = arith.constant {m} : index"
    return SUMS.format(m=m, end="%n", size=size, start=start.format(m=m))


@pytest.mark.few(2)
@pytest.mark.parametrize("m", [64, 61, 3])
@pytest.mark.parametrize(("start", "names", "said"), [(STORE, "c, merge", OVERWRITTEN), ("", "c, copy, merge", READ)])
def test_sums(m: int, start: str, names: str, said: str, tmp_path: Path) -> None:
    """What is filled in the loop is not read in front of it, ragged or not; what only adds up is."""
    made = right(tmp_path, sums(m, start), staged("i.s", names))
    assert said in made.remarks and "s_shared[" in made.cuda


@pytest.mark.parametrize("m", [48, 50, 1])
def test_sums_of_sizes_at_run_time(m: int, tmp_path: Path) -> None:
    made = program(tmp_path, sums("?", STORE), staged("i.s", "c, merge", "cyclic"))
    rng = np.random.default_rng(m)
    inputs = {"A": rng.random((m, 40), dtype=np.float32), "s": rng.random(m, dtype=np.float32)}
    assert OVERWRITTEN in made.remarks
    assert not made.wrong(inputs, folder=tmp_path) and not made.wrong(inputs, folder=tmp_path, native=True)


PAIRS = """\
func.func @f(%x: memref<64xf32>, %y: memref<64xf32>) {{
  affine.for %i0 = 0 to 64 step 32 {{
    affine.for %i = 0 to 16 {{
      %a = affine.load %x[%i0 + 2 * %i] : memref<64xf32>
      %b = affine.load %x[%i0 + 2 * %i + 1] : memref<64xf32>
      affine.store %b, {first} : memref<64xf32>
      affine.store %a, {second} : memref<64xf32>
    }}
  }}
  return
}}
"""
EVEN, ODD = "%{}[%i0 + 2 * %i]", "%{}[%i0 + 2 * %i + 1]"


@pytest.mark.few(3)
@pytest.mark.parametrize(("buffer", "names", "said"), [("y", "c, merge", OVERWRITTEN), ("x", "c, copy, merge", READ)])
@pytest.mark.parametrize("options", ["", "pad 4", "swizzle 32", "vector 4"])
def test_two_stores_leave_no_gap(buffer: str, names: str, said: str, options: str, tmp_path: Path) -> None:
    text = PAIRS.format(first=EVEN.format(buffer), second=ODD.format(buffer))
    if options == "swizzle 32":  # rows
        text = text.replace("<64x", "<1x64x").replace("[%i0", "[0, %i0")
    lines = staged(f"i.{buffer} {options}", names)
    if options == "vector 4":
        lines = lines.replace("cyclic", "cyclic vector 4")
    made = right(tmp_path, text, lines)
    assert said in made.remarks and ("float4" in made.cuda) == (options == "vector 4")


def test_one_store_leaves_gaps(tmp_path: Path) -> None:
    text = PAIRS.format(first=EVEN.format("y"), second=EVEN.format("y"))
    said = refusal(tmp_path, text, staged("i.y", "c, merge"))
    assert codes(said) == ["W0468"] and "with gaps" in said


SOME = """\
func.func @f(%x: memref<61xf32>, %y: memref<61xf32>) {{
  %c0 = arith.constant 0 : index
  %half = arith.constant 0.5 : f32
  affine.for %i0 = 0 to 62 step 16 {{
    affine.for %i = 0 to min affine_map<(d) -> (16, 62 - d)>(%i0) {{
      %at = affine.apply affine_map<(d, e) -> (d + e - 1)>(%i0, %i)
      %in = arith.cmpi sge, %at, %c0 : index
      scf.if %in {{
        %a = memref.load %x[%at] : memref<61xf32>
        {condition}
        scf.if %c {{
          memref.store %a, %y[%at] : memref<61xf32>
        }}
      }}
    }}
  }}
  return
}}
"""


@pytest.mark.parametrize(
    ("condition", "names", "said"),
    [
        ("%c = arith.cmpf olt, %a, %half : f32", "c, copy, merge", READ),
        ("%c = arith.cmpi sgt, %at, %c0 : index", "c, copy, merge", READ),
        ("%c = arith.constant true", "c, merge", OVERWRITTEN),
    ],
)
def test_conditions(condition: str, names: str, said: str, tmp_path: Path) -> None:
    """A condition that keeps elements of the buffer as they are makes the loop read the tile; not one that only keeps it inside."""
    assert said in right(tmp_path, SOME.format(condition=condition), staged("i.y", names)).remarks


ROWS = """\
func.func @f(%x: memref<8x64xf32>, %n: index) {
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to %n {
      %a = affine.load %x[%i, %j] : memref<8x64xf32>
      %b = arith.addf %a, %a : f32
      affine.store %b, %x[%i, %j] : memref<8x64xf32>
    }
  }
  return
}
"""
STRIPS = "let i = match affine.for #0\nlet j = match affine.for #1\nmap i to {}\nlet (strips, one) = tile j [8]\n"
IN_STRIPS = {
    "shared": STRIPS.format("blocks(y)") + """\
map strips to blocks(x: 4) cyclic
map one to threads(x: 4) cyclic
let (t, copy, merge) = promote-to-shared one.x
map copy to threads(*) cyclic
map merge to threads(x: 4) cyclic
insert-barriers
launch i""",
    "registers": STRIPS.format("grid(x)") + "promote-to-registers one.x\nlaunch i",
}
UNKNOWN = """\
let i = match affine.for #0
let j = match affine.for #1
map j to threads(x: 8) cyclic
promote-to-registers j.x across i"""


@pytest.mark.few(2)
@pytest.mark.parametrize("n", [64, 50, 3])
@pytest.mark.parametrize("memory", IN_STRIPS)
def test_strips_of_a_loop_of_unknown_length(memory: str, n: int, tmp_path: Path) -> None:
    """Blocks have shared memory of their own, whichever of two loops are theirs; a loop over a tile may be one thread's."""
    made = program(tmp_path, ROWS, IN_STRIPS[memory])
    inputs = {"x": np.random.default_rng(n).random((8, 64), dtype=np.float32), "n": np.array(n)}
    assert not made.wrong(inputs, folder=tmp_path) and not made.wrong(inputs, folder=tmp_path, native=True)


def test_as_many_threads_as_nobody_knows(tmp_path: Path) -> None:
    said = refusal(tmp_path, ROWS, UNKNOWN)
    assert codes(said) == ["W0332"] and "no known number of iterations" in said
