"""Translation of ops to Python: importing this package registers all handlers."""

from . import arithmetic, asynchronous, control, fragments, groups, memory, printing, vectors

__all__ = ["arithmetic", "asynchronous", "control", "fragments", "groups", "memory", "printing", "vectors"]
