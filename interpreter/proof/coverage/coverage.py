"""Whether each iteration of a payload's reduction is executed once: coverage and disjointness, as sets.

The iteration that an execution stands for is a form of its counters in each dimension (`labels.solved`). Mixed radices make the
proof: of `i = 128*b + 64*w + 8*l + t` with t < 8, l < 8, w < 2 and b < 4, each i below 512 has one (b, w, l, t). Dimensions that are
digits of one number (of an implicit GEMM's row, the image and the place in it) are joined first. Guards then may leave out nothing
inside the iteration space, and have to leave out all that is beyond: two questions to ISL about one execution.

A dimension that is not reduced may be executed in part, or again by others that have a result of their own (a producer that is fused
into several tiles); of one that is reduced, each result takes all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ...indices.linear import Floor, Formula, Linear, Symbol, at_least, both, either, less
from ...ir.functions import symbol
from ...ir.mlir import ir, operations, producer
from ...ir.structured import structure
from ...launch.kernel import Outlined
from ..kernels.model import digits_of
from ..solver import Naming, Solver, Unknown, coordinates, described
from .labels import Execution, Labels, solved
from .payloads import Payload, PayloadOp


@dataclass(frozen=True)
class Coverage:
    """What has been found out of one reduction of the payload in a kernel.

    Args:
        verdict: `once`: each iteration is executed once, for its own result; `wrong`: one is not, or twice; `assumed`: not known.
        name: the payload's op.
        words: how many iterations there are, or what is wrong, or why it is not known.
    """

    verdict: Literal["once", "wrong", "assumed"]
    name: str
    words: str


def coverage(kernel: Outlined, module: ir.Module) -> list[Coverage]:
    """The reductions that a kernel executes, before its maps are materialized.

    Args:
        kernel: the mapped loop, on memrefs.
        module: the untouched payload.
    """
    payload = Payload.of(module)
    labels = Labels(payload)
    for argument, operand in zip(kernel.entry.arguments, kernel.operands, strict=True):
        if isinstance(argument.type, ir.MemRefType):
            _bind(labels, payload, module, argument, operand)
        elif isinstance(argument.type, ir.IndexType | ir.IntegerType):
            pass
    for op in kernel.entry.operations:
        labels.visit(op.operation)
    found: dict[PayloadOp, list[Execution]] = {}
    for execution in labels.executions:
        found.setdefault(execution.of, []).append(execution)
    return [_judged(of, executions, labels) for of, executions in found.items() if of.reductions]


def _bind(labels: Labels, payload: Payload, module: ir.Module, argument: ir.Value, operand: ir.Value) -> None:
    if producer(operand) is None and operand.owner.owner.operation.name == "func.func":
        function, number = symbol(operand.owner.owner.operation), ir.BlockArgument(operand).arg_number
        if number < payload.arguments.get(function, 0):
            own = next(f for f in operations(module.operation, "func.func") if symbol(f) == function)
            given = own.regions[0].blocks[0].arguments[number]
            if isinstance(given.type, ir.ShapedType) and given.type.rank == argument.type.rank:
                payload.values.share_extents(argument, given)
            labels.argument(argument, ("argument", function, number))
            return
        labels.argument(argument, ("returned", function, number - payload.arguments.get(function, 0)))
        return
    labels.views.root(argument, foreign=True)


def _judged(of: PayloadOp, executions: Sequence[Execution], labels: Labels) -> Coverage:
    def assumed(why: str) -> Coverage:
        return Coverage("assumed", of.name, why)

    if len(executions) > 1:
        return assumed(f"{len(executions)} ops of the kernel execute it")
    (execution,) = executions
    point = solved(execution, labels.values)
    if point is None:
        return assumed("what is read does not tell which iteration it is")
    if None in of.extents:
        return assumed("its size is not known")
    extents = [n for n in of.extents if n is not None]
    try:
        wrong = _exact(execution, list(point), extents, labels)
    except Unknown:
        return assumed("the sets are too hard")
    except _Unclear as unclear:
        return assumed(str(unclear))
    if wrong is not None:
        return Coverage("wrong", of.name, wrong)
    sizes = "·".join(str(n.constant) if n.is_constant else "?" for n in extents)
    return Coverage("once", of.name, f"each of {sizes} iterations once")


class _Unclear(Exception):
    """The forms do not show it."""


def _exact(execution: Execution, point: list[Linear], extents: list[Linear], labels: Labels) -> str | None:
    of, own = execution.of, list(execution.symbols)
    masks = [read.when for read in execution.reads if read is not None]
    outer = own[: execution.within]
    point, own, guards = _in_digits(point, own, [*execution.guards, *masks])
    table = dict(zip(of.dims, point, strict=True))

    def at(form: Linear) -> Linear:
        return form.replaced(lambda s: table.get(s) or Linear.of(s))

    foreign = {s for form in point for s in form.symbols()} - set(own)
    foreign = {s for s in foreign if s.kind != "parameter"}
    if foreign:
        raise _Unclear("the iteration depends on loops that do not enclose it")
    valid = [element.when.changed(at) for element in of.reads if element is not None]
    free = [s for s in own if s not in outer and not _occurs(s, point) and s.high != 0]
    if free:
        return f"an iteration is executed again in each iteration of another loop ({len(free)} of them)"
    joint, sizes, reduced = _joined(point, extents, of, labels)
    for form, size in zip(joint, sizes, strict=True):
        total = _radices(form)
        if total is None:
            raise _Unclear(f"the iteration is not a number of digits: {form!r}")
    solver = Solver()
    inside = [part for form, n in zip(point, extents, strict=True) for part in (at_least(form, 0), less(form, n))]
    naming = Naming("")
    everywhere = [naming.formula(f) for f in (*inside, *valid)]
    left_out = _point(solver, naming, [*everywhere, naming.formula(both(*guards).negate())])
    if left_out is not None:
        return f"iteration {_there(point, left_out)} is left out"
    for form, n, d in zip(point, extents, range(len(point)), strict=True):
        beyond = either(less(form, Linear.of(0)), at_least(form, n))
        found = _point(solver, Naming(""), [*guards, beyond])
        if found is not None:
            return f"an iteration beyond dimension {d} counts: {_there(point, found)}"
    for form, size, whole in zip(joint, sizes, reduced, strict=True):
        most, top = _radices(form) or (0, None)
        short = top is not None and size.is_constant and form.constant == 0 and most < size.constant
        if short or form.constant > 0:
            if whole:
                return f"of {size.constant} iterations of a reduction {most} are executed"
    return None


def _point(solver: Solver, naming: Naming, formulas: Sequence[Formula]) -> dict[Symbol, int] | None:
    parts = [naming.formula(f) if not naming.names or True else f for f in formulas]
    names, all_parts = described((naming,), parts)
    found = solver.point(names, all_parts, names)
    if found is None:
        return None
    back = {name: original for original, name in naming.names.items()}
    return {back.get(name, name): n for name, n in zip(names, coordinates(found), strict=True)}


def _there(point: Sequence[Linear], where: dict[Symbol, int]) -> str:
    values = [form.value(where) for form in point]
    return "(" + ", ".join("?" if v is None else str(v) for v in values) + ")"


def _occurs(symbol: Symbol, point: Sequence[Linear]) -> bool:
    return any(symbol is s for form in point for s in form.symbols())


def _in_digits(point: list[Linear], own: list[Symbol], guards: list[Formula]) -> tuple[list[Linear], list[Symbol], list[Formula]]:
    """Counters that are divided by constants, as digits."""
    radices: dict[Symbol, set[int]] = {}
    for form in point:
        _divided(form, radices)
    split = {s: made for s, found in radices.items() if (made := digits_of(s, sorted(found))) is not None}

    def put(form: Linear) -> Linear:
        return form.replaced(lambda s: split.get(s) or Linear.of(s))

    symbols = [part for s in own for part in (split[s].symbols() if s in split else (s,))]
    return list(map(put, point)), symbols, [guard.changed(put) for guard in guards]


def _divided(form: Linear, radices: dict[Symbol, set[int]]) -> None:
    """The numbers by which the form divides counters alone."""
    for term in form.terms:
        if isinstance(term, Floor):
            inner = list(term.numerator.terms.items())
            if len(inner) == 1 and isinstance(inner[0][0], Symbol) and inner[0][1] == 1 and not term.numerator.constant:
                radices.setdefault(inner[0][0], set()).add(term.divisor)
            _divided(term.numerator, radices)


def _joined(
    point: list[Linear], extents: list[Linear], of: PayloadOp, labels: Labels
) -> tuple[list[Linear], list[Linear], list[bool]]:
    """Dimensions that are digits of one number as that number."""
    forms, sizes = list(point), list(extents)
    reduced = [kind == "reduction" for kind in of.space.iterators]
    changed = True
    while changed:
        changed = False
        for a in range(len(forms)):
            for b in range(len(forms)):
                if a == b or not sizes[b].is_constant or sizes[b].constant == 1:
                    continue
                joint = forms[a] * sizes[b].constant + forms[b]
                if _floors(joint) < max(_floors(forms[a]), _floors(forms[b])):
                    size = labels.values.product(sizes[a], sizes[b])
                    whole = reduced[a] or reduced[b]
                    forms[a], sizes[a], reduced[a] = joint, size, whole
                    del forms[b], sizes[b], reduced[b]
                    changed = True
                    break
            if changed:
                break
    return forms, sizes, reduced


def _floors(form: Linear) -> int:
    return sum(1 + _floors(term.numerator) for term in form.terms if isinstance(term, Floor))


def _radices(form: Linear) -> tuple[int, Symbol | None] | None:
    """How many numbers a form of counters is, each of them once; and the counter that counts most. None where it is not so."""
    if any(isinstance(term, Floor) for term in form.terms):
        return None
    digits = sorted(((n, s) for s, n in form.terms.items() if isinstance(s, Symbol)), key=lambda each: each[0])
    total, top = 1, None
    for place, (n, s) in enumerate(digits):
        top = s
        if n < total or n != total:
            return None
        if s.high is None:
            return (n, s) if place == len(digits) - 1 else None
        total = n * (s.high + 1)
    return total, top


__all__ = ["Coverage", "coverage", "operations", "structure"]
