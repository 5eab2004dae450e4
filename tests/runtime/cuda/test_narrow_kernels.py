"""Two texts of a kernel for open sizes: one has indices of 32 bits, and is launched where they suffice; both divide by sizes by
multiplication."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from native import run_native
from native_device import NativeDevice, for_all_sizes

import weft
from weft.dsl.diagnostics import WeftError
from weft.pipeline import Planned, applied, planned
from weft.runtime.cuda.prelude import prelude
from weft.runtime.cuda.values.sizes import most_quotient
from weft.runtime.plan.check import validate
from weft.runtime.plan.codec import dump, load
from weft.runtime.plan.plan import DimOf, Narrow
from weft.runtime.plan.resolve import NARROW_DIVIDENDS, WIDE_DIVIDENDS, apply, fold, resolve
from weft.runtime.run.runner import run_plan

QUOTIENTS = """
extern "C" __global__ void quotients(const T* n, const T* d, const long long* by, T* q, T* r, long long count) {
  for (long long i = 0; i < count; ++i) { q[i] = quotient(n[i], by[i]); r[i] = modulo(n[i], d[i], by[i]); }
}
"""


def cases(bits: int) -> list[tuple[int, int]]:
    """Dividends and divisors, where rounding is worst: beside multiples, powers of two, and the ends."""
    draw, last = random.Random(bits), (1 << bits) - 1
    powers = [1 << n for n in range(bits + 1)]
    divisors = {d for power in powers for d in (power - 1, power, power + 1) if d > 0} | {7, 9, 641, last - 1, last + 2, 5 * last}
    divisors |= {draw.randrange(1, 1 << draw.randrange(1, bits + 1)) for _ in range(200)}
    found = []
    for d in sorted(divisors):
        near = {0, 1, d - 1, d, d + 1, last, last // d * d, last // d * d - 1}
        near |= {draw.randrange(last + 1) // d * d - 1 for _ in range(4)}
        found += [(n, d) for n in near if 0 <= n <= last]
    return found


@pytest.mark.parametrize(("bits", "cxx", "dtype"), [(NARROW_DIVIDENDS, "int", np.int32), (WIDE_DIVIDENDS, "long long", np.int64)])
def test_quotients_by_reciprocals_are_exact(bits: int, cxx: str, dtype: type) -> None:
    pairs = [(n, d) for n, d in cases(bits) if d <= np.iinfo(dtype).max]
    by = np.array([apply("reciprocal", d, bits) for _, d in pairs], np.int64)
    n, d = (np.array(column, dtype) for column in zip(*pairs, strict=True))
    q, r = np.empty_like(n), np.empty_like(n)
    text = "\n".join(prelude(QUOTIENTS, ()).values()) + QUOTIENTS.replace("T*", f"{cxx}*")
    run_native(text, "quotients", (1,), (1,), [n, d, by, q, r, len(pairs)])
    assert [(int(a), int(b)) for a, b in zip(q, r, strict=True)] == [divmod(*pair) for pair in pairs]


def test_what_is_larger_than_all_dividends_has_the_quotient_0() -> None:
    """So has 0, by which no kernel divides: its loops have no iterations then."""
    for bits in (NARROW_DIVIDENDS, WIDE_DIVIDENDS):
        assert [apply("reciprocal", d, bits) for d in (0, (1 << bits) + 1, 1 << 60)] == [0, 0, 0]
        assert apply("reciprocal", 1 << bits, bits) > 0


def test_quotients_of_multiples_of_one_size() -> None:
    """No size has a larger one, and 1 has it."""
    size, draw = DimOf("0", 3), random.Random(3)
    for _ in range(100):
        factor, more, outer, step = (draw.randint(low, 40) for low in (0, 0, 1, 1))
        dividend = fold("mul", fold("add", fold("mul", size, factor), more), outer)
        found = most_quotient(dividend, fold("mul", size, step))
        if factor:
            assert found == max((n * factor + more) * outer // (n * step) for n in range(1, 100))
        else:
            assert found is None  # a number: how large the size is decides
    assert most_quotient(fold("mul", size, 6), fold("mul", DimOf("0", 2), 3)) is None  # of another size
    assert most_quotient(fold("mul", size, 6), fold("add", size, 3)) is None
    assert most_quotient(fold("sub", fold("mul", size, 6), 3), size) is None
    assert most_quotient(fold("add", fold("mul", size, 6), -3), size) == 6


@cache
def made(recipe: str) -> Planned:
    open_ = dict.fromkeys("mnk" if recipe == "simt" else "nchwk", "?")
    return planned(applied(weft.load(recipe, settings=open_)))


def bits_of_launch(one: Planned, shapes: dict[str, tuple[int, ...]]) -> int:
    (step,) = resolve(load(dump(one.plan)), shapes, {}).launches
    assert step.narrow is None
    return 32 if step.kernel.endswith("_32") else 64


@pytest.mark.parametrize(
    ("m", "k", "n", "bits"),
    [
        (1, 1, 1, 32),
        (0, 5, 0, 32),
        (46_340, 46_340, 46_340, 32),  # 2^31 - 88,048 elements
        (46_341, 46_341, 1, 64),
        (1, (1 << 31) - 17, 1, 32),
        (1, (1 << 31) - 16, 1, 64),  # the counter goes one step beyond
        (1 << 20, 1, 1 << 10, 32),
        (1 << 20, 1, 1 << 11, 64),  # the result alone is large
        (1, 1, 1 << 28, 32),
        (1, 1, 1 << 31, 64),
    ],
)
def test_indices_have_as_many_bits_as_the_sizes_need(m: int, k: int, n: int, bits: int) -> None:
    assert bits_of_launch(made("simt"), {"A": (m, k), "B": (k, n)}) == bits


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("image", "filters", "bits"),
    [
        ((1, 1, 1, 1), 1, 32),
        ((8, 56, 56, 64), 64, 32),
        ((256, 56, 56, 512), 64, 32),
        ((1024, 56, 56, 512), 64, 32),
        ((1344, 56, 56, 512), 64, 64),  # the image has 2^31 elements
        ((1024, 56, 56, 64), 1024, 64),  # the result has
        ((1, 1, 1, 1 << 28), 0, 64),  # nine taps
    ],
)
def test_indices_of_a_convolution(image: tuple[int, ...], filters: int, bits: int) -> None:
    shapes = {"X": image, "W": (3, 3, image[3], filters)}
    assert bits_of_launch(made("igemm"), shapes) == bits


def plain_texts(one: Planned) -> list[str]:
    """Each kernel's text for all sizes, and its text with 32 bits: those for grids that are not folded."""
    return [text for text in one.cuda.split('extern "C"')[1:] if "_folded(" not in text]


