"""Plans that find their ops by what they are: for whole networks, a layer of a transformer, rows, blocks with scales."""

from __future__ import annotations

import re
from pathlib import Path

import layers
import networks
import pytest
import row_programs
from proven import expect_no_assumption

from weft.comparison.comparison import compared_all
from weft.dsl.diagnostics import Source
from weft.interpreter.session.session import Session
from weft.pipeline import Choice, applied

HERE = Path(__file__).parent


def built(plan: str, payload: str, **settings: str) -> Session:
    """Each kernel is proven, nothing of it is assumed, and each output is the payload's."""
    done = applied(Choice(str(HERE / f"{plan}.weft"), program=Source("p.mlir", payload), settings=settings).open())
    expect_no_assumption(done.assumed)
    assert done.unproven == []
    assert all(found.line is not None for found in compared_all(done))
    return done.session


def length(plan: str) -> int:
    """The lines of a plan's schedule, without comments, blank lines and includes."""
    lines = (HERE / f"{plan}.weft").read_text().split("\n")
    return sum(bool(line.strip()) and not line.strip().startswith(("//", "include")) for line in lines)


@pytest.mark.few(3)
@pytest.mark.parametrize("network", networks.NETWORKS)
@pytest.mark.parametrize("plan", ["whole_model", "whole_model_fused"])
def test_one_plan_serves_several_networks(plan: str, network: str) -> None:
    """Also where a later convolution reads its padding after an earlier launch, and where ops start from one fill."""
    built(plan, networks.NETWORKS[network]())


@pytest.mark.few(1)
@pytest.mark.parametrize("layer", layers.LAYERS)
def test_a_layer_of_a_transformer(layer: str) -> None:
    """Its recipes are those of products, of attention and of layer norms, called for ops that are found by structure."""
    session = built("layer", layers.LAYERS[layer](), d="16" if layer == "three heads" else "8")
    kernels = [remark for step in session.steps for remark in step.remarks if remark.startswith("kernel ")]
    assert len(kernels) == 6 + 4 + 1 + 2 + 3  # products, transposes, attention, layer norms; two sums and the activation


def test_plans_are_short() -> None:
    assert length("whole_model") <= 10 and length("layer") <= 40


def test_rows_are_normed_and_turned() -> None:
    session = built("rotary", row_programs.rotary())
    assert sum(remark.startswith("kernel ") for step in session.steps for remark in step.remarks) == 2
    built("rotary_together", row_programs.rotary(named=True))


@pytest.mark.parametrize(
    ("sizes", "step", "staged"),
    [
        ({}, 16, ["16x1", "1x16"]), ({}, 8, ["16x1", "1x16"]), ({}, 32, ["16x2", "2x16"]),
        ({"m": 33, "n": 50, "block": 32}, 16, ["16x1", "1x16"]), ({"k": 48}, 24, ["16x24", "16x24"]),
    ],
)  # fmt: skip
def test_a_scale_is_staged_once_for_its_block(sizes: dict[str, int], step: int, staged: list[str]) -> None:
    """Where a step of k is a part of a block, or several blocks; else once for each k, and not for each column as well."""
    session = built("scaled_blocks", row_programs.scaled_blocks(**sizes), bk=str(step))
    found = [re.match(r"memref<(\w+)xf32, .*shared memory", remark) for s in session.steps for remark in s.remarks]
    assert [match[1] for match in found if match is not None][2:] == staged
