"""Marked copies → loads of boxes by tensor maps, which the host creates and the kernel takes as
arguments.

    linalg.copy %A[%row, %k] → %A_shared {weft.tma}      →   nvgpu.tma.async.load %A_map[%k, %row], %full[%s] to %A_shared

A swizzled tile is stored in swizzle-wide panels, one box per panel:
`memref<64x256xbf16>` with a swizzle of spans of 128 bytes becomes `memref<4x64x64xbf16>`.
`products/by_groups.py` reads it, through the same map.

A masked load becomes a plain box if its mask only tests that the element is inside the tensor:
elements outside are loaded as zeros. A masked load that gathers pixels becomes a load of pixels
(`pixels.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..buffers.asynchronous_copies import is_zero_constant
from ..buffers.elements import StructuredOp, forwarded
from ..buffers.tensor_copies import BY_TENSOR_MAP
from ..buffers.views import named_like
from ..buffers.wide_accesses import MaskedLoad, aligned_rows
from ..hardware.hopper.mbarriers import EXPECT, barrier_of
from ..hardware.hopper.tensor_maps import LOAD, POINTER_OF, STORE
from ..hardware.hopper.warpgroups import DESCRIBE
from ..hardware.limits import MOST_BOX, MOST_RANK, PIECE
from ..indices.arithmetic import Bound, bound_of, index_of, value_of
from ..indices.linear import Linear
from ..indices.neighbours import Neighbours
from ..ir.cloning import index_dimension
from ..ir.element_sizes import element_bytes
from ..ir.functions import name_of
from ..ir.mlir import ahead_of, arith, ir, made_by, maker, memref, nvgpu, operations, ops_of, producer
from ..ir.refusing import refuse
from ..ir.sizes import measured_dimension, same_size, size_of
from ..ir.structured import element_type, parts_of, structure
from ..layouts.swizzles import SWIZZLE
from ..memory.layouts import is_shared, kept_dimensions, strided, value_name
from ..memory.views import is_view
from ..outlining.host_maps import End, Factor, joined, size_factors
from ..outlining.kernel import Outlined
from .clusters import Sharing, TilePart
from .panels import Box, Panels, map_type
from .pixels import Gathered, load_pixels


def lower_copies(kernel: Outlined, sharing: Sharing | None = None) -> dict[ir.Value, Panels]:
    """Rewrites all marked copies in place. Returns the shared buffers that the boxes fill, by the
    original buffer's value, which other ops still use. The tensor maps become the last arguments of
    the kernel. `sharing`: the shared copies of a kernel that runs in clusters. Raises W0405."""
    filled: dict[ir.Value, Panels] = {}
    for op in [op for op in operations(kernel.function) if BY_TENSOR_MAP in op.attributes]:
        with op.location:
            _Copy(kernel, op, filled, sharing).rewrite()
        op.erase()
    return filled


class _Copy:
    """A marked copy."""

    def __init__(
        self, kernel: Outlined, op: ir.Operation, filled: dict[ir.Value, Panels], sharing: Sharing | None
    ) -> None:
        self.kernel, self.op, self.filled, self.sharing = kernel, op, filled, sharing
        self.structured = StructuredOp.of(op)
        self.target = self.structured.operands[self.structured.output_numbers().start]
        self.shape = list(ir.MemRefType(self.target.type).shape)
        self.item = element_bytes(element_type(self.target))

    def rewrite(self) -> None:
        with ahead_of(self.op):
            box = self._box()
            alloc, places = _place_in(self.target)
            lead = places[:-2]
            kind = ir.MemRefType(alloc.type)
            if kind.rank < 2 or list(kind.shape)[-2:] != self.shape[-2:] or any(p != 0 for p in places[-2:]):
                raise self._refused(
                    "does not fill whole tiles of its buffer, row by row", "leave `pad` and `transpose` out"
                )
            pieces, box = self._pieces(alloc, box)
            panels = self.filled.get(alloc)
            if panels is None:
                panels = self.filled[alloc] = self._panels(alloc, box)
            elif panels.map != self.kernel.tensor_map(box.tensor, panels.map.type, box.ends, box.window):
                raise self._refused("fills a buffer that another tensor fills, too", "`promote-to-shared` each operand")
            barriers, number = barrier_of(self._expecting())
            width = panels.box.box[-1]
            for piece in pieces:
                row, panel = (bound_of(start) for start in (piece.row, piece.panel))
                to = panels.at(lead, row, piece.rows, panel, len(box.sizes))
                starts = box.at(piece.row)
                starts[-1] = starts[-1] + piece.panel * width
                coordinates = [value_of(start) for start in reversed(starts)]
                blocks = self.sharing.mask() if self.sharing is not None and piece.shared else None
                if box.pixels is not None:
                    load_pixels(to, panels.map, coordinates, box.pixels.tap, (barriers, number), blocks)
                else:
                    nvgpu.TmaAsyncLoadOp(to, barriers, panels.map, coordinates, number, multicastMask=blocks)

    def _pieces(self, alloc: ir.Value, box: Box) -> tuple[list[TilePart], Box]:
        """The parts of the tile that the block loads, and the box of each part."""
        rows, panels = self.shape[-2], self.shape[-1] // self._width(alloc)
        name = name_of(alloc) or "a tile"
        if self.sharing is not None:
            shared = self.sharing.pieces(self.op, name, box.starts, rows, panels, self._width(alloc) * self.item)
            if shared is not None:
                sizes = list(box.sizes)
                sizes[box.row] = shared[0].rows
                return shared, replace(box, sizes=tuple(sizes))
        return [TilePart(Linear.of(), rows, Linear.of(panel)) for panel in range(panels)], box

    def _expecting(self) -> ir.Operation:
        before = ops_of(self.op.block)
        found = [op for op in before[: before.index(self.op)] if op.name == EXPECT]
        assert found, "the start of a copy states the expected bytes"
        return found[-1]

    # ---- what is copied ----------------------------------------------------------------------------------------------

    def _box(self) -> Box:
        """The box that the copy reads. Raises W0405."""
        number = forwarded(self.structured)
        rank = structure(self.op).rank
        if number is not None:
            source, indexing = self.structured.operands[number], self.structured.maps[number]
            if indexing != ir.AffineMap.get_identity(rank):
                raise self._refused("reads its operand in another order than it writes it", "leave `transpose` out")
            tensor, starts, axes = place_of(source)
            self._expect_tensor(tensor)
            sizes = [1] * len(starts)
            for dimension, axis in enumerate(axes):
                sizes[axis] = self.shape[dimension]
            return self._checked(Box(tensor, tuple(starts), tuple(sizes), (None,) * len(sizes)), axes)
        load = self.structured.gathered(1)
        if load is None:
            raise self._refused(
                "computes what it writes",
                "`map` the copy to `threads(*) cyclic`: `to tma` copies the"
                " elements of an operand unchanged, in their order",
            )
        return self._gathered(load, rank)

    def _gathered(self, load: MaskedLoad, rank: int) -> Box:
        if load.otherwise is not None and not is_zero_constant(load.otherwise):
            raise self._refused("fills in another value than zero outside of its operand", "leave `map … to tma` out")
        indices = [
            [op.results[0] for op in operations(self.op, "linalg.index") if index_dimension(op) == d]
            for d in range(rank)
        ]
        subscripts = list(load.load.operands)[1:]
        axes = [-1] * rank
        for dimension, mine in enumerate(indices):
            at = Neighbours(mine, 2)
            moved = [axis for axis, subscript in enumerate(subscripts) if at.varies(subscript)]
            if len(moved) > 1 or not all(at.advances(subscripts[axis]) for axis in moved):
                return self._pixels(load)
            axes[dimension] = moved[0] if moved else -1
        source, first, _ = load.source([value_of(0)] * rank)
        tensor, starts, on = place_of(source)
        self._expect_tensor(tensor)
        ends = self._ends(load, tensor, starts, on)
        sizes = [1] * len(starts)
        for dimension, axis in enumerate(axes):
            if axis >= 0:
                sizes[on[axis]] = self.shape[dimension]
            elif self.shape[dimension] != 1:
                raise self._refused(
                    "repeats its operand",
                    "`map` the copy to `threads(*) cyclic`: `to tma` copies the"
                    " elements of an operand unchanged, in their order",
                )
        for axis, subscript in enumerate(first):
            starts[on[axis]] = starts[on[axis]] + index_of(subscript)
        return self._checked(Box(tensor, tuple(starts), tuple(sizes), ends), [on[a] for a in axes if a >= 0])

    def _pixels(self, load: MaskedLoad) -> Box:
        if len(self.shape) != 2:
            raise self._refused(
                "does not read adjacent elements in order",
                "`map` the copy to `threads(*) cyclic`:"
                " `to tma` copies the elements of an"
                " operand unchanged, in their order",
            )
        found = Gathered(self.op, load, self._refused).pixels(self.shape[1])
        self._expect_tensor(found.images)
        starts = found.first(Linear.of())
        if (wrong := found.window.wrong(self.shape[0])) is not None:
            raise self._refused(f"would take {wrong}", "`map` the copy to `threads(*) cyclic`")
        box = Box(found.images, starts, tuple(self.shape), (None,) * len(starts), pixels=found)
        return replace(self._checked(box, range(len(starts))), row=0)

    def _ends(self, load: MaskedLoad, tensor: ir.Value, starts: Sequence[Linear], on: Sequence[int]) -> tuple[End, ...]:
        """The extents of the tensor that the mask tests, by axis. Raises W0405 if the mask tests
        anything else."""
        subscripts = list(load.load.operands)[1:]
        ends: list[End] = [None] * len(starts)
        waiting = [load.choice.operands[0]] if load.choice is not None else []
        while waiting:
            test = producer(waiting.pop())
            if test is not None and test.name == "arith.andi":
                waiting += test.operands
                continue
            axis = None if test is None or test.name != "arith.cmpi" else self._tested(test, subscripts)
            if test is None or axis is None or starts[on[axis]] != Linear.of():
                raise self._refused(
                    "reads under a mask that tests more than the end of its operand: zeros begin elsewhere",
                    "`map` the copy to `threads(*) cyclic`: `to tma` fills in zeros only where the operand ends",
                )
            bound = test.operands[1]
            own = measured_dimension(bound) == (tensor, on[axis]) or same_size(bound, size_of(tensor, on[axis]))
            if not is_zero_constant(bound) and not own:
                ends[on[axis]] = self._end(bound)
        return tuple(ends)

    def _tested(self, test: ir.Operation, subscripts: Sequence[ir.Value]) -> int | None:
        """The axis of the subscript that is tested to be at least 0, or below a size; None for any
        other test."""
        kinds, known = arith.CmpIPredicate, Neighbours((), 1)
        predicate = kinds(ir.IntegerAttr(test.attributes["predicate"]).value)
        index, bound = test.operands
        if predicate != kinds.sge if is_zero_constant(bound) else predicate not in (kinds.slt, kinds.ult):
            return None
        return next((axis for axis, subscript in enumerate(subscripts) if known.same(index, subscript)), None)

    def _end(self, bound: ir.Value) -> tuple[Factor, ...]:
        """The size as factors that the host can compute. Raises W0405."""
        end = size_factors(bound, list(self.kernel.entry.arguments))
        if end is None:
            why = "reads under a mask that depends on more than sizes"
            raise self._refused(
                why, "`map` the copy to `threads(*) cyclic`: `to tma` fills in zeros only where the operand ends"
            )
        return end

    def _expect_tensor(self, tensor: ir.Value) -> None:
        source, _ = joined(tensor)
        if source not in list(self.kernel.entry.arguments) or is_shared(source.type):
            raise self._refused(
                "does not read an argument of the kernel",
                "`map` the copy to `threads(*) cyclic`: `to tma` reads arguments in global memory alone",
            )

    def _checked(self, box: Box, axes: Sequence[int]) -> Box:
        kind = ir.MemRefType(box.tensor.type)
        name = value_name(joined(box.tensor)[0])
        if list(axes) != sorted(axes) or axes[-1] != kind.rank - 1:
            raise self._refused(
                "takes the axes of its operand in another order than they lie in memory", "leave `transpose` out"
            )
        if kind.rank > MOST_RANK:
            raise self._refused(f"reads `{name}` of {kind.rank} dimensions, and a tensor map has at most {MOST_RANK}")
        lanes = PIECE // self.item
        if not aligned_rows(box.tensor, lanes):
            row = strided(kind)[0][-2] if kind.rank > 1 else kind.shape[0]
            apart = f"{row * self.item} bytes" if row > 0 else "a size known only at run time"
            raise self._refused(
                f"reads `{name}` with rows {apart} apart, and a tensor map needs multiples of {PIECE}",
                f"`assume` that a row is a multiple of {lanes} elements, with `versions` for others;"
                f" `pack … align {PIECE}` copies "
                "the operands of a product; or `map` the copy to `threads(*) cyclic`",
            )
        return replace(box, row=axes[-2]) if len(axes) > 1 else box

    # ---- where it goes -----------------------------------------------------------------------------------------------

    def _panels(self, alloc: ir.Value, box: Box) -> Panels:
        made = ir.OpResult(alloc).owner.operation
        kind = ir.MemRefType(alloc.type)
        *lead, rows, columns = kind.shape
        width = self._width(alloc)
        for size in (width,) if box.pixels is not None else (*box.sizes[:-1], width):
            if size > MOST_BOX:
                raise self._refused(
                    f"takes a box of {size} elements along a dimension, and a tensor map has boxes of at most"
                    f" {MOST_BOX}",
                    f"`tile` by at most {MOST_BOX} elements along each dimension, or `map` the copy to"
                    f" `threads(*) cyclic`",
                )
        if width * self.item % PIECE:
            raise self._refused(
                f"fills rows of {width * self.item} bytes, and boxes have multiples of {PIECE}",
                f"`tile` by a"
                f" multiple of"
                f" {PIECE // self.item} elements along rows, or `map` the copy to `threads(*) cyclic`",
            )
        of_map = map_type([*box.sizes[:-1], width], kind.element_type, _swizzle(alloc))
        several = [columns // width] if columns > width else []
        with ahead_of(made):
            panels = ir.MemRefType.get([*lead, *several, rows, width], kind.element_type, None, kind.memory_space)
            memory = named_like(made, memref.AllocOp(panels, [], []).result) if several else alloc
        if SWIZZLE in made.attributes:
            del made.attributes[SWIZZLE]
        return Panels(memory, self.kernel.tensor_map(box.tensor, of_map, box.ends, box.window), self.kernel, box)

    def _width(self, alloc: ir.Value) -> int:
        """The number of elements in a row of a panel."""
        if alloc in self.filled:
            return self.filled[alloc].box.box[-1]
        columns, swizzle = ir.MemRefType(alloc.type).shape[-1], _swizzle(alloc)
        return swizzle // self.item if swizzle else columns

    def _refused(self, why: str, hint: str | None = None) -> Exception:
        return refuse("W0405", f"the copy {why}", self.op, hint)


def _swizzle(alloc: ir.Value) -> int:
    """The span of the swizzle in bytes (0: none), before the buffer is split into panels."""
    made = maker(alloc)
    return ir.IntegerAttr(made.attributes[SWIZZLE]).value if SWIZZLE in made.attributes else 0


def place_of(source: ir.Value) -> tuple[ir.Value, list[Linear], list[int]]:
    """The memref that is the root of a chain of views; along each of its axes, the offset of the
    view; and for each dimension of the view, the axis of the root."""
    view = producer(source)
    if view is None or not is_view(view) or view.name not in ("memref.subview", "memref.cast"):
        rank = ir.MemRefType(source.type).rank
        return source, [Linear.of() for _ in range(rank)], list(range(rank))
    tensor, starts, axes = place_of(view.operands[0])
    if view.name == "memref.cast":
        return tensor, starts, axes
    offsets, sizes, strides = parts_of(view)
    if any(stride != 1 for stride in strides):
        return source, [Linear.of() for _ in sizes], list(range(len(sizes)))
    for axis, offset in zip(axes, offsets, strict=True):
        starts[axis] = starts[axis] + index_of(offset)
    kept = _kept(view)
    return tensor, starts, [axes[axis] for axis in kept]


def _kept(view: ir.Operation) -> list[int]:
    kind = ir.MemRefType(view.results[0].type)
    sizes = parts_of(view)[1]
    if len(sizes) == kind.rank:
        return list(range(kind.rank))
    return kept_dimensions(
        [size if isinstance(size, int) else ir.ShapedType.get_dynamic_size() for size in sizes], kind
    )


def _place_in(target: ir.Value) -> tuple[ir.Value, list[Bound]]:
    """The shared buffer in which a view lies, and the offsets of the view."""
    base, starts, _ = place_of(target)
    return base, [bound_of(start) for start in starts]


def drop_casts(function: ir.Operation) -> None:
    """Removes casts of tiles with constant offsets from the operands of loads, stores and
    descriptors."""
    for op in operations(function, LOAD, POINTER_OF, STORE, DESCRIBE):
        for number, operand in enumerate(op.operands):
            cast = made_by(operand, "memref.cast")
            if cast is not None:
                op.operands[number] = cast.operands[0]
