"""The threads of a block, one by one: indices and conditions of a kernel, evaluated for each of
them.

A shared reduction has a block of a known size, of at most 1024 threads: so numbers are computed for
all of them at once, as lists, and sets of threads are the bits of an integer. This is exact for any
shuffle or index.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...hardware.limits import WARP
from ...indices.algebra import LaunchShape
from ...indices.linear import THREAD, Formula, Linear, Symbol
from ...indices.values import Values
from ...ir.mlir import ir

Threads = int
"""A set of threads: bit t for thread t, by its number in the block."""


class Unfollowed(Exception):
    """The reason why a thread's value could not be followed."""


class Blurred(Unfollowed):
    """The accessed element is unknown because all iterations of a loop are followed at once."""


class Block:
    """The threads of a block of a known shape.

    Attributes:
        values: the kernel's indices as forms.
        at: values of loop counters, for loops followed iteration by iteration.
    """

    def __init__(self, shape: LaunchShape) -> None:
        width, height, depth = (size or 1 for size in shape.block)
        self.ids = [(x, y, z) for z in range(depth) for y in range(height) for x in range(width)]
        self.count = len(self.ids)
        self.every: Threads = (1 << self.count) - 1
        self.values = Values(shape, lambda _: THREAD)
        self.at: dict[Symbol, int] = {}
        self._own: dict[Symbol, list[int]] = {}
        for axis, form in enumerate(self.values.thread_ids()):
            self._own |= {symbol: [own[axis] for own in self.ids] for symbol in form.symbols()}
        self._known: dict[Linear, list[int]] = {}

    def index(self, value: ir.Value) -> list[int] | None:
        """The value of an integer for each thread; None where unknown."""
        return self.numbers(self.values.linear(value))

    def numbers(self, form: Linear) -> list[int] | None:
        """The value of a form for each thread; None where unknown."""
        if form.is_constant:
            return [form.constant] * self.count
        if form in self._known:
            return self._known[form]
        out, always = [form.constant] * self.count, True
        for term, factor in form.terms.items():
            if isinstance(term, Symbol):
                always = always and term in self._own
                of_all = self.at.get(term)
                found = self._own.get(term) if of_all is None else [of_all] * self.count
            else:
                found = self.numbers(term.numerator)
                always = always and term.numerator in self._known
                found = None if found is None else [number // term.divisor for number in found]
            if found is None:
                return None
            out = [a + factor * b for a, b in zip(out, found, strict=True)]
        if always:
            self._known[form] = out
        return out

    def holds(self, formula: Formula) -> tuple[Threads, Threads]:
        """The threads for which a formula may hold, and those for which it does."""
        if formula.form is None:
            parts = [self.holds(part) for part in formula.parts]
            may, must = (self.every, self.every) if formula.kind == "and" else (0, 0)
            for maybe, surely in parts:
                may, must = (may & maybe, must & surely) if formula.kind == "and" else (may | maybe, must | surely)
            return may, must
        found = self.numbers(formula.form)
        if found is None:
            return self.every, 0
        held = self.those(number >= 0 if formula.kind == "ge" else number == 0 for number in found)
        return held, held

    @staticmethod
    def those(held: Iterable[bool]) -> Threads:
        """The set of the threads with a true entry; entries are in the order of thread numbers."""
        return int("".join("1" if each else "0" for each in held)[::-1] or "0", 2)

    def members(self, threads: Threads) -> list[int]:
        """The numbers of the threads of a set."""
        return [number for number, bit in enumerate(reversed(f"{threads:b}")) if bit == "1"]

    def source(self, mode: str, distance: int, width: int) -> list[int | None]:
        """The source thread of a shuffle for each thread; None if it is outside its group of lanes.

        Args:
            mode: `xor`, `up`, `down` or `idx`.
            width: of groups of lanes, a power of two of at most 32.
        """
        found: list[int | None] = []
        for number in range(self.count):
            lane = number % WARP
            first = lane // width * width
            other = {"xor": lane ^ distance, "up": lane - distance, "down": lane + distance, "idx": first + distance}[
                mode
            ]
            there = number - lane + other
            found.append(there if first <= other < first + width and there < self.count else None)
        return found

    def partners(self, stated: ir.Attribute) -> list[Threads]:
        """For each thread, the threads that contribute to its result, by an integer set `(x, y,
        z)[px, py, pz]`."""
        mine = self.values.thread_ids()
        its = [Linear.of(self.values.fresh("loop")) if form.terms else form for form in mine]
        other = {symbol: one for form, one in zip(mine, its, strict=True) for symbol in form.symbols()}
        back = {symbol: form for one, form in zip(its, mine, strict=True) for symbol in one.symbols()}
        formula = self.values.integer_set(stated, [*mine, *its])
        out = [self.every] * self.count
        for part in formula.parts if formula.kind == "and" else (formula,):
            form = part.form
            if form is None or part.kind != "eq":
                raise Unfollowed("the participants are stated by more than equalities")
            own, rest = Linear.of(form.constant), Linear.of(0)
            for term, factor in form.terms.items():
                symbols = {term} if isinstance(term, Symbol) else set(term.numerator.symbols())
                if symbols <= other.keys():
                    own = own + Linear({term: factor}, 0)
                elif symbols <= back.keys():
                    rest = rest + Linear({term: factor}, 0).replaced(lambda symbol: back[symbol])
                else:
                    raise Unfollowed(
                        "the participants are stated by a term of both a participant's ids and the receiving thread's"
                    )
            keys, asked = self.numbers(own), self.numbers(rest)
            if keys is None or asked is None:
                raise Unfollowed("the participants are not stated by ids of threads alone")
            alike: dict[int, Threads] = {}
            for number, key in enumerate(keys):
                alike[key] = alike.get(key, 0) | 1 << number
            out = [row & alike.get(-key, 0) for row, key in zip(out, asked, strict=True)]
        return out
