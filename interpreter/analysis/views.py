"""Memrefs of a kernel → root buffers and coordinates in them: subviews, casts and reshapes are folded.

A view maps the indices of a memref to coordinates of its root, dimension by dimension. Where a view reshapes (collapse,
expand, reinterpret_cast), its coordinate is flat: the position in the root's memory, in elements of the root.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from ..mlir import ir
from .linear import TRUE, Formula, Linear, both
from .values import DYNAMIC, Values

Space = Literal["workgroup", "global", "private"]

_SAME_INDICES = {
    "memref.cast",
    "memref.memory_space_cast",
    "memref.assume_alignment",
    "builtin.unrealized_conversion_cast",
}
_ALLOCATIONS = {"memref.alloc", "memref.alloca", "gpu.alloc", "gpu.dynamic_shared_memory"}


@dataclass(frozen=True, eq=False)
class Buffer:
    """A root buffer. `strides` are those of its elements in memory, None where its layout is not static."""

    name: str
    space: Space
    shape: tuple[int | None, ...]
    strides: tuple[int, ...] | None = field(default=None, repr=False)

    @property
    def rank(self) -> int:
        return len(self.shape)


@dataclass(frozen=True)
class Axis:
    """One coordinate of the root: `offset + sum(stride * index[dimension])`."""

    offset: Linear
    strides: tuple[tuple[int, Linear], ...]


@dataclass(frozen=True)
class View:
    """How indices of a memref become coordinates of `root`; `axes` None: they may be anything. `when`: under this condition."""

    root: Buffer
    axes: tuple[Axis, ...] | None
    flat: bool = False
    when: Formula = TRUE


class Views:
    """Finds the views of memref values. A value that may be one of several buffers has several views."""

    def __init__(self, values: Values) -> None:
        self.values = values
        self.buffers: list[Buffer] = []
        self._views: dict[ir.Value, tuple[View, ...]] = {}
        self._globals: dict[str, Buffer] = {}
        self._roots_made: set[ir.Value] = set()

    def root(self, value: ir.Value, name: str, space: Space | None = None) -> Buffer:
        """Make `value` a root buffer."""
        kind = ir.MemRefType(value.type)
        shape = tuple(None if kind.is_dynamic_dim(d) else kind.get_dim_size(d) for d in range(kind.rank))
        taken = {b.name for b in self.buffers}
        unique = name if name not in taken else next(n for i in range(2, 9999) if (n := f"{name}_{i}") not in taken)
        buffer = Buffer(unique, space or memory_space(kind), shape, _strides(kind))
        self.buffers.append(buffer)
        self._roots_made.add(value)
        whole = tuple(Axis(Linear.of(0), ((d, Linear.of(1)),)) for d in range(kind.rank))
        self._views[value] = (View(buffer, whole),)
        return buffer

    def of(self, value: ir.Value) -> tuple[View, ...]:
        known = self._views.get(value)
        if known is None:
            self._views[value] = ()  # a loop-carried memref that is carried around itself adds nothing
            known = self._views[value] = self._find(value)
        return known

    def roots(self, value: ir.Value) -> set[ir.Value]:
        """The values of the root buffers that `value` may lie in, found without evaluating any index."""
        out: set[ir.Value] = set()
        seen: set[ir.Value] = set()
        todo = [value]
        while todo:
            at = todo.pop()
            if at in seen:
                continue
            seen.add(at)
            sources = [] if at in self._roots_made else memref_sources(at)
            todo += sources
            if not sources:
                out.add(at)
        return out

    def _find(self, value: ir.Value) -> tuple[View, ...]:
        if isinstance(value.owner, ir.Block):
            return self._unknown(value)
        op = value.owner.operation
        if op.name in _ALLOCATIONS:
            own = memory_space(ir.MemRefType(value.type)) == "global" and _in_kernel(op)
            self.root(value, _value_name(value), "private" if own else None)
            return self._views[value]
        if op.name == "memref.get_global":
            name = str(op.attributes["name"]).lstrip("@")
            if name not in self._globals:
                self._globals[name] = self.root(value, name)
            whole = tuple(Axis(Linear.of(0), ((d, Linear.of(1)),)) for d in range(self._globals[name].rank))
            return (View(self._globals[name], whole),)
        if op.name == "arith.select":
            condition = self.values.condition(op.operands[0])
            yes = [_under(condition, v) for v in self.of(op.operands[1])]
            return (*yes, *(_under(condition.negate(), v) for v in self.of(op.operands[2])))
        if op.name in _SAME_INDICES:
            return self.of(op.operands[0])
        compose = {
            "memref.subview": self._subview,
            "memref.transpose": self._transpose,
            "memref.reinterpret_cast": self._reinterpret,
            "memref.collapse_shape": self._reshape,
            "memref.expand_shape": self._reshape,
        }.get(op.name)
        if compose is not None:
            return tuple(compose(op, source) for source in self.of(op.operands[0]))
        return self._unknown(value)

    def _unknown(self, value: ir.Value) -> tuple[View, ...]:
        """A memref made in a way not known here, or carried by a loop: any place of any memref that it is made of."""
        sources = memref_sources(value)
        if not sources:
            self.root(value, _value_name(value))
            return self._views[value]
        return _forget(tuple(v for source in sources for v in self.of(source)))

    # ---- ops that compose ----------------------------------------------------------------------------------------------

    def _mixed(self, op: ir.Operation, static: str, operands: list[ir.Value]) -> list[Linear]:
        """Static and dynamic entries of an offset, size or stride list; takes what it uses from the front of `operands`."""
        entries = list(ir.DenseI64ArrayAttr(op.attributes[static]))
        return [self.values.linear(operands.pop(0)) if e == DYNAMIC else Linear.of(e) for e in entries]

    def _subview(self, op: ir.Operation, source: View) -> View:
        if source.axes is None:
            return source
        operands = list(op.operands)[1:]
        offsets = self._mixed(op, "static_offsets", operands)
        self._mixed(op, "static_sizes", operands)
        steps = self._mixed(op, "static_strides", operands)
        kept = kept_dimensions(
            list(ir.DenseI64ArrayAttr(op.attributes["static_sizes"])), ir.MemRefType(op.results[0].type)
        )
        axes: list[Axis] = []
        for axis in source.axes:
            offset = axis.offset
            strides: list[tuple[int, Linear]] = []
            for dimension, stride in axis.strides:
                offset = offset + self.values.product(offsets[dimension], stride)
                if dimension in kept:
                    strides.append((kept.index(dimension), self.values.product(steps[dimension], stride)))
            axes.append(Axis(offset, tuple(strides)))
        return View(source.root, tuple(axes), source.flat, source.when)

    @staticmethod
    def _transpose(op: ir.Operation, source: View) -> View:
        """Result dimension d is the source's `permutation(d)`."""
        if source.axes is None:
            return source
        order = [e.position for e in op.attributes["permutation"].value.results]
        axes = (Axis(a.offset, tuple((order.index(d), s) for d, s in a.strides)) for a in source.axes)
        return View(source.root, tuple(axes), source.flat, source.when)

    def _reinterpret(self, op: ir.Operation, source: View) -> View:
        """Offset and strides count from the start of the buffer, whatever the source's own were."""
        operands = list(op.operands)[1:]
        offset = self._mixed(op, "static_offsets", operands)[0]
        self._mixed(op, "static_sizes", operands)
        steps = self._mixed(op, "static_strides", operands)
        return View(source.root, (Axis(offset, tuple(enumerate(steps))),), True, source.when)

    def _reshape(self, op: ir.Operation, source: View) -> View:
        """Collapsed or expanded dimensions of a static layout: flat, by the result's own strides."""
        flat = self.flatten(source)
        steps = _strides(ir.MemRefType(op.results[0].type), offset_counts=False)
        if flat.axes is None or steps is None:
            return View(source.root, None, False, source.when)
        return View(
            source.root,
            (Axis(flat.axes[0].offset, tuple((d, Linear.of(s)) for d, s in enumerate(steps))),),
            True,
            source.when,
        )

    def flatten(self, view: View) -> View:
        """The view with one flat coordinate; unknown where the root's layout is not static."""
        if view.flat or view.axes is None:
            return view
        if view.root.strides is None:
            return View(view.root, None, False, view.when)
        offset, strides = Linear.of(0), dict[int, Linear]()
        for axis, step in zip(view.axes, view.root.strides, strict=True):
            offset = offset + axis.offset * step
            for dimension, stride in axis.strides:
                strides[dimension] = strides.get(dimension, Linear.of(0)) + stride * step
        return View(view.root, (Axis(offset, tuple(strides.items())),), True, view.when)

    def coordinates(self, view: View, indices: list[Linear]) -> tuple[Linear, ...] | None:
        """Where in the root the element at `indices` is."""
        if view.axes is None:
            return None
        out: list[Linear] = []
        for axis in view.axes:
            place = axis.offset
            for dimension, stride in axis.strides:
                place = place + self.values.product(indices[dimension], stride)
            out.append(place)
        return tuple(out)


