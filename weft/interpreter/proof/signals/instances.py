"""Executions of ops as sets of ISL, and orders of them as relations: (thread, iterations) → (thread, iterations).

A thread is one of all those of a cluster: which block it is of is one of its ids. What is the same for all of them
    (sizes, the
ids of the cluster) are parameters.
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

Said = Callable[[Naming, Naming], Iterable[Formula]]
"""What holds between two instances, each of which calls its symbols in its own way."""
IN, OUT, PARAM, SET = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.param, isl.dim_type.set


class VagueError(Exception):
    """It is not known of an op when it is executed, or of which phase it is.

    Args:
        op: what it is.
        why: what is the matter with it.
    """

    def __init__(self, op: str, why: str = "") -> None:
        super().__init__(op)
        self.op, self.why = op, why


@record(compared=True)
class Point:
    """Where something happens: at a place, under a condition.

    Args:
        op: what it is.
        sure: it has to be known when it happens. Of accesses that need not be: whatever executes them has the order of
            its thread.
    """

    place: Place
    op: str
    when: Formula = TRUE
    sure: bool = True


T = TypeVar("T")
Relation = isl.Map | isl.Set


class Answers:
    """What ISL has answered about relations of one context: a question that is repeated costs nothing, of the budget
    neither.

    Relations are compared as they are written, and kept as long as this is. What had no answer (`Unknown`) is asked
    again.
    """

    def __init__(self) -> None:
        self._alike: dict[tuple[type, int], list[Relation]] = {}
        self._kept: set[int] = set()
        self._found: dict[tuple[object, ...], object] = {}

    def one(self, what: T) -> T:
        """The first that was written as this one is; it is taken for all of them."""
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
        """The answer to a question about relations, which `ask` asks where it is a new one. Raises Unknown."""
        known = [self.one(each) for each in relations]
        key = (question, *map(id, known))
        if key not in self._found:
            self._found[key] = self.one(ask(lambda: question(*known)))
        return cast(T, self._found[key])


class Instances:
    """The instances of a kernel's ops.

    Args:
        model: the kernel.
        solver: who is asked.

    Attributes:
        answers: what was asked of their relations.
        known: what is found once of a model, whatever barriers it has, by what it is.
    """

    def __init__(self, model: KernelModel, solver: Solver) -> None:
        self.model, self.solver = model, solver
        ids = (model.values.rank, *model.values.thread_ids())
        self.threads = tuple(dict.fromkeys(symbol for form in ids for symbol in form.symbols()))
        self.answers = Answers()
        self.known: dict[tuple[object, ...], Any] = {}

    def dimensions(self, place: Place) -> list[Symbol]:
        """What tells the instances of an op apart."""
        return [*self.threads, *(loop.counter for loop in place.loops)]

    # ---- sets and relations ------------------------------------------------------------------------------------------

    def relation(self, a: Point, b: Point | Sequence[Symbol], said: Said) -> isl.Map:
        """The pairs of instances between which that holds; or of instances and numbers. Raises VagueError, Unknown."""
        shared = Naming("")
        x, y = Naming("x_", shared, same_for_all), Naming("y_", shared, same_for_all)
        parts = self._there(a, x) + (self._there(b, y) if isinstance(b, Point) else []) + list(said(x, y))
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
        """The points that meet all formulas, as pairs of the two sides."""
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

    def of(self, a: Point, said: Callable[[Naming], Iterable[Formula]] = lambda _: ()) -> isl.Set:
        """The instances of which that holds."""
        return self.relation(a, (), lambda x, y: said(x)).domain()

    def _there(self, a: Point, naming: Naming) -> list[Formula]:
        return [naming.formula(g) for g in (*a.place.guards, a.when, *self.model.facts)]

    # ---- orders ------------------------------------------------------------------------------------------------------

    def same_thread(self, x: Naming, y: Naming) -> list[Formula]:
        """The two are of one thread."""
        return [equal(_of(x, s), _of(y, s)) for s in self.threads]

    def same_block(self, x: Naming, y: Naming) -> list[Formula]:
        """The two are of one block."""
        rank = self.model.values.rank
        return [equal(x.form(rank), y.form(rank))] if self.model.shape.blocks > 1 else []

    def same_group(self, x: Naming, y: Naming, threads: int) -> list[Formula]:
        """The two are of one group of so many threads of a block in a row."""
        number = self.model.group_of(threads)
        assert number is not None
        return [*self.same_block(x, y), equal(x.form(number), y.form(number))]

    def same_iterations(self, place: Place, x: Naming, y: Naming) -> list[Formula]:
        """All loops around the place are in the same iteration."""
        return [equal(_of(x, loop.counter), _of(y, loop.counter)) for loop in place.loops]

    def earlier(self, a: Place, b: Place, x: Naming, y: Naming, *, lanes: bool = False) -> Formula:
        """In one thread, the instance of `a` comes first. `lanes`: or in a warp, where nothing orders the branches of
        an `if`."""
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
        """The order of the program."""

        def said(x: Naming, y: Naming) -> list[Formula]:
            return [*self.same_thread(x, y), self.earlier(a.place, b.place, x, y)]

        return self.once(("before", a, b), lambda: self.relation(a, b, said))

    def held_up(self, a: Point, b: Point) -> isl.Map:
        """What must be over for `b` to be reached: what its thread does before, and what the other lanes of its warp
        do. They go on together behind what divides them: where lanes meet again is the compiler's choice, whatever else
            they could do."""
        if self.model.warp is None:
            return self.before(a, b)

        def said(x: Naming, y: Naming) -> list[Formula]:
            return [*self.same_group(x, y, WARP), self.earlier(a.place, b.place, x, y, lanes=True)]

        return self.once(("held up", a, b), lambda: self.relation(a, b, said))

    # ---- ISL, under the solver's budget ------------------------------------------------------------------------------

    def then(self, a: isl.Map, b: isl.Map) -> isl.Map:
        """One relation behind the other."""
        return self.answers.of(_then, a, b, ask=self.solver.ask)

    def union(self, a: isl.Map | None, b: isl.Map) -> isl.Map:
        """Either of them."""
        return b if a is None else self.answers.of(_union, a, b, ask=self.solver.ask)

    def without(self, a: isl.Map, b: isl.Map) -> isl.Map:
        """What the second does not hold of."""
        return self.answers.of(isl.Map.subtract, a, b, ask=self.solver.ask)

    def common(self, a: isl.Map, b: isl.Map) -> isl.Map:
        """Where both hold."""
        return self.answers.of(isl.Map.intersect, a, b, ask=self.solver.ask)

    def is_empty(self, a: isl.Map | isl.Set) -> bool:
        """Whether there is none."""
        return a.plain_is_empty() or self.answers.of(_is_empty, a, ask=self.solver.ask)

    def is_within(self, a: isl.Map, b: isl.Map) -> bool:
        """Whether the second holds wherever the first does."""
        return self.answers.of(isl.Map.is_subset, a, b, ask=self.solver.ask)

    def once(self, what: tuple[object, ...], find: Callable[[], T]) -> T:
        """What is found of the model itself. What has no answer is looked for again."""
        if what not in self.known:
            self.known[what] = self.answers.one(find())
        return self.known[what]

    # ---- witnesses ---------------------------------------------------------------------------------------------------

    def sample(self, found: isl.Set, place: Place) -> dict[Symbol, int] | None:
        """One of the instances: its symbols' values."""
        known = self.sampled(found, place)
        return None if known is None else known[0]

    def sampled(self, found: isl.Set, place: Place) -> tuple[dict[Symbol, int], list[int]] | None:
        """One of the instances, and what else the set has dimensions of."""
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
        """`thread (128, 0, 0), iteration 4: op at …`; in a cluster, with the number of the block in front."""
        x, y, z = (form.value(point) or 0 for form in self.model.values.thread_ids())
        numbers = [(loop.variable or Linear.of(loop.counter)).value(point) for loop in a.place.loops]
        said = ", ".join("?" if n is None else str(n) for n in numbers)
        return f"{self.block_of(point)}thread ({x}, {y}, {z}){f', iteration {said}' if numbers else ''}: {a.op}"

    def block_of(self, point: Mapping[Symbol, int]) -> str:
        """`block 1 of the cluster, `; nothing where it has one."""
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
    """Whether all threads of a cluster see one value, in all iterations."""
    return not symbol.depends.thread and not symbol.depends.loops and not symbol.depends.rank


def _in_branches(a: Place, b: Place) -> bool:
    """Whether they stand in two regions of one op."""
    pairs = zip(a.steps, b.steps, strict=False)
    s, t = next(((s, t) for s, t in pairs if (s.position, s.region) != (t.position, t.region)), (None, None))
    return s is not None and t is not None and s.position == t.position


def _of(naming: Naming, symbol: Symbol) -> Linear:
    return Linear.of(naming(symbol))


def united(instances: Instances, maps: Sequence[isl.Map]) -> isl.Map | None:
    """Any of them; None where there are none."""
    out: isl.Map | None = None
    for each in maps:
        out = instances.union(out, each)
    return out
