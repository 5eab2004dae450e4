"""What the proof, the simulator and the text on the CPU say of a module."""
from __future__ import annotations

from functools import cache

from hopper_kernels import Made
from mutations import context
from native_device import NativeDevice

from weft.dsl.diagnostics import Source, WeftError
from weft.interpreter.ir import mlir
from weft.runtime.cpu.reference import reference
from weft.runtime.cuda.module import emit
from weft.runtime.files.inputs import random_inputs
from weft.runtime.host.functions import signature
from weft.runtime.host.host import make_plan
from weft.runtime.run.compare import compare
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice
from weft.runtime.simulator.kernel import Order
from weft.verify import verify_source


@cache
def proof(text: str) -> frozenset[str]:
    """The codes of what is refused, or not proven. Kept: each mutant asks it of the module that it was made of."""
    try:
        return frozenset(d.code for d in verify_source(Source("module.mlir", text)).diagnostics)
    except WeftError as error:
        return frozenset(d.code for d in error.diagnostics)


class Runs:
    """Runs of modules that should do what a right one does."""

    def __init__(self, right: Made) -> None:
        self.signature = signature(right.payload)
        self.inputs = random_inputs(self.signature, 1)
        self.expected = reference(right.payload, None, dict(self.inputs))

    def simulated(self, text: str, order: Order = "forward") -> set[str]:
        try:
            plan = make_plan(mlir.parse(text, context()))
            ran = run_plan(plan, SimDevice(order=order), self.inputs, text=text)
        except WeftError:
            return {"refused"}
        said = {found.kind for found in (*(ran.races or ()), *(ran.faults or ()))}
        right = compare(self.signature, ran.outputs, self.expected, rounded=plan.rounded).ok
        return said | (set() if right else {"values"})

    def native(self, text: str, reverse: bool = False) -> set[str]:
        try:
            module = mlir.parse(text, context())
            plan = make_plan(module)
            ran = run_plan(plan, NativeDevice("quick", reverse=reverse), self.inputs, text=emit(module))
        except WeftError:
            return {"refused"}
        except AssertionError:
            return {"stuck"}
        return set() if compare(self.signature, ran.outputs, self.expected, rounded=plan.rounded).ok else {"values"}
