"""What may go wrong in a kernel that was right, one small edit of the final module each: its sites by kind.

A site is a function that makes its edit and tells what it was. Sites of a kind come in the order of the module's text, so that the
n-th of a parsed copy is the n-th of the module.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from math import prod

from weft.interpreter.hardware.lanes import ALL_LANES, BARRIERS, SHUFFLE, WARP_BARRIER
from weft.interpreter.ir import mlir
from weft.interpreter.ir.mlir import ir

Site = Callable[[], str]
SPACES = ("workgroup", "global", "private")
INDICES = {"memref.load": 1, "memref.store": 2, "vector.load": 1, "vector.store": 2, "memref.atomic_rmw": 2}
"""Where the indices of an access begin among its operands."""
ATOMICS = {0: "arith.addf", 1: "arith.addi"}
"""By the kind of a `memref.atomic_rmw`, the op that it does."""


@dataclass(frozen=True)
class Mutant:
    kind: str
    what: str
    text: str


@cache
def context() -> ir.Context:
    return mlir.context()


def mutants(text: str, kind: str, r: random.Random, most: int) -> Iterator[Mutant]:
    """At most so many mutants of the kind, whose sites are drawn; each of them still verifies."""
    count = len(SITES[kind](mlir.parse(text, context())))
    for number in sorted(r.sample(range(count), min(most, count))):
        module = mlir.parse(text, context())
        with module.context, ir.Location.unknown():
            what = SITES[kind](module)[number]()
        assert module.operation.verify(), what
        yield Mutant(kind, what, str(module))


def barriers(module: ir.Module) -> list[Site]:
    def deleted(barrier: ir.Operation) -> str:
        what = f"deleted {barrier}"
        barrier.erase()
        return what

    return [partial(deleted, b) for b in mlir.operations(module.operation, *BARRIERS)]


def masks(module: ir.Module) -> list[Site]:
    """A lane less is named by a barrier of its warp."""

    def cleared(barrier: ir.Operation, lane: int) -> str:
        what = f"{barrier} without lane {lane}"
        kind = barrier.operands[0].type
        value = ir.IntegerAttr.get(kind, ALL_LANES - (1 << lane))
        less = ir.Operation.create("arith.constant", [kind], attributes={"value": value}, ip=ir.InsertionPoint(barrier))
        barrier.operands[0] = less.result
        return what

    return [partial(cleared, b, lane) for b in mlir.operations(module.operation, WARP_BARRIER) for lane in (0, 7, 31)]


def lanes(module: ir.Module) -> list[Site]:
    """A thread does not come to a shuffle: it keeps its own value."""

    def left_out(shuffle: ir.Operation, thread: int) -> str:
        what = f"{shuffle} without thread {thread}"
        at, index, truth = ir.InsertionPoint(shuffle), ir.IndexType.get(), ir.IntegerType.get_signless(1)

        def constant(value: ir.IntegerAttr, place: ir.InsertionPoint) -> ir.Value:
            return ir.Operation.create("arith.constant", [value.type], attributes={"value": value}, ip=place).result

        (kernel,) = (op for op in mlir.ancestors(shuffle) if op.name == "gpu.func")
        own, before = constant(ir.IntegerAttr.get(index, 0), at), 1
        for axis, size in zip("xyz", ir.DenseI32ArrayAttr(kernel.attributes["known_block_size"]), strict=True):
            dimension = {"dimension": ir.Attribute.parse(f"#gpu<dim {axis}>")}
            along = ir.Operation.create("gpu.thread_id", [index], attributes=dimension, ip=at).result
            step = constant(ir.IntegerAttr.get(index, before), at)
            term = ir.Operation.create("arith.muli", [index], [along, step], ip=at).result
            own, before = ir.Operation.create("arith.addi", [index], [own, term], ip=at).result, before * size
        unequal = {"predicate": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 1)}
        others = [own, constant(ir.IntegerAttr.get(index, thread), at)]
        come = ir.Operation.create("arith.cmpi", [truth], others, unequal, ip=at).result
        types = [result.type for result in shuffle.results]
        branch = ir.Operation.create("scf.if", types, [come], regions=2, ip=at)
        for old, new in zip(shuffle.results, branch.results, strict=True):
            old.replace_all_uses_with(new)
        then, otherwise = (ir.Block.create_at_start(region) for region in branch.regions)
        with ir.InsertionPoint(then):
            shuffle.move_before(ir.Operation.create("scf.yield", operands=list(shuffle.results)))
        end = ir.InsertionPoint(otherwise)
        kept = [shuffle.operands[0], constant(ir.IntegerAttr.get(truth, 0), end)]
        ir.Operation.create("scf.yield", operands=kept, ip=end)
        return what

    return [partial(left_out, op, thread) for op in mlir.operations(module.operation, SHUFFLE) for thread in (0, 5, 31)]


def fences(module: ir.Module) -> list[Site]:
    """What a barrier fences becomes nothing, or one space."""

    def narrowed(barrier: ir.Operation, spaces: tuple[str, ...]) -> str:
        what = f"{barrier} fences {spaces}"
        barrier.attributes["address_spaces"] = ir.Attribute.parse(f"[{', '.join(f'#gpu.address_space<{s}>' for s in spaces)}]")
        return what

    kept = [(), *((space,) for space in SPACES)]
    return [partial(narrowed, b, spaces) for b in mlir.operations(module.operation, "gpu.barrier") for spaces in kept]


def tokens(module: ir.Module) -> list[Site]:
    """An operation of the host waits for one token less."""

    def dropped(op: ir.Operation, number: int) -> str:
        what = f"{op} without its token {number}"
        operands = list(op.operands)
        del operands[number]
        attributes = {name: op.attributes[name] for name in op.attributes}
        if "operandSegmentSizes" in attributes:
            first, *rest = ir.DenseI32ArrayAttr(attributes["operandSegmentSizes"])
            attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([first - 1, *rest])
        types = [result.type for result in op.results]
        made = ir.Operation.create(op.name, types, operands, attributes, ip=ir.InsertionPoint(op), loc=op.location)
        for old, new in zip(op.results, made.results, strict=True):
            old.replace_all_uses_with(new)
        op.erase()
        return what

    hosts = mlir.operations(module.operation, "gpu.launch_func", "gpu.wait", "gpu.memcpy", "gpu.memset", "gpu.alloc", "gpu.dealloc")
    return [partial(dropped, op, n) for op in hosts for n, v in enumerate(op.operands) if str(v.type) == "!gpu.async.token"]


def indices(module: ir.Module) -> list[Site]:
    """Of dimensions with more than one element: of the others the text has no index, which can be 0 alone."""

    def shifted(op: ir.Operation, number: int, by: int) -> str:
        what = f"operand {number} of {op} shifted by {by}"
        op.operands[number] = _sum(op, op.operands[number], by)
        return what

    return [
        partial(shifted, op, number, by)
        for kernel in mlir.operations(module.operation, "gpu.func")
        for op in mlir.operations(kernel, *INDICES)
        for number in range(INDICES[op.name], len(op.operands))
        if ir.ShapedType(op.operands[INDICES[op.name] - 1].type).get_dim_size(number - INDICES[op.name]) != 1
        for by in (1, -1)
    ]


def counts(module: ir.Module) -> list[Site]:
    """One block or thread more or less along an axis of a launch; a loop that steps or goes further, or not as far."""
    sites: list[Site] = []
    kernels = {str(ir.StringAttr(k.attributes["sym_name"]).value): k for k in mlir.operations(module.operation, "gpu.func")}

    def launched(op: ir.Operation, number: int, axis: int, known: str, by: int) -> str:
        kernel = kernels[str(op.attributes["kernel"]).split("@")[-1]]
        what = f"{known} {axis} of {op} changed by {by}"
        op.operands[number] = _sum(op, op.operands[number], by)
        if known in kernel.attributes:
            sizes = list(ir.DenseI32ArrayAttr(kernel.attributes[known]))
            sizes[axis] += by
            kernel.attributes[known] = ir.DenseI32ArrayAttr.get(sizes)
        return what

    def looped(op: ir.Operation, number: int, by: int) -> str:
        what = f"operand {number} of {str(op).splitlines()[0]} changed by {by}"
        op.operands[number] = _sum(op, op.operands[number], by)
        return what

    for op in mlir.operations(module.operation, "gpu.launch_func"):
        first = sum(str(v.type) == "!gpu.async.token" for v in op.operands)
        sizes = [_constant(v) for v in list(op.operands)[first : first + 6]]
        for n, size in enumerate(sizes):
            for by in (1, -1):
                changed = [None if s is None else s + by * (n == i) for i, s in enumerate(sizes)]
                threads = [s for s in changed[3:] if s is not None]
                if size is not None and changed[n] != 0 and prod(threads) <= 1024:
                    known = "known_grid_size" if n < 3 else "known_block_size"
                    sites.append(partial(launched, op, first + n, n % 3, known, by))
    for kernel in kernels.values():
        for op in mlir.operations(kernel, "scf.for"):
            steps = [1, -1] if (_constant(op.operands[2]) or 1) > 1 else [1]  # a step of 0 would never end
            sites += [partial(looped, op, 1, by) for by in (1, -1)] + [partial(looped, op, 2, by) for by in steps]
    return sites


def atomics(module: ir.Module) -> list[Site]:
    """A load, the operation, and a store."""

    def plain(op: ir.Operation) -> str:
        what = f"{op} is not atomic"
        value, memory, *at = op.operands
        place = ir.InsertionPoint(op)
        old = ir.Operation.create("memref.load", [value.type], [memory, *at], ip=place)
        name = ATOMICS[ir.IntegerAttr(op.attributes["kind"]).value]
        new = ir.Operation.create(name, [value.type], [old.result, value], ip=place)
        ir.Operation.create("memref.store", [], [new.result, memory, *at], ip=place)
        op.results[0].replace_all_uses_with(old.result)
        op.erase()
        return what

    return [partial(plain, op) for op in mlir.operations(module.operation, "memref.atomic_rmw")]


SITES: dict[str, Callable[[ir.Module], list[Site]]] = {
    "barrier": barriers, "mask": masks, "lane": lanes, "fence": fences, "token": tokens, "index": indices, "count": counts,
    "atomic": atomics,
}  # fmt: skip


def _sum(op: ir.Operation, value: ir.Value, by: int) -> ir.Value:
    place = ir.InsertionPoint(op)
    number = ir.Operation.create(
        "arith.constant", [value.type], attributes={"value": ir.IntegerAttr.get(value.type, by)}, ip=place
    )
    return ir.Operation.create("arith.addi", [value.type], [value, number.result], ip=place).result


def _constant(value: ir.Value) -> int | None:
    op = value.owner
    known = isinstance(op, ir.Operation | ir.OpView) and op.operation.name == "arith.constant"
    return ir.IntegerAttr(op.operation.attributes["value"]).value if known else None
