"""`scf`: loops and branches, with masks where lanes part ways and without where they don't."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ....interpreter.ir.mlir import ir
from ...kernel_form import refuse
from ..translate import INT64, Mem, Translator, Val, handles

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
    right = [pinned(v, s) for s in sources for v in pieces(s)]
    if left:
        t.emit(f"{', '.join(left)} = {', '.join(right)}")


def chosen(where: str, a: Val, b: Val, like: Carried, arms: str = "") -> str:
    """`a` where the lanes are those of the mask (or condition) `where`, else `b`: a part of a value like `like`."""
    return f"L.choose({where}, {pinned(a, like)}, {pinned(b, like)}, {None if isinstance(like, Mem) else b.rank}{arms})"


def pinned(part: Val, like: Carried) -> str:
    """Its text, with a NumPy type where it is a value: another lane's may take its place."""
    return part.text if isinstance(like, Mem) else part.pinned


def blend(t: Translator, mask: str, targets: Sequence[Carried], sources: Sequence[Carried]) -> None:
    """`targets` take the sources in the lanes of `mask`."""
    parts = [(old, chosen(mask, new, old, target)) for target, source in zip(targets, sources, strict=True)
             for old, new in zip(pieces(target), pieces(source), strict=True)]  # fmt: skip
    if parts:
        t.emit(f"{', '.join(old.text for old, _ in parts)} = {', '.join(made for _, made in parts)}")


@handles("scf.for")
def scf_for(t: Translator, op: ir.Operation) -> None:
    lower, upper, step = (t.value(v) for v in list(op.operands)[:3])
    body = op.regions[0].blocks[0]
    carried = start(t, list(op.operands)[3:], list(body.arguments)[1:])
    inner = t.depth + 1
    if all(v.uniform for v in (lower, upper, step)) and lower.dtype == INT64:
        counter = t.fresh("i")
        with t.block(f"for {counter} in L.steps(range({lower.text}, {upper.text}, max({step.text}, 1))):", loop=True):
            t.values[body.arguments[0]] = Val(counter, inner, INT64, uniform=True)
            assign(t, carried, [t.values[v] for v in t.run(body)])
    else:
        count, most, turn = t.fresh("n"), t.fresh("n"), t.fresh("i")
        t.emit(f"{count} = N.trips({lower.text}, {upper.text}, {step.text}, {t.mask})")
        t.emit(f"{most} = {count} if isinstance({count}, int) else int({count}.max())")
        mask, outer, variable = t.fresh("m"), t.mask, t.fresh("i")
        with t.block(f"for {turn} in L.steps(range({most})):", loop=True, mask=mask):
            t.emit(f"{mask} = {outer} if isinstance({count}, int) else L.split({outer}, {turn} < {count})[0]")
            t.emit(f"{variable} = {lower.text} + {turn} * {step.text}")
            t.values[body.arguments[0]] = Val(variable, inner, lower.dtype, uniform=lower.uniform and step.uniform)
            go_on(t, carried, [t.values[v] for v in t.run(body)], mask, outer)
    for result, variable in zip(op.results, carried, strict=True):
        t.values[result] = at_depth(variable, t.depth)


def start(t: Translator, inits: Sequence[ir.Value], arguments: Sequence[ir.Value]) -> list[Carried]:
    """The variables of what a loop carries, with their initial values; `arguments` are these inside of it."""
    starts = [t.values[v] for v in inits]
    carried = [declare(t, start, t.depth) for start in starts]
    assign(t, carried, starts)
    for argument, variable in zip(arguments, carried, strict=True):
        t.values[argument] = at_depth(variable, t.depth + 1)
    return carried


def go_on(t: Translator, carried: Sequence[Carried], yielded: Sequence[Carried], mask: str, outer: str) -> None:
    """The next turn has what this one yields, in the lanes of `mask`, out of those of `outer`."""
    if carried:
        with t.block(f"if {mask} is {outer}:"):
            assign(t, carried, yielded)
        with t.block("else:"):
            blend(t, mask, carried, yielded)


@handles("scf.if")
def scf_if(t: Translator, op: ir.Operation) -> None:
    condition = t.value(op.operands[0])
    taken, other = t.fresh("m"), t.fresh("m")
    t.emit(f"{taken}, {other} = L.split({t.mask}, {condition.text})")
    arms: list[list[Carried]] = []
    for mask, region in zip((taken, other), op.regions, strict=True):
        if not region.blocks:
            continue
        with t.block(f"if {mask} is not False:", mask=mask):
            yielded = [t.values[v] for v in t.run(region.blocks[0])]
            mine = [declare(t, y, t.depth) for y in yielded]
            assign(t, mine, yielded)
        arms.append(mine)
        if mine:
            with t.block("else:"):
                nothing(t, mine)
    for result, yes, no in zip(op.results, *arms, strict=True) if op.results else ():
        merged = declare(t, yes, t.depth)
        for target, a, b in zip(pieces(merged), pieces(yes), pieces(no), strict=True):
            t.emit(f"{target.text} = {chosen(condition.text, a, b, merged, f', {taken}, {other}')}")
        t.values[result] = merged


def nothing(t: Translator, variables: Sequence[Carried]) -> None:
    """They have no values yet."""
    for variable in variables:
        for part in pieces(variable):
            t.emit(f"{part.text} = None")


@handles("scf.while")
def scf_while(t: Translator, op: ir.Operation) -> None:
    before, after = op.regions[0].blocks[0], op.regions[1].blocks[0]
    carried = start(t, op.operands, before.arguments)
    mask, going, leaving, rounds = t.fresh("m"), t.fresh("m"), t.fresh("m"), t.fresh("n")
    t.emit(f"{mask}, {rounds} = {t.mask}, 0")
    if any(isinstance(result.type, ir.MemRefType) for result in op.results):
        raise refuse("W0750", "a `while` that yields memrefs", op)
    results = [t.variable(result, t.depth, op) for result in op.results]
    nothing(t, results)
    site = t.site(op)
    with t.block("while True:", loop=True, mask=mask):
        terminator = t.run(before)
        condition, forwarded = t.value(terminator[0]), [t.values[v] for v in terminator[1:]]
        t.emit(f"{going}, {leaving} = L.split({mask}, {condition.text})")
        if results:
            with t.block(f"if {leaving} is not False:"):
                for old, new in zip(results, (t.value(v) for v in terminator[1:]), strict=True):
                    t.emit(f"{old.text} = {new.pinned} if {old.text} is None else {chosen(leaving, new, old, old)}")
        with t.block(f"if {going} is False:"):
            t.emit("break")
        t.emit(f"{rounds} = L.turn({rounds}, {site})")
        for argument, value in zip(after.arguments, forwarded, strict=True):
            t.values[argument] = value
        t.mask = going
        go_on(t, carried, [t.values[v] for v in t.run(after)], going, mask)
        t.emit(f"{mask} = {going}")
    for result, variable in zip(op.results, results, strict=True):
        t.values[result] = variable
