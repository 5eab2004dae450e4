"""Diffs of modules: numbering is not a change, everything else is."""

from __future__ import annotations

import pytest

from weft.output.changes import compared
from weft.repl.shell import command_of, incomplete, pieces

BEFORE = """\
func.func @f(%arg0: f32, %arg1: f32) -> f32 {
  %0 = arith.addf %arg0, %arg1 : f32
  %1 = arith.mulf %0, %arg1 : f32
  return %1 : f32
}"""

CASES = {
    "nothing": (BEFORE, []),
    "a new op renumbers what follows": (
        BEFORE.replace("  %0", "  %0 = math.exp %arg0 : f32\n  %9").replace("%1", "%2").replace("%0, ", "%9, "),
        ["+  %0 = math.exp %arg0 : f32"],
    ),
    "another operand of the same kind": (
        BEFORE.replace("mulf %0, %arg1", "mulf %arg0, %arg1"),
        ["-  %1 = arith.mulf %0, %arg1 : f32", "+  %1 = arith.mulf %arg0, %arg1 : f32"],
    ),
    "operands that change places": (
        BEFORE.replace("addf %arg0, %arg1", "addf %arg1, %arg0"),
        ["-  %0 = arith.addf %arg0, %arg1 : f32", "+  %0 = arith.addf %arg1, %arg0 : f32"],
    ),
    "arguments renamed throughout": (BEFORE.replace("%arg0", "%x"), []),
}


@pytest.mark.parametrize("name", CASES)
def test_differences(name: str) -> None:
    after, expected = CASES[name]
    assert [f"{line.kind}{line.text}" for line in compared(BEFORE, after) if line.kind != " "] == expected


def test_a_loop_that_is_renamed_is_the_same() -> None:
    loop = "scf.forall (%arg0, %arg1) in (%n, 4) shared_outs(%arg2 = %t) -> (f32) {\n  use %arg0, %arg1, %arg2\n}"
    head = "%n = size\n%t = empty\n"
    renamed = loop.replace("%arg0", "%a").replace("%arg1", "%b")
    assert all(line.kind == " " for line in compared(head + loop, head + renamed))
    swapped = loop.replace("use %arg0, %arg1", "use %arg1, %arg0")
    assert any(line.kind != " " for line in compared(head + loop, head + swapped))
    other = loop.replace("(%n, 4)", "(%t, 4)")
    assert any(line.kind != " " for line in compared(head + loop, head + other)), "a bound is a use"


def test_what_is_a_command_and_what_goes_on() -> None:
    assert command_of("step 3") == ("step", "3") and command_of("?") == ("help", "")
    assert command_of("run(op)") is None and command_of("tile x [1]") is None
    for text in ("foreach n in [1] {", "let (a,", "tile x [", "let t =", "require a and", "tile x [1,  // more"):
        assert incomplete(text), text
    for text in ("tile x [1]", "map a to threads(*)", "step", "", "nonsense !", "print x  // and"):
        assert not incomplete(text), text
    pasted = "step\nforeach n in [1] {\n  print a\n}\n\nundo"
    assert list(pieces(pasted.split("\n"))) == ["step", "foreach n in [1] {\n  print a\n}", "undo"]
