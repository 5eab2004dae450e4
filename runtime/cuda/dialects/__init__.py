"""The writers of ops: importing this package registers all of them."""

from . import arith, asynchronous, control, math, memref, vector

__all__ = ["arith", "asynchronous", "control", "math", "memref", "vector"]
