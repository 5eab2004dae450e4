"""Outputs against the reference: max|got − ref| / max|ref|, per output and the worst; is that good enough?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from math import inf
from types import MappingProxyType

import numpy as np

from ...dsl.records import record
from ..plan.dtypes import FLOATS, HALVES, holds_bits, narrow, poisoned, widen
from ..plan.signature import FunctionSignature

_TOLERANCES = {"f64": 1e-12, "f32": 1e-5, "3xtf32": 1e-5, "bf16x3": 5e-5, "tf32": 1e-3, **dict.fromkeys(HALVES, 1e-2)}
TOLERANCES: Mapping[str, float] = MappingProxyType(_TOLERANCES)
"""Two parts of bf16 have an f32 but for 2^-16 of it; of a product, that is left out for both, and small by small: 3 *
2^-16. Tensor cores add up products of f8 with fewer digits than f32 has."""
DOUBTFUL = 0.1
"""Below this error, the reference may be off: it adds up long sums one by one, in the payload's own types."""


@record
class OutputComparison:
    """How one output compares.

    Args:
        error: max|got − ref| / max|ref|, exact for integers; inf if it cannot be compared; None: not compared.
        ok: None likewise.
        reason: why it is not ok; None if it is.
        worst: the index of the worst element, with what stands there and what should.
        array: what was computed, on the host.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    error: float | None = None
    tolerance: float | None = None
    reason: str | None = None
    worst: tuple[int, ...] | None = None
    array: np.ndarray | None = field(default=None, repr=False, compare=False)

    @property
    def ok(self) -> bool | None:
        return None if self.error is None else self.reason is None


@record
class Comparison:
    """All outputs of a run beside what they should be."""

    outputs: tuple[OutputComparison, ...]

    @property
    def ok(self) -> bool:
        return all(o.ok for o in self.outputs)

    @property
    def rounding(self) -> bool:
        """Whether all that is wrong are floats that differ by less than `DOUBTFUL`: by whose fault is not known."""
        wrong = [output for output in self.outputs if not output.ok]
        return bool(wrong) and all(output.dtype in FLOATS and (output.error or 0.0) < DOUBTFUL for output in wrong)

    @property
    def max_rel_error(self) -> float:
        """The worst output's."""
        return max((o.error or 0.0 for o in self.outputs), default=0.0)


def tolerance(signature: FunctionSignature) -> float:
    """What is demanded of the function's float outputs: that of the float type of lowest precision which it touches."""
    lowest = signature.lowest_precision
    return TOLERANCES[lowest] if lowest is not None else 0.0


def compare(
    signature: FunctionSignature,
    got: Mapping[str, np.ndarray],
    reference: Mapping[str, np.ndarray],
    *,
    rounded: str | None = None,
    exact: bool = False,
) -> Comparison:
    """Compare every output of the signature.

    Args:
        got: the run's outputs, by name, in their element types.
        reference: the reference's; outputs of narrower floats may come in f32.
        rounded: what is made of operands on the way, where the schedule asks for that: `tf32`.
        exact: floats, too, have to be the very numbers that the reference has, rounded to the output's type.
    """
    limit = 0.0 if exact else max(tolerance(signature), TOLERANCES[rounded] if rounded is not None else 0.0)
    found: list[OutputComparison] = []
    for output in signature.outputs:
        mine, theirs = got.get(output.name), reference.get(output.name)
        shape = mine.shape if mine is not None else ()
        blank = OutputComparison(output.name, output.dtype, shape, 0.0, limit if output.dtype in FLOATS else 0.0)
        if mine is None or theirs is None:
            reason = f"the {'run' if mine is None else 'reference'} has no such output"
            found.append(replace(blank, error=inf, reason=reason))
        elif shape != theirs.shape:
            reason = f"shape {list(shape)}, the reference has {list(theirs.shape)}"
            found.append(replace(blank, error=inf, reason=reason))
        elif not mine.size:
            found.append(blank)
        else:
            found.append((_floats if output.dtype in FLOATS else _integers)(blank, mine, theirs))
    return Comparison(tuple(found))


def _floats(blank: OutputComparison, got: np.ndarray, reference: np.ndarray) -> OutputComparison:
    """NaN and infinities must stand where the reference has them; the rest counts by its error."""
    dtype, allowed = blank.dtype, blank.tolerance or 0.0
    mine, theirs = widen(got, dtype), widen(reference, dtype) if holds_bits(reference.dtype, dtype) else reference
    if np.array_equal(mine, theirs):  # most often, and ten times as fast to see
        return replace(blank, error=0.0, worst=_index(0, mine.shape))
    mine, theirs = mine.astype(np.float64), theirs.astype(np.float64)
    with np.errstate(over="ignore"):
        stored = widen(narrow(theirs, dtype), dtype)
    # halves are computed in f32, where what they overflow at is a number
    theirs = np.where(np.isinf(stored) | (not allowed), stored, theirs)
    finite = np.isfinite(theirs)
    odd = ~np.where(finite, np.isfinite(mine), (mine == theirs) | (np.isnan(mine) & np.isnan(theirs)))
    if odd.any():
        return _wrong(blank, got, mine, theirs, odd, inf, "elements")
    with np.errstate(invalid="ignore"):
        difference = np.where(finite, np.abs(mine - theirs), 0.0)
    worst = _index(int(difference.argmax()), difference.shape)
    error = _relative(float(difference[worst]), float(np.abs(np.where(finite, theirs, 0.0)).max()))
    place = f"element {list(worst)} is {mine[worst]}, the reference has {theirs[worst]}"
    reason = None if error <= allowed else f"error {error:.3g} > {allowed:g}; {place}"
    return replace(blank, error=error, reason=reason, worst=worst)


def _integers(blank: OutputComparison, got: np.ndarray, reference: np.ndarray) -> OutputComparison:
    mine, theirs = (a.view(np.uint8) if a.dtype == np.bool_ else a for a in (got, reference.astype(got.dtype)))
    wrong = mine != theirs
    if not wrong.any():
        return blank
    difference = np.abs(mine.astype(np.float64) - theirs.astype(np.float64))
    error = _relative(float(difference.max()), float(np.abs(theirs.astype(np.float64)).max()))
    return _wrong(blank, got, mine, theirs, wrong, error or inf, "elements differ")


def _wrong(
    blank: OutputComparison,
    got: np.ndarray,
    mine: np.ndarray,
    theirs: np.ndarray,
    wrong: np.ndarray,
    error: float,
    what: str,
) -> OutputComparison:
    """The elements marked as `wrong` are; if some were never written, that is why."""
    at = _index(int(wrong.argmax()), wrong.shape)
    left = int((poisoned(got, blank.dtype) & wrong).sum())
    reason = f"{int(wrong.sum())} {what}, the first {list(at)}: {mine[at]}, the reference has {theirs[at]}"
    return replace(blank, error=error, reason=f"{left} elements were never written" if left else reason, worst=at)


def _relative(difference: float, scale: float) -> float:
    if difference == 0:
        return 0.0
    return difference / scale if scale > 0 else inf


def _index(flat: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(i) for i in np.unravel_index(flat, shape))
