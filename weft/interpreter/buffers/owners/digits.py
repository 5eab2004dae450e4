"""Owners of the elements of a temporary, however it is cut: layouts of what ops access of it.

Every access of a temporary is in loops that maps hand to processors, in loops that each thread runs, and in an op that may
have a map itself. Along an axis they make up the subscript as digits make up a number: of 64 rows, two warps have 32 each, in two
pieces of 16, two of 8 in these, and the 8 rows of a piece go to lanes(y: 8):

    row = 32 · warp + 16 · i + 8 · h + lane div 4          column = 8 · j + 2 · (lane mod 4) + e

Where all accesses agree on which digits processors are, each element has its owner, and what is left (i, j, h, e) is its place
in an array of the owner's own. Loops need not be the same, nor nested alike: one access walks 8 · j by a loop over `registers`,
another by 16 · k in a sequential loop and 8 · j inside, a reduction by the rounds of `lanes(x: 4) cyclic vector 2`, and an
instruction of tensor cores by the registers of its operand.

Processors of which no digit is made have equal elements, so all of them do what writes these: the four lanes that share a row of
a tile have its largest element, each a copy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod

from ....dsl.records import record
from ...hardware.ampere.fragments import instruction_of
from ...hardware.limits import GROUP_WARPS, WARP
from ...indices.arithmetic import divide, index_of, trip_count
from ...indices.linear import NOTHING, Floor, Linear, Symbol
from ...indices.values import KnownIndices
from ...ir.affine_maps import dimension_of
from ...ir.mlir import ancestors, constant_of, ir
from ...ir.structured import body_of, is_structured, parts_of, place_of, shape_of, structure
from ...layouts.layout import Digit, Layout
from ...mapping.mapping import Mapped, Mapping, handed_out, is_shared_reduction, loop_dimensions, mapping_of
from ...memory.effects import written
from ..tiles import one_each
from .reads import BodyRead, body_read

PROCESSORS = ("warps", "lanes")
"""Numbers of which digits are processors; all others are each thread's own."""
ELEMENTS, REGISTERS, OWN = "elements", "registers", "own"
"""Of a tile, in order; of an instruction's operand; and all that is a thread's own, where that is not told apart."""
ROUNDS = ("round 0", "round 1", "round 2")
"""Of the axes of an op's map."""


class Unowned(Exception):
    """Why the elements of a temporary have no owners."""


@record
class Counter:
    """The variable of a loop that each thread runs, whose iterations are those from `lower` on, `step` apart."""

    variable: ir.Value
    lower: int
    step: int
    trips: int
    mapped: bool

    def emit(self) -> Linear:
        """Which iteration it is."""
        return divide(index_of(self.variable, self.lower + self.step * self.trips) + -self.lower, self.step)[0]


@record
class TileAccess:
    """An op's operand, which is (a part of) a temporary.

    Args:
        loops: those around the op in the temporary's scope, outermost first.
        shape: of the part.
        outer: where the part begins, by axis ("0", "1", …), in digits of processors and of `counters`.
        inner: what the op itself walks of it, in digits of processors, `ROUNDS`, `REGISTERS` and `ELEMENTS`.
        by: the processors that execute it. Those that share a reduction all have its results.
        read: the load of the op's body that it is; None of an operand.
    """

    op: ir.Operation
    position: int | None
    loops: tuple[ir.Operation, ...]
    shape: tuple[int, ...]
    outer: Layout
    inner: Layout
    by: tuple[Digit, ...]
    counters: dict[str, Counter]
    read: BodyRead | None = None

    @property
    def own(self) -> list[Digit]:
        """The digits that are no processors."""
        return [d for d in (*self.outer.digits, *self.inner.digits) if d.of not in PROCESSORS]

    @property
    def writes(self) -> bool:
        return self.position is not None and self.op.operands[self.position] in written(self.op)

    @property
    def is_handed_out(self) -> bool:
        """Whether the op's own map, or the instruction that computes it, hands out the part."""
        return any(d.of in PROCESSORS for d in self.inner.digits)

    @property
    def tile(self) -> tuple[int, ...]:
        """What of it lies side by side for a thread, along each axis."""
        return tuple(self.inner.restricted(str(axis)).count(ELEMENTS) for axis in range(len(self.shape)))

    @property
    def of_product(self) -> bool:
        """Whether it is the left operand of an instruction of tensor cores."""
        return self.position == 0 and instruction_of(self.op) is not None

    def owners(self, shape: Sequence[int]) -> Layout:
        """The layout of processors, and of what is a thread's own, as few digits as possible. Raises `Unowned` where these do not
        make up the subscripts."""
        digits = (*self.outer.digits, *self.inner.digits)
        found = Layout(tuple(d if d.of in PROCESSORS else replace(d, of=OWN, divisor=d.stride) for d in digits)).normal
        for axis, size in enumerate(shape):
            below = 1
            for digit in sorted(found.restricted(str(axis)).digits, key=lambda d: d.stride):
                below = below * digit.count if digit.stride == below else 0
            if below != size:
                raise Unowned("the parts of it that are accessed overlap, or leave elements out")
        return found


