"""`vector` transfers and masked accesses: element by element, each under its own mask."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ....interpreter.ir.mlir import ir
from ..translate import BOOL, Mem, Translator, Val, handles, literal
from ..types import value_type
from .memory import load, store
from .vectors import gather


def _elements(t: Translator, op: ir.Operation) -> Iterator[tuple[list[Val], Val, Val]]:
    """Per vector element: its indices, what says whether it is there, and the element of the value or of what else is read."""
    first = int(op.name == "vector.transfer_write")
    mem, shape = _memref(t, op), value_type(op.results[0].type, op)[1] if op.results else t.value(_stored(op)).shape
    indices, rest = t.operands_from(op, first + 1)[: len(mem.sizes)], t.operands_from(op, first + 1)[len(mem.sizes) :]
    if op.name.startswith("vector.masked"):
        mask, other = rest
        axes, inside = list(range(len(indices)))[-len(shape) :], [True] * len(shape)
    else:
        other, mask = (t.value(_stored(op)) if first else rest.pop(0)), (rest or [None])[0]
        mapping = ir.AffineMapAttr(op.attributes["permutation_map"]).value.results
        axes = [node.position if isinstance(node, ir.AffineDimExpr) else None for node in mapping]  # None: broadcast
        inside = [bool(ir.BoolAttr(b).value) for b in ir.ArrayAttr(op.attributes["in_bounds"])]
    for position in np.ndindex(*shape):
        at, there = list(indices), Val("True", 0, BOOL, uniform=True)
        place = ", ".join(map(str, position))
        for axis, offset, known in zip(axes, position, inside, strict=True):
            if axis is None:
                continue
            at[axis] = t.add(indices[axis], literal(offset))
            if not known:
                low = t.define(f"{at[axis].text} < {mem.sizes[axis].text}", [at[axis], mem.sizes[axis]], BOOL)
                there = t.define(f"{there.text} & {low.text}", [there, low], BOOL)
        if mask is not None:
            bit = t.define(f"{mask.text}[..., {place}]", [mask], BOOL)
            there = t.define(f"{there.text} & {bit.text}", [there, bit], BOOL)
        part = t.define(f"{other.text}[..., {place}]", [other], other.dtype, uniform=False) if other.shape else other
        yield at, there, part


def _memref(t: Translator, op: ir.Operation) -> Mem:
    return t.memref(op.operands[int(op.name == "vector.transfer_write")])


def _stored(op: ir.Operation) -> ir.Value:
    """The last operand of `maskedstore`, the first of `transfer_write`."""
    return op.operands[0 if op.name == "vector.transfer_write" else len(op.operands) - 1]


@handles("vector.transfer_read", "vector.maskedload")
def read(t: Translator, op: ir.Operation) -> None:
    mem, site, parts = _memref(t, op), t.site(op), []
    for at, there, other in _elements(t, op):
        if there.text == "True":
            parts.append(load(t, op, mem, at, site=site))
            continue
        part, here, gone = t.fresh(), t.fresh("m"), t.fresh("m")
        t.emit(f"{here}, {gone} = L.split({t.mask}, {there.text})")
        with t.block(f"if {here} is not False:", mask=here):
            t.emit(f"{part} = {load(t, op, mem, at, site=site).text}")
        with t.block("else:"):
            t.emit(f"{part} = None")
        merged = f"L.choose({there.text}, {part}, {other.text}, 0, {here}, {gone})"
        parts.append(t.define(merged, [], mem.dtype, pure=False))
    gather(t, op, parts)


@handles("vector.transfer_write", "vector.maskedstore")
def write(t: Translator, op: ir.Operation) -> None:
    mem, site = _memref(t, op), t.site(op)
    for at, there, part in _elements(t, op):
        here = t.fresh("m")
        t.emit(f"{here} = L.split({t.mask}, {there.text})[0]")
        with t.block(f"if {here} is not False:", mask=here):
            store(t, op, mem, at, part, site=site)
