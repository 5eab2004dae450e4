"""Buffers of a loop over threads that a loop (or op) inside hands to several: they move into the block's shared memory.

A loop over warps allocates a row, which the lanes inside fill and read. Each iteration of the loops over threads around the
allocation gets a part of its own of one shared buffer, so that iterations stay independent of each other, whoever does them.
"""

from __future__ import annotations

import math

from ...dsl.diagnostics import fail
from ..indices.arithmetic import Sum
from ..ir.mlir import ir, is_used, memref, users
from ..mapping.mapping import Mapping, enclosing_maps, mapping_of
from ..mapping.space import loop_dimensions
from ..memory.layouts import bytes_of
from ..session.rewriter import describe
from .tiles import thread_nest
from .views import all_users, named_like, retype, subview


def drop_deallocs(alloc: ir.Operation) -> None:
    """A kernel frees nothing. Views that nobody looks through go, too."""
    for user in users(alloc.results[0]):
        if user.name == "memref.dealloc" or (user.name == "memref.subview" and not is_used(user.results[0])):
            user.erase()


def handed_on(alloc: ir.Operation) -> Mapping | None:
    """The map by which a loop or an op hands to several what is allocated around it; None where nothing does."""
    around = {op for op, _ in enclosing_maps(alloc)}
    for user in all_users(alloc.results[0]):
        own = mapping_of(user)
        inside = [] if own is None else [own]
        inside += [mapping for op, mapping in enclosing_maps(user) if op not in around]
        if inside:
            return inside[-1]
    return None


def share(alloc: ir.Operation) -> str:
    """Put what is allocated in loops over threads into shared memory; what was done, in a few words. Raises W0355."""
    kind = ir.MemRefType(alloc.results[0].type)
    bytes_of(kind)
    nest = thread_nest(alloc)
    indices: list[Sum] = []
    parts: list[int] = []
    with ir.InsertionPoint(alloc), alloc.location:
        for loop in nest:
            mapping = mapping_of(loop)
            for variable, dimension in zip(loop.regions[0].blocks[0].arguments, loop_dimensions(loop), strict=True):
                most, step = dimension.most_trips, dimension.step
                if most is None or not isinstance(step, int) or mapping is None or mapping.space == "grid":
                    raise fail(
                        "W0355",
                        f"{describe(alloc)} stands in a loop over threads, threads inside share it, and how many parts of it "
                        f"a block needs is not known: `{mapping}` on {describe(loop)}",
                        hint="tile once, and map the loop to all the axes; or promote the buffer to shared memory outside",
                    )
                index, _ = (Sum.of(variable) + Sum.of(dimension.lower).times(-1)).divide(step)
                indices.append(index)
                parts.append(max(most, 1))
        whole = [*parts, *kind.shape]
        space = ir.Attribute.parse("#gpu.address_space<workgroup>")
        outer = nest[0]
        with ir.InsertionPoint(outer), outer.location:
            made = memref.AllocOp(ir.MemRefType.get(whole, kind.element_type, None, space), [], [])
        shared = named_like(alloc, made.result)
        starts = [*(i.emit() for i in indices), *[0] * kind.rank]
        mine = subview(shared, [starts, [*[1] * len(parts), *kind.shape], [1] * len(whole)], kind)
    drop_deallocs(alloc)
    retype(alloc.results[0], ir.MemRefType(mine.type))
    alloc.results[0].replace_all_uses_with(mine)
    alloc.erase()
    shape = "x".join(map(str, kind.shape))
    return f"temporary {shape} of each of {math.prod(parts)} iterations: in shared memory, {bytes_of(shared.type)} bytes"
