"""Whichever launch of a plan fails: all that was made is given back, and the failure is what is reported."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from weft.dsl.diagnostics import WeftError, fail
from weft.runtime.plan.plan import Plan
from weft.runtime.run import runner
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice


def ones(plan: Plan) -> dict[str, np.ndarray]:
    return {b.name: np.full(64, i % 7 + 1, np.float32) for i, b in enumerate(plan.inputs)}


class _NoNumbers(SimDevice):
    """A device that computes nothing, and whose launch with the number `fail_at` fails."""

    def __init__(self, fail_at: int) -> None:
        super().__init__(check=False)
        self.left = fail_at

    def launcher(self, *args: Any) -> Callable[[], None]:
        def launched() -> None:
            self.left -= 1
            if self.left < 0:
                raise fail("W0723", "made to fail")

        return launched


def expect_given_back(plan: Plan, seed: int, failing: range, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever launch fails; that of a number behind the last: none."""
    inputs = ones(plan)
    count = len(plan.launches)
    resolved = runner.resolve(plan, {b.name: (64,) for b in plan.inputs}, {})
    monkeypatch.setattr(runner, "resolve", lambda *_: resolved)  # the same each time, and most of the time that a run takes
    for fail_at in (*failing, count):
        device = _NoNumbers(fail_at)
        try:
            result = run_plan(plan, device, inputs, order=seed)
            assert fail_at == count
            assert result.streams_created == result.streams_destroyed > 0
            assert result.events_created == result.events_destroyed
        except WeftError as error:
            assert fail_at < count and [d.message for d in error.diagnostics] == ["made to fail"]
        assert device.alive.total() == 0, fail_at
