"""Shared-memory tiles: allocation, row padding and transposed storage.

The allocation has the layout as it lies in memory (rows padded, dimensions exchanged); the op sees it through a view of the
tile's own shape, so that no indexing map has to change.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import takewhile

from ...dsl.diagnostics import fail
from ..ir.mlir import ancestors, children, ir, memref
from . import layouts
from .layouts import strided, transposed

WORKGROUP = "#gpu.address_space<workgroup>"
SHARED_LIMIT = 227 * 1024
"""Bytes of shared memory that a block may have at most, on any GPU so far."""

_ALLOCATING = ("memref.alloc", "memref.subview", "memref.transpose")


def allocate(
    op: ir.Operation, shape: Sequence[int], kind: ir.Type, *, transpose: bool, pad: int
) -> tuple[ir.Operation, ir.Value]:
    """Allocate a tile of `shape` in shared memory, in the block loop around `op`; return the allocation and its view."""
    stored = [*shape[:-2], shape[-1], shape[-2]] if transpose else list(shape)
    space = ir.Attribute.parse(WORKGROUP)
    with _start_of_block_loop(op):
        full = ir.MemRefType.get([*stored[:-1], stored[-1] + pad], kind, memory_space=space)
        alloc = memref.AllocOp(full, [], [])
        view: ir.Value = alloc.result
        if pad:
            view = _first(view, stored)
        if transpose:
            *outer, row, column = range(len(shape))
            view = transposed(view, [*outer, column, row])
    return alloc.operation, view


def as_tensor(view: ir.Value) -> ir.Value:
    """The view as a tensor to write into, at the insertion point."""
    kind = ir.MemRefType(view.type)
    tensor_type = ir.RankedTensorType.get(list(kind.shape), kind.element_type)
    op = ir.Operation.create(
        "bufferization.to_tensor",
        results=[tensor_type],
        operands=[view],
        attributes={"restrict": ir.UnitAttr.get(), "writable": ir.UnitAttr.get()},
    )
    return op.results[0]


def element_bytes(kind: ir.Type) -> int:
    """Bytes of one element in memory, one at least."""
    return layouts.element_bytes(kind) or 1


def bytes_of(kind: ir.Type) -> int:
    """The size of a static memref. Raises W0355 for a dynamic one."""
    if not isinstance(kind, ir.MemRefType) or not kind.has_static_shape:
        raise fail(
            "W0355", f"a buffer of type {kind} has no size that is known when the kernel is built", hint="take static tile sizes"
        )
    return math.prod(kind.shape) * element_bytes(kind.element_type)


def _first(value: ir.Value, shape: Sequence[int]) -> ir.Value:
    """The first `shape` elements along each dimension of a buffer whose rows are padded."""
    kind, rank = ir.MemRefType(value.type), len(shape)
    layout = ir.StridedLayoutAttr.get(0, strided(kind)[0])
    result = ir.MemRefType.get(list(shape), kind.element_type, layout=layout, memory_space=kind.memory_space)
    return memref.SubViewOp(result, value, [], [], [], [0] * rank, list(shape), [1] * rank).result


def _start_of_block_loop(op: ir.Operation) -> ir.InsertionPoint:
    """The start of the outermost loop's body around `op`: one allocation for the whole life of the block."""
    around = takewhile(lambda each: each.name != "func.func", ancestors(op))
    loops = [each for each in around if each.name in ("scf.forall", "scf.for", "scf.parallel")]
    return ir.InsertionPoint(next(o for o in children(loops[-1]) if o.name not in _ALLOCATING) if loops else op)
