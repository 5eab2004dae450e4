"""Parallel loops in other forms: any parallel loop as a `scf.forall`, several dimensions as one,
strips and their iterations.

Affine loops and accesses become `scf` and `memref` in one loop, and not in the whole module
(upstream's `lower-affine`). The subscripts remain `affine.apply`s, which the analysis reads; only
ops that require an affine loop around them are rewritten.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice

from ..indices.arithmetic import Bound, apply_map, ceildiv, conjunction, constant, delinearise, index_of, known, minimum
from ..indices.arithmetic import inside as inside_of
from ..indices.linear import Linear
from ..indices.values import largest
from ..ir.affine_maps import constraints
from ..ir.mlir import (
    affine,
    ahead_of,
    arith,
    attributes,
    children,
    ir,
    is_tensor,
    made_within,
    memref,
    operations,
    ops_of,
    producer,
    scf,
    vector,
)
from ..ir.structured import body_of, copy_marks, loop_inits, loop_outputs, move_marks, replace, yielded
from ..mapping.mapping import LoopDimension, loop_dimensions, product
from ..memory.effects import is_pure
from ..reductions.identities import COMBINERS, identity, number


def make_forall(
    lower: Sequence[Bound], upper: Sequence[Bound], step: Sequence[Bound], shared: Sequence[ir.Value] = ()
) -> ir.Operation:
    """An empty loop, at the ambient insertion point; its shared outputs start with `shared`."""
    loop = scf.ForallOp(list(lower), list(upper), list(step), list(shared)).operation
    block = body_of(loop)
    if not list(block.operations):
        with ir.InsertionPoint(block):
            scf.InParallelOp()
    return loop


def end_of(forall: ir.Operation) -> ir.Operation:
    """The terminator, before which the body is inserted."""
    return list(body_of(forall).operations)[-1].operation


def one_forall(
    nest: Sequence[ir.Operation], lower: Sequence[Bound], upper: Sequence[Bound], step: Sequence[Bound]
) -> ir.Operation:
    """Replaces perfectly nested loops without results by a single loop with these bounds, and with
    the handles of the first loop. Index arithmetic between the loops moves inside."""
    root = nest[0]
    with ahead_of(root):
        forall = make_forall(lower, upper, step)
    move_marks(root, forall)
    end, arguments = end_of(forall), iter(body_of(forall).arguments)
    for loop in nest:
        body = body_of(loop)
        for variable in body.arguments:
            variable.replace_all_uses_with(next(arguments))
        for op in list(body.operations)[:-1]:
            if op.operation not in nest:
                op.operation.move_before(end)
    root.erase()
    return forall


def as_forall(loop: ir.Operation) -> ir.Operation:
    """Replaces a `scf.parallel` without reductions by a `scf.forall`; attributes (handles) are
    kept."""
    rank = len(body_of(loop).arguments)
    bounds = [known(o) for o in loop.operands]
    return one_forall([loop], bounds[:rank], bounds[rank : 2 * rank], bounds[2 * rank : 3 * rank])


def carrying_nest(loop: ir.Operation) -> list[ir.Operation]:
    """A loop that carries numbers, and the loops inside from which each loop gets them, outermost
    first: together they are one loop of several dimensions."""
    nest = [loop]
    while nest[-1].name == "scf.for":
        body = body_of(nest[-1])
        inner = [op for op in ops_of(body) if len(op.regions)]
        if len(inner) != 1 or inner[0].name != "scf.for" or not inner[0].results:
            break
        (next_one,) = inner
        passed, results = loop_outputs(nest[-1]), list(next_one.results)
        alone = loop_inits(next_one) == passed and results == yielded(nest[-1])
        alone = alone and all(len(list(value.uses)) == 1 for value in (*passed, *results))
        if not alone or not all(is_fixed(bound, loop) for bound in list(next_one.operands)[:3]):
            break
        nest.append(next_one)
    return nest


def is_fixed(value: ir.Value, loop: ir.Operation) -> bool:
    """Whether a value is the same in all iterations of a loop, and depends on no memory read inside."""
    if not made_within(value, loop):
        return True
    op = producer(value)
    return op is not None and op != loop and is_pure(op) and all(is_fixed(operand, loop) for operand in op.operands)


def reduces_nothing(op: ir.Operation) -> bool:
    """Whether `op` is a `scf.parallel` without reductions."""
    return op.name == "scf.parallel" and not op.results


def coalesce(loop: ir.Operation) -> ir.Operation:
    """A `scf.forall` of one dimension in place of one of several; on tensors, too. Its own handle
    is not carried over.

    A trip count known only at run time, but bounded (such as that of the strips of a loop that is
    cut), is replaced by its bound, and the body is guarded. So divisions are by constants, and
    there can be a thread for each iteration.
    """
    dimensions = loop_dimensions(loop)
    body = body_of(loop)
    with ahead_of(loop):
        trips = [d.trips() for d in dimensions]
        box = _box(loop, trips)
        total = product(box)
        flat = make_forall([0], [total], [1], loop_inits(loop))
    inside, end = body_of(flat), end_of(flat)
    with ir.InsertionPoint(end), loop.location:
        known = total if isinstance(total, int) else None
        indices = delinearise(index_of(inside.arguments[0], known), box)
        for variable, dimension, index in zip(body.arguments, dimensions, indices, strict=False):
            variable.replace_all_uses_with(dimension.induction(index))
        larger = [(i, n) for i, n, extent in zip(indices, trips, box, strict=True) if extent != n]
        inner = [c for i, n in larger for c in inside_of(i, n)]
        target = end
        if inner:  # the box has more iterations than the loop
            guard = scf.IfOp(conjunction(inner))
            with ir.InsertionPoint(guard.then_block):
                target = scf.YieldOp([]).operation
    for old, new in zip(list(body.arguments)[len(dimensions) :], list(inside.arguments)[1:], strict=True):
        old.replace_all_uses_with(new)
    *ops, terminator = children(loop)
    for op in ops:
        op.move_before(target)
    terminator.move_before(end)
    end.erase()
    replace(loop, flat.results)
    return flat


def in_a_row(loop: ir.Operation) -> ir.Operation:
    """`coalesce`, with the loop's marks and handles."""
    marks = {name: attribute for name, attribute in attributes(loop).items() if name.startswith("weft.")}
    flat = coalesce(loop)
    for name, attribute in marks.items():
        flat.attributes[name] = attribute
    return flat


