"""Realise maps: a mapped loop or op becomes the iterations that one processor owns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack

from ..buffers.alone import do_alone, is_alone
from ..buffers.elements import StructuredOp, emit_unit
from ..buffers.staging import Staging, is_stage
from ..indices.arithmetic import Bound, Sum, ceildiv, delinearise, is_zero
from ..ir.functions import name_of
from ..ir.mlir import children, ir
from ..mapping.geometry import Geometry
from ..mapping.hardware import Hardware
from ..mapping.mapping import AXES, Mapping, mapping_of
from ..mapping.owned import for_each_owned, when
from ..mapping.space import extents, loop_dimensions
from ..memory.views import behind
from ..session.rewriter import describe
from .kernel import Outlined

EmitAt = Callable[[Sequence[Sum]], None]
"""Emits the body of the iteration with this multi-index, at the ambient insertion point."""


class Realiser:
    """Rewrites the kernel's mapped loops and ops in place, outermost first."""

    def __init__(self, kernel: Outlined, geometry: Geometry) -> None:
        self._hardware = Hardware(kernel.entry, geometry)
        self._geometry = geometry
        self._staging = Staging()
        self.remarks: list[str] = []

    def run(self, op: ir.Operation, taken: frozenset[tuple[str, str]] = frozenset()) -> None:
        """Realise `op` if it is mapped, and whatever is mapped inside. `taken`: what the maps around it distribute."""
        mapping = mapping_of(op)
        if mapping is None and is_alone(op):
            with ir.InsertionPoint(op), op.location:
                do_alone(op)
            return op.erase()
        if mapping is None:
            for inner in children(op):
                self.run(inner, taken)
            return
        taken = taken | mapping.slots()
        with ExitStack() as scope:
            scope.enter_context(ir.InsertionPoint(op))
            scope.enter_context(op.location)
            if not any(_has_map(inner) for inner in children(op)):
                self._guard_idle_axes(op, mapping, taken, scope)
            moved = self._forall(op, mapping) if op.name == "scf.forall" else self._structured(op, mapping)
        op.erase()
        for inner in moved:
            self.run(inner, taken)

    def _guard_idle_axes(
        self, op: ir.Operation, mapping: Mapping, taken: frozenset[tuple[str, str]], scope: ExitStack
    ) -> None:
        """Threads along an axis that no map uses would all do the same iteration: the first of them does it."""
        if mapping.space == "blocks":
            return
        spaces = {space for space, _ in taken}
        if spaces & {"warps", "lanes"}:
            ids = {"lane": self._hardware.lane().index} if "lanes" not in spaces else {}
            if "warps" not in spaces:
                ids["warp"] = self._hardware.warp().index
        else:
            static = self._geometry.static_block()
            unused = [a for a, size in zip(AXES, static, strict=True) if size != 1 and ("threads", a) not in taken]
            ids = {a: self._hardware.id("threads", a) for a in unused}
        idle = {name: index for name, index in ids.items() if index.terms}
        if idle:
            scope.enter_context(when(*map(is_zero, idle.values())))
            self.remarks.append(
                f"{mapping} leaves {', '.join(idle)} idle: {describe(op)} runs where {' and '.join(idle)} = 0"
            )

    def _forall(self, op: ir.Operation, mapping: Mapping) -> list[ir.Operation]:
        dimensions = loop_dimensions(op)
        body = op.regions[0].blocks[0]
        moved: list[ir.Operation] = []

        def emit(iterations: Sequence[Sum]) -> None:
            for variable, dimension, iteration in zip(body.arguments, dimensions, iterations, strict=True):
                variable.replace_all_uses_with(dimension.induction(iteration))
            for inner in list(body.operations)[:-1]:
                inner.operation.detach_from_parent()
                ir.InsertionPoint.current.insert(inner)
                moved.append(inner.operation)

        self._distribute(mapping, [d.trips() for d in dimensions], emit)
        return moved

    def _structured(self, op: ir.Operation, mapping: Mapping) -> list[ir.Operation]:
        structured, lanes = StructuredOp.of(op), mapping.vector
        space = extents(op)
        space[-1:] = [ceildiv(n, lanes) for n in space[-1:]]
        if any(map(is_stage, op.operands)):
            sharers = self._hardware.sharers(mapping, space)
            self._staging.emit(
                op, mapping, sharers, lambda at, own: emit_unit(structured, _multi_index(at, space), lanes, own)
            )
        else:
            self._distribute(mapping, space, lambda at: emit_unit(structured, at, lanes))
        if lanes > 1:
            self.remarks.append(_widths(op, structured, lanes))
        return []

    def _distribute(self, mapping: Mapping, trips: Sequence[Bound], emit: EmitAt) -> None:
        """Call `emit` with the multi-index of an owned iteration, inside the loops and guards of the distribution."""
        if not trips:  # an op on scalars: a single iteration, which has no index
            return self._distribute(mapping, [1], lambda at: emit(at[1:]))
        sharers = self._hardware.sharers(mapping, trips)

        def nest(at: tuple[Sum, ...]) -> None:
            if len(at) == len(sharers):
                return emit(_multi_index(at, trips))
            n, who = sharers[len(at)]
            for_each_owned(n, who, mapping.dist, mapping.chunk, lambda i: nest((*at, i)))

        nest(())


def _multi_index(at: Sequence[Sum], extents: Sequence[Bound]) -> Sequence[Sum]:
    """The index of each dimension, where all of them may be counted row by row."""
    return at if len(at) == len(extents) else delinearise(at[0], extents)


def _widths(op: ir.Operation, structured: StructuredOp, lanes: int) -> str:
    """Which sides of a vectorised op are wide, for the report."""

    def side(kind: str, number: int) -> str:
        if structured.wide(number, lanes):
            return f"{kind} {lanes}-wide"
        why = "neighbours lie apart" if structured.lies_apart(number) else "alignment not proven"
        return f"{kind} scalar ({why})"

    buffers = [n for n, operand in enumerate(structured.operands) if isinstance(operand.type, ir.MemRefType)]
    in_memory = [n for n in buffers if not is_stage(structured.operands[n])]
    loads = [side("loads", n) for n in in_memory if structured.used(n)]
    stores = [side("stores", n) for n in in_memory if n in structured.output_numbers()]
    gathers = f"loads {lanes}-wide under one guard" if structured.gathered(lanes) else "loads scalar (masked one by one)"
    in_body = [] if any(structured.used(n) for n in buffers) else [gathers]
    return f"{_called(op, structured)}: " + ", ".join([*(loads or in_body), *stores])


def _called(op: ir.Operation, structured: StructuredOp) -> str:
    """What the report calls an op: by the named buffer that it fills, else by itself."""
    base = behind(structured.operands[structured.output_numbers().start])
    name = None if isinstance(base.owner, ir.Block) else name_of(base)
    return describe(op) if name is None else f"{name} ({describe(op)})"


def _has_map(op: ir.Operation) -> bool:
    return mapping_of(op) is not None or any(_has_map(inner) for inner in children(op))
