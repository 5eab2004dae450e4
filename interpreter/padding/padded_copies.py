"""Paddings that stay copies: `tensor.pad`s that nothing reads through, and the ops that bufferization makes of them."""

from __future__ import annotations

from ..ir.mlir import ir, is_used, operations, stands_in, users
from ..ir.structured import is_structured, segments, shape_of
from ..session.rewriter import describe
from .pieces import pad_widths

MARK = "weft.padded_copy"
"""On the `linalg.map` that fills the copy: why it is one, and what to do."""

Reason = tuple[str, str]
_BY_ITSELF = "`bufferize`, and map and launch the `linalg.map` that fills the copy"


def padded_copies(module: ir.Module) -> dict[str, Reason]:
    """The `tensor.pad`s of function bodies, by place, and why each of them is not read through."""
    found = [op for op in operations(module.operation, "tensor.pad") if is_used(op.results[0])]
    return {str(op.location): _reason(op) for op in found if stands_in(op, "func.func")}


def name_padded_copies(module: ir.Module, copies: dict[str, Reason]) -> None:
    """Say on the `linalg.map` that upstream makes of each of them what it is."""
    for op in operations(module.operation, "linalg.map") if copies else ():
        reason = copies.get(str(op.location))
        if reason is not None:
            op.attributes[MARK] = ir.ArrayAttr.get([ir.StringAttr.get(text) for text in reason])


def _reason(op: ir.Operation) -> Reason:
    if None in shape_of(op.operands[0]) or None in pad_widths(op):
        return "its sizes or widths are no known numbers", f"make them numbers in the payload; or {_BY_ITSELF}"
    readers = users(op.results[0])
    if any(reader.name in ("func.return", "bufferization.materialize_in_destination") for reader in readers):
        return "it is a result of the function", _BY_ITSELF
    reader = next((reader for reader in readers if is_structured(reader)), None)
    if readers[0].name in ("scf.forall", "scf.for"):
        return f"{describe(readers[0])} starts from it, and writes over the copy", _BY_ITSELF
    if readers[0].name in ("tensor.collapse_shape", "tensor.expand_shape"):
        place = describe(readers[0]).removeprefix(f"{readers[0].name} ")
        return f"the op {place} takes it in another shape", _BY_ITSELF
    if reader is None:
        return f"{describe(readers[0])} reads it, and only linalg ops read through a padding", _BY_ITSELF
    if any(reader.operands[number] == op.results[0] for number in range(segments(reader)[0])):
        return (
            f"{describe(reader)} reads it, and is not scheduled",
            "`tile`, `map` or `fuse` that: the padding is a mask then",
        )
    return f"{describe(reader)} starts from it, and writes over the copy", _BY_ITSELF
