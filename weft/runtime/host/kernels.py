"""The kernels of a module: their names in plan, CUDA text and simulator, and their launches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any

from ...dsl.diagnostics import fail
from ...interpreter.hardware import limits, queries
from ...interpreter.hardware.ampere.fragments import AS_TYPE, MMA
from ...interpreter.hardware.hopper import warpgroups
from ...interpreter.hardware.hopper.mbarriers import BYTES, count_of, is_mbarriers
from ...interpreter.hardware.hopper.tensor_maps import MAKE, TensorMap, window_of_pixels
from ...interpreter.hardware.limits import PixelWindow
from ...interpreter.ir import mlir
from ...interpreter.ir.functions import CLUSTER_SIZE, MOST_BLOCKS, launch_sizes, sizes_of, symbol
from ...interpreter.ir.mlir import ir, users
from ...interpreter.ir.refusing import describe
from ...interpreter.memory.shared import placed, shared_parts
from ..cuda.function import FunctionText
from ..cuda.values.sizes import GRID
from ..form.group_form import expected_box
from ..form.kernel_form import refuse, since_chip
from ..plan.dtypes import itemsize, rounds_most
from ..plan.plan import (
    Apply,
    Arg,
    Assumption,
    Boxes,
    BufferView,
    DimOf,
    Folded,
    Launch,
    Narrow,
    ScalarValue,
    Size,
    TensorMapOf,
)
from ..plan.resolve import fold
from .functions import array_type
from .program import Claim, Host, HostValue, TokenValue, rule


def shared_memory(kernel: ir.Operation) -> tuple[int, int]:
    """Bytes of shared memory that a kernel declares, and the part of them that a launch of its CUDA
    text must pass."""
    sizes: list[int] = []
    parts = list(shared_parts(kernel))
    for value in (part.value for part in parts):
        if is_mbarriers(value.type):
            sizes.append(count_of(value.type) * BYTES)
            continue
        type_ = ir.MemRefType(value.type)
        dtype, shape = array_type(type_, f"shared memory of @{symbol(kernel)}")
        if shape is None or None in shape:
            raise fail("W0733", f"shared memory of @{symbol(kernel)} has a dynamic shape: {type_}")
        sizes.append(prod(s for s in shape if s is not None) * itemsize(dtype))
    _, aligned = placed([(size, part.alignment) for size, part in zip(sizes, parts, strict=True)])
    return (aligned, aligned) if aligned > limits.STATIC else (sum(sizes), 0)


def rounded_to(kernel: ir.Operation) -> str | None:
    """The type to which a kernel rounds operands because its schedule requests it; of several, the
    coarsest."""
    return rounds_most(map(_rounded, mlir.operations(kernel, MMA, warpgroups.MMA)))


def _rounded(product: ir.Operation) -> str | None:
    if AS_TYPE in product.attributes:
        return ir.StringAttr(product.attributes[AS_TYPE]).value
    left = warpgroups.matrix(product.operands[0].type)
    if left is not None:
        return "tf32" if str(left.element) == "tf32" else None
    return "tf32" if "tf32Enabled" in product.attributes else None


def required_chip(kernel: ir.Operation) -> str | None:
    """The oldest architecture with the instructions of all the kernel's ops; None if all have them."""
    needed = list(mlir.operations(kernel, *queries.SINCE))
    alone = "a" if any(op.name in queries.ONLY for op in needed) else ""
    return f"sm_{max(map(since_chip, needed))}{alone}" if needed else None


@rule("gpu.launch_func")
def _launch(host: Host, op: ir.Operation) -> Sequence[HostValue]:
    view: Any = op.opview
    sizes = [host.size(v, op) for v in launch_sizes(op)]
    shared = view.dynamicSharedMemorySize
    outer, inner = ir.SymbolRefAttr(op.attributes["kernel"]).value
    kernel = host.kernels.get(f"{outer}::{inner}")
    if kernel is None:
        if any(b.operation.name == "gpu.binary" and symbol(b.operation) == outer for b in host.module.body.operations):
            message = f"@{outer}::@{inner} is compiled already (gpu.binary), for a target that is not read here"
            hint = "put the `gpu.module` that the binary was made of into this module, in its place"
            raise refuse("W0731", message, op, hint)
        raise refuse(
            "W0731",
            f"the module has no kernel @{outer}::@{inner}",
            op,
            "put the `gpu.module` with that kernel into the module",
        )
    _check_known(host, op, kernel.op, "known_block_size", sizes[3:])
    _check_known(host, op, kernel.op, "known_grid_size", sizes[:3])
    _check_clusters(host, op, kernel.op, sizes[:3])
    parameters = kernel.op.regions[0].blocks[0].arguments
    for argument, operand in zip(parameters, view.kernelOperands, strict=False):
        host.assume(argument, host.value(operand, op), op)
    stated = kernel.op.attributes.get(MOST_BLOCKS)
    for size, most in zip(sizes, () if stated is None else ir.DenseI64ArrayAttr(stated), strict=False):
        if most >= 0:
            host.expect(Assumption(size, 1, "", most), op)
    host.launched.add(kernel.name)
    args = tuple(_argument(host, v, op, taken) for v, taken in zip(view.kernelOperands, parameters, strict=False))
    known = {str(n): arg.shape for n, arg in enumerate(args) if isinstance(arg, BufferView)} | {GRID: tuple(sizes[:3])}
    whole, *others = host.texts(kernel.symbol)
    narrow = [Narrow(text.name, _small(text, known), _reciprocals(text, known)) for text in others if text.small]
    folded = [Folded(text.name, _reciprocals(text, known)) for text in others if not text.small]
    return host.issue(
        Launch(
            kernel=kernel.name,
            grid=(sizes[0], sizes[1], sizes[2]),
            block=(sizes[3], sizes[4], sizes[5]),
            shared_bytes=0 if shared is None else host.size(shared, op),
            args=args,
            reciprocals=_reciprocals(whole, known),
            narrow=narrow[0] if narrow else None,
            folded=folded[0] if folded else None,
        ),
        op,
    )


