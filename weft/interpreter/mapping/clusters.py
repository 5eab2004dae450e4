"""Clusters of blocks, `launch … cluster(n)`: n consecutive blocks along x run concurrently.

Along one dimension of the loop over blocks, they take n consecutive tiles; along the other
dimensions, they take the same tile. That dimension is columns; or rows with `order grouped(g)`,
which traverses columns; with `order hilbert` it follows from the curve. It is rounded up to whole
clusters: a block with its tile outside the loop loads, waits and arrives like any other, since the
others depend on it, and skips the rest.

    blocks(y, x)                     of 5 columns, clusters of 2: 6 columns, the last of which has no owner
    blocks(x: 132) cyclic            tile 132·i + p, row by row: block p and its neighbour take equally many tiles

All decisions of a cluster depend on the number of its first block alone, so that all of its blocks
decide the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...dsl.records import record
from ..indices.arithmetic import Bound, ceildiv, multiply
from ..indices.values import divisible
from ..ir.mlir import ir
from ..ir.refusing import refuse
from .mapping import SYMBOLIC, Mapped, Mapping, loop_dimensions

CLUSTER = "weft.cluster"
"""On a mapped loop: the number of blocks in a cluster, from `launch … cluster(n)`."""


@record
class BlockClusters:
    """The clusters of a launch.

    Args:
        size: blocks of a cluster, along x.
        dimension: the dimension of the loop over blocks along which their tiles differ.
    """

    size: int
    dimension: int

    def whole(self, trips: Sequence[Bound]) -> list[Bound]:
        """The number of tiles along each dimension, in whole clusters; emits index arithmetic where
        not constant."""
        found = list(trips)
        if not divisible(found[self.dimension], self.size):
            found[self.dimension] = multiply(ceildiv(found[self.dimension], self.size), self.size)
        return found


def cluster_size(root: ir.Operation) -> int:
    """Blocks of a cluster; 1 for a launch without clusters."""
    return ir.IntegerAttr(root.attributes[CLUSTER]).value if CLUSTER in root.attributes else 1


def cluster_of(root: ir.Operation, mapped: Sequence[Mapped]) -> BlockClusters | None:
    """The clusters of a launch with these maps. Raises W0407."""
    size = cluster_size(root)
    if size == 1:
        return None
    over = [one for one in mapped if one.mapping.space in ("blocks", "grid")]
    mapping = over[0].mapping if over else None
    if mapping is None or len(over) > 1 or over[0].op != root or root.name != "scf.forall" or mapping.space == "grid":
        said = "blocks of a cluster take tiles of the loop that is launched"
        raise _refused(root, said, "`map` the loop that is launched `to blocks(y, x)`, and no other loop to blocks")
    if "x" not in mapping.axes or mapping.dist not in (None, "cyclic"):
        said = "has no blocks along x" if "x" not in mapping.axes else "gives each block tiles side by side"
        said = f"blocks of a cluster take tiles that follow each other along x, and `{mapping}` {said}"
        raise _refused(root, said, "`map` it `to blocks(y, x)`, or `cyclic`")
    along = mapping.counts[mapping.axes.index("x")]
    group = next((n for n in (mapping.group, mapping.panel) if n is not None and n > 1), None)  # consecutive tiles
    if along == SYMBOLIC:
        said = f"the number of blocks of `{mapping}` is known only at run time"
        raise _refused(
            root, said, f"give a count along x that is a multiple of {size}, such as `blocks(x: {16 * size}) cyclic`"
        )
    if along > 0 and along % size:
        some = along // size * size
        counts = f"{some} or {some + size}" if some else f"{size}"
        raise _refused(
            root,
            f"{along} blocks along x are not whole clusters of {size}",
            f"give x a count of {counts}, or leave `cluster({size})` of `launch` out",
        )
    if group is not None and group % size:
        which = f"order grouped({group})" if mapping.group is not None else f"order panels({group})"
        hint = f"write `{which.split('(')[0]}({max(group // size, 1) * size})`, or leave `order` out"
        raise _refused(root, f"`{which}`: {group} tiles that follow each other are not whole clusters of {size}", hint)
    count = len(loop_dimensions(root))
    if mapping.ordered and count != 2:
        said = f"`{mapping}` of a loop of {count} dimensions"
        raise _refused(root, said, "leave `order` out, or `map` a loop over two dimensions to `blocks(y, x)`")
    return BlockClusters(size, _dimension(mapping, count))


def _dimension(mapping: Mapping, count: int) -> int:
    """The dimension along which consecutive blocks take consecutive tiles."""
    down = (mapping.group or 1) > 1 or mapping.panel == 1 or mapping.hilbert
    if len(mapping.axes) == count:
        return next(n for n, axis in enumerate(mapping.axes) if (axis != "x") == down)
    return 0 if down else count - 1


def _refused(root: ir.Operation, why: str, hint: str) -> Exception:
    return refuse("W0407", why, root, hint)
