"""Coverage of a kernel. For each reduction of the payload that the kernel executes: each iteration
is executed once, for its own result, from the right initial value; and padding changes no result.
This is coverage and disjointness, in addition to race freedom.

It is computed before the maps of a loop are materialized. `combination` then proves, of the
finished kernel, that the processors of a shared reduction combine their parts correctly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

from ....dsl.records import record
from ...indices.linear import NOTHING, TRUE, Formula, Linear, Symbol, both
from ...ir.functions import own_name
from ...ir.mlir import ancestors, ir, made_by, operations, ops_of, producer
from ...ir.structured import body_of, element_type, is_read, segments
from ...memory.views import changes
from ...outlining.kernel import Outlined
from ...reductions.identities import IDEMPOTENT, combination, identity
from ..solver import Unknown, is_zero
from .exactly_once import Unclear, expect_once, expect_order, reads_outside
from .host_pieces import HostPieces
from .labels import Read
from .launch_contents import Left, found_in, to_leave, written_after
from .nests import NestExecuted
from .payload.bodies import CASTS, value_of
from .payload.elements import Coordinates, Element, Key
from .payload.initial_payload import Untouched, size
from .payload.payloads import BEFORE, UNDIVIDED, PayloadOp, PayloadOps
from .points import Executes, computes_as, pads_otherwise, solved, unread
from .results import NOT_RETURNED, as_wanted, left_in, returned, unwritten
from .walk import Walk


@record
class Coverage:
    """The verdict on one reduction of the payload in a kernel.

    Args:
        verdict: `once`: each iteration is executed once, for its own result; `wrong`: a fault was
            found; `assumed`: unknown.
        of: the payload's op.
        words: the number of iterations; the fault; or the reason why it is unknown.
    """

    verdict: Literal["once", "wrong", "assumed"]
    of: PayloadOp
    words: str

    @property
    def op(self) -> str:
        """`linalg.matmul at payload.mlir:4:8`."""
        return f"{self.of.name} at {self.of.location}".replace("loc(", "").replace(")", "").replace('"', "")

    @property
    def line(self) -> str:
        """The verdict, for reports."""
        what = "proven" if self.verdict == "once" else "assumed"  # values decide whether an apparent fault is one
        words = f"it seems that {self.words}" if self.verdict == "wrong" else self.words
        return f"combination {what}: {words} ({self.op})"


def coverage(
    kernel: Outlined, loop: ir.Operation, untouched: Untouched
) -> tuple[list[Coverage], dict[ir.Value, Left | None]]:
    """Judges the reductions that a kernel executes, before its maps are materialized.

    Args:
        kernel: the mapped loop, on memrefs.
        loop: the original loop in the host's function.
        untouched: the payload.

    Returns:
        a verdict for each reduction; and, as far as known, the contents that the kernel leaves in
            buffers of the host.
    """
    with kernel.module.context, kernel.root.location:
        payload = PayloadOps.of(untouched, loop)
        walk = Walk(payload)
        for argument, operand in zip(kernel.entry.arguments, kernel.operands, strict=True):
            if isinstance(argument.type, ir.MemRefType | ir.IndexType | ir.IntegerType):
                _bind(walk, untouched.functions, argument, operand, loop)
        walk.all_of(kernel.entry)
        found: dict[PayloadOp, list[Executes]] = {}
        for execution in walk.executions:
            found.setdefault(execution.of, []).append(execution)
        judged = [_judged(executions, walk) for executions in found.values()]
        judged += [_nest(nest, walk) for nest in (*walk.nests.executed(), *walk.nests.reduced())]
        judged += [Coverage("assumed", PayloadOp.unknown(op), _STRANGE) for op in walk.strangers]
        judged += [
            Coverage("assumed", of, "it reads other elements than in the payload, or computes something else")
            for of in walk.strays
        ]
        judged = _whole(judged, walk)
        judged = _returned(
            judged, walk, dict(zip(kernel.entry.arguments, kernel.operands, strict=True)), loop, untouched
        )
        right = {one.of.location for one in judged if one.verdict == "once"}
        left: dict[ir.Value, Left | None] = {}
        for argument, operand in zip(kernel.entry.arguments, kernel.operands, strict=True):
            if isinstance(argument.type, ir.MemRefType):
                made = left_in(walk.held, argument)
                known = made is None or not made.parts or (made.key is not None and made.key[1] in right)
                left[operand] = (
                    as_wanted(made, argument, to_leave(loop, operand, untouched), walk.held) if known else None
                )
        return judged, left


def _whole(judged: list[Coverage], walk: Walk) -> list[Coverage]:
    """The verdicts after two more checks of the kernel: it writes all elements of its tiles that it
    reads, and it writes each result at its place."""
    if any(one.verdict != "once" for one in judged) or walk.last is None:
        return judged
    if walk.held.uses_others():
        ops = [one.of for one in judged] or [walk.last]
        return [Coverage("assumed", of, "what is read of a tile may not have been written") for of in ops]
    left_out = unwritten(walk.held)
    judged = [one for one in judged if one.of not in left_out]
    return judged + [Coverage("assumed", of, "not each of its results is known to be written") for of in left_out]


def _returned(
    judged: list[Coverage], walk: Walk, operands: dict[ir.Value, ir.Value], loop: ir.Operation, untouched: Untouched
) -> list[Coverage]:
    """The verdicts, and a further one for each op of which a function is not known to return the
    results as the payload does."""

    def is_last(argument: ir.Value, piece: PayloadOp | None) -> bool:
        (view,) = walk.held.views.of(argument)
        made = view.root in walk.held.written or changes(loop, operands[argument])
        if piece is not None:
            return made and any(str(op.location) == piece.location for op in operations(loop))
        return made and not written_after(operands[argument], next(iter(walk.payload.around.tiles), loop), untouched)

    known = {one.of.location for one in judged if one.verdict != "once"}
    found = [(of, why) for of, why in returned(walk.held, is_last) if of.location not in known]
    if not judged:  # without a reduction, an op that cannot be followed is only compared
        found = [(of, why) for of, why in found if why is not None]
    short = dict.fromkeys(unwritten(walk.held), "not each of its results is known to be written")
    words = [(of, short.get(of) if why == "" else why or NOT_RETURNED) for of, why in found]
    unclear = {of.location: Coverage("assumed", of, each) for of, each in words if each}
    return [one for one in judged if one.of.location not in unclear] + list(unclear.values())


_STRANGE = "which op of the payload it is, or which iteration of a loop around that, is not known"


def _bind(
    walk: Walk, functions: dict[str, ir.Operation], argument: ir.Value, operand: ir.Value, loop: ir.Operation
) -> None:
    """Binds an argument of the kernel to the payload's tensor that it holds: the argument that the
    host function is passed, or the result that it returns. Records the known contents of the
    buffer."""
    host = None if producer(operand) is not None else operand.owner.owner.operation
    around = walk.payload.around
    if not isinstance(argument.type, ir.MemRefType):
        return walk.values.bind(argument, walk.values.linear(operand))

    def place(view: ir.Value, left: Left | None) -> tuple[list[Symbol], Sequence[Linear]] | None:
        cells = [walk.values.fresh("lane", NOTHING) for _ in range(view.type.rank)]
        if (found := walk.held.place(view, list(map(Linear.of, cells)))) is None or left is None:
            return None if found is None else (cells, found[1])
        return cells, walk.values.affine_map(left.at, [*found[1], *(around.sizes[size] for size in left.sizes)])

    held = found_in(operand, next(iter(around.tiles), loop), walk.payload.untouched, around.sizes, place)
    pieces = (
        None
        if held is not None
        else HostPieces(walk.payload, [*ancestors(loop)][-2]).of(operand, next(iter(around.tiles), loop))
    )
    sizes = [size(walk.values, operand, axis) for axis in range(argument.type.rank)]
    key: Key | None = None
    if host is not None and host.name == "func.func":
        name, number = own_name(host), ir.BlockArgument(operand).arg_number
        given = [] if name not in functions else list(body_of(functions[name]).arguments)
        key = ("argument", name, number) if number < len(given) else ("returned", name, number - len(given))
        returned = None if number < len(given) else walk.payload.elements.returned(name, number - len(given))
        if returned is not None and returned.type.has_rank and returned.type.rank == len(sizes):
            sizes = [size(walk.values, returned, axis) for axis in range(len(sizes))]
    for axis, n in enumerate(sizes):
        walk.values.state_extent(argument, axis, n)
    inside = [] if host is not None else ancestors(operand.owner.operation)
    walk.held.argument(argument, key, held, pieces, depth=sum(each in around.tiles for each in inside))


def _judged(executions: Sequence[Executes], walk: Walk) -> Coverage:
    (execution, *more), of = executions, executions[0].of
    if more:
        return Coverage("assumed", of, f"{len(executions)} ops of the kernel execute it")
    point = execution.equals or solved(execution, walk.payload)
    if point is None:
        return Coverage("assumed", of, "the elements that it reads do not determine the iteration")
    if execution.equals is not None:
        execution = replace(execution, of=replace(of, reads=()), reads=())
    elif unread(execution) and of.writes[0].key[0] != UNDIVIDED and not of.of_parts:
        return Coverage("assumed", of, "it is not known to read what it reads in the payload")
    elif not computes_as(execution, walk.payload):
        return Coverage("assumed", of, "its body computes something else")
    elif walk.payload.is_of_pieces(of):
        return Coverage("assumed", of, "it is not known to read the pieces that it reads in the payload")
    if any(element.key in walk.held.overwritten for element in of.writes):
        return Coverage("assumed", of, "one part of its sum is written over another")
    if any(walk.held.loses(element.key) for element in of.writes):
        return Coverage("assumed", of, "where its results go is not known")
    extents = [n for n in of.extents if n is not None]
    if len(extents) < len(of.extents):
        return Coverage("assumed", of, "its size is not known")

    def wrong() -> str | None:
        expect_order(execution, point)
        found = expect_once(execution, point, extents, walk.values) or _wrong_start(execution, point, extents, walk)
        if execution.equals is None:
            if not found and pads_otherwise(execution, point, walk.payload):
                raise Unclear("it reads elements where the payload has a constant")
            found = found or _wrong_padding(execution, point, extents, walk)
        return found or _wrong_result(of, walk)

    return _concluded(of, extents, "parts" if of.of_parts else "products" if _multiplies(execution) else "terms", wrong)


def _nest(nest: NestExecuted, walk: Walk) -> Coverage:
    """The verdict on loops of the payload."""
    of, extents = nest.of, [n for n in nest.of.extents if n is not None]
    unclear = nest.unclear or ("its size is not known" if len(extents) < len(of.extents) else "")
    execution, point = nest.execution, nest.point
    if unclear or execution is None:
        return Coverage("assumed", of, unclear)
    return _concluded(of, extents, "iterations", lambda: expect_once(execution, point, extents, walk.values))


def _concluded(of: PayloadOp, extents: Sequence[Linear], terms: str, wrong: Callable[[], str | None]) -> Coverage:
    """The verdict that follows from `wrong`: a function that returns a fault, or None, or raises
    Unclear or Unknown."""
    try:
        found = wrong()
    except Unknown:
        return Coverage("assumed", of, "the sets are too hard")
    except Unclear as unclear:
        return Coverage("assumed", of, str(unclear))
    if found is not None:
        return Coverage("wrong", of, found)
    sizes = "·".join(str(n.constant) if n.is_constant else "?" for n in extents)
    return Coverage("once", of, f"each of {sizes} {terms} once")


def _multiplies(execution: Executes) -> bool:
    return any(inner.operation.name.startswith("arith.mul") for inner in body_of(execution.op).operations)


def _wrong_start(execution: Executes, point: Coordinates, extents: Sequence[Linear], walk: Walk) -> str | None:
    """A fault if results do not begin with the payload's initial value, exactly once. If a sum is
    added to contents that were initialized separately, one of these two must begin with the
    identity. Each part of a sum must begin with the identity; with an idempotent combiner, the
    initial value will do.

    Raises:
        Unclear: the forms do not show it.
    """
    of, op, repeats = execution.of, execution.op, execution.of.combiner in IDEMPOTENT
    for number, (label, cell) in enumerate(zip(execution.started, execution.cells, strict=True)):
        if number >= len(of.starts) or not is_read(op, segments(op)[0] + number):
            continue
        parted, wanted = bool(execution.parted(point, number)), value_of(of.starts[number])
        later, held, begun = walk.held.begun.get(of.writes[number].key, {}), None, False
        those = f"those of the payload with {'those of a tensor' if wanted is None else wanted}"
        for start in (None if label is None or cell is None else label.start(cell[1]), *later):
            if start is None:
                raise Unclear("what its results begin with is not known")
            of_part = parted and not repeats and start not in later
            if start.key is None and (held := start.constant) is not None:
                if neutral := _changes_nothing(op, held):
                    continue
                if not _same(held, wanted) or of_part or (begun and not repeats):
                    words = f"its results begin with {held}, and {'each part of it' if of_part else those}"
                    if neutral is None:
                        raise Unclear(words)
                    return words
            elif start.key is not None and start.key[0] != BEFORE:
                _expect_own_start(execution, number, point, extents, start, walk)
                if of_part or (begun and not repeats):
                    raise Unclear("its results begin with those of a tensor, and each part of it")
            begun = True
        if not begun and not (parted and not later) and (wanted is None or not _changes_nothing(op, wanted)):
            raise Unclear(f"its results begin with {held}, and {those}")
    return None


def _expect_own_start(
    execution: Executes, number: int, point: Coordinates, extents: Sequence[Linear], read: Read, walk: Walk
) -> None:
    """Each result must begin with the same element of a tensor as the payload's.

    Raises:
        Unclear: the forms do not show it.
    """
    of, key = execution.of, read.key
    returned = walk.payload.elements.result(*key[1:]) if key is not None and key[0] == "returned" else None
    found = None if key is None else Element(key, read.at) if returned is None else returned(read.at)
    own = of.begins[number] if number < len(of.begins) else None
    if found is None or own is None or found.key != own.key:
        others = found is not None and found.key[0] == "result" and found.key != of.writes[number].key
        raise Unclear(
            "its results begin with those of another op" if others else "what its results begin with is not known"
        )
    table, executed = dict(zip(of.dims, point, strict=True)), [*execution.guards, execution.rows]
    masks = [each.when for each in execution.reads if each is not None]
    if not all(is_zero(a - b.put(table), [*executed, *masks]) for a, b in zip(found.at, own.at, strict=True)):
        raise Unclear("its results are not known to begin with their own elements")
    if reads_outside(execution, point, extents, read, execution.rows):
        raise Unclear("some of its results begin with what is read outside")


def _wrong_padding(execution: Executes, point: Sequence[Linear], extents: Sequence[Linear], walk: Walk) -> str | None:
    """A fault if a result reads padding that may change it. The padding must be an identity as the
    term of the reduction, or zero as a factor of the term. In rows beyond the end of a tile it may
    be arbitrary, because no result of these rows is used."""
    for value, read in zip(execution.values, execution.reads, strict=True):
        if read is None or read.when == TRUE or read.key is None:
            continue
        padding, role = value_of(read.outside), _role(execution.op, value)
        if role == "factor" and padding == 0:
            continue
        neutral = _changes_nothing(execution.op, padding) if role == "term" and padding is not None else None
        own = _own_padding(execution, point, read, padding)
        if neutral or not reads_outside(execution, point, extents, read, own):
            continue
        rows = both(own, execution.rows)
        if rows != own and not reads_outside(execution, point, extents, read, rows):
            continue
        if neutral is None:
            raise Unclear(f"what is read outside is {'not known' if padding is None else padding}")
        return f"what is read outside is {padding}, which changes a result"
    return None


def _own_padding(execution: Executes, point: Sequence[Linear], read: Read, padding: float | None) -> Formula:
    """The condition that the payload's own iteration reads an element here; elsewhere the payload
    reads the same padding constant as the kernel."""
    of, table = execution.of, dict(zip(execution.of.dims, point, strict=True))
    padded = [
        element for element in of.reads if element is not None and element.key == read.key and element.when != TRUE
    ]
    if len(padded) != 1 or padding is None or value_of(padded[0].outside) != padding:
        return TRUE
    return padded[0].when.changed(lambda form: form.put(table))


def _role(op: ir.Operation, value: ir.Value) -> Literal["term", "factor"] | None:
    """The role of an element that is read in a reduction: its term, or a factor of it; None for any
    other."""
    found = combination(op)
    if found is None:
        return None
    if _read(found.term) == value:
        return "term"
    product = made_by(_read(found.term), "arith.mulf", "arith.muli")
    summed = found.combiner in ("arith.addf", "arith.addi", "arith.subf", "arith.subi")
    return "factor" if product is not None and summed and value in map(_read, product.operands) else None


def _read(value: ir.Value) -> ir.Value:
    """The value that is read, before conversions and masks."""
    while (made := producer(value)) is not None:
        if made.name in CASTS:
            value = made.operands[0]
        elif made.name == "arith.select":
            value = made.operands[1]
        elif made.name == "scf.if":
            value = ops_of(made.regions[0].blocks[0])[-1].operands[list(made.results).index(value)]
        else:
            break
    return value


def _changes_nothing(op: ir.Operation, value: float) -> bool | None:
    """Whether a value is the identity of the op's combiner; None if unknown."""
    found = combination(op)
    if found is None:
        return None
    neutral, kind = identity(found.combiner), element_type(op.operands[-1])
    ends: dict[object, float] = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
    if isinstance(kind, ir.IntegerType):  # as a constant is read: with a sign
        ends = {"min": -(1 << kind.width - 1), "max": (1 << kind.width - 1) - 1, "umax": -1}
    return _same(value, ends.get(neutral, neutral if isinstance(neutral, int | float) else None))


def _same(one: float, other: float | None) -> bool:
    return other is not None and (one == other or (math.isnan(one) and math.isnan(other)))


def _wrong_result(of: PayloadOp, walk: Walk) -> str | None:
    """A fault if a result that a function returns is not at the payload's place."""
    if of.location not in walk.held.moved:
        return None
    if (apart := walk.held.moved[of.location]) is None:
        raise Unclear("where its results are written is not known to be their place")
    return f"its results are written {apart} elements from where the payload has them"
