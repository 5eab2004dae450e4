"""Tensor cores: which products of tiles a warp makes by one instruction, and which lane holds which of their elements.

    %d = nvgpu.mma.sync(%a, %b, %c) {mmaShape = [16, 8, 16]} : (vector<4x2xbf16>, vector<2x2xbf16>, vector<2x2xf32>) ->
    …

The 32 lanes of a warp hold a tile together, each a vector of registers, of the elements in a register. Of all
instructions lane l, with g = l div 4 and t = l mod 4, and w elements in a register of A and B, has at [r, j]

    A (m x k):  row g + 8 * (r mod m/8),  column w*t + j + 4*w * (r div m/8)
    B (k x n):  row w*t + j + 4*w * r,    column g
    C (m x n):  row g + 8*r,              column 2*t + j

Products are exact. Sums are rounded by the accumulator's type, in an order that is the hardware's own; those of f32
toward zero, so that what is lost grows with the number of products that one accumulator takes. An f32 operand is
rounded to tf32 first, to nearest and ties away from zero: 10 bits of mantissa (`cvt.rna.tf32.f32`). An f32 that is the
    sum of two numbers of a
narrower type, big + small, is multiplied by three products: small · big, big · small, and big · big; what is left out
is as small as what f32 rounds off anyway (tf32), or ten times that (bf16). To keep these digits, each step's products
begin at zero, and are added to the sums outside of the tensor cores.

Source: PTX ISA, "Matrix fragments for mma.m16n8k16" and its neighbors; Ootomo and Yokota, "Recovering single precision
    accuracy
from Tensor Cores while surpassing the FP32 theoretical peak performance".
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cached_property, partial

from ....dsl.records import record
from ...ir.mlir import ir
from ...layouts.layout import Digit, Layout
from ..instructions import Instruction, MemoryEffect, Rule, known

SPLITS = {"tf32": ("tf32", 1), "3xtf32": ("tf32", 2), "bf16x3": ("bf16", 2), "f16": ("f16", 1), "bf16": ("bf16", 1)}
"""How a schedule spells what operands of f32 become: numbers of which type, and of how many of these each is the
sum."""
AS_TYPE = "weft.as_type"
"""On a product of operands of f32: which of `SPLITS`."""
PACKED = "weft.packed"
"""On a product of copies that hold what operands of f32 became: which of `SPLITS`, as whose parts the copies have their
numbers."""
MARK = "weft.mma"
"""On the product of one lane: which instruction computes it for all lanes of its warp (one of `PRODUCTS`, as it is
spelled)."""
REGISTERS_OF_LHS = "weft.lhs_registers"
"""On such a product whose left operand is in registers: which axis of that counts the registers of a fragment along the
sum, and which those along rows; -1 where there is one."""
TF32_BITS = -1 << 13
"""Of an f32 those that a tf32 has."""
ROW_BYTES = 16
"""In a row of a matrix that `ldmatrix` loads; where one begins is a multiple of it."""


def matrices(op: ir.Operation) -> tuple[int, bool]:
    """How many matrices a `nvgpu.ldmatrix` loads, and whether each is transposed."""
    return ir.IntegerAttr(op.attributes["numTiles"]).value, ir.BoolAttr(op.attributes["transpose"]).value


def row_of(op: ir.Operation) -> ir.VectorType:
    """What a lane reads for a `nvgpu.ldmatrix`: a row of a matrix."""
    registers = ir.VectorType(op.results[0].type)
    return ir.VectorType.get([ROW_BYTES // 4 * registers.shape[-1]], registers.element_type, loc=op.location)


def _rows_of_matrices(op: ir.Operation) -> tuple[MemoryEffect, ...]:
    """Each of the first lanes reads a row of 16 bytes, which the warp then deals out; the others read nothing."""
    return (MemoryEffect("read", op.operands[0], "element", 1, row_of(op), certain=matrices(op)[0] == 4),)


_row = partial(
    Instruction,
    does="tensor cores: matrices and products of tiles that the 32 lanes of a warp hold together, all of"
    " which reach "
    "the same one",
    takes="warp",
)
LDMATRIX = known(_row("nvgpu.ldmatrix", since=75, accesses=_rows_of_matrices))
MMA = known(_row("nvgpu.mma.sync", since=80))
known(Instruction("nvgpu.mma.sp.sync", takes="warp"))
LOAD_MATRIX = known(Instruction("gpu.subgroup_mma_load_matrix", takes="warp", accesses=(Rule("read", 0, "matrix"),)))
STORE_MATRIX = known(Instruction("gpu.subgroup_mma_store_matrix", takes="warp", accesses=(Rule("write", 1, "matrix"),)))
MULTIPLY_MATRICES = known(Instruction("gpu.subgroup_mma_compute", takes="warp"))
"""The same of matrices whose elements some lane has, which one the hardware knows (`wmma`)."""


@record
class NumberType:
    """A type of numbers that tensor cores multiply or add up.

    Args:
        word: the type in PTX.
        bits: what an element has in a register.
        letter: of such a register in inline PTX.
        rounds: it is what numbers of f32 are rounded to, which are in memory.
    """

    word: str
    bits: int
    letter: str = "r"
    rounds: bool = False

    @property
    def each(self) -> int:
        """Elements in a register of the instructions."""
        return max(1, 32 // self.bits)


NUMBERS = {
    "f64": NumberType("f64", 64, "d"),
    "f32": NumberType("f32", 32, "f"),
    "tf32": NumberType("tf32", 32, rounds=True),
    "f16": NumberType("f16", 16),
    "bf16": NumberType("bf16", 16),
    "f8E4M3FN": NumberType("e4m3", 8),
    "f8E5M2": NumberType("e5m2", 8),
    "i8": NumberType("s8", 8),
    "i32": NumberType("s32", 32),
}


@record
class TileProduct:
    """An instruction: D = A B + C, of m x n x k.

    Args:
        kind: what A and B are, one of `NUMBERS`; `sum`: what C and D are.
        since: the compute capability from which on chips have it, times 10.
    """

    m: int
    n: int
    k: int
    kind: str
    sum: str
    since: int = 80

    @property
    def shape(self) -> tuple[int, int, int]:
        return self.m, self.n, self.k

    @property
    def each(self) -> int:
        """Elements of A and B in a register."""
        return NUMBERS[self.kind].each

    @cached_property
    def fragments(self) -> tuple[Layout, Layout, Layout]:
        """Row and column in A, B and C of what a `lane` has in a `register` as its `element`."""
        each, high = self.each, self.m // 8
        parts = 4 * each  # of a row of A, what the lanes of a group have in one register
        down, across = ("lane", 4, 8), ("lane", 1, 4)
        return (
            Layout.of(
                ("row", 1, *down), ("row", 8, "register", 1, high),
                ("column", 1, "element", 1, each), ("column", each, *across), ("column", parts, "register", high, self.k // parts),
            ),
            Layout.of(
                ("row", 1, "element", 1, each), ("row", each, *across), ("row", parts, "register", 1, self.k // parts),
                ("column", 1, *down),
            ),
            Layout.of(("row", 1, *down), ("row", 8, "register", 1, high), ("column", 1, "element", 1, 2), ("column", 2, *across)),
        )  # fmt: skip

    def left(self, columns: int) -> Layout:
        """Row and column of what a lane has of so many columns of A, for instructions that follow each other along the
        sum.

        Of an instruction of a warp group these are the rows of one of its warps.
        """
        of_warp = replace(self, m=min(self.m, 16)).fragments[0]
        more = Digit("column", self.k, "register", of_warp.count("register"), columns // self.k)
        return Layout((*of_warp.digits, more)).normal

    @property
    def vectors(self) -> tuple[tuple[int, int], ...]:
        """The shapes of a lane's vectors of A, B and C: registers, and elements in each."""
        return tuple((held.count("register"), held.count("element")) for held in self.fragments)

    def __str__(self) -> str:
        return f"[{self.m}, {self.n}, {self.k}] of {self.kind} in {self.sum}"


