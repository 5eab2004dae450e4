"""Conflicts of a kernel: two threads access one element, at least one writes it, and no order is
established between them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field, replace
from typing import Literal

import islpy as isl

from ....dsl.records import record
from ...indices.linear import TRUE, Linear, Symbol
from ..kernels.model import ALL_SPACES, Access, Barrier, KernelModel, space_of_both
from ..kernels.places import Place
from ..solver import Naming, Solver, Unknown
from .in_flight import loops_of_copies, meetings, over_and_begun, pairs_of, ways
from .phases import Phases, meeting
from .relations import PairClass
from .runtime_conditions import given_numbers, needed
from .separation import empty, residue

Kind = Literal["RAW", "WAR", "WAW"]
LIMIT = (
    "assumed, the analysis reached its limit; sizes known before a run, tiles that divide them, or fewer accesses in"
    " one kernel make it exact"
)
ALIASED = (
    "assumed: the two buffers are not known to be distinct memory; without `--may-alias` they are taken as distinct"
)
ALIASED = "assumed: nothing states that the two buffers are different memory; they are taken so without `--may-alias`"
UNKNOWN = (
    "assumed, not proven: it is not known what {} touches; memref, affine and vector ops on arguments, or on buffers"
    " with a visible allocation, make it exact"
)
CHOSEN = (
    "assumed, not proven: a loop or a branch passes on one of several buffers, and it is not known which; a loop that"
    " passes them on unchanged or by rotation, or a choice by an affine condition, makes it exact"
)
UNSURE = (
    "assumed, not proven: it is not known whether all threads execute {} in between; an affine condition around it, or"
    " none, makes it exact"
)
EXCHANGED = (
    "assumed, not proven: the accesses of the buffer permute pieces of its rows (a swizzle), but not all by the same"
    " swizzle; one swizzle in all of them makes it exact"
)
UNCOUNTED = (
    "assumed, not proven: it is not known how many groups are committed before a wait, so that the copy may still be"
    " in flight; commits and waits under affine conditions make it exact, and so does a wait for all groups"
    " (`numGroups = 0`)"
)
DATA = (
    "assumed, not proven: the index or a condition is not affine (it depends on data); indices and conditions that are"
    " affine in ids, loop variables, and sizes known before a run make it exact"
)
OPEN_LAYOUT = (
    "assumed, not proven: the strides of `{}` are known only at run time, so that two of its elements may share an"
    " address; strides in its type ({}), or a memref without a layout, make it exact"
)
BY_ADDRESS = (
    "`{}` is {}: its layout may put several elements at one address; the number above is an address, in elements"
)


def not_affine(*accesses: Access) -> str:
    """The reason why the touched elements are unknown, as the text of an assumption."""
    open_layout = next((access.buffer for access in accesses if _depends_on_strides(access)), None)
    if open_layout is not None:
        return OPEN_LAYOUT.format(open_layout.name, open_layout.by_address)
    return EXCHANGED if any(access.exchanged for access in accesses) else DATA


def _depends_on_strides(access: Access) -> bool:
    """Whether the address is known only at run time because the buffer's strides are known only
    then."""
    unknown, symbols = access.buffer.unknown, {s for form in access.coordinates or () for s in form.symbols()}
    return bool(unknown) and (not access.settled or not unknown.isdisjoint(symbols))


@record
class Instance:
    """One execution of an access: its thread, its block, and the values of its loop variables, by
    the labels of the loops."""

    op: str
    kind: Literal["read", "write"]
    thread: tuple[int, int, int]
    block: tuple[int | None, int | None, int | None]
    iterations: tuple[tuple[str, int], ...]

    @staticmethod
    def of(model: KernelModel, access: Access, naming: Naming, point: Mapping[Symbol, int]) -> Instance:
        """The access at a point of a set in the names of `naming`. Values that the point does not
        determine are left out."""

        def at(forms: Iterable[Linear]) -> list[int | None]:
            return [naming.form(form).value(point) for form in forms]

        x, y, z = at(model.values.thread_ids())
        bx, by, bz = at(model.values.block_ids())
        values = at(loop.variable or Linear.of(loop.counter) for loop in access.place.loops)
        iterations = tuple((loop.label, v) for loop, v in zip(access.place.loops, values, strict=True) if v is not None)
        return Instance(access.op, access.kind, (x or 0, y or 0, z or 0), (bx, by, bz), iterations)

    def __str__(self) -> str:
        at = f", iteration {', '.join(str(v) for _, v in self.iterations)}" if self.iterations else ""
        return f"thread {_triple(self.thread)}{at}: {self.op} {'writes' if self.kind == 'write' else 'reads'} it"

    def text(self, *, across_blocks: bool = False) -> str:
        """The text of the instance. It names the block if that is not the first one, and always if
        `across_blocks`."""
        return f"block {_triple(self.block)}, {self}" if any(self.block) or across_blocks else str(self)


@record
class Conflict:
    """A conflict with its witness.

    Args:
        kind: the missing order: write before read, read before write, or write before write.
        element: the coordinates in the buffer, or a single flat position if views reshape the
            buffer; empty if it may be any element.
        first, second: two instances that collide; None if ISL found none within its limit.
        assumption: the reason why the conflict is not proven, and a way to get an exact answer;
            empty if it is proven.
        carried_by: the loop that carries the conflict: `second` is in a later iteration of it.
        across_blocks: the threads are in different blocks: no barrier can order them.
        alone: two threads execute the same op in the same iteration: no barrier can order these
            instances either.
        agent: the agent that makes one of the accesses asynchronously, as in `Access`.
        unfenced_proxy: a fence of the proxy is missing.
        in_flight: `first` is an asynchronous copy that has not arrived when `second` begins: no
            barrier orders these instances either.
        unfenced: a barrier that would order the instances if its fence covered the memory.
        in_between: a warp barrier between the instances; it orders only threads of one warp.
        layout: the type of the buffer, where its elements are distinguished by their addresses.
        of_block: the number, within its cluster, of the block that owns the shared memory of the
            element; None without clusters.
        where: the witness values of the numbers known only at run time, by name.
        needed: the conditions on such sizes under which the conflict exists, as text.
    """

    kind: Kind
    buffer: str
    space: str
    element: tuple[int, ...]
    first_op: str
    second_op: str
    first: Instance | None
    second: Instance | None
    assumption: str
    carried_by: str | None = None
    across_blocks: bool = False
    alone: bool = False
    unfenced: str | None = None
    in_between: str | None = None
    where: tuple[tuple[str, int], ...] = ()
    needed: Callable[[], tuple[str, ...]] = field(default=tuple, compare=False, repr=False)
    in_flight: bool = False
    agent: str = ""
    unfenced_proxy: bool = False
    of_block: int | None = None
    layout: str = ""

    @property
    def assumed(self) -> bool:
        return self.assumption != ""

    def notes(self, quote: Callable[[str], str] = lambda op: "") -> tuple[str, ...]:
        """The witness as text. `quote`: gives the text to append after the name of an op."""
        element = f"[{', '.join(map(str, self.element))}]" if self.element else "[any element]"
        if self.first is None or self.second is None:
            return (f"{self.first_op} and {self.second_op} on `{self.buffer}`: {self.assumption}",)
        notes = [each.text(across_blocks=self.across_blocks) + quote(each.op) for each in (self.first, self.second)]
        if self.where:
            needed = self.needed()
            least = f"; it needs {', '.join(needed)}" if needed else ""
            notes.append(f"found at {', '.join(f'{name} = {value}' for name, value in self.where)}{least}")
        if self.layout and self.element:
            notes.append(BY_ADDRESS.format(self.buffer, self.layout))
        element += of_block(self.of_block)
        return (f"element {self.buffer}{element}", *notes, *([self.assumption] if self.assumption else []))


def of_block(number: int | None) -> str:
    """The phrase ` of block 1 of the cluster`; empty without a number."""
    return "" if number is None else f" of block {number} of the cluster"


def _triple(ids: Iterable[int | None]) -> str:
    return "(" + ", ".join("?" if i is None else str(i) for i in ids) + ")"


def conflicts(
    model: KernelModel, barriers: Iterable[Barrier] | None = None, *, solver: Solver | None = None
) -> list[Conflict]:
    """The conflicts within a block that `barriers` (default: those of the model) leave: one for
    each pair of accesses, and each way in which one access follows the other. `solver` bounds the
    effort; a query that exceeds the bound counts as a conflict with an `assumption`."""
    used = Phases(model.barriers if barriers is None else barriers)
    out: list[Conflict] = []
    for pair in colliding_classes(model, used, solver):
        left = residue(pair, used.barriers)
        if left is None or not empty(pair, left):
            out.append(as_conflict(pair, left))
    return out + in_flight(model, solver)


def in_flight(model: KernelModel, solver: Solver | None = None) -> list[Conflict]:
    """The conflicts of asynchronous copies with accesses before their arrival: no barrier orders
    them."""
    return [replace(as_conflict(pair, pair.found), in_flight=True) for pair in meetings(model, solver)]


def conflicts_between_blocks(model: KernelModel, *, solver: Solver | None = None) -> list[Conflict]:
    """Pairs of accesses to global memory by two blocks, at least one of them a write: no barrier
    orders them."""
    solver = solver or Solver()
    out: list[Conflict] = []
    own_rows = _OwnRows(model, solver)
    for a, b in pairs_of(model):
        if {a.buffer.space, b.buffer.space} <= {"global", "any"} and not own_rows.tell_apart(a, b):
            pair = PairClass(model, a, b, (), 0, False, solver, same_block=False)
            if _collides(pair):
                out.append(as_conflict(pair, pair.found, across_blocks=True))
    return out


class _OwnRows:
    """Coordinates that depend on the block alone. Where each block has its own rows, these
    coordinates prove for all accesses at once that no two blocks touch one element."""

    def __init__(self, model: KernelModel, solver: Solver) -> None:
        self.model, self.solver = model, solver
        self._rows: dict[Access, _Rows] = {}
        self._apart: dict[tuple[_Rows, _Rows], bool] = {}

    def tell_apart(self, a: Access, b: Access) -> bool:
        if a.buffer is not b.buffer:
            return False
        rows = self._of(a), self._of(b)
        if rows not in self._apart:
            self._apart[rows] = self._ask(a, b)
        return self._apart[rows]

    def _of(self, access: Access) -> _Rows:
        if access not in self._rows:
            self._rows[access] = tuple(form if _of_block(form) else None for form in access.coordinates or ())
        return self._rows[access]

    def _ask(self, a: Access, b: Access) -> bool:
        told = [(p, q) for p, q in zip(self._of(a), self._of(b), strict=False) if p is not None and q is not None]
        if not told:
            return False
        of_a, of_b = zip(*told, strict=True)
        first, second = (replace(x, coordinates=at, when=TRUE, place=Place((), 0)) for x, at in ((a, of_a), (b, of_b)))
        try:
            return not PairClass(self.model, first, second, (), 0, False, self.solver, same_block=False).collide()
        except Unknown:
            return False


_Rows = tuple[Linear | None, ...]


def _of_block(form: Linear) -> bool:
    """Whether the form has one value for all threads of a block and all iterations of its loops."""
    return not any(symbol.depends.thread or symbol.depends.loops for symbol in form.symbols())


# ---- classes ---------------------------------------------------------------------------------------------------------


def colliding_classes(model: KernelModel, fixed: Phases, solver: Solver | None = None) -> list[PairClass]:
    """The classes of pairs within a block that collide, except those that one of the `fixed`
    barriers is sure to separate."""
    return [pair for pair in possible_classes(model, fixed, solver) if _collides(pair)]


def possible_classes(model: KernelModel, fixed: Phases, solver: Solver | None = None) -> Iterator[PairClass]:
    """The classes of pairs within a block that may collide, a superset of those that do. The
    default `solver` is the model's own."""
    if model.shape.threads == 1:
        return
    solver = solver or model.solver
    holding = {loop for barrier in model.barriers for loop in barrier.place.loops} | loops_of_copies(model)
    for a, b in over_and_begun(model):
        loops, order = meeting(a.place, b.place)
        shared = tuple(loop for loop in loops if loop in holding)
        if order > 0:
            a, b = b, a
        space = space_of_both(a, b)
        still: PairClass | None = None
        for first, second, loop in ways(a, b, shared):
            if fixed.separate(first.place, second.place, space, loop):
                continue
            equal = len(shared) if loop is None else shared.index(loop)
            pair = PairClass(model, first, second, shared, equal, loop is not None, solver, still=still)
            still = pair if loop is None else still
            yield pair


