"""Ownership found by simulation: each iteration of a kernel stores the number of its processor.

The mapped loop is outlined as by `launch`, with the launch's geometry. A store of the processor's
number replaces the loop's body, unused ops are removed, and the kernel runs on the simulator. So
the ownership follows from the generated code, not from a second formula.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence
from dataclasses import field

import numpy as np

from ..dsl.diagnostics import fail, quoted
from ..dsl.records import record
from ..interpreter.hardware.limits import IN_WARPS
from ..interpreter.indices.arithmetic import Bound, value_of
from ..interpreter.indices.linear import Linear
from ..interpreter.ir.cloning import clone_module, tagged
from ..interpreter.ir.element_sizes import element_bytes
from ..interpreter.ir.mlir import DYNAMIC, affine, ancestors, arith, ir, is_used, memref
from ..interpreter.ir.refusing import describe
from ..interpreter.ir.structured import generic, is_structured, structure
from ..interpreter.launch.lowering import lower
from ..interpreter.launch.materialize import Materializer
from ..interpreter.mapping.geometry import Geometry, geometry_of
from ..interpreter.mapping.mapping import (
    ATTRIBUTE,
    OF_ALL,
    Mapped,
    enclosing_maps,
    extents,
    loop_dimensions,
    mapping_of,
    most_extents,
)
from ..interpreter.mapping.preconditions import mapped_things
from ..interpreter.mapping.processors import Hardware
from ..interpreter.memory.layouts import is_shared, strided, subview
from ..interpreter.outlining.kernel import Outlined, outline
from ..interpreter.session.environment import named_handles
from ..interpreter.session.session import Session
from ..interpreter.session.statement import Handle
from ..interpreter.tensors.bufferization import bufferize_module, is_bufferized
from ..runtime.plan.dtypes import NUMPY
from ..runtime.simulator.kernel import SimKernel
from ..runtime.simulator.machine.banks import BANKS, WORD


@record
class LiveMap:
    """A map with the name of its handle.

    Args:
        name: the handle's name in the schedule.
        module: the last module that contains the op with its map.
    """

    name: str
    handle: Handle
    module: ir.Module = field(repr=False)

    @property
    def op(self) -> ir.Operation:
        """The mapped op."""
        return tagged(self.module)[self.handle.number]


def live_maps(session: Session, names: Sequence[str] = ()) -> list[LiveMap]:
    """The maps of a completed session in the order of their handles, or those of the handles
    `names`.

    Raises:
        WeftError: W0065 for a name that is not a handle, W0971 for a handle that is never mapped,
            W0972 if there is no map.
    """
    found, handles = dict[str, LiveMap](), set[str]()
    for state in reversed(session.states):
        ops = tagged(state.module)
        for name, handle in named_handles(state.env):
            if name.rpartition(".")[2].isdigit():
                continue
            handles.add(name)
            mapping = mapping_of(ops[handle.number]) if handle.number in ops else None
            if name not in found and mapping is not None and mapping.distributes:
                found[name] = LiveMap(name, handle, state.module)
    hint = f"name one that is mapped: {quoted(sorted(found))}" if found else "`map tiles to blocks(y, x)` first"
    for name in names:
        if name not in handles:
            raise fail("W0065", f"the schedule has no handle `{name}`", hint=hint)
        if name not in found:
            raise fail("W0971", f"`{name}` is distributed by no map", hint=hint)
    if not found:
        raise fail("W0972", "the schedule maps nothing", hint="`map tiles to blocks(y, x)`")
    return [found[name] for name in (names or sorted(found, key=lambda name: found[name].handle.number))]


NO_OWNER = -1
MOST_ELEMENTS = 1 << 22


@record(eq=False)
class Ownership:
    """The owner of each iteration of a mapped loop, or of each element of a mapped op, in the first
    block.

    Args:
        name: the handle.
        map: the text of the map, after the maps around it within the block, outermost first.
        what: the op.
        space: the space of the owners' numbers: `blocks`, `threads`, `warps`, `lanes` or `grid`.
        owners: per iteration the linear number of its processor (x fastest), for `grid` among all
            threads; `NO_OWNER` if there is none. For nested maps each dimension combines the outer
            (major) and the inner iterations.
        dims: labels of the dimensions. Enclosing loops of another rank have their own dimensions,
            which come first.
        block, grid: the sizes (x, y, z) of the launch; None for a size that is computed on the
            host.
        banks: for an op that fills shared memory, the bank of each element.
    """

    name: str
    map: tuple[str, ...]
    what: str
    space: str
    owners: np.ndarray
    dims: tuple[str, ...]
    block: tuple[int | None, ...]
    grid: tuple[int | None, ...]
    banks: np.ndarray | None = None

    @property
    def processors(self) -> int:
        """The number of processors, idle ones included."""
        block, blocks = (math.prod(size or 1 for size in sizes) for sizes in (self.block, self.grid))
        if self.space in IN_WARPS:
            return (
                -(-block // IN_WARPS[self.space])
                if len(self.map) > 1 or self.space not in OF_ALL
                else OF_ALL[self.space]
            )
        return {"blocks": blocks, "grid": blocks * block, "threads": block}[self.space]

    @property
    def processor(self) -> str:
        """The noun for a processor."""
        return {"blocks": "block", "warpgroups": "warp group", "quarters": "warp", "warps": "warp"}.get(
            self.space, "thread"
        )

    @property
    def unit(self) -> str:
        return "element" if self.what.startswith("linalg.") else "iteration"


def ownership(live: LiveMap) -> Ownership:
    """The ownership of a map. Raises W0973 for sizes known at run time only, and what a launch of
    the maps refuses (W035x)."""
    module = clone_module(live.module)
    with module.context, ir.Location.unknown():
        if not is_bufferized(module):
            bufferize_module(module)
        op = tagged(module)[live.handle.number]
        kernel = outline(module, next((outer for outer, _ in reversed([*enclosing_maps(op)])), op))
        mapped = mapped_things(kernel.root)
        (target,) = (one for one in mapped if live.handle.tag in one.op.attributes)
        what = describe(target.op)
        geometry = geometry_of(mapped)
        chain = [target] if target.mapping.space in ("blocks", "grid") else [*_around(mapped, target), target]
        banks = banks_of(target.op)
        owners = _Trial(kernel, geometry, chain).run()
    labels = _labels(target, owners.ndim)
    maps = tuple(str(one.mapping) for one in chain)
    block, grid = geometry.static_block(), geometry.static_grid()
    return Ownership(live.name, maps, what, target.mapping.space, owners, labels, block, grid, banks)


def _around(mapped: list[Mapped], target: Mapped) -> list[Mapped]:
    """The maps around `target` within a block, outermost first."""
    around = {outer for outer, _ in enclosing_maps(target.op)}
    return [one for one in mapped if one.op in around and one.mapping.space != "blocks"]


def _labels(target: Mapped, rank: int) -> tuple[str, ...]:
    axes = target.mapping.axes
    if len(axes) == rank and target.mapping.space not in OF_ALL:
        return tuple(f"d{d} ({axis})" for d, axis in enumerate(axes))
    return tuple(f"d{d}" for d in range(rank))


class _Trial:
    """The kernel that evaluates one map, under construction."""

    def __init__(self, kernel: Outlined, geometry: Geometry, chain: list[Mapped]) -> None:
        self.kernel, self.geometry, self.chain = kernel, geometry, chain
        self.target = chain[-1]
        self.space = self.target.mapping.space
        self.trips = [self._most(one) for one in chain]
        self.merged = self.target.op.name == "scf.forall" and len({len(trips) for trips in self.trips}) == 1
        each = [math.prod(sizes) for sizes in zip(*self.trips, strict=True)] if self.merged else None
        self.shape = tuple(each if each is not None else itertools.chain.from_iterable(self.trips))
        if (number := math.prod(self.shape)) > MOST_ELEMENTS:
            raise fail(
                "W0973", f"{number:,} iterations are too many to show", hint="take a smaller payload: `--set m=256`"
            )

    def run(self) -> np.ndarray:
        probe, number = self._argument(), self._number()
        path = self._path()
        if self.target.op.name == "scf.forall":
            block = self.target.op.regions[0].blocks[0]
            for inner in reversed(list(block.operations)[:-1]):
                inner.operation.erase()
            with ir.InsertionPoint(block.operations[0]):
                memref.StoreOp(number, probe, self._place())
        else:
            self._store_in_op(probe, number, path)
        _prune(self.kernel.root, path)
        Materializer(Hardware(self.kernel.entry, self.geometry)).run(self.kernel.root)
        lower(self.kernel)
        function = SimKernel(self.kernel.function)
        owners = np.full(self.shape, NO_OWNER, np.int64)
        args = [*(_stand_in(operand.type) for operand in self.kernel.operands), owners]
        whole = self.space in ("blocks", "grid")
        grid = [n or 1 if whole else 1 for n in self.geometry.static_grid()]
        x, y, z = (self.geometry.block[axis] for axis in "xyz")
        function.launch((grid[0], grid[1], grid[2]), (x, y, z), args, check=False)
        return owners

    # ---- pieces of the kernel ---------------------------------------------------------------------------------------

    def _most(self, one: Mapped) -> list[int]:
        loop = one.op.name == "scf.forall"
        trips = [d.most_trips for d in loop_dimensions(one.op)] if loop else most_extents(one.op)
        known = [trip for trip in trips if trip is not None]
        static = self.geometry.static_grid() if self.space in ("blocks", "grid") else self.geometry.static_block()
        if len(known) < len(trips) or None in static:
            raise fail(
                "W0973",
                f"the number of {'iterations' if loop else 'elements'} or of processors for `{one.mapping}` is known only at"
                " run time",
                hint="give the payload its sizes (`--set m=512`), and the map counts (`threads(x: 128)`)",
            )
        return known

    def _argument(self) -> ir.Value:
        """Adds the array of owners as the kernel's last argument."""
        function, i64 = self.kernel.function, ir.IntegerType.get_signless(64)
        kind = ir.MemRefType.get(self.shape, i64)
        probe = self.kernel.entry.add_argument(kind, ir.Location.unknown())
        inputs = [argument.type for argument in self.kernel.entry.arguments]
        function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, []))
        if "arg_attrs" in function.attributes:
            given = [*ir.ArrayAttr(function.attributes["arg_attrs"]), ir.DictAttr.get({})]
            function.attributes["arg_attrs"] = ir.ArrayAttr.get(given)
        if "known_grid_size" in function.attributes:
            del function.attributes["known_grid_size"]
        return probe

    def _number(self) -> ir.Value:
        """Emits, before the loops, the linear number of the executing processor as an i64."""
        hardware = Hardware(self.kernel.entry, self.geometry)
        with ir.InsertionPoint(self.kernel.root):
            block, blocks = Linear.of(), 1
            for axis, size in zip("xyz", self.geometry.static_grid(), strict=True):
                if size is not None and self.space in ("blocks", "grid"):
                    block, blocks = block + hardware.id("blocks", axis) * blocks, blocks * size
            processor = {
                "blocks": lambda: block,
                "grid": lambda: block * self.geometry.threads + hardware.linear_thread().index,
                "threads": lambda: hardware.linear_thread().index,
                "warpgroups": lambda: hardware.group().index,
                "quarters": lambda: (hardware.warp() if len(self.chain) > 1 else hardware.quarter()).index,
                "warps": lambda: hardware.warp().index,
                "lanes": lambda: (hardware.linear_thread() if len(self.chain) > 1 else hardware.lane()).index,
            }[self.space]()
            return arith.IndexCastOp(ir.IntegerType.get_signless(64), value_of(processor)).result

    def _path(self) -> list[ir.Operation]:
        """The target and its ancestors up to the root."""
        outside = self.kernel.root.parent
        return list(itertools.takewhile(lambda op: op != outside, [self.target.op, *ancestors(self.target.op)]))

    def _place(self) -> list[ir.Value]:
        """Emits the subscripts of the current iteration of all loops of the chain."""
        steps: list[list[tuple[ir.AffineExpr, ir.Value, int]]] = [[] for _ in self.shape]
        first = 0
        for one, trips in zip(self.chain, self.trips, strict=True):
            if one.op.name != "scf.forall":
                return [affine.AffineApplyOp(ir.AffineMap.get(1, 0, [e]), [v]).result for ((e, v, _),) in steps[:first]]
            variables = one.op.regions[0].blocks[0].arguments
            for axis, (dimension, variable) in enumerate(zip(loop_dimensions(one.op), variables, strict=True), first):
                if not isinstance(dimension.lower, int) or not isinstance(dimension.step, int):
                    raise fail("W0973", f"the first iteration of `{one.mapping}` is known only at run time")
                at = ir.AffineExpr.get_dim(len(steps[axis]))
                iteration = ir.AffineExpr.get_floor_div(at - dimension.lower, dimension.step)
                steps[axis].append((iteration, variable, trips[axis - first]))
            first += 0 if self.merged else len(trips)
        subscripts = []
        for parts in steps:
            total = ir.AffineExpr.get_constant(0)
            for expression, _, trips in parts:
                total = total * trips + expression
            values = [variable for _, variable, _ in parts]
            subscripts.append(affine.AffineApplyOp(ir.AffineMap.get(len(values), 0, [total]), values).result)
        return subscripts

    def _store_in_op(self, probe: ir.Value, number: ir.Value, path: list[ir.Operation]) -> None:
        """Replaces the op by one that writes the number to each element of the same iteration
        space."""
        op = self.target.op
        with ir.InsertionPoint(op):
            view = self._window(probe, extents(op))
            rank = len(self.trips[-1])
            made = generic([], [view], [ir.AffineMap.get_identity(rank)], ["parallel"] * rank, lambda _: [number])
        made.attributes[ATTRIBUTE] = op.attributes[ATTRIBUTE]
        path[0] = made
        if path[1:] == []:
            self.kernel = dataclasses.replace(self.kernel, root=made)
        op.erase()

    def _window(self, probe: ir.Value, extents: list[Bound]) -> ir.Value:
        """The window of the array that the op fills in the current iteration of the enclosing maps;
        it has the op's extents."""
        outer = self._place()
        sizes = [DYNAMIC if isinstance(extent, ir.Value) else extent for extent in extents]
        strides = [math.prod(self.shape[axis + 1 :]) for axis in range(len(outer), len(self.shape))]
        layout = ir.StridedLayoutAttr.get(DYNAMIC if outer else 0, strides)
        kind = ir.MemRefType.get(sizes, ir.IntegerType.get_signless(64), layout=layout)
        parts = [*outer, *[0] * len(sizes)], [*[1] * len(outer), *extents], [1] * len(self.shape)
        return subview(probe, parts, kind)