class DigitReader:
    """Reads the accesses of one temporary."""

    def __init__(self, alloc: ir.Operation) -> None:
        self.outside = list(ancestors(alloc))
        self.buffer = alloc.results[0]
        self.forms = KnownIndices()
        self.numbers: dict[Symbol, Digit] = {}
        self.counters: dict[str, Counter] = {}
        self.known: list[tuple[ir.Operation, list[Digit]]] = []

    def accesses(self) -> list[TileAccess]:
        """All accesses. Raises `Unowned`."""
        return [self._access(*found) for found in _users(self.buffer)]

    def _access(self, user: ir.Operation, position: int, views: Sequence[ir.Operation]) -> TileAccess:
        around = [loop for loop in ancestors(user) if loop not in self.outside and not is_structured(loop)]
        loops = tuple(reversed(around))
        by = [who for loop in loops for who in self._processors(loop)]
        read = body_read(user, self.forms) if user.name == "memref.load" else None
        op = user if read is None else read.op
        if not is_structured(op):
            raise Unowned(f"{op.name} accesses it")
        walked = [dimension_of(e) for e in structure(op).maps[position].results] if read is None else read.walked
        shape = tuple(n or 0 for n in shape_of(op.operands[position])) if read is None else read.shape
        offsets = [Linear.of(0) for _ in shape] if read is None else list(read.starts)
        for view in views:
            offsets = [before + self.forms.number(own) for before, own in zip(offsets, parts_of(view)[0], strict=True)]
        outer = Layout(tuple(digit for axis, form in enumerate(offsets) for digit in self._digits(str(axis), form)))
        mapping = mapping_of(op)
        if mapping is not None and mapping.distributes and not is_shared_reduction(op):
            by += numbers_of(mapping)
        of_product = read is None and position == 0 and instruction_of(op) is not None
        inner = Layout(tuple(_of_fragment(op, walked, shape) if of_product else _inner(op, walked, shape)))
        counters = {name: counter for name, counter in self.counters.items() if name in {d.of for d in outer.digits}}
        return TileAccess(op, position if read is None else None, loops, shape, outer, inner, tuple(by), counters, read)

    def _processors(self, loop: ir.Operation) -> list[Digit]:
        """The processors that share a loop, the variables of which become numbers. Raises `Unowned`."""
        found = next((by for one, by in self.known if one == loop), None)
        if found is None:
            found = list(self._numbered(loop))
            self.known.append((loop, found))
        return found

    def _numbered(self, loop: ir.Operation) -> Iterator[Digit]:
        mapping, variables = mapping_of(loop), list(body_of(loop).arguments)
        numbers: Sequence[Digit | None] = [None] * len(variables)
        if loop.name == "scf.for" and mapping is None:
            trips, (low, _, by) = trip_count(loop), map(constant_of, [*loop.operands][:3])
            if trips is None or low is None or by is None:
                return
            bounds = [(low, by, trips)]
        elif loop.name != "scf.forall" or mapping is None:
            raise Unowned(f"{loop.name} is around what accesses it")
        else:
            dimensions = loop_dimensions(loop)
            if mapping.distributes and not one_each(Mapped(loop, mapping)):
                raise Unowned("a thread owns several tiles of it")
            if mapping.space == "warpgroups" and len(dimensions) == len(
                mapping.counts
            ):  # as many as there are iterations
                counts = zip(mapping.counts, dimensions, strict=True)
                mapping = replace(mapping, counts=tuple(n if n > 0 else d.static_trips or n for n, d in counts))
            numbers = numbers_of(mapping) if mapping.distributes else numbers
            bounds = [(d.lower, d.step, d.static_trips) for d in dimensions]
            if len(numbers) != len(bounds):
                raise Unowned(f"`{mapping}` hands it out in another way")
        for variable, number, (low, by, trips) in zip(variables, numbers, bounds, strict=True):
            if trips is None or not isinstance(low, int) or not isinstance(by, int):
                raise Unowned("how many iterations a loop around has is known only at run time")
            symbol = self.forms.fresh("loop", NOTHING, 0, max(trips - 1, 0))
            self.forms.bind(variable, Linear.of(symbol) * by + low)
            self.numbers[symbol] = (
                Digit("", 0, symbol.name, 1, trips) if number is None else replace(number, count=trips)
            )
            if number is None:
                self.counters[symbol.name] = Counter(variable, low, by, trips, mapping is not None)
            else:
                yield self.numbers[symbol]

    def _digits(self, axis: str, form: Linear) -> Iterator[Digit]:
        """The digits of an offset. Raises `Unowned`."""
        if form.constant:
            raise Unowned("a part of it begins at an offset")
        floors = [(term, c) for term, c in form.terms.items() if isinstance(term, Floor)]
        for symbol in dict.fromkeys(form.symbols()):
            if symbol not in self.numbers:
                raise Unowned("which part of it is accessed is known only at run time")
            number = self.numbers[symbol]
            mine = [(floor, c) for floor, c in floors if symbol in floor.numerator.symbols()]
            low, high, divisor = form.terms.get(symbol, 0), 0, number.count
            if mine:
                (floor, c), *more = mine
                divisor, high = floor.divisor, c + low * floor.divisor
                plain = not more and floor.numerator == Linear.of(symbol) and number.count % divisor == 0
                if not plain or number.of not in PROCESSORS:
                    raise Unowned("its subscripts are too involved")
            if min(low, high) < 0:
                raise Unowned("a part of it is accessed backwards")
            if low:
                yield replace(number, axis=axis, stride=low, count=divisor)
            if high:
                count = number.count // divisor
                yield replace(number, axis=axis, stride=high, divisor=number.divisor * divisor, count=count)


