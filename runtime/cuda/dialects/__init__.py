"""The writers of ops, one file per MLIR dialect: importing this package registers all of them."""

from __future__ import annotations

from . import arith, gpu, math, memref, scf, vector

__all__ = ["arith", "gpu", "math", "memref", "scf", "vector"]