def _box(loop: ir.Operation, trips: Sequence[Bound]) -> list[Bound]:
    """The extents by which the index is decomposed: constants, if each trip count has an upper
    bound."""
    most = [largest(n) for n in trips]
    if loop.results or all(isinstance(n, int) for n in trips) or None in most:
        return list(trips)
    return [n for n in most if n is not None]


def cut(loop: ir.Operation, sizes: Sequence[int | None]) -> tuple[ir.Operation, ir.Operation]:
    """Tiles a `scf.forall` without results: the loop over strips, and the one inside. Without a
    size a dimension stays inside, whole.

    The last strip ends at the loop's own bound; if the size divides the extent, the inner trip
    count is the size, a constant.
    """
    dimensions = loop_dimensions(loop)
    body = body_of(loop)
    cuts = [position for position, size in enumerate(sizes) if size]
    with ahead_of(loop):
        trips = [d.trips() for d in dimensions]
        counts: list[Bound] = [ceildiv(trips[p], sizes[p] or 1) for p in cuts]
        outer = make_forall([0] * len(cuts), counts, [1] * len(cuts))
    strip = body_of(outer)
    starts = [Linear.of()] * len(dimensions)
    for argument, position in zip(strip.arguments, cuts, strict=True):
        starts[position] = index_of(argument) * (sizes[position] or 1)
    with ir.InsertionPoint(end_of(outer)), loop.location:
        inner_trips = list(trips)  # a strip's size, or the rest at the end
        for d, (n, start, size) in enumerate(zip(trips, starts, sizes, strict=True)):
            if size:
                divides = isinstance(n, int) and n % size == 0
                inner_trips[d] = size if divides else minimum(index_of(n) - start, size)
        inner = make_forall([0] * len(dimensions), inner_trips, [1] * len(dimensions))
    points = body_of(inner)
    with ir.InsertionPoint(end_of(inner)), loop.location:
        for variable, argument, start, dimension in zip(
            body.arguments, points.arguments, starts, dimensions, strict=True
        ):
            variable.replace_all_uses_with(dimension.induction(start + index_of(argument)))
    for op in children(loop)[:-1]:
        op.move_before(end_of(inner))
    loop.erase()
    return outer, inner


