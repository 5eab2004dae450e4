"""scf and gpu: for, if, while, index_switch, execute_region; ids, sizes, the barrier, printf."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ....interpreter.hardware import limits
from ....interpreter.hardware.hopper.warpgroups import accumulator
from ....interpreter.ir.mlir import ir, is_used
from ...form.kernel_form import axis_of, refuse
from ..kernel import KernelWriter, Lanes, TextBlock, TextLine, has_effects, writes
from ..loops import Carried, assign, carry, header, loop_bounds, only_once, trip_count, unroll_pragma
from ..values.expression import UNARY, Expr, name, ternary, unary
from ..values.integers import literal
from ..values.types import Range, element, scalar


@writes("scf.for")
def for_loop(kernel: KernelWriter, op: ir.Operation) -> None:
    block = kernel.single_block(op)
    if "unsignedCmp" in op.attributes:
        raise refuse("W0503", "scf.for with an unsigned comparison", op)
    kind = scalar(op.operands[0].type, op)
    if not kind.integer:
        raise refuse("W0502", f"a loop over {op.operands[0].type}", op)
    lower, upper, step = loop_bounds(kernel, *kernel.exprs(op.operands[:3]))
    if kind.index and not op.results and (once := only_once(lower, upper, step)) is not None:
        kernel.values[block.arguments[0]] = (lower,)
        with kernel.nested() as body:
            _write(kernel, block)
        return kernel.put(f"if ({once.text}) {{", body.lines)
    values = zip(block.arguments[1:], op.operands[3:], strict=True)
    carried = [carry(kernel, op, value, init, "acc") for value, init in values]
    with kernel.nested() as body:
        text = header(kernel, block.arguments[0], lower, upper, step, kind)
        for variable in carried:
            kernel.values[variable.value] = variable.lanes(inside=True)
        assign(kernel, carried, _write(kernel, block))
    pragma = unroll_pragma(op, trip_count(lower, upper, step))
    if pragma is not None:
        kernel.line(pragma)
    kernel.put(text, body.lines)
    _bind(kernel, op, carried)


def _write(kernel: KernelWriter, block: ir.Block) -> list[Lanes]:
    """Writes a block; returns the yielded values."""
    terminator = kernel.write_block(block)
    return [kernel.lanes(v) for v in terminator.operands]


def _yielded(kernel: KernelWriter, op: ir.Operation, values: Sequence[Lanes]) -> None:
    """Binds the op's results to the values that its only block yields."""
    for result, value in zip(op.results, values, strict=True):
        if is_used(result):
            kernel.values[result] = tuple(kernel.named(e) for e in value)


def _bind(kernel: KernelWriter, op: ir.Operation, variables: Sequence[Carried]) -> None:
    for result, variable in zip(op.results, variables, strict=True):
        kernel.values[result] = variable.lanes(inside=False)


# ---- branches ------------------------------------------------------------------------------------

Arm = tuple[TextBlock, list[Lanes]]


def _arms(kernel: KernelWriter, op: ir.Operation) -> tuple[list[Carried], list[Arm]]:
    """Reserves the names of the results, then writes the regions, each into a block with the values
    that it yields."""
    results = [_reserve(kernel, op, result) for result in op.results]
    arms: list[Arm] = []
    for number, region in enumerate(op.regions):
        if region.blocks:
            with kernel.nested() as frame:
                arms.append((frame, _write(kernel, kernel.single_block(op, number))))
    return results, arms


def _reserve(kernel: KernelWriter, op: ir.Operation, result: ir.Value) -> Carried:
    if isinstance(result.type, ir.MemRefType):
        raise refuse("W0503", f"`{op.name}` yields a memref", op)
    if accumulator(result.type) is not None:
        raise refuse(
            "W0503",
            f"`{op.name}` yields the sums of a warp group",
            op,
            hint="carry the sums through an `scf.for`, and add to them there",
        )
    kind, count = element(result.type, op)
    return Carried(result, kind, tuple(kernel.fresh("v") for _ in range(1 if count is None else count)))


def _settle(kernel: KernelWriter, op: ir.Operation, results: Sequence[Carried], arms: Sequence[Arm]) -> None:
    """Declares variables for the results, and assigns them at the end of each arm."""
    _declare(kernel, results)
    for frame, values in arms:
        kernel.frames.append(frame)
        assign(kernel, results, values)
        kernel.frames.pop()
    _bind(kernel, op, results)


def _declare(kernel: KernelWriter, results: Sequence[Carried]) -> None:
    for result in results:
        for variable in result.variables:
            kernel.line(f"{result.kind.cxx} {variable};")


@writes("scf.if")
def if_then_else(kernel: KernelWriter, op: ir.Operation) -> None:
    condition = kernel.expr(op.operands[0])
    if condition.constant is not None:  # only the taken arm is written, without an `if`
        region = 0 if condition.constant else 1
        if list(op.regions[region].blocks):
            _yielded(kernel, op, _write(kernel, kernel.single_block(op, region)))
        return
    results, arms = _arms(kernel, op)
    if results and _as_ternary(kernel, op, condition, arms, results[0]):
        return
    _settle(kernel, op, results, arms)
    then, otherwise = arms[0][0].lines, arms[1][0].lines if len(arms) > 1 else []
    if not then and otherwise:
        condition, then, otherwise = unary("!", condition, "bool"), otherwise, []
    if then:
        kernel.put(f"if ({condition.text}) {{", then, "}" if not otherwise else "} else {")
    if otherwise:
        kernel.put("", otherwise)


