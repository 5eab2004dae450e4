"""`launch_loop`: materializes all maps of a loop at once, and replaces the loop by a kernel and its
launch.

`PASSES` lists the passes in their order, with the inputs and the result of each.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping as Table
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any

from ...dsl.diagnostics import fail
from ...dsl.records import record
from ..buffers.owners.arrays import OwnArray
from ..buffers.replicas import follow_readers, replicate
from ..buffers.temporaries import REGISTERS, place_temporaries
from ..buffers.tensor_copies import ARRIVALS, BY_TENSOR_MAP, COUNT, OVERLAP, PRODUCER, complete_copies, continue_counts
from ..buffers.writeback import inherit_maps
from ..focus.modules import Taken
from ..hardware import limits
from ..hardware.ampere.fragments import MARK
from ..hardware.lanes import BARRIERS, OF_GROUPS
from ..ir.functions import symbol
from ..ir.mlir import ir
from ..ir.refusing import Remark
from ..mapping.clusters import CLUSTER
from ..mapping.geometry import Geometry, GridSize, Size
from ..mapping.preconditions import check_launch
from ..mapping.processors import Hardware
from ..mapping.shares import Owned
from ..memory.layouts import is_shared, value_name
from ..outlining.kernel import Outlined, Passed, host_function, install, outline, settle_arguments
from .barriers import init_barriers, number_barriers
from .boxes import lower_copies
from .clusters import Sharing, run_in_clusters
from .lowering import lower
from .materialize import hand_out
from .panels import Panels
from .products.multiply import use_tensor_cores
from .roles import split_roles
from .shape import decide_shape
from .splitting import split_at_barriers
from .stores.accumulators import accumulate_in_wider
from .stores.boxes import lower_stores
from .stores.completion import complete_stores
from .templates import Known, Materialized, keep


@record
class Pass:
    """A pass of a launch.

    Args:
        run: the function, which rewrites the kernel in place.
        needs, makes: attribute paths of `LaunchState`, from which the arguments come, and to which
            the results are assigned; remarks are appended.
        of: the marks of the ops that the pass rewrites: it is skipped if the text of the loop has
            none of them; empty: it always runs.
    """

    run: Callable[..., Any]
    needs: str
    makes: str = ""
    of: tuple[str, ...] = ()


@dataclass
class LaunchState:
    """A kernel under construction, and the results of the passes so far.

    Args:
        last: the mapped loops that follow the launched loop in the kernel.
        grid: the numbers of blocks along each axis, in terms of the host's values.
        arrays: the temporaries that become an array of each thread's own elements
            (`buffers/owners`).
        there: the condition that a block of a cluster has a tile; None if every block has one.
        shares: the iterations of each mapped op that each processor owns.
        sharing: what the blocks of a cluster load for each other.
        panels: the shared buffers that tensor maps fill, by the value that they replace.
        start: the op at which all threads wait for the initialization of memory barriers.
        remarks, on_maps: remarks on what was done; and, reported after these, remarks on the maps.
    """

    kernel: Outlined
    last: list[ir.Operation] = field(default_factory=list)
    arrays: list[OwnArray] = field(default_factory=list)
    shares: tuple[Owned, ...] = ()
    there: ir.Value | None = None
    sharing: Sharing | None = None
    panels: Table[ir.Value, Panels] = field(default_factory=dict)
    start: ir.Operation | None = None
    passed: tuple[Passed, ...] = ()
    shared_bytes: int = 0
    remarks: tuple[Remark, ...] = ()
    on_maps: tuple[Remark, ...] = ()
    geometry: Geometry = field(init=False)
    hardware: Hardware = field(init=False)
    grid: Table[str, GridSize] = field(init=False)


TMA = ('"tma"', BY_TENSOR_MAP)
PASSES = (
    Pass(complete_stores, "kernel.root", "last", TMA),
    Pass(complete_copies, "kernel.root", of=TMA),
    Pass(follow_readers, "kernel.root", of=(REGISTERS,)),
    Pass(replicate, "kernel.root", "remarks"),
    Pass(inherit_maps, "kernel", "remarks"),
    Pass(split_at_barriers, "kernel", "kernel remarks", BARRIERS),
    Pass(decide_shape, "kernel", "geometry hardware sharing grid"),
    Pass(place_temporaries, "kernel geometry", "remarks arrays"),
    Pass(hand_out, "kernel.root last hardware arrays", "shares there on_maps"),
    Pass(accumulate_in_wider, "kernel.function", of=(MARK,)),
    Pass(lower_stores, "kernel", of=TMA),
    Pass(lower_copies, "kernel sharing", "panels", TMA),
    Pass(use_tensor_cores, "kernel.function hardware panels", of=(MARK, OVERLAP, *TMA)),
    Pass(run_in_clusters, "kernel.function sharing there", "remarks", (CLUSTER,)),
    Pass(number_barriers, "kernel.function hardware", of=(OF_GROUPS,)),
    Pass(init_barriers, "kernel hardware", "start", (ARRIVALS, *TMA)),
    Pass(split_roles, "kernel start hardware", "geometry", (PRODUCER, '"producer"')),
    Pass(continue_counts, "kernel.function", of=(COUNT, *TMA)),
    Pass(settle_arguments, "kernel", "passed"),
    Pass(lower, "kernel", "shared_bytes"),
)
"""The passes from an outlined mapped loop to what the runtime reads. The file of each pass shows
its rewrite, before → after."""


def materialize(kernel: Outlined) -> Materialized:
    """Runs the passes on an outlined loop. Raises W0345 … W0407, without spans."""
    state, text = LaunchState(kernel), kernel.likeness.text
    for one in PASSES:
        if one.of and not any(mark in text for mark in one.of):
            continue
        made, names = one.run(*(attrgetter(name)(state) for name in one.needs.split())), one.makes.split()
        for name, value in zip(names, made if len(names) > 1 else (made,), strict=False):
            setattr(state, name, (*state.remarks, *value) if name == "remarks" else value)
    geometry = replace(state.geometry, blocks=state.grid)
    return Materialized(geometry, state.shared_bytes, (*state.remarks, *state.on_maps), state.passed, state.shares)


# ---- the launch ------------------------------------------------------------------------------------------------------


@record
class LaunchInfo:
    """The result of `launch_loop`.

    Args:
        kernel, launch: the `gpu.func`, and the `gpu.launch_func` in the host function.
        grid, block: along x, y, z; None where only the host knows the size at run time.
        remarks: what was done, a few words each.
        made: the results that all kernels with the same key share.
    """

    kernel: ir.Operation
    launch: ir.Operation
    grid: Size
    block: Size
    remarks: tuple[str, ...]
    made: Materialized


def prepare(module: ir.Module, root: ir.Operation, *, taken: Taken | None = None) -> Outlined:
    """Outlines the loop into a separate kernel; no pass has run on it yet. Raises W0350 … W0361,
    without spans.

    `taken`: names that the kernel and its module must not have, besides those in the module.
    """
    with module.context, root.location:
        host_function(root)
        check_launch(root)
        outlined = outline(module, root, taken=taken)
        for operand in outlined.operands:
            if is_shared(operand.type):
                why = "is shared memory of a block, but is allocated outside of the kernel, on the host"
                hint = "first `tile` and `map` the loop over blocks, then `promote-to-shared` inside it"
                raise fail("W0361", f"`{value_name(operand)}` {why}", hint)
        return outlined


def launch_loop(
    module: ir.Module, root: ir.Operation, *, known: Known | None = None, prepared: Outlined | None = None
) -> LaunchInfo:
    """Launches the mapped loop (or mapped op) `root` of a module on memrefs, in place.

    Barriers in the loop keep their places and attributes (`weft.candidate`), so that a trial launch
    in a cloned module shows which conflicts a barrier would separate. No pass runs on the host's
    module, so that handles of other loops stay valid. A refused launch rewrites nothing.

    Args:
        module: the module, bufferized.
        root: a `scf.forall` or an all-parallel linalg op with `weft.map`; erased.
        known: cached kernels.
        prepared: the outlined loop, if it was prepared before.

    Raises:
        WeftError: W0350 … W0361, without spans.
    """
    with module.context, root.location:
        kernel = prepared or prepare(module, root)
        likeness, known = kernel.likeness, {} if known is None else known
        if likeness.key in known:
            kernel, made = known[likeness.key].fill(kernel)
        else:
            made = materialize(kernel)
            keep(known, likeness, kernel.module, made)
        with ir.InsertionPoint(root):
            sizes = [size.emit() for size in made.geometry.blocks.values()]
        threads = list(made.geometry.block.values())
        cluster = made.geometry.cluster
        launch = install(module, root, kernel, sizes, threads, made.passed, 1 if cluster is None else cluster.size)
        grid, block = made.geometry.static_grid(), made.geometry.static_block()
        blocks, numbers = ("x".join("?" if n is None else str(n) for n in sizes) for sizes in (grid, threads))
        summary = f"kernel @{symbol(kernel.function)}: grid {blocks}, block {numbers}"
        if cluster is not None:
            summary += f", in clusters of {cluster.size}"
        if made.shared_bytes:
            summary += f", {made.shared_bytes} bytes of shared memory"
        if made.shared_bytes > limits.STATIC:
            summary += f" (needs one of {limits.chips_with(made.shared_bytes)})"
        return LaunchInfo(kernel.function, launch, grid, block, (summary, *map(str, made.remarks)), made)
