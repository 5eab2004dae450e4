"""The normal form of kernels: the ops that emitter and simulator support.

Kernels of a schedule are in normal form. Others are brought into it by `kernel_lowering`, on a
clone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import numpy as np

from ...dsl.records import record
from ...interpreter.hardware import queries
from ...interpreter.hardware.ampere.fragments import MMA, PRODUCTS, TileProduct, tile_product
from ...interpreter.hardware.limits import WARP
from ...interpreter.ir.functions import segments
from ...interpreter.ir.mlir import constant_of, ir
from ...interpreter.ir.refusing import refuse as refuse
from ...interpreter.memory.layouts import space_of
from ..plan.dtypes import MOST_ELEMENTS, NUMPY
from .rounding import own_rounding

FORM: dict[str, str] = {
    "affine": "apply max min",
    "arith": "addf addi andi bitcast ceildivsi cmpf cmpi constant divf divsi divui extf extsi extui floordivsi"
    " fptosi fptoui index_cast index_castui maximumf maxnumf maxsi maxui minimumf minnumf minsi minui mulf muli"
    " negf ori remf remsi remui select shli shrsi shrui sitofp subf subi truncf trunci uitofp xori",
    "gpu": "block_dim block_id grid_dim printf thread_id",
    "math": "absf acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh ctlz ctpop cttz erf erfc exp"
    " exp2 expm1 floor fma fpowi ipowi log log10 log1p log2 powf round roundeven rsqrt sin sinh sqrt tan"
    " tanh trunc",
    "memref": "alloc alloca atomic_rmw cast collapse_shape dim expand_shape"
    " extract_strided_metadata get_global load memory_space_cast reinterpret_cast reshape store subview transpose",
    "scf": "execute_region for if index_switch while",
    "vector": "bitcast broadcast constant_mask create_mask extract extract_strided_slice from_elements insert"
    " insert_strided_slice interleave load maskedload maskedstore multi_reduction outerproduct reduction shape_cast"
    " shuffle step"
    " store to_elements transfer_read transfer_write transpose",
}
for _name in sorted(queries.FORM):
    _dialect, _, _rest = _name.partition(".")
    FORM[_dialect] = f"{FORM.get(_dialect, '')} {_rest}".lstrip()
"""All ops of the normal form, by dialect, with upstream's semantics, which `tests/runtime/form`
checks."""


def named(**dialects: str) -> frozenset[str]:
    """Full names of ops, from their names by dialect."""
    return frozenset(f"{dialect}.{name}" for dialect, names in dialects.items() for name in names.split())


def pairs_of(text: str) -> dict[str, str]:
    """A table from text: words are alternately keys and values."""
    words = iter(text.split())
    return dict(zip(words, words, strict=True))


PRINTF = "gpu.printf"

SIMULATOR_ALONE = named(
    gpu="all_reduce",
    math="ipowi",
    vector="bitcast constant_mask create_mask maskedload maskedstore multi_reduction outerproduct step",
)
"""Ops that only the simulator supports, and the emitter refuses."""

ARRANGING = named(
    vector="broadcast extract extract_strided_slice from_elements insert insert_strided_slice interleave shape_cast"
    " shuffle transpose"
)
"""Vector ops that only permute: each element of the result is an element of an operand."""


def arranged(op: ir.Operation) -> np.ndarray | None:
    """For each element of the result, the number of its source, counted row-major over all
    operands.

    None if it is not known: at a dynamic position, or for a poison element.
    """
    shapes = [tuple(v.type.shape) if isinstance(v.type, ir.VectorType) else () for v in op.operands]
    counts = [math.prod(shape) for shape in shapes]
    numbers = np.split(np.arange(sum(counts)), np.cumsum(counts)[:-1])
    first, *rest = (part.reshape(shape) for part, shape in zip(numbers, shapes, strict=True))
    result = op.results[0].type
    made = tuple(result.shape) if isinstance(result, ir.VectorType) else ()
    match op.name.removeprefix("vector."):
        case "extract" | "insert":
            place = tuple(integers(op.attributes["static_position"]))
            if any(p < 0 for p in place):
                return None
            return first[place] if op.name == "vector.extract" else _overwritten(rest[0], place, first)
        case "extract_strided_slice":
            return first[_slices(op, integers(op.attributes["sizes"]))]
        case "insert_strided_slice":
            (target,) = rest
            return _overwritten(target, _slices(op, [1] * (target.ndim - first.ndim) + list(first.shape)), first)
        case "shuffle":
            mask = integers(op.attributes["mask"])
            return None if -1 in mask else np.concatenate([np.atleast_1d(v) for v in (first, *rest)])[mask]
        case "transpose":
            return first.transpose(integers(op.attributes["permutation"]))
        case "interleave":
            return np.stack((first, *rest), axis=-1).reshape(made)
        case "broadcast":
            return np.broadcast_to(first, made)
        case _:
            return np.arange(sum(counts)).reshape(made)


def _overwritten(target: np.ndarray, where: tuple[int | slice, ...], values: np.ndarray) -> np.ndarray:
    made = target.copy()
    made[where] = values
    return made


def _slices(op: ir.Operation, sizes: Sequence[int]) -> tuple[slice, ...]:
    """Slices of the leading dimensions; the other dimensions are whole."""
    offsets, steps = integers(op.attributes["offsets"]), integers(op.attributes["strides"])
    steps += [1] * (len(offsets) - len(steps))
    return tuple(slice(o, o + (n - 1) * s + 1, s) for o, n, s in zip(offsets, sizes, steps, strict=False))


def integers(attribute: ir.Attribute) -> list[int]:
    """A list of integers, from either form of attribute."""
    return [ir.IntegerAttr(i).value if isinstance(i, ir.Attribute) else int(i) for i in attribute]


ON_BITS = pairs_of("add xor  sub xor  mul and  maxs and  mins or  maxu or  minu and  and and  or or  xor xor")
"""The bit operation that an integer op is on `i1`, by the op's name without its `i`: as a signed
number, true is -1."""


def since_chip(op: ir.Operation) -> int:
    """The oldest architecture with an instruction for the op; 0: all have it."""
    product = tile_product(op) if op.name == MMA else None
    return queries.SINCE.get(op.name, 0) if product is None else product.since


# ---- what ops say --------------------------------------------------------------------------------


Reader = TypeVar("Reader", bound=Callable[..., object])


def registrar(table: dict[str, Reader]) -> Callable[..., Callable[[Reader], Reader]]:
    """A decorator that registers a function in the table as the reader of ops of the given names."""

    def named(*names: str) -> Callable[[Reader], Reader]:
        def register(function: Reader) -> Reader:
            table.update(dict.fromkeys(names, function))
            return function

        return register

    return named


EXPECTED: dict[str, Callable[[ir.Operation, str], None]] = {}
expects = registrar(EXPECTED)
"""Registers a function of an op and a code that checks ops with these names for all readers, and
raises the code for forms that none supports."""


def reader_of(op: ir.Operation, table: Mapping[str, Reader], reader: str, unknown: str, form: str) -> Reader:
    """The reader of the op. Raises `unknown` if the table has none, `form` if the op is supported,
    but not in this form."""
    if op.name not in table:
        hint = "lower it to ops of `scf`, `affine`, `arith`, `math`, `memref`, `vector` or `gpu` first"
        raise refuse(unknown, f"{reader} does not support `{op.name}`", op, hint=hint)
    mode = own_rounding(op)
    if mode is not None:
        raise refuse(form, f"`{op.name}` that rounds {mode}: {reader} rounds to nearest", op)
    if any(isinstance(r.type, ir.UnrankedMemRefType) for r in op.results):
        raise refuse(form, f"`{op.name}` makes a memref of unknown rank", op)
    if op.name in EXPECTED:
        EXPECTED[op.name](op, form)
    return table[op.name]


def shape_of(kind: ir.Type, op: ir.Operation | ir.OpView | None, code: str) -> tuple[ir.Type, tuple[int, ...] | None]:
    """The element type of a scalar or a vector, and a vector's shape; None for a scalar."""
    if not isinstance(kind, ir.VectorType):
        return kind, None
    if any(kind.scalable_dims):
        raise refuse(code, f"type {kind} is scalable; a GPU has no such vectors", op)
    if (count := math.prod(kind.shape)) > MOST_ELEMENTS:
        raise refuse(code, f"type {kind} has {count} elements; a thread's vector has at most {MOST_ELEMENTS}", op)
    return kind.element_type, tuple(kind.shape)


