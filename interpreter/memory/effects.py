"""What each of upstream's ops does to memory by itself, its regions left to the ops in them: one table, by the op's name.

The bindings cannot be asked for upstream's own side effects, so they are written down here, from the `.td` files of the dialects.
An op that is not here is unknown: `accesses` gives None for it, and it may touch and return anything. A test walks all ops that the
bindings register, and fails for one that is neither here nor in its own list of those that are left unknown on purpose.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Literal

from ..ir import structured
from ..ir.functions import segments
from ..ir.mlir import children, constant_of, ir, is_tensor, is_used
from .copies import COPY, GROUP, WAIT
from .fragments import LDMATRIX, MMA, matrices, row_of
from .lanes import BARRIERS, SHUFFLE, SUBGROUP_REDUCE, WARP_BARRIER

Kind = Literal["read", "write", "atomic", "alloc", "free"]
Footprint = Literal["element", "transfer", "whole", "anywhere"]


@dataclass(frozen=True)
class MemoryEffect:
    """One thing that an op does to one memref.

    Args:
        kind: `atomic` reads and writes at once, and does not conflict with its like.
        value: the memref.
        footprint: `element`: at the indices behind the memref (mapped by the attribute `map`, if there is one), and as many
            elements from there on as `moved` has; `transfer`: as `vector.transfer_read` says; `whole`: all of it;
            `anywhere`: some elements of it.
        first: the position of the first index among the operands.
        moved: the type of what is read or written, a vector or an element.
        certain: all elements of the footprint are touched, and not those alone that a mask lets through.
        update: of an atomic access whose old value nobody looks at: what it does, in a word. In which order equal ones are made is
            open to none.
    """

    kind: Kind
    value: ir.Value
    footprint: Footprint = "whole"
    first: int = 0
    moved: ir.Type | None = None
    certain: bool = True
    update: str = ""

    @property
    def count(self) -> int:
        """How many elements are moved at once, of a footprint that has indices."""
        return prod(ir.VectorType(self.moved).shape) if isinstance(self.moved, ir.VectorType) else 1

    @property
    def changes(self) -> bool:
        return self.kind != "read"


@dataclass(frozen=True)
class _Rule:
    """An access by the position of its memref among the operands (of an allocation: among the results), and of what is stored
    there, if the op stores."""

    kind: Kind
    operand: int
    footprint: Footprint = "whole"
    data: int | None = None
    certain: bool = True


_RULES: dict[str, tuple[_Rule, ...]] = {
    "memref.load": (_Rule("read", 0, "element"),),
    "memref.store": (_Rule("write", 1, "element", 0),),
    "memref.atomic_rmw": (_Rule("atomic", 1, "element", 0),),
    "memref.generic_atomic_rmw": (_Rule("atomic", 0, "element"),),
    "memref.copy": (_Rule("read", 0), _Rule("write", 1)),
    "memref.alloc": (_Rule("alloc", 0),),
    "memref.alloca": (_Rule("alloc", 0),),
    "memref.realloc": (_Rule("read", 0), _Rule("free", 0), _Rule("alloc", 0)),
    "memref.dealloc": (_Rule("free", 0),),
    "memref.reshape": (_Rule("read", 1),),
    "affine.load": (_Rule("read", 0, "element"),),
    "affine.store": (_Rule("write", 1, "element", 0),),
    "affine.vector_load": (_Rule("read", 0, "element"),),
    "affine.vector_store": (_Rule("write", 1, "element", 0),),
    "vector.load": (_Rule("read", 0, "element"),),
    "vector.store": (_Rule("write", 1, "element", 0),),
    "vector.maskedload": (_Rule("read", 0, "element", certain=False),),
    "vector.maskedstore": (_Rule("write", 0, "element", -1, certain=False),),
    "vector.expandload": (_Rule("read", 0, "element", certain=False),),
    "vector.compressstore": (_Rule("write", 0, "element", -1, certain=False),),
    "vector.gather": (_Rule("read", 0, "anywhere"),),
    "vector.scatter": (_Rule("write", 0, "anywhere"),),
    "vector.transfer_read": (_Rule("read", 0, "transfer"),),
    "vector.transfer_write": (_Rule("write", 1, "transfer", 0),),
    "gpu.alloc": (_Rule("alloc", 0),),
    "gpu.dealloc": (_Rule("free", -1),),
    "gpu.memcpy": (_Rule("write", -2), _Rule("read", -1)),
    "gpu.memset": (_Rule("write", -2),),
    "gpu.subgroup_mma_load_matrix": (_Rule("read", 0, "anywhere"),),
    "gpu.subgroup_mma_store_matrix": (_Rule("write", 1, "anywhere"),),
    "bufferization.clone": (_Rule("read", 0), _Rule("alloc", 0)),
    "bufferization.materialize_in_destination": (_Rule("read", 0), _Rule("write", 1)),
    "bufferization.to_tensor": (_Rule("read", 0),),
}
"""Ops that do something to memrefs. Rules for operands that are tensors in the op at hand do nothing."""

_MASKED = ("vector.maskedload", "vector.maskedstore", "vector.expandload", "vector.compressstore")

ALLOCATIONS = frozenset(name for name, rules in _RULES.items() if any(r.kind == "alloc" for r in rules))
"""Ops whose result is memory that nothing else shows."""

FREEING = {name for name, rules in _RULES.items() if any(r.kind == "free" for r in rules)} | {"bufferization.dealloc"}
"""Ops that may free memory."""

STORED = frozenset({"memref.get_global", "gpu.dynamic_shared_memory"})
"""Ops whose result is memory that is there without them: every use of the same is the same."""


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PURE_DIALECTS = frozenset({"arith", "complex", "index", "math", "shape", "tensor"})
"""Dialects of values alone: none of their ops touches memory. (What an op of `tensor` has in a region are ops of their own.)"""

_NO_ACCESS = _names(
    """affine.apply affine.delinearize_index affine.linearize_index affine.max affine.min affine.prefetch
    bufferization.alloc_tensor bufferization.dealloc_tensor bufferization.to_buffer builtin.unrealized_conversion_cast cf.assert
    func.constant gpu.all_reduce gpu.ballot gpu.barrier gpu.binary gpu.block_dim gpu.block_id gpu.cluster_block_id gpu.cluster_dim
    gpu.cluster_dim_blocks gpu.cluster_id gpu.dynamic_shared_memory gpu.global_id gpu.grid_dim gpu.initialize_named_barrier
    gpu.lane_id gpu.num_subgroups gpu.printf gpu.rotate gpu.set_default_device gpu.shuffle gpu.subgroup_broadcast gpu.subgroup_id
    gpu.subgroup_mma_compute gpu.subgroup_mma_constant_matrix gpu.subgroup_mma_elementwise gpu.subgroup_mma_extract_thread_local
    gpu.subgroup_mma_insert_thread_local gpu.subgroup_reduce gpu.subgroup_size gpu.thread_id gpu.wait linalg.index linalg.yield
    memref.assume_alignment memref.cast memref.collapse_shape memref.dim memref.distinct_objects memref.expand_shape
    memref.extract_aligned_pointer_as_index memref.extract_strided_metadata memref.get_global memref.global
    memref.memory_space_cast memref.prefetch memref.rank memref.reinterpret_cast memref.subview memref.transpose memref.view
    nvgpu.extf nvgpu.mma.sp.sync nvgpu.rcp nvgpu.truncf
    ub.poison ub.unreachable
    vector.bitcast vector.broadcast vector.constant_mask vector.contract vector.create_mask vector.deinterleave vector.extract
    vector.extract_strided_slice vector.fma vector.from_elements vector.insert vector.insert_strided_slice vector.interleave
    vector.multi_reduction vector.outerproduct vector.print vector.reduction vector.scalable.extract vector.scalable.insert
    vector.scan vector.shape_cast vector.shuffle vector.step vector.to_elements vector.transpose vector.type_cast
    vector.vscale"""
) | {GROUP, WAIT, MMA, WARP_BARRIER}
"""Ops that touch no memory: they compute, show a part of a buffer, ask for its shape, or wait for somebody who does."""

CONTROL = _names(
    """affine.for affine.if affine.parallel affine.yield builtin.module cf.br cf.cond_br cf.switch func.func func.return gpu.func
    gpu.launch gpu.module gpu.return gpu.terminator gpu.yield memref.alloca_scope memref.alloca_scope.return memref.atomic_yield
    scf.condition scf.execute_region scf.for scf.forall scf.forall.in_parallel scf.if scf.index_switch scf.parallel scf.reduce
    scf.reduce.return scf.while scf.yield vector.mask vector.yield"""
)
"""Ops that do what the ops in their regions do, and hand values on."""

SYNCHRONIZING = frozenset({"gpu.all_reduce", "gpu.initialize_named_barrier", *BARRIERS})
"""Ops that wait for the other threads of a block, or of a warp."""

_TOGETHER = SYNCHRONIZING | _names(
    """bufferization.alloc_tensor gpu.ballot gpu.rotate gpu.subgroup_broadcast gpu.subgroup_mma_compute gpu.wait
    nvgpu.mma.sp.sync"""
) | {GROUP, WAIT, MMA, SHUFFLE, SUBGROUP_REDUCE}
"""Ops without accesses whose result is another one each time, or is made together with other threads."""

CALLS = frozenset({"func.call", "gpu.launch_func"})
"""Ops that do what a function does that is named: `proof/hosts/effects.py` looks into it."""

_OVERWRITING = ("linalg.fill", "linalg.copy")
"""Structured ops that write each element of their output; of others, maps tell."""

_LLVM_UNKNOWN = ("llvm.call", "llvm.inline_asm", "llvm.invoke", "llvm.fence", "llvm.intr.coro", "llvm.intr.memcpy")


def accesses(op: ir.Operation) -> tuple[MemoryEffect, ...] | None:
    """What `op` itself does to memory; None if that is not known: then it may touch and return anything."""
    rules = _RULES.get(op.name)
    if rules is not None:
        return tuple(_found(op, rules))
    if op.name in _NO_ACCESS or op.name in CONTROL:
        return ()
    dialect = op.name.split(".", 1)[0]
    if op.name in _OTHERS:
        return _OTHERS[op.name](op)
    if dialect == "linalg":
        return _structured(op)
    if dialect == "llvm":
        return None if goes_through_pointers(op) or op.name.startswith(_LLVM_UNKNOWN) else ()
    return () if dialect in _PURE_DIALECTS else None


def is_known(op: ir.Operation) -> bool:
    """Whether the table says what `op` itself does; of a call it does not."""
    return accesses(op) is not None


def only_computes(op: ir.Operation) -> bool:
    """Whether neither `op` nor anything inside of it touches memory, or waits for other threads."""
    if accesses(op) != () or op.name in SYNCHRONIZING:
        return False
    return all(only_computes(inner) for inner in children(op))


def is_pure(op: ir.Operation) -> bool:
    """Whether `op` computes its results from its operands alone, the same ones wherever and however often it is done."""
    if op.name.startswith("llvm.") or op.name in _TOGETHER or len(op.regions) or not len(op.results):
        return False
    return accesses(op) == ()


def is_memref(value: ir.Value) -> bool:
    """Whether the value is a memref, ranked or not."""
    return type(value.type).__name__ in ("MemRefType", "UnrankedMemRefType")


def takes_tensors(op: ir.Operation) -> bool:
    """Whether the op looks at a tensor: where `bufferization.to_tensor` made it, at the buffer as it is then: not a copy."""
    return any(map(is_tensor, op.operands))


def is_pointer(value: ir.Value) -> bool:
    """A pointer of the LLVM dialect, or a struct that holds one: which memory is behind it is not known."""
    return "!llvm.ptr" in str(value.type)


def goes_through_pointers(op: ir.Operation) -> bool:
    """Whether `op` itself reads, writes or makes up a pointer."""
    return op.name.startswith("llvm.") and any(is_pointer(v) for v in (*op.operands, *op.results))


def written(op: ir.Operation) -> list[ir.Value]:
    """The memrefs that `op` itself may write or free; all it is given if that is not known."""
    return _used(op, "write", "atomic", "free")


def read(op: ir.Operation) -> list[ir.Value]:
    """The memrefs that `op` itself may read; all it is given if that is not known."""
    return _used(op, "read", "atomic")


def _used(op: ir.Operation, *kinds: Kind) -> list[ir.Value]:
    found = accesses(op)
    return [v for v in op.operands if is_memref(v)] if found is None else [a.value for a in found if a.kind in kinds]


def _found(op: ir.Operation, rules: tuple[_Rule, ...]) -> Iterator[MemoryEffect]:
    operands = op.operands
    for rule in rules:
        if rule.kind == "alloc":
            yield MemoryEffect("alloc", op.results[rule.operand])
            continue
        at = rule.operand if rule.operand >= 0 else len(operands) + rule.operand
        value = operands[at]
        if not is_memref(value):
            continue
        moved = None
        if rule.footprint in ("element", "transfer"):
            moved = op.results[0].type if rule.data is None else operands[rule.data % len(operands)].type
            if isinstance(moved, ir.VectorType) and moved.scalable:
                yield MemoryEffect(rule.kind, value, "anywhere", certain=False)  # how long it is, the machine knows
                continue
        certain = rule.certain and (rule.footprint != "transfer" or (in_bounds(op) and mask_of(op) is None))
        update = update_of(op) if rule.kind == "atomic" else ""
        yield MemoryEffect(rule.kind, value, rule.footprint, at + 1, moved, certain, update)


def combiner(op: ir.Operation) -> str:
    """What a `memref.atomic_rmw` does, as it is spelled in the text, which is stabler than the enum's numbers: `addf`, `assign`."""
    return str(op).split("memref.atomic_rmw", 1)[1].split()[0]


