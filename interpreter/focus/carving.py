"""Carve what a statement touches out of a module in sections, and put back what it made of it.

The part is a module of its own: the function with the touched sections, and one op of unknown effects (`GAP`) for each stretch
of others between them. It makes the values that come from there and uses those that are used there, so that what is right in the
part is right in the whole.

    sections   a  b  c  d  e  f        `d` is touched, which uses what `a` and `c` make; `f` uses what `d` makes
    part       gap  c  d  gap          … where `c` is a view that `d` reads through
"""

from __future__ import annotations

import dataclasses
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from ..clone import clone_module
from ..mlir import GAP, LOOPS, TENSORS, NotLocalError, ir
from .sections import HOLDER, Body, Section, Sectioned, close


@dataclass(frozen=True)
class Stretch:
    """Sections side by side outside the part: from … to, and the numbers of the values that they make for it and use of it."""

    start: int
    stop: int
    makes: tuple[int, ...]
    uses: tuple[int, ...]


@dataclass(frozen=True)
class Focus:
    """A part of a module, to be rewritten in place; then `merged()` is the module with what became of it."""

    version: Sectioned
    item: int
    module: ir.Module
    places: tuple[int, ...]
    stretches: tuple[Stretch, ...]
    ends: tuple[int, ...]
    """The numbers of the operands of the function's last op."""

    @property
    def body(self) -> Body:
        body = self.version.items[self.item]
        assert isinstance(body, Body)
        return body

    def merged(self) -> Sectioned:
        """The whole module again, which takes over the ops of the part. Raises NotLocalError where the rewrite changed more than
        the function's ops."""
        function, others = self._function()
        block = function.regions[0].blocks[0]
        *ops, end = [view.operation for view in block.operations]
        gaps = [op for op in ops if op.name == GAP]
        if len(gaps) != len(self.stretches):
            raise NotLocalError
        numbers: dict[ir.Value, int] = {a: self.body.first + n for n, a in enumerate(block.arguments)}
        for op, stretch in zip(gaps, self.stretches, strict=True):
            numbers.update(zip(op.results, stretch.makes, strict=True))
        became: dict[int, ir.Value] = {}  # what stands for a value of before
        wanted = [(op, stretch.uses) for op, stretch in zip(gaps, self.stretches, strict=True)]
        for op, uses in (*wanted, (end, self.ends)):
            for value, number in zip(op.operands, uses, strict=True):
                if became.setdefault(number, value) != value:
                    raise NotLocalError
        renamed = {n: numbers[value] for n, value in became.items() if numbers.setdefault(value, n) != n}
        body = self.body
        sections, new, fresh = self._merged(ops, numbers)
        gone = [body.sections[place] for place in self.places]
        if renamed:
            affected = {s for n in renamed for s in body.index.users.get(n, ())}.difference(gone)
            replaced = {section: _renamed(section, renamed) for section in affected}
            sections = [replaced.get(section, section) for section in sections]
            gone, new = [*gone, *replaced], [*new, *replaced.values()]
        items = list(self.version.items)
        items[self.item] = body.changed(sections, gone, new)
        return self.version.with_items(self._shell(), items, others, fresh)

    def _function(self) -> tuple[ir.Operation, list[ir.Operation]]:
        """The function of the part, and what has come to stand beside it."""
        husk, there = self.body.husk, self.version.symbols
        name = husk.attributes["sym_name"]
        tops = [view.operation for view in self.module.body.operations]
        if any("sym_name" not in op.attributes for op in tops):
            raise NotLocalError
        function = next((op for op in tops if op.attributes["sym_name"] == name), None)
        if function is None or len(function.regions[0].blocks) != 1 or _attributes(function) != _attributes(husk):
            raise NotLocalError
        others = [op for op in tops if op != function and ir.StringAttr(op.attributes["sym_name"]).value not in there]
        for op in others:
            op.detach_from_parent()
        return function, others

    def _merged(
        self, ops: Sequence[ir.Operation], numbers: dict[ir.Value, int]
    ) -> tuple[list[Section], list[Section], int]:
        """The function's sections: the part's ops, and in each gap the sections that it stands for; and the part's alone."""
        fresh, sections, new = self.version.numbers, list[Section](), list[Section]()
        stretches = iter(self.stretches)
        for op in ops:
            if op.name == GAP:
                stretch = next(stretches)
                sections += self.body.sections[stretch.start : stretch.stop]
                continue
            for result in op.results:
                if result not in numbers:
                    numbers[result], fresh = fresh, fresh + 1
            new.append(close(op, numbers, tuple(numbers[r] for r in op.results)))
            sections.append(new[-1])
        return [*sections, self.body.sections[-1]], new, fresh

    def _shell(self) -> ir.Module:
        """The module's attributes after the rewrite."""
        shell, attributes = self.version.shell, self.module.operation.attributes
        if all(name in shell.operation.attributes for name in attributes):
            return shell
        shell = clone_module(shell)
        for name in attributes:
            shell.operation.attributes[name] = attributes[name]
        return shell


