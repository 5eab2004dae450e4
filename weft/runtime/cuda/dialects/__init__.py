"""The writers of ops; importing this package registers them."""

from . import arith, asynchronous, control, fragments, math, mbarriers, memref, shuffles, vector, warpgroups

__all__ = [
    "arith",
    "asynchronous",
    "control",
    "fragments",
    "math",
    "mbarriers",
    "memref",
    "shuffles",
    "vector",
    "warpgroups",
]
