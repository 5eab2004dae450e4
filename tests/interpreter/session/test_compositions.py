"""Schedules in the forms that compose rewrite the payload as the statements do of which they consist."""

from __future__ import annotations

import re

import pytest
from random_compositions import PAYLOAD, composed

from weft.dsl.checker import check
from weft.dsl.diagnostics import render_all
from weft.dsl.formatter import format_text
from weft.dsl.parameters import bind_parameters
from weft.dsl.parser import parse_text
from weft.interpreter.ir import mlir
from weft.interpreter.session.session import Session
from weft.interpreter.session.statement import signatures


def applied(text: str, payload: str = PAYLOAD) -> Session:
    file = parse_text(text, "s.weft")
    found = [d for d in check(file, signatures()) if d.severity == "error"]
    assert not found, f"{text}\n{render_all(found)}"
    session = Session(mlir.parse(payload, mlir.context()), file, bind_parameters(file.main, {}))
    session.run()
    return session


@pytest.mark.few(220)
@pytest.mark.parametrize("seed", range(2000))
def test_composed_is_as_expanded(seed: int) -> None:
    text, plain = composed(seed)
    new, old = applied(text), applied(plain)
    assert new.ir == old.ir, f"{text}\n{plain}"
    formatted = format_text(text, "s.weft")
    assert format_text(formatted, "s.weft") == formatted


def test_a_loop_over_what_a_match_finds() -> None:
    twice = PAYLOAD.replace("linalg.sub", "linalg.add").replace("ins(%x, %y", "ins(%y, %y", 1)
    new = applied("""schedule s(scoped: handle = none) {
      let all = []
      foreach op in match* linalg.add {
        let (tiles, _) = tile op [4, 4]
        append tiles to all
      }
      foreach tiles in all { map tiles to blocks(y, x) }
      foreach op in match* linalg.mul in scoped { map op to grid(x) }
      foreach op in match* linalg.exp { map op to grid(x) }
    }
    """, twice)
    old = applied("""schedule s() {
      let first = match linalg.add #0
      let second = match linalg.add #1
      let (a, _) = tile first [4, 4]
      let (b, _) = tile second [4, 4]
      map a to blocks(y, x)
      map b to blocks(y, x)
    }
    """, twice)
    assert new.ir == old.ir and new.steps[1].text == "match* linalg.add" and new.steps[1].remarks == ("2 × linalg.add",)


def test_a_call_for_each_op_of_a_list() -> None:
    new = applied("""schedule cut(op: handle, n: int, wide: bool = true) {
      schedule rows() {
        let (rows, row) = tile op [n]
        return (rows, row)
      }
      let (rows, row) = rows()
      if wide { map rows to blocks(x) }
      return (rows, row)
    }
    schedule s() {
      let first = match linalg.add
      let op = match* linalg.mul or linalg.sub
      let none_yet = match* linalg.exp
      let n = 4
      let (loops, ops) = cut(...)
      let (_, more) = cut(none_yet, n)
      let all = [first, ops, more]
      map all to threads(y: 8, x: 8) cyclic
      foreach loop in [loops] { print loop }
    }
    """)
    old = applied("""schedule s() {
      let first = match linalg.add
      let sub = match linalg.sub
      let mul = match linalg.mul
      let (a, one) = tile sub [4]
      map a to blocks(x)
      let (b, other) = tile mul [4]
      map b to blocks(x)
      map first to threads(y: 8, x: 8) cyclic
      map one to threads(y: 8, x: 8) cyclic
      map other to threads(y: 8, x: 8) cyclic
    }
    """)
    assert new.ir == old.ir


OPEN = """func.func @f(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>, %z: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %a = linalg.add ins(%x, %y : tensor<?x?xf32>, tensor<?x?xf32>) outs(%z : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %a : tensor<?x?xf32>
}
"""
VERSIONS = {
    "handles of every block": (
        """let add = match linalg.add
           versions {
             assume add.in0.1 % 8 == 0
             let (tiles, one) = tile add [4, 8]
             let n = 2
           } else {
             let (tiles, one) = tile add [4, 4]
             let n = 1
           }
           map tiles to blocks(y, x)
           let (lanes, _) = tile one [1, n]
           map lanes to threads(y, x)""",
        """let add = match linalg.add
           versions {
             assume add.in0.1 % 8 == 0
             let (tiles, one) = tile add [4, 8]
             map tiles to blocks(y, x)
             let (lanes, _) = tile one [1, 2]
             map lanes to threads(y, x)
           } else {
             let (tiles, one) = tile add [4, 4]
             map tiles to blocks(y, x)
             let (lanes, _) = tile one [1, 1]
             map lanes to threads(y, x)
           }""",
    ),
    "a nested schedule in each version": (
        """let add = match linalg.add
           schedule cut(n: int) {
             let (tiles, one) = tile add [4, n]
             return (tiles, one)
           }
           versions {
             assume add.in0.1 % 8 == 0
             let (tiles, one) = cut(8)
           } else {
             let (tiles, one) = cut(4)
           }
           map tiles to blocks(y, x)""",
        """let add = match linalg.add
           versions {
             assume add.in0.1 % 8 == 0
             let (tiles, one) = tile add [4, 8]
             map tiles to blocks(y, x)
           } else {
             let (tiles, one) = tile add [4, 4]
             map tiles to blocks(y, x)
           }""",
    ),
    "alternatives after versions, with a choice in each": (
        """let add = match linalg.add
           versions {
             assume add.in0.1 % 8 == 0
             let n = 8
           } else {
             let n = 4
           }
           alternatives {
             let (tiles, one) = tile add [2, n]
             require n == 4
           } else {
             let (tiles, one) = tile add [n, n]
           }
           map tiles to blocks(y, x)""",
        """let add = match linalg.add
           versions {
             assume add.in0.1 % 8 == 0
             let (tiles, one) = tile add [8, 8]
             map tiles to blocks(y, x)
           } else {
             let (tiles, one) = tile add [2, 4]
             map tiles to blocks(y, x)
           }""",
    ),
    "versions in a block that a later version refuses": (
        """let add = match linalg.add
           alternatives {
             versions {
               assume add.in0.1 % 8 == 0
               let n = 8
             } else {
               let n = 4
             }
             let (tiles, one) = tile add [n, n]
             require n == 8
           } else {
             let (tiles, one) = tile add [16, 16]
           }
           map tiles to blocks(y, x)""",
        """let add = match linalg.add
           let (tiles, one) = tile add [16, 16]
           map tiles to blocks(y, x)""",
    ),
}


@pytest.mark.parametrize("case", VERSIONS)
def test_versions(case: str) -> None:
    new, old = (applied(f"schedule s() {{\n{body}\n}}\n", OPEN) for body in VERSIONS[case])
    assert placeless(new.ir) == placeless(old.ir)


def placeless(text: str) -> str:
    """The module's text without the lines of assumptions."""
    return re.sub(r"s\.weft:\d+", "s.weft", text)
