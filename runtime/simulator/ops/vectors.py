"""`vector`: wide accesses and what is done with their values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....interpreter.ir.mlir import DYNAMIC, ir
from ...kernel_form import ARRANGING, arranged, integers, kind_of, refuse
from ..translate import INT64, Translator, Val, handles, literal
from ..types import value_type
from ..values.combining import COMBINE
from .memory import load, store


@handles("vector.load")
def vector_load(t: Translator, op: ir.Operation) -> None:
    shape = _shape(op, op.results[0])
    t.values[op.results[0]] = load(t, op, t.memref(op.operands[0]), t.operands_from(op, 1), shape)


@handles("vector.store")
def vector_store(t: Translator, op: ir.Operation) -> None:
    shape = _shape(op, op.operands[0])
    store(t, op, t.memref(op.operands[1]), t.operands_from(op, 2), t.value(op.operands[0]), shape)


def _shape(op: ir.Operation, moved: ir.Value) -> tuple[int, ...]:
    _, shape = value_type(moved.type, op)
    if not shape:
        raise refuse("W0750", "a vector of rank 0", op)
    return shape


def gather(t: Translator, op: ir.Operation, parts: Sequence[Val]) -> None:
    """The op's result is a vector of these scalars, row-major."""
    _, shape = value_type(op.results[0].type, op)
    t.result(op, f"V.gather(({' '.join(f'{p.text},' for p in parts)}), {shape!r}, {_name(t, op)})", parts, pure=False)


def _name(t: Translator, op: ir.Operation) -> str:
    dtype, _ = value_type(op.results[0].type, op)
    return t.constant(dtype, INT64).text


# ---- values -----------------------------------------------------------------------------------------------------------


@handles("vector.broadcast")
def broadcast(t: Translator, op: ir.Operation) -> None:
    (value,) = t.operands(op)
    _, shape = value_type(op.results[0].type, op)
    t.result(op, f"V.broadcast({value.text}, {value.rank}, {shape!r}, {_name(t, op)})", [value])


def _position(t: Translator, op: ir.Operation, first: int) -> tuple[str, list[Val], bool]:
    """The index of an extract or insert, its values, and whether it is static."""
    dynamic = t.operands_from(op, first)
    entries = [dynamic.pop(0) if p == DYNAMIC else literal(p) for p in integers(op.attributes["static_position"])]
    return "".join(f"{v.text}, " for v in entries), entries, all(v.const is not None for v in entries)


_SPECIAL = frozenset(["vector.from_elements", "vector.broadcast", "vector.extract", "vector.insert"])
"""Those that may be cheaper, or at a dynamic position."""


@handles(*(ARRANGING - _SPECIAL))
def arrange(t: Translator, op: ir.Operation) -> None:
    """The elements of the operands, in another order."""
    numbers = arranged(op)
    if numbers is None:
        raise refuse("W0750", f"`{op.name}` with elements that are poison", op)
    values = t.operands(op)
    parts = "".join(f"{v.text}, " for v in values)
    t.result(op, f"V.arrange(({parts}), {t.constant(numbers, INT64).text})", values)


@handles("vector.extract")
def extract(t: Translator, op: ir.Operation) -> None:
    value = t.value(op.operands[0])
    position, entries, static = _position(t, op, 1)
    if not entries:  # all of it
        t.values[op.results[0]] = value
        return
    rest = ":, " * (value.rank - len(entries))
    if static:
        made = f"{value.text}[:, :, {position}{rest}]"
    else:
        made = f"V.extract({value.text}, ({position}), L)"
    t.result(op, made, [value, *entries])


@handles("vector.insert")
def insert(t: Translator, op: ir.Operation) -> None:
    source, target = t.value(op.operands[0]), t.value(op.operands[1])
    position, entries, _ = _position(t, op, 2)
    if not entries:  # all of it
        t.values[op.results[0]] = source
        return
    t.result(op, f"V.insert({source.text}, {source.rank}, {target.text}, ({position}), L)", [source, target, *entries])


@handles("vector.from_elements")
def from_elements(t: Translator, op: ir.Operation) -> None:
    gather(t, op, t.operands(op))


@handles("vector.to_elements")
def to_elements(t: Translator, op: ir.Operation) -> None:
    (value,) = t.operands(op)
    for position, result in zip(np.ndindex(*value.shape), op.results, strict=True):
        text = f"{value.text}[:, :, {', '.join(map(str, position))}]"
        t.values[result] = t.define(text, [value], value.dtype, uniform=False)


@handles("vector.bitcast")
def bitcast(t: Translator, op: ir.Operation) -> None:
    (value,) = t.operands(op)
    t.result(op, f"np.ascontiguousarray({value.text}).view({_name(t, op)})", [value])


def _kind(op: ir.Operation) -> str:
    if (kind := kind_of(op)) not in COMBINE:
        raise refuse("W0750", "the simulator does not know this combining kind", op)
    return f"C[{kind!r}]"


@handles("vector.reduction", "vector.multi_reduction")
def reduction(t: Translator, op: ir.Operation) -> None:
    """Elements are combined in their order, each time rounded, beginning with the accumulator if there is one."""
    values = t.operands(op)
    axes = integers(op.attributes["reduction_dims"]) if op.name == "vector.multi_reduction" else [0]
    start = values[1].text if len(values) > 1 else "None"
    t.result(op, f"V.reduce({_kind(op)}, {values[0].text}, {start}, {tuple(a + 2 for a in axes)!r})", values)


@handles("vector.outerproduct")
def outer(t: Translator, op: ir.Operation) -> None:
    a, b, *acc = t.operands(op)
    product = f"{a.text}[..., :, None] * {b.text}[..., None, :]" if b.shape else f"{a.text} * {b.text}[..., None]"
    t.result(op, f"{_kind(op)}({acc[0].text}, {product})" if acc else product, [a, b, *acc])


@handles("vector.create_mask", "vector.constant_mask")
def mask(t: Translator, op: ir.Operation) -> None:
    _, shape = value_type(op.results[0].type, op)
    limits = t.operands(op) or [literal(i) for i in integers(op.attributes["mask_dim_sizes"])]
    t.result(op, f"V.mask(({' '.join(f'{v.text},' for v in limits)}), {shape!r})", limits)


@handles("vector.step")
def step(t: Translator, op: ir.Operation) -> None:
    _, shape = value_type(op.results[0].type, op)
    t.values[op.results[0]] = t.constant(np.arange(shape[0], dtype=np.int64)[None, None], INT64, shape)
