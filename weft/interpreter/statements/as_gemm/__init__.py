"""`as-gemm CONV`: a convolution as a matrix product that reads the image in place."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.copying import fill_value
from ...ir.mlir import ahead_of, ir, producer
from ...ir.structured import is_structured
from ...session.statement import Handle, Results, Rewriter, Statement, consumed, integers, statement
from ...tensors import levels


@statement("as-gemm", returns=("gemm",))
class AsGemm(Statement):
    """Turn a convolution into a matrix product with a view of the image as one operand.

    m → (n, oh, ow) and k → (kh, kw, c) by division and remainder; an index in the padding of a
    `tensor.pad` yields the padding's value, by a mask. The image is the left operand if its
    dimensions come first in the result (NHWC), otherwise the right one, in a batch of products over
    n (NCHW). Groups become a batch as well. A 1×1 filter with stride 1 gives a plain view. No
    buffer of the im2col matrix's size m·k exists: `tile`, `fuse`, and `promote-to-shared` work as
    on any product, with any sizes, and the latter performs the gather.

    Elementwise ops after the convolution (bias, ReLU, residual) become ops on the product's result
    and keep their handles; so does the `linalg.fill` before it.

    Args:
        target: a convolution (named or `linalg.generic`), including strided, dilated and grouped
            ones, of any sizes; consumed.
        padding: the padding of the image in the payload, on both sides of each axis that the window
            moves along (or before each axis, then after each): an assertion that is checked.
            Padding is part of the payload's computation: a schedule adds none.

    Returns:
        gemm: the product: `linalg.matmul`, or a `linalg.generic` with a batch or a transposed
            filter; its operands are `lhs`, `rhs`, `acc`.

    Errors: W0440, W0441, W0443, W0444, W0445, W0446.

    Source: upstream `transform.structured.convert_conv2d_to_img2col`, which does not tile; the
    discussion of tile and fuse on the MLIR forum that requests it.

    Example:
        let gemm = as-gemm conv
        before: linalg.conv_2d_nhwc_hwcf
        after:  linalg.generic … tensor.extract … linalg.matmul … tensor.expand_shape
    """

    target: Handle = consumed()
    padding: tuple[int, ...] | None = integers(optional=True, minimum=0)

    def apply(self, rewrite: Rewriter) -> Results:
        from ...padding.provenance import makers, remove_dead
        from ...tensors.fusing import remove_if_dead
        from .consumers import move_consumers, staying
        from .convolution import read
        from .product import product, runs, source_of

        op = rewrite.find(self.target)
        if not is_structured(op):
            raise rewrite.error("W0440", f"`as-gemm` takes a convolution, and this is {op.name}", op)
        op = levels.expect_values(rewrite, self.target, "W0445", "convolution", with_starts=True)
        with rewrite.placing(op):
            convolution = read(op)
        source = source_of(op.operands[convolution.image])
        self._as_stated(rewrite, op, convolution.windows, source.low, source.high)
        with ahead_of(op):
            made, result = product(op, convolution, source)
        op.results[0].replace_all_uses_with(result)
        passed, start = makers(op.operands[convolution.image]), producer(op.operands[2])
        op.erase()
        remove_dead(passed)
        if start is not None and not remove_if_dead(start) and fill_value(start) is not None:
            rewrite.remark(
                "other ops start from the same fill: its handle now names this product's fill, `match` finds the other"
            )
        moved = move_consumers(result, runs(convolution))
        rewrite.remark(convolution.description(source.padded))
        if moved:
            rewrite.remark(f"moved along: {', '.join(moved)}")
        if (last := staying(made)) is not None:
            why = "it reads an operand with no place among the product's dimensions"
            rewrite.remark(f"{last} stays after the reshape: {why}")
        return {"gemm": rewrite.new_handle(made)}

    def _as_stated(
        self,
        rewrite: Rewriter,
        op: ir.Operation,
        windows: Sequence[int],
        low: Sequence[int],
        high: Sequence[int | None],
    ) -> None:
        """Raises W0446 if the payload's padding differs from the stated one. `windows`: the axes of
        the image that the window moves along."""
        if self.padding is None:
            return
        found = [(low[axis], high[axis]) for axis in windows]
        axes, count = len(found), len(self.padding)
        if count not in (axes, 2 * axes):
            raise rewrite.error(
                "W0446",
                f"a number for each of the {axes} axes that the window moves along, and not {count}",
                op,
                f"write `[{', '.join('1' * axes)}]`, a number for each axis, or {2 * axes} numbers: those before each"
                f" axis, then those after",
                at="padding",
            )
        if found != list(zip(self.padding[:axes], self.padding[-axes:], strict=True)):
            sides = ", ".join(str(a) if a == b else f"{a} before and {'?' if b is None else b} after" for a, b in found)
            raise rewrite.error(
                "W0446",
                f"the payload pads the image by [{sides}], and the schedule states {list(self.padding)}",
                op,
                "padding changes the result: write it in the payload, with `tensor.pad`; `as-gemm` makes a mask of it",
                at="padding",
            )
