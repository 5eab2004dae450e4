"""`versions { … } else { … }`: the payload is scheduled once for each block, in functions of their own, of which the host runs one.

Each block starts from the module in front of them. The functions of the second version are called `f_v2`, and say of which function
they are a version; in the end all functions and kernels stand in one module, those of the first version under their own names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...dsl import tree
from ...dsl.diagnostics import fail
from ...dsl.scopes import Gone
from ..focus.carving import Version
from ..ir.cloning import clone_module
from ..ir.functions import MULTIPLES, VERSION_OF, attributes_of, inputs_of, symbol
from ..ir.mlir import attributes, ir, operations
from .environment import named_handles
from .state import Frame, State


@dataclass(frozen=True)
class Fork:
    """A `versions` and how far the walk is in it: on the frame of a block.

    Args:
        before: the state in front of it, with the frames behind it.
        number: of the block, from 0.
        made: the modules that the blocks before have made.
    """

    item: tree.Versions
    before: State
    number: int = 0
    made: tuple[ir.Module, ...] = ()

    def enter(self, state: State) -> State:
        """In front of the block's first item."""
        before = self.before
        version = before.version if self.number == 0 else Version(_another(before.module, self.number + 1))
        frame = Frame(self.item.blocks[self.number], dict(before.frames[-1].env), fork=self)
        return replace(state, version=version, frames=(*before.frames, frame), dead=before.dead)

    def leave(self, state: State) -> State:
        """In front of the next block; behind the last one, with all versions in one module. Raises W0463."""
        made = (*self.made, state.module)
        if len(made) < len(self.item.blocks):
            return replace(self, number=self.number + 1, made=made).enter(state)
        for number, module in enumerate(made[:-1], 1):
            if not any(_assumes(function) for function in _versions_in(module, number)):
                block = self.item.blocks[number - 1]
                message = f"version {number} assumes nothing of sizes, so that no run takes one behind it"
                hint = "state with `assume` what it is for; the last version may be for all that is left"
                raise fail("W0463", message, hint, span=block[0].span if block else self.item.span)
        gone = Gone("`versions`", self.item.span)
        handles = {handle.number: gone for _, handle in named_handles(self.before.frames[-1].env)}
        version = Version(_together(made, self.item))
        return replace(state, version=version, frames=self.before.frames, dead={**self.before.dead, **handles})


def _functions(module: ir.Module) -> list[ir.Operation]:
    return [f for f in operations(module.operation, "func.func") if len(f.regions[0].blocks)]


def _another(module: ir.Module, number: int) -> ir.Module:
    """A copy whose functions are versions of those that there are."""
    made = clone_module(module)
    taken = {symbol(op) for op in made.body.operations if "sym_name" in op.operation.attributes}
    names: dict[str, str] = {}
    with made.context:
        for function in _functions(made):
            own = symbol(function)
            name = names[own] = next(n for k in range(len(taken) + 1) if (n := f"{own}_v{number}{'_' * k}") not in taken)
            function.attributes["sym_name"] = ir.StringAttr.get(name)
            function.attributes[VERSION_OF] = ir.StringAttr.get(own)
        for call in operations(made.operation, "func.call"):
            callee = ir.FlatSymbolRefAttr(call.attributes["callee"]).value
            call.attributes["callee"] = ir.FlatSymbolRefAttr.get(names.get(callee, callee))
    return made


def _versions_in(module: ir.Module, number: int) -> list[ir.Operation]:
    """The functions of the version with this number, from 1, in the module that its block has made."""
    return [f for f in _functions(module) if (VERSION_OF in f.attributes) == (number > 1)]


def _assumes(function: ir.Operation) -> bool:
    return any(MULTIPLES in attributes_of(function, number) for number in range(inputs_of(function)))


def _together(modules: Sequence[ir.Module], item: tree.Versions) -> ir.Module:
    """All functions and kernels in one module; what is the same in several is there once. Raises W0464."""
    first, *others = modules
    made = clone_module(first)
    there = {symbol(op): op.operation for op in made.body.operations if "sym_name" in op.operation.attributes}
    with made.context:
        for other in others:
            for name, attribute in attributes(other.operation).items():
                made.operation.attributes[name] = attribute
            for op in other.body.operations:
                known = there.get(symbol(op)) if "sym_name" in op.operation.attributes else None
                if known is None:
                    made.body.append(op.operation.clone())
                elif str(known) != str(op.operation):
                    message = f"@{symbol(op)} is the payload's, and not the same in all versions"
                    raise fail("W0464", message, "change it in front of `versions`", span=item.span)
    return made
