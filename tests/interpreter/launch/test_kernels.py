"""Whole kernels: temporaries, write-backs, barriers, nests, idle axes, grids, names, and what the host's module keeps."""

from __future__ import annotations

from pathlib import Path

import pytest
from evaluator import Buffer, Evaluator
from loops import ROOT, launched, loop_module, mapped, placed
from pinned import pinned

from weft.interpreter.ir import mlir
from weft.interpreter.ir.functions import symbol
from weft.interpreter.launch.launch import launch_loop
from weft.interpreter.loops.forall import as_forall, reduces_nothing

HERE = Path(__file__).parent
THREADS = mapped("threads", "yx", [16, 16])


def root(attribute: str) -> str:
    return attribute.replace("{weft", "{" + ROOT + ", weft", 1)


GOLDENS = {
    **{
        f"{dist}-{n}-on-8{'-dynamic' * dynamic}": loop_module(
            [n], mapped("threads", "x", [8], dist, 3 if dist == "block-cyclic" else None), dynamic=dynamic
        )
        for dist in ("block", "cyclic", "block-cyclic")
        for n, dynamic in ((48, False), (21, False), (21, True))
    },
    "one-each-exact": loop_module([8], mapped("threads", "x", [8])),
    "one-each-guarded": loop_module([5], mapped("threads", "x", [8])),
    "blocks-dynamic-bounds": loop_module([7, 5], mapped("blocks", "yx", [-1, -1]), dynamic=True, lower=2, step=3),
    "blocks-symbolic": loop_module([100], mapped("blocks", "x", [-2], "block-cyclic", 4)),
    "three-dimensions": loop_module([3, 4, 7], mapped("threads", "zyx", [3, 2, 4], "cyclic")),
    "grid": loop_module([40, 70], mapped("grid", "yx", [-1, -1]), lower=1),
    "grid-dynamic": loop_module([1000], mapped("grid", "x", [-1]), dynamic=True),
    "grid-counted": loop_module([1000], mapped("grid", "x", [300], "cyclic")),
}


@pytest.mark.parametrize("name", GOLDENS)
def test_golden(name: str, update: bool) -> None:
    module, info = launched(GOLDENS[name])
    pinned(HERE / "golden" / f"{name}.mlir", f"{module}\n" + "".join(f"// {placed(r)}\n" for r in info.remarks), update)


@pytest.mark.parametrize(
    ("trips", "attribute", "dynamic"),
    [
        ([40, 70], mapped("grid", "yx", [-1, -1]), False),
        ([40, 70], mapped("grid", "yx", [-1, -1]), True),
        ([1000], mapped("grid", "x", [300], "cyclic"), False),
        ([1000], mapped("grid", "x", [300], "block"), True),
        ([1000], mapped("grid", "x", [-2], "cyclic"), True),
        ([3, 5, 7], mapped("grid", "zyx", [-1, -1, -1]), False),
    ],
)
def test_grid(trips: list[int], attribute: str, dynamic: bool) -> None:
    module, _ = launched(loop_module(trips, attribute, dynamic=dynamic))
    judge = Evaluator(module)
    out = Buffer(tuple(trips), lambda at: 0)
    judge.run("f", [out, *trips] if dynamic else [out])
    total = 1
    for n in trips:
        total *= n
    assert len(judge.stores) == len(out.elements) == total


