"""Elements of a tensor that is pieced together: tests of the index, and the image's element where they hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ..ir.cloning import clone_body
from ..ir.mlir import affine, arith, ir, producer, stands_in, tensor
from . import gathers
from .gathers import index
from .pieces import BoxSpan, Computed, Filled, Image, Piece, Placed, StridedWindow


@dataclass(frozen=True)
class Subscript:
    """An index along one axis.

    Args:
        at: makes the value of the index plus a number.
        low, high: the smallest and the largest it can be.
        shift: what is added to the index.
        made: its value, where that has been made already.
    """

    at: Callable[[int], ir.Value]
    low: int
    high: int
    shift: int = 0
    made: ir.Value | None = None

    @property
    def value(self) -> ir.Value:
        return self.made or self.at(self.shift)

    def moved(self, by: int) -> Subscript:
        if not by:
            return self
        return replace(self, low=self.low + by, high=self.high + by, shift=self.shift + by, made=None)

    def times(self, stride: int) -> Subscript:
        value = self.value
        return Subscript(lambda n: _applied(value, stride, n), self.low * stride, self.high * stride)

    def over(self, stride: int) -> Subscript:
        value = self.value
        return Subscript(lambda n: _applied(value, 1, n, stride), self.low // stride, self.high // stride)


def subscript(value: ir.Value, extent: int) -> Subscript:
    """The index `value`, which stays within 0 … extent - 1."""
    return Subscript(lambda n: _applied(value, 1, n), 0, extent - 1)


def _applied(value: ir.Value, factor: int, addend: int, divisor: int = 1) -> ir.Value:
    """`value floordiv divisor · factor + addend`."""
    if (factor, addend, divisor) == (1, 0, 1):
        return value
    d0 = ir.AffineDimExpr.get(0)
    whole = d0 if divisor == 1 else ir.AffineExpr.get_floor_div(d0, divisor)
    return affine.AffineApplyOp(ir.AffineMap.get(1, 0, [whole * factor + addend]), [value]).result


def read(piece: Piece, where: Sequence[Subscript], kind: ir.Type) -> ir.Value:
    """The element of a piece at `where`, made at the insertion point. Reads of tensors stand under the guards they need."""
    if isinstance(piece, Image):
        return tensor.ExtractOp(piece.value, [s.value for s in where]).result
    if isinstance(piece, Filled):
        return _scalar(piece.value)
    if isinstance(piece, Computed):
        return clone_body(piece.body, [s.value for s in where])[0]
    if isinstance(piece, StridedWindow):
        inner = [
            s.moved(o) if n == 1 else s.times(n).moved(o)
            for s, o, n in zip(where, piece.offsets, piece.strides, strict=True)
        ]
        return read(piece.inside, inner, kind)
    return _chosen(piece, where, kind)


def _scalar(value: ir.Value) -> ir.Value:
    """A scalar from outside; a constant in the body of a `tensor.pad` is made again."""
    owner = producer(value)
    return owner.clone().operation.results[0] if owner is not None and stands_in(owner, "tensor.pad") else value


def _chosen(piece: Placed, where: Sequence[Subscript], kind: ir.Type) -> ir.Value:
    """Inside or around: only tests that can fail are made."""
    inner = [s.moved(-span.offset) for s, span in zip(where, piece.spans, strict=True)]
    boxes = [(span.start - span.offset, span.stop - span.offset) for span in piece.spans]
    if any(low >= high or s.high < low or s.low >= high for s, (low, high) in zip(inner, boxes, strict=True)):
        return read(piece.around, where, kind)
    inner = [replace(s, made=s.value) for s in inner]
    mask: ir.Value | None = None
    for s, span, (low, high) in zip(inner, piece.spans, boxes, strict=True):
        for test in _tests(s, span, low, high):
            mask = test if mask is None else arith.andi(mask, test)
    inner = [
        replace(s, low=max(s.low, low), high=min(s.high, high - 1)) for s, (low, high) in zip(inner, boxes, strict=True)
    ]
    inner = [s if span.stride == 1 else s.over(span.stride) for s, span in zip(inner, piece.spans, strict=True)]
    outside = (
        _scalar(piece.around.value) if isinstance(piece.around, Filled) else lambda: read(piece.around, where, kind)
    )
    return gathers.guarded(mask, kind, lambda: read(piece.inside, inner, kind), outside)


def _tests(s: Subscript, span: BoxSpan, low: int, high: int) -> list[ir.Value]:
    """What has to hold of an index for it to lie in the box."""
    tests: list[ir.Value] = []
    if s.low < low == 0 and s.high >= high:  # one comparison: as an unsigned number what is negative is larger than every size
        tests.append(arith.cmpi(arith.CmpIPredicate.ult, s.value, index(high)))
        low, high = s.low, s.high + 1
    if s.low < low:
        tests.append(arith.cmpi(arith.CmpIPredicate.sge, s.value, index(low)))
    if s.high >= high:
        tests.append(arith.cmpi(arith.CmpIPredicate.slt, s.value, index(high)))
    if span.stride > 1:
        rest = ir.AffineMap.get(1, 0, [ir.AffineExpr.get_mod(ir.AffineDimExpr.get(0), span.stride)])
        remainder = affine.AffineApplyOp(rest, [s.value]).result
        tests.append(arith.cmpi(arith.CmpIPredicate.eq, remainder, index(0)))
    return tests


def assembled(piece: Piece, shape: Sequence[int], kind: ir.Type) -> ir.Value:
    """The piece as a gather of `shape`, made at the insertion point; nothing is copied."""
    return gathers.computed(
        shape, kind, lambda at, _: read(piece, [subscript(i, n) for i, n in zip(at, shape, strict=True)], kind)
    )
