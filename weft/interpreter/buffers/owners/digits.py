"""Owners of the elements of a temporary, for any partition: the layouts of its accesses.

Every access of a temporary is in loops that maps distribute over processors, in loops that each
thread runs, and in an op that may have a map of its own. Along an axis, all of these are digits of
the subscript. For example, 64 rows are divided into 32 for each of two warps; 32 rows into two
pieces of 16, and these into two pieces of 8; and `lanes(y: 8)` distributes the 8 rows of a piece:

    row = 32 · warp + 16 · i + 8 · h + lane div 4          column = 8 · j + 2 · (lane mod 4) + e

If all accesses agree on the digits that are processors, each element has an owner, and the other
digits (i, j, h, e) are its place in the owner's private array. Loops need not be the same, nor
nested in the same way. The digit `8 · j` may come from a loop over `registers`; from a sequential
loop of step 16 and one of step 8 inside; in a reduction, from the rounds of `lanes(x: 4) cyclic
vector 2`; or from the registers of a tensor-core instruction's operand.

Processors that no digit distinguishes have copies of the same elements, and all of them execute the
ops that write these: each of the four lanes that share a row has a copy of the row's largest
element.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import prod

from ....dsl.records import record
from ...hardware.ampere.fragments import instruction_of, marked
from ...hardware.limits import GROUP_WARPS, WARP
from ...indices.arithmetic import divide, index_of, trip_count
from ...indices.linear import NOTHING, Floor, Linear, Symbol
from ...indices.values import KnownIndices
from ...ir.affine_maps import dimension_of
from ...ir.mlir import ancestors, constant_of, ir, users
from ...ir.structured import body_of, is_structured, parts_of, place_of, shape_of, structure
from ...layouts.layout import Digit, Layout
from ...mapping.mapping import (
    Mapping,
    handed_out,
    is_shared_reduction,
    loop_dimensions,
    mapping_of,
    nested_maps,
)
from ...memory.effects import written
from ...memory.layouts import kept_dimensions
from ..tiles import ThreadTile, one_each, tiles_of, walked_otherwise, whole_users
from ..views import all_users, takes_any_layout
from .reads import BodyRead, body_read

PROCESSORS = ("warps", "lanes", "threads", "threads x", "threads y", "threads z")
"""Numbers with digits that are processors (`threads`: in the order of a block); all other digits
are the thread's own."""
ELEMENTS, REGISTERS, OWN = "elements", "registers", "own"
"""Digits of a tile, in order; of an instruction's operand; and of all that is the thread's own,
where these are not distinguished."""
ROUNDS = ("round 0", "round 1", "round 2")
"""Digits of the rounds along the axes of an op's map."""


class Unowned(Exception):
    """The reason why the elements of a temporary have no owners, as text or as a remark."""


@record
class Counter:
    """The variable of a loop that each thread runs; its iterations start at `lower`, with step
    `step`."""

    variable: ir.Value
    lower: int
    step: int
    trips: int
    mapped: bool

    def emit(self) -> Linear:
        """The iteration's number."""
        return divide(index_of(self.variable, self.lower + self.step * self.trips) + -self.lower, self.step)[0]