def _as_ternary(kernel: KernelWriter, op: ir.Operation, condition: Expr, arms: Sequence[Arm], result: Carried) -> bool:
    """Writes `c ? a : b` if both arms are expressions of one scalar without effects. Returns
    whether it did."""
    (then, (a, *_)), (otherwise, (b, *_)) = arms
    if then.lines or otherwise.lines or len(op.results) != 1 or len(a) != 1 or has_effects(op):
        return False
    if max(len(a[0].text), len(b[0].text)) > 80:
        return False
    kernel.frame.scope.taken.difference_update(result.variables)
    kernel.bind(result.value, ternary(condition, a[0], b[0], result.kind.cxx, result.kind.full_range))
    return True


@writes("scf.index_switch")
def index_switch(kernel: KernelWriter, op: ir.Operation) -> None:
    selector = kernel.expr(op.operands[0])
    results, arms = _arms(kernel, op)
    _settle(kernel, op, results, arms)
    labels = ["default:", *(f"case {value}:" for value in ir.DenseI64ArrayAttr(op.attributes["cases"]))]
    with kernel.nested() as body:
        for label, (frame, _) in zip(labels, arms, strict=True):
            kernel.put(f"{label} {{", [*frame.lines, TextLine("break;")])
    kernel.put(f"switch ({selector.text}) {{", body.lines)


@writes("scf.execute_region")
def execute_region(kernel: KernelWriter, op: ir.Operation) -> None:
    _yielded(kernel, op, _write(kernel, kernel.single_block(op)))


@writes("scf.while")
def while_loop(kernel: KernelWriter, op: ir.Operation) -> None:
    before, after = kernel.single_block(op, 0), kernel.single_block(op, 1)
    carried = [carry(kernel, op, v, i, "state") for v, i in zip(before.arguments, op.operands, strict=True)]
    for variable in carried:
        kernel.values[variable.value] = variable.lanes(inside=True)
    reserved = [_reserve(kernel, op, result) for result in op.results]
    with kernel.nested() as frame:
        goes_on, *forwarded = _write(kernel, before)
    condition = goes_on[0]
    results = []
    declared: list[tuple[Carried, Lanes]] = []
    for result, argument, value, own in zip(op.results, after.arguments, forwarded, reserved, strict=True):
        same = next((c for c in carried if tuple(e.text for e in value) == c.variables), None)
        if same is None and is_used(result, argument):
            same = own
            declared.append((same, value))
        if same is not None:
            results.append((result, argument, same))
    _declare(kernel, [variable for variable, _ in declared])
    kernel.frames.append(frame)
    for target, value in declared:
        assign(kernel, [target], [value])
    simple = not frame.lines
    if not simple:
        kernel.line(f"if ({unary('!', condition, 'bool').text}) break;")
    for _, argument, variable in results:  # the arguments of the body are the values that the condition forwards
        kernel.values[argument] = variable.lanes(inside=True)
    assign(kernel, carried, _write(kernel, after))
    kernel.frames.pop()
    kernel.put(f"while ({condition.text if simple else 'true'}) {{", frame.lines)
    for result, _, variable in results:
        kernel.values[result] = variable.lanes(inside=False)


# ---- gpu: ids, sizes, the barrier, printf ----------------------------------------------------------------------------


@writes("gpu.thread_id", "gpu.block_id", "gpu.block_dim", "gpu.grid_dim")
def place(kernel: KernelWriter, op: ir.Operation) -> Lanes:
    word, asked = op.name[4:].split("_")
    return (hardware(kernel, word, asked, axis_of(op)),)


def hardware(kernel: KernelWriter, word: str, asked: str, axis: int) -> Expr:
    """The id or the size of a thread, block or grid along an axis. Ids are declared at the kernel's
    top as `tx`, `by`, …, unless the only id is 0."""
    letter = "xyz"[axis]
    if word == "block" and asked == "id":
        made = kernel.blocks.number(axis)
    elif asked == "id":
        made = Expr(f"threadIdx.{letter}", "int", range=Range(0, (kernel.block or limits.BLOCK)[axis] - 1))
    elif word == "grid":
        return kernel.blocks.size(axis)
    elif kernel.block is not None:
        return literal(kernel.block[axis])
    else:
        return Expr(f"(int)blockDim.{letter}", "int", UNARY, Range(1, limits.BLOCK[axis]), atom=True)
    if made.constant == 0:
        return literal(0)
    variable = f"{word[0]}{letter}"
    kernel.head.setdefault(variable, f"const int {variable} = {made.text};")
    return name(variable, "int", made.range, host=made.host)


@writes("gpu.barrier")
def barrier(kernel: KernelWriter, op: ir.Operation) -> None:
    """`__syncthreads` orders all memory, so it also implements a barrier with a weaker fence."""
    if "scope" in op.attributes and "workgroup" not in str(op.attributes["scope"]):
        raise refuse("W0503", f"gpu.barrier of scope {op.attributes['scope']}", op)
    kernel.flush()
    kernel.line("__syncthreads();")


@writes("gpu.printf")
def printf(kernel: KernelWriter, op: ir.Operation) -> None:
    text = json.dumps(ir.StringAttr(op.attributes["format"]).value)
    arguments = [kernel.expr(v) for v in op.operands]
    kernel.flush()
    kernel.line(f"printf({', '.join([text, *(a.text for a in arguments)])});")
