"""`kernel_model`: what stands around a kernel (its arguments, attributions and sizes), then its body."""

from __future__ import annotations

from collections.abc import Callable

from ....dsl.diagnostics import fail
from ...ir.functions import (
    arguments,
    given_name,
    inputs_of,
    launch_sizes,
    segments,
    sizes_of,
    symbol,
    workgroup_buffers,
)
from ...ir.mlir import ir
from ...ir.nesting import ancestors
from ...memory.effects import is_memref
from ...session.rewriter import describe
from ..forms.algebra import AXES
from ..forms.linear import NOTHING
from ..forms.shape import LaunchShape, Sizes
from .digits import split_ids
from .model import KernelModel
from .reader import Reader, only_block
from .uniformity import split_uniform
from .values import Values

Names = Callable[["ir.Value"], "str | None"]


def kernel_model(
    kernel: ir.Operation | ir.OpView,
    *,
    block: Sizes | None = None,
    grid: Sizes | None = None,
    launch: ir.Operation | None = None,
    names: Names = lambda _: None,
    may_alias: bool = False,
) -> KernelModel:
    """The model of a `gpu.func` or of the body of a `gpu.launch`.

    Args:
        kernel: the op.
        block, grid: sizes that are known from elsewhere (the launch); those that the kernel states are found.
        launch: the `gpu.launch_func` that is judged: the kernel's arguments are what it passes, so that constants are known,
            and buffers that overlap are seen to. Without it the arguments are taken as distinct buffers.
        names: what users call a memref, where that is known.
        may_alias: buffers that come from outside may overlap, whatever they are.

    Raises:
        WeftError: W0640 for an op whose effects on memory are not known, or branches between blocks.
    """
    op = kernel.operation
    if op.name == "gpu.launch":
        return _launch_body(op, block, grid, names, may_alias)
    known = sizes_of(op, "known_block_size") or block or (None, None, None)
    shape = LaunchShape(known, sizes_of(op, "known_grid_size") or grid or (None, None, None))
    reader = Reader(symbol(op), shape, names, may_alias=may_alias)
    body = only_block(op.regions[0], op)
    count, shared = inputs_of(op), workgroup_buffers(op)
    given = arguments(launch) if launch is not None else [None] * count
    if launch is not None:
        _bind_host(reader, launch)
    for number, argument in enumerate(body.arguments):
        operand = given[number] if number < count else None
        if operand is not None:
            _pass(reader, argument, operand)
        elif isinstance(argument.type, ir.MemRefType):
            space = None if number < count else "workgroup" if number < count + shared else "private"
            place = (number, "arg_attrs") if number < count else (number - count, "workgroup_attrib_attrs")
            reader.views.root(argument, given_name(op, *place), space, foreign=number < count)
        else:
            _scalar(reader.values, argument)
    return _read(reader, op, body)


def stated_sizes(launch: ir.Operation) -> tuple[Sizes, Sizes]:
    """The block and grid sizes (x, y, z) that a `gpu.launch` or `gpu.launch_func` states, None where they are not constant."""
    host = Values(LaunchShape(), lambda _: NOTHING)
    forms = [host.linear(v) for v in launch_sizes(launch)]
    gx, gy, gz, bx, by, bz = (f.constant if f.is_constant else None for f in forms)
    return (bx, by, bz), (gx, gy, gz)


def _pass(reader: Reader, argument: ir.Value, operand: ir.Value) -> None:
    """`argument` of the kernel is `operand` of its launch."""
    if isinstance(argument.type, ir.MemRefType):
        reader.views.bind(argument, operand)
        reader.values.share_extents(argument, operand)
    elif isinstance(argument.type, ir.IndexType | ir.IntegerType):
        reader.values.bind(argument, reader.values.linear(operand))
    else:
        _scalar(reader.values, argument)


def _launch_body(op: ir.Operation, block: Sizes | None, grid: Sizes | None, names: Names, may_alias: bool) -> KernelModel:
    """A `gpu.launch`: block arguments are ids (block, thread) and sizes (grid, block), then what it attributes."""
    own_block, own_grid = stated_sizes(op)
    reader = Reader("gpu.launch", LaunchShape(block or own_block, grid or own_grid), names, may_alias=may_alias)
    body = only_block(op.regions[0], op)
    arguments = list(body.arguments)
    if any(segments(op)[7:10]):
        raise fail("W0640", f"the race analysis does not know clusters of blocks: {describe(op)}",
                   hint="launch it without a cluster size")  # fmt: skip
    for group, what in enumerate(("block_id", "thread_id", "grid_dim", "block_dim")):
        for axis, argument in zip(AXES, arguments[3 * group : 3 * group + 3], strict=True):
            reader.values.bind(argument, reader.values.hardware(what, axis))
    for number, argument in enumerate(arguments[12:]):
        reader.views.root(argument, space="workgroup" if number < workgroup_buffers(op) else "private")
    _bind_host(reader, op)
    return _read(reader, op, body)


def _bind_host(reader: Reader, launch: ir.Operation) -> None:
    """Numbers among the arguments of what stands around the launch: the same for all of its threads."""
    for around in ancestors(launch):
        for argument in (a for region in around.regions for block in region.blocks for a in block.arguments):
            if not is_memref(argument):
                _scalar(reader.values, argument)


def _read(reader: Reader, op: ir.Operation, body: ir.Block) -> KernelModel:
    reader.find_written(op)
    reader.block(body, ())
    model = reader.finish()
    split_ids(model)
    model.barriers, model.divergent = split_uniform(model, model.solver)
    return model


def _scalar(values: Values, argument: ir.Value) -> None:
    values.bind(argument, values.opaque(NOTHING), NOTHING)
