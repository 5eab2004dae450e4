"""Block ids of a grid in a kernel's text.

Hardware permits many blocks along x, and few along y and z. A grid that exceeds this is folded: all
blocks are launched along x, x fastest (`limits.launched`), and the text recovers the ids by
division. A kernel with a known grid has one text for it. A kernel for any number of blocks has an
additional text for folded grids; its other texts do not divide.
"""

from __future__ import annotations

from dataclasses import dataclass

from ....interpreter.hardware import limits
from ....interpreter.ir.functions import CLUSTER_SIZE, MOST_BLOCKS, sizes_of
from ....interpreter.ir.mlir import ir
from ...plan.plan import DimOf
from ...plan.resolve import fold
from .division import floor_divide, modulo
from .expression import UNARY, Expr, cast, name
from .integers import INT, LONG, literal
from .sizes import GRID, HostFacts, HostNumber
from .types import Range


def is_folded(func: ir.Operation) -> bool:
    """Whether a kernel's grid is known, and folded. Only clusters along x remain clusters in a
    folded grid."""
    known, cluster = sizes_of(func, "known_grid_size"), sizes_of(func, CLUSTER_SIZE) or (1, 1, 1)
    return known is not None and limits.is_folded(known) and cluster[1:] == (1, 1)


def may_be_folded(func: ir.Operation) -> bool:
    """Whether some launches of a kernel may have folded grids, according to its stated bounds."""
    most = None if sizes_of(func, "known_grid_size") is not None else stated_most(func)
    return most is not None and any(not 0 <= most[axis] <= limits.GRID[axis] for axis in (1, 2))


def stated_most(func: ir.Operation) -> tuple[int, ...] | None:
    """The kernel's `MOST_BLOCKS`; None for kernels of the payload, which must be launched within
    the hardware's limits."""
    return tuple(ir.DenseI64ArrayAttr(func.attributes[MOST_BLOCKS])) if MOST_BLOCKS in func.attributes else None


@dataclass
class BlockNumbers:
    """Expressions for the ids and the numbers of blocks.

    Args:
        facts: the numbers that the text needs from the host.
        known: the grid along x, y, z; None if it depends on the launch.
        most: most blocks along each axis.
        folded: whether the grid is folded.
    """

    facts: HostFacts
    known: tuple[int, int, int] | None
    most: tuple[int, ...]
    folded: bool

    @classmethod
    def of(cls, func: ir.Operation, facts: HostFacts, *, folded: bool) -> BlockNumbers:
        """The block numbers of a kernel. `folded`: whether the text is for folded grids, if the
        grid is not known."""
        known = sizes_of(func, "known_grid_size")
        folded = folded if known is None else is_folded(func)
        bounds = known or stated_most(func) or (-1, -1, -1)
        limit = (limits.GRID[0],) * 3 if folded else limits.GRID
        most = tuple(n if stated < 0 else min(n, max(stated, 1)) for stated, n in zip(bounds, limit, strict=True))
        return cls(facts, known, most, folded)

    def size(self, axis: int) -> Expr:
        """The number of blocks along an axis."""
        host, letter = HostNumber(DimOf(GRID, axis), self.facts), "xyz"[axis]
        if self.known is not None or (self.folded and self.most[axis] == 1):
            return literal(self.most[axis])
        if not self.folded:
            return Expr(f"(int)gridDim.{letter}", INT, UNARY, Range(1, limits.GRID[axis]), atom=True, host=host)
        return cast(
            INT, name(self.facts.passed(host.number, f"blocks_{letter}"), LONG, Range(1, self.most[axis]), host=host)
        )

    def number(self, axis: int) -> Expr:
        """The block id along an axis."""
        letter, known = "xyz"[axis], Range(0, self.most[axis] - 1)
        host = HostNumber(fold("sub", DimOf(GRID, axis), 1), self.facts, exact=False)
        if not self.folded:
            return Expr(f"blockIdx.{letter}", INT, range=known, host=host)
        found = name("blockIdx.x" if self.known is not None else "(int)blockIdx.x", INT, Range(0, limits.GRID[0] - 1))
        for faster in range(axis):
            found = floor_divide(found, self.size(faster))
        if any(most > 1 for most in self.most[axis + 1 :]):
            found = modulo(found, self.size(axis))
        return Expr(found.text, INT, range=known, host=host)