def axis_of(op: ir.Operation) -> int:
    """The axis of a `gpu.thread_id` or a similar op: 0 for x."""
    return "xyz".index(str(op.attributes["dimension"]).split("dim ")[1][0])


def kind_of(op: ir.Operation) -> str:
    """The combining operation of a vector reduction, as MLIR names it."""
    return str(op.attributes["kind"]).split("<")[-1].rstrip(">")


# ---- asynchronous copies -------------------------------------------------------------------------


@record
class AsyncCopy:
    """A `nvgpu.device_async_copy` from global to shared memory.

    Args:
        target, at: the shared memref, and the indices of the first element.
        source, begin: the global memref, and the indices of the first element.
        read: number of elements to read, the others become zero; None: all.
        count: number of elements.
        size: bytes of all elements: 4, 8 or 16.
        past_l1: the data is cached in L2 only (`cp.async.cg`).
    """

    target: ir.Value
    at: list[ir.Value]
    source: ir.Value
    begin: list[ir.Value]
    read: ir.Value | None
    count: int
    size: int
    past_l1: bool


def async_copy(op: ir.Operation, code: str) -> AsyncCopy:
    """The operands of an asynchronous copy. Raises `code` for one that no GPU supports, which
    upstream checks only in part."""
    (target,), at, (source,), begin, rest = segments(op)
    count, kind = ir.IntegerAttr(op.attributes["dstElements"]).value, ir.MemRefType(target.type).element_type
    found = NUMPY.get(str(kind))
    size = 0 if found is None else found.itemsize * count
    if size not in (4, 8, 16):
        raise refuse(code, f"`{op.name}` of {count} x {kind}: a thread copies 4, 8 or 16 bytes at a time", op)
    if space_of(ir.MemRefType(source.type)) != "global":
        raise refuse(code, f"`{op.name}` from {source.type}: its source is in global memory", op)
    return AsyncCopy(target, at, source, begin, next(iter(rest), None), count, size, "bypassL1" in op.attributes)


