"""`vector` transfers and masked accesses: element by element, each under its own mask."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ....interpreter.ir.mlir import ir
from ...kernel_form import integers
from ..translate import BOOL, Mem, Translator, Val, handles, literal
from ..types import value_type
from .memory import load, store
from .vectors import gather


def _transfer(
    t: Translator, op: ir.Operation, mem: Mem, indices: list[Val], mask: Val | None, shape: tuple[int, ...]
) -> Iterator[tuple[tuple[int, ...], list[Val], Val]]:
    """Per vector element: its position, its indices, and the boolean that says whether it is there."""
    mapping = ir.AffineMapAttr(op.attributes["permutation_map"]).value
    inside = [bool(ir.BoolAttr(b).value) for b in ir.ArrayAttr(op.attributes["in_bounds"])]
    for position in np.ndindex(*shape):
        at, there = list(indices), Val("True", 0, BOOL, uniform=True)
        for node, offset, known in zip(mapping.results, position, inside, strict=True):
            if not isinstance(node, ir.AffineDimExpr):
                continue  # broadcast along this dimension
            axis = node.position
            at[axis] = t.add(indices[axis], literal(offset))
            if not known:
                low = t.define(f"{at[axis].text} < {mem.sizes[axis].text}", [at[axis], mem.sizes[axis]], BOOL)
                there = t.define(f"{there.text} & {low.text}", [there, low], BOOL)
        if mask is not None:
            bit = t.define(f"{mask.text}[..., {', '.join(map(str, position))}]", [mask], BOOL)
            there = t.define(f"{there.text} & {bit.text}", [there, bit], BOOL)
        yield position, at, there


@handles("vector.transfer_read")
def transfer_read(t: Translator, op: ir.Operation) -> None:
    _, count, _, masked = integers(op.attributes["operandSegmentSizes"])
    operands = list(op.operands)
    mem = t.memref(operands[0])
    indices = [t.value(v) for v in operands[1 : 1 + count]]
    padding = t.value(operands[1 + count])
    mask = t.value(operands[2 + count]) if masked else None
    dtype, shape = value_type(op.results[0].type, op)
    site, parts = t.site(op), []
    for _, at, there in _transfer(t, op, mem, indices, mask, shape):
        if there.text == "True":
            parts.append(load(t, op, mem, at, site))
            continue
        part, here, gone = t.fresh(), t.fresh("m"), t.fresh("m")
        t.emit(f"{here}, {gone} = L.split({t.mask}, {there.text})")
        with t.block(f"if {here} is not False:", mask=here):
            t.emit(f"{part} = {load(t, op, mem, at, site).text}")
        with t.block("else:"):
            t.emit(f"{part} = None")
        merged = f"L.merge({there.text}, {here}, {gone}, {part}, {padding.text}, 0)"
        parts.append(t.define(merged, [], dtype, pure=False))
    gather(t, op, parts)


@handles("vector.transfer_write")
def transfer_write(t: Translator, op: ir.Operation) -> None:
    _, _, count, masked = integers(op.attributes["operandSegmentSizes"])
    operands = list(op.operands)
    value, mem = t.value(operands[0]), t.memref(operands[1])
    indices = [t.value(v) for v in operands[2 : 2 + count]]
    mask = t.value(operands[2 + count]) if masked else None
    site = t.site(op)
    for position, at, there in _transfer(t, op, mem, indices, mask, value.shape):
        part = t.define(f"{value.text}[..., {', '.join(map(str, position))}]", [value], value.dtype, uniform=False)
        here = t.fresh("m")
        t.emit(f"{here} = L.split({t.mask}, {there.text})[0]")
        with t.block(f"if {here} is not False:", mask=here):
            store(t, op, mem, at, part, site)


@handles("vector.maskedload", "vector.maskedstore")
def masked(t: Translator, op: ir.Operation) -> None:
    mem = t.memref(op.operands[0])
    rank = len(mem.sizes)
    indices = t.operands_from(op, 1)[:rank]
    mask, other = t.operands_from(op, 1 + rank)
    site, parts = t.site(op), []
    for number in range(mask.shape[0]):
        at = [*indices[:-1], t.add(indices[-1], literal(number))]
        bit = t.define(f"{mask.text}[..., {number}]", [mask], BOOL)
        element = t.define(f"{other.text}[..., {number}]", [other], other.dtype, uniform=False)
        here, gone, part = t.fresh("m"), t.fresh("m"), t.fresh()
        t.emit(f"{here}, {gone} = L.split({t.mask}, {bit.text})")
        with t.block(f"if {here} is not False:", mask=here):
            if op.name == "vector.maskedstore":
                store(t, op, mem, at, element, site)
                continue
            t.emit(f"{part} = {load(t, op, mem, at, site).text}")
        with t.block("else:"):
            t.emit(f"{part} = None")
        merged = f"L.merge({bit.text}, {here}, {gone}, {part}, {element.text}, 0)"
        parts.append(t.define(merged, [], mem.dtype, pure=False))
    if op.results:
        gather(t, op, parts)
