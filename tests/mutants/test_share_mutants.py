"""Maps as emitted: an iteration too few, one of another processor, or the next one is noticed before any value is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from weft.interpreter.indices.arithmetic import Bound, ceildiv, divide, index_of, minimum, multiply, subtract, value_of
from weft.interpreter.indices.linear import Linear
from weft.interpreter.launch import materialize
from weft.interpreter.mapping import processors
from weft.interpreter.mapping.processors import Processors
from weft.pipeline import Choice, applied

SUMS = """
func.func @sums(%x: tensor<12x40xf32>) -> tensor<12xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<12xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<12xf32>) -> tensor<12xf32>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<12x40xf32>) outs(%i : tensor<12xf32>) dimensions = [1]
  return %r : tensor<12xf32>
}"""
SCHEDULE = """payload "p.mlir"

schedule s() {{
  let sums = match linalg.reduce
  let init = match linalg.fill
  let (tiles, tile) = tile sums [4]
  fuse init into tiles
  map tiles to blocks(x)
  let (rows, row) = tile tile [1]
  fuse init into rows
  map rows to threads(x: {threads}) {dist}
  launch tiles
}}
"""
MAPS = {"one each": (4, ""), "cyclic": (2, "cyclic"), "block": (3, "block"), "too many": (8, "")}

Owned = Callable[[Bound, Processors, "str | None", "int | None", Callable[[Linear], None]], None]


def too_few(owned: Owned) -> Owned:
    return lambda n, by, dist, chunk, body: owned(n - 1 if isinstance(n, int) else n, by, dist, chunk, body)


def the_next(owned: Owned) -> Owned:
    return lambda n, by, dist, chunk, body: owned(n, by, dist, chunk, lambda i: body(i + 1))


def the_first(owned: Owned) -> Owned:
    return lambda n, by, dist, chunk, body: owned(n, by, dist, chunk, lambda i: body(i * 0))


def each_twice(owned: Owned) -> Owned:
    def twice(n: Bound, by: Processors, dist: str | None, chunk: int | None, body: Callable[[Linear], None]) -> None:
        owned(n, by, dist, chunk, lambda i: body(divide(i, 2)[0]))

    return twice


MUTATIONS = {
    "an iteration too few": too_few, "the next one": the_next, "the first alone": the_first, "half of them twice": each_twice,
}  # fmt: skip


def assumed(folder: Path, name: str) -> list[str]:
    threads, dist = MAPS[name]
    (folder / "p.mlir").write_text(SUMS)
    (folder / "s.weft").write_text(SCHEDULE.format(threads=threads, dist=dist))
    return applied(Choice(str(folder / "s.weft"), unproven=True).open()).assumed


@pytest.mark.parametrize("name", MAPS)
def test_maps_as_they_are(name: str, tmp_path: Path) -> None:
    assert assumed(tmp_path, name) == []


@pytest.mark.few()
@pytest.mark.parametrize("mutation", MUTATIONS)
@pytest.mark.parametrize("name", MAPS)
def test_other_shares(name: str, mutation: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(materialize, "for_each_owned", MUTATIONS[mutation](materialize.for_each_owned))
    assert any("of what its processors execute" in line for line in assumed(tmp_path, name))


OPEN = """
func.func @sums(%x: tensor<?x?xf32>) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %c = arith.constant 0 : index
  %m = tensor.dim %x, %c : tensor<?x?xf32>
  %e = tensor.empty(%m) : tensor<?xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<?x?xf32>) outs(%i : tensor<?xf32>) dimensions = [1]
  return %r : tensor<?xf32>
}"""
OF_ROWS = """payload "p.mlir"

schedule s() {{
  let sums = match linalg.reduce
  let init = match linalg.fill
  let (rows, row) = tile sums [1]
  fuse init into rows
  map rows to {rows}
  {row}
  launch rows
}}
"""
OPEN_MAPS = {
    "shares of threads": ("threads(x: 12) block", ""),
    "shares of blocks": ("blocks(x: 5) block", "map row to threads(x: 32) cyclic"),
    "shares in shares": ("blocks(x: 5) block", "map row to threads(x: 32) block"),
    "shares of lanes": ("blocks(x)", "map row to lanes block"),
}


def one_chunk(size: int, reach: int) -> Callable[..., None]:
    """A processor's share, where it begins a multiple of a share that is longer by `size`, and ends by `reach` later."""

    def emit(n: Bound, by: Processors, share: Bound, body: Callable[[Linear], None]) -> None:
        first = index_of(multiply(value_of(by.index), subtract(share, -size)))
        end = minimum(first + index_of(subtract(share, -reach)), n)
        processors._loop(value_of(first), end, 1, lambda i: body(index_of(i)))

    return emit


OPEN_MUTATIONS = {
    "shares as they are": (one_chunk(0, 0), None),
    "shares overlap": (one_chunk(0, 1), None),
    "shares apart": (one_chunk(1, 0), None),
    "shares a row later": (one_chunk(0, 0), the_next),
    "shares end early": (one_chunk(0, -1), None),
    "every share twice": (one_chunk(0, 0), each_twice),
    "shares begin together": (one_chunk(-1, 0), None),
}


@pytest.mark.few()
@pytest.mark.parametrize("mutation", [*OPEN_MUTATIONS, "a share too few"])
@pytest.mark.parametrize("name", OPEN_MAPS)
def test_shares_of_open_sizes(name: str, mutation: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "p.mlir").write_text(OPEN)
    (tmp_path / "s.weft").write_text(OF_ROWS.format(**dict(zip(("rows", "row"), OPEN_MAPS[name], strict=True))))
    if mutation == "a share too few":
        monkeypatch.setattr(processors, "ceildiv", lambda a, b: ceildiv(a, b + 1 if isinstance(b, int) else b))
    else:
        chunk, owned = OPEN_MUTATIONS[mutation]
        monkeypatch.setattr(processors, "_one_chunk", chunk)
        monkeypatch.setattr(materialize, "for_each_owned", (owned or (lambda as_it_is: as_it_is))(materialize.for_each_owned))
    found = applied(Choice(str(tmp_path / "s.weft"), unproven=True).open()).assumed
    assert bool(found) == (mutation != "shares as they are"), found
