"""Indices in a loop of the payload as linear forms over values defined before the loop and
iteration counters of it and of loops inside it; and forms converted back to values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from ...dsl.diagnostics import fail
from ..indices.arithmetic import Bound, affine_expression, apply_map, known
from ..indices.linear import NOTHING, Linear, Symbol
from ..indices.values import KnownIndices
from ..ir.mlir import ir, is_within, maker, producer
from ..ir.refusing import describe
from ..mapping.bounds import loop_bounds


class LoopIndices(KnownIndices):
    """Indices as linear forms over values defined before a loop and iteration counters of it and of
    loops inside it.

    Args:
        threads: loops inside that distribute their iterations to threads: their variables are
            constant for a thread.
    """

    def __init__(self, loop: ir.Operation, threads: Sequence[ir.Operation] = ()) -> None:
        super().__init__()
        self.loop, self.threads = loop, tuple(threads)
        self.values: dict[Symbol, ir.Value] = {}
        self.sizes: dict[tuple[ir.Value, Bound], Linear] = {}
        self.counters: dict[Symbol, tuple[ir.Value, Linear, int]] = {}

    def _evaluate(self, value: ir.Value) -> Linear:
        made = producer(value)
        if made is None:
            return self._variable(value)
        if made.name.startswith(("affine.", "arith.", "index.")) or is_within(made, self.loop):
            return super()._evaluate(value)
        if made.name == "memref.dim":  # the same symbol for every use
            key = made.operands[0], known(made.operands[1])
            self.sizes[key] = self.sizes.get(key) or self._outer(value, 0, None)
            return self.sizes[key]
        return self._outer(value, None, None)

    def size(self, buffer: ir.Value, axis: int) -> Linear | None:
        """A size of a buffer; None if it is dynamic, and no index depends on it."""
        kind = ir.MemRefType(buffer.type)
        return self.sizes.get((buffer, axis)) if kind.is_dynamic_dim(axis) else Linear.of(kind.get_dim_size(axis))

    def _outer(self, value: ir.Value, low: int | None, high: int | None) -> Linear:
        symbol = Symbol(f"outer{len(self.values)}", "parameter", NOTHING, low, high)
        self.values[symbol] = value
        return Linear.of(symbol)

    def _variable(self, value: ir.Value) -> Linear:
        loop, bounds = maker(value), self.bounds_of(value)
        inside = is_within(loop, self.loop) and loop not in self.threads
        if bounds is None:
            return super()._evaluate(value) if inside else self._outer(value, None, None)
        low, ends, step = bounds
        if not inside:
            last = [most for most in (end.bounds()[1] for end in ends) if most is not None]
            return self._outer(value, low.bounds()[0], min(last) - 1 if last else None)
        spans = [most for most in ((end - low).bounds()[1] for end in ends) if most is not None]
        if not spans or not step.is_constant:
            raise fail(
                "W0332",
                f"{describe(loop)} has no known number of iterations, so that its tile has no static shape",
                "`tile` it with static sizes, and name the loop over a tile; or leave the buffer in global memory",
            )
        by = step.constant
        symbol = Symbol(f"counter{len(self.counters)}", "loop", NOTHING, 0, max(-(-min(spans) // by), 1) - 1)
        self.counters[symbol] = (value, low, by)
        return low + Linear.of(symbol) * by

    def bounds_of(self, variable: ir.Value) -> tuple[Linear, list[Linear], Linear] | None:
        """The lower bound of a loop variable, the forms of which its upper bound is the minimum,
        and its step; None for other block arguments."""
        bounds = None if maker(variable).name == "scf.parallel" else loop_bounds(variable)
        if bounds is None:
            return None
        return self.number(bounds.lower), self._ends(bounds.upper), self.number(bounds.step)

    def _ends(self, bound: int | ir.Value) -> list[Linear]:
        least = None if isinstance(bound, int) else producer(bound)
        if least is not None and least.name == "affine.min":
            return self.affine_map(least.attributes["map"].value, [self.linear(v) for v in least.operands])
        return [self.number(bound)]

    @contextmanager
    def rebound(self, variables: Mapping[ir.Value, ir.Value]) -> Iterator[None]:
        """A context in which forms are emitted with other variables: those of a copy of the loops
        over threads."""
        before, self.values = (
            self.values,
            {symbol: variables.get(value, value) for symbol, value in self.values.items()},
        )
        yield
        self.values = before

    def emit(self, form: Linear) -> ir.Value:
        """Emits the form as a value at the insertion point. A counter is the distance of its loop's
        variable from the lower bound, in steps."""
        values: list[ir.Value] = []

        def dimension(value: ir.Value) -> ir.AffineExpr:
            if value not in values:
                values.append(value)
            return ir.AffineExpr.get_dim(values.index(value))

        def place(symbol: Symbol) -> ir.AffineExpr:
            if symbol in self.values:
                return dimension(self.values[symbol])
            variable, low, by = self.counters[symbol]
            return ir.AffineExpr.get_floor_div(dimension(variable) - affine_expression(low, place), by)

        expression = affine_expression(form, place)
        return apply_map(ir.AffineMap.get(len(values), 0, [expression]), values)[0]
