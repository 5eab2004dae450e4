"""Conditions on the sizes and scalars of a payload's arguments that its ops require, and that are
known only at run time: sizes of one dimension of an op, such as the k of a product, are equal; the
windows of a convolution or a slice are in bounds.

MLIR verifies the same for static shapes; for dynamic ones, its `-generate-runtime-verification`
emits assertions for each op.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial, reduce

from ...dsl.diagnostics import WeftError
from ...interpreter.ir.affine_maps import OPERATORS
from ...interpreter.ir.cloning import clone_module
from ...interpreter.ir.element_sizes import element_bytes
from ...interpreter.ir.functions import AGREEMENTS, symbol
from ...interpreter.ir.mlir import ahead_of, ancestors, ir, memref, operations, producer, run_passes, tensor
from ...interpreter.ir.sizes import MAY_NOT_RUN, measured_dimension, size_of
from ...interpreter.ir.structured import (
    Structure,
    element_type,
    is_structured,
    parts_of,
    shape_of,
    structure,
    subscripts,
)
from ...interpreter.memory.layouts import is_plain, mixed
from ...interpreter.memory.views import root_memref
from ..plan.codec import dump_part, load_part
from ..plan.plan import Agreement, BufferView, DimOf, Relation, ScalarOf, Size, TensorMapOf
from ..plan.resolve import fold
from .arithmetic import NUMBERS
from .functions import argument_names, entry_function
from .program import RULES, Claim, Host, TokenValue, product

_Wanted = tuple[Size | None, Relation, Size | None]


def agreements(payload: ir.Module, entry: str | None) -> tuple[Agreement, ...]:
    """The conditions on sizes and scalars that the entry function, and its callees, imply."""
    module = clone_module(payload)
    if any(operations(module.operation, "func.call")):
        run_passes(module, "inline")
    with module.context, ir.Location.unknown():
        function = entry_function(module, entry)
        reader = _Reader(module, function)
        return tuple(dict.fromkeys(found for op in operations(function) for found in reader.of(op)))


def state_agreements(function: ir.Operation, found: Sequence[Agreement]) -> None:
    """Writes the conditions on a host function, so that a plan made from its module has them."""
    if found:
        texts = [ir.StringAttr.get(dump_part(one), function.context) for one in found]
        function.attributes[AGREEMENTS] = ir.ArrayAttr.get(texts, function.context)


def stated_agreements(function: ir.Operation) -> tuple[Agreement, ...]:
    """The conditions that are written on it. Raises W0700 if they are invalid."""
    texts = (ir.StringAttr(text).value for text in function.attributes.get(AGREEMENTS, ()))
    return tuple(load_part(text, Agreement, f"`{AGREEMENTS}` of @{symbol(function)}") for text in texts)


class _Reader:
    """Derives the conditions of ops as expressions over the function's arguments."""

    def __init__(self, module: ir.Module, function: ir.Operation) -> None:
        arguments = function.regions[0].blocks[0].arguments
        self.names = dict(zip(arguments, argument_names(function), strict=True))
        self.host = Host(module, {})

    def of(self, op: ir.Operation) -> Iterator[Agreement]:
        if MAY_NOT_RUN.isdisjoint(around.name for around in ancestors(op)):
            with ahead_of(op):
                wanted = list(self._wanted(op))
            for left, relation, right in wanted:
                known = isinstance(left, int) and isinstance(right, int)
                if left is not None and right is not None and left != right and not known:
                    yield Agreement(left, right, op.name, relation)

    def _wanted(self, op: ir.Operation) -> Iterator[_Wanted]:
        match op.opview:
            case tensor.ExtractSliceOp() | memref.SubViewOp():
                yield from self._slice(op, op.operands[0])
            case memref.ReinterpretCastOp():
                yield from self._reinterpreted(op)
            case memref.ViewOp():
                yield from self._viewed(op)
            case tensor.InsertSliceOp():
                yield from self._slice(op, op.operands[1])
            case tensor.EmptyOp() | memref.AllocOp():
                for size in op.operands:
                    yield self.size(size), ">=", 0
            case tensor.CastOp() | memref.CastOp() if shape_of(op.operands[0]):
                for axis, size in enumerate(shape_of(op.results[0])):
                    yield self.size(size_of(op.operands[0], axis)), "==", size
            case tensor.ExpandShapeOp() | memref.ExpandShapeOp():
                sizes = [self.size(n) for n in mixed(op, "static_output_shape")[0]]
                for axis, group in enumerate(op.attributes["reassociation"]):
                    made = _product([sizes[ir.IntegerAttr(d).value] for d in group])
                    yield self.size(size_of(op.operands[0], axis)), "==", made
            case _ if is_structured(op):
                yield from self._structured(op, structure(op))

    def _slice(self, op: ir.Operation, whole: ir.Value) -> Iterator[_Wanted]:
        for axis, (offset, size, stride) in enumerate(zip(*parts_of(op), strict=True)):
            first, number, step = self.size(offset), self.size(size), self.size(stride)
            for least in (first, number, step):
                yield least, ">=", 0
            yield self.size(size_of(whole, axis)), ">=", _needed(first, [number], [step])

    def _reinterpreted(self, op: ir.Operation) -> Iterator[_Wanted]:
        """The condition that the elements of the result are within the source buffer."""
        (start,), sizes, steps = parts_of(op)
        first, numbers, strides = self.size(start), [self.size(n) for n in sizes], [self.size(n) for n in steps]
        for least in (first, *numbers, *strides):
            yield least, ">=", 0
        yield self._elements(op), ">=", _needed(first, numbers, strides)

    def _viewed(self, op: ir.Operation) -> Iterator[_Wanted]:
        """The condition that the bytes of the view are within the source buffer."""
        open_ = iter(list(op.operands)[2:])
        sizes = [self.size(next(open_) if n is None else n) for n in shape_of(op.results[0])]
        shift, elements = self.size(op.operands[1]), _product(sizes)
        for least in (shift, *sizes):
            yield least, ">=", 0
        if shift is not None and elements is not None:
            wanted = fold("mul", elements, element_bytes(element_type(op.results[0])))
            yield self._elements(op), ">=", fold("add", shift, wanted)

    def _elements(self, view: ir.Operation) -> Size | None:
        """The number of elements of a view's root buffer, if that has no layout; else None."""
        buffer = root_memref(view.operands[0])
        if not is_plain(buffer.type):
            return None
        return _product([self.size(size_of(buffer, axis)) for axis in range(len(shape_of(buffer)))])

    def _structured(self, op: ir.Operation, space: Structure) -> Iterator[_Wanted]:
        extents: dict[int, Size] = {}
        accesses = [(expr, self.size(size_of(operand, axis))) for operand, axis, expr in subscripts(op, space.maps)]
        for expr, size in accesses:
            if isinstance(expr, ir.AffineDimExpr) and size is not None:
                yield extents.setdefault(expr.position, size), "==", size
        ends = {d: fold("sub", extent, 1) for d, extent in extents.items()}
        numbers = list(extents.values())
        for expr, size in accesses:
            reached = None if isinstance(expr, ir.AffineDimExpr) else _reached(expr, ends)
            if reached is not None:
                yield _if_any(numbers, reached[0]), ">=", 0
                yield size, ">=", _if_any(numbers, fold("add", reached[1], 1))

    def size(self, size: int | ir.Value | None) -> Size | None:
        """A size, or another integer, as a plan's expression; None if it is not determined by the
        arguments before the run."""
        if size is None or isinstance(size, int):
            return size
        if size in self.names:
            return ScalarOf(self.names[size])
        origin, op = measured_dimension(size), producer(size)
        if origin is not None:
            if origin[0] in self.names:
                return DimOf(self.names[origin[0]], origin[1])
            asked = size_of(*origin)
            return None if isinstance(asked, ir.Value) and measured_dimension(asked) == origin else self.size(asked)
        if op is None or op.name not in NUMBERS:
            return None
        for operand in op.operands:
            number = self.size(operand)
            if number is None:
                return None
            self.host.values[operand] = number
        try:
            (made,) = RULES[op.name](self.host, op)
        except WeftError:  # a division by 0
            return None
        return None if isinstance(made, float | BufferView | TensorMapOf | TokenValue | Claim) else made


