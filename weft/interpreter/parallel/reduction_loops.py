"""A loop of the payload that carries numbers, as the `linalg.generic` that processors share.

    %s = scf.for %k = %lo to %hi step 1 iter_args(%a = %z)      %part = memref.alloc(); fill %part with %z
      %v = memref.load %x[%i, %k]                               %row = memref.subview %x[%i, %lo] [1, %hi - %lo] [1, 1]
      %n = arith.addf %a, %v                                →   linalg.generic ins(%row) outs(%part): a reduction
    memref.store %s, %y[%i]                                     forall (1 iteration) { memref.store %s, %y[%i] }

A load with variables of the loop as subscripts becomes an operand: a view of the elements of all
iterations, from which the op has its number of iterations. Other loads stay in the body. Without
such a load, the op gets a view that it does not read, only for the size. `reductions` decides
whether the body combines a carried number with terms, as for any other op. Nested loops, each of
which passes its carried numbers to the next inner one, become a single op. A store of a result
becomes a loop of one iteration, which the first of the processors executes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence

from ...dsl.records import record
from ..hardware.queries import SYNCHRONIZING
from ..indices.arithmetic import Bound, bound_of, index_of, known, sum_of, terms_of
from ..indices.linear import Linear
from ..ir.cloning import clone_until
from ..ir.copying import fill_with
from ..ir.mlir import (
    DYNAMIC,
    ahead_of,
    children,
    ir,
    is_tensor,
    linalg,
    made_within,
    memref,
    move_in_front,
    operations,
    ops_of,
    users,
)
from ..ir.refusing import WAS, describe
from ..ir.structured import body_of, generic, is_loop, loop_inits, move_marks, replace, segments
from ..loops.forall import carrying_nest, without_affine_loops
from ..mapping.mapping import ATTRIBUTE, LoopDimension, Mapping
from ..memory.effects import accesses, is_pure
from ..memory.layouts import strided, subview
from ..session.rewriter import Rewriter
from .nests import is_store, single_iteration, whole


def as_reduction(rewrite: Rewriter, op: ir.Operation) -> ir.Operation:
    """Replaces a loop that carries numbers by a structured op with its handle; other ops are
    returned as they are.

    Raises:
        WeftError: W0343 with the reason why the loop is not such an op.
    """
    if not is_loop(op) or not op.results or any(map(is_tensor, op.results)):
        return op
    name, loop = op.name, CarryingLoop.of(without_affine_loops(op))
    if (why := loop.why_not()) is not None:
        message = f"the iterations of this loop pass numbers to each other, and {why[0]}"
        raise rewrite.error("W0343", message, loop.op, why[1], at="target")
    if loop.op.parent.name == "func.func":
        whole(rewrite, loop.op, 1).attributes[ATTRIBUTE] = Mapping("blocks", ("x",), (1,)).attribute()
        rewrite.remark("no loop is around it: one block executes it, in a loop of one iteration that the handle names")
    made = loop.rewritten()
    made.attributes[WAS] = ir.StringAttr.get(name)
    rewrite.name_buffers()
    rewrite.remark(f"the {name} is a reduction: it became a linalg.generic")
    return made


@record
class _Operand:
    """A load of the loop's body that becomes an operand.

    Args:
        load: the op.
        at: its subscripts, as sums.
        dimensions: by subscript, the dimension of the loop on which it depends; None for a subscript
            that is the same in all iterations.
    """

    load: ir.Operation
    at: list[Linear]
    dimensions: list[int | None]


@record
class CarryingLoop:
    """A loop that carries numbers.

    Args:
        op: a `scf.for` or a `scf.parallel`.
        innermost: of a nest; the op itself if it is none.
        variables, dimensions: of all loops of the nest, and their bounds.
    """

    op: ir.Operation
    innermost: ir.Operation
    variables: list[ir.Value]
    dimensions: tuple[LoopDimension, ...]

    @classmethod
    def of(cls, op: ir.Operation) -> CarryingLoop:
        """The loop of an op; in a nest, moves all ops of the outer loops into the innermost one."""
        nest, variables, dimensions = carrying_nest(op), list[ir.Value](), list[LoopDimension]()
        for loop in nest:
            rank = len(body_of(loop).arguments) - (len(loop.results) if loop.name == "scf.for" else 0)
            variables += list(body_of(loop).arguments)[:rank]
            rows = [[known(bound) for bound in list(loop.operands)[n * rank :][:rank]] for n in range(3)]
            dimensions += [LoopDimension(*each) for each in zip(*rows, strict=True)]
        for bound in (value for loop in nest[1:] for value in list(loop.operands)[:3]):
            move_in_front(bound, op)
        first = body_of(nest[-1]).operations[0].operation
        for loop in nest[:-1]:
            for inner in [each for each in children(loop)[:-1] if each not in nest]:
                inner.move_before(first)
        return cls(op, nest[-1], variables, tuple(dimensions))

    def why_not(self) -> tuple[str, str] | None:
        """The reason why it is no structured op, with a hint; None if it is one."""
        whole = "map a loop around it, and each processor runs it whole; or map it to one, `threads(x: 1)`"
        for inner in list(operations(self.op))[:-1]:
            found = accesses(inner)
            if found is None or any(each.kind != "read" for each in found) or inner.name in SYNCHRONIZING:
                return f"{describe(inner)} does more than read and compute", whole
        if odd := [one.type for one in self.op.results if not isinstance(one.type, ir.IntegerType | ir.FloatType)]:
            return f"{odd[0]} is no number that lanes exchange", f"carry an integer or a float; or {whole}"
        if odd := [one.type for one in self.variables if not isinstance(one.type, ir.IndexType)]:
            return f"its variable is of type {odd[0]}", f"count it in `index`; or {whole}"
        if self._unstated(self.operands()) and self._of_length() is None:
            return "nothing in it is loaded that could state its number of iterations as an operand", whole
        return None

    def operands(self) -> Iterator[_Operand]:
        """The loads that become operands: each subscript is the same in all iterations, or grows by
        a constant, along a dimension that no other subscript depends on."""
        numbers = {next(iter(index_of(variable).terms)): d for d, variable in enumerate(self.variables)}
        for load in ops_of(body_of(self.innermost)):
            if load.name != "memref.load" or made_within(load.operands[0], self.op):
                continue
            at = [sum_of(subscript) for subscript in list(load.operands)[1:]]
            moving = [[term for term in form.terms if term in numbers] for form in at]
            used = [numbers[term] for terms in moving for term in terms]
            fixed = (value for form in at for value, _ in terms_of(form) if value not in self.variables)
            if (
                used
                and len(used) == len(set(used))
                and max(map(len, moving)) == 1
                and all(form.terms[term] > 0 for form, terms in zip(at, moving, strict=True) for term in terms)
                and all(isinstance(self.dimensions[d].step, int) for d in used)
                and not any(made_within(value, self.op) for value in fixed)
            ):
                yield _Operand(load, at, [numbers[terms[0]] if terms else None for terms in moving])

    def _unstated(self, operands: Iterable[_Operand]) -> list[int]:
        """The dimensions for which no operand gives the number of iterations."""
        stated = {d for operand in operands for d in operand.dimensions}
        return [d for d in range(len(self.dimensions)) if d not in stated]

    def _of_length(self) -> ir.Value | None:
        """A buffer that the loop reads. A view of it with strides of 0 is an operand that is never
        read: its sizes give the structured op the numbers of iterations that no other operand
        has."""
        loaded = (load.operands[0] for load in operations(self.op, "memref.load"))
        large = (one for one in loaded if not made_within(one, self.op) and one.type.rank >= len(self.dimensions))
        return next(large, None)

    def rewritten(self) -> ir.Operation:
        """Replaces it by the structured op."""
        with ahead_of(self.op):
            trips = [dimension.trips() for dimension in self.dimensions]
            operands = list(self.operands())
            views = [self._view(operand, trips) for operand in operands]
            unstated = self._unstated(operands)
            views += [self._lengths([trips[d] for d in unstated])] if unstated else []
            parts = [memref.AllocOp(ir.MemRefType.get([], one.type), [], []).result for one in self.op.results]
            for part, init in zip(parts, loop_inits(self.op), strict=True):
                fill_with(part, init)
            every = [ir.AffineDimExpr.get(d) for d in range(len(trips))]
            walked = [[d for d in operand.dimensions if d is not None] for operand in operands]
            walked += [unstated] if unstated else []
            maps = [ir.AffineMap.get(len(trips), 0, [every[d] for d in dimensions]) for dimensions in walked]
            maps += [ir.AffineMap.get(len(trips), 0, [])] * len(parts)

            def body(arguments: list[ir.Value]) -> list[ir.Value]:
                copies = dict(zip((operand.load.results[0] for operand in operands), arguments, strict=False))
                for d, (variable, dimension) in enumerate(zip(self.variables, self.dimensions, strict=True)):
                    copies[variable] = dimension.induction(index_of(linalg.IndexOp(d).result))
                return self._combined(copies, arguments[len(views) :])

            made = generic(views, parts, maps, ["reduction"] * len(trips), body)
            for operand, argument in zip(operands, body_of(made).arguments, strict=False):
                argument.set_location(operand.load.location)  # views of several loads become one
            results = [memref.LoadOp(part, []).result for part in parts]
        move_marks(self.op, made)
        replace(self.op, results)
        return made

    def _view(self, operand: _Operand, trips: Sequence[Bound]) -> ir.Value:
        """The elements that a load reads in all iterations."""
        source = operand.load.operands[0]
        parts = list[tuple[Bound, Bound, int]]()
        for form, d in zip(operand.at, operand.dimensions, strict=True):
            if d is None:
                parts.append((bound_of(form), 1, 1))
                continue
            variable, dimension = index_of(self.variables[d]), self.dimensions[d]
            (term,) = variable.terms
            factor, step = form.terms[term], dimension.step
            assert isinstance(step, int), "it is an operand"
            start = form - variable * factor + index_of(dimension.lower) * factor
            parts.append((bound_of(start), trips[d], factor * step))
        return _slice(source, parts, [n for n, d in enumerate(operand.dimensions) if d is not None])

    def _lengths(self, sizes: Sequence[Bound]) -> ir.Value:
        """A view of a loaded buffer with these sizes, always of the same element."""
        source = self._of_length()
        assert source is not None, "it was found before"
        others = source.type.rank - len(sizes)
        parts = [*[(0, 1, 1)] * others, *((0, size, 0) for size in sizes)]
        return _slice(source, parts, list(range(others, source.type.rank)))

    def _combined(self, copies: dict[ir.Value, ir.Value], parts: list[ir.Value]) -> list[ir.Value]:
        """Clones the body; returns the new carried numbers."""
        body = body_of(self.innermost)
        if self.op.name == "scf.for":
            copies |= zip(list(body.arguments)[1:], parts, strict=True)
            return clone_until(body, copies)
        terms, end = clone_until(body, copies), body.operations[-1].operation
        made = list[ir.Value]()
        for region, part, term in zip(end.regions, parts, terms, strict=True):
            made += clone_until(
                region.blocks[0], copies | dict(zip(region.blocks[0].arguments, (part, term), strict=True))
            )
        return made


def _slice(source: ir.Value, parts: Sequence[tuple[Bound, Bound, int]], kept: Sequence[int]) -> ir.Value:
    """A view with an offset, a size and a step for each dimension of the buffer; the view has only
    the dimensions `kept`."""
    kind = ir.MemRefType(source.type)
    strides, _ = strided(kind)
    steps = [DYNAMIC if strides[n] == DYNAMIC and parts[n][2] else strides[n] * parts[n][2] for n in kept]
    shape = [size if isinstance(size := parts[n][1], int) else DYNAMIC for n in kept]
    small = ir.MemRefType.get(shape, kind.element_type, ir.StridedLayoutAttr.get(DYNAMIC, steps))
    return subview(source, list(zip(*parts, strict=True)), small)


def stores_of(op: ir.Operation) -> list[ir.Operation]:
    """The unmapped stores beside a structured op on elements that store values computed from its
    results."""
    waiting = [
        load.results[0]
        for out in list(op.operands)[segments(op)[0] :]
        for load in users(out)
        if load.name == "memref.load"
    ]
    found = dict[ir.Operation, None]()
    for value in waiting:
        for user in users(value):
            if user.block == op.block and is_store(user):
                found[user] = None
            elif user.block == op.block and is_pure(user):
                waiting += (result for result in user.results if result not in waiting)
    return list(found)


def store_once(rewrite: Rewriter, op: ir.Operation, mapping: Mapping) -> None:
    """Stores of the results of a loop that became `op`: each becomes a loop of one iteration, for the
    first of the processors that share it."""
    for store in stores_of(op):
        alone = dataclasses.replace(mapping, vector=1, axes=mapping.axes[:1], counts=mapping.counts[:1])
        single_iteration(rewrite, store).attributes[ATTRIBUTE] = alone.attribute()
