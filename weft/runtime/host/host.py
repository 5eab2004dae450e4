"""The host function of a scheduled module → a `Plan`: allocations, copies, launches and frees, in
order.

The function is interpreted, not translated: constants fold, loops and branches with known bounds
are unrolled, calls are followed. Values that depend on an input's shape or on a scalar are
expressions. Without tokens, all steps run on one stream in program order; with tokens, on as many
streams as can be busy at once (`streams.py`).
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace

from ...dsl.diagnostics import WeftError, fail
from ...interpreter.hardware.hopper.tensor_maps import tensor_map, window_of_pixels
from ...interpreter.ir.cloning import unproven
from ...interpreter.ir.functions import given_name, inputs_of, symbol
from ...interpreter.ir.mlir import ir
from ...interpreter.memory.layouts import is_plain
from ..cuda.module import kernel_functions
from ..plan.check import validate
from ..plan.plan import (
    Alloc,
    AnyStep,
    Buffer,
    BufferView,
    Copy,
    DimOf,
    Free,
    KernelEntry,
    Param,
    Plan,
    Role,
    Scalar,
    ScalarOf,
    Size,
)
from ..plan.signature import plan_signature
from ..plan.storage import placed
from . import arithmetic  # noqa: F401 - with `kernels` and `memory` it fills the table of rules
from .functions import argument_names, array_type, entry_function, is_written, out_arguments, versions_of
from .kernels import boxes_of, required_chip, rounded_to, rounding_of, shared_memory
from .memory import static_strides
from .program import Host, HostValue, row_major
from .size_conditions import stated_agreements
from .streams import on_one_stream, on_streams

STREAMS = "weft.streams"
"""Attribute of a `func.func`: the most streams that a run of the function may use."""


def make_plan(module: ir.Module, entry: str | None = None) -> Plan:
    """The plan of the module's entry function.

    Args:
        module: after `launch`: host functions, and a `gpu.module` per kernel.
        entry: the function to run; None: the only public one with launches.

    Errors: W0730 (an op that is in no launch), W0731 (an op that the host cannot execute), W0732
    (several functions, or none of that name), W0733 (a type), W0734 (an unknown value), W0735 (a
    result of unknown shape), W0736 (too many steps), W0737 (a launch shape that does not fit the
    kernel), W0702 … W0708 (the plan would be unsound).
    """
    first, *others = versions_of(module, entry_function(module, entry))
    stated = stated_agreements(first)
    if not others:
        return validate(placed(replace(_plan(module, first), agreements=stated)), f"the plan of @{symbol(first)}")
    plans: list[Plan] = []
    for number, function in enumerate((first, *others), 1):
        try:
            plans.append(
                _plan(module, function, {buffer.name for plan in plans for buffer in plan.buffers}, is_version=True)
            )
        except WeftError as error:
            note = f"in version {number} of @{symbol(first)}"
            raise WeftError(*(replace(d, notes=(*d.notes, note)) for d in error.diagnostics)) from error
    return validate(replace(together(plans), agreements=stated), f"the plan of @{symbol(first)}")


def _plan(
    module: ir.Module, function: ir.Operation, taken: Set[str] = frozenset(), *, is_version: bool = False
) -> Plan:
    """The plan of one function. Its temporaries avoid the names `taken`. `is_version`: the function
    is one of several versions."""
    host = interpreted(module, function, taken, is_version=is_version)
    freed = {step.buffer for step in host.steps if isinstance(step, Free)}
    for step in tuple(host.steps):
        if isinstance(step, Alloc) and step.buffer not in freed:
            host.steps.append(Free(buffer=step.buffer))  # buffers that the program never frees are freed last
    steps, fewest = host.steps, None
    if host.ordered:
        most = ir.IntegerAttr(function.attributes[STREAMS]).value if STREAMS in function.attributes else None
        needs = [*host.needs, *(frozenset() for _ in range(len(host.steps) - len(host.needs)))]
        stays = [
            not isinstance(step, Alloc | Free) or n in host.ordered for n, step in enumerate(host.steps)
        ]  # those without a token may move
        steps, fewest = on_streams(steps, needs, stays, most)
    else:
        steps = on_one_stream(steps)
    plan = plan_of(host, function, steps)
    names = tuple(n for n, out in zip(argument_names(function), out_arguments(function), strict=True) if not out)
    usual = names == tuple(a.name for a in plan_signature(plan).arguments)
    plan = replace(plan, fewest_streams=fewest, arguments=() if usual else names)
    return plan if not is_version else validate(plan, f"the plan of @{plan.entry}")


def interpreted(
    module: ir.Module, function: ir.Operation, taken: Set[str] = frozenset(), *, is_version: bool = False
) -> Host:
    """The function's steps in program order, each with the steps that tokens and blocking waits
    require before it."""
    kernels = kernel_functions(module)
    host = Host(module, {k.symbol: k for k in kernels}, taken, is_version)
    given = _declare_arguments(function, host)
    returned = host.run_function(function, given, function)
    _declare_results(function, returned, host)
    return host


def plan_of(host: Host, function: ir.Operation, steps: Sequence[AnyStep]) -> Plan:
    """The plan with these steps."""
    launched = tuple(
        KernelEntry(
            text.name,
            k.symbol,
            _params(k.op),
            *shared_memory(k.op),
            unproven(k.op),
            required_chip(k.op),
            rounded_to(k.op),
            text.divides_by,
            text.folds,
        )
        for k in kernel_functions(host.module)
        if k.name in host.launched
        for text in host.texts(k.symbol)
    )
    buffers, assumptions = tuple(host.buffers.values()), tuple(host.assumptions)
    return Plan(symbol(function), buffers, tuple(host.scalars), tuple(steps), launched, assumptions=assumptions)


def _declare_arguments(function: ir.Operation, host: Host) -> list[HostValue]:
    """Declares buffers and scalars for the arguments; returns the values of the body's block
    arguments."""
    given: list[HostValue] = []
    body = function.regions[0].blocks[0]
    for name, is_result, value in zip(argument_names(function), out_arguments(function), body.arguments, strict=True):
        what = f"argument `{name}` of @{symbol(function)}"
        dtype, shape = array_type(value.type, what)
        if shape is None:
            host.scalars.append(Scalar(name, dtype))
            given.append(ScalarOf(name))
            continue
        _check_layout(value.type, what)
        role: Role = "output" if is_result else "inout" if is_written(value) else "input"
        sizes: tuple[Size, ...] = tuple(DimOf(name, i) if s is None else s for i, s in enumerate(shape))
        if is_result and None in shape:
            host.shapeless.add(name)
        host.buffers[name] = Buffer(name, dtype, sizes, role)
        given.append(BufferView(name, 0, sizes, row_major(sizes)))
    return given


def _check_layout(type_: ir.Type, what: str) -> None:
    """Checks that the layout admits a contiguous array, which callers pass."""
    if not isinstance(type_, ir.MemRefType):
        hint = "`map` a loop, or an op, and `launch` it: that bufferizes the function"
        raise fail("W0733", f"{what} is still {type_}: nothing was launched", hint=hint)
    strides, offset = static_strides(type_, what)
    shape = [DimOf("", i) if type_.is_dynamic_dim(i) else type_.get_dim_size(i) for i in range(type_.rank)]
    wanted = row_major(shape)
    if offset not in (0, None) or any(s is not None and s != w for s, w in zip(strides, wanted, strict=True)):
        raise fail(
            "W0733",
            f"{what} is {type_}: arrays are passed contiguous",
            hint="pass the whole array, and take `memref.subview` in the function",
        )


def _declare_results(function: ir.Operation, returned: list[HostValue], host: Host) -> None:
    """Declares an output buffer for each returned memref, and issues a copy to it."""
    for number, view in enumerate(returned, sum(out_arguments(function))):
        if not isinstance(view, BufferView):
            raise fail("W0731", f"@{symbol(function)} returns a scalar: return a memref instead")
        whole = BufferView(f"result{number}", 0, view.shape, row_major(view.shape))
        host.buffers[whole.buffer] = Buffer(whole.buffer, host.buffers[view.buffer].dtype, view.shape, "output")
        if any(isinstance(s, Free) and s.buffer == view.buffer for s in host.steps):
            raise fail("W0731", f"@{symbol(function)} returns memory that it has freed")
        host.needs.append(frozenset(range(len(host.steps))))  # the caller sees it when all steps are done
        host.steps.append(Copy(source=view, target=whole))
    if host.shapeless:
        name = min(host.shapeless)
        raise fail("W0735", f"the shape of the result `{name}` of @{symbol(function)} is not known on the host")


def _params(kernel: ir.Operation) -> tuple[Param, ...]:
    """The kernel's parameters according to its type."""
    params: list[Param] = []
    arguments = kernel.regions[0].blocks[0].arguments
    for i, value in enumerate(list(arguments)[: inputs_of(kernel)]):
        name = given_name(kernel, i) or f"arg{i}"
        what = f"parameter `{name}` of @{symbol(kernel)}"
        if (given := tensor_map(value.type)) is not None:
            boxes = replace(boxes_of(given, window_of_pixels(value)), rounded=rounding_of(value))
            params.append(Param(name, array_type(given.element, what)[0], boxes=boxes))
            continue
        dtype, shape = array_type(value.type, what)
        strides, offset = static_strides(value.type, what) if isinstance(value.type, ir.MemRefType) else (None, 0)
        if None in (strides or ()) and is_plain(value.type):
            strides = ()  # row-major for any sizes: the text computes the strides
        params.append(Param(name, dtype, shape, strides, offset))
    return tuple(params)


def together(plans: Sequence[Plan]) -> Plan:
    """One plan from several versions. Their temporaries have different names; other buffers that
    they share are equal.

    Errors: W0735 if a result does not have the same sizes in all of them.
    """
    buffers: dict[str, Buffer] = {}
    kernels: dict[str, KernelEntry] = {}
    steps: list[AnyStep] = []
    for number, plan in enumerate(plans):
        for buffer in plan.buffers:
            if buffers.setdefault(buffer.name, buffer) != buffer:
                what = f"do not agree on the sizes of `{buffer.name}`, or on whether it is written"
                raise fail("W0735", f"the versions of @{plan.entry} {what}")
        kernels |= {kernel.name: kernel for kernel in plan.kernels}
        first = len(steps)
        steps += (replace(step, after=tuple(first + s for s in step.after), in_version=number) for step in plan.steps)
    fewest = [plan.fewest_streams for plan in plans if plan.fewest_streams is not None]
    return replace(
        plans[0],
        buffers=tuple(buffers.values()),
        steps=tuple(steps),
        kernels=tuple(kernels.values()),
        fewest_streams=max(fewest, default=None),
        assumptions=(),
        versions=tuple(plan.assumptions for plan in plans),
    )
