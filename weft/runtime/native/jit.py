"""Call a lowered function through MLIR's execution engine: arrays in, arrays out, also of results whose shape is dynamic."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...dsl.diagnostics import quoted
from ...interpreter.ir.functions import symbol
from ...interpreter.ir.mlir import JitError, descriptors, execution_engine, ir, operations
from ..plan.dtypes import NUMPY, itemsize
from ..plan.signature import Argument

STATIC_MEMORY = 0xDEADBEEF
"""What upstream writes as the allocated pointer of a `memref.get_global`: memory that is nobody's to free."""


def not_linked(module: ir.Module) -> JitError:
    """Why LLVM has no code for a lowered module: most often functions that are declared, and that this process has not."""
    there = ctypes.CDLL(None)
    declared = (op for op in operations(module.operation, "llvm.func") if not len(op.regions[0].blocks))
    missing = [name for op in declared if not hasattr(there, name := symbol(op))]
    return JitError(f"it calls {quoted(missing)}, and nothing here has that name" if missing else "LLVM has not compiled it")


def _bits(dtype: str) -> Any:
    """What C passes for a scalar: its bits."""
    return np.ctypeslib.as_ctypes_type(np.dtype(f"u{itemsize(dtype)}"))


_libc = ctypes.CDLL(None)
_libc.free.argtypes = [ctypes.c_void_p]
_libc.free.restype = None


def compiled(module: ir.Module, function: str, effort: int = 3) -> Any:
    """The engine of a module (LLVM dialect) with `function`, which has `llvm.emit_c_interface`; `effort`: how much LLVM
    optimizes, 0 to 3. Raises `JitError`."""
    engine = execution_engine(module, effort)
    if not engine.raw_lookup(f"_mlir_ciface_{function}"):
        raise not_linked(module)
    return engine


def invoke(
    engine: Any,
    function: str,
    arguments: Sequence[np.ndarray],
    scalars: Sequence[bool],
    results: Sequence[Argument],
) -> list[np.ndarray]:
    """Call `function` of an engine that `compiled` made.

    Args:
        arguments: an array each, also for scalars (of one element); memref arguments are changed in place.
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
    """What the C interface returns through its first argument: one descriptor, or a struct of several results."""
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
    """Copies of the results; memory that the function allocated for them is freed, each piece once."""
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
    if 0 in value.shape:
        return np.empty(tuple(value.shape), dtype)
    return descriptors().ranked_memref_to_numpy([value]).copy().view(dtype)


def _scalar(value: Any, dtype: str) -> np.ndarray:
    number = value.value if hasattr(value, "value") else value
    return np.array(number, _bits(dtype)).view(NUMPY[dtype])
