"""The processors that combine their parts of a shared reduction or scan: its participants, stated
once, as a set.

    affine_set<(x, y, z)[px, py, pz] : (y - py == 0)>        threads of the block whose parts are combined for thread (px, py, pz)

A hardware slot is an axis of processors that a map occupies. A thread's result combines the parts
of all threads of its block with the same number in each slot of an *enclosing* map: with a row for
each y, these are the threads along x. In the slots of the reduction's own map the numbers may
differ. So they may in slots that no map of the nest occupies, if processors along them are idle,
since idle threads contribute the identity. If no map distributes over warps, or over rows of lanes,
each warp, or row, reduces separately, so that the numbers must be equal in these, too.

`launch` states the set on the op, once the maps are complete, and keeps it on the buffer with a
thread's part in the kernel. The exchange (`Team`: shuffle distances, order in shared memory, the
writing thread) is computed from the set alone.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Mapping as Table

from ...dsl.records import record
from ..hardware.limits import GROUP_WARPS, WARP
from ..ir.affine_maps import Operator, constraints, results_of
from ..ir.functions import PARTICIPANTS
from ..ir.mlir import ir, operations
from ..ir.refusing import refuse
from .geometry import Geometry
from .mapping import AXES, Mapping, enclosing_maps, is_shared_reduction, mapping_of


def state_participants(root: ir.Operation, geometry: Geometry) -> None:
    """States the participants of each shared reduction and scan in a launch. Raises W0352."""
    for op in filter(is_shared_reduction, operations(root)):
        mapping = mapping_of(op)
        assert mapping is not None, "it is shared"
        op.attributes[PARTICIPANTS] = participants(op, mapping, [around for _, around in enclosing_maps(op)], geometry)


def participants(op: ir.Operation, mapping: Mapping, around: Sequence[Mapping], geometry: Geometry) -> ir.Attribute:
    """The set for an op with its own map and the enclosing ones. Raises W0352 where the block's
    shape is not known well enough."""
    if mapping.space == "lanes":
        rest = {"x": "y", "y": "x"}
        taken = {axis for one in (mapping, *around) if one.space == "lanes" for axis in one.axes}
        own = zip(mapping.axes, mapping.counts, strict=True)
        idle = [(rest[axis], WARP // count) for axis, count in own if count < WARP and rest[axis] not in taken]
        alone = Mapping("lanes", tuple(a for a, _ in idle), tuple(n for _, n in idle))
        return _agreeing([*around, Mapping("warps", ("x",)), alone], op, geometry)
    if None in geometry.static_block():
        raise refuse(
            "W0352",
            "the threads of a block combine their partial results, and their number is known only at run time",
            op,
            f"choose counts for `threads` with a product that is a multiple of {WARP}, such as `threads(x: 128) cyclic`",
        )
    return _agreeing(around, op, geometry)


def alike(op: ir.Operation, around: Sequence[Mapping], geometry: Geometry) -> ir.Attribute:
    """The threads with the same iteration of all loops around an op, and so the same results of it."""
    return _agreeing(around, op, geometry)


def _agreeing(maps: Sequence[Mapping], op: ir.Operation, geometry: Geometry) -> ir.Attribute:
    """The pairs of threads of a block that have the same number in every slot of these maps."""
    with op.context:
        ones, others = (_forms(maps, op, geometry, made) for made in (ir.AffineExpr.get_dim, ir.AffineExpr.get_symbol))
        apart = [one - other for one, other in zip(ones, others, strict=True)] or [ir.AffineExpr.get_constant(0)]
        return ir.IntegerSetAttr.get(ir.IntegerSet.get(3, 3, apart, [True] * len(apart)))


def _forms(
    maps: Sequence[Mapping], op: ir.Operation, geometry: Geometry, made: Callable[[int], ir.AffineExpr]
) -> list[ir.AffineExpr]:
    """The forms of a thread's ids that the maps use: for each axis with several threads, the
    thread's number along the axis."""
    block = geometry.static_block()
    ids = {axis: made(number) for number, (axis, size) in enumerate(zip(AXES, block, strict=True)) if size != 1}
    found = dict[str, ir.AffineExpr]()
    for one in maps:
        if one.space in ("threads", "grid"):
            mine = [ids[axis] for axis in (AXES if one.every else one.axes) if axis in ids]
        elif one.space in _IN_BLOCK:
            mine = [form(_linear(op, block, ids)) for form in _IN_BLOCK[one.space](one)]
        else:
            continue
        found |= {str(form): form for form in mine}
    return list(found.values())


