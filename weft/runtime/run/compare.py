"""Comparison of outputs with the reference: max|got − ref| / max|ref|, per output and the worst
one, against a tolerance."""

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
"""Relative tolerances. bf16x3: two bf16 represent an f32 up to 2^-16; a product omits that of both
factors and the product of the small parts: 3 * 2^-16. f8: tensor cores add up products with fewer
digits than f32 has."""
DOUBTFUL = 0.1
"""Errors below this may be the reference's: it adds up long sums one by one, in the payload's own
types."""


@record
class OutputComparison:
    """The comparison of one output.

    Args:
        error: max|got − ref| / max|ref|, exact for integers; inf if it cannot be compared; None:
            not compared.
        tolerance: the largest allowed error; None: not compared.
        reason: why it is not ok; None if it is.
        worst: the index of the element with the largest error.
        array: the computed output, on the host.
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
    """The comparison of all outputs of a run."""

    outputs: tuple[OutputComparison, ...]

    @property
    def ok(self) -> bool:
        return all(o.ok for o in self.outputs)

    @property
    def rounding(self) -> bool:
        """Whether all wrong outputs are floats with errors below `DOUBTFUL`, so that kernels or
        reference may be at fault."""
        wrong = [output for output in self.outputs if not output.ok]
        return bool(wrong) and all(output.dtype in FLOATS and (output.error or 0.0) < DOUBTFUL for output in wrong)

    @property
    def max_rel_error(self) -> float:
        """The error of the worst output."""
        return max((o.error or 0.0 for o in self.outputs), default=0.0)


def tolerance(signature: FunctionSignature) -> float:
    """The tolerance for the function's float outputs: that of the float type of lowest precision
    among its types."""
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
    """Compares every output of the signature.

    Args:
        got: the run's outputs, by name, in their element types.
        reference: the reference's; outputs of narrower floats may be f32.
        rounded: the type that operands are rounded to, if the schedule requests it: `tf32`.
        exact: floats must equal the reference, rounded to the output's type, too.
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
    """NaN and infinities must match the reference's; all other elements are compared by their
    error."""
    dtype, allowed = blank.dtype, blank.tolerance or 0.0
    mine, theirs = widen(got, dtype), widen(reference, dtype) if holds_bits(reference.dtype, dtype) else reference
    if np.array_equal(mine, theirs):  # the usual case, found ten times as fast
        return replace(blank, error=0.0, worst=_index(0, mine.shape))
    mine, theirs = mine.astype(np.float64), theirs.astype(np.float64)
    with np.errstate(over="ignore"):
        stored = widen(narrow(theirs, dtype), dtype)
    # halves are computed in f32, in which their overflows are still finite
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
    """The comparison with the elements marked `wrong`; names unwritten elements as the cause if
    there are any."""
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
