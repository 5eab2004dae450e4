"""Reading slices: `tensor.extract_slice`, `insert_slice` and `parallel_insert_slice`, and `memref.subview`."""

from __future__ import annotations

from .mlir import DYNAMIC, ir, producer
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
