"""memref: windows into a buffer, its other shapes, and what they say of themselves."""

from __future__ import annotations

from functools import partial

from ....interpreter.ir.mlir import ir
from ....interpreter.memory.layouts import RESHAPING, kept_dimensions, mixed, reshaped
from ...kernel_form import integers, refuse
from ..kernel import KernelWriter
from ..registry import writes
from ..values.expression import Expr
from ..values.integers import add, literal, multiply
from ..values.views import Axis, NamedView


def _entry(kernel: KernelWriter, entry: int | ir.Value, base: str = "size") -> Expr:
    return literal(entry) if isinstance(entry, int) else kernel.atom(entry, base)


def _window(kernel: KernelWriter, op: ir.Operation) -> tuple[list[Expr], list[Expr], list[Expr]]:
    """Offsets, sizes and strides of a subview or a `reinterpret_cast`."""
    offsets, sizes, strides = mixed(op, "static_offsets", "static_sizes", "static_strides")
    return [_entry(kernel, n, "offset") for n in offsets], [_entry(kernel, n) for n in sizes], [_entry(kernel, n) for n in strides]


@writes("memref.subview")
def subview(kernel: KernelWriter, op: ir.Operation) -> None:
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
        offset = kernel.named(add(axis.offset, multiply(offsets[d], axis.stride)), "offset")
        axes.append(Axis(offset, multiply(axis.stride, strides[d]), renumbered.get(d)))
    kernel.values[op.results[0]] = NamedView(source.buffer, tuple(sizes[d] for d in kept), tuple(axes))


@writes("memref.cast", "memref.memory_space_cast")
def same_view(kernel: KernelWriter, op: ir.Operation) -> None:
    if not isinstance(op.results[0].type, ir.MemRefType):
        raise refuse("W0502", f"{op.results[0].type}: a kernel has ranked memrefs only", op)
    kernel.values[op.results[0]] = kernel.view(op.operands[0])


@writes("memref.reinterpret_cast")
def reinterpret_cast(kernel: KernelWriter, op: ir.Operation) -> None:
    source = kernel.view(op.operands[0])
    (offset,), sizes, strides = _window(kernel, op)
    kernel.values[op.results[0]] = source.flat(tuple(sizes), tuple(strides), offset)


@writes(*RESHAPING)
def reshape(kernel: KernelWriter, op: ir.Operation) -> None:
    source = kernel.view(op.operands[0])
    strides, offset = source.strides(), kernel.named(source.offset(), "offset")
    sizes, strides = reshaped(
        op, source.shape, strides, partial(_entry, kernel), lambda a, b: kernel.named(multiply(a, b), "stride"),
        lambda size: size.constant == 1,
    )  # fmt: skip
    kernel.values[op.results[0]] = source.flat(sizes, strides, offset)


@writes("memref.dim")
def dim(kernel: KernelWriter, op: ir.Operation) -> None:
    axis = kernel.expr(op.operands[1]).constant
    view = kernel.view(op.operands[0])
    if axis is None or not 0 <= axis < len(view.shape):
        raise refuse("W0503", "memref.dim of a dimension that is not a constant", op)
    kernel.bind(op.results[0], view.shape[axis])


@writes("memref.extract_strided_metadata")
def metadata(kernel: KernelWriter, op: ir.Operation) -> None:
    view = kernel.view(op.operands[0])
    rank = len(view.shape)
    results = list(op.results)
    kernel.values[results[0]] = view.flat((), (), literal(0))
    for result, value in zip(results[1:], (view.offset(), *view.shape, *view.strides()), strict=True):
        kernel.bind(result, value)
    if len(results) != 2 + 2 * rank:
        raise refuse("W0503", "metadata of another rank", op)
