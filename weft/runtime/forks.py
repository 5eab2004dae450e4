"""What a process that was forked makes anew: a lock that another thread of its parent held would stay so for ever."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol
from weakref import WeakSet


class Renewed(Protocol):
    """What has a lock."""

    def renew(self) -> None:
        """Make the lock, and what may have been half changed under it, as at first."""
        ...


_renewed: WeakSet[Renewed] = WeakSet()


def renew_in_forks(owner: Renewed) -> None:
    """Have `owner.renew()` called in each process that is forked from this one, as long as `owner` is used."""
    _renewed.add(owner)


class Guard:
    """A lock for as long as the process lives, made anew in forks."""

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
