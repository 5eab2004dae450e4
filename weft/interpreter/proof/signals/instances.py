"""Executions of ops as ISL sets, and the orders between them as relations: (thread, iterations) →
(thread, iterations).

A thread is one of all threads of a cluster: its block is one of its ids. Values that are uniform
over the cluster (sizes, the ids of the cluster) are parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar, cast

import islpy as isl

from ....dsl.records import record
from ...hardware.limits import WARP
from ...indices.linear import FALSE, TRUE, Formula, Linear, Symbol, both, either, equal, less
from ..kernels.model import KernelModel
from ..kernels.places import Place
from ..races.phases import meeting
from ..solver import Naming, Solver, described

Formulas = Callable[[Naming, Naming], Iterable[Formula]]
"""Conditions between two instances, each with its own naming of symbols."""
IN, OUT, PARAM, SET = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.param, isl.dim_type.set


class VagueError(Exception):
    """It is unknown when an op is executed, or to which phase it belongs.

    Args:
        op: the op.
        why: the reason.
    """

    def __init__(self, op: str, why: str = "") -> None:
        super().__init__(op)
        self.op, self.why = op, why


@record(compared=True)
class Point:
    """An execution point: a place, under a condition.

    Args:
        op: the op.
        sure: it must be known exactly when the op is executed. This is not required of accesses: it
            does no harm to assume that they are always executed.
    """

    place: Place
    op: str
    when: Formula = TRUE
    sure: bool = True


T = TypeVar("T")
Relation = isl.Map | isl.Set


class Answers:
    """A memo of ISL's answers about relations of one context: a repeated question takes neither
    time nor budget.

    Relations are compared by their text, and live as long as the memo. A question without an answer
    (`Unknown`) is asked again.
    """

    def __init__(self) -> None:
        self._alike: dict[tuple[type, int], list[Relation]] = {}
        self._kept: set[int] = set()
        self._found: dict[tuple[object, ...], object] = {}

    def one(self, what: T) -> T:
        """The first relation with the same text; it represents all of them."""
        if not isinstance(what, Relation) or id(what) in self._kept:
            return what
        alike = self._alike.setdefault((type(what), hash(what)), [])
        for other in cast(list[Any], alike):
            if other.plain_is_equal(what):
                return other
        alike.append(what)
        self._kept.add(id(what))
        return what

    def of(self, question: Callable[..., T], *relations: Relation, ask: Callable[[Callable[[], T]], T]) -> T:
        """The answer to a question about relations; `ask` computes it the first time. Raises
        Unknown."""
        known = [self.one(each) for each in relations]
        key = (question, *map(id, known))
        if key not in self._found:
            self._found[key] = self.one(ask(lambda: question(*known)))
        return cast(T, self._found[key])


class Instances:
    """The instances of a kernel's ops.

    Args:
        model: the kernel.
        solver: the solver with its budget.

    Attributes:
        answers: the memo of ISL's answers about their relations.
        known: facts of the model that do not depend on its barriers, by key; each is computed once.
    """

    def __init__(self, model: KernelModel, solver: Solver) -> None:
        self.model, self.solver = model, solver
        ids = (model.values.rank, *model.values.thread_ids())
        self.threads = tuple(dict.fromkeys(symbol for form in ids for symbol in form.symbols()))
        self.answers = Answers()
        self.known: dict[tuple[object, ...], Any] = {}

    def dimensions(self, place: Place) -> list[Symbol]:
        """The dimensions that distinguish the instances of an op."""
        return [*self.threads, *(loop.counter for loop in place.loops)]

    # ---- sets and relations ------------------------------------------------------------------------------------------

    def relation(self, a: Point, b: Point | Sequence[Symbol], formulas: Formulas) -> isl.Map:
        """The pairs of instances, or of instances and numbers, with these conditions. Raises
        VagueError, Unknown."""
        shared = Naming("")
        x, y = Naming("x_", shared, same_for_all), Naming("y_", shared, same_for_all)
        parts = self._there(a, x) + (self._there(b, y) if isinstance(b, Point) else []) + list(formulas(x, y))
        ends = self.dimensions(b.place) if isinstance(b, Point) else b
        sides = [x(s) for s in self.dimensions(a.place)], [y(s) for s in ends]
        found = self.as_map((shared, x, y), parts, sides)
        for naming, point in ((x, a), (y, b)):
            if isinstance(point, Point) and point.sure and any(symbol.kind == "opaque" for symbol in naming.names):
                raise VagueError(point.op)
        return found

    def as_map(
        self, namings: tuple[Naming, Naming, Naming], parts: list[Formula], sides: tuple[list[Symbol], list[Symbol]]
    ) -> isl.Map:
        """The points that satisfy all formulas, as pairs of the two sides."""
        shared = namings[0]
        names, parts = described(namings, parts)
        parameters = list(shared.names.values())
        known = {*parameters, *sides[0], *sides[1]}
        order = [*parameters, *sides[0], *sides[1], *(name for name in names if name not in known)]
        found = self.solver.project(self.solver.set(order, parts, order), len(known))
        found = found.move_dims(PARAM, 0, SET, 0, len(parameters))
        for number, name in enumerate(parameters):
            found = found.set_dim_name(PARAM, number, name.name)
        return isl.Map.from_range(found).move_dims(IN, 0, OUT, 0, len(sides[0]))

    def of(self, a: Point, formulas: Callable[[Naming], Iterable[Formula]] = lambda _: ()) -> isl.Set:
        """The instances that satisfy the condition."""
        return self.relation(a, (), lambda x, y: formulas(x)).domain()

    def _there(self, a: Point, naming: Naming) -> list[Formula]:
        return [naming.formula(g) for g in (*a.place.guards, a.when, *self.model.facts)]

    # ---- orders ------------------------------------------------------------------------------------------------------

    def same_thread(self, x: Naming, y: Naming) -> list[Formula]:
        """The condition that two instances are of one thread."""
        return [equal(_of(x, s), _of(y, s)) for s in self.threads]

    def same_block(self, x: Naming, y: Naming) -> list[Formula]:
        """The condition that two instances are of one block."""
        rank = self.model.values.rank
        return [equal(x.form(rank), y.form(rank))] if self.model.shape.blocks > 1 else []

    def same_group(self, x: Naming, y: Naming, threads: int) -> list[Formula]:
        """The condition that two instances are of one group of `threads` consecutive threads."""
        number = self.model.group_of(threads)
        assert number is not None
        return [*self.same_block(x, y), equal(x.form(number), y.form(number))]

    def same_iterations(self, place: Place, x: Naming, y: Naming) -> list[Formula]:
        """The condition that two instances are in one iteration of all loops around the place."""
        return [equal(_of(x, loop.counter), _of(y, loop.counter)) for loop in place.loops]

    def earlier(self, a: Place, b: Place, x: Naming, y: Naming, *, lanes: bool = False) -> Formula:
        """The condition that the instance of `a` comes before that of `b` in one thread; with
        `lanes`, in the lanes of a warp, where the branches of an `if` have no order between
        them."""
        loops, order = meeting(a, b)
        order = 0 if lanes and _in_branches(a, b) else order
        counters = [(_of(x, loop.counter), _of(y, loop.counter)) for loop in loops]
        ways = [
            both(*(equal(p, q) for p, q in counters[:level]), less(*counters[level])) for level in range(len(counters))
        ]
        if order < 0:
            ways.append(both(*(equal(p, q) for p, q in counters)))
        return either(*ways) if ways else FALSE

    def before(self, a: Point, b: Point) -> isl.Map:
        """The program order: pairs of instances of one thread."""

        def formulas(x: Naming, y: Naming) -> list[Formula]:
            return [*self.same_thread(x, y), self.earlier(a.place, b.place, x, y)]

        return self.once(("before", a, b), lambda: self.relation(a, b, formulas))

    def held_up(self, a: Point, b: Point) -> isl.Map:
        """The instances of `a` that must be complete before `b` is reached: earlier ones of its
        thread, and of the other lanes of its warp, since the compiler may let diverged lanes
        reconverge after a branch, and wait for each other there."""
        if self.model.warp is None:
            return self.before(a, b)

        def formulas(x: Naming, y: Naming) -> list[Formula]:
            return [*self.same_group(x, y, WARP), self.earlier(a.place, b.place, x, y, lanes=True)]

        return self.once(("held up", a, b), lambda: self.relation(a, b, formulas))

    # ---- ISL, under the solver's budget ------------------------------------------------------------------------------

    def then(self, a: isl.Map, b: isl.Map) -> isl.Map:
        """The composition of two relations."""
        return self.answers.of(_then, a, b, ask=self.solver.ask)

    def union(self, a: isl.Map | None, b: isl.Map) -> isl.Map:
        """The union."""
        return b if a is None else self.answers.of(_union, a, b, ask=self.solver.ask)

    def without(self, a: isl.Map, b: isl.Map) -> isl.Map:
        """The difference."""
        return self.answers.of(isl.Map.subtract, a, b, ask=self.solver.ask)

    def common(self, a: isl.Map, b: isl.Map) -> isl.Map:
        """The intersection."""
        return self.answers.of(isl.Map.intersect, a, b, ask=self.solver.ask)

    def is_empty(self, a: isl.Map | isl.Set) -> bool:
        """Whether the relation is empty."""
        return a.plain_is_empty() or self.answers.of(_is_empty, a, ask=self.solver.ask)

    def is_within(self, a: isl.Map, b: isl.Map) -> bool:
        """Whether `b` is a subset of `a`."""
        return self.answers.of(isl.Map.is_subset, a, b, ask=self.solver.ask)

    def once(self, what: tuple[object, ...], find: Callable[[], T]) -> T:
        """A fact that depends on the model alone, computed once. If the solver found no answer, it
        is computed again."""
        if what not in self.known:
            self.known[what] = self.answers.one(find())
        return self.known[what]

    # ---- witnesses ---------------------------------------------------------------------------------------------------

    def sample(self, found: isl.Set, place: Place) -> dict[Symbol, int] | None:
        """The values of the symbols of one of the instances."""
        known = self.sampled(found, place)
        return None if known is None else known[0]

    def sampled(self, found: isl.Set, place: Place) -> tuple[dict[Symbol, int], list[int]] | None:
        """One of the instances, with the values of the set's other dimensions."""
        count = found.dim(PARAM)
        names = [found.get_dim_name(PARAM, n) for n in range(count)]
        values = self.solver.sample(found.move_dims(SET, 0, PARAM, 0, count))
        if values is None:
            return None
        called = {symbol.name: symbol for symbol in self._parameters()}
        out = {called[name]: value for name, value in zip(names, values[:count], strict=True) if name in called}
        own = self.dimensions(place)
        return out | dict(zip(own, values[count:], strict=False)), values[count + len(own) :]

    def _parameters(self) -> Iterable[Symbol]:
        places = [
            thing.place
            for thing in (*self.model.accesses, *self.model.signals, *self.model.barriers, *self.model.warp_wide)
        ]
        forms: list[Linear | Formula] = [g for place in places for g in place.guards]
        forms += [signal.index for signal in self.model.signals]
        forms += [form for access in self.model.accesses for form in access.coordinates or ()]
        forms += self.model.values.block_ids()
        return (symbol for form in forms for symbol in form.symbols() if same_for_all(symbol))

    def told(self, a: Point, point: Mapping[Symbol, int]) -> str:
        """The instance as text: `thread (128, 0, 0), iteration 4: op at …`; in a cluster, the
        number of the block comes first."""
        x, y, z = (form.value(point) or 0 for form in self.model.values.thread_ids())
        numbers = [(loop.variable or Linear.of(loop.counter)).value(point) for loop in a.place.loops]
        said = ", ".join("?" if n is None else str(n) for n in numbers)
        return f"{self.block_of(point)}thread ({x}, {y}, {z}){f', iteration {said}' if numbers else ''}: {a.op}"

    def block_of(self, point: Mapping[Symbol, int]) -> str:
        """`block 1 of the cluster, `; empty for a cluster of one block."""
        if self.model.shape.blocks == 1:
            return ""
        return f"block {self.model.values.rank.value(point) or 0} of the cluster, "


def _then(a: isl.Map, b: isl.Map) -> isl.Map:
    return a.apply_range(b).coalesce()


def _union(a: isl.Map, b: isl.Map) -> isl.Map:
    return a.union(b).coalesce()


def _is_empty(a: Relation) -> bool:
    return a.is_empty()


def same_for_all(symbol: Symbol) -> bool:
    """Whether the symbol is uniform over the threads of a cluster, in all iterations."""
    return not symbol.depends.thread and not symbol.depends.loops and not symbol.depends.rank


def _in_branches(a: Place, b: Place) -> bool:
    """Whether two places are in two regions of one op."""
    pairs = zip(a.steps, b.steps, strict=False)
    s, t = next(((s, t) for s, t in pairs if (s.position, s.region) != (t.position, t.region)), (None, None))
    return s is not None and t is not None and s.position == t.position


def _of(naming: Naming, symbol: Symbol) -> Linear:
    return Linear.of(naming(symbol))
