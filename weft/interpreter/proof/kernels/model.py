"""The model of a kernel for the conflict analysis: its memory accesses and barriers, each with its
place in the program.

Thread and block ids that the kernel divides by constants are expressed in digits (`split_ids`). A
thread id below 256 that is divided by 4 and by 32 becomes three numbers: `t = 32*d2 + 4*d1 + d0`,
each within its range. Then `floor(t/4)` is `8*d2 + d1`: forms with floor divisions become plain
sums, for which ISL builds small sets.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from math import prod
from typing import Literal

from ....dsl.records import record
from ...hardware.limits import WARP
from ...indices.algebra import LaunchShape
from ...indices.linear import Formula, Linear, Symbol, Term, at_least, settled
from ...indices.values import Values
from ...ir.mlir import ir
from ..combination.verdict import Combined
from ..solver import Solver
from .clusters import Gathering
from .places import GroupEvent, Landing, Place
from .root_buffers import RootBuffer
from .signals import Fence, RegisterChange, Signal


@record
class OfMatrix:
    """An element of a matrix that the lanes of a warp load or store together. Exactly one lane
    accesses each element.

    The lane depends only on `kind`, the row and the column: it may be any lane, but it is the same
    in all matrices of the kind.
    """

    kind: str
    row: Linear
    column: Linear
    stride: int


@record(eq=False)
class Access:
    """A read or write of one buffer.

    Args:
        coordinates: the element; None if it may be any element.
        when: the condition under which `buffer` is accessed (a select of memrefs), in addition to
            the guards of the place.
        flat, sizes: the meaning of the coordinates, as in a `View`.
        atomic: for an atomic access, the type that it updates; accesses of one type do not conflict
            with each other.
        op: the name of the op, with its location where it has one.
        phase: for an asynchronous copy, which takes time: `begins` (ordered after everything before
            it) or `ended` (ordered before everything after it).
        flight: the identity of the copy; its begin and its ends have the same.
        landings: for a begin, the ends: the first landing that is reached; no end, if none is
            reached.
    """

    kind: Literal["read", "write"]
    buffer: RootBuffer
    coordinates: tuple[Linear, ...] | None
    place: Place
    op: str
    when: Formula
    flat: bool = False
    sizes: tuple[Linear, ...] = ()
    atomic: ir.Type | None = None
    chosen: bool = False
    """`buffer` is one of several that a loop or a branch may pass on."""
    certain: bool = True
    """Every element that the coordinates can denote is touched: no mask excludes some."""
    phase: Literal["", "begins", "ended"] = ""
    flight: int = 0
    landings: tuple[Landing, ...] = ()
    exchanged: bool = False
    """The last subscript has a swizzle that not all accesses of the buffer have."""
    agent: Literal["", "load", "store", "product"] = ""
    """The asynchronous agent of the access, which runs while its thread continues: the tensor
    memory accelerator, or the tensor cores of a warp group."""
    block: Linear | None = None
    """The number, in the cluster, of the block that owns the element; None: the thread's own block."""
    part: OfMatrix | None = None
    """The element of a warp's matrix that is accessed; None: each thread makes its own access."""

    @property
    def late(self) -> bool:
        """Whether the access is asynchronous: it may continue while its thread proceeds."""
        return bool(self.agent or self.phase)

    @property
    def settled(self) -> bool:
        """Whether the element and the condition of the access are known: all forms are affine and
        independent of data."""
        if self.coordinates is None or not self.place.settled:
            return False
        forms = (*self.coordinates, self.when)
        return settled(s for form in forms for s in form.symbols())

    def flattened(self) -> Access:
        """The access in flat form, by the position in memory, where the layout of the buffer is
        static; otherwise with unknown coordinates."""
        if self.flat:
            return self
        position = None if self.coordinates is None else self.buffer.position(self.coordinates, self.sizes)
        return replace(self, coordinates=None if position is None else (position,), flat=True, sizes=())


def space_of_both(a: Access, b: Access) -> str:
    """The memory space that the fence of a barrier must cover to order the two accesses. It is
    "any", which no fence covers, if one of them touches unknown memory."""
    return b.buffer.space if b.buffer.anything else a.buffer.space


ALL_SPACES = frozenset({"workgroup", "global"})
"""The memory spaces in which a barrier can order the accesses of a whole block."""


