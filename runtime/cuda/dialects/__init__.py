"""The writers of ops: importing this package registers all of them."""

from . import arith, asynchronous, control, fragments, math, memref, shuffles, vector

__all__ = ["arith", "asynchronous", "control", "fragments", "math", "memref", "shuffles", "vector"]
