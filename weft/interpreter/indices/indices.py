"""Index arithmetic in a canonical form: equal sums are the same value, hoisted as far as possible.

    by * 64 + k + ty + 1    →    row = by * 64 + ty   (once, above the loop)
                                 row + k              (in the loop)
                                 row + k + 1

Each `affine.apply` becomes a chain: first the terms that are invariant in all loops, then the terms
of each loop, and the constant last. Summands have a fixed order. Remainders that the composition of
maps has decomposed are restored: `x * 4 - x floordiv 4 * 16` becomes `x mod 4 * 4`, and `x - x mod
4` becomes `x floordiv 4 * 4`. Neighbouring indices then differ only in their constants, and `cse`
merges the common parts. `canonicalize` would compose the chains again: it must not run after this.
"""

from __future__ import annotations

from ..hardware.limits import WARP
from ..ir.affine_maps import Operator, results_of
from ..ir.mlir import affine, ir, maker, operations, scf
from .arithmetic import IndexValue, affine_expression, index_of, value_alone
from .linear import NOTHING, Floor, Linear, Symbol, Term

THREAD = 2
_BLOCK = "known_block_size"
STAND_IN = "weft.barrier"
"""Replaces a barrier with attributes while a kernel is lowered."""

_MAKERS = {"mul": "get_mul", "floordiv": "get_floor_div", "ceildiv": "get_ceil_div", "mod": "get_mod"}


def share_indices(function: ir.Operation) -> None:
    """Rewrites all `affine.apply`s of a kernel; run `cse` afterwards."""
    indices = _Indices(function)
    for apply in operations(function, "affine.apply"):
        apply.results[0].replace_all_uses_with(indices.emit(indices.form(apply), apply))
        apply.erase()


def guards(function: ir.Operation) -> list[ir.Operation]:
    """The `if` around the whole body of a kernel that all threads of a block enter or none, or an
    `if` with two arms, for warp groups of two roles. Values that are computed before it would
    occupy registers throughout the kernel."""
    last = [op.operation for op in function.regions[0].blocks[0].operations][-2:-1]
    plain = [op for op in last if isinstance(op.opview, scf.IfOp) and not len(op.regions[1].blocks)]
    return [op for op in plain if any(operations(op, "gpu.barrier", STAND_IN))]


