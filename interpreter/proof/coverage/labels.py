"""What lies in the buffers of a kernel that is about to be made: which element of the payload each of their elements is.

One walk over the mapped loops, in program order; loops twice, for what one iteration leaves to the next. A copy hands labels on, a
structured op of the payload makes labels of its own (an element of its result), and any other op forgets what it writes:

    copy A[128*b + m, 16*k + c] → A_shared[m, c]        A_shared[m, c] is A[128*b + m, 16*k + c], in iteration k
    matmul A_shared, B_shared → acc[m, n]               acc[m, n] is matmul[128*b + m, 64*b' + n], once it is complete

A buffer of several stages is labelled by the number that its stage is the remainder of. That a stage is read while it holds just that
iteration is what the order of copies and waits says, which is proven of the kernel (`races`, `signals`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import prod

from ...indices.algebra import LaunchShape
from ...indices.linear import NOTHING, TRUE, Floor, Formula, Linear, Symbol, Term, at_least, both, less
from ...indices.values import Values
from ...ir.mlir import children, ir, made_by, ops_of, producer
from ...ir.structured import Structure, body_of, is_read, is_structured, structure, subscripts, yielded
from ...memory.effects import is_memref
from ...memory.layouts import mixed
from ...memory.views import is_view
from ..kernels.roots import RootBuffer
from ..kernels.views import Views
from .payloads import Coordinates, Key, Payload, PayloadOp, digits, hands_on, size


@dataclass(frozen=True)
class Label:
    """What the elements of a buffer are.

    Args:
        key: of the payload's tensor; None of elements that hold a constant alone.
        cells: by axis of the buffer, a symbol for the coordinate, or for the number that it is the remainder of (`turns`); a form
            where the label is of that coordinate alone.
        at: the element of the payload, in terms of the cells and of counters of loops.
        when: where it is that element; elsewhere it is padding, of the value `outside`.
    """

    key: Key | None
    cells: tuple[Symbol | Linear, ...] = ()
    turns: tuple[int, ...] = ()
    at: Coordinates = ()
    when: Formula = TRUE
    outside: ir.Attribute | None = None


@dataclass(frozen=True)
class Read:
    """An element that an iteration reads: what it is in the payload, and where."""

    key: Key | None
    at: Coordinates
    when: Formula
    outside: ir.Attribute | None = None


@dataclass(frozen=True, eq=False)
class Execution:
    """A structured op of the kernel that executes iterations of one of the payload.

    Args:
        op, of: the two.
        symbols: the counters of the loops around it, outermost first, then of its own dimensions.
        guards: when an iteration of these counters is executed.
        reads: by operand, what is known of it; then what its body loads.
        cells: by output, the buffer and the element of it that is updated.
        within: how many of `symbols` count loops around the allocation of what it updates.
    """

    op: ir.Operation
    of: PayloadOp
    symbols: tuple[Symbol, ...]
    guards: tuple[Formula, ...]
    reads: tuple[Read | None, ...]
    cells: tuple[tuple[RootBuffer, Coordinates] | None, ...]
    within: int
    started: tuple[Label | None, ...]


@dataclass
class Labels:
    """The walk.

    Args:
        payload: the untouched module.
    """

    payload: Payload
    executions: list[Execution] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.values: Values = self.payload.values
        self.views = Views(self.values)
        self._labels: dict[RootBuffer, tuple[Label, ...]] = {}
        self._depth: dict[RootBuffer, int] = {}
        self._loops: list[Symbol] = []
        self._guards: list[Formula] = []
        self._counters: dict[ir.Operation, tuple[Symbol, ...]] = {}
        self._recording = True
        self._twice = False

    def argument(self, value: ir.Value, key: Key) -> None:
        """A buffer of the kernel that is a tensor of the payload, element by element."""
        root = self.views.root(value, foreign=True)
        self._depth[root] = 0
        cells = tuple(self._cell() for _ in root.shape)
        self._labels[root] = (Label(key, cells, (0,) * len(cells), tuple(map(Linear.of, cells))),)

    def label_of(self, value: ir.Value) -> tuple[Label, ...]:
        """What lies in a buffer now."""
        views = self.views.of(value)
        return self._labels.get(views[0].root, ()) if len(views) == 1 else ()

    def _cell(self) -> Symbol:
        return self.values.fresh("lane", NOTHING)

    # ---- the walk ------------------------------------------------------------------------------------------------------

    def visit(self, op: ir.Operation) -> None:
        """An op of the kernel, and all that is inside."""
        if op.name in ("scf.forall", "scf.for"):
            return self._loop(op)
        if op.name == "scf.if":
            return self._choice(op)
        if is_structured(op):
            return self._structured(op)
        if op.name in ("memref.alloc", "memref.alloca"):
            self._depth[self.views.of(op.results[0])[0].root] = len(self._loops)
            return
        if op.name == "memref.copy":
            return self._forget(op.operands[1])
        if is_view(op) or op.name in _HARMLESS or op.name.split(".")[0] in ("arith", "affine", "math", "index"):
            return
        for operand in op.operands:
            if is_memref(operand):
                self._forget(operand)
        for inner in children(op):
            self.visit(inner)

    def _loop(self, op: ir.Operation) -> None:
        body = body_of(op)
        if op not in self._counters:
            if op.name == "scf.for":
                bounds = [[self.values.linear(v)] for v in list(op.operands)[:3]]
            else:
                names = ("staticLowerBound", "staticUpperBound", "staticStep")
                bounds = [[self.values.number(n) for n in row] for row in mixed(op, *names, first=0)]
            counters, guards = [], []
            for variable, low, high, step in zip(body.arguments, *bounds, strict=False):
                trips = _trips(low, high, step)
                known = trips.constant if trips is not None and trips.is_constant else None
                counter = self.values.fresh("loop", NOTHING, 0, None if known is None else known - 1)
                counters.append(counter)
                form = low if known == 1 else low + self.values.product(Linear.of(counter), step)
                if known is None:
                    guards.append(less(form, high))
                self.values.bind(variable, form)
            self._counters[op] = tuple(counters)
            self._bounds[op] = tuple(guards)
        counters = self._counters[op]
        self._loops += counters
        self._guards += (guards := self._bounds[op])
        again = op.name == "scf.for" and not self._twice
        if again:  # what an iteration finds of the one before it
            self._twice, recording, self._recording = True, self._recording, False
            self._body(body)
            self._recording = recording
        self._body(body)
        self._twice = self._twice and not again
        del self._loops[len(self._loops) - len(counters) :]
        del self._guards[len(self._guards) - len(guards) :]

    _bounds: dict[ir.Operation, tuple[Formula, ...]] = field(default_factory=dict)

    def _body(self, body: ir.Block) -> None:
        for inner in ops_of(body):
            self.visit(inner)

    def _choice(self, op: ir.Operation) -> None:
        condition = self.values.condition(op.operands[0])
        before = dict(self._labels)
        for region, guard in zip(op.regions, (condition, condition.negate()), strict=False):
            self._guards.append(guard)
            for block in region.blocks:
                self._body(block)
            self._guards.pop()
        for root, labels in before.items():  # what only one of the arms has written may still be there
            if self._labels.get(root) != labels:
                self._labels[root] = tuple(dict.fromkeys((*labels, *self._labels.get(root, ()))))

    # ---- structured ops ------------------------------------------------------------------------------------------------

    def _structured(self, op: ir.Operation) -> None:
        space = structure(op)
        dims, extents = self._dimensions(op, space)
        forms = [Linear.of(0 if d.high == 0 else d) for d in dims]
        with _Indices(self.values, op, forms):
            reads = [self._read(op, n, space, forms) for n in range(space.inputs)]
            inner = [self._loaded(load) for load in _loads(body_of(op))]
        of = self._executed(op, space)
        outputs = range(space.inputs, space.inputs + space.outputs)
        cells = [self._cell_of(op.operands[n], space, n, forms) for n in outputs]
        ranges = tuple(g for d, n in zip(dims, extents, strict=True) if d.high is None and n is not None for g in (less(Linear.of(d), n),))
        before = [self.label_of(op.operands[n]) for n in outputs]
        if of is None:
            for number, (cell, labels) in enumerate(zip(cells, before, strict=True)):
                self._plain(op, number, cell, labels, [*reads, *inner], space)
            return
        within = min((self._depth.get(cell[0], 0) for cell in cells if cell is not None), default=0)
        started = tuple(labels[-1] if labels else None for labels in before)
        execution = Execution(
            op, of, (*self._loops, *dims), (*self._guards, *ranges), (*reads, *inner), tuple(cells), within, started
        )
        point = solved(execution, self.values)
        if self._recording and (of.reductions or not point):
            self.executions.append(execution)
        for number, cell in enumerate(cells):
            if cell is None:
                continue
            key = of.writes[number].key
            if point is None:
                constant = not of.reads
                self._labels[cell[0]] = (Label(None),) if constant else ()
                continue
            table = dict(zip(of.dims, point, strict=True))
            at = tuple(form.replaced(lambda s: table.get(s) or Linear.of(s)) for form in of.writes[number].at)
            self._write(cell, key, at, TRUE, None, op)

    def _executed(self, op: ir.Operation, space: Structure) -> PayloadOp | None:
        """The payload's op that an op of the kernel executes; None for a copy of what that reads or makes, or what it starts with."""
        of = self.payload.op(op)
        if of is None or of.copies != all(hands_on(op, n) for n in range(space.outputs)):
            return None
        updates = any(is_read(op, space.inputs + n) for n in range(space.outputs))
        return of if updates or not of.reductions else None

    def _dimensions(self, op: ir.Operation, space: Structure) -> tuple[list[Symbol], list[Linear | None]]:
        extents: list[Linear | None] = [None] * space.rank
        for operand, axis, expression in subscripts(op, space.maps):
            if isinstance(expression, ir.AffineDimExpr) and extents[expression.position] is None:
                extents[expression.position] = size(self.values, operand, axis)
        if op not in self._counters:
            highs = [n.constant - 1 if n is not None and n.is_constant else None for n in extents]
            self._counters[op] = tuple(self.values.fresh("loop", NOTHING, 0, high) for high in highs)
        return list(self._counters[op]), extents

    def _cell_of(self, value: ir.Value, space: Structure, number: int, forms: list[Linear]) -> tuple[RootBuffer, Coordinates] | None:
        if not is_memref(value):
            return None
        return self._place(value, self.values.affine_map(space.maps[number], forms))

    def _place(self, value: ir.Value, indices: list[Linear]) -> tuple[RootBuffer, Coordinates] | None:
        views = self.views.of(value)
        if len(views) != 1:
            return None
        (view,) = views
        at = self.views.coordinates(view, indices)
        if at is not None and view.flat and len(at) == 1:
            at = _unflattened(view.root, at[0])
        if at is not None and view.sizes:
            at = _other_rows(self.values, view.root, view.sizes, at)
        return None if at is None or len(at) != len(view.root.shape) else (view.root, tuple(at))

    def _read(self, op: ir.Operation, number: int, space: Structure, forms: list[Linear]) -> Read | None:
        value = op.operands[number]
        if not is_memref(value):
            return Read(None, (), TRUE)
        return self._at(value, self.values.affine_map(space.maps[number], forms))

    def _loaded(self, load: ir.Operation) -> Read | None:
        when = TRUE
        around = load.parent.operation
        outside = None
        if around.name == "scf.if" and load.block == around.regions[0].blocks[0]:
            when, outside = self.values.condition(around.operands[0]), _other_arm(around)
        found = self._at(load.operands[0], [self.values.linear(v) for v in list(load.operands)[1:]])
        return found and replace(found, when=both(when, found.when), outside=outside or found.outside)

    def _at(self, value: ir.Value, indices: list[Linear]) -> Read | None:
        place = self._place(value, indices)
        if place is None:
            return None
        root, at = place
        for label in reversed(self._labels.get(root, ())):
            if label.key is None:
                continue
            table: dict[Symbol, Linear] = {}
            fits = True
            for cell, turn, coordinate in zip(label.cells, label.turns, at, strict=True):
                if isinstance(cell, Linear):
                    fits = fits and cell == coordinate
                elif turn:
                    whole = _remainder_of(coordinate, turn)
                    fits = fits and whole is not None
                    table[cell] = whole or coordinate
                else:
                    table[cell] = coordinate
            if fits:
                def put(form: Linear, table: dict[Symbol, Linear] = table) -> Linear:
                    return form.replaced(lambda s: table.get(s) or Linear.of(s))

                return Read(label.key, tuple(map(put, label.at)), label.when.changed(put), label.outside)
        return None

    # ---- labels of what is written -------------------------------------------------------------------------------------

    def _plain(
        self, op: ir.Operation, number: int, cell: tuple[RootBuffer, Coordinates] | None, labels: tuple[Label, ...],
        reads: Sequence[Read | None], space: Structure,
    ) -> None:  # fmt: skip
        """An op that is not the payload's own: a copy, one under a mask, one that adds to what is there, one that changes it."""
        if cell is None:
            return self._forget(op.operands[space.inputs + number])
        position, changes = space.inputs + number, is_read(op, space.inputs + number)
        kept = labels[-1] if labels else None
        known = [read for read in reads if read is not None and read.key is not None]
        if changes:
            if len(known) == 1 and (kept is None or kept.key is None) and body_of(op).arguments[position] is not None:
                source = known[0]  # what is added to nothing, or combined with what is there from the start
                if made_by(yielded(op)[number], *_ADDING) is not None:
                    return self._write(cell, source.key, source.at, source.when, source.outside, op)
            return None
        if len(known) == 1 and len(reads) == 1 and hands_on(op, number):
            source = known[0]
            return self._write(cell, source.key, source.at, source.when, source.outside, op)
        self._labels[cell[0]] = (Label(None),) if not reads else ()

    def _write(
        self, cell: tuple[RootBuffer, Coordinates], key: Key | None, at: Coordinates, when: Formula,
        outside: ir.Attribute | None, op: ir.Operation,
    ) -> None:  # fmt: skip
        root, coordinates = cell
        made = self._inverted(root, coordinates, key, at, when, outside)
        if made is None:
            self._labels[root] = ()
            return
        labels = self._labels.get(root, ())
        staged = any(made.turns) or any(isinstance(c, Linear) for c in made.cells)
        kept = tuple(label for label in labels if label.key == key and staged and label.cells != made.cells)
        self._labels[root] = (*kept, made) if staged or not kept else (made,)

    def _inverted(
        self, root: RootBuffer, coordinates: Coordinates, key: Key | None, at: Coordinates, when: Formula,
        outside: ir.Attribute | None,
    ) -> Label | None:  # fmt: skip
        """The label in terms of the buffer's coordinates."""
        outer = set(self._loops[: self._depth.get(root, 0)])
        cells: list[Symbol | Linear] = []
        turns: list[int] = []
        ways: list[tuple[Symbol, Linear]] = []
        for coordinate, extent in zip(coordinates, root.shape, strict=True):
            own = [s for s in coordinate.symbols() if s not in outer]
            whole = _remainder_of(coordinate, extent) if extent else None
            symbol = self._cell()
            if whole is not None and not coordinate.is_constant:
                cells.append(symbol)
                turns.append(extent or 0)
                ways.append((symbol, whole))
            elif not own and extent != 1:
                cells.append(coordinate)
                turns.append(0)
            else:
                cells.append(symbol)
                turns.append(0)
                ways.append((symbol, coordinate))
        def put(form: Linear) -> Linear:
            return in_terms(form, ways)

        return Label(key, tuple(cells), tuple(turns), tuple(map(put, at)), when.changed(put), outside)

    def _forget(self, value: ir.Value) -> None:
        for view in self.views.of(value):
            self._labels[view.root] = ()


