"""Loops over tiles with K steps each, where K is known only at run time: the steps of a block are
counted over all of its tiles.

    for t { for i < K { op of t*K + i };  more }      →      for c { op of c };   for t { more }

Each tile has K steps, so (t, i) ↦ t*K + i is a bijection that keeps the order of a thread's steps:
an op that depends on t*K + i, which is no affine form, depends on the counter c instead. The two
resulting loops have independent counters c and t, and no order between their ops: an order may be
missed. If that could hide a fault, `deadlocks.py` derives the order in another way, which requires
that no thread executes two such nests.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import product

from ...indices.linear import Depends, Formula, Linear, Symbol, at_least, both, less
from ..kernels.model import Access, Barrier, KernelModel
from ..kernels.places import Landing, Loop, Place, PlaceStep
from ..kernels.signals import Signal
from .instances import Instances, Point, VagueError, same_for_all


@dataclass(eq=False)
class Nest:
    """A loop over tiles, the loop over the steps of a tile inside it, and the loop over all steps
    that replaces them.

    Args:
        tiles, steps: the loops.
        count: steps of a tile.
        product: the symbol for the number of earlier tiles times `count`.
        every: the loop over all steps.
        total: their number.
        begin: the place of the loop over tiles.
    """

    tiles: Loop
    steps: Loop
    count: Linear
    product: Symbol
    every: Loop
    total: Symbol
    begin: Point

    def form(self, form: Linear) -> Linear:
        """The form in terms of the counter of all steps."""
        through = Linear.of(self.every.counter) - Linear.of(self.steps.counter)
        return form.replaced(lambda s: through if s is self.product else Linear.of(s))

    def is_told(self, form: Linear | Formula) -> bool:
        """Whether the form no longer depends on the counters of the tiles and of a tile's steps."""
        own = {self.tiles.number, self.steps.number}
        return all(s is self.every.counter or own.isdisjoint(s.depends.loops) for s in form.symbols())


