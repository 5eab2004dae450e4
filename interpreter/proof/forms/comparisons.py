"""`arith.cmpi`'s predicates as formulas."""

from __future__ import annotations

from .linear import FALSE, TRUE, Formula, Linear, at_least, both, either, equal, less


def compare(predicate: int, a: Linear, b: Linear) -> Formula:
    """`arith.cmpi`'s predicates: eq, ne, slt, sle, sgt, sge, ult, ule, ugt, uge."""
    match predicate:
        case 0 | 1:
            same = _fold(equal(a, b))
            return same if predicate == 0 else same.negate()
        case 2 | 3:
            return _fold(less(a, b) if predicate == 2 else at_least(b, a))
        case 4 | 5 | 8 | 9:
            return compare(predicate - 2, b, a)
    # a negative number is larger than all others when it is read as unsigned
    a_up, b_up = _fold(at_least(a, 0)), _fold(at_least(b, 0))
    same = either(both(a_up, b_up), both(a_up.negate(), b_up.negate()))
    return either(both(same, compare(predicate - 4, a, b)), both(a_up, b_up.negate()))


def _fold(formula: Formula) -> Formula:
    """Decide a comparison that bounds alone decide."""
    if formula.form is None or formula.kind == "eq":
        if formula.form is not None and formula.form.is_constant:
            return TRUE if formula.form.constant == 0 else FALSE
        return formula
    low, high = formula.form.bounds()
    if low is not None and low >= 0:
        return TRUE
    return FALSE if high is not None and high < 0 else formula