def trips_text(dimensions: Sequence[LoopDimension]) -> str:
    """`4 × ? × 7`, for the step's report."""
    return " × ".join("?" if d.static_trips is None else str(d.static_trips) for d in dimensions)


@contextmanager
def body_as_loop(forall: ir.Operation) -> Iterator[ir.Operation]:
    """Wraps an iteration's body in a loop of one iteration, for as long as the context is open."""
    *inside, end = body_of(forall).operations
    with ir.InsertionPoint(end), forall.location:
        one = scf.ForOp(constant(0), constant(1), constant(1))
        with ir.InsertionPoint(one.body):
            last = scf.YieldOp([])
    for op in inside:
        op.operation.move_before(last.operation)
    yield one.operation
    for op in [*one.body.operations][:-1]:
        op.operation.move_before(one.operation)
    one.operation.erase()


def without_affine_loops(root: ir.Operation) -> ir.Operation:
    """Rewrites `root` and its body, innermost first; returns the loop that replaces `root`.

    Handles (`weft.*` attributes) are kept.
    """
    made = root
    for op in reversed(list(operations(root))):  # the root comes last
        made = _rewrite(op)
    return made


def affine_loops_of_tensors_to_scf(module: ir.Module) -> None:
    """Rewrites each `affine.for` that carries tensors, with its body, in place: upstream bufferizes
    only loops of scf."""
    while loop := next(
        (op for op in operations(module.operation, "affine.for") if any(map(is_tensor, op.results))), None
    ):
        without_affine_loops(loop)


def _rewrite(op: ir.Operation) -> ir.Operation:
    with ahead_of(op):
        match op.name:
            case "affine.for":
                return _for(op)
            case "affine.parallel":
                return _parallel(op)
            case "affine.if":
                return _if(op)
            case "affine.load" | "affine.vector_load":
                subscripts = apply_map(_map(op, "map"), list(op.operands)[1:])
                if op.name == "affine.load":
                    made = memref.LoadOp(op.operands[0], subscripts).operation
                else:
                    made = vector.LoadOp(op.results[0].type, op.operands[0], subscripts).operation
            case "affine.store" | "affine.vector_store":
                subscripts = apply_map(_map(op, "map"), list(op.operands)[2:])
                store = memref.StoreOp if op.name == "affine.store" else vector.StoreOp
                made = store(op.operands[0], op.operands[1], subscripts).operation
            case _:
                return op
    return _replace(op, made)


def _replace(op: ir.Operation, made: ir.Operation) -> ir.Operation:
    copy_marks(op, made)
    replace(op, made.results)
    return made


def _map(op: ir.Operation, name: str) -> ir.AffineMap:
    return ir.AffineMapAttr(op.attributes[name]).value


def _extreme(mapping: ir.AffineMap, operands: Sequence[ir.Value], *, most: bool) -> ir.Value:
    """The largest lower bound, or the smallest upper bound."""
    if len(mapping.results) == 1:
        return apply_map(mapping, operands)[0]
    kind = affine.AffineMaxOp if most else affine.AffineMinOp
    return kind(mapping, list(operands)).result


