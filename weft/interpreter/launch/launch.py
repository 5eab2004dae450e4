"""`launch_loop`: materialize all maps of a loop at once, and put a kernel and its launch in the loop's place."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Hashable, Sequence
from dataclasses import field
from typing import Any

from ...dsl.diagnostics import fail
from ...dsl.records import record
from ..buffers.owners.arrays import read_owned_as_operands
from ..buffers.replicas import follow_readers, replicate
from ..buffers.temporaries import place_temporaries
from ..buffers.tensor_copies import complete_copies, continue_counts
from ..buffers.writeback import inherit_maps
from ..focus.modules import Taken
from ..hardware import limits
from ..indices.arithmetic import index_of
from ..ir.cloning import clone_module
from ..ir.functions import CLUSTER_SIZE, MOST_BLOCKS, REGISTER_CAP, symbol
from ..ir.mlir import ahead_of, ancestors, ir, operations, ops_of
from ..ir.refusing import spelled
from ..mapping.clusters import cluster_of
from ..mapping.geometry import Geometry, Size, geometry_of
from ..mapping.participants import state_participants
from ..mapping.preconditions import check_distributed, check_launch, mapped_things
from ..mapping.processors import Hardware
from ..mapping.shares import Owned
from ..memory.layouts import is_shared, value_name
from ..memory.names import rename_buffers
from ..outlining.kernel import Likeness, Outlined, Passed, host_function, install, outline
from .barriers import init_barriers, number_barriers
from .boxes import lower_copies
from .clusters.sharing import Sharing, arrive_in_all, meet
from .clusters.surplus import leave_out
from .lowering import lower, settle_arguments
from .materialize import Materializer
from .roles import split_roles
from .splitting import in_a_block, split_at_barriers
from .stores.boxes import lower_stores
from .stores.completion import complete_stores
from .stores.sums import accumulate_in_wider
from .tensor_cores import use_tensor_cores
from .warp_groups import use_warp_groups


@record
class LaunchInfo:
    """What `launch_loop` made.

    Args:
        kernel, launch: the `gpu.func`, and the `gpu.launch_func` in the host function.
        grid, block: along x, y, z; None where only the host knows at run time.
        remarks: what was done, a few words each.
        made: what is the same of all kernels that are like this one.
    """

    kernel: ir.Operation
    launch: ir.Operation
    grid: Size
    block: Size
    remarks: tuple[str, ...]
    made: Materialized

    @property
    def found(self) -> dict[Hashable, Any]:
        """What has been found out of this kernel and all that are like it, by whom; to be added to."""
        return self.made.found


@record
class Materialized:
    """What has become of a kernel's loop; the grid in terms of the host's values.

    Args:
        shared_bytes: shared memory of the kernel; more than `limits.STATIC` is dynamic in its text.
        passed: what a launch passes to it.
        shares: what each processor owns of what is mapped, as emitted.
    """

    geometry: Geometry
    shared_bytes: int
    remarks: tuple[str, ...]
    passed: tuple[Passed, ...]
    shares: tuple[Owned, ...]
    found: dict[Hashable, Any] = field(default_factory=dict)


MOST = 64
Known = dict[Hashable, Any]
"""The kernels of a session by what they are made of, `MOST` at most: what only this file looks into."""


def prepare(module: ir.Module, root: ir.Operation, *, taken: Taken | None = None) -> Outlined:
    """The loop in a kernel of its own, in which nothing is done yet. Raises W0350 … W0361, without spans.

    `taken`: names that the kernel and its module must not have, beside those in the module.
    """
    with module.context, root.location:
        host_function(root)
        check_launch(root)
        outlined = outline(module, root, taken=taken)
        for operand in outlined.operands:
            if is_shared(operand.type):
                raise fail(
                    "W0361", f"`{value_name(operand)}` is each block's shared memory, but made outside of the kernel, on the host",
                    "stage in the loop over blocks: `tile` and `map` that loop first, `promote-to-shared` then",
                )  # fmt: skip
        return outlined


def launch_loop(
    module: ir.Module, root: ir.Operation, *, known: Known | None = None, prepared: Outlined | None = None
) -> LaunchInfo:
    """Launch the mapped loop (or mapped op) `root` of a module on memrefs, in place.

    Barriers in the loop come through where they stand, with their attributes (`weft.candidate`), so that a trial launch
    of a cloned module shows what a barrier would separate. No pass runs on the host's module: other loops keep their
    handles. Nothing is rewritten where the launch is refused.

    Args:
        module: the module, bufferized.
        root: a `scf.forall` or an all-parallel linalg op with `weft.map`; erased.
        known: kernels that were made before.
        prepared: the loop, prepared.

    Raises:
        WeftError: W0350 … W0361, without spans.
    """
    with module.context, root.location:
        kernel, made = _materialized(prepared or prepare(module, root), {} if known is None else known)
        with ir.InsertionPoint(root):
            sizes = [size.emit() for size in made.geometry.blocks.values()]
        threads = list(made.geometry.block.values())
        cluster = made.geometry.cluster
        launch = install(module, root, kernel, sizes, threads, made.passed, 1 if cluster is None else cluster.size)
        grid, block = made.geometry.static_grid(), made.geometry.static_block()
        summary = f"kernel @{symbol(kernel.function)}: grid {_shape(grid)}, block {_shape(threads)}"
        if cluster is not None:
            summary += f", in clusters of {cluster.size}"
        if made.shared_bytes:
            summary += f", {made.shared_bytes} bytes of shared memory"
        if made.shared_bytes > limits.STATIC:
            summary += f" (needs one of {limits.chips_with(made.shared_bytes)})"
        return LaunchInfo(kernel.function, launch, grid, block, (summary, *made.remarks), made)


def _shape(sizes: Sequence[int | None]) -> str:
    return "x".join("?" if s is None else str(s) for s in sizes)


def _materialize(kernel: Outlined) -> Materialized:
    """Materialize the maps of an outlined loop, and lower it: the passes of a launch, in their order."""
    last = complete_stores(kernel.root)
    complete_copies(kernel.root)
    follow_readers(kernel.root)
    remarks = replicate(kernel.root)
    remarks += inherit_maps(kernel)
    kernel = dataclasses.replace(kernel, root=in_a_block(kernel.root))
    remarks += split_at_barriers(kernel.root)
    mapped = mapped_things(kernel.root)
    if read_owned_as_operands(kernel.root):
        mapped = mapped_things(kernel.root)
    geometry = geometry_of(mapped, cluster := cluster_of(kernel.root, mapped))
    check_distributed(kernel.root, geometry)
    state_participants(kernel.root, geometry)
    if cluster is not None:  # or what an index of the block in its cluster is would be taken for 0
        kernel.function.attributes[CLUSTER_SIZE] = ir.DenseI32ArrayAttr.get([cluster.size, 1, 1])
    if REGISTER_CAP in kernel.root.attributes:
        kernel.function.attributes[REGISTER_CAP] = kernel.root.attributes[REGISTER_CAP]
    placed, arrays = place_temporaries(kernel, mapped, geometry)
    remarks += placed
    most = geometry.most_grid()
    on_host = {axis: size.on_host(kernel.on_host) for axis, size in geometry.blocks.items()}
    hardware = Hardware(kernel.entry, geometry)
    materializer = Materializer(hardware, arrays)
    for op in (kernel.root, *last):
        materializer.run(op)
    _state_sizes(kernel.function, "known_grid_size", geometry.static_grid())
    accumulate_in_wider(kernel.function)
    use_tensor_cores(kernel.function, hardware)
    sharing = None if cluster is None else Sharing(cluster, index_of(hardware.rank(), cluster.size))
    _state_sizes(kernel.function, "known_block_size", geometry.static_block())  # those that maps say; a producer is to come
    lower_stores(kernel)
    use_warp_groups(kernel.function, lower_copies(kernel, sharing))
    if sharing is not None:
        sharing.expect_some(kernel.function)
        remarks += sharing.remarks
        if materializer.there is not None:
            leave_out(materializer.there)
        arrive_in_all(kernel.function, sharing.cluster.size)
    number_barriers(kernel.function, hardware)
    start = init_barriers(kernel.entry, hardware)
    geometry = split_roles(kernel.entry, start, hardware)
    if sharing is not None:
        with ahead_of(ops_of(kernel.entry)[-1]):
            meet()
    _state_sizes(kernel.function, "known_block_size", geometry.static_block())
    if None in geometry.static_grid():
        kernel.function.attributes[MOST_BLOCKS] = ir.DenseI64ArrayAttr.get(most)
    continue_counts(kernel.function)
    passed = settle_arguments(kernel)
    shared = lower(kernel)
    geometry = dataclasses.replace(geometry, blocks=on_host)
    told = (*remarks, *dict.fromkeys(materializer.remarks))
    return Materialized(geometry, shared, told, passed, tuple(materializer.shares))


def _state_sizes(function: ir.Operation, name: str, sizes: Sequence[int | None]) -> None:
    """Say on the kernel what it is launched with, where that is known."""
    numbers = [size for size in sizes if size is not None]
    if len(numbers) == len(sizes):
        function.attributes[name] = ir.DenseI32ArrayAttr.get(numbers)


# ---- kernels that were made before --------------------------------------------------------------------------------------


def found_before(kernel: Outlined, known: Known) -> dict[Hashable, Any]:
    """What has been found out of a kernel that was like this one, by whom."""
    return known[kernel.likeness.key][3].found if kernel.likeness.key in known else {}


def remember(kernel: Outlined, tried: LaunchInfo, known: Known, found: dict[Hashable, Any]) -> None:
    """The launch of a loop makes the kernel that a trial has made; that becomes a kernel that was made before.

    Args:
        kernel: the loop as it is now, prepared.
        tried: its launch with more barriers, which have been taken out of the kernel again. Where a loop over threads was split at
            one of these, the launch makes something else.
        found: what is known of the kernel without these.
    """
    if kernel.likeness.key in known:
        return
    holder = next(ancestors(tried.kernel))
    holder.detach_from_parent()
    with kernel.module.context:
        made = ir.Module.create(kernel.root.location)
        made.body.append(holder)
        _remember(known, kernel.likeness, made, dataclasses.replace(tried.made, found=found))


def _remember(known: Known, likeness: Likeness, module: ir.Module, done: Materialized) -> None:
    """Keep a kernel where it is known whole: its grid does not depend on the host, and its places are those of the loop."""
    if None in done.geometry.static_grid():
        return
    places, nowhere = likeness.places, ir.Location.unknown()
    made = [op.location for op in operations(module.operation)]
    where = [places.index(location) if location in places else None for location in made]
    if any(number is None and location != nowhere for number, location in zip(where[2:], made[2:], strict=True)):
        return  # in front of the function stand the module and the kernel's
    if len(known) == MOST:
        known.clear()
    known[likeness.key] = clone_module(module), where, likeness, done


def _materialized(kernel: Outlined, known: Known) -> tuple[Outlined, Materialized]:
    """The kernel, materialized; or a copy of one that was like it, which nobody has to make and to judge again. The copy gets
    places and names of its own."""
    mine = kernel.likeness
    if mine.key not in known:
        done = _materialize(kernel)
        _remember(known, mine, kernel.module, done)
        return kernel, done
    made, where, other, done = known[mine.key]
    module = clone_module(made)
    function = next(operations(module.operation, "gpu.func"))
    function.attributes["sym_name"] = kernel.function.attributes["sym_name"]
    module.body.operations[0].attributes["sym_name"] = kernel.module.body.operations[0].attributes["sym_name"]
    if other.called != mine.called:
        renamed = dict(zip(other.called, mine.called, strict=True))
        rename_buffers(function, renamed)
        remarks = tuple(re.sub("(?<=temporary `)[^`]*", lambda found: renamed[found[0]], remark) for remark in done.remarks)
        done = dataclasses.replace(done, remarks=remarks)
    if other.places != mine.places:
        for op, number in zip(operations(module.operation), where, strict=True):
            if number is not None:
                op.location = mine.places[number]
    if other.places != mine.places and done.remarks:
        names = {spelled(one): spelled(own) for one, own in zip(other.places, mine.places, strict=True)}
        place = "|".join(rf"(?<= at ){re.escape(name)}(?!\d)" for name in names)  # as `rewriter.describe` names it
        remarks = tuple(re.sub(place, lambda found: names[found[0]], remark) for remark in done.remarks)
        done = dataclasses.replace(done, remarks=remarks)
    return dataclasses.replace(kernel, module=module, function=function), done
