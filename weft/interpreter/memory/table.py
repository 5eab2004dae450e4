"""Ops of upstream's dialects by their effects on memory: names and positions of operands;
`effects.py` reads it."""

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
"""Ops with effects on memrefs. A rule is void for an operand that is a tensor in the op at hand."""

MASKED = ("vector.maskedload", "vector.maskedstore", "vector.expandload", "vector.compressstore")

ALLOCATIONS = frozenset(name for name, rules in RULES.items() if any(r.kind == "alloc" for r in rules))
"""Ops with a result that is memory which no other value refers to."""

FREEING = {name for name, rules in RULES.items() if any(r.kind == "free" for r in rules)} | {"bufferization.dealloc"}
"""Ops that may free memory."""

STORED = frozenset({"memref.get_global", "gpu.dynamic_shared_memory"})
"""Ops with a result that is memory which exists without them: all uses of the same name are the
same memory."""


def names_of(text: str) -> frozenset[str]:
    return frozenset(text.split())


PURE_DIALECTS = frozenset({"arith", "complex", "index", "math", "shape", "tensor"})
"""Dialects of values alone: none of their ops accesses memory. (Ops in a region of a `tensor` op
have effects of their own.)"""

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
"""Ops that access no memory: they compute, view a part of a buffer, query its shape, or wait for
other threads. (The words of memory barriers are accessed by nothing else: their addresses are
unknown to other ops.)"""

CONTROL = names_of(
    """affine.for affine.if affine.parallel affine.yield builtin.module cf.br cf.cond_br cf.switch func.func func.return gpu.func
    gpu.launch gpu.module gpu.return gpu.terminator gpu.yield memref.alloca_scope memref.alloca_scope.return memref.atomic_yield
    scf.condition scf.execute_region scf.for scf.forall scf.forall.in_parallel scf.if scf.index_switch scf.parallel scf.reduce
    scf.reduce.return scf.while scf.yield vector.mask vector.yield"""
)
"""Ops with the effects of the ops in their regions alone, which pass values on."""

IMPURE = COLLECTIVE | {"bufferization.alloc_tensor", "gpu.wait"}
"""Ops without accesses that are not pure: nondeterministic or collective."""

CALLS = frozenset({"func.call", "gpu.launch_func"})
"""Ops with the effects of a named function: `proof/hosts/effects.py` follows them."""