def _prune(root: ir.Operation, path: list[ir.Operation]) -> None:
    """Erases all ops that are neither on the path nor used, innermost last."""
    kept = {root, *path}
    for op in path[::-1]:
        if op == path[0]:
            continue
        for block in (block for region in op.regions for block in region.blocks):
            for inner in reversed(list(block.operations)[:-1]):
                operation = inner.operation
                if operation not in kept and not is_used(*operation.results):
                    operation.erase()


def _stand_in(kind: ir.Type) -> np.ndarray | np.generic:
    """An argument that the kernel never reads."""
    if not isinstance(kind, ir.MemRefType):
        return NUMPY[str(kind)].type(1)
    shape = [1 if kind.is_dynamic_dim(axis) else kind.get_dim_size(axis) for axis in range(kind.rank)]
    return np.zeros(shape, NUMPY[str(kind.element_type)])


def banks_of(op: ir.Operation) -> np.ndarray | None:
    """The bank of each element that a linalg op writes (of its first byte): there are 32 banks, one
    32-bit word wide. None if the op writes no shared memory of static shape."""
    if not is_structured(op) or not is_shared(op.operands[-1].type):
        return None
    kind, maps, extents = ir.MemRefType(op.operands[-1].type), structure(op).maps, structure(op).extents
    strides, offset = strided(kind)
    sizes = [extent for extent in extents if extent is not None]
    positions, at = [r.position for r in maps[-1].results if isinstance(r, ir.AffineDimExpr)], np.full(sizes, offset)
    if len(sizes) != len(extents) or len(positions) != kind.rank or min([offset, *strides]) < 0:
        return None
    for position, stride in zip(positions, strides, strict=True):
        at = at + stride * np.arange(sizes[position]).reshape([-1 if d == position else 1 for d in range(len(sizes))])
    return at * element_bytes(kind.element_type) // WORD % BANKS
