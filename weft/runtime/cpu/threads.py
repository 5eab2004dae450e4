"""Blocks and threads as loops: their ids, and the memory that each owns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import prod

from ...interpreter.hardware.limits import WARP
from ...interpreter.ir.mlir import DYNAMIC, arith, constant_of, ir, memref, scf
from ..form.kernel_form import axis_of, named

Triple = tuple[ir.Value, ir.Value, ir.Value]
"""Values along x, y, z."""

BLOCK_IDS = named(
    gpu="block_id block_dim grid_dim cluster_id cluster_dim cluster_dim_blocks cluster_block_id num_subgroups"
    " subgroup_size"
)
"""Ops with results that are uniform over a block."""
THREAD_IDS = named(gpu="thread_id global_id lane_id subgroup_id")


def constant(value: int) -> ir.Value:
    return arith.constant(ir.IndexType.get(), value)


def nought(kind: ir.Type) -> ir.Value:
    """Zero, or a vector of zeros."""
    element = kind.element_type if isinstance(kind, ir.VectorType) else kind
    zero = ir.FloatAttr.get(element, 0.0) if isinstance(element, ir.FloatType) else ir.IntegerAttr.get(element, 0)
    return arith.constant(kind, ir.DenseElementsAttr.get_splat(kind, zero) if isinstance(kind, ir.VectorType) else zero)


def known_or(known: tuple[int, int, int] | None, given: Sequence[ir.Value]) -> Triple:
    """Sizes as constants if the kernel states them, so that loops over them unroll; otherwise the
    values `given`."""
    x, y, z = given if known is None else map(constant, known)
    return x, y, z


def block_id(op: ir.Operation, grid: Triple, block: Triple, place: Triple) -> ir.Value:
    """The value of one of `BLOCK_IDS` in the block at `place`. Without clusters, each block counts
    as a cluster of one block."""
    if op.name == "gpu.subgroup_size":
        return constant(WARP)
    if op.name == "gpu.num_subgroups":
        return arith.ceildivui(count_of(block), constant(WARP))
    axis = axis_of(op)
    if op.name in ("gpu.block_id", "gpu.cluster_id"):
        return place[axis]
    if op.name == "gpu.block_dim":
        return block[axis]
    if op.name in ("gpu.grid_dim", "gpu.cluster_dim"):
        return grid[axis]
    return constant(0 if op.name == "gpu.cluster_block_id" else 1)


def thread_id(op: ir.Operation, thread: Triple, block: Triple, place: Triple) -> ir.Value:
    """The value of one of `THREAD_IDS` in the thread `thread` of the block at `place`."""
    if op.name == "gpu.thread_id":
        return thread[axis_of(op)]
    if op.name == "gpu.global_id":
        axis = axis_of(op)
        return arith.addi(arith.muli(place[axis], block[axis]), thread[axis])
    number = linear_thread(thread, block)
    if op.name == "gpu.lane_id":
        return arith.remui(number, constant(WARP))
    return arith.divui(number, constant(WARP))


def linear_thread(thread: Triple, block: Triple) -> ir.Value:
    """The linear id of a thread in its block, x fastest, as in CUDA."""
    rows = arith.addi(arith.muli(thread[2], block[1]), thread[1])
    return arith.addi(arith.muli(rows, block[0]), thread[0])


def placeholders() -> Triple:
    """Placeholder ops for the coordinates of a thread; they are replaced once the loop over threads
    exists around them."""
    dimensions = (ir.Attribute.parse(f"#gpu<dim {axis}>") for axis in "xyz")
    made = [ir.Operation.create("gpu.thread_id", [ir.IndexType.get()], attributes={"dimension": d}) for d in dimensions]
    x, y, z = (op.result for op in made)
    return x, y, z


@contextmanager
def loops(sizes: Triple) -> Iterator[Triple]:
    """Emits loops over x, y, z, x innermost; yields the induction variables x, y, z inside them."""
    zero, one = constant(0), constant(1)
    around = ir.InsertionPoint.current
    made = [scf.ForOp(zero, sizes[2], one, ip=around)]
    for size in (sizes[1], sizes[0]):
        with ir.InsertionPoint(made[-1].body):
            made.append(scf.ForOp(zero, size, one))
            scf.YieldOp([])
    with ir.InsertionPoint(made[-1].body):
        z, y, x = (loop.induction_variable for loop in made)
        yield x, y, z
        scf.YieldOp([])


@contextmanager
def warps(block: Triple) -> Iterator[ir.Value]:
    """Emits a loop over the warps of a block; yields the linear id of each warp's first thread."""
    loop = scf.ForOp(constant(0), count_of(block), constant(WARP))
    with ir.InsertionPoint(loop.body):
        yield loop.induction_variable
        scf.YieldOp([])


