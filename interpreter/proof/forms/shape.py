"""Block and grid sizes of a kernel, as far as they are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .linear import Linear

Sizes = tuple[int | None, int | None, int | None]


@dataclass(frozen=True)
class LaunchShape:
    """Threads per block and blocks per grid, (x, y, z); None where the launch decides."""

    block: Sizes = (None, None, None)
    grid: Sizes = (None, None, None)

    def size(self, what: str, axis: str) -> int | None:
        sizes = self.block if what in ("thread_id", "block_dim") else self.grid
        return sizes["xyz".index(axis)]

    @property
    def threads(self) -> int | None:
        """Threads per block."""
        x, y, z = self.block
        return None if x is None or y is None or z is None else x * y * z

    def linear_id(self, ids: Sequence[Linear]) -> Linear:
        """x + X*(y + Y*z), the order in which hardware counts threads. Block sizes must be known."""
        x, y, _ = self.block
        return ids[0] + ids[1] * (x or 1) + ids[2] * ((x or 1) * (y or 1))