def update_of(op: ir.Operation) -> str:
    """What an atomic op does to its memory, where such ops commute and nobody looks at what was there; empty of others."""
    if op.name != "memref.atomic_rmw" or is_used(op.results[0]) or combiner(op) == "assign":
        return ""
    return f"{combiner(op)} {op.results[0].type}"


def _copied_by_device(op: ir.Operation) -> tuple[MemoryEffect, ...]:
    """`nvgpu.device_async_copy`: where the source's size is given, elements of the destination beyond it are zeroed, and none are
    read for them."""
    (into,), at, (out_of,), _, given = segments(op)
    count = ir.IntegerAttr(op.attributes["dstElements"]).value
    moved = ir.VectorType.get([count], ir.MemRefType(into.type).element_type, loc=op.location)
    first = 1 + len(at)
    return (
        MemoryEffect("write", into, "element", 1, moved),
        MemoryEffect("read", out_of, "element", first + 1, moved, certain=not given),
    )


def _rows_of_matrices(op: ir.Operation) -> tuple[MemoryEffect, ...]:
    """`nvgpu.ldmatrix`: each of the first lanes reads a row of 16 bytes, which the warp then deals out; the others read nothing."""
    return (MemoryEffect("read", op.operands[0], "element", 1, row_of(op), certain=matrices(op)[0] == 4),)