Form = Callable[[ir.AffineExpr], ir.AffineExpr]


def _rows_of_lanes(mapping: Mapping) -> list[Form]:
    floordiv, mod = ir.AffineExpr.get_floor_div, ir.AffineExpr.get_mod
    if mapping.is_whole:
        return [lambda t: mod(t, WARP)]
    made = list[Form]()
    for axis, count in zip(mapping.axes, mapping.counts, strict=True):
        if axis == "y":
            made.append(lambda t, n=count: floordiv(mod(t, WARP), WARP // n))
        else:
            made.append(lambda t, n=count: mod(t, n))
    return made


_IN_BLOCK: dict[str, Callable[[Mapping], list[Form]]] = {
    "lanes": _rows_of_lanes,
    "warps": lambda _: [lambda t: ir.AffineExpr.get_floor_div(t, WARP)],
    "warpgroups": lambda _: [lambda t: ir.AffineExpr.get_floor_div(t, WARP * GROUP_WARPS)],
    "quarters": lambda _: [lambda t: ir.AffineExpr.get_floor_div(ir.AffineExpr.get_mod(t, WARP * GROUP_WARPS), WARP)],
}
"""The processor of a thread as forms of its linear id."""


def _linear(op: ir.Operation, block: Sequence[int | None], ids: Table[str, ir.AffineExpr]) -> ir.AffineExpr:
    """A thread's linear id in its block. Raises W0352 if it is a product of sizes known only at run
    time."""
    total, stride = ir.AffineExpr.get_constant(0), 1
    for axis, size in zip(AXES, block, strict=True):
        if axis in ids and stride is None:
            raise refuse(
                "W0352",
                "lanes combine their partial results, and the threads of a warp are known only at run time, because"
                " the block's sizes along several axes are",
                op,
                "give counts along all axes of threads but the last, such as `threads(y, x: 32)`",
            )
        if axis in ids and stride is not None:
            total, stride = total + ids[axis] * stride, None if size is None else stride * size
    return total


# ---- what is exchanged -----------------------------------------------------------------------------------------------


@record
class ThreadDigit:
    """A digit of a thread's number in its block, `number floordiv stride mod radix`.

    Args:
        free: participants differ in it; else they agree.
        top: it is the most significant digit.
    """

    stride: int
    radix: int
    free: bool
    top: bool = False


@record
class Team:
    """The participants of a reduction, as digits of the thread number.

    Args:
        digits: of all threads, the fastest first; adjacent digits are not both free.
        lanes: digits of the lanes of a unit, powers of two; a unit is a warp, or a part of it where
            rows of threads are not whole warps.
        units: digits of the units of a block.
    """

    digits: tuple[ThreadDigit, ...]
    lanes: tuple[ThreadDigit, ...]
    units: tuple[ThreadDigit, ...]

    @property
    def distances(self) -> list[int]:
        """The `xor` distances of the shuffles that combine the parts within a unit, the largest
        first."""
        found = [one.stride << step for one in self.lanes if one.free for step in range(one.radix.bit_length() - 1)]
        return sorted(found, reverse=True)

    @property
    def meets(self) -> bool:
        """Whether participants are in several units: their parts are combined through shared
        memory, with a barrier."""
        return any(one.free for one in self.units)

    @property
    def kept(self) -> list[ThreadDigit]:
        """The digits that distinguish parts in shared memory, the fastest first."""
        return [one for one in self.lanes if not one.free] + list(self.units)

    @property
    def in_whole_warps(self) -> bool:
        """Whether all lanes of a warp participate together, or none."""
        return all(one.free for one in self.lanes) and math.prod(one.radix for one in self.lanes) == WARP

    @property
    def parts(self) -> int:
        """The number of parts in shared memory."""
        return math.prod(one.radix for one in self.kept)

    @property
    def others(self) -> int:
        """The number of parts that a thread combines."""
        return math.prod(one.radix for one in self.units if one.free)

    def places(self) -> Iterator[tuple[ThreadDigit, int]]:
        """The index of a part in shared memory: its digits with their strides."""
        stride = 1
        for one in self.kept:
            yield one, stride
            stride *= one.radix


def team(stated: ir.Attribute, geometry: Geometry) -> Team | None:
    """The exchange for a set of participants; None where they are no product of digits."""
    sizes = tuple(geometry.block[axis] for axis in AXES)
    key = str(stated), sizes
    if key not in _seen:
        digits = _digits(_keys(stated, sizes))
        _seen[key] = None if digits is None else Team(tuple(digits), *map(tuple, _in_warps(digits, math.prod(sizes))))
    return _seen[key]


_seen: dict[tuple[str, tuple[int, ...]], Team | None] = {}
"""By the text of a set and the sizes of a block: kernels have few of them."""


_OPERATE: dict[Operator, Callable[[int, int], int]] = {
    "add": operator.add,
    "mul": operator.mul,
    "mod": operator.mod,
    "floordiv": operator.floordiv,
    "ceildiv": lambda a, b: -(-a // b),
}


def _keys(stated: ir.Attribute, sizes: Sequence[int]) -> list[tuple[int, ...]]:
    """A key per thread of a block, equal for threads that participate together."""
    columns, lines, planes = map(range, sizes)
    ids = [(x, y, z) for z in planes for y in lines for x in columns]
    threads = [*map(list, zip(*ids, strict=True)), *[[0] * len(ids)] * 3]

    def operate(name: Operator, ones: list[int], others: list[int]) -> list[int]:
        return list(map(_OPERATE[name], ones, others))

    return list(zip(*results_of(constraints(stated)[0], threads, lambda n: [n] * len(ids), operate), strict=True))


def _digits(keys: Sequence[tuple[int, ...]]) -> list[ThreadDigit] | None:
    """The digits in which threads with equal keys differ, and those in which they agree: from the
    first thread, checked for all."""
    total = len(keys)
    first = {number for number, key in enumerate(keys) if key == keys[0]}
    found, stride = list[ThreadDigit](), 1
    while stride < total:
        free = stride in first
        end = next(n for n in range(stride, total + stride, stride) if n >= total or (n in first) != free)
        if end > total:
            return None
        found.append(ThreadDigit(stride, end // stride, free, end == total))
        stride = end
    fixed = [one for one in found if not one.free]
    agreed = [tuple(number // one.stride % one.radix for one in fixed) for number in range(total)]
    exact = len({*zip(agreed, keys, strict=True)}) == len({*agreed}) == len({*keys})
    return found if exact else None


def _in_warps(digits: Sequence[ThreadDigit], threads: int) -> tuple[list[ThreadDigit], list[ThreadDigit]]:
    """The digits within a unit of lanes, in powers of two, and those of units. In a block that is
    not a whole number of warps, lanes exchange nothing: each thread is a unit."""
    lanes, units = list[ThreadDigit](), list[ThreadDigit]()
    for one in digits:
        whole = not units and threads % WARP == 0 and one.stride < WARP
        fits = min(one.radix & -one.radix, WARP // one.stride) if whole else 1
        if fits > 1:
            lanes.append(ThreadDigit(one.stride, fits, one.free, one.top and fits == one.radix))
        if one.radix > fits:
            units.append(ThreadDigit(one.stride * fits, one.radix // fits, one.free, one.top))
    return lanes, units