_HARMLESS = frozenset({
    "gpu.barrier", "scf.yield", "scf.forall.in_parallel", "linalg.yield", "memref.dealloc", "memref.dim", "linalg.index",
    "nvgpu.device_async_create_group", "nvgpu.device_async_wait", "nvgpu.mbarrier.create", "nvgpu.mbarrier.init",
    "nvgpu.mbarrier.arrive", "nvgpu.mbarrier.arrive.expect_tx", "nvgpu.mbarrier.try_wait.parity", "memref.load", "nvvm.bar.warp.sync",
    "ub.poison", "memref.assume_alignment",
})  # fmt: skip
_ADDING = ("arith.addf", "arith.addi")


def in_terms(form: Linear, ways: Sequence[tuple[Symbol, Linear]]) -> Linear:
    """A form with cells in the place of what they are: `128*b + 8*l + t` is `128*b + c`, if c is `8*l + t`."""
    out = Linear.of(0)
    for cell, whole in ways:
        counts = {divmod(form.terms.get(term, 0), n) for term, n in whole.terms.items()}
        if len(counts) == 1 and (count := next(iter(counts)))[0] and not count[1]:
            form, out = form - whole * count[0], out + Linear.of(cell) * count[0]
    for term, count in list(form.terms.items()):
        if isinstance(term, Floor) and (inner := in_terms(term.numerator, ways)) != term.numerator:
            form = form - Linear({term: count}, 0) + inner.floordiv(term.divisor) * count
    return form + out


