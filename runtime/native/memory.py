"""Memory of a kernel whose threads take turns: what a block shares, what each thread has for itself, and its values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from ...interpreter.ir.mlir import DYNAMIC, arith, ir, memref
from .ids import Triple, constant

ALIGNMENT = 64
"""Bytes; no vector that a register holds needs more."""


SMALL = 1 << 12
"""Bytes that may go on the stack."""


def allocated(type_: ir.Type, sizes: Sequence[ir.Value] = ()) -> ir.Value:
    alignment = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), ALIGNMENT)
    return memref.alloc(type_, list(sizes), [], alignment=alignment)


def private_memory(type_: ir.Type, block: Triple) -> tuple[ir.Value, Callable[[ir.Value], ir.Value]] | None:
    """Memory for an array of that type of each thread of a block, and the array of the thread with a number.

    None where the array's size is not known.
    """
    array = ir.MemRefType(type_)
    element = byte_size(array.element_type)
    shape = [array.get_dim_size(i) for i in range(array.rank)]
    if element is None or DYNAMIC in shape:
        return None
    stride = -(-element * prod(shape) // ALIGNMENT) * ALIGNMENT
    threads = arith.muli(arith.muli(block[0], block[1]), block[2])
    flat = ir.MemRefType.get([DYNAMIC], ir.IntegerType.get_signless(8))
    memory = allocated(flat, [arith.muli(threads, constant(stride))])
    return memory, lambda thread: memref.view(array, memory, arith.muli(thread, constant(stride)), [])


def turn_memory(type_: ir.Type, owned: list[ir.Value]) -> ir.Value:
    """An array of that type that all threads take in turn; on the stack if it is small, else one of those to free."""
    array = ir.MemRefType(type_)
    element = byte_size(array.element_type) or 8
    if element * prod(array.get_dim_size(i) for i in range(array.rank)) <= SMALL:
        return memref.alloca(type_, [], [])
    owned.append(allocated(type_))
    return owned[-1]


def byte_size(type_: ir.Type) -> int | None:
    """Bytes that LLVM gives an element of that type; None for what no array holds."""
    if isinstance(type_, ir.IndexType):
        return 8
    if isinstance(type_, ir.VectorType):
        element = byte_size(type_.element_type)
        count = prod(type_.get_dim_size(i) for i in range(type_.rank))
        return None if element is None else 1 << (element * count - 1).bit_length()
    if isinstance(type_, ir.IntegerType | ir.FloatType):
        return 1 << (-(-type_.width // 8) - 1).bit_length()
    return None
