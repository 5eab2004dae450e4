"""The results that a kernel leaves in buffers of the host: checks that they are complete, each at
its place, and that a function returns what the payload's function returns.

    launch of `relu` → result0          result0[i, j] is relu[i, j] for all i and j, and no op after it writes result0
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import count, permutations

from ...indices.linear import FALSE, TRUE, Formula, Linear, Symbol, at_least, both, either, involved, less
from ...ir.mlir import ir, made_by
from ...ir.structured import body_of, segments, yielded
from ...reductions.identities import update
from ..kernels.root_buffers import RootBuffer
from ..solver import is_zero, point_where
from .contents import Contents
from .equality import are_same
from .exactly_once import Store, covers, executes_all, iterates
from .labels import Read, conjuncts_of
from .launch_contents import Left
from .payload.bodies import arithmetic, is_of_data, through_casts, value_of
from .payload.elements import PIECES, Element, Key
from .payload.payloads import UNDIVIDED, PayloadOp, PayloadOps
from .points import solution

NOT_RETURNED = "its results are not known to be what a function returns"


def returned(
    held: Contents, is_last: Callable[[ir.Value, PayloadOp | None], bool]
) -> Iterator[tuple[PayloadOp, str | None]]:
    """Ops of the payload with results that a function returns. For each, the reason why the kernel
    is not known to leave these results in the function's buffer: empty if it is known to, None if
    the contents of the buffer, or the place of a result in it, are unknown.

    Args:
        is_last: a test whether this kernel writes a buffer, and no op writes it after the launch.
            For a buffer of several pieces, the test is whether this kernel executes the op that
            computes the piece.
    """
    for root in held.given:
        at = tuple(map(Linear.of, map(held.cell, root.shape)))
        its = [piece(at) for piece in held.pieces(root)]
        labels = held.labels.get(root, ())
        if (
            len(its) == len(labels) == 1
            and labels[0].key != its[0].key
            and not labels[0].parts
            and is_last(root.value, None)
        ):
            there = labels[0].read(at) if labels[0].key is not None else None
            element = labels[0].outside if labels[0].is_everywhere else None
            if there is not None and there.key is not None and there.rows == TRUE:
                element = Element(there.key, there.at, there.when, there.outside)
            if are_same(element, its[0], _inside(at, root.value, held), held.payload):
                continue
        others = [label for label in labels if label.key not in {own.key for own in its}]
        for own in its:
            of = held.payload.at(own.key[1]) if own.key[0] == "result" else None
            if of is None or of.fills or not isinstance(root.value, ir.Value):
                continue
            if not is_last(root.value, of if len(its) > 1 else None):
                continue
            kept = [label for label in labels if label.key == own.key and not label.parts]
            if not labels:
                yield of, None
            elif len(kept) != 1 or others or kept[0].when != TRUE:
                yield of, NOT_RETURNED
            elif of.location in held.moved:
                yield of, None if held.moved[of.location] is None else "its results are not written at their places"
            else:
                yield of, ""


def _inside(at: Sequence[Linear], buffer: ir.Value, held: Contents) -> list[Formula]:
    sizes = (held.values.extent(buffer, axis) for axis in range(len(at)))
    return [part for form, n in zip(at, sizes, strict=True) for part in (at_least(form, 0), less(form, n))]


def unwritten(held: Contents) -> list[PayloadOp]:
    """Ops of the payload with results that are not known to be completely written at their
    places."""
    found: dict[PayloadOp, None] = {}
    for root, stores in held.stores.items():
        for key in dict.fromkeys(s.what.key for s in stores if s.what.key is not None and not s.what.parts):
            of = held.payload.at(key[1]) if key[0] == "result" else None
            if of and all(not s.updated and _is_short(held, root, of, key, s) for s in stores if s.what.key == key):
                found.setdefault(of)
    return list(found)


def _is_short(held: Contents, root: RootBuffer, of: PayloadOp, key: Key, store: Store) -> bool:
    """Whether a store may leave some results of an op unwritten."""
    at = of.writes[key[2]].at
    dims = [dim for dim in of.dims if any(s == dim for form in at for s in form.symbols())]
    point = solution(list(zip(at, store.what.at, strict=True)), dims, store.guards)
    if point is None:
        return True
    guards, wanted = (*store.guards, store.what.rows), _where_it_differs(held, root, of, key, store, point)
    return not executes_all(of, dims, point, store.symbols, guards, held.values, wanted)


def _where_it_differs(
    held: Contents, root: RootBuffer, of: PayloadOp, key: Key, store: Store, point: dict[Symbol, Linear]
) -> Formula:
    """The condition under which a result may differ from the previous contents of its place. If
    these are the initial value, a reduction without iterations has that result already."""
    (label,) = held.first.get(root, ()) or (None,)
    found, number = None if label is None else label.start(store.at), key[2]
    if found is None or found.when != TRUE or found.rows != TRUE or number >= len(of.starts):
        return TRUE
    own = of.begins[number] if number < len(of.begins) else None
    if found.key is None:
        same = found.constant is not None and found.constant == value_of(of.starts[number])
    else:
        same = own is not None and found.key == own.key and all(
            is_zero(a - b.put(point), store.guards) for a, b in zip(found.at, own.at, strict=True)
        )  # fmt: skip
    return iterates([of.extents[d] for d in of.reductions]) if same else TRUE


def as_wanted(made: Left | None, argument: ir.Value, wanted: Left | None, held: Contents) -> Left | None:
    """The contents that a kernel leaves, by the payload's op that is to make them, where the kernel reads
    them elsewhere; of pieces, only these have a name outside of the launch."""
    if made is None or made.parts or made.at is None or made == wanted:
        return made
    if wanted is not None and not wanted.parts and (wanted.key is not None or wanted.constant is not None):
        (view,) = held.views.of(argument)
        cells = [Linear.of(held.cell(n)) for n in view.root.shape]
        one, other = (_content(left, cells, held) for left in (made, wanted))
        if are_same(one, other, _inside(cells, argument, held), held.payload):
            return wanted
    return None if made.key is not None and made.key[0] == PIECES else made


def _content(left: Left, cells: Sequence[Linear], held: Contents) -> Element | ir.Attribute | None:
    if left.key is None or left.at is None:
        return left.constant
    known = [held.payload.around.sizes[size] for size in left.sizes]
    return Element(left.key, tuple(held.values.affine_map(left.at, [*cells, *known])))


def left_in(held: Contents, value: ir.Value) -> Left | None:
    """The contents left in a buffer that is passed to the kernel, for each of its elements; None
    where unknown."""
    (view,) = held.views.of(value)
    root, labels = view.root, held.labels.get(view.root, ())
    if root not in held.written:
        return Left(None, None)
    (label,) = labels if len(labels) == 1 else (None,)
    if label is None or label.when != TRUE or any(isinstance(cell, Linear) for cell in label.cells):
        return None
    cells = [cell for cell in label.cells if isinstance(cell, Symbol)]
    if any(s not in cells for s in involved(*label.parts)) or any(label.turns):
        return None
    sizes = [held.values.extent(value, axis) for axis in range(len(root.shape))]
    if not any(covers(s.at, s.symbols, s.guards, sizes, held.values) for s in held.stores.get(root, ())):
        return None
    if label.key is None:
        return Left(None, ir.AffineMap.get(0, 0, []), constant=label.outside)
    used = involved(*label.at)
    alone = iter([cell for cell, n in zip(cells, root.shape, strict=True) if n == 1 and cell not in used])
    # on an axis with one element, the coordinate is a cell that nothing else depends on
    at = [Linear.of(next(alone, 0)) if form == Linear.of(0) else form for form in label.at]
    return Left.stated(label.key, at, cells, held.payload.around.sizes, parts=bool(label.parts), each=label.each)


def divided(
    op: ir.Operation, number: int, reads: Sequence[Read | None], guards: Sequence[Formula], payload: PayloadOps
) -> Read | None:
    """The result of an op that divides a sum by an element, provided that the payload divides each
    term of the sum by that element instead; None for any other op. A sum without terms may be left
    undivided."""
    value = through_casts(yielded(op)[number])
    choice = made_by(value, "arith.select")
    division = made_by(value if choice is None else through_casts(choice.operands[1]), "arith.divf")
    arguments = list(body_of(op).arguments)
    places = [] if division is None else [through_casts(operand) for operand in division.operands]
    if any(place not in arguments[: len(reads)] for place in places) or len(places) != 2:
        return None
    summed, by = (reads[arguments.index(place)] for place in places)
    if summed is None or by is None or summed.key is None or by.key is None or summed.key[0] != UNDIVIDED:
        return None
    if choice is not None and through_casts(choice.operands[2]) != places[0]:
        return None
    if not payload.divides(summed.key, summed.at, by.key, by.at):
        return None
    of = payload.at(summed.key[1])
    divides = TRUE if choice is None else payload.values.condition(choice.operands[0])
    has_terms = TRUE if of is None else iterates([of.extents[d] for d in of.reductions])
    differs = either(both(divides, has_terms.negate()), both(has_terms, divides.negate()))
    if differs != FALSE and point_where([*guards, differs]) is not None:
        return None
    own = conjuncts_of(summed.rows)
    rows = both(summed.rows, *(part for part in conjuncts_of(by.rows) if part not in own))
    return replace(summed, key=("result", *summed.key[1:]), rows=rows)


ADDING = ("arith.addf", "arith.addi")


def merges(op: ir.Operation, number: int, read: Read, payload: PayloadOps) -> bool:
    """Whether an op combines a result, or a part of one, with the previous contents, in the way of the
    payload's terms."""
    accumulator = body_of(op).arguments[segments(op)[0] + number]
    found = update(op, number, uses=len(list(accumulator.uses)))
    if found is None or read.key is None or through_casts(found.term) not in list(body_of(op).arguments):
        return False
    if read.key[0] not in ("result", UNDIVIDED):
        return found.combiner in ADDING
    of = payload.at(read.key[1])
    if of is None or read.key[1:] != of.writes[0].key[1:]:
        return False
    return found.combiner in ADDING or (of.combiner is not None and found.combiner == of.combiner)


