"""`print [HANDLE]`: show the IR at this point of the schedule."""

from __future__ import annotations

from dataclasses import dataclass

from ..clone import strip_tags
from ..rewriter import Rewriter
from ..statement import Handle, Results, Statement, handle, statement


@statement("print")
@dataclass(frozen=True, kw_only=True)
class Print(Statement):
    """Show the IR at this point of the schedule, in the step's report. Changes nothing.

    Args:
        target: the op to show; the whole module without it.

    Returns:
        nothing.

    Errors:
        W0310: the handle's op is gone.

    Source: upstream `transform.print`.

    Example:
        print gemm
        before: linalg.matmul
        after:  linalg.matmul
    """

    target: Handle | None = handle(optional=True)

    def apply(self, rewrite: Rewriter) -> Results:
        if self.target is None:
            rewrite.remark(str(strip_tags(rewrite.module)))
            return {}
        text = str(rewrite.find(self.target))
        rewrite.remark(text.replace(f", {self.target.tag}", "").replace(f"{self.target.tag}, ", ""))
        return {}
