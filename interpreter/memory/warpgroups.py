"""Warp groups: products of tiles in shared memory by four warps together, and which thread holds which of their sums.

    %a = nvgpu.warpgroup.generate.descriptor %tile, %map : … -> !nvgpu.warpgroup.descriptor<tensor = memref<64x64xbf16, 3>>
    %sums = nvgpu.warpgroup.mma %a, %b, %before {transposeB, waitGroup = 0} : … -> !nvgpu.warpgroup.accumulator<vector<64x256xf32>>

A descriptor says where a matrix lies in shared memory: its `tensor` has rows of the operand and columns of it, and begins at the
memref, laid out as boxes of the tensor map are, one behind the other: a box holds as many bytes of a row as the swizzle has, of all
rows that the map's box has, and the next box the next ones. Of the left operand the sum runs along a row. So it does of the right
one, whose rows are then columns of the product (the memory has them as rows, and the type as n of k x n); with `transposeB` its
rows are those of the matrix k x n (16-bit types only).

`mma` reads both asynchronously, 64 rows and as many elements of the sum as 32 bytes hold at a time, waits until at most `waitGroup`
of its thread's groups are pending, and has the sums then; what ordinary stores wrote there must have been fenced.

The accumulator of r x n elements is held by the 128 threads of the group: thread t, with warp w = t div 32, g = t mod 32 div 4 and
l = t mod 4, has at [i, j, h, e]: row 64*i + 16*w + g + 8*h, column 8*j + 2*l + e. `builtin.unrealized_conversion_cast` makes it a
vector of r/64 x n/8 x 2 x 2 elements, and back: those are the accumulators of `mma.sync` with 16 x 8 elements, of each warp.

Source: PTX ISA, "Asynchronous warpgroup level matrix instructions"; upstream's `NVGPUOps.td`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from ..ir.mlir import ir
from .fragments import TileProduct
from .limits import GROUP_WARPS, PIECE, WARP
from .tensor_maps import LINES, TensorMap, exchanged

GROUP = GROUP_WARPS * WARP
"""Threads of a warp group: whole ones, counted from thread 0 on."""
DESCRIBE, MMA, ZERO = "nvgpu.warpgroup.generate.descriptor", "nvgpu.warpgroup.mma", "nvgpu.warpgroup.mma.init.accumulator"
SAME = "builtin.unrealized_conversion_cast"
ROWS, SUM_BYTES = 64, 32
"""Rows of an instruction, and bytes of a row of its operands."""
COLUMNS = {"f16": 8, "bf16": 8, "tf32": 8, "f8E4M3FN": 8, "f8E5M2": 8, "i8": 16}
"""By the operands' type: columns come in multiples of these, 256 at most (i8: and 8 and 24)."""
BY_ROWS = ("f16", "bf16")
"""Types of which the rows of a right operand in memory may be those of the matrix."""
BYTES = {"f16": 2, "bf16": 2, "tf32": 4, "f8E4M3FN": 1, "f8E5M2": 1, "i8": 1}
SUMS = {"f16": ("f32",), "bf16": ("f32",), "tf32": ("f32",), "f8E4M3FN": ("f32",), "f8E5M2": ("f32",), "i8": ("i32",)}
"""By the operands' type: those of accumulators. (The instructions have sums of f16, too, of f16 and f8: two in a register.)"""
MOST_COLUMNS = 256


WITHOUT_OP = ("i8",)
"""Types that the instructions have and upstream's verifier of `MMA` does not let through."""


def products(kind: str, total: str, columns: int) -> list[TileProduct]:
    """The instructions for operands of a type and sums of one, with so many columns, that `MMA` can say."""
    if not has_columns(kind, columns) or total not in SUMS[kind] or kind in WITHOUT_OP:
        return []
    return [TileProduct(ROWS, columns, SUM_BYTES // BYTES[kind], kind, total, 90)]


@dataclass(frozen=True)
class Matrix:
    """Rows and columns of an operand or an accumulator, and the type of its elements."""

    rows: int
    columns: int
    element: ir.Type


def is_described(kind: ir.Type) -> bool:
    """Whether a value of that type is the descriptor of a matrix."""
    return str(kind).startswith("!nvgpu.warpgroup.descriptor<")


def matrix(kind: ir.Type) -> Matrix | None:
    """What a type says as that of a descriptor; None of others."""
    if not is_described(kind):
        return None
    said = str(kind)
    seen = ir.MemRefType(ir.Type.parse(said.split("tensor = ", 1)[1].removesuffix(">"), kind.context))
    rows, columns = seen.shape
    return Matrix(rows, columns, seen.element_type)


def accumulator(kind: ir.Type) -> Matrix | None:
    """What a type says as that of an accumulator; None of others."""
    said = str(kind)
    if not said.startswith("!nvgpu.warpgroup.accumulator<"):
        return None
    seen = ir.VectorType(ir.Type.parse(said.split("fragmented = ", 1)[1].removesuffix(">"), kind.context))
    rows, columns = seen.shape
    return Matrix(rows, columns, seen.element_type)


def has_columns(kind: str, columns: int) -> bool:
    """Whether there is an instruction of so many columns for operands of a type."""
    if (kind, columns) in (("i8", 8), ("i8", 24)):
        return True
    return kind in COLUMNS and 0 < columns <= MOST_COLUMNS and columns % COLUMNS[kind] == 0


def may_pend(op: ir.Operation) -> int:
    """How many of its thread's last groups of products an `MMA` leaves pending."""
    return ir.IntegerAttr(op.attributes["waitGroup"]).value if "waitGroup" in op.attributes else 1


def of_thread(held: Matrix) -> tuple[int, int, int, int]:
    """The shape of what a thread has of an accumulator."""
    return held.rows // ROWS, held.columns // 8, 2, 2


_OF_A_WARP = TileProduct(16, 8, 16, "bf16", "f32")


def sum_at(thread: int, i: int, j: int, h: int, e: int) -> tuple[int, int]:
    """Row and column in the accumulator of what a thread of the group has there."""
    row, column = _OF_A_WARP.c_at(thread % WARP, h, e)
    return ROWS * i + 16 * (thread // WARP) + row, 8 * j + column


def place_of(row: int, byte: int, tile: TensorMap) -> int:
    """Where a byte of a row lies, from where the matrix begins on: at a multiple of what the swizzle repeats itself after.

    `row`, `byte`: of the memory's rows, which are columns of the product where the right operand is not transposed.
    """
    return exchanged(plain_place_of(row, byte, tile), tile.swizzle)


def plain_place_of(row: int, byte: int, tile: TensorMap) -> int:
    """The same, before pieces are exchanged."""
    panel, inside = divmod(byte, span_of(tile))
    return (panel * prod(tile.box[:-1]) + row) * span_of(tile) + inside


def span_of(tile: TensorMap) -> int:
    """How many bytes of a row lie side by side."""
    return tile.swizzle or PIECE


def repeats_after(tile: TensorMap) -> int:
    """In bytes: a matrix begins at a multiple of 8 rows."""
    return LINES * span_of(tile)
