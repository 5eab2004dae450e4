"""Scans: reductions that also write, for each term, the result so far.

    ^bb0(%x, %acc, %y):              maps (i) -> (i), (i) -> (), (i) -> (i); iterators ["reduction"]
      %s = arith.addf %acc, %x
      linalg.yield %s, %s            the running sum, and an element of the scan (`%acc` for it: an exclusive scan)

The outputs that the reduced dimension does not index are the running results; the others are the
elements, which may be computed from the running results before and after their term, and from
inputs. As the combiner is associative, iterations i … j may be executed apart from those before i,
first by a reduction, and then again from the combined result of those before.

Source: Blelloch, "Prefix Sums and Their Applications"; the body is that of `iree_linalg_ext.scan`
and `tm_tensor.scan`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ...dsl.records import record
from ..ir.affine_maps import dimension_of, dimensions_of
from ..ir.cloning import clone_body
from ..ir.mlir import ir, is_used, linalg, operations, ops_of, producer
from ..ir.structured import body_of, generic, is_structured, segments, structure, yielded
from .combiners import Combiner, each_by_itself
from .identities import Combination, update


@record
class Scan:
    """A scan along one dimension.

    Args:
        dimension: the reduced one.
        running: the outputs that are running results, by number.
        elements: the other outputs.
        combiner: of the running results.
    """

    dimension: int
    running: tuple[int, ...]
    elements: tuple[int, ...]
    combiner: Combiner


def is_scan(op: ir.Operation) -> bool:
    """Whether an op that reduces also writes along a dimension that it reduces: its iterations have an
    order."""
    return is_structured(op) and bool(elements_of(op))


def running(op: ir.Operation) -> list[int]:
    """The outputs of an op that are results of a reduction: all but the elements of a scan."""
    elements = elements_of(op)
    return [n for n in range(segments(op)[1]) if n not in elements]


def read_scan(op: ir.Operation) -> Scan | str:
    """The scan of an op; or the reason why it is no scan that could be executed in parts."""
    space = structure(op)
    elements, states = elements_of(op), running(op)
    reduced = [d for d, kind in enumerate(space.iterators) if kind == "reduction"]
    body = body_of(op)
    old = list(body.arguments)[space.inputs :]
    if len(reduced) != 1:
        return f"it goes along {len(reduced)} dimensions at once"
    if not states:
        return "nothing goes from one iteration to the next but through memory"
    for number in elements:
        if None in map(dimension_of, space.maps[space.inputs + number].results):
            return f"its elements are written at {space.maps[space.inputs + number]}, and not at plain indices"
        if any(True for _ in old[number].uses):
            return "its body reads an element that it replaces"
    found: list[Combination] = []
    for number in states:
        one = update(op, number, uses=len(list(old[number].uses)))
        if one is None or _reads(one.term, [old[n] for n in states], body):
            return "a running result does not become an associative operation on itself and on a term that reads none of them"
        found.append(one)
    return Scan(reduced[0], tuple(states), tuple(elements), each_by_itself([yielded(op)[n] for n in states], found))


def reduction_of(op: ir.Operation, scan: Scan) -> ir.Operation:
    """Makes the reduction that a scan performs, without the scan's elements, at the insertion point."""
    space, operands = structure(op), list(op.operands)
    starts, maps = ([both[space.inputs + n] for n in scan.running] for both in (operands, space.maps))

    def body(own: list[ir.Value]) -> Sequence[ir.Value]:
        block, given = body_of(op), dict(enumerate(own[: space.inputs]))
        given |= {space.inputs + n: value for n, value in zip(scan.running, own[space.inputs :], strict=True)}
        some = next(iter(given.values()))  # replaces unused values
        indices = [linalg.IndexOp(d).result for d in range(space.rank)] if any(operations(op, "linalg.index")) else ()
        made = clone_body(block, [given.get(n, some) for n in range(len(block.arguments))], indices)
        return [made[n] for n in scan.running]

    inputs = operands[: space.inputs]
    made = generic(inputs, starts, [*space.maps[: space.inputs], *maps], space.iterators, body)
    for inner in reversed(ops_of(body_of(made))[:-1]):  # the arithmetic of the elements
        if not is_used(*inner.results):
            inner.erase()
    return made


def elements_of(op: ir.Operation) -> list[int]:
    """The outputs that a reduced dimension indexes: the elements of a scan."""
    space = structure(op)
    reduced = {d for d, kind in enumerate(space.iterators) if kind == "reduction"}
    written = [{d for e in one.results for d in dimensions_of(e)} for one in space.maps[space.inputs :]]
    return [number for number, walked in enumerate(written) if walked & reduced]


def _reads(value: ir.Value, results: Collection[ir.Value], body: ir.Block) -> bool:
    """Whether a value of a body is computed from one of `results`."""
    seen: set[ir.Operation] = set()
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if value in results:
            return True
        op = producer(value)
        if op is not None and op.block == body and op not in seen:
            seen.add(op)
            waiting += [operand for inner in operations(op) for operand in inner.operands]
    return False
