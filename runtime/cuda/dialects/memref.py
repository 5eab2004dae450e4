"""memref: accesses, views, and memory of the block (shared) and of the thread (private)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from ....interpreter.mlir import ir
from ..errors import refuse
from ..expression import Expr, call, cast, name
from ..integers import add, literal, multiply
from ..kernel import LOOPS, Kernel
from ..loops import assignment
from ..ranges import Range
from ..registry import writes
from ..types import scalar
from ..views import Axis, Buffer, Space, View, access

DYNAMIC = -(1 << 63)


@writes("memref.load")
def load(kernel: Kernel, op: ir.Operation) -> None:
    view = kernel.view(op.operands[0])
    element = access(view.buffer, view.buffer_indices(kernel.exprs(list(op.operands)[1:])))
    kernel.bind(op.results[0], element, _value_name(view.buffer))


def _value_name(buffer: Buffer) -> str:
    """A value loaded from `A` is called `a`; from `s0`, `v0`."""
    plain = buffer.name.lower()
    return plain if buffer.space == "global" and plain.isidentifier() and plain != buffer.name else "v"


@writes("memref.store")
def store(kernel: Kernel, op: ir.Operation) -> None:
    value = kernel.expr(op.operands[0])
    view = kernel.view(op.operands[1])
    target = kernel.target(view, kernel.exprs(list(op.operands)[2:]))
    kernel.flush()
    declared = f"{declaration(view.buffer)};" if view.buffer.single else None
    if declared is not None and kernel.frame.lines[-1:] == [declared]:
        kernel.frame.lines[-1] = f"{declared[:-1]} = {value.text};"
        return
    kernel.line(assignment(target.text, value))


@writes("memref.alloca")
def alloca(kernel: Kernel, op: ir.Operation) -> None:
    type = ir.MemRefType(op.results[0].type)
    if space_of(type) == "shared":
        return alloc(kernel, op)
    single = math.prod(type.shape) == 1
    base = "acc" if single and _stored_in_a_loop(op) else "r"
    buffer = replace(array(kernel, type, "private", kernel.fresh(_hint(op, base)), op), single=single)
    kernel.arrays[buffer.name] = f"{declaration(buffer)};"
    kernel.line(kernel.arrays[buffer.name])
    kernel.values[op.results[0]] = View.whole(buffer)
    return None


def _stored_in_a_loop(op: ir.Operation) -> bool:
    """Is a private variable stored to in a loop that it outlives? Then it accumulates."""
    for use in op.results[0].uses:
        user = use.owner.operation
        while user.block != op.block:
            user = user.parent.operation
            if user.name in LOOPS and use.owner.operation.name == "memref.store":
                return True
    return False


@writes("memref.alloc")
def alloc(kernel: Kernel, op: ir.Operation) -> None:
    type = ir.MemRefType(op.results[0].type)
    if space_of(type) != "shared":
        raise refuse("W0503", "a kernel cannot allocate global memory", op, hint="allocate it on the host")
    kernel.values[op.results[0]] = View.whole(shared_array(kernel, type, _hint(op, "s"), op))


def shared_array(kernel: Kernel, type: ir.MemRefType, base: str, op: ir.Operation) -> Buffer:
    """An array in shared memory. It is declared at the top of the kernel, whose scope therefore holds its name."""
    scope = kernel.frames[0].scope
    variable = scope.fresh(base)
    while any(frame.scope.has(variable) for frame in kernel.frames[1:] if variable in frame.scope.taken):
        variable = scope.fresh(base)
    buffer = array(kernel, type, "shared", variable, op)
    kernel.shared.append((buffer, math.prod(s.constant or 0 for s in buffer.sizes) * buffer.element.size))
    return buffer


@writes("memref.dealloc", "memref.assume_alignment")
def nothing(kernel: Kernel, op: ir.Operation) -> None:
    """Shared and private memory ends with the kernel."""
    if len(op.results):
        kernel.values[op.results[0]] = kernel.view(op.operands[0])


def _hint(op: ir.Operation, base: str) -> str:
    return ir.StringAttr(op.attributes["weft.name"]).value if "weft.name" in op.attributes else base


def declaration(buffer: Buffer) -> str:
    if buffer.single:
        return f"{buffer.element.cxx} {buffer.name}"
    return f"{buffer.element.cxx} {buffer.name}{''.join(f'[{s.text}]' for s in buffer.sizes) or '[1]'}"


def array(kernel: Kernel, type: ir.MemRefType, space: Space, variable: str, op: ir.Operation) -> Buffer:
    """A buffer that the kernel itself declares: static, row-major."""
    strides, offset = layout_of(type, op)
    sizes = list(type.shape)
    if DYNAMIC in (*sizes, *strides, offset) or not _row_major(sizes, strides) or offset:
        raise refuse("W0503", f"{type}: memory of a kernel must be static and row-major", op)
    sizes, strides = (sizes, strides) if sizes else ([1], [1])
    return Buffer(variable, scalar(type.element_type, op), space, tuple(map(literal, sizes)),
                  tuple(map(literal, strides)), literal(0), array=bool(type.rank))  # fmt: skip


def layout_of(type: ir.MemRefType, op: ir.Operation) -> tuple[list[int], int]:
    """Strides and offset. Raises W0502 for a layout that has none."""
    try:
        strides, offset = type.get_strides_and_offset()
    except RuntimeError as error:
        raise refuse("W0502", f"the layout of {type} has no strides", op) from error
    return list(strides), offset


def _row_major(sizes: Sequence[int], strides: Sequence[int]) -> bool:
    return all(strides[d] == math.prod(sizes[d + 1 :]) for d in range(len(sizes)))


def space_of(type: ir.MemRefType) -> Space:
    text = str(type.memory_space) if type.memory_space is not None else ""
    if "workgroup" in text or text.startswith("3"):
        return "shared"
    return "private" if "private" in text or text.startswith("5") else "global"


# ---- views ------------------------------------------------------------------------------------------------------------


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
    source_strides, _ = ir.MemRefType(op.operands[0].type).get_strides_and_offset()
    steps = list(ir.DenseI64ArrayAttr(op.attributes["static_strides"]))
    full = [DYNAMIC if DYNAMIC in (s, t) else s * t for s, t in zip(source_strides, steps, strict=True)]
    wanted = list(zip(result.shape, result.get_strides_and_offset()[0], strict=True))
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


@writes("memref.get_global")
def get_global(kernel: Kernel, op: ir.Operation) -> None:
    kernel.values[op.results[0]] = View.whole(kernel.constant(op))


# ---- whole buffers, and atomics -----------------------------------------------------------------------------------------


@writes("memref.copy")
def copy(kernel: Kernel, op: ir.Operation) -> None:
    source, target = (kernel.view(v) for v in op.operands)
    kernel.flush()
    indices: list[Expr] = []
    opened = 0
    for size in source.shape:
        if size.constant == 1:
            indices.append(literal(0))
            continue
        variable = kernel.frame.scope.loop_variable()
        type = "int" if size.type == "int" else "long long"
        known = Range(0, max(0, (size.range.high if size.range else 1 << 47) - 1))
        indices.append(name(variable, type, known))
        kernel.line("  " * opened + f"for ({type} {variable} = 0; {variable} < {size.text}; ++{variable}) {{")
        opened += 1
    value = access(source.buffer, source.buffer_indices(tuple(indices)))
    kernel.line("  " * opened + f"{kernel.target(target, tuple(indices)).text} = {value.text};")
    for depth in reversed(range(opened)):
        kernel.line("  " * depth + "}")


_ATOMICS = {
    "addf": ("atomicAdd", ("f32", "f64")), "addi": ("atomicAdd", ("i32", "i64")), "maxs": ("atomicMax", ("i32", "i64")),
    "mins": ("atomicMin", ("i32", "i64")), "andi": ("atomicAnd", ("i32",)), "ori": ("atomicOr", ("i32",)),
    "assign": ("atomicExch", ("i32", "f32")),
}  # fmt: skip


@writes("memref.atomic_rmw")
def atomic(kernel: Kernel, op: ir.Operation) -> None:
    spelled = str(op).split("memref.atomic_rmw", 1)[1].split(None, 1)[0].strip('"')
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
        kernel.values[op.results[0]] = kernel.declare(op.results[0], made)
    else:
        kernel.line(f"{made.text};")
