"""Orders of a host function's steps that its tokens allow, and what comes out in each: two operations that nothing orders
are run the other way round.

Legal is what tokens and blocking waits leave open. A plan may order more than that: whatever is on one stream.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from .runtime.host.host import HostSteps
from .runtime.plan.dtypes import is_float, widen
from .runtime.plan.plan import Alloc, Buffer, BufferView, Fill, Free, Plan, ScalarValue
from .runtime.plan.uses import used_buffers
from .runtime.run.runner import run_plan
from .runtime.simulator.device import SimDevice

ALL = 7
"""Of so few steps all orders are tried."""

MOST_DRAWN = 200
"""Random orders that are drawn, of which those are run that turn round what no other order did."""

OTHERS_MEMORY = 99
"""What memory holds after it was freed, in an order in which it is still used: it is somebody else's by then."""


@dataclass(frozen=True)
class Difference:
    """One element that is not the same in two orders. Numbers as they are printed."""

    buffer: str
    element: tuple[int, ...]
    in_order: str
    swapped: str


def unordered_pair(steps: HostSteps, firsts: Sequence[int], seconds: Sequence[int]) -> tuple[int, int] | None:
    """One of `firsts` and a later one of `seconds` that does not have to wait for it."""
    before = closed(steps.needs)
    return next(((a, b) for b in seconds for a in firsts if a < b and not before[b] >> a & 1), None)


def closed(needs: Sequence[frozenset[int]]) -> list[int]:
    """For each step all that must be done before it, as bits."""
    found: list[int] = []
    for direct in needs:
        bits = 0
        for step in direct:
            bits |= found[step] | 1 << step
        found.append(bits)
    return found


def swapped_orders(steps: HostSteps, first: int, second: int, seed: int) -> Iterator[list[int]]:
    """Legal orders in which `second` comes before `first`: the one nearest to program order, the one with `second` as early
    as can be, then all others of a few steps, and random ones of many. Two that differ in nothing that shares a buffer are one."""
    before = closed(steps.needs)
    count = len(steps.needs)
    needed = [i for i in range(count) if before[second] >> i & 1]
    sharing = _sharing(steps.plan, before)
    seen: set[tuple[bool, ...]] = set()

    def candidates() -> Iterator[list[int]]:
        yield _first_of_all([*range(first), *needed, second], count)
        yield _first_of_all([*needed, second], count)
        if count <= ALL:
            yield from (order for order in all_orders(steps.needs) if order.index(second) < order.index(first))
            return
        draw = random.Random(seed)
        for _ in range(MOST_DRAWN):
            yield _drawn(steps.needs, {second: first}, draw)

    for order in candidates():
        place = {step: i for i, step in enumerate(order)}
        turned = tuple(place[a] > place[b] for a, b in sharing)
        if turned not in seen:
            seen.add(turned)
            yield order


def _first_of_all(head: Sequence[int], count: int) -> list[int]:
    early = list(dict.fromkeys(head))
    return [*early, *(i for i in range(count) if i not in set(early))]


def all_orders(needs: Sequence[frozenset[int]]) -> Iterator[list[int]]:
    """Every order that `needs` allows, program order first."""

    def after(order: list[int]) -> Iterator[list[int]]:
        if len(order) == len(needs):
            yield order
        for step, direct in enumerate(needs):
            if step not in order and direct.issubset(order):
                yield from after([*order, step])

    return after([])


def _drawn(needs: Sequence[frozenset[int]], ahead: Mapping[int, int], draw: random.Random) -> list[int]:
    """A random legal order with every key of `ahead` before its value."""
    missing = [len(direct) for direct in needs]
    behind: list[list[int]] = [[] for _ in needs]
    for step, direct in enumerate(needs):
        for earlier in direct:
            behind[earlier].append(step)
    for earlier, step in ahead.items():
        missing[step] += 1
        behind[earlier].append(step)
    ready = [step for step, count in enumerate(missing) if not count]
    order: list[int] = []
    while ready:
        step = ready.pop(draw.randrange(len(ready)))
        order.append(step)
        for later in behind[step]:
            missing[later] -= 1
            if not missing[later]:
                ready.append(later)
    return order