def test_the_narrow_text_has_indices_of_32_bits_alone() -> None:
    texts = plain_texts(made("igemm"))
    for whole, narrow in (texts[:2], texts[2:]):
        assert "long long" not in narrow.split(") {\n", 1)[1] and "long long k" in whole
        assert " % X_" not in whole + narrow and " / X_" not in whole + narrow, "sizes divide by multiplication"


def test_taps_of_a_filter_have_32_bits_in_both_texts() -> None:
    """What a size cannot make large takes one register a number in the text for all sizes, too; the channel takes two."""
    texts = plain_texts(made("igemm"))
    for whole in texts[::2]:
        steps = whole.split("for (long long k", 1)[1]
        assert re.search(r"const int d1\w* = quotient\(k", steps) and re.search(r"const long long d3\w* = modulo", steps)
        assert not re.search(r"const long long d[12]", whole)


def test_neighbours_are_compared_with_what_all_threads_share() -> None:
    """Of 64 bits, `col + 1` would take two registers of each thread, from step to step; the size less 1 takes none."""
    texts = plain_texts(made("igemm"))
    assert "col < W_size3 - 3" in texts[2] and "col + 3 < W_extent3" in texts[3]
    for whole in texts[::2]:
        assert not re.search(r"\+ \d+ < [A-Z]_size\d(?! -)", whole)


def test_sizes_of_0_divide_nothing() -> None:
    one = made("igemm")
    for shape in ((1, 0, 5, 3), (0, 4, 4, 3), (2, 4, 4, 0)):
        arrays = {"X": np.ones(shape, np.float32), "W": np.ones((3, 3, shape[3], 5), np.float32)}
        for plan in (one.plan, for_all_sizes(one.plan)):
            done = run_plan(plan, NativeDevice(), arrays, text=one.cuda)
            assert not done.outputs["Y"].any()


KERNELS = "`conv2d`, `conv2d_32`, `conv2d_folded`, `conv2d_v2`, `conv2d_v2_32`, `conv2d_v2_folded`"


def tampered(one: Planned, **changes: object) -> list[str]:
    step = one.plan.launches[0]
    assert isinstance(step.narrow, Narrow)
    changed = replace(step, narrow=replace(step.narrow, **changes))  # pyright: ignore[reportArgumentType]
    steps = tuple(changed if each is step else each for each in one.plan.steps)
    with pytest.raises(WeftError) as caught:
        validate(replace(one.plan, steps=steps))
    return [f"{d.code}: {d.message}" for d in caught.value.diagnostics]


def test_a_plan_whose_narrow_kernel_is_another_is_refused() -> None:
    one = made("igemm")
    assert tampered(one, kernel="none") == [f"W0702: steps[0].narrow.kernel: no kernel `none`; there are: {KERNELS}"]
    assert tampered(one, reciprocals=()) == ["W0705: steps[0].narrow.reciprocals: 0 arguments, `conv2d_32` takes 4"]
    assert tampered(one, small=(1 << 64,)) == ["W0703: steps[0].narrow.small[0]: 18446744073709551616 has more than 64 bits"]
