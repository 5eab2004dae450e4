"""Temporaries as arrays of each thread's own, where digits of subscripts say whose each element is.

    memref.alloc() : memref<64x32xf32>   →   memref.alloca() : memref<2x4x2x1x2xf32>     in each thread: 16 · i, 8 · j, 8 · h, tile

An op that looks at a tile looks at its part of the array. Where an op's map hands out what it looks at, rounds of the map walk
along an axis of the array; and where an instruction of tensor cores takes it, its registers do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from ....dsl.records import record
from ...hardware.ampere.fragments import REGISTERS_OF_LHS, instruction_of
from ...hardware.limits import OF_A_THREAD, WARP
from ...indices.arithmetic import value_of
from ...indices.linear import Linear
from ...ir.element_sizes import element_bytes
from ...ir.functions import name_of
from ...ir.mlir import ahead_of, ir, is_used, made_by, made_within, maker, memref, operations
from ...ir.refusing import refuse
from ...ir.structured import body_of
from ...mapping.mapping import loop_dimensions, mapping_of
from ...memory.effects import written
from ...memory.layouts import subview
from ...memory.views import behind, is_own_array
from ..tiles import is_in_thread
from ..views import all_users, drop_dead_view, is_temporary, own_array
from .digits import INSTRUCTION, Counter, DigitReader, Processor, SubscriptDigit, TileAccess, Unowned
from .reads import read_as_operands


@record
class Rounds:
    """What a thread has of an operand that the op's map hands out. The operand itself is a placeholder of its shape.

    Args:
        part: of the thread's own array.
        walked: which axis of that the rounds of which axis of the map walk.
    """

    op: ir.Operation
    position: int
    part: ir.Value
    walked: tuple[tuple[int, int], ...]

    def drop_placeholder(self, placeholder: ir.Value) -> None:
        """Once the op is gone."""
        if (made := made_by(placeholder, "memref.alloca")) is not None and not is_used(placeholder):
            made.erase()


@record
class OwnArray:
    """What a temporary has become.

    Args:
        shared_out: several threads have the same elements, each a copy: all of them do what writes these.
        rounds: for ops whose map hands it out.
    """

    value: ir.Value
    shared_out: bool
    rounds: tuple[Rounds, ...] = ()


def own_array_of(alloc: ir.Operation) -> OwnArray:
    """Make a temporary an array of each thread's own. Raises `Unowned`."""
    kind = ir.MemRefType(alloc.results[0].type)
    accesses, have, layout = _owned(alloc)
    parts = [layout.part(access) for access in accesses]
    if any(access.read for access in accesses):
        raise Unowned("a body loads from it")
    shape = [*(piece.count for piece in layout.pieces), *layout.tile]
    array = own_array(alloc, ir.MemRefType.get(shape, kind.element_type))
    rounds: list[Rounds] = []
    for access, part in zip(accesses, parts, strict=True):
        assert access.position is not None, "loads in bodies have become operands"
        source = access.op.operands[access.position]
        with ahead_of(access.op):
            mine = part.of(access, array)
            if access.is_handed_out and not access.of_product:
                rounds.append(Rounds(access.op, access.position, mine, part.walked))
                mine = memref.AllocaOp(ir.MemRefType.get(access.shape, kind.element_type), [], []).result
            access.op.operands[access.position] = mine
        if access.of_product:
            access.op.attributes[REGISTERS_OF_LHS] = ir.DenseI64ArrayAttr.get(part.registers)
        drop_dead_view(source)
    alloc.erase()
    lanes = prod(count for who, count in have if who.space == "lanes")
    return OwnArray(array, lanes != WARP or not any(who.space == "warps" for who, _ in have), tuple(rounds))


