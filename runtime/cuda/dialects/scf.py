"""scf: for, if, while, index_switch, execute_region."""

from __future__ import annotations

from ....interpreter.ir.mlir import ir
from ...kernel_form import refuse
from ..expression import Expr, ternary, unary
from ..integers import Integer
from ..kernel import Kernel, Lanes, has_effects
from ..loops import Carried, assign, bind_all, carry, header, loop_bounds, trip_count, unroll_pragma
from ..registry import writes
from ..types import element, scalar


@writes("scf.for")
def for_loop(kernel: Kernel, op: ir.Operation) -> None:
    block = kernel.single_block(op)
    if "unsignedCmp" in op.attributes:
        raise refuse("W0503", "scf.for with an unsigned comparison", op)
    kind = _bound_kind(op)
    lower, upper, step = loop_bounds(kernel, *kernel.exprs(list(op.operands)[:3]))
    inits, arguments = list(op.operands)[3:], list(block.arguments)
    trips = trip_count(lower, upper, step)
    if trips is not None and trips <= 1:
        return _straight(kernel, op, block, lower, trips)
    carried = [carry(kernel, op, v, i, "acc") for v, i in zip(arguments[1:], inits, strict=True)]
    with kernel.nested() as body:
        text = header(kernel, arguments[0], lower, upper, step, kind)
        write_body(kernel, block, carried)
    pragma = unroll_pragma(op, trips)
    if pragma is not None:
        kernel.line(pragma)
    kernel.put(text, body.lines)
    for result, variable in zip(op.results, carried, strict=True):
        bind_all(kernel, result, variable.after)


def _bound_kind(op: ir.Operation) -> Integer:
    kind = scalar(op.operands[0].type, op).integer
    if kind is None:
        raise refuse("W0502", f"a loop over {op.operands[0].type}", op)
    return kind


def _straight(kernel: Kernel, op: ir.Operation, block: ir.Block, lower: Expr, trips: int) -> None:
    """A loop with one iteration is its body, one with none is nothing."""
    values: list[Lanes] = [kernel.lanes(v) for v in list(op.operands)[3:]]
    if trips:
        kernel.values[block.arguments[0]] = kernel.named(lower, "i")
        for argument, value in zip(list(block.arguments)[1:], values, strict=True):
            bind_all(kernel, argument, tuple(kernel.named(e) for e in value))
        terminator = kernel.write_block(block)
        values = [kernel.lanes(v) for v in terminator.operands]
    for result, value in zip(op.results, values, strict=True):
        if list(result.uses):
            bind_all(kernel, result, tuple(kernel.named(e) for e in value))


def write_body(kernel: Kernel, block: ir.Block, carried: list[Carried]) -> None:
    for variable in carried:
        bind_all(kernel, variable.value, variable.inside)
    terminator = kernel.write_block(block)
    _assign_all(kernel, carried, [kernel.lanes(v) for v in terminator.operands])


def _assign_all(kernel: Kernel, targets: list[Carried], values: list[Lanes]) -> None:
    names = [v for t in targets for v in t.variables]
    types = [t.kind.variable(None) for t in targets for _ in t.variables]
    assign(kernel, names, [e for lanes in values for e in lanes], types)


@writes("scf.if")
def if_then_else(kernel: Kernel, op: ir.Operation) -> None:
    write_conditional(kernel, op, kernel.expr(op.operands[0]))


def write_conditional(kernel: Kernel, op: ir.Operation, condition: Expr) -> None:
    """An op with a then and an else region, under a condition."""
    has_else = bool(list(op.regions[1].blocks))
    if condition.constant is not None:
        return _taken(kernel, op, 0 if condition.constant else 1, has_else)
    results = [_reserve_result(kernel, op, result) for result in op.results]
    branches = [_branch(kernel, op, region) for region in range(2 if has_else else 1)]
    if results and _as_ternary(kernel, op, condition, branches, results[0]):
        return None
    _declare(kernel, results)
    for lines, values, frame in branches:
        kernel.frames.append(frame)
        _assign_all(kernel, results, values)
        kernel.frames.pop()
        lines[:] = frame.lines
    write_if(kernel, condition, branches[0][0], branches[1][0] if has_else else [])
    for result, variable in zip(op.results, results, strict=True):
        bind_all(kernel, result, variable.after)
    return None


def write_if(kernel: Kernel, condition: Expr, then: list[str], otherwise: list[str]) -> None:
    """`if (…) { … } else { … }`, without the arms that are empty."""
    if not then and not otherwise:
        return
    if not then:
        condition, then, otherwise = unary("!", condition, "bool"), otherwise, []
    kernel.put(f"if ({condition.text}) {{", then, "}" if not otherwise else "} else {")
    if otherwise:
        kernel.frame.lines.extend("  " + text for text in otherwise)
        kernel.line("}")


def _taken(kernel: Kernel, op: ir.Operation, region: int, has_else: bool) -> None:
    """The condition is known: the arm that is taken stands without an `if`."""
    if region == 1 and not has_else:
        return
    terminator = kernel.write_block(kernel.single_block(op, region))
    for result, value in zip(op.results, [kernel.lanes(v) for v in terminator.operands], strict=True):
        if list(result.uses):
            bind_all(kernel, result, tuple(kernel.named(e) for e in value))


