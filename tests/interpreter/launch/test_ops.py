"""Mapped ops: each element is done once, loads and stores are as wide as what is proven of their addresses."""

from __future__ import annotations

from collections import Counter

import pytest
from evaluator import Buffer, Evaluator, Store
from loops import ROOT, launched, mapped

IDENTITY = "affine_map<(i, j) -> (i, j)>"
WORKGROUP = "#gpu.address_space<workgroup>"


def staged_copy(
    rows: int,
    cols: int,
    block: tuple[int, int],
    attribute: str,
    *,
    pad: int = 0,
    offset: str = "64",
    transpose: bool = False,
) -> str:
    """Stage a tile of A in shared memory with a mapped copy, and write it to C with one thread per element of its own row.

    The tile starts at column `offset * block id`; its rows are padded by `pad`.
    """
    shared = f"memref<{cols}x{rows}xf32, {WORKGROUP}>" if transpose else f"memref<{rows}x{cols + pad}xf32, {WORKGROUP}>"
    if transpose:
        copy = f"linalg.transpose ins(%tile : TILE) outs(%s : {shared}) permutation = [1, 0] ATTRIBUTE"
    else:
        strided = f"memref<{rows}x{cols}xf32, strided<[{cols + pad}, 1]>, {WORKGROUP}>"
        copy = (
            f"%v = memref.subview %s[0, 0] [{rows}, {cols}] [1, 1] : {shared} to {strided}\n"
            f"    linalg.copy ATTRIBUTE ins(%tile : TILE) outs(%v : {strided})"
        )
    tile = f"memref<{rows}x{cols}xf32, strided<[256, 1], offset: ?>>"
    copy = copy.replace("TILE", tile).replace("ATTRIBUTE", attribute)
    return f"""\
func.func @f(%A: memref<64x256xf32>) {{
  %c0 = arith.constant 0 : index
  %c63 = arith.constant 63 : index
  scf.forall (%b) in (2) {{
    %x = affine.apply affine_map<(d0) -> (d0 * {offset})>(%b)
    %s = memref.alloc() : {shared}
    %tile = memref.subview %A[0, %x] [{rows}, {cols}] [1, 1] : memref<64x256xf32> to {tile}
    {copy}
    scf.forall (%i, %j) in ({block[0]}, {block[1]}) {{
      %seen = memref.load %s[%c0, %c0] : {shared}
      memref.store %seen, %A[%c63, %j] : memref<64x256xf32>
    }} {mapped("threads", "yx", block)}
  }} {mapped("blocks", "x", [-1]).replace("{weft", "{" + ROOT + ", weft", 1)}
  return
}}
"""


def run(text: str) -> tuple[list[Store], list[Store], tuple[str, ...]]:
    """Loads from A, stores to shared memory, remarks."""
    module, info = launched(text)
    judge = Evaluator(module)
    judge.run("f", [Buffer((64, 256), lambda at: at)])
    return [a for a in judge.loads if a.buffer == 0], [a for a in judge.stores if a.buffer != 0], info.remarks


