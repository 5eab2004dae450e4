"""The shape of a kernel: its threads and blocks, and the attributes that state them.

    gpu.func @mm(…) kernel     →     gpu.func @mm(…) kernel {known_block_size = [16, 16, 1], known_grid_size = [4, 4, 1],
                                     weft.cluster_size = …, weft.max_registers = …, weft.most_blocks = …}

If a size depends on the host's values, the attribute states an upper bound. Each shared reduction
gets an attribute with the threads that take part in it.
"""

from __future__ import annotations

from collections.abc import Mapping as Table

from ..buffers.owners.arrays import read_owned_as_operands
from ..ir.functions import CLUSTER_SIZE, MOST_BLOCKS, REGISTER_CAP
from ..ir.mlir import ir
from ..mapping.clusters import cluster_of
from ..mapping.geometry import Geometry, GridSize, geometry_of
from ..mapping.participants import state_participants
from ..mapping.preconditions import check_distributed, mapped_things
from ..mapping.processors import Hardware
from ..outlining.kernel import Outlined
from .clusters import Sharing

Shaped = tuple[Geometry, Hardware, "Sharing | None", Table[str, GridSize]]


def decide_shape(kernel: Outlined) -> Shaped:
    """Computes the shape that all maps of a kernel require, the processors, the sharing of loads in
    clusters, and the grid in terms of the host's values.

    Raises:
        WeftError: W0346, W0351 … W0354, W0407, without spans.
    """
    root, function = kernel.root, kernel.function
    maps = mapped_things(root)
    if read_owned_as_operands(root):
        maps = mapped_things(root)
    cluster = cluster_of(root, maps)
    geometry = geometry_of(maps, cluster)
    check_distributed(root, geometry)
    state_participants(root, geometry)
    if cluster is not None:  # or the index of the block in its cluster would be folded to 0
        function.attributes[CLUSTER_SIZE] = ir.DenseI32ArrayAttr.get([cluster.size, 1, 1])
    if REGISTER_CAP in root.attributes:
        function.attributes[REGISTER_CAP] = root.attributes[REGISTER_CAP]
    if None in geometry.static_grid():
        function.attributes[MOST_BLOCKS] = ir.DenseI64ArrayAttr.get(geometry.most_grid())
    state_sizes(function, geometry)
    hardware = Hardware(kernel.entry, geometry)
    grid = {axis: size.on_host(kernel.on_host) for axis, size in geometry.blocks.items()}
    return geometry, hardware, None if cluster is None else Sharing(cluster, hardware), grid


def state_sizes(function: ir.Operation, geometry: Geometry) -> None:
    """Records on a kernel how many blocks and threads it is launched with, where known."""
    for name, sizes in (("grid", geometry.static_grid()), ("block", geometry.static_block())):
        numbers = [size for size in sizes if size is not None]
        if len(numbers) == len(sizes):
            function.attributes[f"known_{name}_size"] = ir.DenseI32ArrayAttr.get(numbers)
