"""Converts a module that launches kernels to a module for the CPU: a launch becomes the call of a
function with loops over grid and block.

Async tokens are erased, since the ops run in program order; `weft verify` checks whether the tokens
enforce that order. This module shares no code with the simulator, so that each is an independent
witness.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...interpreter.hardware.ampere.copies import is_token
from ...interpreter.ir.copying import fill_with
from ...interpreter.ir.functions import launch_sizes, symbol
from ...interpreter.ir.mlir import ancestors, arith, func, ir, memref, operations, run_passes, users
from ...interpreter.memory.layouts import is_shared
from ..cuda.module import kernel_functions
from ..form.kernel_form import PRINTF
from ..host.functions import callee_of
from .kernel import SHARED, serial_function
from .limits import NotLoopsError
from .threads import constant
from .warps import split_matrices, split_shuffles
from .widening import change_types, copy_at_once

TOKEN = "!gpu.async.token"


def serialize_launches(module: ir.Module) -> None:
    """Rewrites the module in place; a module without launches and device memory stays unchanged.

    Raises `NotLoopsError` for launches that loops cannot express.
    """
    if not any(op.name.startswith("gpu.") for op in operations(module.operation)):
        return
    if any(operations(module.operation, "gpu.launch")):
        run_passes(module, "gpu-kernel-outlining")
    for op in operations(module.operation, PRINTF):  # no result depends on it
        op.erase()
    _plain(module)
    with module.context, ir.Location.unknown():
        _host(module)
        for op in operations(module.operation, "gpu.module"):
            op.erase()


def keep_kernels(module: ir.Module, symbols: Sequence[str]) -> list[func.FuncOp]:
    """Reduces the module to its globals and these kernels (`gpu_module::function`), each as a
    public function of loops.

    Raises `NotLoopsError`.
    """
    found = {each.symbol: each.op for each in kernel_functions(module)}
    _plain(module)
    with module.context, ir.Location.unknown():
        made = [serial_function(module, found[s], f"weft_kernel{number}") for number, s in enumerate(symbols)]
        for function in made:
            function.operation.attributes["sym_visibility"] = ir.StringAttr.get("public")
        kept = {function.operation for function in made}
        for op in list(module.body.operations):
            if op.operation.name != "memref.global" and op.operation not in kept:
                op.operation.erase()
    return made


# ---- types ----------------------------------------------------------------------------------------------------------


def _plain(module: ir.Module) -> None:
    """Removes affine ops, asynchronous copies, `ldmatrix` and shuffles from kernels, and all memory
    spaces."""
    copy_at_once(module)
    split_matrices(module)
    split_shuffles(module)
    if any(operations(module.operation, "gpu.module")):
        run_passes(module, "gpu.module(lower-affine)")
    with module.context, ir.Location.unknown():
        _globals_outside(module)
        for kernel in operations(module.operation, "gpu.func"):
            _mark_shared(kernel)
        # memory spaces are dropped; a token, also one carried by loops and calls, becomes an unused i1
        change_types(module, _plain_type)
        for op in operations(module.operation, "memref.memory_space_cast"):
            op.results[0].replace_all_uses_with(op.operands[0])
            op.erase()


def _mark_shared(kernel: ir.Operation) -> None:
    """Marks allocations of shared memory, before memory spaces are dropped. Other allocations of
    constant size become `alloca`s: their lifetime ends with the thread."""
    for op in operations(kernel, "memref.alloc", "memref.alloca"):
        (memory,) = op.results
        if is_shared(memory.type):
            op.attributes[SHARED] = ir.UnitAttr.get()
        if op.operands and SHARED in op.attributes:
            raise NotLoopsError(op, "shared memory of dynamic size: on the CPU its size must be constant")
        if op.operands:
            continue
        for user in users(memory):
            if user.name == "memref.dealloc":
                user.erase()
        if op.name == "memref.alloc" and SHARED not in op.attributes:
            with ir.InsertionPoint(op), op.location:
                memory.replace_all_uses_with(memref.alloca(memory.type, [], []))
            op.erase()


def _globals_outside(module: ir.Module) -> None:
    """Moves the constants of a `gpu.module` out of it, and prefixes their names with the module's
    name."""
    for holder in operations(module.operation, "gpu.module"):
        for op in operations(holder, "memref.global"):
            name = symbol(op)
            wanted = f"{symbol(holder)}__{name}"
            for use in operations(holder, "memref.get_global"):
                if ir.FlatSymbolRefAttr(use.attributes["name"]).value == name:
                    use.attributes["name"] = ir.FlatSymbolRefAttr.get(wanted)
            op.attributes["sym_name"] = ir.StringAttr.get(wanted)
            op.move_before(holder)


def _plain_type(type_: ir.Type) -> ir.Type:
    if isinstance(type_, ir.MemRefType) and type_.memory_space is not None:
        shape = [type_.get_dim_size(i) for i in range(type_.rank)]
        return ir.MemRefType.get(shape, type_.element_type, type_.layout)
    return ir.IntegerType.get_signless(1) if str(type_) == TOKEN or is_token(type_) else type_


# ---- the host -------------------------------------------------------------------------------------------------------


def _host(module: ir.Module) -> None:
    """Replaces each device op of the host by its effect. The op of an id is kept outside of
    kernels, so that linking reports it."""
    made: dict[str, func.FuncOp] = {}
    found = operations(module.operation, *RULES)
    for op in [op for op in found if all(around.name != "gpu.func" for around in ancestors(op))]:
        with ir.InsertionPoint(op), op.location:
            results = RULES[op.name](module, op, made)
            if len(op.results) > len(results):
                unused = arith.constant(ir.IntegerType.get_signless(1), ir.BoolAttr.get(False))
                results = [*results, unused]
            for old, new in zip(op.results, results, strict=True):
                old.replace_all_uses_with(new)
        op.erase()


def _launch(module: ir.Module, op: ir.Operation, made: dict[str, func.FuncOp]) -> list[ir.Value]:
    view: Any = op.opview
    outer, inner = ir.SymbolRefAttr(op.attributes["kernel"]).value
    kernel, _ = callee_of(op)
    if kernel is None or not len(kernel.regions[0].blocks):
        raise NotLoopsError(op, f"the payload launches @{outer}::@{inner}, which it does not have")
    if view.clusterSizeX is not None or view.asyncObject is not None:
        raise NotLoopsError(op, "on the CPU there are no clusters and no streams that a caller gives")
    key = f"{outer}::{inner}"
    if key not in made:
        made[key] = serial_function(module, kernel, _free_name(module, f"{outer}__{inner}"))
    sizes = [_index(v) for v in launch_sizes(op)]
    shared = view.dynamicSharedMemorySize
    size = constant(0) if shared is None else _index(shared)
    given = view.kernelOperands
    blocks = arith.muli(arith.muli(sizes[0], sizes[1]), sizes[2])
    operands = [constant(0), blocks, *sizes, size, *given]
    if [v.type for v in operands] != list(made[key].type.inputs):
        raise NotLoopsError(op, f"the payload launches @{outer}::@{inner} with arguments that do not fit it")
    func.CallOp([], ir.FlatSymbolRefAttr.get(symbol(made[key])), operands)
    return []


def _index(value: ir.Value) -> ir.Value:
    return value if isinstance(value.type, ir.IndexType) else arith.index_cast(ir.IndexType.get(), value)


def _free_name(module: ir.Module, wanted: str) -> str:
    taken = {symbol(o.operation) for o in module.body.operations if "sym_name" in o.operation.attributes}
    while wanted in taken:
        wanted += "_"
    return wanted


def _other(module: ir.Module, op: ir.Operation, made: dict[str, func.FuncOp]) -> list[ir.Value]:
    """Replaces memory ops of the host by those of a processor that executes all ops in order."""
    view: Any = op.opview
    match op.name:
        case "gpu.alloc":
            return [memref.alloc(op.results[0].type, view.dynamicSizes, view.symbolOperands)]
        case "gpu.dealloc":
            memref.dealloc(view.memref)
        case "gpu.memcpy":
            memref.copy(view.src, view.dst)
        case "gpu.memset":
            fill_with(view.dst, view.value)
    return []


RULES: dict[str, Callable[[ir.Module, ir.Operation, dict[str, ir.Operation]], list[ir.Value]]] = {
    "gpu.launch_func": _launch,
    **dict.fromkeys(("gpu.alloc", "gpu.dealloc", "gpu.memcpy", "gpu.memset", "gpu.wait"), _other),
    **dict.fromkeys(("gpu.host_register", "gpu.host_unregister", "gpu.set_default_device"), _other),
}
