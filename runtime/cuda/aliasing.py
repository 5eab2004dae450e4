"""Which arguments of a kernel may be the same memory, because a launch passes one buffer twice."""

from __future__ import annotations

from itertools import combinations

from ...interpreter.ir.mlir import ir, operations
from ...interpreter.memory.effects import is_memref
from ...interpreter.memory.views import may_share


def overlapping_arguments(module: ir.Module) -> dict[str, list[set[int]]]:
    """By kernel symbol, `module::function`: the sets of arguments that may have one buffer in some launch."""
    found: dict[str, list[set[int]]] = {}
    for launch in operations(module.operation, "gpu.launch_func"):
        symbol = "::".join(ir.SymbolRefAttr(launch.attributes["kernel"]).value)
        memrefs = [(number, value) for number, value in enumerate(_kernel_operands(launch)) if is_memref(value)]
        pairs = [{i, j} for (i, one), (j, other) in combinations(memrefs, 2) if may_share(one, other)]
        found.setdefault(symbol, []).extend(pairs)
    return found


def _kernel_operands(launch: ir.Operation) -> list[ir.Value]:
    """async dependencies, grid, block, cluster, dynamic shared size, *kernel operands*, async object."""
    segments = list(ir.DenseI32ArrayAttr(launch.attributes["operandSegmentSizes"]))
    first = sum(segments[:-2])
    return list(launch.operands)[first : first + segments[-2]]
