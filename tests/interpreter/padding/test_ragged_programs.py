"""Ragged and dynamic tiles: trip counts with a known bound, tiles in tiles, write-backs after mapped ops; and buffers' names."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from evaluator import Buffer, Evaluator
from judged import program
from loops import ROOT, launched, mapped

from weft.interpreter.indices.values import range_of
from weft.interpreter.ir import mlir
from weft.interpreter.ir.mlir import ir

DYNAMIC = """\
#id = affine_map<(i, j) -> (i, j)>
func.func @dyn(%x: memref<?x?xf32> {weft.name = "x"}, %y: memref<?x?xf32> {weft.name = "y"}) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%x : memref<?x?xf32>) outs(%y : memref<?x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = math.exp %a : f32
    linalg.yield %m : f32
  }
  return
}
"""
TILES = """\
let p = match linalg.generic
let (t, i) = tile p [8, 8]
map t to blocks(y, x)
let (l, o) = tile i [1, 1]
map l to threads({space}
launch t
"""


@pytest.mark.parametrize(
    "space",
    ["y: 8, x: 8)", "y, x)", "y: 8, x: 16)", "y: 8, x: 8) block", "y: 8, x: 8) cyclic", "y: 8, x: 9) block-cyclic(1)"],
)
def test_trip_counts_that_are_bounded(space: str, tmp_path: Path) -> None:
    """One iteration each, at most, whatever the word: a guard, and no loop."""
    made = program(tmp_path, DYNAMIC, TILES.format(space=space))
    kernel = made.module[made.module.index("gpu.func") :]
    assert "scf.for" not in kernel
    for rows, columns in ((13, 21), (8, 8), (1, 40)):
        x = np.random.default_rng(1).random((rows, columns), dtype=np.float32)
        assert not made.wrong({"x": x, "y": np.zeros_like(x)}, folder=tmp_path)


TRANSPOSED = """\
func.func @t(%x: tensor<33x20xi32>) -> tensor<20x33xi32> {
  %e = tensor.empty() : tensor<20x33xi32>
  %t = linalg.transpose ins(%x : tensor<33x20xi32>) outs(%e : tensor<20x33xi32>) permutation = [1, 0]
  return %t : tensor<20x33xi32>
}
"""


@pytest.mark.parametrize("threads", ["threads(x: 16) cyclic", "threads(x: 7) block", "threads(y: 2, x: 4) cyclic"])
def test_a_write_back_follows_an_op_that_is_mapped_in_a_row(threads: str, tmp_path: Path) -> None:
    made = program(
        tmp_path, TRANSPOSED, f"let q = match linalg.transpose\nlet (t, i) = tile q [4, 8]\nmap t to blocks(x, y)\n"
        f"map i to {threads}\nlaunch t",
    )  # fmt: skip
    assert not made.wrong()


DOUBLED = """\
#id = affine_map<(i, j) -> (i, j)>
func.func @d(%x: tensor<20x33xi32>) -> tensor<20x33xi32> {
  %e = tensor.empty() : tensor<20x33xi32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%x : tensor<20x33xi32>) outs(%e : tensor<20x33xi32>) {
  ^bb0(%a: i32, %o: i32):
    %s = arith.addi %a, %a : i32
    linalg.yield %s : i32
  } -> tensor<20x33xi32>
  return %y : tensor<20x33xi32>
}
"""


@pytest.mark.parametrize("columns", [7, 11])
def test_a_promoted_tile_keeps_its_place(columns: int, tmp_path: Path) -> None:
    """The op that reads it has a map of its own, and does not write over it."""
    made = program(
        tmp_path, DOUBLED, f"let g = match linalg.generic\nlet (t, i) = tile g [4, {columns}]\nmap t to blocks(y, x)\n"
        "let (s, c) = promote-to-shared i.in0\nmap c to threads(*) cyclic\nmap i to threads(y: 2, x: 4) cyclic\n"
        "insert-barriers\nlaunch t",
    )  # fmt: skip
    assert not made.wrong()


@pytest.mark.parametrize("dist", ["cyclic", "block", "block-cyclic(2)"])
def test_vectors_are_written_back_by_who_made_them(dist: str) -> None:
    """Eight elements an iteration: the thread that copies an element is the one that filled it; a load keeps the temporary."""
    text = f"""\
