"""All kernels of a module as one CUDA C++ text."""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from ...dsl.diagnostics import did_you_mean, fail
from ...dsl.records import record
from ...interpreter.hardware.limits import MOST_CONSTANTS
from ...interpreter.ir import functions
from ...interpreter.ir.constants import definition
from ...interpreter.ir.mlir import ancestors, context, ir, operations, parse
from ...interpreter.ir.strings import undecodable
from ...interpreter.ir.structured import element_type
from ...interpreter.memory.effects import is_memref
from ...interpreter.memory.layouts import NO_LAYOUT, MemrefLayout, is_shared
from ...interpreter.memory.views import may_share
from ..form.kernel_form import refuse
from .dialects.arith import dense_values
from .dialects.memref import declared
from .function import FunctionText, write_function
from .prelude import PRELUDE, prelude
from .values.blocks import may_be_folded
from .values.expression import KEYWORDS, identifier
from .values.integers import constant
from .values.types import scalar
from .values.views import NamedMemory

WIDTH = 150
"""Width of a line of numbers."""


@dataclass
class Unit:
    """Constants, which the kernels of one text share."""

    constants: dict[str, tuple[NamedMemory, str]] = field(default_factory=dict)

    def constant(self, op: ir.Operation) -> NamedMemory:
        """The array of a `memref.get_global`; it is written once."""
        symbol = ir.FlatSymbolRefAttr(op.attributes["name"]).value
        found = definition(op)
        owner = found.parent.operation.attributes if found.parent is not None else {}
        key = f"{owner.get('sym_name', '')}/{symbol}"
        if key not in self.constants:
            self.constants[key] = self._write(found, symbol, op)
        return self.constants[key][0]

    def _write(self, definition: ir.Operation, symbol: str, op: ir.Operation) -> tuple[NamedMemory, str]:
        type = ir.MemRefType(ir.TypeAttr(definition.attributes["type"]).value)
        value = definition.attributes.get("initial_value", None)
        if "constant" not in definition.attributes or value is None or isinstance(value, ir.UnitAttr):
            raise refuse("W0503", f"@{symbol} is a global variable, not a constant", op)
        if is_shared(type):
            raise refuse(
                "W0503",
                f"@{symbol} is in shared memory, which begins without values",
                op,
                hint="`memref.store` its values in the kernel first",
            )
        if not MemrefLayout.of(type, op).in_rows:
            raise refuse("W0503", f"@{symbol} does not lie row by row: {type}", op, hint=NO_LAYOUT)
        count = math.prod(type.shape)
        if count > MOST_CONSTANTS:
            raise refuse(
                "W0507", f"@{symbol} has {count} elements; a constant in a kernel may have {MOST_CONSTANTS}", op
            )
        kind = scalar(type.element_type, op)
        taken = {buffer.name for buffer, _ in self.constants.values()}
        name = next(n for n in _numbered(identifier(symbol, "constant")) if n not in taken)
        shape, buffer = list(type.shape) or [1], declared(type, "constant", name, op)
        values = [constant(v, kind).text for v in dense_values(value, count, op)]
        if kind.small_float or kind.byte_float:
            raise refuse(
                "W0503",
                f"@{symbol}: a constant of {kind.name} elements",
                op,
                hint="keep the constant in `f32`, and convert its elements by `arith.truncf`",
            )
        dimensions = "".join(f"[{n}]" for n in shape)
        text = f"__device__ const {kind.cxx} {name}{dimensions} = {_initializer(values, shape)};"
        return buffer, "\n".join(
            textwrap.wrap(text, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
        )


def _numbered(base: str, between: str = "") -> Iterator[str]:
    """`base`, `base1`, `base2`, …"""
    return itertools.chain([base], (f"{base}{between}{number}" for number in itertools.count(1)))


def _initializer(values: list[str], shape: list[int]) -> str:
    if len(shape) == 1:
        return "{" + ", ".join(values) + "}"
    size = math.prod(shape[1:])
    return "{" + ", ".join(_initializer(values[k * size : (k + 1) * size], shape[1:]) for k in range(shape[0])) + "}"


@record
class KernelFunction:
    """A `gpu.func … kernel`.

    Attributes:
        symbol: `gpu_module::function`.
        name: in the text and the plan: the function's own, prefixed by that of its `gpu.module`
            where it is not unique.
    """

    op: ir.Operation
    symbol: str
    name: str

    @property
    def has_open_sizes(self) -> bool:
        """Whether a memref argument has a dynamic size."""
        kinds = [argument.type for argument in self.op.regions[0].blocks[0].arguments]
        return not all(kind.has_static_shape for kind in kinds if isinstance(kind, ir.MemRefType))

    @property
    def narrow_name(self) -> str:
        """The name of the text with 32-bit indices."""
        return f"{self.name}_32"

    @property
    def folded_name(self) -> str:
        """The name of the text for folded grids."""
        return f"{self.name}_folded"


def kernel_functions(module: ir.Module) -> list[KernelFunction]:
    """All kernels of the module, in its order."""
    taken, found = {"main"}, []
    for op in operations(module.operation, "gpu.func"):
        if "kernel" in op.attributes or "gpu.kernel" in op.attributes:
            outer, inner = functions.symbol(next(ancestors(op))), functions.symbol(op)
            candidates = [identifier(inner, "kernel")], _numbered(identifier(f"{outer}_{inner}", "kernel"), "_")
            name = next(n for n in itertools.chain(*candidates) if n not in taken and n not in KEYWORDS)
            found.append(KernelFunction(op, f"{outer}::{inner}", name))
            taken |= {name, found[-1].narrow_name, found[-1].folded_name}
    return found


def kernel_module(text: str, symbols: Sequence[str]) -> ir.Module:
    """The module of a plan's kernels, in a new context. Raises W0759 if the text does not parse, or
    lacks one of the kernels."""
    if undecodable(text) is not None:
        raise fail("W0759", "the module of the kernels does not parse", notes=("a string in it is not UTF-8",))
    try:
        module = parse(text, context())
    except ir.MLIRError as error:
        raise fail("W0759", "the module of the kernels does not parse", notes=(str(error),)) from error
    known = {found.symbol for found in kernel_functions(module)}
    for symbol in symbols:
        if symbol not in known:
            raise fail("W0759", f"the module has no kernel `{symbol}`")
    return module


def _named(name: str, kernels: Sequence[KernelFunction]) -> KernelFunction:
    """The kernel of this name. Raises W0509."""
    known = {kernel.name: kernel for kernel in kernels}
    if (found := known.get(name)) is None:
        notes = (f"kernels: {', '.join(known) or 'none'}",)
        raise fail("W0509", f"there is no kernel `{name}`", notes=notes, hint=did_you_mean(name, known))
    return found


def overlapping_arguments(module: ir.Module) -> dict[str, list[set[int]]]:
    """By kernel symbol, `module::function`: sets of arguments that may be one buffer in some
    launch."""
    found: dict[str, list[set[int]]] = {}
    for launch in operations(module.operation, "gpu.launch_func"):
        memrefs = [(number, value) for number, value in enumerate(functions.arguments(launch)) if is_memref(value)]
        pairs = [{i, j} for (i, one), (j, other) in itertools.combinations(memrefs, 2) if may_share(one, other)]
        found.setdefault(functions.callee(launch), []).extend(pairs)
    return found


def texts_of(kernel: KernelFunction, unit: Unit, overlapping: list[set[int]]) -> list[FunctionText]:
    """A kernel's texts: the one for all sizes; then, if it is correct only for some sizes, the one
    with 32-bit indices; then, if grids may be folded, the one for folded grids.

    `max-registers` limits the registers of the 32-bit text if there is one, else of the text for
    all sizes: 64-bit indices take twice as many.
    """
    write = partial(write_function, kernel.op, constant=unit.constant, overlapping=overlapping)
    narrow = [write(kernel.narrow_name, narrow=True)] if kernel.has_open_sizes else []
    others = [text for text in narrow if text.small]
    if may_be_folded(kernel.op):
        others.append(write(kernel.folded_name, folded=True, capped=not kernel.has_open_sizes))
    return [write(kernel.name, capped=not (narrow and narrow[0].small)), *others]


def emit(module: ir.Module, *, only: str | None = None, named: bool = False) -> str:
    """All kernels of all `gpu.module`s, or only one of them, as one text. Raises W05xx for ops
    without a CUDA C++ form.

    Args:
        named: a comment names the device functions of the prelude, in place of their texts.
    """
    unit, overlapping, kernels = Unit(), overlapping_arguments(module), kernel_functions(module)
    if only is not None:
        kernels = [_named(only, kernels)]
    body = "\n\n".join(
        written.text for kernel in kernels for written in texts_of(kernel, unit, overlapping.get(kernel.symbol, []))
    )
    fma = (op for kernel in kernels for op in operations(kernel.op, "math.fma", "vector.fma"))
    fused = {f"fma.{element_type(op.results[0])}" for op in fma}
    constants = [text for _, text in unit.constants.values()]
    pieces = prelude(body, fused)
    first = [f"{PRELUDE}{', '.join(pieces)}"] if named and pieces else pieces.values()
    return "\n\n".join(part for part in (*first, *constants, body) if part) + "\n"