def ragged(read_back: str) -> str:
    """A ragged 20×37 result in tiles of 16×16, computed in a temporary, that a loop of `read_back` increments."""
    part = "memref<1x1xf32, strided<[16, 1], offset: ?>>"
    return f"""\
func.func @f(%C: memref<20x37xf32> {{weft.name = "C"}}) {{
  %one = arith.constant 1.0 : f32
  %c15 = arith.constant 15 : index
  scf.forall (%bi, %bj) in (2, 3) {{
    %y = affine.apply affine_map<(d0) -> (d0 * 16)>(%bi)
    %x = affine.apply affine_map<(d0) -> (d0 * 16)>(%bj)
    %h = affine.min affine_map<(d0) -> (16, 20 - d0)>(%y)
    %w = affine.min affine_map<(d0) -> (16, 37 - d0)>(%x)
    %t = memref.alloc() : memref<16x16xf32>
    scf.forall (%i, %j) in (16, 16) {{
      %v = memref.subview %t[%i, %j] [1, 1] [1, 1] : memref<16x16xf32> to {part}
      linalg.fill ins(%one : f32) outs(%v : {part})
    }} {THREADS}
    scf.forall (%i, %j) in (16, 16) {{
      {read_back}
      linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}}
        outs(%v : {part}) {{
      ^bb0(%o: f32):
        %s = arith.addf %o, %one : f32
        linalg.yield %s : f32
      }}
    }} {THREADS}
    %from = memref.subview %t[0, 0] [%h, %w] [1, 1] : memref<16x16xf32> to memref<?x?xf32, strided<[16, 1]>>
    %to = memref.subview %C[%y, %x] [%h, %w] [1, 1] : memref<20x37xf32> to memref<?x?xf32, strided<[37, 1], offset: ?>>
    linalg.copy {{weft.writeback}} ins(%from : memref<?x?xf32, strided<[16, 1]>>)
      outs(%to : memref<?x?xf32, strided<[37, 1], offset: ?>>)
    memref.dealloc %t : memref<16x16xf32>
  }} {root(mapped("blocks", "yx", [-1, -1]))}
  return
}}
"""


OWN = "%v = memref.subview %t[%i, %j] [1, 1] [1, 1] : memref<16x16xf32> to memref<1x1xf32, strided<[16, 1], offset: ?>>"
MIRRORED = (
    "%m = arith.subi %c15, %i : index\n"
    "%v = memref.subview %t[%m, %j] [1, 1] [1, 1] : memref<16x16xf32> to memref<1x1xf32, strided<[16, 1], offset: ?>>"
)


def test_a_temporary_that_each_thread_keeps(update: bool) -> None:
    module, info = launched(ragged(OWN))
    assert any("each thread keeps its 1x1 part" in r for r in info.remarks) and info.made.shared_bytes == 0
    judge, result = Evaluator(module), Buffer((20, 37), lambda at: 0.0)
    judge.run("f", [result])
    assert result.elements == {(i, j): 2.0 for i in range(20) for j in range(37)}
    assert all(
        s.at == (s.block[1] * 16 + s.thread[1], s.block[0] * 16 + s.thread[0]) for s in judge.stores if s.buffer == 0
    )
    pinned(
        HERE / "golden" / "temporary-own.mlir",
        f"{module}\n" + "".join(f"// {placed(r)}\n" for r in info.remarks),
        update,
    )


def test_a_temporary_that_threads_share(update: bool) -> None:
    module, info = launched(ragged(MIRRORED))
    assert any("in shared memory, 1024 bytes (threads access each other's parts)" in r for r in info.remarks)
    assert info.made.shared_bytes == 1024
    pinned(
        HERE / "golden" / "temporary-shared.mlir",
        f"{module}\n" + "".join(f"// {placed(r)}\n" for r in info.remarks),
        update,
    )


