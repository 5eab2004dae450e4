"""How many barriers known kernels need, and where."""

from __future__ import annotations

import pytest
from kernel_text import TILE, WORKGROUP, copy, loop, model, place, read, write
from proven import expect_no_conflict

from weft.interpreter.proof.races.barriers import choose_barriers
from weft.interpreter.proof.races.conflicts import conflicts, conflicts_between_blocks

PRODUCT = loop("q", "%c0", "%c16", "%c1", read("S", "%ty", "%q"), read("T", "%q", "%tx"))
GLOBAL = "memref<64x64xf32>"
DOUBLE = f"memref<2x16x16xf32, {WORKGROUP}>"

STAGED = loop("k", "%c0", "%c64", "%c16", place(0), copy(1, "S"), place(1), copy(2, "T"), place(2), PRODUCT, place(3))
ONE_STEP = loop("k", "%c0", "%c16", "%c16", place(0), copy(1, "S"), place(1), copy(2, "T"), place(2), PRODUCT, place(3))
DOUBLE_BUFFERED = loop(
    "k",
    "%c0",
    "%c64",
    "%c1",
    place(0),
    "%s = arith.remui %k, %c2 : index",
    write("D", "%s", "%ty", "%tx", type=DOUBLE),
    place(1),
    read("D", "%s", "%tx", "%ty", type=DOUBLE),
    place(2),
)
PREFETCHED = (
    write("D", "%c0", "%ty", "%tx", type=DOUBLE)
    + "\n"
    + place(9)
    + "\n"
    + loop(
        "k",
        "%c0",
        "%c64",
        "%c1",
        place(0),
        "%k1 = arith.addi %k, %c1 : index",
        "%n = arith.remui %k1, %c2 : index",
        "%s = arith.remui %k, %c2 : index",
        write("D", "%n", "%ty", "%tx", type=DOUBLE),
        place(1),
        read("D", "%s", "%tx", "%ty", type=DOUBLE),
        place(2),
    )
)
CARRIED = """scf.for %k = %c0 to %c64 step %c1 iter_args(%s = %c0) -> (index) {{
{}
%d = memref.load %D[%s, %tx, %ty] : """ + DOUBLE + """
{}
%n = {}
scf.yield %n : index
}}"""


def carried(update: str) -> str:
    """Two buffers, of which the loop carries the number of the current one."""
    fill = write("D", "%s", "%ty", "%tx", type=DOUBLE)
    return CARRIED.format(f"{place(0)}\n{fill}\n{place(1)}", place(2), update)


FILL = write("S", "%ty", "%tx")
ACCUMULATE = loop("k", "%c0", "%c64", "%c1", place(1), read("S", "%ty", "%tx"), write("S", "%ty", "%tx"), place(2))
FILL_TRANSPOSED = write("S", "%tx", "%ty")
STENCIL = loop(
    "t",
    "%c0",
    "%c64",
    "%c1",
    place(0),
    "%e = affine.apply affine_map<(d0) -> ((d0 + 1) mod 16)>(%tx)",
    read("S", "%ty", "%e"),
    place(1),
    write("S", "%ty", "%tx"),
    place(2),
)


@pytest.mark.parametrize(
    ("name", "body", "expected"),
    [
        ("staged matmul", STAGED, (2, 3)),
        ("one k step needs no barrier at its end", ONE_STEP, (2,)),
        ("double buffering", DOUBLE_BUFFERED, (1,)),
        ("prefetching into the other half, the first before the loop", PREFETCHED, (0,)),
        ("the buffer flips: 1 - s", carried("arith.subi %c1, %s : index"), (1,)),
        ("the buffer flips: s xor 1", carried("arith.xori %s, %c1 : index"), (1,)),
        (
            "the buffer flips: (s + 1) mod 2",
            carried("affine.apply affine_map<(s) -> ((s + 1) mod 2)>(%s)"),
            (1,),
        ),
        ("the buffer never flips", carried("arith.addi %s, %c0 : index"), (1, 2)),
        ("fill distributed like the accumulation", FILL + "\n" + place(0) + "\n" + ACCUMULATE, ()),
        ("fill distributed differently", FILL_TRANSPOSED + "\n" + place(0) + "\n" + ACCUMULATE, (0,)),
        ("fill by linear id is fill by row and column", copy(1, "S") + "\n" + place(0) + "\n" + ACCUMULATE, ()),
        ("stencil in place", STENCIL, (1, 2)),
        (
            "elementwise",
            write("A", "%ty", "%tx", type=GLOBAL) + "\n" + place(0) + "\n" + read("A", "%ty", "%tx", type=GLOBAL),
            (),
        ),
    ],
)
def test_chosen(name: str, body: str, expected: tuple[int, ...]) -> None:
    made = model(body, shared=f"%S: {TILE}, %T: {TILE}, %D: {DOUBLE}", sizes=SINGLE_BLOCK)
    choice = choose_barriers(made)
    assert (choice.chosen, choice.unseparated, choice.exact) == (expected, (), True)
    chosen = [b for b in made.barriers if b.candidate in expected]
    expect_no_conflict(conflicts(made, chosen))
    for barrier in chosen:
        assert conflicts(made, [b for b in chosen if b is not barrier]), f"{name}: {barrier.candidate} is superfluous"


SINGLE_BLOCK = "known_block_size = array<i32: 16, 16, 1>, known_grid_size = array<i32: 1, 1, 1>"


def test_existing_barriers_are_kept_where_they_serve() -> None:
    """At equal cost a barrier that stands there already is preferred to a later place."""
    body = "\n".join(
        [write("S", "%ty", "%tx"), place(0), read("A", "%ty", "%tx", type=GLOBAL), place(1), read("S", "%tx", "%ty")]
    )
    assert choose_barriers(model(body)).chosen == (1,)
    assert choose_barriers(model(body), existing=frozenset({0})).chosen == (0,)


def test_fixed_barriers_count() -> None:
    body = "\n".join([write("S", "%ty", "%tx"), "gpu.barrier", place(0), read("S", "%tx", "%ty")])
    assert choose_barriers(model(body)).chosen == ()


def test_conflict_within_one_access_cannot_be_separated() -> None:
    """All threads write one element: there is no place between."""
    choice = choose_barriers(model("\n".join([place(0), write("S", "%c0", "%c0"), place(1)])))
    assert choice.chosen == ()
    (conflict,) = choice.unseparated
    assert (conflict.kind, conflict.element) == ("WAW", (0, 0))


@pytest.mark.parametrize(
    ("index", "colliding"),
    [
        (("%ty", "%tx"), True),
        (("%gy", "%gx"), False),
        (("%gy", "%tx"), True),
    ],
)
def test_blocks(index: tuple[str, str], colliding: bool) -> None:
    body = "\n".join(
        [
            "%gy = affine.apply affine_map<(d0, d1) -> (16 * d0 + d1)>(%by, %ty)",
            "%gx = affine.apply affine_map<(d0, d1) -> (16 * d0 + d1)>(%bx, %tx)",
            write("A", *index, type=GLOBAL),
        ]
    )
    found = conflicts_between_blocks(model(body))
    assert bool(found) == colliding
    assert all(
        c.across_blocks and not c.assumed and c.first and c.second and c.first.block != c.second.block for c in found
    )
