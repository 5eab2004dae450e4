"""Tensor cores: the products of tiles that a single instruction of a warp computes, and the layouts
of their fragments.

    %d = nvgpu.mma.sync(%a, %b, %c) {mmaShape = [16, 8, 16]} : (vector<4x2xbf16>, vector<2x2xbf16>, vector<2x2xf32>) -> …

The 32 lanes of a warp hold a tile together: each lane holds a vector of registers, and each
register is a vector of elements. In all instructions, with g = l div 4, t = l mod 4, and w elements
in a register of A and B, lane l holds in element j of register r:

    A (m x k):  row g + 8 * (r mod m/8),  column w*t + j + 4*w * (r div m/8)
    B (k x n):  row w*t + j + 4*w * r,    column g
    C (m x n):  row g + 8*r,              column 2*t + j

Products are exact. Sums are added in an unspecified order, and rounded to the accumulator's type.
Sums of f32 are rounded toward zero, so that the error grows with the number of products that one
accumulator takes. An f32 operand is first rounded to tf32: to nearest, ties away from zero, 10 bits
of mantissa (`cvt.rna.tf32.f32`). Alternatively an f32 operand is split into two numbers of a
narrower type, big + small. Then three products are computed: small · big, big · small, and big ·
big. The omitted product is as small as the rounding error of f32 (tf32), or ten times that (bf16).
To keep these digits, the products of each step begin at zero, and are added to the accumulator
outside of the tensor cores.

Source: PTX ISA, "Matrix fragments for mma.m16n8k16" and the sections next to it; Ootomo and Yokota,
"Recovering single precision accuracy from Tensor Cores while surpassing the FP32 theoretical peak
performance".
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
"""The schedule's names for conversions of f32 operands: the type of the numbers that an operand
becomes, and how many of them add up to it."""
AS_TYPE = "weft.as_type"
"""On a product of f32 operands: one of `SPLITS`."""
PACKED = "weft.packed"
"""On a product of copies that hold converted f32 operands: one of `SPLITS`, by which the copies are
to be interpreted."""
MARK = "weft.mma"
"""On the product of one lane: the instruction that computes it for all lanes of its warp (the text
of one of `PRODUCTS`)."""
REGISTERS_OF_LHS = "weft.lhs_registers"
"""On such a product with its left operand in registers: the axis of the operand that counts a
fragment's registers along the sum, and the axis that counts those along rows; -1 for a single
register."""
TF32_BITS = -1 << 13
"""The bits of an f32 that a tf32 keeps."""
ROW_BYTES = 16
"""Bytes in a row of a matrix that `ldmatrix` loads; a row begins at a multiple of it."""


def matrices(op: ir.Operation) -> tuple[int, bool]:
    """The number of matrices that a `nvgpu.ldmatrix` loads, and whether they are transposed."""
    return ir.IntegerAttr(op.attributes["numTiles"]).value, ir.BoolAttr(op.attributes["transpose"]).value


def row_of(op: ir.Operation) -> ir.VectorType:
    """The type of the value that a lane reads for a `nvgpu.ldmatrix`: a row of a matrix."""
    registers = ir.VectorType(op.results[0].type)
    return ir.VectorType.get([ROW_BYTES // 4 * registers.shape[-1]], registers.element_type, loc=op.location)


def _rows_of_matrices(op: ir.Operation) -> tuple[MemoryEffect, ...]:
    """Each of the first lanes reads a row of 16 bytes, which the warp then distributes; the others
    read nothing."""
    return (MemoryEffect("read", op.operands[0], "element", 1, row_of(op), certain=matrices(op)[0] == 4),)


_row = partial(
    Instruction,
    does="tensor cores: matrices and products of tiles that the 32 lanes of a warp hold together; all of them reach the same op",
    takes="warp",
)
LDMATRIX = known(_row("nvgpu.ldmatrix", since=75, accesses=_rows_of_matrices))
MMA = known(_row("nvgpu.mma.sync", since=80))
known(Instruction("nvgpu.mma.sp.sync", takes="warp"))
LOAD_MATRIX = known(Instruction("gpu.subgroup_mma_load_matrix", takes="warp", accesses=(Rule("read", 0, "matrix"),)))
STORE_MATRIX = known(Instruction("gpu.subgroup_mma_store_matrix", takes="warp", accesses=(Rule("write", 1, "matrix"),)))
known(Instruction("gpu.subgroup_mma_compute", takes="warp"))  # of a layout that only the hardware defines (`wmma`)


@record
class NumberType:
    """A type of numbers that tensor cores multiply or add up.

    Args:
        word: the type in PTX.
        bits: bits of an element in a register.
        letter: the constraint of such a register in inline PTX.
        rounds: whether the numbers in memory are f32, which the instruction needs rounded to this
            type.
    """

    word: str
    bits: int
    letter: str = "r"
    rounds: bool = False

    @property
    def each(self) -> int:
        """The number of elements in a register."""
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
        kind: the type of A and B, one of `NUMBERS`; `sum`: the type of C and D.
        since: the compute capability that introduced it, times 10.
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
        """The number of elements of A or B in a register."""
        return NUMBERS[self.kind].each

    @cached_property
    def fragments(self) -> tuple[Layout, Layout, Layout]:
        """The layouts of A, B and C: the row and column of an `element` of a `register` of a
        `lane`."""
        each, high = self.each, self.m // 8
        parts = 4 * each  # columns of A that one register of the lanes of a group holds
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
        """The layout of a lane's fragments of `columns` columns of A, for consecutive instructions
        along the sum.

        For an instruction of a warp group, it is the layout of one of its warps.
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
    """The instruction, of a warp or a warp group, that computes an op marked by `mma`; None for
    other ops."""
    text = ir.StringAttr(op.attributes[MARK]).value if MARK in op.attributes else ""
    found = re.fullmatch(r"\[(\d+), (\d+), (\d+)\] of (\w+) in (\w+)", text)
    return None if found is None else TileProduct(int(found[1]), int(found[2]), int(found[3]), found[4], found[5])


