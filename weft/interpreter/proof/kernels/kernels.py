"""The kernels of a complete module, each with the launch to analyse and its block and grid sizes;
and `kernel_model`, which binds the arguments, attributions and sizes of a kernel, then reads its
body."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from math import prod

from ....dsl.diagnostics import fail
from ....dsl.records import record
from ...hardware.hopper.tensor_maps import is_tensor_map
from ...indices.algebra import AXES, LaunchShape, Sizes
from ...indices.linear import NOTHING
from ...indices.values import Values
from ...ir.functions import (
    CLUSTER_SIZE,
    arguments,
    inputs_of,
    launch_sizes,
    name_of,
    register_cap,
    segments,
    sizes_of,
    symbol,
    workgroup_buffers,
)
from ...ir.mlir import ancestors, ir, operations, producer
from ...ir.refusing import describe
from ...memory.effects import is_memref
from ..combination.combination import combination_of
from .collective_barriers import split_uniform
from .model import KernelModel, split_ids
from .reader import Reader, only_block

Names = Callable[["ir.Value"], "str | None"]


def kernel_model(
    kernel: ir.Operation | ir.OpView,
    *,
    block: Sizes | None = None,
    grid: Sizes | None = None,
    launch: ir.Operation | None = None,
    names: Names = lambda _: None,
    may_alias: bool = False,
    passed_in_rows: bool = False,
) -> KernelModel:
    """The model of a `gpu.func` or of the body of a `gpu.launch`.

    Args:
        kernel: the op.
        block, grid: sizes known from elsewhere (the launch); sizes that the kernel states take
            precedence.
        launch: the `gpu.launch_func` to analyse: the kernel's arguments are its operands, which
            makes constants known and overlapping buffers visible. Without it, the arguments are
            assumed to be distinct buffers.
        names: gives the user's name of a memref, where it is known.
        may_alias: any two buffers from outside may overlap.
        passed_in_rows: arguments of host functions with unknown strides are row-major, because the
            runtime passes no other arrays.

    Raises:
        WeftError: W0640 for an op with unknown effects on memory, or branches between blocks.
    """
    op, host = kernel.operation, launch
    if op.name == "gpu.launch":  # block arguments: ids (block, thread), sizes (grid, block), then attributions
        if any(segments(op)[7:10]):
            raise fail(
                "W0640",
                f"the race analysis does not follow a `gpu.launch` of clusters of blocks: {describe(op)}",
                hint=f"outline it, and state `{CLUSTER_SIZE}` of the kernel",
            )
        name, count, host, (own_block, own_grid) = op.name, 12, op, stated_sizes(op)
        shape = LaunchShape(block or own_block, grid or own_grid)
    else:
        name, count, known = symbol(op), inputs_of(op), sizes_of(op, "known_block_size") or block or (None, None, None)
        cluster = sizes_of(op, CLUSTER_SIZE) or (1, 1, 1)
        shape = LaunchShape(known, sizes_of(op, "known_grid_size") or grid or (None, None, None), cluster)
    if launch is not None and CLUSTER_SIZE not in op.attributes and any(segments(launch)[7:10]):
        raise fail(
            "W0640",
            f"the race analysis does not follow clusters that the kernel does not state: {describe(launch)}",
            hint=f"state `{CLUSTER_SIZE}` of the kernel",
        )
    shared, reader = (
        workgroup_buffers(op),
        Reader(name, shape, names, may_alias=may_alias, passed_in_rows=passed_in_rows),
    )
    body = only_block(op.regions[0], op)
    # scalar arguments of the regions around the launch are uniform over its threads
    for around in () if host is None else ancestors(host):
        for argument in (a for region in around.regions for inner in region.blocks for a in inner.arguments):
            if not is_memref(argument):
                _scalar(reader.values, argument)
    given = arguments(launch) if launch is not None else [None] * count
    for number, argument in enumerate(body.arguments):
        if op.name == "gpu.launch" and number < count:
            what = ("block_id", "thread_id", "grid_dim", "block_dim")[number // 3]
            reader.values.bind(argument, reader.values.hardware(what, AXES[number % 3]))
            continue
        operand = given[number] if number < count else None
        if operand is not None:  # the operand of the launch
            if isinstance(argument.type, ir.MemRefType):
                reader.views.bind(argument, operand)
                reader.values.share_extents(argument, operand)
            elif is_tensor_map(argument.type):
                reader.views.bind(argument, operand)
            elif isinstance(argument.type, ir.IndexType | ir.IntegerType):
                reader.values.bind(argument, reader.values.linear(operand))
            else:
                _scalar(reader.values, argument)
        elif is_tensor_map(argument.type):
            reader.views.root(argument, name_of(argument), foreign=True)
        elif isinstance(argument.type, ir.MemRefType):
            space = None if number < count else "workgroup" if number < count + shared else "private"
            reader.views.root(argument, name_of(argument), space, foreign=number < count)
        else:
            _scalar(reader.values, argument)
    reader.find_written(op)
    reader.block(body, ())
    model = reader.finish()
    model.register_cap = register_cap(op)
    model.given = reader.values.of_arguments(reader.views.name)
    split_ids(model)
    model.barriers, model.divergent = split_uniform(model, model.solver)
    apart = {barrier.place for barrier in model.divergent}
    if reader.parts:
        model.combined = tuple(combination_of(op, shape, reader.parts))
    model.gatherings = [met for met in model.gatherings if met.arrival not in apart and met.wait not in apart]
    return model


def stated_sizes(launch: ir.Operation) -> tuple[Sizes, Sizes]:
    """The block and grid sizes (x, y, z) that a `gpu.launch` or `gpu.launch_func` states; None for
    a size that is not constant."""
    host = Values(LaunchShape(), lambda _: NOTHING)
    forms = [host.linear(v) for v in launch_sizes(launch)]
    gx, gy, gz, bx, by, bz = (f.constant if f.is_constant else None for f in forms)
    return (bx, by, bz), (gx, gy, gz)


def _scalar(values: Values, argument: ir.Value) -> None:
    values.bind(argument, values.opaque(NOTHING), NOTHING)


MOST_THREADS = 1024
_PLACES = ("gpu.block_id", "gpu.grid_dim", "gpu.global_id")
_LOOPS = {"scf.for", "scf.while", "affine.for"}
_HOST = {"builtin.module", "func.func", "scf.if", "affine.if", "scf.execute_region", *_LOOPS}


@record(eq=False)
class KernelUse:
    """One use of a kernel by a launch. `launch` is None for a kernel that nothing in the module
    launches."""

    kernel: ir.Operation
    launch: ir.Operation | None

    @property
    def name(self) -> str:
        return "gpu.launch" if self.kernel.name == "gpu.launch" else f"@{symbol(self.kernel)}"

    @property
    def place(self) -> str:
        return describe(self.launch if self.launch is not None else self.kernel)


def kernel_uses(module: ir.Module) -> list[KernelUse]:
    """Every launch in program order, then the kernels without a launch. Compiled kernels
    (`gpu.binary`) have no readable body and are left out.

    Raises:
        WeftError: W0611 for a launch of a missing kernel; W0640 for a launch inside a host op that
            may execute it in parallel with itself.
    """
    kernels = {
        f"@{symbol(holder)}::@{symbol(kernel)}": kernel
        for holder in operations(module.operation, "gpu.module")
        for kernel in operations(holder, "gpu.func")
    }
    binaries = {symbol(op) for op in operations(module.operation, "gpu.binary")}
    out: list[KernelUse] = []
    launched: set[str] = set()
    for op in operations(module.operation, "gpu.launch", "gpu.launch_func"):
        for around in ancestors(op):
            if around.name not in _HOST:
                raise fail(
                    "W0640",
                    f"the race analysis does not determine the order of launches in {describe(around)}",
                    hint="launch from straight code, `scf.for`, `scf.while` or `scf.if`",
                )
        if op.name == "gpu.launch":
            out.append(KernelUse(op, op))
            continue
        name = str(op.attributes["kernel"])
        if name.split("::")[0].lstrip("@") in binaries:
            continue
        if name not in kernels:
            message = f"the module has no kernel {name}: {describe(op)}"
            raise fail("W0611", message, hint="put the `gpu.module` with that kernel into the module")
        launched.add(name)
        out.append(KernelUse(kernels[name], op))
    for name, kernel in kernels.items():
        if name not in launched and ("gpu.kernel" in kernel.attributes or "kernel" in kernel.attributes):
            out.append(KernelUse(kernel, None))
    return out


def model_of(
    use: KernelUse, *, block: Sizes | None = None, grid: Sizes | None = None, names: Names = lambda _: None,
    may_alias: bool = False, passed_in_rows: bool = False,
) -> KernelModel:  # fmt: skip
    """The model of a kernel as its launch uses it. `block` and `grid` apply where neither the
    launch nor the kernel states a size.

    Raises:
        WeftError: W0612 if no block size is stated, W0613 for sizes that contradict each other or
            that no launch can have; W0640.
    """
    stated: list[tuple[str, Sizes | None, Sizes | None]] = []
    if use.launch is not None:
        stated.append((use.launch.name, *stated_sizes(use.launch)))
    stated.append(
        ("the kernel's attribute", sizes_of(use.kernel, "known_block_size"), sizes_of(use.kernel, "known_grid_size"))
    )
    stated.append(("the command line", block, grid))
    chosen_block = _agreed(use, "block", [(source, b) for source, b, _ in stated])
    chosen_grid = _agreed(use, "grid", [(source, g) for source, _, g in stated])
    if use.launch is None and None in chosen_block:
        raise fail(
            "W0612",
            f"the block size of {use.name} is not known: nothing in the module launches it",
            hint="state it by `--block 16,16,1`, or in the kernel: `known_block_size = array<i32: 16, 16, 1>`",
        )
    if (
        use.launch is None
    ):  # a kernel that does not read its block id along an axis is made for grids of one block along it
        asked = {str(op.attributes["dimension"])[-2] for op in operations(use.kernel, *_PLACES)}
        x, y, z = (1 if n is None and axis not in asked else n for axis, n in zip(AXES, chosen_grid, strict=True))
        chosen_grid = (x, y, z)
    threads = prod(size or 1 for size in chosen_block)
    wrong = [n for n in (*chosen_block, *chosen_grid) if n is not None and n < 1]
    if wrong or threads > MOST_THREADS:
        what = f"a block of {threads} threads" if not wrong else f"a size of {wrong[0]}"
        raise fail(
            "W0613",
            f"{use.name} is launched with {what}",
            hint=f"launch blocks of 1 to {MOST_THREADS} threads, such as `--block 16,16,1`, and at least one block",
        )
    launch = use.launch if use.launch is not None and use.launch.name == "gpu.launch_func" else None
    return kernel_model(
        use.kernel, block=chosen_block, grid=chosen_grid, launch=launch, names=names, may_alias=may_alias,
        passed_in_rows=passed_in_rows,
    )  # fmt: skip


def same_use(use: KernelUse) -> Hashable:
    """A key of everything that the model of a use depends on, except options of the command line:
    uses with equal keys get the same verdict.

    Two such uses launch one kernel with identical operands or equal constants.
    """
    launch = use.launch
    if launch is None or launch.name != "gpu.launch_func":
        return use
    attributes = tuple((name, launch.attributes[name]) for name in launch.attributes if name != "operandSegmentSizes")
    return attributes, tuple(tuple(map(_same_value, group)) for group in segments(launch)[1:])


def _same_value(value: ir.Value) -> Hashable:
    maker = producer(value)
    if maker is None or maker.name != "arith.constant":
        return value
    return value.type, maker.attributes["value"]


def _agreed(use: KernelUse, what: str, stated: list[tuple[str, Sizes | None]]) -> Sizes:
    """The size along each axis, from all sources that state it; None where no source does. Raises
    W0613 if two sources contradict each other."""
    out: list[int | None] = []
    for axis in range(3):
        given = [(source, sizes[axis]) for source, sizes in stated if sizes is not None and sizes[axis] is not None]
        if len({size for _, size in given}) > 1:
            raise fail(
                "W0613",
                f"the {what} size of {use.name} along {'xyz'[axis]} has contradicting values",
                notes=tuple(f"{source}: {size}" for source, size in given),
                hint=f"state one size in the launch, in `known_{what}_size` and in `--{what}`: a kernel made for one"
                f" size must not run with another",
            )
        out.append(given[0][1] if given else None)
    return (out[0], out[1], out[2])
