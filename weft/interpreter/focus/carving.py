"""Carves the part that a statement accesses out of a sectioned module, and merges the rewritten
part back.

The part is a module of its own: the function with the sections that the statement accesses. Each
run of other sections is replaced by one op of unknown effects, the gap (`GAP`), which defines and
uses the same values as the run. So a rewrite that is valid in the part is valid in the whole.

    sections   a  b  c  d  e  f        the statement accesses `d`, which uses the result of `a` and reads through the view `c`
    part       gap  c  d  gap          the first gap is `a` and `b`, the second `e` and `f`
"""

from __future__ import annotations

import dataclasses
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from functools import cached_property
from heapq import heapify, heappop, heappush

from ...dsl.records import record
from ..ir.cloning import clone_module, empty_module
from ..ir.functions import symbol
from ..ir.mlir import GAP, LOOPS, TENSORS, NotLocalError, attributes, ir, operations, ops_of
from ..ir.structured import is_structured
from ..memory.views import VIEWS
from .leaves import state_leaves
from .modules import ContentChange, Sectioned, take_apart
from .sections import HOLDER, MAP, Body, Edit, Section, close


@record
class Stretch:
    """A range of adjacent sections outside the part, and the numbers of the values that they define
    for it and use from it."""

    start: int
    stop: int
    makes: tuple[int, ...]
    uses: tuple[int, ...]


@record
class Focus:
    """A part of a module, to be rewritten in place; then `merged()` is the module with the
    rewritten part."""

    version: Sectioned
    item: int
    module: ir.Module
    places: tuple[int, ...]
    stretches: tuple[Stretch, ...]
    ends: tuple[int, ...]
    """The numbers of the operands of the function's terminator."""
    touched: frozenset[str] = frozenset()
    """The tags in the sections of the part proper; all other sections are their operands'
    definitions, and users of their results."""

    @property
    def body(self) -> Body:
        return self.version.content.body(self.item)

    def covers(self, tags: Sequence[str]) -> bool:
        """Whether the part, or its rewritten form, covers the ops with these tags."""
        bodies = self.version.content.bodies
        return all(tag in self.touched or not any(tag in body.tagged for body in bodies) for tag in tags) and bool(
            self.touched
        )

    def again(self) -> Focus:
        """The same part in its current form, to be rewritten further."""
        return dataclasses.replace(self, module=clone_module(self.module))

    def merged(self) -> Sectioned:
        """The whole module with the rewritten part. It takes over the ops of the part, which must
        not be used any more."""
        ops, gaps, others, values = self._rewritten
        for op in others:
            op.detach_from_parent()
        body = self.body
        numbers: dict[ir.Value, int] = {a: body.first + n for n, a in enumerate(ops[0].block.arguments)} if ops else {}
        for gap, stretch in zip(gaps, self.stretches, strict=True):
            numbers.update(zip(gap.results, stretch.makes, strict=True))
        renamed = {n: numbers[value] for n, value in values.items() if numbers.setdefault(value, n) != n}
        edits, fresh = self._edits(ops, numbers)
        within = {body.sections[place] for place in self.places}
        for section in {user for n in renamed for user in body.users(n)}.difference(within):
            place = body.place(section)
            inputs = tuple(renamed.get(n, n) for n in section.inputs)
            edits.append((place, place + 1, [dataclasses.replace(section, inputs=inputs)]))
        edits.sort(key=lambda edit: edit[:2])
        return self.version.changed(self._shell(), fresh, ContentChange(self.item, edits, others))

    def check(self) -> Focus:
        """Raises NotLocalError if a rewrite has changed more than the function's ops."""
        _ = self._rewritten
        return self

    @cached_property
    def _rewritten(self) -> tuple[list[ir.Operation], list[ir.Operation], list[ir.Operation], dict[int, ir.Value]]:
        """The ops of the part's function, without its terminator; the gaps among them; the new
        symbols beside the function; and by number, the values that replace values used outside of
        the part. Raises NotLocalError as `check` does."""
        body, there = self.body, self.version.content.symbols
        name = body.attributes["sym_name"]
        tops = ops_of(self.module.body)
        if any("sym_name" not in op.attributes for op in tops):
            raise NotLocalError
        function = next((op for op in tops if op.attributes["sym_name"] == name), None)
        if function is None or len(function.regions[0].blocks) != 1 or attributes(function) != body.attributes:
            raise NotLocalError
        others = [op for op in tops if op != function and symbol(op) not in there]
        *ops, end = ops_of(function.regions[0].blocks[0])
        gaps = [op for op in ops if op.name == GAP]
        if len(gaps) != len(self.stretches):
            raise NotLocalError
        values: dict[int, ir.Value] = {}
        wanted = [(op, stretch.uses) for op, stretch in zip(gaps, self.stretches, strict=True)]
        for op, uses in (*wanted, (end, self.ends)):
            for value, number in zip(op.operands, uses, strict=True):
                if values.setdefault(number, value) != value:
                    raise NotLocalError
        return ops, gaps, others, values

    def _edits(self, ops: Sequence[ir.Operation], numbers: dict[ir.Value, int]) -> tuple[list[Edit], int]:
        """The edits that put the part's ops back into the function's sections: before the first
        stretch that was left out, between stretches, and after the last one. Returns them with the
        next unused number of a value."""
        fresh, runs = self.version.numbers, [list[Section]()]
        for op in ops:
            if op.name == GAP:
                runs.append([])
                continue
            for result in op.results:
                if result not in numbers:
                    numbers[result], fresh = fresh, fresh + 1
            runs[-1].append(close(op, numbers, tuple(numbers[r] for r in op.results)))
        starts = (0, *(stretch.stop for stretch in self.stretches))
        stops = (*(stretch.start for stretch in self.stretches), len(self.body.sections) - 1)
        return list(zip(starts, stops, runs, strict=True)), fresh

    def _shell(self) -> ir.Module:
        """The module's attributes after the rewrite."""
        shell, given = self.version.shell, attributes(self.module.operation)
        return shell if given.keys() <= attributes(shell.operation).keys() else empty_module(shell, given)


