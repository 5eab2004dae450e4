"""Recognition of the ops that combine two partial results, as `Combiner.together` emits them.

An op that combines single results (`arith.addf`) is recognized by its name. A maximum or minimum
and its index are two selects by one comparison; counts, means and squared differences are combined
by the formulas of Chan, Golub and LeVeque. The combined values are read from the ops.
`reductions/combiners.py` ensures that these formulas belong to the payload's body.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from ....dsl.records import record
from ...ir.mlir import arith, ir, made_by, users
from ...reductions.identities import COMMUTATIVE, SUMS, Identity, attribute, identity

SINGLE = COMMUTATIVE | set(SUMS)
_KINDS = {
    "add": "arith.add", "mul": "arith.mul", "minui": "arith.minui", "minsi": "arith.minsi", "maxui": "arith.maxui",
    "maxsi": "arith.maxsi", "and": "arith.andi", "or": "arith.ori", "xor": "arith.xori", "minimumf": "arith.minimumf",
    "maximumf": "arith.maximumf", "minnumf": "arith.minnumf", "maxnumf": "arith.maxnumf",
}  # fmt: skip


def single(op: ir.Operation) -> str | None:
    """The combiner of a binary op on single results; to subtract a term counts as addition."""
    if op.name in SINGLE:
        return f"arith.add{op.name[-1]}" if op.name in SUMS else op.name
    if op.name == "vector.reduction":
        kind = _KINDS.get(str(op.attributes["kind"]).removeprefix("#vector.kind<").removesuffix(">"))
        real = isinstance(op.results[0].type, ir.FloatType)
        return kind if kind not in ("arith.add", "arith.mul") else kind + ("f" if real else "i")
    return None


def fits(by: str, stated: str) -> bool | None:
    """Whether parts are combined (`by`) as a `Combiner`'s description states; None where the
    description does not decide.

    The description of a sum may name a subtraction: terms are then subtracted, but parts are added.
    """
    names = {f"arith.add{name[-1]}" if name in SUMS else name for name in stated.split(" and ")}
    if names <= SINGLE:
        return by in names
    if stated.startswith(("the largest", "the smallest")):
        return any(word in by for word in (("max", "largest") if "largest" in stated else ("min", "smallest")))
    return None


@record
class Merge:
    """The combination of two partial results, each of several values (such as an extreme and its
    index).

    Args:
        one, other: the two values that the op combines into its own result.
        beside: the corresponding pairs of the other values, if the op reads them.
        by: the combiner of each value.
        undecided: the value is an index, and for equal extremes the op does not select the smaller
            index.
    """

    one: ir.Value
    other: ir.Value
    beside: tuple[tuple[ir.Value, ir.Value], ...]
    by: str
    undecided: bool = False


def merge(op: ir.Operation) -> Merge | None:
    """The combination of which the op computes one value, for combinations of several values; None
    for any other op."""
    return _extreme(op) if op.name == "arith.select" else _moments(op)


_GREATER = {"ogt": True, "olt": False, "sgt": True, "slt": False, "ugt": True, "ult": False}


def _extreme(op: ir.Operation) -> Merge | None:
    """The selection of an extreme, or of its index, by a comparison; None for any other op."""
    wins, other, one = op.operands
    either = made_by(wins, "arith.ori")
    for first, second in [(wins, None)] if either is None else [tuple(either.operands), tuple(either.operands)[::-1]]:
        compare = made_by(first, "arith.cmpf", "arith.cmpi")
        greater = None if compare is None else _GREATER.get(predicate(compare))
        if compare is None or greater is None:
            continue
        left, right = compare.operands
        ties = None if second is None else _ties(second)
        if second is not None and ties is None:
            continue
        whole = compare.name == "arith.cmpi"
        if {left, right} == {one, other} and left != right:
            values = one, other
        elif ties is not None and ties[1] == (other, one):
            values = ties[0][::-1]
        elif (found := _values_chosen(wins, left, right)) is not None:
            values = found
        else:
            continue
        if {left, right} != set(values) or (ties is not None and ties[0] != values[::-1]):
            continue
        greater = greater if left == values[1] else not greater
        kind = ("max" if greater else "min") + {"o": "", "s": "s", "u": "u"}[predicate(compare)[0]]
        place = () if ties is None else (ties[1][::-1],)
        kind = f"arith.{kind}i" if whole else "the largest" if greater else "the smallest"
        what = kind if values == (one, other) else f"the index of {kind}"
        return Merge(one, other, (values, *place), what, ties is None and values != (one, other))
    return None


def _ties(value: ir.Value) -> tuple[tuple[ir.Value, ir.Value], tuple[ir.Value, ir.Value]] | None:
    """The values and the indices that a test for ties compares. It holds for equal values if the
    first index is smaller."""
    both = made_by(value, "arith.andi")
    for equal, before in [] if both is None else [tuple(both.operands), tuple(both.operands)[::-1]]:
        same, less = (made_by(operand, "arith.cmpf", "arith.cmpi") for operand in (equal, before))
        if same is not None and less is not None and predicate(same) in ("oeq", "eq") and predicate(less) == "slt":
            return (same.operands[0], same.operands[1]), (less.operands[0], less.operands[1])
    return None


def _values_chosen(wins: ir.Value, left: ir.Value, right: ir.Value) -> tuple[ir.Value, ir.Value] | None:
    """The two compared values in the order of the op that selects between them: the value that is
    kept, then the value that replaces it."""
    for user in users(wins):
        if user.name == "arith.select" and {user.operands[1], user.operands[2]} == {left, right}:
            return user.operands[2], user.operands[1]
    for user in users(left):  # upstream merges the comparison and the select into one op
        if user.name in _EXTREMES and {*user.operands} == {left, right}:
            asked = made_by(wins, "arith.cmpi")
            greater = asked is not None and _GREATER.get(predicate(asked)) == user.name.startswith("arith.max")
            return (right, left) if greater else (left, right)
    return None


_EXTREMES = ("arith.maxsi", "arith.minsi", "arith.maxui", "arith.minui")


def predicate(compare: ir.Operation) -> str:
    """The predicate of a comparison: `ogt`, `slt`."""
    kinds = arith.CmpFPredicate if compare.name == "arith.cmpf" else arith.CmpIPredicate
    return str(kinds(ir.IntegerAttr(compare.attributes["predicate"]).value)).lower()


# ---- counts, means, squared differences ------------------------------------------------------------------------------

Pattern = str | float | tuple[str, "Pattern", "Pattern"]
"""A named value, a constant, or an op of `arith` on two patterns."""
OfTwo = tuple[str, Pattern, Pattern]
_COUNT: Pattern = ("addf", "n", "m")
_LEAST: OfTwo = ("maximumf", _COUNT, 1.0)
_APART: Pattern = ("subf", "b", "a")
_MEAN: OfTwo = (
    "mulf",
    ("addf", ("addf", "a", "b"), ("mulf", _APART, ("divf", ("subf", "m", "n"), "least"))),
    0.5,
)
_SQUARES: OfTwo = (
    "addf",
    ("addf", "s", "t"),
    ("mulf", ("mulf", _APART, _APART), ("divf", ("mulf", "n", "m"), "least")),
)


def _moments(op: ir.Operation) -> Merge | None:
    for pattern, own, by in ((_MEAN, "ab", "means"), (_SQUARES, "st", "squared differences")):
        if op.name == f"arith.{pattern[0]}":
            for found in _matches(op.results[0], pattern, {}):
                if not _is_count(found["least"], found):
                    continue
                beside = tuple((found[x], found[y]) for x, y in ("nm", "ab", "st") if x in found and x != own[0])
                return Merge(found[own[0]], found[own[1]], beside, by)
    return None


def _is_count(value: ir.Value, known: Mapping[str, ir.Value]) -> bool:
    """Whether the value is the sum of both counts, with 1 in place of 0."""
    chosen = made_by(value, "arith.select")
    if chosen is None:
        return any(True for _ in _matches(value, _LEAST, known))
    asked = made_by(chosen.operands[0], "arith.cmpf")
    if asked is None or predicate(asked) != "oeq" or asked.operands[0] != chosen.operands[2]:
        return False
    ends = (asked.operands[1], 0.0), (chosen.operands[1], 1.0), (chosen.operands[2], _COUNT)
    return all(any(True for _ in _matches(one, pattern, known)) for one, pattern in ends)


def _matches(value: ir.Value, pattern: Pattern, known: Mapping[str, ir.Value]) -> Iterator[dict[str, ir.Value]]:
    """The bindings of a pattern's names, if the value matches it."""
    if isinstance(pattern, str):
        if known.get(pattern, value) == value:
            yield {**known, pattern: value}
    elif isinstance(pattern, float):
        made = made_by(value, "arith.constant")
        constant = None if made is None else made.attributes["value"]
        if constant is not None and isinstance(constant, ir.FloatAttr) and constant.value == pattern:
            yield dict(known)
    elif not isinstance(pattern, int) and (made := made_by(value, f"arith.{pattern[0]}")) is not None:
        ways = [(made.operands[0], made.operands[1])]
        if made.name in COMMUTATIVE:
            ways.append((made.operands[1], made.operands[0]))
        for first, second in ways:
            for found in _matches(first, pattern[1], known):
                yield from _matches(second, pattern[2], found)