def memref_sources(value: ir.Value) -> list[ir.Value]:
    """The memrefs that `value` is made of: operands of a view, what a loop carries, what the arms of an `scf.if` yield."""
    if isinstance(value.owner, ir.Block):
        owner, number = value.owner.owner.operation, ir.BlockArgument(value).arg_number
        if owner.name == "scf.for" and number > 0:
            return [owner.operands[2 + number], _last(value.owner).operands[number - 1]]
        return [v for v in owner.operands if isinstance(v.type, ir.MemRefType)] if owner.name == "scf.while" else []
    op = value.owner.operation
    if op.name in _ALLOCATIONS or op.name == "memref.get_global":
        return []
    sources = [v for v in op.operands if isinstance(v.type, ir.MemRefType)]
    if op.name in ("memref.subview", "memref.cast", "memref.reinterpret_cast", "memref.view"):
        sources = sources[:1]
    for region in op.regions:
        for block in region.blocks:
            sources += [v for v in _last(block).operands if isinstance(v.type, ir.MemRefType)]
    return sources


def _last(block: ir.Block) -> ir.Operation:
    return block.operations[len(block.operations) - 1].operation


def _in_kernel(op: ir.Operation) -> bool:
    """What a kernel allocates outside shared memory is each thread's own."""
    parent = op.parent
    while parent is not None and parent.operation.name not in ("gpu.func", "gpu.launch"):
        parent = parent.operation.parent
    return parent is not None


