"""Identities of reductions: values for operands outside the domain, so that iterations there leave
the result unchanged.

    %t = arith.mulf %a, %b        a and b are 0 outside: 0 is added
    %s = arith.addf %acc, %t

The *term* must be the identity of the combiner; the body computes it from the inputs. Candidate
values are substituted for the inputs and upstream's folder computes the term: if it is the
identity, exactly and in the payload's own types, these values are read outside. Inputs that extend
beyond the reduction hold arbitrary values there, infinities and NaN among them. Where no values
work, the update itself is masked (`padding/masking.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from ...dsl.diagnostics import fail
from ...dsl.records import record
from ..ir.cloning import clone_with
from ..ir.mlir import arith, func, ir, made_by, operations, ops_of, producer, run_passes
from ..ir.structured import (
    Structure,
    body_of,
    dimension_of,
    element_type,
    segments,
    yielded,
)

Identity = int | float | str | None

COMMUTATIVE = {
    "arith.addf", "arith.addi", "arith.mulf", "arith.muli", "arith.andi", "arith.ori", "arith.xori", "arith.maximumf",
    "arith.minimumf", "arith.maxnumf", "arith.minnumf", "arith.maxsi", "arith.minsi", "arith.maxui", "arith.minui",
}  # fmt: skip
COMBINERS = {
    op[6:].removesuffix("i") if op.startswith(("arith.max", "arith.min")) else op[6:]: op for op in sorted(COMMUTATIVE)
}
"""For each kind of `memref.atomic_rmw`, such as `maxs` or `addf`, the op on two values with the
same result."""
_COMBINERS = COMMUTATIVE | {"arith.subf", "arith.subi"}
IDEMPOTENT = COMMUTATIVE - {"arith.addf", "arith.addi", "arith.mulf", "arith.muli", "arith.xori"}
"""Combiners for which a repeated term changes nothing."""
SUMS = ("arith.addf", "arith.addi", "arith.subf", "arith.subi")

_WHOLE = {
    "arith.addi": 0, "arith.subi": 0, "arith.ori": 0, "arith.xori": 0, "arith.maxui": 0, "arith.muli": 1, "arith.maxsi": "min",
    "arith.minsi": "max", "arith.minui": "umax", "arith.andi": "umax",
}  # fmt: skip


_REAL: dict[str, Identity] = {
    "arith.addf": -0.0, "arith.subf": -0.0, "arith.mulf": 1, "arith.maximumf": "-inf", "arith.minimumf": "inf",
    "arith.maxnumf": "nan", "arith.minnumf": "nan",
}  # fmt: skip


@record
class Combination:
    """A body that yields `combiner(accumulator, term)`, with a term that does not read the
    accumulator."""

    combiner: str
    term: ir.Value


def combination(op: ir.Operation) -> Combination | None:
    """The update of the single output of a structured op; None for any other form."""
    return update(op, 0) if segments(op)[1] == 1 else None


def update(op: ir.Operation, output: int, value: ir.Value | None = None, uses: int = 1) -> Combination | None:
    """The update of one of the outputs; None unless it combines the output with a term.

    Args:
        value: the new value of the output, if it is not the yielded one.
        uses: the number of all uses of the accumulator.
    """
    body = body_of(op)
    accumulator = body.arguments[segments(op)[0] + output]
    combiner = made_by(yielded(op)[output] if value is None else value, *_COMBINERS)
    if combiner is None or combiner.block != body:
        return None
    if len(list(accumulator.uses)) != uses or accumulator not in list(combiner.operands):
        return None
    position = list(combiner.operands).index(accumulator)
    if position != 0 and combiner.name not in COMMUTATIVE:
        return None
    return Combination(combiner.name, combiner.operands[1 - position])


def number(value: Identity, kind: ir.Type) -> ir.Value:
    """A constant of type `kind`; `inf`, `-inf`, `min`, `max`, `umax` are that type's own. None is
    zero."""
    return arith.ConstantOp(kind, attribute(value, kind)).result


def attribute(value: Identity, kind: ir.Type) -> ir.Attribute:
    """The attribute of `number(value, kind)`. Raises W0399 for a type that is neither an integer nor a float."""
    if isinstance(kind, ir.FloatType):
        return ir.FloatAttr.get(kind, float(0 if value is None else value))
    if not isinstance(kind, (ir.IntegerType, ir.IndexType)):
        raise fail("W0399", f"elements of type {kind} are not numbers that Weft can make")
    width = kind.width if isinstance(kind, ir.IntegerType) else 64
    special = {"min": -(1 << (width - 1)), "max": (1 << (width - 1)) - 1, "umax": -1, None: 0}
    return ir.IntegerAttr.get(kind, int(special.get(value, value)))  # type: ignore[arg-type]


def identity(combiner: str) -> Identity:
    """The exact identity of a combiner: `-0.0` for sums, and NaN where a number wins over NaN."""
    return _WHOLE[combiner] if combiner in _WHOLE else _REAL[combiner]


def fillings(
    op: ir.Operation, space: Structure, ragged: Sequence[int], start: ir.Attribute | None = None
) -> tuple[Identity, ...] | None:
    """For each input, a value outside the domain such that no iteration beyond the end of the
    reduced dimensions `ragged` changes the result.

    Args:
        start: the constant that the accumulator starts with, if any: only a sum that starts with
            -0.0 distinguishes the identity -0.0 from +0.0.

    Returns:
        numbers, or `inf`, `-inf`, `min`, `max`, `umax` of the element type, None where any value works; None where
        no values do.
    """
    found = combination(op)
    if found is None:
        return None
    body = body_of(op)
    arguments = list(body.arguments)[: space.inputs]
    cone, leaves = _computed(found.term, body)
    used = [i for i, argument in enumerate(arguments) if argument in leaves and _ends(space, i, ragged)]
    for candidate in _candidates(op, used):
        if all(
            _is_identity(found, _folded(found.term, cone, leaves, {
                arguments[i]: attribute(candidate[i], element_type(op.operands[i])) for i in used if _ends(space, i, outside)
            }), start)
            for count in range(1, len(ragged) + 1) for outside in combinations(ragged, count)  # beyond one or more of them
        ):  # fmt: skip
            return tuple(candidate.get(i) for i in range(space.inputs))
    return None


def _ends(space: Structure, position: int, dimensions: Iterable[int]) -> bool:
    """Whether one of these dimensions alone indexes an axis of an input: the input then ends where
    the dimension ends."""
    found = {dimension_of(e) for e in space.maps[position].results}
    return any(d in found for d in dimensions)


def _computed(term: ir.Value, body: ir.Block) -> tuple[list[ir.Operation], list[ir.Value]]:
    """The arithmetic of the body that computes `term`, in order, and its leaves: arguments, and
    other unknown values."""
    needed: set[ir.Operation] = set()
    leaves: list[ir.Value] = []

    def visit(value: ir.Value) -> None:
        op = producer(value)
        if op is not None and op.name.startswith("arith.") and (op.block == body or op.name == "arith.constant"):
            needed.add(op)
            for operand in op.operands:
                visit(operand)
        elif value not in leaves:
            leaves.append(value)

    visit(term)
    outside = [op for op in needed if op.block != body]
    return [*outside, *(o for o in ops_of(body) if o in needed)], leaves


def _candidates(op: ir.Operation, used: Sequence[int]) -> Iterator[dict[int, Identity]]:
    """Candidate values for the inputs: 0, 1, and the ends of their types; zeros also with the sign
    of one or all flipped."""
    floats = [i for i in used if not isinstance(element_type(op.operands[i]), ir.IntegerType | ir.IndexType)]
    zeros: dict[int, Identity] = dict.fromkeys(used, 0)
    if not used:
        return
    yield zeros
    for i in floats:
        yield {**zeros, i: -0.0}
    if len(floats) > 1:
        yield {i: -0.0 if i in floats else 0 for i in used}
    for whole, real in ((1, 1), ("min", "-inf"), ("max", "inf"), ("umax", "inf")):
        yield {i: real if i in floats else whole for i in used}


def _folded(
    term: ir.Value, cone: Sequence[ir.Operation], leaves: Sequence[ir.Value], known: Mapping[ir.Value, ir.Attribute]
) -> ir.Attribute | None:
    """The term as folded by upstream, with constants for these leaves; None if it is not a
    constant."""
    unknown = [value for value in leaves if value not in known]
    with ir.Location.unknown(term.context):
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            function = func.FuncOp("term", ([v.type for v in unknown], [term.type]))
        with ir.InsertionPoint(function.add_entry_block()):
            mapping = dict(zip(unknown, function.entry_block.arguments, strict=True))
            for value, constant in known.items():
                mapping[value] = arith.ConstantOp(value.type, constant).result
            for op in cone:
                clone_with(op, mapping)
            func.ReturnOp([mapping[term]])
    run_passes(module, "canonicalize")
    (returned,) = operations(module.operation, "func.return")
    made = made_by(returned.operands[0], "arith.constant")
    return None if made is None else made.attributes["value"]


def _is_identity(found: Combination, term: ir.Attribute | None, start: ir.Attribute | None) -> bool:
    """Whether the combiner returns its accumulator, whatever its value, with this as the other
    operand."""
    if term is None:
        return False
    if isinstance(term, ir.IntegerAttr):
        return found.combiner in _WHOLE and term == attribute(_WHOLE[found.combiner], term.type)
    if not isinstance(term, ir.FloatAttr):
        return False
    value = term.value
    first = start.value if start is not None and isinstance(start, ir.FloatAttr) else None
    match found.combiner:
        case "arith.addf" | "arith.subf":
            # x + -0.0 is x and x - 0.0 is x; x + 0.0 is not, if x is -0.0, which a sum is only if it started with it
            exact = math.copysign(1, value) == (-1 if found.combiner == "arith.addf" else 1)
            return value == 0 and (exact or (first is not None and (first != 0 or math.copysign(1, first) > 0)))
        case "arith.mulf":
            return value == 1
        case "arith.maximumf":
            return value == -math.inf
        case "arith.minimumf":
            return value == math.inf
        case "arith.maxnumf":  # of NaN and a number this combiner yields the number: only NaN leaves NaN unchanged
            return value == -math.inf and first is not None and not math.isnan(first)
        case "arith.minnumf":
            return value == math.inf and first is not None and not math.isnan(first)
    return False
