"""Events are recorded before they are waited for and given back once; memory lives from stream to stream."""

from __future__ import annotations

from dataclasses import replace

import pytest
from runtime_programs import two_stream_plan

from weft.dsl.diagnostics import WeftError
from weft.runtime.plan.check import check, validate
from weft.runtime.plan.plan import AnyStep, Plan
from weft.runtime.run.issue import Command, commands, event_faults


def spelled(issued: tuple[Command, ...]) -> list[str]:
    return [f"{c.action} {c.step}" + (f" @{c.stream}" if c.action != "release" else "") for c in issued]


def test_commands() -> None:
    assert spelled(commands(two_stream_plan().steps)) == [
        "do 0 @0", "do 1 @0", "record 1 @0", "do 2 @1", "wait 1 @1", "release 1", "do 3 @1", "record 3 @1", "wait 3 @0",
        "release 3", "do 4 @0", "do 5 @0", "do 6 @0",
    ]  # fmt: skip


def test_one_stream_needs_no_events() -> None:
    steps = tuple(replace(s, stream=0) for s in two_stream_plan().steps)
    assert {c.action for c in commands(steps)} == {"do"}


def test_an_event_lives_until_its_last_wait() -> None:
    plan = two_stream_plan()
    steps: list[AnyStep] = list(plan.steps)
    steps[5] = replace(steps[5], stream=2, after=(1, 4))
    issued = commands(steps)
    assert not list(event_faults(issued))
    assert spelled(issued)[-6:] == ["wait 1 @2", "wait 4 @2", "release 1", "release 4", "do 5 @2", "do 6 @0"]


RECORD, WAIT, RELEASE = Command("record", 1), Command("wait", 1, 1), Command("release", 1)


@pytest.mark.parametrize(
    ("issued", "message"),
    [
        ((WAIT, RECORD, RELEASE), "before it is recorded"),
        ((RECORD, RELEASE, WAIT), "after it was given back"),
        ((RECORD, WAIT), "never given back"),
        ((RECORD, WAIT, RELEASE, RELEASE), "nobody has it"),
        ((RECORD, RECORD, WAIT, RELEASE), "recorded twice"),
    ],
)
def test_faults_of_events(issued: tuple[Command, ...], message: str) -> None:
    assert [text for _, text in event_faults(issued) if message in text]


def changed(number: int, **what: object) -> Plan:
    plan = two_stream_plan()
    steps: list[AnyStep] = list(plan.steps)
    steps[number] = replace(steps[number], **what)  # type: ignore[arg-type]
    return replace(plan, steps=tuple(steps))


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (changed(3, after=()), "steps[3]: `t` is allocated at steps[0], and nothing orders that before"),
        (changed(4, after=()), "steps[4]: `u` is allocated at steps[2], and nothing orders that before"),
        (changed(6, stream=1), "steps[6]: `u` is used at steps[4], and nothing orders that before"),
    ],
)
def test_lives_are_proven_across_streams(plan: Plan, message: str) -> None:
    messages = [d.message for d in check(plan)]
    assert any(message in m for m in messages), messages
    with pytest.raises(WeftError, match="W0706"):
        validate(plan)


def test_a_free_on_another_stream_that_waited_is_right() -> None:
    assert not list(check(changed(5, stream=1)))


def test_a_forward_wait_is_named_and_nothing_else_breaks() -> None:
    assert any("no earlier step" in d.message for d in check(changed(1, after=(6,))))