Beside = Callable[[Body, Set[Section]], Iterable[Section]]
"""Sections that belong to a part beside the touched ones."""


def carve(version: Sectioned, tags: Sequence[str] | None, beside: Beside = lambda *_: ()) -> Focus | None:
    """The part around the ops with these tags; for None, around all mapped ops. None if the ops are
    not all in one sectioned function, or refer to other symbols."""
    found: dict[int, set[Section]] = {}
    for number, item in enumerate(version.content.items):
        if isinstance(item, Body):
            here = set(item.mapped) if tags is None else {item.tagged[tag] for tag in tags if tag in item.tagged}
            if here:
                found[number] = here
        elif tags is None and item.name == "func.func" and any(MAP in op.attributes for op in operations(item)):
            return None
    if len(found) != 1:
        return None
    ((number, touched),) = found.items()
    if not all(tag in version.content.body(number).tagged for tag in tags or ()):
        return None
    return _checked(version, number, touched | {*beside(version.content.body(number), touched)})


def writers(body: Body, touched: Set[Section]) -> Iterator[Section]:
    """For each buffer that touched sections access, the last access before, by a structured op."""
    for section in touched:
        for number, kind in section.types(lambda _: True):
            while (maker := body.makers.get(number)) is not None and maker.name in VIEWS and maker.inputs:
                number = maker.inputs[0]
            if isinstance(kind, ir.MemRefType):
                accesses = body.users_between(number, 0, body.place(section)) if body.place(section) else ()
                last = next((user for user in accesses if user.name not in VIEWS), None)
                if last is not None and is_structured(last.op):
                    yield last


def carve_around(version: Sectioned, body: Body, section: Section) -> Focus | None:
    """The part around one section of the body."""
    return _checked(version, version.content.items.index(body), {section})


def carve_section(version: Sectioned, body: Body, section: Section) -> Focus:
    """The part that is one section of the body, for callers that need nothing else."""
    return _part(version, version.content.items.index(body), (body.place(section),), set())