func.func @f(%C: memref<5x16xf32>, %n: index) {{
  %z = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  scf.forall (%b) in (1) {{
    %t = memref.alloc() : memref<8x16xf32>
    linalg.fill {mapped("threads", "*", [], dist.split("(")[0], 2 if "(" in dist else None, 4)}
      ins(%one : f32) outs(%t : memref<8x16xf32>)
    %from = memref.subview %t[0, 0] [%n, 16] [1, 1] : memref<8x16xf32> to memref<?x16xf32, strided<[16, 1]>>
    %to = memref.subview %C[0, 0] [%n, 16] [1, 1] : memref<5x16xf32> to memref<?x16xf32, strided<[16, 1]>>
    memref.copy %from, %to : memref<?x16xf32, strided<[16, 1]>> to memref<?x16xf32, strided<[16, 1]>>
    scf.forall (%i) in (8) {{ %v = memref.load %t[%i, %z] : memref<8x16xf32> }} {mapped("threads", "x", [8])}
  }} {mapped("blocks", "x", [-1]).replace("{weft", "{" + ROOT + ", weft", 1)}
  return
}}
"""
    module, _ = launched(text)
    judge, result = Evaluator(module), Buffer((5, 16), lambda at: None)
    judge.run("f", [result, 5])
    assert result.elements == {(i, j): 1.0 for i in range(5) for j in range(16)}
    maker = {(s.at[0], s.at[1] + lane): s.thread for s in judge.stores if s.buffer != 0 for lane in range(s.width)}
    assert all(maker[s.at[0], s.at[1]] == s.thread for s in judge.stores if s.buffer == 0)


@pytest.mark.parametrize(("block", "lanes", "shape"), [((7, 9), (2, 3), (4, 3)), ((10, 6), (3, 4), (4, 2))])
def test_ragged_tiles_in_ragged_tiles(
    block: tuple[int, int], lanes: tuple[int, int], shape: tuple[int, int], tmp_path: Path
) -> None:
    payload = """\
#id = affine_map<(i, j) -> (i, j)>
func.func @relu(%x: tensor<50x41xf32>) -> tensor<50x41xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<50x41xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%x : tensor<50x41xf32>) outs(%e : tensor<50x41xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %zero : f32
    linalg.yield %m : f32
  } -> tensor<50x41xf32>
  return %r : tensor<50x41xf32>
}
"""
    made = program(
        tmp_path, payload,
        f"let r = match linalg.generic\nlet (t, i) = tile r {list(block)}\nmap t to blocks(y, x)\n"
        f"let (l, _) = tile i {list(lanes)}\nmap l to threads(y: {shape[0]}, x: {shape[1]})\nlaunch t",
    )  # fmt: skip
    assert not made.wrong()


def test_shared_buffers_keep_their_names() -> None:
    shared = "#gpu.address_space<workgroup>"
    names = ['{weft.name = "A_shared"}', '{weft.name = "A_shared"}', ""]
    allocs = "\n".join(f"%s{n} = memref.alloc() {name} : memref<8xf32, {shared}>" for n, name in enumerate(names))
    uses = "\n".join(
        f"%l{n} = memref.load %s{n}[%i] : memref<8xf32, {shared}>\nmemref.store %l{n}, %A[%i] : memref<8xf32>"
        for n in range(3)
    )
    module, _ = launched(f"""\
func.func @f(%A: memref<8xf32>) {{
  scf.forall (%b) in (1) {{
    {allocs}
    scf.forall (%i) in (8) {{ {uses} }} {mapped("threads", "x", [8])}
  }} {mapped("blocks", "x", [-1]).replace("{weft", "{" + ROOT + ", weft", 1)}
  return
}}
""")
    (kernel,) = mlir.operations(module.operation, "gpu.func")
    assert str(kernel.attributes["workgroup_attrib_attrs"]) == (
        '[{weft.name = "A_shared"}, {weft.name = "A_shared_2"}, {}]'
    )
    assert 'workgroup(%arg1 : memref<8xf32, #gpu.address_space<workgroup>> {weft.name = "A_shared"}' in str(kernel)


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("affine.min affine_map<(d0)[s0] -> (8, s0 - d0)>(%i)[%n]", (None, 8)),
        ("affine.max affine_map<(d0) -> (2, d0 - 4)>(%i)", (2, 5)),
        ("affine.apply affine_map<(d0) -> (d0 * -3 + 1)>(%i)", (-26, 1)),
        ("affine.apply affine_map<(d0) -> ((d0 + 5) floordiv 4)>(%i)", (1, 3)),
        ("affine.apply affine_map<(d0) -> ((d0 + 5) ceildiv 4)>(%i)", (2, 4)),
        ("affine.apply affine_map<(d0)[s0] -> (s0 mod 6)>(%i)[%n]", (0, 5)),
        ("affine.apply affine_map<(d0) -> (d0 mod 16)>(%i)", (0, 9)),
        ("affine.apply affine_map<(d0)[s0] -> (d0 * 2 + s0)>(%i)[%n]", (None, None)),
        ("arith.minsi %i, %n : index", (None, 9)),
        ("arith.subi %c10, %i : index", (1, 10)),
        ("arith.muli %i, %i : index", (0, 81)),
        ("memref.dim %A, %i : memref<?xf32>", (0, None)),
        ("arith.xori %i, %i : index", (None, None)),
    ],
)
def test_ranges(expression: str, wanted: tuple[int | None, int | None]) -> None:
    module = mlir.parse(
        "func.func @f(%n: index, %A: memref<?xf32>) {\n%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n"
        "%c10 = arith.constant 10 : index\nscf.for %i = %c0 to %c10 step %c1 {\n"
        f"%v = {expression}\n" + '"test.use"(%v) : (index) -> ()\n}\nreturn\n}',
        mlir.context(),
    )
    (use,) = mlir.operations(module.operation, "test.use")
    value = use.operands[0]
    assert isinstance(value, ir.Value)
    assert range_of(value) == wanted
