"""The passes of a launch: each takes what one before it has made, and what it does is in a file of its own or its subject's."""

from __future__ import annotations

from dataclasses import MISSING, fields

from weft.interpreter.launch.launch import PASSES, LaunchState

PARTS = {field.name: field for field in fields(LaunchState)}


def test_what_passes_need_is_there() -> None:
    """It has been made; where its pass may have been left out, it is there from the beginning."""
    there = {name for name, field in PARTS.items() if field.init}
    assert {name for name in there if PARTS[name].default is MISSING and PARTS[name].default_factory is MISSING} == {"kernel"}
    for one in PASSES:
        needed = {name.partition(".")[0] for name in one.needs.split()}
        assert needed <= there, f"{one.run.__name__} needs {needed - there}"
        assert set(one.makes.split()) <= set(PARTS), one.run.__name__
        if not one.of:
            there |= set(one.makes.split())
    assert there == set(PARTS)


def test_what_passes_make_is_needed() -> None:
    """By another one, or it is the kernel's in the end."""
    last = {"remarks", "on_maps", "passed", "shares", "shared_bytes", "geometry", "grid"}
    needed = {name.partition(".")[0] for one in PASSES for name in one.needs.split()}
    assert {name for one in PASSES for name in one.makes.split()} <= needed | last


def test_clusters_are_one_line() -> None:
    assert [one.run.__name__ for one in PASSES if one.run.__module__.endswith(".clusters")] == ["run_in_clusters"]
