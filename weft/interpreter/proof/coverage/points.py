"""The iteration of the payload's op that a kernel executes: solved from the elements that it reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from ....dsl.records import record
from ...indices.linear import TRUE, Formula, Linear, Symbol, at_least, involved, less, redefined
from ...ir.copying import fill_value
from ...ir.mlir import ancestors, ir, made_by, operations, users
from ...ir.structured import body_of, is_read, is_structured, loop_inits, segments, structure
from ..kernels.root_buffers import RootBuffer
from ..solver import Unknown, is_zero, point_where
from .labels import Label, Read, conjuncts_of, is_within, numbers_of
from .payload.bodies import CarriedBody, choices, computes, inside, read_in_order, value_of
from .payload.elements import PIECES, Coordinates, Element, Key
from .payload.payloads import BEFORE, PayloadOp, PayloadOps


@record(eq=False)
class Iterations:
    """Iterations of an op of the payload, as a kernel executes them.

    Args:
        of: the op.
        symbols: the counters of the enclosing loops, outermost first, then of its own dimensions.
        guards: conditions of execution.
        reads: the element that each operand reads, then those that loads of the body read; None:
            not identified.
        cells: for each output, the buffer and its element that is updated.
        since: the loops that initialize the updated value again in each of their iterations.
    """

    of: PayloadOp
    symbols: tuple[Symbol, ...]
    guards: tuple[Formula, ...]
    reads: tuple[Read | None, ...]
    cells: tuple[tuple[RootBuffer, Coordinates] | None, ...]
    since: tuple[Symbol, ...]


@record(eq=False)
class Executes(Iterations):
    """A structured op of the kernel that executes iterations of an op of the payload.

    Args:
        op: of the kernel.
        started: by output, the contents of the buffer before.
        rows: the condition for existing results, where it is executed for others, too.
        equals: the iteration of which it computes the result, as compared by expressions (`equality`).
    """

    op: ir.Operation
    started: tuple[Label | None, ...]
    rows: Formula = TRUE
    equals: Coordinates | None = None

    @property
    def values(self) -> list[ir.Value]:
        """The values of its body that are `reads`."""
        body = body_of(self.op)
        return [*list(body.arguments)[: segments(self.op)[0]], *(op.results[0] for op in inside(body, "memref.load"))]

    def padded(self, point: Coordinates) -> set[tuple[Key, Formula]]:
        """The conditions under which an iteration of the payload reads elements, not padding, each
        with its tensor."""
        table = dict(zip(self.of.dims, point, strict=True))
        parts = ((each.key, part) for each in self.of.reads if each is not None for part in conjuncts_of(each.when))
        return {(key, part.changed(lambda form: form.put(table))) for key, part in parts}

    def parted(self, point: Coordinates, output: int) -> Coordinates:
        """The forms that distinguish the parts of a sum: the loops that initialize the sum again in
        each iteration, or give it an element of its own. Loops are left out if each part begins
        with the sum of all earlier parts."""
        cell = None if self.of.is_running(output) else self.cells[output]
        own = () if cell is None else involved(*cell[1])
        summed = involved(*(point[d] for d in self.of.reductions))
        before = {s for label in self.started if label is not None and self._follows(label, point)
                  for s in involved(*label.at)}  # fmt: skip
        parts = (s for s in dict.fromkeys((*self.since, *own)) if s in summed and s.high != 0 and s not in before)
        return tuple(map(Linear.of, parts))

    def _follows(self, label: Label, point: Coordinates) -> bool:
        """Whether the sum begins with the sum of the parts before its own."""
        if (
            label.key != (BEFORE, self.of.location, 0)
            or len(self.of.reductions) != 1
            or len(label.at) != 1
            or not label.each
        ):
            return False
        rest = point[self.of.reductions[0]] - label.at[0] * label.each
        return is_within(rest, label.each) and involved(label.at[0]).keys().isdisjoint(involved(rest))

    def each(self, point: Coordinates) -> int:
        """The number of consecutive iterations of the reduction in each part, if a single loop
        separates the parts; else 0."""
        form = point[self.of.reductions[0]] if len(self.of.reductions) == 1 else Linear.of(0)
        parts = [s for s in dict.fromkeys(self.since) if s in form.terms]
        count = form.terms[parts[0]] if len(parts) == 1 else 0
        return count if count > 0 and is_within(form - Linear.of(parts[0]) * count, count) else 0


@record(eq=False)
class LoopExecuted:
    """A structured op of the kernel into which a loop of the payload was converted.

    Args:
        nest: the payload's loop, lowered to `scf`, and the loops inside that it consists of.
        op: of the kernel.
        symbols, guards: the counters of the loops around the op, then of its own dimensions; and
            the conditions of execution.
        cells: the elements that hold its results.
        since: the loops that initialize these again in each of their iterations.
        started: the contents of these elements before the op.
    """

    nest: Sequence[ir.Operation]
    op: ir.Operation
    symbols: tuple[Symbol, ...]
    guards: tuple[Formula, ...]
    cells: tuple[tuple[RootBuffer, Coordinates] | None, ...]
    since: tuple[Symbol, ...]
    started: tuple[Label | None, ...]

    def execution(self, of: PayloadOp) -> Executes:
        """The loop's iterations, in the form of an op's iterations."""
        return Executes(of, self.symbols, self.guards, (), self.cells, self.since, self.op, self.started)

    def unclear(self, body: CarriedBody) -> str:
        """The reason why the results are not known to be the payload's; empty if they are."""
        for number, (init, label, cell) in enumerate(
            zip(loop_inits(self.nest[0]), self.started, self.cells, strict=True)
        ):
            constant = made_by(init, "arith.constant")
            start = None if label is None or cell is None else label.start(cell[1])
            if constant is not None and start is not None and start.constant == value_of(constant.attributes["value"]):
                continue
            filled = self._filled_with(number)
            if constant is not None or filled is None or not body.is_same_value(init, filled):
                return "what its results begin with is not known"
        return "" if body.is_same() else "its body is not known to compute the same"

    def _filled_with(self, number: int) -> ir.Value | None:
        """The constant with which a result is filled before the op, if nothing else writes it."""
        out = self.op.operands[segments(self.op)[0] + number]
        fills, others = list[ir.Operation](), list[ir.Operation]()
        for user in users(out):
            kept = user == self.op or user.name in ("memref.load", "memref.dealloc")
            (fills if fill_value(user) is not None else [] if kept else others).append(user)
        if others or len(fills) != 1 or fills[0].block != self.op.block or not fills[0].is_before_in_block(self.op):
            return None
        return fill_value(fills[0])