def expected_product(op: ir.Operation, code: str) -> TileProduct:
    """The product of a `nvgpu.mma.sync`. Raises `code` for one that Weft does not support."""
    found = tile_product(op)
    if found is None:
        shape, kinds = op.attributes["mmaShape"], " and ".join(str(op.operands[i].type) for i in (0, 2))
        known = "`; `".join(map(str, PRODUCTS))
        raise refuse(code, f"there is no `{op.name}` of {shape}, {kinds}", op, hint=f"take one of these: `{known}`")
    return found


# ---- between the lanes of a warp -----------------------------------------------------------------


@record
class WarpShuffle:
    """The source lanes of a `gpu.shuffle`. Lanes are in groups of `width`; those outside the own
    group give no value.

    Args:
        mode: the source lane, counted from the group's first: `xor`, own ^ offset; `up`, own -
            offset; `down`, own + offset; `idx`, offset, for all lanes. Offsets are unsigned.
    """

    mode: str
    width: int


def expected_shuffle(op: ir.Operation, code: str) -> WarpShuffle:
    """The source lanes of a `gpu.shuffle`. Raises `code` for one that Weft does not support."""
    mode = str(op.attributes["mode"]).split()[-1].rstrip(">")
    offset, width = (constant_of(value) for value in list(op.operands)[1:])
    if width is None or not 0 < width <= WARP or width & (width - 1):
        width_text = "a width that is not constant" if width is None else f"width {width}"
        raise refuse(
            code, f"`{op.name}` with {width_text}", op, hint=f"write a constant width, a power of two up to `{WARP}`"
        )
    if mode == "xor" and offset is not None and not 0 <= offset < width:
        raise refuse(code, f"`{op.name} xor` with offset {offset}: no lane of {width} has that number", op)
    if isinstance(op.results[0].type, ir.VectorType):
        raise refuse(
            code, f"`{op.name}` of {op.results[0].type}", op, hint="exchange one element at a time, by `vector.extract`"
        )
    return WarpShuffle(mode, width)
