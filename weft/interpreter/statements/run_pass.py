"""`run-pass "pipeline"`: runs any upstream pass pipeline."""

from __future__ import annotations

from ..ir.unknown_names import misnamed_pass
from ..session.statement import Results, Rewriter, Statement, statement, string


@statement("run-pass")
class RunPass(Statement):
    """Run any upstream pass pipeline on the module.

    If a pass erases the op of a handle, using the handle afterwards is an error (`canonicalize`
    deletes loops of one iteration, for example).

    Args:
        pipeline: as in `mlir-opt --pass-pipeline`, without the outer `builtin.module(…)`.

    Returns:
        nothing.

    Errors: W0312.

    Source: upstream `PassManager.parse`.

    Example:
        run-pass "func.func(linalg-generalize-named-ops)"
        before: linalg.matmul
        after:  linalg.generic
    """

    pipeline: str = string(judge=misnamed_pass)

    def apply(self, rewrite: Rewriter) -> Results:
        rewrite.passes(self.pipeline)
        rewrite.name_buffers()
        return {}
