"""Index arithmetic as sums: what an index is made of, as far as additions and constant factors reach."""

from __future__ import annotations

from dataclasses import dataclass

from ...mlir import affine, arith, ir, operations, producer
from ...nesting import is_within, move_in_front
from ..arithmetic import constant_of

DELINEARIZE = "affine.delinearize_index"
NAMES = "weft.names"
"""On such an op: what its digits are called."""


@dataclass(frozen=True)
class Sum:
    """`constant + Σ factor · value`, of values that are no sums themselves."""

    terms: tuple[tuple[ir.Value, int], ...]
    constant: int = 0

    def factor(self, value: ir.Value) -> int:
        return sum(f for v, f in self.terms if v == value)

    def without(self, value: ir.Value) -> Sum:
        return Sum(tuple(t for t in self.terms if t[0] != value), self.constant)


def sum_of(value: ir.Value) -> Sum:
    """The index as a sum: `affine.apply`s, `arith.addi`, `arith.subi` and products with a constant are followed.

    What is no sum inside of an `affine.apply` (a division, a remainder) becomes one of its own, at the insertion point.
    """
    total: dict[ir.Value, int] = {}
    constant = _add(value, 1, total)
    _with_remainders(total)
    return Sum(tuple((v, f) for v, f in total.items() if f), constant)


def _with_remainders(total: dict[ir.Value, int]) -> None:
    """`f·x - f·b·(x floordiv b)` → `f·(x mod b)`, whose range is known: composing maps took it apart."""
    for quotient, factor in list(total.items()):
        divided = _quotient(quotient)
        if divided is None or divided[0] not in total or factor % divided[1]:
            continue
        value, divisor = divided
        if total[value] * divisor == -factor and factor:
            remainder = ir.AffineMap.get(1, 0, [ir.AffineExpr.get_mod(ir.AffineDimExpr.get(0), divisor)])
            made = affine.AffineApplyOp(remainder, [value]).result
            total[made] = total.pop(value)
            del total[quotient]


def _quotient(value: ir.Value) -> tuple[ir.Value, int] | None:
    """`x, b` of `x floordiv b`."""
    op = producer(value)
    if op is None or op.name != "affine.apply" or len(op.operands) != 1:
        return None
    e = ir.AffineMapAttr(op.attributes["map"]).value.results[0]
    if not isinstance(e, ir.AffineFloorDivExpr) or not isinstance(e.rhs, ir.AffineConstantExpr):
        return None
    return (op.operands[0], e.rhs.value) if isinstance(e.lhs, (ir.AffineDimExpr, ir.AffineSymbolExpr)) else None


def _add(value: ir.Value, factor: int, total: dict[ir.Value, int]) -> int:
    """Add `factor · value` to `total`; what is constant of it is returned."""
    number = constant_of(value)
    if number is not None:
        return factor * number
    op = producer(value)
    name = "" if op is None else op.name
    if op is not None and name == "affine.apply":
        mapping = ir.AffineMapAttr(op.attributes["map"]).value
        return _add_expression(mapping.results[0], _Applied(mapping.n_dims, tuple(op.operands), value), factor, total)
    if op is not None and name in ("arith.addi", "arith.subi"):
        sign = 1 if name == "arith.addi" else -1
        return _add(op.operands[0], factor, total) + _add(op.operands[1], sign * factor, total)
    if op is not None and name == "arith.muli":
        for one, other in ((0, 1), (1, 0)):
            number = constant_of(op.operands[other])
            if number is not None:
                return _add(op.operands[one], factor * number, total)
    total[value] = total.get(value, 0) + factor
    return 0


@dataclass(frozen=True)
class _Applied:
    """An `affine.apply` that is being followed."""

    dims: int
    operands: tuple[ir.Value, ...]
    result: ir.Value


def _add_expression(e: ir.AffineExpr, applied: _Applied, factor: int, total: dict[ir.Value, int]) -> int:
    if isinstance(e, ir.AffineConstantExpr):
        return factor * e.value
    if isinstance(e, ir.AffineDimExpr):
        return _add(applied.operands[e.position], factor, total)
    if isinstance(e, ir.AffineSymbolExpr):
        return _add(applied.operands[applied.dims + e.position], factor, total)
    if isinstance(e, ir.AffineAddExpr):
        return _add_expression(e.lhs, applied, factor, total) + _add_expression(e.rhs, applied, factor, total)
    if isinstance(e, ir.AffineMulExpr) and isinstance(e.rhs, ir.AffineConstantExpr):
        return _add_expression(e.lhs, applied, factor * e.rhs.value, total)
    whole = ir.AffineMapAttr(applied.result.owner.operation.attributes["map"]).value.results[0] == e
    part = applied.result if whole else _own(e, applied)
    total[part] = total.get(part, 0) + factor
    return 0


