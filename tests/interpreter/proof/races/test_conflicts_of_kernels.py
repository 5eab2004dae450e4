"""What is a conflict, what orders it, and what is only assumed: one small kernel each."""

from __future__ import annotations

import pytest
from contexts import one_context
from kernel_text import TILE, WORKGROUP, loop, model, read, write
from proven import expect_no_conflict

from weft.dsl.diagnostics import WeftError
from weft.interpreter.ir import mlir
from weft.interpreter.proof.kernels.kernels import kernel_model
from weft.interpreter.proof.races.conflicts import (
    ALIASED,
    CHOSEN,
    DATA,
    LIMIT,
    UNKNOWN,
    UNSURE,
    Conflict,
    Instance,
    conflicts,
    conflicts_between_blocks,
)
from weft.interpreter.proof.solver import Solver

GLOBAL = "memref<64x64xf32>"
FLAT = f"memref<256xf32, {WORKGROUP}>"
OWN, OTHER = ("%ty", "%tx"), ("%tx", "%ty")
IF = "scf.if %c {{\n{}\n}}"


def lines(*parts: str) -> str:
    return "\n".join(parts)


@pytest.mark.parametrize(
    ("name", "body", "kinds"),
    [
        ("read after write", lines(write("S", *OWN), read("S", *OTHER)), ["RAW"]),
        ("write after read", lines(read("S", *OTHER), write("S", *OWN)), ["WAR"]),
        ("write after write", lines(write("S", *OWN), write("S", *OTHER)), ["WAW"]),
        ("two reads", lines(read("S", *OWN), read("S", *OTHER)), []),
        ("own element", lines(write("S", *OWN), read("S", *OWN)), []),
        ("two buffers", lines(write("S", *OWN), read("T", *OTHER)), []),
        ("a barrier", lines(write("S", *OWN), "gpu.barrier", read("S", *OTHER)), []),
        (
            "a fence of shared memory",
            lines(write("S", *OWN), f"gpu.barrier memfence [{WORKGROUP}]", read("S", *OTHER)),
            [],
        ),
        (
            "a fence of global memory",
            lines(write("S", *OWN), "gpu.barrier memfence [#gpu.address_space<global>]", read("S", *OTHER)),
            ["RAW"],
        ),
        ("an empty fence", lines(write("S", *OWN), "gpu.barrier memfence []", read("S", *OTHER)), ["RAW"]),
        ("a subgroup's barrier", lines(write("S", *OWN), "gpu.barrier scope <subgroup>", read("S", *OTHER)), ["RAW"]),
        (
            "private memory",
            lines(
                "%p = memref.alloca() : memref<4xf32>",
                write("p", "%c0", type="memref<4xf32>"),
                read("p", "%c0", type="memref<4xf32>"),
            ),
            [],
        ),
        (
            "carried, no barrier at the end",
            loop("k", "%c0", "%c4", "%c1", read("S", *OTHER), "gpu.barrier", write("S", *OWN)),
            ["RAW"],
        ),
        (
            "carried, barrier at the end",
            loop("k", "%c0", "%c4", "%c1", read("S", *OTHER), "gpu.barrier", write("S", *OWN), "gpu.barrier"),
            [],
        ),
    ],
)
def test_kinds(name: str, body: str, kinds: list[str]) -> None:
    found = conflicts(model(body))
    assert [c.kind for c in found] == kinds
    assert all((c.carried_by is not None) == ("carried" in name) for c in found)


@pytest.mark.parametrize(
    ("name", "left", "right", "collide"),
    [
        ("disjoint subviews", "[0, 0] [8, 16] [1, 1]", "[8, 0] [8, 16] [1, 1]", False),
        ("overlapping subviews", "[0, 0] [8, 16] [1, 1]", "[4, 0] [8, 16] [1, 1]", True),
        ("rows in turn", "[0, 0] [8, 16] [2, 1]", "[1, 0] [8, 16] [2, 1]", False),
    ],
)
def test_subviews(name: str, left: str, right: str, collide: bool) -> None:
    def view(label: str, at: str) -> str:
        offset, _, strides = at.split("] ")
        start = 16 * int(offset.strip("[").split(",")[0])
        row = 16 * int(strides.strip("[]").split(",")[0])
        kind = f"memref<8x16xf32, strided<[{row}, 1], offset: {start}>, {WORKGROUP}>"
        return f"%{label} = memref.subview %S{at} : {TILE} to {kind}" + "|" + kind

    (first, a), (second, b) = view("U", left).split("|"), view("V", right).split("|")
    half = "%h = arith.remui %ty, %c8 : index"
    lower = "%c = arith.cmpi slt, %ty, %c8 : index"
    body = lines(
        first,
        second,
        half,
        lower,
        IF.format(write("U", "%h", "%tx", type=a)),
        IF.format(read("V", "%h", "%tx", type=b)),
    )
    assert bool(conflicts(model(body))) == collide


