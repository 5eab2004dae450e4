"""Bring producers into loops, through upstream's `transform.structured.fuse_into_containing_op`."""

from __future__ import annotations

from ..ir import mlir
from ..ir.cloning import replace_operands
from ..ir.mlir import ir, is_used, is_within, users
from ..ir.structured import body_of, is_structured, loop_inits, loop_outputs, uncut
from ..mapping.space import loop_dimensions
from ..padding.gathers import is_gather
from ..session.rewriter import Rewriter
from ..session.statement import Handle

_FUSING = "weft.fusing"
_INTO = "weft.into"


def fuse_tagged(rewrite: Rewriter, producer: str, loop: Handle) -> None:
    """Fuse the op tagged `producer` into the loop; upstream's refusal becomes W0311.

    Where something behind the loop reads the producer, too, upstream makes a `scf.forall` anew, with one more result: the new one
    gets the old one's attributes, its tags and map among them. It takes a `scf.for` for a `scf.forall` there, and the process ends:
    such a loop gets a copy of the producer that nothing else reads, and the original stays, without the tag.
    """
    old = rewrite.find(loop)
    if old.name != "scf.forall":
        for op in [op for op in mlir.operations(rewrite.module.operation) if producer in op.attributes]:
            if _own_copy(op, old) != op:
                leave_outside(rewrite, op, producer)
    kept = {name: old.attributes[name] for name in old.attributes if name.startswith("weft.")}
    rewrite.transform(
        f"%p = transform.structured.match attributes{{{producer}}} in %root : (!transform.any_op) -> !transform.any_op\n"
        + rewrite.matcher("l", loop)
        + "\n%f, %n = transform.structured.fuse_into_containing_op %p into %l"
        " : (!transform.any_op, !transform.any_op) -> (!transform.any_op, !transform.any_op)\n"
        + rewrite.annotate("n", loop)
    )
    new = rewrite.find(loop)
    for name, attribute in kept.items():
        new.attributes[name] = attribute


def start_inside(op: ir.Operation, loop: ir.Operation) -> bool:
    """Let a `scf.forall` of one iteration compute what its shared output starts with: `op`, whose result the body takes whole.

    Returns whether it did: upstream's fusion follows slices, and of all of a tensor there is none.
    """
    if loop.name != "scf.forall" or any((d.lower, d.upper, d.step) != (0, 1, 1) for d in loop_dimensions(loop)):
        return False
    starts = [n for n, init in enumerate(loop_inits(loop)) if init in list(op.results)]
    if not (len(op.results) == len(starts) == 1 and is_structured(op)):
        return False
    output, position = loop_outputs(loop)[starts[0]], len(loop.operands) - len(loop.results) + starts[0]
    readers = [user for user in users(output) if user.name != "tensor.parallel_insert_slice"]
    if any(user.name == "tensor.extract_slice" for user in readers):  # one tile is all there is: upstream's
        return False
    copy = op.clone(ip=ir.InsertionPoint.at_block_begin(body_of(loop))).operation
    last = len(op.operands) - 1
    loop.operands[position] = op.operands[last]
    copy.operands[last] = output
    for user in readers:
        replace_operands(user, {output: copy.results[0]})
    return True


def leave_outside(rewrite: Rewriter, op: ir.Operation, tag: str) -> None:
    """The op stays where it is for its other readers, and a copy of it in the loop is what `tag` names from now on."""
    del op.attributes[tag]
    rewrite.remark(f"a copy of {op.name} stays outside: others read it")


def fuse_gathers(rewrite: Rewriter, loop: Handle) -> None:
    """Fuse every gather that the ops in `loop` read slices of: gathers follow their consumer into each tile."""
    while (found := _outside_gather(rewrite.find(loop))) is not None:
        _own_copy(found, rewrite.find(loop)).attributes[_FUSING] = ir.UnitAttr.get()  # cheaper made twice than kept
        fuse_tagged(rewrite, _FUSING, loop)
        inside = rewrite.find(loop)
        for op in list(mlir.operations(rewrite.module.operation)):
            if _FUSING in op.attributes:
                del op.attributes[_FUSING]
                if not is_within(op, inside):
                    remove_if_dead(op)


def _own_copy(op: ir.Operation, loop: ir.Operation) -> ir.Operation:
    """The op, or where others read it, too, a copy of it for the loop."""
    if all(is_within(user, loop) for result in op.results for user in users(result)):
        return op
    copy = op.clone(ip=ir.InsertionPoint(op)).operation
    replace_operands(loop, dict(zip(op.results, copy.results, strict=True)))
    return copy


def _outside_gather(loop: ir.Operation) -> ir.Operation | None:
    """A gather outside `loop` of which something in it takes a slice, directly or as what the loop is initialised with."""
    outputs = (
        loop_outputs(loop) if loop.name == "scf.forall" else []
    )  # iterations of a `scf.for` see their predecessor's
    for part in mlir.operations(loop, "tensor.extract_slice"):
        value = part.operands[0]
        maker = mlir.producer(loop_inits(loop)[outputs.index(value)] if value in outputs else value)
        if maker is not None and is_gather(maker) and not is_within(maker, loop):
            return maker
    return None


def is_result_of(value: ir.Value, loop: ir.Operation) -> bool:
    """Whether the value is a result of the loop, or that cut back to its real shape."""
    maker = mlir.producer(uncut(value))
    return maker is not None and maker == loop


def remove_if_dead(op: ir.Operation) -> bool:
    """Erase `op` if nothing uses its results. Returns whether it did."""
    if is_used(*op.results):
        return False
    op.erase()
    return True
