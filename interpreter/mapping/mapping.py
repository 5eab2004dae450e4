"""`weft.map`: what `map` decided for one loop or one op, as a dictionary attribute. See "The IR between the rooms"."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...dsl.signature import DistributionSpec, SpaceSpec
from ..ir.mlir import ancestors, i64, ir, operations

ATTRIBUTE = "weft.map"
AXES = ("x", "y", "z")
AS_MANY_AS_ITERATIONS = -1
SYMBOLIC = -2
WARP = 32
"""Threads in a warp, of every NVIDIA GPU so far."""


@dataclass(frozen=True)
class Mapping:
    """One map.

    Args:
        space: `blocks`, `threads`, `warps`, `lanes` or `grid`.
        axes: one of `x`, `y`, `z` per loop dimension; empty with `every`, always `x` of `lanes`.
        every: `threads(*)`: every thread of the block, by linear id.
        counts: processors per axis; `AS_MANY_AS_ITERATIONS` or `SYMBOLIC` where no number was given.
        dist: None (one iteration each), `block`, `cyclic` or `block-cyclic`.
        chunk: the b of `block-cyclic(b)`.
        vector: one iteration is that many consecutive elements.
        group: blocks take the tiles in groups of so many rows (`order grouped(n)`); None: row by row, as they are numbered.
    """

    space: str
    axes: tuple[str, ...] = ()
    counts: tuple[int, ...] = ()
    every: bool = False
    dist: str | None = None
    chunk: int | None = None
    vector: int = 1
    group: int | None = None

    @classmethod
    def of(
        cls, space: SpaceSpec, dist: DistributionSpec | None, vector: int | None, group: int | None = None
    ) -> Mapping:
        numbers = {None: AS_MANY_AS_ITERATIONS, "?": SYMBOLIC}
        counts = tuple(c if isinstance(c, int) else numbers[c] for c in space.counts)
        kind, chunk = (dist.kind, dist.chunk) if dist else (None, None)
        if space.kind == "lanes":
            return cls("lanes", ("x",), (WARP,), False, kind, chunk, vector or 1, group)
        return cls(space.kind, tuple(space.axes), counts, space.all, kind, chunk, vector or 1, group)

    @classmethod
    def read(cls, attribute: ir.Attribute) -> Mapping:
        entries = {named.name: named.attr for named in ir.DictAttr(attribute)}
        plain = {key: entries[key].value for key in ("space", "dist", "chunk", "vector", "group") if key in entries}
        axes = tuple(axis.value for axis in ir.ArrayAttr(entries["axes"])) if "axes" in entries else ()
        counts = tuple(ir.DenseI64ArrayAttr(entries["counts"])) if "counts" in entries else ()
        return cls(axes=axes, counts=counts, every="all" in entries, **plain)

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
        if self.group is not None:
            entries |= {"order": ir.StringAttr.get("grouped"), "group": i64(self.group)}
        return ir.DictAttr.get(entries)

    def slots(self) -> frozenset[tuple[str, str]]:
        """The hardware dimensions it takes, e.g. `("threads", "x")`. Nobody else in the same nest may take them."""
        if self.every:
            return frozenset(("threads", axis) for axis in "xyz")
        spaces = ("blocks", "threads") if self.space == "grid" else (self.space,)
        return frozenset((space, axis) for space in spaces for axis in self.axes)

    def __str__(self) -> str:
        if self.space == "lanes":
            return "lanes" + self._how()
        names = {AS_MANY_AS_ITERATIONS: "", SYMBOLIC: ": ?"}
        inner = ", ".join(a + names.get(c, f": {c}") for a, c in zip(self.axes, self.counts, strict=True))
        where = f"{self.space}({'*' if self.every else inner})" if self.every or self.axes else self.space
        return where + self._how()

    def _how(self) -> str:
        how = f" {self.dist}" + (f"({self.chunk})" if self.chunk is not None else "") if self.dist else ""
        how += f" order grouped({self.group})" if self.group is not None else ""
        return how + (f" vector {self.vector}" if self.vector > 1 else "")


def mapping_of(op: ir.Operation | ir.OpView) -> Mapping | None:
    """The map of `op`, or None where it has none."""
    attributes = op.operation.attributes
    return Mapping.read(attributes[ATTRIBUTE]) if ATTRIBUTE in attributes else None


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
        if mapping is not None and inner != op:
            yield inner, mapping