def _if_any(numbers: Sequence[Size], size: Size) -> Size:
    """`size` if none of the numbers is 0; 0 if one is, since nothing is accessed then."""
    return fold("mul", reduce(partial(fold, "min"), (n for n in numbers if not isinstance(n, int) or n == 0), 1), size)


def _needed(first: Size | None, numbers: Sequence[Size | None], steps: Sequence[Size | None]) -> Size | None:
    """One past the last element of an access with these numbers of elements and steps per
    dimension; None if unknown."""
    last, known = first, [n for n in numbers if n is not None]
    for number, step in zip(numbers, steps, strict=True):
        if last is None or number is None or step is None:
            return None
        last = fold("add", last, fold("mul", fold("sub", number, 1), step))
    return None if last is None else _if_any(known, fold("add", last, 1))


def _product(sizes: Sequence[Size | None]) -> Size | None:
    """The product; None if a factor is unknown."""
    known = [n for n in sizes if n is not None]
    return product(known) if len(known) == len(sizes) else None


def _reached(expr: ir.AffineExpr, ends: Mapping[int, Size]) -> tuple[Size, Size] | None:
    """The least and the largest value of an index, over dimensions from 0 to their `ends`; None if
    unknown."""
    if isinstance(expr, ir.AffineDimExpr):
        return (0, ends[expr.position]) if expr.position in ends else None
    if isinstance(expr, ir.AffineConstantExpr):
        return expr.value, expr.value
    if not isinstance(expr, ir.AffineBinaryExpr):
        return None
    left, right = _reached(expr.lhs, ends), _reached(expr.rhs, ends)
    if left is None or right is None:
        return None
    if isinstance(expr, ir.AffineAddExpr):
        return fold("add", left[0], right[0]), fold("add", left[1], right[1])
    number = right[0]
    if not isinstance(number, int):
        return None
    if (
        isinstance(expr, ir.AffineModExpr) and number > 0
    ):  # across a multiple of the divisor: from 0 to the divisor less 1
        passed = fold("min", fold("sub", *(fold("floordiv", end, number) for end in reversed(left))), 1)
        low, high = (fold("mod", end, number) for end in left)
        return fold("mul", fold("sub", 1, passed), low), fold("max", high, fold("mul", passed, number - 1))
    operator = OPERATORS[type(expr).__name__]
    low, high = (fold(operator, end, number) for end in left)
    return (high, low) if number < 0 else (low, high)