def test_a_write_back_follows_a_mapped_op() -> None:
    text = f"""\
func.func @f(%C: memref<20xf32>, %n: index) {{
  %one = arith.constant 1.0 : f32
  scf.forall (%b) in (1) {{
    %t = memref.alloc() : memref<32xf32>
    linalg.fill {mapped("threads", "x", [8], "block")} ins(%one : f32) outs(%t : memref<32xf32>)
    %from = memref.subview %t[0] [%n] [1] : memref<32xf32> to memref<?xf32, strided<[1]>>
    %to = memref.subview %C[0] [%n] [1] : memref<20xf32> to memref<?xf32, strided<[1]>>
    memref.copy %from, %to : memref<?xf32, strided<[1]>> to memref<?xf32, strided<[1]>>
  }} {root(mapped("blocks", "x", [-1]))}
  return
}}
"""
    module, _ = launched(text)
    judge, result = Evaluator(module), Buffer((20,), lambda at: 0.0)
    judge.run("f", [result, 13])
    written = [s for s in judge.stores if s.buffer == 0]
    assert sorted(s.at[0] for s in written) == list(range(13))
    assert all(s.at[0] // 4 == s.thread[0] for s in written)


@pytest.mark.parametrize("upper", ["%c6", "%n"])
def test_scf_parallel_is_mapped_like_a_forall(upper: str) -> None:
    text = f"""\
func.func @f(%A: memref<6x9xi32>, %n: index) {{
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c6 = arith.constant 6 : index
  %c9 = arith.constant 9 : index
  %one = arith.constant 1 : i32
  scf.parallel (%i, %j) = (%c0, %c3) to ({upper}, %c9) step (%c2, %c3) {{
    memref.store %one, %A[%i, %j] : memref<6x9xi32>
    scf.reduce
  }} {root(mapped("threads", "yx", [2, 2], "cyclic"))}
  return
}}
"""
    module = mlir.parse(text, mlir.context())
    (loop,) = mlir.operations(module.operation, "scf.parallel")
    assert reduces_nothing(loop)
    launch_loop(module, as_forall(loop))
    module.operation.verify()
    judge = Evaluator(module)
    judge.run("f", [Buffer((6, 9), lambda at: 0), 6])
    assert sorted((s.at, s.thread[:2]) for s in judge.stores) == [
        ((i, j), (((j - 3) // 3) % 2, (i // 2) % 2)) for i in (0, 2, 4) for j in (3, 6)
    ]


def test_idle_axes_do_not_repeat() -> None:
    text = f"""\
func.func @f(%A: memref<64xi32>, %B: memref<4x8xi32>) {{
  %one = arith.constant 1 : i32
  scf.forall (%b) in (2) {{
    scf.forall (%i) in (32) {{
      %k = affine.apply affine_map<(d0, d1) -> (d0 * 32 + d1)>(%b, %i)
      memref.store %one, %A[%k] : memref<64xi32>
    }} {mapped("threads", "x", [8], "cyclic")}
    scf.forall (%i, %j) in (4, 8) {{
      memref.store %one, %B[%i, %j] : memref<4x8xi32>
    }} {mapped("threads", "yx", [4, 8])}
  }} {root(mapped("blocks", "x", [-1]))}
  return
}}
"""
    module, info = launched(text)
    judge = Evaluator(module)
    judge.run("f", [Buffer((64,), lambda at: 0), Buffer((4, 8), lambda at: 0)])
    first = [s for s in judge.stores if s.buffer == 0]
    assert len(first) == 64 and all(s.thread[1] == 0 for s in first)
    assert any("leaves y idle" in r for r in info.remarks)


def test_nested_maps() -> None:
    text = f"""\
func.func @f(%A: memref<2x3x4x5xi32>) {{
  %one = arith.constant 1 : i32
  scf.forall (%a) in (2) {{
    scf.forall (%b) in (3) {{
      scf.forall (%c) in (4) {{
        scf.forall (%d) in (5) {{
          memref.store %one, %A[%a, %b, %c, %d] : memref<2x3x4x5xi32>
        }} {mapped("threads", "x", [5])}
      }} {mapped("threads", "y", [4])}
    }} {mapped("blocks", "x", [-1])}
  }} {root(mapped("blocks", "y", [-1]))}
  return
}}
"""
    module, info = launched(text)
    assert info.grid == (3, 2, 1) and info.block == (5, 4, 1)
    judge = Evaluator(module)
    judge.run("f", [Buffer((2, 3, 4, 5), lambda at: 0)])
    assert sorted(s.at for s in judge.stores) == sorted({s.at for s in judge.stores}) and len(judge.stores) == 120
    assert all(s.at == (s.block[1], s.block[0], s.thread[1], s.thread[0]) for s in judge.stores)


def test_barriers_come_through_with_their_marks() -> None:
    store = "memref.store %one, %A[%i] : memref<8xi32>"
    loop = f"scf.forall (%i) in (8) {{ {store} }} {mapped('threads', 'x', [8])}"
    text = f"""\
func.func @f(%A: memref<8xi32>) {{
  %one = arith.constant 1 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  scf.forall (%b) in (1) {{
    {loop}
    gpu.barrier {{weft.candidate = 1 : i64}}
    gpu.barrier {{weft.candidate = 2 : i64}}
    scf.for %k = %c0 to %c5 step %c1 {{
      gpu.barrier {{weft.candidate = 3 : i64}}
      {loop}
      gpu.barrier
    }}
    gpu.barrier memfence [#gpu.address_space<workgroup>] {{weft.candidate = 4 : i64}}
  }} {root(mapped("blocks", "x", [-1]))}
  return
}}
"""
    _module, info = launched(text)
    kernel = info.kernel
    barriers = list(mlir.operations(kernel, "gpu.barrier"))
    marks = [str(b.attributes["weft.candidate"]) if "weft.candidate" in b.attributes else "" for b in barriers]
    assert marks == ["1 : i64", "2 : i64", "3 : i64", "", "4 : i64"]
    assert [b.parent.operation.name for b in barriers] == ["gpu.func"] * 2 + ["scf.for"] * 2 + ["gpu.func"]
    assert "address_spaces" in barriers[-1].attributes


def test_two_launches_of_a_function_and_a_loop_that_waits() -> None:
    one = loop_module([8], mapped("threads", "x", [8]), name="g")
    other = loop_module([4], mapped("threads", "x", [4]), name="h").replace(ROOT, "weft.h2")
    two = one.replace(
        "  return\n", one[one.index("  scf.forall") : one.index("  return")].replace(ROOT, "weft.h3") + "  return\n"
    )
    module = mlir.parse(two + other, mlir.context())

    def launch(tag: str) -> str:
        (op,) = [op for op in mlir.operations(module.operation) if tag in op.attributes]
        kernel = launch_loop(module, op).kernel
        return f"@{symbol(kernel.parent)}::@{symbol(kernel)}"

    assert launch(ROOT) == "@g_kernel::@g"
    assert [op.name for op in mlir.operations(module.operation) if "weft.h2" in op.attributes] == ["scf.forall"]
    assert launch("weft.h3") == "@g_1_kernel::@g_1"
    assert launch("weft.h2") == "@h_kernel::@h"
    module.operation.verify()
    assert len(list(mlir.operations(module.operation, "gpu.launch_func"))) == 3


def test_the_kernel_computes_its_bounds_and_keeps_names() -> None:
    text = f"""\
func.func @f(%n: index, %A: memref<?x4xf32> {{weft.name = "A"}}, %unused: f32) {{
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %one = arith.constant 1.0 : f32
  %rows = memref.dim %A, %c0 : memref<?x4xf32>
  %half = arith.divsi %rows, %c2 : index
  scf.forall (%i) in (%half) {{
    scf.forall (%t) in (4) {{
      memref.store %one, %A[%i, %t] : memref<?x4xf32>
    }} {mapped("threads", "x", [4])}
  }} {root(mapped("blocks", "x", [2], "cyclic"))}
  return
}}
"""
    module, info = launched(text)
    kernel = info.kernel
    assert [str(a.type) for a in kernel.regions[0].blocks[0].arguments] == ["memref<?x4xf32>"]
    assert 'weft.name = "A"' in str(kernel)
    judge, buffer = Evaluator(module), Buffer((11, 4), lambda at: 0.0)
    judge.run("f", [0, buffer, 0.0])
    assert buffer.elements == {(i, j): 1.0 for i in range(5) for j in range(4)}
