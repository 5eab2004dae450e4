"""A plan's steps as a runner issues them: what is done, which events are recorded, waited for and given back, in order.

An event is recorded right behind its step, and given back when the last step that waits for it has been issued: CUDA
lets the waits stand when an event is recorded anew (`cudaStreamWaitEvent`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ..plan.plan import Alloc, AnyStep, Free, Plan
from ..plan.uses import used_buffers

Action = Literal["do", "record", "wait", "release"]


@dataclass(frozen=True)
class Command:
    """`do` a step; `record` its event on its stream; let `stream` `wait` for it; `release` it.

    Args:
        step: the number of the step that is done, or whose event it is.
        stream: where.
    """

    action: Action
    step: int
    stream: int = 0


def commands(steps: Sequence[AnyStep], order: Sequence[int] | None = None) -> tuple[Command, ...]:
    """All that is to be issued: the steps as they stand, or in `order`, which streams and events must allow."""
    order = range(len(steps)) if order is None else order
    last_wait: dict[int, int] = {}
    for i in order:
        for earlier in _events(steps, steps[i]):
            last_wait[earlier] = i
    found: list[Command] = []
    for i in order:
        step = steps[i]
        waits = _events(steps, step)
        found += [Command("wait", earlier, step.stream) for earlier in waits]
        found += [Command("release", earlier) for earlier in waits if last_wait[earlier] == i]
        found.append(Command("do", i, step.stream))
        if i in last_wait:
            found.append(Command("record", i, step.stream))
    return tuple(found)


def _events(steps: Sequence[AnyStep], step: AnyStep) -> list[int]:
    """The steps whose events it waits for: what is on its own stream is done before anyway."""
    return [earlier for earlier in dict.fromkeys(step.after) if steps[earlier].stream != step.stream]


def event_faults(issued: Sequence[Command]) -> Iterator[tuple[int, str]]:
    """What is wrong with the life of events: each is recorded once, waited for while it is there, and given back once."""
    alive: set[int] = set()
    recorded: set[int] = set()
    for command in issued:
        event = command.step
        if command.action == "record":
            if event in recorded:
                yield event, "its event is recorded twice"
            alive.add(event)
            recorded.add(event)
        elif command.action == "wait" and event not in alive:
            yield (
                event,
                f"its event is waited for {'after it was given back' if event in recorded else 'before it is recorded'}",
            )
        elif command.action == "release":
            if event not in alive:
                yield event, "its event is given back, and nobody has it"
            alive.discard(event)
    yield from ((event, "its event is never given back") for event in sorted(alive))


def unordered_uses(plan: Plan) -> Iterator[tuple[int, str]]:
    """Temporaries that one stream uses before another has allocated them, or frees while another uses them."""
    allocated: dict[str, int] = {}
    uses: dict[str, int] = {}
    for i, (step, before) in enumerate(zip(plan.steps, _behind(plan.steps), strict=True)):
        for name in {name for name, _ in used_buffers(step, "")}:
            if isinstance(step, Alloc):
                allocated[name] = i
                continue
            if name in allocated and not before >> allocated[name] & 1:
                yield i, f"`{name}` is allocated at steps[{allocated[name]}], and nothing orders that before"
            missing = uses.get(name, 0) & ~before if isinstance(step, Free) else 0
            if missing:
                yield i, f"`{name}` is used at steps[{missing.bit_length() - 1}], and nothing orders that before"
            uses[name] = uses.get(name, 0) | 1 << i


def _behind(steps: Sequence[AnyStep]) -> Iterator[int]:
    """For each step, as bits, those that are certainly done before it. Sets are dropped when nobody needs them any more."""
    needed_until: dict[int, int] = {}
    last: dict[int, int] = {}
    for i, step in enumerate(steps):
        for earlier in (*step.after, *([last[step.stream]] if step.stream in last else [])):
            needed_until[earlier] = i
        last[step.stream] = i
    last.clear()
    kept: dict[int, int] = {}
    for i, step in enumerate(steps):
        sources = {*step.after, *([last[step.stream]] if step.stream in last else [])}
        bits = 0
        for earlier in sources:
            bits |= kept[earlier] | 1 << earlier
            if needed_until[earlier] == i:
                del kept[earlier]
        if i in needed_until:
            kept[i] = bits
        last[step.stream] = i
        yield bits
