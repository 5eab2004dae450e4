"""The number of operations of a payload, and the integers for which its results are exact in every
order of evaluation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod

from ..dsl.records import record
from ..interpreter.indices.values import KnownIndices
from ..interpreter.ir.cloning import clone_module
from ..interpreter.ir.mlir import constant_of, ir, operations, run_passes
from ..interpreter.ir.refusing import describe
from ..interpreter.ir.structured import body_of, element_type, is_structured, structure
from ..runtime.form.kernel_form import named
from ..runtime.form.undefined_results import may_be_open
from ..runtime.host.functions import entry_function
from ..runtime.plan.dtypes import FLOATS
from ..runtime.plan.signature import FunctionSignature

INTEGERS = {"f64": 1 << 53, "f32": 1 << 24, "f16": 1 << 11, "bf16": 1 << 8, "f8E4M3FN": 1 << 4, "f8E5M2": 1 << 3}
"""Float type → the magnitude up to which it represents every integer."""
FEW_DIGITS = 1 << 13
"""The same bound for the sums of products of f8 in tensor cores."""
MAGNITUDES = tuple(1 << n for n in (20, 16, 13, 11, 8, 7, 6, 5, 4, 3, 2, 1, 0))
"""Candidates for the magnitude of inputs. The largest exact one is used: with few different
numbers, the maximum of a row is often equal to that of its half, and a wrong reduction gives the
same result."""

_EXACT = named(
    arith="addf subf mulf negf maximumf minimumf maxnumf minnumf cmpf extf truncf sitofp addi subi muli maxsi minsi"
    " maxui minui cmpi extsi extui trunci andi ori xori select constant index_cast"
)
_MOVES = ("tensor.", "memref.", "linalg.", "func.", "scf.", "affine.", "bufferization.", "builtin.")
_ELSEWHERE = ("func.call", "gpu.launch_func", "memref.get_global")
"""Ops that use parts of a module outside of their function."""
_INEXACT = frozenset({"scf.while", "scf.index_switch", "linalg.softmax", "func.call"})
GUESSED = 64
"""The assumed number of iterations of a loop without a known number."""
_CONVERTED = frozenset({"arith.extf", "arith.extsi", "arith.extui", "arith.constant"})


@record
class WorkPart:
    """An op of a payload, and its number of operations."""

    place: str
    operations: int


@record
class PayloadWork:
    """The work of a payload.

    Args:
        parts: its ops.
        most: the largest magnitude of integer inputs for which every sum is exact; None if there is
            none.
        indexed: whether values of arrays are used as indices.
        partial: whether the result of an op is undefined for some inputs.
    """

    parts: tuple[WorkPart, ...]
    most: int | None
    indexed: bool
    partial: bool = False

    @property
    def operations(self) -> int:
        return sum(part.operations for part in self.parts)


def work_of(payload: ir.Module, signature: FunctionSignature, size: int) -> PayloadWork:
    """An estimate of the work of the entry function. `size`: replaces all sizes known only at run
    time."""
    if any(op.name.startswith("affine.") and len(op.regions) for op in operations(payload.operation)):
        payload = clone_module(payload)
        run_passes(payload, "lower-affine")
    host = entry_function(payload, signature.entry)
    steps = list(_steps(payload.operation if any(operations(host, *_ELSEWHERE)) else host, size, 1))
    parts = tuple(WorkPart(describe(s.op), s.times * s.each) for s in steps if s.times * s.each > 1)
    every = [op for s in steps for op in (s.op, *operations(s.op))]
    indexed, partial = any(map(_says_where, every)), any(map(may_be_open, every))
    return PayloadWork(parts, _most(steps, signature), indexed, partial)


@record
class _Step:
    """An op that is executed `times` times, with `each` operations each time; in a reduction,
    `into` values are combined into one element."""

    op: ir.Operation
    times: int
    each: int
    into: int


def _steps(op: ir.Operation, size: int, times: int) -> Iterator[_Step]:
    if is_structured(op):
        space = structure(op)
        extents = [size if n is None else n for n in space.extents]
        body = [inner for inner in list(body_of(op).operations)[:-1] if inner.operation.name not in _CONVERTED]
        into = prod(n for n, kind in zip(extents, space.iterators, strict=True) if kind == "reduction")
        yield _Step(op, times, prod(extents) * max(1, len(body)), into * times)
        return
    if not len(op.regions):
        yield _Step(op, times, 1, times)
        return
    inside = times * _trips(op, size)
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield from _steps(inner.operation, size, inside)


def _trips(op: ir.Operation, size: int) -> int:
    """The largest number of executions of an op's body in one execution of the op."""
    if op.name in ("scf.for", "scf.parallel"):
        operands = list(op.operands)
        count = 1 if op.name == "scf.for" else len(operands) // 3
        first, end, step = (operands[n * count : (n + 1) * count] for n in range(3))
        return prod(_count(*bounds, size) for bounds in zip(first, end, step, strict=True))
    if op.name == "scf.forall":
        sizes = (
            list(ir.DenseI64ArrayAttr(op.attributes[f"static{name}"])) for name in ("LowerBound", "UpperBound", "Step")
        )
        return prod(
            max(0, -((first - end) // step)) if end >= 0 < step else size
            for first, end, step in zip(*sizes, strict=True)
        )
    if op.name == "gpu.launch":
        return prod(constant_of(value) or GUESSED for value in list(op.operands)[-6:])
    return GUESSED if op.name == "scf.while" else 1


def _count(first: ir.Value, end: ir.Value, step: ir.Value, size: int) -> int:
    known = KnownIndices()
    _, most = (known.linear(end) - known.linear(first)).bounds()
    return size or GUESSED if most is None else max(0, -(-most // max(1, constant_of(step) or 1)))


# ---- exactness -----------------------------------------------------------------------------------


def _most(steps: Iterable[_Step], signature: FunctionSignature) -> int | None:
    steps = list(steps)
    if not all(_is_exact(op) for s in steps for op in (s.op, *operations(s.op))):
        return None
    given = [INTEGERS[a.dtype] for a in signature.arguments if a.dtype in INTEGERS]
    return next((most for most in MAGNITUDES if most <= min(given, default=most) and _holds(steps, most)), None)


def _is_exact(op: ir.Operation) -> bool:
    if op.name in _INEXACT:
        return False
    if op.name == "arith.constant" and any(str(element_type(v)) in FLOATS for v in op.results):
        return _constant(op) is not None
    if op.name == "memref.global":
        return str(ir.MemRefType(ir.TypeAttr(op.attributes["type"]).value).element_type) not in FLOATS
    if _says_where(op):
        return False  # a random number is no valid index
    return op.name in _EXACT or op.name.startswith(_MOVES)


def _says_where(op: ir.Operation) -> bool:
    return op.name.startswith("arith.index_cast") and str(op.results[0].type) == "index"


def _constant(op: ir.Operation) -> int | None:
    """The magnitude of an integral constant; 0 for infinities, which are exact in every operation
    here; None for any other number."""
    value = op.attributes["value"]
    if isinstance(value, ir.FloatAttr):
        number = value.value
        if number in (float("inf"), float("-inf")):
            return 0
        return abs(int(number)) if number == number and number == int(number) else None
    return 0 if isinstance(value, ir.IntegerAttr) else None


def _holds(steps: Iterable[_Step], most: int) -> bool:
    """Whether inputs of this magnitude keep every intermediate result small enough to be exact, in
    every order of summation."""
    bound, rounded = most, False
    for step in steps:
        kinds = {str(element_type(value)) for value in (*step.op.operands, *step.op.results)} & set(FLOATS)
        inner = [op.operation for op in body_of(step.op).operations] if is_structured(step.op) else [step.op]
        names = [op.name for op in inner]
        sums = [op for op in inner if op.name in ("arith.addf", "arith.subf")]
        for op in inner:
            if op.name == "arith.constant" and (number := _constant(op)):
                bound = max(bound, number)
        if rounded and (sums or "arith.mulf" in names):
            return False  # a value was rounded that the reference computes with all digits
        if "arith.mulf" in names and not sums and step.into > 1 and is_structured(step.op):
            return False  # a product over many elements
        made = bound ** (1 << names.count("arith.mulf"))
        if sums:
            made *= max(step.into, 1) + 1 << len(sums) - 1
            limits = [INTEGERS[str(element_type(op.results[0]))] for op in sums]
            few = FEW_DIGITS if any(kind.startswith("f8") for kind in kinds) else limits[0]
            if made > min(*limits, few):
                return False
        elif "arith.mulf" in names and made > min(INTEGERS[kind] for kind in kinds):
            return False
        bound = max(bound, made)
        narrowed = [str(element_type(op.results[0])) for op in inner if op.name == "arith.truncf"]
        rounded = rounded or any(bound > INTEGERS[kind] for kind in narrowed)
    return True
