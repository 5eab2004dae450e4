"""`launch_loop`: realise all maps of a loop at once, and put a kernel and its launch in the loop's place."""

from __future__ import annotations

from ..buffers.temporaries import place_temporaries
from ..buffers.writeback import inherit_maps
from ..focus import Taken
from ..ir.functions import symbol
from ..ir.mlir import ir
from ..mapping.geometry import geometry_of
from ..mapping.mapping import AXES
from ..mapping.readiness import check_distributed, check_launch, mapped_things
from .fission import split_at_barriers
from .kernel import LaunchInfo, Outlined, host_function, install, outline
from .known import Known, Realised, realised
from .lowering import lower
from .realise import Realiser


def launch_loop(
    module: ir.Module, root: ir.Operation, *, taken: Taken | None = None, known: Known | None = None
) -> LaunchInfo:
    """Launch the mapped loop (or mapped op) `root` of a module on memrefs, in place.

    Barriers in the loop come through where they stand, with their attributes (`weft.candidate`), so that a trial launch
    of a cloned module shows what a barrier would separate. No pass runs on the host's module: other loops keep their
    handles. Nothing is rewritten where the launch is refused.

    Args:
        module: the module, bufferized.
        root: a `scf.forall` or an all-parallel linalg op with `weft.map`; erased.
        taken: names that the kernel and its module must not have, beside those in the module.
        known: kernels that were made before.

    Raises:
        WeftError: W0350 … W0361, without spans.
    """
    with module.context, root.location:
        host_function(root)
        check_launch(root)
        kernel = outline(module, root, views_inside=True, taken=taken)
        kernel, made = realised(kernel, _realise, {} if known is None else known)
        with ir.InsertionPoint(root):
            grid = [size.emit() for size in made.grid]
        module_name, name = symbol(kernel.module.body.operations[0]), symbol(kernel.function)
        launch = install(module, root, kernel, grid, made.block)
        summary = f"kernel @{name}: grid {_shape(made.static_grid)}, block {_shape(made.block)}"
        if made.shared_bytes:
            summary += f", {made.shared_bytes} bytes of shared memory"
        return LaunchInfo(
            module_name, name, made.static_grid, made.static_block, made.shared_bytes, launch, (summary, *made.remarks),
            made.found,
        )  # fmt: skip


def _realise(kernel: Outlined) -> Realised:
    """Realise the maps of an outlined loop, and lower it."""
    remarks = inherit_maps(kernel)
    remarks += split_at_barriers(kernel.root)
    mapped = mapped_things(kernel.root)
    geometry = geometry_of(mapped)
    block, grid = geometry.static_block(), geometry.static_grid()
    check_distributed(kernel.root, geometry)
    remarks += place_temporaries(kernel, mapped, single_thread=block == (1, 1, 1))
    sizes = tuple(geometry.blocks[axis].on_host(kernel.on_host) for axis in AXES)
    realiser = Realiser(kernel, geometry)
    realiser.run(kernel.root)
    _record_sizes(kernel.function, "known_block_size", block)
    _record_sizes(kernel.function, "known_grid_size", grid)
    shared = lower(kernel)
    kernel.module.operation.verify()
    block_sizes = tuple(geometry.block[axis] for axis in AXES)
    return Realised(sizes, block_sizes, _three(grid), _three(block), shared, (*remarks, *realiser.remarks))


def _record_sizes(function: ir.Operation, name: str, sizes: tuple[int | None, ...]) -> None:
    numbers = [s for s in sizes if s is not None]
    if len(numbers) == len(sizes):
        function.attributes[name] = ir.DenseI32ArrayAttr.get(numbers)


def _shape(sizes: tuple[int | None, ...]) -> str:
    return "x".join("?" if s is None else str(s) for s in sizes)


def _three(sizes: tuple[int | None, ...]) -> tuple[int | None, int | None, int | None]:
    x, y, z = sizes
    return x, y, z