def done_by_all(op: ir.Operation, arrays: Sequence[OwnArray]) -> bool:
    """Whether an op writes nothing but elements of which several threads have a copy: all of them do it. Raises W0380.

    Arrays made in front of the op that are none of `arrays` are copies that every thread has of all of it; one that is made inside
    is each thread's anyway.
    """
    targets = [behind(value) for inner in operations(op) for value in written(inner)]
    targets = [target for target in targets if not (is_own_array(target) and made_within(target, op))]
    apart = [array.value for array in arrays if not array.shared_out]
    copies = [target for target in targets if is_own_array(target) and target not in apart]
    others = [target for target in targets if target not in copies]
    if others and copies:
        name = name_of(others[0])
        other = f"`{name}`" if name else "another result"
        raise refuse(
            "W0380", f"several threads have copies of what the op writes, and {other} is one for all of them", op,
            "let an op of its own write that, or map whoever looks at it alike",
        )  # fmt: skip
    return bool(copies) and not others


def read_owned_as_operands(root: ir.Operation) -> bool:
    """Make operands of what bodies load from temporaries whose elements have owners: then these are handed out with the op. Whether
    there are such."""
    changed = False
    for alloc in list(operations(root, "memref.alloc")):
        loads = [user for user in all_users(alloc.results[0]) if user.name == "memref.load"]
        if loads and is_temporary(alloc.results[0]) and not is_in_thread(alloc):
            try:
                accesses, _, layout = _owned(alloc)
                for access in accesses:
                    layout.part(access)
            except Unowned:
                continue
            read = [access.read for access in accesses if access.read is not None]
            read_as_operands(read)
            changed = changed or bool(read)
    return changed


def _owned(alloc: ir.Operation) -> tuple[list[TileAccess], list[tuple[Processor, int]], _Layout]:
    """The accesses of a temporary, if they agree on whose its elements are; the processors that have them, and how they lie there.
    Raises `Unowned`."""
    kind = ir.MemRefType(alloc.results[0].type)
    if not kind.has_static_shape:
        raise Unowned("its size is known only at run time")
    accesses = DigitReader(alloc).accesses()
    owners = [access.owners(kind.shape) for access in accesses]
    if not owners or any(other != owners[0] for other in owners):
        raise Unowned("it is cut in different ways")
    have = [(who, count) for _, _, count, who in owners[0] if who is not None]
    for access in accesses:
        if access.writes and not all(_among(who, count, have) for who, count in access.by):
            raise Unowned("it is written by some of the threads that have its elements")
    layout = _Layout.of(accesses)
    elements = prod(piece.count for piece in layout.pieces) * prod(layout.tile)
    if elements * element_bytes(kind.element_type) > OF_A_THREAD:
        raise Unowned(f"a thread would have {elements} elements of it")
    return accesses, have, layout


