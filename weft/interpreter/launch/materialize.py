"""Lowers maps: a mapped loop or op becomes the code for the iterations that one processor owns."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from collections.abc import Mapping as Table
from contextlib import ExitStack
from dataclasses import replace
from itertools import takewhile

from ..buffers.elements import Address, StructuredOp, do_per_thread, emit_unit, is_per_thread
from ..buffers.owners.arrays import OwnArray, done_by_all, emit_rounds
from ..buffers.tiles import is_distributed, one_each
from ..buffers.widths import widths
from ..hardware.lanes import BARRIER
from ..hardware.limits import IN_WARPS
from ..indices.algebra import LaunchShape
from ..indices.arithmetic import Bound, ceildiv, delinearise, divide, inside, is_zero, less
from ..indices.linear import NOTHING, Linear
from ..indices.values import Values, largest
from ..ir.mlir import ahead_of, ancestors, children, ir, operations
from ..ir.refusing import Remark
from ..ir.structured import SEQUENTIAL, UNROLL, body_of
from ..mapping.clusters import BlockClusters
from ..mapping.collective import for_each_together
from ..mapping.curves import along_curve
from ..mapping.lane_grids import idle_lane
from ..mapping.mapping import (
    AXES,
    Mapping,
    extents,
    handed_out,
    is_shared_reduction,
    loop_dimensions,
    mapping_of,
)
from ..mapping.orders import coordinate, grouped
from ..mapping.processors import Hardware, for_each, for_each_owned, when
from ..mapping.shares import Owned
from ..reductions.scans import is_scan
from .roles import begin_role
from .shared.collectives import OUTSIDE, Within, guard, meet_inside
from .shared.reductions import SharedReduction
from .shared.scans import SharedScan

EmitAt = Callable[[Sequence[Linear]], None]
"""Emits the body of the iteration with this multi-index, at the ambient insertion point."""


Handed = tuple[tuple[Owned, ...], "ir.Value | None", tuple[Remark, ...]]


def hand_out(
    root: ir.Operation, last: Sequence[ir.Operation], hardware: Hardware, arrays: Sequence[OwnArray]
) -> Handed:
    """Materializes the maps of a loop, and of the mapped loops after it. Returns the iterations
    that each processor owns; the condition that a block of a cluster has a tile (None: every block
    has one); and remarks on the maps."""
    materializer = Materializer(hardware, arrays)
    for op in (root, *last):
        materializer.run(op)
    return (
        tuple(materializer.shares),
        materializer.there,
        tuple({str(one): one for one in materializer.remarks}.values()),
    )


class Materializer:
    """Rewrites the kernel's mapped loops and ops in place, outermost first.

    Args:
        arrays: the temporaries that become an array of each thread's own elements.
    """

    def __init__(self, hardware: Hardware, arrays: Sequence[OwnArray] = ()) -> None:
        self._arrays = arrays
        self._hardware = hardware
        self._geometry = geometry = hardware.geometry
        self.remarks: list[Remark] = []
        self.shares: list[Owned] = []
        together = 1 if geometry.cluster is None else geometry.cluster.size
        shape = LaunchShape(geometry.static_block(), geometry.static_grid(), (together, 1, 1))
        self._values = Values(shape, lambda _: NOTHING)
        self.there: ir.Value | None = None
        """Whether a block of a cluster has a tile; None if every block has."""

    def run(self, op: ir.Operation, within: Within = OUTSIDE) -> None:
        """Materializes `op` if it is mapped, and all mapped ops nested in it."""
        mapping = mapping_of(op)
        if within.alive and not any(map(is_shared_reduction, operations(op))):
            guard(op, within.alive)
            within = replace(within, alive=())
        if mapping is None and is_per_thread(op):
            with ahead_of(op):
                do_per_thread(op)
            return op.erase()
        if mapping is None:
            within = within.loop() if op.name in (*SEQUENTIAL, "scf.while") else within
            for inner in children(op):
                self.run(inner, within)
            return
        within = replace(within, maps=(*within.maps, mapping))
        around = within.maps
        if mapping.space == "producer":
            begin_role(self._hardware.linear_thread().index, self._geometry.threads, op)
            return op.erase()
        with ExitStack() as scope:
            scope.enter_context(ir.InsertionPoint(op))
            scope.enter_context(op.location)
            shared = is_shared_reduction(op)
            if not (shared or any(_has_map(inner) for inner in children(op))):
                self._guard_idle_axes(op, around, scope)
            if shared:
                moved = self._reduction(op, within)
            elif op.name == "scf.forall":
                moved, within = self._forall(op, within)
            else:
                moved, structured = [], StructuredOp.of(op)
                self._units(op, structured, mapping, list)
                if mapping.vector > 1 or structured.asynchronous is not None:
                    self.remarks.append(widths(op, structured, mapping.vector))
        placeholders = [
            (one, op.operands[one.position]) for array in self._arrays for one in array.rounds if one.op == op
        ]
        op.erase()
        for one, placeholder in placeholders:
            one.drop_placeholder(placeholder)
        for inner in moved:
            self.run(inner, within)

    def _guard_idle_axes(self, op: ir.Operation, around: tuple[Mapping, ...], scope: ExitStack) -> None:
        """Guards an op so that, along each axis that no map uses, only the first thread executes
        it: the others would repeat the same iteration."""
        mapping = around[-1]
        if mapping.space == "blocks" or not mapping.distributes:
            return
        taken = frozenset(slot for one in around for slot in one.slots())
        spaces = {space for space, _ in taken}
        if spaces & set(IN_WARPS):
            ids = {"lane": idle_lane(self._hardware, around)}
            if "warpgroups" in spaces and not spaces & {"quarters", "lanes"}:
                ids = {"thread of the warp group": self._hardware.thread_of_group().index}
            elif spaces & {"warpgroups", "quarters"}:
                ids |= {"warp group": self._hardware.group().index} if "warpgroups" not in spaces else {}
                ids |= {"warp of the group": self._hardware.quarter().index} if "quarters" not in spaces else {}
            elif "warps" not in spaces:
                ids["warp"] = self._hardware.warp().index
        else:
            static = self._geometry.static_block()
            unused = [a for a, size in zip(AXES, static, strict=True) if size != 1 and ("threads", a) not in taken]
            ids = {a: self._hardware.id("threads", a) for a in unused}
        idle = {name: index for name, index in ids.items() if index.terms}
        if idle and not done_by_all(op, self._arrays):
            scope.enter_context(when(*map(is_zero, idle.values())))
            text = "{} leaves {} idle: {} runs where {} = 0"
            self.remarks.append(Remark.of(text, mapping, ", ".join(idle), op, " and ".join(idle)))

    def _forall(self, op: ir.Operation, within: Within) -> tuple[list[ir.Operation], Within]:
        """Emits loops in place of a mapped loop. Returns the ops moved into them, and the context
        of these ops."""
        mapping = within.maps[-1]
        dimensions = loop_dimensions(op)
        body = body_of(op)
        moved: list[ir.Operation] = []
        together = meet_inside(op, mapping, self._geometry)

        def emit(iterations: Sequence[Linear]) -> None:
            there = [] if self.there is None or mapping.space != "blocks" else [self.there]
            self._share(op, iterations, trips, [*alive, *there])
            for variable, dimension, iteration in zip(body.arguments, dimensions, iterations, strict=True):
                variable.replace_all_uses_with(dimension.induction(iteration))
            for inner in list(body.operations)[:-1]:
                inner.operation.detach_from_parent()
                ir.InsertionPoint.current.insert(inner)
                moved.append(inner.operation)

        several = mapping.space != "blocks" and not one_each(op)
        within = within.loop() if several or not mapping.distributes else within
        trips = [d.trips() for d in dimensions]
        alive: list[ir.Value] = []
        if mapping.space == "blocks" and self._geometry.cluster is not None:
            self._over_clusters(mapping, trips, self._geometry.cluster, emit)
        elif together:
            self._together(mapping, trips, emit, alive)
            within = replace(within, alive=(*within.alive, *alive))
        else:
            self._distribute(mapping, trips, emit)
        if not mapping.distributes and any(inner.name == BARRIER for one in moved for inner in operations(one)):
            for loop in takewhile(lambda around: around != op.parent.operation, ancestors(moved[0])):
                loop.attributes[UNROLL] = ir.UnitAttr.get()  # loops with barriers are not unrolled by default
        return moved, within

    def _together(self, mapping: Mapping, trips: Sequence[Bound], emit: EmitAt, alive: list[ir.Value]) -> None:
        """Like `_distribute`, but all processors execute all rounds. The conditions under which an
        iteration is the thread's own are appended to `alive`."""
        sharers = self._hardware.sharers(mapping, trips)

        def nest(at: tuple[Linear, ...]) -> None:
            if len(at) == len(sharers):
                return emit(_multi_index(at, trips, mapping))
            n, sharer = sharers[len(at)]

            def one(index: Linear, conditions: list[ir.Value]) -> None:
                alive.extend(conditions)
                nest((*at, index))

            for_each_together(n, sharer, mapping.dist, mapping.chunk, one)

        nest(())

    def _over_clusters(self, mapping: Mapping, trips: Sequence[Bound], cluster: BlockClusters, emit: EmitAt) -> None:
        """Distributes tiles to the blocks of clusters. Conditions depend only on the first block of
        a cluster, so that they are the same for all blocks of the cluster."""
        along = cluster.dimension
        whole = cluster.whole(trips)

        def mine(at: Sequence[Linear]) -> None:
            place = self._hardware.in_cluster(at[along], whole[along])
            if whole[along] != trips[along]:
                self.there = less(place, trips[along])
            emit([*at[:along], place, *at[along + 1 :]])

        self._distribute(mapping, whole, mine)

    def _reduction(self, op: ir.Operation, within: Within) -> list[ir.Operation]:
        *around, mapping = within.maps

        def owned(structured: StructuredOp, index: Callable[[Sequence[Linear]], Sequence[Linear]]) -> None:
            with ExitStack() as scope:  # repeated threads contribute nothing; each warp reduces the whole
                if mapping.space == "threads":
                    self._guard_idle_axes(op, within.maps, scope)
                self._units(op, structured, mapping, index)

        if is_scan(op):
            SharedScan(op, mapping, self._hardware, around, alive=within.alive).emit_scan()
        else:
            SharedReduction(op, mapping, self._hardware, around, alive=within.alive, again=within.again).emit(owned)
        return []

    def _units(
        self,
        op: ir.Operation,
        structured: StructuredOp,
        mapping: Mapping,
        index: Callable[[Sequence[Linear]], Sequence[Linear]],
    ) -> None:
        """Emits the units, such as vectors, that the thread owns of a mapped op. `index` converts
        the index of a unit to that of an iteration."""
        every, lanes = extents(op), mapping.vector
        handed = handed_out(op)
        space = [every[d] for d in handed]
        space[-1:] = [ceildiv(n, lanes) for n in space[-1:]]
        units = [space[handed.index(d)] if d in handed else n for d, n in enumerate(every)]

        def unit(at: Sequence[Linear], own: Table[int, Address]) -> None:
            emit_unit(structured, index(_multi_index(at, space, mapping)), lanes, own)

        if rounds := [one for array in self._arrays for one in array.rounds if one.op == op]:
            emit_rounds(rounds, mapping, self._hardware.sharers(mapping, space), unit)
        else:
            whole = _whole_rows(space, mapping)

            def within(at: Sequence[Linear]) -> None:
                ends = zip(at, space, whole, strict=True)
                with when(*(c for place, n, most in ends if n is not most for c in inside(place, n))):
                    place = index(at)  # of a shared reduction each thread visits all results, too
                    self._share(op, *((place, units) if len(place) > len(at) else (at, space)))
                    emit_unit(structured, place, lanes)

            self._distribute(mapping, whole, within)

    def _share(
        self, op: ir.Operation, at: Sequence[Linear], extents: Sequence[Bound], alive: Sequence[ir.Value] = ()
    ) -> None:
        """Records the emitted iterations that a processor owns of a mapped op."""
        self.shares.append(Owned.emitted(op, at, extents, alive, self._values))

    def _distribute(self, mapping: Mapping, trips: Sequence[Bound], emit: EmitAt) -> None:
        """Calls `emit` with the multi-index of each owned iteration, inside the loops and guards of
        the distribution."""
        if not trips:  # an op on scalars: a single iteration, which has no index
            return self._distribute(mapping, [1], lambda at: emit(at[1:]))
        if not mapping.distributes:
            return for_each(trips, emit)  # loops that subscript registers, and so are unrolled
        sharers = self._hardware.sharers(mapping, trips)

        def nest(at: tuple[Linear, ...]) -> None:
            if len(at) == len(sharers):
                return emit(_multi_index(at, trips, mapping, self._geometry.cluster))
            n, sharer = sharers[len(at)]
            for_each_owned(n, sharer, mapping.dist, mapping.chunk, lambda i: nest((*at, i)))

        nest(())


