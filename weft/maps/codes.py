"""What the diagnostics of `weft show-map` mean."""

from __future__ import annotations

from ..dsl.diagnostics import Explanation

CODES: dict[str, Explanation] = {
    "W0970": Explanation(
        "no such handle", "`weft show-map` takes names of handles as the schedule spells them; a bundle's as `t.loop`."
    ),
    "W0971": Explanation(
        "a handle without a map",
        "Nothing says which processors run it.\n\nwrong:  weft show-map gemm.weft step\nright:  weft show-map gemm.weft lanes",
    ),
    "W0972": Explanation("a schedule without a map", "There is nothing to show: `map tiles to blocks(y, x)` makes a map."),
    "W0973": Explanation(
        "a map that only a run can tell",
        "How many iterations or processors there are depends on sizes that the host learns at run time, or there are more than "
        "can be shown.\n\nright:  weft show-map gemm.weft --set m=512",
    ),
}
