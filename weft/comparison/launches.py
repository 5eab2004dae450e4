"""Finds the value of the payload that a buffer must hold after a launch.

A part of the payload is an op in the entry function's own block, with its regions. Statements keep
the locations of ops, so that the locations in a kernel identify the parts that it executes. After a
launch, a buffer must hold a value of one of these parts, with the type and shape of the buffer,
unless a later launch executes the same part. If two launches share a part (partial sums and their
total), only the buffer of the last one is compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import field

from ..dsl.records import record
from ..interpreter.ir.cloning import clone_module
from ..interpreter.ir.functions import inputs_of
from ..interpreter.ir.mlir import child_of, ir, operations, ops_of
from ..interpreter.ir.mlir import users as users_of
from ..interpreter.ir.refusing import describe
from ..interpreter.ir.structured import is_structured
from ..interpreter.memory.effects import is_memref, written
from ..interpreter.memory.table import ALLOCATIONS
from ..interpreter.memory.views import root_memref
from ..runtime.cuda.module import kernel_functions
from ..runtime.host.functions import array_type, entry_function, is_written
from ..runtime.plan.plan import Copy, Free, Launch, Plan, PlanStep, used_buffers
from ..runtime.plan.signature import Argument
from ..runtime.plan.snapshots import Snapshot, touched

SEVERAL = -1
"""Replaces the number of a part for a location that several parts have."""
MOST_VALUES = 256
"""The number of values of a payload that are compared; further values are checked by the outputs
only."""


@record
class PayloadValue:
    """A value of the payload: a tensor, or the contents of a buffer after one of the parts that
    write it.

    Args:
        name: the name of the value among the results of the traced payload; it begins with the
            part's name and place.
        part: the number of the defining op in the entry function's block.
        of: its type and shape.
        whole: whether the value is that of a buffer, or of a tensor that the part computes
            completely.
        users: for a tensor, the parts that use it; the function's terminator counts as one.
        buffer: the number of the buffer; None for a tensor.
        before: the earlier parts that have written the buffer.
    """

    name: str
    part: int
    of: Argument
    whole: bool
    users: frozenset[int] = frozenset()
    buffer: int | None = None
    before: frozenset[int] = frozenset()

    def is_passed_on(self, own: Iterable[PayloadValue], executed: Set[int]) -> bool:
        """Whether the value is used outside of the kernel: a tensor that is used by parts not among
        those of the kernel (`executed`); or the last of a buffer's values (`own`) in the kernel."""
        if self.buffer is None:
            return not self.users <= executed
        return not any(other.buffer == self.buffer and other.part > self.part for other in own)


@record
class TracedPayload:
    """A copy of the payload that returns the values of its parts as further results, and a
    description of these values."""

    module: ir.Module = field(repr=False)
    values: tuple[PayloadValue, ...]
    parts: Mapping[str, int] = field(repr=False)
    """Location → part."""


def traced(payload: ir.Module, entry: str, kinds: Iterable[tuple[str, int]]) -> TracedPayload:
    """A copy of the payload that also returns the values of its parts.

    Args:
        kinds: the wanted values: pairs of an element type and the number of dimensions other than
            1.
    """
    module, wanted = clone_module(payload), set(kinds)
    function = entry_function(module, entry)
    block = function.regions[0].blocks[0]
    *parts, end = ops_of(block)
    places: dict[str, int] = {}
    for number, part in enumerate(parts):
        for where in {str(op.location) for op in (part, *operations(part))} - {"loc(unknown)"}:
            places[where] = number if where not in places else SEVERAL
    values: list[PayloadValue] = []
    returned: list[ir.Value] = []
    writers: dict[ir.Value, list[int]] = {}
    for number, part in enumerate(parts):
        made = [r for r in part.results if len(part.regions) and isinstance(r.type, ir.RankedTensorType)]
        changed = dict.fromkeys(root_memref(v) for op in (part, *operations(part)) for v in written(op) if is_memref(v))
        for value in (*made, *(root for root in changed if _is_buffer(root, block))):
            kind, before = array_type(value.type, "a value of the payload"), tuple(writers.get(value, ()))
            if value in changed:
                writers.setdefault(value, []).append(number)
            if (kind[0], _rank(kind[1] or ())) not in wanted or len(values) >= MOST_VALUES:
                continue
            name = f"{describe(part)} ({len(values) + 1})"
            of = Argument(name, *kind, "output")
            if value in changed:
                buffer = list(writers).index(value)
                values.append(PayloadValue(name, number, of, True, frozenset(), buffer, frozenset(before)))
                returned.append(_copied(value, part))
            else:
                tops = (child_of(function, op) for op in users_of(value))
                users = frozenset(parts.index(top) if top in parts else len(parts) for top in tops)
                values.append(PayloadValue(name, number, of, is_structured(part), users))
                returned.append(value)
    _return(function, end, returned, [value.name for value in values])
    return TracedPayload(module, tuple(values), places)


