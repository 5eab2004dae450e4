"""How each op becomes Python: importing this package registers all of them."""

from . import arithmetic, asynchronous, control, fragments, groups, memory, printing, vectors

__all__ = ["arithmetic", "asynchronous", "control", "fragments", "groups", "memory", "printing", "vectors"]
