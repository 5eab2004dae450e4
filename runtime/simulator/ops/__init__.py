"""How each op becomes Python: importing this package registers all of them."""

from . import arithmetic, control, memory, vectors

__all__ = ["arithmetic", "control", "memory", "vectors"]