def memory_space(kind: ir.MemRefType) -> Space:
    """`#gpu.address_space<…>` or NVVM's numbers (3 shared, 5 local)."""
    text = str(kind.memory_space)
    if "workgroup" in text or text.startswith("3"):
        return "workgroup"
    return "private" if "private" in text or text.startswith("5") else "global"


def kept_dimensions(sizes: list[int], result: ir.MemRefType) -> list[int]:
    """Which dimensions of a subview its (perhaps rank-reduced) result keeps; the others have size 1."""
    kept: list[int] = []
    for dimension, size in enumerate(sizes):
        position = len(kept)
        if position == result.rank:
            break
        wanted = DYNAMIC if result.is_dynamic_dim(position) else result.get_dim_size(position)
        if size == wanted:
            kept.append(dimension)
    return kept


def _strides(kind: ir.MemRefType, *, offset_counts: bool = True) -> tuple[int, ...] | None:
    if any(kind.is_dynamic_dim(d) for d in range(1, kind.rank)):
        return None
    strides, offset = kind.get_strides_and_offset()
    if any(s == DYNAMIC or s <= 0 for s in strides) or (offset_counts and offset != 0):
        return None
    return tuple(strides)


def _under(condition: Formula, view: View) -> View:
    return View(view.root, view.axes, view.flat, both(condition, view.when))


def _forget(views: tuple[View, ...]) -> tuple[View, ...]:
    """Any place of the same roots."""
    roots = {id(v.root): v.root for v in views}
    return tuple(View(root, None) for root in roots.values())


def _value_name(value: ir.Value) -> str:
    return value.get_name(use_local_scope=True).lstrip("%")