def _collides(pair: PairClass) -> bool:
    try:
        return pair.collide()
    except Unknown:
        pair.unknown = True
        return True


# ---- witnesses -------------------------------------------------------------------------------------------------------


def as_conflict(pair: PairClass, left: isl.Set | None, *, across_blocks: bool = False) -> Conflict:
    """The conflict of a class, with a witness from `left`."""
    a, b = pair.first, pair.second
    kind: Kind = "WAW" if a.kind == b.kind else "RAW" if a.kind == "write" else "WAR"
    sample = None if left is None else pair.solver.sample(left)
    loop = pair.loop.label if pair.loop is not None else None
    unknown = next((x for x in (a, b) if x.buffer.anything), None)
    aliased = a.buffer is not b.buffer and unknown is None
    known = b.buffer if a.buffer.anything else a.buffer
    name = f"{a.buffer.name} and {b.buffer.name}" if aliased else known.name
    if sample is None:
        return Conflict(kind, name, known.space, (), a.op, b.op, None, None, LIMIT, loop, across_blocks)
    if aliased:
        why = ALIASED
    elif unknown is not None:
        why = UNKNOWN.format(unknown.op)
    elif a.chosen or b.chosen:
        why = CHOSEN
    elif not (a.settled and b.settled) or _depends_on_strides(a) or _depends_on_strides(b):
        why = not_affine(a, b)
    else:
        why = "" if pair.unsure is None else UNSURE.format(pair.unsure.op)
    point = dict(zip(pair.names, sample, strict=True))
    element = [pair.x.form(c).value(point) for c in (() if aliased else a.coordinates or ())]
    numbers = tuple(e for e in element if e is not None)
    whole = numbers if len(numbers) == len(element) else ()
    block = whole[0] if whole and a.buffer.of_each_block else None
    whole = whole if block is None else whole[1:]
    first, second = Instance.of(pair.model, a, pair.x, point), Instance.of(pair.model, b, pair.y, point)
    if loop is None and not across_blocks and (earlier := _carrier(a, b, first, second)) is not None:
        # no barrier is in the loop, so one query covers all its iterations; in the witness, the
        # op that is later in the text may come first
        a, b, first, second, loop = b, a, second, first, earlier
        kind = "WAW" if a.kind == b.kind else "RAW" if a.kind == "write" else "WAR"
    together = (
        a.place is b.place and first.iterations == second.iterations and len(first.iterations) == len(a.place.loops)
    )
    given = given_numbers(pair)
    where = [(called, form.value(point)) for called, form in given.items()]
    return Conflict(
        kind, name, known.space, whole, a.op, b.op, first, second, why, loop, across_blocks, together, *_others_between(pair),
        tuple((called, value) for called, value in where if value is not None), lambda: needed(pair, left, given), of_block=block,
        layout="" if aliased or known.unknown else known.by_address,
    )  # fmt: skip


def _carrier(a: Access, b: Access, first: Instance, second: Instance) -> str | None:
    """The loop around both accesses in which `second` is in an earlier iteration than `first`; None
    if there is none."""
    loops, _ = meeting(a.place, b.place)
    mine, its = dict(first.iterations), dict(second.iterations)
    for label in (loop.label for loop in loops):
        if label not in mine or label not in its:
            return None
        if mine[label] != its[label]:
            return label if its[label] < mine[label] else None
    return None


def _others_between(pair: PairClass) -> tuple[str | None, str | None]:
    """Two barriers between the accesses: one with a fence that omits their memory, and a warp
    barrier. Each is None if there is no such barrier."""
    space, barriers = space_of_both(pair.first, pair.second), pair.model.barriers

    def between(some: list[Barrier]) -> str | None:
        wide = (replace(barrier, spaces=ALL_SPACES, narrow=False) for barrier in some)
        found = Phases(wide).sure(pair.first.place, pair.second.place, space, pair.loop)
        return next((row[0].op for row in found if row), None)

    unfenced = [barrier for barrier in barriers if not barrier.narrow and space not in barrier.spaces]
    return between(unfenced), between([barrier for barrier in barriers if barrier.narrow and space in barrier.spaces])
