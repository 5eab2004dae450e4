"""`versions { … } else { … }`: the payload is scheduled once for each block, in separate functions,
of which the host runs one.

Items after `versions` are executed in each version: the walk continues from the first block to the
end of the schedule, and then again, from the module before the `versions`, through the next block.
The functions of the second version are named `f_v2`, and record the function of which they are a
version. At the end, all functions and kernels are in one module; those of the first version keep
their names.

An assumption about a size that the payload fixes is decided immediately: the version is dropped if
the assumption does not hold, or if the host could not check it. A version without assumptions
beyond the known facts is the last one. A version is left out if an earlier version covers all of
its sizes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...dsl.diagnostics import Span, fail
from ...dsl.scopes import Gone, bound_by_all
from ..focus.carving import Version
from ..indices.values import at_most, multiples
from ..ir.cloning import clone_module
from ..ir.functions import VERSION_OF, inputs_of, own_name, symbol
from ..ir.mlir import attributes, ir, operations
from .environment import named_handles
from .frames import ended
from .state import Fork, Frame, State
from .statement import NotMet

ASSUME = "assume"
"""The keyword of the statement that states the sizes of a version."""
MOST_VERSIONS = 16
"""The most versions of one function. Each costs the time of the whole schedule, and each `versions`
multiplies them."""


def enter(fork: Fork, state: State) -> State:
    """The state at the begin of the fork's block. Raises W0466 for too many versions."""
    before, number = fork.before, len(state.versions) + 1
    if number > MOST_VERSIONS:
        message = f"the schedule would have more than {MOST_VERSIONS} versions"
        hint = "each `versions` multiplies their number: write an `assume` that holds for all blocks before it"
        raise fail("W0466", message, hint, span=fork.item.span)
    version = (
        Version(_another(before.module, number), untidy=before.version.untidy) if state.versions else before.version
    )
    frame = Frame(fork.item.blocks[fork.number], keeps=bound_by_all(fork.item.blocks), fork=fork)
    frames, at = (*before.frames, frame), fork.item.span
    return replace(state, version=version, frames=frames, dead=before.dead, forks=before.forks, versions_at=at)


def leave(fork: Fork, state: State) -> State:
    """The state after the fork's block. Raises W0463."""
    frames, block = ended(state.frames), fork.item.blocks[fork.number]
    if not (fork.assumes or fork.last):
        message = f"version {fork.number + 1} assumes nothing of sizes, so that no run takes a later one"
        hint = "state its sizes with `assume`; the last version may cover all remaining sizes"
        raise fail("W0463", message, hint, span=block[0].span if block else fork.item.span)
    if state.versions and _covered(state):
        return _drop(fork, _remarked(state, "an earlier version covers all such sizes: this one is left out"))
    if open_at(fork, state.version):
        return replace(state, frames=frames, forks=(*state.forks, fork))
    if not fork.last:
        state = _remarked(state, "all assumptions of this version hold already: later ones are left out")
    return replace(state, frames=frames)


def open_at(fork: Fork, version: Version) -> bool:
    """Whether the next block is a further version, beside this one."""
    before, now = fork.before.version.functions, version.functions
    return not fork.last and before != now and not _implied(known_sizes(now), known_sizes(before))


def _covered(state: State) -> bool:
    """Whether an earlier version is for all sizes of this one."""
    known = known_sizes(state.version.functions)
    return any(_implied(known_sizes(_functions(version)), known) for version in state.versions)


def _drop(fork: Fork, state: State) -> State:
    """The state after the fork's block, without its version."""
    state = replace(state, forks=fork.before.forks)
    return another(state) if fork.last else _next(fork, state)


def _next(fork: Fork, state: State) -> State:
    """The state at the begin of the next block."""
    return enter(replace(fork, number=fork.number + 1, assumes=False), state)


def finished(state: State) -> State | None:
    """The state that follows the end of the schedule: in the next version, or with all versions in
    one module; None if nothing is left."""
    if state.forks or state.versions:
        return another(replace(state, versions=(*state.versions, state.module)))
    return None


def another(state: State) -> State:
    """The state at the begin of the next version; after the last one, with all versions in one
    module."""
    if state.forks:
        return _next(state.forks[-1], replace(state, forks=state.forks[:-1]))
    first, at = state.frames[0], state.versions_at
    assert at is not None
    gone = Gone("`versions`", at)
    handles = {handle.number: gone for _, handle in named_handles(first.own)}
    frames = (replace(first, index=len(first.items)),)
    version = Version(_together(state.versions, at), untidy=True)
    return replace(state, version=version, frames=frames, dead={**state.dead, **handles}, versions=())


