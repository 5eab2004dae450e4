"""Accesses, conflicts and barriers of a kernel: exact, by integer sets."""

from .kernels.kernels import kernel_model
from .kernels.model import Access, Barrier, KernelModel, Loop
from .races.barriers import ChosenBarriers, choose_barriers
from .races.conflicts import Conflict, Instance, conflicts, conflicts_between_blocks

__all__ = [
    "Access", "Barrier", "ChosenBarriers", "Conflict", "Instance", "KernelModel", "Loop", "choose_barriers",
    "conflicts", "conflicts_between_blocks", "kernel_model",
]  # fmt: skip