def _checked(version: Sectioned, number: int, touched: set[Section]) -> Focus | None:
    body = version.content.body(number)
    places, unseen = _with_what_is_read(body, touched)
    if places[-1] == len(body.sections) - 1:
        return None
    chosen = [body.sections[n] for n in places]
    inside = set(chosen)
    for section in chosen:
        if "func.call" in section.names or "gpu.launch_func" in section.names:
            return None
        for _, kind in section.types(lambda n: (maker := body.makers.get(n)) is not None and maker not in inside):
            if not isinstance(kind, ir.RankedTensorType):
                return None  # a buffer, or a number, the definition of which matters
    return _part(version, number, places, unseen, frozenset().union(*(section.tags for section in touched)))


_GONE_THROUGH = ("tensor.", "bufferization.")


def _with_what_is_read(body: Body, touched: set[Section]) -> tuple[tuple[int, ...], set[int]]:
    """The positions of these sections, of views of their values, and of the definitions of their
    operands up to the nearest structured ops; and the values of the part that are defined outside
    of it."""
    makers = body.makers
    chosen, open_ = set(touched), list(touched)
    while open_:
        for number in open_.pop().outputs:
            for user in body.users(number):
                if user not in chosen and user.name.startswith(_GONE_THROUGH):
                    chosen.add(user)
                    open_.append(user)
    near = {number for section in chosen for number in section.inputs}
    unseen: set[int] = set()
    waiting = [-body.place(maker) for number in near if (maker := makers.get(number)) is not None]
    heapify(waiting)
    seen: set[int] = set()
    while waiting:  # the last one first: a use comes before its definition
        place = -heappop(waiting)
        section = body.sections[place]
        if place in seen or section in touched:
            continue
        seen.add(place)
        through = section.seen_through
        if not through and not section.name.startswith("linalg."):
            continue
        direct = not near.isdisjoint(section.outputs)
        if not through and not direct:
            unseen.update(section.outputs)
            continue
        chosen.add(section)
        if through and direct:
            near.update(section.inputs)
        for number in section.inputs:
            if (maker := makers.get(number)) is not None:
                heappush(waiting, -body.place(maker))
    return tuple(sorted(map(body.place, chosen))), unseen


def _part(
    version: Sectioned, number: int, places: tuple[int, ...], unseen: set[int], touched: frozenset[str] = frozenset()
) -> Focus:
    body, symbols = version.content.body(number), version.content.symbols
    chosen, last = [body.sections[n] for n in places], body.sections[-1]
    module = clone_module(version.shell)
    for name in sorted({name for section in chosen for name in section.symbols}):
        if name in symbols:
            module.body.append(symbols[name].clone())
    function = body.husk.clone().operation
    module.body.append(function)
    block = function.regions[0].blocks[0]
    inside = {value for section in chosen for value in section.outputs}
    values: dict[int, ir.Value] = {}
    kinds: dict[int, ir.Type] = {}
    for section in (*chosen, last):
        for value in section.inputs:
            if body.is_argument(value):
                values[value] = block.arguments[value - body.first]
        kinds.update(section.types(lambda n: not body.is_argument(n) and n not in inside))
    passed = [n for n, value in values.items() if isinstance(value.type, ir.MemRefType)]
    between = [(start, stop) for start, stop in _between(places, len(body.sections) - 1) if start < stop]
    starts = [start for start, _ in between]
    makes: list[list[int]] = [[] for _ in starts]
    for value in sorted(kinds):
        makes[bisect_right(starts, body.place(body.makers[value])) - 1].append(value)
    used = sorted(inside)
    stretches = tuple(
        Stretch(start, stop, tuple(made), tuple(n for n in used if body.is_used(n, start, stop)))
        for (start, stop), made in zip(between, makes, strict=True)
    )
    with module.context, ir.Location.unknown():
        end = ir.Operation.create(HOLDER, ip=ir.InsertionPoint(block))  # an insertion point while the ops are inserted
        following = {stretch.start: stretch for stretch in stretches}
        for start, place in _between(places, len(body.sections) - 1):
            if start < place:
                stretch = following[start]
                gap = _gap(stretch, kinds, values, unseen, end)
                state_leaves(gap, (stretch.start, stretch.stop), (*stretch.uses, *stretch.makes), passed, body)
                values.update(zip(stretch.makes, gap.results, strict=True))
            if place < len(body.sections) - 1:
                op = body.sections[place].open(end, values)
                values.update(zip(body.sections[place].outputs, op.results, strict=True))
        returned = last.open(end, values)
        end.erase()
        for gap in ops_of(block):
            if gap.name != GAP:
                continue
            # facts that a rewrite may need of everything outside the part
            if body.tensors > sum(section.tensors for section in chosen):
                gap.attributes[TENSORS] = ir.UnitAttr.get()
            if body.loops > sum(section.loops for section in chosen):
                gap.attributes[LOOPS] = ir.UnitAttr.get()
    backwards = {value: n for n, value in values.items()}
    return Focus(version, number, module, places, stretches, tuple(backwards[v] for v in returned.operands), touched)


