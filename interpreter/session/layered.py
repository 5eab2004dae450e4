"""A mapping that is never changed and that grows cheaply: what a state of the session holds, thousands of times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")
MOST = 64


class Layered(Mapping[K, V]):
    """A mapping, and a few entries in front of it; a longer one shares the mapping with it."""

    __slots__ = ("_base", "_top")

    def __init__(self, base: Mapping[K, V], top: Mapping[K, V]) -> None:
        self._base, self._top = base, top

    def __getitem__(self, key: K) -> V:
        return self._top[key] if key in self._top else self._base[key]

    def __iter__(self) -> Iterator[K]:
        yield from self._base
        yield from (key for key in self._top if key not in self._base)

    def __len__(self) -> int:
        return len(self._base) + sum(key not in self._base for key in self._top)

    def __contains__(self, key: object) -> bool:
        return key in self._top or key in self._base


def extended(mapping: Mapping[K, V], new: Mapping[K, V]) -> Mapping[K, V]:
    """The mapping with these entries, which replace its own."""
    if not new:
        return mapping
    base, top = (mapping._base, mapping._top) if isinstance(mapping, Layered) else (mapping, {})
    if len(top) + len(new) > MOST:
        return {**base, **top, **new}
    return Layered(base, {**top, **new})
