"""The writers of ops: importing this package registers all of them."""

from . import arith, control, math, memref, vector

__all__ = ["arith", "control", "math", "memref", "vector"]