def _freed_on_condition(op: ir.Operation) -> tuple[MemoryEffect, ...]:
    """`bufferization.dealloc`: each memref is freed whose condition holds, unless one that is retained shows the same memory."""
    memrefs, conditions, retained = segments(op)
    found: list[MemoryEffect] = []
    for memref, condition in zip(memrefs, conditions, strict=True):
        known = constant_of(condition)
        if known != 0 and memref not in retained:
            found.append(MemoryEffect("free", memref, certain=bool(known) and not retained))
    return tuple(found)


_OTHERS = {
    "bufferization.dealloc": _freed_on_condition,
    COPY: _copied_by_device,
    LDMATRIX: _rows_of_matrices,
}
"""Ops whose accesses their operands tell, by their names."""


def in_bounds(op: ir.Operation) -> bool:
    """Whether no element of a vector access lies outside of its memref, where a transfer leaves it out."""
    stated = ir.ArrayAttr(op.attributes["in_bounds"]) if "in_bounds" in op.attributes else ()
    return all(ir.BoolAttr(inside).value for inside in stated)


def mask_of(op: ir.Operation) -> ir.Value | None:
    """The mask of a vector access: which lanes of it there are."""
    if "operandSegmentSizes" in op.attributes and op.name.startswith("vector.transfer_"):
        return next(iter(segments(op)[-1]), None)
    if op.name in _MASKED:
        return op.operands[1 + ir.MemRefType(op.operands[0].type).rank]
    return None


def _structured(op: ir.Operation) -> tuple[MemoryEffect, ...] | None:
    """A linalg op reads all of its inputs, writes all of its outputs, and reads those if its body looks at what was there."""
    operands = list(op.operands)
    if not any(is_memref(v) for v in operands):
        return ()
    if not structured.is_structured(op):
        return None
    inputs, _ = structured.segments(op)
    inside = op.regions[0].blocks[0].arguments if len(op.regions) and len(op.regions[0].blocks) else ()
    found: list[MemoryEffect] = []
    for number, value in enumerate(operands):
        if not is_memref(value):
            continue
        if number >= inputs:
            found.append(MemoryEffect("write", value, certain=op.name in _OVERWRITING))
        if number < inputs or len(inside) <= number or is_used(inside[number]):
            found.append(MemoryEffect("read", value))
    return tuple(found)
