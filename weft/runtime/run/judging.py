"""Whether outputs are right where the payload's own rounding has a say: it may add up in bf16, and be off by that.

A payload is computed without rounding to speak of (its halves in f32, or all floats in f64), and as it is written, each
op in its own types. A schedule may keep that order and these types, or accumulate in f32: outputs are right within the
tolerance of either. Those that are near neither, since parts are added up in halves, too, may be as far off as the
payload is itself, if they are right for inputs on which it is exact (sums of a few small integers), or accurate:
rounding hides no missing term there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from math import isfinite

import numpy as np

from ...dsl.diagnostics import WeftError
from ...dsl.records import record
from ..plan.dtypes import FLOATS, HALVES, Floats, narrow, widen
from ..plan.signature import FunctionSignature
from .compare import Comparison, OutputComparison, compare

Arrays = Mapping[str, np.ndarray]
DENSITIES = (1.0, 0.5, 0.25, 0.125, 1 / 16, 1 / 32, 1 / 64)
"""Parts of a witness's elements that are 1 or -1, until sums of them are exact in halves."""
BACKGROUNDS = (0.0, -64.0)
"""The rest of its elements: what adds nothing to a sum of products, and to one of exponentials."""
SAMPLES = 4
"""Inputs that the payload's own error is measured on: those that are given, and these in other orders."""
WITNESSES = 2
STEP = {"f64": 2.0**-52, "f32": 2.0**-23, "f16": 2.0**-10, "bf16": 2.0**-7, "f8E4M3FN": 2.0**-3, "f8E5M2": 2.0**-2}
"""From 1 to the next number of a type: how far the results of a last division or exponential may be apart."""


@record
class Arbiter:
    """What decides about outputs that differ from what is expected.

    Args:
        signature: with the outputs that are compared.
        precise: of inputs the payload's outputs, with floats of f64. Raises WeftError where it can't be computed so.
        computed: with halves computed in f32, or in the payload's own types. Raises WeftError likewise.
        run: of other inputs what the kernels compute.
        rounded: what kernels make of operands of f32, where the schedule asks for that.
    """

    signature: FunctionSignature
    precise: Callable[[Arrays], Arrays]
    computed: Callable[[Arrays, Floats], Arrays]
    run: Callable[[Arrays], Arrays]
    rounded: str | None = None

    def reconsidered(
        self, inputs: Arrays, outputs: Arrays, expected: Arrays, found: Comparison
    ) -> tuple[Comparison, str] | None:
        """The comparison by which outputs are right after all, and what it compares with; None where there is none.

        Args:
            expected: the payload's outputs, its halves computed in f32.
            found: how the outputs compare with these: some are wrong.
        """
        own = self._own(inputs)
        if own is not None:
            better = self._beside(outputs, own)
            if better.ok:
                off = self._beside(own, expected).max_rel_error
                return better, f"the payload in its own types (off by {off:.2g} from f32)"
        wrong = [output for output in found.outputs if not output.ok]
        if any(output.dtype not in FLOATS or not isfinite(output.error or 0.0) for output in wrong):
            return None
        with suppress(WeftError):
            precise = self.precise(inputs) if found.rounding else expected
            better = self._beside(outputs, precise)
            if better.ok:
                return better, f"the payload in f64 (off by {found.max_rel_error:.2g} in its own types)"
            if own is not None:
                return self._as_far_off(inputs, better, self._beside(own, precise))
        return None

    def _own(self, inputs: Arrays) -> Arrays | None:
        """The payload's outputs, each op in its own types; None where that is no other measure."""
        if self.signature.lowest_precision not in HALVES:
            return None
        with suppress(WeftError):
            return self.computed(inputs, "own")
        return None

    def _beside(self, outputs: Arrays, expected: Arrays) -> Comparison:
        return compare(self.signature, outputs, expected, rounded=self.rounded)

    def _as_far_off(self, inputs: Arrays, found: Comparison, own: Comparison) -> tuple[Comparison, str] | None:
        """Outputs that are no farther off than the payload is in its own types, and exact where it is."""
        samples = [own]
        for seed in range(1, SAMPLES):
            generator = np.random.default_rng(seed)
            others = {
                **inputs,
                **{n: generator.permutation(a.reshape(-1)).reshape(a.shape) for n, a in _floats(inputs)},
            }
            samples.append(self._beside(self.computed(others, "own"), self.computed(others, "f32")))
        errors = [[sample.outputs[n].error or 0.0 for sample in samples] for n in range(len(found.outputs))]
        allowed = [max(filter(isfinite, of_output), default=0.0) for of_output in errors]
        judged = tuple(map(_allowing, found.outputs, allowed))
        if not all(output.ok for output in judged):
            return None
        witnesses = self._witnesses(inputs)
        if not witnesses or not all(self._is_right(witness) for witness in witnesses):
            return None
        return Comparison(judged), f"the payload in f32, as far off as it is in its own types ({max(allowed):.2g})"

    def _is_right(self, inputs: Arrays) -> bool:
        """Whether the kernels are exact on inputs for which the payload is; else within the tolerance."""
        got, plain = self.run(inputs), self.computed(inputs, "f32")
        if self._same(self.computed(inputs, "own"), plain):
            return self._same(got, plain)
        return self._beside(got, plain).ok

    def _witnesses(self, inputs: Arrays) -> list[Arrays]:
        """Inputs for which the payload is exact in its own types; if there are none, those for which it is accurate."""
        accurate: list[Arrays] = []
        for background in BACKGROUNDS:
            for number, density in enumerate(DENSITIES):
                exact, near = self._own_error(_sparse(inputs, density, background, 0))
                if not near:
                    continue
                # the next density leaves a margin to sums in another order
                density = DENSITIES[min(number + (density < 1), len(DENSITIES) - 1)]
                made = [_sparse(inputs, density, background, seed) for seed in range(1, 1 + WITNESSES)]
                judged = [self._own_error(one) for one in made]
                if exact and all(exact for exact, _ in judged):
                    return made
                if not accurate and all(near for _, near in judged):
                    accurate = made
        return accurate

    def _own_error(self, inputs: Arrays) -> tuple[bool, bool]:
        """Whether the payload is exact in its own types; whether off by less than a quarter of the tolerance."""
        own, plain = self.computed(inputs, "own"), self.computed(inputs, "f32")
        if not any(np.any(plain[o.name]) for o in self.signature.outputs):  # a missing term would not show
            return False, False
        outputs = self._beside(own, plain).outputs
        near = all(o.error is not None and o.error <= (o.tolerance or 0.0) / 4 for o in outputs)
        return near and self._same(own, plain), near

    def _same(self, got: Arrays, plain: Arrays) -> bool:
        return all(_equal(got[o.name], plain[o.name], o.dtype) for o in self.signature.outputs)