def _among(who: Processor, count: int, have: Sequence[tuple[Processor, int]]) -> bool:
    """Whether a digit tells no others apart than processors that have different elements anyway."""
    if count == 1:
        return True
    for mine, many in have:
        if mine.space == who.space and mine.divisor <= who.divisor < mine.divisor * many:
            covered = mine.divisor * many // who.divisor
            return covered >= count or _among(Processor(who.space, who.divisor * covered), count // covered, have)
    return False


@record
class _Part:
    """The part of the array that an access looks at: along each axis of pieces from which one on, and how many of them.

    Args:
        starts: for each piece, the loops that walk along it, each with a factor.
        walked: the axes that what the op itself walks lies along; by which axis of its map, or `INSTRUCTION`.
    """

    starts: tuple[tuple[tuple[Counter, int], ...], ...]
    sizes: tuple[int, ...]
    tile: tuple[int, ...]
    walked: tuple[tuple[int, int], ...]
    registers: tuple[int, int]

    def of(self, access: TileAccess, array: ir.Value) -> ir.Value:
        """The part, at the insertion point."""
        kind = ir.MemRefType(array.type)
        if not self.sizes:
            return array
        starts = [value_of(sum((one.emit() * factor for one, factor in start), Linear.of())) for start in self.starts]
        own = [*self.sizes, *self.tile] if access.is_handed_out else self.tile
        parts = [[*starts, *[0] * len(self.tile)], [*self.sizes, *self.tile], [1] * kind.rank]
        return subview(array, parts, ir.MemRefType.get(own, kind.element_type))


@record
class _Layout:
    """How the array of a thread's own lies: by pieces, and in each a tile, as one access has them."""

    pieces: tuple[SubscriptDigit, ...]
    tile: tuple[int, ...]

    @classmethod
    def of(cls, accesses: Sequence[TileAccess]) -> _Layout:
        """That of a product's accumulator, or of the access with the fewest pieces. Raises `Unowned`."""
        found = [a for a in accesses if all(d.walked is None and not _is_sequential(d) for d in a.digits)]
        if not found:
            raise Unowned("nobody takes a tile of it")
        access = max(found, key=lambda a: (instruction_of(a.op) is not None, -_own_loops(a)))
        pieces: list[SubscriptDigit] = []
        for loop in access.loops:
            if (mapping := mapping_of(loop)) is None or mapping.distributes:
                continue
            for variable, dimension in zip(body_of(loop).arguments, loop_dimensions(loop), strict=True):
                mine = [d for d in access.digits if d.of is not None and d.of.variable == variable]
                if len(mine) > 1:
                    raise Unowned("a loop over registers walks along several axes of it")
                if (mine and mine[0].count > 1) or (
                    instruction_of(access.op) is not None and dimension.static_trips == 1
                ):
                    pieces += mine or [SubscriptDigit(0, 1, 1)]
        return cls(tuple(pieces), access.tile)

    def part(self, access: TileAccess) -> _Part:
        """Where in the array an access looks. Raises `Unowned`."""
        starts: list[tuple[tuple[Counter, int], ...]] = []
        sizes: list[int] = []
        walked: list[tuple[int, int]] = []
        halves = list(body_of(access.loops[-2]).arguments) if access.of_product else []
        registers = [-1, -1]
        handed = {d.axis for d in access.digits if d.who is not None and d.of is None}
        alone = all(size == 1 for axis, size in enumerate(access.tile) if axis not in handed)
        if access.tile != self.tile or (access.is_handed_out and not alone):
            raise Unowned("it is cut in different ways")
        for number, piece in enumerate(self.pieces):
            start: list[tuple[Counter, int]] = []
            size = 1
            for digit in self._within(access, piece):
                factor = digit.stride // piece.stride
                of_rows = digit.of is not None and digit.of.variable in halves
                if digit.of is not None and not of_rows:
                    start.append((digit.of, factor))
                elif factor != 1 or size != 1:
                    raise Unowned("it is cut in different ways")
                else:
                    size = digit.count
                    walked.append((number, INSTRUCTION if digit.walked is None else digit.walked))
                    registers[of_rows] = number
            if size > 1 and start and not access.of_product:
                raise Unowned("it is cut in different ways")
            starts.append(tuple(start))
            sizes.append(size)
        return _Part(tuple(starts), tuple(sizes), self.tile, tuple(walked), (registers[0], registers[1]))

    def _within(self, access: TileAccess, piece: SubscriptDigit) -> Iterator[SubscriptDigit]:
        """The digits of a thread's own of an access that count tiles along a piece's axis. Raises `Unowned`."""
        for digit in access.digits:
            if digit.axis != piece.axis or digit.who is not None or digit.count == 1 or piece.count == 1:
                continue
            if piece.stride <= digit.stride < piece.stride * piece.count:
                if digit.stride % piece.stride or digit.stride * digit.count > piece.stride * piece.count:
                    raise Unowned("it is cut in different ways")
                yield digit


def _own_loops(access: TileAccess) -> int:
    """How many loops of a thread's own walk through an access."""
    return sum(digit.of is not None and digit.who is None and digit.count > 1 for digit in access.digits)


def _is_sequential(digit: SubscriptDigit) -> bool:
    """Whether it counts the iterations of a loop that each thread runs without a map."""
    return digit.of is not None and mapping_of(maker(digit.of.variable)) is None
