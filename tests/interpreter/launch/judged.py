"""Schedules and payloads as texts, run for their numbers: the simulator on the module, g++ on the text, the JIT as the oracle."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from executors import mismatch
from native_device import NativeDevice

from weft.dsl.diagnostics import WeftError, render
from weft.pipeline import Choice, Planned, applied, planned
from weft.runtime.cpu.reference import reference
from weft.runtime.files.inputs import random_inputs, read_npz
from weft.runtime.host import functions
from weft.runtime.plan.plan import Launch
from weft.runtime.run.compare import compare
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice

Sizes = tuple[int, int, int]


@dataclass(frozen=True)
class Program:
    """A scheduled payload. `right` runs it and says what is wrong with the result; empty if nothing is."""

    ready: Planned

    @property
    def module(self) -> str:
        return self.ready.applied.text

    @property
    def cuda(self) -> str:
        return self.ready.cuda

    @property
    def remarks(self) -> list[str]:
        return [remark for step in self.ready.applied.session.steps for remark in step.remarks]

    def wrong(
        self,
        inputs: Mapping[str, np.ndarray] | None = None,
        *,
        grid: Sizes | None = None,
        block: Sizes | None = None,
        native: bool = False,
        folder: Path | None = None,
    ) -> str:
        """Run on these inputs (random ones, if None), launched with other sizes where they are given."""
        signature = functions.signature(self.ready.applied.payload, self.ready.plan.entry)
        if inputs is None:
            arrays, expected = self._random
            return self.run(arrays, expected, grid=grid, block=block, native=native)
        assert folder is not None
        np.savez(folder / "inputs.npz", **inputs)
        return self.run(read_npz(folder / "inputs.npz", signature), grid=grid, block=block, native=native)

    @cached_property
    def _random(self) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Random inputs, and what the payload makes of them."""
        arrays = random_inputs(functions.signature(self.ready.applied.payload, self.ready.plan.entry), 3)
        return arrays, self.expected(arrays)

    def expected(self, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        return reference(self.ready.applied.payload, self.ready.plan.entry, arrays)

    def run(
        self,
        arrays: dict[str, np.ndarray],
        expected: dict[str, np.ndarray] | None = None,
        *,
        grid: Sizes | None = None,
        block: Sizes | None = None,
        native: bool = False,
    ) -> str:
        """Run on arrays as the plan takes them; what is wrong with the result."""
        signature = functions.signature(self.ready.applied.payload, self.ready.plan.entry)
        plan = dataclasses.replace(
            self.ready.plan,
            steps=tuple(
                dataclasses.replace(s, grid=grid or s.grid, block=block or s.block) if isinstance(s, Launch) else s
                for s in self.ready.plan.steps
            ),
        )
        device = NativeDevice("quick") if native else SimDevice()
        result = run_plan(plan, device, arrays, text=self.cuda if native else self.module)
        wanted = self.expected(arrays) if expected is None else expected
        compared = compare(signature, result.outputs, wanted)
        found = [] if compared.ok else [mismatch(device, compared, result.outputs, wanted)]
        return "\n".join([*found, *map(str, result.races or ()), *map(str, result.faults or ())])


def program(folder: Path, payload: str, statements: str) -> Program:
    """Apply the statements to the payload. Raises `WeftError` where they are refused."""
    (folder / "payload.mlir").write_text(payload)
    body = "\n".join(f"  {line}" for line in statements.strip().splitlines())
    (folder / "case.weft").write_text(f'payload "payload.mlir"\nschedule case() {{\n{body}\n}}\n')
    return Program(planned(applied(Choice(str(folder / "case.weft")).open())))


def refusal(folder: Path, payload: str, statements: str) -> str:
    """What is said where the statements are refused, without the folder's name; empty where they are not."""
    try:
        program(folder, payload, statements)
    except WeftError as error:
        return "\n\n".join(render(d) for d in error.diagnostics).replace(f"{folder}/", "")
    return ""


def codes(text: str) -> Sequence[str]:
    return [part.split("]")[0] for part in text.split("error[")[1:]]
