"""`fuse` through `tensor.expand_shape` and `tensor.collapse_shape`: a slice of a reshape becomes a reshape of a slice, and the
numbers are right; where the one is no tile of the other, it is refused."""

from __future__ import annotations

import math
import os
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from judged import codes, program, refusal

Groups = list[list[int]]
PRODUCERS = {
    "elementwise": (
        "linalg.generic",
        """%p = linalg.generic {{indexing_maps = [affine_map<({d}) -> ({d})>, affine_map<({d}) -> ({d})>],
        iterator_types = [{par}]}}
        ins(%a : {a}) outs(%e : {p}) {{
    ^bb0(%x: f32, %o: f32):
      %y = arith.mulf %x, %x : f32
      linalg.yield %y : f32
    }} -> {p}""",
    ),
    "product": ("linalg.matmul", "%p = linalg.matmul ins(%a, %w : {a}, {w}) outs(%z : {p}) -> {p}"),
}


def tensor(shape: Sequence[int]) -> str:
    return f"tensor<{''.join(f'{n}x' for n in shape)}f32>"


def payload(kind: str, shapes: Sequence[Sequence[int]], groups: Sequence[Groups]) -> str:
    """A producer of the first shape, reshaped to each further one, and added to an argument of the last."""
    first, last = shapes[0], shapes[-1]
    left, right = (tensor([first[0], 8]), tensor([8, first[-1]])) if kind == "product" else (tensor(first), tensor(last))
    dims = ", ".join(f"d{n}" for n in range(len(first)))
    made = PRODUCERS[kind][1].format(
        a=left, w=right, p=tensor(first), d=dims, par=", ".join(['"parallel"'] * len(first))
    )
    lines, value = [], "%p"
    for number, (old, new, together) in enumerate(zip(shapes[:-1], shapes[1:], groups, strict=True)):
        name = "expand_shape" if len(new) > len(old) else "collapse_shape"
        sizes = f" output_shape {list(new)}" if len(new) > len(old) else ""
        lines.append(f"%r{number} = tensor.{name} {value} {together}{sizes} : {tensor(old)} into {tensor(new)}")
        value = f"%r{number}"
    between = "\n  ".join(lines)
    return f"""\
func.func @f(%a: {left}, %w: {right}, %b: {tensor(last)}) -> {tensor(last)} {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : {tensor(first)}
  %z = linalg.fill ins(%zero : f32) outs(%e : {tensor(first)}) -> {tensor(first)}
  {made}
  {between}
  %e2 = tensor.empty() : {tensor(last)}
  %s = linalg.add ins({value}, %b : {tensor(last)}, {tensor(last)}) outs(%e2 : {tensor(last)}) -> {tensor(last)}
  return %s : {tensor(last)}
}}
"""


def schedule(kind: str, sizes: Sequence[int | str]) -> str:
    fill = "let z = match linalg.fill\n" if kind == "product" else ""
    into = "fuse p into t\n" + ("fuse z into t\n" if fill else "")
    axes = ", ".join("zyx"[-sum(size != "_" for size in sizes) :])
    alone = "" if not fill else "map z to threads(*) cyclic\n"
    return (
        f"{fill}let p = match {PRODUCERS[kind][0]}\nlet s = match linalg.add\n"
        f"let (t, o) = tile s [{', '.join(map(str, sizes))}]\n{into}"
        f"map t to blocks({axes})\nmap o to threads(*) cyclic\nlet (l, one) = tile p [1]\nmap l to threads(x: 4) cyclic\n{alone}"
        "insert-barriers\nlaunch t"
    )


CASES: dict[str, tuple[str, list[list[int]], list[Groups], list[int | str]]] = {
    "heads of a product": ("product", [[16, 24], [16, 3, 8]], [[[0], [1, 2]]], [4, 1, "_"]),
    "several heads": ("product", [[16, 24], [16, 3, 8]], [[[0], [1, 2]]], [4, 3, 8]),
    "a part of a head": ("product", [[16, 24], [16, 3, 8]], [[[0], [1, 2]]], [4, 1, 4]),
    "ragged rows of heads": ("product", [[16, 24], [16, 3, 8]], [[[0], [1, 2]]], [5, 1, 8]),
    "ragged heads": ("elementwise", [[16, 24], [16, 3, 8]], [[[0], [1, 2]]], [4, 2, 8]),
    "heads put together": ("elementwise", [[16, 3, 8], [16, 24]], [[[0], [1, 2]]], [4, 8]),
    "parts of heads put together": ("elementwise", [[16, 3, 8], [16, 24]], [[[0], [1, 2]]], [4, 4]),
    "rows put together": ("elementwise", [[4, 6, 8], [24, 8]], [[[0, 1], [2]]], [3, 4]),
    "whole images put together": ("elementwise", [[4, 6, 8], [24, 8]], [[[0, 1], [2]]], [12, "_"]),
    "ragged images put together": ("elementwise", [[3, 6, 8], [18, 8]], [[[0, 1], [2]]], [12, "_"]),
    "there and back": ("elementwise", [[16, 24], [16, 3, 8], [48, 8]], [[[0], [1, 2]], [[0, 1], [2]]], [6, "_"]),
    "of one element": ("elementwise", [[24], [1, 24, 1]], [[[0, 1, 2]]], [1, 6, 1]),
    "three in one": ("elementwise", [[4, 6, 8], [192]], [[[0, 1, 2]]], [24]),
    "all of it": ("elementwise", [[16, 24], [16, 3, 8], [384]], [[[0], [1, 2]], [[0, 1, 2]]], [384]),
}  # fmt: skip


