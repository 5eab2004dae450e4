"""The blocks of a grid as a kernel's text numbers them.

Hardware numbers many blocks along x, and few along y and z. A grid that has more there is folded: all are launched
along x, x fastest (`limits.launched`), and the text divides. A kernel whose grid is known is written for it. One of any
number of blocks has one more text for grids that are folded; the others do not divide.
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
    """Whether a kernel's grid is known, and folded. Blocks in a row along x stay a cluster, others do not."""
    known, cluster = sizes_of(func, "known_grid_size"), sizes_of(func, CLUSTER_SIZE) or (1, 1, 1)
    return known is not None and limits.is_folded(known) and cluster[1:] == (1, 1)


def may_be_folded(func: ir.Operation) -> bool:
    """Whether some launches of a kernel may have grids that are folded, as it says of these."""
    most = None if sizes_of(func, "known_grid_size") is not None else stated_most(func)
    return most is not None and any(not 0 <= most[axis] <= limits.GRID[axis] for axis in (1, 2))


def stated_most(func: ir.Operation) -> tuple[int, ...] | None:
    """`MOST_BLOCKS` of a kernel that says it: others are the payload's, whose launches must be as hardware has them."""
    return tuple(ir.DenseI64ArrayAttr(func.attributes[MOST_BLOCKS])) if MOST_BLOCKS in func.attributes else None


@dataclass
class BlockNumbers:
    """What a text calls the numbers of its blocks, and how many there are.

    Args:
        facts: what the text asks the host for.
        known: the grid along x, y, z; None where the launch says.
        most: blocks along each axis, at most.
        folded: how they are numbered.
    """

    facts: HostFacts
    known: tuple[int, int, int] | None
    most: tuple[int, ...]
    folded: bool

    @classmethod
    def of(cls, func: ir.Operation, facts: HostFacts, *, folded: bool) -> BlockNumbers:
        """Those of a kernel. `folded`: of grids that are not known, the text is for those."""
        known = sizes_of(func, "known_grid_size")
        folded = folded if known is None else is_folded(func)
        said = known or stated_most(func) or (-1, -1, -1)
        limit = (limits.GRID[0],) * 3 if folded else limits.GRID
        most = tuple(n if stated < 0 else min(n, max(stated, 1)) for stated, n in zip(said, limit, strict=True))
        return cls(facts, known, most, folded)

    def size(self, axis: int) -> Expr:
        """How many there are."""
        host, letter = HostNumber(DimOf(GRID, axis), self.facts), "xyz"[axis]
        if self.known is not None or (self.folded and self.most[axis] == 1):
            return literal(self.most[axis])
        if not self.folded:
            return Expr(f"(int)gridDim.{letter}", INT, UNARY, Range(1, limits.GRID[axis]), atom=True, host=host)
        return cast(
            INT, name(self.facts.passed(host.number, f"blocks_{letter}"), LONG, Range(1, self.most[axis]), host=host)
        )

    def number(self, axis: int) -> Expr:
        """A block's."""
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
