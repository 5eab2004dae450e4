"""Functions of a module: the entry, its signature, and which arguments it writes."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from ...dsl.diagnostics import fail
from ...interpreter.hardware.hopper.tensor_maps import pointed
from ...interpreter.ir.functions import (
    KERNEL_OPERANDS,
    VERSION_OF,
    attributes_of,
    given_name,
    inputs_of,
    segments,
    symbol,
)
from ...interpreter.ir.mlir import ancestors, ir, operations
from ...interpreter.memory.effects import accesses, shows_memory
from ...interpreter.memory.table import CALLS, CONTROL
from ...interpreter.memory.views import VIEWS
from ..plan.dtypes import NUMPY, narrow, widen
from ..plan.signature import Argument, FunctionSignature


def functions(module: ir.Module) -> list[ir.Operation]:
    """The host functions with a body, in the module's order."""
    ops = (op.operation for op in module.body.operations)
    return [op for op in ops if op.name == "func.func" and has_body(op)]


def has_body(function: ir.Operation) -> bool:
    """Whether the function is defined here."""
    return len(function.regions[0].blocks) > 0


def is_public(function: ir.Operation) -> bool:
    """Whether the function is visible outside the module."""
    given = function.attributes.get("sym_visibility")
    return given is None or ir.StringAttr(given).value == "public"


def launches(function: ir.Operation) -> bool:
    """Whether the function launches a kernel."""
    return any(operations(function, "gpu.launch_func", "gpu.launch"))


def entry_function(module: ir.Module, entry: str | None) -> ir.Operation:
    """The function to run: the one named `entry`, else the only public one with launches, else the
    only public one.

    Errors: W0732, which lists the functions.
    """
    found = functions(module)
    listed = ", ".join(f"@{symbol(f)}" for f in found) or "none"
    if entry is not None:
        for function in found:
            if symbol(function) == entry.removeprefix("@"):
                return function
        raise fail("W0732", f"no function @{entry.removeprefix('@')} with a body; there are: {listed}")
    public = [f for f in found if is_public(f) and VERSION_OF not in f.attributes]
    candidates = [f for f in public if launches(f)] or public
    if len(candidates) == 1:
        return candidates[0]
    if not candidates:
        raise fail("W0732", f"no public function to run; functions with a body: {listed}")
    raise fail(
        "W0732",
        f"several functions could run: {', '.join('@' + symbol(f) for f in candidates)}",
        hint=f"choose one: `--entry {symbol(candidates[0])}`",
    )


def versions_of(module: ir.Module, function: ir.Operation) -> list[ir.Operation]:
    """The function, and the others that are versions of it, in their order."""
    name = ir.StringAttr.get(symbol(function), module.context)
    return [
        function,
        *(f for f in functions(module) if VERSION_OF in f.attributes and f.attributes[VERSION_OF] == name),
    ]


def signature(module: ir.Module, entry: str | None = None) -> FunctionSignature:
    """Names, types and roles of a function's arguments and results, in a payload or a scheduled
    module.

    Trailing out-arguments that represent results (`bufferize.result`) are results here, so that
    both sides of a comparison use the same names. Errors: W0732, W0733 (a type that no array can be
    passed for).
    """
    function = entry_function(module, entry)
    arguments: list[Argument] = []
    results: list[Argument] = []
    for i, (name, is_result) in enumerate(zip(argument_names(function), out_arguments(function), strict=True)):
        value = function.regions[0].blocks[0].arguments[i]
        dtype, shape = array_type(value.type, f"argument {i} of @{symbol(function)}")
        if is_result:
            results.append(Argument(name, dtype, shape, "output"))
        else:
            written = isinstance(value.type, ir.MemRefType) and is_written(value)
            arguments.append(Argument(name, dtype, shape, "inout" if written else "input"))
    kind = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    for i, type_of_result in enumerate(kind.results):
        dtype, shape = array_type(type_of_result, f"a result of @{symbol(function)}")
        name = given_name(function, i, "res_attrs") or f"result{len(results)}"
        results.append(Argument(name, dtype, shape, "output"))
    # element types that the function, and all functions that it may call or launch, computes with
    calls = any(operations(function, "func.call", "gpu.launch_func"))
    values = (result for op in operations(module.operation if calls else function) for result in op.results)
    kinds = {v.type for v in values}
    touched = frozenset(str(ir.ShapedType(k).element_type if isinstance(k, ir.ShapedType) else k) for k in kinds)
    return FunctionSignature(symbol(function), tuple(arguments), tuple(results), touched)


def argument_names(function: ir.Operation) -> list[str]:
    """`weft.name` of each argument, else `arg0` …, or `result0` … for those that represent results."""
    names: list[str] = []
    results = 0
    for i, is_result in enumerate(out_arguments(function)):
        names.append(given_name(function, i) or (f"result{results}" if is_result else f"arg{i}"))
        results += is_result
    if len(set(names)) < len(names):
        raise fail("W0733", f"two arguments of @{symbol(function)} have the same name: {', '.join(names)}")
    return names


def out_arguments(function: ir.Operation) -> list[bool]:
    """For each argument, whether it represents a result."""
    return ["bufferize.result" in attributes_of(function, i) for i in range(inputs_of(function))]


