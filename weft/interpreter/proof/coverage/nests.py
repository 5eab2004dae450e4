"""Loops of the payload: proof that a kernel executes each of their iterations once, on the same
elements.

After tiling, coalescing and mapping, only the accesses of a loop nest remain. Their locations
identify them; the elements that they access determine the iteration of the payload's loops. Loops
inside that were not changed must have their original bounds.

    for i in 0 … n: H[X[i]] += 1                        X[16384*b + t] in the kernel: i is 16384*b + t
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from ....dsl.records import record
from ...indices.algebra import trips_of
from ...indices.integers import range_of_type
from ...indices.linear import NOTHING, TRUE, Formula, Linear, Symbol
from ...ir.copying import fill_constant, fill_value
from ...ir.mlir import ancestors, ir, operations, producer, users
from ...ir.refusing import WAS
from ...ir.structured import body_of, structure
from ...loops.forall import carrying_nest, without_affine_loops
from ...memory.effects import combiner
from ...memory.layouts import mixed
from ...memory.table import ATOMIC
from ...memory.views import changes, root_memref, way
from ..kernels.root_buffers import RootBuffer
from .contents import Contents
from .exactly_once import counters_of, iterates
from .labels import Read
from .payload.bodies import CarriedBody, inside, is_of_data, value_of
from .payload.elements import Coordinates, Key
from .payload.initial_payload import NESTED, extents_of
from .payload.payloads import PayloadOp, PayloadOps
from .points import Executes, LoopExecuted, solution

Loops = Sequence[tuple[ir.Operation, tuple[Linear, ...]]]
"""Loops around an access, outermost first, and structured ops that execute it, with their counters."""
Bounds = tuple[frozenset[Linear], frozenset[Linear], Linear]
"""The lower bounds of a loop (the largest applies), the upper ones (the smallest applies), and the
step."""


@record(eq=False)
class NestDimension:
    """A variable of a loop of the payload: its number among the variables of the loop, its counter,
    its trip count and its bounds."""

    loop: ir.Operation
    number: int
    symbol: Symbol
    extent: Linear | None
    bounds: Bounds


@record(eq=False)
class NestAccess:
    """An access of a nest, and the kernel's access that executes it.

    Args:
        op, of: the access of the kernel, and that of the payload.
        wanted: the subscripts of `of`, in terms of the counters of the payload's loops.
        at: the subscripts of `op`, in terms of the counters of the kernel's loops.
        loops: the loops around `op`, outermost first, with their counters.
        guards: conditions of its execution.
        cell: the element of a buffer that it changes; None for a load.
    """

    op: ir.Operation
    of: ir.Operation
    wanted: Coordinates
    at: Coordinates
    loops: tuple[tuple[ir.Operation, tuple[Linear, ...]], ...]
    guards: tuple[Formula, ...]
    cell: tuple[RootBuffer, Coordinates] | None

    @property
    def key(self) -> Key:
        """The key of its result."""
        return ("nested", str(self.of.location), 0)


@record
class NestExecuted:
    """A nest of the payload, represented by an access that changes memory and that a kernel
    executes. `unclear`: what is unknown about it."""

    of: PayloadOp
    execution: Executes | None = None
    point: Coordinates = ()
    unclear: str = ""


@dataclass
class Nests:
    """The accesses of loops of the payload that a kernel executes.

    Args:
        payload: the untouched module.
        held: the contents of the kernel's buffers.
        steps: the accesses.
        reductions: the loops with carried numbers that structured ops of the kernel execute.
        results: the values that the kernel loads from the results of `reductions`.
    """

    payload: PayloadOps
    held: Contents
    steps: list[NestAccess] = field(default_factory=list)
    reductions: list[LoopExecuted] = field(default_factory=list)
    _dimensions: dict[ir.Operation, tuple[NestDimension, ...]] = field(default_factory=dict, repr=False)
    results: dict[ir.Value, Read] = field(default_factory=dict)
    _sizes: dict[ir.Operation, tuple[Linear | None, ...]] = field(default_factory=dict, repr=False)
    _constant: dict[ir.Value, bool] = field(default_factory=dict, repr=False)

    def is_branch(self, op: ir.Operation) -> bool:
        """Whether a branch is one of the payload's own."""
        return self._access(op) is not None

    def visit(self, op: ir.Operation, loops: Loops, *, record: bool) -> bool:
        """Records an access of the kernel, and its result; False if the payload has no such access
        in a loop."""
        of = self._access(op)
        if op.name == "memref.load" and of is not None and of.results and len(of.regions):
            self._result(op, of)
        if of is None or of.name != op.name or len(of.regions):
            return False
        number = 0 if op.name == "memref.load" else 1
        indices = [self.held.values.linear(v) for v in list(op.operands)[number + 1 :]]
        return self._visited(op, of, (op.operands[number], indices), loops, record, *op.results) is not None

    def _visited(
        self, op: ir.Operation, of: ir.Operation, cell: tuple[ir.Value, list[Linear]], loops: Loops, record: bool, *made: ir.Value
    ) -> NestAccess | None:  # fmt: skip
        """Records that `op` executes the payload's access `of`, on the element `cell`; a load gives
        the value `made`. None if the payload accesses another element."""
        values, number = self.held.values, 0 if of.name == "memref.load" else 1
        self._around(of)
        wanted = [values.linear(v) for v in list(of.operands)[number + 1 :]]
        place = self.held.place(*cell)
        read, element = self.held.at(*cell), self.payload.elements.of(of.operands[number])(tuple(wanted))
        if number == 0 and read is not None:
            self.held.use(read.rows)
        itself = place is not None and self.held.given.get(place[0]) == element.key  # whatever was stored there
        if number == 0 and read is not None and read.key is not None and (read.key == element.key or not itself):
            told = element.at, read.at
            if read.key != element.key:
                return None
            if made and self._is_constant(of):
                self._equate(str(element.key), (of.results[0], element.at), (made[0], read.at))
        else:
            told = tuple(wanted), tuple(cell[1]) if place is None else place[1]
        if len(told[0]) != len(told[1]):  # a buffer of the schedule, of another shape
            told = (), ()
        step = NestAccess(op, of, *told, tuple(loops), tuple(self.held.guards), place if number else None)
        if record:
            self.steps.append(step)
        if number and place is None:
            self.held.forget_value(cell[0])
        elif number and place is not None:
            self._leave(step, place)
        return step

    def _equate(self, what: str, *each: tuple[ir.Value, Coordinates]) -> None:
        """Binds each integer, loaded by the payload or by the kernel, to an unknown number: two are
        equal if they are loaded from equal coordinates."""
        for value, at in each:
            if isinstance(value.type, ir.IndexType | ir.IntegerType):
                self.held.values.bind(value, self.held.values.unread(what, at, *range_of_type(value.type)))

    def _result(self, load: ir.Operation, loop: ir.Operation) -> None:
        """Records a load of the result of a loop with carried numbers."""
        indices = [self.held.values.linear(v) for v in list(load.operands)[1:]]
        read = self.held.at(load.operands[0], indices)
        if read is not None and read.key is not None and read.key[:2] == ("nested", str(loop.location)):
            self._equate(str(read.key), (load.results[0], read.at))
            self.results[load.results[0]] = read

    def reduces(self, op: ir.Operation, loops: Loops, dims: Sequence[Symbol], *, record: bool) -> bool:
        """Records a structured op that a loop with carried numbers has become, and its accesses;
        False for any other op."""
        loop = self._at(str(op.location)) if WAS in op.attributes else None
        if loop is None or not loop.results:
            return False
        space, values, body, outer = structure(op), self.held.values, body_of(op), self._around(loop)
        forms = [Linear.of(0 if d.high == 0 else d) for d in dims]
        around, steps, nest, own = list(loops), list[NestAccess | None](), carrying_nest(loop), iter(forms)
        sizes = iter(extents_of(values, op, space))
        for each in nest:  # the op is in the payload's own loops, with its dimensions as their counters
            count = len(self._of_loop(each))
            around.append((each, tuple(islice(own, count))))
            self._sizes[each] = tuple(islice(sizes, count))
        for number, argument in enumerate(list(body.arguments)[: space.inputs]):
            of = self._at(str(argument.location))
            if of is not None and of.name == "memref.load":
                at = values.affine_map(space.maps[number], forms)
                steps.append(self._visited(op, of, (op.operands[number], at), around, record, argument))
        for load in inside(body, "memref.load"):
            self.visit(load, around, record=record)
        outputs = list(op.operands)[space.inputs :]
        cells = tuple(self.held.place(out, []) for out in outputs)
        if record:
            labels = [self.held.label_of(out) for out in outputs]
            since = [
                self.held.since(cell[0], held) for cell, held in zip(cells, labels, strict=True) if cell is not None
            ]
            self.reductions.append(LoopExecuted(
                nest, op, (*self.held.loops, *dims), tuple(self.held.guards), cells,
                tuple(dict.fromkeys(s for each in since for s in each)), tuple(held[-1] if held else None for held in labels),
            ))  # fmt: skip
        point = next((self._point(step) for step in steps if step is not None), None)
        for number, cell in enumerate(cells):
            key: Key = ("nested", str(loop.location), number)
            self._equate(str(key), (loop.results[number], tuple(Linear.of(dim.symbol) for dim in outer)))
            if cell is not None and point is not None:
                self.held.write(cell, Read(key, point[: len(outer)], TRUE), (), updated=True)
            elif cell is not None:
                self.held.forget(cell[0])
        return True

    def reduced(self) -> Iterator[NestExecuted]:
        """The loops with carried numbers that structured ops of the kernel execute."""
        for each in self.reductions:
            loop, last = each.nest[0], each.nest[-1]
            steps = (step for step in self.steps if step.loops[-1:] and step.loops[-1][0] == last)
            step = next((step for step in steps if self._around(step.of)[-1].loop == last), None)
            dims = () if step is None else self._around(step.of)
            own = tuple(number for number, dim in enumerate(dims) if dim.loop in each.nest)
            nest = PayloadOp(
                str(loop.location), loop.name, own, tuple(dim.symbol for dim in dims),
                tuple(dim.extent for dim in dims), (), (), (), False, Counter(), False, None,
            )  # fmt: skip
            point = None if step is None else self._point(step)
            several = sum(other.nest[0] == loop for other in self.reductions)
            if several > 1 or point is None:
                few = "the elements that it reads do not determine the iteration"
                yield NestExecuted(nest, unclear=f"{several} ops of the kernel execute it" if several > 1 else few)
            else:
                table = dict(zip(nest.dims, point, strict=True))
                extents = tuple(None if n is None else n.put(table) for n in nest.extents)
                nest = replace(nest, extents=extents)
                body = CarriedBody(each.nest, each.op, self.held.values, table, self._result_at(table))
                yield NestExecuted(nest, each.execution(nest), point, each.unclear(body))

    def _result_at(self, point: dict[Symbol, Linear]) -> Callable[[ir.Value, ir.Value], bool]:
        """A test of two values, in an iteration of the loops around both: the first, of the
        payload, is the result of a loop, and the second, of the kernel, is the same result."""

        def is_same(one: ir.Value, other: ir.Value) -> bool:
            made, read = producer(one), self.results.get(other)
            if made is None or read is None:
                return False
            at = tuple(Linear.of(dim.symbol).put(point) for dim in self._around(made))
            return (read.key, read.at) == (("nested", str(made.location), ir.OpResult(one).result_number), at)

        return is_same

    def executed(self) -> Iterator[NestExecuted]:
        """The nests of which the kernel executes accesses that change memory."""
        written: dict[ir.Operation, list[NestAccess]] = {}
        for step in self.steps:
            if step.cell is not None:
                written.setdefault(step.of, []).append(step)
        for of, steps in written.items():
            dims = self._around(of)
            (step, *more), outer = steps, dims[0].loop
            extents = tuple(dim.extent for dim in dims)
            loads = (
                other.of
                for other in self.steps
                if other.of.name == "memref.load" and self._around(other.of)[0].loop == outer
            )
            updates = of.name == ATOMIC or any(load.operands[0] == of.operands[1] for load in loads)
            nest = PayloadOp(
                str(outer.location), outer.name, tuple(range(len(dims))) if updates else (), tuple(dim.symbol for dim in dims),
                extents, (), (), (), False, Counter(), False, None,
            )  # fmt: skip
            point = None if more else self._point(step)
            if point is None:
                few = "the elements that it reads and writes do not determine the iteration"
                yield NestExecuted(nest, unclear=f"{len(steps)} accesses of the kernel execute it" if more else few)
            elif (others := self._other_starts(step, of)) is not None:
                yield NestExecuted(nest, unclear=others)
            elif not self.held.arrives(step.key, iterates(extents)) and not self._is_inner(of.operands[1], outer):
                yield NestExecuted(nest, unclear="where its results go is not known")
            else:
                symbols = tuple(
                    symbol for _, counters in step.loops for counter in counters for symbol in counters_of(counter)
                )
                since = () if updates else symbols  # storing the same value again changes nothing
                yield NestExecuted(
                    nest, Executes(nest, symbols, step.guards, (), (step.cell,), since, step.op, ()), point
                )

    def _is_constant(self, load: ir.Operation) -> bool:
        """Whether a load of the payload reads an argument that its function never writes, so that
        its subscripts determine the value."""
        root = root_memref(load.operands[0])
        if root not in self._constant:
            function = next(each for each in ancestors(load) if each.name == "func.func")
            passed = isinstance(root.owner, ir.Block) and root.owner.owner.operation == function
            self._constant[root] = passed and not changes(function, root)
        return self._constant[root]

    @staticmethod
    def _is_inner(value: ir.Value, outer: ir.Operation) -> bool:
        """Whether a buffer of the payload is local to an iteration of a loop."""
        return any(outer in ancestors(at.owner.operation) for at in way(value) if isinstance(at, ir.OpResult))

    def _other_starts(self, step: NestAccess, of: ir.Operation) -> str | None:
        """The fault that results do not begin with the payload's initial value; None if they do."""
        start = self._start(of)
        for begun in self.held.begun.get(step.key, ()):
            if begun is None:
                return "what its results begin with is not known"
            if begun.constant not in (start, 0 if step.cell is not None and not step.cell[0].foreign else start):
                return f"its results begin with {begun.constant}, and those of the payload with {start}"
        return None

    def _start(self, of: ir.Operation) -> float | None:
        """The constant with which a buffer of the payload is filled before a nest changes it."""
        fills = [op for op in users(of.operands[1]) if fill_value(op) is not None and op.operands[-1] == of.operands[1]]
        constant = fill_constant(fills[-1]) if len(fills) == 1 else None
        return None if constant is None else value_of(constant)

    def _access(self, op: ir.Operation) -> ir.Operation | None:
        """The payload's access at a kernel access's location; affine loops are lowered to `scf`."""
        return self._at(str(op.location)) if op.name.partition(".")[2] in NESTED else None

    def _at(self, location: str) -> ir.Operation | None:
        """The op of the payload at a location: an access, a branch, or a loop that carries numbers."""
        found = self.payload.untouched.nested.get(location)
        if found is None:
            return None
        function = next(each for each in ancestors(found) if each.name == "func.func")
        if not any(each.name.startswith("affine.") for each in (found, *ancestors(found))):
            return found
        made = self.payload.untouched.lowered
        if function not in made:
            lowered = function.clone()  # which lives as long as its name
            without_affine_loops(lowered)
            accesses = {
                str(each.location): each for each in operations(lowered) if each.name.partition(".")[2] in NESTED
            }
            made[function] = lowered, accesses
        return made[function][1].get(location)

    def _around(self, of: ir.Operation) -> tuple[NestDimension, ...]:
        """The variables of the loops around an access of the payload, outermost first. Each is
        bound to a form of its counter."""
        loops = [each for each in ancestors(of) if each.name in ("scf.for", "scf.parallel", "scf.forall")]
        loops = self.payload.around.inside(loops[::-1]) or loops[::-1]
        return tuple(dim for loop in loops for dim in self._of_loop(loop))

    def _of_loop(self, loop: ir.Operation) -> tuple[NestDimension, ...]:
        if loop not in self._dimensions:
            values, made = self.held.values, []
            for variable, bounds in zip(body_of(loop).arguments, self._bounds(loop), strict=False):
                (low, high, step), extent = bounds, None
                if len(low) == len(high) == 1:
                    extent = trips_of(next(iter(low)), next(iter(high)), step)
                most = None if extent is None else extent.bounds()[1]
                counter = values.fresh("loop", NOTHING, 0, None if most is None else max(most - 1, 0))
                start = next(iter(low)) if len(low) == 1 else None
                form = Linear.of(counter) if start is None else start + values.product(Linear.of(counter), step)
                values.bind(variable, form)
                made.append(NestDimension(loop, len(made), counter, extent, bounds))
            self._dimensions[loop] = tuple(made)
        return self._dimensions[loop]

    def _bounds(self, loop: ir.Operation) -> list[Bounds]:
        values = self.held.values
        if loop.name == "scf.forall":
            rows = mixed(loop, "staticLowerBound", "staticUpperBound", "staticStep", first=0)
            forms = [[frozenset({values.number(n)}) for n in row] for row in rows]
        else:
            count = 1 if loop.name == "scf.for" else len(body_of(loop).arguments)
            operands = list(loop.operands)[: 3 * count]
            ends = ("affine.max", "affine.min", "affine.min")
            forms = [
                [frozenset(values.extremes(v, end)) for v in operands[n * count :][:count]]
                for n, end in enumerate(ends)
            ]
        return [(low, high, next(iter(step))) for low, high, step in zip(*forms, strict=True)]

    def _point(self, step: NestAccess) -> Coordinates | None:
        """The payload's iteration that an access of the kernel executes, in terms of the kernel's
        counters; None where unknown, or if a loop inside the nest was changed."""
        dims = self._around(step.of)
        symbols, inner = [dim.symbol for dim in dims], dict[NestDimension, ir.Operation]()
        equations = [(Linear.of(dim.symbol), _form(counter)) for dim in dims for counter in self._kept(dim, step)]
        kept: dict[Symbol, Linear] = {}
        for other in self.steps if step in self.steps else [*self.steps, step]:
            around = self._around(other.of)
            if around[: len(dims)] != dims[: len(around)]:  # in an adjacent loop
                continue
            for dim in around[len(dims) :]:
                if dim in inner:
                    continue
                same = [each for each in other.loops if each[0].location == dim.loop.location]
                if len(same) != 1 or (same[0][0].name != "scf.for" and same[0][0] != dim.loop):
                    return None
                ((loop, counters),) = same
                inner[dim] = loop
                whole = len(dim.bounds[0]) == 1 or loop == dim.loop
                form = _form(counters[dim.number]) if whole else self.held.values.linear(body_of(loop).arguments[0])
                kept[dim.symbol] = form
            if other.of.name != ATOMIC or not any(map(is_of_data, list(other.of.operands)[2:])):
                equations += [(wanted.put(kept), at) for wanted, at in zip(other.wanted, other.at, strict=True)]
        found = solution(equations, symbols)
        if found is None:
            return None
        table = found | kept
        for dim, loop in inner.items():
            if loop == dim.loop:
                if dim.extent is None or dim.extent.put(table) != self._sizes[loop][dim.number]:
                    return None
                continue
            low, high, by = dim.bounds
            (its,) = self._bounds(loop)
            if (frozenset(f.put(table) for f in low), frozenset(f.put(table) for f in high), by) != its:
                return None
        return tuple(found[symbol] for symbol in symbols)

    def _kept(self, dim: NestDimension, step: NestAccess) -> list[Linear]:
        """The counter of the kernel's loop that is still this loop of the payload, with the same
        bounds; empty if there is none."""
        same = [(loop, counters) for loop, counters in step.loops if loop.location == dim.loop.location]
        if len(same) != 1 or (loop := same[0][0]).name != dim.loop.name or len(same[0][1]) <= dim.number:
            return []
        return [same[0][1][dim.number]] if self._bounds(loop)[dim.number] == dim.bounds else []

    def _leave(self, step: NestAccess, cell: tuple[RootBuffer, Coordinates]) -> None:
        """Records the contents that an access leaves in a buffer."""
        if step.of.name == ATOMIC:
            self.held.accumulate(cell[0], step.key, combiner(step.op))
        elif (point := self._point(step)) is None:
            self.held.forget(cell[0])
        else:
            table = {dim.symbol: form for dim, form in zip(self._around(step.of), point, strict=True)}
            wanted = (self.held.values.linear(v) for v in list(step.of.operands)[2:])
            self.held.write(cell, Read(step.key, tuple(form.put(table) for form in wanted), TRUE), (), updated=True)


def _form(counter: Linear) -> Linear:
    return Linear.of(0) if counter.bounds() == (0, 0) else counter
