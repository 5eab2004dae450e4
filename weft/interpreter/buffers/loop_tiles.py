"""The tile of a buffer that a loop of the payload accesses: finds its first element and its shape,
and rewrites the loop to access a copy of the tile.

    for k in 0…16: … A[16·by + ty, 16·k0 + k] …   →   A_shared = A[16·by …+16, 16·k0 …+16];  for k: … A_shared[ty, k] …

Subscripts are affine in the variables of the loop and of loops inside it. The terms in these
variables give the place in the tile; the remaining terms, which are the same in all iterations,
give the first element of the tile. Elements that the loop writes are written back after it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...dsl.diagnostics import fail, quoted
from ...dsl.records import record
from ..indices.arithmetic import constant, value_of
from ..indices.linear import Linear, Symbol
from ..ir.copying import copy_to
from ..ir.mlir import ahead_of, arith, ir, linalg, made_within, memref, operations
from ..ir.refusing import describe
from ..ir.structured import body_of, generic
from ..loops.forall import end_of, make_forall
from ..mapping.processors import for_each, when
from ..memory.effects import is_memref, is_pure
from ..memory.layouts import subview
from ..memory.names import buffer_name
from ..proof.overlaps import apart
from .elements import copy_per_thread
from .loop_indices import LoopIndices
from .written_parts import WrittenPart, is_certain, reads_what_it_wrote, written_part

_WAY = (
    "leave this statement out for the operand, or write all its accesses in the payload as `memref.load` and"
    " `memref.store` at sums of the loops' variables, such as `%i + 16`"
)


@record
class LoopTile:
    """The tile of a buffer.

    Args:
        first: the tile's first element, a linear form for each axis.
        place: for each load or store, its place in the tile, by axis.
        written: the part that the loop writes; None if it does not write.
        read: whether the loop needs the previous contents of the buffer.
        inside: by axis, whether the tile's first and last element are proven to be inside of the
            buffer, because the loop accesses them.
    """

    buffer: ir.Value
    first: tuple[Linear, ...]
    shape: tuple[int, ...]
    place: dict[ir.Operation, tuple[Linear, ...]]
    indices: LoopIndices
    written: WrittenPart | None
    read: bool
    inside: tuple[tuple[bool, bool], ...]

    def beyond(self, axis: int, first: Linear, extent: int) -> tuple[bool, bool]:
        """Whether a part of the tile may begin before the buffer's first element, and may end after
        its last."""
        (low, high), kind = first.bounds(), ir.MemRefType(self.buffer.type)
        ends = kind.is_dynamic_dim(axis) or high is None or high + extent > kind.get_dim_size(axis)
        return (low is None or low < 0) and not self.inside[axis][0], ends and not self.inside[axis][1]

    def tests(self, axis: int, at: ir.Value, first: Linear, extent: int) -> Iterator[ir.Value]:
        """The unproven conditions for an index into a part of the tile to be inside of the
        buffer."""
        begins, ends = self.beyond(axis, first, extent)
        kind = ir.MemRefType(self.buffer.type)
        if begins:
            yield arith.cmpi(arith.CmpIPredicate.sge, at, constant(0))
        if ends:
            dynamic = kind.is_dynamic_dim(axis)
            size = memref.DimOp(self.buffer, constant(axis)).result if dynamic else constant(kind.get_dim_size(axis))
            yield arith.cmpi(arith.CmpIPredicate.slt, at, size)


def users_of(loop: ir.Operation, name: str) -> list[tuple[ir.Operation, ir.Value]]:
    """The users, in a loop, of the buffer with this name, and the view that each uses. Raises
    W0330, and W0468 if another op may access the buffer."""
    accesses = [(op, v) for op in operations(loop) for v in op.operands if is_memref(v) and not made_within(v, loop)]
    mine = [(op, value) for op, value in accesses if buffer_name(value) == name]
    if not mine:
        there = quoted(dict.fromkeys(filter(None, (buffer_name(value) for _, value in accesses))))
        hint = f"name a buffer that it accesses: {there}" if there else None
        raise fail("W0330", f"{describe(loop)} accesses no buffer `{name}`", hint)
    writes = any(not isinstance(op.opview, memref.LoadOp) and not is_pure(op) for op, _ in mine)
    for op in operations(loop):
        for value in [v for v in op.operands if is_memref(v) and (op, v) not in mine]:
            harmless = is_pure(op) or (isinstance(op.opview, memref.LoadOp) and not writes)
            if not harmless and not apart(value, mine[0][1], loop):
                does = "read" if isinstance(op.opview, memref.LoadOp) else "write"
                raise fail("W0468", f"{describe(op)} may {does} a part of `{name}`", _WAY)
    return mine


def tile_of(
    loop: ir.Operation, name: str, mine: list[tuple[ir.Operation, ir.Value]], threads: Sequence[ir.Operation] = ()
) -> LoopTile:
    """The tile that these users of a buffer access in a loop. If inner loops are distributed over
    `threads`, it is the tile of a single thread. Raises W0332, W0468."""
    buffer = mine[0][1]
    indices, forms = LoopIndices(loop, threads), dict[ir.Operation, tuple[Linear, ...]]()
    for op, value in mine:
        before = {"memref.load": 1, "memref.store": 2}.get(op.name)
        if before is None:
            raise fail(
                "W0468",
                f"only loads and stores of single elements of `{name}` can be staged, and {describe(op)} is neither",
                _WAY,
            )
        if value != buffer:
            raise fail(
                "W0468", f"{describe(op)} accesses `{name}` through another view than {describe(mine[0][0])}", _WAY
            )
        forms[op] = tuple(indices.linear(v) for v in list(op.operands)[before:])
    bases: list[tuple[Linear, ...]] = []
    for op, form in forms.items():
        bases.append(tuple(_start(each, indices, name, op) for each in form))
    first, shape = list(bases[0]), [1] * len(bases[0])
    for axis in range(len(shape)):
        offsets = [base[axis] - bases[0][axis] for base in bases]
        if not all(offset.is_constant for offset in offsets):
            raise fail("W0468", f"the loop accesses `{name}` in two places without a constant distance", _WAY)
        least = min(offset.constant for offset in offsets)
        first[axis] = bases[0][axis] + least
        shape[axis] = max((form[axis] - first[axis]).bounds()[1] or 0 for form in forms.values()) + 1
    place = {op: tuple(f - start for f, start in zip(form, first, strict=True)) for op, form in forms.items()}
    stores = {op: form for op, form in forms.items() if op.name == "memref.store"}
    written = written_part(name, stores, first, buffer, indices) if stores else None
    loads = [op for op in forms if op not in stores and not reads_what_it_wrote(op, forms[op], stores)]
    read = bool(loads) or (written is not None and not written.whole)
    certain = [place[op] for op, form in forms.items() if is_certain(op, form, indices)]
    spans = [[form.bounds() for form in axis] for axis in zip(*certain, strict=True)] or [[]] * len(shape)
    inside = tuple(
        (any(low == 0 for low, _ in s), any(high == n - 1 for _, high in s)) for s, n in zip(spans, shape, strict=True)
    )
    return LoopTile(buffer, tuple(first), tuple(shape), place, indices, written, read, inside)


def _start(form: Linear, indices: LoopIndices, name: str, op: ir.Operation) -> Linear:
    """The least value of a subscript, which contains no counter. Raises W0468."""
    out = Linear.of(form.constant)
    for term, factor in form.terms.items():
        if isinstance(term, Symbol) and term in indices.counters:
            out = out + min(0, factor * (term.high or 0))
            continue
        inside = [term] if isinstance(term, Symbol) else list(term.numerator.symbols())
        if any(symbol not in indices.values for symbol in inside):
            raise fail("W0468", f"a subscript of `{name}` is not affine in the loops' variables: {describe(op)}", _WAY)
        out = out + Linear({term: factor}, 0)
    return out


def move_to(tile: LoopTile, view: ir.Value) -> None:
    """Replaces the loop's accesses of the buffer by accesses of `view`."""
    for op, place in tile.place.items():
        with ahead_of(op):
            at = [tile.indices.emit(form) for form in place]
            if op.name == "memref.store":
                memref.StoreOp(op.operands[0], view, at)
            else:
                op.results[0].replace_all_uses_with(memref.LoadOp(view, at).result)
        op.erase()


