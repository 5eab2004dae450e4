"""Rows that are looked up in a table by what another operand holds: neighbours of a row are loaded together, where they lie side by
side and the row is the same for all of them."""

from __future__ import annotations

import re

import numpy as np
import pytest
from executors import expect_equal

from weft.dsl.diagnostics import Source
from weft.pipeline import Choice, Planned, applied, planned
from weft.runtime.cpu.reference import reference
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice

LOOKUP = """func.func @f(%table: tensor<50x{width}xf32>, %ids: tensor<12x{t}xi32>, %w: tensor<64xf32>) -> tensor<12x{t}x64xf32> {{
  %e = tensor.empty() : tensor<12x{t}x64xf32>
  %r = linalg.generic {{indexing_maps = [affine_map<(b, t, d) -> ({ids})>, affine_map<(b, t, d) -> (d)>,
                                         affine_map<(b, t, d) -> (b, t, d)>],
                        iterator_types = ["parallel", "parallel", "parallel"]}}
    ins(%ids, %w : tensor<12x{t}xi32>, tensor<64xf32>) outs(%e : tensor<12x{t}x64xf32>) {{
  ^bb0(%i: i32, %s: f32, %o: f32):
    %d = linalg.index 2 : index
    %row = arith.index_cast %i : i32 to index
    {body}
    linalg.yield %u : f32
  }} -> tensor<12x{t}x64xf32>
  return %r : tensor<12x{t}x64xf32>
}}
"""
PLAIN = "%u = tensor.extract %table[%row, {at}] : tensor<50x{width}xf32>"
SCALED = "%v = tensor.extract %table[%row, {at}] : tensor<50x{width}xf32>\n    %u = arith.mulf %v, %s : f32"
MASKED = """%n = arith.constant 40 : index
    %c = arith.cmpi ult, %row, %n : index
    %u = scf.if %c -> (f32) {{
      %v = tensor.extract %table[%row, {at}] : tensor<50x{width}xf32>
      scf.yield %v : f32
    }} else {{
      %z = arith.constant 7.0 : f32
      scf.yield %z : f32
    }}"""
TWICE = """%t = linalg.index 1 : index
    %b = linalg.index 0 : index
    %again = tensor.extract %ids[%b, %t] : tensor<12x{t}xi32>
    %more = arith.index_cast %again : i32 to index
    %v = tensor.extract %table[%more, {at}] : tensor<50x{width}xf32>
    %o2 = arith.constant 1.0 : f32
    %u = arith.addf %v, %o2 : f32"""
SHIFTED = "%four = arith.constant 4 : index\n    %at = arith.addi %d, %four : index\n    " + PLAIN
CASES = {  # body, where in the row, how wide the table is, map of the ids, whether loads are wide
    "a row": (PLAIN, "%d", 64, "b, t", True),
    "a row, scaled": (SCALED, "%d", 64, "b, t", True),
    "a row where it is valid": (MASKED, "%d", 64, "b, t", True),
    "a row by an index that the body reads": (TWICE, "%d", 64, "b, t", True),
    "a part of a row": (SHIFTED, "%at", 68, "b, t", True),
    "rows that are not aligned": (PLAIN, "%d", 65, "b, t", False),
    "a column": (PLAIN.replace("[%row, {at}]", "[{at}, %row]").replace("50x{width}", "{width}x50"), "%d", 64, "b, t", False),
    "an index for each element": (PLAIN.replace("%row, {at}", "%row, %row"), "%d", 64, "b, d floordiv 2", False),
}


def made(schedule: str, payload: str) -> Planned:
    return planned(applied(Choice("", text=Source("s.weft", schedule), program=Source("p.mlir", payload)).open()))


def payload_of(case: str, rows: int) -> str:
    body, at, width, ids, _ = CASES[case]
    text = LOOKUP.format(width=width, t=rows, ids=ids, body=body.format(at=at, width=width, t=rows))
    return text.replace(f"%table: tensor<50x{width}", f"%table: tensor<{width}x50") if case == "a column" else text


SCHEDULES = {
    "the op": "  map g to grid(z, y, x) vector 4\n  launch g\n",
    "its tile": "  let (tiles, tile) = tile g [1, 8, 32]\n  map tiles to blocks(z, y, x)\n"
                "  map tile to threads(x: 32) cyclic vector 4\n"
                "  launch tiles\n",
    "vectorized": "  let (tiles, tile) = tile g [1, 8, 64]\n  map tiles to blocks(z, y, x)\n"
                  "  let (lanes, one) = tile tile [1, 1, 4]\n"
                  "  map lanes to threads(z, y, x)\n  vectorize one\n  launch tiles\n",
}  # fmt: skip


@pytest.mark.few(6)
@pytest.mark.parametrize(
    ("way", "case", "rows"),
    [*(("the op", case, 37) for case in CASES), *(("its tile", case, 40) for case in CASES), ("its tile", "a row", 37),
     ("vectorized", "a row", 40), ("vectorized", "a row, scaled", 40), ("vectorized", "rows that are not aligned", 40)],
)  # fmt: skip
def test_a_lookup_is_wide_where_its_neighbours_are(case: str, way: str, rows: int) -> None:
    one = made(f"schedule s() {{\n  let g = match linalg.generic\n{SCHEDULES[way]}}}\n", payload_of(case, rows))
    loads = re.search(r"const float4\*>\(&table\[", one.cuda)
    assert bool(loads) == CASES[case][4], one.cuda
    if loads:
        assert not re.search(r"[^&]table\[", one.cuda), one.cuda
    random = np.random.default_rng(0)
    shape = (CASES[case][2], 50) if case == "a column" else (50, CASES[case][2])
    inputs = {
        "table": random.standard_normal(shape).astype(np.float32), "w": random.standard_normal(64).astype(np.float32),
        "ids": random.integers(0, 50, (12, rows)).astype(np.int32),
    }  # fmt: skip
    ran = run_plan(one.plan, SimDevice(), dict(inputs), text=one.applied.located_text)
    assert not ran.races and not ran.faults
    expected = reference(one.applied.payload, None, dict(inputs))
    expect_equal("the simulator", "result0", ran.outputs["result0"], expected["result0"], rtol=1e-5, atol=1e-8)
