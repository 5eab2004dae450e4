"""The elements of its tile that a loop writes: a part without gaps, and whether all elements of the
buffer in that part are overwritten.

    for j in 0…min(8, n - j0): y[j0 + j] = …     writes the 8 elements from j0 on that a y of n elements has

If a condition, or the end of a loop, prevents the store of an element, the element still counts as
overwritten if it is outside of the buffer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product

from ...dsl.diagnostics import WeftError, fail
from ...dsl.records import record
from ..indices.linear import Formula, Linear, Symbol
from ..ir.mlir import ancestors, child_of, ir
from ..ir.refusing import describe
from ..ir.structured import body_of
from .loop_indices import LoopIndices

Forms = Mapping["ir.Operation", Sequence[Linear]]
"""The subscripts of accesses."""


@record
class WrittenPart:
    """The part of its tile that a loop writes.

    Args:
        starts, shape: of the part, by axis.
        whole: whether the loop overwrites all elements of the buffer in the part.
    """

    starts: tuple[int, ...]
    shape: tuple[int, ...]
    whole: bool


def written_part(
    name: str, stores: Forms, first: Sequence[Linear], buffer: ir.Value, indices: LoopIndices
) -> WrittenPart:
    """The part of the tile from `first` on that these stores write. Raises W0468 if it has gaps."""
    places = {
        op: _places([f - start for f, start in zip(form, first, strict=True)], indices) for op, form in stores.items()
    }
    for op, place in places.items():
        if place is None:
            raise fail(
                "W0468",
                f"{describe(op)} writes `{name}` along a diagonal, and elements beside it would be written, too",
                f"use each loop's variable in one subscript of the store, as `{name}[%i, %j]` does; or leave this"
                f" statement out",
            )
    found = {op: place for op, place in places.items() if place is not None}
    by_axis = [set().union(*axis) for axis in zip(*found.values(), strict=True)]
    starts = tuple(min(axis) for axis in by_axis)
    shape = tuple(max(axis) + 1 - start for axis, start in zip(by_axis, starts, strict=True))
    gap = _gap(found.values(), starts, shape)
    if gap is not None:
        where = ", ".join(map(str, gap))
        raise fail(
            "W0468",
            f"the loop writes `{name}` with gaps: of the tile's {'x'.join(map(str, shape))} elements not [{where}]",
            f"write adjacent elements in the payload, as `{name}[%i]` does with `step 1`; or leave this statement out",
        )
    certain = [found[op] for op, form in stores.items() if _always(op, form, buffer, indices)]
    return WrittenPart(starts, shape, _gap(certain, starts, shape) is None)


def reads_what_it_wrote(load: ir.Operation, form: Sequence[Linear], stores: Forms) -> bool:
    """Whether a load reads the value that an earlier store has written to the same element, in the
    same iteration."""
    for store, other in stores.items():
        around = store.block.owner.operation
        here = child_of(around, load)
        if (
            list(form) == list(other)
            and here is not None
            and here.block == store.block
            and store.is_before_in_block(here)
        ):
            return True
    return False


def _places(place: Sequence[Linear], indices: LoopIndices) -> list[set[int]] | None:
    """The places in the tile that an access reaches, by axis; None if one counter moves it along
    two axes."""
    seen: set[Symbol] = set()
    out: list[set[int]] = []
    for form in place:
        reached = {form.constant}
        for term, factor in form.terms.items():
            assert isinstance(term, Symbol) and term in indices.counters
            if term in seen and term.high:
                return None
            seen.add(term)
            reached = {at + factor * n for at in reached for n in range((term.high or 0) + 1)}
        out.append(reached)
    return out


def _gap(places: Iterable[Sequence[set[int]]], starts: Sequence[int], shape: Sequence[int]) -> tuple[int, ...] | None:
    """The index of an element of a box that no place contains; None if there is none."""
    among = list(places)
    if any(all(len(axis) == n for axis, n in zip(place, shape, strict=True)) for place in among):
        return None
    box = [range(start, start + n) for start, n in zip(starts, shape, strict=True)]
    for at in product(*box):
        if not any(all(n in axis for n, axis in zip(at, place, strict=True)) for place in among):
            return tuple(n - start for n, start in zip(at, starts, strict=True))
    return None


def _always(op: ir.Operation, form: Sequence[Linear], buffer: ir.Value, indices: LoopIndices) -> bool:
    """Whether a store is executed in each iteration, except in those with an element outside of the
    buffer."""
    for condition in _conditions(op, form, indices):
        if condition is None:
            return False
        least = condition.bounds()[0]
        if least is not None and least >= 0:
            continue
        for axis, at in enumerate(form):  # where the condition fails it is at most -1
            size = indices.size(buffer, axis)
            low = None if size is None else (at + condition - size).bounds()[0]
            high = (at - condition).bounds()[1]
            if (low is not None and low >= -1) or (high is not None and high <= 0):
                break
        else:
            return False
    return True


def is_certain(op: ir.Operation, form: Sequence[Linear], indices: LoopIndices) -> bool:
    """Whether an access is executed in each iteration, at all indices of the form: all are then
    inside of the buffer."""
    least = [None if condition is None else condition.bounds()[0] for condition in _conditions(op, form, indices)]
    return all(low is not None and low >= 0 for low in least)


def _conditions(op: ir.Operation, form: Sequence[Linear], indices: LoopIndices) -> Iterator[Linear | None]:
    """Forms that are nonnegative where the op is executed, from the conditions and loops between it
    and the loop; None for a condition without a form."""
    mine = {symbol for each in form for symbol in each.symbols()}
    inner = op
    for around in ancestors(op):
        if around in indices.threads:  # a thread runs only its own iteration
            pass
        elif around.name == "scf.if" and inner.block == around.regions[0].blocks[0]:
            yield from _parts(indices.condition(around.operands[0]))
        elif around.name in ("scf.for", "scf.forall"):
            for variable in body_of(around).arguments:
                yield from _not_over(variable, mine, indices)
        else:
            yield None
        if around == indices.loop:
            return
        inner = around


def _not_over(variable: ir.Value, mine: set[Symbol], indices: LoopIndices) -> Iterator[Linear | None]:
    """Forms that are nonnegative while a loop runs. If the access does not depend on the loop's
    counter, those of the first iteration."""
    bounds = indices.bounds_of(variable)
    if bounds is None:
        return
    low, ends, _ = bounds
    try:
        here = indices.linear(variable)
    except WeftError:  # the number of iterations is not known
        here = low
    at = here if mine & set(here.symbols()) & set(indices.counters) else low
    yield from (end - at - 1 for end in ends)


def _parts(condition: Formula) -> Iterator[Linear | None]:
    if condition.kind == "and":
        for part in condition.parts:
            yield from _parts(part)
    else:
        yield condition.form if condition.kind == "ge" else None