def own_outputs(signature: FunctionSignature, own: Callable[[], Arrays], expected: Arrays) -> Arrays | None:
    """What the payload computes in its own types, where that is off by more than is allowed; else None."""
    if signature.lowest_precision in HALVES:
        with suppress(WeftError):
            made = own()
            return None if compare(signature, made, expected).ok else made
    return None


def _allowing(output: OutputComparison, allowed: float) -> OutputComparison:
    if output.ok or output.error is None or output.error > allowed:
        return output
    return replace(output, tolerance=allowed, reason=None)


def _equal(got: np.ndarray, plain: np.ndarray, dtype: str) -> bool:
    """Whether each element is what rounding once gives, or next to it: a last division may be rounded otherwise."""
    if dtype not in FLOATS:
        return bool((got == plain).all())
    mine, theirs = (widen(array, dtype).astype(np.float64) for array in (got, narrow(plain, dtype)))
    return bool((np.isfinite(mine) & (np.abs(mine - theirs) <= STEP[dtype] / 2 * np.abs(theirs))).all())


def _floats(inputs: Arrays) -> Iterator[tuple[str, np.ndarray]]:
    """The inputs that hold floats, of NumPy's types or of `ml_dtypes`."""
    for name, array in inputs.items():
        if array.dtype.kind not in "iub":
            yield name, array


def _sparse(inputs: Arrays, density: float, background: float, seed: int) -> Arrays:
    """1, -1, and the background for the rest; a scalar is 1. Integers are left as they are: they may be indices."""
    generator = np.random.default_rng(seed)

    def drawn(array: np.ndarray) -> np.ndarray:
        if not np.ndim(array):
            return np.ones((), array.dtype)
        there = generator.random(array.shape) < density
        return np.where(there, generator.choice([-1.0, 1.0], array.shape), background).astype(array.dtype)

    return {**inputs, **{name: drawn(array) for name, array in _floats(inputs)}}