@contextmanager
def lanes(first: ir.Value, block: Triple) -> Iterator[Triple]:
    """Emits a loop over the lanes of a warp; yields the coordinates x, y, z of each."""
    whole = (size := known_count(block)) is not None and size % WARP == 0
    count = constant(WARP) if whole else arith.minui(constant(WARP), arith.subi(count_of(block), first))
    loop = scf.ForOp(constant(0), count, constant(1))
    with ir.InsertionPoint(loop.body):
        number, zero = arith.addi(first, loop.induction_variable), constant(0)
        if [constant_of(size) for size in block[1:]] == [1, 1]:
            yield number, zero, zero
        else:
            row = arith.divui(number, block[0])
            yield arith.remui(number, block[0]), arith.remui(row, block[1]), arith.divui(row, block[1])
        scf.YieldOp([])


def count_of(block: Triple) -> ir.Value:
    """The number of threads of a block."""
    return arith.muli(arith.muli(block[0], block[1]), block[2])


def known_count(block: Triple) -> int | None:
    """The constant number of threads of a block; None if it depends on the launch."""
    x, y, z = map(constant_of, block)
    return None if x is None or y is None or z is None else x * y * z


@contextmanager
def block_range(first: ir.Value, end: ir.Value, grid: Triple) -> Iterator[Triple]:
    """Emits a loop over the blocks with linear ids `first` … `end` - 1, x fastest; yields the
    coordinates x, y, z of the block inside it."""
    loop = scf.ForOp(first, end, constant(1))
    with ir.InsertionPoint(loop.body):
        number = loop.induction_variable
        row = arith.divui(number, grid[0])
        yield arith.remui(number, grid[0]), arith.remui(row, grid[1]), arith.divui(row, grid[1])
        scf.YieldOp([])


# ---- memory: what a block shares, what each thread has for itself, and its values ------------------------------------

ALIGNMENT = 64
"""Alignment of memory in bytes: enough for every vector register."""


SMALL = 1 << 12
"""Most bytes that an array may take on the stack."""


def allocated(type_: ir.Type, sizes: Sequence[ir.Value] = ()) -> ir.Value:
    alignment = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), ALIGNMENT)
    return memref.alloc(type_, list(sizes), [], alignment=alignment)


def private_memory(type_: ir.Type, block: Triple) -> tuple[ir.Value, Callable[[ir.Value], ir.Value]] | None:
    """Allocates an array of that type for each thread of a block. Returns the memory, and a
    function from the linear id of a thread to its array.

    None if the array has a dynamic size.
    """
    array = ir.MemRefType(type_)
    element = byte_size(array.element_type)
    shape = [array.get_dim_size(i) for i in range(array.rank)]
    if element is None or DYNAMIC in shape:
        return None
    size = element * prod(shape)
    alone = size <= element  # single elements are adjacent, for vectors over threads
    stride = size if alone else -(-size // ALIGNMENT) * ALIGNMENT
    flat = ir.MemRefType.get([DYNAMIC], ir.IntegerType.get_signless(8))
    memory = allocated(flat, [arith.muli(count_of(block), constant(stride))])
    return memory, lambda thread: memref.view(array, memory, arith.muli(thread, constant(stride)), [])


def turn_memory(type_: ir.Type, owned: list[ir.Value]) -> ir.Value:
    """An array of that type that the threads use one after the other: on the stack if it is small,
    otherwise allocated and added to `owned`."""
    array = ir.MemRefType(type_)
    element = byte_size(array.element_type) or 8
    if element * prod(array.get_dim_size(i) for i in range(array.rank)) <= SMALL:
        return memref.alloca(type_, [], [])
    owned.append(allocated(type_))
    return owned[-1]


def byte_size(type_: ir.Type) -> int | None:
    """Size in bytes of an element of that type in LLVM; None for types that no array can hold."""
    if isinstance(type_, ir.IndexType):
        return 8
    if isinstance(type_, ir.VectorType):
        element = byte_size(type_.element_type)
        count = prod(type_.get_dim_size(i) for i in range(type_.rank))
        return None if element is None else 1 << (element * count - 1).bit_length()
    if isinstance(type_, ir.IntegerType | ir.FloatType):
        return 1 << (-(-type_.width // 8) - 1).bit_length()
    return None