def _whole_rows(trips: Sequence[Bound], mapping: Mapping) -> list[Bound]:
    """The extents of the dimensions, for a map that counts the iterations of all dimensions
    together, row by row.

    For a row of a ragged tile this is its maximal length: with a length that depends on the block,
    a quotient by it would not show which thread owns an element. For the same reason, a block
    distribution divides the maximal number of iterations.
    """
    counted = (
        mapping.distributes
        and (mapping.every or len(mapping.axes) < len(trips))
        and mapping.space not in ("blocks", "grid")
    )
    first = 0 if mapping.dist == "block" else 1
    most = [None if isinstance(n, int) or d < first or not counted else largest(n) for d, n in enumerate(trips)]
    return [n if top is None else top for n, top in zip(trips, most, strict=True)]


def _multi_index(
    at: Sequence[Linear], extents: Sequence[Bound], mapping: Mapping, cluster: BlockClusters | None = None
) -> Sequence[Linear]:
    """The index along each dimension, from a counter of the iterations of all dimensions: row by
    row, or in the order that the map states for rows and columns."""
    if len(at) == len(extents):
        return at
    if not mapping.ordered:
        return delinearise(at[0], extents)
    *rows, columns = (extent for extent in extents if isinstance(extent, int))
    if mapping.hilbert:
        together = 1 if cluster is None else cluster.size
        row, column = along_curve(divide(at[0], together)[0], math.prod(rows) // together, columns)
        row = row * together
    elif mapping.group is not None:
        row, column = grouped(at[0], math.prod(rows), columns, mapping.group)
    else:
        column, row = grouped(at[0], columns, math.prod(rows), mapping.panel or 1)
    if mapping.space == "blocks":  # all work of a tile depends on these
        row, column = coordinate(row, math.prod(rows)), coordinate(column, columns)
    return [*delinearise(row, rows), column]


def _has_map(op: ir.Operation) -> bool:
    return is_distributed(op) or any(_has_map(inner) for inner in children(op))
