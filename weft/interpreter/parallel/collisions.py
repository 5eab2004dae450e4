"""Dependent iterations of a loop, with an example.

The dependence test is exact (ISL). The loop is copied into a separate kernel, in which block x
executes iteration x. Two iterations are dependent if their blocks access the same element and at
least one writes it: the race analysis between blocks finds these.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from ...dsl.diagnostics import WeftError
from ...dsl.records import record
from ..indices.arithmetic import known
from ..ir.mlir import ancestors, ir, operations, producer, run_passes
from ..ir.refusing import describe
from ..ir.structured import body_of
from ..mapping.mapping import loop_dimensions, mapping_of
from ..memory.effects import is_memref
from ..memory.layouts import is_shared, value_name
from ..memory.views import may_share
from ..outlining.kernel import FOLD_VIEWS, outline, to_loops
from ..session.rewriter import Rewriter


@record
class Collision:
    """Two iterations of a loop that must not run concurrently.

    Args:
        iterations: the values of the loop variable, or the iterations' numbers where the bounds are
            not known; None where the analysis gives no example.
        what: the two accesses as text, one line each.
        assumed: not proven: an index depends on data, or the analysis does not know an op.
        reduction: both update an element that does not depend on the loop variable.
    """

    iterations: tuple[int, int] | None
    what: tuple[str, ...]
    assumed: bool
    reduction: bool = False

    @property
    def pair(self) -> str:
        if self.iterations is None:
            return "two iterations"
        return f"iterations {self.iterations[0]} and {self.iterations[1]}"


def collision(
    module: ir.Module, loop: ir.Operation, dimension: int = 0, *, by_blocks: bool = False
) -> Collision | None:
    """Two dependent iterations of `loop`; for a loop of several dimensions, iterations of one
    dimension, with the indices of the earlier dimensions fixed. None if there are none.

    The module is only read. Affine loops must be lowered before (`without_affine_loops`).
    `by_blocks`: each iteration has shared memory of its own.
    """
    if loop.name == "scf.for" and loop.results:  # each iteration needs the values that the previous one yields
        first, step = _numbers(loop) or (0, 1)
        values = "a value" if len(loop.results) == 1 else f"{len(loop.results)} values"
        what = f"each iteration hands {values} to the next ({describe(loop)})"
        return Collision((first, first + step), (what,), False, True)
    with module.context, loop.location:
        trial = outline(module, loop)
        overlap = _may_overlap(trial.operands)
        if overlap is not None:
            return Collision(None, (overlap,), True)
        try:
            passes = [*to_loops({op.name for op in operations(trial.function)}), FOLD_VIEWS]
            run_passes(trial.module, f"gpu.module(gpu.func({','.join(passes)}))")
        except ir.MLIRError as error:
            return Collision(None, (str(error).splitlines()[0],), True)
        try:
            return _collision_in(trial.function, trial.operands, dimension, by_blocks)
        except WeftError as error:
            return Collision(None, tuple(d.message for d in error.diagnostics), True)


def _may_overlap(operands: Sequence[ir.Value]) -> str | None:
    """Whether two of the buffers may be the same. (The analysis assumes that different arguments
    are different buffers.)"""
    buffers = [o for o in operands if is_memref(o)]
    for one, other in combinations(buffers, 2):
        if may_share(one, other):
            op = producer(other) or producer(one)
            return f"{'a buffer' if op is None else describe(op)} may be, or be a part of, another buffer of the loop"
    return None


def _collision_in(
    kernel: ir.Operation, operands: Sequence[ir.Value], dimension: int, by_blocks: bool
) -> Collision | None:
    """A collision between blocks of a kernel. `operands`: the host's values of its arguments."""
    from ..indices.algebra import LaunchShape
    from ..indices.linear import NOTHING, less
    from ..proof.kernels.places import PlaceStep
    from ..proof.kernels.reader import Reader
    from ..proof.races.conflicts import conflicts_between_blocks

    body = body_of(kernel)
    reader = Reader("loop", LaunchShape((1, 1, 1), (None, 1, 1)), passed_in_rows=True)
    for argument, operand in zip(body.arguments, operands, strict=True):
        if isinstance(argument.type, ir.MemRefType):
            own = by_blocks and is_shared(argument.type)
            reader.views.root(argument, value_name(argument), "workgroup" if own else "global", shows=operand)
        else:
            reader.values.bind(argument, reader.values.opaque(NOTHING), NOTHING)
    reader.find_written(kernel)
    loop = _loop_in(body)
    for _ in range(dimension):
        reader.values.bind(body_of(loop).arguments[0], reader.values.opaque(NOTHING), NOTHING)
        loop = _loop_in(body_of(loop))
    low, high, step = (reader.values.linear(v) for v in list(loop.operands)[:3])
    if not step.is_constant:
        step = reader.values.opaque(NOTHING, 1)  # a loop's step is positive
    variable = low + reader.values.product(reader.values.hardware("block_id", "x"), step)
    inner = body_of(loop)
    reader.values.bind(inner.arguments[0], variable)
    reader.block(inner, (PlaceStep(0, 0, (less(variable, high),)),))
    found = conflicts_between_blocks(reader.finish())
    if not found:
        return None
    worst = min(found, key=lambda c: (c.assumed, c.kind == "WAW"))
    if worst.first is None or worst.second is None:
        return Collision(None, worst.notes(), True)
    start, by = _numbers(loop) or (0, 1)
    pair = tuple(start + (instance.block[0] or 0) * by for instance in (worst.first, worst.second))
    element = (
        f"{worst.buffer}[{', '.join(map(str, worst.element))}]" if worst.element else f"an element of {worst.buffer}"
    )
    verbs = {"read": "reads", "write": "writes"}
    one_each = sorted(zip(pair, (worst.first, worst.second), strict=True), key=lambda one: one[0])
    what = tuple(f"iteration {at} {verbs[one.kind]} {element}: {one.op}" for at, one in one_each)
    return Collision((one_each[0][0], one_each[1][0]), what, worst.assumed, _accumulates(inner))


