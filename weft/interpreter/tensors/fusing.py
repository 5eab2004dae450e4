"""Moves producers to their readers: into loops, by upstream's
`transform.structured.fuse_into_containing_op`. Masked loads that were not promoted move into the
body of the op that reads them, so that they are never materialized."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..indices.arithmetic import apply_map
from ..ir import mlir
from ..ir.cloning import clone_body, is_named, replace_operands
from ..ir.copying import fill_value, fill_with
from ..ir.mlir import (
    DYNAMIC,
    ahead_of,
    has_parent,
    ir,
    is_used,
    is_within,
    linalg,
    operations,
    ops_of,
    producer,
    tensor,
    users,
)
from ..ir.refusing import WAS
from ..ir.sizes import iterations_of, measured_dimension
from ..ir.structured import (
    body_of,
    copy_marks,
    dimension_of,
    dynamic_and_static,
    element_type,
    empty,
    generic,
    is_structured,
    loop_inits,
    loop_outputs,
    replace,
    segments,
    shape_of,
    structure,
    uncut,
    yielded,
)
from ..padding import masked_loads
from ..padding.masked_loads import is_masked_load
from ..session.rewriter import Rewriter
from ..session.statement import Handle

_FUSING = "weft.fusing"
_INTO = "weft.into"
_TWIN = "weft.twin"


def fuse_tagged(rewrite: Rewriter, producer: str, loop: Handle) -> None:
    """Fuses the op tagged `producer` into the loop; a refusal of upstream becomes W0311.

    If an op after the loop also reads the producer, upstream rebuilds a `scf.forall` with one more
    result: the new loop gets the attributes of the old one, including tags and map. For a `scf.for`
    upstream would crash there: such a loop gets a copy of the producer with no other reader, and
    the original stays, without the tag.
    """
    old = rewrite.find(loop)
    if old.name != "scf.forall":
        for op in rewrite.tagged(producer):
            if _own_copy(op, old) != op:
                leave_outside(rewrite, op, producer)
    kept = {name: old.attributes[name] for name in old.attributes if name.startswith("weft.")}
    rewrite.transform(
        f"%p = transform.structured.match attributes{{{producer}}} in %root : (!transform.any_op) ->"
        f" !transform.any_op\n"
        + rewrite.matcher("l", loop)
        + "\n%f, %n = transform.structured.fuse_into_containing_op %p into %l"
        " : (!transform.any_op, !transform.any_op) -> (!transform.any_op, !transform.any_op)\n"
        + rewrite.annotate("n", loop)
    )
    new = rewrite.find(loop)
    for name, attribute in kept.items():
        new.attributes[name] = attribute


def fuse_fills(rewrite: Rewriter, op: ir.Operation, tag: str, loop: Handle) -> bool:
    """Fuses an op that fills several tensors with constants. Upstream fuses no op with several
    results, so each tensor gets a fill of its own, the first of them tagged `tag`. Returns False
    for other ops."""
    if len(op.results) < 2 or segments(op)[0] or op.name != "linalg.generic" or len(ops_of(body_of(op))) > 1:
        return False
    fills = []
    with ahead_of(op):
        for value, start in zip(yielded(op), op.operands, strict=True):
            fills.append(fill_with(start, value))
    fills[0].attributes[tag] = op.attributes[tag]
    for fill in fills[1:]:
        fill.attributes[_FUSING] = ir.UnitAttr.get()
    replace(op, [fill.results[0] for fill in fills])
    for number in range(len(fills)):
        if number:
            waiting = rewrite.tagged(_FUSING)[0]
            del waiting.attributes[_FUSING]
            waiting.attributes[_INTO] = ir.UnitAttr.get()
        fuse_tagged(rewrite, _INTO if number else tag, loop)
        for done in rewrite.tagged(_INTO):
            del done.attributes[_INTO]
    return True


def mark_twins(op: ir.Operation, loop: ir.Operation) -> int:
    """Marks the sibling fills of the fill `op`: same value, read by the loop, named by no handle.
    Returns their number.

    One op fills all outputs that start from the same number, until `fuse` makes one fill for each
    in a loop; the handle names only one of them.
    """
    twins = []
    value = fill_value(op)
    for user in [] if value is None else users(value):
        one = user if is_structured(user) else user.parent.operation  # `linalg.yield`, in the body of a fill
        beside = one != op and one.parent == op.parent and (own := fill_value(one)) is not None and own == value
        if beside and not is_named(one):
            twins += [one] if any(is_within(user, loop) for each in one.results for user in users(each)) else []
    for one in twins:
        one.attributes[_TWIN] = ir.UnitAttr.get()
    return len(twins)


def fuse_twins(rewrite: Rewriter, count: int, loop: Handle) -> None:
    """Fuses the fills that `mark_twins` has marked, after the op itself."""
    for _ in range(count):
        waiting = rewrite.tagged(_TWIN)[0]
        del waiting.attributes[_TWIN]
        waiting.attributes[_INTO] = ir.UnitAttr.get()
        fuse_tagged(rewrite, _INTO, loop)
        inside = rewrite.find(loop)
        for one in rewrite.tagged(_INTO):
            del one.attributes[_INTO]
            if not is_within(one, inside):
                remove_if_dead(one)


def start_inside(op: ir.Operation, loop: ir.Operation) -> bool:
    """Lets a `scf.forall` of one iteration compute the start of its shared output: moves `op` into
    it, if the body takes its result as a whole.

    Returns whether it did. Upstream's fusion follows slices, and a tensor that is taken as a whole
    has none.
    """
    from ..mapping.mapping import loop_dimensions

    if loop.name != "scf.forall" or any((d.lower, d.upper, d.step) != (0, 1, 1) for d in loop_dimensions(loop)):
        return False
    starts = [n for n, init in enumerate(loop_inits(loop)) if init in list(op.results)]
    if not (len(op.results) == len(starts) == 1 and is_structured(op)):
        return False
    output, position = loop_outputs(loop)[starts[0]], len(loop.operands) - len(loop.results) + starts[0]
    readers = [user for user in users(output) if user.name != "tensor.parallel_insert_slice"]
    if any(user.name == "tensor.extract_slice" for user in readers):  # the only tile is a slice: upstream's case
        return False
    copy = op.clone(ip=ir.InsertionPoint.at_block_begin(body_of(loop))).operation
    last = len(op.operands) - 1
    loop.operands[position] = op.operands[last]
    copy.operands[last] = output
    for user in readers:
        replace_operands(user, {output: copy.results[0]})
    return True


def leave_outside(rewrite: Rewriter, op: ir.Operation, tag: str) -> None:
    """Keeps the op outside for its other readers; `tag` names the copy of it in the loop from now
    on."""
    del op.attributes[tag]
    rewrite.remark(f"a copy of {op.name} stays outside for its other readers")


def fuse_masked_loads(rewrite: Rewriter, loop: Handle) -> None:
    """Fuses every masked load of which the ops in `loop` read slices: masked loads follow their
    consumer into each tile."""
    while (found := _outside_masked_load(around := rewrite.find(loop))) is not None:
        _own_copy(found, around).attributes[_FUSING] = ir.UnitAttr.get()  # cheaper to compute twice than to keep
        fuse_tagged(rewrite, _FUSING, loop)
        inside = rewrite.find(loop)
        for op in rewrite.tagged(_FUSING):
            del op.attributes[_FUSING]
            if not is_within(op, inside):
                remove_if_dead(op)


def _own_copy(op: ir.Operation, loop: ir.Operation) -> ir.Operation:
    """The op, or a copy of it for the loop if it has other readers as well."""
    if all(is_within(user, loop) for result in op.results for user in users(result)):
        return op
    copy = op.clone(ip=ir.InsertionPoint(op)).operation
    replace_operands(loop, dict(zip(op.results, copy.results, strict=True)))
    return copy


def _outside_masked_load(loop: ir.Operation) -> ir.Operation | None:
    """A masked load outside `loop` of which an op inside takes a slice, directly or through an
    initial value of the loop."""
    outputs = (
        loop_outputs(loop) if loop.name == "scf.forall" else []
    )  # an iteration of a `scf.for` sees the result of the previous one
    for part in operations(loop, "tensor.extract_slice"):
        value = part.operands[0]
        maker = mlir.producer(loop_inits(loop)[outputs.index(value)] if value in outputs else value)
        if maker is not None and is_masked_load(maker) and not is_within(maker, loop):
            return maker
    return None


def is_result_of(value: ir.Value, loop: ir.Operation) -> bool:
    """Whether the value is a result of the loop, possibly cut back to its real shape."""
    maker = mlir.producer(uncut(value))
    return maker is not None and maker == loop


def remove_if_dead(op: ir.Operation) -> bool:
    """Erases `op` if nothing uses its results. Returns whether it did."""
    if is_used(*op.results):
        return False
    op.erase()
    return True


def inline_masked_loads(module: ir.Module) -> bool:
    """Inlines every masked load without inputs that a structured op reads. Returns whether there
    was one."""
    some = False
    for reader in [op for op in operations(module.operation) if is_structured(op)]:
        while (position := _gathered_input(reader)) is not None:
            reader, some = _inline(reader, position), True
    return some


def _gathered_input(op: ir.Operation) -> int | None:
    """The position of the first input of a structured op that is a masked load."""
    makers = (producer(value) for value in list(op.operands)[: segments(op)[0]])
    return next((n for n, maker in enumerate(makers) if maker is not None and masked_loads.is_masked_load(maker)), None)


def _inline(op: ir.Operation, position: int) -> ir.Operation:
    """Rebuilds `op` as a generic without the input at `position`, which is computed in the body
    instead. Returns the new op."""
    gather, space, operands = op.operands[position].owner.operation, structure(op), list(op.operands)
    others = [i for i in range(space.inputs) if i != position]
    inputs, maps = [operands[i] for i in others], [space.maps[i] for i in others]
    results = space.maps[space.inputs :]

    def body(arguments: list[ir.Value]) -> list[ir.Value]:
        indices = [linalg.IndexOp(d).result for d in range(space.rank)]
        where = apply_map(space.maps[position], indices)
        own = [*arguments[: len(others)], *arguments[len(inputs) :]]
        own.insert(position, masked_loads.element_of(gather, where))
        return clone_body(body_of(op), own, indices)

    with ahead_of(op):
        for window, along in _windows(op, [*maps, *results]):
            inputs, maps = [*inputs, window], [*maps, along]
        made = generic(inputs, operands[space.inputs :], [*maps, *results], space.iterators, body)
    copy_marks(op, made)
    if op.name != "linalg.generic" and has_parent(op, "func.func"):
        made.attributes[WAS] = ir.StringAttr.get(op.name)
    replace(op, made.results)
    remove_if_dead(gather)
    return made


def _windows(op: ir.Operation, maps: Sequence[ir.AffineMap]) -> Iterator[tuple[ir.Value, ir.AffineMap]]:
    """Yields operands that only carry extents which no remaining operand has (upstream's pooling
    ops have such an operand as well), each with its map.

    No op reads them: they disappear with the first dead-code elimination after lowering to loops.
    An extent that is the size of a tensor is carried by a one-dimensional slice of that tensor,
    which needs no memory.
    """
    space, kind = structure(op), ir.IntegerType.get_signless(1)
    covered = {dimension_of(e) for m in maps for e in m.results}
    for d, size in enumerate(iterations_of(op, space)):
        if d in covered or size is None:
            continue
        along = ir.AffineMap.get(space.rank, 0, [ir.AffineDimExpr.get(d)])
        if (found := measured_dimension(size)) is None:
            yield empty([size], kind), along
            continue
        whole, axis = found
        sizes = [size if a == axis else 1 for a in range(len(shape_of(whole)))]
        line = ir.RankedTensorType.get([DYNAMIC], element_type(whole))
        yield (
            tensor.ExtractSliceOp(line, whole, *dynamic_and_static([0] * len(sizes), sizes, [1] * len(sizes))).result,
            along,
        )
