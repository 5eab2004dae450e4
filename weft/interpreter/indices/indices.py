"""Index arithmetic in the form in which a reader finds it again: the same sum is the same value, and stands as far out as it can.

    by * 64 + k + ty + 1    →    row = by * 64 + ty   (once, above the loop)
                                 row + k              (in the loop)
                                 row + k + 1

Each `affine.apply` becomes a chain: what is known outside the loops first, then what each loop adds, the constant last. Summands
have one order, and `x * 4 - x floordiv 4 * 16` is `x mod 4 * 4` again (composing maps had taken it apart), `x - x mod 4` is
`x floordiv 4 * 4`. Neighbours then share all but their constants, and `cse` finds them. `canonicalize` would compose the chains
again: it must not run after this.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from ..hardware.limits import WARP
from ..ir.affine_maps import Operator, results_of
from ..ir.mlir import affine, ir, maker, operations, scf

THREAD = 2
_BLOCK = "known_block_size"
STAND_IN = "weft.barrier"
"""What stands for a barrier that bears marks while a kernel is lowered."""

Number = tuple[int, int]
"""Which value: its rank (block ids first, thread ids last), and its place in the order of first use."""
Key = tuple
"""What a summand is, without its coefficient: `("value", n)`, or `("floordiv" | "ceildiv" | "mod" | "mul", linear form, other)`.
The other is a number, or a linear form of what is known throughout the kernel, as the sizes of its arguments are."""


class IndexForm(NamedTuple):
    """`constant + Σ coefficient * key`."""

    terms: tuple[tuple[Key, int], ...] = ()
    constant: int = 0

    def plus(self, other: IndexForm, factor: int = 1) -> IndexForm:
        constant = self.constant + other.constant * factor
        if not other.terms or not factor:  # mostly so, and the terms are in order
            return IndexForm(self.terms, constant)
        if not self.terms:
            return IndexForm(tuple((key, c * factor) for key, c in other.terms), constant)
        total = dict(self.terms)
        for key, coefficient in other.terms:
            total[key] = total.get(key, 0) + coefficient * factor
        kept = tuple(sorted(((k, c) for k, c in total.items() if c), key=lambda term: _order(term[0])))
        return IndexForm(kept, constant)

    def values(self) -> set[Number]:
        """The numbers of the values in it."""
        return {number for key, _ in self.terms for number in values_in(key)}


def _operate(operator: Operator, left: IndexForm, right: IndexForm) -> IndexForm:
    if operator == "add":
        return _with_remainders(left.plus(right))
    if operator == "mul" and not (left.terms and right.terms):
        return IndexForm().plus(left, right.constant) if not right.terms else IndexForm().plus(right, left.constant)
    return IndexForm((((operator, left, right if right.terms else right.constant), 1),))


def values_in(key: Key) -> set[Number]:
    """The numbered values in a key."""
    return {key[1]} if key[0] == "value" else key[1].values() | _throughout(key)


def _throughout(key: Key) -> set[Number]:
    """Those of them that it divides or multiplies by, in which an affine map takes symbols alone."""
    if key[0] == "value":
        return set()
    inside = {number for term, _ in key[1].terms for number in _throughout(term)}
    return inside | (key[2].values() if isinstance(key[2], IndexForm) else set())


@lru_cache(maxsize=4096)
def _order(key: Key) -> tuple:
    if key[0] == "value":
        return (key[1], "value", "")
    return (min(values_in(key), default=(0, 0)), key[0], repr(key))


def _with_remainders(linear: IndexForm) -> IndexForm:
    """`a*x - a*b * (x floordiv b)` → `a * (x mod b)`, and `a*x - a * (x mod b)` → `a*b * (x floordiv b)`."""
    for key, coefficient in linear.terms:
        if key[0] != "floordiv" or isinstance(key[2], IndexForm) or coefficient % key[2]:
            continue
        _, divided, divisor = key
        factor = -coefficient // divisor
        without = linear.plus(divided, -factor).plus(IndexForm(((key, coefficient),)), -1)
        if len(without.terms) < len(linear.terms) - len(divided.terms) + (1 if divided.terms else 0):
            return _with_remainders(without.plus(IndexForm(((("mod", divided, divisor), factor),))))
    for key, coefficient in linear.terms:
        if key[0] != "mod" or isinstance(key[2], IndexForm):
            continue
        _, divided, divisor = key
        without = linear.plus(divided, coefficient).plus(IndexForm(((key, coefficient),)), -1)
        if len(without.terms) < len(linear.terms) - len(divided.terms):
            floor = IndexForm(((("floordiv", divided, divisor), -coefficient * divisor),))
            return _with_remainders(without.plus(floor))
    return linear


def share_indices(function: ir.Operation) -> None:
    """Rewrite all `affine.apply`s of a kernel; run `cse` afterwards."""
    numbers = _Numbers(function)
    for apply in operations(function, "affine.apply"):
        linear = numbers.with_warps(numbers.linear(apply))
        apply.results[0].replace_all_uses_with(numbers.emit(linear, apply))
        apply.erase()


def guards(function: ir.Operation) -> list[ir.Operation]:
    """The `if` that all threads of a block enter, or none, and behind which nothing is left to do: values that stood in front of it
    would be kept in registers throughout. What has two arms is for warp groups of two roles."""
    last = [op.operation for op in function.regions[0].blocks[0].operations][-2:-1]
    plain = [op for op in last if isinstance(op.opview, scf.IfOp) and not len(op.regions[1].blocks)]
    return [op for op in plain if any(operations(op, "gpu.barrier", STAND_IN))]


class _Numbers:
    """The values of a kernel by number: block ids first, thread ids last; and how deep in loops each of them is known."""

    def __init__(self, function: ir.Operation) -> None:
        self._bodies = [function, *guards(function)]
        self._numbers: dict[ir.Value, Number] = {}
        self._values: list[ir.Value] = []
        self._depths: dict[Number, int] = {}
        self._warps: dict[str, IndexForm] = {}
        size = list(ir.DenseI32ArrayAttr(function.attributes[_BLOCK])) if _BLOCK in function.attributes else [0, 0, 0]
        self._in_row = size[1:] == [1, 1] and size[0] > WARP

    def linear(self, apply: ir.Operation) -> IndexForm:
        """What an `affine.apply` computes."""
        mapping = ir.AffineMapAttr(apply.attributes["map"]).value
        operands = [IndexForm(((("value", self._number(operand)), 1),)) for operand in apply.operands]
        return results_of(mapping, operands, lambda number: IndexForm((), number), _operate)[0]

    def _number(self, value: ir.Value, rank: int | None = None) -> Number:
        if value not in self._numbers:
            owner = value.owner
            known = {"gpu.block_id": 0, "gpu.thread_id": THREAD}.get(maker(value).name, 1)
            number = (known if rank is None else rank, len(self._values))
            self._numbers[value] = number
            self._values.append(value)
            self._depths[number] = len(self._blocks(owner if isinstance(owner, ir.Block) else owner.operation.block))
        return self._numbers[value]

    def _blocks(self, block: ir.Block) -> list[ir.Operation]:
        """The ops that the block is nested in, the kernel and its guard left out, outermost first."""
        found: list[ir.Operation] = []
        op = block.owner.operation
        while op not in self._bodies:
            found.append(op)
            op = op.parent.operation
        return found[::-1]

    # ---- warps and lanes ------------------------------------------------------------------------------------------------

    def with_warps(self, linear: IndexForm) -> IndexForm:
        """The thread id divided by 32, and the rest, by the names that they have: `warp`, `lane`."""
        if not self._in_row:
            return linear
        total = IndexForm((), linear.constant)
        for key, coefficient in linear.terms:
            total = total.plus(self._with_warps(key), coefficient)
        return total

    def _with_warps(self, key: Key) -> IndexForm:
        if key[0] == "value":
            return IndexForm(((key, 1),))
        kind, divided, divisor = key
        thread = divided.terms[0][0] if len(divided.terms) == 1 and divisor == WARP and kind != "ceildiv" else None
        if thread is None or thread[0] != "value" or thread[1][0] != THREAD or divided != IndexForm(((thread, 1),)):
            return IndexForm((((kind, self.with_warps(divided), divisor), 1),))
        name = "warp" if kind == "floordiv" else "lane"
        if name not in self._warps:
            source = self._values[thread[1][1]]
            expression = _term((kind, divided, divisor), {thread[1]: ir.AffineExpr.get_dim(0)})
            with ir.InsertionPoint.after(source.owner), source.owner.location:
                made = affine.AffineApplyOp(ir.AffineMap.get(1, 0, [expression]), [source])
            made.operation.attributes["weft.name"] = ir.StringAttr.get(name)
            self._warps[name] = IndexForm(((("value", self._number(made.result, THREAD)), 1),))
        return self._warps[name]

    # ---- writing it anew ------------------------------------------------------------------------------------------------

    def emit(self, linear: IndexForm, apply: ir.Operation) -> ir.Value:
        """The value of a linear form at the place of `apply`: outer summands outside, the constant last."""
        around = self._blocks(apply.block)
        depths = sorted({self._depth(key) for key, _ in linear.terms})
        done: ir.Value | None = None
        for depth in depths:
            terms = tuple(t for t in linear.terms if self._depth(t[0]) == depth)
            before = around[depth] if depth < len(around) else apply
            done = self._sum(done, IndexForm(terms), before)
        if linear.constant or done is None:
            before = around[depths[-1]] if depths and depths[-1] < len(around) else apply
            done = self._sum(done, IndexForm((), linear.constant), before)
        return done

    def _depth(self, key: Key) -> int:
        return max((self._depths[number] for number in values_in(key)), default=0)

    def _sum(self, first: ir.Value | None, rest: IndexForm, before: ir.Operation) -> ir.Value:
        """`first + rest`, as one `affine.apply` where it is not a value already."""
        if first is None and not rest.constant and [(k[0], c) for k, c in rest.terms] == [("value", 1)]:
            return self._values[rest.terms[0][0][1][1]]
        operands = [] if first is None else [first]
        places: dict[Number, ir.AffineExpr] = {}
        symbols = {number for key, _ in rest.terms for number in _throughout(key)}
        for number in sorted(rest.values() - symbols):
            places[number] = ir.AffineExpr.get_dim(len(operands))
            operands.append(self._values[number[1]])
        for place, number in enumerate(sorted(symbols)):
            places[number] = ir.AffineExpr.get_symbol(place)
        total = _rebuilt(rest, places)
        if first is not None:
            total = ir.AffineExpr.get_dim(0) + total
        made = ir.AffineMap.get(len(operands), len(symbols), [total])
        with ir.InsertionPoint(before), before.location:
            return affine.AffineApplyOp(made, [*operands, *(self._values[number[1]] for number in sorted(symbols))]).result


def _rebuilt(linear: IndexForm, places: dict[Number, ir.AffineExpr]) -> ir.AffineExpr:
    total = ir.AffineExpr.get_constant(0)
    for key, coefficient in linear.terms:
        total = total + _term(key, places) * coefficient
    return total + linear.constant


def _term(key: Key, places: dict[Number, ir.AffineExpr]) -> ir.AffineExpr:
    if key[0] == "value":
        return places[key[1]]
    make = {
        "mul": ir.AffineExpr.get_mul,
        "floordiv": ir.AffineExpr.get_floor_div,
        "ceildiv": ir.AffineExpr.get_ceil_div,
        "mod": ir.AffineExpr.get_mod,
    }[key[0]]
    return make(_rebuilt(key[1], places), _rebuilt(key[2], places) if isinstance(key[2], IndexForm) else key[2])
