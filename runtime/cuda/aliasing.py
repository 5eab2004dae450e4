"""Which arguments of a kernel may be the same memory, because a launch passes one buffer twice."""

from __future__ import annotations

from ...interpreter.mlir import ir, operations

VIEWS = frozenset(
    """memref.subview memref.cast memref.reinterpret_cast memref.collapse_shape memref.expand_shape memref.view
    memref.memory_space_cast memref.transpose memref.assume_alignment memref.extract_strided_metadata""".split()  # noqa: SIM905
)


def overlapping_arguments(module: ir.Module) -> dict[str, list[set[int]]]:
    """By kernel symbol, `module::function`: the sets of arguments that have one buffer in some launch."""
    found: dict[str, list[set[int]]] = {}
    for launch in operations(module.operation, "gpu.launch_func"):
        symbol = "::".join(ir.SymbolRefAttr(launch.attributes["kernel"]).value)
        by_root: dict[ir.Value, set[int]] = {}
        for number, value in enumerate(_kernel_operands(launch)):
            if not isinstance(value.type, ir.MemRefType):
                continue
            by_root.setdefault(_root(value), set()).add(number)
        found.setdefault(symbol, []).extend(group for group in by_root.values() if len(group) > 1)
    return found


def _kernel_operands(launch: ir.Operation) -> list[ir.Value]:
    """async dependencies, grid, block, cluster, dynamic shared size, *kernel operands*, async object."""
    segments = list(ir.DenseI32ArrayAttr(launch.attributes["operandSegmentSizes"]))
    first = sum(segments[:-2])
    return list(launch.operands)[first : first + segments[-2]]


def _root(value: ir.Value) -> ir.Value:
    owner = value.owner
    while not isinstance(owner, ir.Block) and owner.operation.name in VIEWS:
        value = owner.operation.operands[0]
        owner = value.owner
    return value
