"""Lowering to the normal form of kernels: other ops of a kernel are replaced by simpler ones, on a
clone.

Upstream's passes lower affine loops and accesses and the loops of copies; it has no pass for the
rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Any

from ...interpreter.hardware.lanes import SHUFFLE, SUBGROUP_REDUCE
from ...interpreter.hardware.limits import WARP
from ...interpreter.ir.copying import copy_to
from ...interpreter.ir.functions import name_of, set_name
from ...interpreter.ir.mlir import ancestors, i64, ir, operations, run_passes
from ...interpreter.ir.structured import replace
from .kernel_form import axis_of, named

_PIPELINE = "gpu.module(gpu.func(affine-expand-index-ops,lower-affine,convert-linalg-to-loops))"


def normal(function: ir.Operation) -> tuple[ir.Operation, ir.Operation]:
    """The kernel in normal form, and the module that holds it and must outlive it: its own, or a
    clone.

    An op without a lowering is left unchanged.
    """
    (*_, root) = function, *ancestors(function)
    if not any(op.name in LOWERED for op in operations(function)):
        return function, root
    number, module = list(operations(root, "gpu.func")).index(function), root.clone().operation
    found = list(operations(module, "gpu.func"))[number]
    simplify(found)
    _keep_reads(found)
    try:
        run_passes(module, _PIPELINE)
    except ir.MLIRError:
        return function, root
    for op in operations(found, _KEPT):
        op.erase()
    return found, module


_KEPT = "weft.kept"


def _keep_reads(function: ir.Operation) -> None:
    """Adds uses of values read from memory: passes erase unused reads, but a race of such a read is
    a race."""
    for op in operations(function):
        values = [result for result in op.results if not isinstance(result.type, ir.MemRefType)]
        if values and not op.regions and any(isinstance(operand.type, ir.MemRefType) for operand in op.operands):
            with op.context, op.location, ir.InsertionPoint.after(op):
                ir.Operation.create(_KEPT, operands=values)


def simplify(function: ir.Operation, *names: str) -> None:
    """Replaces ops with a lowering in `LOWERINGS`, in place: those with these names, or all."""
    for op in operations(function, *(names or LOWERINGS)):
        with ir.InsertionPoint(op), op.location:
            made = LOWERINGS[op.name](op, *op.operands)
            for new in made:
                if new not in op.operands:
                    set_name(new.owner, name_of(op.results[0]))
        replace(op, made)


def _make(name: str, *operands: ir.Value, type: ir.Type | None = None, **attributes: Any) -> ir.Value:
    """An op with one result, by default of the type of its last operand."""
    return ir.Operation.create(name, [type or operands[-1].type], list(operands), attributes).result


def _like(kind: ir.Type, element: ir.Type) -> ir.Type:
    """The same scalar or vector type with another element type."""
    return ir.VectorType.get(kind.shape, element) if isinstance(kind, ir.VectorType) else element


def _constant(value: float, kind: ir.Type) -> ir.Value:
    element = _element(kind)
    made: Any = (ir.FloatAttr if isinstance(element, ir.FloatType) else ir.IntegerAttr).get(element, value)
    if isinstance(kind, ir.VectorType):
        made = ir.DenseElementsAttr.get_splat(kind, made)
    return _make("arith.constant", type=kind, value=made)


def _compare(predicate: int, a: ir.Value, b: ir.Value, name: str = "arith.cmpi") -> ir.Value:
    return _make(name, a, b, type=_like(a.type, ir.IntegerType.get_signless(1)), predicate=i64(predicate))


_EQUAL, _LESS, _BELOW = 0, 2, 6
"""Predicates of integer comparisons: equal, signed less, unsigned less."""
_FLOATS_EQUAL, _FLOATS_LESS, _UNORDERED = 1, 4, 14


# ---- ids ----------------------------------------------------------------------------------------


def _place(name: str, axis: str) -> ir.Value:
    return _make(f"gpu.{name}", type=ir.IndexType.get(), dimension=ir.Attribute.parse(f"#gpu<dim {axis}>"))


def _threads(op: ir.Operation) -> tuple[ir.Value, ...]:
    """The lowering of ids of lanes and warps, and of sizes of warps and their number (rounded up)."""
    warp = _constant(WARP, ir.IndexType.get())
    if op.name == "gpu.subgroup_size":
        return (warp,)
    if op.name == "gpu.num_subgroups":
        x, y, z = (_place("block_dim", axis) for axis in "xyz")
        numbers = _make("arith.addi", _make("arith.muli", _make("arith.muli", x, y), z), _constant(WARP - 1, warp.type))
    else:
        numbers = linear_thread()
    made = _make("arith.remui" if op.name == "gpu.lane_id" else "arith.divui", numbers, warp)
    set_name(made.owner, {"gpu.lane_id": "lane", "gpu.subgroup_id": "warp"}.get(op.name, "warps"))
    return (made,)


def linear_thread() -> ir.Value:
    """The linear id of the thread in its block, x fastest, as in CUDA."""
    planes = _make("arith.muli", _place("block_dim", "y"), _place("thread_id", "z"))
    rows = _make("arith.addi", _place("thread_id", "y"), planes)
    return _make("arith.addi", _place("thread_id", "x"), _make("arith.muli", _place("block_dim", "x"), rows))


def _global_id(op: ir.Operation) -> tuple[ir.Value, ...]:
    axis = "xyz"[axis_of(op)]
    first = _make("arith.muli", _place("block_id", axis), _place("block_dim", axis))
    return (_make("arith.addi", first, _place("thread_id", axis)),)


# ---- between lanes -------------------------------------------------------------------------------


def _butterfly(op: ir.Operation, value: ir.Value) -> tuple[ir.Value, ...]:
    """Combines with the lane at a distance of 1, 2, 4, … within the reducing group, after which
    each lane has the result."""
    kind = str(op.attributes["op"]).split()[-1].rstrip(">")
    floats = kind in ("add", "mul") and isinstance(_element(value.type), ir.FloatType)
    combine = f"arith.{kind}{'f' if floats else 'i' if kind in ('add', 'mul', 'and', 'or', 'xor') else ''}"
    usual = {"cluster_size": WARP, "cluster_stride": 1}
    size, step = (op.attributes[name].value if name in op.attributes else n for name, n in usual.items())
    word = ir.IntegerType.get_signless(32)
    distance, width = step, _constant(WARP, word)
    while distance < size * step:
        mode, types = ir.Attribute.parse("#gpu<shuffle_mode xor>"), [value.type, ir.IntegerType.get_signless(1)]
        other = ir.Operation.create(SHUFFLE, types, [value, _constant(distance, word), width], {"mode": mode}).results[
            0
        ]
        value, distance = _make(combine, value, other), 2 * distance
    return (value,)


# ---- arithmetic ----------------------------------------------------------------------------------


def _in_bits(function: Callable[[str, ir.Value, ir.Value], tuple[ir.Value, ...]]) -> Lowering:
    """The lowering of an op on two integers, with wrap-around; an index is converted to i64."""

    def lower(op: ir.Operation, a: ir.Value, b: ir.Value) -> Sequence[ir.Value]:
        wide, index = _like(a.type, ir.IntegerType.get_signless(64)), str(_element(a.type)) == "index"
        given = [_make("arith.index_cast", v, type=wide) if index else v for v in (a, b)]
        made = zip(function(op.name, *given), op.results, strict=True)
        return [v if v.type == r.type else _make("arith.index_cast", v, type=r.type) for v, r in made]

    return lower


def _element(kind: ir.Type) -> ir.Type:
    return kind.element_type if isinstance(kind, ir.VectorType) else kind


@_in_bits
def _sum_and_carry(name: str, a: ir.Value, b: ir.Value) -> tuple[ir.Value, ...]:
    """The sum, with a carry if the wrapped sum is less than an operand."""
    total = _make("arith.addi", a, b)
    return total, _compare(_BELOW, total, a)


@_in_bits
def _both_halves(name: str, a: ir.Value, b: ir.Value) -> tuple[ir.Value, ...]:
    """The product in twice the bits; for 64 bits from products of halves (H. S. Warren, "Hacker's
    Delight", 8-2)."""
    kind, bits, signed = a.type, _element(a.type).width, name == "arith.mulsi_extended"
    if bits == 1:
        return _make("arith.muli", a, b), _constant(0, kind)
    if bits < 64:
        wide = _like(kind, ir.IntegerType.get_signless(2 * bits))
        factors = [_make("arith.extsi" if signed else "arith.extui", v, type=wide) for v in (a, b)]
        product = _make("arith.muli", *factors)
        high = _make("arith.shrsi", product, _constant(bits, wide))
        return _make("arith.trunci", product, type=kind), _make("arith.trunci", high, type=kind)
    half, mask, top = _constant(32, kind), _constant((1 << 32) - 1, kind), _constant(63, kind)

    def upper(v: ir.Value) -> ir.Value:
        return _make("arith.shrui", v, half)

    def lower(v: ir.Value) -> ir.Value:
        return _make("arith.andi", v, mask)

    def plus(v: ir.Value, x: ir.Value, y: ir.Value) -> ir.Value:
        return _make("arith.addi", v, _make("arith.muli", x, y))

    (a0, a1), (b0, b1) = ((lower(v), upper(v)) for v in (a, b))
    first = plus(upper(_make("arith.muli", a0, b0)), a1, b0)
    second = plus(lower(first), a0, b1)
    high = plus(_make("arith.addi", upper(first), upper(second)), a1, b1)
    for one, other in ((a, b), (b, a)) if signed else ():
        high = _make("arith.subi", high, _make("arith.andi", _make("arith.shrsi", one, top), other))
    return _make("arith.muli", a, b), high


def _division_up(op: ir.Operation, a: ir.Value, b: ir.Value) -> tuple[ir.Value, ...]:
    zero, one = _constant(0, a.type), _constant(1, a.type)
    up = _make("arith.addi", _make("arith.divui", _make("arith.subi", a, one), b), one)
    return (_make("arith.select", _compare(_EQUAL, a, zero), zero, up),)


def _magnitude(op: ir.Operation, a: ir.Value) -> tuple[ir.Value, ...]:
    zero = _constant(0, a.type)
    return (_make("arith.select", _compare(_LESS, a, zero), _make("arith.subi", zero, a), a),)


def classified(op: ir.Operation, a: ir.Value) -> tuple[ir.Value, ...]:
    """`math.isnan`, `isinf` and `isfinite`, by comparisons."""
    if op.name == "math.isnan":
        return (_compare(_UNORDERED, a, a, "arith.cmpf"),)
    predicate = _FLOATS_EQUAL if op.name == "math.isinf" else _FLOATS_LESS
    return (_compare(predicate, _make("math.absf", a), _constant(inf, a.type), "arith.cmpf"),)


def _unchanged(op: ir.Operation, *operands: ir.Value) -> tuple[ir.Value, ...]:
    """Leaves memory unchanged; a deallocation has no effect, since memory ends with the kernel."""
    return operands[: len(op.results)]


def _copied(op: ir.Operation, source: ir.Value, target: ir.Value) -> tuple[ir.Value, ...]:
    copy_to(target, source)
    return ()


Lowering = Callable[..., Sequence[ir.Value]]
LOWERINGS: dict[str, Lowering] = {
    "arith.addui_extended": _sum_and_carry, "arith.ceildivui": _division_up, "arith.mulsi_extended": _both_halves,
    "arith.mului_extended": _both_halves, "gpu.global_id": _global_id, "gpu.lane_id": _threads, "gpu.num_subgroups": _threads,
    "gpu.subgroup_id": _threads, SUBGROUP_REDUCE: _butterfly, "gpu.subgroup_size": _threads, "math.absi": _magnitude,
    "math.clampf": lambda op, a, low, high: [_make("arith.minimumf", _make("arith.maximumf", a, low), high)],
    "math.isfinite": classified, "math.isinf": classified, "math.isnan": classified, "memref.assume_alignment": _unchanged,
    "memref.copy": _copied, "memref.dealloc": _unchanged, "memref.distinct_objects": _unchanged,
    "vector.fma": lambda op, *operands: [_make("math.fma", *operands)],
}  # fmt: skip
"""By the name of an op: a function that creates its results from its operands with simpler ops,
before it."""

LOWERED = frozenset(LOWERINGS) | named(
    affine="delinearize_index for if linearize_index load store vector_load vector_store"
)
"""Ops outside the normal form with a lowering to it."""
