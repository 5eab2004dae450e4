"""The tile of a buffer that a loop of the payload reads: where it begins, how large it is, and the loop on a copy of it.

    for k in 0…16: … A[16·by + ty, 16·k0 + k] …   →   A_shared = A[16·by …+16, 16·k0 …+16];  for k: … A_shared[ty, k] …

Subscripts are affine in the variables of the loop and of loops inside it; what these add to a subscript is the place in the tile,
and what is left, the same in all iterations, is where the tile begins.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...dsl.diagnostics import fail
from ..indices.arithmetic import apply_map, constant
from ..indices.linear import NOTHING, Floor, Linear, Symbol
from ..indices.values import KnownIndices
from ..ir.mlir import ahead_of, arith, ir, is_within, linalg, maker, memref, operations, producer
from ..ir.structured import generic
from ..mapping.mapping import loop_dimensions
from ..memory.effects import is_memref, is_pure
from ..memory.names import called
from ..memory.views import may_share
from ..session.rewriter import describe

_WAY = "stage an operand whose subscripts are sums of the loops' variables, or leave it in global memory"


@dataclass(frozen=True)
class LoopTile:
    """`first` by axis: where the tile begins, a form; `shape`; `place` by load and axis: where in the tile it reads."""

    buffer: ir.Value
    first: tuple[Linear, ...]
    shape: tuple[int, ...]
    place: dict[ir.Operation, tuple[Linear, ...]]
    indices: LoopIndices


class LoopIndices(KnownIndices):
    """Indices as forms of what stands in front of a loop, and of counters of iterations of it and of loops inside."""

    def __init__(self, loop: ir.Operation) -> None:
        super().__init__()
        self.loop = loop
        self.values: dict[Symbol, ir.Value] = {}
        self.counters: dict[Symbol, tuple[ir.Value, Linear, int]] = {}

    def _evaluate(self, value: ir.Value) -> Linear:
        made = producer(value)
        if made is None:
            return self._variable(value)
        if made.name.startswith(("affine.", "arith.", "index.")) or is_within(made, self.loop):
            return super()._evaluate(value)
        return self._outer(value, None, None)

    def _outer(self, value: ir.Value, low: int | None, high: int | None) -> Linear:
        symbol = Symbol(f"outer{len(self.values)}", "parameter", NOTHING, low, high)
        self.values[symbol] = value
        return Linear.of(symbol)

    def _variable(self, value: ir.Value) -> Linear:
        loop, number = maker(value), ir.BlockArgument(value).arg_number
        bounds: list[int | ir.Value] = []
        if loop.name == "scf.for" and number == 0:
            bounds = list(loop.operands)[:3]
        elif loop.name == "scf.forall" and number < len(loop_dimensions(loop)):
            dimension = loop_dimensions(loop)[number]
            bounds = [dimension.lower, dimension.upper, dimension.step]
        inside = loop == self.loop or is_within(loop, self.loop)
        if not bounds:
            return super()._evaluate(value) if inside else self._outer(value, None, None)
        low, step = self.number(bounds[0]), self.number(bounds[2])
        ends = self._ends(bounds[1])
        if not inside:
            last = [most for most in (end.bounds()[1] for end in ends) if most is not None]
            return self._outer(value, low.bounds()[0], min(last) - 1 if last else None)
        spans = [most for most in ((end - low).bounds()[1] for end in ends) if most is not None]
        if not spans or not step.is_constant:
            raise fail(
                "W0332", f"{describe(loop)} has no known number of iterations, so that its tile has no static shape",
                "tile with static sizes first; or leave the operand in global memory",
            )  # fmt: skip
        by = step.constant
        symbol = Symbol(f"counter{len(self.counters)}", "loop", NOTHING, 0, max(-(-min(spans) // by), 1) - 1)
        self.counters[symbol] = (value, low, by)
        return low + Linear.of(symbol) * by

    def _ends(self, bound: int | ir.Value) -> list[Linear]:
        """What a loop's end is the least of."""
        least = None if isinstance(bound, int) else producer(bound)
        if least is not None and least.name == "affine.min":
            return self.affine_map(least.attributes["map"].value, [self.linear(v) for v in least.operands])
        return [self.number(bound)]

    def emit(self, form: Linear) -> ir.Value:
        """The form as a value, at the insertion point. A counter is its loop's variable from the first iteration on."""
        values: list[ir.Value] = []

        def dimension(value: ir.Value) -> ir.AffineExpr:
            if value not in values:
                values.append(value)
            return ir.AffineExpr.get_dim(values.index(value))

        def spelled(form: Linear) -> ir.AffineExpr:
            out = ir.AffineExpr.get_constant(form.constant)
            for term, factor in form.terms.items():
                if isinstance(term, Floor):
                    out = out + ir.AffineExpr.get_floor_div(spelled(term.numerator), term.divisor) * factor
                elif term in self.values:
                    out = out + dimension(self.values[term]) * factor
                else:
                    variable, low, by = self.counters[term]
                    since = dimension(variable) - spelled(low)
                    out = out + (since if by == 1 else ir.AffineExpr.get_floor_div(since, by)) * factor
            return out

        expression = spelled(form)
        return apply_map(ir.AffineMap.get(len(values), 0, [expression]), values)[0]


