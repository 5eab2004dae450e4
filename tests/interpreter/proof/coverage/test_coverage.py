"""What kernels combine, of the recipes: each iteration of a reduction of the payload once."""

from __future__ import annotations

import os

import pytest
from proven import expect_no_assumption

from weft.pipeline import Choice, applied

ALWAYS = {
    "naive": {"m": "20", "n": "18", "k": "10"}, "shared": {"m": "100", "n": "50", "k": "30"},
    "simt_pipelined": {"m": "70", "n": "70", "k": "40"}, "tensor": {"m": "300", "n": "264", "k": "72"},
    "igemm": {"n": "2", "c": "5", "k": "7", "h": "9", "w": "11"}, "softmax": {"m": "5", "n": "77"},
    "layernorm_welford": {}, "argmax": {"m": "?"}, "sum": {"n": "99999"}, "scan": {"n": "99999"},
    "simt_split_k": {"m": "70", "n": "50", "k": "300"},
    "attention": {"n": "100", "m": "77"}, "igemm_pipelined": {}, "histogram": {"n": "99999", "bins": "1000"},
    "concurrent_convs": {},
}  # fmt: skip
SOMETIMES = {
    "simt": {"m": "?", "n": "?", "k": "?"}, "hopper": {"m": "300", "n": "264", "k": "72"}, "igemm_nchw": {},
    "igemm_bias_relu": {}, "igemm_tensor_nchw": {}, "layernorm": {}, "igemm_hopper": {}, "igemm_tensor": {},
    "tensor_split_k": {}, "igemm_split_k": {},
    "attention_tensor": {},
}  # fmt: skip
RECIPES = ALWAYS | (SOMETIMES if "WEFT_SOAK" in os.environ else {})
OPEN = {"igemm": "nchwk", "simt_split_k": "mnk", "scan": "n", "igemm_split_k": "nchwk", "igemm_pipelined": "c"}
OTHERS = {
    **dict.fromkeys(("igemm_bias_relu", "igemm_hopper", "igemm_nchw"), "nchwk"),
    **dict.fromkeys(("igemm_pipelined", "igemm_tensor", "igemm_tensor_nchw"), "nchwk"),
    **dict.fromkeys(("hopper", "naive", "shared", "simt", "simt_pipelined", "tensor", "tensor_split_k"), "mnk"),
    **dict.fromkeys(("attention", "attention_tensor"), "bnm"), **dict.fromkeys(("layernorm", "layernorm_welford", "softmax"), "m"),
    "argmax": "mn", "histogram": "n",
}  # fmt: skip
OPENED = list(OPEN.items())
if "WEFT_SOAK" in os.environ:
    each = [(name, size) for name, sizes in (OPEN | OTHERS).items() for size in dict.fromkeys((*sizes, sizes))]
    OPENED += [one for one in each if one not in OPENED]


@pytest.mark.parametrize(("name", "sizes"), OPENED)
def test_open_sizes_of_a_recipe(name: str, sizes: str) -> None:
    _expect_once(name, dict.fromkeys(sizes, "?"))


@pytest.mark.parametrize("name", RECIPES)
def test_each_iteration_of_a_recipe_once(name: str) -> None:
    _expect_once(name, RECIPES[name])


def _expect_once(name: str, settings: dict[str, str]) -> None:
    steps = applied(Choice(name, settings=settings).open()).session.steps
    said = [line for step in steps if step.keyword == "launch" for line in step.remarks if " once (" in line or "assumed: " in line]
    assert said
    expect_no_assumption(line for line in said if not line.startswith("combination proven: each of "))
    expect_no_assumption(line for step in steps for line in step.remarks if line.startswith("combination assumed"))