def expect_apart(rewrite: Rewriter, op: ir.Operation, name: str) -> None:
    """Refuses a tile of the buffer `name` that an op writes back, if iterations of mapped loops
    around it collide: W0468."""
    around = [
        (loop, mapping)
        for loop in ancestors(op)
        if loop.name == "scf.forall" and (mapping := mapping_of(loop)) is not None
    ]
    for loop, mapping in around:
        for dimension in range(len(loop_dimensions(loop))):
            found = collision(rewrite.module, loop, dimension, by_blocks=mapping.space == "blocks")
            if found is not None and not found.assumed:
                raise rewrite.error(
                    "W0468",
                    f"{found.pair} of a loop around it would share an element of `{name}`, and one writes it back",
                    op,
                    "let the loop write its whole tile in the payload, without `scf.if`; or leave this statement out",
                    at="operand",
                    notes=(f"the loop around it: {describe(loop)}", *found.what),
                )


def _loop_in(block: ir.Block) -> ir.Operation:
    """The loop of a block that contains one loop, and index arithmetic."""
    return next(op.operation for op in block.operations if op.operation.name == "scf.for")


def _numbers(loop: ir.Operation) -> tuple[int, int] | None:
    """Lower bound and step, if both are constant."""
    low, step = known(loop.operands[0]), known(loop.operands[2])
    return (low, step) if isinstance(low, int) and isinstance(step, int) else None


def _accumulates(body: ir.Block) -> bool:
    """Whether the body loads and stores the same subscripts, none of them the loop's variable: a
    reduction."""
    variable = body.arguments[0]
    loop = body.owner.operation
    loads = {tuple(op.operands) for op in operations(loop, "memref.load") if variable not in list(op.operands)}
    return any(tuple(op.operands)[1:] in loads for op in operations(loop, "memref.store"))
