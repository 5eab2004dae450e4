"""Comparison of two operations on one buffer by the elements that they access: kernels are passed a
whole buffer and access a part of it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from ..ir.mlir import ir
from ..proof.hosts.effects import Effect, Effects

if TYPE_CHECKING:
    from ..proof.races.footprints import Footprints

MOST = 2_000
"""The number of pairs that are compared, about a millisecond each; further ones are ordered."""


class Compared:
    """Comparisons of the operations of a module, which must not change meanwhile.

    Attributes:
        left_out: the number of pairs that were not compared.
    """

    def __init__(self, module: ir.Module, effects: Effects) -> None:
        self.module, self.effects = module, effects
        self.asked = self.left_out = 0

    @cached_property
    def _footprints(self) -> Footprints:
        from ..proof.races.footprints import Footprints  # late: ISL

        return Footprints(self.module)

    def apart(self, one: ir.Operation, done: Effect, other: ir.Operation, wanted: Effect) -> bool:
        """Whether the two accesses to one buffer are proven to be disjoint."""
        if {"alloc", "free"} & {done.kind, wanted.kind} or any(map(self.effects.opaque, (one, other))):
            return False
        if self.asked == MOST:
            self.left_out += 1
            return False
        self.asked += 1
        return self._footprints.meet(one, done.changes, other, wanted.changes, done.buffer.key) == "apart"