def _sharing(plan: Plan, before: Sequence[int]) -> list[tuple[int, int]]:
    """Pairs of steps in no order that touch one buffer."""
    used = [{name for name, _ in used_buffers(step, "")} for step in plan.steps]
    return [(a, b) for b in range(len(used)) for a in range(b) if used[a] & used[b] and not before[b] >> a & 1]


# ---- running --------------------------------------------------------------------------------------------------------


class Trial:
    """Runs of one host program on the simulator, on the same inputs, in one order after the other."""

    def __init__(self, steps: HostSteps, text: str, inputs: Mapping[str, np.ndarray], seconds: float) -> None:
        self.steps = steps
        self.text = text
        self.inputs = inputs
        self.device = SimDevice(check=False, seconds=seconds)
        self.buffers: dict[str, Buffer] = {b.name: b for b in steps.plan.buffers}
        self._in_order: dict[int | None, Mapping[str, np.ndarray]] = {}

    def difference(self, order: Sequence[int], freed: int | None = None) -> Difference | None:
        """The first element that comes out differently than in program order. `freed`: the step that frees memory while it
        is in use; what it holds is overwritten then.

        Errors: what the simulator raises.
        """
        if freed not in self._in_order:
            self._in_order[freed] = self._run(range(len(self.steps.needs)), freed)
        expected, got = self._in_order[freed], self._run(order, freed)
        for name, array in expected.items():
            found = _differs(array, got[name], self.buffers[name].dtype)
            if found is not None:
                at, left, right = found
                return Difference(name, at, left, right)
        return None

    def _run(self, order: Sequence[int], freed: int | None) -> Mapping[str, np.ndarray]:
        plan = self.steps.plan
        made = [self._overwritten(plan.steps[i]) if i == freed else plan.steps[i] for i in order]
        last = [Free(buffer=s.buffer) for s in made if isinstance(s, Alloc)]
        kept = [replace(s, stream=0, after=()) for s in made if not isinstance(s, Free)]
        return run_plan(replace(plan, steps=(*kept, *last)), self.device, self.inputs, text=self.text).outputs

    def _overwritten(self, step: object) -> Fill:
        if not isinstance(step, Free):
            raise ValueError("only memory that is freed becomes somebody else's")
        buffer = self.buffers[step.buffer]
        shape = tuple(int(n) for n in buffer.shape if isinstance(n, int))
        strides = tuple(int(np.prod(shape[i + 1 :], dtype=np.int64)) for i in range(len(shape)))
        value = float(OTHERS_MEMORY) if is_float(buffer.dtype) else buffer.dtype == "i1" or OTHERS_MEMORY
        return Fill(target=BufferView(buffer.name, 0, shape, strides), value=ScalarValue(buffer.dtype, value))


def _differs(a: np.ndarray, b: np.ndarray, dtype: str) -> tuple[tuple[int, ...], str, str] | None:
    if is_float(dtype):
        a, b = widen(a, dtype), widen(b, dtype)
        same = (a == b) | (np.isnan(a) & np.isnan(b))
    else:
        same = a == b
    if same.all():
        return None
    at = tuple(int(i) for i in np.unravel_index(int(np.argmin(same)), a.shape)) if a.ndim else ()
    return at, str(a[at]), str(b[at])


def first_difference(
    trial: Trial, orders: Iterator[list[int]], most: int, freed: int | None = None
) -> tuple[Difference | None, int]:
    """Try at most `most` orders; what the first found that differs, and how many were tried."""
    tried = 0
    for order in islice(orders, most):
        tried += 1
        if (found := trial.difference(order, freed)) is not None:
            return found, tried
    return None, tried



