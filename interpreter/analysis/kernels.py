"""`kernel_model`: what stands around a kernel (its arguments, attributions and sizes), then its body."""

from __future__ import annotations

from ..mlir import ir
from .algebra import AXES
from .linear import NOTHING
from .model import KernelModel
from .reader import Reader
from .relations import Solver
from .shape import LaunchShape, Sizes
from .uniformity import split_uniform
from .values import Values


def kernel_model(
    kernel: ir.Operation | ir.OpView, *, block: Sizes | None = None, grid: Sizes | None = None
) -> KernelModel:
    """The model of a `gpu.func` or of the body of a `gpu.launch`.

    Args:
        kernel: the op. Its arguments are taken as distinct buffers.
        block, grid: sizes that are known from elsewhere (the launch); those that the kernel states are found.

    Raises:
        WeftError: W0640 for an op whose effects on memory are not known.
    """
    op = kernel.operation
    if op.name == "gpu.launch":
        return _launch_body(op)
    known = _known(op, "known_block_size") or block or (None, None, None)
    shape = LaunchShape(known, _known(op, "known_grid_size") or grid or (None, None, None))
    reader = Reader(str(ir.StringAttr(op.attributes["sym_name"]).value), shape)
    body = op.regions[0].blocks[0]
    count = len(ir.FunctionType(ir.TypeAttr(op.attributes["function_type"]).value).inputs)
    shared = (
        int(ir.IntegerAttr(op.attributes["workgroup_attributions"])) if "workgroup_attributions" in op.attributes else 0
    )
    names = _argument_names(op, count)
    for number, argument in enumerate(body.arguments):
        name = names.get(number) or argument.get_name(use_local_scope=True).lstrip("%")
        if isinstance(argument.type, ir.MemRefType):
            space = None if number < count else "workgroup" if number < count + shared else "private"
            reader.views.root(argument, name, space)
        else:
            _scalar(reader.values, argument)
    return _read(reader, op, body)


def _launch_body(op: ir.Operation) -> KernelModel:
    """A `gpu.launch`: block arguments are ids (block, thread) and sizes (grid, block), then what it attributes."""
    first = _first_size(op)
    sizes = [_constant(v) for v in list(op.operands)[first : first + 6]]
    shape = LaunchShape((sizes[3], sizes[4], sizes[5]), (sizes[0], sizes[1], sizes[2]))
    reader = Reader("gpu.launch", shape)
    body = op.regions[0].blocks[0]
    arguments = list(body.arguments)
    for group, what in enumerate(("block_id", "thread_id", "grid_dim", "block_dim")):
        for axis, argument in zip(AXES, arguments[3 * group : 3 * group + 3], strict=True):
            reader.values.bind(argument, reader.values.hardware(what, axis))
    for argument in arguments[12:]:
        if isinstance(argument.type, ir.MemRefType):
            reader.views.root(argument, argument.get_name(use_local_scope=True).lstrip("%"))
    _bind_outside(reader, op)
    return _read(reader, op, body)


def _bind_outside(reader: Reader, launch: ir.Operation) -> None:
    """Arguments of what stands around the launch: the same for all of its threads."""
    parent = launch.parent
    while parent is not None:
        for region in parent.operation.regions:
            for block in region.blocks:
                for argument in block.arguments:
                    if isinstance(argument.type, ir.MemRefType):
                        reader.views.root(argument, argument.get_name(use_local_scope=True).lstrip("%"))
                    elif isinstance(argument.type, ir.IndexType | ir.IntegerType):
                        _scalar(reader.values, argument)
        parent = parent.operation.parent


def _read(reader: Reader, op: ir.Operation, body: ir.Block) -> KernelModel:
    reader.find_written(op)
    reader.block(body, ())
    model = reader.finish()
    model.barriers, model.divergent = split_uniform(model, Solver())
    return model


def _scalar(values: Values, argument: ir.Value) -> None:
    values.bind(argument, values.opaque(NOTHING), NOTHING)


def _known(op: ir.Operation, attribute: str) -> Sizes | None:
    if attribute not in op.attributes:
        return None
    x, y, z = list(ir.DenseI32ArrayAttr(op.attributes[attribute]))
    return (x, y, z)


def _argument_names(op: ir.Operation, arguments: int) -> dict[int, str]:
    """`weft.name` of the function's arguments, and of its workgroup attributions, which follow them."""
    out: dict[int, str] = {}
    for attribute, first in (("arg_attrs", 0), ("workgroup_attrib_attrs", arguments)):
        if attribute in op.attributes:
            for number, attributes in enumerate(ir.ArrayAttr(op.attributes[attribute])):
                entry = ir.DictAttr(attributes)
                if "weft.name" in entry:
                    out[first + number] = ir.StringAttr(entry["weft.name"]).value
    return out


def _first_size(op: ir.Operation) -> int:
    segments = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
    return segments[0]  # asynchronous dependencies come first


def _constant(value: ir.Value) -> int | None:
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "arith.constant":
        return None
    return int(ir.IntegerAttr(value.owner.operation.attributes["value"]))
