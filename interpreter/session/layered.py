"""A mapping that is never changed and that grows cheaply: what a state of the session holds, thousands of times."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping
from typing import TypeVar, cast

K = TypeVar("K")
V = TypeVar("V")
MOST = 64


def extended(mapping: Mapping[K, V], new: Mapping[K, V]) -> Mapping[K, V]:
    """The mapping with these entries, which replace its own: a few in front of a long one that others share."""
    if not new:
        return mapping
    top, base = mapping.maps if isinstance(mapping, ChainMap) else ({}, mapping)
    if len(top) + len(new) > MOST:
        return {**base, **top, **new}
    return ChainMap({**top, **new}, cast(dict[K, V], base))
