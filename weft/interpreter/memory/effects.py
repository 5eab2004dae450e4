"""What each of upstream's ops does to memory by itself, its regions left to the ops in them: one table, by the op's name.

The bindings cannot be asked for upstream's own side effects, so they are written down here, from the `.td` files of the dialects.
An op that is not here is unknown: `accesses` gives None for it, and it may touch and return anything. A test walks all ops that the
bindings register, and fails for one that is neither here nor in its own list of those that are left unknown on purpose.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from ...dsl.records import record
from ..hardware.ampere.copies import COPY
from ..hardware.ampere.fragments import LDMATRIX, matrices, row_of
from ..hardware.hopper.mbarriers import ARRIVE_THERE, is_address
from ..hardware.hopper.tensor_maps import LOADS, STORE, is_tensor_map, load_of
from ..hardware.hopper.warpgroups import PRODUCTS, is_described, operands
from ..ir import structured
from ..ir.constants import table_of
from ..ir.functions import segments
from ..ir.mlir import children, constant_of, ir, is_tensor, is_used
from .table import (
    ATOMIC,
    CONTROL,
    MASKED,
    NO_ACCESS,
    PURE_DIALECTS,
    RULES,
    SYNCHRONIZING,
    TOGETHER,
    Footprint,
    Kind,
    Rule,
)


@record
class MemoryEffect:
    """One thing that an op does to one memref.

    Args:
        kind: `atomic` reads and writes at once, and does not conflict with its like.
        value: the memref, or the tensor map or the descriptor of a matrix, which stands for the memory that it was made of.
        footprint: `element`: at the indices behind the memref (mapped by the attribute `map`, if there is one), and as many
            elements from there on as `moved` has; `transfer`: as `vector.transfer_read` says; `matrix`: rows from there on, by the
            lanes of a warp together (`fragments.warp_matrix`); `whole`: all of it; `anywhere`: some elements of it.
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


_OVERWRITING = ("linalg.fill", "linalg.copy")
"""Structured ops that write each element of their output; of others, maps tell."""

_LLVM_UNKNOWN = ("llvm.call", "llvm.inline_asm", "llvm.invoke", "llvm.fence", "llvm.intr.coro", "llvm.intr.memcpy")


def accesses(op: ir.Operation) -> tuple[MemoryEffect, ...] | None:
    """What `op` itself does to memory; None if that is not known: then it may touch and return anything."""
    rules = RULES.get(op.name)
    if rules is not None:
        return tuple(_found(op, rules))
    if op.name in NO_ACCESS or op.name in CONTROL:
        return ()
    dialect = op.name.split(".", 1)[0]
    if op.name in _OTHERS:
        return _OTHERS[op.name](op)
    if dialect == "linalg":
        return _structured(op)
    if dialect == "llvm":
        if op.name == "llvm.inttoptr" and is_address(op.operands[0]):
            return ()
        return None if goes_through_pointers(op) or op.name.startswith(_LLVM_UNKNOWN) else ()
    return () if dialect in PURE_DIALECTS else None


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
    if op.name.startswith("llvm.") or op.name in TOGETHER or len(op.regions) or not len(op.results):
        return False
    return accesses(op) == () or (op.name == "memref.load" and table_of(op) is not None)


def is_memref(value: ir.Value) -> bool:
    """Whether the value is a memref, ranked or not."""
    return type(value.type).__name__ in ("MemRefType", "UnrankedMemRefType")


def shows_memory(value: ir.Value) -> bool:
    """Whether the value is a memref, or stands for one: a tensor map, a descriptor of a matrix."""
    return is_memref(value) or is_tensor_map(value.type) or is_described(value.type)


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
    """The memrefs that `op` itself may write or free, and what stands for such; all it is given if that is not known."""
    return _used(op, "write", "atomic", "free")


def read(op: ir.Operation) -> list[ir.Value]:
    """The memrefs that `op` itself may read, and what stands for such; all it is given if that is not known."""
    return _used(op, "read", "atomic")


def _used(op: ir.Operation, *kinds: Kind) -> list[ir.Value]:
    found = accesses(op)
    return [v for v in op.operands if shows_memory(v)] if found is None else [a.value for a in found if a.kind in kinds]


def _found(op: ir.Operation, rules: tuple[Rule, ...]) -> Iterator[MemoryEffect]:
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
    return str(op).split(ATOMIC, 1)[1].split()[0]


def update_of(op: ir.Operation) -> str:
    """What an atomic op does to its memory, where such ops commute and nobody looks at what was there; empty of others."""
    if op.name != ATOMIC or is_used(op.results[0]) or combiner(op) == "assign":
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


def _arrived_elsewhere(op: ir.Operation) -> tuple[MemoryEffect, ...] | None:
    """`nvvm.mbarrier.arrive`: at a memory barrier that its address is known to be one of, nothing else is touched."""
    return () if is_address(op.operands[0]) else None


def _boxes(op: ir.Operation) -> tuple[MemoryEffect, ...] | None:
    """Loads and stores of the tensor memory accelerator: a box of a tensor, or pixels, by its map, and the tile that is all of that
    (of which elements outside of the tensor are zeroed, and not stored). Where a predicate does not hold, nothing is done."""
    always = not len(segments(op)[-1])
    if op.name in LOADS:
        load = load_of(op)
        if load is None:
            return None
        return MemoryEffect("write", load.tile, certain=always), MemoryEffect("read", load.map, "anywhere", certain=False)
    tile, box = list(op.operands)[:2]
    return MemoryEffect("read", tile, certain=always), MemoryEffect("write", box, "anywhere", certain=False)


def _described(op: ir.Operation) -> tuple[MemoryEffect, ...] | None:
    """Products of warp groups read the matrices that their descriptors describe."""
    matrices = [matrix for matrix, _ in operands(op)]
    known = all(is_described(matrix.type) for matrix in matrices)
    return tuple(MemoryEffect("read", matrix, "anywhere") for matrix in matrices) if known else None


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
    **dict.fromkeys((*LOADS, STORE), _boxes),
    **dict.fromkeys(PRODUCTS, _described),
    ARRIVE_THERE: _arrived_elsewhere,
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
    if op.name in MASKED:
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
