"""memref: windows into a buffer, its other shapes, and what they say of themselves."""

from __future__ import annotations

from collections.abc import Sequence

from ....interpreter.ir.mlir import ir
from ....interpreter.memory.strides import strided
from ..errors import refuse
from ..expression import Expr
from ..integers import add, literal, multiply
from ..kernel import Kernel
from ..registry import writes
from ..views import Axis, View
from .memref import DYNAMIC


def mixed(kernel: Kernel, op: ir.Operation, attribute: str, segment: int) -> list[Expr]:
    """Static and dynamic entries of one of an op's lists (offsets, sizes, strides), merged."""
    segments = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
    first = sum(segments[:segment])
    dynamic = iter(list(op.operands)[first : first + segments[segment]])
    return [
        kernel.atom(next(dynamic), "offset" if "offset" in attribute else "size")
        if value == DYNAMIC
        else literal(value)
        for value in ir.DenseI64ArrayAttr(op.attributes[attribute])
    ]


@writes("memref.subview")
def subview(kernel: Kernel, op: ir.Operation) -> None:
    source = kernel.view(op.operands[0])
    offsets = mixed(kernel, op, "static_offsets", 1)
    sizes = mixed(kernel, op, "static_sizes", 2)
    strides = mixed(kernel, op, "static_strides", 3)
    kept = kept_dimensions(op)
    renumbered = {d: number for number, d in enumerate(kept)}
    axes = []
    for axis in source.axes:
        d = axis.dimension
        if d is None:
            axes.append(axis)
            continue
        offset = kernel.named(add(axis.offset, multiply(offsets[d], axis.stride)), "offset")
        axes.append(Axis(offset, multiply(axis.stride, strides[d]), renumbered.get(d)))
    kernel.values[op.results[0]] = View(source.buffer, tuple(sizes[d] for d in kept), tuple(axes))


def kept_dimensions(op: ir.Operation) -> list[int]:
    """The dimensions of the source that the result still has: dropped ones have size one, and strides tell them apart."""
    result = ir.MemRefType(op.results[0].type)
    sizes = list(ir.DenseI64ArrayAttr(op.attributes["static_sizes"]))
    if result.rank == len(sizes):
        return list(range(len(sizes)))
    source_strides, _ = strided(op.operands[0].type, op)
    steps = list(ir.DenseI64ArrayAttr(op.attributes["static_strides"]))
    full = [DYNAMIC if DYNAMIC in (s, t) else s * t for s, t in zip(source_strides, steps, strict=True)]
    wanted = list(zip(result.shape, strided(result, op)[0], strict=True))
    kept, drop = [], len(sizes) - result.rank
    for d, pair in enumerate(zip(sizes, full, strict=True)):
        left_over = len(wanted) - len(kept)
        fits = left_over and wanted[len(kept)] == pair
        if fits and not (drop and pair[0] == 1 and _later_fits(sizes, full, wanted, d, len(kept))):
            kept.append(d)
        elif pair[0] == 1 and drop:
            drop -= 1
        else:
            raise refuse("W0503", "the dropped dimensions of this subview are ambiguous", op)
    return kept


def _later_fits(sizes: list[int], full: list[int], wanted: list, d: int, have: int) -> bool:
    """Would dropping the unit dimension `d` leave exactly the wanted ones? Then either choice is the same memory."""
    return list(zip(sizes[d + 1 :], full[d + 1 :], strict=True)) == wanted[have:]


@writes("memref.cast", "memref.memory_space_cast")
def same_view(kernel: Kernel, op: ir.Operation) -> None:
    if not isinstance(op.results[0].type, ir.MemRefType):
        raise refuse("W0502", f"{op.results[0].type}: a kernel has ranked memrefs only", op)
    kernel.values[op.results[0]] = kernel.view(op.operands[0])


@writes("memref.reinterpret_cast")
def reinterpret_cast(kernel: Kernel, op: ir.Operation) -> None:
    source = kernel.view(op.operands[0])
    offset = mixed(kernel, op, "static_offsets", 1)[0]
    sizes, strides = mixed(kernel, op, "static_sizes", 2), mixed(kernel, op, "static_strides", 3)
    kernel.values[op.results[0]] = source.flat(tuple(sizes), tuple(strides), offset)


@writes("memref.collapse_shape", "memref.expand_shape")
def reshape(kernel: Kernel, op: ir.Operation) -> None:
    source = kernel.view(op.operands[0])
    groups = [[int(i) for i in group] for group in op.attributes["reassociation"]]
    strides, offset = source.strides(), kernel.named(source.offset(), "offset")
    if op.name == "memref.collapse_shape":
        sizes = [_product([source.shape[d] for d in group]) for group in groups]
        made = [_innermost(source.shape, strides, group) for group in groups]
    else:
        sizes, made = _expanded(kernel, op, groups, strides)
    kernel.values[op.results[0]] = source.flat(tuple(sizes), tuple(made), offset)


def _innermost(shape: Sequence[Expr], strides: Sequence[Expr], group: list[int]) -> Expr:
    """The stride of a collapsed group: that of its last dimension which is longer than one."""
    longer = [d for d in group if shape[d].constant != 1]
    return strides[(longer or group)[-1]]


def _expanded(
    kernel: Kernel, op: ir.Operation, groups: list[list[int]], strides: Sequence[Expr]
) -> tuple[list[Expr], list[Expr]]:
    dynamic = iter(list(op.operands)[1:])
    sizes = [kernel.atom(next(dynamic), "size") if s == DYNAMIC else literal(s)
             for s in ir.DenseI64ArrayAttr(op.attributes["static_output_shape"])]  # fmt: skip
    made = [literal(1)] * len(sizes)
    for group, stride in zip(groups, strides, strict=True):
        for d in reversed(group):
            made[d] = stride
            stride = kernel.named(multiply(stride, sizes[d]), "stride")
    return sizes, made


def _product(sizes: Sequence[Expr]) -> Expr:
    total = literal(1)
    for size in sizes:
        total = multiply(total, size)
    return total


@writes("memref.dim")
def dim(kernel: Kernel, op: ir.Operation) -> None:
    axis = kernel.constant_of(op.operands[1])
    view = kernel.view(op.operands[0])
    if axis is None or not 0 <= axis < len(view.shape):
        raise refuse("W0503", "memref.dim of a dimension that is not a constant", op)
    kernel.bind(op.results[0], view.shape[axis])


@writes("memref.extract_strided_metadata")
def metadata(kernel: Kernel, op: ir.Operation) -> None:
    view = kernel.view(op.operands[0])
    rank = len(view.shape)
    results = list(op.results)
    kernel.values[results[0]] = view.flat((), (), literal(0))
    for result, value in zip(results[1:], (view.offset(), *view.shape, *view.strides()), strict=True):
        kernel.bind(result, value)
    if len(results) != 2 + 2 * rank:
        raise refuse("W0503", "metadata of another rank", op)
