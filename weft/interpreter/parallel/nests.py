"""Converts a loop of the payload, if it is proven parallel, to the `scf.forall` that maps
distribute; a perfect nest becomes one of several dimensions."""

from __future__ import annotations

from collections.abc import Sequence

from ...dsl.diagnostics import WeftError
from ...dsl.signature import SpaceSpec
from ..indices.arithmetic import known
from ..ir.mlir import ahead_of, children, ir, is_tensor, is_used, is_within, move_in_front, operations, producer, users
from ..ir.refusing import describe
from ..ir.structured import (
    SEQUENTIAL,
    body_of,
    extents_of,
    insert,
    is_loop,
    is_parallel_op,
    is_structured,
    move_marks,
    segments,
    shape_of,
)
from ..loops.forall import as_forall, end_of, is_fixed, make_forall, one_forall, reduces_nothing, without_affine_loops
from ..mapping.mapping import loop_dimensions, mapping_of
from ..memory.effects import is_pure
from ..memory.table import ATOMIC
from ..session.rewriter import Rewriter
from .collisions import Collision, collision

_STORES = ("memref.store", "affine.store", "vector.store", ATOMIC)


def is_store(op: ir.Operation) -> bool:
    """Whether an op only changes memory, so that `map` executes it as a single iteration."""
    return op.name in _STORES and not is_used(*op.results)


def parallel_nest(rewrite: Rewriter, op: ir.Operation, dimensions: int | None, *, single: bool = False) -> ir.Operation:
    """Replaces a parallel loop by a `scf.forall` with its handle; other ops are returned as they
    are.

    Sequential loops are accepted if no iteration depends on another: `dimensions` perfectly nested
    ones (None: all of them) become one loop. Loops that are parallel in the payload are trusted
    unless a collision is proven. `single`: for one processor, which executes a loop with dependent
    iterations whole.

    Raises:
        WeftError: W0341 for a nest that is not deep enough, W0343 with the two iterations that
            collide.
    """
    if not is_loop(op):
        return op
    if single and op.name in SEQUENTIAL and not any(map(is_tensor, op.results)):
        op = without_affine_loops(op)
        if collision(rewrite.module, op) is not None:
            rewrite.remark("one processor executes it whole, one iteration after the other")
            return whole(rewrite, op, max(dimensions or 1, 1))
    return _for_nest(rewrite, op, dimensions) if op.name.endswith(".for") else _declared(rewrite, op)


def expect_unmapped(rewrite: Rewriter, op: ir.Operation, hint: str) -> None:
    """Refuses a target that has a map: W0340."""
    mapping = mapping_of(op)
    if mapping is not None:
        raise rewrite.error("W0340", f"this is mapped already: `{mapping}`", op, hint)


def single_iteration(rewrite: Rewriter, op: ir.Operation) -> ir.Operation:
    """Wraps a store in a loop of one iteration, so that one processor executes it. Other ops are
    unchanged."""
    if not is_store(op):
        return op
    op = without_affine_loops(op)
    with ahead_of(op):
        loop = make_forall([0], [1], [1])
    move_marks(op, loop)
    op.move_before(end_of(loop))
    return loop


def on_one_processor(
    rewrite: Rewriter, op: ir.Operation, tag: str, space: SpaceSpec, *, shared: bool = False
) -> ir.Operation:
    """Wraps a reduction, or a loop over its tiles, in a loop of one iteration, which one processor
    then executes whole.

    Accepted are a structured op with a reduction, and a `scf.for` that carries tensors of static
    shapes, provided that the space has a single processor, or the result a single element, so that
    there is nothing to distribute. Other ops are unchanged. The handle of `tag` then names the new
    loop. `shared`: a structured op's iterations are to be distributed over several processors.
    """
    tensors = [number for number, result in enumerate(op.results) if isinstance(result.type, ir.RankedTensorType)]
    others = [result for number, result in enumerate(op.results) if number not in tensors]
    reduces = not is_parallel_op(op) if is_structured(op) else op.name == "scf.for" and bool(tensors)
    if not reduces or is_used(*others) or any(None in shape_of(op.results[number]) for number in tensors):
        return op
    outputs = [op.results[number] for number in tensors] or list(op.operands)[segments(op)[0] :]
    single = bool(space.counts) and all(count == 1 for count in space.counts)
    if not single and (any(shape_of(output) for output in outputs) or (shared and is_structured(op))):
        return op
    first, rank = len(op.operands) - len(op.results), max(len(space.axes), 1)
    with ahead_of(op):
        loop = make_forall([0] * rank, [1] * rank, [1] * rank, [op.operands[first + number] for number in tensors])
        copy = op.clone(ip=ir.InsertionPoint(end_of(loop))).operation
        inner = list(body_of(loop).arguments)[rank:]
        with ir.InsertionPoint(end_of(loop).regions[0].blocks[0]):
            for number, output in zip(tensors, inner, strict=True):
                copy.operands[first + number] = output
                shape = extents_of(copy.results[number])
                insert(copy.results[number], output, [0] * len(shape), shape)
        loop.attributes[tag] = copy.attributes[tag]
        del copy.attributes[tag]
        for old, new in zip((op.results[number] for number in tensors), loop.results, strict=True):
            old.replace_all_uses_with(new)
        op.erase()
    rewrite.remark("one processor does it whole")
    return loop


