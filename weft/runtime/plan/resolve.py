"""Replacement of a plan's symbols by numbers: dimensions from the inputs' shapes, scalars from
their values."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ...dsl.diagnostics import fail
from ...interpreter.hardware import limits
from .check import validate
from .plan import (
    Agreement,
    AnyStep,
    Apply,
    Assumption,
    DimOf,
    Launch,
    Operator,
    Plan,
    ScalarOf,
    ScalarValue,
    Size,
    triple,
    used_buffers,
)
from .storage import placed

Shapes = Mapping[str, tuple[int, ...]]
Scalars = Mapping[str, int | float | bool]


def resolve(plan: Plan, shapes: Shapes, scalars: Scalars) -> Plan:
    """`plan` with every `Expr` replaced by its value, validated once more.

    Args:
        shapes: the shape of each input array, by buffer name; static dimensions must agree (the
            caller checks).
        scalars: the value of each scalar; one that no size depends on may be omitted, and stays in
            the result as a symbol.

    Errors: W0702 … W0708 and W0748 as in `check.py`; W0709 if an expression has no value (a
    division by 0); W0717 for sizes that do not agree; W0739 for a size that violates an assumption.
    """
    for one in plan.agreements:
        left, right = (_replace(size, shapes, scalars) for size in (one.left, one.right))
        if left != right if one.relation == "==" else left < right:
            raise fail("W0717", _broken(one, int(left), int(right)))
    plan = _taken(plan, shapes, scalars)
    for assumption in plan.assumptions:
        if number := _excess(assumption, shapes, scalars):
            what = f"{_text(assumption.size, number)}, and the kernels are made for {assumption.made_for} there"
            notes = (f"assumed at {assumption.by}",) if assumption.by else ()
            raise fail(
                "W0739",
                what,
                "pad the array; or add a block without this `assume` to `versions { … } else { … }`",
                notes=notes,
            )
    fixed = _replace(plan, shapes, scalars)
    fixed = dataclasses.replace(fixed, steps=tuple(map(_chosen, fixed.steps)))
    sound = validate(fixed, f"plan of @{plan.entry}")
    return sound if all(b.place is not None for b in sound.buffers if b.role == "temp") else placed(sound)


def _chosen(step: AnyStep) -> AnyStep:
    """Replaces a launch by that of the text for folded grids if its grid requires it, else by that
    of the text with 32-bit indices if its numbers fit."""
    if not isinstance(step, Launch):
        return step
    text = step.folded if step.folded is not None and limits.is_folded(triple(step.grid)) else None
    if text is None and step.narrow is not None:
        fits = all(isinstance(number, int) and -(1 << 31) <= number < 1 << 31 for number in step.narrow.small)
        text = step.narrow if fits else None
    chosen = {} if text is None else {"kernel": text.kernel, "reciprocals": text.reciprocals}
    return dataclasses.replace(step, **chosen, narrow=None, folded=None)


def deciding(plan: Plan) -> set[str]:
    """The scalars that sizes, offsets or steps depend on: all except those that are only passed to
    kernels."""

    def within(node: Any) -> Iterator[str]:
        if isinstance(node, ScalarOf):
            yield node.name
        elif isinstance(node, Launch):
            passed = [arg for arg in node.args if isinstance(arg, ScalarValue) and isinstance(arg.value, ScalarOf)]
            yield from within(
                dataclasses.replace(node, args=tuple(arg for arg in node.args if arg not in passed)).__dict__
            )
        elif isinstance(node, tuple):
            for each in node:
                yield from within(each)
        elif isinstance(node, dict):
            for each in node.values():
                yield from within(each)
        elif dataclasses.is_dataclass(node):
            yield from within(vars(node))

    return set(within(plan))


def _broken(one: Agreement, left: int, right: int) -> str:
    """The message about an agreement that does not hold."""
    if one.relation == "==" and isinstance(one.right, DimOf):
        return f"{_text(one.left, left)}, and {_text(one.right, right)}: they are one dimension of {one.op}"
    if not right and not isinstance(one.left, DimOf | ScalarOf):
        return f"a size or an offset of {one.op} would be {left}: the sizes of the arguments do not fit together"
    return f"{_text(one.left, left)}, and {one.op} needs {right}{'' if one.relation == '==' else ' at least'}"


def _taken(plan: Plan, shapes: Shapes, scalars: Scalars) -> Plan:
    """The plan with only the first version with assumptions that hold; with the last one if
    there is none."""
    if not plan.versions:
        return plan
    fits = (not any(_excess(one, shapes, scalars) for one in assumed) for assumed in plan.versions)
    taken = next((number for number, fit in enumerate(fits) if fit), len(plan.versions) - 1)
    kept = [number for number, step in enumerate(plan.steps) if step.in_version in (None, taken)]
    places = {old: new for new, old in enumerate(kept)}
    steps = [plan.steps[number] for number in kept]
    moved = (dataclasses.replace(step, after=tuple(places[s] for s in step.after if s in places)) for step in steps)
    used = {name for step in steps for name in used_buffers(step)}
    buffers = tuple(buffer for buffer in plan.buffers if buffer.role != "temp" or buffer.name in used)
    assumptions = (*plan.assumptions, *plan.versions[taken])
    return dataclasses.replace(plan, steps=tuple(moved), buffers=buffers, assumptions=assumptions, taken=taken)


def _excess(assumption: Assumption, shapes: Shapes, scalars: Scalars) -> int:
    """The size if it violates the assumption; else 0."""
    number = int(_replace(assumption.size, shapes, scalars))
    return 0 if assumption.holds(number) else number


def _text(size: Size, number: int) -> str:
    match size:
        case DimOf():
            return f"axis {size.axis} of `{size.buffer}` has {number} element{'' if number == 1 else 's'}"
        case ScalarOf():
            return f"`{size.name}` is {number}"
    return f"a size or an offset that is computed is {number}"


def _replace(node: Any, shapes: Shapes, scalars: Scalars) -> Any:
    match node:
        case DimOf():
            return shapes[node.buffer][node.axis]
        case ScalarOf():
            return scalars.get(node.name, node)
        case Apply():
            left, right = (int(_replace(side, shapes, scalars)) for side in (node.left, node.right))
            return apply(node.operator, left, right)
        case tuple():
            return tuple(_replace(item, shapes, scalars) for item in node)
    if not dataclasses.is_dataclass(node) or isinstance(node, type):
        return node
    return dataclasses.replace(node, **{name: _replace(part, shapes, scalars) for name, part in vars(node).items()})


def _truncated(left: int, right: int) -> int:
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


NARROW_DIVIDENDS, WIDE_DIVIDENDS = 31, 56
"""Bits of a dividend, at most, for which kernels divide by a reciprocal."""


def _reciprocal(divisor: int, bits: int) -> int:
    """The parameter for computing `n / divisor` by a product and a shift, for all 0 <= n < 2^bits:
    the factor ceil(2^s / divisor), and s in the bits above it.

    Let 2^(l-1) < divisor <= 2^l and s = bits + l. The factor is (2^s + e) / divisor with 0 <= e <
    divisor <= 2^l, so that n * factor / 2^s exceeds n / divisor by n * e / (divisor * 2^s) < 1 /
    divisor: too little to reach the next integer. The result is 0 for a divisor above all n, and
    for 0, by which no kernel divides. For 31 bits, s is stored from bit 32 on; for 56 bits, l from
    bit 57 on, since the kernel computes the product without its lowest 56 bits.
    """
    if not 0 < divisor <= 1 << bits:
        return 0
    more = (divisor - 1).bit_length()
    factor = -(-(1 << bits + more) // divisor)
    return bits + more << 32 | factor if bits == NARROW_DIVIDENDS else more << bits + 1 | factor


OPERATIONS: Mapping[Operator, Callable[[int, int], int]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "floordiv": operator.floordiv,
    "ceildiv": lambda left, right: -(-left // right),
    "div": _truncated,
    "mod": lambda left, right: left % abs(right),
    "rem": lambda left, right: left - right * _truncated(left, right),
    "min": min,
    "max": max,
    "reciprocal": _reciprocal,
}


def apply(operator: Operator, left: int, right: int) -> int:
    """`operator(left, right)`. W0709 for a division by 0."""
    try:
        return OPERATIONS[operator](left, right)
    except ZeroDivisionError:
        raise fail("W0709", f"the host program divides {left} by 0") from None


def fold(operator: Operator, left: Size, right: Size) -> Size:
    """`operator(left, right)`: a number if both are, else an expression, simplified by identities."""
    if isinstance(left, int) and isinstance(right, int):
        return apply(operator, left, right)
    if operator == "add" and 0 in (left, right):
        return right if left == 0 else left
    if operator == "mul" and 0 in (left, right):
        return 0
    if operator == "mul" and 1 in (left, right):
        return right if left == 1 else left
    if operator in ("floordiv", "ceildiv", "div") and right == 1:
        return left
    if operator == "sub" and right == 0:
        return left
    return Apply(operator, left, right)
