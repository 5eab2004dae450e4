"""Inputs of which a tile reads no slice (x[9 - i], x[i mod 4]): they are read element by element, under the tile's mask."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import weft
from weft.dsl.diagnostics import Source, WeftError
from weft.pipeline import Choice, Planned, applied, planned
from weft.runtime.cpu.reference import reference
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice

ONE = """func.func @f(%x: tensor<{read}xf32>, %o: tensor<{n}xf32>) -> tensor<{n}xf32> {{
  %y = linalg.generic {{indexing_maps = [affine_map<(i) -> ({at})>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}}
      ins(%x : tensor<{read}xf32>) outs(%o : tensor<{n}xf32>) {{
  ^bb0(%a: f32, %c: f32):
    %u = arith.addf %a, %c : f32
    linalg.yield %u : f32
  }} -> tensor<{n}xf32>
  return %y : tensor<{n}xf32>
}}
"""
LANES = """  map tiles to blocks(x)
  let (lanes, one) = tile tile [{lanes}]
  map lanes to threads(x)
  launch tiles
}}
"""
PLACES: dict[str, tuple[int, int, Callable[[int], int]]] = {
    "9 - i": (10, 10, lambda i: 9 - i),
    "31 - i": (32, 32, lambda i: 31 - i),
    "(i + 5) mod 4": (12, 4, lambda i: (i + 5) % 4),
    "i floordiv 3": (12, 4, lambda i: i // 3),
    "i ceildiv 3": (12, 5, lambda i: -(-i // 3)),
    "2 * i + 1": (12, 24, lambda i: 2 * i + 1),
}
"""Where iteration i reads: how many iterations and elements there are, and the same in Python."""


def made(schedule: str, payload: str) -> Planned:
    return planned(applied(Choice("", text=Source("s.weft", schedule), program=Source("p.mlir", payload)).open()))


def expect_right(one: Planned, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    ran = run_plan(one.plan, SimDevice(), dict(arrays), text=one.applied.located_text)
    assert not ran.races and not ran.faults
    expected = reference(one.applied.payload, None, dict(arrays))
    assert all(np.allclose(ran.outputs[name], expected[name], atol=1e-4) for name in expected)
    return ran.outputs


@pytest.mark.few()
@pytest.mark.parametrize("at", PLACES)
@pytest.mark.parametrize("open_", ["static", "open"])
def test_reads_that_are_no_slices(at: str, open_: str) -> None:
    iterations, elements, place = PLACES[at]
    read, n = ("?", "?") if open_ == "open" else (elements, iterations)
    for size, lanes in ((32, 1), (4, 2), (5, 1)):
        schedule = f"schedule s() {{\n  let op = match linalg.generic\n  let (tiles, tile) = tile op [{size}]\n"
        one = made(schedule + LANES.format(lanes=lanes), ONE.format(at=at, read=read, n=n))
        x, o = np.arange(1, elements + 1, dtype=np.float32), np.ones(iterations, np.float32)
        found = expect_right(one, {"x": x, "o": o})["result0"]
        assert np.array_equal(found, [x[place(i)] + 1 for i in range(iterations)]), (size, lanes)


def test_a_read_in_front_of_its_buffer_is_refused_on_the_host() -> None:
    schedule = "schedule s() {\n  let op = match linalg.generic\n  let (tiles, tile) = tile op [4]\n" + LANES.format(lanes=1)
    one = made(schedule, ONE.format(at="i - 1", read="?", n="?"))
    with pytest.raises(WeftError, match=r"W0717: a size or an offset of linalg\.generic would be -1"):
        expect_right(one, {"x": np.ones(10, np.float32), "o": np.ones(10, np.float32)})


FLIPPED = """func.func @f(%x: tensor<{x}xf32>, %w: tensor<{w}xf32>, %o: tensor<{o}xf32>) -> tensor<{o}xf32> {{
  %y = linalg.generic {{indexing_maps = [affine_map<(i, a) -> (i - a + 6)>, affine_map<(i, a) -> (a)>, affine_map<(i, a) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}}
      ins(%x, %w : tensor<{x}xf32>, tensor<{w}xf32>) outs(%o : tensor<{o}xf32>) {{
  ^bb0(%a: f32, %b: f32, %c: f32):
    {body}
    linalg.yield %u : f32
  }} -> tensor<{o}xf32>
  return %y : tensor<{o}xf32>
}}
"""
BODIES = {
    "a sum of products": "%t = arith.mulf %a, %b : f32\n    %u = arith.addf %c, %t : f32",
    "a masked update": "%s = arith.subf %a, %b : f32\n    %t = math.exp %s : f32\n    %u = arith.addf %c, %t : f32",
    "a maximum": "%t = arith.addf %a, %b : f32\n    %u = arith.maximumf %c, %t : f32",
}


@pytest.mark.few()
@pytest.mark.parametrize("promoted", [False, True])
@pytest.mark.parametrize("body", BODIES)
def test_a_reduction_over_a_window_that_is_read_backwards(body: str, promoted: bool) -> None:
    copies = f"""  let (x_s, x_c) = promote-to-shared step.{"lhs" if "products" in body else "in0"}
  map x_c to threads(*) cyclic
""" if promoted else ""  # fmt: skip
    schedule = f"""schedule s() {{
  let op = match linalg.generic
  let (tiles, tile) = tile op [8]
  map tiles to blocks(x)
  let (k, step) = tile tile [_, 4]
{copies}  let (lanes, one) = tile step [1]
  map lanes to threads(x: 8)
  insert-barriers
  launch tiles
}}
"""
    generator = np.random.default_rng(0)
    for sizes in ({"x": 19, "w": 7, "o": 13}, {"x": "?", "w": "?", "o": "?"}):
        one = made(schedule, FLIPPED.format(**sizes, body=BODIES[body]))
        arrays = {name: generator.standard_normal(n).astype(np.float32) for name, n in (("x", 19), ("w", 7), ("o", 13))}
        expect_right(one, arrays)


@pytest.mark.parametrize("place", ["i + a", "2 * i + a", "i - a + 6"])
def test_a_window_whose_open_span_is_not_tiled(place: str) -> None:
    """The lanes beyond the last iteration read nothing behind the image."""
    schedule = "schedule s() {\n  let op = match linalg.generic\n  let (tiles, tile) = tile op [4]\n" + LANES.format(lanes=1)
    payload = FLIPPED.replace("i - a + 6", place).format(x="?", w="?", o="?", body=BODIES["a sum of products"])
    span = 2 * 12 + 6 + 1 if "2" in place else 12 + 6 + 1
    generator = np.random.default_rng(0)
    arrays = {name: generator.standard_normal(n).astype(np.float32) for name, n in (("x", span), ("w", 7), ("o", 13))}
    expect_right(made(schedule, payload), arrays)


CHAIN = """func.func @f(%x: tensor<10xf32>, %o: tensor<10xf32>) -> tensor<10xf32> {
  %e = tensor.empty() : tensor<10xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(i) -> (9 - i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<10xf32>) outs(%e : tensor<10xf32>) {
  ^bb0(%a: f32, %c: f32):
    %u = arith.negf %a : f32
    linalg.yield %u : f32
  } -> tensor<10xf32>
  %q = linalg.exp ins(%p : tensor<10xf32>) outs(%o : tensor<10xf32>) -> tensor<10xf32>
  return %q : tensor<10xf32>
}
"""


@pytest.mark.parametrize("size", [4, 5])
def test_a_producer_that_reads_backwards_is_fused(size: int) -> None:
    schedule = f"""schedule s() {{
  let a = match linalg.generic
  let op = match linalg.exp
  let (tiles, tile) = tile op [{size}]
  fuse a into tiles
  map tiles to blocks(x)
  let (lanes, one) = tile tile [1]
  fuse a into lanes
  map lanes to threads(x)
  launch tiles
}}
"""
    x = np.linspace(0, 1, 10, dtype=np.float32)
    assert np.allclose(expect_right(made(schedule, CHAIN), {"x": x, "o": x})["result0"], np.exp(-x[::-1]))


UNTILED = """func.func @f(%x: tensor<5x{read}xf32>) -> tensor<5x{n}xf32> {{
  %e = tensor.empty() : tensor<5x{n}xf32>
  %y = linalg.generic {{indexing_maps = [affine_map<(t, i) -> (t, {at})>, affine_map<(t, i) -> (t, i)>],
                       iterator_types = ["parallel", "parallel"]}}
      ins(%x : tensor<5x{read}xf32>) outs(%e : tensor<5x{n}xf32>) {{
  ^bb0(%a: f32, %c: f32):
    %u = arith.negf %a : f32
    linalg.yield %u : f32
  }} -> tensor<5x{n}xf32>
  %q = linalg.exp ins(%y : tensor<5x{n}xf32>) outs(%e : tensor<5x{n}xf32>) -> tensor<5x{n}xf32>
  return %q : tensor<5x{n}xf32>
}}
"""
UNEVEN = {**PLACES, "i mod 4": (12, 4, lambda i: i % 4), "i mod 5": (12, 5, lambda i: i % 5),
          "i * -1 + 40": (12, 41, lambda i: 40 - i), "(i + 2) mod 4": (12, 4, lambda i: (i + 2) % 4),
          "i mod 8 - i mod 2 + 1": (13, 9, lambda i: i % 8 - i % 2 + 1)}  # fmt: skip


@pytest.mark.few()
@pytest.mark.parametrize("staged", [False, True])
@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("at", UNEVEN)
def test_reads_along_a_dimension_that_is_not_tiled(at: str, fused: bool, staged: bool) -> None:
    """The slice of such a dimension ends where its last iteration reads; one that reads less than others is none."""
    iterations, elements, place = UNEVEN[at]
    copies = "  let (xs, copy) = promote-to-shared {}.in0\n  map copy to threads(*) cyclic\n" if staged else ""
    schedule = """schedule s() {
  let a = match linalg.generic
  let op = match linalg.exp
""" + ("  let (tiles, tile) = tile op [2, _]\n  fuse a into tiles\n" if fused else
       "  map op to grid(y, x)\n  let (tiles, tile) = tile a [2]\n") + (
        "  map tiles to blocks(x)\n" + copies.format("a" if fused else "tile")
    ) + ("  map a to threads(x: 16) cyclic\n" if fused else "") + """  map tile to threads(x: 16) cyclic
  insert-barriers
  launch tiles
""" + ("" if fused else "  launch op\n") + "}\n"  # fmt: skip
    x = np.random.default_rng(0).standard_normal((5, elements)).astype(np.float32)
    for open_ in (False, True):
        payload = UNTILED.format(at=at, read="?" if open_ else elements, n=iterations)
        found = expect_right(made(schedule, payload), {"x": x})["result0"]
        assert np.allclose(found, np.exp(-x[:, [place(i) for i in range(iterations)]]))


ROTATED = """func.func @f(%x: tensor<5x64xf32>) -> tensor<5x2x32xf32> {
  %e = tensor.empty() : tensor<5x2x32xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(t, p, d) -> (t, p * -32 + d + 32)>, affine_map<(t, p, d) -> (t, p, d)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<5x64xf32>) outs(%e : tensor<5x2x32xf32>) {
  ^bb0(%a: f32, %c: f32):
    linalg.yield %a : f32
  } -> tensor<5x2x32xf32>
  return %y : tensor<5x2x32xf32>
}
"""


@pytest.mark.parametrize("sizes", ["1, _, _", "2, 1, _", "_, _, 32", "_, 2, 8", "3, 2, 30"])
def test_a_sum_that_falls_along_one_dimension_and_rises_along_another(sizes: str) -> None:
    schedule = f"""schedule s() {{
  let r = match linalg.generic
  let (tiles, tile) = tile r [{sizes}]
  map tiles to blocks(z)
  map tile to threads(x: 32) cyclic
  launch tiles
}}
""".replace("(z)", f"({', '.join('zyx'[-sum(s != '_' for s in sizes.split(', ')):])})")
    x = np.random.default_rng(0).standard_normal((5, 64)).astype(np.float32)
    expected = x.reshape(5, 2, 32)[:, ::-1]
    assert np.array_equal(expect_right(made(schedule, ROTATED), {"x": x})["result0"], expected)


def test_a_reduction_along_an_untiled_dimension_that_is_read_backwards() -> None:
    """(i, k) -> (i, 69 - k), where k is not tiled; of `fuse`, too, where no consumer's tile cuts k."""
    payload = """func.func @f(%x: tensor<12x70xf32>, %w: tensor<70xf32>) -> tensor<12xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<12xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<12xf32>) -> tensor<12xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, -k + 69)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : tensor<12x70xf32>, tensor<70xf32>) outs(%z : tensor<12xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %u = arith.addf %c, %m : f32
    linalg.yield %u : f32
  } -> tensor<12xf32>
  %q = linalg.exp ins(%s : tensor<12xf32>) outs(%e : tensor<12xf32>) -> tensor<12xf32>
  return %q : tensor<12xf32>
}
"""
    schedule = """schedule s() {
  let s = match linalg.generic
  let z = match linalg.fill
  let op = match linalg.exp
  let (tiles, tile) = tile op [4]
  fuse s into tiles
  fuse z into tiles
  map tiles to blocks(x)
  let (lanes, one) = tile tile [1]
  fuse s into lanes
  fuse z into lanes
  map lanes to threads(x)
  launch tiles
}
"""
    x = np.random.default_rng(0).standard_normal((12, 70)).astype(np.float32) / 10
    w = np.arange(70, dtype=np.float32) / 70
    expect_right(made(schedule, payload), {"x": x, "w": w})
    apart = """schedule s() {
  let s = match linalg.generic
  let z = match linalg.fill
  let op = match linalg.exp
  map z to grid(x)
  map op to grid(x)
  let (tiles, tile) = tile s [4]
  map tiles to blocks(x)
  map tile to threads(x)
  launch z
  launch tiles
  launch op
}
"""
    expect_right(made(apart, payload), {"x": x, "w": w})


WRITTEN = ONE.replace("({at})", "(i)").replace("affine_map<(i) -> (i)>],", "affine_map<(i) -> (9 - i)>],")

IN_A_LOOP = """func.func @f(%x: memref<10xf32>, %o: memref<10xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  scf.for %t = %c0 to %c3 step %c1 {
    linalg.generic {indexing_maps = [affine_map<(i) -> (9 - i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%x : memref<10xf32>) outs(%o : memref<10xf32>) {
    ^bb0(%a: f32, %c: f32):
      %u = arith.addf %a, %c : f32
      linalg.yield %u : f32
    }
  }
  return
}
"""


def test_what_cannot_be_read_or_written_by_tiles_is_refused() -> None:
    """A result that is written backwards; an input of an op in a loop of the host is read so, and is right."""
    tiled = "schedule s() {\n  let op = match linalg.generic\n  let (tiles, tile) = tile op [5]\n}\n"
    with pytest.raises(WeftError, match=r"W0325: output 0 is written at \(-d0 \+ 9\), and a tile has no slice of it"):
        weft.apply(tiled, payload=WRITTEN.format(read=10, n=10))
    mapped = "\n  map tiles to blocks(x)\n  let (lanes, one) = tile tile [1]\n  map lanes to threads(x)\n  launch tiles\n}"
    in_a_loop = tiled.replace("\n}", mapped)
    assert weft.run(in_a_loop, payload=IN_A_LOOP, target="sim").ok
