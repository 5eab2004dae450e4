"""Memrefs of a kernel → root buffers and coordinates in them: subviews, casts and reshapes are
folded.

A view maps the indices of a memref to coordinates of its root, dimension by dimension. Where a view
reshapes (collapse, expand, reinterpret_cast), it has one flat coordinate: the position in the
root's memory, in elements of the root. A `memref.view` of bytes has a flat coordinate in bytes; a
lane symbol stands for all bytes of an element. A view of a whole buffer in global memory, row-major
in another shape, has coordinates in that shape. With these, elements are compared faster than by
their flat position: if sizes are known only at run time, a position is a sum of products.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce

from ...hardware.hopper.tensor_maps import tensor_map
from ...indices.integers import in_kernel
from ...indices.linear import NOTHING, THREAD, TRUE, Formula, Linear, both, equal
from ...indices.values import Values
from ...ir.element_sizes import known_bytes
from ...ir.mlir import ir, maker
from ...ir.reshapes import groups_of
from ...ir.structured import loop_inits, loop_outputs, yielded
from ...memory.effects import is_memref
from ...memory.layouts import MemrefLayout, Space, is_plain, kept_dimensions, memory_space, mixed, value_name
from ...memory.table import ALLOCATIONS, STORED
from ...memory.views import VIEWS, hands_on, sources, stored_name, view_source, way
from .root_buffers import ANYTHING, Coordinate, RootBuffer, View, apart, placed


class Views:
    """Finds the views of memref values. A value that may be one of several buffers has several
    views.

    Args:
        names: the user's name of a value, where it is known.
        passed_in_rows: arguments of host functions with open strides are row-major (see `apart`).
    """

    def __init__(
        self, values: Values, names: Callable[[ir.Value], str | None] = lambda _: None, *, passed_in_rows: bool = False
    ) -> None:
        self.values = values
        self._names = names
        self._passed_in_rows = passed_in_rows
        self.buffers: list[RootBuffer] = []
        self._views: dict[ir.Value, tuple[View, ...]] = {}
        self._globals: dict[str, ir.Value] = {}
        self._roots_made: set[ir.Value] = set()
        self._bound: dict[ir.Value, ir.Value] = {}
        self._byte_lanes: dict[int, Linear] = {}

    def bind(self, argument: ir.Value, operand: ir.Value) -> None:
        """Binds `argument` of a kernel to `operand` of its launch."""
        self._bound[argument] = operand
        self._views[argument] = self.of(operand)

    def name(self, value: ir.Value) -> str:
        """The user's name of the value, or the name in the IR."""
        return self._names(value) or value_name(value)

    def root(
        self, value: ir.Value, name: str | None = None, space: Space | None = None, *, foreign: bool = False,
        shows: ir.Value | None = None,
    ) -> RootBuffer:  # fmt: skip
        """Makes `value` a root buffer. `shows`: the memref that `value` denotes, if an op other
        than a launch passes it."""
        name, kind = self._unique(name or self.name(value)), value.type
        if (box := tensor_map(kind)) is not None:  # a tensor in global memory, known only by its rank
            return self._made_root(
                value, View(RootBuffer(name, "global", (), foreign=foreign, value=value), _whole(len(box.box)))
            )
        assert isinstance(kind, ir.MemRefType | ir.UnrankedMemRefType)
        space, found = space or memory_space(kind), stored_name(value) or value
        if not isinstance(kind, ir.MemRefType):
            return self._made_root(value, View(RootBuffer(name, space, (), foreign=foreign, value=found), None))
        layout, is_apart = MemrefLayout.of(kind), apart(shows or value, passed_in_rows=self._passed_in_rows)
        offset, steps = placed(layout, self.values, by_address=not is_apart)
        known = tuple(stride for stride in layout.strides if stride is not None)
        strides = known if len(known) == kind.rank else None
        buffer = RootBuffer(name, space, layout.shape, strides, layout.plain, foreign, found, offset=offset)
        if is_apart:
            return self._made_root(value, View(buffer, _whole(kind.rank)))
        unknown = frozenset(symbol for step in steps for symbol in step.symbols())
        buffer = replace(buffer, by_address=str(kind), unknown=unknown)
        return self._made_root(value, View(buffer, (Coordinate(offset, tuple(enumerate(steps))),), flat=True))

    def _unique(self, name: str) -> str:
        taken = {b.name for b in self.buffers}
        return name if name not in taken else next(n for i in range(2, 9999) if (n := f"{name}_{i}") not in taken)

    def _made_root(self, value: ir.Value, view: View) -> RootBuffer:
        self.buffers.append(view.root)
        self._roots_made.add(value)
        self._views[value] = (view,)
        return view.root

    def of(self, value: ir.Value) -> tuple[View, ...]:
        known = self._views.get(value)
        if known is None:
            self._views[value] = ()  # a memref that a loop passes to itself adds nothing
            known = self._views[value] = self._find(value)
        return known

    def bind_carried(self, loop: ir.Operation, counter: Linear, trips: int | None) -> None:
        """Binds the memrefs that a loop carries unchanged or permuted. If the loop swaps two
        memrefs, an argument is one of them or the other, by the parity of the iteration.

        Args:
            trips: the number of iterations, if known.
        """
        arguments = loop_outputs(loop)
        following = {a: y for a, y in zip(arguments, yielded(loop), strict=True) if is_memref(a)}
        start = dict(zip(arguments, loop_inits(loop), strict=True))
        for argument in following:
            cycle = [argument]
            while (then := following.get(cycle[-1])) is not None and then not in cycle:
                cycle.append(then)
            if then is not None and then == argument:
                phase, several = counter.modulo(len(cycle)), len(cycle) > 1
                when = [(equal(phase, Linear.of(i)) if several else TRUE, start[t]) for i, t in enumerate(cycle)]
                self._views[argument] = tuple(_under(w, v) for w, value in when for v in self.of(value))
                if trips is not None or len(cycle) == 1:
                    last = start[cycle[(trips or 0) % len(cycle)]]
                    self._views[loop.results[arguments.index(argument)]] = self.of(last)

    def roots(self, value: ir.Value) -> list[ir.Value]:
        """The values of the root buffers that `value` may be in, found without evaluating any
        index."""
        return [at for at in way(value, self._sources) if not self._sources(at)]

    def is_anything(self, value: ir.Value) -> bool:
        """Whether `value` may be in unknown memory."""
        return any(self._sources(at) is None for at in way(value, self._sources))

    def _sources(self, value: ir.Value) -> list[ir.Value] | None:
        if value in self._bound:
            return [self._bound[value]]
        return [] if value in self._roots_made else sources(value)

    def _find(self, value: ir.Value) -> tuple[View, ...]:
        if isinstance(value.owner, ir.Block):
            return self._unknown(value)
        op = value.owner.operation
        if op.name in ALLOCATIONS:
            own = memory_space(ir.MemRefType(value.type)) == "global" and in_kernel(op)
            self.root(value, space="private" if own else None)
            return self._views[value]
        if op.name in STORED:
            # all uses of dynamic shared memory, and all uses of one global, are the same memory
            name = str(op.attributes["name"]).lstrip("@") if "name" in op.attributes else "dynamic shared memory"
            if name not in self._globals:
                self._globals[name] = value
                self.root(value, name)
            return self._views[self._globals[name]]
        if op.name in ("arith.select", "scf.if"):
            condition = self.values.condition(op.operands[0])
            arms = zip((condition, condition.negate()), sources(value) or (), strict=True)
            return tuple(_under(when, view) for when, arm in arms for view in self.of(arm))
        source = view_source(value)
        if source is None:
            return self._unknown(value)
        how = VIEWS[op.name]
        plain = (
            is_plain(value.type) and value.type.has_static_shape
        )  # a view with the type of a static source shows all of it
        if how == "same" or (plain and source.type == value.type):
            return _forget(self.of(source)) if _contradicts(op) else tuple(_told(op, view) for view in self.of(source))
        compose = {
            "subview": self._subview,
            "transpose": self._transpose,
            "reinterpret": self._reinterpret,
            "bytes": self._bytes,
            "reshape": self._reshape,
            "start": self._start,
        }.get(how)
        if compose is None:
            return _forget(self.of(source))
        return tuple(view if view.axes is None else compose(op, view) for view in self.of(source))

    def _unknown(self, value: ir.Value) -> tuple[View, ...]:
        """The views of a memref from an unknown op or a loop: any place in any memref from which it
        is made."""
        made_of = self._sources(value)
        if made_of is None:
            return (View(ANYTHING, None),)
        if not made_of:
            self.root(value, foreign=True)
            return self._views[value]
        known = None if in_kernel(maker(value)) else self._whole_choices(value)
        if known is None:
            return _forget(tuple(v for root in self.roots(value) for v in self.of(root)))
        choice = self.values.opaque(NOTHING, 0, len(known) - 1)  # one choice for all threads of a launch
        which = [(equal(choice, Linear.of(i)), root) for i, root in enumerate(known)]
        return tuple(replace(_under(when, v), chosen=len(known) > 1) for when, root in which for v in self.of(root))

    def _whole_choices(self, value: ir.Value) -> list[ir.Value] | None:
        """The buffers of which `value` is one, as a whole; None if an op between a buffer and
        `value` takes a part of the buffer."""
        found = self.roots(value)
        whole = all(at.type == value.type and (at in found or hands_on(at)) for at in way(value, self._sources))
        return found if whole else None

    # ---- ops that compose --------------------------------------------------------------------------------------------

    def _subview(self, op: ir.Operation, source: View) -> View:
        assert source.axes is not None
        offsets, _, steps = window(op, self.values)
        kept = kept_dimensions(
            list(ir.DenseI64ArrayAttr(op.attributes["static_sizes"])), ir.MemRefType(op.results[0].type)
        )
        axes: list[Coordinate] = []
        for axis in source.axes:
            offset = axis.offset
            strides: list[tuple[int, Linear]] = []
            for dimension, stride in axis.strides:
                offset = offset + self.values.product(offsets[dimension], stride)
                if dimension in kept:
                    strides.append((kept.index(dimension), self.values.product(steps[dimension], stride)))
            axes.append(Coordinate(offset, tuple(strides)))
        return replace(source, axes=tuple(axes))

    @staticmethod
    def _transpose(op: ir.Operation, source: View) -> View:
        """Composes a transpose: result dimension d is the source's `permutation(d)`."""
        assert source.axes is not None
        order = [e.position for e in op.attributes["permutation"].value.results]
        axes = (Coordinate(a.offset, tuple((order.index(d), s) for d, s in a.strides)) for a in source.axes)
        return replace(source, axes=tuple(axes))

    def _bytes(self, op: ir.Operation, source: View) -> View:
        """Composes a `memref.view`: elements of another type in memory of bytes, from a byte
        offset."""
        flat = self.flatten(source)
        kind = ir.MemRefType(op.results[0].type)
        unit = known_bytes(kind.element_type)
        if flat.axes is None or unit is None:
            return View(source.root, None, when=source.when)
        dynamic = list(op.operands)[2:]
        sizes = [
            self.values.linear(dynamic.pop(0)) if kind.is_dynamic_dim(d) else Linear.of(kind.get_dim_size(d))
            for d in range(kind.rank)
        ]
        if unit not in self._byte_lanes:
            lane = Linear.of(0) if unit == 1 else Linear.of(self.values.fresh("lane", THREAD, 0, unit - 1))
            self._byte_lanes[unit] = lane
        base = flat.axes[0].offset + self.values.linear(op.operands[1])
        strides: list[tuple[int, Linear]] = []
        step = Linear.of(unit)
        for dimension in reversed(range(kind.rank)):
            strides.append((dimension, step))
            step = self.values.product(step, sizes[dimension])
        axis = Coordinate(base + self._byte_lanes[unit], tuple(strides))
        return View(source.root, (axis,), True, (), source.when, unit, base + self._byte_lanes[unit])

    def _reinterpret(self, op: ir.Operation, source: View) -> View:
        """Composes a `memref.reinterpret_cast`: offset and strides count from the start of the
        buffer, independent of the source's own."""
        (offset,), sizes, steps = window(op, self.values)
        if source.root.space == "global" and offset == Linear.of(0) and self._in_rows(source, sizes, steps):
            return replace(source, axes=_whole(len(sizes)), flat=False, sizes=tuple(sizes))
        strides = tuple((d, step * source.unit) for d, step in enumerate(steps))
        return replace(source, axes=(Coordinate(source.base + offset * source.unit, strides),), flat=True, sizes=())

    def _in_rows(self, source: View, sizes: Sequence[Linear], steps: Sequence[Linear]) -> bool:
        """Whether the strides are row-major for these sizes, in contiguous memory from its first
        element."""
        if source.unit != 1 or source.base != Linear.of(0) or not source.root.plain:
            return False
        return all(step == reduce(self.values.product, sizes[d + 1 :], Linear.of(1)) for d, step in enumerate(steps))

    @staticmethod
    def _start(op: ir.Operation, source: View) -> View:
        """The view of the base buffer of `memref.extract_strided_metadata`."""
        return replace(source, axes=(Coordinate(source.base, ()),), flat=True, sizes=())

    def _reshape(self, op: ir.Operation, source: View) -> View:
        """Composes a reshape: by its new sizes where `_other_sizes` allows it, otherwise flat, by
        the result's own strides where its layout is static."""
        kind = op.results[0].type
        if (sizes := self._other_sizes(op, source)) is not None:
            return replace(source, axes=_whole(len(sizes)), flat=False, sizes=sizes)
        flat = self.flatten(source)
        steps = MemrefLayout.of(kind).strides if isinstance(kind, ir.MemRefType) else (None,)
        if flat.axes is None or None in steps:
            return View(source.root, None, when=source.when)
        strides = tuple((d, Linear.of((s or 0) * source.unit)) for d, s in enumerate(steps))
        return replace(source, axes=(Coordinate(flat.axes[0].offset, strides),), flat=True)

    def _other_sizes(self, op: ir.Operation, source: View) -> tuple[Linear, ...] | None:
        """The sizes of a reshape that views a buffer in global memory as a whole, row-major; None
        for any other reshape."""
        kind, root, given = op.results[0].type, source.root, op.operands[0]
        from_start = not source.flat and source.unit == 1 and source.axes == _whole(len(source.axes or ()))
        if not from_start or root.space != "global" or not root.plain or not is_plain(kind):
            return None
        if ir.MemRefType(kind).has_static_shape:
            return tuple(map(Linear.of, ir.MemRefType(kind).shape))
        if op.name != "memref.collapse_shape" or self._bound.get(given, given) != root.value:
            return None
        groups = ([self.values.extent(given, axis) for axis in group] for group in groups_of(op))
        return tuple(reduce(self.values.product, group) for group in groups)

    def flatten(self, view: View) -> View:
        """The view with one flat coordinate; unknown where the layout of the root is not static."""
        if view.flat or view.axes is None:
            return view
        steps, offset = view.root.steps(view.sizes), view.root.position([axis.offset for axis in view.axes], view.sizes)
        if steps is None or offset is None:
            return View(view.root, None, when=view.when)
        strides = dict[int, Linear]()
        for axis, step in zip(view.axes, steps, strict=True):
            for dimension, stride in axis.strides:
                strides[dimension] = strides.get(dimension, Linear.of(0)) + stride * step
        return replace(view, axes=(Coordinate(offset, tuple(strides.items())),), flat=True, sizes=())

    def coordinates(self, view: View, indices: list[Linear]) -> tuple[Linear, ...] | None:
        """The coordinates, in the root, of the element at `indices`; None if unknown."""
        if view.axes is None:
            return None
        moved = ([self.values.product(indices[d], stride) for d, stride in axis.strides] for axis in view.axes)
        return tuple(sum(steps, start=axis.offset) for axis, steps in zip(view.axes, moved, strict=True))