def _attributes(op: ir.Operation) -> dict[str, ir.Attribute]:
    return {name: op.attributes[name] for name in op.attributes}


def _renamed(section: Section, renamed: dict[int, int]) -> Section:
    return dataclasses.replace(section, inputs=tuple(renamed.get(n, n) for n in section.inputs))


def carve(version: Sectioned, tags: Sequence[str] | None) -> Focus | None:
    """The part around the ops with these tags, or (None) around all mapped ops. None where they are not all in one function in
    sections, or refer to what stands elsewhere."""
    found: dict[int, set[Section]] = {}
    for number, item in enumerate(version.items):
        if isinstance(item, Body):
            tagged = item.index.tagged
            here = set(item.index.mapped) if tags is None else {tagged[tag] for tag in tags if tag in tagged}
            if here:
                found[number] = here
    if len(found) != 1:
        return None
    ((number, touched),) = found.items()
    body = version.items[number]
    assert isinstance(body, Body)
    if not all(tag in body.index.tagged for tag in tags or ()):
        return None
    return _checked(version, number, *_with_what_is_read(body, touched))


def carve_around(version: Sectioned, body: Body, section: Section) -> Focus | None:
    """The part around one section of the body."""
    return _checked(version, version.items.index(body), *_with_what_is_read(body, {section}))


def carve_section(version: Sectioned, number: int, place: int) -> Focus:
    """The part that is one section of the body `number`, for who looks at nothing else."""
    return _part(version, number, (place,), set())


def only_body(version: Sectioned) -> tuple[int, Body | None]:
    """The one function that holds all structured ops, and which item it is; None where there are more, or other ops that could."""
    bodies = [(number, item) for number, item in enumerate(version.items) if isinstance(item, Body)]
    others = (item for item in version.items if isinstance(item, ir.Operation))
    if len(bodies) != 1 or any(op.name not in ("gpu.module", "memref.global") for op in others):
        return -1, None
    return bodies[0]


def _checked(version: Sectioned, number: int, places: tuple[int, ...], unseen: set[int]) -> Focus | None:
    body = version.items[number]
    assert isinstance(body, Body)
    if places[-1] == len(body.sections) - 1:
        return None
    chosen = {body.sections[n] for n in places}
    for section in chosen:
        for value, kind in section.types():
            maker = body.index.makers.get(value)
            if maker is not None and maker not in chosen and not isinstance(kind, ir.RankedTensorType):
                return None  # a buffer, or a number, of which more is to be known
    if any(name in body.sections[n].names for n in places for name in ("func.call", "gpu.launch_func")):
        return None
    return _part(version, number, places, unseen)


_GONE_THROUGH = ("tensor.", "bufferization.")


def _with_what_is_read(body: Body, touched: set[Section]) -> tuple[tuple[int, ...], set[int]]:
    """The places of these sections, of what their values go through, and of what they read through, up to the nearest structured
    ops; and the values of the part behind which there is more that could be looked at."""
    places, makers, users = body.index.places, body.index.makers, body.index.users
    chosen, open_ = set(touched), list(touched)
    while open_:
        for number in open_.pop().outputs:
            for user in users.get(number, ()):
                if user not in chosen and user.name.startswith(_GONE_THROUGH):
                    chosen.add(user)
                    open_.append(user)
    near = {number for section in chosen for number in section.inputs}
    unseen: set[int] = set()
    waiting = [-places[maker] for number in near if (maker := makers.get(number)) is not None]
    heapify(waiting)
    seen: set[int] = set()
    while waiting:  # the last one first: what reads a value comes before its maker
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
                heappush(waiting, -places[maker])
    return tuple(sorted(places[section] for section in chosen)), unseen