def array_type(type_: ir.Type, what: str) -> tuple[str, tuple[int | None, ...] | None]:
    """The element type and the shape (None: a scalar) of a memref, tensor or scalar; W0733 for any
    other type."""
    element, shape = type_, None
    if isinstance(type_, ir.MemRefType | ir.RankedTensorType):
        element = type_.element_type
        shape = tuple(None if type_.is_dynamic_dim(i) else type_.get_dim_size(i) for i in range(type_.rank))
    if str(element) not in NUMPY:
        hint = (
            "pass the real and the imaginary part as two arguments, such as `memref<8xf32>`"
            if "complex" in str(element)
            else None
        )
        raise fail(
            "W0733", f"{what} is {type_}: no array can be passed for it", hint, notes=(f"types: {', '.join(NUMPY)}",)
        )
    return str(element), shape


def is_written(value: ir.Value, seen: frozenset[str] = frozenset()) -> bool:
    """Whether any op may write to the memory of the memref `value`. An unknown user counts as a
    writer."""
    return any(_writes(use.owner.operation, use.operand_number, seen) for use in value.uses)


def _writes(op: ir.Operation, position: int, seen: frozenset[str]) -> bool:
    if op.name in CALLS:
        return any(_callee_writes(op, position, seen))
    value, found = pointed(op.operands[position]), accesses(op)
    if found is None or op.name == "memref.extract_aligned_pointer_as_index":
        return True
    if any(a.kind in ("write", "atomic") and a.value == value for a in found):
        return True
    if op.name in VIEWS or op.name == "arith.select":
        return any(is_written(result, seen) for result in op.results if position == 0 or op.name not in VIEWS)
    if not shows_memory(value):  # a tensor of the buffer's contents, which bufferization may write in place
        inputs = len(segments(op)[0]) if op.name.startswith("linalg.") else 0
        return position >= inputs
    return op.name in CONTROL and op.name != "func.return"


def _callee_writes(op: ir.Operation, position: int, seen: frozenset[str]) -> Iterator[bool]:
    """Whether the callee writes to the argument in operand `position`; True if it is unknown."""
    callee, index = callee_of(op, position)
    if callee is None or not has_body(callee):
        yield True
    elif index is not None and (key := f"{symbol(callee)}:{index}:{op.name}") not in seen:
        yield is_written(callee.regions[0].blocks[0].arguments[index], seen | {key})


def callee_of(op: ir.Operation, position: int = 0) -> tuple[ir.Operation | None, int | None]:
    """The callee of a `func.call` or `gpu.launch_func`, and its argument for operand `position`."""
    *_, root = ancestors(op)
    if op.name == "func.call":
        wanted = ir.FlatSymbolRefAttr(op.attributes["callee"]).value
        return _named(root, "func.func", wanted), position
    outer, inner = ir.SymbolRefAttr(op.attributes["kernel"]).value
    groups = segments(op)
    index = position - sum(map(len, groups[:KERNEL_OPERANDS]))
    passed = 0 <= index < len(groups[KERNEL_OPERANDS])
    container = _named(root, "gpu.module", outer)
    return None if container is None else _named(container, "gpu.func", inner), index if passed else None


def _named(holder: ir.Operation, kind: str, name: str) -> ir.Operation | None:
    """The op of that kind and symbol directly in a module: symbols are looked up there, not in
    nested regions."""
    for view in holder.regions[0].blocks[0].operations:
        if view.operation.name == kind and symbol(view.operation) == name:
            return view.operation
    return None


RAW = re.compile(r'dense<"0x([0-9A-Fa-f]*)">')
NUMBER = re.compile(r"0x[0-9A-Fa-f]+|[-+]?[0-9][0-9.]*(?:[eE][-+]?[0-9]+)?")


def constant_array(attribute: ir.Attribute | None, dtype: str) -> np.ndarray | None:
    """The elements of a dense attribute in NumPy's type of `dtype`, in its shape; None if they are
    not known."""
    if attribute is None or not isinstance(attribute, ir.DenseFPElementsAttr | ir.DenseIntElementsAttr):
        return None
    if attribute.type.element_type != ir.BF16Type.get(attribute.context):
        return narrow(np.array(attribute), dtype)
    shape = [attribute.type.get_dim_size(i) for i in range(attribute.type.rank)]
    if attribute.is_splat:
        return narrow(np.full(shape, ir.FloatAttr(attribute.get_splat_value()).value), dtype)
    return narrow(_bf16(str(attribute)).reshape(shape), dtype)


def _bf16(text: str) -> np.ndarray:
    """The elements of a printed bf16 attribute, which the bindings cannot read: all bytes in hex,
    or one by one."""
    raw = RAW.match(text)
    if raw is not None:
        return widen(np.frombuffer(bytes.fromhex(raw[1]), "<u2"), "bf16")
    numbers = NUMBER.findall(text[: text.rindex(":")].removeprefix("dense"))
    bits = [int(n, 16) if n.startswith("0x") else None for n in numbers]
    decimals = np.array([float(n) if b is None else 0.0 for n, b in zip(numbers, bits, strict=True)], np.float32)
    rounded = widen(narrow(decimals, "bf16"), "bf16")  # six printed digits identify a bf16
    special = widen(np.array([b or 0 for b in bits], np.uint16), "bf16")
    return np.where([b is not None for b in bits], special, rounded)
