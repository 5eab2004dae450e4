"""Who says what a program computes: the simulator, the CUDA text behind g++, and MLIR's JIT."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from native import run_native
from numbers_of import ordered
from programs_of import Program

from weft.dsl.diagnostics import WeftError
from weft.interpreter.ir import mlir
from weft.interpreter.ir.mlir import ir
from weft.runtime.cpu.lowering import lower_ops
from weft.runtime.cuda.module import emit
from weft.runtime.simulator.kernel import SimKernel

Outcome = list[np.ndarray] | str
"""The results, or the code of the diagnostic that refuses."""

FOLDING = "canonicalize,sccp,canonicalize,cse"


@cache
def _context() -> ir.Context:
    return mlir.context()


def module_of(programs: Sequence[Program]) -> ir.Module:
    kernels = "\n".join(p.kernel for p in programs)
    return mlir.parse(f"gpu.module @m {{\n{kernels}\n}}", _context())


def built(program: Program) -> ir.Module:
    module = module_of([program])
    if program.form == "folded":
        mlir.run_passes(module, FOLDING)
    return module


def refused(make: Callable[[], object]) -> str | None:
    """The code of the diagnostic; None where there is none."""
    try:
        make()
    except WeftError as error:
        return error.diagnostics[0].code
    return None


def simulated(module: ir.Module, program: Program) -> Outcome:
    made: list[SimKernel] = []
    functions = list(mlir.operations(module.operation, "gpu.func"))
    code = refused(lambda: made.append(SimKernel(functions[0])))
    if code is not None:
        return code
    results = program.results()
    report = made[0].launch((1, 1, 1), (program.threads, 1, 1), [*program.scalars, *(a.copy() for a in program.inputs), *results])
    assert not report.races and not report.faults, (str(program), report.faults)
    return results


def texts(programs: Sequence[Program], modules: Sequence[ir.Module]) -> tuple[str, dict[str, str]]:
    """All kernels that are not refused in one text, and the codes of those that are."""
    parts: dict[str, None] = {}
    codes: dict[str, str] = {}
    for program, module in zip(programs, modules, strict=True):
        made: list[str] = []
        code = refused(lambda module=module, made=made: made.append(emit(module)))
        if code is not None:
            codes[program.name] = code
        else:
            parts.update(dict.fromkeys(made[0].strip().split("\n\n")))  # pieces of the prelude come once
    helpers = [p for p in parts if 'extern "C"' not in p]
    kernels = [p for p in parts if 'extern "C"' in p]
    return "\n\n".join([*helpers, *kernels]) + "\n", codes


def compiled_text(text: str, program: Program) -> Outcome:
    results = program.results()
    arrays = [*program.scalars, *(a.copy() for a in program.inputs), *results]
    done = run_native(text, program.name, (1,), (program.threads,), arrays, mode="quick")
    assert not done.diverged
    return results


def jitted(programs: Sequence[Program]) -> dict[str, Outcome]:
    """By the lowering of the reference; where it refuses, as the reference does: W0800, W0801."""
    found: dict[str, Outcome] = {}
    if not programs:
        return found
    engine = _engine(programs)
    if isinstance(engine, str):
        return dict.fromkeys((p.name for p in programs), engine)
    for program in programs:
        arrays = [*(a.copy() for a in program.inputs), *program.results()]
        descriptors = map(mlir.descriptors().get_ranked_memref_descriptor, arrays)
        engine.invoke(program.name, *(ctypes.pointer(ctypes.pointer(d)) for d in descriptors))
        found[program.name] = arrays[len(arrays) - len(program.wanted) :]
    return found


def _engine(programs: Sequence[Program]) -> Any:
    try:
        module = mlir.parse("\n".join(p.function for p in programs), _context())
        lower_ops(module)
        engine = mlir.execution_engine(module)
    except ir.MLIRError:
        return "W0800"
    except mlir.JitError:
        return "W0801"
    return engine if engine.raw_lookup(f"_mlir_ciface_{programs[0].name}") else "W0801"


# ---- comparing --------------------------------------------------------------------------------------------------------


def difference(program: Program, got: Sequence[np.ndarray], ulps: float | None = None) -> str | None:
    """Where the results are not what they should be, by more than `ulps` (else what the case allows); None where they are."""
    for number, (mine, wanted) in enumerate(zip(got, program.wanted, strict=True)):
        wrong = np.flatnonzero(~_agree(mine, wanted, program.case.ulps if ulps is None else ulps))
        if len(wrong):
            at = wrong[0]
            operands = ", ".join(repr(c[at * len(c) // len(wanted)]) for c in program.operands)
            return f"{len(wrong)} of {len(wanted)}, result {number} of ({operands}): {mine[at]!r}, not {wanted[at]!r}"
    return None


def _agree(got: np.ndarray, wanted: np.ndarray, ulps: float) -> np.ndarray:
    if got.dtype == bool:
        return got.view(np.uint8) == wanted.view(np.uint8)
    if got.dtype.kind in "iu":
        return got == wanted
    mine, theirs = got.astype(np.float64), wanted.astype(np.float64)
    same = ((mine == theirs) & (np.signbit(mine) == np.signbit(theirs))) | (np.isnan(mine) & np.isnan(theirs))
    if ulps:
        near = np.abs((ordered(got) - ordered(wanted)).astype(np.float64)) <= ulps
        same |= near & (np.signbit(mine) == np.signbit(theirs)) & ~np.isnan(mine) & ~np.isnan(theirs)
    return same
