"""Orders in which a device may do a plan's steps: any that keeps each stream in order and waits for its events.

A device that does everything at once when it is told (the simulator) shows with each of them what a real one may do.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from ..plan.plan import AnyStep


def interleaved(steps: Sequence[AnyStep], seed: int) -> list[int]:
    """The numbers of the steps in one legal order, chosen by `seed`.

    Every second seed lets a stream run on as long as it can, so that others lag far behind; the others change streams at
    every step.
    """
    draw = random.Random(seed)
    queues: dict[int, list[int]] = {}
    for i in reversed(range(len(steps))):
        queues.setdefault(steps[i].stream, []).append(i)
    waiters: dict[int, list[int]] = {}
    missing = [0] * len(steps)
    for i, step in enumerate(steps):
        for earlier in set(step.after):
            missing[i] += 1
            waiters.setdefault(earlier, []).append(i)
    ready = [stream for stream, queue in sorted(queues.items()) if not missing[queue[-1]]]
    order: list[int] = []
    while ready:
        at = len(ready) - 1 if seed % 2 and order else draw.randrange(len(ready))
        stream = ready.pop(at)
        number = queues[stream].pop()
        order.append(number)
        woken = []
        for waiter in waiters.get(number, ()):
            missing[waiter] -= 1
            queue = queues[steps[waiter].stream]
            if not missing[waiter] and queue[-1] == waiter and steps[waiter].stream != stream:
                woken.append(steps[waiter].stream)
        draw.shuffle(woken)
        ready += woken
        if queues[stream] and not missing[queues[stream][-1]]:
            ready.append(stream)
    return order
