"""Names of buffers: `weft.name`, on an argument's attributes or on the op that allocates.

Remarks, diagnostics, the proof, the simulator, plans, IR and CUDA text all take a buffer's name
from there (`ir/functions.py` reads it). An argument has its name in the payload's text. A buffer
that Weft allocates is named after the payload's value that it holds: after bufferization of `%S =
linalg.generic …` it is `S`. Where the text has only a number (`%3`), it is `temp0`, ….
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from itertools import chain, count, takewhile

from ..ir.functions import (
    ATTRIBUTIONS,
    NAME,
    arguments,
    attributes_of,
    callee,
    given_name,
    inputs_of,
    name_of,
    set_name,
    symbol,
)
from ..ir.mlir import ancestors, ir, operations
from .effects import accesses, is_memref
from .table import ALLOCATIONS
from .views import root_memref, stored_name

Written = Callable[["ir.Location"], Sequence[str]]
"""The names in the payload's text of the results of the op at a location; empty if it has none, or
numbers."""
Elsewhere = Callable[[str], Set[str]]
"""The names used in a function of which the module at hand has a part."""


def nameless(place: ir.Location) -> Sequence[str]:
    """No names, for a payload without text."""
    return ()


def name_buffers(module: ir.Module, written: Written = nameless, elsewhere: Elsewhere = lambda _: frozenset()) -> None:
    """Names all buffers without a name: allocations in functions and kernels, then kernels'
    arguments, each after the value passed for it."""
    for function in operations(module.operation, "func.func", "gpu.func"):
        allocations = list(operations(function, *ALLOCATIONS))
        if unnamed := [op for op in allocations if NAME not in op.attributes]:
            taken = {given_name(function, number) for number in range(inputs_of(function))}
            taken.update(name_of(op.results[0]) for op in allocations)
            taken |= elsewhere(symbol(function))
            held = _values_held(function, written)
            for op in unnamed:
                base = held.get(op.results[0]) or next(iter(written(op.location)), None)
                whole = base is not None and base in taken  # the buffer of all of it is there as well
                tile = whole and op.parent.operation.name != "func.func"
                name = next(name for name in numbered(f"{base}_tile" if tile else base) if name not in taken)
                taken.add(name)
                set_name(op, name)
    _name_arguments(module)


def _values_held(function: ir.Operation, written: Written) -> dict[ir.Value, str]:
    """Buffer → the name of the last named value that is written into it."""
    held: dict[ir.Value, str] = {}
    for op in operations(function):
        into = [access.value for access in accesses(op) or () if access.kind == "write"]
        names = written(op.location) if into else ()
        held.update(
            (root_memref(value), names[min(n, len(names) - 1)]) for n, value in enumerate(into if names else ())
        )
    return held


def _name_arguments(module: ir.Module) -> None:
    """Names the arguments of kernels, which outlining passes leave without names."""
    if not any(operations(module.operation, "gpu.func")):
        return
    launches: dict[str, list[ir.Operation]] = {}
    for launch in operations(module.operation, "gpu.launch_func"):
        launches.setdefault(callee(launch), []).append(launch)
    for holder in operations(module.operation, "gpu.module") if launches else ():
        for kernel in operations(holder, "gpu.func"):
            given = [dict(attributes_of(kernel, number)) for number in range(inputs_of(kernel))]
            if not given or any(NAME in attributes for attributes in given):
                continue
            passed = [
                list(map(buffer_name, arguments(launch)))
                for launch in launches.get(f"{symbol(holder)}::{symbol(kernel)}", ())
            ]
            for number, attributes in enumerate(given):
                names = {names[number] for names in passed}
                name = names.pop() if len(names) == 1 else None
                if name is not None and all(NAME not in a or ir.StringAttr(a[NAME]).value != name for a in given):
                    attributes[NAME] = ir.StringAttr.get(name, module.context)
            kernel.attributes["arg_attrs"] = _dictionaries(given, module.context)


def _dictionaries(entries: Sequence[dict[str, ir.Attribute]], context: ir.Context) -> ir.ArrayAttr:
    return ir.ArrayAttr.get([ir.DictAttr.get(entry, context) for entry in entries], context)


def buffer_name(value: ir.Value) -> str | None:
    """The name of a memref's buffer; of a constant, its symbol."""
    return (name_of(root_memref(value)) or stored_name(root_memref(value))) if is_memref(value) else None


def rename_buffers(kernel: ir.Operation, names: Mapping[str, str]) -> None:
    """Renames the arguments of a kernel, and the buffers in it."""

    def renamed(name: ir.Attribute) -> ir.Attribute:
        old = ir.StringAttr(name).value
        return ir.StringAttr.get(names.get(old, old), kernel.context)

    for key in ("arg_attrs", *ATTRIBUTIONS):
        if key in kernel.attributes:
            given = map(ir.DictAttr, ir.ArrayAttr(kernel.attributes[key]))
            kernel.attributes[key] = _dictionaries(
                [{a.name: renamed(a.attr) if a.name == NAME else a.attr for a in entry} for entry in given],
                kernel.context,
            )
    for op in operations(kernel, *ALLOCATIONS):
        if NAME in op.attributes:
            op.attributes[NAME] = renamed(op.attributes[NAME])


def free_name(op: ir.Operation, base: str) -> str:
    """`base`, or `base` with a number where another buffer in the loops around `op` has that name."""
    *_, root = (op, *takewhile(lambda around: around.name != "func.func", ancestors(op)))
    taken = {name_of(other.results[0]) for other in operations(root, *ALLOCATIONS)}
    return next(name for name in numbered(base) if name not in taken)


def numbered(base: str | None) -> Iterator[str]:
    """`base`, `base_2`, `base_3`, …; without one `temp0`, `temp1`, …"""
    if base is None:
        return (f"temp{number}" for number in count())
    return chain([base], (f"{base}_{number}" for number in count(2)))