def read_into(tile: LoopTile, view: ir.Value) -> ir.Operation:
    """Emits the op that fills `view` with the tile, at the insertion point; under a mask if the
    tile may extend beyond the buffer."""
    from ..padding.masked_loads import ANY, MARK, guarded

    indices, shaped = tile.indices, ir.MemRefType(tile.buffer.type)

    def element(_: list[ir.Value]) -> list[ir.Value]:
        mask, at = None, list[ir.Value]()
        for axis, (start, form, extent) in enumerate(zip(starts, tile.first, tile.shape, strict=True)):
            at.append(arith.AddIOp(start, linalg.IndexOp(axis).result).result)
            for test in tile.tests(axis, at[-1], form, extent):
                mask = test if mask is None else arith.andi(mask, test)
        return [guarded(mask, shaped.element_type, lambda: memref.LoadOp(tile.buffer, at).result, None)]

    starts = [indices.emit(form) for form in tile.first]
    rank = len(tile.shape)
    copy = generic([], [view], [ir.AffineMap.get_identity(rank)], ["parallel"] * rank, element)
    copy.attributes[MARK] = ir.StringAttr.get(ANY)
    return copy


@record
class WriteBack:
    """The write-back of the elements that a loop has written, from `view` to the buffer."""

    tile: LoopTile
    view: ir.Value
    part: WrittenPart

    @property
    def first(self) -> list[Linear]:
        """The first element of the part in the buffer."""
        return [first + start for first, start in zip(self.tile.first, self.part.starts, strict=True)]

    @property
    def ragged(self) -> bool:
        """Whether some elements of the part may be outside of the buffer."""
        axes = enumerate(zip(self.first, self.part.shape, strict=True))
        return any(True in self.tile.beyond(axis, first, extent) for axis, (first, extent) in axes)

    def emit(self) -> ir.Operation:
        """Emits, after the loop, an op for several threads: a copy, or a loop over elements with
        bounds checks."""
        loop, rank = self.tile.indices.loop, len(self.part.shape)
        with ir.InsertionPoint.after(loop), loop.location:
            if not self.ragged:
                source, target = self.slices()
                return copy_to(target, source)
            long = [axis for axis in range(rank) if self.part.shape[axis] > 1] or [0]
            made = make_forall([0] * len(long), [self.part.shape[axis] for axis in long], [1] * len(long))
            with ir.InsertionPoint(end_of(made)):
                number = dict(zip(long, body_of(made).arguments, strict=True))
                self.element([number.get(axis) or constant(0) for axis in range(rank)])
            return made

    def emit_in_thread(self) -> None:
        """Emits the write-back for one thread, at the insertion point."""
        if self.ragged:
            for_each(self.part.shape, lambda at: self.element(list(map(value_of, at))))
        else:
            copy_per_thread(*self.slices())

    def slices(self) -> tuple[ir.Value, ir.Value]:
        """The part as slices of the copy and of the buffer."""
        shape, steps, kind = self.part.shape, [1] * len(self.part.shape), ir.MemRefType(self.view.type)
        small = ir.MemRefType.get(shape, kind.element_type)
        starts = [form.constant if form.is_constant else self.tile.indices.emit(form) for form in self.first]
        source = subview(self.view, [self.part.starts, shape, steps], small)
        return source, subview(self.tile.buffer, [starts, shape, steps], small)

    def element(self, number: Sequence[ir.Value]) -> None:
        """Copies the element at this index of the part, if it is inside of the buffer."""
        here, there, tests = list[ir.Value](), list[ir.Value](), list[ir.Value]()
        for axis, (at, start, first) in enumerate(zip(number, self.part.starts, self.first, strict=True)):
            here.append(arith.AddIOp(at, constant(start)).result if start else at)
            there.append(arith.AddIOp(self.tile.indices.emit(first), at).result)
            tests += self.tile.tests(axis, there[-1], first, self.part.shape[axis])
        with when(*tests):
            memref.StoreOp(memref.LoadOp(self.view, here).result, self.tile.buffer, there)
