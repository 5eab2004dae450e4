"""`vector`: wide accesses, operations on their values, transfers under masks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ....interpreter.ir.mlir import DYNAMIC, ir
from ...form.kernel_form import ARRANGING, arranged, integers, kind_of, refuse
from ..translate import BOOL, INT64, Translator, Val, handles, literal, value_type
from ..values.numeric import COMBINE
from .memory import load, store


def gather(t: Translator, op: ir.Operation, parts: Sequence[Val]) -> Val:
    """The op's result is a vector of these scalars, row-major."""
    dtype, shape = value_type(op.results[0].type, op)
    listed = " ".join(f"{p.text}," for p in parts)
    return t.result(op, f"V.gather(({listed}), {shape!r}, {t.constant(dtype, INT64).text})", parts, pure=False)


# ---- values --------------------------------------------------------------------------------------


@handles("vector.broadcast")
def broadcast(t: Translator, op: ir.Operation) -> Val:
    (value,) = t.operands(op)
    dtype, shape = value_type(op.results[0].type, op)
    return t.result(op, f"V.broadcast({value.text}, {value.rank}, {shape!r}, {t.constant(dtype, INT64).text})", [value])


def _position(t: Translator, op: ir.Operation, first: int) -> tuple[str, list[Val], bool]:
    """The index of an extract or insert, its values, and whether it is static."""
    dynamic = t.operands(op, first)
    entries = [dynamic.pop(0) if p == DYNAMIC else literal(p) for p in integers(op.attributes["static_position"])]
    return "".join(f"{v.text}, " for v in entries), entries, all(v.const is not None for v in entries)


_SPECIAL = frozenset(["vector.from_elements", "vector.broadcast", "vector.extract", "vector.insert"])
"""Ops with a cheaper translation, or at a dynamic position."""


@handles(*(ARRANGING - _SPECIAL))
def arrange(t: Translator, op: ir.Operation) -> Val:
    """The elements of the operands, in another order."""
    numbers = arranged(op)
    if numbers is None:
        raise refuse("W0750", f"`{op.name}` with elements that are poison", op)
    values = t.operands(op)
    parts = "".join(f"{v.text}, " for v in values)
    return t.result(op, f"V.arrange(({parts}), {t.constant(numbers, INT64).text})", values)


@handles("vector.extract")
def extract(t: Translator, op: ir.Operation) -> Val:
    value = t.value(op.operands[0])
    position, entries, static = _position(t, op, 1)
    if not entries:  # the whole vector
        return value
    rest = ":, " * (value.rank - len(entries))
    made = f"{value.text}[:, :, {position}{rest}]" if static else f"V.extract({value.text}, ({position}), L)"
    return t.result(op, made, [value, *entries])


@handles("vector.insert")
def insert(t: Translator, op: ir.Operation) -> Val:
    source, target = t.value(op.operands[0]), t.value(op.operands[1])
    position, entries, _ = _position(t, op, 2)
    if not entries:  # the whole vector
        return source
    text = f"V.insert({source.text}, {source.rank}, {target.text}, ({position}), L)"
    return t.result(op, text, [source, target, *entries])


@handles("vector.from_elements")
def from_elements(t: Translator, op: ir.Operation) -> Val:
    return gather(t, op, t.operands(op))


@handles("vector.to_elements")
def to_elements(t: Translator, op: ir.Operation) -> None:
    (value,) = t.operands(op)
    for position, result in zip(np.ndindex(*value.shape), op.results, strict=True):
        text = f"{value.text}[:, :, {', '.join(map(str, position))}]"
        t.values[result] = t.define(text, [value], value.dtype, uniform=False)


@handles("vector.bitcast")
def bitcast(t: Translator, op: ir.Operation) -> Val:
    (value,) = t.operands(op)
    dtype, _ = value_type(op.results[0].type, op)
    return t.result(op, f"np.ascontiguousarray({value.text}).view({t.constant(dtype, INT64).text})", [value])


def _kind(op: ir.Operation) -> str:
    if (kind := kind_of(op)) not in COMBINE:
        raise refuse("W0750", "the simulator does not support this combining kind", op)
    return f"C[{kind!r}]"