def _is_buffer(root: ir.Value, block: ir.Block) -> bool:
    """Whether a memref is a row-major buffer that is an argument of the entry function or is
    allocated in its block."""
    kind = root.type
    if not isinstance(kind, ir.MemRefType) or kind.affine_map != ir.AffineMap.get_identity(kind.rank, kind.context):
        return False
    if isinstance(root.owner, ir.Block):
        return root.owner == block
    return root.owner.operation.name in ALLOCATIONS and root.owner.operation.block == block


def _rank(shape: Sequence[object]) -> int:
    return sum(n != 1 for n in shape)


def _copied(buffer: ir.Value, part: ir.Operation) -> ir.Value:
    """Emits a copy of a buffer after a part of the payload."""
    kind = ir.MemRefType(buffer.type)
    with ir.InsertionPoint.after(part), part.location:
        sizes: list[ir.Value] = []
        for axis in range(kind.rank):
            if kind.is_dynamic_dim(axis):
                index = ir.IntegerAttr.get(ir.IndexType.get(), axis)
                number = ir.Operation.create(
                    "arith.constant", [ir.IndexType.get()], attributes={"value": index}
                ).results[0]
                sizes.append(ir.Operation.create("memref.dim", [ir.IndexType.get()], [buffer, number]).results[0])
        segments = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(sizes), 0])}
        copy = ir.Operation.create("memref.alloc", [kind], sizes, segments).results[0]
        ir.Operation.create("memref.copy", [], [buffer, copy])
    return copy


def _return(function: ir.Operation, end: ir.Operation, more: Sequence[ir.Value], names: Sequence[str]) -> None:
    """Makes a function return further values under these names."""
    kind = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    with function.context, end.location:
        types = [*kind.results, *(value.type for value in more)]
        attributes = list(ir.ArrayAttr(function.attributes["res_attrs"])) if "res_attrs" in function.attributes else []
        attributes += [ir.DictAttr.get({})] * (len(kind.results) - len(attributes))
        attributes += [ir.DictAttr.get({"weft.name": ir.StringAttr.get(name)}) for name in names]
        function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(kind.inputs, types))
        function.attributes["res_attrs"] = ir.ArrayAttr.get(attributes)
        with ir.InsertionPoint(end):
            ir.Operation.create(end.name, operands=[*end.operands, *more])
        end.erase()


# ---- launches ------------------------------------------------------------------------------------


@record
class _Launched:
    """A launch of the plan, with the buffers that it may write."""

    number: int
    step: Launch
    kernel: ir.Operation
    writes: tuple[str, ...]


def _launched(module: ir.Module, plan: Plan) -> list[_Launched]:
    kernels = {kernel.symbol: kernel.op for kernel in kernel_functions(module)}
    symbols = {entry.name: entry.symbol for entry in plan.kernels}
    found: list[_Launched] = []
    for number, step in enumerate(plan.launches):
        kernel = kernels[symbols[step.kernel]]
        arguments = list(kernel.regions[0].blocks[0].arguments)[: inputs_of(kernel)]
        pairs = zip(arguments, touched(step), strict=False)
        writes = dict.fromkeys(name for value, name in pairs if name is not None and _may_write(value))
        found.append(_Launched(number, step, kernel, tuple(writes)))
    return found


