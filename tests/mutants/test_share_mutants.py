"""Maps as emitted: an iteration too few, one of another processor, or the next one is noticed before any value is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from weft.interpreter.indices.arithmetic import Bound, divide
from weft.interpreter.indices.linear import Linear
from weft.interpreter.launch import materialize
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


@pytest.mark.parametrize("mutation", MUTATIONS)
@pytest.mark.parametrize("name", MAPS)
def test_other_shares(name: str, mutation: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(materialize, "for_each_owned", MUTATIONS[mutation](materialize.for_each_owned))
    assert any("of what its processors execute" in line for line in assumed(tmp_path, name))
