"""The table of a program's ops: for each op of the payload, the schedule that mapped it, and the
kernels and launches that execute it.

Ops are recognized by their locations, which every rewrite keeps: the location of an op in a kernel is
that of the payload's op, or of an op in its body.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from .interpreter.ir.functions import symbol
from .interpreter.ir.mlir import ir, is_tensor, operations, tensor, users
from .interpreter.ir.refusing import location_text
from .interpreter.ir.structured import is_loop, is_structured
from .interpreter.matching.kinds import kind_of
from .interpreter.matching.labels import labels_of
from .interpreter.memory.effects import is_memref, written
from .interpreter.memory.views import SEEN_THROUGH
from .interpreter.session.state import Step
from .pipeline import Planned
from .runtime.host.functions import entry_function
from .runtime.run.report import OpUse


def op_table(made: Planned) -> tuple[OpUse, ...]:
    """A row for each op of the entry function that computes or moves data, in program order: the
    structured ops, loops, pads and insertions, except those inside other rows."""
    done, plan = made.applied, made.plan
    names = {kernel.symbol.rpartition("::")[2]: kernel.name for kernel in reversed(plan.kernels)}
    launches = Counter(step.kernel for step in plan.launches)
    places: dict[str, set[str]] = {}
    mapped = _mapped(done.session.steps)
    schedules: dict[str, str] = {}
    for launch in operations(done.module.operation, "gpu.launch_func"):
        kernel = names.get(ir.SymbolRefAttr(launch.attributes["kernel"]).value[-1], "")
        if kernel in launches and kernel not in schedules:
            schedules[kernel] = _schedule_of(mapped.get(str(launch.location), ()), done.recipe.name)
    for function in operations(done.module.operation, "gpu.func"):
        kernel = names.get(symbol(function) or "")
        if kernel is not None and kernel in launches:
            for place in {place for op in operations(function) for place in _places(op.location)}:
                places.setdefault(place, set()).add(kernel)
    rows: dict[ir.Operation, OpUse] = {}
    for op in reversed(list(_rows(entry_function(done.payload, plan.entry)))):
        mine = {place for one in (op, *operations(op)) for place in _places(one.location)}
        found = places.get(location_text(op.location)) or set[str]().union(*(places.get(at, ()) for at in mine))
        if not found and (is_structured(op) or is_loop(op)):  # it left no op of its own in the kernels of its consumers
            found = {kernel for user in _consumers(op) if user in rows for kernel in rows[user].kernels}
        kernels = {kernel: number for kernel, number in launches.items() if kernel in found}
        by = dict.fromkeys(schedules[kernel] for kernel in kernels if kernel in schedules)
        label, kind = next(iter(labels_of(op)), None), kind_of(op) or op.name
        rows[op] = OpUse(label, kind, location_text(op.location), ", ".join(by) or None, kernels)
    return tuple(reversed(rows.values()))


def _consumers(op: ir.Operation) -> Iterator[ir.Operation]:
    """The ops that use the results of an op, also where views and pads are between."""
    for user in (user for result in op.results for user in users(result)):
        yield user
        if user.name in SEEN_THROUGH or _makes(user):
            yield from _consumers(user)


def _rows(function: ir.Operation) -> Iterator[ir.Operation]:
    """The ops with a row: of loops that hold structured ops, these."""
    whole: set[ir.Operation] = set()
    for op in operations(function):
        if is_structured(op) or _makes(op) or (is_loop(op) and not any(map(is_structured, operations(op)))):
            parent = op.parent
            while parent is not None and parent != function and parent not in whole:
                parent = parent.operation.parent
            if parent is None or parent not in whole:
                whole.add(op)
                yield op


def _makes(op: ir.Operation) -> bool:
    """Whether an op that is neither structured nor a loop makes a tensor with elements, or writes
    memory: a pad, a concatenation, an insertion, a copy."""
    if is_structured(op) or is_loop(op):
        return False
    made = op.name.startswith(("tensor.", "linalg.")) and any(map(is_tensor, op.results))
    return (made and op.name not in SEEN_THROUGH and not isinstance(op.opview, tensor.EmptyOp)) or (
        not op.results and any(map(is_memref, written(op)))
    )


def _places(place: ir.Location) -> Iterator[str]:
    """The places in the payload's text that a location names."""
    if isinstance(place, ir.FusedLoc):
        for part in place.locations:
            yield from _places(part)
    elif isinstance(place, ir.NameLoc):
        yield location_text(place)
        yield from _places(place.child_loc)
    elif isinstance(place, ir.CallSiteLoc):
        yield from _places(place.callee)
    elif isinstance(place, ir.FileLineColLoc):
        yield location_text(place)


Calls = tuple[str, ...]
"""The schedules entered around a statement, outermost first."""


def _mapped(steps: Sequence[Step]) -> dict[str, dict[Calls, None]]:
    """For each place, the calls around the `map` statements about an op there."""
    found: dict[str, dict[Calls, None]] = {}
    for step in steps:
        for place in step.about if step.keyword == "map" else ():
            found.setdefault(str(place), {})[step.calls] = None
    return found


def _schedule_of(found: Collection[Calls], main: str) -> str:
    """These schedules, each after its callers, in words; not those that they invoke."""
    outer = [calls for calls in found if not any(calls[: len(other)] == other != calls for other in found)]
    return ", ".join(" › ".join((main, *calls)) for calls in outer) or main
