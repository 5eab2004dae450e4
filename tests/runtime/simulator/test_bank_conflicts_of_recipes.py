"""Bank conflicts through the front door: the staged matmul, straight, transposed and padded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import weft
from weft.runtime.run.report import BankAccess, conflicts

SCHEDULE = """payload matmul(m = 50, n = 64, k = 32, type = {kind})

schedule staged() {{
  let gemm = match linalg.matmul
  let init = match linalg.fill
  let (tiles, tile_mm) = tile gemm [32, 32]
  fuse init into tiles
  map tiles to blocks(y, x)
  let (fills, fill) = tile init [1, 1]
  map fills to threads(y: 8, x: 32) cyclic
  let (k, step) = tile tile_mm [_, _, {depth}]
  let (a, copy_a) = promote-to-shared step.lhs {how}
  map copy_a to threads(*) cyclic{vector}
  let (lanes, one) = tile step [1, 1]
  map lanes to threads(y: 8, x: 32) cyclic
  insert-barriers
  launch tiles
}}
"""


def accesses(folder: Path, how: str, kind: str = "f32", vector: int = 1, depth: int = 32) -> list[BankAccess]:
    wide = f" vector {vector}" if vector > 1 else ""
    path = folder / "staged.weft"
    path.write_text(SCHEDULE.format(how=how, kind=kind, vector=wide, depth=depth))
    report = weft.run(path, target="sim")
    assert report.ok and report.bank_conflicts is not None
    found = [access for access in report.bank_conflicts if access.buffer == "A_shared"]
    assert all(a.statement and "staged.weft:12: " in a.statement for a in found)
    return found


def staged(folder: Path, how: str, kind: str = "f32", vector: int = 1) -> dict[str, BankAccess]:
    found = accesses(folder, how, kind, vector)
    assert len(found) == 2
    return {access.kind: access for access in found}


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("how", "kind", "degree", "pad"),
    [
        ("", "f32", 1.0, None),
        ("pad 1", "f32", 1.0, None),
        ("transpose", "f32", 32.0, 1),
        ("transpose pad 1", "f32", 1.0, None),
        ("transpose pad 2", "f32", 2.0, 1),
        ("transpose pad 4", "f32", 4.0, 1),
        ("transpose", "f64", 16.0, 1),
        ("transpose pad 1", "f64", 1.0, None),
        ("transpose", "f16", 16.0, 2),
    ],
)
def test_the_transposed_store(how: str, kind: str, degree: float, pad: int | None, tmp_path: Path) -> None:
    found = staged(tmp_path, how, kind)
    assert found["load"].degree == 1.0 and found["load"].conflicts == 0
    assert (found["store"].degree, found["store"].pad) == (degree, pad)
    if pad is not None:
        assert found["store"].padded == found["store"].ideal


def test_wide_copies_are_counted_by_quarters(tmp_path: Path) -> None:
    store = staged(tmp_path, "vector 4", vector=4)["store"]
    assert (store.width, store.degree, store.ideal) == (16, 1.0, 4 * store.executions)


@pytest.mark.parametrize(("kind", "vector", "depth"), [("f32", 4, 32), ("f32", 4, 16), ("f64", 2, 16), ("f16", 8, 32)])
def test_a_swizzle_beside_padding_takes_apart_what_padding_does_not(
    kind: str, vector: int, depth: int, tmp_path: Path
) -> None:
    """Lanes hold 16 bytes of several rows each, and store an element of each at once."""
    for swizzle, worse in (("", True), (" swizzle 64", False)):
        found = accesses(tmp_path, f"transpose pad {vector}{swizzle}", kind, vector, depth)
        stores = [access for access in found if access.kind == "store"]
        assert len(stores) == vector and all((access.degree > 1.0) == worse for access in stores), (swizzle, found)
        assert [access.degree for access in found if access.kind == "load"] == [1.0]


def test_the_recipe_has_none() -> None:
    report = weft.run("shared", settings={"m": 70, "n": 50, "k": 40}, target="sim")
    assert report.bank_conflicts is not None and len(report.bank_conflicts) == 4
    assert all(access.conflicts == 0 and access.pad is None for access in report.bank_conflicts)
    assert list(conflicts(report.bank_conflicts)) == []


@pytest.mark.few(2)
@pytest.mark.parametrize("depth", [16, 32])
@pytest.mark.parametrize("kind", ["tf32", "3xtf32", "bf16x3"])
def test_words_for_tensor_cores_have_none(kind: str, depth: int) -> None:
    """Lanes read one word of 8 rows each, or two words of 4 rows, and store vectors of whole rows."""
    tiles = {"m": 64, "n": 64, "k": 2 * depth, "bm": 64, "bn": 64, "bk": depth, "wm": 32, "wn": 32}
    report = weft.run("tensor", settings={"type": "f32", "as_type": kind, **tiles}, target="sim")
    assert report.bank_conflicts and all(access.degree == 1.0 for access in report.bank_conflicts)


def test_ops_of_one_place_are_one_line(tmp_path: Path) -> None:
    store = staged(tmp_path, "transpose")["store"]
    ((text, hints),) = conflicts([store, store])
    assert text.startswith("A_shared: store of 4 bytes a lane, 32-way (2 ops, ")
    assert hints[-1] == "hint: `pad 1` in that statement would do without conflicts"


def test_what_is_longer_is_told_of_what_there_is(tmp_path: Path) -> None:
    """A `pad` that is there, one that could be there, and rows of a buffer that no statement has made."""
    padded = staged(tmp_path, "transpose pad 2")["store"]
    for store, said in (
        (padded, "1 more to `pad`"),
        (replace(padded, statement=None), "rows that are 1 element longer"),
    ):
        ((_, hints),) = conflicts([store])
        assert hints[-1] == f"hint: {said} would do without conflicts"
