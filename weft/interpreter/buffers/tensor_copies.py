"""Copies by the tensor memory accelerator, in the form in which statements pass them to `launch`:
one thread starts the copies, and states on a memory barrier how many bytes to expect; readers of
the tile wait for the phase of the barrier.

    linalg.copy %A[…] → %tile {weft.map = tma}          →    scf.forall (1) {weft.map = threads(*)} {
                                                                nvgpu.mbarrier.arrive.expect_tx %full[0], bytes
                                                                linalg.copy %A[…] → %tile {weft.tma}
                                                             }
                                                             nvgpu.mbarrier.try_wait.parity %full[0], k mod 2

`pipeline` does this ahead of time, with a barrier for each of its stages; `launch` does it for the
remaining copies. `launch/boxes.py` decides what a marked copy becomes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ..indices.arithmetic import ceildiv, index_of, known, multiply, trip_count, value_of
from ..indices.linear import Linear
from ..indices.values import range_of
from ..ir.element_sizes import bytes_of
from ..ir.functions import set_name
from ..ir.mlir import affine, ahead_of, ancestors, arith, i64, ir, is_within, nvgpu, operations, ops_of
from ..ir.refusing import describe, refuse
from ..ir.structured import body_of
from ..loops.forall import end_of, make_forall
from ..mapping.mapping import ATTRIBUTE, Mapping, enclosing_maps, mapping_of
from ..memory.effects import is_pure

BY_TENSOR_MAP = "weft.tma"
"""On a copy to shared memory that one thread starts: the tensor memory accelerator executes it."""
ARRIVALS = "weft.arrivals"
"""On memory barriers, until they are initialized: the number of arrivals that complete a phase."""
PRODUCER = "weft.producer"
"""On a loop of one iteration that a separate warp group executes: the number of registers that its
threads keep."""
OVERLAP = "weft.overlap"
"""On a loop that reads the tile of an iteration also in the next one: its products may be in flight
until those of the next iteration have begun."""
COUNT = "weft.count"
"""On a count of begun iterations of a loop: the loop's trip count, -1 if it is known only at run
time."""
TICKS = 10_000_000
"""The time that a thread may be suspended before it polls again, in nanoseconds or so; it waits in
any case."""


def is_tensor_copy(op: ir.Operation) -> bool:
    """Whether an op is mapped to the tensor memory accelerator."""
    mapping = mapping_of(op)
    return mapping is not None and mapping.space == "tma"


def make_barriers(name: str, count: int, arrivals: int) -> ir.Value:
    """Emits a group of `count` memory barriers at the insertion point."""
    space = "memorySpace = #gpu.address_space<workgroup>"
    made = nvgpu.MBarrierCreateOp(ir.Type.parse(f"!nvgpu.mbarrier.group<{space}, num_barriers = {count}>"))
    made.operation.attributes[ARRIVALS] = i64(arrivals)
    set_name(made, name)
    return made.result


def start(
    barriers: ir.Value, number: ir.Value, tiles: Sequence[ir.Value], copies: Callable[[], Sequence[ir.Operation]]
) -> ir.Operation:
    """Emits, at the insertion point, code in which one thread starts the copies that `copies`
    emits, and expects as many bytes as the tiles have."""
    expected = sum(bytes_of(tile.type) for tile in tiles)
    loop = make_forall([0], [1], [1])
    loop.attributes[ATTRIBUTE] = Mapping("threads", every=True).attribute()
    with ir.InsertionPoint(end_of(loop)):
        start_here(barriers, number, expected, copies)
    return loop


def start_here(
    barriers: ir.Value, number: ir.Value, expected: int, copies: Callable[[], Sequence[ir.Operation]]
) -> None:
    """Starts the copies from the current thread."""
    nvgpu.MBarrierArriveExpectTxOp(barriers, value_of(expected), number)
    for copy in copies():
        del copy.attributes[ATTRIBUTE]
        copy.attributes[BY_TENSOR_MAP] = ir.UnitAttr.get()


def arrive(barriers: ir.Value, number: ir.Value) -> None:
    """Emits an arrival of the current thread."""
    nvgpu.MBarrierArriveOp(barriers, number, results=[ir.Type.parse("!nvgpu.mbarrier.token")])


def wait(barriers: ir.Value, number: ir.Value, count: ir.Value, stages: int = 1, *, before: bool = False) -> None:
    """Emits, at the insertion point, a wait for the end of the phase of iteration `count`; with
    `before`, of the phase before it. `stages`: the number of barriers, which the iterations use in
    rotation."""
    lap = ir.AffineExpr.get_floor_div(ir.AffineDimExpr.get(0), stages) + before
    odd = affine.AffineApplyOp(ir.AffineMap.get(1, 0, [ir.AffineExpr.get_mod(lap, 2)]), [count]).result
    parity = arith.CmpIOp(arith.CmpIPredicate.ne, odd, value_of(0)).result
    nvgpu.MBarrierTryWaitParityOp(barriers, parity, value_of(TICKS), number)


def turn(count: ir.Value, stages: int, ahead: int = 0) -> ir.Value:
    """The number of the barrier of iteration `count`, or of the one `ahead` later."""
    place = ir.AffineExpr.get_mod(ir.AffineDimExpr.get(0) + ahead, stages)
    return affine.AffineApplyOp(ir.AffineMap.get(1, 0, [place]), [count]).result


def iteration_count(loop: ir.Operation | None, variable: ir.Value | None = None) -> ir.Value:
    """Emits the number of iterations of a sequential loop that a block has begun, at the insertion
    point: before the loop, or inside it, if its variable is given. At launch, `continue_counts`
    adds the iterations of surrounding loops. None: there is no loop, and so a single iteration.
    Raises W0405."""
    trips = 1 if loop is None else trip_count(loop)
    expression, operands = ir.AffineExpr.get_constant(0), list[ir.Value]()
    if loop is not None and variable is not None:
        lower, step = known(loop.operands[0]), known(loop.operands[2])
        if not isinstance(step, int):
            raise refuse(
                "W0405", "the step of the loop around the copy is known only at run time", loop, "`tile` with a number"
            )
        fixed = isinstance(lower, int)
        operands = [variable] if fixed else [variable, lower]
        counter = ir.AffineExpr.get_dim(0) - (lower if fixed else ir.AffineExpr.get_dim(1))
        expression = ir.AffineExpr.get_floor_div(counter, step)
    made = affine.AffineApplyOp(ir.AffineMap.get(len(operands), 0, [expression]), operands)
    made.operation.attributes[COUNT] = i64(-1 if trips is None else trips)
    return made.result


def continue_counts(function: ir.Operation) -> None:
    """Makes counts cumulative over loops around the counted loop, which restart it. Raises W0405."""
    for op in [op for op in operations(function, "affine.apply") if COUNT in op.attributes]:
        trips: int | None = ir.IntegerAttr(op.attributes[COUNT]).value
        around = [loop for loop in ancestors(op) if loop.name == "scf.for"]
        counted = around[0] if len(op.operands) else None
        around = around[counted is not None :]
        with ahead_of(op):
            total, fixed = index_of(op.results[0]), trips is not None and trips >= 0
            for number, loop in enumerate(around):
                if fixed and trips is not None:
                    total = total + ordinal(loop) * trips
                elif number == 0 and counted is not None and known(counted.operands[0]) == 0:
                    trips_inside = ceildiv(*(known(bound) for bound in list(counted.operands)[1:3]))
                    total = total + index_of(multiply(value_of(ordinal(loop)), trips_inside))
                else:
                    raise refuse(
                        "W0405",
                        "the number of a block's waits for the copy is not known: the trip count of an inner"
                        " loop around it is known only at run time",
                        loop,
                        "let each block have one tile, `map tiles to blocks(y, x)`; "
                        "or `pipeline … producer` the inner loop, which begins at 0; or make the sizes constant",
                    )
                inner = trip_count(loop)
                fixed = fixed and inner is not None
                trips = None if inner is None or trips is None else trips * inner
        del op.attributes[COUNT]
        if around:
            with ir.InsertionPoint.after(op):
                made = value_of(total)
            op.results[0].replace_all_uses_except(made, made.owner.operation)


def ordinal(loop: ir.Operation) -> Linear:
    """The number of a loop's current iteration, at the insertion point."""
    lower, step = known(loop.operands[0]), known(loop.operands[2])
    variable = index_of(body_of(loop).arguments[0])
    if lower == 0 and step == 1:
        return variable
    if not isinstance(step, int):
        why = "the step of a loop around the copy is known only at run time"
        raise refuse("W0405", why, loop, "`map` that loop to a known number of blocks, such as `blocks(x: 132) cyclic`")
    first = loop.operands[0]
    least, most = range_of(first)
    # a block's number below the step: nothing is to be subtracted
    below = least is not None and least >= 0 and most is not None and most < step
    operands = [body_of(loop).arguments[0], *([] if below else [first])]
    counter = ir.AffineExpr.get_dim(0) - (0 if below else ir.AffineExpr.get_dim(1))
    quotient = ir.AffineMap.get(len(operands), 0, [ir.AffineExpr.get_floor_div(counter, step)])
    return index_of(affine.AffineApplyOp(quotient, operands).result)


