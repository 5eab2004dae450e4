"""Pairs of accesses, and barriers between them, as integer sets.

A *class* of a pair (x, y) is a way in which two instances can follow each other without program order between them: in the
same iteration of every loop that holds barriers and both accesses, or y in a later iteration of the n-th such loop. The
*collisions* of a class are its pairs of instances that touch one element from two threads of a block. A barrier *separates*
those pairs for which an instance of it, one that is sure to be executed, comes between in the schedule (Kelly's 2d+1
vectors: static positions and loop counters in turn).

Symbols that both instances must agree on share a name and so a dimension: this is what makes uninterpreted values work, and
keeps the sets small. Most questions about barriers are then answered without ISL.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

import islpy as isl

from .algebra import at_or_above
from .linear import Linear, Naming, Symbol, render, spell
from .model import Access, Barrier, KernelModel, Loop, Place, Step

OPERATION_LIMIT = 4_000_000
"""ISL operations per question. Beyond, the answer is "unknown", which counts as a conflict."""


class Unknown(Exception):
    """ISL gave up within its limit."""


class Solver:
    """An ISL context with a limit on operations per question."""

    def __init__(self, limit: int = OPERATION_LIMIT) -> None:
        self.context = isl.Context()
        self.limit = limit
        self.questions = 0
        self._sets: dict[str, isl.Set] = {}

    def set(self, names: Sequence[str], constraints: Sequence[str]) -> isl.Set:
        """The points that meet all constraints; sets with one text are built once.

        ISL takes constraint after constraint: ranges come first, then equations, and alternatives last, because it makes a
        piece of each, and what follows would be worked out in all of them.
        """
        ordered = dict.fromkeys(sorted(constraints, key=lambda text: (" or " in text, " = " in text)))
        text = f"{{ [{', '.join(names)}] : {' and '.join(ordered) or '1 = 1'} }}"
        if text not in self._sets:
            self._sets[text] = self._limited(lambda: isl.Set.read_from_str(self.context, text))
        return self._sets[text]

    def is_empty(self, what: isl.Set) -> bool:
        return self._limited(what.is_empty)

    def subtract(self, a: isl.Set, b: isl.Set) -> isl.Set:
        return self._limited(lambda: a.subtract(b))

    def sample(self, what: isl.Set) -> list[int] | None:
        """The coordinates of a point, the lexicographically least where there is one."""
        try:
            point = self._limited(lambda: (what.lexmin() if what.is_bounded() else what).sample_point())
        except Unknown:  # ISL's lexmin does not manage every set that it can sample
            try:
                point = self._limited(what.sample_point)
            except Unknown:
                return None
        if point.is_void():
            return None
        count = point.get_space().dim(isl.dim_type.set)
        return [point.get_coordinate_val(isl.dim_type.set, d).to_python() for d in range(count)]

    def _limited(self, ask):  # type: ignore[no-untyped-def]
        self.questions += 1
        self.context.reset_operations()
        self.context.set_max_operations(self.limit)
        try:
            return ask()
        except isl.Error as error:
            # mostly the limit (of which the parser speaks as a syntax error), seldom a set that ISL does not manage
            raise Unknown from error
        finally:
            self.context.set_max_operations(0)


def meeting(a: Place, b: Place) -> tuple[tuple[Loop, ...], int]:
    """The loops around both places, and which comes first in one iteration of them all (-1: a, 1: b, 0: the same op)."""
    loops: list[Loop] = []
    for s, t in zip(a.steps, b.steps, strict=False):
        if s.position != t.position:
            return tuple(loops), -1 if s.position < t.position else 1
        if s.loop is not None:
            loops.append(s.loop)
        if s.region != t.region:
            return tuple(loops), -1 if s.region < t.region else 1
    depth = min(len(a.steps), len(b.steps))
    p, q = _position(a, depth), _position(b, depth)
    return tuple(loops), (p > q) - (p < q)


def _position(place: Place, depth: int) -> int:
    return place.steps[depth].position if depth < len(place.steps) else place.position


@dataclass(eq=False)
class PairClass:
    """One way in which instances of `first` and `second` can follow each other.

    Args:
        equal: in how many of the `shared` loops (those around both that hold barriers) the iterations are the same.
        carried: whether `second` is in a later iteration of the next of them; else all are equal.
        unknown: ISL gave up on the collisions.
        unsure: a barrier that may separate more of them than it is known to.
    """

    model: KernelModel
    first: Access
    second: Access
    shared: tuple[Loop, ...]
    equal: int
    carried: bool
    solver: Solver
    same_block: bool = True
    unknown: bool = False
    unsure: Barrier | None = None
    names: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        fixed = {loop.number for loop in self.shared[: self.equal]}

        def shares(symbol: Symbol) -> bool:
            on = symbol.depends
            return not on.thread and on.loops <= fixed and (self.same_block or not on.block)

        self.shared_names = Naming("")
        self.x = Naming("x_", self.shared_names, shares)
        self.y = Naming("y_", self.shared_names, shares)

    @property
    def loop(self) -> Loop | None:
        """The loop that carries the conflict."""
        return self.shared[self.equal] if self.carried else None

    @cached_property
    def collisions(self) -> isl.Set:
        """Pairs of instances of two threads that touch one element."""
        parts: list[str] = []
        for access, name in ((self.first, self.x), (self.second, self.y)):
            parts += [spell(g, name) for g in (*access.place.guards, access.when, *self.model.facts)]
            for loop in access.place.loops:
                name(loop.counter)
        one_buffer = self.first.buffer is self.second.buffer
        if one_buffer and self.first.coordinates is not None and self.second.coordinates is not None:
            for p, q in zip(self.first.coordinates, self.second.coordinates, strict=True):
                parts.append(f"{render(p, self.x)} = {render(q, self.y)}")
        if self.loop is not None:
            parts.append(f"{self.x(self.loop.counter)} < {self.y(self.loop.counter)}")
        parts.append(self._different_threads() if self.same_block else self._different_blocks())
        self._name_what_barriers_need()
        parts += self._links()
        for naming in (self.x, self.y, self.shared_names):
            parts += naming.facts()
        self.names = [n for naming in (self.shared_names, self.x, self.y) for n in naming.names.values()]
        return self.solver.set(self.names, parts)

    def _different_threads(self) -> str:
        ids = self.model.values.thread_ids()
        if self.model.shape.threads is not None:
            linear = self.model.shape.linear_id(ids)
            x, y = render(linear, self.x), render(linear, self.y)
            # a pair of instances of one access is met twice, once in each order
            return f"{x} < {y}" if self.first is self.second and not self.carried else f"({x} < {y} or {x} > {y})"
        return "(" + " or ".join(f"{render(i, self.x)} != {render(i, self.y)}" for i in ids) + ")"

    def _different_blocks(self) -> str:
        ids = [i for i in self.model.values.block_ids() if not i.is_constant]
        for i in (*ids, *self.model.values.thread_ids()):
            self.x.mention(i)
            self.y.mention(i)
        sides = [f"{render(i, self.x)} {sign} {render(i, self.y)}" for i in ids for sign in ("<", ">")]
        if self.first is self.second:
            sides = sides[::2]
        return "(" + " or ".join(sides) + ")" if sides else "1 = 0"

    def _links(self) -> list[str]:
        """What uninterpreted values of both instances tell of their processors."""
        linked = [s for naming in (self.x, self.y, self.shared_names) for s in naming.names if s.link is not None]
        out: list[str] = []
        for p, q in product(dict.fromkeys(linked), repeat=2):
            assert p.link is not None and q.link is not None
            if p.link != q.link or self.x.shares(p.link.processor):
                continue
            processor, value = (self.x(p.link.processor), self.y(p.link.processor)), (self.x(p), self.y(q))
            if p.link.chunk is None:
                out.append(f"({value[0]} < {value[1]} or {value[0]} > {value[1]} or {processor[0]} = {processor[1]})")
            elif p is q:
                chunk = render(p.link.chunk, self.x)
                apart = [
                    f"({processor[i]} < {processor[j]} and {value[i]} + {chunk} <= {value[j]})"
                    for i, j in ((0, 1), (1, 0))
                ]
                if not at_or_above(p.link.chunk, 0):
                    apart.append(f"{chunk} < 0")  # then it says nothing
                out.append(f"({processor[0]} = {processor[1]} and {value[0]} = {value[1]} or {' or '.join(apart)})")
        return out

    def value(self, form: Linear | None, naming: Naming, point: dict[str, int]) -> int | None:
        """The form's value at a point of `collisions`; None if the point does not fix it."""
        if form is None:
            return None
        total = form.constant
        for term, c in form.terms.items():
            if isinstance(term, Symbol):
                value = point.get(naming(term))
            else:
                inner = self.value(term.numerator, naming, point)
                value = None if inner is None else inner // term.divisor
            if value is None:
                return None
            total += c * value
        return total

    # ---- barriers between ----------------------------------------------------------------------------------------------

    def separated_by(self, barrier: Barrier) -> isl.Set | bool:
        """Those collisions that `barrier` separates: all (True), none (False), or a set over the same dimensions."""
        if self.first.buffer.space not in barrier.spaces:
            return False
        pieces: list[isl.Set] = []
        for piece in self._between(barrier):
            if isinstance(piece, bool):
                return True
            pieces.append(piece)
        if not pieces:
            return False
        out = pieces[0]
        for piece in pieces[1:]:
            out = out.union(piece)
        return out

    def try_separated_by(self, barrier: Barrier) -> isl.Set | bool:
        """As `separated_by`; a barrier of which it is not known what it separates is taken to separate nothing."""
        try:
            return self.separated_by(barrier)
        except Unknown:
            return False

    def may_separate(self, barrier: Barrier) -> bool:
        """Whether an instance of the barrier may come between, whatever the conditions around it."""
        above, before = meeting(self.first.place, barrier.place)
        below, after = meeting(barrier.place, self.second.place)
        in_time = (before < 0 or len(above) > self.equal) and (after < 0 or len(below) > self.equal)
        return in_time and self.first.buffer.space in barrier.spaces

    def _between(self, barrier: Barrier) -> Iterator[isl.Set | bool]:
        """The pieces of `first < barrier < second` that are not empty, one for each pair of levels at which they part."""
        above, before = meeting(self.first.place, barrier.place)
        below, after = meeting(barrier.place, self.second.place)
        static = len(barrier.place.loops) + 1
        # those that part by their positions first: most of them need no ISL
        for i in (*((static,) if before < 0 else ()), *range(len(above))):
            for j in (*((static,) if after < 0 else ()), *range(len(below))):
                if i >= self.equal and j >= self.equal:
                    piece = self._piece(barrier, (i, len(above)), (j, len(below)))
                    if piece is not False:
                        yield piece

    def _piece(self, barrier: Barrier, up: tuple[int, int], down: tuple[int, int]) -> isl.Set | bool:
        """`first` and the barrier part at level `up[0]` of the `up[1]` loops around both, it and `second` at `down`'s."""
        loops = barrier.place.loops
        as_x, as_y = min(up), min(down)  # so many of the barrier's counters are those of x, of y
        x, y = self.x, self.y
        naming = _BarrierNaming(x, y, loops[:as_x], loops[:as_y])
        constraints = [f"{x(lp.counter)} = {y(lp.counter)}" for lp in loops[self.equal : min(as_x, as_y)]]
        for level, other, earlier in ((up[0], x, True), (down[0], y, False)):
            if level < len(loops):
                counter = loops[level].counter
                pair = (other(counter), naming(counter)) if earlier else (naming(counter), other(counter))
                if not (self.carried and level == self.equal and pair == (x(counter), y(counter))):
                    constraints.append(f"{pair[0]} < {pair[1]}")
        constraints += self._sure(barrier, naming, as_x, as_y)
        constraints += naming.facts()
        if naming.unsure:
            return False
        if not constraints:
            return True
        own = list(naming.names.values())
        made = self.solver.set([*self.names, *own], constraints)
        return made.project_out(isl.dim_type.set, len(self.names), len(own)) if own else made

    def _sure(self, barrier: Barrier, naming: Naming, as_x: int, as_y: int) -> list[str]:
        """What makes this instance of the barrier be executed, less what x or y being there already says."""
        implied: set[Step] = set()
        for access, same in ((self.first, as_x), (self.second, as_y)):
            depth = 0
            for mine, theirs in zip(barrier.place.steps, access.place.steps, strict=False):
                depth += mine.loop is not None
                if mine is not theirs or depth > same:
                    break
                implied.add(mine)
        return [spell(g, naming) for s in barrier.place.steps if s not in implied for g in s.guards]

    def _name_what_barriers_need(self) -> None:
        """Values that decide whether a barrier is executed are dimensions of the collisions: it must be for all of them."""
        for barrier in self.model.barriers:
            for guard in barrier.place.guards:
                for symbol in guard.symbols():
                    if symbol.kind not in ("loop", "lane") and not symbol.depends.thread:
                        self.x(symbol)
                        self.y(symbol)


class _BarrierNaming(Naming):
    """How a barrier instance calls its symbols: those whose value it shares with x or y have theirs.

    An uninterpreted value that neither fixes may be anything: the barrier is then not sure to be executed (`unsure`).
    """

    def __init__(self, x: Naming, y: Naming, with_x: Sequence[Loop], with_y: Sequence[Loop]) -> None:
        super().__init__("s_")
        self.sides = ((x, {lp.number for lp in with_x}), (y, {lp.number for lp in with_y}))
        self.unsure = False

    def __call__(self, symbol: Symbol) -> str:
        on = symbol.depends
        if symbol not in self.names and not on.thread:
            for naming, loops in self.sides:
                if on.loops <= loops:
                    return naming(symbol)
        if symbol.kind == "opaque":
            self.unsure = True
        return super().__call__(symbol)
