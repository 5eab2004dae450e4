"""Loops: header, loop-carried variables, and unrolling."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ...dsl.records import record
from ...interpreter.hardware.hopper.tensor_maps import LOADS
from ...interpreter.hardware.hopper.warpgroups import accumulator
from ...interpreter.hardware.queries import BETWEEN_WARPS
from ...interpreter.ir.mlir import ancestors, ir, operations, producer, users
from ...interpreter.ir.structured import UNROLL
from ...interpreter.memory.layouts import space_of
from ...interpreter.memory.views import root_memref
from ..form.kernel_form import refuse
from .index_names import first_index
from .kernel import KernelWriter, Lanes
from .values.expression import Expr, binary, elements, name
from .values.integers import INDEX, add, bounds, to_signed
from .values.sizes import HostNumber
from .values.types import Range, ScalarType, element

UNROLL_TRIPS = 64
AT_ONCE = 8  # iterations of a sum
MANY = 128  # numbers: with this many sums, no registers are left for operands that ptxas loads far ahead


@record
class Carried:
    """A loop-carried value: one variable per element."""

    value: ir.Value
    kind: ScalarType
    variables: tuple[str, ...]
    sums: Lanes = ()

    def lanes(self, *, inside: bool) -> Lanes:
        """The elements as the body reads them (mutable: the end of each iteration assigns them), or
        as code after the loop does."""
        return self.sums or tuple(name(v, self.kind.cxx, self.kind.full_range, mutable=inside) for v in self.variables)


def carry(kernel: KernelWriter, op: ir.Operation, value: ir.Value, init: ir.Value, base: str) -> Carried:
    """Declares the variables of a loop-carried value, with its initial value."""
    if isinstance(value.type, ir.MemRefType):
        raise refuse(
            "W0503",
            "a memref is carried by a loop",
            op,
            hint="`memref.load` and `memref.store` through one memref in all iterations",
        )
    kind, _ = element(value.type, op)
    lanes = kernel.lanes(init)
    if _reusable(value, init, lanes):
        return Carried(value, kind, tuple(e.text for e in lanes), lanes if accumulator(value.type) is not None else ())
    if accumulator(value.type) is not None:
        sums = elements(registers(kernel, kind, lanes, base), kind.cxx, len(lanes))
        return Carried(value, kind, tuple(e.text for e in sums), sums)
    variables = tuple(kernel.fresh(base) for _ in lanes)
    for variable, lane in zip(variables, lanes, strict=True):
        kernel.line(f"{kind.cxx} {variable} = {lane.text};")
    return Carried(value, kind, variables)


def registers(kernel: KernelWriter, kind: ScalarType, lanes: Lanes, base: str) -> str:
    """Declares an array in registers with these elements: all its subscripts are constant once
    loops are unrolled. Returns its name."""
    variable, zero = kernel.fresh(base), {e.text for e in lanes} <= {"0.0f", "0", "f16(0.0f)"}
    kernel.line(f"{kind.cxx} {variable}[{len(lanes)}] = {{{'' if zero else ', '.join(e.text for e in lanes)}}};")
    return variable


def _reusable(value: ir.Value, init: ir.Value, lanes: Lanes) -> bool:
    """Whether an inner loop may use the outer loop's variable: it starts from it, and the outer
    loop yields its result.

    `acc`, carried by both k loops of a tiled reduction, is then one variable.
    """
    if not isinstance(init.owner, ir.Block) or not all(e.atom and e.text in e.mutable for e in lanes):
        return False
    outer = init.owner
    position = ir.BlockArgument(init).arg_number - 1
    inner = value.owner.owner.operation
    if not inner.name == outer.owner.operation.name == "scf.for" or inner.block != outer:
        return False
    result = inner.results[ir.BlockArgument(value).arg_number - 1]
    terminator = outer.operations[-1].operation
    uses = [(u.owner.operation, u.operand_number) for u in result.uses]
    return len(users(init)) == 1 and uses == [(terminator, position)]


def assign(kernel: KernelWriter, targets: Sequence[Carried], values: Sequence[Lanes]) -> None:
    """Emits assignments with parallel semantics: a value that an earlier assignment would overwrite
    is saved first."""
    pairs = zip(targets, values, strict=True)
    all_ = ((v, e, t.kind.cxx) for t, lanes in pairs for v, e in zip(t.variables, lanes, strict=True))
    todo = [(variable, e, type) for variable, e, type in all_ if e.text != variable]
    if any(variable in e.mutable for number, (variable, _, _) in enumerate(todo) for _, e, _ in todo[number + 1 :]):
        todo = [(variable, kernel.variable(e, type, "next", None), type) for variable, e, type in todo]
    for variable, e, _ in todo:
        kernel.line(assignment(variable, e))


def assignment(target: str, value: Expr) -> str:
    """`target = value;`, or the equivalent `target += …;`."""
    if value.split is not None and value.type not in ("f16", "bf16", "bool"):
        left, operator, right = value.split
        if left.text == target and operator in ("+", "-", "*"):
            return f"{target} {operator}= {right.text};"
        if right.text == target and operator in ("+", "*"):
            return f"{target} {operator}= {left.text};"
    return f"{target} = {value.text};"


def loop_bounds(kernel: KernelWriter, lower: Expr, upper: Expr, step: Expr) -> tuple[Expr, Expr, Expr]:
    """The bounds as the loop header may repeat them: expressions that read memory, or are long, are
    bound to names."""
    upper = _deciding(upper, "max", lambda e: e.high <= bounds(lower, INDEX).low)

    def settled(e: Expr, base: str) -> Expr:
        return e if not e.reads and not e.mutable and len(e.text) <= 30 else kernel.named(e, base)

    lower = lower if not lower.reads and len(lower.text) <= 60 else kernel.named(lower, "begin")
    return lower, settled(upper, "end"), settled(step, "step")


def _deciding(upper: Expr, extreme: str, idle: Callable[[Range], bool]) -> Expr:
    """The operand of a `min` or `max` that alone decides whether an iteration is below it: `n` of
    `max(0, n)`, where iterations begin with 0."""
    while upper.split is not None and upper.split[1] == extreme:
        one, _, other = upper.split
        if one.range is not None and idle(one.range):
            upper = other
        elif other.range is not None and idle(other.range):
            upper = one
        else:
            break
    return upper


def only_once(lower: Expr, upper: Expr, step: Expr) -> Expr | None:
    """The condition under which a loop with at most one iteration executes it; None for loops with
    more, or with a constant number."""
    low, high = lower.constant, bounds(upper, INDEX).high
    if low is None or upper.constant is not None or not step.constant or high > low + step.constant:
        return None
    rest = _deciding(upper, "min", lambda e: e.low > low)
    if low == 0 and rest.split is not None and rest.split[1] == "-":  # `j < n` for `0 < n - j`
        left, _, right = rest.split
        return binary(">", left, right, "bool") if right.is_literal else binary("<", right, left, "bool")
    return binary(">", rest, lower, "bool")


def trip_count(lower: Expr, upper: Expr, step: Expr) -> int | None:
    """The number of iterations, if it is constant."""
    if lower.constant is None or upper.constant is None or not step.constant:
        return None
    return max(0, -(-(upper.constant - lower.constant) // step.constant))


def header(kernel: KernelWriter, iv: ir.Value, lower: Expr, upper: Expr, step: Expr, kind: ScalarType = INDEX) -> str:
    """`for (int i = 0; i < 64; i += 16) {`, with the variable bound to its range. Its type is `int`
    if the value after the last iteration fits."""
    lower, upper, step = to_signed(lower, kind), to_signed(upper, kind), to_signed(step, kind)
    low, high, by = bounds(lower, kind), bounds(upper, kind), bounds(step, kind)
    known = Range(low.low, max(low.low, high.high - 1), (low + by).multiple)
    end = bounds(add(upper, step), kind) if kind.index else known  # an upper bound of the variable in all iterations
    if kind.index and Range(known.low, max(known.high, end.high - 1)).fits(32) and upper.type == "int":
        type = "int"
    else:
        type = kind.cxx
    loop = iv.owner.owner.operation
    accumulates = len(loop.results) > 0 or next(operations(loop, *BETWEEN_WARPS), None) is not None
    variable = kernel.frame.scope.loop_variable(accumulates=accumulates)
    host = None if upper.host is None else HostNumber(upper.host.number, upper.host.facts, exact=False)
    kernel.values[iv] = (name(variable, type if kind.bits >= 32 else "int", known, host=host),)
    increment = f"++{variable}" if step.constant == 1 else f"{variable} += {step.text}"
    return f"for ({type} {variable} = {lower.text}; {variable} < {upper.within(8)}; {increment}) {{"


def unroll_pragma(op: ir.Operation, trips: int | None) -> str | None:
    """`#pragma unroll`, with or without a number: as the schedule states (`weft.unroll`), else as
    private arrays require.

    Registers have no addresses: an array is in registers only if every subscript is constant once
    its loops are unrolled. Where no array requires it, the iterations of a sum outside all loops
    are unrolled at most 8 times if a thread keeps many sums: with more consecutive iterations,
    ptxas loads operands so far ahead that it spills sums.
    """
    if UNROLL in op.attributes:
        unroll = op.attributes[UNROLL]
        if isinstance(unroll, ir.IntegerAttr):
            return f"#pragma unroll {unroll.value}"
        ahead = trips is None or trips > AT_ONCE
        if ahead and not _subscripts_registers(op) and _is_outermost(op):
            return f"#pragma unroll {AT_ONCE}"
        return "#pragma unroll"
    if next(operations(op, *LOADS), None) is not None:
        return "#pragma unroll 1"  # a single thread that only starts copies has few registers
    if trips is None or trips > UNROLL_TRIPS or next(operations(op, *BETWEEN_WARPS), None) is not None:
        return None
    return "#pragma unroll" if _subscripts_registers(op) else None


def _is_outermost(op: ir.Operation) -> bool:
    """Whether no other loop encloses the loop, in a kernel without steps that keeps many numbers in
    private arrays."""
    func, around = next(one for one in ancestors(op) if one.name == "gpu.func"), ancestors(op)
    return kept_numbers(func) >= MANY and not has_steps(func) and all(one.name != "scf.for" for one in around)


def kept_numbers(func: ir.Operation) -> int:
    """Number of elements in the private arrays of a thread."""
    kept = (ir.MemRefType(one.results[0].type) for one in operations(func, "memref.alloca"))
    return sum(math.prod(one.shape) for one in kept if one.has_static_shape)


def has_steps(func: ir.Operation) -> bool:
    """Whether the kernel has a barrier in a loop."""
    return any(around.name == "scf.for" for op in operations(func, "gpu.barrier") for around in ancestors(op))


def _subscripts_registers(op: ir.Operation) -> bool:
    """Whether the loop's variable decides which element of a private array is accessed."""
    variable = op.regions[0].blocks[0].arguments[0]
    reached: set[ir.Value] = {variable}
    waiting: list[ir.Value] = [variable]
    while waiting:
        for use in waiting.pop().uses:
            user = use.owner.operation
            if user.name == "vector.extract" and use.operand_number:
                return True
            first = first_index(user)
            if first is not None:
                if use.operand_number >= first and _is_private(user.operands[first - 1]):
                    return True
                continue
            if user.name == "memref.subview" and _is_private(user.operands[0]):
                return True
            if user.name == "scf.for":  # an inner loop with bounds that depend on it
                inner = user.regions[0].blocks[0].arguments[0]
                waiting += [inner] if inner not in reached else []
                reached.add(inner)
            for result in user.results:
                if result not in reached and isinstance(result.type, (ir.IndexType, ir.IntegerType)):
                    reached.add(result)
                    waiting.append(result)
    return False


def _is_private(buffer: ir.Value) -> bool:
    """Whether a buffer is private memory: an `alloca`, a private attribution, or a view of one."""
    buffer = root_memref(buffer)
    owner, space = producer(buffer), space_of(ir.MemRefType(buffer.type))
    return space == "private" if owner is None else owner.name == "memref.alloca" and space != "workgroup"
