"""`verify-sync`: a proof that the barriers that are there suffice, or a witness that they do not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...dsl.diagnostics import Diagnostic, WeftError
from ..mlir import operations
from ..rewriter import Rewriter
from ..statement import Results, Statement, statement
from .bufferize import ensure_bufferized
from .insert_barriers import spoken

if TYPE_CHECKING:
    from ..analysis import Conflict, KernelModel

SHOWN = 5


@statement("verify-sync")
@dataclass(frozen=True, kw_only=True)
class VerifySync(Statement):
    """Prove that the barriers that are there order all conflicts, or show two threads that nothing orders.

    Looks at every mapped loop that is not launched yet (its launch is tried on a copy) and at every kernel. Kernel arguments
    are taken as distinct buffers. Bufferizes first where the payload still has tensors.

    Returns:
        nothing.

    Errors:
        W0601: two threads of a block conflict: the witness names them, the element and both operations.
        W0602: two blocks conflict.
        W0603: a barrier that not all threads of a block reach.
        W0605: there is neither a mapped loop nor a kernel.
        W0640: an op whose effects on memory are not known.

    Source: design, section Synchronization.

    Example:
        verify-sync
        before: scf.forall … linalg.matmul
        after:  scf.forall … linalg.matmul … @mm: race-free, 0 barriers
    """

    def apply(self, rewrite: Rewriter) -> Results:
        from ..analysis import kernel_model
        from ..analysis.trial import mapped_roots, trial_model

        ensure_bufferized(rewrite)
        count = len(mapped_roots(rewrite.module))
        kernels = list(operations(rewrite.module.operation, "gpu.func", "gpu.launch"))
        if not count and not kernels:
            raise rewrite.error(
                "W0605", "there is neither a mapped loop nor a kernel to verify", hint="`map` a loop first"
            )
        try:
            for number in range(count):
                clone, model = trial_model(rewrite.module, number)
                self._verify(rewrite, model)
                del clone
            for kernel in kernels:
                self._verify(rewrite, kernel_model(kernel))
        except WeftError as error:
            raise spoken(rewrite, error) from error
        return {}

    @staticmethod
    def _verify(rewrite: Rewriter, model: KernelModel) -> None:
        found = diagnostics(model)
        if found:
            raise WeftError.of(found)
        rewrite.remark(f"@{model.name}: race-free, {len(model.barriers)} barrier{'s' * (len(model.barriers) != 1)}")


def diagnostics(model: KernelModel) -> list[Diagnostic]:
    """What is wrong with the kernel's synchronization; nothing if it is proven race-free."""
    from ..analysis import conflicts, conflicts_between_blocks

    out = [
        Diagnostic(
            "W0603",
            f"not all threads of a block reach {barrier.op}",
            hint="move the barrier out of the condition or loop",
        )
        for barrier in model.divergent
    ]
    found = [*conflicts(model), *conflicts_between_blocks(model)]
    out += [_diagnostic(conflict) for conflict in found[:SHOWN]]
    if len(found) > SHOWN:
        last = out[-1]
        out[-1] = Diagnostic(
            last.code, last.message, notes=(*last.notes, f"and {len(found) - SHOWN} more"), hint=last.hint
        )
    return out


def _diagnostic(conflict: Conflict) -> Diagnostic:
    space = "shared" if conflict.space == "workgroup" else conflict.space
    who = "blocks" if conflict.across_blocks else "threads"
    state = "may conflict (assumed)" if conflict.assumed else "conflict"
    carried = f", carried by {conflict.carried_by}" if conflict.carried_by else ""
    message = f"two {who} {state}: {conflict.kind} on {space} memory `{conflict.buffer}`{carried}"
    if conflict.across_blocks:
        hint = "no barrier orders blocks: map the loop so that all accesses to one element are in one block"
        return Diagnostic("W0602", message, notes=conflict.notes(), hint=hint)
    hint = "put a barrier between the two operations (`insert-barriers` finds the place), or give the element one owner"
    return Diagnostic("W0601", message, notes=conflict.notes(), hint=hint)
