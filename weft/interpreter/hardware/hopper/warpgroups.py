"""Warp groups: products of tiles in shared memory by four warps, and the layout of accumulators.

    %a = nvgpu.warpgroup.generate.descriptor %tile, %map : … -> !nvgpu.warpgroup.descriptor<tensor = memref<64x64xbf16, 3>>
    %sums = nvgpu.warpgroup.mma %a, %b, %before {transposeB, waitGroup = 0} : … -> !nvgpu.warpgroup.accumulator<vector<64x256xf32>>

A descriptor gives the address and layout of a matrix in shared memory. Its `tensor` has the rows
and columns of the operand, and begins at the memref. It is stored as consecutive boxes of the
tensor map: a box holds as many bytes of each row as the swizzle has, for all rows of the map's box;
the next box holds the next bytes. The sum runs along the rows of both operands in memory. Those of
the right operand are the columns of the matrix k x n; with `transposeB`, the rows in memory are the
rows of that matrix (16-bit types only).

`mma` reads both operands asynchronously, 64 rows and 32 bytes of the summed dimension at a time. It
commits the reads as a group of its threads, and waits until at most `waitGroup` groups are pending.
Ordinary stores to the operands must have been fenced. With `waitGroup = 0` its sums are complete
afterwards. Otherwise they are in flight: the next product may add to them, but no other op may use
them before a wait for all groups:

    %sums = scf.for … iter_args(%before = %zero) {
      … nvgpu.warpgroup.mma %a, %b, %before {waitGroup = 1} …;  the reads of %a of the iteration before are complete
    }
    nvvm.wgmma.wait.group.sync.aligned 0;   … %sums …

The 128 threads of the group hold the accumulator of r x n elements: thread t, with warp w = t div
32, g = t mod 32 div 4 and l = t mod 4, holds at [i, j, h, e]: row 64*i + 16*w + g + 8*h, column 8*j
+ 2*l + e. `builtin.unrealized_conversion_cast` converts it to a vector of r/64 x n/8 x 2 x 2
elements, and back: in each warp, these are the accumulators of `mma.sync` with 16 x 8 elements.

The left operand may be in registers. Of its 64 rows, warp w has the 16 rows from row 16 * w on, in
the fragments of `mma.sync`, for one instruction after the other. The IR represents these registers
as a matrix in private memory:

    %a = builtin.unrealized_conversion_cast %mine : vector<16x2xbf16> to !nvgpu.warpgroup.descriptor<tensor = memref<64x64xbf16, 5>>

(with `#gpu.address_space<private>` for 5). Such a product waits for its sums at once, since the
registers must not change before they are read.

Upstream's verifier of `mma` rejects integers, and f16 accumulators for f8 operands. For these,
NVVM's own instruction is used:

    %a = builtin.unrealized_conversion_cast %described : … to i64;  %sums = … %of_thread : vector<1x32x2x2xi32> to !llvm.struct<…>
    nvvm.wgmma.fence.aligned
    %s1 = nvvm.wgmma.mma_async %a, %b, %sums, <m = 64, n = 256, k = 32>, …;  %a2 = arith.addi %a, %c2;  … %s2 = … %a2, %b2, %s1 …
    nvvm.wgmma.commit.group.sync.aligned;  nvvm.wgmma.wait.group.sync.aligned 0

The integer of a descriptor counts units of 16 bytes, and additions to it advance along the sum.
Consecutive instructions, each adding to the sums of the previous one, are enclosed by a fence and a
wait. Since no other op is in between, each counts as having a wait of its own. The struct of sums
is a thread's part of an accumulator of 64 rows.

Source: PTX ISA, "Asynchronous warpgroup level matrix instructions"; upstream's `NVGPUOps.td`,
`NVVMOps.td`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import pairwise, product, takewhile
from math import prod

from ....dsl.records import record
from ...ir.element_sizes import element_bytes
from ...ir.mlir import child_of, constant_of, ir, made_by, ops_of, users
from ...layouts.layout import Digit, Layout
from ..ampere.fragments import NUMBERS, TileProduct
from ..instructions import Instruction, MemoryEffect, Rule, known
from ..limits import GROUP_WARPS, PIECE, WARP
from .tensor_maps import LINES, TensorMap, tensor_map

GROUP = GROUP_WARPS * WARP
"""Threads of a warp group: aligned groups, counted from thread 0 on."""


def _described_matrices(op: ir.Operation) -> tuple[MemoryEffect, ...] | None:
    """The accesses of a product: it reads the matrices of its descriptors."""
    matrices = [matrix for matrix, *_ in in_memory(op)]
    known_ones = all(is_described(matrix.type) for matrix in matrices)
    return tuple(MemoryEffect("read", matrix, "anywhere") for matrix in matrices) if known_ones else None


_row = partial(
    Instruction,
    does="products of matrices in shared memory by the 128 threads of a warp group together "
    "(`interpreter/hardware/hopper/warpgroups.py`)",
    since=90,
)
DESCRIBE = known(_row("nvgpu.warpgroup.generate.descriptor", shows="anywhere"))
MMA = known(_row("nvgpu.warpgroup.mma", only=True, takes="group", agent="product", accesses=_described_matrices))
ZERO = known(_row("nvgpu.warpgroup.mma.init.accumulator"))
known(Instruction("nvgpu.warpgroup.mma.store", accesses=(Rule("write", 1),)))
SAME = known(
    Instruction(
        "builtin.unrealized_conversion_cast",
        "an accumulator of a warp group as the fragment of a thread, and back; the fragments of a left "
        "operand as a matrix; a matrix's descriptor as an integer; a tile or a tensor map as a pointer, "
        "for a load"
        " of pixels",
        shows="anywhere",
    )
)
_row = partial(
    Instruction, does="one instruction of such products, of i8 or with sums of f16, between a fence and a wait "
    "(`interpreter/hardware/hopper/warpgroups.py`)", since=90, takes="group", agent="product",
)  # fmt: skip
MMA_ASYNC = known(_row("nvvm.wgmma.mma_async", only=True, accesses=_described_matrices))
BEGIN = known(_row("nvvm.wgmma.fence.aligned", orders="fence"))
COMMIT = known(_row("nvvm.wgmma.commit.group.sync.aligned", orders="commit"))
END = known(_row("nvvm.wgmma.wait.group.sync.aligned", orders="drain"))
PRODUCTS, AROUND = (MMA, MMA_ASYNC), (BEGIN, COMMIT, END)
"""Products, and the ops around products that do not wait on their own."""
ROWS, SUM_BYTES = 64, 32
"""Rows of an instruction, and bytes of a row of its operands."""
MOST_COLUMNS = 256


@record
class GroupOperands:
    """The shapes and types that instructions support, by the type of their operands, one of
    `NUMBERS`.

    Args:
        k: the number of summed elements in one instruction.
        sums: types of accumulators; a register holds two f16. (Not supported: f16 sums of f16.)
        columns: a divisor of the number of columns; `fewer`: further legal numbers of columns.
        transposable: the rows in memory of a right operand may be the rows of the matrix.
        held: a left operand may be in registers. (For other types this is not supported.)
        by_instruction: types of accumulators that `MMA` rejects: each 64 rows take an `MMA_ASYNC`.
    """

    k: int
    sums: tuple[str, ...] = ("f32",)
    columns: int = 8
    fewer: tuple[int, ...] = ()
    transposable: bool = False
    held: bool = False
    by_instruction: tuple[str, ...] = ()

    def has(self, columns: int) -> bool:
        """Whether there is an instruction with this number of columns."""
        return columns in self.fewer or (0 < columns <= MOST_COLUMNS and columns % self.columns == 0)


OPERANDS = {
    "f16": GroupOperands(16, transposable=True, held=True),
    "bf16": GroupOperands(16, transposable=True, held=True),
    "tf32": GroupOperands(8),
    "f8E4M3FN": GroupOperands(32, ("f32", "f16"), by_instruction=("f16",)),
    "f8E5M2": GroupOperands(32, ("f32", "f16"), by_instruction=("f16",)),
    "i8": GroupOperands(32, ("i32",), 16, (8, 24), by_instruction=("i32",)),
}


def products(kind: str, total: str, columns: int) -> list[TileProduct]:
    """The instructions for a type of operands, a type of sums, and a number of columns."""
    taken = OPERANDS.get(kind)
    if taken is None or not taken.has(columns) or total not in taken.sums:
        return []
    return [TileProduct(ROWS, columns, taken.k, kind, total, 90)]


def every_product() -> Iterator[TileProduct]:
    """All instructions."""
    for kind, taken in OPERANDS.items():
        for total, columns in product(taken.sums, range(8, MOST_COLUMNS + 1, 8)):
            yield from products(kind, total, columns)


def attributes_of(product: TileProduct) -> dict[str, str]:
    """The attributes of an `MMA_ASYNC` of a product."""
    of, total = NUMBERS[product.kind].word, NUMBERS[product.sum].word
    found = {"shape": f"shape<m = {product.m}, n = {product.n}, k = {product.k}>"}
    found |= {"typeA": f"wgmma_type<{of}>", "typeB": f"wgmma_type<{of}>", "typeD": f"wgmma_type<{total}>"}
    found |= {"layoutA": "mma_layout<row>", "layoutB": "mma_layout<col>", "scaleD": "wgmma_scale_out<one>"}
    found |= {"scaleA": "wgmma_scale_in<one>", "scaleB": "wgmma_scale_in<one>"}
    return found | ({"satfinite": "mma_int_overflow<wrapped>"} if product.sum == "i32" else {})


@record
class Matrix:
    """Rows and columns of an operand or an accumulator, and the type of its elements."""

    rows: int
    columns: int
    element: ir.Type


def is_described(kind: ir.Type) -> bool:
    """Whether a value of that type is the descriptor of a matrix."""
    return str(kind).startswith("!nvgpu.warpgroup.descriptor<")


def in_registers(kind: ir.Type) -> bool:
    """Whether the type is that of a matrix in registers, distributed over a group's threads."""
    return is_described(kind) and "#gpu.address_space<private>" in str(kind)