RESHAPED = f"%F = memref.collapse_shape %S [[0, 1]] : {TILE} into {FLAT}"
EXPANDED = f"%E = memref.expand_shape %F [[0, 1]] output_shape [8, 32] : {FLAT} into memref<8x32xf32, {WORKGROUP}>"


@pytest.mark.parametrize(
    ("name", "body", "collide"),
    [
        ("collapsed: the same element", lines(RESHAPED, write("S", *OWN), read("F", "%lin", type=FLAT)), False),
        ("collapsed: another", lines(RESHAPED, write("S", *OTHER), read("F", "%lin", type=FLAT)), True),
        (
            "expanded",
            lines(
                RESHAPED,
                EXPANDED,
                "%i = arith.divui %lin, %c32 : index",
                "%j = arith.remui %lin, %c32 : index",
                write("S", *OWN),
                read("E", "%i", "%j", type=f"memref<8x32xf32, {WORKGROUP}>"),
            ),
            False,
        ),
        (
            "transposed view",
            lines(
                f"%X = memref.transpose %S (d0, d1) -> (d1, d0) : {TILE} to memref<16x16xf32, strided<[1, 16]>, {WORKGROUP}>",
                write("S", *OWN),
                read("X", *OTHER, type=f"memref<16x16xf32, strided<[1, 16]>, {WORKGROUP}>"),
            ),
            False,
        ),
        (
            "vectors of four",
            lines(
                "%v = arith.constant dense<0.0> : vector<4xf32>",
                "%c = arith.cmpi slt, %tx, %c4 : index",
                "%x = affine.apply affine_map<(d0) -> (4 * d0)>(%tx)",
                IF.format(f"vector.store %v, %S[%ty, %x] : {TILE}, vector<4xf32>"),
                "gpu.barrier memfence []",
                read("S", *OWN),
            ),
            True,
        ),
        (
            "vectors of four, own elements",
            lines(
                "%v = arith.constant dense<0.0> : vector<4xf32>",
                "%c = arith.cmpi slt, %tx, %c4 : index",
                "%x = affine.apply affine_map<(d0) -> (4 * d0)>(%tx)",
                IF.format(f"vector.store %v, %S[%ty, %x] : {TILE}, vector<4xf32>"),
            ),
            False,
        ),
        (
            "selected buffer",
            lines(
                "%k = arith.cmpi eq, %c0, %c0 : index",
                f"%P = arith.select %k, %S, %T : {TILE}",
                write("P", *OWN),
                read("T", *OTHER),
            ),
            False,
        ),
        (
            "selected buffer, the other",
            lines(
                "%k = arith.cmpi eq, %c0, %c0 : index",
                f"%P = arith.select %k, %S, %T : {TILE}",
                write("P", *OWN),
                read("S", *OTHER),
            ),
            True,
        ),
        (
            "guard keeps them apart",
            lines("%c = arith.cmpi eq, %tx, %ty : index", IF.format(write("S", *OWN)), IF.format(read("S", *OTHER))),
            False,
        ),
    ],
)
def test_views_and_guards(name: str, body: str, collide: bool) -> None:
    assert bool(conflicts(model("%c32 = arith.constant 32 : index\n" + body))) == collide


OPEN_ROWS = "memref<?xf32, strided<[1], offset: ?>>"
OPEN_TILE = "memref<16x16xf32, strided<[?, ?], offset: ?>>"
OPEN_BYTES = "memref<?xi8>"


@pytest.mark.parametrize(
    ("kind", "view"),
    [
        (OPEN_ROWS, f"memref.subview %A[%c1] [%c64] [1] : {OPEN_ROWS} to {OPEN_ROWS}"),
        (OPEN_ROWS, f"memref.reinterpret_cast %A to offset: [%c1], sizes: [%c64], strides: [1] : {OPEN_ROWS} to {OPEN_ROWS}"),
        (OPEN_TILE, f"memref.transpose %A (i, j) -> (j, i) : {OPEN_TILE} to {OPEN_TILE}"),
        (OPEN_BYTES, f"memref.view %A[%c1][%c64] : {OPEN_BYTES} to {OPEN_BYTES}"),
    ],
)
def test_a_view_of_the_same_type_may_be_elsewhere(kind: str, view: str) -> None:
    """Each thread writes its element of the buffer, and of a view that is shifted or turned, and has the buffer's type."""
    index, value = ("%ty", "%tx") if kind == OPEN_TILE else ("%lin",), "%byte" if kind == OPEN_BYTES else "%zero"
    stores = [f"memref.store {value}, %{name}[{', '.join(index)}] : {kind}" for name in "AV"]
    body = lines("%byte = arith.constant 0 : i8", f"%V = {view}", *stores)
    assert conflicts(model(body, f"%A: {kind}", grid=(1, 1, 1)))