def _for(op: ir.Operation) -> ir.Operation:
    lows, highs, inits = (int(n) for n in ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
    operands = list(op.operands)
    low = _extreme(_map(op, "lowerBoundMap"), operands[:lows], most=True)
    high = _extreme(_map(op, "upperBoundMap"), operands[lows : lows + highs], most=False)
    step = constant(ir.IntegerAttr(op.attributes["step"]).value)
    starts = operands[lows + highs : lows + highs + inits]
    return _with_regions(op, "scf.for", [low, high, step, *starts])


def _with_regions(op: ir.Operation, name: str, operands: Sequence[ir.Value]) -> ir.Operation:
    """Replaces an op of `affine` by the one of `scf`, with the same blocks, and each `affine.yield`
    by a `scf.yield`."""
    made = ir.Operation.create(name, [r.type for r in op.results], operands, regions=len(op.regions))
    for source, target in zip(op.regions, made.regions, strict=True):
        for block in list(source.blocks):
            end = block.operations[-1].operation
            with ahead_of(end):
                scf.YieldOp(list(end.operands))
            end.erase()
            block.append_to(target)
    return _replace(op, made)


def _parallel(op: ir.Operation) -> ir.Operation:
    """A `scf.forall`, or a `scf.parallel` that reduces; each dimension's bounds are a group of the
    map's results."""
    lower, upper = _map(op, "lowerBoundsMap"), _map(op, "upperBoundsMap")
    operands = list(op.operands)
    own, others = operands[: lower.n_inputs], operands[lower.n_inputs :]
    lows = [_extreme(group, own, most=True) for group in _groups(op, "lowerBoundsGroups", lower)]
    highs = [_extreme(group, others, most=False) for group in _groups(op, "upperBoundsGroups", upper)]
    steps = [ir.IntegerAttr(s).value for s in ir.ArrayAttr(op.attributes["steps"])]
    if op.results:
        return _reducing(op, [*lows, *highs, *map(constant, steps)])
    return one_forall([op], [known(n) for n in lows], [known(n) for n in highs], steps)


def _reducing(op: ir.Operation, bounds: Sequence[ir.Value]) -> ir.Operation:
    """A `scf.parallel` with the combiners that the op states as attributes."""
    kinds = (arith.AtomicRMWKind(ir.IntegerAttr(kind).value) for kind in ir.ArrayAttr(op.attributes["reductions"]))
    combiners, types = [COMBINERS[str(kind)] for kind in kinds], [result.type for result in op.results]
    inits = [number(identity(name), kind) for name, kind in zip(combiners, types, strict=True)]
    rank, body = len(bounds) // 3, body_of(op)
    sizes = ir.DenseI32ArrayAttr.get([rank, rank, rank, len(inits)])
    made = ir.Operation.create(
        "scf.parallel", types, [*bounds, *inits], {"operandSegmentSizes": sizes}, regions=1, loc=op.location
    )
    end = body.operations[-1].operation
    with ahead_of(end):
        reduce = ir.Operation.create("scf.reduce", [], list(end.operands), regions=len(types))
        for region, name, kind in zip(reduce.regions, combiners, types, strict=True):
            block = region.blocks.append(kind, kind)
            with ir.InsertionPoint(block):
                combined = ir.Operation.create(name, [kind], list(block.arguments)).results
                ir.Operation.create("scf.reduce.return", [], list(combined))
    end.erase()
    body.append_to(made.regions[0])
    return _replace(op, made)


def _groups(op: ir.Operation, name: str, mapping: ir.AffineMap) -> list[ir.AffineMap]:
    sizes = ir.DenseIntElementsAttr(op.attributes[name])
    numbers = iter(range(len(mapping.results)))
    return [mapping.get_submap(list(islice(numbers, int(sizes[position])))) for position in range(len(sizes))]


def _if(op: ir.Operation) -> ir.Operation:
    mapping, equalities = constraints(op.attributes["condition"])
    zero, predicates = constant(0), arith.CmpIPredicate
    conditions = [
        arith.CmpIOp(predicates.eq if equality else predicates.sge, form, zero).result
        for equality, form in zip(equalities, apply_map(mapping, list(op.operands)), strict=True)
    ]
    return _with_regions(op, "scf.if", [conjunction(conditions)])