def is_held(given: ir.Type, kind: ir.Type) -> bool:
    """Whether the type is that of a thread's part of a matrix in registers."""
    held = matrix(kind)
    if (
        held is None
        or not in_registers(kind)
        or str(held.element) not in OPERANDS
        or not isinstance(given, ir.VectorType)
    ):
        return False
    each = NUMBERS[str(held.element)].each
    return (given.shape, given.element_type) == ([held.rows * held.columns // GROUP // each, each], held.element)


def held_type(columns: int, element: ir.Type) -> ir.Type:
    """The type of the descriptor of a matrix in registers, with 64 rows and `columns` columns."""
    tensor = f"memref<{ROWS}x{columns}x{element}, #gpu.address_space<private>>"
    return ir.Type.parse(f"!nvgpu.warpgroup.descriptor<tensor = {tensor}>")


def matrix(kind: ir.Type) -> Matrix | None:
    """The matrix of a descriptor's type; None for other types."""
    if not is_described(kind):
        return None
    text = str(kind)
    seen = ir.MemRefType(ir.Type.parse(text.split("tensor = ", 1)[1].removesuffix(">"), kind.context))
    rows, columns = seen.shape
    return Matrix(rows, columns, seen.element_type)


def accumulator(kind: ir.Type) -> Matrix | None:
    """The matrix of an accumulator's type; None for other types."""
    text = str(kind)
    if (held := re.fullmatch(r"!llvm\.struct<\(((i32|vector<2xf16>)(?:, \2)*)\)>", text)) is not None:
        columns = 2 * (held[1].count(",") + 1)
        if held[2] == "i32":
            return Matrix(ROWS, columns, ir.IntegerType.get_signless(32, kind.context))
        return Matrix(ROWS, 2 * columns, ir.F16Type.get(kind.context))
    if not text.startswith("!nvgpu.warpgroup.accumulator<"):
        return None
    seen = ir.VectorType(ir.Type.parse(text.split("fragmented = ", 1)[1].removesuffix(">"), kind.context))
    rows, columns = seen.shape
    return Matrix(rows, columns, seen.element_type)


def sums_type(product: TileProduct, rows: int) -> ir.Type:
    """The type of an accumulator of `rows` rows; for `MMA_ASYNC`, the struct that holds a thread's
    part of 64 rows."""
    if product.sum in OPERANDS[product.kind].by_instruction:
        each = NUMBERS[product.sum].each
        word = product.sum if each == 1 else f"vector<{each}x{product.sum}>"
        return ir.Type.parse(f"!llvm.struct<({', '.join([word] * (ROWS * product.n // GROUP // each))})>")
    return ir.Type.parse(f"!nvgpu.warpgroup.accumulator<fragmented = vector<{rows}x{product.n}x{product.sum}>>")


def fewest_registers(columns: int) -> int:
    """The fewest registers per thread with which ptxas accepts an instruction of this number of
    columns (C7602)."""
    return ROWS * columns // GROUP + 26


def operands(op: ir.Operation) -> list[tuple[ir.Value, int | None]]:
    """The descriptors of a product's operands, each with the offset of the operand from the
    descriptor's address, in bytes; None if that is unknown, or no multiple of 32 along a row."""
    if op.name == MMA:
        return [(value, 0) for value in list(op.operands)[:2]]
    return [
        _begun(*_described(value), along)
        for value, along in zip(list(op.operands)[1:], ("columns", "rows"), strict=True)
    ]


def in_memory(op: ir.Operation) -> Iterator[tuple[ir.Value, bool, bool]]:
    """The descriptors of the operands that a product reads from memory; for each, whether its rows
    in memory are those of the matrix, and whether it is transposed."""
    for number, (described, _) in enumerate(operands(op)):
        if not in_registers(described.type):
            yield described, number == 0 or "transposeB" in op.attributes, number == 0 and "transposeA" in op.attributes


def _begun(described: ir.Value, after: int | None, along: str) -> tuple[ir.Value, int | None]:
    """The descriptor, and `after` if an operand may begin that many bytes after it; else None.
    `along`: the axis of the sum, `rows` or `columns`."""
    made, held = made_by(described, DESCRIBE), matrix(described.type)
    tile = None if made is None else tensor_map(made.opview.tensorMap.type)
    if held is None or tile is None:
        return described, None
    row_bytes = getattr(held, along) * element_bytes(held.element)
    places = panel_layout(tile, 1, row_bytes)
    return described, after if after in [
        places.at("address", byte=step) for step in range(0, row_bytes, SUM_BYTES)
    ] else None


def fits(op: ir.Operation) -> bool:
    """Whether the shapes of a product's operands and sums agree, which upstream only verifies for
    `MMA`."""
    left, right = (matrix(value.type) for value, _ in operands(op))
    total = accumulator(op.results[0].type)
    if left is None or right is None or total is None:
        return False
    shapes = left.rows, right.columns, right.rows, right.element
    return shapes == (total.rows, total.columns, left.columns, left.element)


def sums_before(op: ir.Operation) -> ir.Value:
    """The sums to which a product adds."""
    return op.operands[0 if op.name == MMA_ASYNC else 2]


def _described(number: ir.Value) -> tuple[ir.Value, int | None]:
    cast, added = made_by(number, SAME), made_by(number, "arith.addi")
    if cast is not None and len(cast.operands) == 1:
        return cast.operands[0], 0
    more = None if added is None else constant_of(added.operands[1])
    if added is None or more is None:
        return number, None
    value, before = _described(added.operands[0])
    return value, None if before is None else before + more * STEP


STEP = 16
"""Bytes in a unit of a descriptor's integer."""


def may_pend(op: ir.Operation) -> int:
    """The number of newest groups of products of its thread that a product, or a wait for products,
    leaves pending."""
    if op.name == END:
        return ir.IntegerAttr(op.attributes["group"]).value
    if op.name == MMA_ASYNC:
        return 0 if run_of(op) else 1
    return ir.IntegerAttr(op.attributes["waitGroup"]).value if "waitGroup" in op.attributes else 1


def run_of(op: ir.Operation) -> list[ir.Operation]:
    """All `MMA_ASYNC` between the fence before an `MMA_ASYNC` and the wait after it, each adding to
    the sums of the previous one. Empty if ops other than additions to descriptors are in between,
    or if the wait leaves groups pending."""
    ops = ops_of(op.block)
    at = ops.index(op)
    first = at - sum(1 for _ in takewhile(_is_between, reversed(ops[:at])))
    last = at + sum(1 for _ in takewhile(_is_between, ops[at:]))
    run = [one for one in ops[first:last] if one.name == MMA_ASYNC]
    chain = all(later.operands[0] == earlier.results[0] for earlier, later in pairwise(run))
    ends = [one.name for one in (*ops[max(first - 1, 0) : first], *ops[last : last + 2])] == [BEGIN, COMMIT, END]
    alone = all(len(list(one.results[0].uses)) == 1 for one in run[:-1])
    alone = alone and not any(user in ops[first:last] for user in users(run[-1].results[0]))
    waited_for = ends and ir.IntegerAttr(ops[last + 1].attributes["group"]).value == 0
    return run if chain and alone and waited_for else []


def flies(op: ir.Operation) -> bool:
    """Whether the sums of a product may be in flight after it: they stay in their registers, and
    only products that add to them use them before a wait for all groups. A loop may pass them only
    to its own next iteration."""
    first = op
    while op.name == MMA and (before := made_by(sums_before(first), MMA)) is not None and before.block == op.block:
        first = before
    return op.name == MMA and _awaited(op.results[0], first, set())


def _awaited(sums: ir.Value, first: ir.Operation, seen: set[ir.Value]) -> bool:
    """Whether a wait precedes each use of the sums, other than by products that add to them.
    `first`: the product that adds to block arguments."""
    if sums in seen:
        return True
    seen.add(sums)
    inside = isinstance(sums.owner, ir.Block)
    block = sums.owner if inside else sums.owner.operation.block
    ops = ops_of(block)
    start = 0 if inside else ops.index(sums.owner.operation) + 1
    waits = [at for at in range(start, len(ops)) if ops[at].name == END and may_pend(ops[at]) == 0]
    holders = [(use, child_of(block.owner.operation, use.owner.operation)) for use in sums.uses]
    early = [use for use, holder in holders if holder is None or not any(at < ops.index(holder) for at in waits)]
    if not early:
        return True
    return len(holders) == 1 and _continues(early[0].owner.operation, early[0].operand_number, first, seen)


def _continues(user: ir.Operation, operand: int, first: ir.Operation, seen: set[ir.Value]) -> bool:
    """Whether the user is a product that adds to the sums, or the end of the loop that carries
    them."""
    if user.name == MMA:
        return operand == 2 and (not may_pend(user) or _awaited(user.results[0], first, seen))
    loop = user.parent.operation
    if user.name != "scf.yield" or loop.name != "scf.for" or first.block != user.block:
        return False
    handed = loop.regions[0].blocks[0].arguments[operand + 1]
    alone = users(handed) == [first]
    return (
        alone
        and sums_before(first) == handed
        and all(_awaited(one, first, seen) for one in (handed, loop.results[operand]))
    )


def _is_between(op: ir.Operation) -> bool:
    return op.name in (MMA_ASYNC, SAME) or op.name.startswith("arith.")


def of_thread(held: Matrix) -> tuple[int, int, int, int]:
    """The shape of a thread's part of an accumulator."""
    return held.rows // ROWS, held.columns // 8, 2, 2


def sum_layout(rows: int, columns: int) -> Layout:
    """The layout of an accumulator: row and column by `element`, `register` and `thread`.

    Registers count 64 rows, 8 columns, and 8 rows; each piece of 16 x 8 elements has the layout of
    a warp's instruction.
    """
    wide, of_group = columns // 8, _of_group(TileProduct(16, 8, 16, "bf16", "f32").fragments[2])
    pieces = Layout.of(("column", 8, "register", 2, wide), ("row", ROWS, "register", 2 * wide, rows // ROWS))
    return Layout((*of_group.digits, *pieces.digits))


def left_layout(product: TileProduct, columns: int) -> Layout:
    """The layout of a left operand: row and column by `element`, `register` and `thread`."""
    return _of_group(product.left(columns))


def _of_group(of_warp: Layout) -> Layout:
    """The layout of a group from that of a warp: the rows of one warp follow those of the
    previous."""
    digits = (Digit(d.axis, d.stride, "thread" if d.of == "lane" else d.of, d.divisor, d.count) for d in of_warp.digits)
    return Layout((*digits, Digit("row", 16, "thread", WARP, GROUP_WARPS)))


def panel_layout(tile: TensorMap, rows: int, row_bytes: int) -> Layout:
    """The layout of a matrix in memory: the `address` of a `byte` of a `row`, from the beginning of
    the matrix, before the swizzle.

    Rows are rows in memory: columns of the product, for a right operand that is not transposed. A
    panel has as many bytes of each row as the swizzle.
    """
    span = span_of(tile)
    return Layout.of(
        ("address", prod(tile.box[:-1]) * span, "byte", span, -(-row_bytes // span)),
        ("address", span, "row", 1, rows),
        ("address", 1, "byte", 1, span if tile.swizzle else min(span, row_bytes)),
    )


def span_of(tile: TensorMap) -> int:
    """The number of bytes of a row that are adjacent in memory: the width of a panel."""
    return tile.swizzle or PIECE


def repeats_after(tile: TensorMap) -> int:
    """The period of the layout in bytes: a matrix must begin at a multiple of 8 rows."""
    return LINES * span_of(tile)
