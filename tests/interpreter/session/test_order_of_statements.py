"""Statements in the wrong order: a refusal names those behind the refused one that belong in front of it, where that helps."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from places import ROOT

import weft
from weft.dsl.diagnostics import Diagnostic, WeftError
from weft.pipeline import applied

LADDER = ROOT / "docs" / "warpgroups" / "3-producer.weft"
SIZES = {"m": 256, "n": 256, "k": 512}


def moved(which: Sequence[str], behind: str) -> str:
    """The schedule with these lines behind another one."""
    lines = LADDER.read_text().splitlines()
    rest = [line for line in lines if not any(word in line for word in which)]
    at = next(n for n, line in enumerate(rest) if behind in line) + 1
    return "\n".join([*rest[:at], *(line for line in lines if line not in rest), *rest[at:]])


def refused(text: str) -> Diagnostic:
    with pytest.raises(WeftError) as caught:
        applied(weft.load(text, settings=SIZES))
    return caught.value.diagnostics[0]


def test_copies_that_are_mapped_behind_the_pipeline() -> None:
    said = refused(moved(["to tma"], "pipeline k"))
    assert said.code == "W0376" and said.hint == (
        "move `map copy_a to tma` (line 21), `map copy_b to tma` (line 22) before this `pipeline`: then it is legal"
    )
    assert "move `map copy_b to tma` (line 22) before" in str(refused(moved(["copy_b to tma"], "pipeline k")).hint)


def test_a_producer_before_there_are_warp_groups() -> None:
    said = refused(moved(["pipeline k"], "map copy_b"))
    assert said.code == "W0406" and said.hint == (
        "move `let (groups, group_mm) = tile step [64, _]` (line 19), `map groups to warpgroups(y)` (line 20) before this "
        "`pipeline`: then it is legal"
    )


def test_a_product_of_a_warp_group_before_the_map() -> None:
    said = refused(moved(["map groups"], "let product"))
    assert said.code == "W0379" and said.hint == (
        "move `map groups to warpgroups(y)` (line 20) before this `mma`: then it is legal"
    )
    without = refused(LADDER.read_text().replace("  map groups to warpgroups(y)\n", ""))
    assert without.code == "W0379" and without.hint == "`map` the loop around the op `to warpgroups(y)`, before `mma`"


def test_barriers_behind_the_launch() -> None:
    said = refused(moved(["insert-barriers"], "launch tiles"))
    assert said.code == "W0605" and "before `launch`" in str(said.hint)


def test_nothing_is_moved_where_that_does_not_help() -> None:
    """The copies' maps stand behind the pipeline, but there would be no producer with them either."""
    text = moved(["to tma"], "pipeline k").replace("map copy_b to tma", "map copy_b to threads(*) cyclic")
    assert "move" not in str(refused(text).hint)


@pytest.mark.parametrize(("by_threads", "by_boxes"), ["AB", "BA"])
def test_a_copy_by_threads_beside_one_by_boxes(by_threads: str, by_boxes: str) -> None:
    name = by_threads.lower()
    text = LADDER.read_text().replace(f"map copy_{name} to tma", f"map copy_{name} to threads(*) cyclic")
    said = refused(text)
    assert said.code == "W0376" and said.message == (
        f"the copy to `{by_threads}_shared` is mapped to `threads(*) cyclic`, the one to `{by_boxes}_shared` to `tma`"
    )
    assert f"`map` the copy to `{by_threads}_shared` `to tma`" in str(said.hint)
