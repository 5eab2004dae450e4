"""How each op becomes Python: importing this package registers all of them."""

from __future__ import annotations

from . import affine, arithmetic, control, gpu, memory, transfers, vectors

__all__ = ["affine", "arithmetic", "control", "gpu", "memory", "transfers", "vectors"]