@record(eq=False)
class Barrier:
    """A barrier of a block or a cluster, of a warp, or of a numbered group of threads.

    Args:
        spaces: the memory spaces in which it orders accesses, among the threads that it waits for.
        candidate: the number of a barrier that is only proposed.
        threads: the number of consecutive threads that a narrow barrier waits for.
        narrow: it waits for `threads` consecutive threads (a warp, a warp group, a numbered group)
            instead of the block. A `gpu.barrier` of subgroup scope or with a named barrier is
            narrow and orders nothing.
        number: the number of a numbered barrier, at which groups of `threads` consecutive threads
            meet.
        assumed: it is unknown whether all threads reach it.
        meets: for a numbered barrier that not all threads of the group execute, the op at which the
            other threads may arrive at its number.
        of_cluster: it waits for all threads of the cluster.
        landings: for an asynchronous product, the waits, at each of which it has ended; None: it
            ends at its op.
    """

    place: Place
    spaces: frozenset[str]
    op: str
    candidate: int | None = None
    narrow: bool = False
    assumed: bool = False
    threads: int = WARP
    of_cluster: bool = False
    number: Linear | None = None
    landings: tuple[Landing, ...] | None = None
    meets: str | None = None

    @property
    def weight(self) -> int:
        """The number of executions by each thread."""
        return prod(loop.weight for loop in self.place.loops)


@dataclass(eq=False)
class KernelModel:
    """The model of a kernel: its accesses, barriers and other synchronization.

    Args:
        barriers: barriers that all threads of a block (of a narrow one: of its group) reach
            together.
        warp_wide: other ops that all threads of a warp (or of a cluster) must reach together;
            modelled as barriers that order nothing.
        divergent: barriers that only some of their threads may reach: faults, which order nothing.
        facts: conditions that hold for every instance (ids are below their sizes).
        given: sizes and scalar arguments known only at run time, by name.
        may_alias: any two buffers from outside may overlap.
        signals, fences: the operations on memory barriers, and the fences that order ordinary
            accesses before asynchronous ones.
        registers: the register changes of warp groups; `register_cap`: the initial number per
            thread, if stated.
        gatherings: the cluster barriers.
        combined: the proven properties of results that threads reduce together.
        products: the products of warp groups; all threads of a group execute a product, and it ends
            for all of them together.
        groups: the commits of groups of asynchronous copies, and the waits for them.
        solver: the default solver for questions about the model; it caches its answers.
    """

    name: str
    shape: LaunchShape
    values: Values
    buffers: tuple[RootBuffer, ...]
    accesses: list[Access] = field(default_factory=list)
    barriers: list[Barrier] = field(default_factory=list)
    warp_wide: list[Barrier] = field(default_factory=list)
    divergent: list[Barrier] = field(default_factory=list)
    signals: list[Signal] = field(default_factory=list)
    fences: list[Fence] = field(default_factory=list)
    registers: list[RegisterChange] = field(default_factory=list)
    register_cap: int | None = None
    products: list[Barrier] = field(default_factory=list)
    gatherings: list[Gathering] = field(default_factory=list)
    groups: list[GroupEvent] = field(default_factory=list)
    combined: tuple[Combined, ...] = ()
    facts: tuple[Formula, ...] = ()
    given: Mapping[str, Linear] = field(default_factory=dict)
    may_alias: bool = False
    solver: Solver = field(default_factory=Solver, repr=False)
    _written: dict[object, int] = field(default_factory=dict, repr=False)

    def written(self, access: Access) -> int:
        """A number that is equal for accesses with the same guards, condition, loops, coordinates
        and matrix element: ISL's answers about their instances are the same."""
        if access not in self._written:
            place = access.place
            key = place.guards, access.when, place.loops, access.coordinates, access.part
            self._written[access] = self._written.setdefault(key, len(self._written))
        return self._written[access]

    @property
    def warp(self) -> Linear | None:
        """The number of a thread's warp; None if the number of threads of a block is unknown."""
        return self.group_of(WARP)

    def in_rows_of_warps(self, a: Access, b: Access) -> bool:
        """Whether a coordinate shows that different warps touch different elements: `n * warp +
        rest` in both accesses, with values of `rest` that differ by less than n."""
        if self.warp is None or a.buffer is not b.buffer:
            return False
        for symbol, unit in list(self.warp.terms.items())[:1]:
            for p, q in zip(a.coordinates or (), b.coordinates or (), strict=False):
                n = p.terms.get(symbol, 0) // unit
                ends = [end for form in (p, q) for end in (form - self.warp * n).bounds() if end is not None]
                if n > 0 and len(ends) == 4 and max(ends[1] - ends[2], ends[3] - ends[0]) < n:
                    return True
        return False

    def group_of(self, threads: int) -> Linear | None:
        """The number of a thread's group of `threads` consecutive threads."""
        if self.shape.threads is None:
            return None
        return self.shape.linear_id(self.values.thread_ids()).floordiv(threads)

    @cached_property
    def deciding(self) -> tuple[Symbol, ...]:
        """The values that decide whether a barrier is executed. Each is the same for all threads of
        a block."""
        steps = dict.fromkeys(step for barrier in self.barriers for step in barrier.place.steps)
        symbols = dict.fromkeys(s for step in steps for guard in step.guards for s in guard.symbols())
        return tuple(s for s in symbols if s.kind not in ("loop", "lane") and not s.depends.thread)

    @property
    def is_asynchronous(self) -> bool:
        """Whether threads wait for anything other than barriers of their block, or an agent other
        than a thread accesses memory."""
        waits = self.signals or self.registers
        return self.shape.blocks > 1 or bool(waits) or any(access.agent for access in self.accesses)

    def may_meet(self, a: Access, b: Access) -> bool:
        """Whether the accesses may touch the same memory, as far as their buffers determine."""
        if a.buffer is b.buffer or a.buffer.anything or b.buffer.anything:
            return True
        return self.may_alias and a.buffer.foreign and b.buffer.foreign


