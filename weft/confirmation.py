"""Two operations that nothing orders, run the other way round on the simulator: does anybody see the difference?

`weft verify` proves that an order is missing; a run shows what that costs. Equal results prove nothing, and say so.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import inf, prod
from typing import TYPE_CHECKING, Any, Literal

from .dsl.diagnostics import WeftError, fail

if TYPE_CHECKING:
    from .interpreter.ir.mlir import ir
    from .interpreter.proof.hosts.memory_order import MemoryFault
    from .runtime.host.host import HostSteps
    from .runtime.plan.plan import Plan
    from .token_orders import Difference, Trial

Names = Callable[["ir.Value"], "str | None"]
Outcome = Literal["other results", "same results", "not tried"]
HOST_OPS = (
    "gpu.launch", "gpu.launch_func", "gpu.memcpy", "gpu.memset", "gpu.alloc", "gpu.dealloc",
    "memref.alloc", "memref.alloca", "memref.copy", "memref.dealloc", "linalg.copy",
)  # fmt: skip
"""Ops that are steps of a plan."""


@dataclass(frozen=True)
class Effort:
    """How much a confirmation may take.

    Args:
        seconds: for one launch on the simulator.
        total: seconds for all pairs of a function, of this thread's own work: what else the machine does takes none of them.
        memory: bytes of buffers.
        orders: how many orders of one pair are run.
        seed: of the inputs and of the orders.
    """

    seconds: float
    total: float
    memory: float
    orders: int
    seed: int = 0


def quick(seed: int = 0) -> Effort:
    """What nobody has to ask for."""
    return Effort(1.0, 3.0, 1 << 26, 8, seed)


def thorough(seed: int = 0) -> Effort:
    """What `--confirm` asks for: as long as a run may take."""
    from .runtime.simulator.budget import seconds_allowed

    return Effort(seconds_allowed(), inf, inf, 64, seed)


@dataclass(frozen=True)
class OtherOrder:
    """What came of running a pair the other way round.

    Args:
        orders: how many were run, program order aside.
        difference: the first element that differs.
        reason: why it was not tried.
    """

    outcome: Outcome
    seed: int
    orders: int = 0
    difference: Difference | None = None
    reason: str | None = None

    def note(self) -> str:
        if self.difference is not None:
            d = self.difference
            at = f"[{', '.join(map(str, d.element))}]" if d.element else ""
            what = f"`{d.buffer}`{at} is {d.swapped}, not {d.in_order}"
            return f"the other order gives other results: {what} (simulator, seed {self.seed})"
        if self.outcome == "same results":
            tried = "the other order" if self.orders == 1 else f"each of {self.orders} other orders"
            return f"{tried} happened to give the same values (simulator, seed {self.seed}): nothing guarantees that"
        return f"the other order was not tried on the simulator: {self.reason}"

    def to_json(self) -> dict[str, Any]:
        d = self.difference
        return {
            "outcome": self.outcome, "seed": self.seed, "orders": self.orders, "reason": self.reason,
            "buffer": d and d.buffer, "element": d and list(d.element), "in_order": d and d.in_order, "swapped": d and d.swapped,
        }  # fmt: skip


def confirmed(
    module: ir.Module, function: ir.Operation, faults: Sequence[MemoryFault | None], names: Names, effort: Effort
) -> tuple[OtherOrder | None, ...]:
    """Each pair of a function's faults the other way round; None for what no order of two operations would show."""
    wanted = [fault is not None and fault.kind in ("unordered", "host", "freed in use") for fault in faults]
    if not any(wanted):
        return (None,) * len(faults)
    until = time.thread_time() + effort.total
    try:
        steps, trial, numbers = _prepared(module, function, names, effort)
    except WeftError as error:
        missing = OtherOrder("not tried", effort.seed, reason=_reason(error))
        return tuple(missing if each else None for each in wanted)
    found: list[OtherOrder | None] = []
    for each, fault in zip(wanted, faults, strict=True):
        if not each or fault is None:
            found.append(None)
        elif time.thread_time() > until:
            found.append(OtherOrder("not tried", effort.seed, reason="there was no more time; `--confirm` takes it"))
        else:
            found.append(_tried(steps, trial, numbers(fault.first.op), numbers(fault.second.op), fault, effort))
    return tuple(found)


