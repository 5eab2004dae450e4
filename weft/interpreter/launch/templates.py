"""Cached kernels, as templates with holes for names of buffers and for locations, which a loop with
the same key fills."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import field, replace
from typing import Any

from ...dsl.records import record
from ..ir.cloning import clone_module
from ..ir.mlir import ir, operations
from ..ir.refusing import Remark
from ..mapping.geometry import Geometry
from ..mapping.shares import Owned
from ..memory.names import rename_buffers
from ..outlining.kernel import Likeness, Outlined, Passed

MOST = 1024
Known = dict[Hashable, Any]
"""A session's cached kernels by the key of their loops, at most `MOST`; only this file reads the
values."""


@record
class Materialized:
    """The properties of a materialized kernel. The grid is in terms of the host's values.

    Args:
        shared_bytes: the shared memory of the kernel in bytes; if it exceeds `limits.STATIC`, the
            CUDA text declares it as dynamic.
        passed: the values that a launch passes to the kernel.
        shares: the iterations of each mapped op that each processor owns, as emitted.
        found: by analysis, the results that hold for all kernels with the same key; later analyses
            add to it.
    """

    geometry: Geometry
    shared_bytes: int
    remarks: tuple[Remark, ...]
    passed: tuple[Passed, ...]
    shares: tuple[Owned, ...]
    found: dict[Hashable, Any] = field(default_factory=dict)


@record
class KernelTemplate:
    """A kernel with holes.

    Args:
        module: the module of the kernel that was materialized first.
        likeness: the loop from which it was made, with the names and locations that fill the holes
            in `module`.
        holes: for each op of the module, the index of its location; None for an op without one.
    """

    module: ir.Module
    likeness: Likeness
    holes: list[int | None]
    made: Materialized

    def fill(self, kernel: Outlined) -> tuple[Outlined, Materialized]:
        """The kernel of a loop with the same key as the template's, with its own names and
        locations."""
        old, own = self.likeness, kernel.likeness
        module = clone_module(self.module)
        function = next(operations(module.operation, "gpu.func"))
        function.attributes["sym_name"] = kernel.function.attributes["sym_name"]
        module.body.operations[0].attributes["sym_name"] = kernel.module.body.operations[0].attributes["sym_name"]
        names = dict(zip(old.names, own.names, strict=True))
        if old.names != own.names:
            rename_buffers(function, names)
        if old.places != own.places:
            for op, hole in zip(operations(module.operation), self.holes, strict=True):
                if hole is not None:
                    op.location = own.places[hole]

        def place(location: ir.Location) -> ir.Location:
            return own.places[old.places.index(location)] if location in old.places else location

        remarks = tuple(one.filled(names, place) for one in self.made.remarks)
        shares = tuple(replace(one, op=one.op.filled(names, place)) for one in self.made.shares)
        return replace(kernel, module=module, function=function), replace(self.made, remarks=remarks, shares=shares)


def keep(known: Known, likeness: Likeness, module: ir.Module, made: Materialized) -> None:
    """Stores a kernel in the cache if a template describes it completely: its grid does not depend
    on the host's values, and all of its locations are those of the loop."""
    if likeness.key in known:
        return
    ops = list(operations(module.operation))
    places, nowhere = likeness.places, ir.Location.unknown()
    holes = [places.index(op.location) if op.location in places else None for op in ops]
    # the module and the kernel's module come before the function
    foreign = any(hole is None and op.location != nowhere for hole, op in zip(holes[2:], ops[2:], strict=True))
    if None in made.geometry.static_grid() or foreign:
        return
    if len(known) == MOST:
        del known[next(iter(known))]  # the oldest
    known[likeness.key] = KernelTemplate(clone_module(module), likeness, holes, made)


def found_before(kernel: Outlined, known: Known) -> dict[Hashable, Any]:
    """By analysis, the results for an earlier kernel with the same key."""
    return known[kernel.likeness.key].made.found if kernel.likeness.key in known else {}
