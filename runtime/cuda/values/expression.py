"""C++ expressions with what is needed to put them into other expressions: precedence, type, range, effects."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .ranges import Range

TERNARY, OR, AND, BIT_OR, BIT_XOR, BIT_AND, EQUAL, RELATION, SHIFT, SUM, PRODUCT, UNARY, PRIMARY = range(13)

_OF_OPERATOR = {
    "||": OR, "&&": AND, "|": BIT_OR, "^": BIT_XOR, "&": BIT_AND, "==": EQUAL, "!=": EQUAL, "<": RELATION,
    "<=": RELATION, ">": RELATION, ">=": RELATION, "<<": SHIFT, ">>": SHIFT, "+": SUM, "-": SUM, "*": PRODUCT,
    "/": PRODUCT, "%": PRODUCT,
}  # fmt: skip
_PLAIN = {SUM, PRODUCT}  # operators whose precedence every reader knows; the others get parentheses around sums


@dataclass(frozen=True)
class Expr:
    """One C++ expression.

    Args:
        text: the expression.
        type: its C++ type. An integer SSA value may be `unsigned` or `unsigned long long` here although MLIR's `i32` and
            `i64` have no sign: it is then congruent to the value, and is cast where its sign matters.
        precedence: of the outermost operator.
        range: of an integer's value, where known.
        reads: it reads memory, so it must not move across a store or a barrier.
        mutable: the variables in it that are assigned to later (loop-carried ones).
        atom: a name or a literal, which may be repeated at no cost.
        split: left operand, operator and right operand, for `x += …`.
    """

    text: str
    type: str
    precedence: int = PRIMARY
    range: Range | None = None
    reads: bool = False
    mutable: frozenset[str] = frozenset()
    atom: bool = False
    split: tuple[str, str, str] | None = None

    def __str__(self) -> str:
        return self.text

    @property
    def constant(self) -> int | None:
        return None if self.range is None else self.range.value

    def within(self, precedence: int) -> str:
        """The text, in parentheses where an operand of `precedence` needs them."""
        return self.text if self.precedence >= precedence else f"({self.text})"

    def typed(self, type: str, range: Range | None = None) -> Expr:
        return replace(self, type=type, range=range)


def name(text: str, type: str, range: Range | None = None, *, mutable: bool = False) -> Expr:
    return Expr(text, type, range=range, atom=True, mutable=frozenset([text]) if mutable else frozenset())


def combine(
    text: str, type: str, parts: tuple[Expr, ...], precedence: int = PRIMARY, range: Range | None = None
) -> Expr:
    """An expression made of `parts`: it has their effects."""
    mutable = frozenset().union(*(p.mutable for p in parts))
    return Expr(text, type, precedence, range, any(p.reads for p in parts), mutable)


def binary(operator: str, a: Expr, b: Expr, type: str, range: Range | None = None) -> Expr:
    """`a operator b`, with the parentheses that C++ or a reader needs."""
    precedence = _OF_OPERATOR[operator]
    left, right = precedence, precedence + 1
    if precedence not in _PLAIN and precedence not in (EQUAL, RELATION):
        left = right = SHIFT if precedence in (AND, OR) else UNARY
        if precedence in (AND, OR):  # `a && b && c` needs none, `a && b || c` gets them
            left, right = (precedence if e.split and e.split[1] == operator else EQUAL for e in (a, b))
    elif precedence in (EQUAL, RELATION):
        left = right = SHIFT + 1
    associative = operator == "+" and range is not None and b.split is not None and b.split[1] == "+"
    if associative and _non_negative(a) and _non_negative(b):  # no intermediate sum exceeds the whole
        right = SUM
    text = f"{a.within(left)} {operator} {b.within(right)}"
    made = combine(text, type, (a, b), precedence, range)
    return replace(made, split=(a.within(precedence), operator, b.within(right)))


def _non_negative(e: Expr) -> bool:
    return e.range is not None and e.range.non_negative


def unary(operator: str, a: Expr, type: str, range: Range | None = None) -> Expr:
    inner = f"({a.text})" if a.text.startswith(operator) else a.within(UNARY)
    return combine(f"{operator}{inner}", type, (a,), UNARY, range)


def call(function: str, type: str, *arguments: Expr, range: Range | None = None) -> Expr:
    return combine(f"{function}({', '.join(a.text for a in arguments)})", type, arguments, PRIMARY, range)


def cast(type: str, a: Expr, range: Range | None = None) -> Expr:
    """`(type)a`; nothing where it has that type already."""
    if a.type == type:
        return a
    if type == "long long" and a.atom and a.text.isdigit():
        return Expr(f"{a.text}LL", type, range=a.range, atom=True)
    return combine(f"({type}){a.within(UNARY)}", type, (a,), UNARY, range if range is not None else a.range)


def ternary(condition: Expr, a: Expr, b: Expr, type: str, range: Range | None = None) -> Expr:
    """`condition ? a : b`; of a narrow integer and a literal, or two of different types, C++ makes an `int`."""
    if type in ("signed char", "short"):
        type = "int"
    text = f"{condition.within(OR)} ? {a.within(OR)} : {b.within(TERNARY)}"
    return combine(text, type, (condition, a, b), TERNARY, range)
