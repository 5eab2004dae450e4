"""Ops that threads reach together: barriers of a block or a warp, and collective ops of warps and
warp groups."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from ....dsl.diagnostics import fail
from ...hardware.hopper.warpgroups import PRODUCTS, may_pend
from ...hardware.lanes import ALL_LANES, NUMBERED_BARRIER, WARP_BARRIER, mask_of_lanes
from ...hardware.limits import WARP
from ...indices.algebra import LaunchShape
from ...indices.linear import Linear
from ...indices.values import Values
from ...ir.functions import segments
from ...ir.mlir import ir
from ...ir.refusing import describe
from .model import ALL_SPACES, Barrier, KernelModel
from .places import Place


def barrier(model: KernelModel, op: ir.Operation, place: Place, values: Values) -> None:
    """Adds an op of `BARRIERS` to the model."""
    if op.name == WARP_BARRIER:
        _warp_barrier(model, op, place)
    elif op.name == NUMBERED_BARRIER:
        _numbered_barrier(model, op, place, values)
    else:
        _block_barrier(model, op, place)


def _block_barrier(model: KernelModel, op: ir.Operation, place: Place) -> None:
    spaces = ALL_SPACES
    if "address_spaces" in op.attributes:
        listed = [str(a) for a in ir.ArrayAttr(op.attributes["address_spaces"])]
        spaces = frozenset(s for s in ALL_SPACES if any(s in text for text in listed))
    scope = str(op.attributes["scope"]) if "scope" in op.attributes else "workgroup"
    narrow = len(op.operands) > 0 or not any(wide in scope for wide in ("workgroup", "cluster"))
    if narrow:
        spaces = frozenset()
    model.barriers.append(Barrier(place, spaces, describe(op), _candidate(op), narrow))


def _warp_barrier(model: KernelModel, op: ir.Operation, place: Place) -> None:
    """Adds a barrier of all lanes of a warp."""
    _expect_whole(model.shape, op, WARP)
    if mask_of_lanes(op) != ALL_LANES:
        raise fail(
            "W0603",
            f"the mask of {describe(op)} is not one of all {WARP} lanes, which it is taken to wait for",
            hint=f"give it the constant mask `-1`, and let all {WARP} lanes reach it",
        )
    model.barriers.append(Barrier(place, ALL_SPACES, describe(op), _candidate(op), narrow=True))


def _numbered_barrier(model: KernelModel, op: ir.Operation, place: Place, values: Values) -> None:
    """Adds a numbered barrier for a group of consecutive threads. Number 0 without a thread count
    is the barrier of the block."""
    number, count = ([*part, None][0] for part in segments(op)[:2])
    if count is None and not op.results and (number is None or values.linear(number) == Linear.of(0)):
        model.barriers.append(Barrier(place, ALL_SPACES, describe(op), _candidate(op)))
        return
    many = None if count is None else values.linear(count)
    if number is None or many is None or not many.is_constant or many.constant % WARP or many.constant < 1:
        raise fail(
            "W0640",
            f"the race analysis follows barriers with a number of their own, for a number of whole warps:"
            f" {describe(op)}",
            hint=f"state `id` and `number_of_threads`, a multiple of {WARP}, as constants",
        )
    found = Barrier(place, ALL_SPACES, describe(op), _candidate(op), narrow=True, threads=many.constant)
    model.barriers.append(replace(found, number=values.linear(number)))


def together(model: KernelModel, op: ir.Operation, place: Place, threads: int) -> None:
    """Records an op that `threads` consecutive threads execute together, like a barrier of their
    warp, but without any order between memory accesses."""
    _expect_whole(model.shape, op, threads)
    found = Barrier(place, frozenset(), describe(op), narrow=True, threads=threads)
    if any(guard.depends().thread for guard in place.guards):
        model.warp_wide.append(found)
    if op.name in PRODUCTS:
        model.products.append(replace(found, landings=()) if may_pend(op) else found)


def _expect_whole(shape: LaunchShape, op: ir.Operation, threads: int) -> None:
    if prod(size for size in shape.block if size is not None) % threads:
        has = "of unknown size may have" if shape.threads is None else f"of {shape.threads} threads has"
        group = f"warp that is not whole, and {describe(op)} takes all {threads} lanes"
        if threads != WARP:
            group = f"warp group that is not whole, and {describe(op)} takes all {threads} threads"
        raise fail(
            "W0603",
            f"a block {has} a {group}",
            hint=f"give the block a multiple of {threads} threads, such as"
            f" `threads(x: {threads})` or `--block {threads},1,1`",
        )


def _candidate(barrier: ir.Operation) -> int | None:
    mark = barrier.attributes.get("weft.candidate", None)
    return None if mark is None else int(ir.IntegerAttr(mark))