def solved(
    execution: Executes, payload: PayloadOps, others: Iterable[tuple[Linear, Linear]] = ()
) -> tuple[Linear, ...] | None:
    """The iteration of the payload's op, as forms of the execution's symbols; None if the elements
    that the execution reads do not determine it.

    Each element gives an equation for each of its coordinates; an equation with a single unknown
    dimension determines that dimension. `others`: further equations.
    """
    of = execution.of
    executed = [*execution.guards, *(read.when for read in execution.reads if read is not None)]
    equations = [*_equations(execution, payload), *others]
    known = solution(equations, of.dims, executed)
    return None if known is None else tuple(known[d] for d in of.dims)


def same(
    execution: Executes,
    previous: Sequence[tuple[Element, Read | None]],
    others: Sequence[tuple[Linear, Linear]],
    payload: PayloadOps,
) -> Coordinates | None:
    """The iteration of the payload's op that an execution is, if it reads the same elements, and computes
    the same of them; None where these are to be compared case by case: of padding, and of pieces."""
    point, of = solved(execution, payload, others), execution.of
    if point is None or payload.is_of_pieces(of):
        return None
    if of.reductions:
        padded = any(each is not None and each.when != TRUE for each in of.reads)
        return None if padded or unread(execution) or not computes_as(execution, payload) else point
    padded = pads_otherwise(execution, point, payload)
    return point if not padded and is_same(execution, previous, payload) else None


def is_lost(execution: Executes, payload: PayloadOps, others: Sequence[tuple[Linear, Linear]]) -> bool:
    """Whether an execution that is not known to be an iteration seems to be none, or reads pieces."""
    point = solved(execution, payload, others)
    reads = (read.key for read in execution.reads if read is not None)
    if payload.is_of_pieces(execution.of) or any(key is not None and key[0] == PIECES for key in reads):
        return True
    padded = point is not None and pads_otherwise(execution, point, payload)
    return padded or strays(execution, point, payload, others)


