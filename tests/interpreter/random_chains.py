"""Random payloads: chains of one to three ops, each of which reads what the one before made; all types, small odd shapes."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

FLOATS, INTEGERS = ("f64", "f32", "f16", "bf16"), ("i64", "i32", "i16", "i8")
SIZES = (1, 1, 2, 3, 3, 5, 7, 8, 11, 13, 16, 17, 24, 32, 33)
DIMENSIONS = ("i", "j", "k")
_PAIRS = {
    "float": ("arith.addf", "arith.subf", "arith.mulf", "arith.maximumf", "arith.minimumf"),
    "int": ("arith.addi", "arith.subi", "arith.muli", "arith.maxsi", "arith.minsi", "arith.xori", "arith.andi", "arith.maxui"),
    "i1": ("arith.andi", "arith.ori", "arith.xori"),
}
_SINGLES = ("math.absf", "arith.negf", "math.exp", "math.tanh")
_COMBINERS = {
    "float": {"arith.addf": "0.0", "arith.mulf": "1.0", "arith.maximumf": None, "arith.minimumf": None},
    "int": {"arith.addi": "0", "arith.muli": "1", "arith.maxsi": None, "arith.minsi": None, "arith.xori": "0"},
    "i1": {"arith.andi": None, "arith.ori": None},
}
_CONVERSIONS = {
    ("f32", "f64"): "arith.extf", ("f16", "f32"): "arith.extf", ("bf16", "f32"): "arith.extf", ("f64", "f32"): "arith.truncf",
    ("f32", "f16"): "arith.truncf", ("f32", "bf16"): "arith.truncf", ("i32", "f32"): "arith.sitofp", ("i8", "i32"): "arith.extsi",
    ("i64", "i16"): "arith.trunci", ("i16", "f64"): "arith.sitofp", ("i1", "i32"): "arith.extui",
}  # fmt: skip


@dataclass
class Op:
    """An op of the payload, as a schedule sees it.

    Args:
        match: what finds it: `linalg.generic #1`.
        space: the extents of its dimensions.
        reduced: those of them that it reduces.
        fill: what finds the fill that its result starts from.
    """

    match: str
    space: tuple[int, ...]
    reduced: tuple[int, ...] = ()
    fill: str | None = None

    @property
    def parallel(self) -> list[int]:
        return [d for d in range(len(self.space)) if d not in self.reduced]


@dataclass
class Payload:
    """Its text in the making: arguments, the ops' lines, and the ops in program order. `steps`: a chain's, last one last."""

    arguments: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    steps: list[Op] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    fills: set[tuple[str, str]] = field(default_factory=set)
    number: int = 0

    def fresh(self) -> str:
        self.number += 1
        return f"%v{self.number}"

    def argument(self, kind: str) -> str:
        self.arguments.append(f"%a{len(self.arguments)}: {kind}")
        return f"%a{len(self.arguments) - 1}"

    def named(self, name: str) -> str:
        self.counts[name] = self.counts.get(name, -1) + 1
        return f"{name} #{self.counts[name]}"

    def empty(self, kind: str) -> str:
        value = self.fresh()
        self.lines.append(f"{value} = tensor.empty() : {kind}")
        return value

    def text(self, value: str, kind: str) -> str:
        body = "".join(f"  {line}\n" for line in self.lines)
        return f"func.func @f({', '.join(self.arguments)}) -> {kind} {{\n{body}  return {value} : {kind}\n}}\n"


def family(kind: str) -> str:
    return "i1" if kind == "i1" else "float" if kind in FLOATS else "int"


def tensor(shape: tuple[int, ...], kind: str) -> str:
    return f"tensor<{''.join(f'{n}x' for n in shape)}{kind}>"


def affine(rank: int, results: list[str]) -> str:
    return f"affine_map<({', '.join(DIMENSIONS[:rank])}) -> ({', '.join(results)})>"


def body(r: random.Random, given: list[tuple[str, str]], kind: str) -> tuple[list[str], str]:
    """Lines that compute a value of type `kind` from the given values (name, type) of that type, and the value."""
    lines: list[str] = []
    have = [name for name, _ in given]
    for number in range(r.randint(1, 3)):
        made = f"%e{number}"
        if family(kind) == "float" and r.random() < 0.3:
            lines.append(f"{made} = {r.choice(_SINGLES)} {r.choice(have)} : {kind}")
        else:
            lines.append(f"{made} = {r.choice(_PAIRS[family(kind)])} {r.choice(have)}, {r.choice(have)} : {kind}")
        have.append(made)
    return lines, have[-1]


def generic(
    p: Payload, ins: list[tuple[str, str, str]], out: tuple[str, str, str], iterators: list[str], lines: list[str], last: str
) -> str:
    """A `linalg.generic`; operands are (value, type, indexing map), block arguments %x0, %x1, … and %acc."""
    value = p.fresh()
    elements = [kind.removesuffix(">").split("x")[-1].split("<")[-1] for _, kind, _ in (*ins, out)]
    names = [f"%x{n}: {e}" for n, e in enumerate(elements[:-1])] + [f"%acc: {elements[-1]}"]
    kinds = ", ".join(f'"{i}"' for i in iterators)
    maps = ", ".join(m for _, _, m in (*ins, out))
    p.lines.append(f"{value} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}")
    p.lines.append(f"  ins({', '.join(v for v, _, _ in ins)} : {', '.join(k for _, k, _ in ins)}) outs({out[0]} : {out[1]}) {{")
    p.lines.append(f"^bb0({', '.join(names)}):")
    p.lines += [f"  {line}" for line in lines]
    p.lines += [f"  linalg.yield {last} : {elements[-1]}", f"}} -> {out[1]}"]
    return value


Made = tuple[str, tuple[int, ...], str]
"""A value, its shape and its element type."""


def elementwise(r: random.Random, p: Payload, made: Made) -> Made:
    """Element by element: with another operand as it is, transposed, repeated along a dimension, or shifted (a stencil)."""
    value, shape, kind = made
    rank, target = len(shape), kind
    conversions = [to for source, to in _CONVERSIONS if source == kind]
    ins = [(value, tensor(shape, kind), affine(rank, list(DIMENSIONS[:rank])))]
    lines: list[str] = []
    given = [("%x0", kind)]
    if conversions and r.random() < 0.25:
        target = r.choice(conversions)
        lines.append(f"%c = {_CONVERSIONS[kind, target]} %x0 : {kind} to {target}")
        given = [("%c", target)]
    how = r.choice(["none", "same", "turned", "row", "shifted", "shifted"])
    if how != "none":
        results, other = list(DIMENSIONS[:rank]), list(shape)
        if how == "turned":
            order = r.sample(range(rank), rank)
            results, other = [DIMENSIONS[d] for d in order], [shape[d] for d in order]
        elif how == "row" and rank > 1:
            dropped = r.randrange(rank)
            del results[dropped], other[dropped]
        elif how == "shifted":
            axis, by = r.randrange(rank), r.randint(1, 2)
            results[axis], other[axis] = f"{results[axis]} + {by}", other[axis] + by
        more = tensor(tuple(other), target)
        ins.append((p.argument(more), more, affine(rank, results)))
        given.append(("%x1", target))
    rest, last = body(r, given, target)
    out = tensor(shape, target)
    match = p.named("linalg.generic")
    result = generic(p, ins, (p.empty(out), out, affine(rank, list(DIMENSIONS[:rank]))), ["parallel"] * rank, [*lines, *rest], last)
    p.steps.append(Op(match, shape))
    return result, shape, target


def transpose(r: random.Random, p: Payload, made: Made) -> Made:
    value, shape, kind = made
    order = r.sample(range(len(shape)), len(shape))
    turned = tuple(shape[d] for d in order)
    out = tensor(turned, kind)
    match, start, result = p.named("linalg.transpose"), p.empty(out), p.fresh()
    p.lines.append(
        f"{result} = linalg.transpose ins({value} : {tensor(shape, kind)}) outs({start} : {out}) permutation = {order}"
    )
    p.steps.append(Op(match, turned))
    return result, turned, kind


def copy(r: random.Random, p: Payload, made: Made) -> Made:
    value, shape, kind = made
    match, start, result = p.named("linalg.copy"), p.empty(tensor(shape, kind)), p.fresh()
    t = tensor(shape, kind)
    p.lines.append(f"{result} = linalg.copy ins({value} : {t}) outs({start} : {t}) -> {t}")
    p.steps.append(Op(match, shape))
    return result, shape, kind


def reduction(r: random.Random, p: Payload, made: Made) -> Made:
    """Over one dimension, from a fill or on top of an argument."""
    value, shape, kind = made
    rank = len(shape)
    if rank < 2:
        return elementwise(r, p, made)
    axis = r.choice([rank - 1, rank - 1, r.randrange(rank)])
    left = tuple(n for d, n in enumerate(shape) if d != axis)
    combiner, neutral = r.choice(list(_COMBINERS[family(kind)].items()))
    out, fill = tensor(left, kind), None
    if neutral is not None and (neutral, out) not in p.fills and r.random() < 0.7:
        p.fills.add((neutral, out))
        zero, start, empty = p.fresh(), p.fresh(), p.empty(out)
        p.lines.append(f"{zero} = arith.constant {neutral} : {kind}")
        p.lines.append(f"{start} = linalg.fill ins({zero} : {kind}) outs({empty} : {out}) -> {out}")
        fill = p.named("linalg.fill")
    else:
        start = p.argument(out)
    maps = affine(rank, list(DIMENSIONS[:rank])), affine(rank, [d for n, d in enumerate(DIMENSIONS[:rank]) if n != axis])
    iterators = ["reduction" if d == axis else "parallel" for d in range(rank)]
    lines = [f"%s = {combiner} %acc, %x0 : {kind}"]
    match = p.named("linalg.generic")
    result = generic(p, [(value, tensor(shape, kind), maps[0])], (start, out, maps[1]), iterators, lines, "%s")
    p.steps.append(Op(match, shape, (axis,), fill))
    return result, left, kind


def product(r: random.Random, p: Payload, made: Made) -> Made:
    """A matrix product, batched where there are three dimensions; accumulated into an argument, or from a fill."""
    value, shape, kind = made
    if len(shape) < 2 or kind == "i1":
        return elementwise(r, p, made)
    *batch, m, k = shape
    n = r.choice(SIZES)
    name = "linalg.batch_matmul" if batch else "linalg.matmul"
    right, out, fill = tensor((*batch, k, n), kind), tensor((*batch, m, n), kind), None
    zero = "0.0" if kind in FLOATS else "0"
    if (zero, out) not in p.fills and r.random() < 0.7:
        p.fills.add((zero, out))
        number, start, empty = p.fresh(), p.fresh(), p.empty(out)
        p.lines.append(f"{number} = arith.constant {zero} : {kind}")
        p.lines.append(f"{start} = linalg.fill ins({number} : {kind}) outs({empty} : {out}) -> {out}")
        fill = p.named("linalg.fill")
    else:
        start = p.argument(out)
    b, result, match = p.argument(right), p.fresh(), p.named(name)
    p.lines.append(f"{result} = {name} ins({value}, {b} : {tensor(shape, kind)}, {right}) outs({start} : {out}) -> {out}")
    rank = len(batch) + 3
    p.steps.append(Op(match, (*batch, m, n, k), (rank - 1,), fill))
    return result, (*batch, m, n), kind


def softmax(r: random.Random, p: Payload, made: Made) -> Made:
    """The maximum of each row, the exponentials of the differences, and their sum: two reductions of what is read twice."""
    value, shape, kind = made
    if len(shape) != 2 or kind not in ("f32", "f64"):
        return elementwise(r, p, made)
    m, _ = shape
    row, whole, each, one = tensor((m,), kind), tensor(shape, kind), affine(2, ["i", "j"]), affine(2, ["i"])
    start = p.argument(row)
    match = p.named("linalg.generic")
    larger = [f"%s = arith.maximumf %acc, %x0 : {kind}"]
    most = generic(p, [(value, whole, each)], (start, row, one), ["parallel", "reduction"], larger, "%s")
    p.steps.append(Op(match, shape, (1,)))
    match = p.named("linalg.generic")
    lines = [f"%d = arith.subf %x0, %x1 : {kind}", f"%s = math.exp %d : {kind}"]
    result = generic(p, [(value, whole, each), (most, row, one)], (p.empty(whole), whole, each), ["parallel"] * 2, lines, "%s")
    p.steps.append(Op(match, shape))
    return reduction(r, p, (result, shape, kind)) if r.random() < 0.5 else (result, shape, kind)


OPS = (elementwise, elementwise, elementwise, transpose, copy, reduction, reduction, product, product, softmax)


def payload(r: random.Random) -> tuple[str, list[Op]]:
    """A payload's text, and its ops in program order (fills aside): the last one makes the result."""
    p = Payload()
    kind = r.choice([*FLOATS, *INTEGERS, "f32", "f32", "i32", "i1"])
    rank = r.choice([1, 2, 2, 2, 3])
    most = {1: 130, 2: 2000, 3: 1500}[rank]
    shape = tuple(r.choice([*SIZES, *([64, 97, 130] if rank == 1 else [])]) for _ in range(rank))
    while len(shape) > 1 and shape[0] * shape[1] * shape[-1] > most:
        shape = tuple(r.choice(SIZES) for _ in range(rank))
    made: Made = (p.argument(tensor(shape, kind)), shape, kind)
    for _ in range(r.choice([1, 1, 1, 2, 2, 3])):
        made = r.choice(OPS)(r, p, made)
    value, shape, kind = made
    return p.text(value, tensor(shape, kind)), p.steps
