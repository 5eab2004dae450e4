"""The figures of `docs/performance.md`: named by what ran, marked where the host's time is a part of them, defaults first; and how
far off the model is, as `benchmarks/calibration.py` kept it."""

from __future__ import annotations

import importlib
import json
import math
import sys

import evidence_tables
import predictions
import pytest
from evidence_tables import HALVES_HEAD, PRODUCTS_HEAD, RECIPES_HEAD, WITH_HOST, by_default, fastest, of, recorded

from weft.runtime.predict.chips import CHIPS

CUPY = RECIPES_HEAD.index("of what CuPy runs")


@pytest.fixture(scope="module")
def recipes() -> dict[tuple[str, str], tuple[str, ...]]:
    return {(row[0], row[1]): row for row in evidence_tables.recipes()}


def test_columns_are_named_by_what_ran(recipes: dict[tuple[str, str], tuple[str, ...]]) -> None:
    """cuBLAS runs products alone, and convolutions behind an im2col; what CuPy's own kernels compute is not called by its name."""
    assert not any("cuBLAS" in title for title in RECIPES_HEAD)
    builders = {(one["recipe"], one["size"]): one["builder"] for one in of("recipes")}
    for key, row in recipes.items():
        by_cublas = builders[key] == "matmul" or builders[key].startswith("conv2d")
        assert ("cuBLAS" in row[CUPY]) == by_cublas and ("CuPy" in row[CUPY]) != by_cublas, row
    assert all(row[CUPY].endswith("(CuPy in f32)") for (name, _), row in recipes.items() if name == "attention_tensor")


def test_what_has_the_hosts_time_is_marked(recipes: dict[tuple[str, str], tuple[str, ...]]) -> None:
    """The library's histograms; a share of such a time is marked as the time itself is."""
    marked = {key[0] for key, row in recipes.items() if WITH_HOST in row[CUPY]}
    told = {
        one["recipe"] for one in of("recipes")
        if any(found.get("with_host") for side in ("entries", "libraries") for found in one[side].values())
    }  # fmt: skip
    assert marked == told == {"histogram"}
    assert evidence_tables.micro({"seconds": 2e-6, "with_host": True}) == f"2.0 µs{WITH_HOST}"
    one = {"libraries": {"library": {"seconds": 4e-6}}, "entries": {}}
    assert evidence_tables.share(one, "library", {"seconds": 2e-6, "with_host": True}) == f"200%{WITH_HOST}"


def test_defaults_stand_before_the_best() -> None:
    for head in (PRODUCTS_HEAD, HALVES_HEAD, evidence_tables.CONVOLUTIONS_HEAD):
        titles = [title.rpartition(", ")[2] for title in head]
        assert titles.index("defaults") < min(n for n, title in enumerate(titles) if title.startswith("best"))
    bf16 = recorded()["products: bf16 1024x1024x1024"]
    plain = by_default(bf16)
    assert plain is not None and plain[0] == "hopper" != fastest(bf16)[0]
    assert all(slow.partition(" ")[0] != "–" for _, slow, *_ in evidence_tables.halves()), "each layer has a default"
    assert "by the defaults" in evidence_tables.halves_remark().partition("best")[0]


def test_what_a_recipe_ships_with_is_its_default() -> None:
    """By the values of its parameters, not by what a variant is called."""
    sys.path.append(str(evidence_tables.ROOT / "benchmarks"))
    preparing = importlib.import_module("evidence.preparing")
    plain = by_default(recorded()["half convolutions: resnet50.conv1"])
    assert plain is not None
    recipe, settings = next((recipe, settings) for name, recipe, settings in preparing.HALF if name == plain[0])
    assert recipe == "igemm_hopper" and settings
    from weft.pipeline import Choice

    assert Choice(recipe).open().values.items() >= settings.items()


def test_small_sizes_are_among_the_predictions() -> None:
    small = [one for one in predictions.kernels() if one.found is not None and one.found["seconds"] < 20e-6]
    assert len(small) >= 6 and {one.kind for one in small} >= {predictions.WARPS, predictions.GROUPS, predictions.ROWS}


# ---- how far off the model is --------------------------------------------------------------------------------------------------


def test_what_was_kept_is_of_the_constants_that_the_model_has() -> None:
    """A change of one of them makes the tables stale: `benchmarks/calibration.py test` makes them anew."""
    kept = json.loads(predictions.PREDICTED.read_text())
    assert kept["constants"] == {name: getattr(CHIPS[kept["chip"]], name) for name in kept["constants"]}
    assert {"launch", "dram_share", "l2", "l2_stores", "tensor_share"} <= kept["constants"].keys()


def test_an_items_schedules_are_in_one_half() -> None:
    halves: dict[str, set[int]] = {}
    for one in predictions.calibrated():
        halves.setdefault(one.item, set()).add(one.half)
    assert all(len(half) == 1 for half in halves.values()) and len(halves) > 200
    assert 0.4 < sum(half == {1} for half in halves.values()) / len(halves) < 0.6


@pytest.mark.parametrize("half", [0, 1])
def test_the_model_is_as_good_as_the_page_says(half: int) -> None:
    errors = [one.error for one in predictions.calibrated() if one.half == half and one.error is not None]
    assert len(errors) > 250 and 0.93 < math.exp(sum(errors) / len(errors)) < 1.07
    assert sum(abs(error) > math.log(1.15) for error in errors) <= len(errors) / 3
    rows, said = predictions.of_all(("fitted", "tested")[half])
    assert f"*{rows[-1][0]}*" in said and sum(int(row[1]) for row in rows) == len(errors)


def test_ranks() -> None:
    assert predictions.spearman([1, 2, 3, 4], [10, 20, 30, 40]) == pytest.approx(1)
    assert predictions.spearman([1, 2, 3, 4], [4, 3, 2, 1]) == pytest.approx(-1)
    assert predictions.spearman([1, 2, 3], [1, 3, 2]) == pytest.approx(0.5)
    rows, said = predictions.ranking()
    assert len(rows) > 20 and "on average" in said and all(-1 <= float(row[2]) <= 1 for row in rows)
