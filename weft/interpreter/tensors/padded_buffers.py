"""The paddings of a payload, after bufferization: a buffer that a `linalg.map` fills, with the image
copied into a window of it.

If an op is raised to tensors again, it reads a padding of the image instead of the buffer, so that
a later `tile` or `as-gemm` can read through the padding, as before the first `launch`.

    linalg.map outs(%padded) { yield %zero }            %f = linalg.fill %zero
    memref.copy %image, (window of %padded)      ->     %p = tensor.insert_slice (%image as a tensor) into %f
    linalg.conv_2d … ins(%padded, …)                    linalg.conv_2d … ins(%p, …)
"""

from __future__ import annotations

from collections.abc import Callable

from ..ir.copying import fill_with
from ..ir.mlir import ir, ops_of, tensor, users
from ..ir.structured import body_of, element_type, empty, place_of, shape_of, yielded
from ..memory.layouts import as_tensor, is_plain
from ..padding.provenance import MARK


def padded_value(
    op: ir.Operation, buffer: ir.Value, changes: Callable[[ir.Operation, list[ir.Value]], bool]
) -> ir.Value | None:
    """The value that a padded buffer has at `op`, as a padding that is made at the insertion point.
    None if the buffer holds no padding, or if an op in between may have changed the buffer or the
    image.

    Args:
        changes: whether an op may change one of some buffers.
    """
    found = _makers(buffer)
    if found is None or any(each.block != op.block for each in found):
        return None
    fill, window, copy = found
    (constant,), image, block = yielded(fill), copy.operands[0], ops_of(op.block)
    between = block[block.index(copy) + 1 : block.index(op)]
    if constant.owner == body_of(fill) or not is_plain(ir.MemRefType(image.type)):
        return None
    if any(changes(each, [buffer, image]) for each in between):
        return None
    around = fill_with(empty(shape_of(buffer), element_type(buffer)), constant).results[0]
    return tensor.InsertSliceOp(as_tensor(image), around, [], [], [], *place_of(window)).result


def drop_padding(buffer: ir.Value) -> None:
    """Erases a padding that no op reads any more, with its buffer."""
    found = _makers(buffer)
    if found is not None and len(users(buffer)) == 2:
        for op in (*reversed(found), buffer.owner.operation):
            op.erase()


def _makers(buffer: ir.Value) -> tuple[ir.Operation, ir.Operation, ir.Operation] | None:
    """The `linalg.map` that fills a buffer, the window of the image, and the copy into it."""
    fills = [user for user in users(buffer) if MARK in user.attributes]
    windows = [user for user in users(buffer) if user.name == "memref.subview" and len(user.operands) == 1]
    copies = [(window, user) for window in windows for user in users(window.results[0])]
    if len(fills) != 1 or [copy.name for _, copy in copies] != ["memref.copy"] or None in shape_of(buffer):
        return None
    ((window, copy),) = copies
    return (fills[0], window, copy) if copy.operands[1] == window.results[0] else None
