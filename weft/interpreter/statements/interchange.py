"""`interchange OP [i, j, …]`: reorders the iteration dimensions of a structured op."""

from __future__ import annotations

from ..ir.structured import structure
from ..session.statement import Handle, Results, Rewriter, Statement, consumed, integers, statement


@statement("interchange", returns=("op",))
class Interchange(Statement):
    """Reorder the iteration dimensions of a structured op.

    Args:
        target: a structured op with n dimensions; consumed.
        order: a permutation of 0 … n-1; the i-th entry is the old dimension that becomes dimension i.

    Returns:
        op: the same op, reordered (a `linalg.generic`).

    Errors: W0320, W0337.

    Source: upstream `transform.structured.generalize`, `transform.structured.interchange`.

    Example:
        let gemm = interchange gemm [1, 0, 2]
        before: linalg.matmul
        after:  affine_map<(d0, d1, d2) -> (d1, d2)> … linalg.generic
    """

    reach = "handles"

    target: Handle = consumed()
    order: tuple[int, ...] = integers(minimum=0, permutation=True)

    def apply(self, rewrite: Rewriter) -> Results:
        op = rewrite.find(self.target)
        rewrite.expect_structured(op, "W0320")
        space = structure(op)
        if sorted(self.order) != list(range(space.rank)):
            raise rewrite.error(
                "W0337",
                f"{list(self.order)} is not a permutation of {space.rank} dimensions",
                op,
                f"write each number of `{list(range(space.rank))}` once, in the new order",
                at="order",
                notes=(f"dimensions {space.text()}",),
            )
        made = rewrite.new_handle(op)
        if self.order == tuple(range(space.rank)):
            rewrite.remark("the dimensions have this order already")
            del op.attributes[self.target.tag]
            return {"op": made}
        del op.attributes[self.target.tag]
        body = rewrite.matcher("op", made)
        subject = "op"
        if op.name != "linalg.generic":
            body += "\n%g = transform.structured.generalize %op : (!transform.any_op) -> !transform.any_op"
            subject = "g"
        body += (
            f"\n%i = transform.structured.interchange %{subject} iterator_interchange = {list(self.order)}"
            " : (!transform.any_op) -> !transform.any_op"
        )
        rewrite.transform(body + f"\n{rewrite.annotate('i', made)}")
        rewrite.remark("dimensions " + ", ".join(f"d{d}" for d in self.order))
        return {"op": made}