def _between(places: Sequence[int], count: int) -> list[tuple[int, int]]:
    """Ranges before, between and after these positions."""
    return list(zip((0, *(place + 1 for place in places)), (*places, count), strict=True))


def _gap(
    stretch: Stretch, kinds: dict[int, ir.Type], values: dict[int, ir.Value], unseen: set[int], before: ir.Operation
) -> ir.Operation:
    """The op that replaces a stretch."""
    results, operands = [kinds[v] for v in stretch.makes], [values[v] for v in stretch.uses]
    gap = ir.Operation.create(GAP, results, operands, ip=ir.InsertionPoint(before))
    hidden = [n for n, value in enumerate(stretch.makes) if value in unseen]
    if hidden:
        gap.attributes["unseen"] = ir.DenseI64ArrayAttr.get(hidden)
    return gap


SMALL = 40
"""A part of more sections than this is not copied for a statement on a few of them."""


class Version:
    """The module between two statements, immutable: whole, or in sections, or a part that a
    statement has rewritten, which is merged when more than the part is needed.

    Args:
        untidy: common subexpressions have not been eliminated, so that the next statement needs the
            whole module.
    """

    def __init__(self, whole: ir.Module | None = None, part: Focus | None = None, *, untidy: bool = False) -> None:
        self._whole, self._part, self.untidy = whole, part, untidy
        self._sections: Sectioned | None = None
        self._apart = untidy

    @property
    def module(self) -> ir.Module:
        """The whole module, not to be changed."""
        if self._whole is None:
            assert self.sections is not None
            self._whole = self.sections.whole()
        return self._whole

    @property
    def sections(self) -> Sectioned | None:
        """The module in sections; None for one that is too small to benefit."""
        if not self._apart:
            self._sections = self._part.merged() if self._part is not None else take_apart(self.module)
            self._apart, self._part = True, None
        return self._sections

    @property
    def functions(self) -> tuple[ir.Operation, ...]:
        """The functions with bodies, not to be changed; those in sections without the ops in their
        bodies. A statement that changes no op beside those of a part leaves the same ones."""
        items = ops_of(self.module.body) if self.sections is None else self.sections.content.items
        found = [
            op for item in items for op in ([item.husk] if isinstance(item, Body) else operations(item, "func.func"))
        ]
        return tuple(op for op in found if len(op.regions[0].blocks))

    def tagged(self, tag: str) -> ir.Operation | None:
        """The op with a tag, not to be changed."""
        bodies = () if self.sections is None else self.sections.content.bodies
        section = next((body.tagged[tag] for body in bodies if tag in body.tagged), None)
        root = self.module.operation if section is None else section.op
        return next((op for op in operations(root) if tag in op.attributes), None)

    def parts(self, tags: Sequence[str] | None, beside: Beside = lambda *_: ()) -> Iterator[Focus]:
        """The parts of a large module around the ops with these tags, or around all mapped ops: the
        part of the previous statement if it covers them and is small, and a newly carved one."""
        if self._part is not None and tags and len(self._part.places) <= SMALL and self._part.covers(tags):
            yield self._part.again()
        focus = None if self.sections is None else carve(self.sections, tags, beside)
        if focus is not None:
            yield focus
