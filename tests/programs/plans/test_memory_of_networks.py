"""The memory of temporaries of whole networks, scheduled by `weft:rest` alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import layers
import networks
import pytest
from random_networks import program

from weft import api
from weft.pipeline import applied, planned
from weft.runtime.plan.plan import Plan
from weft.runtime.plan.storage import storage_of

NETWORKS: dict[str, Callable[[], str]] = {**networks.NETWORKS, **layers.LAYERS}
NETWORKS |= {f"program {seed}": partial(lambda seed: program(seed).text, seed) for seed in (3, 25, 85, 98)}


def plan_of(text: str) -> Plan:
    return planned(applied(api.load(None, payload=text))).plan


@pytest.mark.few(3)
@pytest.mark.parametrize("network", NETWORKS)
def test_within_a_tenth_of_what_is_live(network: str) -> None:
    found = storage_of(plan_of(NETWORKS[network]()))
    assert found.needed == max(found.live) <= found.size <= 1.1 * found.needed
    assert found.size < 0.8 * found.apart and found.by_streams == 0
