"""Reads of shared memory that nobody wrote: where all of a tile is filled first, it is no matter what is read of it."""

from __future__ import annotations

import pytest
from kernel_text import WORKGROUP, model, read, write

from weft.dsl.diagnostics import Source
from weft.interpreter.proof.kernels.model import KernelModel
from weft.interpreter.proof.races import proof, uninitialized_reads
from weft.interpreter.proof.races.conflicts import LIMIT
from weft.interpreter.proof.races.uninitialized_reads import unwritten_reads
from weft.interpreter.proof.solver import Solver

TILE = f"memref<5x4x3xf32, {WORKGROUP}>"
SUM = f"memref<5x8x3xf32, {WORKGROUP}>"
SIZES = "known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 8, 1, 1>"


def lines(*parts: str) -> str:
    return "\n".join(parts)


def fill(count: int) -> str:
    """All threads in turn write the first `count` of the tile's 60 elements."""
    return lines(
        f"%end = arith.constant {count} : index",
        "%c32 = arith.constant 32 : index",
        "scf.for %e = %tx to %end step %c32 {",
        "  %f0 = affine.apply affine_map<(d0) -> (d0 floordiv 12)>(%e)",
        "  %f1 = affine.apply affine_map<(d0) -> ((d0 floordiv 3) mod 4)>(%e)",
        "  %f2 = affine.apply affine_map<(d0) -> (d0 mod 3)>(%e)",
        "  " + write("S", "%f0", "%f1", "%f2", type=TILE),
        "}",
        "gpu.barrier",
    )


# three of 80 items for each thread; of an item two columns, of three there are
RAGGED = lines(
    "%first = affine.apply affine_map<(d0) -> (d0 * 3)>(%tx)",
    "%last = affine.min affine_map<()[s0] -> (80, s0 * 3 + 3)>()[%tx]",
    "%c3 = arith.constant 3 : index",
    "scf.for %i = %first to %last step %c1 {",
    "  %i0 = affine.apply affine_map<(d0) -> ((d0 floordiv 2) floordiv 8)>(%i)",
    "  %i2 = affine.apply affine_map<(d0) -> ((d0 mod 2) * 2)>(%i)",
    "  scf.for %j = %c0 to %c2 step %c1 {",
    "    %column = arith.addi %i2, %j : index",
    "    %inside = arith.cmpi slt, %column, %c3 : index",
    "    scf.for %l = %c0 to %c4 step %c1 {",
    "      scf.if %inside {",
    "        " + read("S", "%i0", "%l", "%column", type=TILE),
    "      }",
    "    }",
    "  }",
    "}",
)
# the id of a thread is divided by 2, 4, 12 and 24: it has many digits
SUMS = lines(
    "%size = arith.constant 120 : index",
    "%step = arith.constant 32 : index",
    "scf.for %e = %tx to %size step %step {",
    "  %s0 = affine.apply affine_map<(d0) -> (d0 floordiv 24)>(%e)",
    "  %s1 = affine.apply affine_map<(d0) -> ((d0 floordiv 3) mod 8)>(%e)",
    "  %s2 = affine.apply affine_map<(d0) -> (d0 mod 3)>(%e)",
    "  " + write("T", "%s0", "%s1", "%s2", type=SUM),
    "  %g0 = affine.apply affine_map<(d0, d1) -> ((d1 * 3 + d0 mod 3) floordiv 2)>(%e, %bx)",
    "  %g1 = affine.apply affine_map<(d0, d1) -> ((d1 * 3 + d0 mod 3) floordiv 4)>(%e, %bx)",
    "  " + read("I", "%g0", type="memref<64xindex>"),
    "  " + read("I", "%g1", type="memref<64xindex>"),
    "}",
)
SOMEWHERE = lines(
    "%data = memref.load %I[%tx] : memref<64xindex>",
    read("S", "%data", "%c3", "%c2", type=TILE),
)


def kernel(*parts: str) -> KernelModel:
    return model(lines(*parts), "%I: memref<64xindex>", f"%S: {TILE}, %T: {SUM}", SIZES)


@pytest.mark.parametrize(
    ("name", "body", "missing"),
    [
        ("a ragged product of a whole tile", RAGGED, None),
        ("an index out of data", SOMEWHERE, None),
        ("an index out of data, of a tile with a hole", SOMEWHERE, True),
        ("the last element", read("S", "%c4", "%c3", "%c2", type=TILE), False),
    ],
)
def test_filled_first(name: str, body: str, missing: bool | None) -> None:
    """`missing`: None: nothing; else whether it is only assumed."""
    constants = "" if "%c3 =" in body else "%c3 = arith.constant 3 : index"
    found = unwritten_reads(kernel(fill(60 if missing is None else 59), constants, body))
    assert [r.assumed for r in found] == ([] if missing is None else [missing])


