"""Host loops that carry tensors which are new ones each time, and results that are put into tensor arguments."""

from __future__ import annotations

from pathlib import Path

import pytest
from judged import codes, program, refusal

VECTOR = "tensor<12xf32>"
FUNCTION = f"""\
func.func @f(%A: tensor<12x12xf32>, %v: {VECTOR}, %w: {VECTOR}) -> (RESULTS) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %z = arith.constant 0.0 : f32
BODY
}}
"""
SCHEDULE = """\
let f = match* linalg.fill
foreach q in f {
  map q to grid(x) cyclic
  launch q
}
let a = match* linalg.add
foreach q in a {
  map q to grid(x: 4) cyclic
  launch q
}
let m = match* linalg.matvec
foreach q in m {
  let (t, one) = tile q [1]
  map t to grid(x: 5) cyclic
  launch t
}"""


def product(name: str, vector: str) -> str:
    """`%name` = A · vector, in a tensor of its own."""
    return f"""
    %{name}_e = tensor.empty() : {VECTOR}
    %{name}_f = linalg.fill ins(%z : f32) outs(%{name}_e : {VECTOR}) -> {VECTOR}
    %{name} = linalg.matvec ins(%A, {vector} : tensor<12x12xf32>, {VECTOR}) outs(%{name}_f : {VECTOR}) -> {VECTOR}
"""


def loop(result: str, carried: str, body: str, count: int = 1) -> str:
    kinds = ", ".join([VECTOR] * count)
    return f"  %{result} = scf.for %t_{carried[1]} = %c0 to %c3 step %c1 iter_args({carried}) -> ({kinds}) {{{body}  }}\n"


ONE = product("y", "%x") + f"    scf.yield %y : {VECTOR}\n"
CASES = {
    "one": (1, loop("r", "%x = %v", ONE) + f"return %r : {VECTOR}"),
    "two steps": (
        1, loop("r", "%x = %v", product("y", "%x") + product("u", "%y") + f"scf.yield %u : {VECTOR}\n")
        + f"return %r : {VECTOR}",
    ),
    "the last and the one before": (
        2, loop("r:2", "%x = %v, %o = %w", product("y", "%x") + f"scf.yield %y, %x : {VECTOR}, {VECTOR}\n", 2)
        + f"return %r#0, %r#1 : {VECTOR}, {VECTOR}",
    ),
    "exchanged": (
        2, loop("r:2", "%x = %v, %o = %w", f"scf.yield %o, %x : {VECTOR}, {VECTOR}\n", 2) + product("y", "%r#0")
        + f"return %y, %r#1 : {VECTOR}, {VECTOR}",
    ),
    "the first one is used again": (
        2, loop("r", "%x = %v", ONE) + product("u", "%v") + f"return %r, %u : {VECTOR}, {VECTOR}",
    ),
    "one from outside": (1, loop("r", "%x = %v", f"scf.yield %w : {VECTOR}\n") + product("u", "%r") + f"return %u : {VECTOR}"),
    "loops in loops": (
        1, loop("r", "%p = %v", loop("q", "%x = %p", ONE) + f"scf.yield %q : {VECTOR}\n") + f"return %r : {VECTOR}",
    ),
    "read in an inner loop that begins with it": (
        1, loop("r", "%p = %v", loop("q", "%x = %p", product("y", "%p") + f"%s = linalg.add ins(%x, %y : {VECTOR}, {VECTOR})"
        f" outs(%y : {VECTOR}) -> {VECTOR}\nscf.yield %s : {VECTOR}\n") + f"scf.yield %q : {VECTOR}\n") + f"return %r : {VECTOR}",
    ),
    "a product added to what it reads": (
        1, loop("r", "%x = %v", f"%y = linalg.matvec ins(%A, %x : tensor<12x12xf32>, {VECTOR}) outs(%x : {VECTOR}) -> {VECTOR}\n"
        f"scf.yield %y : {VECTOR}\n") + f"return %r : {VECTOR}",
    ),
    "affine loops": (
        1, f"%r = affine.for %t = 0 to 3 iter_args(%p = %v) -> ({VECTOR}) {{\n%q = affine.for %s = 0 to affine_map<(d) -> (d)>(%t)"
        f" iter_args(%x = %p) -> ({VECTOR}) {{ {ONE.replace('scf.', 'affine.')} }}\naffine.yield %q : {VECTOR}\n}}\n"
        f"return %r : {VECTOR}",
    ),
    "in a branch": (
        1, loop("r", "%x = %v", f"%c = arith.cmpi eq, %t_x, %c1 : index\n%q = scf.if %c -> ({VECTOR}) {{ {ONE} }}"
        f" else {{ scf.yield %x : {VECTOR} }}\nscf.yield %q : {VECTOR}\n") + f"return %r : {VECTOR}",
    ),
    "into an argument": (
        1, product("y", "%v") + f"%d = bufferization.materialize_in_destination %y in %w : ({VECTOR}, {VECTOR}) -> {VECTOR}\n"
        f"return %d : {VECTOR}",
    ),
    "into an argument, and used": (
        1, product("y", "%v") + f"%d = bufferization.materialize_in_destination %y in %w : ({VECTOR}, {VECTOR}) -> {VECTOR}\n"
        + product("u", "%d") + f"return %u : {VECTOR}",
    ),
    "into an argument, in a branch of a loop": (
        1, loop("r", "%x = %v", f"%c = arith.cmpi eq, %t_x, %c1 : index\n%q = scf.if %c -> ({VECTOR}) {{ {product('y', '%x')}"
        f"%d = bufferization.materialize_in_destination %y in %w : ({VECTOR}, {VECTOR}) -> {VECTOR}\nscf.yield %d : {VECTOR} }}"
        f" else {{ scf.yield %x : {VECTOR} }}\nscf.yield %q : {VECTOR}\n") + f"return %r : {VECTOR}",
    ),
    "into a temporary": (
        1, product("y", "%v") + f"%e = tensor.empty() : {VECTOR}\n"
        f"%d = bufferization.materialize_in_destination %y in %e : ({VECTOR}, {VECTOR}) -> {VECTOR}\nreturn %d : {VECTOR}",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_carried_and_placed_tensors(name: str, tmp_path: Path) -> None:
    count, body = CASES[name]
    made = program(tmp_path, FUNCTION.replace("RESULTS", ", ".join([VECTOR] * count)).replace("BODY", body), SCHEDULE)
    assert not made.wrong()
    assert not made.wrong(native=True)


def test_a_loop_that_turns_until_a_condition_holds_is_named(tmp_path: Path) -> None:
    turning = f"""
      %r:2 = scf.while (%x = %v, %t = %c0) : ({VECTOR}, index) -> ({VECTOR}, index) {{
        %c = arith.cmpi slt, %t, %c3 : index
        scf.condition(%c) %x, %t : {VECTOR}, index
      }} do {{
      ^bb0(%x: {VECTOR}, %t: index):
        {product("y", "%x")}
        %n = arith.addi %t, %c1 : index
        scf.yield %y, %n : {VECTOR}, index
      }}
      return %r#0 : {VECTOR}"""
    refused = refusal(tmp_path, FUNCTION.replace("RESULTS", VECTOR).replace("BODY", turning), SCHEDULE)
    assert codes(refused) == ["W0336"] and "scf.while at" in refused and "write it as an `scf.for`" in refused
