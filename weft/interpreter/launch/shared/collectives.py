"""Loops over threads that contain a collective op, such as a shared reduction: all threads execute
all rounds.

forall (5 rows to threads(y: 4) cyclic) {       →   for r in 0 … 2 { fill; reduction over threads(x:
8); copy }           row = r * 4 + y; mine = row < 5
                                                       if mine { fill }
                                                       reduction: of nothing, where it is not mine;
                                                           shuffles, barriers if mine { copy } }
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
from ...reductions.identities import number


@record
class Within:
    """The context of an op in a kernel that is being materialized.

    Args:
        maps: of the loops around it, the outermost first.
        alive: in rounds that all threads execute, the conditions under which the iteration is the
            thread's own.
        again: whether the op is repeated, by a sequential loop inside a loop over threads of a
            block.
    """

    maps: tuple[Mapping, ...] = ()
    alive: tuple[ir.Value, ...] = ()
    again: bool = False

    def loop(self) -> Within:
        """The context in a nested loop."""
        in_block = any(one.distributes and one.space != "blocks" for one in self.maps)
        return replace(self, again=self.again or in_block)


OUTSIDE = Within()


def meet_inside(loop: ir.Operation, mapping: Mapping, geometry: Geometry) -> bool:
    """Whether a mapped loop contains a collective op that threads with different iterations must
    reach together. This is a barrier; or a shuffle, if a warp has several iterations, or if the
    number of its iterations is not obviously the same for all lanes."""
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
    """Guards an op so that only the threads that own the iteration execute it. For the other
    threads, a loaded number is 0. Raises W0352 if they need any other result."""
    if only_computes(op) or op.name in BARRIERS or op.name in ("memref.alloc", "memref.alloca") or is_terminator(op):
        return
    loaded = list(op.results) if op.name == "memref.load" else []
    if is_used(*op.results) and not loaded:
        raise refuse(
            "W0352",
            f"threads without an iteration of their own take part in a shared reduction, and the results of"
            f" {describe(op)} "
            "do not exist for them",
            op,
            "choose sizes of `tile` or counts of `map` with which each thread has the same number of iterations",
        )
    with ahead_of(op), op.location:
        choice = scf.IfOp(conjunction(alive), [result.type for result in loaded], has_else=bool(loaded))
        for result, chosen in zip(loaded, choice.results, strict=True):
            result.replace_all_uses_with(chosen)
        with ir.InsertionPoint(choice.then_block):
            end = scf.YieldOp(loaded)
        if loaded:
            with ir.InsertionPoint(choice.else_block):
                scf.YieldOp([number(None, result.type) for result in loaded])
    op.move_before(end.operation)


def is_terminator(op: ir.Operation) -> bool:
    """Whether an op is its block's terminator."""
    return op == op.block.operations[len(op.block.operations) - 1].operation
