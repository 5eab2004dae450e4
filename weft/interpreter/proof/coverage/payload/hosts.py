"""Loops of the host around a launch. A loop of the payload around a launch stays a loop: each
launch executes one of its iterations. A loop that a statement has made, with a launch for each
tile, counts as a loop of the kernel around its whole body.

    for t in 0 … 4: launch …                            the payload's loop over t; the kernel executes the loops inside
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ....indices.linear import NOTHING, Formula, Linear, involved
from ....indices.values import Values
from ....ir.functions import own_name
from ....ir.mlir import ancestors, ir, ops_of
from ....ir.structured import body_of
from ....memory.table import ALLOCATIONS
from ....memory.views import is_view
from .initial_payload import Untouched

Size = tuple[str, int, int]
"""A size of an argument of the payload: its function, its number, and the axis."""


@dataclass
class HostLoops:
    """The loops of the host around a launch, outermost first.

    Args:
        values: forms of the payload's values and the host's.
        sizes: the run-time sizes of the arguments of the payload function that contains the launch.
        loops: the loops of the host that are also the payload's.
        counters: their iterations.
        tiles: the other loops, which tile an op, with their counters.
        guards: the conditions under which iterations of `tiles` are executed.
    """

    values: Values
    sizes: dict[Size, Linear] = field(default_factory=dict)
    loops: Sequence[ir.Operation] = ()
    counters: list[Linear] = field(default_factory=list)
    tiles: dict[ir.Operation, Linear] = field(default_factory=dict)
    guards: list[Formula] = field(default_factory=list)

    @classmethod
    def around(cls, launched: ir.Operation, untouched: Untouched, values: Values) -> HostLoops:
        """The loops around the loop to be launched; none if any other op encloses it."""
        *loops, function = [each for each in ancestors(launched) if each.name != "builtin.module"]
        sizes: dict[Size, Linear] = {}
        if (payload := untouched.functions.get(name := own_name(function))) is not None:
            own, given = body_of(function).arguments, body_of(payload).arguments
            pairs = [(n, (own[n], given[n])) for n in untouched.varying(payload) if n < len(own)]
            for share in (_share, _share_computed):
                for _, pair in pairs:
                    share(*pair, untouched, values)
            open_axes = ((n, axis, its) for n, pair in pairs for axis, its in _open_axes(*pair))
            sizes = {(name, n, axis): values.extent(its, axis) for n, axis, its in open_axes}
        if not loops or any(loop.name not in ("scf.for", "affine.for") for loop in loops):
            return cls(values, sizes)
        of = untouched.places.get(str(launched.location))
        tiled = (
            of is not None and of.parent.operation.name == "func.func" and all(map(_goes_on, loops, (launched, *loops)))
        )
        made = cls(values, sizes, () if tiled else loops[::-1])
        for loop in made.loops:
            form = Linear.of(values.fresh("parameter", NOTHING))
            values.bind(body_of(loop).arguments[0], form)
            made.counters.append(form)
        for loop in loops[::-1] if tiled else ():
            low, high, step = (values.linear(v) for v in list(loop.operands)[:3])
            made.tiles[loop], form, below = values.counter(low, [high], step)
            values.bind(body_of(loop).arguments[0], form)
            made.guards += below
        return made

    def inside(self, loops: Sequence[ir.Operation]) -> Sequence[ir.Operation]:
        """The loops of a nest of the payload, outermost first, that are not around the launch; all
        of them if the outer ones are not the enclosing ones."""
        outer = loops[: len(self.loops)]
        if len(outer) < len(self.loops) or not all(map(self._is, outer, self.loops)):
            return loops
        for loop, counter in zip(outer, self.counters, strict=True):
            self.values.bind(body_of(loop).arguments[0], counter)
        return loops[len(self.loops) :]

    def _is(self, loop: ir.Operation, host: ir.Operation) -> bool:
        located = (
            "unknown" in str(host.location) or loop.location == host.location
        )  # bufferization creates one without a location
        mine, its = self._bounds(loop), self._bounds(host)
        return located and mine is not None and mine == its

    def _bounds(self, loop: ir.Operation) -> list[Linear] | None:
        if loop.name == "scf.for":
            return [self.values.linear(v) for v in list(loop.operands)[:3]]
        if loop.name != "affine.for":
            return None
        maps = [ir.AffineMapAttr(loop.attributes[name]).value for name in ("lowerBoundMap", "upperBoundMap")]
        if any(bound.n_inputs or len(bound.results) != 1 for bound in maps):
            return None
        return [
            *(self.values.affine_map(bound, [])[0] for bound in maps),
            Linear.of(ir.IntegerAttr(loop.attributes["step"]).value),
        ]


def _open_axes(mine: ir.Value, its: ir.Value) -> list[tuple[int, ir.Value]]:
    """The axes with sizes known only at run time of an argument of a host function, each with the
    payload's argument that it corresponds to."""
    shaped = all(isinstance(value.type, ir.ShapedType) and value.type.has_rank for value in (mine, its))
    rank = its.type.rank if shaped and mine.type.rank == its.type.rank else 0
    return [(axis, its) for axis in range(rank) if its.type.is_dynamic_dim(axis)]


def _share(mine: ir.Value, its: ir.Value, untouched: Untouched, values: Values) -> None:
    """Binds all equal sizes of arguments to one form, so that a fact about one of them holds for
    all."""
    if mine.type == its.type and not isinstance(mine.type, ir.ShapedType):
        values.bind(mine, values.linear(its))
    for axis, _ in _open_axes(mine, its):
        same = untouched.same_sizes(its, axis)
        values.same_extent((mine, axis), *(size for size in same if isinstance(size, tuple)))


def _share_computed(mine: ir.Value, its: ir.Value, untouched: Untouched, values: Values) -> None:
    """Binds sizes that the payload computes from others, such as those of a convolution's result,
    also for the operands that are added to that result."""
    for axis, _ in _open_axes(mine, its):
        same, own = untouched.same_sizes(its, axis), values.extent(its, axis)
        computed = (values.number(size) for size in same if not isinstance(size, tuple))
        if (form := next((n for n in computed if involved(own).keys().isdisjoint(involved(n))), None)) is not None:
            for value, each in ((mine, axis), *(size for size in same if isinstance(size, tuple))):
                values.state_extent(value, each, form)


def _goes_on(loop: ir.Operation, inner: ir.Operation) -> bool:
    """Whether a loop affects memory only through its inner loop."""
    beside = (op for op in ops_of(body_of(loop)) if op != inner)
    dialects, harmless = ("arith", "affine", "index"), (*ALLOCATIONS, "memref.dim", "memref.dealloc", "scf.yield")
    idle = all(is_view(op) or op.name in harmless or op.name.split(".")[0] in dialects for op in beside)
    return loop.name == "scf.for" and not loop.results and idle