@record
class TileAccess:
    """An op's operand, which is (a part of) a temporary; or a view of a temporary, for any accesses
    of its thread.

    Args:
        op: the op, or the view.
        position: the operand's number; None for a view, and for a load in a body.
        loops: the loops around the op in the temporary's scope, outermost first.
        shape: of the part.
        outer: the offset of the part, by axis ("0", "1", …), in digits of processors and of
            `counters`.
        inner: the subscripts inside the part, as the op accesses it, in digits of processors,
            `ROUNDS`, `REGISTERS` and `ELEMENTS`.
        by: the processors that execute it; all processors that share a reduction have its results.
        read: the load in the op's body, if the access is one; None for an operand.
    """

    op: ir.Operation
    position: int | None
    loops: tuple[ir.Operation, ...]
    shape: tuple[int, ...]
    outer: Layout
    counters: dict[str, Counter]
    inner: Layout
    by: tuple[Digit, ...]
    read: BodyRead | None = None

    @property
    def is_view(self) -> bool:
        return self.position is None and self.read is None

    @property
    def own(self) -> list[Digit]:
        """The digits that are not processors."""
        return [d for d in (*self.outer.digits, *self.inner.digits) if d.of not in PROCESSORS]

    @property
    def writes(self) -> bool:
        return self.position is not None and self.op.operands[self.position] in written(self.op)

    @property
    def is_handed_out(self) -> bool:
        """Whether the op's own map, or the instruction that computes it, distributes the part."""
        return any(d.of in PROCESSORS for d in self.inner.digits)

    @property
    def tile(self) -> tuple[int, ...]:
        """The thread's adjacent elements, along each axis."""
        if self.is_view:
            return self.shape
        return tuple(self.inner.restricted(str(axis)).count(ELEMENTS) for axis in range(len(self.shape)))

    @property
    def by_instruction(self) -> bool:
        """Whether an instruction of tensor cores takes the part."""
        takers = all_users(self.op.results[0]) if self.is_view else (self.op,)
        return any(instruction_of(op) is not None for op in takers)

    @property
    def cut(self) -> str:
        """The trip counts and maps of the loops around, and the shape of the part, as text."""
        mapped = [(loop, mapping) for loop in self.loops if (mapping := mapping_of(loop)) is not None]
        trips = [[d.static_trips or "?" for d in loop_dimensions(loop)] for loop, _ in mapped]
        loops = [f"{'x'.join(map(str, n))} to `{mapping}`" for (_, mapping), n in zip(mapped, trips, strict=True)]
        return f"{', '.join(loops)}, of {'x'.join(map(str, self.shape))} elements"

    @property
    def of_product(self) -> bool:
        """Whether the access is of the left operand of an instruction of tensor cores."""
        return self.position == 0 and marked(self.op) is not None

    def owners(self, shape: Sequence[int]) -> Layout:
        """The layout of the processors, and that of the thread's own digits, in as few digits as
        possible. Raises `Unowned` if these do not form the subscripts."""
        digits = (*self.outer.digits, *self.inner.digits)
        found = Layout(tuple(d if d.of in PROCESSORS else replace(d, of=OWN, divisor=d.stride) for d in digits)).normal
        for axis, size in enumerate(shape):
            below = 1
            for digit in sorted(found.restricted(str(axis)).digits, key=lambda d: d.stride):
                below = below * digit.count if digit.stride == below else 0
            if below != size:
                raise Unowned("the accessed parts of it overlap, or leave elements out")
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
        """The accesses of all ops. Raises `Unowned`."""
        return [self._access(*found) for found in _users(self.buffer)]

    def tiles(self) -> list[TileAccess]:
        """The tiles that loops over threads take, for any accesses of a thread to its tile. Raises
        `Unowned`."""
        for op in whole_users(self.buffer):
            raise Unowned(walked_otherwise(op))
        tiles = tiles_of(self.buffer)
        for tile in tiles:
            if not takes_any_layout(tile.view, strides=True):
                names = sorted({user.name for user in users(tile.view.results[0])})
                raise Unowned(f"a view of it goes to {', '.join(names)}")
            for _, inner in nested_maps(tile.nest[-1]):
                raise Unowned(f"`{inner}` distributes a tile of it to several threads")
            if not tile.kind.has_static_shape:
                raise Unowned("its tiles have no static size")
        found = list(map(self._tile, tiles))
        if not all(counter.mapped for one in found for counter in one.counters.values()):
            raise Unowned("a thread accesses different parts within a loop")
        return found

    def _tile(self, tile: ThreadTile) -> TileAccess:
        rank, shape = ir.MemRefType(self.buffer.type).rank, tuple(tile.kind.shape)
        axes, offsets, sizes = list(range(rank)), [Linear.of(0)] * rank, [1] * rank
        around = (op for op in ancestors(tile.view) if mapping_of(op) is not None or op.name == "scf.for")
        loops, by = self._around(around)
        for view in tile.views(self.buffer):
            _, taken, steps = place_of(view)
            if set(steps) != {1}:
                raise Unowned("a view of it takes other elements than a tile's")
            for axis, start in zip(axes, parts_of(view)[0], strict=True):
                offsets[axis] = offsets[axis] + self.forms.number(start)
            axes = [axes[d] for d in kept_dimensions(taken, ir.MemRefType(view.results[0].type))]
        for axis, size in zip(axes, shape, strict=True):
            sizes[axis] = size
        inner = Layout(tuple(map(_elements, range(rank), sizes)))
        return TileAccess(tile.view, None, loops, shape, *self._outer(offsets), inner, tuple(by))

    def _access(self, user: ir.Operation, position: int, views: Sequence[ir.Operation]) -> TileAccess:
        loops, by = self._around(ancestors(user))
        read = body_read(user, self.forms) if user.name == "memref.load" else None
        op = user if read is None else read.op
        if not is_structured(op):
            raise Unowned(f"{op.name} accesses it")
        walked = [dimension_of(e) for e in structure(op).maps[position].results] if read is None else read.walked
        shape = tuple(n or 0 for n in shape_of(op.operands[position])) if read is None else read.shape
        offsets = [Linear.of(0) for _ in shape] if read is None else list(read.starts)
        for view in views:
            offsets = [before + self.forms.number(own) for before, own in zip(offsets, parts_of(view)[0], strict=True)]
        mapping = mapping_of(op)
        if mapping is not None and mapping.distributes and not is_shared_reduction(op):
            by += numbers_of(mapping)
        of_product = read is None and position == 0 and marked(op) is not None
        inner = Layout(tuple(_of_fragment(op, walked, shape) if of_product else _inner(op, walked, shape)))
        number = position if read is None else None
        return TileAccess(op, number, loops, shape, *self._outer(offsets), inner, tuple(by), read)

    def _outer(self, offsets: Sequence[Linear]) -> tuple[Layout, dict[str, Counter]]:
        """The offset of a part in digits, and the counters of the thread's own loops in it. Raises
        `Unowned`."""
        outer = Layout(tuple(digit for axis, form in enumerate(offsets) for digit in self._digits(str(axis), form)))
        names = {d.of for d in outer.digits}
        return outer, {name: counter for name, counter in self.counters.items() if name in names}

    def _around(self, ops: Iterable[ir.Operation]) -> tuple[tuple[ir.Operation, ...], list[Digit]]:
        """The loops around an access that are inside the temporary's scope, outermost first, and
        the processors that share them. Raises `Unowned`."""
        around = [op for op in ops if op not in self.outside and not is_structured(op)][::-1]
        return tuple(around), [digit for loop in around for digit in self._processors(loop)]

    def _processors(self, loop: ir.Operation) -> list[Digit]:
        """The processors that share a loop; the loop's variables are recorded as digits. Raises
        `Unowned`."""
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
            by_axis = len(mapping.axes) == len(dimensions)  # otherwise a number depends on the trip count
            bounds = [(d.lower, d.step, d.most_trips if by_axis else d.static_trips) for d in dimensions]
            if mapping.distributes:
                if not one_each(loop):
                    raise Unowned("a thread owns several tiles of it")
                numbers = numbers_of(mapping, [trips or 0 for _, _, trips in bounds])
        for variable, number, (low, by, trips) in zip(variables, numbers, bounds, strict=True):
            if trips is None or not isinstance(low, int) or not isinstance(by, int):
                raise Unowned("the trip count of a loop around it is known only at run time")
            symbol = self.forms.fresh("loop", NOTHING, 0, max(trips - 1, 0))
            self.forms.bind(variable, Linear.of(symbol) * by + low)
            self.numbers[symbol] = replace(number or Digit("", 0, symbol.name, 1, trips), count=trips)
            if number is None:
                self.counters[symbol.name] = Counter(variable, low, by, trips, mapping is not None)
            else:
                yield self.numbers[symbol]

    def _digits(self, axis: str, form: Linear) -> Iterator[Digit]:
        """The digits of an offset. Raises `Unowned`."""
        if form.constant:
            raise Unowned("threads access each other's parts")
        for symbol in dict.fromkeys(form.symbols()):
            if symbol not in self.numbers:
                raise Unowned("the accessed part of it is known only at run time")
            number, stride, below = self.numbers[symbol], form.terms.get(symbol, 0), 1
            floors = [(t, c) for t, c in form.terms.items() if isinstance(t, Floor) and symbol in t.numerator.symbols()]
            plain = not floors or (number.of in PROCESSORS and all(t.numerator == Linear.of(symbol) for t, _ in floors))
            ends = [*sorted((t.divisor, c) for t, c in floors), (number.count, 0)]
            for divisor, c in ends:  # a digit below each divisor
                if not plain or divisor % below:
                    raise Unowned("its subscripts are too involved")
                if stride < 0:
                    raise Unowned("threads access each other's parts")
                count = divisor // below
                if stride:
                    yield replace(number, axis=axis, stride=stride, divisor=number.divisor * below, count=count)
                stride, below = stride * count + c, divisor


