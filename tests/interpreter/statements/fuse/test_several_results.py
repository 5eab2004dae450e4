"""Producers of several results, fused into ragged tiles: rounded up like those of one, whichever result is read."""

from __future__ import annotations

import pytest

import weft
from weft.dsl.diagnostics import WeftError

HEAD = """
#ij = affine_map<(i, j) -> (i, j)>
#ji = affine_map<(i, j) -> (j, i)>
#i = affine_map<(i, j) -> (i)>
#v = affine_map<(i) -> (i)>
func.func @f(%a: tensor<{n}x{m}xf32>) -> {result} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %a, %c0 : tensor<{n}x{m}xf32>
  %m = tensor.dim %a, %c1 : tensor<{n}x{m}xf32>
  %zero = arith.constant 0.0 : f32
  %most = arith.constant 0x7F800000 : f32
  %least = arith.constant 0xFF800000 : f32
  %none = arith.constant 0 : i32
"""
ROWS = """
  %e = tensor.empty({of_n}) : tensor<{n}xf32>
"""
EXTREMES = ROWS + """
  %s0 = linalg.fill ins(%most : f32) outs(%e : tensor<{n}xf32>) -> tensor<{n}xf32>
  %s1 = linalg.fill ins(%least : f32) outs(%e : tensor<{n}xf32>) -> tensor<{n}xf32>
  %p:2 = linalg.generic {{indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]}}
      ins(%a : tensor<{n}x{m}xf32>) outs(%s0, %s1 : tensor<{n}xf32>, tensor<{n}xf32>) {{
    ^bb0(%x: f32, %u: f32, %v: f32):
      %k = arith.minimumf %x, %u : f32
      %l = arith.maximumf %x, %v : f32
      linalg.yield %k, %l : f32, f32 }} -> (tensor<{n}xf32>, tensor<{n}xf32>)
  %r = linalg.generic {{indexing_maps = [#v, #v, #v], iterator_types = ["parallel"]}}
      ins(%p#0, %p#1 : tensor<{n}xf32>, tensor<{n}xf32>) outs(%e : tensor<{n}xf32>) {{
    ^bb0(%x: f32, %y: f32, %o: f32):
      %s = arith.subf %y, %x : f32
      linalg.yield %s : f32 }} -> tensor<{n}xf32>
  return {returned} }}
"""
LARGEST = ROWS + """
  %w = tensor.empty({of_n}) : tensor<{n}xi32>
  %s0 = linalg.fill ins(%least : f32) outs(%e : tensor<{n}xf32>) -> tensor<{n}xf32>
  %s1 = linalg.fill ins(%none : i32) outs(%w : tensor<{n}xi32>) -> tensor<{n}xi32>
  %p:2 = linalg.generic {{indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]}}
      ins(%a : tensor<{n}x{m}xf32>) outs(%s0, %s1 : tensor<{n}xf32>, tensor<{n}xi32>) {{
    ^bb0(%x: f32, %u: f32, %v: i32):
      %j = linalg.index 1 : index
      %t = arith.index_cast %j : index to i32
      %g = arith.cmpf ogt, %x, %u : f32
      %k = arith.select %g, %x, %u : f32
      %l = arith.select %g, %t, %v : i32
      linalg.yield %k, %l : f32, i32 }} -> (tensor<{n}xf32>, tensor<{n}xi32>)
  %r = linalg.generic {{indexing_maps = [#v, #v], iterator_types = ["parallel"]}}
      ins(%p#{read} : tensor<{n}x{kind}>) outs(%e : tensor<{n}xf32>) {{
    ^bb0(%x: {kind}, %o: f32):
      %y = {as_f32}
      %s = arith.addf %y, %y : f32
      linalg.yield %s : f32 }} -> tensor<{n}xf32>
  return {returned} }}
"""
WELFORD = ROWS + """
  %s0 = linalg.fill ins(%zero : f32) outs(%e : tensor<{n}xf32>) -> tensor<{n}xf32>
  %p:3 = linalg.generic {{indexing_maps = [#ij, #i, #i, #i], iterator_types = ["parallel", "reduction"]}}
      ins(%a : tensor<{n}x{m}xf32>) outs(%s0, %s0, %s0 : tensor<{n}xf32>, tensor<{n}xf32>, tensor<{n}xf32>) {{
    ^bb0(%x: f32, %c: f32, %mean: f32, %q: f32):
      %one = arith.constant 1.0 : f32
      %c2 = arith.addf %c, %one : f32
      %d = arith.subf %x, %mean : f32
      %dd = arith.divf %d, %c2 : f32
      %mean2 = arith.addf %mean, %dd : f32
      %d2 = arith.subf %x, %mean2 : f32
      %dq = arith.mulf %d, %d2 : f32
      %q2 = arith.addf %q, %dq : f32
      linalg.yield %c2, %mean2, %q2 : f32, f32, f32 }} -> (tensor<{n}xf32>, tensor<{n}xf32>, tensor<{n}xf32>)
  %b = tensor.empty({of_nm}) : tensor<{n}x{m}xf32>
  %r = linalg.generic {{indexing_maps = [#ij, #i, #i, #ij], iterator_types = ["parallel", "parallel"]}}
      ins(%a, %p#1, %p#2 : tensor<{n}x{m}xf32>, tensor<{n}xf32>, tensor<{n}xf32>) outs(%b : tensor<{n}x{m}xf32>) {{
    ^bb0(%x: f32, %y: f32, %z: f32, %o: f32):
      %s = arith.subf %x, %y : f32
      %t = arith.mulf %s, %z : f32
      linalg.yield %t : f32 }} -> tensor<{n}x{m}xf32>
  return {returned} }}
"""
TRANSPOSED = """
  %e = tensor.empty({of_nm}) : tensor<{n}x{m}xf32>
  %t = tensor.empty({of_mn}) : tensor<{m}x{n}xf32>
  %p:2 = linalg.generic {{indexing_maps = [#ij, #ij, #ji], iterator_types = ["parallel", "parallel"]}}
      ins(%a : tensor<{n}x{m}xf32>) outs(%e, %t : tensor<{n}x{m}xf32>, tensor<{m}x{n}xf32>) {{
    ^bb0(%x: f32, %o: f32, %q: f32):
      %k = arith.negf %x : f32
      %l = arith.mulf %x, %x : f32
      linalg.yield %k, %l : f32, f32 }} -> (tensor<{n}x{m}xf32>, tensor<{m}x{n}xf32>)
  %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel"]}}
      ins(%p#0, %p#1 : tensor<{n}x{m}xf32>, tensor<{m}x{n}xf32>) outs(%e : tensor<{n}x{m}xf32>) {{
    ^bb0(%x: f32, %y: f32, %o: f32):
      %s = arith.addf %x, %y : f32
      linalg.yield %s : f32 }} -> tensor<{n}x{m}xf32>
  return {returned} }}
"""
VECTOR, MATRIX = "tensor<{n}xf32>", "tensor<{n}x{m}xf32>"
PROGRAMS = {
    "extremes": (EXTREMES, ["%r : " + VECTOR], {}),
    "extremes, one returned as well": (EXTREMES, ["%r : " + VECTOR, "%p#0 : " + VECTOR], {}),
    "the largest": (LARGEST, ["%r : " + VECTOR], {"read": 0, "kind": "f32", "as_f32": "arith.mulf %x, %x : f32"}),
    "where it is": (LARGEST, ["%r : " + VECTOR], {"read": 1, "kind": "i32", "as_f32": "arith.sitofp %x : i32 to f32"}),
    "Welford": (WELFORD, ["%r : " + MATRIX], {}),
    "transposed": (TRANSPOSED, ["%r : " + MATRIX], {"maps": "#ij, #ji, #ij"}),
    "transposed, one returned as well": (TRANSPOSED, ["%r : " + MATRIX, "%p#1 : tensor<{m}x{n}xf32>"], {"maps": "#ij, #ji, #ij"}),
    "transposed, in tiles of two shapes": (TRANSPOSED, ["%r : " + MATRIX], {"maps": "#ij, #ij, #ij"}),
}


