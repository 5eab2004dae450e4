"""`gpu`: who is who, barriers, and what lanes of a warp tell each other."""

from __future__ import annotations

import re

from ....interpreter.ir.mlir import ir
from ...kernel_form import axis_of, refuse
from ..translate import BOOL, INT64, Translator, Val, handles, literal
from ..types import value_type
from ..values.combining import COMBINE

_IDS = {"gpu.thread_id": "thread_id", "gpu.block_id": "block_id"}
_SIZES = {"gpu.block_dim": "block", "gpu.grid_dim": "grid"}
_SPACES = {"workgroup": "shared", "global": "global", "private": "private"}


def _prelude(t: Translator, text: str, uniform: bool) -> Val:
    """Something that holds for the whole batch."""
    return t.define(text, [literal(0)], INT64, uniform=uniform)


@handles(*_IDS)
def identity(t: Translator, op: ir.Operation) -> None:
    t.values[op.results[0]] = _prelude(t, f"L.{_IDS[op.name]}[{axis_of(op)}]", uniform=False)


@handles(*_SIZES)
def size(t: Translator, op: ir.Operation) -> None:
    t.values[op.results[0]] = _prelude(t, f"L.{_SIZES[op.name]}[{axis_of(op)}]", uniform=True)


@handles("gpu.barrier")
def barrier(t: Translator, op: ir.Operation) -> None:
    """A fence of some address spaces orders just these, an empty one nothing; no list means all.

    A barrier of a narrower scope than the block orders nothing across the block.
    """
    scope = str(op.attributes["scope"]) if "scope" in op.attributes else "workgroup"
    if "workgroup" not in scope and "cluster" not in scope:
        return
    spaces = ("shared", "global")
    if "address_spaces" in op.attributes:
        listed = (str(a) for a in ir.ArrayAttr(op.attributes["address_spaces"]))
        names = {_SPACES[word] for text in listed for word in _SPACES if f"<{word}>" in text}
        spaces = tuple(space for space in spaces if space in names)
    t.static_barriers += 1
    t.emit(f"L.barrier({t.mask}, {spaces!r}, {t.site(op)})")


@handles("gpu.shuffle")
def shuffle(t: Translator, op: ir.Operation) -> None:
    found = re.search(r"shuffle_mode (\w+)", str(op.attributes["mode"]))
    if found is None:
        raise refuse("W0750", "a shuffle without a mode", op)
    value, offset, width = t.operands(op)
    dtype, shape = value_type(op.results[0].type, op)
    if shape:
        raise refuse("W0750", "a shuffle of vectors", op)
    pair = t.fresh("x")
    t.emit(f"{pair} = W.shuffle(L, {value.text}, {offset.text}, {width.text}, {found[1]!r}, {t.mask})")
    t.values[op.results[0]] = t.define(f"{pair}[0]", [], dtype, pure=False)
    t.values[op.results[1]] = t.define(f"{pair}[1]", [], BOOL, pure=False)


@handles("gpu.subgroup_reduce", "gpu.all_reduce")
def reduce(t: Translator, op: ir.Operation) -> None:
    """Reduction over the warp, or over the block."""
    attribute = str(op.attributes["op"]) if "op" in op.attributes else ""
    found = re.search(r"all_reduce_op (\w+)", attribute)
    if found is None or "cluster_size" in op.attributes or found[1] not in COMBINE:
        raise refuse("W0750", "the simulator reduces whole warps or blocks with a named operation only", op)
    (value,) = t.operands(op)
    size = 32 if op.name == "gpu.subgroup_reduce" else "L.nt"
    arguments = f"{value.text}, {found[1]!r}, {size}, {t.mask}, {t.site(op)}"
    t.result(op, f"W.reduce(L, {arguments})", [value], pure=False)
