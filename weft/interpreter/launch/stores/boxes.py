"""Marked copies out of shared memory → stores of boxes by tensor maps.

    linalg.copy %C_shared → %C[%row, %column] {weft.tma}     →    nvgpu.tma.async.store %C_panels[p] to %C_map[%column + 8·p, %row]

The tile is kept in panels, each as wide in bytes as the swizzle, with one box per panel, like tiles
that boxes fill (`launch/boxes.py`). Threads write it element by element: once views are folded,
subscripts of the tile become subscripts of a panel, swizzled in the way of the accelerator
(`launch/swizzle.py`).

The accelerator stores only the part of a box inside the tensor; the copy must have no other bounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...buffers.elements import StructuredOp, forwarded
from ...buffers.tensor_copies import BY_TENSOR_MAP
from ...buffers.views import named_like
from ...buffers.wide_accesses import aligned_rows
from ...hardware.limits import MOST_BOX, MOST_RANK, PIECE
from ...indices.algebra import at_or_above
from ...indices.arithmetic import Bound, bound_of, value_of
from ...indices.linear import Linear
from ...indices.values import KnownIndices
from ...ir.element_sizes import element_bytes
from ...ir.mlir import affine, ahead_of, i64, ir, made_by, memref, nvgpu, operations, producer
from ...ir.refusing import refuse
from ...ir.sizes import size_of
from ...ir.structured import element_type, parts_of
from ...layouts.swizzles import SWIZZLE
from ...mapping.processors import loop_over
from ...memory.layouts import is_shared
from ...outlining.host_maps import End, joined, size_factors
from ...outlining.kernel import Outlined
from ..boxes import place_of
from ..panels import Box, Panels, map_type
from .completion import is_tensor_store

IN_PANELS = "weft.in_panels"
"""Ties a tile to the panels that replace it, until `launch/swizzle.py` has rewritten the
subscripts: an unregistered op, so that no pass assumes its effects."""


def lower_stores(kernel: Outlined) -> None:
    """Rewrites all marked copies out of shared memory in place. Raises W0405."""
    panels: dict[ir.Value, Panels] = {}
    for op in [op for op in operations(kernel.function) if BY_TENSOR_MAP in op.attributes and is_tensor_store(op)]:
        with op.location:
            _Store(kernel, op, panels).rewrite()
        op.erase()


class _Store:
    """A marked copy."""

    def __init__(self, kernel: Outlined, op: ir.Operation, panels: dict[ir.Value, Panels]) -> None:
        self.kernel, self.op, self.panels = kernel, op, panels
        self.source, self.target = op.operands
        self.item = element_bytes(element_type(self.source))

    def rewrite(self) -> None:
        structured = StructuredOp.of(self.op)
        identity = ir.AffineMap.get_identity(structured.maps[0].n_dims)
        if forwarded(structured) is None or any(indexing != identity for indexing in structured.maps):
            raise self._refused(
                "computes what it writes, or exchanges dimensions",
                "compute in the op that fills the"
                " tile, and copy it unchanged; or"
                " `map` the copy to"
                " `threads(*) cyclic`",
            )
        with ahead_of(self.op):
            alloc, first, on = place_of(self.source)
            tensor, starts, axes = place_of(self.target)
            self._expect(alloc, tensor, on, axes)
            ends: list[End] = [None] * len(starts)
            sizes = list[int]()
            for dimension, axis in enumerate(axes):
                size, ends[axis] = self._size(dimension, tensor, starts[axis], axis)
                sizes.append(size)
            width = ir.MemRefType(alloc.type).shape[-1]
            turns = len(first) - len(on)  # of several tiles, the index of this one
            lead, (row, column) = first[turns:-2], first[-2:]
            if column != Linear.of() or any(start != Linear.of() for start in lead) or sizes[-1] != width:
                raise self._refused(
                    "takes parts of rows of its tile", "`tile` the copy by rows alone, such as `[64, _]`"
                )
            box = [1] * len(starts)
            for axis, size in zip(axes, sizes, strict=True):
                box[axis] = size
            panels = self._panels(alloc, Box(tensor, tuple(starts), tuple(box), tuple(ends)))
            width = panels.box.box[-1]

            def store(panel: Linear) -> None:
                before = [*map(bound_of, first[:turns]), *[0] * len(lead)]
                seen = panels.at(before, bound_of(row), sizes[-2], bound_of(panel), len(box))
                at = [*starts[:-1], starts[-1] + panel * width]
                nvgpu.TmaAsyncStoreOp(seen, panels.map, [value_of(start) for start in reversed(at)])

            loop_over(sizes[-1] // width, store)

    def _expect(self, alloc: ir.Value, tensor: ir.Value, on: Sequence[int], axes: Sequence[int]) -> None:
        kind, name = ir.MemRefType(tensor.type), ir.MemRefType(self.target.type)
        if joined(tensor)[0] not in list(self.kernel.entry.arguments) or is_shared(tensor.type):
            raise self._refused(
                "does not write an argument of the kernel",
                "return it from the payload's function; or `map` the copy to `threads(*) cyclic`",
            )
        rank = ir.MemRefType(alloc.type).rank
        if made_by(alloc, "memref.alloc") is None or list(on) != list(range(rank))[-len(on) :] or len(on) < 2:
            raise self._refused(
                "does not take whole rows of a tile in shared memory", "leave `pad` and `transpose` out"
            )
        if kind.rank > MOST_RANK or list(axes) != sorted(axes) or axes[-1] != kind.rank - 1 or name.rank != len(axes):
            raise self._refused(
                "writes its tensor in another order than that lies in memory, or one of more than 5 dimensions"
            )
        lanes = PIECE // self.item
        if not aligned_rows(tensor, lanes):
            raise self._refused(
                f"writes rows that are not known to begin at multiples of {PIECE} bytes, and a tensor map needs that",
                f"`assume` that a row is a multiple of {lanes} elements, with `versions` for others; or leave the map"
                f" out",
            )

    def _size(self, dimension: int, tensor: ir.Value, start: Linear, axis: int) -> tuple[int, End]:
        """The size of the box along a dimension of the tile, and the extent at which the tensor
        ends for the copy. Raises W0405 unless the copy takes exactly the part inside the tensor."""
        size = ir.MemRefType(self.source.type).shape[dimension]
        if not ir.MemRefType(self.source.type).is_dynamic_dim(dimension):
            whole = self._whole(dimension)
            rest = KnownIndices(self.op).number(size_of(tensor, axis)) - KnownIndices(self.op).number(value_of(start))
            return (whole if rest.is_constant and size == rest.constant < whole else size), None
        forms = KnownIndices(self.op)
        bound = parts_of(producer(self.source) or self.op)[1][dimension]
        ends = list(_least_of(forms, bound))
        numbers = [end.constant for end in ends if end.is_constant]
        first = forms.number(value_of(start))
        for known, where in self._known_sizes(tensor, axis, bound):
            inside = forms.number(known) - first
            none = max(inside.constant, self._whole(dimension)) if inside.is_constant else 0  # ends in the one tile
            least = min(
                (number for number in numbers if not inside.is_constant or number != inside.constant), default=none
            )
            if (
                inside in ends
                and all(end == inside or end.is_constant or at_or_above(end, least) for end in ends)
                and least > 0
            ):
                return least, where
        raise self._refused(
            "takes another part of its tile than the part inside of the tensor",
            "`tile` without overlap, each tile from the end of the previous one; or `map` the copy to"
            " `threads(*) cyclic`",
        )

    def _whole(self, dimension: int) -> int:
        """The number of elements in a row of the tile, which boxes must take as a whole; 0 for any
        other dimension."""
        source = place_of(self.source)[0]
        return ir.MemRefType(source.type).shape[-1] if dimension == ir.MemRefType(self.source.type).rank - 1 else 0

    def _known_sizes(self, tensor: ir.Value, axis: int, bound: Bound) -> Iterator[tuple[Bound, End]]:
        """The tensor's extent, and the sizes in the bound of the copy that the host can compute as
        well."""
        yield size_of(tensor, axis), None
        arguments = list(self.kernel.entry.arguments)
        for size in _sizes_in(bound):
            if (end := size_factors(size, arguments)) is not None:
                yield size, end

    def _panels(self, alloc: ir.Value, box: Box) -> Panels:
        """The memory that replaces the tile, in panels. Raises W0405."""
        made = ir.OpResult(alloc).owner.operation
        kind = ir.MemRefType(alloc.type)
        *lead, rows, columns = kind.shape
        swizzle = ir.IntegerAttr(made.attributes[SWIZZLE]).value if SWIZZLE in made.attributes else 0
        width = swizzle // self.item if swizzle else columns
        sizes = [*box.sizes[:-1], width]
        for size in sizes:
            if size > MOST_BOX:
                why = f"stores a box of {size} elements along a dimension, and a tensor map has boxes of at most {MOST_BOX}"
                raise self._refused(
                    why,
                    f"`tile` by at most {MOST_BOX} elements along each dimension, or `map` the"
                    f" copy to `threads(*) cyclic`",
                )
        if width * self.item % PIECE or columns % width:
            why = f"stores rows of {width * self.item} bytes, and boxes have multiples of {PIECE}"
            raise self._refused(
                why,
                f"`tile` by a multiple of {PIECE // self.item} elements along rows, or `map` the"
                f" copy to `threads(*) cyclic`",
            )
        of_map = map_type(sizes, kind.element_type, swizzle, 0)
        if alloc not in self.panels:
            shape = [*lead, *[columns // width] * (columns > width), rows, width]
            with ir.InsertionPoint.after(made), made.location:
                memory = memref.AllocOp(
                    ir.MemRefType.get(shape, kind.element_type, None, kind.memory_space), [], []
                ).result
                link = ir.Operation.create(IN_PANELS, operands=[alloc, memory])
            if swizzle:
                link.attributes[SWIZZLE] = i64(swizzle)
            of_box = self.kernel.tensor_map(box.tensor, of_map, box.ends)
            self.panels[alloc] = Panels(named_like(made, memory), of_box, self.kernel, box)
        found = self.panels[alloc]
        if found.map != self.kernel.tensor_map(box.tensor, of_map, box.ends):
            raise self._refused(
                "stores a tile that goes to another tensor, too, or in other boxes",
                "`promote-to-shared` each result on its own",
            )
        return found

    def _refused(self, why: str, hint: str | None = None) -> Exception:
        return refuse("W0405", f"the copy {why}", self.op, hint)


def _least_of(forms: KnownIndices, bound: Bound) -> Iterator[Linear]:
    """The forms of which a size is the minimum, without 0: for `max(0, min(64, min(256, n - i) -
    j))`, these are 64, 256 - j and n - i - j."""
    made = None if isinstance(bound, int) else producer(bound)
    if made is None or not _is_extreme(made):
        yield forms.number(bound)
        return
    least = isinstance(made.opview, affine.AffineMinOp)
    mapped = ir.AffineMapAttr(made.attributes["map"]).value
    ends = forms.affine_map(mapped, [forms.linear(value) for value in made.operands])
    if not least:
        ends = [end for end in ends if end != Linear.of(0)]
    inner = {forms.linear(value): value for value in made.operands if producer(value) is not None}
    for end in ends if least or len(ends) == 1 else [forms.number(bound)]:
        nested = next((value for form, value in inner.items() if _one_of(end, form)), None)
        if nested is None or not _is_extreme(ir.OpResult(nested).owner):
            yield end
            continue
        rest = end - forms.linear(nested)
        yield from (part + rest for part in _least_of(forms, nested))


def _sizes_in(bound: Bound) -> Iterator[ir.Value]:
    """The operands of the minima and maxima that compute a size."""
    made = None if isinstance(bound, int) else producer(bound)
    if made is not None and _is_extreme(made):
        for value in made.operands:
            yield value
            yield from _sizes_in(value)


def _is_extreme(op: ir.Operation) -> bool:
    return isinstance(op.opview, affine.AffineMinOp | affine.AffineMaxOp)


def _one_of(form: Linear, part: Linear) -> bool:
    """Whether a form is the sum of `part` and terms that share no symbol with it."""
    symbols = set(part.symbols())
    return len(symbols) > 0 and symbols.isdisjoint((form - part).symbols())
