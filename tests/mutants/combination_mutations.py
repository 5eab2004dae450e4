"""What may go wrong where threads combine what they have reduced: its sites by kind, one small edit of a kernel each."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import partial

from mutations import Mutant, Site, context

from weft.interpreter.hardware.lanes import SHUFFLE
from weft.interpreter.ir import mlir
from weft.interpreter.ir.functions import PARTICIPANTS
from weft.interpreter.ir.mlir import ir, operations
from weft.interpreter.proof.combination.combination import is_marked
from weft.interpreter.proof.combination.reached_ops import LOAD, STORE, Reached, array_of, continues
from weft.interpreter.reductions.identities import COMMUTATIVE


def mutants(text: str, kind: str, r: random.Random, most: int) -> Iterator[Mutant]:
    """At most so many mutants of the kind, whose sites are drawn; each of them still verifies."""
    count = len(SITES[kind](mlir.parse(text, context())))
    for number in sorted(r.sample(range(count), min(most, count))):
        module = mlir.parse(text, context())
        with module.context, ir.Location.unknown():
            what = SITES[kind](module)[number]()
        assert module.operation.verify(), what
        yield Mutant(kind, what, str(module))


def _reached(module: ir.Module) -> Iterator[Reached]:
    """Of each kernel with parts, what they reach."""
    for kernel in operations(module.operation, "gpu.func"):
        if parts := [op.results[0] for op in operations(kernel, "memref.alloca") if is_marked(op)]:
            yield Reached(kernel, parts)


def _ops(module: ir.Module) -> Iterator[tuple[Reached, ir.Operation]]:
    for reached in _reached(module):
        yield from ((reached, op) for op in operations(reached.kernel) if op in reached.ops)


def _combining(module: ir.Module) -> list[tuple[ir.Operation, int]]:
    """Ops that combine two values, and the operand that is made of parts."""
    found = []
    for reached, op in _ops(module):
        if op.name in COMMUTATIVE and "f32" in str(op.results[0].type) + "f32" * (op.name[-1] == "i"):
            made = [n for n, operand in enumerate(op.operands) if operand in reached.values]
            found += [(op, n) for n in made]
    return found


def combines(module: ir.Module) -> list[Site]:
    """An op that combines two values hands on one of them."""

    def dropped(op: ir.Operation, number: int) -> str:
        what = f"{op} is its operand {number} alone"
        op.results[0].replace_all_uses_with(op.operands[number])
        return what

    return [partial(dropped, op, number) for op, number in _combining(module)]


def doubled(module: ir.Module) -> list[Site]:
    """What is combined is combined with once more."""

    def again(op: ir.Operation, number: int) -> str:
        what = f"{op} has its operand {number} twice"
        first = ir.Operation.create(op.name, [op.results[0].type], list(op.operands), ip=ir.InsertionPoint(op))
        op.operands[1 - number] = first.results[0]
        return what

    return [partial(again, op, number) for op, number in _combining(module)]


def distances(module: ir.Module) -> list[Site]:
    """A shuffle takes another lane's value."""

    def changed(op: ir.Operation, distance: int) -> str:
        what = f"{op} by {distance}"
        with ir.InsertionPoint(op):
            kind = op.operands[1].type
            value = ir.IntegerAttr.get(kind, distance)
            other = ir.Operation.create("arith.constant", [kind], attributes={"value": value}).results[0]
        op.operands[1] = other
        return what

    found = []
    for _, op in _ops(module):
        if op.name == SHUFFLE and (now := mlir.constant_of(op.operands[1])) is not None:
            found += [partial(changed, op, other) for other in (now // 2, now * 2 % 32, now + 1) if other not in (now, 32)]
    return found


def identities(module: ir.Module) -> list[Site]:
    """A part begins with another number."""

    def exchanged(op: ir.Operation) -> str:
        what = f"{op} stores 3"
        kind = op.operands[0].type
        value = ir.FloatAttr.get(kind, 3.0) if isinstance(kind, ir.FloatType) else ir.IntegerAttr.get(kind, 3)
        op.operands[0] = ir.Operation.create(
            "arith.constant", [kind], attributes={"value": value}, ip=ir.InsertionPoint(op)
        ).results[0]
        return what

    begun = [(r, op) for r, op in _ops(module) if op.name == STORE and array_of(op) in r.parts]
    return [partial(exchanged, op) for _, op in begun if mlir.made_by(op.operands[0], "arith.constant") is not None]


def guards(module: ir.Module) -> list[Site]:
    """Who leaves a part in shared memory, or writes the result: others, too, or nobody."""

    def always(op: ir.Operation, truth: int) -> str:
        what = f"{op.operands[0]} is {bool(truth)}"
        kind = ir.IntegerType.get_signless(1)
        value = ir.IntegerAttr.get(kind, truth)
        op.operands[0] = ir.Operation.create(
            "arith.constant", [kind], attributes={"value": value}, ip=ir.InsertionPoint(op)
        ).results[0]
        return what

    found = []
    for reached, op in _ops(module):
        if op.name == "scf.if" and not len(op.results):
            inside = [o for o in operations(op, STORE) if o.operands[0] in reached.values or array_of(o) in reached.arrays]
            own = {*reached.parts, *reached.begins.values(), *reached.carried}
            loads = [(o, mlir.made_by(o.operands[0], LOAD)) for o in inside]  # not copies of results: they are there already
            inside = [o for o, load in loads if load is None or array_of(load) in own]
            terms = any(array_of(o) in reached.parts for o in operations(op, STORE))  # a thread's own: not asked here
            found += [partial(always, op, truth) for truth in (0, 1) if inside and not terms]
    return found


def cells(module: ir.Module) -> list[Site]:
    """A part in shared memory is left, or found, at the next place, modulo how many there are."""

    def shifted(op: ir.Operation, number: int, size: int) -> str:
        what = f"{op}, one further"
        index, step = ir.IndexType.get(), ir.AffineMapAttr.get(
            ir.AffineMap.get(1, 0, [ir.AffineExpr.get_mod(ir.AffineExpr.get_dim(0) + 1, size)])
        )  # fmt: skip
        op.operands[number] = ir.Operation.create(
            "affine.apply", [index], [op.operands[number]], {"map": step}, ip=ir.InsertionPoint(op)
        ).results[0]
        return what

    found = []
    for reached, op in _ops(module):
        if op.name in (LOAD, STORE) and array_of(op) in reached.arrays and "workgroup" in str(array_of(op).type):
            shape, first = list(ir.MemRefType(array_of(op).type).shape), 2 if op.name == STORE else 1
            found += [partial(shifted, op, first + n, size) for n, size in enumerate(shape) if size > 1]
    return found


def starts(module: ir.Module) -> list[Site]:
    """One thread alone stores what a result begins with, in an array that each thread has of its own."""

    def alone(op: ir.Operation) -> str:
        what = f"only thread 0 does {op}"
        with ir.InsertionPoint(op):
            thread = mlir.gpu.thread_id(mlir.gpu.Dimension.x)
            zero = mlir.arith.constant(ir.IndexType.get(), 0)
            choice = mlir.scf.IfOp(mlir.arith.cmpi(mlir.arith.CmpIPredicate.eq, thread, zero))
            with ir.InsertionPoint(choice.then_block):
                end = mlir.scf.YieldOp([])
        op.move_before(end.operation)
        return what

    begun = [op for r, op in _ops(module) if op.name == STORE and array_of(op) in r.results and not continues(op)]
    return [partial(alone, op) for op in begun]


def participants(module: ir.Module) -> list[Site]:
    """Who takes part is stated otherwise: along one axis more, or less."""

    def stated(ops: list[ir.Operation], text: str) -> str:
        for op in ops:
            op.attributes[PARTICIPANTS] = ir.Attribute.parse(f"affine_set<(x, y, z)[px, py, pz] : ({text})>")
        return f"stated: {text}"

    found: list[Site] = []
    for kernel in operations(module.operation, "gpu.func"):
        if parts := [op for op in operations(kernel, "memref.alloca") if is_marked(op)]:
            x, y, _ = sizes = list(ir.DenseI32ArrayAttr(kernel.attributes["known_block_size"]))
            own, its = (f"({p}x + {x} * {p}y + {x * y} * {p}z)" for p in ("", "p"))
            warps, lanes = (f"{own} {way} 32 - {its} {way} 32 == 0" for way in ("floordiv", "mod"))
            texts = [f"{a} - p{a} == 0" for a, size in zip("xyz", sizes, strict=True) if size > 1]
            texts += ["0 == 0", warps, lanes, f"{own} mod 16 - {its} mod 16 == 0"]
            found += [partial(stated, parts, text) for text in texts]
    return found


SITES: dict[str, Callable[[ir.Module], list[Site]]] = {
    "combine": combines, "doubled": doubled, "distance": distances, "identity": identities, "guard": guards, "cell": cells,
    "start": starts, "participants": participants,
}  # fmt: skip
