"""The text of one kernel: its parameters (as in `cuda/__init__`), shared memory, head and body."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ...interpreter.hardware import limits
from ...interpreter.hardware.ampere.fragments import MMA
from ...interpreter.hardware.hopper.mbarriers import REGISTERS
from ...interpreter.hardware.hopper.tensor_maps import tensor_map
from ...interpreter.hardware.lanes import SHUFFLE
from ...interpreter.ir.functions import (
    CLUSTER_SIZE,
    inputs_of,
    most_of,
    multiples_of,
    name_of,
    register_cap,
    sizes_of,
    workgroup_buffers,
)
from ...interpreter.ir.mlir import DYNAMIC, ir, operations
from ...interpreter.memory.layouts import is_plain, strided
from ...interpreter.memory.shared import placed
from ..form.kernel_form import refuse
from ..form.kernel_lowering import normal
from ..plan.plan import DimOf, Size
from .dialects import memref
from .kernel import KernelWriter, TextLine
from .loops import has_steps, kept_numbers
from .nvrtc import UNFOLDED
from .values.expression import Expr, cast, identifier, name
from .values.integers import literal, multiply
from .values.sizes import HostNumber
from .values.types import Range, scalar
from .values.views import NamedMemory, NamedView

SIZE = Range(0, 1 << 47)  # the most elements of an address space
STRIDE = Range(-(1 << 47), 1 << 47)
WIDTH = 120
THREADS_OF_SM = 1536  # the smallest number among the architectures: ptxas ignores a number of blocks that does not fit
TILE = 16  # numbers kept by a thread: with fewer, ptxas has not been observed to spill on its own
FULL_WARPS = 128  # threads: a warp for each of the four partitions of an SM


class KernelParameter(NamedTuple):
    """One parameter of the emitted function, for argument number `argument` of the `gpu.func`."""

    argument: int
    name: str
    cxx: str
    pointer: bool = False


class FunctionText(NamedTuple):
    """The text of a `gpu.func`, and its conditions.

    Args:
        name: of the function.
        reciprocals: the parameters after the arguments', with their values: reciprocals of
            divisors, and numbers of blocks.
        small: numbers that must fit in 32 bits for the text to be correct.
        folds: whether the text is for folded grids.

    Numbers are expressions over `DimOf("0", 1)`, the size of axis 1 of argument 0, and `DimOf(GRID,
    0)`, the number of blocks along x.
    """

    name: str
    text: str
    reciprocals: tuple[tuple[str, Size], ...]
    small: tuple[Size, ...]
    folds: bool

    @property
    def divides_by(self) -> tuple[str, ...]:
        """The names of `reciprocals`."""
        return tuple(name for name, _ in self.reciprocals)


def write_function(
    func: ir.Operation,
    kernel_name: str,
    constant: Callable[[ir.Operation], NamedMemory],
    overlapping: list[set[int]],
    *,
    narrow: bool = False,
    folded: bool = False,
    capped: bool = True,
) -> FunctionText:
    """The text of a `gpu.func`.

    Args:
        overlapping: groups of arguments that may be one buffer.
        narrow: indices have 32 bits.
        folded: whether the text is for folded grids (`values/blocks.py`); ignored for a known grid,
            which decides itself.
        capped: whether to limit registers per thread as the schedule states.
    """
    func, _module = normal(func)
    kernel = KernelWriter(func, constant, sizes_of(func, "known_block_size"), narrow=narrow, folded=folded)
    block = kernel.single_block(func)
    parameters = _bind_arguments(kernel, func, block)
    terminator = kernel.write_block(block)
    if terminator.name != "gpu.return" or len(terminator.operands):
        raise refuse("W0504", f"a kernel ends with `{terminator.name}`", terminator)
    shared = _shared_memory(kernel)
    written = {p.argument for p in parameters if p.name in kernel.written}
    shared_writes = set().union(*(group for group in overlapping if group & written))  # these get no `__restrict__`
    texts = [_parameter(p, p.name in kernel.written, p.argument in shared_writes) for p in parameters]
    reciprocals = tuple((variable, size) for size, variable in kernel.facts.reciprocals.items())
    texts += [f"long long {variable}" for variable, _ in reciprocals]
    head = [kernel.head[n] for n in ("tx", "ty", "tz", "bx", "by", "bz") if n in kernel.head]
    made = (*map(TextLine, (*shared, *head)), *kernel.frames[0].lines)
    for line in reversed(made):
        kernel.read |= line.reads if line.aside in kernel.read else frozenset()
    lines = [part for line in made if not line.aside or line.aside in kernel.read for part in _wrapped(kernel, line)]
    text = "\n".join([_opening(kernel, kernel_name, texts, capped), *lines, "}"])
    text = f"#ifndef {UNFOLDED}\n{text}\n#endif" if folded else text
    return FunctionText(kernel_name, text, reciprocals, tuple(kernel.facts.small), kernel.blocks.folded)


def _opening(kernel: KernelWriter, kernel_name: str, parameters: list[str], capped: bool) -> str:
    size = sizes_of(kernel.func, CLUSTER_SIZE)
    cluster = "" if size is None else f"__cluster_dims__({', '.join(map(str, size))}) "
    start = f'extern "C" __global__ void {cluster}{_bounds(kernel, capped)}{kernel_name}('
    one_line = f"{start}{', '.join(parameters)}) {{"
    if len(one_line) <= WIDTH:
        return one_line
    return start + "\n    " + ",\n    ".join(parameters) + ") {"


def _bounds(kernel: KernelWriter, capped: bool) -> str:
    """`__launch_bounds__(256, 2) `: the size of the block, and a limit on the registers of a
    thread.

    For a requested number of blocks per SM, ptxas gives each thread 65,536 / (threads * blocks)
    registers, rounded to a multiple of 8. If no number of blocks gives exactly the wanted cap,
    `__maxnreg__` states it; the two are mutually exclusive.

    A cap of 255, the most registers that an instruction can name, is no limit: it lets ptxas use
    more registers than by default. Without loops with steps and without combining lanes, ptxas
    would fill these with early loads, and spill: its default is better.

    Without a cap, one block per SM is requested if threads keep the sums of tiles: by default,
    ptxas may spill some of them to make room for another block. With more than four warps this is
    not requested, since half of the warps would be lost. The text for arrays that need 64-bit
    indices has no cap, since its indices take more registers; it requests one block where the
    kernel has steps, or lanes combine values that they loaded.
    """
    threads = None if kernel.block is None else math.prod(kernel.block)
    cap = register_cap(kernel.func)
    if next(operations(kernel.func, REGISTERS), None) is not None and threads is not None:
        fit = limits.registers_of_blocks(threads)
        if cap is not None and cap not in fit:
            message = f"{cap} registers for each of {threads} threads with warp groups that pass some on"
            message += ": no number of blocks gives that"
            raise refuse(
                "W0503",
                message,
                kernel.func,
                hint=f"give `max-registers` the number of one block, of two, …: {', '.join(map(str, fit))}",
            )
        blocks = 1 if cap is None else fit.index(cap) + 1
        return f"__launch_bounds__({threads}, {blocks}) "  # warp groups redistribute the registers of a block
    careful = has_steps(kernel.func) or next(operations(kernel.func, SHUFFLE), None) is not None
    if not capped and threads is not None and careful:
        return f"__launch_bounds__({threads}, 1) "
    if not capped or cap is None:
        alone = capped and threads is not None and _keeps_sums(kernel.func, threads)
        return "" if threads is None else f"__launch_bounds__({threads}{', 1' if alone else ''}) "
    if cap == limits.MOST_REGISTERS and threads is not None and not careful:
        return f"__launch_bounds__({threads}) "
    if threads is not None and threads % FULL_WARPS == 0:
        for blocks in range(1, THREADS_OF_SM // threads + 1):
            if limits.ALL_REGISTERS // (threads * blocks) // 8 * 8 == cap:
                return f"__launch_bounds__({threads}, {blocks}) "
    return f"__maxnreg__({cap}) "


def _keeps_sums(func: ir.Operation, threads: int) -> bool:
    """Whether a thread keeps at least 16 numbers in private arrays: across steps, or once for
    tensor cores."""
    if kept_numbers(func) < TILE:
        return False
    return threads <= FULL_WARPS if has_steps(func) else next(operations(func, MMA), None) is not None


def _wrapped(kernel: KernelWriter, made: TextLine) -> Iterator[str]:
    """A line, broken after commas or before operators where it is too long. String literals are not
    broken."""
    line = "  " * (made.depth + 1) + ("alignas(16) " if made.array in kernel.aligned else "") + made.text
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    while len(line) > WIDTH and '"' not in line and not line.lstrip().startswith("#"):
        places = [m.start() + (m[0] == ", ") for m in re.finditer(r", | (?:\?|:|&&|\|\||\+|=) ", line[:WIDTH])]
        places = [p for p in places if p > len(indent) + 8]
        if not places:
            break
        least = min(_open_brackets(line[:p]) for p in places)
        place = [p for p in places if _open_brackets(line[:p]) == least][-1]
        yield line[:place]
        line = indent + line[place:].lstrip()
    yield line


def _open_brackets(text: str) -> int:
    return sum(text.count(c) for c in "([{") - sum(text.count(c) for c in ")]}")


def _parameter(p: KernelParameter, written: bool, overlaps: bool) -> str:
    if not p.pointer:
        return f"{p.cxx} {p.name}"
    return f"{'' if written else 'const '}{p.cxx}*{'' if overlaps else ' __restrict__'} {p.name}"


# ---- arguments -----------------------------------------------------------------------------------


def _bind_arguments(kernel: KernelWriter, func: ir.Operation, block: ir.Block) -> list[KernelParameter]:
    """Binds the function's arguments, then its workgroup and private attributions; returns the
    parameters."""
    count, arguments = inputs_of(func), list(block.arguments)
    parameters: list[KernelParameter] = []
    given = [name_of(argument) for argument in arguments]
    names = [kernel.fresh(identifier(given[number] or f"arg{number}", "arg"), given=True) for number in range(count)]
    for number, (argument, variable) in enumerate(zip(arguments[:count], names, strict=True)):
        if isinstance(argument.type, ir.MemRefType):
            parameters += _bind_memref(kernel, number, argument, variable)
            continue
        if tensor_map(argument.type) is not None:
            kernel.values[argument] = (name(variable, "TensorMap"),)
            parameters.append(KernelParameter(number, variable, "const __grid_constant__ TensorMap"))
            continue
        kind = scalar(argument.type, func)
        kernel.values[argument] = (name(variable, kind.cxx, kind.full_range),)
        parameters.append(KernelParameter(number, variable, kind.cxx))
    for number, argument in enumerate(arguments[count:], count):
        shared = number < count + workgroup_buffers(func)
        anonymous = "s" if shared else "r"
        kernel.values[argument] = memref.allocated(kernel, argument, anonymous, func, shared=shared)
    return parameters


def _bind_memref(kernel: KernelWriter, number: int, argument: ir.Value, variable: str) -> list[KernelParameter]:
    """Binds a memref argument to a pointer, and to a parameter for each dynamic size, stride and
    offset (see `__init__`)."""
    type = ir.MemRefType(argument.type)
    kind = scalar(type.element_type, kernel.func)
    static_strides, static_offset = strided(type, kernel.func)
    parameters = [KernelParameter(number, variable, kind.cxx, pointer=True)]

    def extra(word: str, axis: int | None, known: Range) -> Expr:
        own = kernel.fresh(f"{variable}_{word}{'' if axis is None else axis}")
        parameters.append(KernelParameter(number, own, "long long"))
        host = HostNumber(DimOf(str(number), axis), kernel.facts) if word == "size" and axis is not None else None
        known = known if host is None else kernel.facts.limited(known, host.number)
        given = name(own, "long long", known, host=host)
        small = cast("int", given, known)
        return kernel.named(small, f"{variable}_extent{axis}", aside=True) if known.fits(32) else given

    stated, most = multiples_of(argument) or [1] * type.rank, most_of(argument) or [-1] * type.rank
    ranges = [Range(0, SIZE.high if high < 0 else high, n) for n, high in zip(stated, most, strict=True)]
    sizes = tuple(extra("size", d, ranges[d]) if s == DYNAMIC else literal(s) for d, s in enumerate(type.shape))
    elements: Expr | None = None
    if is_plain(type):
        strides = _row_major(kernel, variable, sizes)
        elements = multiply(strides[0], sizes[0]) if sizes else None
    else:
        known = enumerate(static_strides)
        strides = tuple(extra("stride", d, STRIDE) if s == DYNAMIC else literal(s) for d, s in known)
    offset = extra("offset", None, SIZE) if static_offset == DYNAMIC else literal(static_offset)
    memory = NamedMemory(variable, kind, "global", sizes, strides, offset, elements=elements)
    kernel.values[argument] = NamedView.whole(memory)
    return parameters


def _row_major(kernel: KernelWriter, variable: str, sizes: tuple[Expr, ...]) -> tuple[Expr, ...]:
    strides = [literal(1)] * len(sizes)
    for d in reversed(range(len(sizes) - 1)):
        strides[d] = kernel.named(multiply(strides[d + 1], sizes[d + 1]), f"{variable}_stride{d}", aside=True)
    return tuple(strides)


# ---- shared memory -------------------------------------------------------------------------------


def _shared_memory(kernel: KernelWriter) -> list[str]:
    """Declarations of shared memory. More than 48 KiB must be dynamic shared memory."""
    offsets, total = placed([(part.size, part.alignment) for part in kernel.shared])
    if total > limits.MOST:
        message = f"the kernel needs {total} bytes of shared memory; a block gets {limits.MOST} at most"
        raise refuse("W0506", message, kernel.func, "`tile` by smaller sizes, or `promote-to-shared` fewer buffers")
    if total <= limits.STATIC:
        align = dict.fromkeys(kernel.aligned, limits.ALIGNMENT)
        align |= {part.memory.name: part.alignment for part in kernel.shared if part.alignment > limits.ALIGNMENT}
        asked = {part.memory.name: f"alignas({n}) " for part in kernel.shared if (n := align.get(part.memory.name))}
        return [f"{asked.get(p.memory.name, '')}__shared__ {memref.declaration(p.memory)};" for p in kernel.shared]
    most = max(part.alignment for part in kernel.shared)
    align = f"alignas({most}) " if most > limits.ALIGNMENT else ""
    lines = [f"{align}extern __shared__ float4 dynamic_shared[];"]
    for buffer, offset in zip((part.memory for part in kernel.shared), offsets, strict=True):
        rest = "".join(f"[{s.text}]" for s in buffer.sizes[1:])
        pointer = f"{buffer.element.cxx} (*{buffer.name}){rest}" if rest else f"{buffer.element.cxx}* {buffer.name}"
        type = f"{buffer.element.cxx} (*){rest}" if rest else f"{buffer.element.cxx}*"
        lines.append(f"{pointer} = reinterpret_cast<{type}>(dynamic_shared + {offset // 16});")
    return lines
