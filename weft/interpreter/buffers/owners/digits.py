"""Whose an element of a temporary is, however the temporary is cut: the digits of subscripts.

Every access of a temporary stands in loops that maps hand to processors, in loops that each thread runs, and in an op that may
have a map itself. Along an axis they make up the subscript as digits make up a number: of 64 rows, two warps have 32 each, in two
pieces of 16, two of 8 in these, and the 8 rows of a piece go to lanes(y: 8):

    row = 32 · warp + 16 · i + 8 · h + lane div 4          column = 8 · j + 2 · (lane mod 4) + e

Where all accesses agree on which digits processors are, each element has its owner, and what is left (i, j, h, e) says where in an
array of the owner's own it lies. Loops need not be the same, nor nested alike: one access walks 8 · j by a loop over `registers`,
another by 16 · k in a sequential loop and 8 · j inside, a reduction by the rounds of `lanes(x: 4) cyclic vector 2`, and an
instruction of tensor cores by the registers of its operand.

Processors of which no digit is made have the elements alike, so they all do what writes them: the four lanes that share a row of a
tile have its largest element, each a copy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod

from ....dsl.records import record
from ...hardware.ampere.fragments import marked
from ...hardware.limits import GROUP_WARPS, WARP
from ...indices.arithmetic import divide, index_of, trip_count
from ...indices.linear import NOTHING, Floor, Linear, Symbol
from ...indices.values import KnownIndices
from ...ir.affine_maps import dimension_of
from ...ir.mlir import ancestors, constant_of, ir
from ...ir.structured import body_of, is_structured, parts_of, place_of, shape_of, structure
from ...mapping.mapping import Mapped, Mapping, handed_out, is_shared_reduction, loop_dimensions, mapping_of
from ...memory.effects import written
from ..tiles import one_each
from .reads import BodyRead, body_read


class Unowned(Exception):
    """Why the elements of a temporary have no owners."""


@record
class Processor:
    """A digit of a processor's number: of `space`, that number divided by `divisor`, modulo the digit's count."""

    space: str
    divisor: int


@record
class Counter:
    """The variable of a loop, whose iterations are those from `lower` on, `step` apart."""

    variable: ir.Value
    lower: int
    step: int
    trips: int

    def emit(self) -> Linear:
        """Which iteration it is."""
        index = index_of(self.variable, self.lower + self.step * self.trips) + -self.lower
        return divide(index, self.step)[0]


@record
class SubscriptDigit:
    """A summand `stride · number` of a subscript along an axis, where 0 <= number < count.

    Args:
        who: the processors whose number it is; None: each thread has all of them.
        of: the loop whose iteration it is; None of what an op, or an instruction, walks by itself.
        walked: the axis of the op's map whose rounds walk it; `INSTRUCTION`: registers of an operand; None of a tile's elements.
    """

    axis: int
    stride: int
    count: int
    who: Processor | None = None
    of: Counter | None = None
    walked: int | None = None


INSTRUCTION = -1
Owner = tuple[int, int, int, Processor | None]
"""Axis, stride, count and processors of a digit."""


@record
class TileAccess:
    """An op's operand, which is (a part of) a temporary.

    Args:
        loops: those around the op in the temporary's scope, outermost first.
        shape: of the part.
        digits: of all its subscripts.
        by: the processors that execute it, each with a count. Those that share a reduction all have its results.
        read: the load of the op's body that it is; None of an operand.
    """

    op: ir.Operation
    position: int | None
    loops: tuple[ir.Operation, ...]
    shape: tuple[int, ...]
    digits: tuple[SubscriptDigit, ...]
    by: tuple[tuple[Processor, int], ...]
    read: BodyRead | None = None

    @property
    def writes(self) -> bool:
        return self.position is not None and self.op.operands[self.position] in written(self.op)

    @property
    def is_handed_out(self) -> bool:
        """Whether the op's own map, or the instruction that computes it, hands out the part."""
        return any(digit.who is not None and digit.of is None for digit in self.digits)

    @property
    def tile(self) -> tuple[int, ...]:
        """What of it lies side by side for a thread, along each axis."""
        plain = [digit for digit in self.digits if digit.who is None and digit.of is None and digit.walked is None]
        return tuple(prod(digit.count for digit in plain if digit.axis == axis) for axis in range(len(self.shape)))

    @property
    def of_product(self) -> bool:
        """Whether it is the left operand of an instruction of tensor cores."""
        return self.position == 0 and marked(self.op) is not None

    def owners(self, shape: Sequence[int]) -> list[Owner]:
        """All digits, those of a thread's own as few as possible. Raises `Unowned` where they do not make up the subscripts."""
        found: list[Owner] = []
        for axis, size in enumerate(shape):
            below = 1
            for digit in sorted((d for d in self.digits if d.axis == axis and d.count > 1), key=lambda d: d.stride):
                if digit.stride != below:
                    raise Unowned("the parts of it that are looked at overlap, or leave elements out")
                below *= digit.count
                if found and found[-1][0] == axis and found[-1][3] is None and digit.who is None:
                    found[-1] = (axis, found[-1][1], found[-1][2] * digit.count, None)
                else:
                    found.append((axis, digit.stride, digit.count, digit.who))
            if below != size:
                raise Unowned("the parts of it that are looked at overlap, or leave elements out")
        return found


