"""Loops by their structure, for `match`."""

from __future__ import annotations

from collections.abc import Callable

from ...dsl.diagnostics import WeftError
from ...dsl.tree import LOOP_KINDS
from ..ir.cloning import clone_module
from ..ir.mlir import ir, is_tensor, operations
from ..ir.structured import PARALLEL, SEQUENTIAL
from ..loops.forall import without_affine_loops
from ..reductions.combiners import combiner
from .collisions import collision
from .reduction_loops import CarryingLoop

LOOPS = (*SEQUENTIAL, *PARALLEL)


def differs(module: ir.Module, loop: ir.Operation, kind: str) -> str | None:
    """The reason why a loop is not of a kind; None if it is. The module is only read."""
    if (why := KINDS[kind]) is None:
        return None
    number = next(n for n, op in enumerate(operations(module.operation, *LOOPS)) if op == loop)
    trial = clone_module(module)
    try:
        with trial.context:
            return why(trial, list(operations(trial.operation, *LOOPS))[number])
    except WeftError as error:  # the analysis takes no tensors
        return error.diagnostics[0].message


def _reduces(_: ir.Module, loop: ir.Operation) -> str | None:
    if not loop.results or any(map(is_tensor, loop.results)):
        return "it carries no numbers"
    carrying = CarryingLoop.of(without_affine_loops(loop))
    if (why := carrying.why_not()) is not None:
        return why[0]
    found = combiner(carrying.rewritten())
    return None if found is not None else "its body is not one associative operation on what it carries and a term"


def _is_parallel(module: ir.Module, loop: ir.Operation) -> str | None:
    if loop.results:
        return "its iterations hand values to each other"
    if loop.name in PARALLEL:
        return None
    found = collision(module, without_affine_loops(loop))
    return None if found is None else f"{found.pair} {'may depend' if found.assumed else 'depend'} on each other"


KINDS: dict[str, Callable[[ir.Module, ir.Operation], str | None] | None] = dict(
    zip(LOOP_KINDS, (None, _reduces, _is_parallel), strict=True)
)
"""The kinds; for each, a function that returns in what a loop differs, which may rewrite its module."""
