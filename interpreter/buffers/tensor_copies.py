"""Copies by the tensor memory accelerator, as statements and `launch` hand them on: one thread starts them, and says on a memory
barrier how many bytes are to come; who reads what they bring waits for the barrier's phase.

    linalg.copy %A[…] → %tile {weft.map = tma}          →    scf.forall (1) {weft.map = threads(*)} {
                                                                nvgpu.mbarrier.arrive.expect_tx %full[0], bytes
                                                                linalg.copy %A[…] → %tile {weft.tma}
                                                             }
                                                             nvgpu.mbarrier.try_wait.parity %full[0], k mod 2

`pipeline` does this ahead of time, with a barrier for each of its stages; `launch` with the copies that are left. What a marked
copy becomes is decided by `launch/boxes.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ..indices.arithmetic import known, value
from ..ir.element_sizes import bytes_of
from ..ir.functions import set_name
from ..ir.mlir import affine, ahead_of, ancestors, arith, i64, ir, nvgpu, operations, ops_of
from ..ir.structured import body_of
from ..loops.forall import end_of, make_forall
from ..mapping.mapping import ATTRIBUTE, Mapping, enclosing_maps, mapping_of
from ..memory.effects import is_pure
from ..session.rewriter import describe, refuse

BY_TENSOR_MAP = "weft.tma"
"""On a copy to shared memory that one thread starts: the tensor memory accelerator makes it."""
ARRIVALS = "weft.arrivals"
"""On memory barriers, until they are initialized: how many arrivals end a phase."""
PRODUCER = "weft.producer"
"""On a loop of one iteration that a warp group of its own executes: how many registers its threads keep."""
TICKS = 10_000_000
"""How long a thread may be suspended until it looks again, in nanoseconds or so; it waits all the same."""


def is_tensor_copy(op: ir.Operation) -> bool:
    """Whether an op is mapped to the tensor memory accelerator."""
    mapping = mapping_of(op)
    return mapping is not None and mapping.space == "tma"


def make_barriers(name: str, count: int, arrivals: int) -> ir.Value:
    """So many memory barriers, at the insertion point."""
    space = "memorySpace = #gpu.address_space<workgroup>"
    made = nvgpu.MBarrierCreateOp(ir.Type.parse(f"!nvgpu.mbarrier.group<{space}, num_barriers = {count}>"))
    made.operation.attributes[ARRIVALS] = i64(arrivals)
    set_name(made, name)
    return made.result


def start(
    barriers: ir.Value, number: ir.Value, tiles: Sequence[ir.Value], copies: Callable[[], Sequence[ir.Operation]]
) -> ir.Operation:
    """Let one thread start copies, at the insertion point: those that `copies` makes, of as many bytes as the tiles have."""
    expected = sum(bytes_of(tile.type) for tile in tiles)
    loop = make_forall([0], [1], [1])
    loop.attributes[ATTRIBUTE] = Mapping("threads", every=True).attribute()
    with ir.InsertionPoint(end_of(loop)):
        start_here(barriers, number, expected, copies)
    return loop


def start_here(barriers: ir.Value, number: ir.Value, expected: int, copies: Callable[[], Sequence[ir.Operation]]) -> None:
    """The same by the thread at hand."""
    nvgpu.MBarrierArriveExpectTxOp(barriers, value(expected), number)
    for copy in copies():
        del copy.attributes[ATTRIBUTE]
        copy.attributes[BY_TENSOR_MAP] = ir.UnitAttr.get()


def arrive(barriers: ir.Value, number: ir.Value) -> None:
    """The thread at hand arrives."""
    nvgpu.MBarrierArriveOp(barriers, number, results=[ir.Type.parse("!nvgpu.mbarrier.token")])


def wait(barriers: ir.Value, number: ir.Value, turns: ir.AffineExpr, operands: Sequence[ir.Value], *, before: bool = False) -> None:
    """Wait, at the insertion point, for the end of the phase of that number (a form of index values), or with `before` of the one
    in front of it."""
    lap = ir.AffineExpr.get_mod(turns + 1 if before else turns, 2)
    odd = affine.AffineApplyOp(ir.AffineMap.get(len(operands), 0, [lap]), list(operands)).result
    parity = arith.CmpIOp(arith.CmpIPredicate.ne, odd, value(0)).result
    nvgpu.MBarrierTryWaitParityOp(barriers, parity, value(TICKS), number)


def complete_copies(root: ir.Operation) -> None:
    """Start the copies that are mapped to the tensor memory accelerator and that nothing has started, and wait for them where they
    stand. Raises W0405."""
    blocks = dict.fromkeys(op.block for op in operations(root) if is_tensor_copy(op))
    for block in blocks:
        for run in list(_runs(block)):
            _complete(root, run)


def _runs(block: ir.Block) -> Iterator[list[ir.Operation]]:
    """Copies that stand one behind the other: nothing is between but what computes, and barriers that are but proposed."""
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
    turns, operands = iterations_before(first, root)
    tiles = [list(copy.operands)[-1] for copy in run]
    with ir.InsertionPoint.at_block_begin(body_of(root)), first.location:
        barriers = make_barriers("full", 1, 1)
    with ahead_of(last):
        loop = start(barriers, value(0), tiles, lambda: run)
        wait(barriers, value(0), turns, operands)
    for copy in run:
        copy.move_before(ops_of(body_of(loop))[-1])


def iterations_before(op: ir.Operation, root: ir.Operation) -> tuple[ir.AffineExpr, list[ir.Value]]:
    """How often a block has come to an op, as a form of the variables of the loops around it. Raises W0405."""
    turns, operands = ir.AffineExpr.get_constant(0), list[ir.Value]()
    for around, mapping in enclosing_maps(op):
        if mapping.space != "blocks" or mapping.dist is not None:
            raise refuse(
                "W0405",
                f"how often a block has waited for the copy is not known: it is in a loop over `{mapping}`",
                op,
                "a block has one tile: `map tiles to blocks(y, x)`; inside, sequential loops alone stand around the copy",
                f"`{mapping}` on {describe(around)}",
            )
    trips = 1
    for loop in ancestors(op):
        if loop == root:
            break
        if loop.name != "scf.for":
            continue
        lower, upper, step = (known(bound) for bound in list(loop.operands)[:3])
        if trips is None or not isinstance(step, int):
            raise refuse(
                "W0405",
                "how often a block has waited for the copy is not known: only a run knows how many iterations a loop around it has",
                op,
                "one loop of such a number may stand around the copy, and it is the outermost",
            )
        variable, first = body_of(loop).arguments[0], 0
        counter = ir.AffineExpr.get_dim(len(operands))
        operands.append(variable)
        if isinstance(lower, int):
            first = lower
        else:
            counter = counter - ir.AffineExpr.get_dim(len(operands))
            operands.append(lower)
        turns = turns + ir.AffineExpr.get_floor_div(counter - first, step) * trips
        whole = isinstance(lower, int) and isinstance(upper, int)
        trips = trips * max(-(-(upper - lower) // step), 0) if whole else None  # type: ignore[operator]
    return turns, operands
