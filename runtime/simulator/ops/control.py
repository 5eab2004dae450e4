"""`scf`: loops and branches, with masks where lanes part ways and without where they don't."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ....interpreter.ir.mlir import ir
from ...kernel_form import refuse
from ..translate import INT64, Mem, Translator, Val, handles
from ..types import value_type

Carried = Val | Mem


def declare(t: Translator, like: Carried, depth: int) -> Carried:
    """Fresh variables for something that is assigned in several places."""
    made = [Val(t.fresh(), depth, part.dtype, False, part.shape) for part in pieces(like)]
    return like.of(made) if isinstance(like, Mem) else made[0]


def pieces(carried: Carried) -> tuple[Val, ...]:
    return (carried,) if isinstance(carried, Val) else carried.parts


def at_depth(carried: Carried, depth: int) -> Carried:
    """The same variables, seen from another scope."""
    made = [replace(part, depth=depth, const=None) for part in pieces(carried)]
    return carried.of(made) if isinstance(carried, Mem) else made[0]


def assign(t: Translator, targets: Sequence[Carried], sources: Sequence[Carried]) -> None:
    """All at once, as values of variables."""
    left = [v.text for target in targets for v in pieces(target)]
    right = [t.pinned(v) if isinstance(s, Val) else v.text for s in sources for v in pieces(s)]
    if left:
        t.emit(f"{', '.join(left)} = {', '.join(right)}")


def blend(t: Translator, mask: str, targets: Sequence[Carried], sources: Sequence[Carried]) -> None:
    """`targets` take the sources in the lanes of `mask`."""
    left, right = [], []
    for target, source in zip(targets, sources, strict=True):
        for old, new in zip(pieces(target), pieces(source), strict=True):
            left.append(old.text)
            if isinstance(target, Mem):
                right.append(f"L.agreed({mask}, {new.text}, {old.text})")
            else:
                right.append(f"L.pick({mask}, {t.pinned(new)}, {old.text}, {old.rank})")
    if left:
        t.emit(f"{', '.join(left)} = {', '.join(right)}")


def loop(
    t: Translator, op: ir.Operation, lower: Val, upper: Val, step: Val, inits: Sequence[ir.Value], body: ir.Block
) -> None:
    """`for`, with the induction variable's type that of `lower`."""
    starts = [t.values[v] for v in inits]
    carried = [declare(t, start, t.depth) for start in starts]
    assign(t, carried, starts)
    inner = t.depth + 1
    wide = lower.dtype == INT64
    for argument, variable in zip(list(body.arguments)[1:], carried, strict=True):
        t.values[argument] = at_depth(variable, inner)
    if all(v.uniform for v in (lower, upper, step)) and wide:
        counter = t.fresh("i")
        with t.block(f"for {counter} in L.steps(range({lower.text}, {upper.text}, max({step.text}, 1))):", loop=True):
            t.values[body.arguments[0]] = Val(counter, inner, INT64, uniform=True)
            assign(t, carried, [t.values[v] for v in t.run(body)])
    else:
        count, most, turn = t.fresh("n"), t.fresh("n"), t.fresh("i")
        t.emit(f"{count} = N.trips({lower.text}, {upper.text}, {step.text}, {t.mask})")
        t.emit(f"{most} = {count} if isinstance({count}, int) else int({count}.max())")
        mask, outer = t.fresh("m"), t.mask
        with t.block(f"for {turn} in L.steps(range({most})):", loop=True, mask=mask):
            t.emit(f"{mask} = {outer} if isinstance({count}, int) else L.split({outer}, {turn} < {count})[0]")
            variable = t.fresh("i")
            t.emit(f"{variable} = {lower.text} + {turn} * {step.text}")
            uniform = lower.uniform and step.uniform
            t.values[body.arguments[0]] = Val(variable, inner, lower.dtype, uniform=uniform)
            results = [t.values[v] for v in t.run(body)]
            if carried:
                with t.block(f"if {mask} is {outer}:"):
                    assign(t, carried, results)
                with t.block("else:"):
                    blend(t, mask, carried, results)
    for result, variable in zip(op.results, carried, strict=True):
        t.values[result] = at_depth(variable, t.depth)


@handles("scf.for")
def scf_for(t: Translator, op: ir.Operation) -> None:
    lower, upper, step = (t.value(v) for v in list(op.operands)[:3])
    loop(t, op, lower, upper, step, list(op.operands)[3:], op.regions[0].blocks[0])


