"""Checked operands of box copies and warp-group products, for all readers; forms that the hardware
lacks are refused."""

from __future__ import annotations

from math import prod

from ...dsl.records import record
from ...interpreter.hardware.ampere.fragments import TileProduct
from ...interpreter.hardware.hopper import mbarriers, tensor_maps, warpgroups
from ...interpreter.hardware.hopper.tensor_maps import BoxLoad, TensorMap, load_of, tensor_map, window_of_pixels
from ...interpreter.hardware.lanes import NUMBERED_BARRIER
from ...interpreter.hardware.limits import MOST_BOX, MOST_RANK, PIECE
from ...interpreter.ir.element_sizes import element_bytes
from ...interpreter.ir.mlir import ir, is_used, made_by, maker, users
from ...interpreter.memory.effects import is_pointer
from ...interpreter.memory.layouts import is_shared, strided
from .kernel_form import expects, refuse


def expected_box(given: ir.Value, op: ir.Operation, code: str) -> TensorMap:
    """The box of a tensor map. Raises `code` for one that the driver would refuse."""
    found, window = tensor_map(given.type), window_of_pixels(given)
    if found is None:
        raise refuse(code, f"`{op.name}` of {given.type}, which is not a tensor map", op)
    if window is not None:
        wrong = "not pixels by channels" if len(found.box) != 2 else window.wrong(found.box[0])
        if wrong is not None:
            raise refuse(code, f"`{op.name}` of a tensor map of pixels: {wrong}", op)
    row, box = found.box[-1] * element_bytes(found.element), "x".join(map(str, found.box))
    wrong = (
        f"it has {len(found.box)} dimensions, {MOST_RANK} at most" if len(found.box) > MOST_RANK
        else f"a dimension of more than {MOST_BOX} elements" if max(found.box[window is not None :]) > MOST_BOX
        else f"rows of {row} bytes, which are not multiples of {PIECE}" if row % PIECE
        else f"rows of {row} bytes, with a swizzle of {found.swizzle}" if found.swizzle and row > found.swizzle
        else None
    )  # fmt: skip
    if wrong is not None:
        raise refuse(code, f"`{op.name}` of a box of {box} x {found.element}: {wrong}", op)
    return found


def boxed(op: ir.Operation, memref: ir.Value, code: str) -> TensorMap:
    """The tensor map of a copy of a box from or to `memref`. Raises `code` if box and memref do not
    fit."""
    load = load_of(op) if op.name in tensor_maps.LOADS else None
    given, at = (
        (op.opview.tensorMapDescriptor, list(op.opview.coordinates)) if load is None else (load.map, load.coordinates)
    )
    found, window = expected_box(given, op, code), window_of_pixels(given)
    kind = ir.MemRefType(memref.type)
    strides, _ = strided(kind, op)
    row_major = tuple(prod(found.box[d + 1 :]) for d in range(len(found.box)))
    lies = (tuple(kind.shape), tuple(strides), kind.element_type) == (found.box, row_major, found.element)
    if not lies or not is_shared(kind):
        box = "x".join(map(str, found.box))
        raise refuse(code, f"`{op.name}`: a box of {box} x {found.element} does not lie row by row in {kind}", op)
    if (window is not None) != (op.name == tensor_maps.LOAD_PIXELS):
        raise refuse(code, f"`{op.name}` by a tensor map of {'boxes' if window is None else 'pixels'}", op)
    if len(at) != (rank := len(found.box) if window is None else window.rank):
        raise refuse(code, f"`{op.name}` of a box of {rank} dimensions, with {len(at)} coordinates", op)
    if window is not None and (load is None or len(load.offsets) != rank - 2):
        raise refuse(
            code, f"`{op.name}` of pixels of {rank} dimensions, with another number of offsets than {rank - 2}", op
        )
    return found


def expected_load(op: ir.Operation, code: str) -> BoxLoad:
    """The operands of a load. Raises `code` if the load is not recognized, or the hardware does not
    support it."""
    load = load_of(op)
    if load is None:
        known = (
            "mode im2col, no cache hint, pointers by a cast of a tile, of a tensor map and of an own barrier's address"
        )
        raise refuse(code, f"`{op.name}` that is no load of pixels as it is known: {known}", op)
    boxed(op, load.tile, code)
    return load


@record
class GroupMatrix:
    """A matrix in shared memory, from its descriptor.

    Args:
        rows, columns: of its type.
        element: its element type, as named in `warpgroups.OPERANDS`.
        bytes: size of an element.
        box: the tensor map that defines its layout in memory.
    """

    rows: int
    columns: int
    element: str
    bytes: int
    box: TensorMap

    @property
    def span(self) -> int:
        """Contiguous bytes of a row."""
        return warpgroups.span_of(self.box)

    @property
    def steps(self) -> int:
        """The number of elements along the reduction that one instruction processes."""
        return warpgroups.SUM_BYTES // self.bytes


