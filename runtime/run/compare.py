"""Outputs against the reference: max|got − ref| / max|ref|, per output and the worst, and whether that is good enough."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from ..plan.dtypes import FLOATS, narrow, poisoned, widen
from ..plan.signature import FunctionSignature

TOLERANCES: Mapping[str, float] = MappingProxyType({"f64": 1e-12, "f32": 1e-5, "tf32": 1e-3, "f16": 1e-2, "bf16": 1e-2})


@dataclass(frozen=True)
class OutputComparison:
    """How one output compares.

    Args:
        error: max|got − ref| / max|ref|; inf if it cannot be compared.
        reason: why it is not ok; None if it is.
        worst: the index of the worst element, with what stands there and what should.
    """

    name: str
    dtype: str
    error: float
    tolerance: float
    reason: str | None = None
    worst: tuple[int, ...] | None = None

    @property
    def ok(self) -> bool:
        return self.reason is None


@dataclass(frozen=True)
class Comparison:
    outputs: tuple[OutputComparison, ...]

    @property
    def ok(self) -> bool:
        return all(o.ok for o in self.outputs)

    @property
    def max_rel_error(self) -> float:
        """The worst output's."""
        return max((o.error for o in self.outputs), default=0.0)

    @property
    def reasons(self) -> tuple[str, ...]:
        return tuple(f"`{o.name}`: {o.reason}" for o in self.outputs if o.reason is not None)


def tolerance(signature: FunctionSignature) -> float:
    """What is demanded of the function's float outputs: that of the float type of lowest precision which it touches."""
    lowest = signature.lowest_precision
    return TOLERANCES[lowest] if lowest is not None else 0.0


def compare(
    signature: FunctionSignature,
    got: Mapping[str, np.ndarray],
    reference: Mapping[str, np.ndarray],
    *,
    precision: str | None = None,
) -> Comparison:
    """Compare every output of the signature.

    Args:
        got: the run's outputs, by name, in their element types.
        reference: the reference's; f16 and bf16 outputs may come in f32.
        precision: overrides the float type that sets the tolerance, e.g. `tf32`.
    """
    limit = TOLERANCES[precision] if precision is not None else tolerance(signature)
    errors: list[OutputComparison] = []
    for output in signature.outputs:
        allowed = limit if output.dtype in FLOATS else 0.0
        mine, theirs = got.get(output.name), reference.get(output.name)
        if mine is None or theirs is None or mine.shape != theirs.shape:
            errors.append(_incomparable(output.name, output.dtype, allowed, mine, theirs))
        elif output.dtype in FLOATS:
            errors.append(_floats(output.name, output.dtype, allowed, mine, theirs))
        else:
            errors.append(_integers(output.name, output.dtype, mine, theirs))
    return Comparison(tuple(errors))


def _incomparable(
    name: str, dtype: str, allowed: float, got: np.ndarray | None, reference: np.ndarray | None
) -> OutputComparison:
    if got is None or reference is None:
        reason = f"the {'run' if got is None else 'reference'} has no such output"
    else:
        reason = f"shape {list(got.shape)}, the reference has {list(reference.shape)}"
    return OutputComparison(name, dtype, float("inf"), allowed, reason)


def _floats(name: str, dtype: str, allowed: float, got: np.ndarray, reference: np.ndarray) -> OutputComparison:
    """NaN and infinities must stand where the reference has them; the rest counts by its error."""
    if not got.size:
        return OutputComparison(name, dtype, 0.0, allowed)
    unwritten = poisoned(got, dtype)
    mine = widen(got, dtype).astype(np.float64)
    theirs = (widen(reference, dtype) if reference.dtype == np.uint16 else reference).astype(np.float64)
    with np.errstate(over="ignore"):
        stored = widen(narrow(theirs, dtype), dtype)
    theirs = np.where(np.isinf(stored), stored, theirs)  # halves are computed in f32, where what they overflow at is a number
    finite = np.isfinite(theirs)
    odd = ~np.where(finite, np.isfinite(mine), (mine == theirs) | (np.isnan(mine) & np.isnan(theirs)))
    if odd.any():
        at = _first(odd)
        left = f"{int((unwritten & odd).sum())} elements were never written" if (unwritten & odd).any() else None
        reason = left or f"{int(odd.sum())} elements, the first {list(at)}: {mine[at]}, the reference has {theirs[at]}"
        return OutputComparison(name, dtype, float("inf"), allowed, reason, at)
    with np.errstate(invalid="ignore"):
        difference = np.where(finite, np.abs(mine - theirs), 0.0)
    worst = _index(int(difference.argmax()), difference.shape)
    error = _relative(float(difference[worst]), float(np.abs(np.where(finite, theirs, 0.0)).max()))
    if error <= allowed:
        return OutputComparison(name, dtype, error, allowed, None, worst)
    place = f"element {list(worst)} is {mine[worst]}, the reference has {theirs[worst]}"
    return OutputComparison(name, dtype, error, allowed, f"error {error:.3g} > {allowed:g}; {place}", worst)


def _integers(name: str, dtype: str, got: np.ndarray, reference: np.ndarray) -> OutputComparison:
    if not got.size:
        return OutputComparison(name, dtype, 0.0, 0.0)
    mine, theirs = (a.view(np.uint8) if a.dtype == np.bool_ else a for a in (got, reference.astype(got.dtype)))
    wrong = mine != theirs
    if not wrong.any():
        return OutputComparison(name, dtype, 0.0, 0.0)
    difference = np.abs(mine.astype(np.float64) - theirs.astype(np.float64))
    error = _relative(float(difference.max()), float(np.abs(theirs.astype(np.float64)).max()))
    at = _first(wrong)
    left = int((poisoned(got, dtype) & wrong).sum())
    reason = f"{int(wrong.sum())} elements differ, the first {list(at)}: {mine[at]}, the reference has {theirs[at]}"
    return OutputComparison(
        name, dtype, error or float("inf"), 0.0, f"{left} elements were never written" if left else reason, at
    )


def _relative(difference: float, scale: float) -> float:
    if difference == 0:
        return 0.0
    return difference / scale if scale > 0 else float("inf")


def _first(mask: np.ndarray) -> tuple[int, ...]:
    return _index(int(mask.argmax()), mask.shape)


def _index(flat: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(i) for i in np.unravel_index(flat, shape))