def _may_write(value: ir.Value) -> bool:
    return not isinstance(value.type, ir.MemRefType) or is_written(value)


def snapshots(
    module: ir.Module, plan: Plan, payload: ir.Module, *, rewritten: bool
) -> tuple[tuple[Snapshot, ...], TracedPayload | None]:
    """The buffers to compare after launches, in addition to the outputs, each with the payload's
    values that it may hold; and the traced payload.

    Args:
        module: the scheduled module, with locations.
        rewritten: whether the schedule has run MLIR passes: they may have replaced a tensor by
            another value.
    """
    launched = _launched(module, plan)
    outputs = {b.name for b in plan.outputs}
    seen = [(one, name) for one in launched for name in one.writes if _is_used_later(plan, one, name, name in outputs)]
    if not seen:
        return (), None
    buffers = {b.name: b for b in plan.buffers}
    trace = traced(payload, plan.entry, ((buffers[name].dtype, _rank(buffers[name].shape)) for _, name in seen))
    executed = {one.number: _executed(one.kernel, trace.parts) for one in launched}
    anywhere = frozenset[int]().union(*executed.values())
    found: list[Snapshot] = []
    for one, name in seen:
        here = executed[one.number]
        later = frozenset(
            p for more in launched[one.number + 1 :] if _together(one.step, more.step) for p in executed[more.number]
        )
        fitting = [
            v for v in trace.values if v.of.dtype == buffers[name].dtype and _fit(v.of.shape or (), buffers[name].shape)
        ]
        made = [v for v in fitting if v.part in here]
        own = [v for v in made if v.is_passed_on(made, here)]
        known = all(
            v.whole and not {v.part, *v.before} & later and (v.buffer is not None or not rewritten) for v in own
        )
        if own and known:
            # values of parts with ops that lost their locations
            other = [v for v in fitting if v.part not in anywhere]
        else:
            own, other = [], fitting
        if own or other:
            wanted, also = (tuple(v.name for v in each) for each in (own, other))
            found.append(
                Snapshot(f"{name} after launch {one.number + 1}", one.number, one.step.kernel, name, wanted, also)
            )
    return tuple(found), trace


def _is_used_later(plan: Plan, one: _Launched, name: str, is_output: bool) -> bool:
    """Whether a buffer is read or written after a launch. The last value of an output needs no
    snapshot: outputs are compared anyway."""
    place = [n for n, step in enumerate(plan.steps) if isinstance(step, Launch)][one.number]
    later = [
        s
        for s in plan.steps[place + 1 :]
        if name in used_buffers(s) and not isinstance(s, Free) and _together(one.step, s)
    ]
    return any(not is_output or not isinstance(step, Copy) or step.target.buffer == name for step in later)


def _together(one: PlanStep, other: PlanStep) -> bool:
    """Whether both steps of the plan can occur in one run: steps of two different versions
    cannot."""
    return None in (one.in_version, other.in_version) or one.in_version == other.in_version


def _fit(shape: Sequence[int | None], sizes: Sequence[object]) -> bool:
    """Whether a buffer of these sizes may hold a value of this shape; dimensions of size 1 are
    ignored. If a size is known only at run time, only the numbers of dimensions are compared."""
    mine, theirs = ([n for n in each if n != 1] for each in (shape, sizes))
    open_ = any(not isinstance(n, int) for n in (*mine, *theirs))
    return mine == theirs or (open_ and len(mine) == len(theirs))


def _executed(kernel: ir.Operation, parts: Mapping[str, int]) -> frozenset[int]:
    """The parts of the payload that a kernel executes, by the locations of its ops. Constants and
    indices are ignored, because MLIR merges those that are equal in several parts."""
    found: set[int] = set()
    for where in {str(op.location) for op in operations(kernel) if not _is_shared(op)}:
        if where in parts:
            found.add(parts[where])
        elif "fused" in where:
            found |= {number for at, number in parts.items() if at.removeprefix("loc(").removesuffix(")") in where}
    return frozenset(found - {SEVERAL})


def _is_shared(op: ir.Operation) -> bool:
    return op.name == "arith.constant" or (len(op.results) > 0 and all(str(r.type) == "index" for r in op.results))