def users_of(loop: ir.Operation, name: str) -> list[tuple[ir.Operation, ir.Value]]:
    """What in a loop uses the buffer called so, or a view of it. Raises W0330, and W0468 where something else may write it."""
    accesses = [(op, v) for op in operations(loop) for v in op.operands if is_memref(v) and not is_within_value(v, loop)]
    mine = [(op, value) for op, value in accesses if called(value) == name]
    if not mine:
        there = ", ".join(dict.fromkeys(filter(None, (called(value) for _, value in accesses))))
        raise fail("W0330", f"{describe(loop)} reads no buffer `{name}`", f"it accesses {there}" if there else None)
    for op, value in accesses:
        elsewhere = called(value) != name and not isinstance(op.opview, memref.LoadOp) and not is_pure(op)
        if elsewhere and may_share(value, mine[0][1]):
            raise fail("W0468", f"{describe(op)} may write a part of `{name}`", _WAY)
    return mine


def tile_of(loop: ir.Operation, name: str, mine: list[tuple[ir.Operation, ir.Value]]) -> LoopTile:
    """What a loop reads of a buffer, of which these are the users. Raises W0331, W0332, W0468."""
    buffer = mine[0][1]
    for op, value in mine:
        if not isinstance(op.opview, memref.LoadOp) or value != buffer:
            what = "writes it" if isinstance(op.opview, memref.StoreOp) else "is not a load of one element of it"
            code = "W0331" if isinstance(op.opview, memref.StoreOp) else "W0468"
            raise fail(code, f"`{name}` is staged where a loop only loads its elements, and {describe(op)} {what}", _WAY)
    indices, forms = LoopIndices(loop), dict[ir.Operation, tuple[Linear, ...]]()
    for op, _ in mine:
        forms[op] = tuple(indices.linear(v) for v in list(op.operands)[1:])
    bases: list[tuple[Linear, ...]] = []
    for op, form in forms.items():
        bases.append(tuple(_start(each, indices, name, op) for each in form))
    first, shape = list(bases[0]), [1] * len(bases[0])
    for axis in range(len(shape)):
        offsets = [base[axis] - bases[0][axis] for base in bases]
        if not all(offset.is_constant for offset in offsets):
            raise fail("W0468", f"the loop reads `{name}` in two places whose distance is not a number", _WAY)
        least = min(offset.constant for offset in offsets)
        first[axis] = bases[0][axis] + least
        shape[axis] = max((form[axis] - first[axis]).bounds()[1] or 0 for form in forms.values()) + 1
    place = {op: tuple(f - start for f, start in zip(form, first, strict=True)) for op, form in forms.items()}
    return LoopTile(buffer, tuple(first), tuple(shape), place, indices)


def is_within_value(value: ir.Value, loop: ir.Operation) -> bool:
    """Whether a value is made inside the loop."""
    made = maker(value)
    return made == loop or is_within(made, loop)


def _start(form: Linear, indices: LoopIndices, name: str, op: ir.Operation) -> Linear:
    """The least value of a subscript, in which the counters do not occur. Raises W0468."""
    out = Linear.of(form.constant)
    for term, factor in form.terms.items():
        if isinstance(term, Symbol) and term in indices.counters:
            out = out + min(0, factor * (term.high or 0))
            continue
        inside = [term] if isinstance(term, Symbol) else list(term.numerator.symbols())
        if any(symbol not in indices.values for symbol in inside):
            raise fail("W0468", f"a subscript of `{name}` is not affine in the loops' variables: {describe(op)}", _WAY)
        out = out + Linear({term: factor}, 0)
    return out


def read_from(tile: LoopTile, view: ir.Value) -> ir.Operation:
    """Fill `view` with the tile in front of the loop, which reads from there then. Returns the op that fills it, under a mask
    where the tile may reach beyond the buffer."""
    from ..padding.masked_loads import ANY, MARK, guarded

    indices, shaped = tile.indices, ir.MemRefType(tile.buffer.type)

    def element(_: list[ir.Value]) -> list[ir.Value]:
        mask, at = None, list[ir.Value]()
        for axis, (start, form, extent) in enumerate(zip(starts, tile.first, tile.shape, strict=True)):
            at.append(arith.AddIOp(start, linalg.IndexOp(axis).result).result)
            for test in _tests(tile.buffer, axis, at[-1], form, extent):
                mask = test if mask is None else arith.andi(mask, test)
        return [guarded(mask, shaped.element_type, lambda: memref.LoadOp(tile.buffer, at).result, None)]

    with ahead_of(indices.loop):
        starts = [indices.emit(form) for form in tile.first]
        rank = len(tile.shape)
        copy = generic([], [view], [ir.AffineMap.get_identity(rank)], ["parallel"] * rank, element)
    copy.attributes[MARK] = ir.StringAttr.get(ANY)
    for load, place in tile.place.items():
        with ahead_of(load):
            moved = memref.LoadOp(view, [indices.emit(form) for form in place]).result
        load.results[0].replace_all_uses_with(moved)
        load.erase()
    return copy


def _tests(buffer: ir.Value, axis: int, at: ir.Value, first: Linear, extent: int) -> Iterator[ir.Value]:
    """Whether an index lies in the buffer, where a tile may begin in front of it, or end behind it."""
    low, high = first.bounds()
    kind = ir.MemRefType(buffer.type)
    if low is None or low < 0:
        yield arith.cmpi(arith.CmpIPredicate.sge, at, constant(0))
    if kind.is_dynamic_dim(axis):
        yield arith.cmpi(arith.CmpIPredicate.slt, at, memref.DimOp(buffer, constant(axis)).result)
    elif high is None or high + extent > kind.get_dim_size(axis):
        yield arith.cmpi(arith.CmpIPredicate.slt, at, constant(kind.get_dim_size(axis)))
