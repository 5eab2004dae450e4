"""Tensor maps that the host makes from a kernel's operands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, Union

from ...dsl.records import record
from ..hardware.hopper.tensor_maps import WINDOW, tensor_map, window_attribute
from ..hardware.limits import PixelWindow
from ..indices.arithmetic import Bound
from ..ir.functions import NAME
from ..ir.mlir import DYNAMIC, affine, constant_of, ir, made_by, memref, nvgpu
from ..ir.sizes import measured_dimension, product_of, size_origin
from ..memory.layouts import subview

Joined: TypeAlias = "tuple[ir.Type, ir.Attribute] | None"
"""An array with several axes joined: its type, and those axes; None: as it is."""


def joined(view: ir.Value) -> tuple[ir.Value, Joined]:
    """The array under a view, and its `Joined` form, if the view only joins axes."""
    made = made_by(view, "memref.collapse_shape")
    return (view, None) if made is None else (made.operands[0], (view.type, made.attributes["reassociation"]))


Factor: TypeAlias = Union[int, "tuple[int, int, Joined]", "AffineSize"]
"""A number; the size of an operand (by number) along an axis, in its joined form; or a function of
such sizes."""


@record
class AffineSize:
    """An affine map of sizes: of an image's, the number of positions of a filter."""

    map: ir.AffineMap
    sizes: tuple[tuple[Factor, ...], ...]


End: TypeAlias = "tuple[Factor, ...] | None"
"""The end of a tensor along an axis, as a product of factors; None: the tensor's own."""


def size_factors(size: ir.Value, arguments: Sequence[ir.Value]) -> tuple[Factor, ...] | None:
    """The host's computation of a size that a kernel computes from its arguments' sizes; None where
    unknown."""
    number, found = constant_of(size), measured_dimension(size)
    if number is not None:
        return (number,)
    if found is not None:
        source, seen = joined(found[0])
        if source in arguments:
            return ((arguments.index(source), found[1], seen),)
        behind = size_origin(*found)  # for a part of an argument, the view's own size
        return size_factors(behind, arguments) if isinstance(behind, ir.Value) else None
    made = made_by(size, "arith.muli", "affine.apply")
    parts = [] if made is None else [size_factors(operand, arguments) for operand in made.operands]
    known = [part for part in parts if part is not None]
    if made is None or len(known) < len(parts):
        return None
    if made.name == "arith.muli":
        return tuple(factor for part in known for factor in part)
    return (AffineSize(ir.AffineMapAttr(made.attributes["map"]).value, tuple(known)),)


@record
class MapOf:
    """The construction of a tensor map from a tensor.

    Args:
        kind: its type.
        ends: the end of the tensor, by axis.
        joined: the axes that are joined.
        window: for a map of pixels.
    """

    kind: ir.Type
    ends: tuple[End, ...]
    joined: Joined = None
    window: PixelWindow | None = None

    def argument_attributes(self, name: str | None) -> dict[str, ir.Attribute]:
        """The description on the kernel's argument."""
        window = {} if self.window is None else {WINDOW: window_attribute(self.window)}
        return window | ({} if name is None else {NAME: ir.StringAttr.get(name)})


@record
class HostMap:
    """A tensor map that the host makes of a kernel's operand (by number), with the type that the
    kernel takes."""

    operand: int
    made: MapOf


def made_on_host(operands: Sequence[ir.Value], told: HostMap, size: Callable[[Bound], ir.Value]) -> ir.Value:
    """Makes a tensor map of an operand on the host, at the insertion point. `size`: emits a factor."""
    made = told.made
    tensor, found = operands[told.operand], tensor_map(made.kind)
    assert found is not None
    tensor = _seen(tensor, made.joined)
    kind = ir.MemRefType(tensor.type)
    if any(end is not None for end in made.ends):

        def number(factor: Factor) -> Bound:
            if isinstance(factor, int):
                return factor
            if isinstance(factor, AffineSize):
                sizes = [product(part) for part in factor.sizes]
                return affine.AffineApplyOp(factor.map, [size(n) for n in sizes]).result
            operand, axis, seen = factor
            return memref.DimOp(_seen(operands[operand], seen), size(axis)).result

        def product(end: tuple[Factor, ...]) -> Bound:
            return product_of(list(map(number, end)))

        ends = [
            memref.DimOp(tensor, size(axis)).result if end is None else product(end)
            for axis, end in enumerate(made.ends)
        ]
        kind = ir.MemRefType.get(
            [end if isinstance(end, int) else DYNAMIC for end in ends], kind.element_type, kind.layout
        )
        tensor = subview(tensor, [[0] * kind.rank, ends, [1] * kind.rank], kind)
    ranked = memref.CastOp(ir.UnrankedMemRefType.get(kind.element_type, kind.memory_space), tensor).result
    op = nvgpu.TmaCreateDescriptorOp(made.kind, ranked, list(map(size, found.box)))
    if made.window is not None:
        op.operation.attributes[WINDOW] = window_attribute(made.window)
    return op.result


def _seen(array: ir.Value, how: Joined) -> ir.Value:
    return array if how is None else memref.CollapseShapeOp(how[0], array, how[1]).result