@dataclass(eq=False)
class Steps:
    """A model in which the steps are counted over all tiles.

    Raises VagueError if a signal, or a condition, depends on the number of a tile in another way.
    """

    instances: Instances
    nests: dict[tuple[Loop, Loop], Nest] = field(default_factory=dict)
    _places: dict[Place, Place] = field(default_factory=dict)
    _barriers: dict[Barrier, Barrier] = field(default_factory=dict)

    def __post_init__(self) -> None:
        factors = self.instances.model.values.factors()
        totals: dict[object, Symbol] = {}
        for signal in self.instances.model.signals:
            for symbol in dict.fromkeys((*signal.index.symbols(), *signal.odd.symbols())):
                if symbol in factors:
                    self._find(signal, symbol, factors[symbol], totals)
        for a, b in product(self.nests.values(), repeat=2):
            if (a is not b and a.tiles is b.tiles) or not self.instances.is_empty(
                self.instances.before(a.begin, b.begin)
            ):
                raise VagueError(b.begin.op, "its thread has executed the steps of tiles in another loop")

    def _find(
        self, signal: Signal, product: Symbol, factors: tuple[Linear, Linear], totals: dict[object, Symbol]
    ) -> None:
        place = signal.place
        for tiles, steps in zip(place.loops, place.loops[1:], strict=False):
            if (tiles, steps) in self.nests or tiles.variable is None or steps.variable is None:
                continue
            bounds = [s for step in place.steps if step.loop is tiles for guard in step.guards for s in guard.symbols()]
            alike = all(map(same_for_all, (s for s in bounds if s is not tiles.counter)))
            for number, count in (factors, factors[::-1]):
                fit = alike and number == Linear.of(tiles.counter) and all(map(same_for_all, count.symbols()))
                if fit and self._counts(place, tiles, steps, count):
                    self.nests[tiles, steps] = self._nest(signal, tiles, steps, count, product, totals)
                    break

    def _counts(self, place: Place, tiles: Loop, steps: Loop, count: Linear) -> bool:
        """Whether the loop over steps has this number of iterations, in each tile."""
        at = next(n for n, step in enumerate(place.steps) if step.loop is steps)
        inner, counter, most = place.steps[at], Linear.of(steps.counter), steps.counter.high
        if most is not None:  # none of the questions below needs more iterations
            outside = Point(Place(place.steps[:at], 0), "")
            if not self.instances.is_empty(self.instances.of(outside, lambda x: [at_least(x.form(count), most + 2)])):
                return False
        whole = Point(Place(place.steps[: at + 1], 0), "")
        free = Point(Place((*place.steps[:at], replace(inner, guards=())), 0), "")
        beyond = self.instances.of(whole, lambda x: [at_least(x.form(counter), x.form(count))])
        short = self.instances.of(
            free, lambda x: [less(x.form(counter), x.form(count)), x.formula(both(*inner.guards).negate())]
        )
        return self.instances.is_empty(beyond) and self.instances.is_empty(short)

    def _nest(
        self, signal: Signal, tiles: Loop, steps: Loop, count: Linear, product: Symbol, totals: dict[object, Symbol]
    ) -> Nest:
        values = self.instances.model.values
        ((depth, outer),) = ((n, step) for n, step in enumerate(signal.place.steps) if step.loop is tiles)
        turn = totals.setdefault("tile", values.fresh("loop"))
        guards = both(*outer.guards).changed(
            lambda f: f.replaced(lambda s: Linear.of(turn if s is tiles.counter else s))
        )
        key = count, guards, tiles.counter.high
        if key not in totals:  # equal for all threads with equally many tiles
            totals[key] = next(iter(values.opaque(Depends(), 0).symbols()))
        counter = values.fresh("loop", Depends(loops=frozenset({tiles.number})), 0)
        every = Loop(tiles.number, counter, Linear.of(counter), None, steps.label)
        begin = Point(Place(signal.place.steps[:depth], outer.position), signal.op)
        return Nest(tiles, steps, count, product, every, totals[key], begin)

    # ---- the model ---------------------------------------------------------------------------------------------------

    def model(self) -> KernelModel:
        """The model with all ops of a step in the new loop."""
        model = self.instances.model
        if not self.nests:
            return model
        whole = {tiles for tiles, _ in self.nests}
        for signal in model.signals:
            if signal.kind != "init" and self._of(signal.place) is None and not whole.isdisjoint(signal.place.loops):
                raise VagueError(signal.op, "it is outside of the steps of its tile")
        for gathering in model.gatherings:
            if not whole.isdisjoint((*gathering.arrival.loops, *gathering.wait.loops)):
                raise VagueError(gathering.op, "the cluster synchronizes in a loop over tiles")
        return replace(
            model,
            signals=[self._signal(signal) for signal in model.signals],
            accesses=[self._access(access) for access in model.accesses],
            barriers=[self.barrier(barrier) for barrier in model.barriers],
            warp_wide=[self.barrier(barrier) for barrier in model.warp_wide],
            products=[self.barrier(barrier) for barrier in model.products],
            fences=[replace(fence, place=self._place(fence.place, fence.op)) for fence in model.fences],
            registers=[replace(change, place=self._place(change.place, change.op)) for change in model.registers],
        )

    def barrier(self, barrier: Barrier) -> Barrier:
        """The place of a barrier in the new model."""
        if barrier not in self._barriers:
            place = self._place(barrier.place, barrier.op)
            landings = (
                None if barrier.landings is None else tuple(self._landings(self._of(barrier.place), barrier.landings))
            )
            same = place is barrier.place
            self._barriers[barrier] = barrier if same else replace(barrier, place=place, landings=landings)
        return self._barriers[barrier]

    def _landings(self, nest: Nest | None, landings: Iterable[Landing]) -> Iterator[Landing]:
        """The waits at which a product of a step has ended: those in a later step, which may be one
        of the next tile. A wait after the steps of the product's own tile would come earlier; it is
        left out."""
        for landing in landings:
            if nest is None:
                yield landing
            elif [loop for loop, _ in landing.at] == [nest.steps]:
                later = landing.at[0][1] - Linear.of(nest.steps.counter)
                yield Landing(self._place(landing.place, ""), ((nest.every, Linear.of(nest.every.counter) + later),))

    def _of(self, place: Place) -> Nest | None:
        pairs = zip(place.loops, place.loops[1:], strict=False)
        return next((self.nests[pair] for pair in pairs if pair in self.nests), None)

    def _place(self, place: Place, op: str) -> Place:
        nest = self._of(place)
        if nest is None:
            return place
        if place not in self._places:
            first, last = (
                next(n for n, s in enumerate(place.steps) if s.loop is loop) for loop in (nest.tiles, nest.steps)
            )
            between = [self._told(nest, guard, op) for step in place.steps[first + 1 : last] for guard in step.guards]
            bound = less(Linear.of(nest.every.counter), Linear.of(nest.total))
            outer = place.steps[first]
            step = PlaceStep(outer.position, outer.region, (bound, *between), nest.every)
            inner = [
                replace(s, guards=tuple(self._told(nest, g, op) for g in s.guards)) for s in place.steps[last + 1 :]
            ]
            self._places[place] = Place((*place.steps[:first], step, *inner), place.position)
        return self._places[place]

    def _told(self, nest: Nest, formula: Formula, op: str) -> Formula:
        found = formula.changed(nest.form)
        if not nest.is_told(found):
            raise VagueError(op, "whether a step executes it depends on the tile")
        return found

    def _signal(self, signal: Signal) -> Signal:
        nest = self._of(signal.place)
        if nest is None:
            return signal
        found = replace(signal.changed(nest.form), place=self._place(signal.place, signal.op))
        if not all(map(nest.is_told, (found.index, found.block, found.amount, found.when, found.odd))):
            raise VagueError(signal.op, "its phase depends on the tile, and not on the number of earlier steps")
        return found

    def _access(self, access: Access) -> Access:
        nest = self._of(access.place)
        landings = [nest for landing in access.landings if (nest := self._of(landing.place)) is not None]
        if nest is None and not landings:
            return access
        if nest is None or access.landings:
            raise VagueError(access.op, "its group is waited for in steps of tiles")
        forms = None if access.coordinates is None else tuple(map(nest.form, access.coordinates))
        known = forms is not None and all(map(nest.is_told, (*forms, *access.sizes)))
        return replace(
            access, coordinates=forms if known else None, sizes=access.sizes if known else (), flat=access.flat and known,
            place=self._place(access.place, access.op), when=self._told(nest, access.when, access.op),
            block=None if access.block is None else self._number(nest, access.block, access.op),
        )  # fmt: skip

    def _number(self, nest: Nest, form: Linear, op: str) -> Linear:
        found = nest.form(form)
        if not nest.is_told(found):
            raise VagueError(op, "its block of the cluster depends on the tile")
        return found

    # ---- who waits for whom ------------------------------------------------------------------------------------------

    def is_inside(self, place: Place) -> bool:
        """Whether a place of the model is in a loop over tiles, or over all steps."""
        return any(loop in place.loops for nest in self.nests.values() for loop in (nest.tiles, nest.every))

    def scale(self, place: Place) -> tuple[Loop, Symbol, Linear] | None:
        """For a place of the model: the loop over all steps around it, the total number of steps,
        and the number of steps of a tile; None outside of such a loop."""
        found = (nest for nest in self.nests.values() if nest.every in place.loops)
        return next(((nest.every, nest.total, nest.count) for nest in found), None)
