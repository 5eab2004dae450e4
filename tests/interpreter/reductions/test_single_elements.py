"""Reductions to a single element: matched, tiled along the reduction, fused, mapped and launched, by one thread or in parts."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from judged import codes, program, refusal

PAYLOAD = """\
func.func @total(%x: tensor<100x{kind}>) -> tensor<{kind}> {{
  %first = arith.constant {start} : {kind}
  %e = tensor.empty() : tensor<{kind}>
  %z = linalg.fill ins(%first : {kind}) outs(%e : tensor<{kind}>) -> tensor<{kind}>
  %s = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}}
      ins(%x : tensor<100x{kind}>) outs(%z : tensor<{kind}>) {{
    ^bb0(%a: {kind}, %b: {kind}):
      %c = arith.{combine} %b, %a : {kind}
      linalg.yield %c : {kind}
  }} -> tensor<{kind}>
  return %s : tensor<{kind}>
}}
"""
MATCHED = "let s = match linalg.generic\nlet z = match linalg.fill\n"
WHOLE = {
    "two launches": "map z to threads(x: 1)\nmap s to threads(x: 1)\nlaunch z\nlaunch s",
    "without a count": "map s to threads(x)\nfuse z into s\nlaunch s",
    "one thread of eight": "map s to threads(x: 8) cyclic\nfuse z into s\nlaunch s",
    "two axes": "map s to threads(y: 2, x: 4) block\nfuse z into s\nlaunch s",
    "the grid": "map s to grid(x)\nfuse z into s\nlaunch s",
    "tiles": "let (k, step) = tile s [8]\nmap k to threads(x)\nfuse z into k\nlaunch k",
    "in a register": "let (k, step) = tile s [30]\nmap k to threads(x)\nfuse z into k\nlet loop = match scf.for in k\n"
    "promote-to-registers step.out0 across loop\nlaunch k",
}  # fmt: skip
SUMS = {
    "in parts": "let (p, pz, t) = split-k s 10\nlet (tiles, one) = tile p [1]\nfuse pz into tiles\nmap tiles to grid(x)\n"
    "map t to threads(x)\nfuse z into t\nlaunch tiles\nlaunch t",
    "in parts of parts": "let (p, pz, t) = split-k s 30\nlet (q, qz, last) = split-k t 5\nlet (pt, po) = tile p [1]\n"
    "fuse pz into pt\nlet (qt, qo) = tile q [1]\nfuse qz into qt\nmap pt to grid(x)\nmap qt to grid(x)\n"
    "map last to threads(x)\nfuse z into last\n"
    "launch pt\nlaunch qt\nlaunch last",
    "in one block": "let (p, pz, t) = split-k s 16\nmap t to blocks(x: 1)\nfuse p into t\nfuse z into t\n"
    "let last = match linalg.generic #1 in t\nlet (each, part) = tile p [1]\nfuse pz into each\nmap each to threads(x: 16) cyclic\n"
    "map last to threads(x: 16) cyclic\nfuse z into last\ninsert-barriers\nverify-sync\nlaunch t",
}  # fmt: skip
KINDS = [("f32", "addf", "0.0"), ("i32", "addi", "0"), ("f64", "maximumf", "-1.0"), ("i64", "minui", "3")]


EVERY = [(how, *kind) for how in (*WHOLE, *SUMS) for kind in KINDS]
BY_TURNS = [one for n, one in enumerate(EVERY) if (n % 4 in (0, 3)) == (n // 4 % 2 == 0)]
"""Each way with two kinds, one of floats and one of integers; with all in a soak."""


@pytest.mark.parametrize(("how", "kind", "combine", "start"), EVERY if "WEFT_SOAK" in os.environ else BY_TURNS)
def test_launched(how: str, kind: str, combine: str, start: str, tmp_path: Path) -> None:
    if how in SUMS and "add" not in combine:
        kind, combine, start = {"f64": ("f64", "subf", "1.0"), "i64": ("i64", "subi", "2")}[kind]
    statements = MATCHED + (WHOLE.get(how) or SUMS[how])
    made = program(tmp_path, PAYLOAD.format(kind=kind, combine=combine, start=start), statements)
    assert not made.wrong() and not made.wrong(native=True)
    assert "result0[0] = result0[0]" not in made.cuda


ROWS = """\
func.func @rows(%x: tensor<6x7xf32>, %s: tensor<6xf32>) -> tensor<6xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>],
                       iterator_types = ["parallel", "reduction"]} ins(%x : tensor<6x7xf32>) outs(%s : tensor<6xf32>) {
    ^bb0(%a: f32, %o: f32):
      %c = arith.addf %o, %a : f32
      linalg.yield %c : f32
  } -> tensor<6xf32>
  return %r : tensor<6xf32>
}
"""


def test_one_processor_does_any_reduction_whole(tmp_path: Path) -> None:
    assert not program(tmp_path, ROWS, "let s = match linalg.generic\nmap s to threads(x: 1)\nlaunch s").wrong()


def test_several_processors_do_not_share_one(tmp_path: Path) -> None:
    said = refusal(tmp_path, ROWS, "let s = match linalg.generic\nmap s to blocks(x: 2) cyclic\nlaunch s")
    assert codes(said) == ["W0343"] and "map it to `lanes` or `threads`" in said
