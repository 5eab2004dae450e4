"""Kernels of a scheduled module as machine code of this CPU: a function of loops each, through LLVM."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from threading import Lock
from typing import Any

from ...dsl.diagnostics import Diagnostic, WeftError, fail
from ...dsl.records import record
from ...interpreter.ir.functions import sizes_of, symbol
from ...interpreter.ir.mlir import JitError, TransformError, execution_engine, ir, operations
from ...interpreter.ir.refusing import upstream_messages
from ..cuda.module import kernel_functions, kernel_module
from ..forks import Guard
from ..host.functions import array_type
from ..plan.plan import KernelEntry
from .admitted import expect_kernels
from .cpu_lowering import lower
from .jit import not_linked
from .kernel import LEADING
from .launches import keep_kernels
from .limits import NotLoopsError

WAY_OUT = "the simulator may run it: `weft run … --target sim`"
KEPT = 128
"""Compiled texts that are kept in memory, for whoever loads one again."""

_Taken = tuple[str, tuple[int | None, ...] | None]
"""The element type and the shape of an argument, as `MachineCode` has it."""
_prototype = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


@record
class MachineCode:
    """Machine code of a kernel.

    Args:
        call: takes the address of an array of pointers to the arguments of `kernel.serial_function`, a memref's one by one
            (memory twice, offset, sizes, strides). While it runs, other Python threads do too.
        arguments: the element type and the shape of each (None: a scalar; a None in it is any).
        block, grid: the sizes that it was compiled for; None: any.
        engine: holds the code.
    """

    call: Callable[[int], None]
    arguments: tuple[_Taken, ...]
    block: tuple[int, int, int] | None
    grid: tuple[int, int, int] | None
    engine: Any


def compiled(text: str, kernels: Sequence[KernelEntry], *, distinct: bool, effort: int = 3) -> dict[str, MachineCode]:
    """The machine code of `kernels` of the module `text`, by symbol; compiled once for all threads.

    Args:
        distinct: no two memrefs of a launch share memory, unless nobody writes it.
        effort: how much LLVM optimizes, 0 to 3.

    Errors: W0725 for what the CPU cannot run, W0759 for a text that lacks a kernel.
    """
    with _one_at_a_time.lock:
        return _compiled(text, tuple(dict.fromkeys(kernel.symbol for kernel in kernels)), distinct, effort)


_one_at_a_time = Guard(Lock)


@lru_cache(KEPT)
def _compiled(text: str, symbols: tuple[str, ...], distinct: bool, effort: int) -> dict[str, MachineCode]:
    module = kernel_module(text, symbols)
    sizes = {
        found.symbol: (sizes_of(found.op, "known_block_size"), sizes_of(found.op, "known_grid_size"))
        for found in kernel_functions(module)
    }
    try:
        expect_kernels(module)
        functions = keep_kernels(module, symbols)
        names = [function.name.value for function in functions]
        arguments = [
            tuple(array_type(kind, "an argument of a kernel") for kind in function.type.inputs[LEADING:])
            for function in functions
        ]
        lower(module)
        _advise(module, dict(zip(names, arguments, strict=True)), distinct)
        engine = execution_engine(module, effort)
        addresses = [engine.raw_lookup(name) for name in names]
        if not all(addresses):
            raise not_linked(module)
    except NotLoopsError as error:
        raise WeftError(Diagnostic("W0725", error.message, hint=error.hint or WAY_OUT, payload=error.place)) from error
    except (ir.MLIRError, TransformError) as error:
        notes = upstream_messages(error)[:4]
        raise fail("W0725", "the kernels cannot be compiled for the CPU", notes=notes, hint=WAY_OUT) from error
    except JitError as error:
        raise fail("W0725", f"the kernels cannot be compiled for the CPU: {error}", hint=WAY_OUT) from error
    return {
        name: MachineCode(_prototype(address), taken, *sizes[name], engine)
        for name, address, taken in zip(symbols, addresses, arguments, strict=True)
    }


def _advise(module: ir.Module, kernels: Mapping[str, Sequence[_Taken]], distinct: bool) -> None:
    """What LLVM would not find out: that no two arguments point to the same, which upstream forgets where it takes memrefs apart;
    and that a second copy of each of these functions, in the one that unpacks its arguments, is not worth the time."""
    with module.context:
        mark, nothing = ir.DictAttr.get({"llvm.noalias": ir.UnitAttr.get()} if distinct else {}), ir.DictAttr.get({})
        for function in operations(module.operation, "llvm.func"):
            if symbol(function) not in kernels:
                continue
            function.attributes["no_inline"] = ir.UnitAttr.get()
            marks = [nothing] * LEADING  # what LLVM's dialect says of the arguments would have upstream import all of its ops
            for _, shape in kernels[symbol(function)]:
                marks += [nothing] if shape is None else [mark, mark, *[nothing] * (1 + 2 * len(shape))]
            function.attributes["arg_attrs"] = ir.ArrayAttr.get(marks)