def window(op: ir.Operation, values: Values) -> list[list[Linear]]:
    """The offsets, sizes and strides of a view, static or dynamic, as forms."""
    lists = mixed(op, "static_offsets", "static_sizes", "static_strides")
    return [[values.number(entry) for entry in entries] for entries in lists]


def _contradicts(op: ir.Operation) -> bool:
    """Whether the type of a cast makes elements share an address that are known not to."""
    if len(op.results) != 1 or not isinstance(kind := op.results[0].type, ir.MemRefType):
        return False
    return MemrefLayout.of(kind).apart is False and apart(op.operands[0]) is True


def _told(op: ir.Operation, view: View) -> View:
    """The view with the static strides of a cast filled in, where its own are known only at run
    time."""
    if (
        len(op.results) != 1
        or not view.root.unknown
        or view.axes is None
        or not isinstance(op.results[0].type, ir.MemRefType)
    ):
        return view
    (axis,), told = view.axes, MemrefLayout.of(op.results[0].type).strides
    steps = dict(axis.strides) | {d: Linear.of(step * view.unit) for d, step in enumerate(told) if step is not None}
    return replace(view, axes=(Coordinate(axis.offset, tuple(steps.items())),))


def _whole(rank: int) -> tuple[Coordinate, ...]:
    """The coordinates of an identity view: each index is a coordinate."""
    return tuple(Coordinate(Linear.of(0), ((d, Linear.of(1)),)) for d in range(rank))


def _under(condition: Formula, view: View) -> View:
    return replace(view, when=both(condition, view.when))


def _forget(views: tuple[View, ...]) -> tuple[View, ...]:
    """The views, with unknown coordinates in the same roots."""
    roots = {id(v.root): v.root for v in views}
    return tuple(View(root, None, chosen=True) for root in roots.values())
