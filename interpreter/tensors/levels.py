"""Tensors or memrefs: where an op stands, and how to get it to the level that a statement needs."""

from __future__ import annotations

from itertools import product

from ..ir.functions import given_name, maker, name_of
from ..ir.mlir import ancestors, ir, operations
from ..ir.structured import is_read, is_structured, operand_names, structure
from ..memory.effects import is_memref
from ..memory.names import Written, nameless
from ..memory.views import VIEWS, may_share
from ..session.rewriter import Rewriter
from ..session.statement import Handle
from .convertible import obstacle, on_memrefs
from .debufferization import debufferize
from .debufferization import overwritten_between as overwritten_between
from .debufferization import start_apart as start_apart


def refuse_overlap(rewrite: Rewriter, op: ir.Operation, at: str) -> None:
    """W0396: the op reads what it writes through another view, so that its result depends on the order of its iterations."""
    found = _overlap(op) if is_structured(op) and on_memrefs(op) else None
    if found is not None:
        names = operand_names(op)
        raise rewrite.error(
            "W0396",
            f"`{names[found[0]]}` and `{names[found[1]]}` are views of one buffer that may overlap: what the op reads depends on "
            "which of its iterations ran before",
            op,
            "give the op a result of its own, or copy the input first",
            at=at,
        )


def _overlap(op: ir.Operation) -> tuple[int, int] | None:
    """The numbers of an input and an output that may share elements, but not iteration by iteration; None if there are none."""
    from ..buffers.tiles import structural_key
    from ..proof.hosts.effects import HostValues

    space, operands = structure(op), list(op.operands)
    for written, read in product(range(space.inputs, len(operands)), range(len(operands))):
        a, b = operands[read], operands[written]
        if read == written or not is_read(op, read) or not (is_memref(a) and is_memref(b) and may_share(a, b)):
            continue
        host = HostValues(list(ancestors(op))[-1])
        if all(mine.disjoint(its) for mine in host.windows(a) for its in host.windows(b)):
            continue  # windows of one buffer that have no element in common
        if structural_key(a) != structural_key(b) or space.maps[read] != space.maps[written]:
            return read, written
    return None


def expect_values(
    rewrite: Rewriter, target: Handle, code: str, what: str, *, for_readers: bool = False
) -> ir.Operation:
    """The op of `target`, on tensors; refused where it has to stay on memrefs. `for_readers`: see `debufferize`."""
    op = on_tensors(rewrite, target, for_readers=for_readers)
    if on_memrefs(op):
        why, hint = obstacle(op)
        raise rewrite.error(code, f"the {what} is on memrefs, and {why}", op, hint)
    return op


def on_tensors(
    rewrite: Rewriter, target: Handle, *, for_readers: bool = False, with_producers: bool = False
) -> ir.Operation:
    """The op of `target`, on tensors where that can be: a payload written on memrefs is raised first, and says so.
    `for_readers`, `with_producers`: see `debufferize`."""
    op = rewrite.find(target)
    raised = on_memrefs(op) and debufferize(rewrite, op, for_readers=for_readers, with_producers=with_producers)
    return rewrite.find(target) if raised else op


_THROUGH = ("tensor.extract_slice", "tensor.cast", "tensor.collapse_shape", "tensor.expand_shape", *VIEWS)


def origin(value: ir.Value, written: Written = nameless) -> str | None:
    """The `weft.name` of the function argument that `value` is a part of; what the text calls it where it was computed."""
    from ..padding.masked_loads import is_masked_load

    while not isinstance(value.owner, ir.Block):
        op = value.owner.operation
        if op.name in _THROUGH:
            value = op.operands[0]
        elif is_masked_load(op) and (images := [o.operands[0] for o in operations(op, "tensor.extract")]):
            value = images[0]
        else:
            return name_of(value) or next(iter(written(op.location)), None)
    function = maker(value)
    return given_name(function, ir.BlockArgument(value).arg_number) if function.name == "func.func" else None