def _elements(axis: int, count: int) -> Digit:
    return Digit(str(axis), 1, ELEMENTS, 1, count)


def _of_fragment(op: ir.Operation, walked: Sequence[int | None], shape: Sequence[int]) -> Iterator[Digit]:
    """The digits of a row of the left operand of an instruction of tensor cores: the lane's
    fragment of it."""
    product = marked(op)
    assert product is not None, "an instruction computes the op"
    along = next(axis for axis, d in enumerate(walked) if d is not None and structure(op).iterators[d] == "reduction")
    names = {"lane": "lanes", "register": REGISTERS, "element": ELEMENTS}
    for held in product.left(shape[along]).restricted("column").digits:
        yield replace(held, axis=str(along), of=names[held.of])
    yield from (_elements(axis, size) for axis, size in enumerate(shape) if axis != along)


def _inner(op: ir.Operation, walked: Sequence[int | None], shape: Sequence[int]) -> Iterator[Digit]:
    """The digits in which an op itself accesses an operand. Raises `Unowned`."""
    space, mapping, handed = structure(op), mapping_of(op), handed_out(op)
    over, numbers = list[int](), list[Digit]()
    if mapping is not None and mapping.distributes:
        numbers = numbers_of(mapping)
        over = handed if len(handed) == len(numbers) else [d for d in handed if space.extents[d] != 1]
        if len(over) != len(numbers) or mapping.dist not in (None, "cyclic") or mapping.ordered:
            raise Unowned(f"`{mapping}` distributes it in another way")
    for axis, (d, size) in enumerate(zip(walked, shape, strict=True)):
        if mapping is None or d not in over:
            yield _elements(axis, size)
            continue
        place = over.index(d)
        number, vector = numbers[place], mapping.vector if d == handed[-1] else 1
        each = vector * number.count
        if size % each:
            raise Unowned(f"`{mapping}` gives some threads more of it than others")
        yield _elements(axis, vector)
        yield replace(number, axis=str(axis), stride=vector)
        yield Digit(str(axis), each, ROUNDS[place], 1, size // each)


def numbers_of(mapping: Mapping, trips: Sequence[int] = ()) -> list[Digit]:
    """The digits of processors' numbers that are the axes of a map, without a coordinate yet.
    Raises `Unowned`.

    `trips`: of a loop that gives each iteration to one processor: a digit for each of its
    dimensions.
    """
    counts = dict(zip(mapping.axes, mapping.counts, strict=True))
    if len(trips) == len(counts):  # the trip count, where the map has no count
        counts = {axis: n if n > 0 else most for (axis, n), most in zip(counts.items(), trips, strict=True)}
    spaces = ("warps", "lanes", "warpgroups", "quarters", *(["threads"] if trips else ()))
    if mapping.space not in spaces or mapping.ordered or any(count < 1 for count in counts.values()):
        raise Unowned(f"`{mapping}` distributes it in another way")
    if mapping.space == "threads":
        found = [Digit("", 0, f"threads {axis}", 1, n) for axis, n in counts.items()] or [
            Digit("", 0, "threads", 1, prod(trips))
        ]
    elif mapping.space == "lanes":
        found = [Digit("", 0, "lanes", WARP // n if axis == "y" else 1, n) for axis, n in counts.items()]
    else:
        # warp groups and their quarters are digits of a warp's number
        each = GROUP_WARPS if mapping.space == "warpgroups" else 1
        below = {axis: each * prod(counts[faster] for faster in counts if faster < axis) for axis in counts}
        found = [Digit("", 0, "warps", below[axis], n) for axis, n in counts.items()]
    if len(found) < len(trips):  # iterations are counted row by row
        only = found[0]
        found = [replace(only, divisor=only.divisor * prod(trips[d + 1 :]), count=n) for d, n in enumerate(trips)]
    return found


def _users(
    value: ir.Value, views: tuple[ir.Operation, ...] = ()
) -> Iterator[tuple[ir.Operation, int, tuple[ir.Operation, ...]]]:
    """The ops that use a buffer, the operand's number, and the subviews in between. Raises
    `Unowned`."""
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
