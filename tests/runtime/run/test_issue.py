"""Events are recorded before they are waited for and given back once; memory lives from stream to stream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from numpy_device import NumpyDevice
from runtime_programs import two_stream_plan

from weft.dsl.diagnostics import WeftError
from weft.runtime.plan.check import check, validate
from weft.runtime.plan.plan import AnyStep, Plan
from weft.runtime.plan.resolve import resolve
from weft.runtime.run.work import Pool, Work


class Journal(NumpyDevice):
    """Writes down what streams and events are told, and proves that an event is recorded before anybody waits for it, and not
    anew as long as somebody may."""

    def __init__(self) -> None:
        super().__init__({"scale": lambda x, y, factor: None})
        self.said: list[str] = []

    def create_stream(self) -> int:
        self._call("create_stream")
        return len([call for call in self.log if call[0] == "create_stream"]) - 1

    def record(self, event: int, stream: int) -> None:
        self.said.append(f"record {event} @{stream}")

    def wait(self, stream: int, event: int) -> None:
        assert any(said.startswith(f"record {event} ") for said in self.said)
        self.said.append(f"wait {event} @{stream}")


def issued(steps: Sequence[AnyStep]) -> list[str]:
    device = Journal()
    plan = resolve(replace(two_stream_plan(), steps=tuple(steps)), {}, {"factor": 3.0})
    work = Work(plan, device, Pool(device))
    for stream in sorted({step.stream for step in steps}):
        work.pool.stream(stream)
    for buffer in plan.buffers:
        if buffer.role != "temp":
            work.alloc(buffer)
    names: dict[str, str] = {}
    for number, action in work.once(poison=False):
        action()
        if number is not None:
            device.said.append(f"do {number} @{steps[number].stream}")
    for said in device.said:
        if said.startswith(("record", "wait")):
            names.setdefault(said.split()[1], "abc"[len(names)])
    return [" ".join(names.get(word, word) for word in said.split()) if said[0] != "d" else said for said in device.said]


def test_what_is_issued() -> None:
    assert issued(two_stream_plan().steps) == [
        "do 0 @0", "do 1 @0", "record a @0", "do 2 @1", "wait a @1", "do 3 @1", "record a @1", "wait a @0", "do 4 @0",
        "do 5 @0", "do 6 @0",
    ]  # fmt: skip


def test_one_stream_needs_no_events() -> None:
    steps = tuple(replace(s, stream=0) for s in two_stream_plan().steps)
    assert all(said.startswith("do") for said in issued(steps))


def test_an_event_lives_until_its_last_wait() -> None:
    steps: list[AnyStep] = list(two_stream_plan().steps)
    steps[5] = replace(steps[5], stream=2, after=(1, 4))
    found = issued(steps)
    assert found[-4:] == ["wait a @2", "wait b @2", "do 5 @2", "do 6 @0"]
    assert [said for said in found if said.startswith("record")] == ["record a @0", "record b @1", "record b @0"]


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
    assert any("not an earlier step" in d.message for d in check(changed(1, after=(6,))))
