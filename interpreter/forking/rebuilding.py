"""An op that a device does, made anew with one token in and one token out."""

from __future__ import annotations

from ..ir.mlir import ir
from ..proof.hosts.tokens import TOKEN, is_token

SEGMENTED = {"gpu.launch_func", "gpu.alloc"}
"""Ops that say in `operandSegmentSizes` how many operands are tokens; those of the others come first."""

PLAIN_OPERANDS = {"gpu.memcpy": 2, "gpu.memset": 2, "gpu.dealloc": 1}


def token_type() -> ir.Type:
    return ir.Type.parse(TOKEN)


def may_be_async(op: ir.Operation) -> bool:
    """Whether a device does it while the host goes on. Memory that host and device share is allocated by the host."""
    if op.name == "gpu.alloc":
        return "hostShared" not in op.attributes
    return op.name in ("gpu.launch_func", "memref.copy") or op.name in PLAIN_OPERANDS


def made_async(op: ir.Operation, dependency: ir.Value) -> ir.Operation:
    """A copy of `op` in front of it that waits for `dependency`; its last result is its token. All else that `op` gave is
    taken from the copy from now on. A `memref.copy` becomes the `gpu.memcpy` that it is on a device."""
    attributes = {name: op.attributes[name] for name in op.attributes}
    operands = list(op.operands)
    name = op.name
    if name == "memref.copy":
        name, operands = "gpu.memcpy", [operands[1], operands[0]]
    elif name in SEGMENTED:
        segments = list(ir.DenseI32ArrayAttr(attributes["operandSegmentSizes"]))
        operands = operands[segments[0] :]
        attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([1, *segments[1:]])
    else:
        operands = operands[len(operands) - PLAIN_OPERANDS[name] :]
    kept = [r for r in op.results if not is_token(r)]
    made = ir.Operation.create(
        name,
        results=[*(r.type for r in kept), token_type()],
        operands=[dependency, *operands],
        attributes=attributes,
        loc=op.location,
    )
    for old, new in zip(kept, made.results, strict=False):
        old.replace_all_uses_with(new)
    return made
