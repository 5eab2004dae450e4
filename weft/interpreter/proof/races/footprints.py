"""Footprints: the sets of elements that the operations of a host function touch. A launch touches
what its kernel touches; a copy, or an access of the host, touches the elements at its indices. The
query is whether two operations touch a common element.

A window bounds the part of a buffer that an operation may reach. A kernel that accesses every
second element of the window reaches less. The sets are those of the race analysis: all instances of
an access, over all threads, blocks and iterations.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from typing import Literal

from ....dsl.diagnostics import WeftError
from ...indices.algebra import LaunchShape
from ...indices.linear import NOTHING, both, equal
from ...indices.values import Values
from ...ir.mlir import ir
from ...memory.effects import accesses
from ..kernels.kernels import KernelUse, kernel_uses, model_of, same_use
from ..kernels.memory_ops import touches
from ..kernels.model import Access
from ..kernels.places import Place
from ..kernels.views import Views
from ..solver import Naming, Solver, Unknown, points

Meeting = Literal["apart", "together", "unknown"]


class Footprints:
    """The footprints of the operations of a module's host functions, computed on demand and cached.

    Args:
        module: the module, which must not change during the lifetime of this object.
    """

    def __init__(self, module: ir.Module) -> None:
        self._solver = Solver()
        self._uses = {use.launch: use for use in _uses(module) if use.launch is not None}
        self._found: dict[object, tuple[Access, ...] | None] = {}
        self._meetings: dict[tuple[object, bool, object, bool, object], Meeting] = {}
        self._values = Values(LaunchShape(), lambda _: NOTHING)
        self._views = Views(self._values)

    def meet(
        self, one: ir.Operation, changes: bool, other: ir.Operation, overwrites: bool, buffer: ir.Value | str
    ) -> Meeting:
        """Whether two operations touch a common element of a buffer: "apart", "together" or
        "unknown".

        Args:
            changes: `one` changes the elements; otherwise it reads them.
            overwrites: `other` changes the elements; otherwise it reads them.
            buffer: the value of the buffer, or the name of a global.
        """
        keys = self._key(one), self._key(other)
        key = (keys[0], changes, keys[1], overwrites, buffer)
        if key not in self._meetings:
            mine = self._of(one, keys[0], changes, buffer)
            its = self._of(other, keys[1], overwrites, buffer)
            if mine is None or its is None:
                self._meetings[key] = "unknown"
            elif (not mine and one not in self._uses) or (not its and other not in self._uses):
                self._meetings[key] = "together"  # the op passes the buffer on, for example to the caller
            else:
                self._meetings[key] = self._meet(mine, its)
        return self._meetings[key]

    def _key(self, op: ir.Operation) -> object:
        return same_use(self._uses[op]) if op in self._uses else op

    def _of(self, op: ir.Operation, key: object, changes: bool, buffer: ir.Value | str) -> tuple[Access, ...] | None:
        if key not in self._found:
            self._found[key] = self._launched(op) if op in self._uses else self._done_by_host(op)
        found = self._found[key]
        if found is None:
            return None
        here = (t for t in found if t.buffer.anything or t.buffer.value == buffer)
        return tuple(t for t in here if (t.kind == "write") == changes)

    def _launched(self, op: ir.Operation) -> tuple[Access, ...] | None:
        try:
            model = model_of(self._uses[op])
        except WeftError:
            return None  # an op that the analysis does not support
        return tuple(replace(a, when=both(*a.place.guards, a.when, *model.facts)) for a in model.accesses)

    def _done_by_host(self, op: ir.Operation) -> tuple[Access, ...] | None:
        if len(op.regions) or accesses(op) is None:
            return None
        found: list[Access] = []
        for touch in touches(op, self._values):
            for view in self._views.of(touch.memref) if touch.memref is not None else ():
                at = None if touch.indices is None else self._views.coordinates(view, touch.indices)
                when = both(view.when, touch.when)
                found.append(Access(touch.kind, view.root, at, Place((), 0), op.name, when, view.flat, view.sizes))
        return tuple(found)

    def _meet(self, mine: Iterable[Access], its: Iterable[Access]) -> Meeting:
        out: Meeting = "apart"
        for one, other in product(mine, its):
            try:
                if self._apart(one, other):
                    continue
            except Unknown:
                return "unknown"
            if _known(one) and _known(other):
                return "together"
            out = "unknown"
        return out

    def _apart(self, one: Access, other: Access) -> bool:
        if one.flat or other.flat or one.sizes != other.sizes:
            one, other = one.flattened(), other.flattened()
        if one.coordinates is None or other.coordinates is None:
            return False
        namings = Naming("x_"), Naming("y_")
        parts = [naming.formula(access.when) for naming, access in zip(namings, (one, other), strict=True)]
        pairs = zip(one.coordinates, other.coordinates, strict=True)
        parts += [equal(namings[0].form(p), namings[1].form(q)) for p, q in pairs]
        return self._solver.is_empty(points(self._solver, namings, parts)[1])


def _uses(module: ir.Module) -> list[KernelUse]:
    try:
        return kernel_uses(module)
    except WeftError:
        return []  # the order of the launches is unknown: each launch has only its windows


def _known(access: Access) -> bool:
    """Whether the touched elements are known exactly: each symbol takes all values in its range, or
    is a number that the host passes."""
    symbols = (s for form in (*(access.coordinates or ()), access.when) for s in form.symbols())
    guessed = any(s.guessed or (s.kind == "opaque" and s.depends != NOTHING) for s in symbols)
    return access.coordinates is not None and not guessed and not access.buffer.anything
