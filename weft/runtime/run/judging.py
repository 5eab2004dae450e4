"""Decides whether outputs are right if the payload's own rounding matters: for example, if it
accumulates in bf16.

The payload is computed twice: with almost no rounding (its halves in f32, or all floats in f64),
and as written, each op in its own types. Outputs are right if they are within the tolerance of one
of the two, since a schedule may keep the payload's order and types, or accumulate in f32. Other
outputs, for example if parts are accumulated in halves, are right under two conditions: their error
is at most as large as the payload's own; and they are right for inputs on which the payload is
exact (sums of a few small integers), or accurate, where rounding cannot hide a missing term. Outputs
in f32 are right, too, if they are no farther from the payload in f64 than the payload in f32 is, and
both are near.
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
"""Fractions of a witness's elements that are 1 or -1, in decreasing order until sums of them are
exact in halves."""
BACKGROUNDS = (0.0, -64.0)
"""Values of its other elements: neutral in a sum of products, and in a sum of exponentials."""
SAMPLES = 4
"""Number of inputs for measuring the payload's own error: the given ones, and permutations of them."""
WITNESSES = 2
CHAIN = 16
"""The most that a chain of ops in f32 may enlarge rounding errors beyond the tolerance: a term that
is left out shows as a larger error, unless it is smaller than the payload's own."""
STEP = {"f64": 2.0**-52, "f32": 2.0**-23, "f16": 2.0**-10, "bf16": 2.0**-7, "f8E4M3FN": 2.0**-3, "f8E5M2": 2.0**-2}
"""The distance from 1 to the next number of a type: the results of a last division or exponential
may differ by as much."""


@record
class Arbiter:
    """Decides about outputs that differ from the expected ones.

    Args:
        signature: with the outputs that are compared.
        precise: computes the payload's outputs from inputs, with all floats in f64. Raises
            WeftError if that is not possible.
        computed: computes the payload's outputs from inputs, with halves in f32, or in its own
            types. Raises WeftError if that is not possible.
        run: computes the kernels' outputs from inputs.
        rounded: the type that kernels round f32 operands to, if the schedule requests it.
    """

    signature: FunctionSignature
    precise: Callable[[Arrays], Arrays]
    computed: Callable[[Arrays, Floats], Arrays]
    run: Callable[[Arrays], Arrays]
    rounded: str | None = None

    def reconsidered(
        self, inputs: Arrays, outputs: Arrays, expected: Arrays, found: Comparison
    ) -> tuple[Comparison, str] | None:
        """A comparison by which the outputs are right after all, and the description of its
        reference; None if there is none.

        Args:
            expected: the payload's outputs, its halves computed in f32.
            found: the comparison with these, in which some outputs are wrong.
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
            if found.rounding:
                return self._no_farther(better, self._beside(expected, precise))
        return None

    @staticmethod
    def _no_farther(found: Comparison, own: Comparison) -> tuple[Comparison, str] | None:
        """The comparison with the payload in f64 in which the error may be as large as that of the
        payload in f32 (`own`), up to `CHAIN` tolerances; None if outputs exceed it."""
        allowed = [min(o.error or 0.0, CHAIN * (o.tolerance or 0.0)) for o in own.outputs]
        judged = tuple(map(_allowing, found.outputs, allowed))
        if not all(output.ok for output in judged):
            return None
        return Comparison(
            judged
        ), f"the payload in f64, no farther off than it is in its own types ({max(allowed):.2g})"

    def _own(self, inputs: Arrays) -> Arrays | None:
        """The payload's outputs, each op in its own types; None if these are the same measure or
        cannot be computed."""
        if self.signature.lowest_precision not in HALVES:
            return None
        with suppress(WeftError):
            return self.computed(inputs, "own")
        return None

    def _beside(self, outputs: Arrays, expected: Arrays) -> Comparison:
        return compare(self.signature, outputs, expected, rounded=self.rounded)

    def _as_far_off(self, inputs: Arrays, found: Comparison, own: Comparison) -> tuple[Comparison, str] | None:
        """The comparison in which the error may be as large as the payload's own, in its types;
        None if outputs exceed it, or are wrong on witnesses."""
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
        """Whether the kernels are exact on inputs for which the payload is; else whether they are
        within the tolerance."""
        got, plain = self.run(inputs), self.computed(inputs, "f32")
        if self._same(self.computed(inputs, "own"), plain):
            return self._same(got, plain)
        return self._beside(got, plain).ok

    def _witnesses(self, inputs: Arrays) -> list[Arrays]:
        """Inputs for which the payload is exact in its own types; if there are none, inputs for
        which it is accurate."""
        accurate: list[Arrays] = []
        for background in BACKGROUNDS:
            for number, density in enumerate(DENSITIES):
                exact, near = self._own_error(_sparse(inputs, density, background, 0))
                if not near:
                    continue
                # the next lower density leaves a margin for sums in another order
                density = DENSITIES[min(number + (density < 1), len(DENSITIES) - 1)]
                made = [_sparse(inputs, density, background, seed) for seed in range(1, 1 + WITNESSES)]
                judged = [self._own_error(one) for one in made]
                if exact and all(exact for exact, _ in judged):
                    return made
                if not accurate and all(near for _, near in judged):
                    accurate = made
        return accurate

    def _own_error(self, inputs: Arrays) -> tuple[bool, bool]:
        """Whether the payload is exact in its own types, and whether its error is at most a quarter
        of the tolerance."""
        own, plain = self.computed(inputs, "own"), self.computed(inputs, "f32")
        if not any(np.any(plain[o.name]) for o in self.signature.outputs):  # a missing term would be invisible
            return False, False
        outputs = self._beside(own, plain).outputs
        near = all(o.error is not None and o.error <= (o.tolerance or 0.0) / 4 for o in outputs)
        return near and self._same(own, plain), near

    def _same(self, got: Arrays, plain: Arrays) -> bool:
        return all(_equal(got[o.name], plain[o.name], o.dtype) for o in self.signature.outputs)


def own_outputs(signature: FunctionSignature, own: Callable[[], Arrays], expected: Arrays) -> Arrays | None:
    """The payload's outputs in its own types, if their error exceeds the tolerance; else None."""
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
    """Whether each element is the correctly rounded value, or the next to it: a last division may
    round differently."""
    if dtype not in FLOATS:
        return bool((got == plain).all())
    mine, theirs = (widen(array, dtype).astype(np.float64) for array in (got, narrow(plain, dtype)))
    return bool((np.isfinite(mine) & (np.abs(mine - theirs) <= STEP[dtype] / 2 * np.abs(theirs))).all())


def _floats(inputs: Arrays) -> Iterator[tuple[str, np.ndarray]]:
    """The float inputs, of NumPy's types or of `ml_dtypes`."""
    for name, array in inputs.items():
        if array.dtype.kind not in "iub":
            yield name, array


def _sparse(inputs: Arrays, density: float, background: float, seed: int) -> Arrays:
    """Inputs of 1 and -1 at this density, and the background elsewhere; a scalar is 1. Integers are
    unchanged, since they may be indices."""
    generator = np.random.default_rng(seed)

    def drawn(array: np.ndarray) -> np.ndarray:
        if not np.ndim(array):
            return np.ones((), array.dtype)
        there = generator.random(array.shape) < density
        return np.where(there, generator.choice([-1.0, 1.0], array.shape), background).astype(array.dtype)

    return {**inputs, **{name: drawn(array) for name, array in _floats(inputs)}}
