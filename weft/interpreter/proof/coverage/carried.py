"""Loops of the payload that carry numbers, executed by structured ops: whether these begin with the
payload's initial values, and compute what the loop does.

    for k in lo … hi: n += x[i, k]                      generic over d in 0 … hi - lo of x[i, lo + d]: k is lo + d
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from ....dsl.records import record
from ...indices.linear import Formula, Linear, Symbol
from ...indices.values import Values
from ...ir.mlir import attributes, ir, made_by, ops_of, producer
from ...ir.structured import body_of, loop_inits, loop_outputs, segments, yielded
from ..kernels.root_buffers import RootBuffer
from .labels import Label, value_of
from .payloads import Coordinates, PayloadOp
from .points import Executes


@record(eq=False)
class LoopExecuted:
    """A structured op of the kernel that a loop of the payload has become.

    Args:
        loop: of the payload, as `scf`.
        op: of the kernel.
        symbols, guards: the counters of the loops around it and its own, and the conditions of
            execution.
        cells: the elements that hold its results.
        since: the loops in each iteration of which these are initialized again.
        started: their contents before.
    """

    loop: ir.Operation
    op: ir.Operation
    symbols: tuple[Symbol, ...]
    guards: tuple[Formula, ...]
    cells: tuple[tuple[RootBuffer, Coordinates] | None, ...]
    since: tuple[Symbol, ...]
    started: tuple[Label | None, ...]

    def execution(self, of: PayloadOp) -> Executes:
        """Its iterations, as those of an op."""
        return Executes(of, self.symbols, self.guards, (), self.cells, self.since, self.op, self.started)

    def unclear(self, values: Values, point: Mapping[Symbol, Linear]) -> str:
        """The reason why its results are not known to be the payload's; empty if they are. `point`: the
        iteration of the payload."""
        for init, label, cell in zip(loop_inits(self.loop), self.started, self.cells, strict=True):
            constant = made_by(init, "arith.constant")
            start = None if label is None or cell is None else label.start(cell[1])
            if constant is None or start is None or start.constant != value_of(constant.attributes["value"]):
                return "what its results begin with is not known"
        return "" if Body(self.loop, self.op, values, point).is_same() else "its body is not known to compute the same"


@record(eq=False)
class Body:
    """The body of a loop of the payload, beside that of a structured op.

    Args:
        point: the iteration of the payload.
        terms: of a `scf.reduce`, by the argument of its combiner.
    """

    loop: ir.Operation
    op: ir.Operation
    values: Values
    point: Mapping[Symbol, Linear]
    terms: dict[ir.Value, ir.Value] = field(default_factory=dict)

    def is_same(self) -> bool:
        """Whether both yield the same of the same."""
        inputs, _ = segments(self.op)
        mine, its = list(body_of(self.op).arguments), ops_of(body_of(self.loop))
        loads = {str(each.location): each.results[0] for each in its if each.name == "memref.load"}
        reduce, before = its[-1], loop_outputs(self.loop)
        if reduce.name == "scf.reduce":
            before = [region.blocks[0].arguments[0] for region in reduce.regions]
            merged = (region.blocks[0].arguments[1] for region in reduce.regions)
            self.terms.update(zip(merged, reduce.operands, strict=True))
        pairs = dict(zip(before, mine[inputs:], strict=True))
        for argument, operand in zip(mine[:inputs], self.op.operands, strict=False):
            view = producer(operand)
            if view is not None and str(view.location) in loads:
                pairs[loads[str(view.location)]] = argument
        ends = yielded(self.loop)
        if reduce.name == "scf.reduce":
            ends = [ops_of(region.blocks[0])[-1].operands[0] for region in reduce.regions]
        return all(self._same(one, other, pairs) for one, other in zip(ends, yielded(self.op), strict=True))

    def _same(self, one: ir.Value, other: ir.Value, pairs: dict[ir.Value, ir.Value]) -> bool:
        """Whether a value of the loop, and one of the op, are computed equally."""
        one = self.terms.get(one, one)
        if one in pairs:
            return pairs[one] == other
        number = isinstance(one.type, ir.IndexType | ir.IntegerType)
        if number and self.values.linear(one).put(self.point) == self.values.linear(other):
            return True
        mine, its = producer(one), producer(other)
        if mine is None or its is None or mine.name != its.name or len(mine.regions) != len(its.regions):
            return False
        if _properties(mine) != _properties(its):
            return False
        if mine.name == "memref.load" or len(mine.regions):  # accesses are compared on their own
            return str(mine.location) == str(its.location)
        pairs[one] = other
        return all(self._same(*each, pairs) for each in zip(mine.operands, its.operands, strict=True))


def _properties(op: ir.Operation) -> dict[str, ir.Attribute]:
    return {name: value for name, value in attributes(op).items() if not name.startswith("weft.")}