def _branch(kernel: Kernel, op: ir.Operation, region: int):
    with kernel.nested() as frame:
        terminator = kernel.write_block(kernel.single_block(op, region))
        values = [kernel.lanes(v) for v in terminator.operands]
    return frame.lines, values, frame


def _as_ternary(kernel: Kernel, op: ir.Operation, condition: Expr, branches: list, reserved: Carried) -> bool:
    """`c ? a : b`, where both arms are mere expressions of one scalar."""
    (then, a, _), (otherwise, b, _) = branches
    if then or otherwise or len(op.results) != 1 or len(a[0]) != 1 or has_effects(op):
        return False
    if max(len(a[0][0].text), len(b[0][0].text)) > 80:
        return False
    result = op.results[0]
    kernel.frame.scope.taken.difference_update(reserved.variables)
    kind, _ = element(result.type, op)
    made = ternary(condition, a[0][0], b[0][0], kind.variable(None), kind.full_range)
    if isinstance(result.type, ir.VectorType):
        kernel.bind_lanes(result, (made,))
    else:
        kernel.bind(result, made)
    return True


def _reserve_result(kernel: Kernel, op: ir.Operation, result: ir.Value) -> Carried:
    """Names for a result, taken before the regions take theirs: they assign to it."""
    if isinstance(result.type, ir.MemRefType):
        raise refuse("W0503", f"`{op.name}` yields a memref", op)
    kind, count = element(result.type, op)
    variables = tuple(kernel.fresh("v") for _ in range(count or 1))
    return Carried(result, kind, variables)


def _declare(kernel: Kernel, results: list[Carried]) -> None:
    for result in results:
        for variable in result.variables:
            kernel.line(f"{result.kind.variable(None)} {variable};")


@writes("scf.while")
def while_loop(kernel: Kernel, op: ir.Operation) -> None:
    before, after = kernel.single_block(op, 0), kernel.single_block(op, 1)
    carried = [carry(kernel, op, v, i, "state") for v, i in zip(before.arguments, op.operands, strict=True)]
    for variable in carried:
        bind_all(kernel, variable.value, variable.inside)
    reserved = [_reserve_result(kernel, op, result) for result in op.results]
    with kernel.nested() as frame:
        condition_op = kernel.write_block(before)
        condition = kernel.expr(condition_op.operands[0])
        forwarded = [kernel.lanes(v) for v in list(condition_op.operands)[1:]]
    results = []
    declared: list[tuple[Carried, Lanes]] = []
    for result, argument, value, own in zip(op.results, after.arguments, forwarded, reserved, strict=True):
        same = next((c for c in carried if tuple(e.text for e in value) == c.variables), None)
        used = list(result.uses) or list(argument.uses)
        if same is None and used:
            same = own
            declared.append((same, value))
        results.append((result, argument, same))
    _declare(kernel, [variable for variable, _ in declared])
    kernel.frames.append(frame)
    for target, value in declared:
        _assign_all(kernel, [target], [value])
    simple = not frame.lines
    if not simple:
        kernel.line(f"if ({unary('!', condition, 'bool').text}) break;")
    _after(kernel, after, carried, results)
    kernel.frames.pop()
    kernel.put(f"while ({condition.text if simple else 'true'}) {{", frame.lines)
    for result, _, variable in results:
        if variable is not None:
            bind_all(kernel, result, variable.after)


def _after(kernel: Kernel, block: ir.Block, carried: list[Carried], results: list) -> None:
    """The loop's body: its arguments are what the condition forwards, what it yields goes to the condition."""
    for _, argument, variable in results:
        if variable is not None:
            bind_all(kernel, argument, variable.inside)
    terminator = kernel.write_block(block)
    _assign_all(kernel, carried, [kernel.lanes(v) for v in terminator.operands])


@writes("scf.execute_region")
def execute_region(kernel: Kernel, op: ir.Operation) -> None:
    terminator = kernel.write_block(kernel.single_block(op))
    for result, value in zip(op.results, [kernel.lanes(v) for v in terminator.operands], strict=True):
        bind_all(kernel, result, tuple(kernel.named(e) for e in value))


@writes("scf.index_switch")
def index_switch(kernel: Kernel, op: ir.Operation) -> None:
    selector = kernel.expr(op.operands[0])
    results = [_reserve_result(kernel, op, result) for result in op.results]
    branches = [_branch(kernel, op, region) for region in range(len(op.regions))]
    _declare(kernel, results)
    labels = ["default:", *(f"case {value}:" for value in ir.DenseI64ArrayAttr(op.attributes["cases"]))]
    text: list[str] = []
    for label, (_, values, frame) in zip(labels, branches, strict=True):
        kernel.frames.append(frame)
        _assign_all(kernel, results, values)
        kernel.frames.pop()
        text += [f"{label} {{", *("  " + line for line in frame.lines), "  break;", "}"]
    kernel.put(f"switch ({selector.text}) {{", text)
    for result, variable in zip(op.results, results, strict=True):
        bind_all(kernel, result, variable.after)
