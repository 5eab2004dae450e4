"""Effects of each of upstream's ops on memory, apart from its regions: one table, by the op's name.

The bindings have no access to upstream's own side effects, so they are written down here, from the
`.td` files of the dialects. An op that is not in the table is unknown: `accesses` returns None for
it, and it may access and return anything. A test walks all ops that the bindings register. It fails
for an op that is neither in the table, nor in the test's list of ops that are unknown on purpose.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..hardware.hopper.tensor_maps import is_tensor_map
from ..hardware.hopper.warpgroups import is_described
from ..hardware.instructions import INSTRUCTIONS, Kind, MemoryEffect, Rule
from ..hardware.queries import SYNCHRONIZING
from ..ir import structured
from ..ir.constants import table_of
from ..ir.copying import fill_value
from ..ir.functions import segments
from ..ir.mlir import children, constant_of, ir, is_tensor, is_used
from .table import ATOMIC, CONTROL, IMPURE, MASKED, NO_ACCESS, PURE_DIALECTS, RULES

_LLVM_UNKNOWN = ("llvm.call", "llvm.inline_asm", "llvm.invoke", "llvm.fence", "llvm.intr.coro", "llvm.intr.memcpy")


def accesses(op: ir.Operation) -> tuple[MemoryEffect, ...] | None:
    """The accesses of `op` itself; None if unknown: then it may access and return anything."""
    row = INSTRUCTIONS.get(op.name)
    rules = RULES.get(op.name) if row is None else row.accesses
    if rules is not None:
        return rules(op) if callable(rules) else tuple(_found(op, rules))
    if op.name in NO_ACCESS or op.name in CONTROL:
        return ()
    dialect = op.name.split(".", 1)[0]
    if op.name == "bufferization.dealloc":
        return _freed_on_condition(op)
    if dialect == "linalg":
        return _structured(op)
    if dialect == "llvm":
        return None if goes_through_pointers(op) or op.name.startswith(_LLVM_UNKNOWN) else ()
    return () if dialect in PURE_DIALECTS else None


def is_known(op: ir.Operation) -> bool:
    """Whether the table has the effects of `op` itself; it has none of a call."""
    return accesses(op) is not None


def only_computes(op: ir.Operation) -> bool:
    """Whether neither `op` nor any op in it accesses memory, or waits for other threads."""
    if accesses(op) != () or op.name in SYNCHRONIZING:
        return False
    return all(only_computes(inner) for inner in children(op))


def is_pure(op: ir.Operation) -> bool:
    """Whether `op` computes its results from its operands alone: equal results wherever and however
    often it is executed."""
    if op.name.startswith("llvm.") or op.name in IMPURE or len(op.regions) or not len(op.results):
        return False
    return accesses(op) == () or (op.name == "memref.load" and table_of(op) is not None)


def is_memref(value: ir.Value) -> bool:
    """Whether the value is a memref, ranked or not."""
    return type(value.type).__name__ in ("MemRefType", "UnrankedMemRefType")


def shows_memory(value: ir.Value) -> bool:
    """Whether the value is a memref, or refers to one: a tensor map, a descriptor of a matrix."""
    return is_memref(value) or is_tensor_map(value.type) or is_described(value.type)


def takes_tensors(op: ir.Operation) -> bool:
    """Whether the op reads a tensor: for the result of `bufferization.to_tensor`, the current
    contents of the buffer, not a copy."""
    return any(map(is_tensor, op.operands))


def is_pointer(value: ir.Value) -> bool:
    """A pointer of the LLVM dialect, or a struct with one: the memory it points to is unknown."""
    return "!llvm.ptr" in str(value.type)


def goes_through_pointers(op: ir.Operation) -> bool:
    """Whether `op` itself reads, writes or creates a pointer."""
    return op.name.startswith("llvm.") and any(is_pointer(v) for v in (*op.operands, *op.results))


def written(op: ir.Operation) -> list[ir.Value]:
    """The memrefs, and values that refer to memrefs, that `op` itself may write or free; all
    operands if unknown."""
    return _used(op, "write", "atomic", "free")


def read(op: ir.Operation) -> list[ir.Value]:
    """The memrefs, and values that refer to memrefs, that `op` itself may read; all operands if
    unknown."""
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
                yield MemoryEffect(
                    rule.kind, value, "anywhere", certain=False
                )  # its length is known to the machine alone
                continue
        certain = rule.certain and (rule.footprint != "transfer" or (in_bounds(op) and mask_of(op) is None))
        update = update_of(op) if rule.kind == "atomic" else ""
        yield MemoryEffect(rule.kind, value, rule.footprint, at + 1, moved, certain, update)


def combiner(op: ir.Operation) -> str:
    """The kind of a `memref.atomic_rmw`, as in the text, which is more stable than the enum's
    numbers: `addf`, `assign`."""
    return str(op).split(ATOMIC, 1)[1].split()[0]


def update_of(op: ir.Operation) -> str:
    """The kind of an atomic op, if ops of this kind commute and the previous value is not used;
    else empty."""
    if op.name != ATOMIC or is_used(op.results[0]) or combiner(op) == "assign":
        return ""
    return f"{combiner(op)} {op.results[0].type}"


def _freed_on_condition(op: ir.Operation) -> tuple[MemoryEffect, ...]:
    """`bufferization.dealloc`: frees each memref with a true condition, unless a retained memref
    shares its memory."""
    memrefs, conditions, retained = segments(op)
    found: list[MemoryEffect] = []
    for memref, condition in zip(memrefs, conditions, strict=True):
        known = constant_of(condition)
        if known != 0 and memref not in retained:
            found.append(MemoryEffect("free", memref, certain=bool(known) and not retained))
    return tuple(found)


def in_bounds(op: ir.Operation) -> bool:
    """Whether no element of a vector access is out of the bounds of its memref, where a transfer
    would mask it."""
    stated = ir.ArrayAttr(op.attributes["in_bounds"]) if "in_bounds" in op.attributes else ()
    return all(ir.BoolAttr(inside).value for inside in stated)


def mask_of(op: ir.Operation) -> ir.Value | None:
    """The mask of a vector access."""
    if "operandSegmentSizes" in op.attributes and op.name.startswith("vector.transfer_"):
        return next(iter(segments(op)[-1]), None)
    if op.name in MASKED:
        return op.operands[1 + ir.MemRefType(op.operands[0].type).rank]
    return None


def _structured(op: ir.Operation) -> tuple[MemoryEffect, ...] | None:
    """A linalg op reads all of its inputs, writes all of its outputs, and reads those outputs whose
    previous contents its body uses."""
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
            found.append(MemoryEffect("write", value, certain=op.name == "linalg.copy" or fill_value(op) is not None))
        if number < inputs or len(inside) <= number or is_used(inside[number]):
            found.append(MemoryEffect("read", value))
    return tuple(found)
