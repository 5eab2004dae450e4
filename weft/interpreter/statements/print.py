"""`print [HANDLE]`: shows the IR at this point of the schedule."""

from __future__ import annotations

from ..ir.cloning import strip_tags, without_tags
from ..ir.refusing import describe
from ..session.statement import Handle, Results, Rewriter, Statement, handle, statement


@statement("print")
class Print(Statement):
    """Show the IR at this point of the schedule, without changing it.

    Args:
        target: the op to show; default: the module.

    Returns:
        nothing.

    Errors: W0310.

    Source: upstream `transform.print`.

    Example:
        print gemm
        before: linalg.matmul
        after:  linalg.matmul
    """

    target: Handle | None = handle(optional=True)

    def apply(self, rewrite: Rewriter) -> Results:
        if self.target is None:
            rewrite.show(str(strip_tags(rewrite.module)).rstrip())
            return {}
        op = rewrite.find(self.target)
        rewrite.remark(describe(op))
        rewrite.show(without_tags(str(op)))
        return {}
