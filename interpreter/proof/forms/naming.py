"""What the instances of accesses and barriers call the symbols of their forms: each instance has its own values of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import islpy as isl

from .linear import Formula, Linear, Symbol
from .solver import Solver


class Naming:
    """How one instance calls its symbols. Collects the names it handed out, which are symbols of the same range.

    Args:
        prefix: what sets this instance's own names apart.
        parent: who names the symbols whose value this instance shares with another.
        shares: whether a symbol's value is such a shared one.
    """

    def __init__(
        self, prefix: str, parent: Naming | None = None, shares: Callable[[Symbol], bool] = lambda _: False
    ) -> None:
        self.prefix = prefix
        self.parent = parent
        self.shares = shares
        self.names: dict[Symbol, Symbol] = {}

    def __call__(self, symbol: Symbol) -> Symbol:
        name = self.names.get(symbol)
        if name is None:
            if self.parent is not None and (symbol.kind == "parameter" or self.shares(symbol)):
                return self.parent(symbol)
            name = Symbol(self.prefix + symbol.name, symbol.kind, symbol.depends, symbol.low, symbol.high)
            self.names[symbol] = name
        return name

    def form(self, form: Linear) -> Linear:
        return form.renamed(self)

    def formula(self, formula: Formula) -> Formula:
        return formula.changed(self.form)

    def definitions(self) -> list[Formula]:
        """The definitions of every symbol named so far (each may name more, here or in the parent)."""
        out: list[Formula] = []
        done: set[Symbol] = set()
        while todo := [s for s in self.names if s not in done]:
            for symbol in todo:
                done.add(symbol)
                if symbol.definition is not None:
                    out.append(self.formula(symbol.definition))
        return out


def points(solver: Solver, namings: Sequence[Naming], formulas: Iterable[Formula]) -> tuple[list[Symbol], isl.Set]:
    """Where all formulas hold, and what the symbols are defined by: the dimensions and the set. A parent stands first."""
    parts = [*formulas, *(f for naming in (*namings[1:], namings[0]) for f in naming.definitions())]
    names = [name for naming in namings for name in naming.names.values()]
    return names, solver.set(names, parts, names)


class BarrierNaming(Naming):
    """How a barrier instance calls its symbols: those whose value it shares with x or y have theirs.

    Args:
        with_x, with_y: the numbers of the loops in whose iterations it is that x, or y, is in.

    An uninterpreted value that neither fixes may be anything: the barrier is then not sure to be executed (`unsure`).
    """

    def __init__(self, x: Naming, y: Naming, with_x: set[int], with_y: set[int]) -> None:
        super().__init__("s_")
        self.sides = ((x, with_x), (y, with_y))
        self.unsure = False

    def __call__(self, symbol: Symbol) -> Symbol:
        on = symbol.depends
        if symbol not in self.names and not on.thread:
            for naming, loops in self.sides:
                if on.loops <= loops:
                    return naming(symbol)
        if symbol.kind == "opaque":
            self.unsure = True
        return super().__call__(symbol)