@handles("vector.reduction", "vector.multi_reduction")
def reduction(t: Translator, op: ir.Operation) -> Val:
    """Combines the elements in order, beginning with the accumulator if there is one, and rounds
    after each of them."""
    values = t.operands(op)
    axes = integers(op.attributes["reduction_dims"]) if op.name == "vector.multi_reduction" else [0]
    start = values[1].text if len(values) > 1 else "None"
    return t.result(op, f"V.reduce({_kind(op)}, {values[0].text}, {start}, {tuple(a + 2 for a in axes)!r})", values)


@handles("vector.outerproduct")
def outer(t: Translator, op: ir.Operation) -> Val:
    a, b, *acc = t.operands(op)
    product = f"{a.text}[..., :, None] * {b.text}[..., None, :]" if b.shape else f"{a.text} * {b.text}[..., None]"
    return t.result(op, f"{_kind(op)}({acc[0].text}, {product})" if acc else product, [a, b, *acc])


@handles("vector.create_mask", "vector.constant_mask")
def mask(t: Translator, op: ir.Operation) -> Val:
    _, shape = value_type(op.results[0].type, op)
    limits = t.operands(op) or [literal(i) for i in integers(op.attributes["mask_dim_sizes"])]
    return t.result(op, f"V.mask(({' '.join(f'{v.text},' for v in limits)}), {shape!r})", limits)


@handles("vector.step")
def step(t: Translator, op: ir.Operation) -> Val:
    _, shape = value_type(op.results[0].type, op)
    return t.constant(np.arange(shape[0], dtype=np.int64)[None, None], INT64, shape)


# ---- transfers and masked accesses: element by element, each under its own mask --------------------------------------


def _elements(t: Translator, op: ir.Operation) -> Iterator[tuple[list[Val], Val, Val]]:
    """For each element of a vector: its indices, its mask, the element of the stored value, and
    that of the pass-through."""
    first = int(op.name == "vector.transfer_write")
    # the last operand of `maskedstore`, the first of `transfer_write`
    stored = None if op.results else t.value(op.operands[0 if first else len(op.operands) - 1])
    mem, shape = t.memref(op.operands[first]), value_type(op.results[0].type, op)[1] if stored is None else stored.shape
    others = t.operands(op, first + 1)
    indices, rest = others[: len(mem.sizes)], others[len(mem.sizes) :]
    if op.name.startswith("vector.masked"):
        mask, other = rest
        if len(shape) > len(indices):
            raise refuse("W0750", f"`{op.name}` of a vector with more dimensions than the memref", op)
        axes, inside = list(range(len(indices)))[-len(shape) :], [True] * len(shape)
    else:
        other, mask = rest.pop(0) if stored is None else stored, (rest or [None])[0]
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


@handles("vector.transfer_read", "vector.maskedload")
def read(t: Translator, op: ir.Operation) -> Val:
    mem, site, parts = t.memref(op.operands[0]), t.site(op), []
    for at, there, other in _elements(t, op):
        if there.text == "True":
            parts.append(load(t, op, mem, at, site))
            continue
        part, here, gone = t.fresh(), t.fresh("m"), t.fresh("m")
        t.emit(f"{here}, {gone} = L.split({t.mask}, {there.text})")
        with t.block(f"if {here} is not False:", mask=here):
            t.emit(f"{part} = {load(t, op, mem, at, site).text}")
        with t.block("else:"):
            t.emit(f"{part} = None")
        merged = f"L.choose({there.text}, {part}, {other.text}, 0, {here}, {gone})"
        parts.append(t.define(merged, [], mem.dtype, pure=False))
    return gather(t, op, parts)


@handles("vector.transfer_write", "vector.maskedstore")
def write(t: Translator, op: ir.Operation) -> None:
    mem, site = t.memref(op.operands[int(op.name == "vector.transfer_write")]), t.site(op)
    for at, there, part in _elements(t, op):
        here = t.fresh("m")
        t.emit(f"{here} = L.split({t.mask}, {there.text})[0]")
        with t.block(f"if {here} is not False:", mask=here):
            store(t, op, mem, at, site, part)