def program(name: str, n: str, m: str) -> str:
    body, results, more = PROGRAMS[name]
    sizes = {"n": n, "m": m, "of_n": "%n" if n == "?" else ""}
    sizes |= {"of_nm": ", ".join(v for v, s in (("%n", n), ("%m", m)) if s == "?")}
    sizes |= {"of_mn": ", ".join(v for v, s in (("%m", m), ("%n", n)) if s == "?")}
    values, kinds = zip(*(each.format(**sizes).split(" : ") for each in results), strict=True)
    returned = f"{', '.join(values)} : {', '.join(kinds)}"
    return (HEAD + body).format(result=f"({', '.join(kinds)})", returned=returned, **sizes, **more)


WAYS = {
    "by lanes": """let (l, one) = tile tile {ones}
  fuse p into l
  foreach q in f {{ fuse q into l }}
  map l to {lanes}""",
    "by threads": """map tile to threads(x: 8) cyclic
  map p to threads(*) cyclic
  foreach q in f {{ map q to threads(*) cyclic }}""",
    "in steps": """map tile to threads(x: 8) cyclic
  let (k, step) = tile p [_, 5]
  let (s, copy) = promote-to-shared step.in0
  map copy to threads(*) cyclic
  map step to threads(*) cyclic
  foreach q in f {{ map q to threads(*) cyclic }}""",
    "staged": """map tile to threads(x: 8) cyclic
  let (s, copy) = promote-to-shared p.in0
  map copy to threads(*) cyclic
  map p to threads(*) cyclic""",
}
READ_OUTSIDE = {name for name in PROGRAMS if "returned" in name or "two shapes" in name}
SUMS = {name for name in PROGRAMS if "transposed" not in name}