def branch(t: Translator, op: ir.Operation, condition: Val) -> None:
    """`if` with its results."""
    taken, other, outer = t.fresh("m"), t.fresh("m"), t.mask
    t.emit(f"{taken}, {other} = L.split({outer}, {condition.text})")
    arms: list[list[list[Carried]]] = []
    for mask, region in zip((taken, other), op.regions, strict=True):
        if not region.blocks:
            continue
        with t.block(f"if {mask} is not False:", mask=mask):
            yielded = [t.values[v] for v in t.run(region.blocks[0])]
            mine = [declare(t, y, t.depth) for y in yielded]
            assign(t, mine, yielded)
        arms.append([mine])
        if mine:
            empty = ", ".join(v.text for m in mine for v in pieces(m))
            with t.block("else:"):
                t.emit(f"{empty} = {', '.join(['None'] * (empty.count(',') + 1))}")
    if not op.results:
        return
    for result, yes, no in zip(op.results, arms[0][0], arms[1][0], strict=True):
        merged = declare(t, yes, t.depth)
        for target, a, b in zip(pieces(merged), pieces(yes), pieces(no), strict=True):
            if isinstance(merged, Mem):
                t.emit(f"{target.text} = L.agreed_arm({taken}, {other}, {a.text}, {b.text})")
            else:
                values = f"{condition.text}, {taken}, {other}, {a.text}, {b.text}, {target.rank}"
                t.emit(f"{target.text} = L.merge({values})")
        t.values[result] = merged


@handles("scf.if")
def scf_if(t: Translator, op: ir.Operation) -> None:
    branch(t, op, t.value(op.operands[0]))


@handles("scf.while")
def scf_while(t: Translator, op: ir.Operation) -> None:
    before, after = op.regions[0].blocks[0], op.regions[1].blocks[0]
    starts = [t.values[v] for v in op.operands]
    carried = [declare(t, start, t.depth) for start in starts]
    assign(t, carried, starts)
    mask, going, leaving, rounds = t.fresh("m"), t.fresh("m"), t.fresh("m"), t.fresh("n")
    t.emit(f"{mask}, {rounds} = {t.mask}, 0")
    results = [_undefined(t, result, op) for result in op.results]
    for result in results:
        t.emit(f"{', '.join(v.text for v in pieces(result))} = {', '.join(['None'] * len(pieces(result)))}")
    site = t.site(op)
    inner = t.depth + 1
    with t.block("while True:", loop=True, mask=mask):
        for argument, variable in zip(before.arguments, carried, strict=True):
            t.values[argument] = at_depth(variable, inner)
        terminator = t.run(before)
        condition, forwarded = t.value(terminator[0]), [t.values[v] for v in terminator[1:]]
        t.emit(f"{going}, {leaving} = L.split({mask}, {condition.text})")
        if results:
            with t.block(f"if {leaving} is not False:"):
                _leave(t, leaving, results, forwarded)
        with t.block(f"if {going} is False:"):
            t.emit("break")
        t.emit(f"{rounds} = L.turn({rounds}, {site})")
        for argument, value in zip(after.arguments, forwarded, strict=True):
            t.values[argument] = value
        t.mask = going
        yielded = [t.values[v] for v in t.run(after)]
        if carried:
            with t.block(f"if {going} is {mask}:"):
                assign(t, carried, yielded)
            with t.block("else:"):
                blend(t, going, carried, yielded)
        t.emit(f"{mask} = {going}")
    for result, variable in zip(op.results, results, strict=True):
        t.values[result] = variable


def _leave(t: Translator, leaving: str, results: Sequence[Carried], forwarded: Sequence[Carried]) -> None:
    """The lanes of `leaving` take what they forward as their results."""
    for result, value in zip(results, forwarded, strict=True):
        for old, new in zip(pieces(result), pieces(value), strict=True):
            text = t.pinned(new) if isinstance(value, Val) else new.text
            kept = f"L.pick({leaving}, {text}, {old.text}, {old.rank})"
            if isinstance(value, Mem):
                kept = f"L.agreed({leaving}, {text}, {old.text})"
            t.emit(f"{old.text} = {text} if {old.text} is None else {kept}")


def _undefined(t: Translator, result: ir.Value, op: ir.Operation) -> Carried:
    if isinstance(result.type, ir.MemRefType):
        raise refuse("W0750", "a `while` that yields memrefs", op)
    dtype, shape = value_type(result.type, op)
    return Val(t.fresh(), t.depth, dtype, False, shape)

