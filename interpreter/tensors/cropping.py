"""`tensor.pad` with negative widths crops: a slice, then a padding. Upstream bufferizes it to a slice that leaves its buffer."""

from __future__ import annotations

from ..ir.mlir import DYNAMIC, ir, operations, tensor


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
        with module.context, ir.InsertionPoint(op), op.location:
            part = ir.RankedTensorType.get(sizes, kind.element_type)
            ones = [1] * len(sizes)
            op.operands[0] = tensor.ExtractSliceOp(part, op.operands[0], [], [], [], offsets, sizes, ones).result
            op.attributes["static_low"] = ir.DenseI64ArrayAttr.get([start for start, _ in boxes])
            op.attributes["static_high"] = ir.DenseI64ArrayAttr.get([n - stop for n, (_, stop) in zip(whole, boxes, strict=True)])


def _box(size: int, low: int, high: int) -> tuple[int, int]:
    """From where to where what is left of the image stands in the result; nowhere at 0."""
    start, stop = max(low, 0), min(low + size, size + low + high)
    return (start, stop) if start < stop else (0, 0)
