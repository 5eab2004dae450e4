"""Cooperative scan. In each round a thread reduces its consecutive iterations, gets the total of
the threads before it, and executes its iterations again, beginning with that total.

    v = the reduction of the thread's iterations, from the combiner's identity
    five times: v = combined(v of the lane 1, 2, 4, … before, v)    `gpu.shuffle up`, if that lane exists
    the last lane of each warp stores v in shared memory; a barrier
    start = rounds before · warps before · lanes before
    the iterations again, from `start`: they write their elements
    a barrier, if another round follows

The running results of earlier rounds are combined with the iterations of the first thread. As in a
reduction, sums are added in another order than in a sequential loop.

Source: Blelloch, "Prefix Sums and Their Applications"; Hillis and Steele, "Data Parallel
Algorithms", for lanes; Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled
Look-back", for rounds that pass on a carry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...buffers.elements import StructuredOp, emit_unit
from ...hardware.limits import OF_A_THREAD, WARP
from ...indices.arithmetic import Bound, apply_map, ceildiv, index_of, inside, is_zero, less, value_of
from ...indices.linear import Linear
from ...indices.values import largest
from ...ir.affine_maps import dimension_of
from ...ir.element_sizes import bytes_of
from ...ir.functions import name_of, set_name
from ...ir.mlir import arith, gpu, ir, memref
from ...ir.refusing import refuse
from ...ir.structured import element_type, generic, structure
from ...mapping.mapping import extents
from ...mapping.processors import for_each, loop_over, when
from ...memory.effects import is_memref
from ...memory.views import is_own_array, root_memref
from ...reductions.combiners import Combiner
from ...reductions.identities import number
from ...reductions.scans import Scan, read_scan, reduction_of
from .reductions import At, SharedReduction, barrier, load, reducing_into, store

Values = list[ir.Value]


class SharedScan(SharedReduction):
    """A scan on memrefs, in a kernel that is being materialized.

    Errors: W0352 if the block does not consist of whole warps, or a map names only a part of it.
    """

    scan: Scan

    def emit_scan(self) -> None:
        """Emits the scan at the insertion point, which all threads of the block reach (for lanes:
        all of a warp)."""
        every, lanes = extents(self.op), self.mapping.vector
        units = ceildiv(every[self.scan.dimension], lanes)
        ((_, by),) = self.hardware.sharers(self.mapping, [units])
        self.warps = self.team.parts if self.team.meets else 1
        whole = [one.free for one in self.team.digits] == [True] if self.team.meets else self.team.in_whole_warps
        if by.surplus or not whole or by.count != self.warps * WARP or self.alive:
            raise refuse(
                "W0352",
                f"all threads of a block scan together, and `{self.mapping}` names some",
                self.op,
                "`map` the scan to all threads of the block, `threads(*) cyclic`; or give the block that many threads",
            )
        chunk = self.mapping.chunk or 1
        each = by.count * chunk
        most = largest(units)
        rounds: Bound = 1 if most is not None and most <= each else ceildiv(units, each)
        own = [self.part(cell) for cell in self._cells()]
        carry, before = ([named(cell, name) for cell in self._cells()] for name in ("carry", "start"))
        parts = self._shared() if self.warps > 1 else []
        reduction = reduction_of(self.op, self.scan)
        reducing = StructuredOp.of(reduction)
        first = len(reducing.operands) - len(own)
        reducing = reducing_into(reducing, range(first, first + len(own)), own, [])
        writing = reducing_into(self.structured, self.outputs, own, [])

        kept = self._kept(chunk * lanes)
        copies = [
            generic([x], [x], [m, m], ["parallel"] * m.n_dims, lambda own: own[:1]) for x, m in map(self._operand, kept)
        ]
        taking = [(StructuredOp.of(copy), {1: buffer}) for copy, buffer in zip(copies, kept.values(), strict=True)]

        def row(at: At) -> None:
            store(self._identities(), carry, [])
            self._begin(before, at)

            def owned(round: Linear, *ops: tuple[StructuredOp, Mapping[int, ir.Value]], alone: bool = False) -> None:
                def unit(c: Linear) -> None:
                    place = round * each + by.index * chunk + c
                    with when(*inside(place, units), *self._first_warp() if alone else ()):
                        for op, instead in ops:
                            mine = {n: (buffer, [value_of(c * lanes)]) for n, buffer in instead.items()}
                            emit_unit(op, self._index(at, [place]), lanes, mine)

                loop_over(chunk, unit)

            def one(round: Linear) -> None:
                store(load(before, []), own, [])
                owned(round, *taking, (reducing, kept))
                passed, total = self._before(load(own, []), parts, at)
                gone = load(carry, [])
                store(self._together(self._together(gone, passed), load(before, [])), own, [])
                owned(round, (writing, kept), alone=True)
                store(self._together(gone, total), carry, [])
                if rounds != 1:
                    store(self._identities(), before, [])
                    if parts:
                        barrier()

            any_round = [less(Linear.of(0), rounds)] if isinstance(rounds, ir.Value) else []
            with when(*any_round):  # without a round the results keep their values
                loop_over(rounds, one)
                self._end(load(carry, []), at)

        for_each(self.extents, row)
        for helper in (reduction, *copies):
            helper.erase()

    def _kept(self, many: int) -> dict[int, ir.Value]:
        """Thread-private arrays that keep the inputs' elements of a round, so that the thread reads
        them only once."""
        found: dict[int, ir.Value] = {}
        room = OF_A_THREAD
        for position in range(structure(self.op).inputs):
            operand, walked = self._operand(position)
            along = any(dimension_of(e) == self.scan.dimension for e in walked.results)
            if along and is_memref(operand) and self.structured.used(position) and not is_own_array(operand):
                kind = ir.MemRefType.get([many], element_type(operand))
                if (room := room - bytes_of(kind)) >= 0:
                    found[position] = named(memref.AllocaOp(kind, [], []), name_of(root_memref(operand)))
        return found

    def _operand(self, number: int) -> tuple[ir.Value, ir.AffineMap]:
        return self.structured.operands[number], self.structured.maps[number]

    def _combiner(self) -> Combiner:
        found = read_scan(self.op)
        assert isinstance(found, Scan), "the map was checked"
        self.scan = found
        return found.combiner

    def _together(self, ones: Values, others: Values) -> Values:
        return self.combiner.together(ones, others, True)

    def _cells(self) -> list[memref.AllocaOp]:
        return [memref.AllocaOp(ir.MemRefType.get([], kind), [], []) for kind in self.kinds]

    def _place(self, at: At) -> list[list[ir.Value]]:
        index = [value_of(place) for place in self._index(at, [Linear.of()])]
        return [apply_map(self.structured.maps[n], index) for n in self.outputs]

    def _first_warp(self) -> list[ir.Value]:
        """The conditions under which the warp is the first of those that execute the same scan."""
        alone = self.equal.units if not self.team.meets else ()
        return [is_zero(self.hardware.digit(one)) for one in alone if one.free]

    def _begin(self, before: Values, at: At) -> None:
        """Gives the previous running results to the first thread; if each warp has its own results,
        to the first thread of each warp."""
        store(self._identities(), before, [])
        of_each_warp = not self.team.meets and all(map(is_own_array, self.results))
        firsts = (
            [is_zero(self.hardware.digit(one)) for one in self.team.lanes if one.free]
            if of_each_warp
            else self.firsts()
        )
        with when(*firsts):
            for result, place, cell in zip(self.results, self._place(at), before, strict=True):
                store(load([result], [index_of(i) for i in place]), [cell], [])

    def _end(self, values: Values, at: At) -> None:
        own = all(map(is_own_array, self.results))
        with when(*[] if own else self.firsts()):
            for value, result, place in zip(values, self.results, self._place(at), strict=True):
                memref.StoreOp(value, result, place)

    def _before(self, values: Values, parts: Values, at: At) -> tuple[Values, Values]:
        """The combined values of the threads before this thread, and those of all threads."""
        lane = self.hardware.lane().index
        for step in range(WARP.bit_length() - 1):
            values = self._from_before(values, 1 << step, lambda other, v=values: self._together(other, v), values)
        passed = self._from_before(values, 1, lambda other: other, self._identities())
        if not parts:
            return passed, self._shuffled(values, WARP - 1, gpu.ShuffleMode.IDX)[0]
        warp = self.hardware.warp().index
        with when(is_zero(lane + (1 - WARP))):
            store(values, parts, [*at, warp])
        barrier()
        total = load(parts, [*at, Linear.of()])
        gone = self._identities()
        for other in range(1, self.warps):
            after = arith.cmpi(arith.CmpIPredicate.sge, value_of(warp), value_of(Linear.of(other)))
            gone = [arith.select(after, one, two) for one, two in zip(total, gone, strict=True)]
            total = self._together(total, load(parts, [*at, Linear.of(other)]))
        return self._together(gone, passed), total

    def _from_before(
        self, values: Values, distance: int, then: Callable[[Values], Values], otherwise: Values
    ) -> Values:
        """The values, combined with those of the lane at `distance` before this lane; `otherwise`
        for lanes without such a lane."""
        others, there = self._shuffled(values, distance, gpu.ShuffleMode.UP)
        return [arith.select(there, one, other) for one, other in zip(then(others), otherwise, strict=True)]

    def _shuffled(self, values: Values, lane: int, mode: gpu.ShuffleMode) -> tuple[Values, ir.Value]:
        integer = ir.IntegerType.get_signless(32)
        made = [gpu.ShuffleOp(v, number(lane, integer), number(WARP, integer), mode) for v in values]
        return [one.shuffleResult for one in made], made[0].valid


def named(made: memref.AllocaOp, name: str | None) -> ir.Value:
    """An array, with its name."""
    set_name(made, name)
    return made.result
