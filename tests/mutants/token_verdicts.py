"""Who says what of the tokens of a host function: the proof, and the simulator, which runs each operation on a stream of its own
that waits for what the operation's tokens stand for, and for nothing else.

A plan orders more than the tokens do (what is on one stream; memory and its uses); none of that is here. Every way through branches
is run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from unittest.mock import patch

from mutations import context
from verdicts import Right

from weft.dsl.diagnostics import Source
from weft.interpreter.ir import mlir
from weft.interpreter.ir.mlir import ir
from weft.runtime.files.inputs import random_inputs
from weft.runtime.host import functions
from weft.runtime.host.functions import entry_function
from weft.runtime.host.host import interpreted, plan_of
from weft.runtime.host.program import Host
from weft.runtime.plan.order import closed
from weft.runtime.plan.plan import Alloc, Free, Plan, used_buffers
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice
from weft.verify import verify_source

Outputs = dict[str, bytes]
NAMES = {"W0620": "unwaited", "W0621": "unwaited"}
PROBE = "memref.copy %arg0, %arg0 : memref<64xf32> to memref<64xf32>\n"
"""What the host does itself, before it returns, is behind all that it has waited for."""


@dataclass(frozen=True)
class HostSteps:
    """A host function's steps in program order, before they are on streams.

    Args:
        plan: all of them on one stream; memory that the function leaves is left.
        needs: by step, those that tokens and blocking waits put before it.
        issuers: by step, the op that does it.
    """

    plan: Plan
    needs: tuple[frozenset[int], ...]
    issuers: tuple[ir.Operation, ...]


def host_steps(module: ir.Module, entry: str) -> HostSteps:
    """What `make_plan` makes streams of."""
    function = entry_function(module, entry)
    host = interpreted(module, function)
    results = [function] * (len(host.steps) - len(host.issuers))
    return HostSteps(plan_of(host, function, host.steps), tuple(host.needs), (*host.issuers, *results))


def ways(text: str) -> Iterator[str]:
    """The text with its branches taken in every way."""
    for true, false in product(("true", "false"), repeat=2) if "scf.if" in text else [("true", "false")]:
        taken = text.replace("%true = arith.constant true", f"%true = arith.constant {true}")
        yield taken.replace("%false = arith.constant false", f"%false = arith.constant {false}")


def proof(text: str) -> frozenset[str]:
    codes = {d.code for way in ways(text) for d in verify_source(Source("module.mlir", way)).diagnostics}
    return frozenset(NAMES.get(code, "unordered" if "W0611" <= code <= "W0670" else code) for code in codes)


def simulator(right: Right, text: str, seed: int) -> tuple[frozenset[str], list[Outputs]]:
    """What it objects to, and the results, by the way through the branches."""
    found = [_ran(right, way, seed) for way in ways(text)]
    return frozenset[str]().union(*(said for said, _ in found)), [outputs for _, outputs in found]


def _ran(right: Right, text: str, seed: int) -> tuple[set[str], Outputs]:
    head, tail = text.rsplit("return\n", 1)
    module = mlir.parse(f"{head}{PROBE}return\n{tail}", context())
    said = _objections(module, right.entry)
    steps = host_steps(mlir.parse(text, context()), right.entry)
    alone = [
        replace(step, stream=number, after=tuple(range(number)) if isinstance(step, Free) else tuple(needs))
        for number, (step, needs) in enumerate(zip(steps.plan.steps, steps.needs, strict=True))
    ]
    inputs = random_inputs(functions.signature(right.payload, right.entry), seed)
    ran = run_plan(replace(steps.plan, steps=tuple(alone)), SimDevice(), inputs, text=text)
    said |= ({"unordered"} if ran.races else set()) | {fault.kind for fault in ran.faults or ()}
    return said, {name: array.tobytes() for name, array in ran.outputs.items()}


def _objections(module: ir.Module, entry: str) -> set[str]:
    """Memory that is used before it is there, or freed while it is in use; work, and streams, that nobody waits for."""
    with patch.object(Host, "_allocations", return_value=frozenset()):  # a plan knows them without tokens
        steps = host_steps(module, entry)
    before, said = list(closed(steps.needs)), set[str]()
    *work, _ = steps.plan.steps
    for number, step in enumerate(work):
        for earlier, other in enumerate(work[:number]):
            allocates = steps.issuers[earlier].name == "gpu.alloc"
            frees = isinstance(step, Free) and not isinstance(other, Alloc)
            shared = used_buffers(step) & used_buffers(other)
            if shared and (frees or allocates) and not before[number] >> earlier & 1:
                said.add("unordered")
    of_the_host = ("memref.alloc", "memref.dealloc")
    if any(not before[-1] >> number & 1 for number, op in enumerate(steps.issuers[:-1]) if op.name not in of_the_host):
        said.add("unwaited")
    waits = [op for op in mlir.operations(module.operation, "gpu.wait") if _taken(op)]
    return said | ({"unwaited"} if any(not any(_taken(u.owner) for u in r.uses) for op in waits for r in op.results) else set())


def _taken(op: ir.Operation | ir.OpView) -> bool:
    """Whether the branches around an op are those that are taken."""
    parent = op.operation.parent
    if parent is None or parent.name == "func.func":
        return True
    condition = mlir.producer(parent.operands[0]) if parent.name == "scf.if" else None
    arm = condition is None or bool(ir.IntegerAttr(condition.attributes["value"]).value)
    return op.operation.block == parent.regions[0 if arm else 1].blocks[0] and _taken(parent)