def _of_fragment(op: ir.Operation, walked: Sequence[int | None], shape: Sequence[int]) -> Iterator[Digit]:
    """Those of a row of the left operand of an instruction of tensor cores: what a lane has of it."""
    product = instruction_of(op)
    assert product is not None, "an instruction computes the op"
    along = next(axis for axis, d in enumerate(walked) if d is not None and structure(op).iterators[d] == "reduction")
    names = {"lane": "lanes", "register": REGISTERS, "element": ELEMENTS}
    for held in product.fragments[0].restricted("column").digits:
        yield replace(held, axis=str(along), of=names[held.of])
    yield from (Digit(str(axis), 1, ELEMENTS, 1, size) for axis, size in enumerate(shape) if axis != along)


def _inner(op: ir.Operation, walked: Sequence[int | None], shape: Sequence[int]) -> Iterator[Digit]:
    """The digits of what an op itself walks of an operand. Raises `Unowned`."""
    space, mapping, handed = structure(op), mapping_of(op), handed_out(op)
    over, numbers = list[int](), list[Digit]()
    if mapping is not None and mapping.distributes:
        numbers = numbers_of(mapping)
        over = handed if len(handed) == len(numbers) else [d for d in handed if space.extents[d] != 1]
        if len(over) != len(numbers) or mapping.dist not in (None, "cyclic") or mapping.ordered:
            raise Unowned(f"`{mapping}` hands it out in another way")
    for axis, (d, size) in enumerate(zip(walked, shape, strict=True)):
        if mapping is None or d not in over:
            yield Digit(str(axis), 1, ELEMENTS, 1, size)
            continue
        place = over.index(d)
        number, vector = numbers[place], mapping.vector if d == handed[-1] else 1
        each = vector * number.count
        if size % each:
            raise Unowned(f"`{mapping}` gives some threads more of it than others")
        yield Digit(str(axis), 1, ELEMENTS, 1, vector)
        yield replace(number, axis=str(axis), stride=vector)
        yield Digit(str(axis), each, ROUNDS[place], 1, size // each)


def numbers_of(mapping: Mapping) -> list[Digit]:
    """Which digits of processors' numbers the axes of a map are, of no coordinate yet. Raises `Unowned`."""
    if mapping.space not in ("warps", "lanes", "warpgroups", "quarters") or any(count < 1 for count in mapping.counts):
        raise Unowned(f"`{mapping}` hands it out in another way")
    counts = dict(zip(mapping.axes, mapping.counts, strict=True))
    if mapping.space == "lanes":
        return [Digit("", 0, "lanes", WARP // n if axis == "y" else 1, n) for axis, n in counts.items()]
    each = (
        GROUP_WARPS if mapping.space == "warpgroups" else 1
    )  # groups and their quarters are digits of a warp's number
    below = {axis: each * prod(counts[faster] for faster in counts if faster < axis) for axis in counts}
    return [Digit("", 0, "warps", below[axis], n) for axis, n in counts.items()]


def _users(
    value: ir.Value, views: tuple[ir.Operation, ...] = ()
) -> Iterator[tuple[ir.Operation, int, tuple[ir.Operation, ...]]]:
    """The ops that use a buffer, by which operand, and the subviews between. Raises `Unowned`."""
    for use in list(value.uses):
        op, position = use.owner.operation, use.operand_number
        if op.name == "memref.subview" and position == 0:
            same = ir.MemRefType(op.results[0].type).rank == ir.MemRefType(value.type).rank
            if not same or set(place_of(op)[2]) != {1} or not ir.MemRefType(op.results[0].type).has_static_shape:
                raise Unowned("a view of it takes other elements than a tile's")
            yield from _users(op.results[0], (*views, op))
        elif is_structured(op) or op.name == "memref.load":
            yield op, position, views
        elif op.name != "memref.dealloc":
            raise Unowned(f"{op.name} accesses it")
