"""The elements touched by the tensor memory accelerator and by products of warp groups: boxes of
tensors, tiles, and matrices given by descriptors.

A tile that receives a box is written as one contiguous piece from the start of the memref. A matrix
given by a descriptor is read in lines of the swizzle's width: first one line of every row; then,
one box further on in memory, the next line of every row. A swizzle exchanges pieces within groups
of lines; only whole groups are touched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ....dsl.diagnostics import fail
from ....dsl.records import record
from ...hardware.hopper.tensor_maps import LINES, LOAD_PIXELS, LOADS, STORE, TensorMap, load_of, tensor_map
from ...hardware.hopper.warpgroups import (
    DESCRIBE,
    PRODUCTS,
    Matrix,
    fits,
    flies,
    in_memory,
    matrix,
    may_pend,
    operands,
    panel_layout,
)
from ...hardware.queries import AGENTS
from ...indices.linear import THREAD, TRUE, Linear, at_least, both, either, less
from ...indices.values import Values
from ...ir.element_sizes import known_bytes
from ...ir.functions import segments
from ...ir.mlir import ir, producer
from ...ir.refusing import describe
from ...memory.layouts import static_strides
from ..solver import Naming, Unknown, points
from .clusters import targets
from .model import Access, KernelModel
from .places import Place
from .root_buffers import RootBuffer
from .views import View, Views


@record
class TouchedBox:
    """The elements of a buffer that one asynchronous op reads or writes. `view` holds the condition
    under which they are touched."""

    writes: bool
    view: View
    coordinates: tuple[Linear, ...] | None
    flat: bool = False


Inside = Callable[[Linear, int], bool]


def asynchronous(op: ir.Operation, place: Place, model: KernelModel, views: Views) -> Iterator[Access]:
    """Yields the accesses of a load or a store of the tensor memory accelerator, or of a product of
    a warp group that is awaited.

    Raises:
        WeftError: W0640 for an op that the analysis does not support.
    """
    if (unknown := not_followed(op)) is not None:
        raise fail("W0640", f"the race analysis does not follow {unknown}: {describe(op)}", hint=OTHERWISE)
    agent, given = AGENTS[op.name], segments(op)[-1] if op.name not in PRODUCTS else []
    always = model.values.condition(given[0]) if given else TRUE
    blocks = list(targets(op, model.values)) if op.name in LOADS else [(model.values.rank, TRUE)]
    for box in boxes(op, model.values, views, lambda form, size: _inside(model, form, size, place)):
        kind, seen = "write" if box.writes else "read", box.view
        for block, asked in blocks:
            when = both(seen.when, always, asked)
            here = kind, seen.root, box.coordinates, place, describe(op), when, box.flat, seen.sizes
            yield Access(*here, agent=agent, block=block)


def _inside(model: KernelModel, form: Linear, size: int, place: Place) -> bool:
    naming, solver = Naming(""), model.solver
    formulas = (either(less(form, Linear.of(0)), at_least(form, size)), *place.guards)
    try:
        return solver.is_empty(points(solver, (naming,), map(naming.formula, formulas))[1])
    except Unknown:
        return False


def boxes(op: ir.Operation, values: Values, views: Views, inside: Inside) -> Iterator[TouchedBox]:
    """Yields the boxes that a load, a store, or a product touches. `inside`: a test of whether an
    index is known to be in 0 … size-1 at the place of the op."""
    seen = op.opview
    load = load_of(op) if op.name in LOADS else None
    if load is not None or op.name == STORE:
        tile, given, coordinates = (
            (seen.src, seen.tensorMapDescriptor, seen.coordinates)
            if load is None
            else (load.tile, load.map, load.coordinates)
        )
        box = tensor_map(given.type)
        assert box is not None
        yield from _tile(tile, box, values, views, writes=load is not None)
        at = [values.linear(v) for v in reversed(list(coordinates))]
        known = op.name != LOAD_PIXELS and len(at) == len(box.box)  # pixels: anywhere in the images
        lanes = [_lane(values, n) for n in box.box] if known else []
        for view in views.of(given):  # also for a tensor with more axes than the box
            fits = lanes and all(d < len(at) for axis in view.axes or () for d, _ in axis.strides)
            found = views.coordinates(view, [a + b for a, b in zip(at, lanes, strict=True)]) if fits else None
            yield TouchedBox(load is None, view, found, view.flat and found is not None)
        return
    for described, rows_first, turned in in_memory(op):
        yield from _described(described, rows_first, turned, values, views, inside)


OTHERWISE = "let products wait for all of their groups (`waitGroup = 0`), or put `nvvm.wgmma.wait.group.sync.aligned 0` after them"


def not_followed(op: ir.Operation) -> str | None:
    """The unsupported property of the op, as text; None if it is supported."""
    if op.name in PRODUCTS and may_pend(op) and not flies(op):
        return "products whose sums may be used in flight (`waitGroup` is not 0, and no wait for all is between)"
    if op.name in PRODUCTS and any(after is None for _, after in operands(op)):
        return "products that do not begin where their descriptors point, or at an unknown offset in a row"
    if op.name in PRODUCTS and not fits(op):
        return "products with descriptors of other sizes than their sums"
    return None


def _lane(values: Values, extent: int) -> Linear:
    return Linear.of(0) if extent == 1 else Linear.of(values.fresh("lane", THREAD, 0, extent - 1))


def _tile(tile: ir.Value, box: TensorMap, values: Values, views: Views, *, writes: bool) -> Iterator[TouchedBox]:
    kind = ir.MemRefType(tile.type)
    shape = tuple(kind.shape)
    rows = [1]
    for extent in reversed(shape[1:]):
        rows.insert(0, rows[0] * extent)
    whole = shape == box.box and static_strides(kind, offset_counts=False) == tuple(rows)
    for view in views.of(tile):
        found = views.coordinates(view, [_lane(values, extent) for extent in shape]) if whole else None
        yield TouchedBox(writes, view, found, view.flat and found is not None)


def _described(
    described: ir.Value, rows_first: bool, turned: bool, values: Values, views: Views, inside: Inside
) -> Iterator[TouchedBox]:
    made, held = producer(described), matrix(described.type)
    if made is None or made.name != DESCRIBE or held is None:
        for view in views.of(described):
            yield TouchedBox(False, view, None)
        return
    tile, box = made.opview.tensor, tensor_map(made.opview.tensorMap.type)
    for view in views.of(tile):
        found = None if box is None or turned else _lines(view, tile, held, rows_first, box, values, views, inside)
        coordinates, flat = found or (None, False)
        yield TouchedBox(False, view, coordinates, flat)


def _lines(
    view: View,
    tile: ir.Value,
    held: Matrix,
    rows_first: bool,
    box: TensorMap,
    values: Values,
    views: Views,
    inside: Inside,
) -> tuple[tuple[Linear, ...], bool] | None:
    """The elements of the matrix, and whether their coordinate is flat; None where unknown."""
    each = known_bytes(held.element)
    start = views.coordinates(view, [Linear.of(0)] * ir.MemRefType(tile.type).rank)
    root = view.root
    if each is None or start is None or view.flat or root.strides is None or len(box.box) != 2 or view.sizes:
        return None
    rows, columns = (held.rows, held.columns) if rows_first else (held.columns, held.rows)
    places = panel_layout(box, rows, columns * each)
    position = root.position(start)
    assert position is not None
    group = LINES * box.swizzle  # the period of the swizzle, in bytes
    if box.swizzle and (rows % LINES or position.content * each % group):
        return None
    parts = [(d.count, d.stride) for d in places.digits]
    parts = [(count, stride // each) for count, stride in parts[:-1]] + [(parts[-1][0] // each, 1)]
    return _placed(root, start, parts, values, inside) or ((position + _sum(parts, values),), True)


def _placed(
    root: RootBuffer, start: tuple[Linear, ...], parts: Sequence[tuple[int, int]], values: Values, inside: Inside
) -> tuple[tuple[Linear, ...], bool] | None:
    """The coordinates, where each part is added on the axis of the buffer with the same stride, and
    with enough elements for it; None if there is no such axis for some part."""
    out = list(start)
    assert root.strides is not None
    for count, stride in parts:
        if count == 1:
            continue
        axes = [
            a
            for a, (step, size) in enumerate(zip(root.strides, root.shape, strict=True))
            if step == stride and size != 1
        ]
        if len(axes) != 1:
            return None
        (axis,) = axes
        moved, size = out[axis] + _lane(values, count), root.shape[axis]
        if size is None or not inside(moved, size):
            return None
        out[axis] = moved
    return tuple(out), False


def _sum(parts: Sequence[tuple[int, int]], values: Values) -> Linear:
    return sum((_lane(values, count) * stride for count, stride in parts), start=Linear.of(0))
