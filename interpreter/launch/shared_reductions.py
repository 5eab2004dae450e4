"""A reduction that processors share: each one reduces iterations of its own, and then all of them combine what they have made.

    map OP to lanes      the results of 32 lanes go from lane to lane (`gpu.shuffle`), until each lane has the whole
    map OP to threads    those of each warp so, then one for each warp through shared memory; every thread combines these

So every processor has the result. Five shuffles with `xor` give all lanes the same bits, since combiners do not mind which operand
comes first. A thread without an iteration brings the combiner's identity along.

Source: NVIDIA, "Faster Parallel Reductions on Kepler"; upstream's `gpu.subgroup_reduce`, which is broken down to the same shuffles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ..buffers.elements import StructuredOp
from ..indices.arithmetic import Sum, apply_map, is_zero
from ..ir.functions import name_of, set_name
from ..ir.mlir import gpu, ir, memref
from ..ir.structured import structure
from ..mapping.lane_grids import idle_lane
from ..mapping.mapping import Mapping, handed_out
from ..mapping.processors import Hardware, for_each, when
from ..memory.limits import WARP
from ..memory.views import behind, is_own_array
from ..padding.combiners import Combiner, combiner
from ..padding.masked_loads import number
from ..padding.scans import running
from ..session.rewriter import refuse

At = Sequence[Sum]
EmitOwned = Callable[[StructuredOp, Callable[[At], At]], None]
"""Emits the iterations that the thread owns of an op, given how the index of one is made of that of what is handed out."""


class SharedReduction:
    """One reduction on memrefs, in a kernel that is being made.

    Args:
        op: the mapped op.
        mapping: its map, to lanes or to threads.
        hardware: the kernel's processors.
        by_warps: a loop around it hands warps iterations of their own. Else all warps have the same results.
        around: the maps that it stands in, its own the last.

    Errors: W0352 for a block that is not whole warps.
    """

    def __init__(
        self, op: ir.Operation, mapping: Mapping, hardware: Hardware, *, by_warps: bool, around: Sequence[Mapping] = ()
    ) -> None:
        self.around = around
        self.op, self.mapping, self.hardware, self.by_warps = op, mapping, hardware, by_warps
        self.combiner = self._combiner()
        self.structured = StructuredOp.of(op)
        space = structure(op)
        self.reduced = handed_out(op)
        self.kept = [d for d in range(space.rank) if d not in self.reduced]
        self.extents = [space.extents[d] or 0 for d in self.kept]
        self.outputs = [space.inputs + n for n in running(op)]
        self.results = [self.structured.operands[n] for n in self.outputs]
        self.kinds = [ir.MemRefType(result.type).element_type for result in self.results]
        self.warps = self._warps()

    def emit(self, owned: EmitOwned) -> None:
        """Emit it at the insertion point, which all threads of the block reach (of lanes: all of a warp)."""
        own = [self._own(kind) for kind in self.kinds]

        def begin(at: At) -> None:
            for value, kind, buffer in zip(self.combiner.identities, self.kinds, own, strict=True):
                store([number(value, kind)], [buffer], at)

        for_each(self.extents, begin)
        for_each(self.extents, lambda at: owned(self._into(own), lambda inner: self._index(at, inner)))
        if self.warps == 1:
            for_each(self.extents, lambda at: self._finish(self._across_lanes(load(own, at)), at))
            return
        parts = self._shared()
        lane, warp = self.hardware.lane().index, self.hardware.warp().index

        def leave(at: At) -> None:
            values = self._across_lanes(load(own, at))
            with when(is_zero(lane)):
                store(values, parts, [*at, warp])

        def take(at: At) -> None:
            values = load(parts, [*at, Sum()])
            for other in range(1, self.warps):
                values = self.combiner.together(values, load(parts, [*at, Sum(other)]), False)
            self._finish(values, at)

        for_each(self.extents, leave)
        gpu.BarrierOp(address_spaces=ir.ArrayAttr.get([ir.Attribute.parse(SHARED)]))
        for_each(self.extents, take)

    def _combiner(self) -> Combiner:
        found = combiner(self.op)
        assert found is not None, "the map was checked"
        return found

    def _warps(self) -> int:
        """How many of them combine."""
        if self.mapping.space == "lanes":
            return 1
        threads = self.hardware.linear_thread().count
        if not isinstance(threads, int) or threads % WARP:
            count = f"{threads} threads" if isinstance(threads, int) else "a number of threads known only at run time"
            raise refuse(
                "W0352", f"the threads of a block combine what they have reduced, warp by warp, and it has {count}", self.op,
                f"take a multiple of {WARP} threads",
            )  # fmt: skip
        return threads // WARP

    def _into(self, own: Sequence[ir.Value]) -> StructuredOp:
        """The op, reducing into the thread's own results."""
        return reducing_into(self.structured, self.outputs, own, [ir.AffineDimExpr.get(d) for d in self.kept])

    def _index(self, at: At, inner: At) -> At:
        """The index of an iteration, of those of what is kept and of what is reduced."""
        places = dict(zip([*self.kept, *self.reduced], [*at, *inner], strict=True))
        return [places[d] for d in sorted(places)]

    def _across_lanes(self, values: list[ir.Value]) -> list[ir.Value]:
        integer = ir.IntegerType.get_signless(32)
        whole, row = number(WARP, integer), self.mapping.space == "lanes" and self.mapping.axes == ("y",)
        count = self.mapping.counts[0] if self.mapping.space == "lanes" else WARP
        for step in range(count.bit_length() - 2, -1, -1):
            distance = number((WARP // count if row else 1) << step, integer)
            others = [gpu.ShuffleOp(v, distance, whole, gpu.ShuffleMode.XOR).shuffleResult for v in values]
            values = self.combiner.together(values, others, False)
        return values

    def _finish(self, values: list[ir.Value], at: At) -> None:
        """Combine them with what the results were before. Memory of others is written by the first thread that has them."""
        zeros = self._index(at, [Sum()] * len(self.reduced))
        index = [place.emit() for place in zeros]
        places = [apply_map(self.structured.maps[n], index) for n in self.outputs]
        own = all(map(is_own_array, self.results))
        with when(*[] if own else map(is_zero, self._firsts())):
            before = [memref.LoadOp(result, place).result for result, place in zip(self.results, places, strict=True)]
            after = self.combiner.together(before, values, True)
            for value, result, place in zip(after, self.results, places, strict=True):
                memref.StoreOp(value, result, place)

    def _firsts(self) -> list[Sum]:
        """What is zero in the first thread of those that have the same results."""
        if self.mapping.space != "lanes" or self.mapping.is_whole:
            return [self.hardware.lane().index if self.by_warps else self.hardware.linear_thread().index]
        among = self.hardware.lanes(self.mapping.axes[0], self.mapping.counts[0]).index
        others = [] if self.by_warps else [self.hardware.warp().index]
        return [index for index in (among, idle_lane(self.hardware, self.around), *others) if index.terms]

    def _own(self, kind: ir.Type) -> ir.Value:
        made = memref.AllocaOp(ir.MemRefType.get(self.extents, kind), [], [])
        set_name(made, "part")
        return made.result

    def _shared(self) -> list[ir.Value]:
        """What each warp has made, of each result."""
        space = ir.Attribute.parse(SHARED)
        kinds = [ir.MemRefType.get([*self.extents, self.warps], kind, None, space) for kind in self.kinds]
        made = [memref.AllocOp(kind, [], []) for kind in kinds]
        for result, alloc in zip(self.results, made, strict=True):
            name = name_of(behind(result))
            set_name(alloc, name and f"{name}_parts")
        return [alloc.result for alloc in made]


def reducing_into(
    op: StructuredOp, outputs: Sequence[int], own: Sequence[ir.Value], subscripts: Sequence[ir.AffineExpr]
) -> StructuredOp:
    """The op with other buffers, at these subscripts, for the operands that these outputs are."""
    operands, maps = [*op.operands], [*op.maps]
    for position, buffer in zip(outputs, own, strict=True):
        operands[position] = buffer
        maps[position] = ir.AffineMap.get(maps[position].n_dims, 0, subscripts)
    return replace(op, operands=tuple(operands), maps=tuple(maps))


SHARED = "#gpu.address_space<workgroup>"


def load(buffers: Sequence[ir.Value], at: At) -> list[ir.Value]:
    index = [place.emit() for place in at]
    return [memref.LoadOp(buffer, index).result for buffer in buffers]


def store(values: Sequence[ir.Value], buffers: Sequence[ir.Value], at: At) -> None:
    index = [place.emit() for place in at]
    for value, buffer in zip(values, buffers, strict=True):
        memref.StoreOp(value, buffer, index)
