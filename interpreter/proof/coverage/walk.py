"""The walk over a kernel that is about to be made: what lies in its buffers, and which of its ops execute the payload's.

One walk over the mapped loops, in program order; sequential loops twice, for what one iteration leaves to the next. A copy hands
labels on, a structured op of the payload makes labels of its own, and any other op forgets what it writes:

    matmul A_shared, B_shared → acc[m, n]               acc[m, n] is matmul[128*b + m, 64*b' + n], once it is complete

That a stage of a buffer is read while it holds just that iteration is what the order of copies and waits ensures, which is proven
of the kernel (`races`, `signals`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ...indices.linear import FALSE, NOTHING, TRUE, Formula, Linear, Symbol, both, less
from ...indices.values import Values
from ...ir.cloning import index_dimension
from ...ir.mlir import children, ir, made_by, ops_of, producer, users
from ...ir.structured import Structure, body_of, is_read, is_structured, structure, yielded
from ...memory.effects import is_memref
from ...memory.layouts import mixed
from ...memory.views import is_view
from ..kernels.roots import RootBuffer
from ..kernels.views import Views
from .labels import Label, Read, agree, between, in_other_rows, in_terms, remainder_of, trips_of, unflattened
from .payloads import Coordinates, Key, PayloadOp, PayloadOps, extents_of, hands_on, put_in
from .points import Executes, solved


@dataclass
class Walk:
    """The walk.

    Args:
        payload: the untouched module.
    """

    payload: PayloadOps
    executions: list[Executes] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.values: Values = self.payload.values
        self.views = Views(self.values)
        self._labels: dict[RootBuffer, tuple[Label, ...]] = {}
        self._depth: dict[RootBuffer, int] = {}
        self._loops: list[Symbol] = []
        self._guards: list[Formula] = []
        self._counters: dict[ir.Operation, tuple[Symbol, ...]] = {}
        self.given: dict[RootBuffer, Key] = {}
        self.moved: dict[str, int | None] = {}
        self._filled: dict[RootBuffer, tuple[Symbol, ...]] = {}
        self._written: set[RootBuffer] = set()
        self._starts: dict[ir.Operation, tuple[Label | None, ...]] = {}
        self._recording = True
        self._twice = False

    def argument(self, value: ir.Value, key: Key) -> None:
        """A buffer of the kernel that is a tensor of the payload, element by element."""
        root = self.views.root(value, foreign=True)
        self.given[root], self._depth[root] = key, 0
        cells = tuple(self._cell() for _ in root.shape)
        self._labels[root] = (Label(key, cells, (0,) * len(cells), tuple(map(Linear.of, cells))),)

    def label_of(self, value: ir.Value) -> tuple[Label, ...]:
        """What lies in a buffer now."""
        views = self.views.of(value)
        return self._labels.get(views[0].root, ()) if len(views) == 1 else ()

    def _cell(self, extent: int | None = None) -> Symbol:
        return self.values.fresh("lane", NOTHING, None if extent is None else 0, None if extent is None else extent - 1)

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
                trips = trips_of(low, high, step)
                known = trips.constant if trips is not None and trips.is_constant else None
                most = None if trips is None else trips.bounds()[1]
                counter = self.values.fresh("loop", NOTHING, 0, None if most is None else max(most - 1, 0))
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
            if guard == FALSE:
                continue
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
        for index in inside(body_of(op), "linalg.index"):
            self.values.bind(index.results[0], forms[index_dimension(index)])
        reads = [self._read(op, n, space, forms) for n in range(space.inputs)]
        inner = [self._loaded(load) for load in inside(body_of(op), "memref.load")]
        of = self._executed(op, space)
        outputs = range(space.inputs, space.inputs + space.outputs)
        cells = [self._cell_of(op.operands[n], space, n, forms) for n in outputs]
        open_ends = ((d, n) for d, n in zip(dims, extents, strict=True) if n is not None and not n.is_constant)
        ranges = tuple(less(Linear.of(d), n) for d, n in open_ends)
        before = [self.label_of(op.operands[n]) for n in outputs]
        if of is None:
            for number, (cell, labels) in enumerate(zip(cells, before, strict=True)):
                self._plain(op, number, cell, labels, [*reads, *inner], space)
            return
        within = min((self._depth.get(cell[0], 0) for cell in cells if cell is not None), default=0)
        masks = self._masked(op, space)
        started = self._starts.setdefault(op, tuple(labels[-1] if labels else None for labels in before))
        execution = Executes(
            op, of, (*self._loops, *dims), (*self._guards, *ranges, *masks), (*reads, *inner), tuple(cells), within, started,
            tuple(s for cell in cells if cell is not None for s in self._filled.get(cell[0], ())),
        )  # fmt: skip
        point = solved(execution, self.payload)
        if self._recording and of.reductions:
            self.executions.append(execution)
        for number, cell in enumerate(cells):
            if cell is None:
                continue
            key = of.writes[number].key
            if point is None:
                self._labels[cell[0]] = ()
                self._written.add(cell[0])
                continue
            at = tuple(put_in(form, dict(zip(of.dims, point, strict=True))) for form in of.writes[number].at)
            self._write(cell, Read(key, at, TRUE))

    def _masked(self, op: ir.Operation, space: Structure) -> list[Formula]:
        """When an iteration counts whose update is masked: where it does not, the results stay as they are."""
        out: list[Formula] = []
        for value, before in zip(yielded(op), list(body_of(op).arguments)[space.inputs :], strict=True):
            made = producer(value)
            if made is not None and made.name == "arith.select" and made.operands[2] == before:
                condition = made_by(made.operands[0], "arith.cmpi", "arith.andi")
                out += [] if condition is None else [self.values.condition(made.operands[0])]
            elif made is not None and made.name == "scf.if" and len(made.regions) == 2:
                number = list(made.results).index(value)
                kept = ops_of(made.regions[1].blocks[0])[-1].operands[number]
                out += [self.values.condition(made.operands[0])] if kept == before else []
        return out

    def _executed(self, op: ir.Operation, space: Structure) -> PayloadOp | None:
        """The payload's op that an op of the kernel executes; None for a copy of what that reads or makes, or of what it starts
        with."""
        of = None if op.name == "linalg.fill" else self.payload.op(op)
        if of is None or len(of.writes) != space.outputs or of.copies != all(hands_on(op, n) for n in range(space.outputs)):
            return None
        updates = any(is_read(op, space.inputs + n) for n in range(space.outputs))
        return of if updates or not of.reductions else None

    def _dimensions(self, op: ir.Operation, space: Structure) -> tuple[list[Symbol], list[Linear | None]]:
        extents = extents_of(self.values, op, space)
        if op not in self._counters:
            most = [None if n is None else n.bounds()[1] for n in extents]
            self._counters[op] = tuple(self.values.fresh("loop", NOTHING, 0, None if n is None else max(n - 1, 0)) for n in most)
        return list(self._counters[op]), extents

    def _cell_of(
        self, value: ir.Value, space: Structure, number: int, forms: list[Linear]
    ) -> tuple[RootBuffer, Coordinates] | None:
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
            at = unflattened(view.root, at[0])
        if at is not None and view.sizes:
            at = in_other_rows(self.values, view.root, view.sizes, at)
        return None if at is None or len(at) != len(view.root.shape) else (view.root, tuple(at))

    def _read(self, op: ir.Operation, number: int, space: Structure, forms: list[Linear]) -> Read | None:
        value = op.operands[number]
        if not is_read(op, number):  # an operand that has the sizes alone
            return None
        if not is_memref(value):
            return Read(None, (), TRUE)
        found = self._at(value, self.values.affine_map(space.maps[number], forms))
        return self._chosen(body_of(op).arguments[number], found)

    def _chosen(self, value: ir.Value, found: Read | None) -> Read | None:
        """What is read, where the body takes it only under a condition, and a constant elsewhere: `select(%inside, %value, 0)`."""
        asked = users(value)
        choice = asked[0] if len(asked) == 1 and asked[0].name == "arith.select" else None
        if found is None or choice is None or choice.operands[1] != value:
            return found
        constant = made_by(choice.operands[2], "arith.constant")
        if constant is None:
            return found
        when = both(self.values.condition(choice.operands[0]), found.when)
        return replace(found, when=when, outside=constant.attributes["value"])

    def _loaded(self, load: ir.Operation) -> Read | None:
        when = TRUE
        around = load.parent.operation
        outside = None
        if around.name == "scf.if" and load.block == around.regions[0].blocks[0]:
            when, outside = self.values.condition(around.operands[0]), _other_arm(around)
        found = self._at(load.operands[0], [self.values.linear(v) for v in list(load.operands)[1:]])
        found = found and replace(found, when=both(when, found.when), outside=outside or found.outside)
        return self._chosen(load.results[0], found)

    def _at(self, value: ir.Value, indices: list[Linear]) -> Read | None:
        place = self._place(value, indices)
        if place is None:
            return None
        root, at = place
        labels = [label for label in self._labels.get(root, ()) if label.key is not None]
        for label in reversed([*between(labels, at), *labels]):
            if (found := label.read(at)) is not None:
                return found if agree(label, labels) else None
        constants = {label.outside for label in self._labels.get(root, ())}
        if not labels and len(constants) == 1:
            return Read(None, (), TRUE, constants.pop())
        return None

    # ---- labels of what is written -------------------------------------------------------------------------------------

    def _plain(
        self, op: ir.Operation, number: int, cell: tuple[RootBuffer, Coordinates] | None, labels: tuple[Label, ...],
        reads: Sequence[Read | None], space: Structure,
    ) -> None:  # fmt: skip
        """An op that is not the payload's own: a copy, one under a mask, one that adds to what is there, one that changes it."""
        if cell is None:
            return self._forget(op.operands[space.inputs + number])
        known = [read for read in reads if read is not None and read.key is not None]
        if is_read(op, space.inputs + number):  # what is there stays what it is; a constant becomes what is added to it
            begins = not labels or labels[-1].key is None
            if len(known) == 1 and begins and made_by(yielded(op)[number], *_ADDING) is not None:
                self._write(cell, known[0])
            return None
        if len(known) == 1 and len(reads) == 1 and hands_on(op, number):
            return self._write(cell, known[0])
        constant = made_by(op.operands[0], "arith.constant") if op.name == "linalg.fill" else None
        held = None if constant is None else constant.attributes["value"]
        if len(reads) == 1 and reads[0] is not None and reads[0].key is None and hands_on(op, number):
            held = reads[0].outside if held is None else held
        self._labels[cell[0]] = () if held is None else (Label(None, outside=held),)
        self._written.add(cell[0])
        if held is not None:
            self._filled[cell[0]] = tuple(self._loops)
        return None

    def _write(self, cell: tuple[RootBuffer, Coordinates], what: Read) -> None:
        root, coordinates = cell
        self._written.add(root)
        self._compare(root, coordinates, what)
        made = self._inverted(root, coordinates, what)
        staged = any(made.turns) or any(isinstance(c, Linear) for c in made.cells)
        kept = [label for label in self._labels.get(root, ()) if staged and label.key == what.key and label.cells != made.cells]
        self._labels[root] = (*kept, made)

    def _compare(self, root: RootBuffer, coordinates: Coordinates, what: Read) -> None:
        """Note how far from its place in the payload's result an element is written; None where that is not known."""
        kind, name, number = self.given.get(root, ("", "", 0))
        returned = self.payload.result(name, number) if kind == "returned" else None
        own = None if returned is None else returned(coordinates)
        if own is None or what.key is None or own.key != what.key or own.at == what.at:
            return
        sizes = [n or 0 for n in root.shape]
        places = [Linear.of(0), Linear.of(0)]
        for mine, its, n in zip(own.at, what.at, sizes, strict=False):
            places = [places[0] * n + mine, places[1] * n + its]
        apart = places[0] - places[1]
        known = apart.constant if apart.is_constant and len(sizes) == len(own.at) == len(what.at) and 0 not in sizes[1:] else None
        if known != 0:
            self.moved[what.key[1]] = known

    def _inverted(self, root: RootBuffer, coordinates: Coordinates, what: Read) -> Label:
        """The label in terms of the buffer's coordinates."""
        outer = set(self._loops[: self._depth.get(root, 0)])
        cells: list[Symbol | Linear] = []
        turns: list[int] = []
        ways: list[tuple[Symbol, Linear]] = []
        for coordinate, extent in zip(coordinates, root.shape, strict=True):
            whole = remainder_of(coordinate, extent) if extent and not coordinate.is_constant else None
            own = any(s not in outer for s in coordinate.symbols())
            symbol = self._cell(extent if whole is None else None)
            alone = whole is None and not own and extent != 1
            cells.append(coordinate if alone else symbol)
            turns.append(0 if whole is None else extent or 0)
            ways += [] if alone else [(symbol, coordinate if whole is None else whole)]
        at = tuple(in_terms(form, ways) for form in what.at)
        return Label(what.key, tuple(cells), tuple(turns), at, what.when.changed(lambda f: in_terms(f, ways)), what.outside)

    def loses(self, key: Key) -> bool:
        """Whether a function returns a result of the payload, and in the end something else lies where that is to be."""
        for root, (kind, name, number) in self.given.items():
            returned = self.payload.result(name, number) if kind == "returned" and root in self._written else None
            own = None if returned is None else returned(tuple(Linear.of(0) for _ in root.shape))
            if own is not None and own.key == key and all(label.key != key for label in self._labels.get(root, ())):
                return True
        return False

    def _forget(self, value: ir.Value) -> None:
        for view in self.views.of(value):
            self._written.add(view.root)
            self._labels[view.root] = ()