def test_witness_is_true_and_small() -> None:
    (conflict,) = conflicts(model(lines(write("S", *OWN), read("S", *OTHER))))
    assert conflict.first is not None and conflict.second is not None
    assert (conflict.first.kind, conflict.second.kind, conflict.assumed) == ("write", "read", False)
    assert conflict.element == (conflict.first.thread[1], conflict.first.thread[0])
    assert conflict.element == (conflict.second.thread[0], conflict.second.thread[1])
    assert conflict.first.thread != conflict.second.thread
    assert any("memref.store" in note for note in conflict.notes())


def test_data_dependent_index_is_assumed() -> None:
    body = lines("%d = memref.load %I[%tx] : memref<64xindex>", write("S", "%ty", "%d"))
    (conflict,) = conflicts(model(body, arguments="%I: memref<64xindex>"))
    assert conflict.assumed
    assert any("assumed" in note for note in conflict.notes())


def test_data_that_all_threads_share_is_one_value() -> None:
    """An index read from memory the kernel never writes, at an address all threads share, moves all elements alike."""
    body = lines(
        "%d = memref.load %I[%bx] : memref<64xindex>", "%x = arith.addi %d, %tx : index", write("S", "%ty", "%x")
    )
    expect_no_conflict(conflicts(model(body, arguments="%I: memref<64xindex>")))


WRITE_READ = (write("S", *OWN), read("S", *OTHER))


@pytest.mark.parametrize(
    ("name", "body", "collide"),
    [
        (
            "barrier in a loop that surely runs",
            lines(WRITE_READ[0], loop("k", "%c0", "%c4", "%c1", "gpu.barrier"), WRITE_READ[1]),
            False,
        ),
        (
            "barrier in a loop that may not run",
            lines(WRITE_READ[0], loop("k", "%c0", "%n", "%c1", "gpu.barrier"), WRITE_READ[1]),
            True,
        ),
        (
            "both and the barrier in that loop",
            loop("k", "%c0", "%n", "%c1", WRITE_READ[0], "gpu.barrier", WRITE_READ[1], "gpu.barrier"),
            False,
        ),
        ("barrier under a flag", lines(WRITE_READ[0], IF.format("gpu.barrier"), WRITE_READ[1]), True),
        ("all under a flag", IF.format(lines(WRITE_READ[0], "gpu.barrier", WRITE_READ[1])), False),
        ("write and barrier under a flag", lines(IF.format(lines(WRITE_READ[0], "gpu.barrier")), WRITE_READ[1]), False),
        (
            "the last iterations have none",
            loop(
                "k",
                "%c0",
                "%c4",
                "%c1",
                "%c = arith.cmpi slt, %k, %c2 : index",
                WRITE_READ[0],
                IF.format("gpu.barrier"),
                WRITE_READ[1],
                "gpu.barrier",
            ),
            True,
        ),
    ],
)
def test_barriers_that_may_not_be_reached(name: str, body: str, collide: bool) -> None:
    flag = "%c = memref.load %F[%c0] : memref<1xi1>" if "flag" in name else ""
    made = model(lines(flag, body), arguments="%n: index, %F: memref<1xi1>")
    assert not made.divergent
    assert bool(conflicts(made)) == collide


@pytest.mark.parametrize(
    ("name", "condition", "divergent"),
    [
        ("half of the threads", "%c = arith.cmpi slt, %ty, %c8 : index", True),
        ("all of the threads", "%c = arith.cmpi slt, %ty, %c16 : index", False),
        ("a block's", "%c = arith.cmpi slt, %bx, %c2 : index", False),
        ("data of the thread", "%c = memref.load %F[%tx] : memref<16xi1>", True),
        ("data of the block", "%c = memref.load %F[%bx] : memref<16xi1>", False),
    ],
)
def test_divergent_barriers(name: str, condition: str, divergent: bool) -> None:
    made = model(lines(condition, IF.format("gpu.barrier")), arguments="%F: memref<16xi1>")
    assert (len(made.divergent), len(made.barriers)) == ((1, 0) if divergent else (0, 1))


