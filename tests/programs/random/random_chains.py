"""Random payloads: chains of one to three ops, each of which reads what the one before made, and perhaps what an earlier one did;
generic ops and named ones, all types, small odd shapes."""

from __future__ import annotations

import random

from chain_parts import (
    COMBINERS,
    CONVERSIONS,
    DIMENSIONS,
    FLOATS,
    INTEGERS,
    PAIRS,
    SIZES,
    Made,
    Op,
    Payload,
    affine,
    body,
    family,
    generic,
    tensor,
)  # fmt: skip

BINARY = {
    "float": ("add", "sub", "mul", "max", "min"), "int": ("add", "sub", "mul", "max", "min"), "i1": ("add", "mul"),
}
UNARY = ("abs", "negf", "tanh", "square")


def elementwise(r: random.Random, p: Payload, made: Made) -> Made:
    """Element by element: with another operand as it is, transposed, repeated along a dimension, or shifted (a stencil)."""
    value, shape, kind = made
    rank, target = len(shape), kind
    conversions = [to for source, to in CONVERSIONS if source == kind]
    ins = [(value, tensor(shape, kind), affine(rank, list(DIMENSIONS[:rank])))]
    lines: list[str] = []
    given = [("%x0", kind)]
    if conversions and r.random() < 0.25:
        target = r.choice(conversions)
        lines.append(f"%c = {CONVERSIONS[kind, target]} %x0 : {kind} to {target}")
        given = [("%c", target)]
    how = r.choice(["none", "same", "turned", "row", "shifted", "shifted", "earlier", "position"] if rank else ["none", "same"])
    earlier = [v for v, s, k in p.made if (s, k) == (shape, target) and v != value]
    if how == "earlier" and earlier:
        ins.append((r.choice(earlier), tensor(shape, target), affine(rank, list(DIMENSIONS[:rank]))))
        given.append(("%x1", target))
    elif how == "position" and target in ("index", "i64", "i32", "i8"):
        lines.append(f"%at = linalg.index {r.randrange(rank)} : index")
        lines += [] if target == "index" else [f"%n = arith.index_cast %at : index to {target}"]
        given.append(("%at" if target == "index" else "%n", target))
    elif how != "none":
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


def named(r: random.Random, p: Payload, made: Made) -> Made:
    """Element by element, by an op that has a name, or that names what it does."""
    value, shape, kind = made
    whole, result = tensor(shape, kind), p.fresh()
    if kind == "index" or r.random() < 0.3:
        other, name = p.argument(whole), "linalg.map"
        inner = r.choice([op for op in PAIRS[family(kind)] if "sub" not in op])
        text = f"linalg.map {{ {inner} }} ins({value}, {other} : {whole}, {whole}) outs({p.empty(whole)} : {whole})"
    elif family(kind) == "float" and r.random() < 0.5:
        name = f"linalg.{r.choice(UNARY)}"
        text = f"{name} ins({value} : {whole}) outs({p.empty(whole)} : {whole}) -> {whole}"
    else:
        other, name = p.argument(whole), f"linalg.{r.choice(BINARY[family(kind)])}"
        text = f"{name} ins({value}, {other} : {whole}, {whole}) outs({p.empty(whole)} : {whole}) -> {whole}"
    p.lines.append(f"{result} = {text}")
    p.steps.append(Op(p.named(name), shape))
    return result, shape, kind


def broadcast(r: random.Random, p: Payload, made: Made) -> Made:
    value, shape, kind = made
    if len(shape) > 2:
        return elementwise(r, p, made)
    axis = r.randint(0, len(shape))
    wider = (*shape[:axis], r.choice((1, 2, 3, 5)), *shape[axis:])
    out, result = tensor(wider, kind), p.fresh()
    start = p.empty(out)
    given = f"ins({value} : {tensor(shape, kind)}) outs({start} : {out})"
    p.lines.append(f"{result} = linalg.broadcast {given} dimensions = [{axis}]")
    p.steps.append(Op(p.named("linalg.broadcast"), wider))
    return result, wider, kind


