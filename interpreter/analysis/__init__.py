"""Accesses, conflicts and barriers of a kernel: exact, by integer sets."""

from .barriers import Choice, Separation, choose_barriers
from .conflicts import Conflict, Instance, conflicts, conflicts_between_blocks
from .kernels import kernel_model
from .model import Access, Barrier, KernelModel, Loop

__all__ = [
    "Access", "Barrier", "Choice", "Conflict", "Instance", "KernelModel", "Loop", "Separation", "choose_barriers",
    "conflicts", "conflicts_between_blocks", "kernel_model",
]  # fmt: skip