def marked(op: ir.Operation) -> TileProduct | None:
    """The instruction that computes an op that `mma` has marked, for a warp or a warp group; None of other ops."""
    text = ir.StringAttr(op.attributes[MARK]).value if MARK in op.attributes else ""
    found = re.fullmatch(r"\[(\d+), (\d+), (\d+)\] of (\w+) in (\w+)", text)
    return None if found is None else TileProduct(int(found[1]), int(found[2]), int(found[3]), found[4], found[5])


def sums_of(op: ir.Operation) -> str | None:
    """What a marked product accumulates in, which may be wider than what memory has of its sums; None of other ops."""
    product = marked(op)
    return None if product is None else product.sum


def given_as(product: ir.Operation) -> ir.Attribute | None:
    """Which of `SPLITS` operands of f32 become, in copies or in registers, for a marked product; None: they stay as
    they are."""
    return next((product.attributes[mark] for mark in (PACKED, AS_TYPE) if mark in product.attributes), None)


def in_parts(product: ir.Operation) -> bool:
    """Whether a marked product's operands, or those that copies have the numbers of, are sums of two numbers each."""
    became = given_as(product)
    return became is not None and SPLITS[ir.StringAttr(became).value][1] > 1


PRODUCTS = (
    TileProduct(16, 8, 16, "f16", "f32"), TileProduct(16, 8, 16, "f16", "f16"),
    TileProduct(16, 8, 8, "f16", "f32", 75), TileProduct(16, 8, 8, "f16", "f16", 75),
    TileProduct(16, 8, 16, "bf16", "f32"), TileProduct(16, 8, 8, "bf16", "f32"),
    TileProduct(16, 8, 8, "tf32", "f32"), TileProduct(16, 8, 4, "tf32", "f32"),
    TileProduct(16, 8, 32, "i8", "i32"), TileProduct(16, 8, 16, "i8", "i32"),
    TileProduct(8, 8, 4, "f64", "f64"),
)  # fmt: skip
"""Those that Weft knows."""