class _Indices:
    """Indices of a kernel as forms of values that are not defined by `affine.apply`.

    A value has a place in the order of terms (block ids first, thread ids last, otherwise by first
    use) and a depth: the number of loops in which it is defined. A term that is not a sum of
    values, and of quotients by numbers, becomes a new symbol for an operator and two forms. The
    second form is a number, or invariant in the whole kernel, such as a size of an argument.
    """

    def __init__(self, function: ir.Operation) -> None:
        self._bodies = [function, *guards(function)]
        self._order: dict[Symbol, tuple[int, int]] = {}
        self._depths: dict[Term, int] = {}
        self._made: dict[tuple[Operator, Linear, Linear], Symbol] = {}
        self._parts: dict[Symbol, tuple[Operator, Linear, Linear]] = {}
        self._forms: dict[ir.Value, Linear] = {}
        self._names: dict[Term, Linear] = {}
        self._places: dict[Term, tuple[tuple[int, int], str, str]] = {}
        self._inside: dict[tuple[Term, bool], set[Symbol]] = {}
        size = list(ir.DenseI32ArrayAttr(function.attributes[_BLOCK])) if _BLOCK in function.attributes else [0, 0, 0]
        self._in_row = size[1:] == [1, 1] and size[0] > WARP

    def form(self, apply: ir.Operation) -> Linear:
        """The form of an `affine.apply`, in order."""
        mapping = ir.AffineMapAttr(apply.attributes["map"]).value
        return self._ordered(results_of(mapping, [self._of(v) for v in apply.operands], Linear.of, self._operate)[0])

    def _of(self, value: ir.Value, rank: int | None = None) -> Linear:
        if value not in self._forms:
            form = self._forms[value] = index_of(value)
            for symbol in form.symbols():
                known = {"gpu.block_id": 0, "gpu.thread_id": THREAD}.get(maker(value).name, 1)
                self._order[symbol] = (known if rank is None else rank, len(self._order))
                self._places[symbol] = self._order[symbol], "value", ""
                self._names[symbol] = form
                block = value.owner if isinstance(value.owner, ir.Block) else value.owner.operation.block
                self._depths[symbol] = len(self._blocks(block))
        return self._forms[value]

    def _operate(self, operator: Operator, a: Linear, b: Linear) -> Linear:
        if operator == "add":
            return a + b
        if operator == "mul" and (a.is_constant or b.is_constant):
            return b * a.constant if a.is_constant else a * b.constant
        if operator in ("floordiv", "mod") and b.is_constant:
            floor = Linear({Floor(a, b.constant): 1}, 0)
            return floor if operator == "floordiv" else a - floor * b.constant
        return Linear.of(self._symbol(operator, a, b))

    def _symbol(self, operator: Operator, a: Linear, b: Linear) -> Symbol:
        made = self._made.setdefault((operator, a, b), Symbol(operator, "opaque", NOTHING))
        self._parts.setdefault(made, (operator, a, b))
        return made

    def _blocks(self, block: ir.Block) -> list[ir.Operation]:
        """The ops in which the block is nested, except for the kernel and its guard, outermost
        first."""
        found: list[ir.Operation] = []
        op = block.owner.operation
        while op not in self._bodies:
            found.append(op)
            op = op.parent.operation
        return found[::-1]

    # ---- the terms of a form -----------------------------------------------------------------------------------------

    def _values(self, term: Term, *, throughout: bool = False) -> set[Symbol]:
        """The values in a term.

        Args:
            throughout: divisors and factors, which an affine map takes only as symbols.
        """
        if term in self._order:
            return set() if throughout else {term}
        if (term, throughout) not in self._inside:
            _, form, by = self._operation(term)
            inside = {symbol for part in form.terms for symbol in self._values(part, throughout=throughout)}
            self._inside[term, throughout] = inside.union(*(self._values(part) for part in by.terms))
        return self._inside[term, throughout]

    def _operation(self, term: Term) -> tuple[Operator, Linear, Linear]:
        """The operation of a term that is not a value."""
        return self._parts[term] if isinstance(term, Symbol) else ("floordiv", term.numerator, Linear.of(term.divisor))

    def _place(self, term: Term) -> tuple[tuple[int, int], str, str]:
        if term not in self._places:
            kind, form, by = self._operation(term)
            first = min((self._order[symbol] for symbol in self._values(term)), default=(0, 0))
            parts = [(self._place(part), factor) for part, factor in (*form.terms.items(), *by.terms.items())]
            self._places[term] = first, kind, f"{parts} {by.constant}"
        return self._places[term]

    def _depth(self, term: Term) -> int:
        if term not in self._depths:
            self._depths[term] = max((self._depths[symbol] for symbol in self._values(term)), default=0)
        return self._depths[term]

    def _ordered(self, form: Linear) -> Linear:
        """The form, simplified and ordered: `a*x - a*b * (x floordiv b)` is `a * (x mod b)`; the
        quotient and remainder of a thread's number by 32 are named `warp` and `lane`."""
        found = self._with_remainders(form)
        if not self._order.keys() >= found.terms.keys():
            named = [self._named(term) * found.terms[term] for term in sorted(found.terms, key=self._place)]
            found = sum(named, Linear.of(found.constant))
        return Linear({term: found.terms[term] for term in sorted(found.terms, key=self._place)}, found.constant)

    def _with_remainders(self, form: Linear) -> Linear:
        """Introduces remainders: first those that cancel the whole dividend, outer divisions before
        nested ones; then those that leave a term."""
        floors = [term for term, c in form.terms.items() if isinstance(term, Floor) and not c % term.divisor]
        found: list[tuple[int, Linear, Floor, int]] = []
        for floor in sorted(floors, key=lambda floor: (-_depth_of_floors(floor), self._place(floor))):
            c = form.terms[floor]
            factor = -c // floor.divisor
            without = form - floor.numerator * factor + Linear({floor: -c}, 0)
            found.append((len(form.terms) - len(without.terms), without, floor, factor))
        for left in (0, 1):
            for gone, without, floor, factor in found:
                count = len(floor.numerator.terms)
                if gone > count - min(left, count):
                    rest = self._symbol("mod", floor.numerator, Linear.of(floor.divisor))
                    return self._with_remainders(without + Linear({rest: factor}, 0))
        return form

    def _named(self, term: Term) -> Linear:
        """A term with its parts in order; or the value that has a name."""
        if term not in self._names:
            self._names[term] = self._name(term)
        return self._names[term]

    def _name(self, term: Term) -> Linear:
        kind, form, by = self._operation(term)
        thread = value_alone(form)
        of_thread = self._in_row and all(self._order.get(symbol, (0, 0))[0] == THREAD for symbol in form.symbols())
        if thread is None or not of_thread or by != Linear.of(WARP) or kind == "ceildiv":
            form, by = self._ordered(form), self._ordered(by)
            if isinstance(term, Floor):
                return Linear({Floor(form, by.constant): 1}, 0)
            made = self._symbol(kind, form, by)
            self._parts[made] = kind, form, by
            return Linear.of(made)
        name = "warp" if kind == "floordiv" else "lane"
        make = ir.AffineExpr.get_floor_div if kind == "floordiv" else ir.AffineExpr.get_mod
        with ir.InsertionPoint.after(thread.owner), thread.owner.location:
            made = affine.AffineApplyOp(ir.AffineMap.get(1, 0, [make(ir.AffineExpr.get_dim(0), WARP)]), [thread])
        made.operation.attributes["weft.name"] = ir.StringAttr.get(name)
        return self._of(made.result, THREAD)

    # ---- writing it anew ---------------------------------------------------------------------------------------------

    def emit(self, form: Linear, apply: ir.Operation) -> ir.Value:
        """Emits the value of a form at `apply`: summands of outer loops are emitted outside, the
        constant last."""
        around = self._blocks(apply.block)
        depths = sorted({self._depth(term) for term in form.terms})
        done: ir.Value | None = None
        for depth in depths:
            part = Linear({term: c for term, c in form.terms.items() if self._depth(term) == depth}, 0)
            done = self._sum(done, part, around[depth] if depth < len(around) else apply)
        if form.constant or done is None:
            before = around[depths[-1]] if depths and depths[-1] < len(around) else apply
            done = self._sum(done, Linear.of(form.constant), before)
        return done

    def _sum(self, first: ir.Value | None, rest: Linear, before: ir.Operation) -> ir.Value:
        """`first + rest`: one `affine.apply`, unless it is already a value."""
        alone = value_alone(rest)
        if first is None and alone is not None:
            return alone
        inside = {symbol for term in rest.terms for symbol in self._values(term)}
        throughout = {symbol for term in rest.terms for symbol in self._values(term, throughout=True)}
        own = sorted(inside - throughout, key=self._place)
        start = 0 if first is None else 1
        places = {symbol: ir.AffineExpr.get_dim(start + n) for n, symbol in enumerate(own)}
        sizes = sorted(throughout, key=self._place)
        places |= {symbol: ir.AffineExpr.get_symbol(n) for n, symbol in enumerate(sizes)}

        def place(symbol: Symbol) -> ir.AffineExpr:
            if symbol in places:
                return places[symbol]
            kind, a, b = self._parts[symbol]
            by = b.constant if b.is_constant else affine_expression(b, place)
            return getattr(ir.AffineExpr, _MAKERS[kind])(affine_expression(a, place), by)

        total = affine_expression(rest, place)
        if first is not None:
            total = ir.AffineExpr.get_dim(0) + total
        operands = [] if first is None else [first]
        operands += [symbol.value for symbol in (*own, *sizes) if isinstance(symbol, IndexValue)]
        with ir.InsertionPoint(before), before.location:
            return affine.AffineApplyOp(ir.AffineMap.get(start + len(own), len(sizes), [total]), operands).result


def _depth_of_floors(term: Term) -> int:
    return 1 + max(map(_depth_of_floors, term.numerator.terms), default=0) if isinstance(term, Floor) else 0
