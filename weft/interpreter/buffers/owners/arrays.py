"""Temporaries as thread-private arrays, from the layouts of their accesses.

    memref.alloc() : memref<64x32xf32>   →   memref.alloca() : memref<2x4x2x1x2xf32>     in each thread: 16 · i, 8 · j, 8 · h, tile

An op that accesses a tile accesses its part of the array. If the map of an op distributes the part,
each round of the map accesses another index along an axis of the array; if an instruction of tensor
cores takes the part, each of its registers does.

No layout is needed if all ops that access a tile have the same map, and access it in the order in
which the map distributes elements: each thread reads the elements that it has written, and its
array has an element for each of its iterations. Every thread runs the same number of rounds, with a
guard around surplus ones. So all subscripts are constants once the loops are unrolled, and the
array is in registers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Mapping as Table
from dataclasses import replace
from math import prod

from ....dsl.records import record
from ...hardware.ampere.fragments import REGISTERS_OF_LHS
from ...hardware.limits import OF_A_THREAD, WARP
from ...indices.arithmetic import Bound, inside, less, value_of
from ...indices.linear import Linear
from ...ir.element_sizes import element_bytes
from ...ir.functions import name_of
from ...ir.mlir import ahead_of, ir, is_used, made_by, made_within, memref, operations, producer, users
from ...ir.refusing import refuse
from ...ir.structured import body_of
from ...ir.structured import replace as replace_op
from ...layouts.layout import Digit
from ...mapping.mapping import Mapping, is_mapped, loop_dimensions, mapping_of
from ...mapping.processors import Processors, loop_over, when
from ...memory.effects import written
from ...memory.layouts import subview
from ...memory.views import is_own_array, root_memref
from ..elements import Address
from ..tiles import chunk_of, is_in_thread, slots_of
from ..views import all_users, drop_dead_view, is_temporary, own_array, retype
from .digits import OWN, PROCESSORS, REGISTERS, ROUNDS, Counter, DigitReader, TileAccess, Unowned
from .reads import read_as_operands

STAGE = "weft.register_stage"
"""On a buffer with elements that each thread keeps as it computes them: the staged tile of a
pipelined loop, or a row that ops with one map fill and read."""


def is_stage(tile: ir.Value) -> bool:
    """Whether a buffer is marked `STAGE`."""
    made = producer(tile)
    return made is not None and STAGE in made.attributes


@record
class Rounds:
    """The thread's part of an operand that the op's map distributes. In the IR, the operand is a
    placeholder of the same shape.

    Args:
        part: of the thread-private array.
        walked: for each axis of the part that rounds index, the axis of the map; None: the array
            has an element for each iteration.
    """

    op: ir.Operation
    position: int
    part: ir.Value
    walked: dict[int, int] | None

    def drop_placeholder(self, placeholder: ir.Value) -> None:
        """Erases the placeholder, once the op is erased."""
        if (made := made_by(placeholder, "memref.alloca")) is not None and not is_used(placeholder):
            made.erase()


@record
class OwnArray:
    """The thread-private array of a temporary.

    Args:
        shared_out: whether several threads have copies of the same elements: then all of them
            execute the ops that write these.
        rounds: for ops with a map that distributes the temporary.
        holds: the number of elements per thread, as text.
    """

    value: ir.Value
    shared_out: bool
    rounds: tuple[Rounds, ...] = ()
    holds: str = ""


def staged(alloc: ir.Operation, threads: int | None) -> OwnArray:
    """The array of a tile marked `STAGE`. Raises W0365. `threads`: the number of threads in a
    block, None if it is not known."""
    tile, kind = alloc.results[0], ir.MemRefType(alloc.results[0].type)
    ops = sorted((op for op in users(tile) if is_mapped(op)), key=lambda op: tile not in written(op))
    elements = slots_of(ops[0], threads)
    if elements is None:
        raise refuse(
            "W0365",
            "the number of elements of this tile that a thread keeps in registers is known only at run time",
            ops[0],
            "give the map a count, or leave out `pipeline`",
            f"`{mapping_of(ops[0])}`: the number of threads is not part of the kernel",
        )
    if elements * element_bytes(kind.element_type) > OF_A_THREAD:
        raise refuse(
            "W0365",
            f"each thread would keep {elements} elements of type {kind.element_type} in registers until they are"
            f" stored",
            ops[0],
            f"`tile` by smaller sizes, or `map` to more threads, so that each thread stages at most {OF_A_THREAD}"
            f" bytes",
        )
    array = own_array(alloc, ir.MemRefType.get([elements], kind.element_type))
    places = [(op, n) for op in ops for n, operand in enumerate(op.operands) if operand == tile]
    return OwnArray(array, False, tuple(Rounds(op, n, array, None) for op, n in places))


def emit_rounds(
    rounds: Sequence[Rounds],
    mapping: Mapping,
    sharers: Sequence[tuple[Bound, Processors]],
    body: Callable[[Sequence[Linear], Table[int, Address]], None],
) -> None:
    """Emits the units of an op that one thread owns; for each of these operands, `body` gets the
    address of the unit's first element in the thread's array."""

    def nest(at: tuple[Linear, ...], slots: tuple[Linear, ...], slot: Linear) -> None:
        if len(at) == len(sharers):
            return body(at, {one.position: (one.part, subscripts(one, slots, slot)) for one in rounds})
        trips, by = sharers[len(at)]
        assert isinstance(trips, int) and isinstance(by.count, int), "owners have known numbers of elements"
        size = chunk_of(trips, by.count, mapping)  # chunks of `size` iterations, the first at p * size, `stride` apart
        stride = by.count * size
        many = max(-(-trips // stride), 1)

        def one(round_: Linear, inner: Linear) -> None:
            index, mine = by.index * size + round_ * stride + inner, round_ * size + inner
            guards = [less(by.index, by.count)] if by.surplus else []
            if many * stride != trips:
                guards += inside(index, trips)
            with when(*guards):
                nest((*at, index), (*slots, mine), slot * (many * size) + mine)

        loop_over(many, lambda r: loop_over(size, lambda j: one(r, j)))

    def subscripts(one: Rounds, slots: Sequence[Linear], slot: Linear) -> list[ir.Value]:
        if (walked := one.walked) is None:
            return [value_of(slot * mapping.vector)]
        axes = range(ir.MemRefType(one.part.type).rank)
        return [value_of(slots[walked[axis]] if axis in walked else 0) for axis in axes]

    nest((), (), Linear.of())


def own_array_of(alloc: ir.Operation) -> OwnArray:
    """Replaces a temporary by a thread-private array, from tiles of loops or from accesses of ops.
    Raises `Unowned`."""
    kind = ir.MemRefType(alloc.results[0].type)
    try:
        accesses, have, layout, parts = _owned(alloc, tiles=True)
    except Unowned as why:
        try:
            accesses, have, layout, parts = _owned(alloc)
            if any(access.read for access in accesses):
                raise Unowned("a body loads from it")
        except Unowned:
            raise why from None
    array = own_array(alloc, ir.MemRefType.get(layout.shape, kind.element_type))
    rounds: list[Rounds] = []
    for access, part in zip(accesses, parts, strict=True):
        with ahead_of(access.op):
            mine = part.of(access, array)
            source = access.op.operands[access.position or 0]
            if access.position is None:
                retype(access.op.results[0], ir.MemRefType(mine.type))
                replace_op(access.op, [mine])
            else:
                if access.is_handed_out and not access.of_product:
                    rounds.append(Rounds(access.op, access.position, mine, part.walked))
                    mine = memref.AllocaOp(ir.MemRefType.get(access.shape, kind.element_type), [], []).result
                access.op.operands[access.position] = mine
        if access.of_product:
            access.op.attributes[REGISTERS_OF_LHS] = ir.DenseI64ArrayAttr.get(part.registers)
        drop_dead_view(source)
    alloc.erase()
    lanes = prod(digit.count for digit in have if digit.of == "lanes")
    everywhere = lanes == WARP and any(digit.of == "warps" for digit in have)
    in_copies = not everywhere and all(digit.of in ("warps", "lanes") for digit in have)
    many = [layout.shape[: len(layout.pieces)], layout.tile]
    holds = " of ".join("x".join(map(str, shape)) for shape in many if shape)
    return OwnArray(array, in_copies, tuple(rounds), holds)


def done_by_all(op: ir.Operation, arrays: Sequence[OwnArray]) -> bool:
    """Whether an op writes only elements of which several threads have copies: all of these threads
    then execute the op. Raises W0380.

    An array that was created before the op, and is not in `arrays`, is a copy of the whole
    temporary for every thread. An array that is created inside the op is each thread's own in any
    case.
    """
    targets = [root_memref(value) for inner in operations(op) for value in written(inner)]
    targets = [target for target in targets if not (is_own_array(target) and made_within(target, op))]
    apart = [array.value for array in arrays if not array.shared_out]
    copies = [target for target in targets if is_own_array(target) and target not in apart]
    others = [target for target in targets if target not in copies]
    if others and copies:
        name = name_of(others[0])
        other = f"`{name}`" if name else "another result"
        raise refuse(
            "W0380",
            f"several threads have copies of what the op writes, and {other} exists once for all of them",
            op,
            f"write {other} by a `linalg` op of its own in the payload, or `map` the ops that access it to the same"
            f" processors",
        )
    return bool(copies) and not others


def read_owned_as_operands(root: ir.Operation) -> bool:
    """Turns loads in bodies from temporaries with owned elements into operands, so that maps
    distribute them with the op. Returns whether there were such loads."""
    changed = False
    for alloc in list(operations(root, "memref.alloc")):
        loads = [user for user in all_users(alloc.results[0]) if user.name == "memref.load"]
        if loads and is_temporary(alloc.results[0]) and not is_in_thread(alloc):
            try:
                accesses, *_ = _owned(alloc)
            except Unowned:
                continue
            read = [access.read for access in accesses if access.read is not None]
            read_as_operands(read)
            changed = changed or bool(read)
    return changed


def _owned(
    alloc: ir.Operation, *, tiles: bool = False
) -> tuple[list[TileAccess], list[Digit], _ArrayLayout, list[_Part]]:
    """The accesses of a temporary, if they agree on the owners of its elements, with the digits of
    the owners, the layout of the array, and the part of it for each access. Raises `Unowned`.
    `tiles`: whether the accesses are the tiles of loops over threads."""
    reader, kind = DigitReader(alloc), ir.MemRefType(alloc.results[0].type)
    accesses = reader.tiles() if tiles else reader.accesses()
    if not accesses or not kind.has_static_shape:
        raise Unowned("its size is known only at run time" if accesses else "no access takes a tile of it")
    ways = {access.owners(kind.shape): access.cut for access in reversed(accesses)}
    if len(ways) > 1:
        other, one = [*ways.values()][-2:]
        raise Unowned(
            "threads access each other's parts" if one == other else f"it is cut in two ways, {one}; and {other}"
        )
    have = [digit for digit in next(iter(ways)).digits if digit.of != OWN]
    same = tiles and len({access.by for access in accesses}) == 1  # each reads what it has written
    for access in accesses if not same else ():
        if (tiles or access.writes) and not all(_among(digit, have) for digit in access.by):
            raise Unowned("only some of the threads that have its elements write it")
    layout = _ArrayLayout.of(accesses)
    elements = prod(layout.shape)
    if not tiles and elements * element_bytes(kind.element_type) > OF_A_THREAD:
        raise Unowned(f"a thread would have {elements} elements of it")
    return accesses, have, layout, list(map(layout.part, accesses))


def _among(digit: Digit, have: Sequence[Digit]) -> bool:
    """Whether a digit distinguishes only processors that have different elements anyway."""
    if digit.count == 1:
        return True
    for mine in have:
        end = mine.divisor * mine.count
        if mine.of == digit.of and mine.divisor <= digit.divisor < end:
            covered = end // digit.divisor
            rest = replace(digit, divisor=digit.divisor * covered, count=digit.count // covered)
            return covered >= digit.count or _among(rest, have)
    return False


@record
class _Part:
    """The part of the array that an access reaches: its offset and size along each axis of pieces.

    Args:
        starts: for each piece, the loops with variables that index it, each with a factor.
        walked: for each axis that rounds of the op's map index, the axis of the map.
        registers: the axes of a fragment's registers along the sum, and along rows; -1 where there
            is none.
    """

    starts: list[list[tuple[Counter, int]]]
    sizes: list[int]
    tile: tuple[int, ...]
    walked: dict[int, int]
    registers: list[int]

    def of(self, access: TileAccess, array: ir.Value) -> ir.Value:
        """The part as a view of the array, emitted at the insertion point."""
        kind = ir.MemRefType(array.type)
        if not self.sizes:
            return array
        starts = [value_of(sum((one.emit() * factor for one, factor in start), Linear.of())) for start in self.starts]
        own = [*self.sizes, *self.tile] if access.is_handed_out else self.tile
        parts = [[*starts, *[0] * len(self.tile)], [*self.sizes, *self.tile], [1] * kind.rank]
        return subview(array, parts, ir.MemRefType.get(own, kind.element_type))


@record
class _ArrayLayout:
    """The layout of a thread-private array: by pieces, and in each piece a tile, as in one access."""

    pieces: tuple[Digit, ...]
    tile: tuple[int, ...]

    @property
    def shape(self) -> list[int]:
        return [*(piece.count for piece in self.pieces), *self.tile]

    @classmethod
    def of(cls, accesses: Sequence[TileAccess]) -> _ArrayLayout:
        """The layout from a product's accumulator, or from the access with the fewest pieces.
        Raises `Unowned`."""

        def sequential(access: TileAccess) -> bool:
            return any(not counter.mapped for counter in access.counters.values())

        found = [a for a in accesses if not sequential(a) and {d.of for d in a.own}.isdisjoint((*ROUNDS, REGISTERS))]
        if not found:
            raise Unowned("no access takes a tile of it")
        loops = [sum(d.of in a.counters and d.count > 1 for d in a.own) for a in found]
        access, _ = max(zip(found, loops, strict=True), key=lambda one: (one[0].by_instruction, -one[1]))
        pieces: list[Digit] = []
        for loop in access.loops:
            if (mapping := mapping_of(loop)) is None or mapping.distributes:
                continue
            for variable, dimension in zip(body_of(loop).arguments, loop_dimensions(loop), strict=True):
                mine = [d for d in access.own if d.of in access.counters and access.counters[d.of].variable == variable]
                if len(mine) > 1:
                    raise Unowned("a loop over registers indexes several axes of it")
                if (mine and mine[0].count > 1) or (access.by_instruction and dimension.static_trips == 1):
                    pieces += mine or [Digit("0", 1, OWN, 1, 1)]
        return cls(tuple(pieces), access.tile)

    def part(self, access: TileAccess) -> _Part:
        """The part of the array that an access reaches. Raises `Unowned`."""
        halves = list(body_of(access.loops[-2]).arguments) if access.of_product else []
        part = _Part([], [], self.tile, {}, [-1, -1])
        handed = {d.axis for d in access.inner.digits if d.of in PROCESSORS}
        alone = all(size == 1 or str(axis) in handed for axis, size in enumerate(access.tile))
        if access.tile != self.tile or (access.is_handed_out and not alone):
            raise Unowned("it is cut in different ways")
        for number, piece in enumerate(self.pieces):
            start, size = list[tuple[Counter, int]](), 1
            for digit in self._within(access, piece):
                factor, counter = digit.stride // piece.stride, access.counters.get(digit.of)
                of_rows = counter is not None and counter.variable in halves
                if counter is not None and not of_rows:
                    start.append((counter, factor))
                elif factor != 1 or size != 1:
                    raise Unowned("it is cut in different ways")
                else:
                    size = digit.count
                    part.registers[of_rows] = number
                    if digit.of in ROUNDS:
                        part.walked[number] = ROUNDS.index(digit.of)
            if size > 1 and start and not access.of_product:
                raise Unowned("it is cut in different ways")
            part.starts.append(start)
            part.sizes.append(size)
        return part

    def _within(self, access: TileAccess, piece: Digit) -> Iterator[Digit]:
        """The thread's own digits of an access that count tiles along a piece's axis. Raises
        `Unowned`."""
        for digit in access.own:
            if digit.axis != piece.axis or digit.count == 1 or piece.count == 1:
                continue
            if piece.stride <= digit.stride < piece.stride * piece.count:
                if digit.stride % piece.stride or digit.stride * digit.count > piece.stride * piece.count:
                    raise Unowned("it is cut in different ways")
                yield digit
