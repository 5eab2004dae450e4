"""Functions made kernels: each of one block becomes a `gpu.func` with its arguments, so that the analysis, the emitter and the
simulator meet the ops that upstream's tests have in plain functions.

    func.func @f(%a: memref<4xf32>) -> f32 { … return %v : f32 }   →   gpu.func @f(%a: memref<4xf32>) kernel { … gpu.return }
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.dsl.diagnostics import Diagnostic, WeftError, fail
from weft.interpreter.ir.mlir import ir, operations, run_passes
from weft.runtime.cuda.function import write_function
from weft.runtime.cuda.module import Unit, kernel_functions
from weft.runtime.plan.dtypes import NUMPY
from weft.runtime.simulator.kernel import Budget, SimKernel

BLOCK = (4, 2, 1)
DYNAMIC_EXTENT = 6
SECONDS = 5.0


def as_kernels(module: ir.Module) -> str | None:
    """The module's text with its functions as kernels; None where it has none of one block. `module` is used up."""
    with module.context, ir.Location.unknown():
        functions = [f for f in operations(module.operation, "func.func") if len(f.regions[0].blocks) == 1]
        kept = [f for f in functions if f.parent == module.operation]
        if not kept:
            return None
        for number, function in enumerate(kept):
            body = function.regions[0].blocks[0]
            types = ", ".join(f"%a{i}: {a.type}" for i, a in enumerate(body.arguments))
            size = ", ".join(map(str, BLOCK))
            known = f"attributes {{known_block_size = array<i32: {size}>}}"
            text = f"gpu.module @made_{number} {{ gpu.func @kernel_{number}({types}) kernel {known} {{ gpu.return }} }}"
            try:
                made = ir.Module.parse(text)
            except ir.MLIRError:  # a type that can be written in one place alone
                return None
            (kernel,) = operations(made.operation, "gpu.func")
            target = kernel.regions[0].blocks[0]
            end = target.operations[len(target.operations) - 1]
            for old, new in zip(body.arguments, target.arguments, strict=True):
                old.replace_all_uses_with(new)
            for op in list(body.operations)[:-1]:
                op.operation.move_before(end)
            module.body.append(made.body.operations[0].operation.clone())
            function.erase()
        return str(module)


def with_each(module: ir.Module, do: Callable[[ir.Operation], None]) -> None:
    """`do` for each kernel of a module, launches outlined before. Raises all that is refused, in a `WeftError`."""
    try:
        run_passes(module, "gpu-kernel-outlining")
    except ir.MLIRError as error:
        raise fail("W0487", f"upstream cannot outline it: {error}") from error
    refused: list[Diagnostic] = []
    for kernel in kernel_functions(module):
        try:
            do(kernel.op)
        except WeftError as error:
            refused += error.diagnostics
    if refused:
        raise WeftError(*refused)


def emitted(kernel: ir.Operation) -> None:
    """The CUDA text of one kernel. Raises `WeftError`."""
    write_function(kernel, "k", Unit().constant, [])


def simulated(kernel: ir.Operation) -> None:
    """One kernel run on two blocks. Memrefs and numbers of one are what it gets. Raises `WeftError`."""
    made = SimKernel(kernel)
    arguments = [_given(a.type) for a in kernel.regions[0].blocks[0].arguments][: len(made.arguments)]
    made.launch((2, 1, 1), made.known_block or BLOCK, arguments, budget=Budget(SECONDS))


def _given(kind: ir.Type) -> Any:
    if isinstance(kind, ir.MemRefType):
        shape = tuple(DYNAMIC_EXTENT if kind.is_dynamic_dim(d) else kind.get_dim_size(d) for d in range(kind.rank))
        return np.ones(shape, NUMPY[str(kind.element_type)])
    if str(kind) not in NUMPY:
        raise fail("W0487", f"there is no argument of type {kind} to give")
    return NUMPY[str(kind)].type(1)
