"""Ops with results that MLIR leaves undefined for some operands."""

from __future__ import annotations

from ...interpreter.ir.mlir import DYNAMIC, constant_of, ir, made_by
from .kernel_form import integers

_SHIFT, _DIVISION = "a shift by the width or more", "the least integer is divided by -1"
_POSITION, _STEP = "a position outside of the vector", "a loop with a step that is not positive"
LEFT_OPEN = {
    **dict.fromkeys(("arith.shli", "arith.shrsi", "arith.shrui"), _SHIFT),
    **dict.fromkeys(("arith.divsi", "arith.remsi", "arith.floordivsi", "arith.ceildivsi"), _DIVISION),
    **dict.fromkeys(("arith.fptosi", "arith.fptoui"), "a float that the integer type does not have"),
    "math.ipowi": "0 to a negative power",
    **dict.fromkeys(("vector.extract", "vector.insert"), _POSITION),
    "scf.for": _STEP,
}
"""By name of an op: the condition under which its result is undefined. Also undefined are all
integer divisions by zero."""
_DIVISIONS = frozenset(name for name, what in LEFT_OPEN.items() if what == _DIVISION)
AT_ONCE = _DIVISIONS | {"scf.for"}
"""Ops that are undefined behavior under their condition; the others yield poison, which must not be
used."""
_BY_ZERO = _DIVISIONS | {"arith.divui", "arith.remui", "arith.ceildivui"}


def may_be_open(op: ir.Operation) -> bool:
    """Whether the op may be undefined: it is in a table, and no constant shift distance or divisor
    makes it defined."""
    if op.name not in LEFT_OPEN and op.name not in _BY_ZERO:
        return False
    if op.name == "scf.for":
        return (constant_of(op.operands[2]) or 0) <= 0
    if LEFT_OPEN.get(op.name) == _POSITION:
        return DYNAMIC in integers(op.attributes["static_position"])
    kind = getattr(op.results[0].type, "element_type", op.results[0].type)
    bits = kind.width if isinstance(kind, ir.IntegerType) else 64
    number = _constant(op.operands[1]) if len(op.operands) == 2 else None
    if bits == 1 or number is None:
        return bits > 1
    if LEFT_OPEN.get(op.name) == _SHIFT:
        return not 0 <= number < bits
    if op.name in _DIVISIONS:
        return number in (0, -1)
    return number == 0 if op.name in _BY_ZERO else number < 0


def _constant(value: ir.Value) -> int | None:
    """The value of a constant; of a constant vector, that of all its elements, if they are equal."""
    made = made_by(value, "arith.constant")
    if made is None:
        return None
    number = made.attributes["value"]
    if isinstance(number, ir.DenseElementsAttr):
        return ir.IntegerAttr(number.get_splat_value()).value if number.is_splat else None
    return ir.IntegerAttr(number).value
