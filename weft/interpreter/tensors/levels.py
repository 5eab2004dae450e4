"""The level of an op, tensors or memrefs, and its conversion to the level that a statement needs."""

from __future__ import annotations

from ..ir.functions import given_name, maker, name_of
from ..ir.mlir import ir, operations
from ..ir.structured import is_structured, operand_names, structure
from ..memory.effects import is_memref
from ..memory.names import Written, nameless
from ..memory.views import SEEN_THROUGH
from ..session.rewriter import Rewriter
from ..session.statement import Handle
from .convertible import obstacle, on_memrefs
from .debufferization import debufferize
from .debufferization import overwritten_between as overwritten_between
from .debufferization import start_apart as start_apart


def refuse_overlap(rewrite: Rewriter, op: ir.Operation, at: str) -> None:
    """Raises W0396 if the op reads its output through another view, or writes elements that share
    an address: its result then depends on the order of its iterations."""
    if not (is_structured(op) and on_memrefs(op)):
        return
    from ..proof.overlaps import overlap  # late import: only ops on memrefs need it

    if (number := _overlaps_itself(op)) is not None:
        raise rewrite.error(
            "W0396",
            f"the layout of `{operand_names(op)[number]}`, {op.operands[number].type}, puts several elements at one"
            f" address: what "
            "the op leaves there depends on which of its iterations ran last",
            op,
            "write to a buffer of its own in the payload, `memref.alloc`",
            at=at,
        )
    found = overlap(op)
    if found is not None:
        one, other = (operand_names(op)[number] for number in found.operands)
        meet = "may overlap" if found.element is None else "overlap"
        raise rewrite.error(
            "W0396",
            f"`{one}` and `{other}` are views of one buffer that {meet}: what the op reads depends on which of its"
            f" iterations "
            "ran before",
            op,
            "write to a buffer of its own in the payload, `memref.alloc`, or `memref.copy` the input first",
            at=at,
            notes=found.notes,
        )


def _overlaps_itself(op: ir.Operation) -> int | None:
    """The number of an output in which two elements are known to share an address; None if there is
    none."""
    from ..proof.kernels.root_buffers import apart

    outputs = range(structure(op).inputs, len(op.operands))
    return next(
        (n for n in outputs if is_memref(op.operands[n]) and apart(op.operands[n], passed_in_rows=True) is False), None
    )


def expect_values(
    rewrite: Rewriter,
    target: Handle,
    code: str,
    what: str,
    *,
    for_readers: bool = False,
    with_starts: bool = False,
) -> ir.Operation:
    """The op of `target`, on tensors. Raises `code` if it cannot be raised from memrefs.
    `for_readers`, `with_starts`: see `debufferize`."""
    op = on_tensors(rewrite, target, for_readers=for_readers, with_starts=with_starts)
    if on_memrefs(op):
        why, hint = obstacle(op)
        raise rewrite.error(code, f"the {what} is on memrefs, and {why}", op, hint)
    return op


def on_tensors(rewrite: Rewriter, target: Handle, **how: bool) -> ir.Operation:
    """The op of `target`, on tensors if possible: a payload on memrefs is raised first, with a
    remark. `how`: see `debufferize`."""
    op = rewrite.find(target)
    raised = on_memrefs(op) and debufferize(rewrite, op, **how)
    return rewrite.find(target) if raised else op


def origin(value: ir.Value, written: Written = nameless) -> str | None:
    """The `weft.name` of the function argument that contains `value`; for a computed value, its
    name in the payload's text."""
    from ..padding.masked_loads import is_masked_load

    while not isinstance(value.owner, ir.Block):
        op = value.owner.operation
        if op.name in SEEN_THROUGH:
            value = op.operands[0]
        elif is_masked_load(op) and (images := [o.operands[0] for o in operations(op, "tensor.extract")]):
            value = images[0]
        else:
            own = None if is_structured(op) else name_of(value)  # that of an op of the payload is its label
            return own or next(iter(written(op.location)), None)
    function = maker(value)
    return given_name(function, ir.BlockArgument(value).arg_number) if function.name == "func.func" else None