_HARMLESS = frozenset({
    "gpu.barrier", "scf.yield", "scf.forall.in_parallel", "memref.dealloc", "memref.dim", "linalg.index",
    "nvgpu.device_async_create_group", "nvgpu.device_async_wait", "nvgpu.mbarrier.create", "nvgpu.mbarrier.init",
    "nvgpu.mbarrier.arrive", "nvgpu.mbarrier.arrive.expect_tx", "nvgpu.mbarrier.try_wait.parity", "memref.load",
    "nvvm.bar.warp.sync", "ub.poison", "memref.assume_alignment",
})  # fmt: skip
_ADDING = ("arith.addf", "arith.addi")


def inside(block: ir.Block, name: str) -> list[ir.Operation]:
    """The ops of a name in a body, in program order."""
    found: list[ir.Operation] = []
    for op in ops_of(block):
        found += [op] if op.name == name else []
        found += [inner for region in op.regions for nested in region.blocks for inner in inside(nested, name)]
    return found


def _other_arm(choice: ir.Operation) -> ir.Attribute | None:
    """The constant that the other arm of a branch yields."""
    if len(choice.regions) < 2 or not len(choice.regions[1].blocks):
        return None
    end = ops_of(choice.regions[1].blocks[0])[-1]
    made = made_by(end.operands[0], "arith.constant") if len(end.operands) else None
    return None if made is None else made.attributes["value"]
