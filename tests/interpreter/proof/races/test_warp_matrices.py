"""Matrices that a warp loads and stores together (`gpu.subgroup_mma_*`): of one matrix each lane has its own elements; of others,
of other warps, or where they are shifted, two lanes may have the same one."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

from weft.dsl.diagnostics import Source
from weft.verify import verify_source

F16, F32 = "16x16xf16", "16x16xf32"


def kernel(body: str, threads: str = "64, 1, 1", blocks: str = "1, 1, 1", arguments: str = "%C: memref<64x64xf32>") -> str:
    return f"""gpu.module @k {{
  gpu.func @f({arguments}) workgroup(%S : memref<64x64xf32, #gpu.address_space<workgroup>>) kernel
      attributes {{known_block_size = array<i32: {threads}>, known_grid_size = array<i32: {blocks}>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant 0.0 : f32
    %tx = gpu.thread_id x
    %bx = gpu.block_id x
    %warp = arith.divui %tx, %c32 : index
    %down = arith.muli %warp, %c16 : index
    %z = gpu.subgroup_mma_constant_matrix %zero : !gpu.mma_matrix<16x16xf32, "COp">
    {body}
    gpu.return
  }}
}}
"""


WORKGROUP = "64x64xf32, #gpu.address_space<workgroup>"


def store(
    at: str, to: str = "%C", value: str = "%z", lead: int = 64, memref: str = "64x64xf32", more: str = "", type_: str = F32
) -> str:
    kind = f'!gpu.mma_matrix<{type_}, "COp">'
    moved = f"gpu.subgroup_mma_store_matrix {value}, {to}[{at}] {{leadDimension = {lead} : index{more}}}"
    return f"{moved} : {kind}, memref<{memref}>\n"


def load(name: str, at: str, of: str = "%C", lead: int = 64, memref: str = "64x64xf32", role: str = "COp", type_: str = F32) -> str:
    kind = f'!gpu.mma_matrix<{type_}, "{role}">'
    return f"%{name} = gpu.subgroup_mma_load_matrix {of}[{at}] {{leadDimension = {lead} : index}} : memref<{memref}> -> {kind}\n"


def codes(text: str) -> set[str]:
    """The codes of what is wrong; with `assumed` for what is not known."""
    verdict = verify_source(Source("case.mlir", text))
    found = [d for judged in verdict.kernels for d in judged.diagnostics] + list(verdict.refused)
    return {d.code + (" assumed" if "assumed" in d.message else "") for d in found}


def shared(body: str) -> str:
    return body.replace("%C", "%S").replace("memref<64x64xf32>", f"memref<{WORKGROUP}>")


FILL = "scf.for %r = %c0 to %c16 step %c1 {\n memref.store %zero, %S[%r, %tx] : memref<" + WORKGROUP + ">\n}\n"
LOOP = "scf.for %k = %c0 to %c4 step %c1 {{\n{}}}\n"
SHIFTED = "%at = arith.addi %k, %c0 : index\n"
ONTO = load("c", "%down, %c0") + store("%down, %c0", value="%c")
OPERANDS = "%A: memref<16x16x{0}>, %B: memref<16x16x{0}>, %C: memref<64x64xf32>"


def product(kind: str, m: int, n: int, k: int, total: str) -> str:
    """A product of one shape, by two warps into two matrices."""
    held = "si8" if kind == "i8" else kind
    a, b, c = f"{m}x{k}x{held}", f"{k}x{n}x{held}", f"{m}x{n}x{total}"
    mine = f"%mine = arith.muli %warp, %c{'8' if m == 8 else '32' if m == 32 else '16'} : index\n"
    return mine + (
        load("a", "%c0, %c0", "%A", k, f"{m}x{k}x{kind}", "AOp", a) + load("b", "%c0, %c0", "%B", n, f"{k}x{n}x{kind}", "BOp", b)
        + load("c", "%mine, %c0", "%D", n, f"128x{n}x{total}", "COp", c)
        + f'%d = gpu.subgroup_mma_compute %a, %b, %c : !gpu.mma_matrix<{a}, "AOp">, !gpu.mma_matrix<{b}, "BOp"> '
        f'-> !gpu.mma_matrix<{c}, "COp">\n'
        + f'%e = gpu.subgroup_mma_elementwise addf %d, %d : (!gpu.mma_matrix<{c}, "COp">, !gpu.mma_matrix<{c}, "COp">) '
        f'-> !gpu.mma_matrix<{c}, "COp">\n' * (total != "i32")
        + store("%mine, %c0", "%D", "%e" if total != "i32" else "%d", n, f"128x{n}x{total}", type_=c)
    )  # fmt: skip


RIGHT = {
    "one warp": (store("%c0, %c0"), "32, 1, 1"),
    "warps by rows": (store("%down, %c0"), "64, 1, 1"),
    "warps by columns": (store("%c0, %down"), "128, 1, 1"),
    "warps of rows of threads": (
        "%ty = gpu.thread_id y\n%w = arith.muli %ty, %c16 : index\n" + store("%w, %c0"), "32, 4, 1",
    ),
    "onto what was there": (ONTO, "64, 1, 1"),
    "onto what was there, in a loop": (LOOP.format(ONTO), "64, 1, 1"),
    "a loop of matrices": ("scf.for %k = %c0 to %c32 step %c16 {\n" + store("%down, %k") + "}\n", "64, 1, 1"),
    "transposed": (store("%down, %c0", more=", transpose"), "64, 1, 1"),
    "filled, a barrier, loaded": (FILL + "gpu.barrier\n" + load("c", "%c0, %c0", "%S", 64, WORKGROUP), "64, 1, 1"),
    "stored, a barrier, loaded elsewhere": (
        shared(store("%down, %c0")) + "gpu.barrier\n" + load("c", "%c0, %c0", "%S", 64, WORKGROUP), "64, 1, 1",
    ),
    "stored, a warp's barrier, loaded shifted": (
        shared(store("%down, %c0") + store("%down, %c16")) + "%all = arith.constant -1 : i32\nnvvm.bar.warp.sync %all : i32\n"
        + load("c", "%down, %c8", "%S", 64, WORKGROUP), "64, 1, 1",
    ),
}  # fmt: skip
WRONG = {
    "two warps, one matrix": (store("%c0, %c0"), "64, 1, 1", {"W0601"}),
    "overlapping rows": (
        "%half = arith.muli %warp, %c8 : index\n" + store("%half, %c0"), "64, 1, 1", {"W0601"},
    ),
    "rows that are longer than their distance": (store("%warp, %c0", lead=8), "64, 1, 1", {"W0601"}),
    "columns behind the end of a row": (
        "%last = arith.constant 56 : index\n%at = arith.muli %warp, %last : index\n" + store("%warp, %at"), "64, 1, 1", {"W0601"},
    ),
    "transposed beside plain": (
        store("%c0, %c0") + store("%c0, %c0", more=", transpose"), "32, 1, 1", {"W0601"},
    ),
    "shifted in a loop": (LOOP.format(store("%k, %c0")), "32, 1, 1", {"W0601"}),
    "loaded shifted": (store("%c0, %c0") + load("c", "%c1, %c0"), "32, 1, 1", {"W0601"}),
    "loaded as another operand": (
        shared(store("%c0, %c0")) + load("c", "%c0, %c0", "%S", 64, WORKGROUP, "AOp"), "32, 1, 1", {"W0601"},
    ),
    "filled by threads, no barrier": (FILL + load("c", "%c0, %c0", "%S", 64, WORKGROUP), "64, 1, 1", {"W0601"}),
    "filled by one thread, no barrier": (
        "%first = arith.cmpi eq, %tx, %c0 : index\nscf.if %first {\n"
        + "memref.store %zero, %S[%c0, %c0] : memref<" + WORKGROUP + ">\n}\n"
        + load("c", "%c0, %c0", "%S", 64, WORKGROUP), "32, 1, 1", {"W0601"},
    ),
    "a store of some lanes": (
        "%few = arith.cmpi ult, %tx, %c16 : index\nscf.if %few {\n" + store("%c0, %c0") + "}\n", "32, 1, 1", {"W0603"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_race_free(name: str) -> None:
    body, threads = RIGHT[name]
    assert not codes(kernel(body, threads))


@pytest.mark.parametrize("name", WRONG)
def test_a_conflict_has_a_witness(name: str) -> None:
    body, threads, expected = WRONG[name]
    assert expected <= codes(kernel(body, threads)), "and it is not assumed"


SHAPES = [("f16", 16, 16, 16, "f32"), ("f16", 16, 16, 16, "f16"), ("i8", 16, 16, 16, "i32"), ("i8", 8, 32, 16, "i32"),
          ("f16", 32, 8, 16, "f32"), ("f32", 16, 16, 8, "f32")]  # fmt: skip


@pytest.mark.parametrize(("kind", "m", "n", "k", "total"), SHAPES)
def test_shapes(kind: str, m: int, n: int, k: int, total: str) -> None:
    arguments = f"%A: memref<{m}x{k}x{kind}>, %B: memref<{k}x{n}x{kind}>, %D: memref<128x{n}x{total}>"
    assert not codes(kernel(product(kind, m, n, k, total), arguments=arguments))
    same = product(kind, m, n, k, total).replace("%mine, %c0", "%c0, %c0")
    assert "W0601" in codes(kernel(same, arguments=arguments))


def test_blocks() -> None:
    mine = "%at = arith.muli %bx, %c16 : index\n" + store("%at, %c0")
    assert not codes(kernel(mine, "32, 1, 1", "4, 1, 1"))
    assert codes(kernel(store("%c0, %c0"), "32, 1, 1", "4, 1, 1")) == {"W0602"}


def test_rows_of_unknown_length_are_assumed() -> None:
    text = kernel(store("%c0, %c0", memref="?x?xf32"), "32, 1, 1", arguments="%C: memref<?x?xf32>")
    assert codes(text) <= {"W0601 assumed", "W0601"}


def test_against_an_enumeration() -> None:
    """Two stores of two warps, at affine places, with and without a barrier between: each pair of elements of memory."""
    draw = random.Random(0)
    seen = set[bool]()
    for _ in range(24):
        places = [[draw.choice([0, 4, 8, 16]) for _ in range(4)] for _ in range(2)]  # row, by warp; column, by warp
        leads, barrier = [draw.choice([16, 32, 64, 64]) for _ in range(2)], draw.random() < 0.5
        body = ""
        for number, ((row, by, column, along), lead) in enumerate(zip(places, leads, strict=True)):
            body += f"%r{number} = affine.apply affine_map<(w) -> (w * {by} + {row})>(%warp)\n"
            body += f"%q{number} = affine.apply affine_map<(w) -> (w * {along} + {column})>(%warp)\n"
            body += shared(store(f"%r{number}, %q{number}", lead=lead)) + ("gpu.barrier\n" if barrier and not number else "")
        touched = [
            (number, warp, i, j, (row + by * warp) * 64 + column + along * warp + i * lead + j)
            for number, ((row, by, column, along), lead) in enumerate(zip(places, leads, strict=True))
            for warp in range(2) for i in range(16) for j in range(16)
        ]  # fmt: skip
        by_element: dict[int, list[tuple[int, int, int, int]]] = {}
        for *who, element in touched:
            by_element.setdefault(element, []).append((who[0], who[1], who[2], who[3]))
        races = any(
            (a[1], a[2], a[3]) != (b[1], b[2], b[3]) and (a[0] == b[0] or not barrier)
            for some in by_element.values() for a, b in combinations(some, 2)
        )  # fmt: skip
        assert ("W0601" in codes(kernel(body))) == races, body
        seen.add(races)
    assert seen == {True, False}


def test_a_tiled_product_in_place() -> None:
    """Each block loads its matrix of C, adds up products, and stores it; those that it multiplies are read by several."""
    a, b, c = ('!gpu.mma_matrix<16x16x{}, "{}">'.format(*of) for of in (("f16", "AOp"), ("f16", "BOp"), ("f32", "COp")))
    step = (
        load("a", "%i, %k", "%A", 48, "32x48xf16", "AOp", F16) + load("b", "%k, %j", "%B", 32, "48x32xf16", "BOp", F16)
        + f"%d = gpu.subgroup_mma_compute %a, %b, %c : {a}, {b} -> {c}\nscf.yield %d : {c}\n"
    )  # fmt: skip
    body = (
        "%by = gpu.block_id y\n%i = arith.muli %by, %c16 : index\n%j = arith.muli %bx, %c16 : index\n"
        + "%c48 = arith.constant 48 : index\n"
        + load("init", "%i, %j", lead=32, memref="32x32xf32")
        + f"%acc = scf.for %k = %c0 to %c48 step %c16 iter_args(%c = %init) -> ({c}) {{\n{step}}}\n"
        + store("%i, %j", value="%acc", lead=32, memref="32x32xf32")
    )
    arguments = "%A: memref<32x48xf16>, %B: memref<48x32xf16>, %C: memref<32x32xf32>"
    assert not codes(kernel(body, "32, 1, 1", "2, 2, 1", arguments))
    assert "W0601" in codes(kernel(body, "64, 1, 1", "2, 2, 1", arguments)), "two warps make the same one"
    assert "W0602" in codes(kernel(body.replace("%by, %c16", "%by, %c8"), "32, 1, 1", "2, 2, 1", arguments))
