"""Masked updates, for reductions in which no values of the operands outside the domain leave the
result unchanged (`reductions/identities.py`).

A masked update leaves the result unchanged in iterations outside the domain:

    before: linalg.yield %new
    after, if the body may be executed anywhere:
        linalg.yield select(%inside, %new, %accumulator)
    after, if it reads memory, or divides integers:
        linalg.yield scf.if %inside { body … } else { %accumulator }
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..indices.arithmetic import Bound
from ..ir.cloning import clone_body
from ..ir.mlir import ahead_of, arith, ir, linalg, operations, ops_of, scf
from ..ir.refusing import WAS
from ..ir.structured import body_of, copy_marks, generic, is_read, replace, segments, structure
from ..reductions.identities import number
from .masked_loads import within

_UNMAPPED_READS = ("tensor.extract", "memref.load")
"""Reads in a body at indices that no indexing map bounds: outside the domain they must not be
executed."""
_DIVISIONS = tuple(
    f"arith.{name}" for name in ("divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi", "ceildivui")
)
"""Operands may be 0 outside the domain."""


def runs_anywhere(op: ir.Operation) -> bool:
    """Whether the body of a structured op may be executed outside its domain, with its result
    discarded."""
    return not any(operations(op, *_UNMAPPED_READS, *_DIVISIONS))


def beyond(
    iterations: Sequence[Bound | None], extents: Sequence[int | None], dimensions: Sequence[int]
) -> Callable[[Sequence[ir.Value]], ir.Value | None]:
    """`index < extent` for each dimension that was rounded up from `extents`, given the values of
    all `linalg.index`es."""
    old = [n if d in dimensions else None for d, n in enumerate(iterations)]
    return lambda indices: within(indices, old, [n or 0 for n in extents])


def mask_update(op: ir.Operation, inside: Callable[[Sequence[ir.Value]], ir.Value | None], *, keep: bool) -> None:
    """Masks the update of a `linalg.generic`: iterations count only where `inside` holds.

    Args:
        inside: emits the condition at the insertion point; None where it always holds.
        keep: whether all outputs keep their values in the other iterations. If not, an output that
            the body does not read becomes 0 there, since it may never have been written.
    """
    body = body_of(op)
    inputs = segments(op)[0]
    outputs = list(body.arguments)[inputs:]
    terminator = body.operations[-1].operation
    moved = [o for o in ops_of(body) if o.name not in ("linalg.index", "linalg.yield")]
    anywhere = runs_anywhere(op)
    with ir.InsertionPoint(terminator), op.location:
        mask = inside([linalg.IndexOp(d).result for d in range(structure(op).rank)])
        if mask is None:
            return
        others = [a if keep or is_read(op, n) else number(0, a.type) for n, a in enumerate(outputs, inputs)]
        if anywhere:
            made = [arith.select(mask, new, old) for new, old in zip(terminator.operands, others, strict=True)]
        else:
            choice = scf.IfOp(mask, [a.type for a in outputs], has_else=True)
            with ir.InsertionPoint(choice.else_block):
                scf.YieldOp(others)
            for inner in moved:
                choice.then_block.append(inner)
            with ir.InsertionPoint(choice.then_block):
                scf.YieldOp(list(terminator.operands))
            made = list(choice.results)
    for position, result in enumerate(made):
        terminator.operands[position] = result


def generalized(op: ir.Operation) -> ir.Operation:
    """The op as a `linalg.generic`, with a body that can be changed and can use its indices; a
    named op is replaced."""
    if op.name == "linalg.generic":
        return op
    space, operands = structure(op), list(op.operands)
    with ahead_of(op):
        inputs, outputs = operands[: space.inputs], operands[space.inputs :]
        made = generic(inputs, outputs, space.maps, space.iterators, lambda own: clone_body(body_of(op), own))
    copy_marks(op, made)
    if WAS not in made.attributes:
        made.attributes[WAS] = ir.StringAttr.get(op.name)
    replace(op, made.results)
    return made
