"""The normal form of kernels: emitter and simulator know just its ops, and what is lowered to it is told by its own name."""

from __future__ import annotations

import re

import numpy as np
from places import ROOT

from weft.interpreter.ir import mlir
from weft.interpreter.memory.layouts import RESHAPING
from weft.runtime.cuda import dialects
from weft.runtime.cuda.kernel import WRITERS
from weft.runtime.cuda.module import emit
from weft.runtime.form.kernel_form import ARRANGING, FORM, SIMULATOR_ALONE
from weft.runtime.form.kernel_lowering import LOWERED
from weft.runtime.simulator import ops
from weft.runtime.simulator.kernel import SimKernel
from weft.runtime.simulator.translate import HANDLERS

OPS = {f"{dialect}.{name}" for dialect, names in FORM.items() for name in names.split()}
TEXT = """
gpu.module @m { gpu.func @k(%x: memref<8xf32>, %y: memref<8xf32>) kernel attributes {known_block_size = array<i32: 4, 1, 1>} {
  %t = gpu.thread_id x
  affine.for %i = 0 to 4 {
    %v = affine.load %x[%i + symbol(%t)] : memref<8xf32>
    affine.store %v, %y[%i * 2] : memref<8xf32>
  }
  gpu.return } }
"""


def test_both_know_just_the_form() -> None:
    assert dialects.__all__ and ops.__all__  # they are registered
    assert set(WRITERS) == OPS - SIMULATOR_ALONE
    assert set(HANDLERS) == OPS
    assert ARRANGING | RESHAPING <= OPS and not LOWERED & OPS


def test_the_page_lists_the_form() -> None:
    page = (ROOT / "docs" / "house.md").read_text()
    rows = page[page.index("| dialect | ops |") :].split("\n\n")[0].splitlines()[2:]
    dialect, listed = "", dict[str, list[str]]()
    for _, name, ops_, *_ in (row.split("|") for row in rows):
        dialect = name.strip(" `") or dialect
        listed.setdefault(dialect, []).extend(ops_.replace(",", " ").split())
    counted = [len(FORM[dialect].split()) for dialect in ("arith", "math")]
    assert listed.pop("arith`, `math") == f"{counted[0]} and {counted[1]}".split()
    assert {d: sorted(names) for d, names in listed.items()} == {d: sorted(FORM[d].split()) for d in listed}
    assert len(listed) == len(FORM) - 2
    _, _, alone = page.partition("Only the simulator supports ")
    assert set(re.findall(r"`([\w.]+)`", alone.partition(": the emitter")[0])) == SIMULATOR_ALONE


def test_a_report_names_the_op_that_was_lowered() -> None:
    module = mlir.parse(TEXT, mlir.context())
    (function,) = mlir.operations(module.operation, "gpu.func")
    assert "arg1[i * 2] = arg0[i + tx];" in emit(module)
    report = SimKernel(function).launch((1, 1, 1), (4, 1, 1), [np.zeros(8, np.float32), np.zeros(8, np.float32)])
    assert {race.first.op for race in report.races} == {"affine.store"} and "affine.for" in str(module), "the module stays"
