"""nvgpu: matrix loads and tile products of a warp, each as a call of a device function in the text.

The registers of a fragment are 32-bit words that contain its elements; a use of all elements of a
word uses the word itself.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

from ....interpreter.hardware.ampere.fragments import LDMATRIX, MMA, TF32_BITS, TileProduct, matrices
from ....interpreter.ir.mlir import ir, made_by, ops_of, producer, users
from ...form.kernel_form import expected_product
from ..kernel import KernelWriter, Lanes, writes
from ..tensor_cores import load_name, product_name, sums_of
from ..values.expression import Expr, Lane, whole
from ..values.types import SCALARS, ScalarType, element


@writes(LDMATRIX)
def load(kernel: KernelWriter, op: ir.Operation) -> None:
    (count, transposed), view = matrices(op), kernel.view(op.operands[0])
    kind, _ = element(op.results[0].type, op)
    row = kernel.place(view, kernel.exprs(list(op.operands)[1:]))
    kernel.aligned.add(view.buffer.root)
    words = kernel.fresh(f"{view.buffer.root.removesuffix('_shared')}_frag")
    kernel.line(f"unsigned {words}[{count}];")
    kernel.line(f"{load_name(count, transposed)}({words}, &{row.text});")
    kernel.values[op.results[0]] = tuple(e for i in range(count) for e in _elements(f"{words}[{i}]", kind))


@writes(MMA)
def multiply(kernel: KernelWriter, op: ir.Operation) -> None:
    product = expected_product(op, "W0503")
    a, b, c = (kernel.lanes(v) for v in op.operands)
    (type, count), total = sums_of(product), SCALARS[product.sum]
    each = len(c) // count
    if _is_in_place(kernel, op) and all(e.reads for e in c):
        kernel.flush()
        sums, made = _places(c, each), c
    elif _goes_on(op):
        sums, made = _places(c, each), c
    else:
        sums, start = [kernel.fresh("d") for _ in range(count)], [e.text for e in c]
        if each == 1:
            kernel.line(f"{type} {', '.join(f'{name} = {value}' for name, value in zip(sums, start, strict=True))};")
            made = tuple(_part(name, total) for name in sums)
        else:
            pairs = (f"{name}[2] = {{{start[2 * i]}, {start[2 * i + 1]}}}" for i, name in enumerate(sums))
            kernel.line(f"{type} {', '.join(pairs)};")
            made = tuple(_part(f"{name}[{j}]", total) for name in sums for j in range(2))
    words = [*registers_of(a, product, op.operands[0]), *registers_of(b, product, op.operands[1])]
    kernel.line(f"{product_name(product)}({', '.join([*sums, *words])});")
    kernel.values[op.results[0]] = made


def _places(sums: Lanes, each: int) -> list[str]:
    return [e.text if each == 1 else f"&{e.text}" for e in sums[::each]]


def _goes_on(op: ir.Operation) -> bool:
    """Whether C is the result of another product of this block, with this op as its only use: both
    share its variables."""
    before = made_by(op.operands[2], MMA)
    return before is not None and before.block == op.block and [*op.operands[2].uses][1:] == []


def _is_in_place(kernel: KernelWriter, op: ir.Operation) -> bool:
    """Whether this op, or the chain of products that it is in, loads C from a private array and
    stores D there directly afterwards."""
    first = last = op
    while (before := made_by(first.operands[2], MMA)) is not None and len(users(first.operands[2])) == 1:
        first = before
    while [use.operand_number for use in last.results[0].uses] == [2] and users(last.results[0])[0].name == MMA:
        last = users(last.results[0])[0]
    value, following = first.operands[2], ops_of(op.block)
    while (cast := made_by(value, "vector.shape_cast")) is not None and len(users(value)) == 1:
        value = cast.operands[0]
    load = producer(value)
    after = itertools.dropwhile(lambda other: other.name == "vector.shape_cast", following[following.index(last) + 1 :])
    store = next(after)
    if load is None or (load.name, store.name) != ("vector.load", "vector.store") or load.block != op.block:
        return False
    stored, taken = store.operands[0], last.results[0]
    while stored != taken and (cast := made_by(stored, "vector.shape_cast")) is not None:
        stored = cast.operands[0]
    used_once = len(users(value)) == len(users(taken)) == 1
    there = list(load.operands) == list(store.operands)[1:] and kernel.view(load.operands[0]).buffer.space == "private"
    return stored == taken and used_once and there


def registers_of(lanes: Lanes, product: TileProduct, operand: ir.Value) -> Iterator[str]:
    """The registers of A or B, as operands of the instruction."""
    if product.kind in ("tf32", "f64"):
        function = "" if product.kind == "f64" else "__float_as_uint" if _is_tf32(operand) else "to_tf32"
        yield from (f"{function}({e.text})" if function else e.text for e in lanes)
        return
    for first in range(0, len(lanes), product.each):
        row = lanes[first : first + product.each]
        yield whole(row, "unsigned") or f"pack_{product.kind}({', '.join(e.text for e in row)})"


def _is_tf32(operand: ir.Value) -> bool:
    """Whether all elements of an f32 vector are provably tf32 values: their low bits have been
    masked off."""
    bits = made_by(operand, "arith.bitcast")
    cut = None if bits is None else made_by(bits.operands[0], "arith.andi")
    mask = None if cut is None else made_by(cut.operands[1], "arith.constant")
    return mask is not None and all(n & ~TF32_BITS == 0 for n in ir.DenseIntElementsAttr(mask.attributes["value"]))


def _elements(word: str, kind: ScalarType) -> Lanes:
    """The elements of a 32-bit register."""
    parts = [word, *(f"{word} >> {shift}" for shift in range(kind.bits, 32, kind.bits))]
    if kind.floating:
        of_bits = "__uint_as_float" if kind.name == "f32" else f"{kind.name}_of_bits"
        texts = [f"{of_bits}({part})" for part in parts]
    else:
        texts = [f"({kind.cxx})({part})" for part in parts]
    return tuple(replace(_part(t, kind), element=Lane(word, "unsigned", i, len(parts))) for i, t in enumerate(texts))


def _part(text: str, kind: ScalarType) -> Expr:
    return Expr(text, kind.cxx, range=kind.full_range, atom=True)