def whole(rewrite: Rewriter, op: ir.Operation, rank: int) -> ir.Operation:
    """Wraps a sequential loop, and the uses of its results, in a loop of one iteration: no value
    leaves a loop of memrefs.

    Raises:
        WeftError: W0343 where a result is used by other ops than arithmetic and stores right after
            the loop.
    """
    with ahead_of(op):
        loop = make_forall([0] * rank, [1] * rank, [1] * rank)
    move_marks(op, loop)
    inside = [op]
    ops = [other.operation for other in op.block.operations]
    for other in ops[ops.index(op) + 1 :]:
        if not any(producer(value) in inside for value in other.operands):
            if not is_pure(other):
                break  # later ops may have to remain after it
        elif is_store(other) or is_pure(other):
            inside.append(other)
        else:
            break
    used = (user for one in inside for result in one.results for user in users(result))
    escaping = [user for user in used if not any(is_within(user, one) for one in inside)]
    if escaping:
        hint = "`memref.store` the loop's results right after it, with only arithmetic in between: the stores move with the loop"
        raise rewrite.error(
            "W0343", "a loop's result is used outside of what one processor does", op, hint, at="target",
            notes=(f"{describe(escaping[0])} uses it",),
        )  # fmt: skip
    for value in [value for one in inside[1:] for value in one.operands]:
        _make_ahead(value, loop, inside)
    for one in inside:
        one.move_before(end_of(loop))
    return loop


def _make_ahead(value: ir.Value, loop: ir.Operation, inside: Sequence[ir.Operation]) -> None:
    """Moves the definition of a value, which is between a loop and its uses, to before the loop."""
    op = producer(value)
    if op is None or op in inside or op.block != loop.block or op.is_before_in_block(loop):
        return
    for operand in op.operands:
        _make_ahead(operand, loop, inside)
    op.move_before(loop)


# ---- loops that say they are parallel --------------------------------------------------------------------------------


def _declared(rewrite: Rewriter, op: ir.Operation) -> ir.Operation:
    if op.results:
        return op
    spelled, inside = op.name, list(operations(op))
    mapped = any("weft.map" in inner.attributes for inner in inside)
    # loads and stores; a loop over tiles of structured ops is parallel by construction
    plain = not mapped and not any(inner.name.startswith(("linalg.", "tensor.", "gpu.")) for inner in inside)
    if plain or op.name != "scf.forall":
        op = without_affine_loops(op)
    if reduces_nothing(op):
        op = as_forall(op)
    rank = len(body_of(op).arguments)
    for dimension in range(rank if plain else 0):
        found = collision(rewrite.module, op, dimension)
        if found is not None and not found.assumed:
            raise _refused(rewrite, op, found, spelled)
    if spelled != op.name:
        rewrite.remark(f"the {spelled} became a {op.name}")
    return op


# ---- sequential loops ------------------------------------------------------------------------------------------------


