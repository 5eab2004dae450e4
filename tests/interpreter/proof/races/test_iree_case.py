"""The question of a public discussion of IREE: is synchronization missed between dependent ops that are distributed one by one?

Its fill and its matmul, distributed alike, need no barrier, and that is proven; distributed differently they need exactly one;
with promoted operands the k loop needs exactly two. `iree/distributed.mlir` is the discussion's own listing.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pinned import pinned
from scheduled import diagnostics_of, session_of

from weft.dsl.diagnostics import Source
from weft.interpreter.ir import mlir
from weft.interpreter.ir.mlir import ir
from weft.interpreter.proof.kernels.kernels import kernel_model
from weft.interpreter.proof.races.conflicts import conflicts
from weft.verify import verify_source

HERE = Path(__file__).parent / "iree"


def kernel(module: ir.Module) -> ir.Operation:
    (found,) = mlir.operations(module.operation, "gpu.func")
    return found


@pytest.mark.parametrize(
    ("name", "remark"),
    [
        ("alike", "no barrier needed: proven"),
        ("differently", "1 barrier: before linalg.matmul (RAW on global result0, WAW on global result0)"),
        ("promoted", "2 barriers: before linalg.matmul (RAW on shared lhs_shared, rhs_shared); at the end of scf.for"),
    ],
)
def test_as_many_as_needed(name: str, remark: str, update: bool) -> None:
    session = session_of(HERE / f"{name}.weft")
    session.run()
    remarks = "\n".join(line for step in session.steps for line in step.remarks)
    pinned(HERE / f"{name}.scheduled.mlir", session.ir, update)
    assert remark in remarks, remarks
    model = kernel_model(kernel(session.module))
    assert len(model.barriers) == {"alike": 0, "differently": 1, "promoted": 2}[name]
    for barrier in model.barriers:
        assert conflicts(model, [b for b in model.barriers if b is not barrier]), f"{barrier.op} is not needed"


def test_the_barrier_stands_between() -> None:
    """Not in the k loop of the matmul: it is passed once."""
    session = session_of(HERE / "differently.weft")
    session.run()
    (barrier,) = mlir.operations(session.module.operation, "gpu.barrier")
    parent = barrier.parent
    assert parent is not None and parent.operation.name == "gpu.func"


def test_without_it_two_threads_are_named(update: bool) -> None:
    said = diagnostics_of((HERE / "unsynchronized.weft").read_text(), HERE)
    pinned(HERE / "unsynchronized.txt", said + "\n", update)
    assert "two threads conflict: RAW on global memory `result0`" in said
    threads = re.findall(r"thread \((\d+), (\d+), 0\)", said)
    assert len(threads) >= 2 and threads[0] != threads[1]


def test_the_listing() -> None:
    """The discussion's own listing needs its two barriers: it is right, and not without either of them."""
    text = (HERE / "distributed.mlir").read_text()
    verdict = verify_source(Source("distributed.mlir", text))
    assert verdict.ok, verdict.diagnostics
    (judged,) = verdict.kernels
    assert (judged.barriers, judged.superfluous) == (2, ())
    assert judged.grid == (None, None, 1), "proven for every grid"
    for place in re.finditer(r"^ *gpu.barrier\n", text, re.M):
        less = text[: place.start()] + text[place.end() :]
        assert not verify_source(Source("distributed.mlir", less)).ok


def test_the_listing_distributed_differently() -> None:
    """The fill goes to the rows in reverse. The barrier before the copies orders it, unless its fence leaves global memory out."""
    start, fill = "%y0 = affine.apply #four()[%ty]\n", "scf.for %y = %y0 to"
    reverse = "        %q = affine.apply affine_map<(t) -> (28 - 4 * t)>(%ty)\n"
    text = (HERE / "distributed.mlir").read_text().replace(start, start + reverse).replace(fill, "scf.for %y = %q to", 1)
    assert verify_source(Source("d.mlir", text), grid=(8, 32, 1)).ok
    fenced = text.replace("gpu.barrier\n", "gpu.barrier memfence [#gpu.address_space<workgroup>]\n")
    found = verify_source(Source("d.mlir", fenced), grid=(8, 32, 1)).diagnostics
    assert found and all("two threads conflict" in d.message and "global memory `out`" in d.message for d in found)