def schedule(name: str, way: str) -> str:
    """The rows in tiles of 4, or elements in tiles of 4 × 3; what others read of the producer is made by a launch of its own."""
    one = name in SUMS and name != "Welford"
    words = {"ones": "[1]", "lanes": "threads(x: 4)"} if one else {"ones": "[1, 1]", "lanes": "threads(y: 4, x: 3)"}
    return f"""schedule s() {{
  let p = match linalg.generic #0
  let r = match linalg.generic #1
  let f = match* linalg.fill
  let (tiles, tile) = tile r {"[4]" if one else "[4, 3]"}
  fuse p into tiles
  foreach q in f {{ fuse q into tiles }}
  map tiles to {"blocks(x)" if one else "blocks(y, x)"}
  {WAYS[way].format(**words)}
  insert-barriers
  launch tiles
  let fills = match* linalg.fill
  let left = match* linalg.generic
  foreach q in fills {{
    let (z, w) = tile q [1]
    map z to grid(x) cyclic
    launch z
  }}
  foreach q in left {{
    let (z, w) = tile q [1]
    map z to grid(x) cyclic
    launch z
  }}
}}
"""


CASES = [(name, way) for name in PROGRAMS for way in WAYS if way.startswith("by") or (way == "in steps") == (name in SUMS)]


@pytest.mark.few(6)
@pytest.mark.parametrize(("name", "way"), CASES)
def test_fused_into_ragged_tiles(name: str, way: str) -> None:
    n, m = ("13", "13") if "two shapes" in name else ("10", "14")
    done = weft.run(schedule(name, way), payload=program(name, n, m), target="sim")
    assert done.ok and not done.races
    assert (len(done.kernels) > 1) == (name in READ_OUTSIDE), "all that the loop alone reads is made in it"


@pytest.mark.filterwarnings("error")
@pytest.mark.few(2)
@pytest.mark.parametrize(("name", "way"), [(name, way) for name, way in CASES if "two shapes" not in name])
def test_built_with_nothing_assumed(name: str, way: str) -> None:
    """Also where another launch leaves the results in a buffer of rounded sizes, in which the last rows are no results."""
    assert weft.compile(schedule(name, way), payload=program(name, "10", "14"))


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in READ_OUTSIDE])
def test_fused_into_ragged_tiles_of_open_sizes(name: str) -> None:
    for n, m in ((10, 14), (1, 5), (17, 3)):
        done = weft.run(schedule(name, "by lanes"), payload=program(name, "?", "?"), target="sim", sizes={"a.0": n, "a.1": m})
        assert done.ok and not done.races, (n, m)
    assert weft.run(schedule(name, "by lanes"), payload=program(name, "?", "?"), target="cpu", sizes={"a.0": 9, "a.1": 8}).ok


@pytest.mark.parametrize("name", sorted(READ_OUTSIDE))
def test_of_open_sizes_one_that_others_read_stays_outside(name: str) -> None:
    """What they read would have as many tiles as only a run knows. It is read element by element, which is right; and not fused."""
    payload, fused = program(name, "?", "?"), schedule(name, "by lanes")
    with pytest.raises(WeftError, match=r"W0326: linalg\.generic has several results") as refused:
        weft.apply(fused, payload=payload)
    assert "`launch` it on its own, before" in str(refused.value.diagnostics[0].hint)
