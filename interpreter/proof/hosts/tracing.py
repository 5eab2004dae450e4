"""From a memref to the buffer behind it: views, casts and choices followed, constants folded."""

from __future__ import annotations

from collections.abc import Iterable

from ....dsl.diagnostics import WeftError
from ...ir import mlir
from ...ir.mlir import DYNAMIC, ir
from ...memory.strides import strided
from ...memory.views import VIEWS, shown, sources
from .affine_offsets import Offset, added, moving_offset
from .windows import Buffer, Part, Window

Known = dict[ir.Value, tuple[Window, ...]]


def traced(value: ir.Value, known: Known, on_the_way: frozenset[ir.Value] = frozenset()) -> tuple[Window, ...]:
    """The windows that `value` may show. `known`: what was found out before."""
    if value in known:
        return known[value]
    if value in on_the_way:
        return ()
    here = on_the_way | {value}
    made_of = sources(value)
    if made_of is None:
        return (Window(Buffer("unknown", value)),)
    if not made_of:
        return (_root(value),)
    if shown(value) is not None:
        return tuple(_shown(value, window) for window in traced(made_of[0], known, here))
    return _union(traced(v, known, here) for v in made_of)


def _root(value: ir.Value) -> Window:
    """A buffer of its own: an argument, an attribution of a kernel, an allocation, a global."""
    if not isinstance(value.owner, ir.Block):
        op = value.owner.operation
        if op.name == "memref.get_global":
            return Window(Buffer("global", ir.FlatSymbolRefAttr(op.attributes["name"]).value), 0, _dims(value))
        return _whole(value, "allocation")
    holder, number = value.owner.owner.operation, ir.BlockArgument(value).arg_number
    attributed = holder.name == "gpu.launch" or (holder.name == "gpu.func" and number >= parameter_count(holder))
    return _whole(value, "allocation" if attributed else "argument")


def parameter_count(function: ir.Operation) -> int:
    """How many arguments a caller passes; a kernel's body has more, its attributions."""
    return len(ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value).inputs)


def _union(found: Iterable[tuple[Window, ...]]) -> tuple[Window, ...]:
    """All of them, each once."""
    return tuple(dict.fromkeys(window for windows in found for window in windows))


def _whole(value: ir.Value, kind: str) -> Window:
    return Window(Buffer("argument" if kind == "argument" else "allocation", value), 0, _dims(value))


def _dims(value: ir.Value) -> tuple[tuple[int, int], ...] | None:
    """Sizes and strides of a buffer that starts at its first element; None where they are dynamic."""
    type_ = value.type
    if not isinstance(type_, ir.MemRefType):
        return None
    shape = _static_shape(type_)
    try:
        strides, offset = strided(type_)
    except WeftError:
        return None
    if shape is None or offset != 0 or DYNAMIC in strides:
        return None
    return tuple(zip(shape, strides, strict=True))


def _static_shape(type_: ir.MemRefType) -> list[int] | None:
    dynamic = any(type_.is_dynamic_dim(i) for i in range(type_.rank))
    return None if dynamic else [type_.get_dim_size(i) for i in range(type_.rank)]


def _shown(value: ir.Value, window: Window) -> Window:
    """What the view `value` shows of what `window` shows."""
    op = value.owner.operation
    lost = Window(window.buffer, part=Part())
    how = VIEWS[op.name]
    if how == "same":
        return window
    if window.dims is None:
        return lost
    if how == "subview":
        return _subview(op, window) or _moving(op, window) or lost
    if how == "reinterpret":
        return _reinterpreted(op, window) or lost
    if how in ("reshape", "transpose"):
        return window  # the same elements, in other dimensions: only subviews of it need those
    return lost


def _reinterpreted(op: ir.Operation, window: Window) -> Window | None:
    """Offset and strides that count from where the buffer begins."""
    offsets, sizes, strides = (_folded(op, f"static_{k}", k) for k in ("offsets", "sizes", "strides"))
    if offsets is None or sizes is None or strides is None:
        return None
    return Window(window.buffer, offsets[0], tuple(zip(sizes, strides, strict=True)))


def _subview(op: ir.Operation, window: Window) -> Window | None:
    source = op.operands[0].type
    offsets, sizes, strides = (_folded(op, f"static_{k}", k) for k in ("offsets", "sizes", "strides"))
    dims = _dims_of_view(source)
    if dims is None or offsets is None or sizes is None or strides is None or not isinstance(source, ir.MemRefType):
        return None
    offset = window.offset + sum(o * stride for o, (_, stride) in zip(offsets, dims, strict=True))
    stepped = [step * stride for step, (_, stride) in zip(strides, dims, strict=True)]
    return Window(window.buffer, offset, tuple(zip(sizes, stepped, strict=True)))


def _moving(op: ir.Operation, window: Window) -> Window | None:
    """A subview that starts elsewhere in each iteration of a loop."""
    sizes, strides = (_folded(op, f"static_{k}", k) for k in ("sizes", "strides"))
    dims = _dims_of_view(op.operands[0].type)
    if dims is None or sizes is None or strides is None:
        return None
    start: Offset | None = (window.offset, (), 0)
    dynamic = 1
    for entry, (_, stride) in zip(ir.DenseI64ArrayAttr(op.attributes["static_offsets"]), dims, strict=True):
        found: Offset | None = (entry, (), 0)
        if entry == DYNAMIC:
            found, dynamic = moving_offset(op.operands[dynamic]), dynamic + 1
        start = None if start is None or found is None else added(start, found, stride)
    if start is None:
        return None
    stepped = [step * stride for step, (_, stride) in zip(strides, dims, strict=True)]
    return Window(window.buffer, part=Part(start[0], tuple(zip(sizes, stepped, strict=True)), start[1], start[2]))


def _dims_of_view(type_: ir.Type) -> tuple[tuple[int, int], ...] | None:
    """Sizes and strides by the type, wherever it starts."""
    if not isinstance(type_, ir.MemRefType):
        return None
    try:
        strides, _ = strided(type_)
    except WeftError:
        return None
    if DYNAMIC in strides:
        return None
    return tuple((0 if type_.is_dynamic_dim(i) else type_.get_dim_size(i), s) for i, s in enumerate(strides))


def _folded(op: ir.Operation, attribute: str, kind: str) -> list[int] | None:
    """The static entries, with constants in the place of the dynamic ones; None where one is not constant."""
    segments = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
    at = 1 + sum(segments[1 : 1 + ("offsets", "sizes", "strides").index(kind)])
    out: list[int] = []
    for entry in ir.DenseI64ArrayAttr(op.attributes[attribute]):
        if entry != DYNAMIC:
            out.append(entry)
            continue
        made = mlir.producer(op.operands[at])
        at += 1
        if made is None or made.name != "arith.constant":
            return None
        out.append(int(ir.IntegerAttr(made.attributes["value"]).value))
    return out
