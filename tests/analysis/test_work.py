"""What an analysis costs: it grows with the kernel as said, and it ends where its budget does."""

from __future__ import annotations

import pytest
from kernel_text import loop, model, read, write
from work import lines_run

from weft.interpreter.proof.kernels.model import KernelModel
from weft.interpreter.proof.races.conflicts import conflicts, conflicts_between_blocks
from weft.interpreter.proof.races.proof import Findings
from weft.interpreter.proof.races.unwritten import unwritten_reads
from weft.interpreter.proof.solver import Solver


def phases(count: int, *, looped: bool) -> KernelModel:
    """So many times: each thread writes its element, and reads its neighbour's."""
    shifted = "%next = affine.apply affine_map<(d0) -> ((d0 + 1) mod 16)>(%tx)"
    body = [s for _ in range(count) for s in (write("S", "%ty", "%tx"), "gpu.barrier", read("S", "%ty", "%next"), "gpu.barrier")]
    return model("\n".join([shifted, loop("k", "%c0", "%c16", "%c1", *body) if looped else "\n".join(body)]))


@pytest.mark.parametrize("looped", [False, True])
def test_phases_between_barriers(looped: bool) -> None:
    """Accesses with a barrier between them are not compared; which barriers could go is known without trying each."""

    def judged(count: int) -> tuple[tuple[int, int], int]:
        made = phases(count, looped=looped)

        def judge() -> tuple[int, int]:
            findings = Findings(made)
            return len(findings.diagnostics()), len(findings.superfluous())

        return lines_run(judge)

    (few, lines), (many, more) = judged(10), judged(30)
    assert few == many == (0, 0 if looped else 1)  # without a loop nobody comes behind the last barrier
    assert more < 3**2 * 1.3 * lines


@pytest.mark.parametrize("budget", [100, 3_000, 30_000])
def test_the_budget_ends(budget: int) -> None:
    """Whatever is left of it: what is not answered is a conflict, assumed."""
    made = phases(4, looped=True)
    solver = Solver(budget=budget)
    left = conflicts(made, [], solver=solver)
    assert {(c.first_op, c.second_op) for c in conflicts(made, [])} <= {(c.first_op, c.second_op) for c in left}
    assert all(c.assumed for c in left if c.first is None)
    assert solver.questions * 200 <= budget + 200
    conflicts_between_blocks(made, solver=solver)
    unwritten_reads(made, solver)
