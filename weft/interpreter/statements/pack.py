"""`pack OP [as …] [align n]`: operands of a product are copied into the layout that tensor-core
instructions read."""

from __future__ import annotations

from collections.abc import Sequence

from ...dsl.diagnostics import did_you_mean
from ..hardware.ampere.fragments import PACKED, SPLITS, TF32_BITS
from ..indices.values import divisible, multiples
from ..ir.element_sizes import element_bytes
from ..ir.mlir import DYNAMIC, ahead_of, arith, ir, linalg, memref, ops_of, tensor
from ..ir.structured import body_of, element_type, generic, structure
from ..session.statement import Handle, Results, Rewriter, Statement, consumed, integer, statement, string
from ..tensors import levels


@statement("pack", returns=("gemm", "lhs", "rhs"))
class Pack(Statement):
    """Let a product read copies of its operands in which the terms of each sum are contiguous.

    Tensor cores of warp groups read both operands from shared memory, and for most types only if
    the elements of a sum are contiguous: in C = A·B, B must be stored as n × k. They read elements
    unchanged, so elements that are to be split into two numbers must be stored as two. These copies
    are separate ops before the product: each is tiled, mapped and launched like any other op, and
    its time counts in the run.

    Without `as`, an operand is copied if the terms of a sum are not contiguous in it, and otherwise
    left alone. With `as`, both are copied: each element becomes the sum of two numbers, big +
    small, and each row becomes three consecutive rows, so that the product of the copies is a
    product with a sum three times as long: small · big, big · small, and big · big. `mma` computes
    each step of that sum from zero, and adds it to the sums outside of the tensor cores, which
    doubles the registers of the sums.

    With `align`, each row of a copy begins at a multiple of that many bytes; the memory after its
    elements is neither written nor read. An operand with rows that are not known to be aligned is
    copied as well. Tensor maps require multiples of 16.

    Args:
        target: a product of two matrices, with any order of rows and columns; not in a loop;
            consumed.
        as_type: the conversion of f32 operands. `as bf16x3`: big and small are bf16, and so are the
            copies. `as 3xtf32`: they are f32, rounded to the precision of tf32; `mma … as tf32`
            multiplies them. The omitted product (small · small) is the same as with `mma`.

    Returns:
        gemm: the product of the copied or original operands: a `linalg.generic` over rows, columns
            and sum.
        lhs, rhs: the op that copies that operand; absent if it is left alone. A `linalg.generic`
            over the operand's own rows (for the right one, the columns of the product), with `as`
            the three parts, and the sum.

    Errors: W0476, W0477, W0478, W0479.

    Source: the packing of Goto and van de Geijn, "Anatomy of high-performance matrix
    multiplication"; CUTLASS's 3xTF32.

    Example:
        let (product, lhs, rhs) = pack gemm as bf16x3
        before: linalg.matmul
        after:  arith.truncf … tensor.collapse_shape … linalg.generic … arith.extf
    """

    target: Handle = consumed()
    as_type: str | None = string(optional=True, written="as")
    align: int | None = integer(optional=True, minimum=1)

    def apply(self, rewrite: Rewriter) -> Results:
        from ..launch.products.product import matrix_dimensions

        op = rewrite.find(self.target)
        rewrite.expect_structured(op, "W0477")
        if op.parent is not None and op.parent.operation.name != "func.func":
            why = f"this op is in {op.parent.operation.name}, and copies of its operands need launches of their own"
            raise rewrite.error("W0479", why, op, "use `pack` before `tile`")
        op = levels.expect_values(rewrite, self.target, "W0454", "op")
        found, space = matrix_dimensions(op), structure(op)
        body = {inner.name for inner in ops_of(body_of(op))}
        if found is None or space.rank != 3 or not body <= _BODY:
            why = f"{op.name} is not a product of two matrices that is summed over one dimension"
            hint = "`as-gemm` makes one of a convolution"
            raise rewrite.error("W0477", why, op, hint, notes=(f"dimensions {space.text()}",))
        self._expect_type(rewrite, op)
        rows, columns, summed = found
        split = self.as_type and SPLITS[self.as_type][0]
        copied: list[_Copy | None] = []
        lanes = self._lanes(rewrite, op, split)
        with ahead_of(op):
            for value, indexing, mine, row in zip(op.operands, space.maps, (rows, columns), lanes, strict=False):
                along = [ir.AffineDimExpr(e).position for e in indexing.results] == [mine, summed]
                left = along and split is None and multiples(value)[1] % row == 0
                copied.append(None if left else _Copy(value, along, split, len(copied), row))
            operands = [op.operands[i] if one is None else one.result for i, one in enumerate(copied)]
            made = _product(op, operands)
        if self.as_type is not None:
            made.attributes[PACKED] = ir.StringAttr.get(self.as_type)
        op.results[0].replace_all_uses_with(made.results[0])
        op.erase()
        for name, one in zip(("lhs", "rhs"), copied, strict=True):
            rewrite.remark(f"`{name}` is left alone" if one is None else f"`{name}` in {one.made.results[0].type}")
        handles = [Handle(-1, absent=True) if one is None else rewrite.new_handle(one.made) for one in copied]
        return {"gemm": rewrite.new_handle(made), "lhs": handles[0], "rhs": handles[1]}

    def _lanes(self, rewrite: Rewriter, op: ir.Operation, split: str | None) -> list[int]:
        """For each operand, the number of elements that divides the length of a row. Raises
        W0476."""
        lanes: list[int] = []
        for kind in (ir.BF16Type.get() if split == "bf16" else element_type(value) for value in list(op.operands)[:2]):
            align, size = self.align or element_bytes(kind), element_bytes(kind)
            if align % size:
                why = f"`align {align}` ends within an element: those of {kind} have {size} bytes"
                raise rewrite.error("W0476", why, op, "tensor maps require `align 16`", at="align")
            lanes.append(align // size)
        return lanes

    def _expect_type(self, rewrite: Rewriter, op: ir.Operation) -> None:
        if self.as_type is None:
            return
        of_two = [name for name, (_, count) in SPLITS.items() if count == 2]
        kinds = [str(element_type(v)) for v in op.operands]
        if self.as_type not in of_two:
            hint = did_you_mean(self.as_type, of_two)
            if self.as_type in SPLITS:
                hint = f"leave `pack` out: `mma … as {self.as_type}` rounds operands of f32 without copies"
            message = f"operands are not copied `as {self.as_type}`, only as {', '.join(of_two)}"
            raise rewrite.error("W0478", message, op, hint, at="as_type")
        if kinds != ["f32"] * 3:
            given = f"{kinds[0]} by {kinds[1]} into {kinds[2]}"
            raise rewrite.error("W0478", f"`as {self.as_type}` is for operands of f32, and these are {given}", op,
                                f"leave `as {self.as_type}` out", at="as_type")  # fmt: skip


class _Copy:
    """The copy of an operand, made before the product.

    Args:
        along: whether the terms of a sum are already contiguous in the operand.
        split: the type of the two parts of an element, `bf16` or `tf32`; None: elements are
            unchanged.
        operand: 0 for the left one, with the small part first; 1 for the right one.
        lanes: the length of a row is a multiple of this number of elements.
    """

    def __init__(self, value: ir.Value, along: bool, split: str | None, operand: int, lanes: int) -> None:
        from ..ir.sizes import sizes_of
        from ..ir.structured import empty
        from ..memory.layouts import as_tensor, store_tensor

        self.split, self.operand = split, operand
        own, length = sizes_of(value)[:: 1 if along else -1]
        kind = ir.BF16Type.get() if split == "bf16" else element_type(value)
        parts = [] if split is None else [PARTS]
        d, rank = ir.AffineDimExpr.get, 2 + len(parts)
        read = [d(0), d(rank - 1)][:: 1 if along else -1]
        maps = [ir.AffineMap.get(rank, 0, read), ir.AffineMap.get_identity(rank)]
        name = f"{levels.origin(value) or ('lhs', 'rhs')[operand]}_packed"
        with ir.Location.name(name, ir.Location.current):
            place = _place([own, *parts, length], kind, lanes, name)  # before the op that is stored there
            self.made = generic([value], [empty([own, *parts, length], kind)], maps, ["parallel"] * rank, self._body)
            if place is not None:
                written, seen = place
                store_tensor(self.made.results[0], written)
                self.result = as_tensor(seen)
                return
        self.result = _joined(self.made.results[0]) if parts else self.made.results[0]

    def _body(self, own: list[ir.Value]) -> Sequence[ir.Value]:
        x = own[0]
        if self.split is None:
            return [x]
        big, small = (_halves if self.split == "bf16" else _tf32s)(x)
        part, first = linalg.IndexOp(1).result, arith.ConstantOp(ir.IndexType.get(), self.operand).result
        is_small = arith.CmpIOp(arith.CmpIPredicate.eq, part, first).result
        return [arith.SelectOp(is_small, small, big).result]


PARTS = 3
"""small · big, big · small, big · big: the parts of the left operand are small, big, big, and those
of the right one big, small, big."""


def _place(shape: Sequence[int | ir.Value], kind: ir.Type, lanes: int, name: str) -> tuple[ir.Value, ir.Value] | None:
    """A padded allocation for a copy of this shape, with rows of a multiple of `lanes` elements:
    the view of the shape, and the view as a matrix. None if its rows need no padding."""
    from ..indices.arithmetic import ceildiv, multiply
    from ..ir.functions import NAME
    from ..ir.sizes import product_of
    from ..memory.layouts import strided, subview

    own, *parts, length = shape
    row = product_of([*parts, length])
    if divisible(row, lanes):
        return None
    whole = multiply(ceildiv(row, lanes), lanes)
    held = memref.AllocOp(ir.MemRefType.get(_numbers([own, whole]), kind), _values([own, whole]), [])
    held.operation.attributes[NAME] = ir.StringAttr.get(name)
    matrix = subview(held.result, [[0, 0], [own, row], [1, 1]], ir.MemRefType.get(_numbers([own, row]), kind))
    if not parts:
        return matrix, matrix
    strides, offset = strided(matrix.type)
    layout = ir.StridedLayoutAttr.get(offset, [strides[0], _numbers([length])[0], 1])
    apart = ir.MemRefType.get(_numbers(shape), kind, layout)
    return memref.ExpandShapeOp(apart, matrix, [[0], [1, 2]], _values(shape), apart.shape).result, matrix


def _numbers(sizes: Sequence[int | ir.Value]) -> list[int]:
    return [n if isinstance(n, int) else DYNAMIC for n in sizes]


def _values(sizes: Sequence[int | ir.Value]) -> list[ir.Value]:
    return [n for n in sizes if not isinstance(n, int)]


def _halves(x: ir.Value) -> tuple[ir.Value, ir.Value]:
    """Two bf16 numbers with a sum that equals an f32 up to a relative error of 2^-16."""
    half = ir.BF16Type.get()
    big = arith.TruncFOp(half, x).result
    return big, arith.TruncFOp(half, arith.SubFOp(x, arith.ExtFOp(x.type, big).result).result).result


def _tf32s(x: ir.Value) -> tuple[ir.Value, ir.Value]:
    """Two tf32 numbers, as f32, with a sum that equals an f32 up to a relative error of 2^-22. The
    big one is the number with its low bits cut off."""
    bits = ir.IntegerType.get_signless(32)

    def cut(word: ir.Value) -> ir.Value:
        return arith.BitcastOp(x.type, arith.AndIOp(word, arith.ConstantOp(bits, TF32_BITS).result).result).result

    big = cut(arith.BitcastOp(bits, x).result)
    rest = arith.BitcastOp(bits, arith.SubFOp(x, big).result).result
    return big, cut(arith.AddIOp(rest, arith.ConstantOp(bits, -TF32_BITS // 2).result).result)


def _joined(parts: ir.Value) -> ir.Value:
    """The same array with the parts of each row concatenated."""
    kind = ir.RankedTensorType(parts.type)
    rows, count, length = kind.shape
    dynamic = ir.ShapedType.get_dynamic_size()
    joined = ir.RankedTensorType.get([rows, dynamic if length == dynamic else count * length], kind.element_type)
    return tensor.CollapseShapeOp(joined, parts, [[0], [1, 2]]).result


def _product(op: ir.Operation, operands: Sequence[ir.Value]) -> ir.Operation:
    """The product C[i, j] += A[i, q] · B[j, q], with the op's own computation; bf16 numbers are
    extended first."""
    from ..ir.cloning import clone_body

    def body(own: list[ir.Value]) -> list[ir.Value]:
        kinds = [argument.type for argument in body_of(op).arguments]
        given = [v if v.type == kind else arith.ExtFOp(kind, v).result for v, kind in zip(own, kinds, strict=True)]
        return clone_body(body_of(op), given, [])

    d = ir.AffineDimExpr.get
    maps = [ir.AffineMap.get(3, 0, [d(i), d(j)]) for i, j in ((0, 2), (1, 2), (0, 1))]
    return generic(operands, [op.operands[2]], maps, ["parallel", "parallel", "reduction"], body)


_BODY = {f"arith.{name}" for name in ("extf", "extsi", "mulf", "muli", "addf", "addi")} | {"linalg.yield"}
