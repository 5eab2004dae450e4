"""Asynchronous copies on a CPU: done when they are started, which is one of the times when they may end. Waits wait for nothing."""

from __future__ import annotations

from ...interpreter.hardware.ampere.copies import COPY, GROUP, WAIT
from ...interpreter.ir.mlir import ir, operations, vector
from ..form.kernel_form import async_copy
from .threads import nought


def copy_at_once(module: ir.Module) -> None:
    """Make vector loads and stores of asynchronous copies, in place; tokens become values that nobody looks at.

    Raises W0725 for a copy that no GPU does.
    """
    with module.context, ir.Location.unknown():
        for op in list(operations(module.operation, COPY, GROUP, WAIT)):
            with ir.InsertionPoint(op), op.location:
                if op.name == COPY:
                    _copy(op)
                for token in op.results:
                    nothing = ir.Operation.create("ub.poison", [token.type], attributes={"value": ir.Attribute.parse("#ub.poison")})
                    token.replace_all_uses_with(nothing.result)
            op.erase()


def _copy(op: ir.Operation) -> None:
    found = async_copy(op, "W0725")
    kind = ir.VectorType.get([found.count], ir.MemRefType(found.source.type).element_type)
    if found.read is None:
        value = vector.load(kind, found.source, found.begin)
    else:
        bits = ir.VectorType.get([found.count], ir.IntegerType.get_signless(1))
        mask = vector.create_mask(bits, [found.read])
        value = vector.maskedload(kind, found.source, found.begin, mask, nought(kind))
    vector.store(value, found.target, found.at)