def sums_of(op: ir.Operation) -> str | None:
    """The type in which a marked product accumulates, which may be wider than the type of its sums
    in memory; None for other ops."""
    product = marked(op)
    return None if product is None else product.sum


def given_as(product: ir.Operation) -> ir.Attribute | None:
    """The entry of `SPLITS` by which the f32 operands of a marked product are converted, in copies
    or in registers; None if they are not converted."""
    return next((product.attributes[mark] for mark in (PACKED, AS_TYPE) if mark in product.attributes), None)


def in_parts(product: ir.Operation) -> bool:
    """Whether the operands of a marked product, or the copies of these, are split into sums of two
    numbers."""
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
"""The instructions that Weft supports."""

_BY_NAME = {str(product): product for product in PRODUCTS}


def tile_product(op: ir.Operation) -> TileProduct | None:
    """The product that a `nvgpu.mma.sync` computes; None if it is not one of `PRODUCTS`."""
    shape = tuple(ir.IntegerAttr(n).value for n in ir.ArrayAttr(op.attributes["mmaShape"]))
    kind, total = (str(ir.VectorType(op.operands[i].type).element_type) for i in (0, 2))
    kind = "tf32" if kind == "f32" and "tf32Enabled" in op.attributes else kind
    found = (p for p in PRODUCTS if (p.shape, p.kind, p.sum) == (shape, kind, total))
    return next(found, None)


def instruction_of(op: ir.Operation) -> TileProduct | None:
    """The entry of `PRODUCTS`, an instruction of a warp, that computes an op marked by `mma`; None
    for other ops."""
    return _BY_NAME.get(str(marked(op)))


@record
class WarpMatrix:
    """A matrix that the lanes of a warp load or store together, each element by one lane.

    Args:
        rows, columns: the shape of the matrix in memory. Its rows begin `stride` elements apart,
            whatever the layout of the memref is.
        kind: determines, with the row and the column, the lane that owns an element.
    """

    rows: int
    columns: int
    stride: int
    kind: str


def warp_matrix(op: ir.Operation) -> WarpMatrix:
    """The matrix of a `LOAD_MATRIX` or a `STORE_MATRIX`; if it is transposed, its rows in memory
    are columns."""
    type_ = str((op.results if op.name == LOAD_MATRIX else op.operands)[0].type)
    rows, columns = map(int, type_.split("<")[1].split("x")[:2])
    turned = "transpose" in op.attributes
    stride = ir.IntegerAttr(op.attributes["leadDimension"]).value
    return WarpMatrix(
        *((columns, rows) if turned else (rows, columns)), stride, f"{type_}{' transposed' if turned else ''}"
    )


def dealt(each: int, count: int, transposed: bool) -> Layout:
    """The layout of the registers that `ldmatrix` fills from `count` matrices, with `each` elements
    in a register.

    `row`: the number of the row among all rows that lanes read, 8 for each matrix; `column`: the
    element in the row.
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
    tile along which elements are adjacent in memory.
    """
    across = "row" if along == "column" else "column"
    tiles = [Digit(d.axis, d.stride, "lane", 8 * d.divisor, d.count) for d in held.restricted(of="register").digits]
    return Layout((Digit(across, 1, "lane", 1, 8), *tiles))
