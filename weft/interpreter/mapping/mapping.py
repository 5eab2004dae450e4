"""`weft.map`: the decision of `map` for one loop or one op, as a dictionary attribute (see "The IR
between the rooms"); and the iteration space that it distributes: extents, and trip counts along the
axes of the map."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from weakref import WeakKeyDictionary

from ...dsl.diagnostics import fail
from ...dsl.records import record
from ...dsl.signature import DistributionSpec, SpaceSpec
from ..hardware.limits import GROUP_WARPS, WARP
from ..indices.arithmetic import Bound, ceildiv, constant, index_of, known, multiply, subtract, value_of
from ..indices.linear import Linear
from ..indices.values import divisible, largest, multiples, range_of
from ..ir.mlir import DYNAMIC, affine, ancestors, entries, i64, ir, memref, operations, producer, scf
from ..ir.structured import dimension_of, is_parallel_op, is_structured, parts_of, place_of, structure
from ..memory.layouts import kept_dimensions

ATTRIBUTE = "weft.map"
AXES = ("x", "y", "z")
AS_MANY_AS_ITERATIONS = -1
SYMBOLIC = -2
OF_ALL = {"lanes": WARP, "quarters": GROUP_WARPS}
"""Spaces with a fixed number of processors per warp or warp group."""


@record
class Mapping:
    """A map.

    Args:
        space: `blocks`, `threads`, `warpgroups`, `quarters` (the four warps of a warp group),
            `warps`, `lanes`, `registers`, `grid`, `tma` or `producer` (one thread of a warp group
            that no other map has).
        axes: one of `x`, `y`, `z` per loop dimension; empty with `every` and for `registers`, `tma`
            and `producer`; `x` for all `lanes` in a row and for `quarters`.
        every: `threads(*)`: every thread of the block, by linear id.
        counts: processors per axis; `AS_MANY_AS_ITERATIONS` or `SYMBOLIC` where no number was
            given.
        dist: None (one iteration each), `block`, `cyclic` or `block-cyclic`.
        chunk: the b of `block-cyclic(b)`.
        vector: an iteration is this many consecutive elements.
        group: iterations are ordered in groups of this many rows (`order grouped(n)`), column by
            column; None: row by row.
        panel: iterations are ordered in panels of this many columns (`order panels(n)`), row by
            row.
        hilbert: blocks take tiles along a Hilbert curve (`order hilbert`).
    """

    space: str
    axes: tuple[str, ...] = ()
    counts: tuple[int, ...] = ()
    every: bool = False
    dist: str | None = None
    chunk: int | None = None
    vector: int = 1
    group: int | None = None
    panel: int | None = None
    hilbert: bool = False

    @classmethod
    def of(
        cls, space: SpaceSpec, dist: DistributionSpec | None, vector: int | None,
        group: int | None = None, panel: int | None = None, *, hilbert: bool = False,
    ) -> Mapping:  # fmt: skip
        numbers = {None: AS_MANY_AS_ITERATIONS, "?": SYMBOLIC}
        counts = tuple(c if isinstance(c, int) else numbers[c] for c in space.counts)
        kind, chunk = (dist.kind, dist.chunk) if dist else (None, None)
        if space.kind in OF_ALL and not space.axes:
            return cls(
                space.kind, ("x",), (OF_ALL[space.kind],), False, kind, chunk, vector or 1, group, panel, hilbert
            )
        return cls(space.kind, tuple(space.axes), counts, space.all, kind, chunk, vector or 1, group, panel, hilbert)

    @property
    def distributes(self) -> bool:
        """Whether iterations are distributed over processors. Over `registers`, each thread
        executes all of them; copies by `tma` are executed by no thread."""
        return self.space not in ("registers", "tma")

    @property
    def is_whole(self) -> bool:
        """Whether the map is to all lanes of a warp in a row, or to all warps of a warp group."""
        return self.space in OF_ALL and self.counts == (OF_ALL[self.space],)

    @property
    def ordered(self) -> bool:
        """Whether iterations are in another order than row by row."""
        return self.group is not None or self.panel is not None or self.hilbert

    @property
    def orders_grid(self) -> bool:
        """Whether the order permutes the blocks, with one tile each; else it orders iterations that
        processors share."""
        return (
            (self.group is not None or self.hilbert)
            and self.space == "blocks"
            and self.dist is None
            and len(self.axes) == 2
        )

    @classmethod
    def read(cls, attribute: ir.Attribute) -> Mapping:
        """The map of an attribute. Cached by context and hash: attributes are immutable and unique
        in their context."""
        seen = _seen.setdefault(attribute.context, {})
        if (found := seen.get(hash(attribute))) is None:
            found = seen[hash(attribute)] = cls._read(attribute)
        return found

    @classmethod
    def _read(cls, attribute: ir.Attribute) -> Mapping:
        given = {named.name: named.attr for named in entries(attribute)}
        plain = {
            key: given[key].value for key in ("space", "dist", "chunk", "vector", "group", "panel") if key in given
        }
        axes = tuple(axis.value for axis in ir.ArrayAttr(given["axes"])) if "axes" in given else ()
        counts = tuple(entries(given["counts"])) if "counts" in given else ()
        return cls(
            axes=axes, counts=counts, every="all" in given, hilbert=str(given.get("order")) == '"hilbert"', **plain
        )

    def attribute(self) -> ir.Attribute:
        """The dictionary attribute; needs an active context."""
        entries: dict[str, ir.Attribute] = {"space": ir.StringAttr.get(self.space)}
        if self.every:
            entries["all"] = ir.UnitAttr.get()
        else:
            entries["axes"] = ir.ArrayAttr.get([ir.StringAttr.get(a) for a in self.axes])
            entries["counts"] = ir.DenseI64ArrayAttr.get(list(self.counts))
        if self.dist:
            entries["dist"] = ir.StringAttr.get(self.dist)
        if self.chunk is not None:
            entries["chunk"] = i64(self.chunk)
        if self.vector > 1:
            entries["vector"] = i64(self.vector)
        entries |= {} if self.group is None else {"order": ir.StringAttr.get("grouped"), "group": i64(self.group)}
        entries |= {} if self.panel is None else {"order": ir.StringAttr.get("panels"), "panel": i64(self.panel)}
        entries |= {"order": ir.StringAttr.get("hilbert")} if self.hilbert else {}
        return ir.DictAttr.get(entries)

    def slots(self) -> frozenset[tuple[str, str]]:
        """The hardware dimensions that the map occupies, e.g. `("threads", "x")`. No other map of
        the nest may occupy them."""
        if self.every:
            return frozenset(("threads", axis) for axis in "xyz")
        if self.is_whole:
            return frozenset({(self.space, "x"), (self.space, "y")})
        spaces = ("blocks", "threads") if self.space == "grid" else (self.space,)
        return frozenset((space, axis) for space in spaces for axis in self.axes)

    def __str__(self) -> str:
        if self.is_whole:
            return self.space + self._how()
        names = {AS_MANY_AS_ITERATIONS: "", SYMBOLIC: ": ?"}
        inner = ", ".join(a + names.get(c, f": {c}") for a, c in zip(self.axes, self.counts, strict=True))
        where = f"{self.space}({'*' if self.every else inner})" if self.every or self.axes else self.space
        return where + self._how()

    def _how(self) -> str:
        how = f" {self.dist}" + (f"({self.chunk})" if self.chunk is not None else "") if self.dist else ""
        how += f" order grouped({self.group})" if self.group is not None else ""
        how += f" order panels({self.panel})" if self.panel is not None else ""
        how += " order hilbert" if self.hilbert else ""
        return how + (f" vector {self.vector}" if self.vector > 1 else "")


_seen: WeakKeyDictionary[ir.Context, dict[int, Mapping]] = WeakKeyDictionary()
"""Maps read before: no other attribute is read as often."""


def mapping_of(op: ir.Operation | ir.OpView) -> Mapping | None:
    """The map of `op`, or None."""
    attributes = op.operation.attributes
    return Mapping.read(attributes[ATTRIBUTE]) if ATTRIBUTE in attributes else None


def is_mapped(op: ir.Operation) -> bool:
    """Whether the op has a map."""
    return ATTRIBUTE in op.attributes


def enclosing_maps(op: ir.Operation) -> Iterator[tuple[ir.Operation, Mapping]]:
    """The mapped ops around `op`, innermost first."""
    for around in ancestors(op):
        mapping = mapping_of(around)
        if mapping is not None:
            yield around, mapping


def nested_maps(op: ir.Operation) -> Iterator[tuple[ir.Operation, Mapping]]:
    """The mapped ops below `op` (not `op` itself), in program order."""
    for inner in operations(op):
        mapping = mapping_of(inner)
        if mapping is not None and mapping.distributes and inner != op:
            yield inner, mapping


@record
class LoopDimension:
    """One dimension of a `scf.forall`: iterations `lower, lower + step, …` below `upper`."""

    lower: Bound
    upper: Bound
    step: Bound

    def trips(self) -> Bound:
        """The trip count; emits index arithmetic where a bound is not constant."""
        plain = self.lower == 0 and self.step == 1
        span = self.upper if plain else ceildiv(subtract(self.upper, self.lower), self.step)
        return max(span, 0) if isinstance(span, int) else span

    @property
    def static_trips(self) -> int | None:
        known = all(isinstance(n, int) for n in (self.lower, self.upper, self.step))
        return trips if known and isinstance(trips := self.trips(), int) else None

    @property
    def most_trips(self) -> int | None:
        """The trip count, or an upper bound; None without one."""
        last, first, step = largest(self.upper), range_of(self.lower)[0], range_of(self.step)[0]
        if last is None or first is None:
            return None
        return max(-(-(last - first) // max(step or 1, 1)), 0)

    def induction(self, iteration: Linear) -> ir.Value:
        """The loop variable in that iteration."""
        if isinstance(self.step, int):
            scaled = iteration * self.step
        else:
            scaled = index_of(multiply(value_of(iteration), self.step))
        return value_of(scaled + index_of(self.lower))


def product(trips: Sequence[Bound]) -> Bound:
    """The number of iterations of several dimensions together. A dimension with an upper bound
    below its lower bound has 0 iterations, not a negative number, since the product of two negative
    numbers would be positive."""
    total: Bound = 1
    for count in trips:
        low = range_of(count)[0]
        if not isinstance(count, int) and len(trips) > 1 and (low is None or low < 0):
            zero, itself = ir.AffineExpr.get_constant(0), ir.AffineExpr.get_dim(0)
            count = affine.AffineMaxOp(ir.AffineMap.get(1, 0, [itself, zero]), [count]).result
        total = multiply(total, count)
    return total


def loop_dimensions(forall: ir.Operation) -> tuple[LoopDimension, ...]:
    """The dimensions of a `scf.forall`. Error: W0344 for a step that is not positive, for which
    MLIR leaves the loop undefined."""
    loop = forall.opview
    if not isinstance(loop, scf.ForallOp):
        return ()
    values, attributes = iter(loop.operands), forall.attributes

    def bounds(key: str) -> list[Bound]:
        static = entries(attributes[key])
        return [known(next(values)) if number == DYNAMIC else number for number in static]

    lower, upper, step = bounds("staticLowerBound"), bounds("staticUpperBound"), bounds("staticStep")
    stuck = next((n for n in step if isinstance(n, int) and n <= 0), None)
    if stuck is not None:
        raise fail(
            "W0344",
            f"a step of {stuck} makes no loop: MLIR leaves it undefined",
            "write a step of 1 or more in the payload: `step (1)`",
        )
    return tuple(LoopDimension(*dimension) for dimension in zip(lower, upper, step, strict=True))


def extents(op: ir.Operation) -> list[Bound]:
    """The iteration extents; for dynamic ones, emits a `memref.dim` (or uses the subview's size)."""
    found: list[Bound | None] = list(structure(op).extents)
    for operand, axis, dimension in _axes(op):
        if found[dimension] is None:
            size = _named_size(operand, axis)
            found[dimension] = memref.DimOp(operand, value_of(axis)).result if size is None else size
    return [constant(1) if extent is None else extent for extent in found]


def most_extents(op: ir.Operation) -> list[int | None]:
    """The iteration extents, or upper bounds: that of a slice's `min(8, n - i)`. Emits nothing."""
    found = list(structure(op).extents)
    for operand, axis, dimension in _axes(op):
        size = _named_size(operand, axis)
        if found[dimension] is None and size is not None:
            found[dimension] = largest(size)
    return found


def _axes(op: ir.Operation) -> list[tuple[ir.Value, int, int]]:
    """By dimension of a structured op: the operands and axes that it indexes."""
    each = zip(op.operands, structure(op).maps, strict=True)
    found = [(operand, axis, dimension_of(e)) for operand, m in each for axis, e in enumerate(m.results)]
    return sorted(((o, axis, d) for o, axis, d in found if d is not None), key=lambda one: one[2])


def row_divides(op: ir.Operation, lanes: int) -> bool:
    """Whether the extent of the last dimension, known only at run time, is known to be a multiple
    of `lanes`."""
    last = structure(op).rank - 1
    operand, axis = next((operand, axis) for operand, axis, d in _axes(op) if d == last)
    size = _named_size(operand, axis)
    return multiples(operand)[axis] % lanes == 0 if size is None else divisible(size, lanes)


def _named_size(buffer: ir.Value, axis: int) -> Bound | None:
    """The size of a slice along an axis; None for a value that is no slice."""
    view = producer(buffer)
    if view is None or view.name not in ("memref.subview", "tensor.extract_slice"):
        return None
    return subview_sizes(view)[kept_dimensions(place_of(view)[1], buffer.type)[axis]]


def handed_out(op: ir.Operation) -> list[int]:
    """The dimensions of a structured op with iterations that a map distributes: the reduced ones,
    if any."""
    iterators = structure(op).iterators
    return [d for d, kind in enumerate(iterators) if kind == "reduction"] or list(range(len(iterators)))


def is_shared_reduction(op: ir.Operation) -> bool:
    """Whether a reduction's iterations are distributed over processors, which then combine their
    partial results."""
    mapping = mapping_of(op)
    return mapping is not None and mapping.distributes and is_structured(op) and not is_parallel_op(op)


@record
class Mapped:
    """One mapped loop or op of a launch."""

    op: ir.Operation
    mapping: Mapping


def trip_counts(one: Mapped) -> list[int | None]:
    """The trip counts along each axis of the map, where known."""
    return _along_axes(one, lambda d: d.static_trips, lambda op: list(structure(op).extents))


def most_trips(one: Mapped) -> list[int | None]:
    """The trip count per dimension, or an upper bound: `min(8, n - i)` is at most 8."""
    return _along_axes(one, lambda d: d.most_trips, most_extents)


def _along_axes(
    one: Mapped,
    of_loop: Callable[[LoopDimension], int | None],
    of_op: Callable[[ir.Operation], list[int | None]],
) -> list[int | None]:
    """A map with one axis for all dimensions counts the iterations row by row. For an op with
    `vector n`, n elements are one iteration."""
    mapping = one.mapping
    if one.op.name == "scf.forall":
        counts = [of_loop(d) for d in loop_dimensions(one.op)]
    else:
        every = of_op(one.op)
        counts = [every[d] for d in handed_out(one.op)]
        counts[-1:] = [None if n is None else n // mapping.vector for n in counts[-1:]]
    if len(mapping.axes) != len(counts) and (len(mapping.axes) == 1 or mapping.every):
        return [None if None in counts else math.prod(n for n in counts if n is not None)]
    return counts


def subview_offsets(subview: ir.Operation) -> list[Bound]:
    """The offsets of a subview, numbers where constant."""
    return [known(offset) for offset in parts_of(subview)[0]]


def subview_sizes(subview: ir.Operation) -> list[Bound]:
    """The sizes of a subview, numbers where constant."""
    return [known(size) for size in parts_of(subview)[1]]
