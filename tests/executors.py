"""What an executor made of a kernel, beside what it should have: a mismatch names the executor, the element, got and expected.

Executors: the simulator, the CUDA text on the CPU (g++), the kernels compiled for the CPU, and the compiled payload, which is the
reference for all of them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from weft.runtime.plan.dtypes import widen
from weft.runtime.plan.signature import FunctionSignature
from weft.runtime.run.compare import Comparison, compare
from weft.runtime.run.report import Report
from weft.runtime.run.runner import RunResult


def named(device: Any) -> str:
    """`the simulator, unchecked`, `the text by g++, threads in reverse`."""
    name = device if isinstance(device, str) else device.name
    name = {"simulator": "the simulator", "g++": "the text by g++", "CPU": "the kernels on the CPU"}.get(name, name)
    unchecked = ", unchecked" if getattr(device, "check", True) is False else ""
    order = f", order {device.order}" if getattr(device, "order", "forward") != "forward" else ""
    return f"{name}{unchecked}{order}{', threads in reverse' if getattr(device, 'reverse', False) else ''}"


def culprit(device: Any) -> str:
    """What to mend: an executor that alone is wrong, or what all of them execute."""
    name = named(device)
    rooms = {"the simulator": "simulator", "the text by g++": "cuda", "the kernels on the CPU": "cpu"}
    room = next((room for start, room in rooms.items() if name.startswith(start)), None)
    mend = f"mend `weft/runtime/{room}/`" if room else f"mend {name}"
    return f"\nif the other executors agree with the reference, {mend}; if none does, mend what makes the kernel{alone()}"


def expect_clean(device: Any, ran: RunResult, shown: str = "") -> None:
    """No race and no fault."""
    __tracebackhide__ = True
    found = [*(ran.races or ()), *(ran.faults or ())]
    assert not found, f"{named(device)} reports {len(found)}, the first: {found[0]}{culprit(device)}{shown}"


def expect_report(report: Report, shown: object = "") -> None:
    """A run is right: the outputs are those of the reference, and a simulator reports no race and no fault."""
    __tracebackhide__ = True
    found = [f"`{output.name}`: {output.reason}" for output in report.outputs if output.reason]
    found += [str(each) for each in (*(report.races or ()), *(report.faults or ()))]
    right = report.ok is True and not found and (report.target != "sim" or (report.races, report.faults) == ((), ()))
    more = f", and {len(found) - 1} more" if len(found) > 1 else ""
    where = found[0] if found else f"{report}"
    assert right, f"{named(report.device)}: {where}{more}{culprit(report.device)}{shown and chr(10)}{shown}"


def expect_equal(
    device: Any, name: str, got: np.ndarray, wanted: np.ndarray, *,
    allowed: float = 0.0, atol: float = 0.0, rtol: float = 0.0, shown: str = "",
) -> None:  # fmt: skip
    """Each element is as expected: within `allowed` times the largest of them, or within `atol` + `rtol` times itself."""
    __tracebackhide__ = True
    assert got.shape == wanted.shape, f"{named(device)}: `{name}` is of shape {list(got.shape)}, expected {list(wanted.shape)}"
    mine, theirs = (a.view(np.uint8) if a.dtype == np.bool_ else a for a in (got, wanted))
    same = (mine == theirs) | ((mine != mine) & (theirs != theirs))
    if allowed or atol or rtol:
        mine, theirs = mine.astype(np.float64), theirs.astype(np.float64)
        with np.errstate(invalid="ignore"):
            same |= np.abs(mine - theirs) <= allowed * float(np.abs(theirs).max(initial=0)) + atol + rtol * np.abs(theirs)
    assert same.all(), f"{named(device)}: {_elements(name, mine, theirs, ~same)}{culprit(device)}{shown}"


def expect_computed(
    device: Any,
    ran: RunResult | Mapping[str, np.ndarray],
    signature: FunctionSignature,
    wanted: Mapping[str, np.ndarray],
    *,
    rounded: str | None = None,
    shown: str = "",
) -> Comparison:
    """The outputs are the reference's as far as `weft run` demands it, and there is no race and no fault."""
    __tracebackhide__ = True
    if isinstance(ran, RunResult):
        expect_clean(device, ran, shown)
    outputs = ran.outputs if isinstance(ran, RunResult) else ran
    found = compare(signature, outputs, wanted, rounded=rounded)
    assert found.ok, f"{mismatch(device, found, outputs, wanted)}{shown}"
    return found


def mismatch(device: Any, found: Comparison, got: Mapping[str, np.ndarray], wanted: Mapping[str, np.ndarray]) -> str:
    """A line for each output that is wrong; empty where none is."""
    lines = []
    for output in found.outputs:
        if output.ok:
            continue
        where = ""
        if output.worst is not None:
            mine, theirs = got[output.name][output.worst], wanted[output.name][output.worst]
            mine = widen(np.asarray([mine]), output.dtype)[0]
            where = f"`{output.name}`{list(output.worst)}: got {mine}, expected {theirs}; "
        lines.append(f"{named(device)}: {where or f'`{output.name}`: '}{output.reason}")
    return "\n".join(lines) + (culprit(device) if lines else "")


def _elements(name: str, got: np.ndarray, wanted: np.ndarray, wrong: np.ndarray) -> str:
    at = tuple(int(i) for i in np.unravel_index(int(wrong.argmax()), wrong.shape))
    return f"`{name}`{list(at)}: got {got[at]}, expected {wanted[at]}; {int(wrong.sum())} of {wrong.size} elements are wrong"


def alone() -> str:
    """How to run the test again."""
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]
    return f"\nthis case alone: pytest '{test}'" if test else ""
