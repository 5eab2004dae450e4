"""`verify-sync`: proves that the existing barriers suffice, or shows a witness against it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...dsl.diagnostics import WeftError
from ..ir.cloning import COMBINED
from ..ir.mlir import ir, operations
from ..session.statement import Results, Rewriter, Statement, statement
from .bufferize import ensure_bufferized

if TYPE_CHECKING:
    from ..proof.kernels.model import KernelModel
    from ..proof.races.proof import Findings


@statement("verify-sync")
class VerifySync(Statement):
    """Prove that the existing barriers order all conflicts, or show two threads that nothing
    orders.

    Checks every mapped loop that is not launched yet (its launch is tried on a copy) and every
    kernel. A loop that `insert-barriers` has proven, and that has not changed since, is not proven
    again. Kernel arguments are assumed to be distinct buffers. A payload with tensors is bufferized
    first.

    Returns:
        nothing.

    Errors: W0601, W0602, W0603, W0605, W0610, W0614, W0640.

    Source: design, section Synchronization.

    Example:
        verify-sync
        before: scf.forall … linalg.matmul
        after:  scf.forall … linalg.matmul … @mm: race-free, 0 barriers
    """

    def apply(self, rewrite: Rewriter) -> Results:
        from ..launch.launch import prepare
        from ..mapping.preconditions import independent
        from ..proof.combination.combination import assumed
        from ..proof.coverage.coverage import coverage
        from ..proof.kernels.kernels import kernel_model
        from ..proof.races import proof
        from ..proof.races.proof import Findings
        from .insert_barriers.trials import mapped_roots, trials

        ensure_bufferized(rewrite)
        count = len(mapped_roots(rewrite.module))
        kernels = list(operations(rewrite.module.operation, "gpu.func", "gpu.launch"))
        if not count and not kernels:
            raise rewrite.error(
                "W0605", "there is neither a mapped loop nor a kernel to verify", hint="`map` a loop first"
            )
        for root, trial in zip(mapped_roots(rewrite.module), trials(rewrite.module, rewrite.known), strict=True):
            proven = proof.still_proven(rewrite.module, root)
            judged = trial.info.made.found.get(proof.Judgement)
            if not proven and (judged is None or judged.found):
                findings = Findings(trial.model, independent=independent(root))
                self._verify(rewrite, trial.model, findings)
                judged = trial.info.made.found[proof.Judgement] = proof.Judgement(
                    (), findings.believed, trial.model.combined
                )
            else:
                self._verify(rewrite, trial.model, None)
            if judged is not None and not proven and judged.believed:
                rewrite.remark(proof.BELIEVED)
            elif not assumed(trial.model.combined):
                proof.state_proof(rewrite.module, root)
            with rewrite.placing():
                kernel = prepare(rewrite.module, root, taken=rewrite.taken)
                for one in [] if rewrite.payload is None else coverage(kernel, root, rewrite.payload)[0]:
                    rewrite.remark(one.line)
        for kernel in kernels:
            model = kernel_model(kernel, passed_in_rows=True)
            self._verify(rewrite, model, Findings(model))
            if COMBINED in kernel.attributes:
                for line in ir.StringAttr(kernel.attributes[COMBINED]).value.splitlines():
                    if line not in assumed(model.combined):  # which is reported already
                        rewrite.remark(line)
        return {}

    @staticmethod
    def _verify(rewrite: Rewriter, model: KernelModel, findings: Findings | None) -> None:
        """Reports a race-free kernel, or raises its findings. `findings`: None if it was proven
        before."""
        from ..proof.combination.combination import verdict_lines

        if findings is not None and not findings.clean:
            raise WeftError(*findings.diagnostics())
        count = len(model.barriers)
        rewrite.remark(f"@{model.name}: race-free, {count} barrier{'s' * (count != 1)}")
        for line in verdict_lines(model.combined):
            rewrite.remark(line)
