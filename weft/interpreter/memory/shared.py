"""The shared memory of a kernel, and the offset of each part: its buffers and its memory barriers.

A buffer that the tensor memory accelerator or a warp group accesses begins at a multiple of the
alignment that the hardware requires (`tensor_maps.TensorMap.alignment`), others at one of 16 bytes.
Larger alignments come first, otherwise in the order of the kernel, so that there are no gaps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...dsl.records import record
from ..hardware.hopper import mbarriers, tensor_maps, warpgroups
from ..hardware.limits import ALIGNMENT
from ..ir.functions import inputs_of, workgroup_buffers
from ..ir.mlir import ir, operations
from .layouts import is_shared
from .views import root_memref


@record
class SharedPart:
    """A buffer, or an array of memory barriers, with its alignment in bytes."""

    value: ir.Value
    alignment: int = ALIGNMENT


def shared_parts(kernel: ir.Operation) -> Iterator[SharedPart]:
    """Workgroup attributions, allocations and `nvgpu.mbarrier.create`, in the kernel's order."""
    asked = alignments(kernel)
    inputs = inputs_of(kernel)
    for value in kernel.regions[0].blocks[0].arguments[inputs : inputs + workgroup_buffers(kernel)]:
        yield SharedPart(value, asked.get(value, ALIGNMENT))
    for op in operations(kernel, "memref.alloc", "memref.alloca", mbarriers.MAKE):
        value = op.results[0]
        if op.name == mbarriers.MAKE or is_shared(value.type):
            yield SharedPart(value, asked.get(value, ALIGNMENT))


def alignments(kernel: ir.Operation) -> dict[ir.Value, int]:
    """By buffer, the alignment that its boxes and matrices require, where above the default."""
    found: dict[ir.Value, int] = {}
    for op in operations(kernel, *tensor_maps.LOADS, tensor_maps.STORE, warpgroups.DESCRIBE):
        load = tensor_maps.load_of(op) if op.name in tensor_maps.LOADS else None
        values = list(op.operands) if load is None else [load.tile, load.map]
        if op.name == tensor_maps.LOAD_PIXELS and load is None:
            continue  # of unknown destination
        memref = next(value for value in values if isinstance(value.type, ir.MemRefType))
        given = next(kind for value in values if (kind := tensor_maps.tensor_map(value.type)) is not None)
        root = root_memref(memref)
        found[root] = max(found.get(root, ALIGNMENT), given.alignment)
    return found


def placed(parts: Sequence[tuple[int, int]]) -> tuple[list[int], int]:
    """Offsets of parts of these sizes and alignments, and the total size in bytes."""
    offsets, end = [0] * len(parts), 0
    for number in sorted(range(len(parts)), key=lambda n: -parts[n][1]):
        size, alignment = parts[number]
        offsets[number] = -(-end // alignment) * alignment
        end = -(-(offsets[number] + size) // ALIGNMENT) * ALIGNMENT
    return offsets, end