def without_version(state: State, unmet: NotMet) -> tuple[State, str]:
    """The state after the current version, which is dropped, and a remark. Raises `unmet` outside
    of `versions`, or if there is no other version."""
    fork = next((frame.fork for frame in reversed(state.frames) if frame.fork is not None), None)
    if fork is None or (fork.last and not state.versions and not state.forks):
        raise unmet
    return _drop(fork, state), f"{unmet.diagnostics[0].message}: this version is left out"


def assuming(frames: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """The frames with a mark that something was assumed."""
    return tuple(
        frame if frame.fork is None else replace(frame, fork=replace(frame.fork, assumes=True)) for frame in frames
    )


def beginning(state: State, before: State) -> State:
    """The state after a step, with a remark if the step is the first of a further version."""
    if state.step is None or len(state.versions) <= len(before.versions):
        return state
    remarks = (f"version {len(state.versions) + 1}, from the state before `versions`", *state.step.remarks)
    return replace(state, step=replace(state.step, remarks=remarks))


def _remarked(state: State, remark: str) -> State:
    return replace(state, step=state.step and replace(state.step, remarks=(*state.step.remarks, remark)))


def _functions(module: ir.Module) -> list[ir.Operation]:
    return [f for f in operations(module.operation, "func.func") if len(f.regions[0].blocks)]


def _another(module: ir.Module, number: int) -> ir.Module:
    """A copy with functions that are versions of the original ones."""
    made = clone_module(module)
    taken = {own_name(op) for op in _named(made)}
    names: dict[str, str] = {}
    with made.context:
        for function in _functions(made):
            own = own_name(function)
            tried = (f"{own}_v{number}{'_' * k}" for k in range(len(taken) + 1))
            name = names[symbol(function)] = next(one for one in tried if one not in taken)
            function.attributes["sym_name"] = ir.StringAttr.get(name)
            function.attributes[VERSION_OF] = ir.StringAttr.get(own)
        for call in operations(made.operation, "func.call"):
            callee = ir.FlatSymbolRefAttr(call.attributes["callee"]).value
            call.attributes["callee"] = ir.FlatSymbolRefAttr.get(names.get(callee, callee))
    return made


KnownSizes = Mapping[tuple[str, int, int], tuple[int, int]]
"""For an axis of an argument (function, argument, axis): a divisor of its size, and its upper bound
(negative: none)."""


def known_sizes(functions: Sequence[ir.Operation]) -> KnownSizes:
    """The known facts on the sizes of arguments, which are checked before a run."""
    found: dict[tuple[str, int, int], tuple[int, int]] = {}
    for function in functions:
        for argument in list(function.regions[0].blocks[0].arguments)[: inputs_of(function)]:
            if isinstance(argument.type, ir.RankedTensorType | ir.MemRefType):
                stated = zip(multiples(argument), at_most(argument), strict=True)
                found |= {(own_name(function), argument.arg_number, axis): one for axis, one in enumerate(stated)}
    return found


def _implied(weak: KnownSizes, strong: KnownSizes) -> bool:
    """Whether all sizes that satisfy `strong` satisfy `weak`. (Results that have become arguments
    have sizes that follow from those of the others.)"""
    return all(
        strong[axis][0] % multiple == 0 and (most < 0 or 0 <= strong[axis][1] <= most)
        for axis, (multiple, most) in weak.items()
        if axis in strong
    )


def _together(modules: Sequence[ir.Module], span: Span) -> ir.Module:
    """All functions and kernels in one module; ops that are equal in several versions occur once.
    Raises W0464 for ops that differ."""
    first, *others = modules
    made, texts = clone_module(first), {symbol(op): str(op) for op in _named(first)}
    added: list[ir.Operation] = []
    for other in others:
        for op in _named(other):  # all are printed before any is added, because an invalid module prints differently
            if (known := texts.get(name := symbol(op))) is None:
                texts[name] = str(op)
                added.append(op)
            elif known != str(op):
                message = f"@{name} is part of the payload, and differs between versions"
                raise fail("W0464", message, "change it before `versions`", span=span)
    with made.context:
        for other in others:
            for name, attribute in attributes(other.operation).items():
                made.operation.attributes[name] = attribute
        for op in added:
            made.body.append(op.clone())
    return made


def _named(module: ir.Module) -> list[ir.Operation]:
    """The symbols at the top level of a module: functions, kernels, constants."""
    return [op.operation for op in module.body.operations if "sym_name" in op.operation.attributes]
