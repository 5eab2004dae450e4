"""The walk over a kernel under construction: finds the contents of its buffers, and the ops that
execute the payload's ops.

The mapped loops are walked once, in program order. Sequential loops are walked twice, to find the
contents that one iteration leaves to the next. A copy propagates labels, a structured op of the
payload creates labels of its own, and any other op invalidates those of its outputs:

    matmul A_shared, B_shared → acc[m, n]               acc[m, n] is matmul[128*b + m, 64*b' + n], once it is complete

That a stage of a buffer holds the right iteration when it is read follows from the order of copies
and waits, which is proven of the kernel (`races`, `signals`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from ...hardware.queries import VALUELESS
from ...indices.linear import FALSE, NOTHING, TRUE, Formula, Linear, Symbol, both, involved, less
from ...indices.values import Values
from ...ir.cloning import index_dimension
from ...ir.copying import fill_constant, fill_value
from ...ir.mlir import children, ir, made_by, ops_of
from ...ir.structured import Structure, body_of, is_read, is_structured, segments, structure, yielded
from ...memory.effects import is_memref
from ...memory.layouts import mixed
from ...memory.views import is_view
from ..kernels.root_buffers import RootBuffer
from .contents import Contents
from .counters import counted, ends_of
from .equality import iteration
from .labels import Label, Read, conjuncts_of
from .nests import Nests
from .payload.bodies import chosen, hands_on, inside, masks_of, through_casts, value_of
from .payload.elements import PIECES, Coordinates
from .payload.initial_payload import extents_of
from .payload.payloads import BEFORE, PARTS, PayloadOp, PayloadOps
from .points import Executes, is_lost, places, previous_contents, same, solved, unread
from .results import ADDING, corrects, divided, merges


@dataclass
class Walk:
    """The state of the walk, and what it has found.

    Args:
        payload: the untouched module.
        executions: the executions of the payload's reductions.
        strangers: ops that update results in a way that no known op of the payload does.
        strays: ops without reductions that read other elements than the payload's op does, or
            compute something else from them; and ops with results that another op changes.
        last: the last structured op.
    """

    payload: PayloadOps
    executions: list[Executes] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.values: Values = self.payload.values
        self.held = Contents(self.payload)
        self._loops, self._guards = self.held.loops, self.held.guards
        self._counters: dict[ir.Operation, tuple[Symbol, ...]] = {}
        self._starts: dict[ir.Operation, tuple[Label | None, ...]] = {}
        self._recording = True
        self._twice = False
        self.nests = Nests(self.payload, self.held)
        self.strangers: dict[ir.Operation, None] = {}
        self.strays: dict[PayloadOp, None] = {}
        self.last: PayloadOp | None = None
        self._around: list[tuple[ir.Operation, tuple[Linear, ...]]] = []
        self._adding: set[tuple[RootBuffer, ir.Operation]] = set()
        self._makers: dict[RootBuffer, tuple[ir.Operation, int]] = {}

    # ---- the walk ----------------------------------------------------------------------------------------------------

    def all_of(self, kernel: ir.Block) -> None:
        """A kernel, in the loops of the host that tile what it executes."""
        around = self.payload.around
        self.held.first = self.held.kept()
        self._loops += (symbol for counter in around.tiles.values() for symbol in counter.symbols())
        self._guards += around.guards
        if around.tiles:
            self._twice, self._recording = True, False
            self._body(kernel)
            self._twice, self._recording = False, True
        self._body(kernel)

    def visit(self, op: ir.Operation) -> None:
        """An op of the kernel, and its body."""
        if op.name in ("scf.forall", "scf.for"):
            return self._loop(op)
        if op.name == "scf.if":
            return self._choice(op)
        if is_structured(op):
            return self._structured(op)
        if self.nests.visit(op, self._around, record=self._recording):
            return
        if op.name in ("memref.alloc", "memref.alloca"):
            return self.held.allocated(self.held.views.of(op.results[0])[0].root)
        if op.name == "memref.copy":
            self.held.expose(op.operands[0])
            return self.held.forget_value(op.operands[1])
        if is_view(op) or op.name in _HARMLESS or op.name.split(".")[0] in ("arith", "affine", "math", "index"):
            return
        for operand in op.operands:
            if is_memref(operand):
                self.held.expose(operand)
                self.held.forget_value(operand)
        for inner in children(op):
            self.visit(inner)

    def _loop(self, op: ir.Operation) -> None:
        body = body_of(op)
        if op not in self._counters:
            parallel = op.name == "scf.forall"  # in sequential loops, digits are stages of a buffer
            names = ("staticLowerBound", "staticUpperBound", "staticStep")
            rows = mixed(op, *names, first=0) if parallel else [[v] for v in list(op.operands)[:3]]
            made = [counted(self.values, *each, parallel=parallel) for each in zip(body.arguments, *rows, strict=False)]
            for variable, counter in zip(body.arguments, made, strict=False):
                self.values.bind(variable, counter.variable)
            self._around_of[op] = tuple(counter.number for counter in made)
            self._counters[op] = tuple(symbol for counter in made for symbol in counter.symbols)
            self._bounds[op] = tuple(part for counter in made for part in counter.within)
        counters = self._counters[op]
        self._loops += counters
        self._around.append((op, self._around_of[op]))
        self._guards += (guards := self._bounds[op])
        again = op.name == "scf.for" and not self._twice
        if again:  # the contents that an iteration finds from the previous one
            self._twice, recording, self._recording = True, self._recording, False
            self._body(body)
            self._recording = recording
        self._body(body)
        self._twice = self._twice and not again
        self._around.pop()
        del self._loops[len(self._loops) - len(counters) :]
        del self._guards[len(self._guards) - len(guards) :]

    _bounds: dict[ir.Operation, tuple[Formula, ...]] = field(default_factory=dict)
    _around_of: dict[ir.Operation, tuple[Linear, ...]] = field(default_factory=dict)

    def _body(self, body: ir.Block) -> None:
        for inner in ops_of(body):
            self.visit(inner)

    def _choice(self, op: ir.Operation) -> None:
        own = self.nests.is_branch(op)
        condition = TRUE if own else self.values.condition(op.operands[0])
        before = self.held.kept()
        for region, guard in zip(op.regions, (condition, TRUE if own else condition.negate()), strict=False):
            if guard == FALSE:
                continue
            self._guards.append(guard)
            for block in region.blocks:
                self._body(block)
            self._guards.pop()
        self.held.rejoin(before)

    # ---- structured ops ----------------------------------------------------------------------------------------------

    def _structured(self, op: ir.Operation) -> None:
        space = structure(op)
        dims, extents = self._dimensions(op, space)
        known = ((d, n) for d, n in zip(dims, extents, strict=True) if n is not None)
        open_ends = ((d, n) for d, n in known if not n.is_constant or n.constant < 1)
        around = len(self._guards)
        self._guards += (less(Linear.of(d), end) for d, n in open_ends for end in ends_of(self.values, n))
        self._iterations(op, space, dims)
        del self._guards[around:]

    def _iterations(self, op: ir.Operation, space: Structure, dims: Sequence[Symbol]) -> None:
        forms = [Linear.of(0 if d.high == 0 else d) for d in dims]
        for index in inside(body_of(op), "linalg.index"):
            self.values.bind(index.results[0], forms[index_dimension(index)])
        if self.nests.reduces(op, self._around, dims, record=self._recording):
            return
        self._carried(op, space)
        reads = [self._read(op, n, space, forms) for n in range(space.inputs)]
        inner = [self._loaded(load, body_of(op)) for load in inside(body_of(op), "memref.load")]
        of = self._executed(op, space, reads, inner)
        self.last = PayloadOp.unknown(op) if of is None else of
        outputs = range(space.inputs, space.inputs + space.outputs)
        cells = [self._cell_of(op.operands[n], space, n, forms) for n in outputs]
        before = [self.held.label_of(op.operands[n]) for n in outputs]
        if of is None:
            updated = any(is_read(op, n) for n in outputs) and "reduction" in space.iterators
            if self._recording and updated and self.payload.op(op) is None:
                self.strangers.setdefault(op)
            if not self._moved(op, space, dims, [*reads, *inner], cells, before):
                for number, (cell, labels) in enumerate(zip(cells, before, strict=True)):
                    self._plain(op, number, cell, labels, [*reads, *inner], space)
            return
        masks = masks_of(self.values, op)
        since = [
            self.held.since(cell[0], labels) for cell, labels in zip(cells, before, strict=True) if cell is not None
        ]
        started = self._starts.setdefault(op, tuple(labels[-1] if labels else None for labels in before))
        execution = Executes(
            of, (*self._loops, *dims), (*self._guards, *masks), (*reads, *inner), tuple(cells),
            tuple(dict.fromkeys(s for each in since for s in each)), op, started,
        )  # fmt: skip
        if of.reductions and self.payload.are_divisions(unread(execution)):
            execution = replace(execution, of=(of := self.payload.undivided(of)))
        previous = () if of.reductions else previous_contents(execution, before)
        there = () if of.reductions else [*places(execution, previous, self.held.given, self.payload)]
        point = same(execution, previous, there, self.payload)
        if point is None and (equals := iteration(execution, before, self.payload, there)) is not None:
            execution = replace(execution, equals=(point := equals))
        elif point is None and not of.reductions and self._recording and is_lost(execution, self.payload, there):
            self.strays[of] = None
        if point is None and of.reductions:
            point = solved(execution, self.payload)
        rows = self._rows(execution, point, before)
        if self._recording and of.reductions:
            always = both(*(part for part in rows[0] if all(part in each for each in rows)))
            self.executions.append(replace(execution, rows=always))
        for number, cell in enumerate(cells):
            if cell is None:
                continue
            begun = self.held.since(cell[0], before[number])
            what = None if point is None else self._made(execution, number, point, reads, begun, both(*rows[number]))
            if what is None:
                self.held.forget(cell[0])
            else:
                updated = bool(of.reductions) and is_read(op, space.inputs + number)
                self.held.write(cell, what, dims, updated=updated)

    def _moved(
        self, op: ir.Operation, space: Structure, dims: Sequence[Symbol], reads: Sequence[Read | None],
        cells: Sequence[tuple[RootBuffer, Coordinates] | None], before: Sequence[Sequence[Label]],
    ) -> bool:  # fmt: skip
        """Records the results of an op that only moves elements in the payload, where the kernel computes
        these, or reads them from pieces; whether it is one."""
        plain = all(each is not None and (each.key is None or each.key[0] != PIECES) for each in reads)
        of = None if fill_value(op) is not None else self.payload.op(op)
        if (
            of is None
            or not of.copies
            or of.reductions
            or (plain and all(map(partial(hands_on, op), range(space.outputs))))
        ):
            return False
        symbols, guards = (*self._loops, *dims), tuple(self._guards)
        execution = Executes(of, symbols, guards, tuple(reads), tuple(cells), (), op, (None,) * len(cells))
        point = iteration(execution, before, self.payload, [])
        if point is None:
            return False
        table = dict(zip(of.dims, point, strict=True))
        for number, cell in enumerate(cells):
            at = tuple(form.put(table) for form in of.writes[number].at)
            found = self.payload.result_element(of, number, at)
            if cell is not None:
                self.held.write(cell, Read(found.key, found.at, found.when, found.outside), dims)
        return True

    def _rows(
        self, execution: Executes, point: Coordinates | None, before: Sequence[Sequence[Label]]
    ) -> list[list[Formula]]:
        """For each output, the conjuncts of the condition that an element of it holds a result: in
        the last, ragged tile, rows beyond the end hold none."""
        of, op = execution.of, execution.op
        given = execution.reads if execution.equals is None else ()
        reads = [read for read in given if read is not None and read.key is not None]
        its = () if point is None else execution.padded(point)
        masks = dict.fromkeys(part for read in reads for part in conjuncts_of(read.when) if (read.key, part) not in its)
        others = {part: read.when for read in reads for part in conjuncts_of(read.rows)}
        summed = involved(*(point[d] for d in of.reductions if point is not None))
        own = {part: [s for s in involved(part) if s.kind != "parameter"] for part in masks | others}
        asked = [part for part, used in own.items() if used and summed.keys().isdisjoint(used)]
        found: list[list[Formula]] = []
        for number, (cell, labels) in enumerate(zip(execution.cells, before, strict=True)):
            known = [] if cell is None or point is None else self.held.told(cell, asked)
            if cell is not None and is_read(op, structure(op).inputs + number):
                begun = (label for label in (execution.started[number], *labels) if label is not None)
                already = (label.read(cell[1]) for label in begun if label.rows != TRUE)
                known += (
                    part
                    for read in already
                    if read is not None
                    for part in conjuncts_of(read.rows)
                    if part not in known
                )
            found.append(known)
        asked = [*others, *(() if of.reductions or point is None else masks)]
        for part in (part for part in asked if not all(part in known for known in found)):
            self.held.use(part, (*execution.guards, others.get(part, TRUE)))
        return found

    def _carried(self, op: ir.Operation, space: Structure) -> None:
        """In a loop of the host, labels buffers with unknown contents as the payload's operands:
        values carried between iterations are left to upstream's bufferization."""
        of = self.payload.op(op) if self.payload.around.loops and fill_value(op) is None else None
        found = None if of is None else self.payload.untouched.places[of.location]
        inputs = range(space.inputs) if found is not None and segments(found)[0] == space.inputs else ()
        for number, element in zip(inputs, () if of is None else of.reads, strict=False):
            if element is not None and element.key[0] == "value" and is_memref(op.operands[number]):
                self.held.carry(op.operands[number], element.key, len(element.at))

    def _made(
        self,
        execution: Executes,
        number: int,
        point: Coordinates,
        reads: Sequence[Read | None],
        since: tuple[Symbol, ...],
        rows: Formula,
    ) -> Read | None:
        """Records the contents that an execution leaves in an output."""
        op, of = execution.op, execution.of
        if number >= len(of.writes):  # in addition to the sum of all parts, that of the earlier ones
            so_far = yielded(op)[number] == body_of(op).arguments[structure(op).inputs]
            each = next((read.each for read in reads if read is not None), 0)
            known = so_far and len(point) == 1
            return Read((BEFORE, of.location, 0), point, TRUE, None, each=each, rows=rows) if known else None
        at = tuple(form.put(dict(zip(of.dims, point, strict=True))) for form in of.writes[number].at)
        parts, each = execution.parted(point, number), execution.each(point)
        return Read(of.writes[number].key, at, TRUE, None, parts, since, each, rows)

    def _corrects(self, op: ir.Operation, number: int, space: Structure, labels: Sequence[Label]) -> bool:
        """Whether an op multiplies a sum by the factor that corrects it (see `corrects`)."""
        product, arguments = made_by(yielded(op)[number], "arith.mulf"), list(body_of(op).arguments)
        factors = [] if product is None else [through_casts(operand) for operand in product.operands]
        if arguments[space.inputs + number] not in factors or not labels:
            return False
        if (key := labels[-1].key) is None:
            return value_of(labels[-1].outside) == 0
        inputs = (factor for factor in factors if factor in arguments[: space.inputs])
        views = [self.held.views.of(op.operands[arguments.index(factor)]) for factor in inputs]
        made = [self._makers.get(view.root) for (view,) in views if len(views) == 1]
        return any(each is not None and corrects(*each, key, self.payload) for each in made)

    def _executed(
        self, op: ir.Operation, space: Structure, reads: Sequence[Read | None], inner: Sequence[Read | None]
    ) -> PayloadOp | None:
        """The payload's op that an op of the kernel executes, or the reduction of the parts of its
        result. None for an op that only copies operands, results or initial values."""
        of = None if fill_value(op) is not None else self.payload.op(op)
        if of is None or of.repeats:
            return None
        if of.combiner is not None and space.outputs == 1 < len(of.writes):
            of = self.payload.total_of(of)
        known = [read for read in reads if read is not None and read.key is not None]
        if any(read is not None and read.key is not None and read.key[0] == PARTS for read in (*reads, *inner)):
            return self.held.parts.get(of.location)
        if (
            len(known) == 1
            and known[0].key == of.writes[0].key
            and (of.copies or merges(op, 0, known[0], self.payload))
        ):
            return None
        if len(of.writes) != space.outputs or of.copies != all(hands_on(op, n) for n in range(space.outputs)):
            return None
        updates = any(is_read(op, space.inputs + n) for n in range(space.outputs))
        return of if updates or not of.reductions else None

    def _dimensions(self, op: ir.Operation, space: Structure) -> tuple[list[Symbol], list[Linear | None]]:
        extents = extents_of(self.values, op, space)
        if op not in self._counters:
            most = [None if n is None else n.bounds()[1] for n in extents]
            self._counters[op] = tuple(
                self.values.fresh("loop", NOTHING, 0, None if n is None else max(n - 1, 0)) for n in most
            )
        return list(self._counters[op]), extents

    def _cell_of(
        self, value: ir.Value, space: Structure, number: int, forms: list[Linear]
    ) -> tuple[RootBuffer, Coordinates] | None:
        if not is_memref(value):
            return None
        return self.held.place(value, self.values.affine_map(space.maps[number], forms))

    def _read(self, op: ir.Operation, number: int, space: Structure, forms: list[Linear]) -> Read | None:
        value = op.operands[number]
        if not is_memref(value):
            return Read(None, (), TRUE)
        indices = self.values.affine_map(space.maps[number], forms)
        if not is_read(op, number):  # an operand that only has sizes, such as the window of a pooling
            place = self.held.place(value, indices)
            return None if place is None else Read(None, place[1], TRUE)
        found = self.held.at(value, indices)
        return self._chosen(body_of(op).arguments[number], found, body_of(op))

    def _loaded(self, load: ir.Operation, body: ir.Block) -> Read | None:
        found = self.held.at(load.operands[0], [self.payload.place(v, body) for v in list(load.operands)[1:]])
        return self._chosen(load.results[0], found, body)

    def _chosen(self, value: ir.Value, found: Read | None, body: ir.Block) -> Read | None:
        if found is None:
            return None
        when, outside = chosen(self.values, value, body, found.when, found.outside)
        return replace(found, when=when, outside=outside)

    # ---- labels of what is written -----------------------------------------------------------------------------------

    def _plain(
        self, op: ir.Operation, number: int, cell: tuple[RootBuffer, Coordinates] | None, labels: tuple[Label, ...],
        reads: Sequence[Read | None], space: Structure,
    ) -> None:  # fmt: skip
        """Visits an op that executes no op of the payload: a copy, a masked copy, an addition to
        the previous contents, or any other update."""
        if cell is None:
            return self.held.forget_value(op.operands[space.inputs + number])
        known = [read for read in reads if read is not None and read.key is not None]
        dims = self._counters[op]
        if is_read(
            op, space.inputs + number
        ):  # the previous contents keep their identity; a constant becomes that of the added value
            adds = len(known) == 1 and (
                merges(op, number, known[0], self.payload) or made_by(yielded(op)[number], *ADDING) is not None
            )
            if adds and labels and labels[-1].key == known[0].key:  # each term once
                return None if (cell[0], op) in self._adding else self.held.forget(cell[0])
            if adds and (not labels or labels[-1].key is None or labels[-1].key[0] in ("argument", "returned")):
                self._adding.add((cell[0], op))
                self.held.add(cell, known[0], self.held.since(cell[0], labels), dims)
                return None
            if not adds and not self._corrects(op, number, space, labels):
                changed = (self.payload.at(label.key[1]) for label in labels if label.key is not None)
                self.strays |= dict.fromkeys(of for of in changed if of is not None)
                return self.held.forget(cell[0])
            results = (label.read(cell[1]) for label in labels if label.key is not None)
            asked = [part for read in known for part in conjuncts_of(read.rows)]
            for there in (each for each in results if each is not None):
                self.held.use(both(*(part for part in asked if part not in conjuncts_of(there.rows))))
            return None
        if len(known) == 1 and len(reads) == 1 and hands_on(op, number):
            return self.held.write(cell, known[0], dims)
        if (quotient := divided(op, number, reads, self._guards, self.payload)) is not None:
            return self.held.write(cell, quotient, dims)
        held, since = fill_constant(op), tuple(self._loops)
        if held is None and len(reads) == 1 and reads[0] is not None and reads[0].key is None and hands_on(op, number):
            held = reads[0].outside
            since = since if self._recording else reads[0].since  # in the first of many iterations; others find a sum
        if held is None:
            self._makers[cell[0]] = (op, number)
            return self.held.forget(cell[0])
        return self.held.fill(cell, held, since, dims)


_HARMLESS = frozenset({
    *VALUELESS, "scf.yield", "scf.forall.in_parallel", "memref.dealloc", "memref.dim", "linalg.index", "memref.load",
    "ub.poison", "memref.assume_alignment",
})  # fmt: skip