def _tried(
    steps: HostSteps, trial: Trial, firsts: Sequence[int], seconds: Sequence[int], fault: MemoryFault, effort: Effort
) -> OtherOrder:
    from .token_orders import first_difference, swapped_orders, unordered_pair

    if fault.second.op.name == "func.return":
        return OtherOrder("not tried", effort.seed, reason="a run waits for all that was launched before it hands results out")
    pair = unordered_pair(steps, firsts, seconds)
    if pair is None:
        reason = "on the way that the function takes with these inputs, the two are in order or do not come up"
        return OtherOrder("not tried", effort.seed, reason=reason)
    freed = pair[1] if fault.kind == "freed in use" else None
    try:
        difference, tried = first_difference(trial, swapped_orders(steps, *pair, effort.seed), effort.orders, freed)
    except WeftError as error:
        return OtherOrder("not tried", effort.seed, reason=_reason(error))
    return OtherOrder("same results" if difference is None else "other results", effort.seed, tried, difference)


def _prepared(
    module: ir.Module, function: ir.Operation, names: Names, effort: Effort
) -> tuple[HostSteps, Trial, Callable[[ir.Operation], list[int]]]:
    """The function's steps, a trial of them, and the steps of each of its ops."""
    from .interpreter.ir import mlir
    from .interpreter.ir.clone import clone_module
    from .interpreter.session.rewriter import upstream_messages
    from .runtime.files.inputs import random_inputs
    from .runtime.host.functions import signature, symbol
    from .runtime.host.host import host_steps
    from .token_orders import Trial

    name = symbol(function)
    copy = clone_module(module)
    _name_arguments(_function(copy, name), function, names)
    if any(True for _ in mlir.operations(copy.operation, "gpu.launch")):
        try:
            mlir.run_passes(copy, "gpu-kernel-outlining")
        except mlir.ir.MLIRError as error:
            raise fail("W0730", "upstream cannot outline its launches", notes=upstream_messages(error)) from error
    steps = host_steps(copy, name)
    _expect_small(steps.plan, effort)
    inputs = random_inputs(signature(copy, name), effort.seed)
    made = {op: i for i, op in enumerate(_host_ops(_function(copy, name)))}
    issued = [made.get(issuer) for issuer in steps.issuers]  # now: the ops live as long as the copy
    place = {op: i for i, op in enumerate(_host_ops(function))}

    def numbers(op: ir.Operation) -> list[int]:
        return [i for i, issuer in enumerate(issued) if op in place and issuer == place[op]]

    return steps, Trial(steps, str(copy), inputs, effort.seconds), numbers


def _function(module: ir.Module, name: str) -> ir.Operation:
    from .runtime.host.functions import entry_function

    return entry_function(module, name)


def _host_ops(op: ir.Operation) -> Iterable[ir.Operation]:
    """The ops that are steps, in the order of the text; what is in a launch is not the host's."""
    for region in op.regions:
        for block in region.blocks:
            for each in block.operations:
                if each.operation.name in HOST_OPS:
                    yield each.operation
                if each.operation.name != "gpu.launch":
                    yield from _host_ops(each.operation)


def _name_arguments(function: ir.Operation, original: ir.Operation, names: Names) -> None:
    """Arguments are called as in the text."""
    from .interpreter.ir.mlir import ir
    from .runtime.host.functions import argument_attributes

    given = argument_attributes(function)
    wanted = [names(value) for value in original.regions[0].blocks[0].arguments]
    taken = {str(ir.StringAttr(a["weft.name"]).value) for a in given if "weft.name" in a}
    with function.context:
        for attributes, name in zip(given, wanted, strict=True):
            if "weft.name" not in attributes and name is not None and name not in taken:
                attributes["weft.name"] = ir.StringAttr.get(name)
                taken.add(name)
        function.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(a) for a in given])


def _expect_small(plan: Plan, effort: Effort) -> None:
    from .dsl.diagnostics import fail
    from .execution import expect_memory
    from .runtime.plan.dtypes import itemsize

    expect_memory(plan)
    size = sum(prod(n for n in b.shape if isinstance(n, int)) * itemsize(b.dtype) for b in plan.buffers)
    if size > effort.memory:
        raise fail("W0490", f"its buffers take {size / 2**20:.0f} MiB; `--confirm` runs it all the same")


def _reason(error: WeftError) -> str:
    return error.diagnostics[0].message

