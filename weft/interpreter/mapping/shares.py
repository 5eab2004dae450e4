"""The iterations that a processor owns, read back from the loops and guards that a map has emitted
around its body."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from ...dsl.records import record
from ..indices.algebra import Sizes
from ..indices.arithmetic import Bound, terms_of
from ..indices.linear import Formula, Linear, Symbol, at_least, involved, less
from ..indices.values import Values
from ..ir.mlir import ir
from ..ir.refusing import Remark
from ..ir.structured import body_of


@record
class Owned:
    """The iterations of a mapped loop or op that a processor owns.

    Args:
        op: the mapped op, for its location.
        at: the iteration, by dimension: a form of the processor's number and of counters of loops.
        extents: of the dimensions.
        own: the counters, and the numbers of processors in `at`.
        guards: conditions of its execution.
        alone: numbers of processors along axes that no map uses, where only the first of them
            executes it.
        block: threads along x, y and z, where known.
    """

    op: Remark = field(compare=False)
    at: tuple[Linear, ...]
    extents: tuple[Linear, ...]
    own: tuple[Symbol, ...]
    guards: tuple[Formula, ...]
    alone: tuple[Symbol, ...]
    block: Sizes

    @classmethod
    def emitted(
        cls,
        op: ir.Operation,
        at: Sequence[Linear],
        extents: Sequence[Bound],
        alive: Sequence[ir.Value],
        values: Values,
    ) -> Owned:
        """The owned iterations at the ambient insertion point, inside the loops and guards of a map
        of `op`."""
        block, outside = ir.InsertionPoint.current.block, op.block
        guards: list[Formula] = []
        counters: list[Symbol] = []
        around: list[tuple[ir.Operation, ir.Block]] = []
        while block != outside:
            around.append((block.owner.operation, block))
            block = around[-1][0].block
        for owner, inner in reversed(around):
            if owner.name == "scf.if":
                condition = values.condition(owner.operands[0])
                guards.append(condition if inner == owner.regions[0].blocks[0] else condition.negate())
            elif owner.name == "scf.for":
                start, stop, by = list(owner.operands)[:3]
                highs = values.extremes(stop, "affine.min")
                counter, variable, below = values.counter(values.linear(start), highs, values.linear(by))
                counters += counter.symbols()
                guards += below
                values.bind(body_of(owner).arguments[0], variable)
        guards += map(values.condition, alive)
        forms = tuple(
            sum((values.linear(term) * factor for term, factor in terms_of(index)), Linear.of(index.constant))
            for index in at
        )
        forms = tuple(_in_their_order(form, guards, values) for form in forms)
        sizes = tuple(Linear.of(n) if isinstance(n, int) else values.linear(n) for n in extents)
        own = dict.fromkeys(s for s in involved(*forms) if s.kind in ("thread", "block"))
        guards += [less(form, n) for form, n in zip(forms, sizes, strict=True) if _is_unbounded(form)]
        parts = [part for guard in guards for part in (guard, *guard.parts)]
        idle = dict.fromkeys(s for part in parts if (s := _first_alone(part)) is not None)
        alone = tuple(s for s in idle if s not in own)
        return cls(Remark.of("{}", op), forms, sizes, (*own, *counters), tuple(guards), alone, values.shape.block)


def _in_their_order(form: Linear, guards: Sequence[Formula], values: Values) -> Linear:
    """A form with positions of a table in place of its numbers, if these are a permutation of 0 …:
    another order."""
    table: dict[Symbol, Linear] = {}
    parts = [part for guard in guards for part in (guard, *guard.parts)]
    for key, known in values.made_up.items():
        of_table = isinstance(key, tuple) and isinstance(key[0], tuple)
        symbol = next(known.ways[0][0].symbols()) if of_table else None
        if symbol is not None and symbol.low == 0 and symbol.high is not None:
            below = at_least(known.number * -1, -symbol.high)
            if known.number.bounds() == (0, symbol.high) or below in parts:
                table[symbol] = known.number
    return form.put(table)


def _first_alone(guard: Formula) -> Symbol | None:
    """The thread number that must be 0 under a guard; None for other guards."""
    if guard.form is None or guard.form.constant or len(guard.form.terms) != 1:
        return None
    ((symbol, factor),) = guard.form.terms.items()
    first = isinstance(symbol, Symbol) and symbol.kind == "thread" and (guard.kind == "eq" or factor < 0)
    return symbol if first and isinstance(symbol, Symbol) else None


def _is_unbounded(form: Linear) -> bool:
    """Whether a single block number determines the form, in a grid of unknown size, with a block
    per iteration."""
    return len(form.terms) == 1 and all(s.kind == "block" and s.high is None for s in form.symbols())
