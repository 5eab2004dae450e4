"""Swizzled shared buffers: 16-byte pieces of a row are permuted by the row's number, so that a
column of pieces is spread over all banks.

    B_shared[row][col]   →   B_shared[row][col ^ row mod 8 * 8]          (bf16, `swizzle 128`)

Within each span of a row, piece p of row r is at position `p xor r`. If rows have less than 128
bytes, r counts lines of 128 bytes, the width of all banks. The permutation is a bijection on the
elements of each row. So if all accesses use the same swizzle, subscripts without it identify
elements.

If rows are padded by one piece, that alone spreads a column over all banks for 8 rows. Rows at a
distance of 8 conflict again, so groups of 8 rows are permuted, in steps of 3, which separates all
neighbours:

    A_shared[row][col]   →   A_shared[row][col ^ row / 8 * 3 mod 4 * 4]  (f32, `pad 4 swizzle 64`)

So a warp that stores vectors of several rows of a tile, transposed, writes to 32 different banks at
a time.

If rows are at most a line long, a lane may read two words at a time, as `mma` does for f32 split
into bf16; a warp then reads two neighbouring pieces of 4 rows. A step of half the pieces plus one
separates these 4 rows, and also 8 rows:

    A_shared[row][col]   →   A_shared[row][col ^ row / 2 * 3 mod 4 * 4]  (f32, rows of 16, `swizzle 64`)

Source: CUTLASS `Swizzle<3, 4, 3>`; the modes of Hopper's tensor maps.
"""

from __future__ import annotations

from typing import Any

from ...dsl.records import record
from ..ir.element_sizes import element_bytes
from ..ir.mlir import ir

SWIZZLE = "weft.swizzle"
"""On a shared allocation: the span of a row, in bytes, within which pieces are permuted."""
SPANS = (32, 64, 128)
PIECE = 16
WORD = 4
_LINE = 128


@record
class Swizzle:
    """The value, in elements, that is combined with the columns of a row by xor: `(row floordiv
    lines * step) mod pieces * width`.

    Args:
        lines: the number of consecutive rows with the same permutation.
        step: the difference between one permutation and the next.
        pieces: the number of pieces in a span.
        width: the number of elements in a piece.
        row: the number of elements of a row that are permuted.
    """

    lines: int
    step: int
    pieces: int
    width: int
    row: int

    @staticmethod
    def of(kind: ir.MemRefType, span: int) -> Swizzle | None:
        """The swizzle of a buffer of this type, within `span` bytes. None unless rows consist of
        whole spans, or of whole spans and one piece."""
        if span not in SPANS or kind.rank < 2 or kind.is_dynamic_dim(kind.rank - 1):
            return None
        item = element_bytes(kind.element_type)
        size, pad = kind.shape[-1] * item, kind.shape[-1] * item % SPANS[0]
        if pad not in (0, PIECE) or (size - pad) % span or size == pad:
            return None
        pieces = span // PIECE
        if pad:
            lines, step = _LINE // PIECE, 3
        else:
            pairs = item == WORD and size <= _LINE and pieces > 2
            lines, step = max(1, _LINE // size), pieces // 2 + 1 if pairs else 1
        return Swizzle(lines, step, pieces, PIECE // item, (size - pad) // item)

    @staticmethod
    def of_rows(span: int, item: int = 1) -> Swizzle:
        """The swizzle of the tensor memory accelerator, in rows as long as its span. `span`,
        `item`: in bytes."""
        return Swizzle(_LINE // span, 1, span // PIECE, PIECE // item, span // item)

    @staticmethod
    def of_box(kind: ir.MemRefType) -> Swizzle | None:
        """The swizzle of a box in shared memory, if its rows are as long as a span; else None."""
        item = element_bytes(kind.element_type)
        span = kind.shape[-1] * item
        return Swizzle.of_rows(span, item) if span in SPANS and kind.rank > 1 else None

    @property
    def span(self) -> int:
        """The number of elements in the span within which pieces are permuted."""
        return self.pieces * self.width

    @property
    def period(self) -> int:
        """The number of rows after which the permutations repeat."""
        return self.lines * self.pieces

    @property
    def map(self) -> ir.AffineMap:
        """The xor value as an affine map of the row's number."""
        row = ir.AffineExpr.get_floor_div(ir.AffineExpr.get_dim(0), self.lines) * self.step
        return ir.AffineMap.get(1, 0, [ir.AffineExpr.get_mod(row, self.pieces) * self.width])


def exchanged(place: Any, span: int) -> Any:
    """The address at which the tensor memory accelerator, with a swizzle of `span` bytes (0: none),
    stores the byte at an address; for an array of addresses, an array."""
    way = Swizzle.of_rows(span) if span else None
    return place if way is None else place ^ place // way.row // way.lines * way.step % way.pieces * way.width