def _reciprocals(text: FunctionText, known: Mapping[str, Sequence[Size]]) -> tuple[Size, ...]:
    return tuple(_at_launch(size, known) for _, size in text.reciprocals)


def _small(text: FunctionText, known: Mapping[str, Sequence[Size]]) -> tuple[Size, ...]:
    """The numbers that must fit in 32 bits at a launch, without those that another of them bounds:
    of `n + 1` and `n + 3`, only the latter."""
    most: dict[Size, int] = {}
    for number in text.small:
        part, more = _sum(_at_launch(number, known))
        most[part] = max(most.get(part, more), more)
    smaller = {
        part.left
        for part, more in most.items()
        if isinstance(part, Apply) and part.operator == "mul" and isinstance(part.right, int) and part.right > 0
        if most.get(part.left, 0) <= more
    }
    return tuple(fold("add", part, more) for part, more in most.items() if part not in smaller)


def _sum(number: Size) -> tuple[Size, int]:
    """The size and the constant that a sum adds: `n` and 3 of `(n + 1) + 2`."""
    if isinstance(number, Apply) and number.operator == "add":
        for part, other in ((number.left, number.right), (number.right, number.left)):
            if isinstance(other, int):
                inner, more = _sum(part)
                return inner, more + other
    return number, 0


def _at_launch(size: Size, known: Mapping[str, Sequence[Size]]) -> Size:
    """A number of a kernel's text as an expression of the host, by substitution of the arguments'
    sizes and the grid."""
    match size:
        case DimOf():
            return known[size.buffer][size.axis]
        case Apply():
            return fold(size.operator, _at_launch(size.left, known), _at_launch(size.right, known))
    return size


def _check_known(host: Host, op: ir.Operation, kernel: ir.Operation, key: str, sizes: Sequence[Size]) -> None:
    """Checks that a kernel compiled for one launch shape is launched with it. Raises W0737."""
    known = sizes_of(kernel, key)
    if known is not None and any(isinstance(size, int) and size != n for size, n in zip(sizes, known, strict=True)):
        raise refuse("W0737", f"{key} of @{symbol(kernel)} is {list(known)}, the launch states {list(sizes)}", op)


def _check_clusters(host: Host, op: ir.Operation, kernel: ir.Operation, grid: Sequence[Size]) -> None:
    """Checks that a launch has whole clusters of the kernel's cluster size, which is part of its
    text. Raises W0737 or W0731."""
    known, seen = sizes_of(kernel, CLUSTER_SIZE), op.opview
    given = [seen.clusterSizeX, seen.clusterSizeY, seen.clusterSizeZ]
    stated = None if given[0] is None else tuple(host.number(size, op, "the size of a cluster") for size in given)
    if stated is not None and stated != (known or (1, 1, 1)):
        raise refuse(
            "W0737", f"{CLUSTER_SIZE} of @{symbol(kernel)} is {list(known or ())}, the launch states {list(stated)}", op
        )
    if prod(known or ()) > limits.MOST_OF_CLUSTER:
        raise refuse(
            "W0731", f"clusters of {prod(known or ())} blocks; a chip has room for {limits.MOST_OF_CLUSTER} at most", op
        )
    for axis, blocks, each in zip("xyz", grid, known or (), strict=False):
        if isinstance(blocks, int) and blocks % each:
            raise refuse("W0737", f"{blocks} blocks along {axis} are not whole clusters of {each}", op)
        host.expect(Assumption(blocks, each, ""), op)


def _argument(host: Host, value: ir.Value, op: ir.Operation, taken: ir.Value) -> Arg:
    found = host.value(value, op)
    if isinstance(found, BufferView):
        return host.view(value, op)
    if isinstance(found, TensorMapOf):
        return replace(found, layout=replace(found.layout, rounded=rounding_of(taken)))
    dtype, _ = array_type(value.type, f"an argument of {describe(op)}")
    if isinstance(found, TokenValue | Claim):
        raise refuse("W0731", "a token cannot be a kernel's argument", op)
    return ScalarValue(dtype, found)


@rule(MAKE)
def _make(host: Host, op: ir.Operation) -> Sequence[HostValue]:
    found, seen, window = expected_box(op.results[0], op, "W0731"), op.opview, window_of_pixels(op.results[0])
    given = tuple(host.number(value, op, "a size of a box") for value in seen.boxDimensions)
    view = host.view(seen.tensor, op)
    if given != found.box or len(view.shape) != (len(found.box) if window is None else window.rank):
        boxes = f"boxes of {list(given)}, of a tensor of {len(view.shape)} dimensions"
        raise refuse("W0731", f"`{op.name}` of {boxes}; its type states {list(found.box)}", op)
    return [TensorMapOf(view, boxes_of(found, window))]


def rounding_of(taken: ir.Value) -> str | None:
    """The type to which products round the f32 elements that they read through a kernel's tensor
    map; the copy rounds them instead."""
    described = [warpgroups.matrix(user.results[0].type) for user in users(taken) if user.name == warpgroups.DESCRIBE]
    return "tf32" if any(matrix is not None and str(matrix.element) == "tf32" for matrix in described) else None


def boxes_of(found: TensorMap, window: PixelWindow | None) -> Boxes:
    """The boxes of a tensor map in the plan."""
    return Boxes(found.box, found.swizzle, found.fill, found.fetch, window)
