"""Compilation to machine code of this CPU by LLVM: functions of a lowered module, which take and
return arrays (results may have dynamic shapes); and the kernels of a scheduled module, each as a
function of loops."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from typing import Any

import numpy as np

from ...dsl.diagnostics import Diagnostic, WeftError, fail, quoted
from ...dsl.records import record
from ...interpreter.ir.functions import sizes_of, symbol
from ...interpreter.ir.mlir import JitError, TransformError, descriptors, execution_engine, ir, operations
from ...interpreter.ir.refusing import upstream_messages
from ..cuda.module import kernel_functions, kernel_module
from ..forks import Guard
from ..host.functions import array_type
from ..plan.dtypes import NUMPY, itemsize
from ..plan.plan import KernelEntry
from ..plan.signature import Argument
from .allow_lists import expect_kernels
from .kernel import LEADING
from .launches import keep_kernels
from .limits import NotLoopsError
from .lowering import lower

WAY_OUT = "the simulator may run it: `weft run … --target sim`"
KEPT = 128
"""Capacity of the cache of compiled modules."""

_Taken = tuple[str, tuple[int | None, ...] | None]
"""Element type and shape of an argument in `MachineCode`."""
_prototype = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


@record
class MachineCode:
    """Machine code of a kernel.

    Args:
        call: takes the address of an array of pointers to the arguments of
            `kernel.serial_function`; a memref is passed as its fields (the pointer twice, offset,
            sizes, strides). It runs without the GIL.
        arguments: for each argument, the element type and the shape. A shape of None: a scalar; an
            extent of None: dynamic.
        block, grid: the sizes that the code was compiled for; None: any.
        engine: owns the code.
    """

    call: Callable[[int], None]
    arguments: tuple[_Taken, ...]
    block: tuple[int, int, int] | None
    grid: tuple[int, int, int] | None
    engine: Any


def compiled(text: str, kernels: Sequence[KernelEntry], *, distinct: bool, effort: int = 3) -> dict[str, MachineCode]:
    """The machine code of the `kernels` of the module `text`, by symbol. It is compiled only once
    for all threads of this process.

    Args:
        distinct: no two memrefs of a launch overlap, unless both are only read.
        effort: LLVM's optimization level, 0 to 3.

    Errors: W0725 for kernels that the CPU cannot run, W0759 for a text without one of the kernels.
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
    failed = "W0725", "the kernels cannot be compiled for the CPU"
    with refusing("W0725", failed, failed, WAY_OUT):
        expect_kernels(module)
        functions = keep_kernels(module, symbols)
        names = [function.name.value for function in functions]
        arguments = [
            tuple(array_type(kind, "an argument of a kernel") for kind in function.type.inputs[LEADING:])
            for function in functions
        ]
        lower(module)
        _advise(module, dict(zip(names, arguments, strict=True)), distinct)
        engine, addresses = linked(module, names, effort)
    return {
        name: MachineCode(_prototype(address), taken, *sizes[name], engine)
        for name, address, taken in zip(symbols, addresses, arguments, strict=True)
    }


def _advise(module: ir.Module, kernels: Mapping[str, Sequence[_Taken]], distinct: bool) -> None:
    """Adds two attributes for LLVM: no two pointer arguments alias, a fact that upstream drops when
    it decomposes memrefs; and functions are not inlined into the wrappers that unpack their
    arguments, so that each is compiled only once."""
    with module.context:
        mark, nothing = ir.DictAttr.get({"llvm.noalias": ir.UnitAttr.get()} if distinct else {}), ir.DictAttr.get({})
        for function in operations(module.operation, "llvm.func"):
            if symbol(function) not in kernels:
                continue
            function.attributes["no_inline"] = ir.UnitAttr.get()
            marks = [
                nothing
            ] * LEADING  # counted from the shapes: the typed view of the op would import all of LLVM's ops
            for _, shape in kernels[symbol(function)]:
                marks += [nothing] if shape is None else [mark, mark, *[nothing] * (1 + 2 * len(shape))]
            function.attributes["arg_attrs"] = ir.ArrayAttr.get(marks)


STATIC_MEMORY = 0xDEADBEEF
"""The allocated pointer that upstream writes for a `memref.get_global`: a marker of memory that
must not be freed."""


def _bits(dtype: str) -> Any:
    """The ctypes integer with the bits of a scalar of this type, as C passes it."""
    return np.ctypeslib.as_ctypes_type(np.dtype(f"u{itemsize(dtype)}"))


_libc = ctypes.CDLL(None)
_libc.free.argtypes = [ctypes.c_void_p]
_libc.free.restype = None