@pytest.mark.few()
@pytest.mark.parametrize("block", [(4, 8), (1, 32), (3, 7), (16, 16)], ids=str)
@pytest.mark.parametrize("dist", ["cyclic", "block", "block-cyclic"])
@pytest.mark.parametrize("lanes", [None, 2, 4])
def test_every_element_once(block: tuple[int, int], dist: str, lanes: int | None) -> None:
    attribute = mapped("threads", "*", [], dist, 2 if dist == "block-cyclic" else None, lanes)
    _, stored, _ = run(staged_copy(8, 32, block, attribute))
    for number in range(2):
        stores = [s for s in stored if s.block == (number, 0, 0)]
        written = Counter((s.at[0], s.at[1] + lane) for s in stores for lane in range(s.width))
        assert written == {(i, j): 1 for i in range(8) for j in range(32)}
        values = {
            (s.at[0], s.at[1] + lane): (s.value if s.width > 1 else [s.value])[lane]
            for s in stores
            for lane in range(s.width)
        }
        assert values == {(i, j): (i, j + 64 * number) for i in range(8) for j in range(32)}
    threads, units = block[0] * block[1], 8 * 32 // (lanes or 1)
    for store in stored:
        linear = store.thread[0] + block[1] * store.thread[1]
        unit = (store.at[0] * 32 + store.at[1]) // (lanes or 1)
        chunk = {"cyclic": 1, "block": -(-units // threads), "block-cyclic": 2}[dist]
        assert unit // chunk % threads == linear


@pytest.mark.parametrize(
    ("pad", "offset", "transpose", "loads", "stores"),
    [
        (0, "64", False, 4, 4),
        (4, "64", False, 4, 4),
        (1, "64", False, 4, 1),  # rows of 33: not every row starts aligned
        (0, "63", False, 1, 4),  # the tile starts anywhere
        (0, "64", True, 1, 4),  # transposed: the op walks rows of the result, columns of the tile
    ],
)
def test_width_of_each_side(pad: int, offset: str, transpose: bool, loads: int, stores: int) -> None:
    attribute = mapped("threads", "*", [], "cyclic", None, 4)
    loaded, stored, remarks = run(staged_copy(8, 32, (4, 8), attribute, pad=pad, offset=offset, transpose=transpose))
    assert {a.width for a in loaded} == {loads}
    assert {a.width for a in stored} == {stores}
    for kind, width in (("loads", loads), ("stores", stores)):
        why = "neighbours lie apart" if transpose and kind == "loads" else "alignment not proven"
        said = "4-wide" if width == 4 else f"scalar ({why})"
        assert any(f"{kind} {said}" in remark for remark in remarks), remarks


def test_thread_ids_need_no_division() -> None:
    module, _ = launched(staged_copy(16, 16, (16, 16), mapped("threads", "*", [], "cyclic")))
    assert "floordiv" not in str(module) and " mod " not in str(module)


@pytest.mark.parametrize(("masked", "width"), [("i", 4), ("j", 1)])
def test_a_gather_loads_wide_where_one_guard_is_enough(masked: str, width: int) -> None:
    """A mask over rows is the same for the elements of a vector; one over columns is not."""
    text = f"""\
func.func @f(%A: memref<64x256xf32>) {{
  %c5 = arith.constant 5 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%b) in (2) {{
    %s = memref.alloc() : memref<8x32xf32, {WORKGROUP}>
    linalg.generic {{indexing_maps = [{IDENTITY}], iterator_types = ["parallel", "parallel"]}}
        outs(%s : memref<8x32xf32, {WORKGROUP}>) attrs = {mapped("threads", "*", [], "cyclic", None, 4)} {{
    ^bb0(%o: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %inside = arith.cmpi slt, %{masked}, %c5 : index
      %v = scf.if %inside -> f32 {{
        %q = memref.load %A[%i, %j] : memref<64x256xf32>
        scf.yield %q : f32
      }} else {{
        scf.yield %zero : f32
      }}
      linalg.yield %v : f32
    }}
    scf.forall (%t) in (32) {{
    }} {mapped("threads", "x", [32])}
  }} {mapped("blocks", "x", [-1]).replace("{weft", "{" + ROOT + ", weft", 1)}
  return
}}
"""
    loaded, stored, remarks = run(text)
    assert {a.width for a in loaded} == {width} and {a.width for a in stored} == {4}
    got = {(s.at[0], s.at[1] + lane): s.value[lane] for s in stored for lane in range(4)}
    inside = {(i, j) for i in range(8) for j in range(32) if (i if masked == "i" else j) < 5}
    assert got == {(i, j): (i, j) if (i, j) in inside else 0.0 for i in range(8) for j in range(32)}
    assert any("loads 4-wide under one guard" in r if width == 4 else "loads scalar" in r for r in remarks), remarks


def test_dynamic_extents() -> None:
    text = f"""\
func.func @f(%A: memref<?x?xf32>, %C: memref<?x?xf32>) {{
  linalg.copy {mapped("threads", "x", [32], "cyclic").replace("{weft", "{" + ROOT + ", weft", 1)}
    ins(%A : memref<?x?xf32>) outs(%C : memref<?x?xf32>)
  return
}}
"""
    module, _ = launched(text)
    judge = Evaluator(module)
    source, target = Buffer((5, 9), lambda at: at), Buffer((5, 9), lambda at: None)
    judge.run("f", [source, target])
    assert target.elements == {(i, j): (i, j) for i in range(5) for j in range(9)}
    assert len(judge.stores) == 45
    assert all((s.at[0] * 9 + s.at[1]) % 32 == s.thread[0] for s in judge.stores)


@pytest.mark.parametrize(("rows", "cols"), [(40, 70), (16, 16), (1, 1)])
def test_an_op_over_the_grid(rows: int, cols: int) -> None:
    kind = f"memref<{rows}x{cols}xf32>"
    text = f"""\
func.func @f(%A: {kind}, %C: {kind}) {{
  linalg.copy {mapped("grid", "x", [-1]).replace("{weft", "{" + ROOT + ", weft", 1)} ins(%A : {kind}) outs(%C : {kind})
  return
}}
"""
    module, info = launched(text)
    judge = Evaluator(module)
    target = Buffer((rows, cols), lambda at: None)
    judge.run("f", [Buffer((rows, cols), lambda at: at), target])
    assert target.elements == {(i, j): (i, j) for i in range(rows) for j in range(cols)}
    assert len(judge.stores) == rows * cols
    assert info.block[0] == min(256, rows * cols)
    assert all(s.at[0] * cols + s.at[1] == s.block[0] * (info.block[0] or 0) + s.thread[0] for s in judge.stores)
