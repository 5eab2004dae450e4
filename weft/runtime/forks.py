"""State that a forked process must renew: a lock held by another thread of its parent would stay
locked forever."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol
from weakref import WeakSet


class Renewed(Protocol):
    """An object with a lock."""

    def renew(self) -> None:
        """Replaces the lock, and resets state that may have been half changed under it."""
        ...


_renewed: WeakSet[Renewed] = WeakSet()


def renew_in_forks(owner: Renewed) -> None:
    """Registers `owner.renew()` to run in each process forked from this one, for as long as `owner`
    lives."""
    _renewed.add(owner)


class Guard:
    """A process-wide lock, renewed in forks."""

    def __init__(self, make: Callable[[], AbstractContextManager[object]]) -> None:
        self._make = make
        self.renew()
        renew_in_forks(self)

    def renew(self) -> None:
        self.lock = self._make()


def _renew() -> None:
    for owner in list(_renewed):
        owner.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)