def _trips(low: Linear, high: Linear, step: Linear) -> Linear | None:
    if not step.is_constant or step.constant < 1:
        return None
    return (high - low + (step.constant - 1)).floordiv(step.constant)


def _remainder_of(coordinate: Linear, divisor: int) -> Linear | None:
    """What a coordinate is the remainder of; a constant is that of itself."""
    if coordinate.is_constant:
        return coordinate
    for term, n in coordinate.terms.items():
        if isinstance(term, Floor) and term.divisor == divisor and n == -divisor:
            whole = coordinate + Linear({term: divisor}, 0)
            return whole if whole == term.numerator else None
        if isinstance(term, Floor) and n % divisor == 0 and n < 0:
            whole = coordinate + Linear({term: -n}, 0)
            if whole.modulo(divisor) == coordinate:
                return whole
    return None


def _unflattened(root: RootBuffer, position: Linear) -> Coordinates | None:
    """Coordinates of a position in a plain buffer."""
    if not root.plain or None in root.shape[1:]:
        return None
    out: list[Linear] = []
    for axis in range(len(root.shape)):
        step = prod(n or 1 for n in root.shape[axis + 1 :])
        out.append(position.floordiv(step))
        position = position - out[-1] * step
    return tuple(out)


def _other_rows(values: Values, root: RootBuffer, sizes: Sequence[Linear], at: Coordinates) -> Coordinates | None:
    """Coordinates in a buffer, of those in rows of other sizes: axes of the one are digits of axes of the other."""
    if None in root.shape or not all(n.is_constant for n in sizes):
        return None
    shape = [n or 0 for n in root.shape]
    out: list[Linear] = []
    axis = 0
    for place, n in zip(at, sizes, strict=True):
        first, product = axis, 1
        while axis < len(shape) and product * shape[axis] <= n.constant:
            product *= shape[axis]
            axis += 1
        if product != n.constant:
            break
        out += digits(values, place, [Linear.of(m) for m in shape[first:axis]])
    else:
        return tuple(out) if axis == len(shape) else None
    position = Linear.of(0)
    for place, n in zip(at, sizes, strict=True):
        position = position * n.constant + place
    return _unflattened(root, position)


