"""`scf` and `gpu`: loops and branches, with masks where lanes diverge; threads and barriers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ....interpreter.hardware.lanes import SHUFFLE, WARP_BARRIER
from ....interpreter.hardware.queries import YIELDING
from ....interpreter.ir.mlir import ir, operations
from ...form.kernel_form import axis_of, expected_shuffle, refuse
from ..translate import INT64, Made, Mem, Translator, Val, handles, literal, value_type
from ..values.numeric import COMBINE


def declare(t: Translator, like: Made, depth: int) -> Made:
    """Fresh variables for a value that is assigned in several places."""
    made = [Val(t.fresh(), depth, part.dtype, False, part.shape) for part in pieces(like)]
    return like.of(made) if isinstance(like, Mem) else made[0]


def pieces(carried: Made) -> tuple[Val, ...]:
    return (carried,) if isinstance(carried, Val) else carried.parts


def at_depth(carried: Made, depth: int) -> Made:
    """The variables as values of another scope."""
    made = [replace(part, depth=depth, const=None) for part in pieces(carried)]
    return carried.of(made) if isinstance(carried, Mem) else made[0]


def assign(t: Translator, targets: Sequence[Made], sources: Sequence[Made]) -> None:
    """A simultaneous assignment of values."""
    left = [v.text for target in targets for v in pieces(target)]
    right = [pinned(v, s) for s in sources for v in pieces(s)]
    if left:
        t.emit(f"{', '.join(left)} = {', '.join(right)}")


def chosen(where: str, a: Val, b: Val, like: Made, arms: str = "") -> str:
    """The text of a choice: `a` in the lanes of the mask or condition `where`, `b` elsewhere. Both
    are parts of a value of the same form as `like`."""
    return f"L.choose({where}, {pinned(a, like)}, {pinned(b, like)}, {None if isinstance(like, Mem) else b.rank}{arms})"


def pinned(part: Val, like: Made) -> str:
    """The text of a part. A value gets a NumPy type, because another lane's value may replace
    it."""
    return part.text if isinstance(like, Mem) else part.pinned


def blend(t: Translator, mask: str, targets: Sequence[Made], sources: Sequence[Made]) -> None:
    """Assigns the sources to `targets` in the lanes of `mask`."""
    left, right = [], []
    for target, source in zip(targets, sources, strict=True):
        left += [old.text for old in pieces(target)]
        right += [chosen(mask, new, old, target) for old, new in zip(pieces(target), pieces(source), strict=True)]
    if left:
        t.emit(f"{', '.join(left)} = {', '.join(right)}")


@handles("scf.for")
def scf_for(t: Translator, op: ir.Operation) -> None:
    lower, upper, step = (t.value(v) for v in op.operands[:3])
    body = op.regions[0].blocks[0]
    carried = start(t, op.operands[3:], body.arguments[1:])
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


def start(t: Translator, inits: Sequence[ir.Value], arguments: Sequence[ir.Value]) -> list[Made]:
    """The variables that a loop carries, with their initial values. `arguments`: the block
    arguments that represent them."""
    starts = [t.values[v] for v in inits]
    carried = [declare(t, start, t.depth) for start in starts]
    assign(t, carried, starts)
    for argument, variable in zip(arguments, carried, strict=True):
        t.values[argument] = at_depth(variable, t.depth + 1)
    return carried


def go_on(t: Translator, carried: Sequence[Made], yielded: Sequence[Made], mask: str, outer: str) -> None:
    """Assigns yielded values to carried variables in the lanes of `mask`, a subset of `outer`."""
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
    if t.grouped and any(operations(op, *YIELDING)):  # an op waits for other groups: its arms run concurrently
        return fork(t, op, condition, (taken, other))
    arms: list[list[Made]] = []
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
    merge(t, op, condition, (taken, other), arms)


def merge(
    t: Translator, op: ir.Operation, condition: Val, masks: tuple[str, str], arms: Sequence[Sequence[Made]]
) -> None:
    """The results of a branch, merged from those of its arms."""
    for result, yes, no in zip(op.results, *arms, strict=True) if op.results else ():
        merged = declare(t, yes, t.depth)
        for target, a, b in zip(pieces(merged), pieces(yes), pieces(no), strict=True):
            t.emit(f"{target.text} = {chosen(condition.text, a, b, merged, f', {masks[0]}, {masks[1]}')}")
        t.values[result] = merged


def fork(t: Translator, op: ir.Operation, condition: Val, masks: tuple[str, str]) -> None:
    """The arms as generators; the branch ends when both have ended."""
    arms: list[list[Made]] = []
    branches: list[str] = []
    if any(isinstance(result.type, ir.MemRefType) for result in op.results):
        raise refuse("W0750", "a branch that yields memrefs, and waits for others", op)
    types = [
        Val("", t.depth, dtype, shape=shape) for dtype, shape in (value_type(result.type, op) for result in op.results)
    ]
    for mask, region in zip(masks, op.regions, strict=True):
        if not region.blocks:
            continue
        mine, arm = [declare(t, like, t.depth) for like in types], t.fresh("arm")
        nothing(t, mine)
        with t.block(f"def {arm}():", mask=mask):
            t.emit("yield from ()")
            if mine:
                t.emit(f"nonlocal {', '.join(part.text for one in mine for part in pieces(one))}")
            assign(t, mine, [t.values[v] for v in t.run(region.blocks[0])])
        arms.append(mine)
        branches.append(f"({mask}, {arm})")
    t.emit(f"yield from G.fork(L, {', '.join(branches)})")
    merge(t, op, condition, masks, arms)


def nothing(t: Translator, variables: Sequence[Made]) -> None:
    """Declares the variables without values."""
    for variable in variables:
        for part in pieces(variable):
            t.emit(f"{part.text} = None")


@handles("scf.execute_region")
def execute_region(t: Translator, op: ir.Operation) -> None:
    first, *others = op.regions[0].blocks
    if others:
        raise refuse("W0750", f"`{op.name}` of several blocks", op)
    for result, value in zip(op.results, t.run(first), strict=True):
        t.values[result] = t.values[value]


@handles("scf.index_switch")
def index_switch(t: Translator, op: ir.Operation) -> None:
    waits = t.grouped and any(operations(op, *YIELDING))
    if waits or any(isinstance(result.type, ir.MemRefType) for result in op.results):
        raise refuse("W0750", f"`{op.name}` that yields memrefs, or waits for others", op)
    types = (value_type(result.type, op) for result in op.results)
    made = [declare(t, Val("", t.depth, dtype, shape=shape), t.depth) for dtype, shape in types]
    nothing(t, made)
    selector, left = t.value(op.operands[0]).text, t.fresh("m")
    t.emit(f"{left} = {t.mask}")
    default, *cases = (region.blocks[0] for region in op.regions)
    for number, block in [*zip(ir.DenseI64ArrayAttr(op.attributes["cases"]), cases, strict=True), (None, default)]:
        taken = t.fresh("m")
        chosen_by = f"L.split({left}, {selector} == {number}) if {left} is not False else (False, False)"
        t.emit(f"{taken} = {left}" if number is None else f"{taken}, {left} = {chosen_by}")
        with t.block(f"if {taken} is not False:", mask=taken):
            blend(t, taken, made, [t.values[v] for v in t.run(block)])
    t.values.update(zip(op.results, made, strict=True))


@handles("scf.while")
def scf_while(t: Translator, op: ir.Operation) -> None:
    before, after = op.regions[0].blocks[0], op.regions[1].blocks[0]
    carried = start(t, op.operands, before.arguments)
    mask, going, leaving, rounds = t.fresh("m"), t.fresh("m"), t.fresh("m"), t.fresh("n")
    t.emit(f"{mask}, {rounds} = {t.mask}, 0")
    if any(isinstance(result.type, ir.MemRefType) for result in op.results):
        raise refuse("W0750", "a `while` that yields memrefs", op)
    types = [value_type(result.type, op) for result in op.results]
    results = [Val(t.fresh(), t.depth, dtype, shape=shape) for dtype, shape in types]
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


# ---- gpu: ids, barriers, shuffles --------------------------------------------------------------------------------------

_PLACES = {"gpu.thread_id": "thread_id", "gpu.block_id": "block_id", "gpu.block_dim": "block", "gpu.grid_dim": "grid"}
SPACES = {"workgroup": "shared", "global": "global", "private": "private"}


@handles(*_PLACES)
def identity(t: Translator, op: ir.Operation) -> Val:
    """Ids and sizes, constant for the whole batch."""
    return t.define(f"L.{_PLACES[op.name]}[{axis_of(op)}]", [literal(0)], INT64, uniform=op.name.endswith("dim"))


@handles("gpu.barrier")
def barrier(t: Translator, op: ir.Operation) -> None:
    """A barrier. It orders the address spaces in its list: none if the list is empty, all if there
    is no list.

    A barrier of a narrower scope than the block orders nothing across the block.
    """
    scope = str(op.attributes["scope"]) if "scope" in op.attributes else "workgroup"
    if "workgroup" not in scope and "cluster" not in scope:
        return
    spaces = ("shared", "global")
    if "address_spaces" in op.attributes:
        listed = (str(a) for a in ir.ArrayAttr(op.attributes["address_spaces"]))
        names = {SPACES[word] for text in listed for word in SPACES if f"<{word}>" in text}
        spaces = tuple(space for space in spaces if space in names)
    if t.grouped:
        t.emit(f"yield from G.barrier(L, {t.mask}, {spaces!r}, {t.site(op)})")
    else:
        t.emit(f"L.barrier({t.mask}, {spaces!r}, {t.site(op)})")


@handles(WARP_BARRIER)
def warp_barrier(t: Translator, op: ir.Operation) -> None:
    (named,) = t.operands(op)
    t.emit(f"W.barrier(L, {named.text}, {t.mask}, {t.site(op)})")


@handles(SHUFFLE)
def shuffle(t: Translator, op: ir.Operation) -> None:
    asked = t.constant(expected_shuffle(op, "W0750"), INT64)
    value, offset, _ = t.operands(op)
    pair = t.fresh("x")
    t.emit(f"{pair} = W.shuffle(L, {value.text}, {offset.text}, {asked.text}, {t.mask}, {t.site(op)})")
    for number, result in enumerate(op.results):
        t.values[result] = t.define(f"{pair}[{number}]", [], value_type(result.type, op)[0], pure=False)


@handles("gpu.all_reduce")
def reduce(t: Translator, op: ir.Operation) -> Val:
    """Reduction over the block."""
    attribute = str(op.attributes["op"]) if "op" in op.attributes else ""
    if t.grouped:
        raise refuse("W0750", f"`{op.name}` in a kernel whose warp groups wait for each other", op)
    found = re.search(r"all_reduce_op (\w+)", attribute)
    if found is None or found[1] not in COMBINE:
        raise refuse("W0750", "the simulator reduces blocks with a named operation only", op)
    (value,) = t.operands(op)
    return t.result(op, f"W.reduce(L, {value.text}, {found[1]!r}, {t.mask}, {t.site(op)})", [value], pure=False)
