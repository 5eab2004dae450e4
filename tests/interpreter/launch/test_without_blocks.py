"""Launches whose outermost loop is over threads, warps or lanes, with no loop over blocks around: split at barriers, and right."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from judging import verdict

REDUCTION = """\
func.func @f(%x: tensor<12x40xf32>) -> tensor<12xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<12xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<12xf32>) -> tensor<12xf32>
  %sums = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<12x40xf32>) outs(%init : tensor<12xf32>) {
  ^bb0(%a: f32, %sum: f32):
    %next = arith.addf %a, %sum : f32
    linalg.yield %next : f32
  } -> tensor<12xf32>
  return %sums : tensor<12xf32>
}
"""
SCAN = """\
func.func @f(%x: tensor<12x40xf32>) -> (tensor<12xf32>, tensor<12x40xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<12xf32>
  %all = tensor.empty() : tensor<12x40xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<12xf32>) -> tensor<12xf32>
  %sums:2 = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>,
      affine_map<(i, k) -> (i, k)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<12x40xf32>) outs(%init, %all : tensor<12xf32>, tensor<12x40xf32>) {
  ^bb0(%a: f32, %sum: f32, %old: f32):
    %next = arith.addf %sum, %a : f32
    linalg.yield %next, %next : f32, f32
  } -> (tensor<12xf32>, tensor<12x40xf32>)
  return %sums#0, %sums#1 : tensor<12xf32>, tensor<12x40xf32>
}
"""
PLAIN = """\
func.func @f(%x: tensor<12x40xf32>) -> tensor<12x40xf32> {
  %empty = tensor.empty() : tensor<12x40xf32>
  %e = linalg.exp ins(%x : tensor<12x40xf32>) outs(%empty : tensor<12x40xf32>) -> tensor<12x40xf32>
  return %e : tensor<12x40xf32>
}
"""
SPACES = {  # the outermost loop, one inside it, and what a row is shared by
    "warps": ("warps(x)", "lanes(y: 8) cyclic", "lanes(x: 4)"),
    "some warps": ("warps(x: 3) cyclic", "lanes(x: 8) cyclic", "lanes(y: 4)"),
    "warps block": ("warps(x: 2) block", None, "lanes"),
    "threads": ("threads(y)", "threads(z: 2) cyclic", "threads(x: 8)"),
    "few threads": ("threads(z: 2) block-cyclic(2)", "threads(x: 3) cyclic", "threads(y: 16)"),
    "rows of warps": ("threads(y: 2) cyclic", None, "threads(x: 64)"),
    "warp groups": ("warpgroups(x: 2) cyclic", "quarters cyclic", "lanes"),
    "warp groups, idle": ("warpgroups(x: 2) cyclic", None, "lanes"),
    "lanes": ("lanes(y: 8) cyclic", None, "lanes(x: 4)"),
    "grid": ("grid(y: 4) cyclic", None, "threads(x: 8)"),
}


def body(what: str, height: int, around: str, inside: str | None, own: str, barriers: bool) -> str:
    plain = what == "plain"
    fills = [] if plain else ["let init = match linalg.fill"]
    lines = [f"let g = match {'linalg.exp' if plain else 'linalg.generic'}", *fills]
    sizes = [height if inside is not None else 1, *([1] if inside is not None else [])]
    current = "g"
    for number, (size, space) in enumerate(zip(sizes, (around, inside), strict=False)):
        lines += [f"let (l{number}, o{number}) = tile {current} [{size}{', _' * plain}]"]
        lines += [] if plain else [f"fuse init into l{number}"]
        lines += [f"map l{number} to {space}"]
        current = f"o{number}"
    lines += [f"map {current} to {own} cyclic", *(["insert-barriers"] if barriers else []), "launch l0"]
    return "\n".join(lines)


CASES = [(8, True), (6, False)]  # tiles of 8 are ragged
if "WEFT_SOAK" in os.environ:
    CASES += [(6, True), (8, False)]


@pytest.mark.few()
@pytest.mark.parametrize(("height", "barriers"), CASES)
@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize(("what", "payload"), [("sum", REDUCTION), ("plain", PLAIN), ("scan", SCAN)])
def test_outermost(what: str, payload: str, space: str, height: int, barriers: bool, tmp_path: Path) -> None:
    around, inside, own = SPACES[space]
    found = verdict(payload, body(what, height, around, inside, own, barriers), tmp_path, height)
    whole = own == "lanes" or what != "scan"
    assert found == "right" or (not whole and found in ("W0343", "W0352")) or (not barriers and found == "W0601"), found


def test_several_such_loops(tmp_path: Path) -> None:
    """A launch for each of them: exp, then the sums of its rows."""
    payload = REDUCTION.replace("  %zero", """\
  %all = tensor.empty() : tensor<12x40xf32>
  %e = linalg.exp ins(%x : tensor<12x40xf32>) outs(%all : tensor<12x40xf32>) -> tensor<12x40xf32>
  %zero""").replace("ins(%x : tensor<12x40xf32>) outs(%init", "ins(%e : tensor<12x40xf32>) outs(%init")
    assert payload.count("%e :") == 1
    statements = "let e = match linalg.exp\nlet (le, oe) = tile e [1, _]\nmap le to warps(x: 4) cyclic\nmap oe to lanes cyclic\n"
    statements += body("sum", 8, "warps(x)", "lanes(y: 8) cyclic", "lanes(x: 4)", True).replace("launch l0", "launch le\nlaunch l0")
    assert verdict(payload, statements, tmp_path, 1, native=True) == "right"


@pytest.mark.parametrize("space", ["warps", "warpgroups"])
def test_warps_are_taken_once(space: str, tmp_path: Path) -> None:
    """One map along x and one along y would both count all of them, and hand each to the same."""
    for payload, what in ((REDUCTION, "sum"), (PLAIN, "plain")):
        statements = body(what, 4, f"{space}(x: 4) cyclic", f"{space}(y: 4) cyclic", "lanes", True)
        assert verdict(payload, statements, tmp_path, 1) == "W0342"