def strays(
    execution: Executes, point: Coordinates | None, payload: PayloadOps, others: Iterable[tuple[Linear, Linear]]
) -> bool:
    """Whether an execution is known to differ from the payload's op: it reads elements that no
    iteration of the op reads, or computes something else from the elements of one iteration."""
    if point is not None:
        return not unread(execution) and not computes_as(execution, payload)
    equations = [*_equations(execution, payload), *others]
    return determined(equations, execution.of.dims) is not None


def is_term(location: str, payload: PayloadOps) -> bool:
    """Whether a reduction of the payload reads the results of an op, directly or through other
    ops."""
    found = payload.untouched.places.get(location)
    waiting = list(found.results) if found is not None else []
    for value in waiting:
        for user in users(value):
            if is_structured(user) and "reduction" in structure(user).iterators:
                return True
            waiting += (result for result in user.results if result not in waiting)
    return False


def unread(execution: Executes) -> list[Element]:
    """The elements of arguments and results that an iteration of the payload's op reads, but the
    execution is not known to read."""
    read = {each.key for each in execution.reads if each is not None}
    wanted = (each for n, each in enumerate(execution.of.reads) if each is not None and n in execution.of.order)
    return [each for each in wanted if each.key[0] != "value" and each.key not in read]


def previous_contents(execution: Executes, before: Sequence[Sequence[Label]]) -> list[tuple[Element, Read | None]]:
    """The elements that an iteration of the payload's op reads from its outputs, each with the
    element that the execution reads there."""
    of, found = execution.of, list[tuple[Element, Read | None]]()
    for number, (cell, labels) in enumerate(zip(execution.cells, before, strict=True)):
        begin = of.begins[number] if is_read(execution.op, segments(execution.op)[0] + number) else None
        if begin is not None and begin.key[0] != "value":
            found.append((begin, labels[-1].start(cell[1]) if cell is not None and labels else None))
    return found


def is_same(execution: Executes, previous: Sequence[tuple[Element, Read | None]], payload: PayloadOps) -> bool:
    """Whether an execution of an op without reductions computes what an iteration of the payload
    does: the same arithmetic on the same elements, including the previous contents. There is one
    exception (`online`): a term of a reduction may read the incomplete results of another
    reduction, in a loop over the terms of both."""
    missed = unread(execution)
    if missed and None in execution.reads and is_term(execution.of.location, payload):
        around = next((each for each in ancestors(execution.op) if each.name in ("scf.for", "gpu.func")), None)
        inside = {str(op.location) for op in operations(around)} if around is not None else set()
        made = (payload.at(each.key[1]) if each.key[0] == "result" else None for each in missed)
        missed = [] if all(each and each.reductions and each.location in inside for each in made) else missed
    known = all(there is not None and there.key == begin.key for begin, there in previous)
    return not missed and known and computes_as(execution, payload)


def computes_as(execution: Executes, payload: PayloadOps) -> bool:
    """Whether an execution computes what an iteration of the payload's op does: the same number of
    ops of each name, and, if both read elements of the same tensors, the same expressions. If a
    single element is not identified, and a single one of the payload's elements is missing, the two
    are taken to be the same."""
    of = execution.of
    if computes(execution.op) != of.computes:
        return False
    keys = [None if each is None else each.key for each in execution.reads]
    missed = {each.key for each in unread(execution)}
    if execution.reads.count(None) == 1 and len(missed) == 1:
        keys[execution.reads.index(None)] = missed.pop()
    same = {each.key for each in of.reads if each is not None} == {key for key in keys if key is not None}
    running = any(map(of.is_running, range(len(execution.cells))))  # outputs in another order, and others
    known = same and not running and of.arithmetic is not None
    found = payload.arithmetic(execution.op, execution.values, keys) if known else None
    return found is None or found == of.arithmetic