# ---- identities ------------------------------------------------------------------------------------------------------


def changes_nothing(constant: ir.Attribute, by: str) -> bool:
    """Whether a constant is the identity of a combiner; for sums, zero of either sign."""
    if (
        isinstance(constant, ir.FloatAttr)
        and constant.value == 0
        and by in ("arith.addf", "means", "squared differences")
    ):
        return True
    return any(_same(constant, one) for one in _identities(by))


def _identities(by: str) -> tuple[Identity, ...]:
    if by in SINGLE:
        return (identity(by),)
    return _BEYOND.get(by, ("max",) if by.startswith("the index") else ())


_BEYOND: dict[str, tuple[Identity, ...]] = {"the largest": ("-inf",), "the smallest": ("inf",)}


_FLAGS = {"true": ("true", "1", "-1"), "false": ("false", "0")}


def _same(constant: ir.Attribute, one: Identity) -> bool:
    if isinstance(constant, ir.BoolAttr):  # an i1 is a word
        flag = None if isinstance(one, float) else attribute(one, ir.IntegerType.get_signless(1, constant.context))
        return flag is not None and str(flag).partition(" ")[0] in _FLAGS[str(constant)]
    if isinstance(constant, ir.FloatAttr):
        wanted = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}.get(str(one), one)
        if not isinstance(wanted, int | float):
            return False
        return constant.value == wanted or (math.isnan(constant.value) and math.isnan(wanted))
    if not isinstance(constant, ir.IntegerAttr) or (isinstance(one, float) or one in ("inf", "-inf", "nan")):
        return False
    return constant == attribute(one, constant.type)
