"""`map OP like H`: an elementwise op takes the tiles and maps of the op of another handle.

    for each mapped loop around H's op, outermost first:    a loop over tiles of the same size, with the same map

The size of a tile along an axis of the result is that of the slices of H's result in the loops. It
applies to the dimension of the op that indexes the same axis of the op's result. An op in a loop
over `registers` computes a part of the result, and its tiles are at most as large as that part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ....dsl.records import record
from ...ir.affine_maps import dimension_of
from ...ir.mlir import ancestors, ir, is_tensor, is_within, maker, producer
from ...ir.structured import (
    is_parallel_op,
    is_structured,
    loop_inits,
    loop_outputs,
    parts_of,
    segments,
    shape_of,
    structure,
)
from ...mapping.legality import check_map
from ...mapping.mapping import ATTRIBUTE, enclosing_maps, loop_dimensions, mapping_of
from ...session.statement import Handle, Results, Rewriter
from ..coalesce import Coalesce
from ..tile import Tile

AROUND = ("scf.for", "scf.forall")


@record
class Level:
    """A mapped loop around the op that is followed: its map, and the sizes of its tiles by axis of
    the result, None where a tile has the whole axis. `row`: its dimensions are taken in a row."""

    mapping: ir.Attribute
    tile: tuple[int | None, ...]
    row: bool


def follow(rewrite: Rewriter, target: Handle, like: Handle) -> Results:
    """Tiles and maps the op of `target` like that of `like`. Raises W0319."""
    levels = _levels(rewrite, target, like)
    tag, current = target.tag, target
    for level in levels:
        sizes = _sizes(rewrite, current, level.tile)
        tiled = Tile(node=rewrite.statement.node, target=current, sizes=sizes).apply(rewrite)
        loop, current = tiled["loop"], tiled["op"]
        if level.row and len(loop_dimensions(rewrite.find(loop))) > 1:
            loop = Coalesce(node=rewrite.statement.node, target=loop).apply(rewrite)["loop"]
        found = rewrite.find(loop)
        found.attributes[ATTRIBUTE] = level.mapping
        mapping = mapping_of(found)
        assert mapping is not None, "it was set here"
        with rewrite.placing(at="target"):
            check_map(found, mapping)
        rewrite.remark(str(mapping))
    inner = rewrite.find(current)
    inner.attributes[tag] = inner.attributes[current.tag]
    del inner.attributes[current.tag]
    return {}


def _levels(rewrite: Rewriter, target: Handle, like: Handle) -> list[Level]:
    """The levels of the loops around the op of `like` alone, outermost first."""
    op, other = rewrite.find(target), rewrite.find(like)
    if not is_structured(op) or not is_parallel_op(op):
        hint = "`tile` it, and `map` the loop; or `fuse` it into a loop that is mapped"
        raise rewrite.error("W0319", f"only an elementwise op follows another, and this is {op.name}", op, hint)
    if not is_structured(other):
        raise rewrite.error("W0319", f"only a structured op is followed, and this is {other.name}", other, at="like")
    alone = (mapping for loop, mapping in enclosing_maps(op) if not is_within(other, loop))
    if mapping_of(op) is not None or any(mapping.space != "registers" for mapping in alone):
        hint = "delete the other `map`, or write `map … like` before it"
        raise rewrite.error("W0319", f"{op.name} has a map already: loops around it alone are mapped", op, hint)
    loops = [loop for loop in ancestors(other) if loop.name in AROUND and not is_within(op, loop)]
    mapped = [loop for loop in reversed(loops) if mapping_of(loop) is not None]
    if not mapped:
        hint = "`tile` the op that it follows, and `map` the loops, first"
        raise rewrite.error("W0319", f"no loop around {other.name} alone is mapped", other, hint, at="like")
    if free := [loop for loop in loops if loop.name == "scf.forall" and mapping_of(loop) is None]:
        hint = "`map` it first"
        raise rewrite.error("W0319", f"a parallel loop around {other.name} has no map", free[0], hint, at="like")
    value = other.operands[segments(other)[0]]
    slices = dict(_slices(value, loops))
    made, inner = list[Level](), shape_of(value)
    for loop in reversed(mapped):
        outer, moving = slices.get(loop, (inner, ()))
        if len(outer) != len(inner) or None in inner:
            what = "the tile of a loop around it has another rank" if None not in inner else "its tiles are not static"
            raise rewrite.error("W0319", what, other, "`tile` and `map` both ops alone", at="like")
        cut = [a != b or axis in moving for axis, (a, b) in enumerate(zip(inner, outer, strict=True))]
        dimensions = len(loop_dimensions(loop))
        whole = dimensions == len(inner)  # also the axes that have one tile
        if any(cut) or whole:
            tile = tuple(a if whole or differs else None for a, differs in zip(inner, cut, strict=True))
            made.append(Level(loop.attributes[ATTRIBUTE], tile, dimensions == 1))
        inner = outer
    return made[::-1]


def _slices(
    value: ir.Value, loops: Sequence[ir.Operation]
) -> Iterator[tuple[ir.Operation, tuple[tuple[int | None, ...], tuple[int, ...]]]]:
    """For each loop, the shape of the tensor that its iterations slice (the result, or a part of
    it), and the axes along which the slice's offset depends on the iteration."""
    while True:
        op = producer(value)
        if op is None:
            loop = maker(value)
            if loop.name not in AROUND or not is_tensor(value) or value not in (outputs := loop_outputs(loop)):
                return
            value = loop_inits(loop)[outputs.index(value)]
        elif op.name in SLICES:
            value = op.operands[0]
            around = next((loop for loop in ancestors(op) if loop.name in AROUND), None)
            while around is not None and mapping_of(around) is None and around in loops:
                around = next((loop for loop in ancestors(around) if loop.name in AROUND), None)
            if around is not None and around in loops:
                moving = tuple(axis for axis, offset in enumerate(parts_of(op)[0]) if not isinstance(offset, int))
                yield around, (shape_of(value), moving)
        else:
            return


SLICES = ("tensor.extract_slice", "memref.subview")


def _sizes(rewrite: Rewriter, target: Handle, tile: tuple[int | None, ...]) -> tuple[int | None, ...]:
    """The sizes of a tile by dimension of the op, each at most its extent. Raises W0319 for a result of another rank."""
    op = rewrite.find(target)
    space = structure(op)
    axes = [dimension_of(e) for e in space.maps[space.inputs].results]
    if len(axes) != len(tile):
        ranks = f"its result has {len(axes)} axes, and that of the op that it follows {len(tile)}"
        raise rewrite.error("W0319", ranks, op, "`tile` and `map` it alone")
    sizes: list[int | None] = [None] * space.rank
    for axis, size in zip(axes, tile, strict=True):
        if axis is not None:
            sizes[axis] = size and min(size, space.extents[axis] or size)
    return tuple(sizes)
