"""What the diagnostics of `weft show-map` mean."""

from __future__ import annotations

from ..dsl.diagnostics import explanations

CODES = explanations("""
W0970 no such handle
    `weft show-map` takes names of handles as the schedule spells them; a bundle's as `t.loop`.
W0971 a handle without a map
    Nothing says which processors run it.

    wrong:  weft show-map gemm.weft step
    right:  weft show-map gemm.weft lanes
W0972 a schedule without a map
    There is nothing to show: `map tiles to blocks(y, x)` makes a map.
W0973 a map that only a run can tell
    How many iterations or processors there are depends on sizes that the host learns at run time, or there are more
    than can be shown.

    right:  weft show-map gemm.weft --set m=512
""")
