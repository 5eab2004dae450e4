"""`memref`: accesses, and ops that make a window into another memref."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ....interpreter.ir.constants import definition
from ....interpreter.ir.functions import name_of
from ....interpreter.ir.mlir import ir
from ....interpreter.memory.effects import combiner, update_of
from ....interpreter.memory.layouts import (
    NO_LAYOUT,
    RESHAPING,
    MemrefLayout,
    is_shared,
    kept_dimensions,
    mixed,
    reshaped,
    space_of,
)
from ...form.kernel_form import integers, refuse
from ...host.functions import constant_array
from ..translate import BOOL, INT64, Mem, Translator, Val, handles, literal, value_type
from ..values.numeric import COMBINE


def bounds_hold(t: Translator, mem: Mem, indices: Sequence[Val], sizes: Sequence[Val], flat: Val) -> str:
    """The text of a boolean expression: every lane, active or not, is in bounds. Its parts are
    hoisted out of loops in which they are invariant."""
    parts: list[str] = []
    for index, size in zip(indices, sizes, strict=True):
        if index.const is not None and size.const is not None and 0 <= index.const < size.const:
            continue
        parts.append(t.define(f"N.inside({index.text}, {size.text})", [index, size], BOOL, uniform=True).text)
    if not mem.exact:
        inside = f"N.inside({flat.text}, {mem.root.text}.size)"
        parts.append(t.define(inside, [mem.root, flat], BOOL, uniform=True).text)
    return " and ".join(parts) or "True"


def flat_index(t: Translator, mem: Mem, indices: Sequence[Val]) -> Val:
    products = (t.multiply(index, stride) for index, stride in zip(indices, mem.strides, strict=True))
    return t.total([mem.offset, *products])


def listed(values: Sequence[Val]) -> str:
    return f"({', '.join(v.text for v in values)}{',' if len(values) == 1 else ''})"


_WIDEST = 16
"""Bytes that one access of a thread moves at most; wider vectors are several accesses."""


def expect_aligned(t: Translator, op: ir.Operation, mem: Mem, flat: Val, shape: tuple[int, ...], site: int) -> None:
    """Emits a check that the access is aligned as hardware requires. A vector with a number of
    bytes that is no power of two moves element by element, and needs no check."""
    needed = int(np.prod(shape, dtype=np.int64)) * mem.dtype.itemsize
    if "alignment" in op.attributes:
        needed = ir.IntegerAttr(op.attributes["alignment"]).value
    elif needed & (needed - 1):
        return
    needed = min(_WIDEST, needed)
    elements = needed // mem.dtype.itemsize
    if elements > 1 and not (flat.const is not None and flat.const % elements == 0):
        fine = t.define(f"N.multiple({flat.text}, {elements})", [flat], BOOL, uniform=True)
        t.emit(f"if not {fine.text}: {mem.root.text}.aligned({flat.text}, {t.mask}, {site}, {elements})")


def reach(t: Translator, mem: Mem, at: list[Val], shape: tuple[int, ...]) -> tuple[Val, Val, list[Val], str]:
    """The elements of an access to a vector of that shape (empty for a scalar): the number of the
    first element, the numbers of all elements, the number of valid starts in each dimension, and
    the text of a boolean expression: every lane is in bounds."""
    flat, sizes = flat_index(t, mem, at), list(mem.sizes)
    where = flat
    if shape:
        lead = len(mem.sizes) - len(shape)
        sizes = [t.add(size, literal(1 - count)) for size, count in zip(sizes, (1,) * lead + shape, strict=True)]
        spread = f"N.spread({flat.text}, {shape!r}, {listed(mem.strides[lead:])})"
        where = t.define(spread, [flat, *mem.strides[lead:]], INT64, shape, uniform=False)
    fine = bounds_hold(t, mem, at, sizes, flat)
    if shape and not mem.exact:
        last = t.define(f"int({where.text}.max()) < {mem.root.text}.size", [where, mem.root], BOOL, uniform=True)
        fine = f"{fine} and {last.text}"
    return flat, where, sizes, fine


def _access(
    t: Translator, op: ir.Operation, mem: Mem, at: list[Val], site: int, shape: tuple[int, ...], value: Val | None
) -> str:
    """The call that loads or stores a value: unchecked if every lane is in bounds, otherwise with a
    check of each lane."""
    does, root = "load" if value is None else "store", mem.root.text
    flat, where, sizes, fine = reach(t, mem, at, shape)
    if shape:
        expect_aligned(t, op, mem, flat, shape, site)
    arguments = ", ".join([where.text, *([] if value is None else [value.pinned]), t.mask, str(site)])
    if fine == "True":
        return f"{root}.{does}({arguments})"
    checked = f"{root}.{does}_checked({arguments}, {listed(at)}, {listed(sizes)})"
    return f"{root}.{does}({arguments}) if {fine} else {checked}"


def load(t: Translator, op: ir.Operation, mem: Mem, at: list[Val], site: int, shape: tuple[int, ...] = ()) -> Val:
    return t.define(_access(t, op, mem, at, site, shape, None), [], mem.dtype, shape, pure=False)


def store(t: Translator, op: ir.Operation, mem: Mem, at: list[Val], site: int, value: Val) -> None:
    t.stored.add(mem.root.text)
    t.emit(_access(t, op, mem, at, site, value.shape, value))


@handles("memref.load", "vector.load")
def load_value(t: Translator, op: ir.Operation) -> Val:
    shape = _moved(op, op.results[0].type)
    return load(t, op, t.memref(op.operands[0]), t.operands(op, 1), t.site(op), shape)


@handles("memref.store", "vector.store")
def store_value(t: Translator, op: ir.Operation) -> None:
    _moved(op, op.operands[0].type)
    store(t, op, t.memref(op.operands[1]), t.operands(op, 2), t.site(op), t.value(op.operands[0]))


def _moved(op: ir.Operation, kind: ir.Type) -> tuple[int, ...]:
    """The shape of the loaded or stored value; empty for a scalar."""
    _, shape = value_type(kind, op)
    if not shape and isinstance(kind, ir.VectorType):
        raise refuse("W0750", "a vector of rank 0", op)
    return shape


@handles("memref.atomic_rmw")
def atomic(t: Translator, op: ir.Operation) -> Val:
    value, mem, indices = t.value(op.operands[0]), t.memref(op.operands[1]), t.operands(op, 2)
    word = combiner(op)
    kind = next((kind for kind in (word, f"{word}i", word[:-1]) if kind in COMBINE), None)  # `maxs`, `addf`
    if kind is None:
        raise refuse("W0750", f"the simulator has no atomic `{word}`", op)
    flat, site = flat_index(t, mem, indices), t.site(op)
    t.atomics.add(site)
    if (update := update_of(op)) != "":
        t.updates[site] = update
    t.stored.add(mem.root.text)
    where = f"{flat.text}, {value.pinned}, {t.mask}, {site}, {listed(indices)}, {listed(mem.sizes)}, {kind!r}"
    return t.define(f"W.atomic({mem.root.text}, {where})", [], mem.dtype, pure=False)


# ---- windows -------------------------------------------------------------------------------------


def _entries(t: Translator, op: ir.Operation, *attributes: str) -> list[list[Val]]:
    return [[_entry(t, n) for n in entries] for entries in mixed(op, *attributes)]


def _entry(t: Translator, entry: int | ir.Value) -> Val:
    return literal(entry) if isinstance(entry, int) else t.value(entry)


@handles("memref.subview")
def subview(t: Translator, op: ir.Operation) -> Mem:
    mem = t.memref(op.operands[0])
    offsets, sizes, steps = _entries(t, op, "static_offsets", "static_sizes", "static_strides")
    offset = t.total([mem.offset, *(t.multiply(o, s) for o, s in zip(offsets, mem.strides, strict=True))])
    strides = [t.multiply(a, b) for a, b in zip(steps, mem.strides, strict=True)]
    kept = kept_dimensions(integers(op.attributes["static_sizes"]), op.results[0].type)
    return mem.window(offset, (sizes[i] for i in kept), (strides[i] for i in kept))


@handles("memref.reinterpret_cast")
def reinterpret(t: Translator, op: ir.Operation) -> Mem:
    mem = t.memref(op.operands[0])
    (offset,), sizes, strides = _entries(t, op, "static_offsets", "static_sizes", "static_strides")
    return mem.window(t.add(mem.base, offset), sizes, strides)


@handles("memref.cast", "memref.memory_space_cast")
def same(t: Translator, op: ir.Operation) -> Mem:
    return t.memref(op.operands[0])


@handles(*RESHAPING)
def reshape(t: Translator, op: ir.Operation) -> Mem:
    mem = t.memref(op.operands[0])
    if op.name == "memref.reshape" and not op.results[0].type.has_static_shape:
        raise refuse("W0750", "a `memref.reshape` to sizes that are not static", op)
    sizes, strides = reshaped(op, mem.sizes, mem.strides, partial(_entry, t), t.multiply, lambda size: size.const == 1)
    return replace(mem, sizes=sizes, strides=strides)


@handles("memref.dim")
def dim(t: Translator, op: ir.Operation) -> Val:
    sizes, axis = t.memref(op.operands[0]).sizes, t.value(op.operands[1])
    if axis.const is None or not 0 <= axis.const < len(sizes):
        raise refuse("W0750", "`memref.dim` of a dimension that is not a constant of its rank", op)
    return sizes[axis.const]


@handles("memref.extract_strided_metadata")
def metadata(t: Translator, op: ir.Operation) -> None:
    mem = t.memref(op.operands[0])
    offset = t.define(f"{mem.offset.text} - {mem.base.text}", [mem.offset, mem.base], INT64)
    found = [mem.window(mem.base, (), ()), offset, *mem.sizes, *mem.strides]
    t.values.update(zip(op.results, found, strict=True))


# ---- memory made in the kernel -------------------------------------------------------------------


@handles("memref.alloca", "memref.alloc")
def allocation(t: Translator, op: ir.Operation) -> Mem:
    kind = ir.MemRefType(op.results[0].type)
    space = space_of(kind)
    shared = space == "workgroup"
    if space is None or (op.name == "memref.alloc" and not shared):
        raise refuse(
            "W0750",
            "a kernel allocates global memory",
            op,
            hint="allocate it before the launch, by `gpu.alloc` or `memref.alloc`",
        )
    name = name_of(op.results[0]) or f"{'shared' if shared else 'private'}{t.fresh('')}"
    return t.allocate(kind, shared, name, op)


def dense(attribute: ir.Attribute, kind: ir.Type, op: ir.Operation) -> np.ndarray:
    """The elements of a `dense<…>` attribute for a shaped type."""
    found = constant_array(attribute, str(ir.ShapedType(kind).element_type))
    if found is None:
        raise refuse("W0750", "the elements of this constant cannot be read", op, hint="write it as `dense<…>`")
    return found.reshape(tuple(ir.ShapedType(kind).shape))


@handles("memref.get_global")
def get_global(t: Translator, op: ir.Operation) -> Mem:
    """A constant of the module, or workgroup memory declared there."""
    name = ir.FlatSymbolRefAttr(op.attributes["name"]).value
    if name in t.globals:
        return t.globals[name]
    declaration = definition(op)
    kind = ir.MemRefType(op.results[0].type)
    if is_shared(kind):
        found = t.allocate(kind, True, name, op)
    else:
        if "constant" not in declaration.attributes or "initial_value" not in declaration.attributes:
            raise refuse(
                "W0750",
                f"`@{name}` is a global that kernels may change",
                op,
                hint="pass it as an argument of the kernel, `gpu.launch_func … args(…)`",
            )
        if not MemrefLayout.of(kind, op).in_rows:
            raise refuse("W0751", f"the constant `@{name}` does not lie row by row: `{kind}`", op, hint=NO_LAYOUT)
        contents = t.constant(dense(declaration.attributes["initial_value"], kind, op), INT64)
        root = Val(t.fresh("R"), 0, INT64)
        found = t.whole(root, f"{root.text} = constant({name!r}, {contents.text}, L)", kind, op)
    t.globals[name] = found
    return found
