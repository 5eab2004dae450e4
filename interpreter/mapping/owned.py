"""The iterations a processor owns, as loops and guards: the table of the design's section Distribution.

With n iterations over P processors, p the processor:

| | iterations of p |
|---|---|
| one each | p, where p < n |
| `block` | the contiguous chunk `[p*c, min((p+1)*c, n))`, c = ceildiv(n, P) |
| `cyclic` | p, p+P, p+2P, … below n |
| `block-cyclic(b)` | chunks of b at p*b, p*b + P*b, … |

`block` and `cyclic` are the ends of `block-cyclic`: chunks of ceildiv(n, P), and chunks of 1. So one emitter serves all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ..indices.arithmetic import Bound, Sum, ceildiv, conjunction, inside, less, minimum, multiply, value
from ..indices.ranges import largest
from ..ir.mlir import ir, scf

Emit = Callable[[Sum], None]
"""Emits the body of one iteration, at the ambient insertion point, for the iteration with this index."""


@dataclass(frozen=True)
class Processors:
    """Who shares the iterations of one dimension.

    Args:
        index: p, of the processor at hand.
        count: P.
        surplus: processors with p >= P exist, and own nothing (`grid(x: 100)` in blocks of 64).
    """

    index: Sum
    count: Bound
    surplus: bool = False


def for_each_owned(n: Bound, by: Processors, dist: str | None, chunk: int | None, body: Emit) -> None:
    """Emit `body` for every iteration in [0, n) that the processor owns, with the least control flow that is right."""
    if by.surplus and not (dist is None and by.count == n):
        with when(less(by.index, by.count)):
            return for_each_owned(n, Processors(by.index, by.count), dist, chunk, body)
    if dist is None:
        return _one_each(n, by, body)
    most = largest(n)
    if dist == "block":
        few = most is not None and isinstance(by.count, int) and most <= by.count
        return _one_chunk(n, by, 1 if few else ceildiv(n, by.count), body)
    size = chunk if dist == "block-cyclic" and chunk is not None else 1
    stride = multiply(by.count, size)
    if most is not None and isinstance(stride, int) and stride >= most:
        return _one_chunk(n, by, size, body)
    return _many_chunks(n, by, size, stride, body)


def _one_each(n: Bound, by: Processors, body: Emit) -> None:
    if not by.surplus and (by.count == n or (isinstance(n, int) and isinstance(by.count, int) and by.count < n)):
        return body(by.index)
    with when(*inside(by.index, n)):
        body(by.index)


def _one_chunk(n: Bound, by: Processors, size: Bound, body: Emit) -> None:
    """Processor p owns [p*size, min((p+1)*size, n)), and all of [0, n) is covered so."""
    if size == 1:
        return _one_each(n, by, body)
    if isinstance(size, int):
        first = by.index.times(size)
        _chunk(first, size, n, multiply(by.count, size) == n, body)
        return
    first = Sum.of(multiply(by.index.emit(), size))
    _loop(first.emit(), minimum(first + Sum.of(size), n), 1, lambda i: body(Sum.of(i)))


def _many_chunks(n: Bound, by: Processors, size: int, stride: Bound, body: Emit) -> None:
    """Chunks of `size` at p*size, p*size + stride, …"""
    first = by.index.times(size)
    if isinstance(n, int) and isinstance(stride, int) and n % stride == 0:
        trips = n // stride
        _loop(0, trips, 1, lambda t: _chunk(first + Sum.of(t, trips).times(stride), size, n, True, body))
        return
    whole = isinstance(n, int) and n % size == 0
    _loop(
        first.emit(),
        n,
        stride,
        lambda base: _chunk(Sum.of(base, n if isinstance(n, int) else None), size, n, whole, body),
    )


def _chunk(first: Sum, size: int, n: Bound, whole: bool, body: Emit) -> None:
    """The iterations [first, first + size), cut at n unless the chunk is known to be `whole`."""
    if size == 1:
        return body(first)
    if whole:
        _loop(0, size, 1, lambda j: body(first + Sum.of(j, size)))
    else:
        end = minimum(first + Sum(size), n)
        _loop(first.emit(), end, 1, lambda i: body(Sum.of(i, n if isinstance(n, int) else None)))


def _loop(start: Bound, stop: Bound, step: Bound, body: Callable[[ir.Value], None]) -> None:
    loop = scf.ForOp(value(start), value(stop), value(step))
    with ir.InsertionPoint(loop.body):
        body(loop.induction_variable)
        scf.YieldOp([])


def loop_over(trips: Bound, body: Emit) -> None:
    """Emit `body` for 0 … trips - 1: a loop, or nothing around it if there is a single iteration."""
    if trips == 1:
        return body(Sum())
    return _loop(0, trips, 1, lambda e: body(Sum.of(e, trips if isinstance(trips, int) else largest(trips))))


@contextmanager
def when(*conditions: ir.Value) -> Iterator[None]:
    """What is emitted inside stands under `scf.if` of all the conditions, if there are any."""
    if not conditions:
        yield
        return
    with ir.InsertionPoint(scf.IfOp(conjunction(conditions)).then_block):
        yield
        scf.YieldOp([])
