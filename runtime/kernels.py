"""The kernels of a module, and the names by which the host plan, the CUDA text and the simulator all know them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ..interpreter import mlir
from ..interpreter.mlir import ir


@dataclass(frozen=True)
class KernelFunction:
    """A `gpu.func … kernel`.

    `symbol` is `gpu_module::function`; `name` is its name in the CUDA text and in the plan: the function's own, or
    `gpu_module_function` where several `gpu.module`s have a kernel of that name.
    """

    op: ir.Operation
    symbol: str
    name: str


def kernel_functions(module: ir.Module) -> list[KernelFunction]:
    """All kernels of the module, in its order."""
    found: list[tuple[str, str, ir.Operation]] = []
    for container in mlir.operations(module.operation, "gpu.module"):
        outer = ir.StringAttr(container.attributes["sym_name"]).value
        for function in mlir.operations(container, "gpu.func"):
            if "gpu.kernel" in function.attributes or "kernel" in function.attributes:
                found.append((outer, ir.StringAttr(function.attributes["sym_name"]).value, function))
    uses = Counter(name for _, name, _ in found)
    return [
        KernelFunction(op, f"{outer}::{name}", name if uses[name] == 1 else f"{outer}_{name}")
        for outer, name, op in found
    ]
