"""The simulator's table of rings with one mistake each: the proof finds every one of them, too."""

from __future__ import annotations

import pytest
from group_mutants import EQUAL, MUTANTS, SELDOM
from proven import expect_proven
from signal_rings import Machine, Ring
from test_products import judged, said

from weft.dsl.diagnostics import WeftError


@pytest.mark.parametrize("name", MUTANTS)
def test_each_mistake_is_found_by_the_proof_too(name: str) -> None:
    try:
        found = said(MUTANTS[name].text())
    except WeftError as refused:
        found = list(refused.diagnostics)
    assert found


def test_what_is_right_all_the_same_is_proven() -> None:
    found = judged(EQUAL["a fence too many"].text())
    expect_proven(found)


def test_a_release_of_the_next_stage_can_be_too_early() -> None:
    """Most runs are right. But who reads may have released a stage before the one that loads waits for it the first time: that
    waits for the phase behind then, forever."""
    found = said(SELDOM["release of another stage"].text())
    assert found[0].code == "W0662" and any("of phase -1 of `empty[1]`" in note for note in found[0].notes)
    assert Machine(Ring(stages=3, trips=7, readers=2, release=1), most=200_000).faults == {"deadlock"}
