"""Proof that the shared reductions and scans of a kernel combine exactly what they state.

`launch` annotates the buffer of a thread's part with the set of threads that contribute to that
thread's result (`weft.participants`). The finished kernel is followed from that buffer to the uses
of the results: each result must consist of exactly these parts, once each. Which terms a thread
adds to its own part is proven in `coverage`.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....dsl.diagnostics import Diagnostic
from ...indices.algebra import LaunchShape
from ...ir.functions import COMBINER, PARTICIPANTS
from ...ir.mlir import ir, operations
from ...ir.refusing import describe
from .network import Network
from .threads import Block, Unfollowed
from .verdict import Combined, Result


def is_marked(op: ir.Operation) -> bool:
    """Whether the op creates the buffer of a thread's part of a shared reduction."""
    return op.name == "memref.alloca" and PARTICIPANTS in op.attributes


def combination_of(
    kernel: ir.Operation, shape: LaunchShape, parts: Sequence[ir.Operation] | None = None
) -> list[Combined]:
    """The verdict on each marked part of a kernel, in program order; empty if no part is marked.

    Args:
        shape: the shape of the kernel's launch.
        parts: the marked ops, where known.
    """
    parts = list(filter(is_marked, operations(kernel, "memref.alloca"))) if parts is None else parts
    if not parts:
        return []
    named = [(describe(op), _words(op)) for op in parts]
    if shape.threads is None:
        why = "the number of a block's threads is known only at run time"
        return [Combined("part", place, "assumed", why, (), words) for place, words in named]
    threads, reason = Block(shape), None
    results = list[Result]()
    try:
        for op, (place, words) in zip(parts, named, strict=True):
            stated = threads.partners(op.attributes[PARTICIPANTS])
            combiner = ir.StringAttr(op.attributes[COMBINER]).value if COMBINER in op.attributes else ""
            results.append(Result(op.results[0], stated, place, words, combiner))
        Network(kernel, threads, results).follow()
    except Unfollowed as error:
        reason = str(error)
    done = [result.verdict(threads, reason) for result in results]
    return done + [Combined("part", place, "assumed", reason or "", (), words) for place, words in named[len(done) :]]


def wrong(found: Sequence[Combined]) -> list[Diagnostic]:
    """The message on results that combine other parts than stated."""
    messages = {one.why: one.notes for one in found if one.state == "wrong"}
    return [
        Diagnostic("W0614", f"what threads reduce together is not what they state: {why}", notes=notes, hint=_WAY_OUT)
        for why, notes in messages.items()
    ]


_WAY_OUT = "let one processor compute the whole reduction, `threads(x: 1)`"


def verdict_lines(found: Sequence[Combined]) -> list[str]:
    """The verdict on a kernel's shared reductions as text; empty for a kernel without any."""
    proven = list(dict.fromkeys(one.name for one in found if one.state == "proven"))
    return [*([f"combination proven: {', '.join(proven)}"] if proven else []), *assumed(found)]


def assumed(found: Sequence[Combined]) -> list[str]:
    """A line for each result that is neither proven nor wrong, with the reason. `launch` records
    these lines on the kernel."""
    some = dict.fromkeys((one.name, one.why) for one in found if one.state == "assumed")
    return [f"combination assumed: {name}: {why}" for name, why in some]


def _words(op: ir.Operation) -> str:
    """The set, as in the IR."""
    return str(op.attributes[PARTICIPANTS]).removeprefix("affine_set<").removesuffix(">")
