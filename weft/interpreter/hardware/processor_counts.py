"""Checks of processor counts against the limits of a block, without a payload."""

from __future__ import annotations

from ...dsl.signature import SpaceSpec, Wrong
from .limits import too_long, too_many_threads


def miscounted(space: SpaceSpec, _: str) -> Wrong | None:
    """The error that processors make up more threads than any block has, for any mapped op; None if
    they do not. An unknown count counts as one."""
    known = {axis: count for axis, count in zip(space.axes, space.counts, strict=True) if isinstance(count, int)}
    shown = ", ".join(f"{axis}: {known.get(axis, '…')}" for axis in space.axes)
    found = too_many_threads(space.kind, known.values(), f"{space.kind}({shown})")
    for axis, count in known.items() if space.kind == "threads" else ():
        found = found or too_long(axis, count)
    return None if found is None else Wrong(*found, certain=True, code="W0346")
