"""`versions { … } else { … }`: the payload is scheduled once for each block, in functions of their own, of which the host runs one.

Each block starts from the module in front of them. The functions of the second version are called `f_v2`, and say of which function
they are a version; in the end all functions and kernels stand in one module, those of the first version under their own names.

What a block assumes of a size that the payload says is decided at once: where it does not hold, there is no such version; and
a version of which nothing is left to be checked is the last one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...dsl import tree
from ...dsl.diagnostics import fail
from ...dsl.scopes import Gone
from ..focus.carving import Version
from ..ir.cloning import clone_module
from ..ir.functions import ASSUMED, VERSION_OF, attributes_of, inputs_of, symbol
from ..ir.mlir import attributes, ir, operations
from .environment import named_handles
from .state import Frame, State
from .statement import NotMet

ASSUME = "assume"
"""The keyword of the statement that says what a version is for."""


@dataclass(frozen=True)
class Fork:
    """A `versions` and how far the walk is in it: on the frame of a block.

    Args:
        before: the state in front of it, with the frames behind it.
        number: of the block, from 0.
        made: the modules that the blocks before have made.
        assumes: something was assumed in the block.
    """

    item: tree.Versions
    before: State
    number: int = 0
    made: tuple[ir.Module, ...] = ()
    assumes: bool = False

    def enter(self, state: State) -> State:
        """In front of the block's first item."""
        before = self.before
        version = Version(_another(before.module, len(self.made) + 1)) if self.made else before.version
        frame = Frame(self.item.blocks[self.number], dict(before.frames[-1].env), fork=self)
        return replace(state, version=version, frames=(*before.frames, frame), dead=before.dead)

    def leave(self, state: State) -> State:
        """In front of the next block; behind the last one that a run may take, with all versions in one module. Raises W0463."""
        made, block = (*self.made, state.module), self.item.blocks[self.number]
        if self.last:
            return self._together(state, made)
        if not self.assumes:
            message = f"version {self.number + 1} assumes nothing of sizes, so that no run takes one behind it"
            hint = "state with `assume` what it is for; the last version may be for all that is left"
            raise fail("W0463", message, hint, span=block[0].span if block else self.item.span)
        if _assumed(state.module) != _assumed(self.before.module):
            return self._next(state, made)
        remark = "the payload meets all that this version assumes: those behind it are left out"
        step = state.step and replace(state.step, remarks=(*state.step.remarks, remark))
        return self._together(replace(state, step=step), made)

    def drop(self, state: State) -> State | None:
        """Behind the block, without its version; None where there is no other."""
        if self.last:
            return self._together(state, self.made) if self.made else None
        return self._next(state, self.made)

    @property
    def last(self) -> bool:
        return self.number + 1 == len(self.item.blocks)

    def _next(self, state: State, made: tuple[ir.Module, ...]) -> State:
        return Fork(self.item, self.before, self.number + 1, made).enter(state)

    def _together(self, state: State, made: tuple[ir.Module, ...]) -> State:
        gone = Gone("`versions`", self.item.span)
        handles = {handle.number: gone for _, handle in named_handles(self.before.frames[-1].env)}
        version = Version(_together(made, self.item))
        return replace(state, version=version, frames=self.before.frames, dead={**self.before.dead, **handles})


def without_version(state: State, unmet: NotMet) -> tuple[State, str]:
    """The state behind the version at hand, which is left out, and a remark. Raises `unmet` where there is none, or no other."""
    fork = next((frame.fork for frame in reversed(state.frames) if frame.fork is not None), None)
    dropped = fork and fork.drop(state)
    if dropped is None:
        raise unmet
    return dropped, f"{unmet.diagnostics[0].message}: this version is left out"


def assuming(frames: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """The frames when something was assumed."""
    return tuple(frame if frame.fork is None else replace(frame, fork=replace(frame.fork, assumes=True)) for frame in frames)


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


def _assumed(module: ir.Module) -> list[str]:
    """What is going to be checked of the arguments of functions."""
    own = (attributes_of(function, number) for function in _functions(module) for number in range(inputs_of(function)))
    return sorted(str(stated[ASSUMED]) for stated in own if ASSUMED in stated)


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
