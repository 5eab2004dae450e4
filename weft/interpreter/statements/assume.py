"""`assume A.1 % n == 0`, `assume A.1 <= n`: facts on a size that is known only at run time."""

from __future__ import annotations

from math import lcm
from pathlib import PurePath
from typing import TYPE_CHECKING

from ..ir.mlir import NotLocalError
from ..session.statement import NotMet, Operand, Results, Rewriter, SizeOf, Statement, integer, size_of, statement

if TYPE_CHECKING:
    from ..ir.mlir import ir
    from ..ir.sizes import Axis


@statement("assume")
class Assume(Statement):
    """Assume that a size known only at run time is a multiple of n, or at most n.

    Later tiling relies on it: tiles that divide the size have no guards, accesses are wide where
    rows begin at multiples of their width, and indices have 32 bits if arrays are known to be small
    enough. The host checks it before any launch, for all sizes that are the same dimension of an
    op: a call with another size is refused.

    Args:
        size: an axis of an argument of the payload (`A.1`), or of an operand of an op
            (`gemm.lhs.1`) that is a size of an argument.
        multiple: the number that divides it, 1 or more.
        most: the upper bound of the size.

    Returns:
        nothing.

    Errors: W0460, W0461, W0462, W0465.

    Source: the idea of `llvm.assume` and of Exo's and TVM's assumptions about sizes; here the host
    checks them.

    Example:
        assume A.1 % 16 == 0
        before: func.func @f(%A: tensor<?x?xf32> {weft.name = "A"}
        after:  weft.multiples = array<i64: 1, 16> … weft.multiples = array<i64: 16, 1>
    """

    reach = "handles"

    size: SizeOf = size_of()
    multiple: int | None = integer(optional=True, minimum=1)
    most: int | None = integer(optional=True, minimum=0)

    def apply(self, rewrite: Rewriter) -> Results:
        from ..indices.values import at_most, multiples  # late import: the bindings are slow to load
        from ..ir.functions import ASSUMED, MOST, MULTIPLES, argument_attributes, set_argument
        from ..ir.mlir import ir
        from ..ir.sizes import same_sizes

        rewrite.only_marked = True
        span = self.node.span
        text = f"{PurePath(span.source.name).name}:{span.line}: {' '.join(span.text.split())}"
        found = [axis for size in self._sizes(rewrite) for axis in same_sizes(size)]
        for value, axis in found:
            known, name = (at_most(value), MOST) if self.multiple is None else (multiples(value), MULTIPLES)
            texts = [ir.StringAttr(t).value for t in argument_attributes(value).get(ASSUMED, ())] or [""] * len(known)
            narrowed = self._narrowed(rewrite, known[axis], f"{_name(value)}.{axis}")
            if narrowed == known[axis]:
                continue
            known[axis] = narrowed
            texts[axis] = "; ".join(filter(None, (texts[axis], text)))
            set_argument(value, name, ir.DenseI64ArrayAttr.get(known))
            set_argument(value, ASSUMED, ir.ArrayAttr.get([ir.StringAttr.get(text) for text in texts]))
        if found:
            names = dict.fromkeys(f"{_name(value)}.{axis}" for value, axis in found)
            what = f"multiples of {self.multiple}" if self.multiple is not None else f"{self.most} at most"
            rewrite.remark(f"{', '.join(names)}: taken for {what}, checked before each run")
        guarded = dict.fromkeys(f"{_name(value)}.{axis}" for value, axis in found if _is_compared(value, axis))
        if guarded and self.multiple is not None:
            rewrite.remark(
                f"tiles that were made before keep their guards ({', '.join(guarded)}): assume it before `tile`"
            )
        return {}

    def _narrowed(self, rewrite: Rewriter, known: int, name: str) -> int:
        """The known fact on a size, combined with the assumption. Raises W0465."""
        from ..indices.values import WIDEST

        if self.multiple is not None:
            if (both := lcm(known, self.multiple)) <= WIDEST:
                return both
            what = f"`{name}` is a multiple of {known} already, and one of {self.multiple}, too, would be one of {both}"
            raise rewrite.error(
                "W0465",
                what,
                hint=f"assume `% n` with an n whose least common multiple with {known} is below 2^63",
                at="multiple",
            )
        most = self.most or 0
        return most if known < 0 else min(known, most)

    def _sizes(self, rewrite: Rewriter) -> list[Axis]:
        """The axes of arguments that the size denotes and that are not static."""
        of, axis = self.size.of, self.size.axis
        values = self._arguments(rewrite, of) if isinstance(of, str) else [self._operand(rewrite, of)]
        found: list[Axis] = []
        for value in values:
            if axis >= len(shape := _shape(value)):
                raise self._unknown(rewrite, f"`{self.size.spelling.rpartition('.')[0]}` has {len(shape)} axes")
            if (number := shape[axis]) is None and rewrite.taken is not None:
                raise NotLocalError  # a fact of the function
            if number is None and isinstance(of, str):
                found.append((value, axis))
            elif number is None:
                found.append(self._argument(rewrite, value, axis))
            elif number % (self.multiple or 1) or (self.most is not None and number > self.most):
                what = f"no multiple of {self.multiple}" if self.multiple is not None else f"more than {self.most}"
                error = rewrite.error("W0461", f"`{self.size.spelling}` is {number}, which is {what}", at="size")
                raise NotMet(*error.diagnostics)
            else:
                rewrite.remark(f"{self.size.spelling} is {number}")
        return found

    def _arguments(self, rewrite: Rewriter, name: str) -> list[ir.Value]:
        from ..ir.functions import arguments_of_functions

        arguments = [value for value in arguments_of_functions(rewrite.module) if _shape(value)]
        named = [value for value in arguments if _name(value) == name]
        if not named:
            sizes = (f"{_name(value)}.{axis}" for value in arguments for axis in range(len(_shape(value))))
            notes = (f"sizes of arguments: {', '.join(dict.fromkeys(sizes)) or 'none'}",)
            raise self._unknown(rewrite, f"the payload has no argument `{name}` with sizes", *notes)
        return named

    def _operand(self, rewrite: Rewriter, of: Operand) -> ir.Value:
        from ..ir.structured import operand_names, operand_number

        op = rewrite.find(of.handle)
        rewrite.expect_structured(op, "W0320")
        if (number := operand_number(op, of.name)) is None:
            notes = (f"its operands are {', '.join(operand_names(op))}",)
            raise self._unknown(rewrite, f"{op.name} has no operand `{of.name}`", *notes)
        return op.operands[number]

    def _argument(self, rewrite: Rewriter, operand: ir.Value, axis: int) -> Axis:
        from ..ir.sizes import argument_dimension

        found = argument_dimension(operand, axis)
        if found is None:
            message = f"`{self.size.spelling}` is the size of no argument, so that the host cannot check it"
            error = rewrite.error(
                "W0462",
                message,
                hint="state it of the arguments from which this size is computed: `assume A.1 % 4 == 0`",
                at="size",
            )
            raise NotMet(*error.diagnostics)
        return found

    def _unknown(self, rewrite: Rewriter, message: str, *notes: str) -> Exception:
        return rewrite.error("W0460", message, hint=_WRITTEN, at="size", notes=notes)


_WRITTEN = "`A.1` is axis 1 of the argument `A`, and `gemm.lhs.1` that of an operand"


def _is_compared(value: ir.Value, axis: int) -> bool:
    """Whether tiles already have guards for this size."""
    from ..ir.mlir import arith
    from ..ir.sizes import measured_dimension

    sizes = [
        one for use in value.uses for one in use.owner.operation.results if measured_dimension(one) == (value, axis)
    ]
    return any(isinstance(use.owner.operation.opview, arith.CmpIOp) for one in sizes for use in one.uses)


def _shape(value: ir.Value) -> tuple[int | None, ...]:
    from ..ir.mlir import ir
    from ..ir.structured import shape_of

    ranked = isinstance(value.type, ir.RankedTensorType | ir.MemRefType)
    return shape_of(value) if ranked else ()


def _name(value: ir.Value) -> str:
    from ..ir.functions import name_of
    from ..ir.mlir import ir

    return name_of(value) or f"arg{ir.BlockArgument(value).arg_number}"
