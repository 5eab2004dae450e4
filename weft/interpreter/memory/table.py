"""The ops of upstream's dialects by what they do to memory: names and positions of operands; `effects.py` reads it."""

from __future__ import annotations

from ..hardware.instructions import Rule
from ..hardware.queries import COLLECTIVE

ATOMIC = "memref.atomic_rmw"

RULES: dict[str, tuple[Rule, ...]] = {
    "memref.load": (Rule("read", 0, "element"),),
    "memref.store": (Rule("write", 1, "element", 0),),
    ATOMIC: (Rule("atomic", 1, "element", 0),),
    "memref.generic_atomic_rmw": (Rule("atomic", 0, "element"),),
    "memref.copy": (Rule("read", 0), Rule("write", 1)),
    "memref.alloc": (Rule("alloc", 0),),
    "memref.alloca": (Rule("alloc", 0),),
    "memref.realloc": (Rule("read", 0), Rule("free", 0), Rule("alloc", 0)),
    "memref.dealloc": (Rule("free", 0),),
    "memref.reshape": (Rule("read", 1),),
    "affine.load": (Rule("read", 0, "element"),),
    "affine.store": (Rule("write", 1, "element", 0),),
    "affine.vector_load": (Rule("read", 0, "element"),),
    "affine.vector_store": (Rule("write", 1, "element", 0),),
    "vector.load": (Rule("read", 0, "element"),),
    "vector.store": (Rule("write", 1, "element", 0),),
    "vector.maskedload": (Rule("read", 0, "element", certain=False),),
    "vector.maskedstore": (Rule("write", 0, "element", -1, certain=False),),
    "vector.expandload": (Rule("read", 0, "element", certain=False),),
    "vector.compressstore": (Rule("write", 0, "element", -1, certain=False),),
    "vector.gather": (Rule("read", 0, "anywhere"),),
    "vector.scatter": (Rule("write", 0, "anywhere"),),
    "vector.transfer_read": (Rule("read", 0, "transfer"),),
    "vector.transfer_write": (Rule("write", 1, "transfer", 0),),
    "gpu.alloc": (Rule("alloc", 0),),
    "gpu.dealloc": (Rule("free", -1),),
    "gpu.memcpy": (Rule("write", -2), Rule("read", -1)),
    "gpu.memset": (Rule("write", -2),),
    "bufferization.clone": (Rule("read", 0), Rule("alloc", 0)),
    "bufferization.materialize_in_destination": (Rule("read", 0), Rule("write", 1)),
    "bufferization.to_tensor": (Rule("read", 0),),
}
"""Ops that do something to memrefs. Rules for operands that are tensors in the op at hand do nothing."""

MASKED = ("vector.maskedload", "vector.maskedstore", "vector.expandload", "vector.compressstore")

ALLOCATIONS = frozenset(name for name, rules in RULES.items() if any(r.kind == "alloc" for r in rules))
"""Ops whose result is memory that nothing else shows."""

FREEING = {name for name, rules in RULES.items() if any(r.kind == "free" for r in rules)} | {"bufferization.dealloc"}
"""Ops that may free memory."""

STORED = frozenset({"memref.get_global", "gpu.dynamic_shared_memory"})
"""Ops whose result is memory that is there without them: every use of the same is the same."""


def names_of(text: str) -> frozenset[str]:
    return frozenset(text.split())


PURE_DIALECTS = frozenset({"arith", "complex", "index", "math", "shape", "tensor"})
"""Dialects of values alone: none of their ops touches memory. (What an op of `tensor` has in a region are ops of their
own.)"""

NO_ACCESS = names_of(
    """affine.apply affine.delinearize_index affine.linearize_index affine.max affine.min affine.prefetch
    bufferization.alloc_tensor bufferization.dealloc_tensor bufferization.to_buffer cf.assert func.constant gpu.binary
    gpu.block_dim gpu.block_id gpu.cluster_dim gpu.cluster_id gpu.dynamic_shared_memory gpu.global_id gpu.grid_dim gpu.lane_id
    gpu.num_subgroups gpu.printf gpu.set_default_device gpu.subgroup_id gpu.subgroup_mma_constant_matrix
    gpu.subgroup_mma_elementwise gpu.subgroup_mma_extract_thread_local gpu.subgroup_mma_insert_thread_local gpu.subgroup_size
    gpu.thread_id gpu.wait linalg.index linalg.yield memref.assume_alignment memref.cast memref.collapse_shape memref.dim
    memref.distinct_objects memref.expand_shape memref.extract_aligned_pointer_as_index memref.extract_strided_metadata
    memref.get_global memref.global memref.memory_space_cast memref.prefetch memref.rank memref.reinterpret_cast memref.subview
    memref.transpose memref.view ub.poison ub.unreachable vector.bitcast vector.broadcast vector.constant_mask vector.contract
    vector.create_mask vector.deinterleave vector.extract vector.extract_strided_slice vector.fma vector.from_elements
    vector.insert vector.insert_strided_slice vector.interleave vector.multi_reduction vector.outerproduct vector.print
    vector.reduction vector.scalable.extract vector.scalable.insert vector.scan vector.shape_cast vector.shuffle vector.step
    vector.to_elements vector.transpose vector.type_cast vector.vscale"""
)
"""Ops that touch no memory: they compute, show a part of a buffer, ask for its shape, or wait for somebody who does.
(The words of memory barriers are no memory that anything else touches: what knows their address is not known.)"""

CONTROL = names_of(
    """affine.for affine.if affine.parallel affine.yield builtin.module cf.br cf.cond_br cf.switch func.func func.return gpu.func
    gpu.launch gpu.module gpu.return gpu.terminator gpu.yield memref.alloca_scope memref.alloca_scope.return memref.atomic_yield
    scf.condition scf.execute_region scf.for scf.forall scf.forall.in_parallel scf.if scf.index_switch scf.parallel scf.reduce
    scf.reduce.return scf.while scf.yield vector.mask vector.yield"""
)
"""Ops that do what the ops in their regions do, and hand values on."""

IMPURE = COLLECTIVE | {"bufferization.alloc_tensor", "gpu.wait"}
"""Ops without accesses that are not pure: nondeterministic or collective."""

CALLS = frozenset({"func.call", "gpu.launch_func"})
"""Ops that do what a function does that is named: `proof/hosts/effects.py` looks into it."""