def group_matrix(op: ir.Operation, code: str) -> GroupMatrix:
    """The matrix of a `nvgpu.warpgroup.generate.descriptor`. Raises `code` if it is no box that
    products can read."""
    box = expected_box(op.opview.tensorMap, op, code)
    seen, held = warpgroups.matrix(op.results[0].type), ir.MemRefType(op.opview.tensor.type)
    whole_rows = box.box[-1] * element_bytes(box.element) == warpgroups.span_of(box)
    if seen is None or len(box.box) != 2 or not is_shared(held) or not whole_rows:
        span = f"rows of {warpgroups.span_of(box)} bytes, as long as its swizzle"
        raise refuse(code, f"`{op.name}`: the tiles of a product are boxes in shared memory with {span}", op)
    return GroupMatrix(seen.rows, seen.columns, str(seen.element), element_bytes(held.element_type), box)


@record
class ExpectedGroupProduct:
    """A `nvgpu.warpgroup.mma`, or one instruction of NVVM.

    Args:
        product: the instruction.
        rows, depth_bytes: rows of the result, and the length of the sum, in bytes of a row.
        left, right: the operands in shared memory; None: each thread has its part in registers.
        by_rows: the right operand is row-major in memory, not column-major.
        starts: for each operand, the byte offset in the matrix at which the product begins.
        pending: number of groups of products, including its own, that are still in flight after it.
    """

    product: TileProduct
    rows: int
    depth_bytes: int
    left: GroupMatrix | None
    right: GroupMatrix
    by_rows: bool
    starts: tuple[int, int] = (0, 0)
    pending: int = 0


def expected_group_product(op: ir.Operation, code: str) -> ExpectedGroupProduct:
    """The operands of a warp-group product. Raises `code` if there is no such instruction, or Weft
    does not support it."""
    given = warpgroups.operands(op)
    described = [None if after is None else made_by(value, warpgroups.DESCRIBE) for value, after in given]
    total = warpgroups.accumulator(op.results[0].type)
    left, right = (None if made is None else group_matrix(made, code) for made in described)
    a, held = warpgroups.matrix(given[0][0].type), warpgroups.in_registers(given[0][0].type)
    if a is None or (left is None and not held) or right is None or total is None:
        add = (
            ""
            if op.name == warpgroups.MMA
            else f"; add the offset at which the instruction's {warpgroups.SUM_BYTES} bytes of a row begin"
        )
        hint = f"make them by `{warpgroups.DESCRIBE}`{add}"
        raise refuse(code, f"`{op.name}`: its descriptors are computed elsewhere", op, hint=hint)
    by_rows, depth = "transposeB" in op.attributes, a.columns * right.bytes
    pending = warpgroups.may_pend(op)
    in_use, alone = (pending and op.name == name and not warpgroups.flies(op) for name in warpgroups.PRODUCTS)
    kind, size = str(a.element), f"{total.rows} x {total.columns} x {a.columns}, {a.element}"
    taken = warpgroups.OPERANDS.get(kind)
    in_memory = right.rows if by_rows else right.columns
    wrong = (
        "the left operand is transposed" if "transposeA" in op.attributes
        else f"waitGroup = {pending}: sums would be used in flight; take 0, or wait after it, by"
             f" `{warpgroups.END} 0`" if in_use
        else "it is not between a fence and a wait, alone with others of its sum: sums would be in flight" if alone
        else f"sums of {total.element}, of {kind}; take f32" if taken is None or str(total.element) not in taken.sums
        else f"{total.columns} columns, of {kind}" if not taken.has(total.columns)
        else f"{total.rows} rows, which are not multiples of {warpgroups.ROWS}" if total.rows % warpgroups.ROWS
        else f"a sum of {depth} bytes, which are not multiples of"
             f" {warpgroups.SUM_BYTES}" if depth % warpgroups.SUM_BYTES
        else "the operands do not fit" if not warpgroups.fits(op)
        else f"a right operand of {kind}, row by row; the instruction takes it"
             f" column by column" if by_rows and not taken.transposable
        else f"a left operand in registers, of {kind}" if held and not taken.held
        else f"a left operand in registers, of {a.rows} rows; take"
             f" {warpgroups.ROWS}" if held and a.rows != warpgroups.ROWS
        else "a left operand in registers, with products in flight; wait for all of them: 0" if held and pending
        else f"boxes of {left.box.box[0]} rows, of a left operand of {left.rows} rows"
        if left is not None and left.rows > left.box.box[0]
        else f"boxes of {right.box.box[0]} rows, of a right operand of {in_memory}"
             f" rows" if in_memory > right.box.box[0]
        else None
    )  # fmt: skip
    starts = tuple(after or 0 for _, after in given)
    product = next(iter(warpgroups.products(kind, str(total.element), total.columns)), None)
    if wrong is None and product is not None and op.name == warpgroups.MMA_ASYNC:
        wrong, depth = _wrong_instruction(op, product), warpgroups.SUM_BYTES
    if wrong is not None or product is None:
        raise refuse(code, f"there is no `{op.name}` of {size}: {wrong}", op)
    return ExpectedGroupProduct(product, total.rows, depth, left, right, by_rows, (starts[0], starts[1]), pending)


