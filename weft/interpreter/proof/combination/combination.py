"""Whether the reductions and scans that processors share in a kernel combine exactly what they state.

`launch` leaves on what holds a thread's part (`weft.participants`) the set of the threads whose parts make a thread's
result. The kernel that was made is followed from there to where the results are used: each has to be made of exactly
these parts, once each. What a part itself is made of, the terms of a thread's own iterations, is not asked here.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....dsl.diagnostics import Diagnostic
from ...indices.algebra import LaunchShape
from ...ir.functions import COMBINER, PARTICIPANTS
from ...ir.mlir import ir, operations
from ...ir.refusing import describe
from .judged import Combined, Result
from .network import Network
from .threads import Block, Unfollowed


def is_marked(op: ir.Operation) -> bool:
    """Whether the op makes what holds a thread's part of something that is reduced together."""
    return op.name == "memref.alloca" and PARTICIPANTS in op.attributes


def combination_of(
    kernel: ir.Operation, shape: LaunchShape, parts: Sequence[ir.Operation] | None = None
) -> list[Combined]:
    """What is proven of each marked part of a kernel, in program order; nothing where there is none.

    Args:
        shape: of its launch.
        parts: the ops that are marked, where they are known.
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
    """What is said of results that are made of other parts than is stated."""
    messages = {one.why: one.notes for one in found if one.state == "wrong"}
    return [
        Diagnostic("W0614", f"what threads reduce together is not what they state: {why}", notes=notes, hint=_WAY_OUT)
        for why, notes in messages.items()
    ]


_WAY_OUT = "have one processor reduce it whole, `threads(x: 1)`"


def said(found: Sequence[Combined]) -> list[str]:
    """In words, what is known of a kernel's shared reductions; nothing of a kernel without any."""
    proven = list(dict.fromkeys(one.name for one in found if one.state == "proven"))
    return [*([f"combination proven: {', '.join(proven)}"] if proven else []), *assumed(found)]


def assumed(found: Sequence[Combined]) -> list[str]:
    """Of these, what is not known, and why: neither a proof of the loop says so, nor is it left out of what `build`
    asks for."""
    some = dict.fromkeys((one.name, one.why) for one in found if one.state == "assumed")
    return [f"combination assumed: {name}: {why}" for name, why in some]


def _words(op: ir.Operation) -> str:
    """The set, as the IR says it."""
    return str(op.attributes[PARTICIPANTS]).removeprefix("affine_set<").removesuffix(">")
