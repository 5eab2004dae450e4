"""Which memory an op reads and writes, as (memref, indices) pairs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ..mlir import ir
from ..structured import segments
from .linear import THREAD, Linear
from .values import Values

HARMLESS = {
    "memref.dim", "memref.dealloc", "memref.prefetch", "memref.assume_alignment", "memref.rank", "gpu.return", "gpu.terminator",
    "memref.extract_strided_metadata", "memref.extract_aligned_pointer_as_index", "gpu.printf",
}  # fmt: skip
ASYNCHRONOUS = ("nvgpu.", "nvvm.", "amdgpu.", "rocdl.", "llvm.")


OVERWRITING = ("linalg.fill", "linalg.copy")
_READERS = {
    "memref.load", "affine.load", "affine.vector_load", "vector.load", "vector.maskedload", "vector.gather", "vector.transfer_read",
}  # fmt: skip


@dataclass(frozen=True)
class Touch:
    """One use of a memref; `indices` None: any element of it."""

    kind: Literal["read", "write"]
    memref: ir.Value
    indices: list[Linear] | None
    atomic: bool = False


def touches(op: ir.Operation, values: Values) -> Iterator[Touch]:
    """What `op` (not its regions) reads and writes."""
    name = op.name
    operands = list(op.operands)
    match name:
        case "memref.load":
            yield Touch("read", operands[0], [values.linear(v) for v in operands[1:]])
        case "memref.store":
            yield Touch("write", operands[1], [values.linear(v) for v in operands[2:]])
        case "affine.load" | "affine.vector_load":
            yield Touch("read", operands[0], _lanes(op, op.results[0].type, _mapped(op, operands[1:], values), values))
        case "affine.store" | "affine.vector_store":
            indices = _lanes(op, operands[0].type, _mapped(op, operands[2:], values), values)
            yield Touch("write", operands[1], indices)
        case "vector.load" | "vector.maskedload":
            rank = ir.MemRefType(operands[0].type).rank
            indices = [values.linear(v) for v in operands[1 : 1 + rank]]
            yield Touch("read", operands[0], _lanes(op, op.results[0].type, indices, values))
        case "vector.store":
            indices = [values.linear(v) for v in operands[2:]]
            yield Touch("write", operands[1], _lanes(op, operands[0].type, indices, values))
        case "vector.maskedstore":
            rank = ir.MemRefType(operands[0].type).rank
            indices = [values.linear(v) for v in operands[1 : 1 + rank]]
            yield Touch("write", operands[0], _lanes(op, operands[-1].type, indices, values))
        case "vector.transfer_read" if isinstance(operands[0].type, ir.MemRefType):
            yield Touch("read", operands[0], _transfer(op, 0, op.results[0].type, values))
        case "vector.transfer_write" if isinstance(operands[1].type, ir.MemRefType):
            yield Touch("write", operands[1], _transfer(op, 1, operands[0].type, values))
        case "vector.gather":
            yield Touch("read", operands[0], None)
        case "memref.atomic_rmw":
            yield Touch("write", operands[1], [values.linear(v) for v in operands[2:]], atomic=True)
        case "memref.generic_atomic_rmw":
            yield Touch("write", operands[0], [values.linear(v) for v in operands[1:]], atomic=True)
        case "memref.copy":
            yield Touch("read", operands[0], _whole(operands[0], values))
            yield Touch("write", operands[1], _whole(operands[1], values))
        case _:
            yield from _unknown(op, operands, values)


def written_memrefs(op: ir.Operation) -> list[ir.Value]:
    """The memrefs that `op` may write, without a look at where."""
    operands = list(op.operands)
    if op.name == "memref.copy":
        return operands[1:]
    if op.name in _READERS or op.name in HARMLESS or any(isinstance(r.type, ir.MemRefType) for r in op.results):
        return []
    return [v for v in operands if isinstance(v.type, ir.MemRefType | ir.UnrankedMemRefType)]


def _unknown(op: ir.Operation, operands: list[ir.Value], values: Values) -> Iterator[Touch]:
    """An op that is not listed may read and write all of every memref it is given, unless it only makes a view of it."""
    memrefs = [v for v in operands if isinstance(v.type, ir.MemRefType | ir.UnrankedMemRefType)]
    if op.name in HARMLESS or any(isinstance(r.type, ir.MemRefType) for r in op.results):
        return
    if op.name.startswith("linalg."):
        yield from _structured(op, operands, values)
        return
    for value in memrefs:
        yield Touch("read", value, None)
        yield Touch("write", value, None)


def _structured(op: ir.Operation, operands: list[ir.Value], values: Values) -> Iterator[Touch]:
    """A linalg op touches all of each operand, and nothing else. Only `linalg.fill` and `linalg.copy` do not read the result."""
    inputs, _ = segments(op)
    for number, value in enumerate(operands):
        if isinstance(value.type, ir.MemRefType):
            if number < inputs or op.name not in OVERWRITING:
                yield Touch("read", value, _whole(value, values))
            if number >= inputs:
                yield Touch("write", value, _whole(value, values))


def _mapped(op: ir.Operation, operands: list[ir.Value], values: Values) -> list[Linear]:
    return values.affine_map(op.attributes["map"].value, [values.linear(v) for v in operands])


def _lane(values: Values, extent: int) -> Linear:
    """Any of 0 … extent-1."""
    return Linear.of(0) if extent == 1 else Linear.of(values.fresh("lane", THREAD, 0, extent - 1))


def _lanes(op: ir.Operation, vector: ir.Type, indices: list[Linear], values: Values) -> list[Linear]:
    """The indices of any element of the vector: its dimensions are the last of the memref."""
    if not isinstance(vector, ir.VectorType):
        return indices
    first = len(indices) - vector.rank
    if first < 0:  # a memref of vectors
        return indices
    return [i if d < first else i + _lane(values, vector.shape[d - first]) for d, i in enumerate(indices)]


def _transfer(op: ir.Operation, source: int, vector: ir.Type, values: Values) -> list[Linear] | None:
    rank = ir.MemRefType(op.operands[source].type).rank
    indices = [values.linear(v) for v in list(op.operands)[source + 1 : source + 1 + rank]]
    for result, extent in zip(op.attributes["permutation_map"].value.results, ir.VectorType(vector).shape, strict=True):
        if isinstance(result, ir.AffineDimExpr):
            dimension = result.position
            indices[dimension] = indices[dimension] + _lane(values, extent)
    return indices


def _whole(memref: ir.Value, values: Values) -> list[Linear] | None:
    kind = ir.MemRefType(memref.type)
    if any(kind.is_dynamic_dim(d) for d in range(kind.rank)):
        return None
    return [_lane(values, kind.get_dim_size(d)) for d in range(kind.rank)]
