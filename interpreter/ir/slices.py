"""Reading slices: `tensor.extract_slice`, `insert_slice` and `parallel_insert_slice`, and `memref.subview`."""

from __future__ import annotations

from .mlir import DYNAMIC, ahead_of, ir, operations, producer, tensor
from .structured import shape_of


def place_of(op: ir.Operation) -> tuple[list[int], list[int], list[int]]:
    """Offsets, sizes and strides; `DYNAMIC` where one is no number."""
    offsets, sizes, strides = (
        list(ir.DenseI64ArrayAttr(op.attributes[f"static_{what}"])) for what in ("offsets", "sizes", "strides")
    )
    return offsets, sizes, strides


def offsets_of(op: ir.Operation) -> list[ir.Value | int]:
    """The offsets, as numbers where they are."""
    values = iter(list(op.operands)[2 if _inserts(op) else 1 :])
    return [next(values) if offset == DYNAMIC else offset for offset in place_of(op)[0]]


def starts_whole(op: ir.Operation) -> bool:
    """Whether a slice starts at the first element and leaves no gaps."""
    offsets, _, strides = place_of(op)
    return not any(offsets) and set(strides) <= {1}


def takes_all(op: ir.Operation) -> bool:
    """Whether a slice is all of what it is a slice of, or is inserted into."""
    whole, part = (op.operands[1], op.operands[0]) if _inserts(op) else (op.operands[0], op.results[0])
    return starts_whole(op) and None not in shape_of(part) and shape_of(whole) == shape_of(part)


def _inserts(op: ir.Operation) -> bool:
    return op.name not in ("memref.subview", "tensor.extract_slice")


def from_origin(op: ir.Operation) -> bool:
    """Whether `op` is the slice of a tensor from its first element on, without gaps, of static shape and the same rank."""
    if op.name != "tensor.extract_slice" or not starts_whole(op):
        return False
    shape = shape_of(op.results[0])
    return None not in shape and len(shape) == len(place_of(op)[0])


def uncut(value: ir.Value) -> ir.Value:
    """What a value is cut back from; itself if it is whole."""
    op = producer(value)
    return op.operands[0] if op is not None and from_origin(op) else value


def sliced(value: ir.Value) -> ir.Value:
    """What a value is a slice of; itself if it is none."""
    op = producer(value)
    return op.operands[0] if op is not None and op.name == "tensor.extract_slice" else value


def crop_before_padding(module: ir.Module) -> None:
    """Slice what a `tensor.pad` of negative widths crops, in front of it; the widths that are left are 0 or more."""
    for op in operations(module.operation, "tensor.pad"):
        low, high = (list(ir.DenseI64ArrayAttr(op.attributes[f"static_{end}"])) for end in ("low", "high"))
        kind = ir.RankedTensorType(op.operands[0].type)
        if DYNAMIC in (*low, *high) or min((*low, *high), default=0) >= 0 or not kind.has_static_shape:
            continue
        boxes = [_box(n, a, b) for n, a, b in zip(kind.shape, low, high, strict=True)]
        sizes = [stop - start for start, stop in boxes]
        offsets = [start - a if n else 0 for n, (start, _), a in zip(sizes, boxes, low, strict=True)]
        whole = [n + a + b for n, a, b in zip(kind.shape, low, high, strict=True)]
        with module.context, ahead_of(op):
            part = ir.RankedTensorType.get(sizes, kind.element_type)
            ones = [1] * len(sizes)
            op.operands[0] = tensor.ExtractSliceOp(part, op.operands[0], [], [], [], offsets, sizes, ones).result
            op.attributes["static_low"] = ir.DenseI64ArrayAttr.get([start for start, _ in boxes])
            op.attributes["static_high"] = ir.DenseI64ArrayAttr.get([n - stop for n, (_, stop) in zip(whole, boxes, strict=True)])


def _box(size: int, low: int, high: int) -> tuple[int, int]:
    """From where to where what is left of the image stands in the result; nowhere at 0."""
    start, stop = max(low, 0), min(low + size, size + low + high)
    return (start, stop) if start < stop else (0, 0)
