"""The plans of a function's versions as one plan, of which a run does the first version whose assumptions hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...dsl.diagnostics import fail
from ..plan.plan import AnyStep, Buffer, KernelEntry, Plan


def together(plans: Sequence[Plan]) -> Plan:
    """One plan of several. Their temporaries have different names; all else that they share is the same.

    Errors: W0735 where a result has not the same sizes in all of them.
    """
    buffers: dict[str, Buffer] = {}
    kernels: dict[str, KernelEntry] = {}
    steps: list[AnyStep] = []
    for number, plan in enumerate(plans):
        for buffer in plan.buffers:
            if buffers.setdefault(buffer.name, buffer) != buffer:
                message = f"the versions of @{plan.entry} do not agree on the sizes of `{buffer.name}`, or on whether it is written"
                raise fail("W0735", message)
        kernels |= {kernel.name: kernel for kernel in plan.kernels}
        first = len(steps)
        steps += (replace(step, after=tuple(first + s for s in step.after), in_version=number) for step in plan.steps)
    fewest = [plan.fewest_streams for plan in plans if plan.fewest_streams is not None]
    return replace(
        plans[0],
        buffers=tuple(buffers.values()),
        steps=tuple(steps),
        kernels=tuple(kernels.values()),
        fewest_streams=max(fewest, default=None),
        assumptions=(),
        versions=tuple(plan.assumptions for plan in plans),
    )
