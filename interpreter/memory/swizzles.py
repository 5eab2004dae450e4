"""Swizzled shared buffers: 16-byte pieces of a row exchanged by the row's number, so that a column of pieces lies in all banks.

    B_shared[row][col]   →   B_shared[row][col ^ row mod 8 * 4]          (f32, `swizzle 128`)

Within each span of a row, piece p of row r lies where piece `p xor r` was. Rows of less than 128 bytes are counted in 128-byte
lines, as shared memory has banks for. It is a bijection on the elements of each row, so that elements may be told apart by the
subscripts without it, where all accesses have the same.

Source: CUTLASS `Swizzle<3, 4, 3>`; the modes of Hopper's tensor maps.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..ir.mlir import ir
from .layouts import element_bytes

SWIZZLE = "weft.swizzle"
"""On a shared allocation: in how many bytes of a row pieces are exchanged."""
SPANS = (32, 64, 128)
PIECE = 16
_LINE = 128


@dataclass(frozen=True)
class Swizzle:
    """What a row's number is exchanged by: `(row floordiv lines) mod pieces * width`, in elements.

    Args:
        lines: rows that make 128 bytes.
        pieces: of a span.
        width: elements of a piece.
    """

    lines: int
    pieces: int
    width: int

    @staticmethod
    def of(kind: ir.MemRefType, span: int) -> Swizzle:
        """That of a buffer of this type, within so many bytes."""
        item = element_bytes(kind.element_type)
        return Swizzle(max(1, _LINE // (kind.shape[-1] * item)), span // PIECE, PIECE // item)

    @staticmethod
    def fits(kind: ir.MemRefType, span: int) -> bool:
        """Whether the buffer has rows, of whole spans."""
        return span in SPANS and kind.rank > 1 and kind.shape[-1] * element_bytes(kind.element_type) % span == 0

    @property
    def period(self) -> int:
        """Rows so far apart have the same exchange."""
        return self.lines * self.pieces

    @property
    def map(self) -> ir.AffineMap:
        """Of the row's number."""
        row = ir.AffineExpr.get_floor_div(ir.AffineExpr.get_dim(0), self.lines)
        return ir.AffineMap.get(1, 0, [ir.AffineExpr.get_mod(row, self.pieces) * self.width])