def _part(version: Sectioned, number: int, places: tuple[int, ...], unseen: set[int]) -> Focus:
    body = version.items[number]
    assert isinstance(body, Body)
    *sections, last = body.sections
    module = clone_module(version.shell)
    for name in sorted({name for n in places for name in sections[n].symbols}):
        if name in version.symbols:
            module.body.append(version.symbols[name].clone())
    function = body.husk.clone().operation
    module.body.append(function)
    block = function.regions[0].blocks[0]
    chosen = [sections[n] for n in places]
    kinds = {value: kind for section in (*chosen, last) for value, kind in section.types()}
    needed = {value for section in (*chosen, last) for value in section.inputs}
    inside = {value for section in chosen for value in section.outputs}
    values: dict[int, ir.Value] = {n: block.arguments[n - body.first] for n in needed if body.is_argument(n)}
    starts = [start for start, stop in _between(places, len(sections)) if start < stop]
    stops = [stop for start, stop in _between(places, len(sections)) if start < stop]
    makes: list[list[int]] = [[] for _ in starts]
    uses: list[set[int]] = [set() for _ in starts]
    for value in sorted(needed - inside):
        if not body.is_argument(value):
            makes[bisect_right(starts, body.index.places[body.index.makers[value]]) - 1].append(value)
    taken = set(chosen)
    for value in inside:
        for user in body.index.users.get(value, ()):
            if user not in taken and user is not last:
                uses[bisect_right(starts, body.index.places[user]) - 1].add(value)
    stretches = tuple(
        Stretch(start, stop, tuple(m), tuple(sorted(u))) for start, stop, m, u in zip(starts, stops, makes, uses, strict=True)
    )
    with module.context, ir.Location.unknown():
        end = ir.Operation.create(HOLDER, ip=ir.InsertionPoint(block))  # to be in front of, while the ops are put in
        following = {stretch.start: stretch for stretch in stretches}
        for start, place in zip((0, *(p + 1 for p in places)), (*places, len(sections)), strict=True):
            if start < place:
                stretch = following[start]
                gap = _gap(stretch, kinds, values, unseen, end)
                values.update(zip(stretch.makes, gap.results, strict=True))
            if place < len(sections):
                op = sections[place].open(end, values)
                values.update(zip(sections[place].outputs, op.results, strict=True))
        returned = last.open(end, values)
        end.erase()
        for gap in (view.operation for view in block.operations):
            if gap.name == GAP:
                _describe(gap, body, chosen)
    backwards = {value: n for n, value in values.items()}
    return Focus(version, number, module, places, stretches, tuple(backwards[v] for v in returned.operands))


def _between(places: Sequence[int], count: int) -> list[tuple[int, int]]:
    """From … to in front of, between and behind these places."""
    return list(zip((0, *(place + 1 for place in places)), (*places, count), strict=True))


def _gap(
    stretch: Stretch, kinds: dict[int, ir.Type], values: dict[int, ir.Value], unseen: set[int], before: ir.Operation
) -> ir.Operation:
    """The op that stands for a stretch."""
    results, operands = [kinds[v] for v in stretch.makes], [values[v] for v in stretch.uses]
    gap = ir.Operation.create(GAP, results, operands, ip=ir.InsertionPoint(before))
    hidden = [n for n, value in enumerate(stretch.makes) if value in unseen]
    if hidden:
        gap.attributes["unseen"] = ir.DenseI64ArrayAttr.get(hidden)
    return gap


def _describe(gap: ir.Operation, body: Body, chosen: Sequence[Section]) -> None:
    """Say of a gap what a rewrite may want to know of all that is not in the part."""
    if body.index.tensors > sum(section.tensors for section in chosen):
        gap.attributes[TENSORS] = ir.UnitAttr.get()
    if body.index.loops > sum(section.loops for section in chosen):
        gap.attributes[LOOPS] = ir.UnitAttr.get()
