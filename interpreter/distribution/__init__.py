"""Which processor does which iteration: the maps that `map` records, and `launch`, which makes a kernel of them all at once."""

from .iterations import independent
from .kernel import LaunchInfo, find_kernel
from .launch import launch_loop
from .legality import check_map
from .mapping import ATTRIBUTE, Mapping, mapping_of
from .parallel import as_forall, reduces_nothing

__all__ = [
    "ATTRIBUTE", "LaunchInfo", "Mapping", "as_forall", "check_map", "find_kernel", "independent", "launch_loop", "mapping_of",
    "reduces_nothing",
]  # fmt: skip
