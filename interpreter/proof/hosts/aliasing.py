"""Arguments of a host function that may be the same memory, and who touched them.

A caller may pass one array twice, or two windows that overlap: nothing in the function tells. That an argument shares nothing
is said by `llvm.noalias` on it (the standard attribute; `async-fork noalias` sets it), or known: Weft makes the
buffers of results itself (`bufferize.result`). Tensors are values: bufferization never writes into the buffer of an argument
that was one, and reads need no order. Element types prove nothing, as memory has none.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from ....dsl.diagnostics import fail
from ...ir import mlir
from ...ir.functions import argument_attributes, maker, symbol
from ...ir.mlir import ir
from ...memory.effects import is_memref
from .windows import HostBuffer

NOALIAS = "llvm.noalias"
OWN = (NOALIAS, "bufferize.result")
"""Attributes of arguments that overlap nothing else."""


@dataclass(eq=False)
class Aliasing:
    """Which buffers of a module's host functions may overlap others from outside.

    Args:
        module: a module; it must not change while this is used.
        distinct: arguments of which it is stated that they overlap nothing else.
    """

    module: ir.Module
    distinct: Collection[ir.Value] = ()
    _known: dict[HostBuffer, bool] = field(default_factory=dict)

    def loose(self, buffer: HostBuffer) -> bool:
        """Whether the buffer may overlap any other of which this is true."""
        if buffer not in self._known:
            self._known[buffer] = self._may_overlap(buffer)
        return self._known[buffer]

    def _may_overlap(self, buffer: HostBuffer) -> bool:
        if isinstance(buffer.key, str):
            return not self._is_constant(buffer.key)
        if buffer.kind != "argument" or buffer.key in self.distinct:
            return False
        return argument_attributes(buffer.key).keys().isdisjoint(OWN)

    def _is_constant(self, name: str) -> bool:
        """Whether a global is one that nobody may write."""
        for op in mlir.operations(self.module.operation, "memref.global"):
            if symbol(op) == name:
                return "constant" in op.attributes
        return False


def stated(functions: Sequence[ir.Operation], names: Sequence[str]) -> dict[ir.Value, str]:
    """The arguments called `names`, with their names; all, if there are none.

    Raises:
        WeftError: W0435 for a name that no argument has.
    """
    arguments = {value: HostBuffer("argument", value).name for function in functions for value in memrefs(function)}
    unknown = [name for name in names if name.removeprefix("%") not in {n.removeprefix("%") for n in arguments.values()}]
    if unknown:
        listed = ", ".join(f"`{name}`" for name in dict.fromkeys(arguments.values()))
        raise fail("W0435", f"no argument that launches use is called `{unknown[0]}`", hint=f"there are {listed or 'none'}")
    wanted = {name.removeprefix("%") for name in names}
    return {value: name for value, name in arguments.items() if not names or name.removeprefix("%") in wanted}


def state(argument: ir.Value) -> None:
    """Mark an argument as memory that overlaps nothing else."""
    function = maker(argument)
    count = len(function.regions[0].blocks[0].arguments)
    given: list[ir.Attribute] = [ir.DictAttr.get({})] * count
    if "arg_attrs" in function.attributes:
        given = list(ir.ArrayAttr(function.attributes["arg_attrs"]))
    number = ir.BlockArgument(argument).arg_number
    given[number] = ir.DictAttr.get({**argument_attributes(argument), NOALIAS: ir.UnitAttr.get()})
    function.attributes["arg_attrs"] = ir.ArrayAttr.get(given)


def memrefs(function: ir.Operation) -> list[ir.Value]:
    return [value for value in function.regions[0].blocks[0].arguments if is_memref(value)]
