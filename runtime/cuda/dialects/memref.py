"""memref: accesses, atomics, and memory of the block (shared) and of the thread (private)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from ....interpreter.ir.mlir import DYNAMIC, ir
from ....interpreter.memory.effects import combiner
from ....interpreter.memory.layouts import is_shared, strided
from ...kernel_form import refuse
from ..kernel import LOOPS, KernelWriter
from ..loops import assignment
from ..registry import writes
from ..values.expression import Expr, call, cast
from ..values.integers import literal
from ..values.types import scalar
from ..values.views import NamedMemory, NamedView, Space, access


@writes("memref.load")
def load(kernel: KernelWriter, op: ir.Operation) -> None:
    view = kernel.view(op.operands[0])
    element = access(view.buffer, view.buffer_indices(kernel.exprs(list(op.operands)[1:])))
    kernel.bind(op.results[0], element, base=_value_name(view.buffer))


def _value_name(buffer: NamedMemory) -> str:
    """A value loaded from `A` is called `a`; from `s0`, `v0`."""
    plain = buffer.name.lower()
    return plain if buffer.space == "global" and plain.isidentifier() and plain != buffer.name else "v"


@writes("memref.store")
def store(kernel: KernelWriter, op: ir.Operation) -> None:
    value = kernel.expr(op.operands[0])
    view = kernel.view(op.operands[1])
    target = kernel.target(view, kernel.exprs(list(op.operands)[2:]))
    kernel.flush()
    declared = f"{declaration(view.buffer)};" if view.buffer.single else None
    if declared is not None and kernel.frame.lines[-1:] == [declared]:
        kernel.frame.lines[-1] = f"{declared[:-1]} = {value.text};"
        return
    kernel.line(assignment(target.text, value))


@writes("memref.alloca", "memref.alloc")
def allocation(kernel: KernelWriter, op: ir.Operation) -> None:
    type = ir.MemRefType(op.results[0].type)
    shared, single = is_shared(type), math.prod(type.shape) == 1
    if op.name == "memref.alloc" and not shared:
        raise refuse("W0503", "a kernel cannot allocate global memory", op, hint="allocate it on the host")
    base = "s" if shared else "acc" if single and _stored_in_a_loop(op) else "r"
    base = ir.StringAttr(op.attributes["weft.name"]).value if "weft.name" in op.attributes else base
    kernel.values[op.results[0]] = allocated(kernel, type, base, op, shared=shared, single=single)


def allocated(
    kernel: KernelWriter, type: ir.MemRefType, base: str, op: ir.Operation, *, shared: bool, single: bool = False
) -> NamedView:
    """Memory that the kernel declares: the block's at its top, a thread's own where it stands."""
    if shared:
        return NamedView.whole(_shared_array(kernel, type, base, op), type.rank)
    buffer = replace(_array(type, "private", kernel.fresh(base), op), single=single)
    kernel.arrays[buffer.name] = f"{declaration(buffer)};"
    kernel.line(kernel.arrays[buffer.name])
    return NamedView.whole(buffer, type.rank)


def _stored_in_a_loop(op: ir.Operation) -> bool:
    """Is a private variable stored to in a loop that it outlives? Then it accumulates."""
    for use in op.results[0].uses:
        user = use.owner.operation
        while user.block != op.block:
            user = user.parent.operation
            if user.name in LOOPS and use.owner.operation.name == "memref.store":
                return True
    return False


def _shared_array(kernel: KernelWriter, type: ir.MemRefType, base: str, op: ir.Operation) -> NamedMemory:
    """An array in shared memory. It is declared at the top of the kernel, whose scope therefore holds its name."""
    scope = kernel.frames[0].scope
    variable = scope.fresh(base)
    while any(frame.scope.has(variable) for frame in kernel.frames[1:] if variable in frame.scope.taken):
        variable = scope.fresh(base)
    buffer = _array(type, "shared", variable, op)
    kernel.shared.append((buffer, math.prod(s.constant or 0 for s in buffer.sizes) * buffer.element.size))
    return buffer


def declaration(buffer: NamedMemory) -> str:
    if buffer.single:
        return f"{buffer.element.cxx} {buffer.name}"
    return f"{buffer.element.cxx} {buffer.name}{''.join(f'[{s.text}]' for s in buffer.sizes) or '[1]'}"


def _array(type: ir.MemRefType, space: Space, variable: str, op: ir.Operation) -> NamedMemory:
    """A buffer that the kernel itself declares: static, row-major."""
    strides, offset = strided(type, op)
    sizes = list(type.shape)
    if DYNAMIC in (*sizes, *strides, offset) or not _row_major(sizes, strides) or offset:
        raise refuse("W0503", f"{type}: memory of a kernel must be static and row-major", op)
    return NamedMemory(variable, scalar(type.element_type, op), space, tuple(map(literal, sizes)),
                  tuple(map(literal, strides)), literal(0), array=bool(type.rank))  # fmt: skip


def _row_major(sizes: Sequence[int], strides: Sequence[int]) -> bool:
    return all(strides[d] == math.prod(sizes[d + 1 :]) for d in range(len(sizes)))


@writes("memref.get_global")
def get_global(kernel: KernelWriter, op: ir.Operation) -> None:
    kernel.values[op.results[0]] = NamedView.whole(kernel.constant(op), ir.MemRefType(op.results[0].type).rank)


# ---- atomics ----------------------------------------------------------------------------------------------------------


_ATOMICS = {
    "addf": ("atomicAdd", ("f32", "f64")), "addi": ("atomicAdd", ("i32", "i64")), "maxs": ("atomicMax", ("i32", "i64")),
    "mins": ("atomicMin", ("i32", "i64")), "andi": ("atomicAnd", ("i32",)), "ori": ("atomicOr", ("i32",)),
    "assign": ("atomicExch", ("i32", "f32")),
}  # fmt: skip


@writes("memref.atomic_rmw")
def atomic(kernel: KernelWriter, op: ir.Operation) -> None:
    spelled = combiner(op)
    value, view = kernel.expr(op.operands[0]), kernel.view(op.operands[1])
    function, types = _ATOMICS.get(spelled, ("", ()))
    if view.element.name not in types:
        raise refuse("W0503", f"memref.atomic_rmw {spelled} on {view.element.name}", op)
    target = kernel.target(view, kernel.exprs(list(op.operands)[2:]))
    kernel.flush()
    type = view.element.cxx
    at = f"&{target.text}"
    if (spelled, view.element.name) == ("addi", "i64"):  # CUDA has it for unsigned numbers; modulo 2**64 the sums are the same
        at, value = f"reinterpret_cast<unsigned long long*>({at})", cast("unsigned long long", value)
    made = call(function, type, Expr(at, "pointer"), value, range=view.element.full_range)
    if list(op.results[0].uses):
        kernel.values[op.results[0]] = kernel.declare(op.results[0], (made,))
    else:
        kernel.line(f"{made.text};")
