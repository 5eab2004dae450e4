"""Names of indices, as an engineer would choose them, derived from their uses."""

from __future__ import annotations

from collections.abc import Iterator

from ...interpreter.ir.affine_maps import results_of
from ...interpreter.ir.functions import name_of
from ...interpreter.ir.mlir import DYNAMIC, ir
from ...interpreter.memory.effects import accesses
from ...interpreter.memory.layouts import is_shared
from ...interpreter.memory.views import root_memref


def first_index(op: ir.Operation, operand: int | None = None) -> int | None:
    """Number of the first index operand of a load or store, of an element or a vector; None for
    other ops. A copy has two sides: the side with `operand` is taken, else the first."""
    known = (a for a in accesses(op) or () if a.kind in ("read", "write"))
    found = [a.first for a in known if a.footprint in ("element", "transfer")]
    if operand is not None:
        found = [first for first in found if first <= operand][-1:] or found
    return found[0] if found else None


_AXES = {1: ("idx",), 2: ("row", "col"), 3: ("plane", "row", "col")}
"""Names of the indices of an access, by its rank; beyond rank 3 `d0`, `d1`, …, since rows cannot be
distinguished there."""


def index_name(value: ir.Value) -> str:
    """`row` for an index that is a row in all accesses; `A_shared_col` if it indexes one shared
    array only, which may hold its tile transposed."""
    uses = set(_axes(value))
    axes, buffers = {axis for axis, _ in uses}, {buffer for _, buffer in uses}
    if len(axes) != 1:
        return "idx"
    (axis,) = axes
    buffer = buffers.pop() if len(buffers) == 1 else None
    own = (
        name_of(root_memref(buffer)) if buffer is not None and axis not in _AXES[1] and is_shared(buffer.type) else None
    )
    return axis if own is None else f"{own}_{axis}"


def _axes(value: ir.Value, steps: int = 3) -> Iterator[tuple[str, ir.Value | None]]:
    """For each use of an index, or of a sum with it: the name that fits the use, and the buffer."""
    for use in value.uses:
        op = use.owner.operation
        if op.name == "affine.apply" and steps:
            yield from _axes(op.results[0], steps - 1) if use.operand_number in _summands(op) else (("idx", None),)
        elif (position := _index_position(op, use.operand_number)) is not None:
            place, rank, buffer = position
            yield (_AXES[rank][place] if rank in _AXES else f"d{place}"), buffer


def _summands(op: ir.Operation) -> set[int]:
    """The operands of an `affine.apply` that add up to its result, each with factor 1."""
    mapping = ir.AffineMapAttr(op.attributes["map"]).value
    operands = [{number} for number in range(len(op.operands))]
    return results_of(mapping, operands, lambda _: set(), lambda kind, a, b: a | b if kind == "add" else set())[0]


def _index_position(op: ir.Operation, operand: int) -> tuple[int, int, ir.Value] | None:
    """The position of an operand among the indices of a memory access, the number of indices, and
    the buffer; None for other operands."""
    first = first_index(op, operand)
    if op.name == "memref.subview":
        offsets = ir.DenseI64ArrayAttr(op.attributes["static_offsets"])
        dynamic = [d for d, value in enumerate(offsets) if value == DYNAMIC]
        rank = ir.MemRefType(op.operands[0].type).rank
        return (dynamic[operand - 1], rank, op.operands[0]) if 1 <= operand <= len(dynamic) else None
    if first is None or operand < first:
        return None
    buffer = op.operands[first - 1]
    rank = ir.MemRefType(buffer.type).rank
    return (operand - first, rank, buffer) if operand - first < rank else None