_BY_NAME = {str(product): product for product in PRODUCTS}


def tile_product(op: ir.Operation) -> TileProduct | None:
    """What a `nvgpu.mma.sync` computes; None if it is none of `PRODUCTS`."""
    shape = tuple(ir.IntegerAttr(n).value for n in ir.ArrayAttr(op.attributes["mmaShape"]))
    kind, total = (str(ir.VectorType(op.operands[i].type).element_type) for i in (0, 2))
    kind = "tf32" if kind == "f32" and "tf32Enabled" in op.attributes else kind
    found = (p for p in PRODUCTS if (p.shape, p.kind, p.sum) == (shape, kind, total))
    return next(found, None)


def instruction_of(op: ir.Operation) -> TileProduct | None:
    """The one of `PRODUCTS` that computes, for a warp, an op that `mma` has marked; None of other ops."""
    return _BY_NAME.get(str(marked(op)))


@record
class WarpMatrix:
    """What the lanes of a warp load or store together: each element by one lane.

    Args:
        rows, columns: of the matrix in memory, where its rows begin `stride` elements apart, whatever the memref's
            layout says.
        kind: which lane an element belongs to depends on that, and on its row and column, alone.
    """

    rows: int
    columns: int
    stride: int
    kind: str


def warp_matrix(op: ir.Operation) -> WarpMatrix:
    """Of a `LOAD_MATRIX` or a `STORE_MATRIX`; a transposed one has its columns in the rows of memory."""
    type_ = str((op.results if op.name == LOAD_MATRIX else op.operands)[0].type)
    rows, columns = map(int, type_.split("<")[1].split("x")[:2])
    turned = "transpose" in op.attributes
    stride = ir.IntegerAttr(op.attributes["leadDimension"]).value
    return WarpMatrix(
        *((columns, rows) if turned else (rows, columns)), stride, f"{type_}{' transposed' if turned else ''}"
    )


def dealt(each: int, count: int, transposed: bool) -> Layout:
    """The layout of what lanes get by `ldmatrix` of `count` matrices, `each` elements in a register.

    `row`: of those that lanes read, 8 for each matrix, and `column` in it.
    """
    row, column = ("column", "row") if transposed else ("row", "column")
    return Layout.of(
        (row, 1, "lane", 4, 8),
        (column, 1, "element", 1, each),
        (column, each, "lane", 1, 4),
        ("row", 8, "register", 1, count),
    )


def rows_read(held: Layout, along: str) -> Layout:
    """Row and column of the first of the 16 bytes that a `lane` reads for `ldmatrix`.

    Lane 8 · t + r reads row r of the matrix for register t of a fragment. `along`: the axis of the
    tile the elements of which are neighbors in memory.
    """
    across = "row" if along == "column" else "column"
    tiles = [Digit(d.axis, d.stride, "lane", 8 * d.divisor, d.count) for d in held.restricted(of="register").digits]
    return Layout((Digit(across, 1, "lane", 1, 8), *tiles))
