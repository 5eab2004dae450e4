"""Host rules for memory: allocations, copies, constants, and windows passed to kernels."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ...interpreter.ir.functions import name_of, segments, symbol
from ...interpreter.ir.mlir import DYNAMIC, ir
from ...interpreter.ir.refusing import describe
from ...interpreter.memory.layouts import NO_LAYOUT, MemrefLayout, kept_dimensions, mixed, reshaped, strided
from ..form.kernel_form import refuse
from ..plan.plan import Alloc, Buffer, BufferView, Copy, Fill, Free, ScalarValue, Size, TensorMapOf
from ..plan.resolve import fold
from .functions import array_type, constant_array
from .program import Claim, Host, HostValue, TokenValue, row_major, rule, subview


@rule("memref.alloc", "memref.alloca", "gpu.alloc")
def _alloc(host: Host, op: ir.Operation) -> Sequence[HostValue]:
    type_ = ir.MemRefType(op.results[0].type)
    dtype, shape = array_type(type_, describe(op))
    _expect_rows(type_, op)
    dynamic = iter([host.size(v, op) for v in segments(op)[-2]])
    sizes = tuple(next(dynamic) if s is None else s for s in shape or ())
    name = host.fresh(name_of(op.results[0]))  # an allocation in a loop is another buffer in each iteration
    host.buffers[name] = Buffer(name, dtype, sizes, "temp")
    return [BufferView(name, 0, sizes, row_major(sizes)), *host.issue(Alloc(buffer=name), op)]


def _expect_rows(kind: ir.MemRefType, op: ir.Operation) -> None:
    """Checks that memory is row-major: W0733."""
    if not MemrefLayout.of(kind, op).in_rows:
        raise refuse("W0733", f"{describe(op)} makes {kind}: memory is allocated row-major", op, NO_LAYOUT)


@rule("memref.dealloc", "gpu.dealloc")
def _dealloc(host: Host, op: ir.Operation) -> Sequence[HostValue]:
    view = host.view(op.operands[len(op.operands) - 1], op)
    if host.buffers[view.buffer].role != "temp":
        raise refuse("W0731", f"{op.name} frees `{view.buffer}`, which belongs to the caller", op)
    return host.issue(Free(buffer=view.buffer), op)


@rule("memref.copy", "gpu.memcpy", "linalg.copy")
def _copy(host: Host, op: ir.Operation) -> Sequence[HostValue]:
    last = op.operands[-2:]
    source, target = (last[1], last[0]) if op.name == "gpu.memcpy" else (last[0], last[1])
    kinds = [getattr(v.type, "element_type", None) for v in (source, target)]
    if None not in kinds and kinds[0] != kinds[1]:
        message = f"{describe(op)} converts {kinds[0]} to {kinds[1]}, which no copy of memory does, and is in no launch"
        raise refuse("W0730", message, op, "`map` it and `launch` it")
    from_ = host.view(source, op)
    to = host.value(target, op)
    if isinstance(to, BufferView) and to.buffer in host.shapeless:
        host.shapeless.discard(to.buffer)
        buffer = host.buffers[to.buffer]
        host.buffers[to.buffer] = Buffer(to.buffer, buffer.dtype, from_.shape, buffer.role)
        host.values[target] = BufferView(to.buffer, 0, from_.shape, row_major(from_.shape))
    return host.issue(Copy(source=from_, target=host.view(target, op)), op)


@rule("gpu.memset")
def _memset(host: Host, op: ir.Operation) -> Sequence[HostValue]:
    target, given = op.operands[-2:]
    dtype, _ = array_type(given.type, f"the value of {describe(op)}")
    value = host.value(given, op)
    if isinstance(value, BufferView | TensorMapOf | TokenValue | Claim):
        raise refuse("W0731", f"{op.name} needs a number", op)
    return host.issue(Fill(target=host.view(target, op), value=ScalarValue(dtype, value)), op)


@rule("gpu.wait")
def _wait(host: Host, op: ir.Operation) -> Sequence[HostValue]:
    tokens = [t for v in op.operands if isinstance(t := host.value(v, op), TokenValue)]
    together = TokenValue(frozenset().union(*(t.steps for t in tokens)))
    if len(op.results):
        return [together]
    host.wait(together)
    return []


@rule("memref.get_global")
def _get_global(host: Host, op: ir.Operation) -> Sequence[HostValue]:
    wanted = ir.FlatSymbolRefAttr(op.attributes["name"]).value
    named = (o.operation for o in host.module.body.operations if "sym_name" in o.attributes)
    found = next(o for o in named if symbol(o) == wanted)
    dtype, shape = array_type(op.results[0].type, describe(op))
    _expect_rows(op.results[0].type, op)
    sizes = tuple(s for s in shape or () if s is not None)
    if (name := host.constants.get(wanted)) is None:
        array = constant_array(found.attributes.get("initial_value"), dtype)
        if array is None or "constant" not in found.attributes:
            raise refuse("W0731", f"the global @{wanted} is not a constant with a known value", op)
        name = host.constants[wanted] = host.fresh(wanted)
        host.buffers[name] = Buffer(name, dtype, sizes, "constant", array.tobytes())
    return [BufferView(name, 0, sizes, row_major(sizes))]


# ---- windows ----
@rule("memref.cast", "memref.memory_space_cast", "memref.assume_alignment")
def _same_view(host: Host, op: ir.Operation) -> Sequence[HostValue]:
    return [host.value(op.operands[0], op)][: len(op.results)]


@rule("memref.dim")
def _dim(host: Host, op: ir.Operation) -> Sequence[HostValue]:
    axis, found = host.number(op.operands[1], op, "the axis"), host.value(op.operands[0], op)
    view = found if isinstance(found, BufferView) else host.view(op.operands[0], op)
    if not 0 <= axis < len(view.shape):
        raise refuse("W0731", f"memref.dim {axis} of a memref of rank {len(view.shape)}", op)
    return [view.shape[axis]]


def _number(host: Host, op: ir.Operation, entry: int | ir.Value) -> Size:
    return entry if isinstance(entry, int) else host.size(entry, op)


def _window(host: Host, op: ir.Operation) -> list[tuple[Size, ...]]:
    """The offsets, sizes and strides of a view."""
    return [tuple(_number(host, op, n) for n in entries) for entries in mixed(op, *WINDOW)]


WINDOW = ("static_offsets", "static_sizes", "static_strides")


@rule("memref.subview")
def _subview(host: Host, op: ir.Operation) -> Sequence[HostValue]:
    view = host.view(op.operands[0], op)
    type_ = ir.MemRefType(op.results[0].type)
    wanted, _ = static_strides(type_, describe(op))
    whole = subview(view, *_window(host, op))
    kept = kept_dimensions(list(ir.DenseI64ArrayAttr(op.attributes["static_sizes"])), type_)
    strides = tuple(whole.strides[i] if stated is None else stated for i, stated in zip(kept, wanted, strict=True))
    return [BufferView(whole.buffer, whole.offset, tuple(whole.shape[i] for i in kept), strides)]


@rule("memref.reinterpret_cast")
def _reinterpret(host: Host, op: ir.Operation) -> Sequence[HostValue]:
    view = host.view(op.operands[0], op)
    (offset,), sizes, strides = _window(host, op)
    return [BufferView(view.buffer, offset, sizes, strides)]


@rule("memref.extract_strided_metadata")
def _metadata(host: Host, op: ir.Operation) -> Sequence[HostValue]:
    view = host.view(op.operands[0], op)
    return [BufferView(view.buffer, 0, (), ()), view.offset, *view.shape, *view.strides]


@rule("memref.collapse_shape", "memref.expand_shape", "memref.transpose")
def _reshaped(host: Host, op: ir.Operation) -> Sequence[HostValue]:
    view = host.view(op.operands[0], op)
    number, times = partial(_number, host, op), partial(fold, "mul")
    shape, strides = reshaped(op, view.shape, view.strides, number, times, lambda size: size == 1)
    return [BufferView(view.buffer, view.offset, shape, strides)]


def static_strides(type_: ir.MemRefType, what: str) -> tuple[tuple[int | None, ...], int | None]:
    """Strides and offset of a memref type; None where they are dynamic.

    Error: W0398 for a layout that strides cannot express; MLIR accepts a map that permutes
    dimensions as one that they can.
    """
    strides, offset = strided(type_, what=what)
    return tuple(None if s == DYNAMIC else s for s in strides), None if offset == DYNAMIC else offset
