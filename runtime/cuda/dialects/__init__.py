"""The writers of ops, one file per MLIR dialect: importing this package registers all of them."""

from __future__ import annotations

from . import affine, arith, conversions, gpu, math, memref, memref_views, scf, vector

__all__ = ["affine", "arith", "conversions", "gpu", "math", "memref", "memref_views", "scf", "vector"]