def _for_nest(rewrite: Rewriter, op: ir.Operation, dimensions: int | None) -> ir.Operation:
    spelled = op.name
    why, nest = "", [without_affine_loops(op)]
    _check_parallel(rewrite, nest[0])
    while dimensions is None or len(nest) < dimensions:
        inner, why = _perfectly_nested(nest, "scf.for")
        if inner is None or (dimensions is None and collision(rewrite.module, inner) is not None):
            break
        _check_parallel(rewrite, inner)
        nest.append(inner)
    if dimensions is not None and len(nest) < dimensions:
        raise rewrite.error(
            "W0341",
            f"{dimensions} axes for {len(nest)} perfectly nested loop{'s' * (len(nest) > 1)}",
            nest[-1],
            f"name {len(nest)} of `x`, `y`, `z`, and `map` the inner loop on its own",
            at="space",
            notes=(why,),
        )
    forall = one_forall(nest, *map(list, zip(*([known(o) for o in loop.operands] for loop in nest), strict=True)))
    count = f"{len(nest)} perfectly nested {spelled} loops are" if len(nest) > 1 else f"the {spelled} is"
    rewrite.remark(f"{count} parallel: no iteration touches what another writes")
    return forall


def _check_parallel(rewrite: Rewriter, loop: ir.Operation) -> None:
    found = collision(rewrite.module, loop)
    if found is not None:
        raise _refused(rewrite, loop, found)


def _perfectly_nested(nest: Sequence[ir.Operation], *kinds: str) -> tuple[ir.Operation | None, str]:
    """The loop of one of the `kinds` directly inside the innermost loop of the nest, if their
    iterations form a box; else the reason why they do not."""
    inner: ir.Operation | None = None
    for op in children(nest[-1])[:-1]:
        if inner is None and op.name in kinds and "weft.map" not in op.attributes:
            inner = op
        elif not is_pure(op):
            return None, f"{describe(op)} is between the loops"
    if inner is None:
        return None, "there is no loop inside"
    if inner.results:
        return None, f"the inner loop carries values from one iteration to the next: {describe(inner)}"
    if not all(is_fixed(bound, nest[0]) for bound in inner.operands):
        return None, f"the bounds of the inner loop depend on the variable of the outer one: {describe(inner)}"
    for bound in inner.operands:
        move_in_front(bound, nest[0])
    return inner, ""


def why_alone(loop: ir.Operation) -> str | None:
    """The reason why no inner loop forms a box with this one; None if there is no inner loop."""
    if not any(map(is_loop, children(loop))):
        return None
    inner, why = _perfectly_nested([loop], *SEQUENTIAL, "scf.forall", "scf.parallel")
    return why if inner is None else f"iterations of the loop inside depend on each other: {describe(inner)}"


def merge_nested(outer: ir.Operation) -> ir.Operation:
    """One `scf.forall` for perfectly nested loops, as long as their bounds form a box."""
    while (inner := _perfectly_nested([outer], "scf.forall", "scf.parallel")[0]) is not None:
        inner = as_forall(inner) if reduces_nothing(inner) else inner
        sides = [(d.lower, d.upper, d.step) for loop in (outer, inner) for d in loop_dimensions(loop)]
        outer = one_forall([outer, inner], *map(list, zip(*sides, strict=True)))
    return outer


def _refused(rewrite: Rewriter, loop: ir.Operation, found: Collision, declared: str | None = None) -> WeftError:
    notes = [*found.what]
    if found.assumed:
        notes.append(
            "assumed, not proven: an index or a condition depends on data, or an op is not known to the analysis;"
            " affine indices,"
            " and ops of memref, affine and vector, make it exact"
        )
    depend = f"{found.pair} of this loop {'may depend' if found.assumed else 'depend'} on each other"
    message = f"{depend}, and a map would distribute them to different processors"
    if declared is not None:
        message = f"the payload declares this {declared} parallel, but {depend}"
    hint = (
        "this loop is a reduction: map a loop around it, and each processor runs it whole; or map it to one,"
        " `threads(x: 1)`"
        if found.reduction
        else "map a loop whose iterations are independent; this one stays inside it, and each processor runs it whole;"
        " or map it"
        " to one, `threads(x: 1)`"
    )
    if found.assumed and declared is None and loop.name in SEQUENTIAL:
        hint += "; or, if the data never makes two iterations write one element (indices that are a permutation), declare it in the"
        hint += " payload: write the loop as `affine.parallel` or `scf.parallel`"
    return rewrite.error("W0343", message, loop, hint, at="target", notes=notes)
