"""Arguments of a host function that may be the same memory, and who touched them.

A caller may pass one array twice, or two windows that overlap: nothing in the function tells. That an argument shares nothing
is said by `llvm.noalias` on it (the standard attribute; `async-fork noalias` sets it), or known: Weft makes the
buffers of results itself (`bufferize.result`). Tensors are values: bufferization never writes into the buffer of an argument
that was one, and reads need no order. Element types prove nothing, as memory has none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from ....dsl.diagnostics import fail
from ...ir import mlir
from ...ir.mlir import ir
from ...memory.effects import is_memref
from .windows import Buffer, argument_attributes

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
    _known: dict[Buffer, bool] = field(default_factory=dict)

    def loose(self, buffer: Buffer) -> bool:
        """Whether the buffer may overlap any other of which this is true."""
        if buffer not in self._known:
            self._known[buffer] = self._may_overlap(buffer)
        return self._known[buffer]

    def _may_overlap(self, buffer: Buffer) -> bool:
        if isinstance(buffer.key, str):
            return not self._is_constant(buffer.key)
        if buffer.kind != "argument" or buffer.key in self.distinct:
            return False
        attributes = argument_attributes(buffer.key)
        return attributes is None or not any(name in attributes for name in OWN)

    def _is_constant(self, name: str) -> bool:
        """Whether a global is one that nobody may write."""
        for op in mlir.operations(self.module.operation, "memref.global"):
            if ir.StringAttr(op.attributes["sym_name"]).value == name:
                return "constant" in op.attributes
        return False


def stated(functions: Sequence[ir.Operation], names: Sequence[str]) -> dict[ir.Value, str]:
    """The arguments called `names`, with their names; all, if there are none.

    Raises:
        WeftError: W0435 for a name that no argument has.
    """
    arguments = {value: Buffer("argument", value).name for function in functions for value in memrefs(function)}
    unknown = [name for name in names if name.removeprefix("%") not in {n.removeprefix("%") for n in arguments.values()}]
    if unknown:
        listed = ", ".join(f"`{name}`" for name in dict.fromkeys(arguments.values()))
        raise fail("W0435", f"no argument that launches use is called `{unknown[0]}`", hint=f"there are {listed or 'none'}")
    wanted = {name.removeprefix("%") for name in names}
    return {value: name for value, name in arguments.items() if not names or name.removeprefix("%") in wanted}


def state(argument: ir.Value) -> None:
    """Mark an argument as memory that overlaps nothing else."""
    function = argument.owner.owner.operation  # type: ignore[union-attr]
    count = len(function.regions[0].blocks[0].arguments)
    given: list[ir.Attribute] = [ir.DictAttr.get({})] * count
    if "arg_attrs" in function.attributes:
        given = list(ir.ArrayAttr(function.attributes["arg_attrs"]))
    number = ir.BlockArgument(argument).arg_number
    own = {named.name: named.attr for named in ir.DictAttr(given[number])}
    given[number] = ir.DictAttr.get({**own, NOALIAS: ir.UnitAttr.get()})
    function.attributes["arg_attrs"] = ir.ArrayAttr.get(given)


def memrefs(function: ir.Operation) -> list[ir.Value]:
    return [value for value in function.regions[0].blocks[0].arguments if is_memref(value)]


@dataclass
class Outside:
    """Who touched memory that may overlap: what an access of one buffer has to wait for, of those of the others.

    A write of one buffer comes behind all accesses of the others, so that whoever comes behind two writes of different buffers
    needs none of those any more: few are looked at, however many there are.

    Args:
        last: the buffer that was written last; `writes`: those who wrote it since another was written.
        earlier: who touched others before (`True`: wrote). Accesses of `last` wait for them; all others wait for `writes`.
        reads: who read each buffer since another was written.
        behind: by write of `last`, how many of `earlier` it waits for.
    """

    last: Buffer | None = None
    writes: list[int] = field(default_factory=list)
    earlier: list[tuple[int, Buffer, bool]] = field(default_factory=list)
    reads: dict[Buffer, list[int]] = field(default_factory=dict)
    behind: dict[int, int] = field(default_factory=dict)

    def before(self, buffer: Buffer, changes: bool, found: Collection[int]) -> Iterator[tuple[int, Buffer]]:
        """Whom an access of `buffer` waits for, and on which buffer. `found`: operations that it waits for anyway."""
        if buffer == self.last:
            start = max((self.behind.get(op, 0) for op in found), default=0)
            yield from ((op, other) for op, other, wrote in self.earlier[start:] if wrote or changes)
        elif self.last is not None:
            yield from ((op, self.last) for op in self.writes)
        if changes:
            for other, ops in self.reads.items():
                if other != buffer:
                    yield from ((op, other) for op in ops)

    def enter(self, buffer: Buffer, changes: bool, number: int) -> None:
        """Operation `number` touches `buffer` from now on."""
        if not changes:
            self.reads.setdefault(buffer, []).append(number)
            return
        if buffer != self.last:
            self.earlier = [(op, self.last, True) for op in self.writes if self.last is not None]
            self.last, self.writes, self.behind = buffer, [], {}
        for other in [b for b in self.reads if b != buffer]:
            self.earlier += [(op, other, False) for op in self.reads.pop(other)]
        self.writes.append(number)
        self.behind[number] = len(self.earlier)
