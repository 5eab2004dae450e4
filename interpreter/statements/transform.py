"""`transform { … }`: any upstream transform-dialect ops."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..mlir import ir
from ..rewriter import Rewriter, upstream_messages
from ..statement import Handle, Results, Statement, handles, raw, statement

_YIELD = re.compile(r"transform\.yield\b(?P<values>[^:\n]*)(:[^\n]*)?\s*$")


@statement("transform", returns=(), variadic=True)
@dataclass(frozen=True, kw_only=True)
class Transform(Statement):
    """Apply any upstream transform-dialect ops.

    `%root` is the module, and `%h` the op of every handle `h` in scope. What the text yields becomes the results.

    Args:
        text: transform ops, as in the body of a `transform.named_sequence`; it may end with `transform.yield %a, %b`.

    Returns:
        one handle per yielded value, `r0`, `r1`, …; each must be a single op.

    Errors:
        W0311: the text does not parse, or an op of it fails; upstream's messages are in the notes.

    Source: upstream `transform_interpreter.apply_named_sequence`.

    Example:
        let g = transform { %g = transform.structured.generalize %gemm : (!transform.any_op) -> !transform.any_op
                            transform.yield %g }
        before: linalg.matmul
        after:  linalg.generic
    """

    text: str = raw()
    scope: dict[str, Handle] = handles()

    def apply(self, rewrite: Rewriter) -> Results:
        body = self.text.rstrip()
        yielded: list[str] = []
        found = _YIELD.search(body)
        if found is not None:
            yielded = [v.strip().removeprefix("%") for v in found["values"].split(",") if v.strip()]
            body = body[: found.start()]
        given = [name for name in self.scope if re.search(rf"%{re.escape(name)}\b", body)]
        made = {f"r{i}": rewrite.fresh_handle() for i in range(len(yielded))}
        lines = [rewrite.matcher(name, self.scope[name]) for name in given if not _defines(body, name)]
        lines.append(body)
        lines += [rewrite.annotate(name, h) for name, h in zip(yielded, made.values(), strict=True)]
        rewrite.transform("\n".join(lines))
        try:
            rewrite.module.operation.verify()
        except ir.MLIRError as error:
            raise rewrite.error(
                "W0311", "these ops leave IR that does not verify", notes=upstream_messages(error)
            ) from error
        for handle in made.values():
            rewrite.find(handle)
        return made


def _defines(body: str, name: str) -> bool:
    """Whether the text itself defines `%name`, which then hides the handle."""
    return re.search(rf"%{re.escape(name)}\s*(,[^=\n]*)?=", body) is not None and not re.search(
        rf"%{re.escape(name)}\b(?!\s*(,[^=\n]*)?=)", body.split("=", 1)[-1].split("\n", 1)[0]
    )
