"""memref: accesses, atomics, shared and private memory, and views of all memory."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

from ....interpreter.ir.constants import table_of
from ....interpreter.ir.functions import name_of
from ....interpreter.ir.mlir import ancestors, ir, is_used, users
from ....interpreter.memory.atomics import forms, has_form
from ....interpreter.memory.effects import combiner
from ....interpreter.memory.layouts import (
    NO_LAYOUT,
    RESHAPING,
    MemrefLayout,
    is_shared,
    kept_dimensions,
    mixed,
    reshaped,
)
from ...form.kernel_form import integers, pairs_of, refuse
from ..kernel import LOOPS, KernelWriter, Lanes, TextLine, writes
from ..loops import assignment
from ..values.expression import Expr, call, cast, identifier
from ..values.integers import add, literal, multiply
from ..values.types import Range, scalar
from ..values.views import Axis, NamedMemory, NamedView, Space


@writes("memref.load")
def load(kernel: KernelWriter, op: ir.Operation) -> None:
    view = kernel.view(op.operands[0])
    element, table = kernel.place(view, kernel.exprs(op.operands[1:])), table_of(op)
    if table is not None:
        element = replace(element, range=Range(table.low, table.high))
    kernel.bind(op.results[0], element, base=view.buffer.value_name)


@writes("memref.store")
def store(kernel: KernelWriter, op: ir.Operation) -> None:
    value = kernel.expr(op.operands[0])
    view = kernel.view(op.operands[1])
    target = kernel.target(view, kernel.exprs(op.operands[2:]))
    kernel.flush()
    if view.buffer.single and kernel.frame.lines and kernel.frame.lines[-1].array == view.buffer.name:
        kernel.frame.lines[-1] = TextLine(f"{declaration(view.buffer)} = {value.text};")
        return
    kernel.line(assignment(target.text, value))


@writes("memref.alloca", "memref.alloc")
def allocation(kernel: KernelWriter, op: ir.Operation) -> NamedView:
    type = ir.MemRefType(op.results[0].type)
    shared, single = is_shared(type), math.prod(type.shape) == 1
    if op.name == "memref.alloc" and not shared:
        raise refuse(
            "W0503",
            "a kernel cannot allocate global memory",
            op,
            hint="allocate it before the launch, by `gpu.alloc` or `memref.alloc`",
        )
    base = "s" if shared else "acc" if single and _stored_in_a_loop(op) else "r"
    return allocated(kernel, op.results[0], base, op, shared=shared, single=single)


def allocated(
    kernel: KernelWriter, value: ir.Value, anonymous: str, op: ir.Operation, *, shared: bool, single: bool = False
) -> NamedView:
    """Declares memory: shared memory at the kernel's top, private memory at the op's position."""
    type, given = ir.MemRefType(value.type), name_of(value)
    base = identifier(given or anonymous, "arg")
    if shared:
        buffer = declared(type, "shared", kernel.on_top(base, given=given is not None), op)
        kernel.share(value, buffer, math.prod(s.constant or 0 for s in buffer.sizes) * buffer.element.size)
        return NamedView.whole(buffer, type.rank)
    buffer = replace(declared(type, "private", kernel.fresh(base, given=given is not None), op), single=single)
    kernel.line(f"{declaration(buffer)};", array=buffer.name)
    return NamedView.whole(buffer, type.rank)


def _stored_in_a_loop(op: ir.Operation) -> bool:
    """Whether a private variable accumulates: it outlives a loop that stores to it."""
    stores = (user for user in users(op.results[0]) if user.name == "memref.store")
    around = (loop for store in stores for loop in ancestors(store) if loop.name in LOOPS)
    return any(loop not in ancestors(op) for loop in around)


def declaration(buffer: NamedMemory) -> str:
    if buffer.single:
        return f"{buffer.element.cxx} {buffer.name}"
    return f"{buffer.element.cxx} {buffer.name}{''.join(f'[{s.text}]' for s in buffer.sizes) or '[1]'}"


def declared(type: ir.MemRefType, space: Space, variable: str, op: ir.Operation) -> NamedMemory:
    """A buffer declared by the kernel: static, row-major."""
    if not type.has_static_shape or not MemrefLayout.of(type, op).in_rows:
        hint = NO_LAYOUT if type.has_static_shape else None
        raise refuse("W0503", f"{type}: memory of a kernel must be static and row-major", op, hint=hint)
    sizes = tuple(type.shape)
    strides = tuple(math.prod(sizes[d + 1 :]) for d in range(len(sizes)))
    known, steps = (tuple(map(literal, numbers)) for numbers in (sizes, strides))
    kind, start = scalar(type.element_type, op), literal(0)
    return NamedMemory(variable, kind, space, known, steps, start, array=bool(type.rank))


@writes("memref.get_global")
def get_global(kernel: KernelWriter, op: ir.Operation) -> NamedView:
    return NamedView.whole(kernel.constant(op), ir.MemRefType(op.results[0].type).rank)


# ---- atomics -------------------------------------------------------------------------------------


_ATOMICS = pairs_of(
    "addf Add  addi Add  maxs Max  maxu Max  mins Min  minu Min  andi And  ori Or  xori Xor  assign Exch"
)
_SIGNED = ("maxs", "mins")


@writes("memref.atomic_rmw")
def atomic(kernel: KernelWriter, op: ir.Operation) -> None:
    kind = combiner(op)
    value, view = kernel.expr(op.operands[0]), kernel.view(op.operands[1])
    if not has_form(kind, op.results[0].type):
        raise refuse(
            "W0503", f"memref.atomic_rmw {kind} on {view.element.name}", op, hint=f"write one that GPUs have: {forms()}"
        )
    target = kernel.target(view, kernel.exprs(op.operands[2:]))
    kernel.flush()
    type = view.element.cxx
    at = f"&{target.text}"
    # CUDA has unsigned 64-bit atomics, except signed min and max; sums and bitwise ops have equal results
    if kind in ("maxu", "minu") or (view.element.name == "i64" and kind not in _SIGNED):
        other = "unsigned long long" if view.element.name == "i64" else "unsigned"
        at, value = f"reinterpret_cast<{other}*>({at})", cast(other, value)
    made = call(f"atomic{_ATOMICS[kind]}", type, Expr(at, "pointer"), value, range=view.element.full_range)
    if is_used(op.results[0]):
        kernel.values[op.results[0]] = kernel.declare(op.results[0], (made,))
    else:
        kernel.line(f"{made.text};")


# ---- windows into a buffer, its other shapes, and what they say of themselves ----------------------------------------


def _entry(kernel: KernelWriter, entry: int | ir.Value, base: str = "size") -> Expr:
    return literal(entry) if isinstance(entry, int) else kernel.named(kernel.expr(entry), base, aside=True)


def _window(kernel: KernelWriter, op: ir.Operation) -> tuple[list[Expr], list[Expr], list[Expr]]:
    """Offsets, sizes and strides of a subview or a `reinterpret_cast`."""
    offsets, sizes, strides = mixed(op, "static_offsets", "static_sizes", "static_strides")
    counts, steps = ([_entry(kernel, n) for n in entries] for entries in (sizes, strides))
    return [_entry(kernel, n, "offset") for n in offsets], counts, steps


@writes("memref.subview")
def subview(kernel: KernelWriter, op: ir.Operation) -> NamedView:
    source = kernel.view(op.operands[0])
    offsets, sizes, strides = _window(kernel, op)
    kept = kept_dimensions(integers(op.attributes["static_sizes"]), op.results[0].type)
    renumbered = {d: number for number, d in enumerate(kept)}
    axes = []
    for axis in source.axes:
        d = axis.dimension
        if d is None:
            axes.append(axis)
            continue
        offset = kernel.named(add(axis.offset, multiply(offsets[d], axis.stride)), "offset", aside=True)
        axes.append(Axis(offset, multiply(axis.stride, strides[d]), renumbered.get(d)))
    return NamedView(source.buffer, tuple(sizes[d] for d in kept), tuple(axes))


@writes("memref.cast", "memref.memory_space_cast")
def same_view(kernel: KernelWriter, op: ir.Operation) -> NamedView:
    if not isinstance(op.results[0].type, ir.MemRefType):
        raise refuse("W0502", f"{op.results[0].type}: a kernel has ranked memrefs only", op)
    return kernel.view(op.operands[0])


@writes("memref.reinterpret_cast")
def reinterpret_cast(kernel: KernelWriter, op: ir.Operation) -> NamedView:
    source = kernel.view(op.operands[0])
    (offset,), sizes, strides = _window(kernel, op)
    return source.flat(tuple(sizes), tuple(strides), offset)


@writes(*RESHAPING)
def reshape(kernel: KernelWriter, op: ir.Operation) -> NamedView:
    source = kernel.view(op.operands[0])
    strides, offset = source.strides(), kernel.named(source.offset(), "offset", aside=True)

    def scaled(a: Expr, b: Expr) -> Expr:
        return kernel.named(multiply(a, b), "stride", aside=True)

    entry = partial(_entry, kernel)
    sizes, strides = reshaped(op, source.shape, strides, entry, scaled, lambda size: size.constant == 1)
    return source.flat(sizes, strides, offset)


@writes("memref.dim")
def dim(kernel: KernelWriter, op: ir.Operation) -> Lanes:
    axis = kernel.expr(op.operands[1]).constant
    view = kernel.view(op.operands[0])
    if axis is None or not 0 <= axis < len(view.shape):
        raise refuse("W0503", "memref.dim of a dimension that is not a constant", op)
    return (view.shape[axis],)


@writes("memref.extract_strided_metadata")
def metadata(kernel: KernelWriter, op: ir.Operation) -> None:
    view = kernel.view(op.operands[0])
    kernel.values[op.results[0]] = view.flat((), (), literal(0))
    for result, value in zip(op.results[1:], (view.offset(), *view.shape, *view.strides()), strict=True):
        kernel.bind(result, value)