def _wrong_instruction(op: ir.Operation, product: TileProduct) -> str | None:
    """The reason why an NVVM instruction is not supported."""
    if product.sum not in warpgroups.OPERANDS[product.kind].by_instruction:
        return f"sums of {product.sum}, of {product.kind}; for these there is `{warpgroups.MMA}`"
    wanted = {name: f"#nvvm.{word}" for name, word in warpgroups.attributes_of(product).items()}
    stated = {name: str(op.attributes[name]) for name in wanted if name in op.attributes}
    return ", ".join(f"{name} = {word}" for name, word in stated.items() if word != wanted[name]) or None


@expects(warpgroups.SAME)
def _expect_cast(op: ir.Operation, code: str) -> None:
    """Checks a cast: of an accumulator to a thread's part, or back; of a descriptor to a number; of
    a tile or tensor map to a pointer. Raises `code`."""
    kinds = [value.type for value in (*op.operands, *op.results)]
    hint = "cast between a `!nvgpu.warpgroup.accumulator` and the vector of a thread's elements"
    if len(kinds) == 2 and is_pointer(op.results[0]):
        known = is_shared(kinds[0]) or tensor_map(kinds[0]) is not None
        known = known and {user.name for user in users(op.results[0])} <= {tensor_maps.LOAD_PIXELS}
        hint += "; or a tile or a tensor map to `!llvm.ptr`, for a load of pixels"
    else:
        number = str(kinds[-1]) == "i64" and warpgroups.is_described(kinds[0]) and not warpgroups.in_registers(kinds[0])
        known = len(kinds) == 2 and (number or warpgroups.is_held(*kinds) or any(map(warpgroups.accumulator, kinds)))
    if not known:
        raise refuse(code, f"`{op.name}` from {kinds[0]} to {kinds[-1]}", op, hint=hint)


@expects(mbarriers.ARRIVE)
def _expect_no_token(op: ir.Operation, code: str) -> None:
    if is_used(op.results[0]):
        raise refuse(code, f"the token of `{op.name}` is used", op, hint=f"wait by parity: `{mbarriers.AWAIT}`")


@expects(NUMBERED_BARRIER)
def _expect_no_reduction(op: ir.Operation, code: str) -> None:
    if len(op.results):
        raise refuse(code, f"`{op.name}` that reduces", op)


@expects(mbarriers.ADDRESS, mbarriers.POINTER, mbarriers.OTHER_BLOCK)
def _expect_address(op: ir.Operation, code: str) -> None:
    """Checks that the address of a memory barrier is used for an arrival. Raises `code`."""
    ways = {mbarriers.POINTER, mbarriers.OTHER_BLOCK, mbarriers.ARRIVE_THERE, tensor_maps.LOAD_PIXELS}
    if not mbarriers.is_address(op.results[0]) or not {user.name for user in users(op.results[0])} <= ways:
        raise refuse(code, f"`{op.name}` with an operand that is not a memory barrier", op)


def arrives_at(op: ir.Operation, code: str) -> tuple[ir.Operation, ir.Value | None]:
    """For a `nvvm.mbarrier.arrive`: the op that takes the barrier's address, and the cluster's
    block; None for the own block."""
    made, block = maker(op.operands[0]), None
    if made.name == mbarriers.OTHER_BLOCK:
        made, block = maker(made.operands[0]), made.operands[1]
    while made.name == mbarriers.POINTER:
        made = maker(made.operands[0])
    if made.name != mbarriers.ADDRESS or any(map(is_used, op.results)) or len(op.operands) > 1:
        raise refuse(code, f"`{op.name}` at an address of another form, or with a state that is used", op)
    if mbarriers.ordered_by(op, elsewhere=block is not None) is None:
        raise refuse(
            code, f"`{op.name}` that does not order earlier accesses before the wait", op, hint=mbarriers.RELEASING
        )
    return made, block
