"""The writers of ops: importing this package registers all of them."""

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
