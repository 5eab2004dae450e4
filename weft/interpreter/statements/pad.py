"""`pad OP [size, …]`: rounds the extents of a structured op up."""

from __future__ import annotations

from ..session.statement import Results, Rewriter, statement
from .tile import Tile


@statement("pad", returns=("op",))
class Pad(Tile):
    """Round the extents of a structured op up to multiples of sizes, without a loop over tiles.

    Elements beyond the original extents are masked as by `tile`: operands are read by masked loads,
    which `promote-to-shared` copies, and only the original part of the result is written back. So
    an instruction that takes 16 summands at a time can be used for a sum of 40.

    Args:
        target: a structured op on tensors; consumed.
        sizes: one per dimension, in the op's order; `_`, 0 or no size at all leaves a dimension as
            it is.

    Returns:
        op: the same op, padded.

    Errors: W0320, W0322, W0323, W0324, W0325.

    Source: upstream `transform.structured.pad`.

    Example:
        let padded = pad gemm [_, _, 48]
        before: linalg.matmul … tensor<64x32xf32>, tensor<32x64xf32>
        after:  linalg.matmul … tensor<64x48xf32>, tensor<48x64xf32>
    """

    reach = "handles"

    def apply(self, rewrite: Rewriter) -> Results:
        op = rewrite.find(self.target)
        rewrite.expect_structured(op, "W0320")
        op, _, _ = self.rounded(rewrite, op)
        made = rewrite.new_handle(op)
        del op.attributes[self.target.tag]
        return {"op": made}