def places(
    execution: Executes,
    previous: Sequence[tuple[Element, Read | None]],
    given: Mapping[RootBuffer, Key],
    payload: PayloadOps,
) -> Iterator[tuple[Linear, Linear]]:
    """Further equations for an op without reductions, in addition to those of its inputs: from the
    previous contents that it reads; and from the places of results that a function returns, for
    dimensions on which the values do not depend, such as those of a broadcast."""
    of, pairs = execution.of, list[tuple[Linear, Linear]]()
    for begin, there in previous:
        if there is not None and there.key == begin.key:
            pairs += zip(begin.at, there.at, strict=True)
    told = {*involved(*(form for element in of.reads if element is not None for form in element.at)),
            *involved(*(wanted for wanted, _ in pairs))}  # fmt: skip
    for write, cell in zip(of.writes, execution.cells, strict=False):
        kind, name, number = ("", "", 0) if cell is None or of.indexed else given.get(cell[0], ("", "", 0))
        its = payload.elements.pieces(name, number) if kind == "returned" and cell is not None else []
        for own in (piece(cell[1]) for piece in its if cell is not None):
            if own.key == write.key:
                at = zip(write.at, own.at, strict=True)
                pairs += (pair for pair in at if told.isdisjoint(involved(pair[0])))
    yield from pairs


def solution(
    equations: Sequence[tuple[Linear, Linear]], dims: Sequence[Symbol], executed: Sequence[Formula] = ()
) -> dict[Symbol, Linear] | None:
    """Dimensions as forms, from equations of forms of dimensions with other forms; None where these
    do not determine all, or contradict each other for an executed iteration."""
    known = determined(equations, dims)
    if known is None:
        return None
    solved = (left.put(redefined(known, left.symbols())) - right for left, right in equations)
    return known if all(is_zero(rest, executed) for rest in solved) else None


def determined(equations: Sequence[tuple[Linear, Linear]], dims: Sequence[Symbol]) -> dict[Symbol, Linear] | None:
    """Dimensions that each follow from one of the equations; None where these do not determine all."""
    known = {symbol: Linear.of(0) for symbol in dims if symbol.high == 0}
    equations = [(left - left.constant, right - left.constant) for left, right in equations]
    equations += numbers_of(equations).items()
    while True:
        found = [each for pair in equations for each in _told(*pair, dims, known)]
        found = found or [each for pair in equations for each in _digits_told(*pair, dims, known)]
        if not found:
            break
        known |= dict(found[:1])
    return None if len(known) < len(dims) else known


def _equations(execution: Executes, payload: PayloadOps) -> Iterator[tuple[Linear, Linear]]:
    """Equations between the coordinates that the payload's op reads and those that the execution
    reads, without coordinates that depend on data (`opaque`). For an operand of which only the
    sizes matter, any coordinates that distinguish iterations."""
    of = execution.of
    sizes = [element for n, element in enumerate(of.reads) if element is not None and n not in of.order]
    unread = [read for read in execution.reads if read is not None and read.key is None and read.at]
    for element, read in (*zip(sizes, unread, strict=False), *read_elements(execution, payload)):
        pairs = zip(element.at, read.at, strict=True) if len(element.at) == len(read.at) else ()
        yield from (pair for pair in pairs if all(s.kind != "opaque" for s in pair[0].symbols()))


def read_elements(execution: Executes, payload: PayloadOps) -> Iterator[tuple[Element, Read]]:
    """The elements that the payload's op reads, each with the element that the execution reads. If
    the kernel does not read an element, because its producer was fused into other ops, the elements
    from which it is computed."""
    of = execution.of
    given = [read for read in execution.reads if read is not None and read.key is not None]
    seen: dict[object, int] = {}
    wanted_of: dict[Key, list[Element]] = {}
    for element in (element for n, element in enumerate(of.reads) if element is not None and n in of.order):
        wanted_of.setdefault(element.key, []).append(element)
    for key, pairs in _by_arithmetic(execution).items():
        if len(pairs) == len(wanted_of.get(key, ())):
            del wanted_of[key]
            yield from pairs
    for element in (element for group in wanted_of.values() for element in _by_place(group)):
        fitting = _by_place([read for read in given if read.key == element.key])
        number = seen[element.key] = seen.get(element.key, -1) + 1
        if fitting:
            yield element, fitting[min(number, len(fitting) - 1)]
        else:
            yield from ((made, read) for made in payload.made_of(element) for read in given if read.key == made.key)