def transpose(r: random.Random, p: Payload, made: Made) -> Made:
    value, shape, kind = made
    if not shape:
        return elementwise(r, p, made)  # upstream's own parser aborts
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
    """Over one dimension, from a fill or on top of an argument: a generic op, or `linalg.reduce`."""
    value, shape, kind = made
    rank = len(shape)
    if rank == 0:
        return elementwise(r, p, made)
    axis = r.choice([rank - 1, rank - 1, r.randrange(rank)])
    left = tuple(n for d, n in enumerate(shape) if d != axis)
    combiner, neutral = r.choice(list(COMBINERS[family(kind)].items()))
    out = tensor(left, kind)
    start, fill = p.start(r, left, kind, neutral)
    maps = affine(rank, list(DIMENSIONS[:rank])), affine(rank, [d for n, d in enumerate(DIMENSIONS[:rank]) if n != axis])
    if r.random() < 0.3:
        result, match = p.fresh(), p.named("linalg.reduce")
        given = f"ins({value} : {tensor(shape, kind)}) outs({start} : {out})"
        p.lines.append(f"{result} = linalg.reduce {{ {combiner} }} {given} dimensions = [{axis}]")
        p.steps.append(Op(match, shape, (axis,), fill))
        return result, left, kind
    iterators = ["reduction" if d == axis else "parallel" for d in range(rank)]
    lines = [f"%s = {combiner} %acc, %x0 : {kind}"]
    match = p.named("linalg.generic")
    result = generic(p, [(value, tensor(shape, kind), maps[0])], (start, out, maps[1]), iterators, lines, "%s")
    p.steps.append(Op(match, shape, (axis,), fill))
    return result, left, kind


def product(r: random.Random, p: Payload, made: Made) -> Made:
    """A matrix product, batched where there are three dimensions; accumulated into an argument, or from a fill."""
    value, shape, kind = made
    if len(shape) < 2 or kind in ("i1", "index"):
        return elementwise(r, p, made)
    *batch, m, k = shape
    n = r.choice(SIZES)
    name = "linalg.batch_matmul" if batch else "linalg.matmul"
    right, out = tensor((*batch, k, n), kind), tensor((*batch, m, n), kind)
    start, fill = p.start(r, (*batch, m, n), kind, "0.0" if kind in FLOATS else "0")
    b, result, match = p.argument(right), p.fresh(), p.named(name)
    p.lines.append(f"{result} = {name} ins({value}, {b} : {tensor(shape, kind)}, {right}) outs({start} : {out}) -> {out}")
    rank = len(batch) + 3
    p.steps.append(Op(match, (*batch, m, n, k), (rank - 1,), fill))
    return result, (*batch, m, n), kind


def vector(r: random.Random, p: Payload, made: Made) -> Made:
    """A matrix by a vector, or a vector by a matrix."""
    value, shape, kind = made
    if len(shape) != 2 or kind in ("i1", "index"):
        return elementwise(r, p, made)
    (m, k), right, result = shape, r.random() < 0.6, p.fresh()
    left = (m if right else k,)
    start, fill = p.start(r, left, kind, "0.0" if kind in FLOATS else "0")
    other, out = tensor((k if right else m,), kind), tensor(left, kind)
    ins = [(value, tensor(shape, kind)), (p.argument(other), other)][:: 1 if right else -1]
    name = "linalg.matvec" if right else "linalg.vecmat"
    given = f"ins({', '.join(v for v, _ in ins)} : {', '.join(t for _, t in ins)})"
    p.lines.append(f"{result} = {name} {given} outs({start} : {out}) -> {out}")
    space = (m, k) if right else (k, m)
    p.steps.append(Op(p.named(name), space, (1,), fill))
    return result, left, kind


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


OPS = (
    elementwise, elementwise, elementwise, named, named, transpose, copy, broadcast, reduction, reduction, reduction, product,
    product, vector, softmax,
)  # fmt: skip


def payload(r: random.Random) -> tuple[str, list[Op]]:
    """A payload's text, and its ops in program order (fills aside): the last one makes the result."""
    p = Payload()
    kind = r.choice([*FLOATS, *INTEGERS, "f32", "f32", "i32", "i1", "i1"])
    rank = r.choice([1, 2, 2, 2, 3])
    most = {1: 130, 2: 2000, 3: 1500}[rank]
    shape = tuple(r.choice([*SIZES, *([64, 97, 130] if rank == 1 else [])]) for _ in range(rank))
    while len(shape) > 1 and shape[0] * shape[1] * shape[-1] > most:
        shape = tuple(r.choice(SIZES) for _ in range(rank))
    made: Made = (p.argument(tensor(shape, kind)), shape, kind)
    for _ in range(r.choice([1, 1, 1, 2, 2, 3])):
        p.made.append(made)
        made = r.choice(OPS)(r, p, made)
    value, shape, kind = made
    return p.text(value, tensor(shape, kind)), p.steps