def _own(e: ir.AffineExpr, applied: _Applied) -> ir.Value:
    """A part of an expression as an `affine.apply` of just what it reads."""
    places: dict[ir.Value, int] = {}
    read = _read(e, applied)
    for value in read:
        places.setdefault(value, len(places))
    renamed = ir.AffineMap.get(len(places), 0, [_renamed(e, applied, places)])
    return affine.AffineApplyOp(renamed, list(places)).result


def _operand(e: ir.AffineExpr, applied: _Applied) -> ir.Value | None:
    if isinstance(e, ir.AffineDimExpr):
        return applied.operands[e.position]
    if isinstance(e, ir.AffineSymbolExpr):
        return applied.operands[applied.dims + e.position]
    return None


def _read(e: ir.AffineExpr, applied: _Applied) -> list[ir.Value]:
    value = _operand(e, applied)
    if value is not None:
        return [value]
    return [*_read(e.lhs, applied), *_read(e.rhs, applied)] if isinstance(e, ir.AffineBinaryExpr) else []


def _renamed(e: ir.AffineExpr, applied: _Applied, places: dict[ir.Value, int]) -> ir.AffineExpr:
    value = _operand(e, applied)
    if value is not None:
        return ir.AffineExpr.get_dim(places[value])
    if not isinstance(e, ir.AffineBinaryExpr):
        return e
    left, right = _renamed(e.lhs, applied, places), _renamed(e.rhs, applied, places)
    for kind, make in (
        (ir.AffineAddExpr, ir.AffineExpr.get_add),
        (ir.AffineMulExpr, ir.AffineExpr.get_mul),
        (ir.AffineModExpr, ir.AffineExpr.get_mod),
        (ir.AffineFloorDivExpr, ir.AffineExpr.get_floor_div),
        (ir.AffineCeilDivExpr, ir.AffineExpr.get_ceil_div),
    ):
        if isinstance(e, kind):
            return make(left, right)
    raise AssertionError(f"an affine expression of no known kind: {e}")


def split_sums(function: ir.Operation) -> None:
    """Let every index that is taken apart be a sum of values, so that those which a loop does not change can be hoisted.

    It is moved out of the branches that it stands in: nothing but a loop keeps it.
    """
    for op in operations(function, DELINEARIZE):
        _leave_branches(op)
        with ir.InsertionPoint(op), op.location:
            op.operands[0] = emitted(sum_of(op.operands[0]))


def _leave_branches(op: ir.Operation) -> None:
    branch, around = None, op.parent
    while around is not None and around.operation.name == "scf.if":
        branch = around.operation
        around = branch.parent
    if branch is not None and _is_index_arithmetic(op, branch):
        move_in_front(op.results[0], branch)


def _is_index_arithmetic(op: ir.Operation, branch: ir.Operation) -> bool:
    """Whether what `op` computes from values outside of `branch` may as well be computed in front of it."""
    if not is_within(op, branch):
        return True
    if op.name not in (DELINEARIZE, "affine.apply", "arith.constant", "arith.addi", "arith.subi", "arith.muli"):
        return False
    makers = [made for v in op.operands if (made := producer(v)) is not None]
    return all(_is_index_arithmetic(made, branch) for made in makers)


def emitted(total: Sum) -> ir.Value:
    """The sum as one value, made at the insertion point."""
    if len(total.terms) == 1 and total.terms[0][1] == 1 and not total.constant:
        return total.terms[0][0]
    if not total.terms:
        return arith.ConstantOp(ir.IndexType.get(), total.constant).result
    expression: ir.AffineExpr = ir.AffineConstantExpr.get(total.constant)
    for position, (_, factor) in enumerate(total.terms):
        expression = ir.AffineExpr.get_add(expression, ir.AffineExpr.get_mul(ir.AffineDimExpr.get(position), factor))
    applied = ir.AffineMap.get(len(total.terms), 0, [expression])
    return affine.AffineApplyOp(applied, [v for v, _ in total.terms]).result


def basis_of(op: ir.Operation) -> tuple[int, ...] | None:
    """The sizes of all digits but the first, of an `affine.delinearize_index` without an outer bound; None where not static."""
    static = list(ir.DenseI64ArrayAttr(op.attributes["static_basis"]))
    if len(op.operands) > 1 or any(n < 1 for n in static):
        return None
    return tuple(static if len(static) == len(op.results) - 1 else static[1:])
