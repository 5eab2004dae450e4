"""`transform { … }`: applies any upstream transform-dialect ops."""

from __future__ import annotations

import re

from ..ir.mlir import ir
from ..ir.refusing import upstream_messages
from ..session.statement import Handle, Results, Rewriter, Statement, handles, raw, statement

_YIELD = re.compile(r"transform\.yield\b(?P<values>[^:\n]*)(:[^\n]*)?\s*$")


@statement("transform", returns=(), variadic=True)
class Transform(Statement):
    """Apply any upstream transform-dialect ops.

    `%root` is the module, and `%h` the op of every handle `h` in scope. The yielded values become
    the results.

    Args:
        text: transform ops, as in the body of a `transform.named_sequence`; it may end with
            `transform.yield %a, %b`.

    Returns:
        one handle per yielded value, `r0`, `r1`, …; each must be a single op.

    Errors: W0311, W0339.

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
        if re.search(
            r"\btransform\.print\b", self.text
        ):  # it prints to the process's own output, which carries IR and JSON
            what = "`transform.print` writes past Weft, into the module that is printed"
            hint = "end this statement before it, and write `print` or `print HANDLE`"
            raise rewrite.error("W0339", what, at="text", hint=hint)
        own = _defined(body)
        given = [n for n in self.scope if n not in own and re.search(rf"%{re.escape(n)}\b", self.text)]
        made = {f"r{i}": rewrite.fresh_handle() for i in range(len(yielded))}
        lines = [rewrite.matcher(name, self.scope[name]) for name in given]
        lines.append(body)
        lines += [rewrite.annotate(name, h) for name, h in zip(yielded, made.values(), strict=True)]
        rewrite.transform("\n".join(lines))
        try:
            rewrite.module.operation.verify()
        except ir.MLIRError as error:
            raise rewrite.error(
                "W0311", "these ops leave IR that does not verify", notes=upstream_messages(error)
            ) from error
        rewrite.name_buffers()
        for handle in made.values():
            rewrite.find(handle)
        return made


def _defined(body: str) -> set[str]:
    """The values that the text defines: the names to the left of `=` at the start of a line."""
    names: set[str] = set()
    for line in body.splitlines():
        left, sign, _ = line.partition("=")
        if sign and re.fullmatch(r"\s*%[\w$.-]+(:\d+)?(\s*,\s*%[\w$.-]+(:\d+)?)*\s*", left):
            names.update(re.findall(r"%([\w$.-]+)", left))
    return names