def _loads(body: ir.Block) -> list[ir.Operation]:
    found: list[ir.Operation] = []

    def collect(block: ir.Block) -> None:
        for op in ops_of(block):
            if op.name == "memref.load":
                found.append(op)
            for region in op.regions:
                for inner in region.blocks:
                    collect(inner)

    collect(body)
    return found


def _other_arm(choice: ir.Operation) -> ir.Attribute | None:
    """The constant that the other arm of a branch yields."""
    if len(choice.regions) < 2 or not len(choice.regions[1].blocks):
        return None
    end = ops_of(choice.regions[1].blocks[0])[-1]
    made = made_by(end.operands[0], "arith.constant") if len(end.operands) else None
    return None if made is None else made.attributes["value"]


class _Indices:
    """Inside, `linalg.index` in the body of an op is the op's own dimension."""

    def __init__(self, values: Values, op: ir.Operation, forms: Sequence[Linear]) -> None:
        for inner in _walk(body_of(op)):
            if inner.name == "linalg.index":
                values.bind(inner.results[0], forms[ir.IntegerAttr(inner.attributes["dim"]).value])

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


def _walk(block: ir.Block) -> list[ir.Operation]:
    found: list[ir.Operation] = []
    for op in ops_of(block):
        found.append(op)
        for region in op.regions:
            for inner in region.blocks:
                found += _walk(inner)
    return found