def corrects(op: ir.Operation, number: int, key: Key, payload: PayloadOps) -> bool:
    """Whether a result of an op is the factor that corrects a sum when the running maximum m in its
    terms grows: for terms `exp(x - m)` the factor is `exp(before - now)`, the term of the previous
    maximum. The op's last result is the maximum that the terms use. While that is still at its
    bound, -inf, it is replaced by a constant, since `x - m` would be undefined.

    Args:
        key: the tensor of the sum, or of its parts.
    """
    of, ends, inputs = payload.at(key[1]), yielded(op), segments(op)[0]
    choice = made_by(ends[-1], "arith.select")
    asked = None if choice is None else made_by(choice.operands[0], "arith.cmpf")
    if asked is not None and choice is not None:
        of_bound = asked.operands[0] == ends[0] and int(ir.IntegerAttr(asked.attributes["predicate"]).value) == _EQUAL
        if not of_bound or choice.operands[2] != ends[0] or is_of_data(choice.operands[1], body_of(op)):
            return False
    elif ends[-1] != ends[0]:
        return False
    before, others = body_of(op).arguments[inputs], dict(zip(body_of(op).arguments, count()))
    for element in (
        () if of is None else [part for read in of.reads if read is not None for part in (read, *payload.made_of(read))]
    ):
        term = payload.at(element.key[1]) if element.key[0] == "result" else None
        if term is None or term.reductions or term.arithmetic is None:
            continue
        keys = [each.key for each in term.reads if each is not None]
        for x, m in permutations(keys, 2):
            extreme = payload.at(m[1]) if m[0] == "result" else None
            if extreme is None or not extreme.reductions or x not in [each and each.key for each in extreme.reads]:
                continue
            found = arithmetic(op, others | {before: x[1:], ends[-1]: m[1:]}, payload.expressions)
            if found is not None and found[number] == term.arithmetic[0]:
                return True
    return False


_EQUAL = 1
"""`oeq`, the predicate of an `arith.cmpf`."""