class DigitReader:
    """Reads the accesses of one temporary."""

    def __init__(self, alloc: ir.Operation) -> None:
        self.outside = list(ancestors(alloc))
        self.buffer = alloc.results[0]
        self.forms = KnownIndices()
        self.counters: dict[Symbol, tuple[Counter, Processor | None]] = {}
        self.known: list[tuple[ir.Operation, list[tuple[Processor, int]]]] = []

    def accesses(self) -> list[TileAccess]:
        """All accesses. Raises `Unowned`."""
        return [self._access(*found) for found in _users(self.buffer)]

    def _access(self, user: ir.Operation, position: int, views: Sequence[ir.Operation]) -> TileAccess:
        loops = tuple(
            reversed([loop for loop in ancestors(user) if loop not in self.outside and not is_structured(loop)])
        )
        by = [who for loop in loops for who in self._processors(loop)]
        read = body_read(user, self.forms) if user.name == "memref.load" else None
        op = user if read is None else read.op
        if not is_structured(op):
            raise Unowned(f"{op.name} looks at it")
        walked = [dimension_of(e) for e in structure(op).maps[position].results] if read is None else read.walked
        shape = tuple(n or 0 for n in shape_of(op.operands[position])) if read is None else read.shape
        offsets = [Linear.of(0) for _ in shape] if read is None else list(read.starts)
        for view in views:
            offsets = [before + self.forms.number(own) for before, own in zip(offsets, parts_of(view)[0], strict=True)]
        digits = [digit for axis, form in enumerate(offsets) for digit in self._digits(axis, form)]
        mapping = mapping_of(op)
        if mapping is not None and mapping.distributes and not is_shared_reduction(op):
            by += zip(*roles_of(mapping), strict=True)
        of_product = read is None and position == 0 and marked(op) is not None
        inner = list(_of_fragment(op, walked, shape) if of_product else _inner(op, walked, shape))
        return TileAccess(op, position if read is None else None, loops, shape, (*digits, *inner), tuple(by), read)

    def _processors(self, loop: ir.Operation) -> list[tuple[Processor, int]]:
        """Who does what of a loop, whose variables become counters. Raises `Unowned`."""
        if (found := next((by for one, by in self.known if one == loop), None)) is not None:
            return found
        by = list[tuple[Processor, int]]()
        for counter, who in self._counters(loop):
            symbol = self.forms.fresh("loop", NOTHING, 0, max(counter.trips - 1, 0))
            self.forms.bind(counter.variable, Linear.of(symbol) * counter.step + counter.lower)
            self.counters[symbol] = counter, who
            by += [] if who is None else [(who, counter.trips)]
        self.known.append((loop, by))
        return by

    def _counters(self, loop: ir.Operation) -> list[tuple[Counter, Processor | None]]:
        mapping, variables = mapping_of(loop), list(body_of(loop).arguments)
        if loop.name == "scf.for" and mapping is None:
            trips, (low, _, step) = trip_count(loop), map(constant_of, [*loop.operands][:3])
            return (
                []
                if trips is None or low is None or step is None
                else [(Counter(variables[0], low, step, trips), None)]
            )
        if loop.name != "scf.forall" or mapping is None:
            raise Unowned(f"{loop.name} stands around what looks at it")
        dimensions = loop_dimensions(loop)
        if mapping.distributes and not one_each(Mapped(loop, mapping)):
            raise Unowned("a thread owns several tiles of it")
        if mapping.space == "warpgroups" and len(dimensions) == len(mapping.counts):  # as many as there are iterations
            counts = zip(mapping.counts, dimensions, strict=True)
            mapping = replace(mapping, counts=tuple(n if n > 0 else d.static_trips or n for n, d in counts))
        roles = roles_of(mapping)[0] if mapping.distributes else [None] * len(dimensions)
        if len(roles) != len(dimensions):
            raise Unowned(f"`{mapping}` hands it out in another way")
        found = list[tuple[Counter, Processor | None]]()
        for variable, dimension, who in zip(variables, dimensions, roles, strict=True):
            lower, step, trips = dimension.lower, dimension.step, dimension.static_trips
            if trips is None or not isinstance(lower, int) or not isinstance(step, int):
                raise Unowned("how many iterations a loop around has is known only at run time")
            found.append((Counter(variable, lower, step, trips), who))
        return found

    def _digits(self, axis: int, form: Linear) -> Iterator[SubscriptDigit]:
        """The digits of an offset. Raises `Unowned`."""
        if form.constant:
            raise Unowned("a part of it begins at an offset")
        floors = [(term, c) for term, c in form.terms.items() if isinstance(term, Floor)]
        for symbol in dict.fromkeys(form.symbols()):
            if symbol not in self.counters:
                raise Unowned("which part of it is looked at is known only at run time")
            counter, who = self.counters[symbol]
            mine = [(floor, c) for floor, c in floors if symbol in floor.numerator.symbols()]
            low, high, divisor = form.terms.get(symbol, 0), 0, counter.trips
            if mine:
                (floor, c), *more = mine
                divisor, high = floor.divisor, c + low * floor.divisor
                if more or who is None or floor.numerator != Linear.of(symbol) or counter.trips % divisor:
                    raise Unowned("its subscripts are too involved")
            if min(low, high) < 0:
                raise Unowned("a part of it is looked at backwards")
            if low:
                yield SubscriptDigit(axis, low, divisor, who, counter)
            if high and who is not None:
                yield SubscriptDigit(
                    axis, high, counter.trips // divisor, Processor(who.space, who.divisor * divisor), counter
                )


