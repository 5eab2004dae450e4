"""Names in the emitted text: C++ identifiers, unique in their scope and in every scope around it."""

from __future__ import annotations

import re

KEYWORDS = frozenset(
    """alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class compl
    concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default delete do
    double dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable namespace
    new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires return
    short signed sizeof static static_assert static_cast struct switch template this thread_local throw true try typedef
    typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq
    threadIdx blockIdx blockDim gridDim warpSize min max abs printf main tx ty tz bx by bz f16 bf16 vec
    float2 float4 int2 int4 double2 uint4 half fma floordiv ceildiv floormod maximum minimum sin cos tan exp log sqrt pow
    erf floor ceil round trunc rint y0 y1 yn j0 j1 jn gamma signbit isnan isinf isfinite assert linux unix""".split()  # noqa: SIM905
)
"""What no variable may be called: C++'s words, CUDA's, the emitter's own, and functions of the C library."""


def identifier(text: str, fallback: str = "v") -> str:
    """`text` as a C++ identifier that is no keyword and does not begin with two underscores."""
    made = re.sub(r"\W", "_", text, flags=re.ASCII).lstrip("_") or fallback
    if made[0].isdigit():
        made = f"{fallback}{made}"
    return f"{made}_" if made in KEYWORDS else made


class NameScope:
    """The names of one block of the text. A name is unique among the open scopes; closed ones give theirs back."""

    def __init__(self, parent: NameScope | None = None) -> None:
        self.parent = parent
        self.taken: set[str] = set()

    def has(self, name: str) -> bool:
        return name in self.taken or (self.parent is not None and self.parent.has(name))

    def fresh(self, base: str) -> str:
        """`base` if it is free, else `base1`, `base2`, …; `v`, `s` (shared) and `r` (registers) are always numbered."""
        candidate, number = (f"{base}0", 0) if base in ("v", "s", "r") else (base, 0)
        while self.has(candidate) or candidate in KEYWORDS:
            number += 1
            candidate = f"{base}_{number}" if base[-1].isdigit() else f"{base}{number}"
        self.taken.add(candidate)
        return candidate

    def loop_variable(self, *, accumulates: bool = False) -> str:
        """`i`, `j`, `l`, … by what the loops around have taken; `k`, `kk`, … for a loop that accumulates."""
        letters = ("k", "kk", "kkk") if accumulates else ("i", "j", "l", "m", "n")
        free = (n for n in letters if not self.has(n))
        return self.fresh(next(free, letters[0]))
