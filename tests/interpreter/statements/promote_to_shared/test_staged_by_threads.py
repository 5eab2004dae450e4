"""A result that is staged in shared memory and taken to its place by all threads, row by row: of a ragged tile, too."""

from __future__ import annotations

import re

import pytest
from native_device import NativeDevice

import weft
from weft.payloads.payload import parse_payload
from weft.pipeline import applied, planned
from weft.runtime.cpu.reference import reference
from weft.runtime.files.inputs import random_inputs
from weft.runtime.host.functions import signature
from weft.runtime.run.compare import compare
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice

STAGED = """
payload matmul(m = {m}, n = {n}, k = 12)
schedule staged() {{
  let gemm = match linalg.matmul
  let init = match? linalg.fill
  let (tiles, tile_mm) = tile gemm [16, 16]
  fuse init into tiles
  map tiles to blocks(y, x)
  let (sums, result) = promote-to-registers tile_mm.acc
  let (c, copy_c) = promote-to-shared result.out0
  map copy_c to {space}
  let (pieces, piece) = tile result [4, 4]
  map pieces to threads(y: 4, x: 4)
  let (k, step) = tile tile_mm [_, _, 8]
  let (lanes, one) = tile step [4, 4]
  map lanes to threads(y: 4, x: 4)
  promote-to-registers one.acc across k
  insert-barriers
  launch tiles
}}
"""


@pytest.mark.few()
@pytest.mark.parametrize(
    "space", ["threads(*) cyclic", "threads(*) block", "threads(*) cyclic vector 2", "threads(y: 4, x: 4) cyclic"]
)
@pytest.mark.parametrize(("m", "n"), [(32, 32), (20, 22), (32, 18), (5, 6)])
def test_whose_an_element_is(m: int, n: int, space: str) -> None:
    """Proven race-free by `insert-barriers` and `launch`; right on the simulator, and under g++."""
    done = applied(weft.load(STAGED.format(m=m, n=n, space=space)))
    made, payload = planned(done), parse_payload(done.recipe.payload)
    arrays = random_inputs(signature(payload), 1)
    wanted = reference(payload, None, dict(arrays))
    for device in (SimDevice(), NativeDevice()):
        ran = run_plan(made.plan, device, arrays, text=made.cuda if device.wants == "cuda" else done.located_text)
        assert not ran.races and not ran.faults
        assert compare(signature(payload), ran.outputs, wanted).ok


@pytest.mark.parametrize("n", [32, 22])
def test_rows_are_counted_as_long_as_they_may_be(n: int) -> None:
    """No quotient by a length that only a block knows: of such the proof does not know whose an element is."""
    text = planned(applied(weft.load(STAGED.format(m=20, n=n, space="threads(*) cyclic")))).cuda
    store = re.search(r"C\[.*\] = C_shared\[(.*)\]\[(.*)\];", text)
    assert store is not None and store.groups() == ("i / 16", "i % 16"), text