def test_while_loop_with_a_shared_condition() -> None:
    """Trips nobody knows, the same for all threads: the barriers in it order what is in it."""
    body = """
    %end = scf.while (%i = %c0) : (index) -> index {
      %go = arith.cmpi slt, %i, %n : index
      scf.condition(%go) %i : index
    } do {
    ^bb0(%i: index):
      BODY
      %next = arith.addi %i, %c1 : index
      scf.yield %next : index
    }"""
    ordered = lines(WRITE_READ[0], "gpu.barrier", WRITE_READ[1], "gpu.barrier")
    for inside, collide in (
        (ordered, False),
        (lines(*WRITE_READ), True),
        (lines(WRITE_READ[0], "gpu.barrier", WRITE_READ[1]), True),
    ):
        assert bool(conflicts(model(body.replace("BODY", inside), arguments="%n: index"))) == collide


def test_launch_body() -> None:
    text = """func.func @f(%A: memref<64xf32>) {
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c32 = arith.constant 32 : index
      %z = arith.constant 0.0 : f32
      gpu.launch blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c1, %gz = %c1)
                 threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
        %i = affine.apply affine_map<(d0, d1) -> (32 * d0 + d1)>(%bx, %tx)
        memref.store %z, %A[%i] : memref<64xf32>
        %j = affine.apply affine_map<(d0, d1) -> (32 * d0 + 31 - d1)>(%bx, %tx)
        %v = memref.load %A[%j] : memref<64xf32>
        gpu.terminator
      }
      return
    }"""
    module = mlir.parse(text, one_context())
    made = kernel_model(next(mlir.operations(module.operation, "gpu.launch")))
    assert [c.kind for c in conflicts(made)] == ["RAW"]
    expect_no_conflict(conflicts_between_blocks(made))


@pytest.mark.parametrize(
    ("name", "low", "step", "collide"),
    [
        ("grid-stride", "256 * s0 + s1", "%stride", False),
        ("overlapping", "128 * s0 + s1", "%stride", True),
    ],
)
def test_symbolic_grid(name: str, low: str, step: str, collide: bool) -> None:
    """`for i = 256*block + thread; i < n; i += 256*blocks`, for any number of blocks."""
    body = lines(
        "%G = gpu.grid_dim x",
        "%stride = affine.apply affine_map<()[s0] -> (256 * s0)>()[%G]",
        f"%low = affine.apply affine_map<()[s0, s1] -> ({low})>()[%bx, %lin]",
        loop("i", "%low", "%n", step, write("V", "%i", type="memref<?xf32>")),
    )
    made = model(
        body,
        arguments="%V: memref<?xf32>, %n: index",
        sizes="known_block_size = array<i32: 16, 16, 1>",
        grid=(None, 1, 1),
    )
    assert collide or conflicts(made) == []
    assert bool(conflicts_between_blocks(made)) == collide


def test_unknown_op_is_refused() -> None:
    module = mlir.parse(
        """gpu.module @m { func.func private @g(memref<4xf32>)
        gpu.func @k(%A: memref<4xf32>) kernel { func.call @g(%A) : (memref<4xf32>) -> ()
        gpu.return } }""",
        one_context(),
    )
    with pytest.raises(WeftError, match="W0640"):
        kernel_model(next(mlir.operations(module.operation, "gpu.func")))


def test_out_of_its_limit_it_assumes() -> None:
    body = lines(write("S", *OWN), "gpu.barrier", read("S", *OTHER))
    made = model(body)
    expect_no_conflict(conflicts(made))
    body = lines(
        "%i = affine.apply affine_map<(d0, d1) -> ((7 * d0 + 3 * d1) floordiv 5 mod 11)>(%tx, %ty)",
        "%j = affine.apply affine_map<(d0, d1) -> ((5 * d0 + 2 * d1) floordiv 3 mod 7)>(%tx, %ty)",
        write("S", "%i", "%j"),
        read("S", "%j", "%i"),
    )
    assert all(c.assumed for c in conflicts(model(body), solver=Solver(limit=100)))
    assert conflicts(model(body), solver=Solver(limit=100))


REASONS = (ALIASED, CHOSEN, DATA, LIMIT, UNKNOWN.format("my.op"), UNSURE.format("gpu.barrier"))


@pytest.mark.parametrize("reason", REASONS)
@pytest.mark.parametrize("first", [Instance("memref.store", "write", (0, 0, 0), (0, 0, 0), ()), None])
def test_what_is_assumed_says_what_would_make_it_exact(reason: str, first: Instance | None) -> None:
    made = Conflict("WAW", "A", "global", (0,), "memref.store", "memref.store", first, first, reason)
    last = made.notes()[-1]
    assert made.assumed
    assert "assumed" in last and any(word in last for word in ("make it exact", "makes it exact", "without `--may-alias`"))