def pads_otherwise(execution: Executes, point: Coordinates, payload: PayloadOps) -> bool:
    """Whether an iteration of the payload's op may read padding where the execution reads an
    element; or, for an op without reductions, another constant."""
    of, table = execution.of, dict(zip(execution.of.dims, point, strict=True))

    def put(formula: Formula) -> Formula:
        return formula.changed(lambda form: form.put(redefined(table, form.symbols())))

    sized = zip(point, of.extents, strict=True)
    parts = (part for form, n in sized if n is not None for part in (at_least(form, 0), less(form, n)))
    inside = (*execution.guards, *parts, put(of.fits))
    try:
        for element, read in read_elements(execution, payload):
            own, wanted = put(element.when), value_of(element.outside)
            if element.when == TRUE or point_where([*inside, own.negate()]) is None:
                continue
            value = next(v for v, each in zip(execution.values, execution.reads, strict=True) if each is read)
            asked = () if of.reductions else choices(payload.values, value, body_of(execution.op))
            others = [other for when, other in asked if set(conjuncts_of(when)) <= set(conjuncts_of(own))]
            others = others or ([] if of.reductions else [read.outside])
            differ = any(other is not None and value_of(other) != wanted for other in others)
            if differ or point_where([*inside, read.when, own.negate()]) is not None:
                return True
    except Unknown:
        return True
    return False


def _by_arithmetic(execution: Executes) -> dict[Key, list[tuple[Element, Read]]]:
    """For each tensor, pairs of elements that the payload's op and the execution read at the same
    place in their arithmetic. This distinguishes several reads of one tensor."""
    of, found = execution.of, dict[Key, list[tuple[Element, Read]]]()
    reads, values = dict(zip(execution.values, execution.reads, strict=True)), read_in_order(execution.op)
    for number, value in zip(of.order, values, strict=True) if len(of.order) == len(values) else ():
        element, read = of.reads[number], reads.get(value)
        if element is not None and read is not None and read.key == element.key:
            found.setdefault(element.key, []).append((element, read))
    return found


_Placed = TypeVar("_Placed", Element, Read)


def _by_place(elements: list[_Placed]) -> list[_Placed]:
    """Sorts elements of one tensor by the constants by which they differ, since masks reorder the
    loads of a stencil. Elements that differ otherwise keep their order."""
    pairs = (pair for one in elements[1:] for pair in zip(one.at, elements[0].at, strict=True))
    if not all((a - b).is_constant for a, b in pairs):
        return elements
    return sorted(elements, key=lambda one: [form.constant for form in one.at])


def _told(
    left: Linear, right: Linear, dims: Sequence[Symbol], known: dict[Symbol, Linear]
) -> list[tuple[Symbol, Linear]]:
    """The dimension that an equation determines, if all other dimensions in it are known; else
    empty."""
    unknown = [s for s in involved(left) if s in dims and s not in known]
    factor = left.terms.get(unknown[0]) if len(unknown) == 1 else None
    if factor is None or unknown[0] in involved(left - Linear({unknown[0]: factor}, 0)):
        return []
    rest = right - left.put(known | {unknown[0]: Linear.of(0)})
    if rest.content % factor:
        return []
    return [(unknown[0], (rest if factor > 0 else rest * -1).floordiv(abs(factor)))]


def _digits_told(
    left: Linear, right: Linear, dims: Sequence[Symbol], known: dict[Symbol, Linear]
) -> list[tuple[Symbol, Linear]]:
    """The dimensions that an equation determines as digits of one number: if `128*k + j = r` with j
    < 128, then k is `floor(r/128)`."""
    unsorted = [(n, s) for s, n in left.terms.items() if isinstance(s, Symbol) and s in dims and s not in known]
    places = sorted(unsorted, key=lambda each: each[0])
    units = [n for n, _ in places]
    for (unit, symbol), above in zip(places, units[1:], strict=False):
        if unit <= 0 or above % unit or symbol.high is None or symbol.high >= above // unit:
            return []
    others = left - Linear({s: n for n, s in places}, 0)
    if any(s in dims and s not in known for s in involved(others)) or len(places) < 2:
        return []
    rest = right - others.put(known)
    if rest.content % units[0]:
        return []
    digits = [rest.floordiv(unit) for unit in units]
    lower = [digit.modulo(above // unit) for digit, unit, above in zip(digits, units, units[1:], strict=False)]
    return list(zip((s for _, s in places), [*lower, digits[-1]], strict=True))