def complete_copies(root: ir.Operation) -> None:
    """Starts the copies that are mapped to the tensor memory accelerator and that no op has
    started, and waits for them at their place. Raises W0405."""
    blocks = dict.fromkeys(op.block for op in operations(root) if is_tensor_copy(op))
    for block in blocks:
        for run in list(_runs(block)):
            _complete(root, run)


def _runs(block: ir.Block) -> Iterator[list[ir.Operation]]:
    """Runs of consecutive copies: only pure ops and proposed barriers are in between."""
    run: list[ir.Operation] = []
    for op in ops_of(block):
        if is_tensor_copy(op):
            run.append(op)
        elif run and not (is_pure(op) or "weft.candidate" in op.attributes):
            yield run
            run = []
    if run:
        yield run


def _complete(root: ir.Operation, run: Sequence[ir.Operation]) -> None:
    first, last = run[0], run[-1]
    loop = next((one for one in ancestors(first) if one.name == "scf.for" and is_within(one, root)), None)
    for around, mapping in enclosing_maps(first):
        if mapping.space != "blocks":
            raise refuse(
                "W0405",
                f"the number of a block's waits for the copy is not known: it is in a loop over `{mapping}`",
                first,
                f"`promote-to-shared` at a loop outside of `{mapping}`: around the copy there may be loops over"
                f" `blocks`, and sequential loops",
                f"`{mapping}` on {describe(around)}",
            )
    tiles = [list(copy.operands)[-1] for copy in run]
    with ir.InsertionPoint.at_block_begin(body_of(root)), first.location:
        barriers = make_barriers("full", 1, 1)
    with ahead_of(last):
        begun = start(barriers, value_of(0), tiles, lambda: run)
        wait(barriers, value_of(0), iteration_count(loop, None if loop is None else body_of(loop).arguments[0]))
    for copy in run:
        copy.move_before(ops_of(body_of(begun))[-1])
