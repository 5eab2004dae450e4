"""Whether the reductions and scans that processors share in a kernel combine exactly what they state.

`launch` leaves on what holds a thread's part (`weft.participants`) the set of the threads whose parts make a thread's result. The
kernel that was made is followed from there to where the results are used: each has to be made of exactly these parts, once each.
What a part itself is made of, the terms of a thread's own iterations, is not asked here.
"""

from __future__ import annotations

from ....dsl.diagnostics import Diagnostic, Source
from ...indices.algebra import LaunchShape, Sizes
from ...ir.functions import name_of, sizes_of
from ...ir.mlir import ir, operations
from ...session.rewriter import describe
from .judged import Combined, Result
from .network import Network
from .threads import Block, Unfollowed

PARTICIPANTS = "weft.participants"
"""On what holds a thread's part: the integer set `(x, y, z)[px, py, pz]` of the threads whose parts make the result of one."""


def combination_of(kernel: ir.Operation, block: Sizes | None = None, grid: Sizes | None = None) -> list[Combined]:
    """What is proven of each marked part of a kernel, in program order; nothing where there is none.

    Args:
        block, grid: threads of a block and blocks, where the kernel does not state them.
    """
    parts = [op for op in operations(kernel, "memref.alloca") if PARTICIPANTS in op.attributes]
    if not parts:
        return []
    unknown = (None, None, None)
    shape = LaunchShape(
        sizes_of(kernel, "known_block_size") or block or unknown, sizes_of(kernel, "known_grid_size") or grid or unknown
    )
    named = [(name_of(op.results[0]) or "part", describe(op), _words(op)) for op in parts]
    if shape.threads is None:
        why = "the number of a block's threads is known only at run time"
        return [Combined(name, place, "assumed", why, (), words) for name, place, words in named]
    threads, reason = Block(shape), None
    results = list[Result]()
    try:
        for op, (name, place, words) in zip(parts, named, strict=True):
            stated = threads.partners(op.attributes[PARTICIPANTS])
            results.append(Result(op.results[0], stated, name, place, words))
        Network(kernel, shape, threads, results).follow()
    except Unfollowed as error:
        reason = str(error)
    done = [result.verdict(threads, reason) for result in results]
    return done + [Combined(name, place, "assumed", reason or "", (), words) for name, place, words in named[len(done) :]]


def wrong(found: list[Combined], source: Source | None = None) -> list[Diagnostic]:
    """What is said of results that are made of other parts than is stated."""
    del source
    return [
        Diagnostic(
            "W0614", f"a shared reduction does not combine what it states: {one.why}", notes=one.notes,
            hint="have one processor reduce it whole, `threads(x: 1)`; the kernel is not what its maps say: report it",
        )
        for one in dict.fromkeys(found) if one.state == "wrong"
    ]  # fmt: skip


def _words(op: ir.Operation) -> str:
    """The set, as the IR says it."""
    return str(op.attributes[PARTICIPANTS]).removeprefix("affine_set<").removesuffix(">")
