"""`launch`: all maps of a loop realised at once, as a kernel of its own and the launch that takes the loop's place."""

from ..mapping.legality import check_map
from ..mapping.mapping import ATTRIBUTE, Mapping, mapping_of
from ..mapping.parallel import as_forall, reduces_nothing
from ..mapping.readiness import independent
from .kernel import LaunchInfo, find_kernel
from .launch import launch_loop

__all__ = [
    "ATTRIBUTE", "LaunchInfo", "Mapping", "as_forall", "check_map", "find_kernel", "independent", "launch_loop", "mapping_of",
    "reduces_nothing",
]  # fmt: skip
