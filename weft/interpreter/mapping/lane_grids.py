"""Lanes of a warp in rows and columns: legal maps to them, and lanes without iterations."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ...dsl.diagnostics import fail
from ..hardware.limits import WARP
from ..indices.linear import Linear
from ..ir.mlir import ir
from ..ir.refusing import refuse
from .mapping import Mapping
from .processors import Hardware


def check_lanes(op: ir.Operation, mapping: Mapping) -> None:
    """W0349: rows and columns need counts, which determine each lane's row and column."""
    if mapping.space != "lanes" or mapping.is_whole:
        return
    whole = math.prod(mapping.counts) == WARP or len(mapping.axes) == 1
    if "z" in mapping.axes or any(count < 1 or WARP % count for count in mapping.counts) or not whole:
        what = f"`{mapping}` does not arrange the {WARP} lanes of a warp in rows and columns"
        out = f"give counts along y and x with a product of {WARP}, `lanes(y: 8, x: 4)`; or one of them, `lanes(x: 4)`; or `lanes`"
        raise refuse("W0349", what, op, out)


def check_lanes_in_lanes(within: Mapping, around: Mapping, notes: Callable[[], tuple[str, ...]]) -> None:
    """Raises W0349 unless the rows of one map times the columns of the other are all lanes of a
    warp."""
    if within.space == around.space == "lanes" and math.prod((*within.counts, *around.counts)) != WARP:
        raise fail(
            "W0349",
            f"`{around}` and `{within}` are not the {WARP} lanes of a warp in rows and columns",
            f"give counts with a product of {WARP}: `lanes(y: 8)` and `lanes(x: 4)`",
            notes=notes(),
        )


def idle_lane(hardware: Hardware, around: Sequence[Mapping]) -> Linear:
    """The number of the thread's lane among lanes to which maps distribute nothing."""
    taken = [own for one in around if one.space == "lanes" for own in zip(one.axes, one.counts, strict=True)]
    if math.prod(count for _, count in taken) == WARP:
        return Linear.of()
    if not taken:
        return hardware.lane().index
    ((axis, count),) = taken
    return hardware.lanes("x" if axis == "y" else "y", WARP // count).index