def test_a_tile_of_each_iteration() -> None:
    """Which elements the product reads is too much for ISL here; that the tile is whole is not."""
    tile = kernel(SUMS, "scf.for %k = %c0 to %c16 step %c4 {", fill(60), RAGGED, "gpu.barrier", "}")
    assert unwritten_reads(tile) == []


def test_every_iteration_anew() -> None:
    """What an iteration reads may have been written in the one before, but not in the first."""
    body = lines("scf.for %k = %c0 to %c8 step %c1 {", read("S", "%c0", "%c0", "%c0", type=TILE), "gpu.barrier", fill(60), "}")
    assert len(unwritten_reads(kernel(body))) == 1
    assert unwritten_reads(kernel(fill(60).replace("%", "%first_").replace("%first_tx", "%tx").replace("%first_zero", "%zero")
                                  .replace("%first_S", "%S"), body)) == []  # fmt: skip


def test_the_reason_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Out of its limit the analysis says so, and does not speak of data."""
    monkeypatch.setattr(proof, "unwritten_reads", lambda made: unwritten_reads(made, Solver(limit=100)))
    (diagnostic,) = proof.Findings(kernel(fill(60), RAGGED), Source("p.mlir", "")).diagnostics()
    assert diagnostic.code == "W0610"
    assert LIMIT in diagnostic.notes
    assert not any("depends on data" in note for note in diagnostic.notes)


@pytest.mark.parametrize("filled", [60, 59])
def test_neighbours_are_one_question(filled: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twelve reads of other parts of a tile each: what is not written of it is asked once, and then who reads that."""
    asked: list[object] = []
    unfilled = uninitialized_reads._unfilled
    monkeypatch.setattr(uninitialized_reads, "_unfilled", lambda *given: asked.append(given[3]) or unfilled(*given))
    parts = [
        lines(
            f"%p{row}{column} = affine.apply affine_map<(d0) -> (d0 mod 2 + {row})>(%tx)",
            f"%q{row}{column} = affine.apply affine_map<(d0) -> (d0 mod 2 + {column})>(%tx)",
            read("S", f"%p{row}{column}", f"%q{row}{column}", "%c2", type=TILE),
        )
        for row in range(4) for column in range(3)
    ]  # fmt: skip
    found = unwritten_reads(kernel(fill(filled), *parts))
    assert (len(asked), len(found)) == (1, 60 - filled)


PADDED = f"memref<2x36xf32, {WORKGROUP}>"
# 12 groups of 3 columns, in the order in which threads take the units of `order grouped(3)`: the last group of 32 is cut
GROUPED = lines(
    "%above = affine.apply affine_map<(d0) -> (d0 floordiv 6)>(%tx)",
    "%within = affine.apply affine_map<(d0) -> (d0 mod 6)>(%tx)",
    "%r3 = arith.remui %within, %c3 : index",
    "%q3 = arith.divui %within, %c3 : index",
    "%r2 = arith.remui %within, %c2 : index",
    "%q2 = arith.divui %within, %c2 : index",
    "%whole = arith.cmpi ult, %tx, %c60 : index",
    "%of = arith.select %whole, %r3, %r2 : index",
    "%row = arith.select %whole, %q3, %q2 : index",
    "%column = affine.apply affine_map<(d0, d1) -> (d0 * 3 + d1)>(%above, %of)",
)


@pytest.mark.parametrize(("shift", "found"), [(0, 0), (1, 1)])
def test_padding_that_no_one_reads(shift: int, found: int) -> None:
    """A cut group of columns fills a padded tile; what is read of it are sums of digits, of which intervals show too much."""
    made = model(
        lines(
            "%c3 = arith.constant 3 : index",
            "%c60 = arith.constant 60 : index",
            GROUPED,
            write("S", "%row", "%column", type=PADDED),
            "gpu.barrier",
            f"%at = affine.apply affine_map<(d0) -> ((d0 mod 4) * 8 + (d0 floordiv 4) mod 8 + {shift})>(%tx)",
            read("S", "%c0", "%at", type=PADDED),
        ),
        shared=f"%S: {PADDED}", sizes="known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 8, 1, 1>",
    )  # fmt: skip
    assert len(unwritten_reads(made)) == found
