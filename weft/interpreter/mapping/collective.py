"""Collective iterations: each processor executes as many rounds as the processor with the most
iterations, so that all processors reach the collective ops inside.

Threads that share a reduction exchange their parts, by shuffles and barriers that all threads of a
warp, or of a block, must reach. If the number of the payload's rows is no multiple of the number of
threads that own them, some threads own no row in the last round, and execute it nevertheless.
"""

from __future__ import annotations

from collections.abc import Callable

from ..indices.arithmetic import Bound, ceildiv, index_of, inside, less, multiply, value_of
from ..indices.linear import Linear
from ..indices.values import largest
from ..ir.mlir import ir
from .processors import Processors, loop_over

EmitAlive = Callable[[Linear, list[ir.Value]], None]
"""Emits the body of an iteration that all processors execute; the conditions hold if the processor
owns it."""


def for_each_together(n: Bound, by: Processors, dist: str | None, chunk: int | None, body: EmitAlive) -> None:
    """Emits `body` equally often for all processors: as often as the processor with the most
    iterations in [0, n) needs, so that all of them reach it. A processor owns the same iterations
    as in `for_each_owned`."""
    most = largest(n)
    bound = n if most is None else most
    size: Bound = 1
    if dist == "block":
        size = ceildiv(n, by.count)
    elif dist == "block-cyclic" and chunk is not None:
        size = chunk
    stride = multiply(by.count, size)
    rounds: Bound = ceildiv(bound, stride) if dist not in (None, "block") else 1
    surplus = [less(by.index, by.count)] if by.surplus and not (dist is None and by.count == n) else []

    def scaled(index: Linear, factor: Bound) -> Linear:
        return index * factor if isinstance(factor, int) else index_of(multiply(value_of(index), factor))

    def one(round: Linear, within: Linear) -> None:
        short = inside(within, size) if dist == "block" else []
        index = scaled(round, stride) + scaled(by.index, size) + within
        sure = dist is None and isinstance(n, int) and isinstance(by.count, int) and by.count <= n
        body(index, [*surplus, *short, *([] if sure else inside(index, n))])

    each = ceildiv(bound, by.count) if dist == "block" else size
    each = min(each, bound) if isinstance(each, int) and isinstance(bound, int) else each
    loop_over(rounds, lambda round: loop_over(each, lambda within: one(round, within)))
