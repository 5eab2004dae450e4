"""How each op becomes Python: importing this package registers all of them."""

from . import arithmetic, asynchronous, control, memory, vectors

__all__ = ["arithmetic", "asynchronous", "control", "memory", "vectors"]
