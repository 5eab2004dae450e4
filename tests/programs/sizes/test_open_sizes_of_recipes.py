"""Each recipe with each of its sizes known at run time only, and with all of them: what its kernels combine is proven, and
compared with the payload at sizes from 0 on; or the size is refused."""

from __future__ import annotations

import numpy as np
import pytest

import weft
from weft.dsl.diagnostics import WeftError
from weft.recipes import builders, schedules
from weft.recipes.builder import OPEN

PRODUCT, CONVOLUTION, ROWS = "mnk", "nchwk", "mn"
SIZES = {
    **dict.fromkeys(("naive", "shared", "simt", "simt_pipelined", "simt_split_k"), PRODUCT),
    **dict.fromkeys(("tensor", "tensor_split_k", "hopper"), PRODUCT),
    **dict.fromkeys(("igemm", "igemm_bias_relu", "igemm_hopper", "igemm_nchw", "igemm_pipelined"), CONVOLUTION),
    **dict.fromkeys(("igemm_split_k", "igemm_tensor", "igemm_tensor_nchw"), CONVOLUTION),
    **dict.fromkeys(("softmax", "layernorm", "layernorm_welford", "argmax"), ROWS),
    **dict.fromkeys(("attention", "attention_tensor"), "bnm"),
    **dict.fromkeys(("sum", "scan", "histogram"), "n"),
    "concurrent_convs": "",
}
"""The sizes of each recipe's payload that may be open."""
REFUSED = {("sum", "n"): "W0355"}
"""Parts of a sum have a known number of elements."""
SETTINGS = {name: {"kept": 0} for name in ("softmax", "layernorm", "layernorm_welford")}
"""Rows that stay in registers have a known length."""
CASES = [(recipe, sizes) for recipe, every in SIZES.items() if every for sizes in dict.fromkeys((*every, every))]


def test_all_recipes_and_sizes_are_here() -> None:
    found: dict[str, str] = {}
    for name in schedules():
        payload = weft.load(name).file.payload
        assert payload is not None and payload.builder is not None
        found[name] = "".join(sorted(p.name for p in builders()[payload.builder].parameters if p.axis is not None))
    assert found == {name: "".join(sorted(sizes)) for name, sizes in SIZES.items()}


@pytest.mark.filterwarnings("error:W0082")
@pytest.mark.few(4)
@pytest.mark.parametrize(("recipe", "sizes"), CASES)
def test_recipes_of_open_sizes(recipe: str, sizes: str) -> None:
    settings = {**SETTINGS.get(recipe, {}), **dict.fromkeys(sizes, OPEN)}
    if (recipe, sizes) in REFUSED:
        with pytest.raises(WeftError, match=REFUSED[recipe, sizes]):
            weft.compile(recipe, settings=settings, target="cpu")
    else:
        weft.compile(recipe, settings=settings, target="cpu")


def test_attention_over_no_keys() -> None:
    """`(p / s)·v` has no terms, and s is 0."""
    kernel = weft.compile("attention", settings={"m": OPEN, "b": 1, "n": 64}, target="cpu")
    none = np.ones((1, 0, 64), np.float32)
    assert (kernel(np.ones((1, 64, 64), np.float32), none, none) == 0).all()