@pytest.mark.few(5)
@pytest.mark.parametrize("case", CASES)
def test_a_producer_behind_reshapes(case: str, tmp_path: Path) -> None:
    kind, shapes, groups, sizes = CASES[case]
    done = program(tmp_path, payload(kind, shapes, groups), schedule(kind, sizes))
    assert not done.wrong() and not done.wrong(native=True)
    assert any(remark.startswith("through tensor.") for remark in done.remarks)
    assert len(done.ready.plan.steps) == 1, "one launch, and no buffer for what is in between"


REFUSED: dict[str, tuple[list[list[int]], list[Groups], list[int | str], str]] = {
    "a part of several heads": ([[16, 24], [16, 3, 8]], [[[0], [1, 2]]], [4, 3, 4], "not tiles of its source"),
    "parts that divide no row": ([[4, 6, 8], [24, 8]], [[[0, 1], [2]]], [8, "_"], "not tiles of its source"),
    "ragged inside of rows": ([[16, 24], [16, 3, 8]], [[[0], [1, 2]]], [4, 1, 5], "element by element"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_tile_is_refused(case: str, tmp_path: Path) -> None:
    shapes, groups, sizes, reason = REFUSED[case]
    said = refusal(tmp_path, payload("elementwise", shapes, groups), schedule("elementwise", sizes))
    assert codes(said) == ["W0467"] and reason in said and "= hint: " in said


def test_what_a_loop_starts_from_is_not_followed(tmp_path: Path) -> None:
    text = payload("elementwise", [[16, 24], [16, 3, 8]], [[[0], [1, 2]]])
    text = text.replace("ins(%r0, %b :", "ins(%b, %b :").replace("outs(%e2 :", "outs(%r0 :")
    text = text.replace(
        "linalg.add ins(%b, %b : tensor<16x3x8xf32>, tensor<16x3x8xf32>)",
        "linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>], "
        'iterator_types = ["parallel", "parallel", "parallel"]} ins(%b : tensor<16x3x8xf32>)',
    ).replace(
        "outs(%r0 : tensor<16x3x8xf32>)",
        "outs(%r0 : tensor<16x3x8xf32>) { ^bb0(%x: f32, %o: f32):\n %q = arith.addf %x, %o : f32\n linalg.yield %q : f32 }",
    )
    lines = "let p = match linalg.generic #0\nlet s = match linalg.generic #1\nlet (t, o) = tile s [4, 1, _]\nfuse p into t"
    said = refusal(tmp_path, text, lines)
    assert codes(said) == ["W0467"] and "the loop starts from tensor.expand_shape" in said


DYNAMIC = """\
func.func @f(%a: tensor<?x24xf32>, %b: tensor<?x3x8xf32>) -> tensor<?x3x8xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x24xf32>
  %e = tensor.empty(%n) : tensor<?x24xf32>
  %p = linalg.exp ins(%a : tensor<?x24xf32>) outs(%e : tensor<?x24xf32>) -> tensor<?x24xf32>
  %r = tensor.expand_shape %p [[0], [1, 2]] output_shape [%n, 3, 8] : tensor<?x24xf32> into tensor<?x3x8xf32>
  %m = tensor.dim %r, %c0 : tensor<?x3x8xf32>
  %e2 = tensor.empty(%m) : tensor<?x3x8xf32>
  %s = linalg.add ins(%r, %b : tensor<?x3x8xf32>, tensor<?x3x8xf32>) outs(%e2 : tensor<?x3x8xf32>) -> tensor<?x3x8xf32>
  return %s : tensor<?x3x8xf32>
}
"""


def test_sizes_that_are_open(tmp_path: Path) -> None:
    lines = (
        "let p = match linalg.exp\nlet s = match linalg.add\nlet (t, o) = tile s [1, 1, _]\nfuse p into t\nmap t to blocks(y, x)\n"
        "map o to threads(*) cyclic\nmap p to threads(x: 4) cyclic\ninsert-barriers\nlaunch t"
    )
    done = program(tmp_path, DYNAMIC, lines)
    generator = np.random.default_rng(0)
    for n in (1, 7):
        a, b = (generator.standard_normal(shape, np.float32) for shape in ((n, 24), (n, 3, 8)))
        inputs = {"a": a, "b": b}
        assert not done.wrong(inputs, folder=tmp_path) and not done.wrong(inputs, native=True, folder=tmp_path)
    assert len(done.ready.plan.steps) == 1


@pytest.mark.parametrize("seed", range(60 if "WEFT_SOAK" in os.environ else 2))
def test_random_tiles_behind_a_random_chain(seed: int, tmp_path: Path) -> None:
    """Done and right, or refused for what is no tile."""
    some = random.Random(seed)
    for attempt in range(3):
        factors = [some.choice([1, 2, 3, 4]) for _ in range(4)]
        shapes, groups = [[math.prod(factors[:2]), math.prod(factors[2:])]], []
        shapes.append(factors)
        groups.append([[0, 1], [2, 3]])
        if some.random() < 0.6:
            groups.append(some.choice([[[0], [1, 2], [3]], [[0, 1, 2], [3]], [[0, 1], [2], [3]], [[0], [1, 2, 3]]]))
            shapes.append([math.prod(factors[axis] for axis in group) for group in groups[-1]])
        sizes: list[int | str] = [some.choice([1, 2, 3, 4, 6, "_"]) for _ in shapes[-1]]
        if sizes[0] == "_":
            sizes[0] = 1
        if sum(size != "_" for size in sizes) > 3:
            sizes[-1] = "_"
        folder = tmp_path / str(attempt)
        folder.mkdir()
        said = refusal(folder, text := payload("elementwise", shapes, groups), lines := schedule("elementwise", sizes))
        assert codes(said) in ([], ["W0467"]), (shapes, sizes, said)
        if not said:
            assert not program(folder, text, lines).wrong(), (shapes, sizes)
