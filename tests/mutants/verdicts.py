"""Who says what of a module: the proof (`weft verify`), the simulator, and the text, run on the CPU; and whether they agree.

Of a mutant each witness has objections, or none. What must be:

- races, reads of shared memory that nobody wrote, and barriers that not all threads reach: the proof and the simulator agree;
- operations of the host that no token orders, and those that nobody waits for: likewise (`token_verdicts.py`);
- without a race, a kernel has one result: where the simulator sees another value than the right kernel's, or a write out of
  bounds, the text gives another value, or an index leaves its memory; and where the text does, the simulator sees a reason.
  (What is read out of bounds, or unwritten, and then used for nothing, is a fault on the simulator that no value shows.)
- so where nobody objects, all values are the right kernel's, bit by bit, on inputs, and on poison, of more than one kind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from mutations import context
from native import KERNEL
from native_device import NativeDevice

from weft.dsl.diagnostics import Source, WeftError
from weft.interpreter.ir import mlir
from weft.interpreter.ir.mlir import ir
from weft.runtime.cpu.reference import reference
from weft.runtime.cuda.module import emit
from weft.runtime.files.inputs import random_inputs
from weft.runtime.host import functions
from weft.runtime.host.host import make_plan
from weft.runtime.plan.dtypes import NUMPY
from weft.runtime.plan.plan import KernelEntry, Plan
from weft.runtime.run.compare import compare
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice
from weft.verify import verify_source

INPUTS = 2
POISONS = (0xFF, 0x7F, 0x80)
"""NaNs, and numbers that are too large, or too small, to hide in a minimum or maximum."""
REFUSED = frozenset({"no plan"})
CHANGES = {"values", "out-of-bounds write", "divergent barrier"}
ORDER = {"W0601": "race", "W0602": "race", "W0603": "divergent barrier", "W0610": "unwritten"}

Outputs = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Right:
    """A right program: the payload, and the module that was made of it."""

    payload: ir.Module
    entry: str
    text: str


@dataclass(frozen=True)
class Seen:
    """What a witness objects to, and the results for each of the inputs, if it got so far."""

    objections: frozenset[str]
    outputs: tuple[Outputs, ...] = ()


class GuardedDevice(NativeDevice):
    """Memory with poison on both sides of it. `prefix`: of the names of kernels in a text of several modules."""

    def __init__(self, prefix: str, poison_byte: int) -> None:
        super().__init__("guarded")
        self.prefix, self.byte = prefix, poison_byte
        self.rooms: list[tuple[np.ndarray, np.ndarray, int]] = []

    def alloc(self, name: str, dtype: str, count: int) -> np.ndarray:
        zone, size = 64 * (count // 4 + 64), count * NUMPY[dtype].itemsize
        room = np.full(zone + size + zone, self.byte, np.uint8)
        room[:: NUMPY[dtype].itemsize] -= len(self.rooms)  # no two alike: what is copied from one to the other is seen
        self.rooms.append((room, room.copy(), zone))
        return room[zone : zone + size].view(NUMPY[dtype])

    def part(self, storage: np.ndarray, name: str, dtype: str, count: int, place: int) -> np.ndarray:
        return self.alloc(name, dtype, count)

    def launch(self, kernel: KernelEntry, *args: Any) -> None:
        super().launch(replace(kernel, name=self.prefix + kernel.name), *args)
        self.outside |= any((room != was)[np.r_[:zone, -zone:0]].any() for room, was, zone in self.rooms)

    def _options(self) -> dict[str, Any]:
        return {"poison": self.byte}


class Witnesses:
    """The witnesses of a right program and its mutants; number 0 is the program itself."""

    def __init__(self, right: Right, texts: Sequence[str], seed: int) -> None:
        self.texts = texts
        self.signature = functions.signature(right.payload, right.entry)
        self.inputs = [random_inputs(self.signature, seed + n) for n in range(INPUTS)]
        self.expected = [reference(right.payload, right.entry, given) for given in self.inputs]
        self.plans: list[Plan | None] = []
        parts: list[str] = []
        for number, text in enumerate(texts):
            module = mlir.parse(text, context())
            try:
                self.plans.append(make_plan(module, right.entry))
                cuda = KERNEL.sub(lambda found, n=number: found[0].replace(f" {found[1]}(", f" m{n}_{found[1]}("), emit(module))
                parts.append(f"inline namespace m{number} {{\n{cuda}\n}}")
            except WeftError:
                self.plans[number:] = [None]
        self.unit = "\n".join(parts)

    def proof(self, number: int) -> Seen:
        try:
            codes = {d.code for d in verify_source(Source("module.mlir", self.texts[number])).diagnostics}
        except WeftError as error:
            codes = {d.code for d in error.diagnostics}
        return Seen(frozenset(ORDER.get(code, code) for code in codes))

    def simulator(self, number: int, right: Seen | None = None) -> Seen:
        """`right`: what it saw of the right program: `values` are objected to that are not the same."""

        def run(plan: Plan, which: int) -> tuple[set[str], Outputs]:
            ran = run_plan(plan, device, self.inputs[which], text=self.texts[number])
            buffers = {b.name for b in plan.buffers}
            unread = [f for f in ran.faults or () if f.kind == "uninitialized read" and "nobody" in f.message]
            said = {fault.kind for fault in ran.faults or ()} | ({"race"} if ran.races else set())
            return said | ({"unwritten"} if any(f.buffer not in buffers for f in unread) else set()), ran.outputs

        device = SimDevice()
        seen = self._seen(INPUTS, number, right, run)
        self.work = sum(report.statistics.loads + report.statistics.stores for _, report in device.reports)
        return seen

    def cpu(self, number: int, right: Seen | None = None) -> Seen:
        """The text, compiled for the CPU; `right` as above."""

        def run(plan: Plan, which: int) -> tuple[set[str], Outputs]:
            device = GuardedDevice(f"m{number}_", POISONS[which])
            try:
                outputs = run_plan(plan, device, self.inputs[which % INPUTS], text=self.unit).outputs
            except AssertionError:
                return {"divergent barrier"}, {}
            return {"out of bounds"} if device.outside else set(), outputs

        return self._seen(len(POISONS), number, right, run)

    def _seen(self, times: int, number: int, right: Seen | None, run: Callable[[Plan, int], tuple[set[str], Outputs]]) -> Seen:
        """Runs on one input after the other, until there is something to object to."""
        plan, outputs = self.plans[number], []
        for which in range(times):
            if plan is None:
                return Seen(REFUSED)
            try:
                said, made = run(plan, which)
            except WeftError as error:
                return Seen(frozenset(d.code for d in error.diagnostics))
            outputs.append(made)
            wanted = right.outputs[which] if right is not None and made else {}
            said |= {"values"} if any(made[name].tobytes() != array.tobytes() for name, array in wanted.items()) else set()
            if said:
                return Seen(frozenset(said), tuple(outputs))
        return Seen(frozenset(), tuple(outputs))

    def agree(self, one: Sequence[Outputs], other: Sequence[Outputs]) -> bool:
        """Within what rounding may do."""
        return all(compare(self.signature, a, b).ok for a, b in zip(one, other, strict=False))


def disagreement(proof: Seen, simulator: Seen, text: Seen) -> str:
    """What the witnesses of a mutant do not agree on; empty if they do."""
    said, ran, cpu = proof.objections, simulator.objections, text.objections
    if ran == cpu == REFUSED:
        return ""  # the plan of a grid that the kernel does not allow: nothing runs
    if not any(each.startswith("out-of-bounds") for each in ran):
        if ("race" in said) != ("race" in ran):
            return "races"
        if "race" not in ran:
            for each in ("unwritten", "divergent barrier"):
                if (each in said) != (each in ran):
                    return each
    return "values" if "race" not in ran and ((cpu and not ran) or (ran & CHANGES and not cpu)) else ""