@contextmanager
def refusing(loops: str, lowering: tuple[str, str], linking: tuple[str, str], way_out: str) -> Iterator[None]:
    """Reports failures of the compilation to machine code as diagnostics.

    Args:
        loops: code for a kernel that loops cannot express.
        lowering: code and message for a module that upstream cannot lower.
        linking: code and message for a module that LLVM cannot link.
    """
    try:
        yield
    except NotLoopsError as error:
        raise WeftError(Diagnostic(loops, error.message, hint=error.hint or way_out, payload=error.place)) from error
    except (ir.MLIRError, TransformError) as error:
        raise fail(*lowering, notes=upstream_messages(error)[:4], hint=way_out) from error
    except JitError as error:
        code, what = linking
        raise fail(code, f"{what}: {error}", hint=way_out) from error


def linked(module: ir.Module, functions: Sequence[str], effort: int) -> tuple[Any, list[int]]:
    """The engine of a module in the LLVM dialect, and the addresses of the functions. Raises
    `JitError`, most often because the module declares functions that this process lacks.

    Args:
        effort: LLVM's optimization level, 0 to 3.
    """
    engine = execution_engine(module, effort)
    addresses = [engine.raw_lookup(name) for name in functions]
    if all(addresses):
        return engine, addresses
    there = ctypes.CDLL(None)
    declared = (op for op in operations(module.operation, "llvm.func") if not len(op.regions[0].blocks))
    missing = [name for op in declared if not hasattr(there, name := symbol(op))]
    unknown = f"it calls {quoted(missing)}, and nothing here has that name"
    raise JitError(unknown if missing else "LLVM has not compiled it")


def invoke(
    engine: Any, function: str, arguments: Sequence[np.ndarray], scalars: Sequence[bool], results: Sequence[Argument]
) -> list[np.ndarray]:
    """Calls `function`, which has `llvm.emit_c_interface`, of an engine.

    Args:
        arguments: one array for each argument; a scalar is an array of one element. Memref
            arguments are changed in place.
        scalars: which arguments are scalars.
        results: name, type and rank of each result.
    """
    packed: list[Any] = []
    returned = _result_struct(results)
    if returned is not None:
        packed.append(ctypes.pointer(ctypes.pointer(returned)))
    for array, scalar in zip(arguments, scalars, strict=True):
        if scalar:
            packed.append(ctypes.cast(array.ctypes.data, ctypes.POINTER(ctypes.c_uint8)))
        else:
            packed.append(ctypes.pointer(ctypes.pointer(descriptors().get_ranked_memref_descriptor(array))))
    if len(results) == 1 and results[0].shape is None:
        value = _bits(results[0].dtype)()
        engine.invoke(function, *packed[1:], ctypes.pointer(value))
        return [_scalar(value, results[0].dtype)]
    engine.invoke(function, *packed)
    return _take(returned, results, arguments) if returned is not None else []


def _result_struct(results: Sequence[Argument]) -> ctypes.Structure | None:
    """The struct that the C interface returns through its first argument: one descriptor, or a
    struct of several results; None without results."""
    if not results:
        return None
    fields = [(f"result{i}", _type(result)) for i, result in enumerate(results)]
    return type("Results", (ctypes.Structure,), {"_fields_": fields})()


def _type(result: Argument) -> Any:
    bits, upstream = _bits(result.dtype), descriptors()
    if result.shape:
        return upstream.make_nd_memref_descriptor(len(result.shape), bits)
    return bits if result.shape is None else upstream.make_zero_d_memref_descriptor(bits)


def _take(returned: ctypes.Structure, results: Sequence[Argument], given: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Copies of the results. Frees the memory that the function allocated for them; results may
    share an allocation. Raises W0717 if a size is negative."""
    mine = {array.ctypes.data for array in given} | {STATIC_MEMORY, 0}
    taken: list[np.ndarray] = []
    allocated: set[int] = set()
    for i, result in enumerate(results):
        value = getattr(returned, f"result{i}")
        if result.shape is None:
            taken.append(_scalar(value, result.dtype))
            continue
        taken.append(_copy(value, result))
        if value.allocated not in mine:
            allocated.add(value.allocated)
    for pointer in allocated:
        _libc.free(pointer)
    return taken


def _copy(value: Any, result: Argument) -> np.ndarray:
    dtype = NUMPY[result.dtype]
    if not result.shape:
        return np.array(value.aligned[value.offset], _bits(result.dtype)).view(dtype)
    if (least := min(value.shape)) < 0:
        message = f"a size of `{result}` would be {least}: the sizes of the arguments do not fit together"
        raise fail("W0717", message)
    if least == 0:
        return np.empty(tuple(value.shape), dtype)
    return descriptors().ranked_memref_to_numpy([value]).copy().view(dtype)


def _scalar(value: Any, dtype: str) -> np.ndarray:
    number = value.value if hasattr(value, "value") else value
    return np.array(number, _bits(dtype)).view(NUMPY[dtype])