def solved(execution: Execution, values: Values) -> tuple[Linear, ...] | None:
    """The iteration of the payload's op, as forms of the execution's symbols; None where the elements that it reads do not tell."""
    of = execution.of
    equations: list[tuple[Linear, Linear]] = []
    wanted = [element for element in of.reads if element is not None]
    given = [read for read in execution.reads if read is not None and read.key is not None]
    for element in wanted:
        fitting = [read for read in given if read.key == element.key]
        if not fitting:
            continue
        read = fitting[0] if len(fitting) == 1 else fitting[min(sum(e.key == element.key for e in wanted[: wanted.index(element)]), len(fitting) - 1)]
        equations += zip(element.at, read.at, strict=False)
    known: dict[Symbol, Linear] = {}
    progress = True
    while progress:
        progress = False
        for left, right in equations:
            unknown = [s for s in dict.fromkeys(left.symbols()) if s in of.dims and s not in known]
            if len(unknown) != 1:
                continue
            (symbol,) = unknown
            factor = left.terms.get(symbol)
            if factor is None:
                continue
            rest = right - left.replaced(lambda s: known.get(s) or Linear.of(0 if s is symbol else s))
            if rest.content % abs(factor) and not (rest.is_constant and rest.constant == 0):
                continue
            known[symbol] = rest.floordiv(factor) if factor > 0 else (rest * -1).floordiv(-factor)
            progress = True
    for symbol in of.dims:  # of a size of one there is only one
        if symbol not in known and symbol.high == 0:
            known[symbol] = Linear.of(0)
    if len(known) < len(of.dims):
        return None
    return tuple(known[d] for d in of.dims)


__all__ = ["Execution", "Label", "Labels", "Read", "Term", "at_least", "solved"]