Change = Callable[[Linear], Linear]


def split_ids(model: KernelModel) -> None:
    """Expresses everything in `model` in the digits of the ids that it divides. This must precede
    every other use of the model."""
    radices: dict[Symbol, set[int]] = {}

    def collected(form: Linear) -> Linear:
        _collect(form, radices)
        return form

    _restate(model, collected)
    for threads in {b.threads for b in (*model.barriers, *model.products) if b.narrow}:
        collected(model.group_of(threads) or Linear.of(0))
    taken_apart = {symbol: digits_of(symbol, sorted(found)) for symbol, found in radices.items()}
    ids = {symbol: digits for symbol, digits in taken_apart.items() if digits is not None}

    @cache
    def in_digits(form: Linear) -> Linear:
        return form.replaced(lambda symbol: ids.get(symbol) or Linear.of(symbol))

    if ids:
        model.values.split(ids)
        _restate(model, in_digits)
        looser = ((s, out) for s, out in ids.items() if out.bounds()[1] != s.high)
        model.facts = (*model.facts, *(at_least(out * -1, -(s.high or 0)) for s, out in looser))


def digits_of(symbol: Symbol, radices: list[int]) -> Linear | None:
    """The id as a sum of digits, the most significant first, or None.

    Args:
        radices: the divisors of the id, in ascending order. Only the chain in which each is a
            multiple of the one before becomes digits. Divisions by other numbers remain, applied to
            the sum of the digits.
    """
    chain = [1]
    for radix in radices:
        if radix % chain[-1] == 0:
            chain.append(radix)
    digits: dict[Term, int] = {}
    for unit, above in reversed(list(zip(chain, [*chain[1:], None], strict=True))):
        last = None if symbol.high is None else symbol.high // unit
        high = last if above is None else above // unit - 1
        digits[Symbol(f"{symbol.name}_{unit}", symbol.kind, symbol.depends, 0, high)] = unit
    return Linear(digits, 0) if len(chain) > 1 else None


def _collect(form: Linear, radices: dict[Symbol, set[int]]) -> None:
    """Collects the numbers by which `form` divides ids."""
    for term in form.terms:
        if isinstance(term, Symbol):
            continue
        for inner, c in term.numerator.terms.items():
            if isinstance(inner, Symbol) and inner.kind in ("thread", "block") and inner.high is not None:
                radix, rest = divmod(term.divisor, abs(c))
                if not rest and 1 < radix <= inner.high:
                    radices.setdefault(inner, set()).add(radix)
        _collect(term.numerator, radices)


def _restate(model: KernelModel, change: Change) -> None:
    """Replaces each form in the model by `change(form)`."""
    values = model.values
    for symbol in values.definitions:
        if symbol.definition is not None:
            symbol.define(symbol.definition.changed(change))
    for known in values.made_up.values():
        known.number = change(known.number)
    for known in values.multiples:
        known.processor = change(known.processor)
    things = (
        *model.accesses, *model.barriers, *model.warp_wide, *model.signals, *model.fences, *model.products, *model.registers,
        *model.groups,
    )  # fmt: skip
    steps = dict.fromkeys(step for thing in things for step in thing.place.steps)
    for loop in dict.fromkeys(step.loop for step in steps):
        if loop is not None and loop.variable is not None:
            loop.variable = change(loop.variable)
    for step in steps:
        step.guards = tuple(guard.changed(change) for guard in step.guards)
    for number, access in enumerate(model.accesses):
        coordinates = None if access.coordinates is None else tuple(map(change, access.coordinates))
        block = None if access.block is None else change(access.block)
        when = access.when.changed(change)
        model.accesses[number] = dataclasses.replace(access, coordinates=coordinates, when=when, block=block)
    model.signals[:] = [signal.changed(change) for signal in model.signals]
    numbered = ((b, b.number) for b in model.barriers)
    model.barriers[:] = [b if number is None else replace(b, number=change(number)) for b, number in numbered]
    model.facts = tuple(fact.changed(change) for fact in model.facts)
