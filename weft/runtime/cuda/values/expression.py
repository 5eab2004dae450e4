"""C++ expressions with the facts needed to combine them (precedence, type, range, effects), and
names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import field, replace
from typing import NamedTuple

from ....dsl.records import record
from .sizes import HostNumber
from .types import Range

TERNARY, OR, AND, BIT_OR, BIT_XOR, BIT_AND, EQUAL, RELATION, SHIFT, SUM, PRODUCT, UNARY, PRIMARY = range(13)

_LOOSER_FIRST = ("||", "&&", "|", "^", "&", "== !=", "< <= > >=", "<< >>", "+ -", "* / %")
_OF_OPERATOR = {operator: OR + n for n, level in enumerate(_LOOSER_FIRST) for operator in level.split()}
"""The precedences from `OR` to `PRODUCT`."""
ARRAY = "[]"
"""The type in a `Lane` of a variable that is an array."""
_PLAIN = {SUM, PRODUCT}  # operators with a precedence that every reader knows; others get parentheses around sums


class Lane(NamedTuple):
    """Element `number` of a variable with `count` elements: an array, a vector, or parts of a
    32-bit word."""

    variable: str
    type: str
    number: int
    count: int


@record
class Expr:
    """One C++ expression.

    Args:
        text: the expression.
        type: its C++ type. An integer SSA value may be `unsigned` or `unsigned long long` here
            although MLIR's `i32` and `i64` are signless: it is then congruent to the value, and is
            cast where its sign matters.
        precedence: of the outermost operator.
        range: of an integer's value, if known.
        reads: it reads memory, so it must not move across a store or a barrier.
        mutable: variables in it that are assigned later (loop-carried ones).
        atom: a name or a literal, which may be repeated at no cost.
        split: left operand, operator and right operand.
        base: the variable that it is a short offset from: `row`, `row + 1`, `j * 4`, `j * 4 + 1`.
        element: the part of a variable that it is, if it is one.
        names: names in it that are declared only if they are read.
        host: the value of an integer as the host computes it before a launch, or a bound of it.
    """

    text: str
    type: str
    precedence: int = PRIMARY
    range: Range | None = None
    reads: bool = False
    mutable: frozenset[str] = frozenset()
    atom: bool = False
    split: tuple[Expr, str, Expr] | None = field(default=None, compare=False)
    base: str = ""
    element: Lane | None = None
    names: frozenset[str] = frozenset()
    host: HostNumber | None = field(default=None, compare=False)

    @property
    def constant(self) -> int | None:
        return None if self.range is None else self.range.value

    def within(self, precedence: int) -> str:
        """The text, in parentheses if it is an operand that binds less tightly than `precedence`."""
        return self.text if self.precedence >= precedence else f"({self.text})"

    @property
    def is_literal(self) -> bool:
        """Whether the expression is an `int` literal."""
        return self.atom and self.text == str(self.constant)

    @property
    def is_offset(self) -> bool:
        """Whether the expression is a sum or product so short that a name would show less."""
        return self.base != "" and self.split is not None and not self.reads and not self.mutable


def whole(parts: Sequence[Expr], type: str) -> str | None:
    """The variable of that type that consists of exactly these elements, in order; None if there is
    none."""
    variable = parts[0].element.variable if parts and parts[0].element is not None else ""
    all_ = [Lane(variable, type, number, len(parts)) for number in range(len(parts))]
    return variable if variable and [part.element for part in parts] == all_ else None


def name(
    text: str, type: str, range: Range | None = None, *, mutable: bool = False, host: HostNumber | None = None
) -> Expr:
    """An identifier as an expression; `mutable` if the text assigns it later."""
    changes = frozenset([text]) if mutable else frozenset()
    return Expr(text, type, range=range, atom=True, mutable=changes, base=text, host=host)


def elements(variable: str, kind: str, count: int) -> tuple[Expr, ...]:
    """The elements of an array in registers, which are mutable."""
    made = (name(f"{variable}[{i}]", kind, mutable=True) for i in range(count))
    return tuple(replace(e, base="", element=Lane(variable, ARRAY, i, count)) for i, e in enumerate(made))


def combine(
    text: str, type: str, parts: tuple[Expr, ...], precedence: int = PRIMARY, range: Range | None = None
) -> Expr:
    """An expression over `parts`, with the union of their effects."""
    mutable, names = (frozenset().union(*sets) for sets in ((p.mutable for p in parts), (p.names for p in parts)))
    return Expr(text, type, precedence, range, any(p.reads for p in parts), mutable, names=names)


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
    if associative and _non_negative(a) and _non_negative(b):  # no partial sum exceeds the total
        right = SUM
    text = f"{a.within(left)} {operator} {b.within(right)}"
    made = combine(text, type, (a, b), precedence, range)
    scaled = a.split is None or (a.split[1] == "*" and operator != "*")
    short = operator in ("+", "-", "*") and scaled and b.is_literal and b.precedence == PRIMARY
    return replace(made, split=(a, operator, b), base=a.base if short else "")


def _non_negative(e: Expr) -> bool:
    return e.range is not None and e.range.non_negative


def unary(operator: str, a: Expr, type: str, range: Range | None = None) -> Expr:
    """`-a`, `~a`, `!a`."""
    inner = f"({a.text})" if a.text.startswith(operator) else a.within(UNARY)
    return combine(f"{operator}{inner}", type, (a,), UNARY, range)


def call(function: str, type: str, *arguments: Expr, range: Range | None = None) -> Expr:
    """`function(a, b)`."""
    return combine(f"{function}({', '.join(a.text for a in arguments)})", type, arguments, PRIMARY, range)


def cast(type: str, a: Expr, range: Range | None = None) -> Expr:
    """`(type)a`; `a` itself if it has that type."""
    if a.type == type:
        return a
    if type == "long long" and a.atom and a.text.isdigit():
        return Expr(f"{a.text}LL", type, range=a.range, atom=True)
    made = combine(f"({type}){a.within(UNARY)}", type, (a,), UNARY, range if range is not None else a.range)
    same = type == "long long" or (type == "int" and a.range is not None and a.range.fits(32))
    return replace(made, host=a.host if same else None)


def ternary(condition: Expr, a: Expr, b: Expr, type: str, range: Range | None = None) -> Expr:
    """`condition ? a : b`; operands of different types are cast, since C++ promotes a narrow
    integer and a literal to `int`."""
    if type in ("signed char", "short"):
        type = "int"
    text = f"{condition.within(OR)} ? {a.within(OR)} : {b.within(TERNARY)}"
    return combine(text, type, (condition, a, b), TERNARY, range)


# ---- names: C++ identifiers, unique in their scope and in every scope around it --------------------------------------

KEYWORDS = frozenset(
    """alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class compl
    concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default delete do
    double dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable namespace
    new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires return
    short signed sizeof static static_assert static_cast struct switch template this thread_local throw true try typedef
    typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq
    threadIdx blockIdx blockDim gridDim warpSize min max abs printf main quotient modulo tx ty tz bx by bz f16 bf16 f8E4M3FN
    f8E5M2 vec float2 float4 int2 int4 double2 uint4 half fma floordiv ceildiv floormod maximum minimum sin cos tan exp log
    sqrt pow erf ipow odd_double floor ceil round trunc rint y0 y1 yn j0 j1 jn gamma signbit isnan isinf isfinite assert
    linux unix""".split()  # noqa: SIM905
)
"""Names that no variable may have: keywords of C++ and CUDA, the emitter's own names, and functions
of the C library."""


def identifier(text: str, fallback: str = "v") -> str:
    """`text` as a C++ identifier that is not a keyword and does not begin with two underscores."""
    made = re.sub(r"\W", "_", text, flags=re.ASCII).lstrip("_") or fallback
    if made[0].isdigit():
        made = f"{fallback}{made}"
    return f"{made}_" if made in KEYWORDS else made


class NameScope:
    """The names of one block of the text. A name is unique among the open scopes; closing a scope
    frees its names."""

    def __init__(self, parent: NameScope | None = None) -> None:
        self.parent = parent
        self.taken: set[str] = set()

    def has(self, name: str) -> bool:
        return name in self.taken or (self.parent is not None and self.parent.has(name))

    def fresh(self, base: str, *, given: bool = False) -> str:
        """`base` if it is free, else `base1`, …; `v`, `s` (shared) and `r` (registers) are always
        numbered, unless `given`."""
        candidate, number = (f"{base}0", 0) if base in ("v", "s", "r") and not given else (base, 0)
        while self.has(candidate) or candidate in KEYWORDS:
            number += 1
            candidate = f"{base}_{number}" if base[-1].isdigit() else f"{base}{number}"
        self.taken.add(candidate)
        return candidate

    def loop_variable(self, *, accumulates: bool) -> str:
        """`i`, `j`, `l`, …, the first that no surrounding loop uses; `k`, `kk`, … for a loop that
        accumulates."""
        letters = ("k", "kk", "kkk") if accumulates else ("i", "j", "l", "m", "n")
        free = (n for n in letters if not self.has(n))
        return self.fresh(next(free, letters[0]))
