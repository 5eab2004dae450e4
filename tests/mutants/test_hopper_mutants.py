"""Each mistake in what the recipes `hopper` and `igemm_hopper` make is found by those who must find it, and what is right raises no
alarm.

Seven of the table in a test run, all of it in a soak (`WEFT_SOAK`).
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from functools import cache

import pytest
from cluster_mutants import CLUSTER
from flight_mutants import FLIGHT
from hopper import rankings
from hopper_kernels import RECIPES, kernel
from hopper_mutants import MUTANTS, Mutant
from hopper_verdicts import Runs, proof
from pixel_mutants import PIXELS
from store_mutants import STORES

from weft.runtime.simulator.kernel import Order

SOAK = "WEFT_SOAK" in os.environ
ORDERS: list[Order] = ["forward", "reverse", *range(6)] if SOAK else ["forward", 0]
TABLE = {**MUTANTS, **CLUSTER, **STORES, **PIXELS, **FLIGHT}
ENOUGH = 40
QUICK = (
    "one consumer does not wait for full stages", "a stage is released before its product", "the next stage is released",
    "the producer takes registers, too", "too few bytes", "products read another stage", "both consumers multiply the first rows",
    "a ring of two of three stages", "a stage is released in one's own block alone",
    "pixels land in another stage", "warp groups meet at one barrier", "a thread waits behind the meeting",
    "three products are in flight", "a product more is in flight, of tiles", "a stage is left in front of the next product",
    "products of three steps overlap",
    "some warp groups wait for products once more", "one thread waits for products by itself",
    "threads swizzle, boxes do not", "no fence in front of boxes, of pixels", "all parts go to the first one's columns",
)  # fmt: skip


@cache
def runs(name: str) -> Runs:
    return Runs(kernel(name))


@pytest.mark.few(4)
@pytest.mark.parametrize("name", RECIPES)
def test_the_kernels_are_right(name: str) -> None:
    text = kernel(name).text
    assert not proof(text)
    assert not any(runs(name).simulated(text, order) for order in ORDERS)
    assert not any(runs(name).native(text, reverse=reverse) for reverse in (False, True))


def test_each_recipe_has_enough_mistakes() -> None:
    assert sum(map(len, (MUTANTS, CLUSTER, STORES, PIXELS, FLIGHT))) == len(TABLE), "no two have one name"
    of = Counter(RECIPES[mutant.of][0] for mutant in TABLE.values())
    assert set(of) == {"hopper", "igemm_hopper"} and min(of.values()) >= ENOUGH, of


@pytest.mark.few(7)
@pytest.mark.parametrize("name", TABLE if SOAK else QUICK)
def test_mistakes_are_found(name: str) -> None:
    mutant = TABLE[name]
    text, run = mutant.text(), runs(mutant.of)
    said = proof(text)
    if mutant.kind == "order":
        assert said & mutant.codes, said
        expect_alarms(mutant, text)
        return
    assert not said
    simulated, native = [run.simulated(text, order) for order in ORDERS], run.native(text)
    if mutant.kind == "value":
        assert all("values" in found for found in simulated) and native, (simulated, native)
    else:
        assert not any(simulated) and not native, (simulated, native)


def test_a_map_of_more_axes_than_its_boxes() -> None:
    """No mistake in what is ordered; nothing makes such a map."""
    text = replace(MUTANTS["the right operand of the wrong matrix"], of="conv").text()
    assert not proof(text) and runs("conv").simulated(text) == {"refused"}


def expect_alarms(mutant: Mutant, text: str) -> None:
    """In each order; or, where it takes a slow thread, in one of those in which one after the other is slow."""
    if mutant.seldom:
        assert any(runs(mutant.of).simulated(text, order) & mutant.found for order in rankings(mutant.seldom))
        return
    for order in ORDERS:
        found = runs(mutant.of).simulated(text, order)
        assert found & mutant.found, (order, found)
