"""Loops over threads in which threads meet, because they share a reduction inside: all of them go through all rounds.

forall (5 rows to threads(y: 4) cyclic) {       →   for r in 0 … 2 {
  fill; reduction over threads(x: 8); copy }           row = r * 4 + y; mine = row < 5
                                                       if mine { fill }
                                                       reduction: of nothing, where it is not mine; shuffles,
                                                           barriers
                                                       if mine { copy } }
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ....dsl.records import record
from ...buffers.tiles import one_each
from ...hardware.lanes import BARRIERS
from ...indices.arithmetic import conjunction
from ...ir.functions import PARTICIPANTS
from ...ir.mlir import ahead_of, ir, is_used, operations, scf
from ...ir.refusing import describe, refuse
from ...mapping.geometry import Geometry
from ...mapping.mapping import Mapping, is_shared_reduction
from ...mapping.participants import alike, team
from ...memory.effects import only_computes


@record
class Within:
    """What an op of a kernel that is being made stands in.

    Args:
        maps: of the loops around it, the outermost first.
        alive: where threads go through iterations that are not theirs: what says whether it is the thread's.
        again: it is in a loop that threads of a block go through inside one over threads.
    """

    maps: tuple[Mapping, ...] = ()
    alive: tuple[ir.Value, ...] = ()
    again: bool = False

    def loop(self) -> Within:
        """The same in a loop."""
        in_block = any(one.distributes and one.space != "blocks" for one in self.maps)
        return replace(self, again=self.again or in_block)


OUTSIDE = Within()


def meet_inside(loop: ir.Operation, mapping: Mapping, geometry: Geometry) -> bool:
    """Whether threads that may have different iterations of a mapped loop meet in it: at a barrier; or at a shuffle of
    a warp to which the loop gives several, or so many to each that nothing but its bounds says that they are the same
    for a warp."""
    if not mapping.distributes or mapping.space == "blocks":
        return False
    rows = team(alike(loop, [mapping], geometry), geometry)
    each = mapping.dist in (None, "cyclic") or (mapping.dist == "block" and one_each(loop))
    plain = each and rows is not None and rows.in_whole_warps
    for op in filter(is_shared_reduction, operations(loop)):
        found = team(op.attributes[PARTICIPANTS], geometry)
        if found is None or found.meets or (found.distances and not plain):
            return True
    return False


def guard(op: ir.Operation, alive: Sequence[ir.Value]) -> None:
    """Let an op be done by the threads whose iteration it is. Raises W0352 where others need what it makes."""
    if only_computes(op) or op.name in BARRIERS or op.name in ("memref.alloc", "memref.alloca") or is_terminator(op):
        return
    if is_used(*op.results):
        raise refuse(
            "W0352",
            f"threads that have no iteration left meet the others at a reduction that they share, and what"
            f" {describe(op)} "
            "gives is not there for them",
            op,
            "let the loop have as many iterations for each of its threads",
        )
    with ahead_of(op), op.location:
        choice = scf.IfOp(conjunction(alive))
        with ir.InsertionPoint(choice.then_block):
            end = scf.YieldOp([])
    op.move_before(end.operation)


def is_terminator(op: ir.Operation) -> bool:
    """Whether it ends its block."""
    return op == op.block.operations[len(op.block.operations) - 1].operation