def _of_fragment(op: ir.Operation, walked: Sequence[int | None], shape: Sequence[int]) -> Iterator[SubscriptDigit]:
    """Those of a row of the left operand of an instruction of tensor cores: what a lane has of it."""
    product = marked(op)
    assert product is not None, "an instruction computes the op"
    along = next(axis for axis, d in enumerate(walked) if d is not None and structure(op).iterators[d] == "reduction")
    for held in product.left(shape[along]).restricted("column").digits:
        who = Processor("lanes", held.divisor) if held.of == "lane" else None
        yield SubscriptDigit(along, held.stride, held.count, who, walked=INSTRUCTION if held.of == "register" else None)
    yield from (SubscriptDigit(axis, 1, size) for axis, size in enumerate(shape) if axis != along)


def _inner(op: ir.Operation, walked: Sequence[int | None], shape: Sequence[int]) -> Iterator[SubscriptDigit]:
    """The digits of what an op itself walks of an operand. Raises `Unowned`."""
    space, mapping = structure(op), mapping_of(op)
    if mapping is None or not mapping.distributes:
        yield from (SubscriptDigit(axis, 1, size) for axis, size in enumerate(shape))
        return
    roles, counts = roles_of(mapping)
    handed = handed_out(op)
    over = handed if len(handed) == len(roles) else [d for d in handed if space.extents[d] != 1]
    if len(over) != len(roles) or mapping.dist not in (None, "cyclic") or mapping.ordered:
        raise Unowned(f"`{mapping}` hands it out in another way")
    for axis, (d, size) in enumerate(zip(walked, shape, strict=True)):
        if d not in over:
            yield SubscriptDigit(axis, 1, size)
            continue
        place = over.index(d)
        vector = mapping.vector if d == handed[-1] else 1
        if size % (vector * counts[place]):
            raise Unowned(f"`{mapping}` gives some threads more of it than others")
        yield SubscriptDigit(axis, 1, vector)
        yield SubscriptDigit(axis, vector, counts[place], roles[place])
        yield SubscriptDigit(axis, vector * counts[place], size // (vector * counts[place]), walked=place)


def roles_of(mapping: Mapping) -> tuple[list[Processor], list[int]]:
    """Which digits of processors' numbers the axes of a map are, and how many of each there are. Raises `Unowned`."""
    if mapping.space not in ("warps", "lanes", "warpgroups", "quarters") or any(count < 1 for count in mapping.counts):
        raise Unowned(f"`{mapping}` hands it out in another way")
    counts = dict(zip(mapping.axes, mapping.counts, strict=True))
    if mapping.space == "lanes":
        below = {axis: WARP // counts[axis] if axis == "y" else 1 for axis in counts}
    else:
        each = (
            GROUP_WARPS if mapping.space == "warpgroups" else 1
        )  # groups and their quarters are digits of a warp's number
        below = {axis: each * prod(counts[faster] for faster in counts if faster < axis) for axis in counts}
    space = "lanes" if mapping.space == "lanes" else "warps"
    return [Processor(space, below[axis]) for axis in mapping.axes], list(mapping.counts)


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
            raise Unowned(f"{op.name} looks at it")
