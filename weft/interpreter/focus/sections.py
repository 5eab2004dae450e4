"""A function in sections. A section is one op of the function's body, stored separately and
immutable, with an argument for each value that it uses. Values have numbers, which are the same in
all versions of the module. Edits, each with an inverse, change the function in place."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property

from ...dsl.records import record
from ..ir.cloning import LEAVES
from ..ir.functions import arguments, name_of
from ..ir.mlir import GAP, attributes, ir, is_tensor, operations, walk
from ..memory.effects import is_memref, written
from ..memory.table import ALLOCATIONS
from ..memory.views import is_view, way

HOLDER = "scf.execute_region"
"""Holds a section's op; never visible outside and never verified."""

LARGE = 40
"""A function with more ops than this in its body is divided into sections."""

MAP = "weft.map"


def changes_buffer(text: str | None) -> bool:
    """Whether what a launch states of a buffer (`LEAVES`) is not that it leaves it as it is."""
    return text is None or any(json.loads(text)[n] is not None for n in (1, 3))


@record(eq=False)
class Section:
    """One op of a function's body.

    Args:
        holder: an op whose region holds it; the region's arguments replace `inputs`.
        name: the op's.
        inputs, outputs: numbers of the values it uses and defines.
        names: the number of ops of each name in it.
        tags: the attributes `weft.h3` on its ops.
        mapped: whether one of its ops has a map.
        tensors: whether it uses, defines or computes with tensors.
        symbols: the symbols that it refers to.
    """

    holder: ir.Operation
    name: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    names: Mapping[str, int]
    tags: frozenset[str]
    mapped: bool
    tensors: bool
    symbols: frozenset[str]

    @property
    def op(self) -> ir.Operation:
        return self.holder.regions[0].blocks[0].operations[0].operation

    @cached_property
    def seen_through(self) -> bool:
        """Whether rewrites trace values through the op to its operands: only ops without regions,
        and paddings."""
        return not len(self.op.regions) or self.name.startswith("tensor.")

    @cached_property
    def changed(self) -> tuple[int, ...]:
        """The buffers that the op may write, or of which it makes a view."""
        passed = [
            (n, v) for n, v in zip(self.inputs, self.holder.regions[0].blocks[0].arguments, strict=True) if is_memref(v)
        ]
        if LEAVES in self.op.attributes and self.name != GAP:
            texts = zip(arguments(self.op), json.loads(ir.StringAttr(self.op.attributes[LEAVES]).value), strict=True)
            changed = [value for value, text in texts if changes_buffer(text)]
            return tuple(dict.fromkeys(n for n, v in passed if v in changed))
        if not is_view(self.op):
            changed = {v for op in operations(self.op) for each in written(op) for v in way(each)}
            passed = [(n, v) for n, v in passed if v in changed]
        return tuple(dict.fromkeys(n for n, _ in passed))

    @cached_property
    def loops(self) -> bool:
        """Whether the op is a loop or a launch."""
        return self.name.startswith(("scf.", "affine.for", "affine.parallel", "gpu."))

    @cached_property
    def structured(self) -> tuple[tuple[str, int], ...]:
        """The number of structured ops of each name in it."""
        return tuple((name, count) for name, count in self.names.items() if name.startswith("linalg."))

    @cached_property
    def buffers(self) -> frozenset[str]:
        """The names of the buffers that it allocates."""
        return frozenset(
            name for op in operations(self.holder, *ALLOCATIONS) if (name := name_of(op.results[0])) is not None
        )

    def types(self, wanted: Callable[[int], bool]) -> Iterator[tuple[int, ir.Type]]:
        """The numbers and types of its operands among `wanted`."""
        if any(map(wanted, self.inputs)):
            arguments = self.holder.regions[0].blocks[0].arguments
            yield from ((n, a.type) for n, a in zip(self.inputs, arguments, strict=True) if wanted(n))

    def open(self, before: ir.Operation, values: Mapping[int, ir.Value]) -> ir.Operation:
        """A copy of the op, before `before`, that uses these values."""
        holder = self.holder.clone().operation
        block = holder.regions[0].blocks[0]
        for argument, number in zip(block.arguments, self.inputs, strict=True):
            argument.replace_all_uses_with(values[number])
        op = block.operations[0].operation
        op.move_before(before)
        return op


def close(op: ir.Operation, numbers: Mapping[ir.Value, int], outputs: tuple[int, ...]) -> Section:
    """The section of `op`, which is removed from its block."""
    uses: dict[ir.Value, list[ir.Operation]] = {}
    inside: set[ir.Value] = set(op.results)
    names: Counter[str] = Counter()
    tags: set[str] = set()
    symbols: set[str] = set()
    tensors = mapped = False

    def look(inner: ir.Operation) -> None:
        nonlocal tensors, mapped
        name = inner.name
        names[name] += 1
        for value in inner.operands:
            if value not in inside:
                uses.setdefault(value, []).append(inner)
        if name in _REFERRING:
            symbols.update(_symbols(inner))
        results = inner.results
        if len(inner.regions):
            for region in inner.regions:
                for block in region.blocks:
                    inside.update(block.arguments)
                    tensors = tensors or any(map(is_tensor, block.arguments))
        if inner != op:
            inside.update(results)
        tensors = tensors or any(map(is_tensor, results))
        for attribute in inner.attributes:
            if attribute.startswith("weft."):
                if attribute.startswith("weft.h") and attribute[6:].isdigit():
                    tags.add(attribute)
                mapped = mapped or attribute == MAP

    walk(op, look)
    with op.context, op.location:
        holder = ir.Operation.create(HOLDER, regions=1)
    block = holder.regions[0].blocks.append(*[v.type for v in uses], arg_locs=[op.location] * len(uses))
    for (value, users), argument in zip(uses.items(), block.arguments, strict=True):
        for user in users:
            user.replace_uses_of_with(value, argument)
    tensors = tensors or any(map(is_tensor, uses))
    inputs = tuple(numbers[v] for v in uses)
    op.detach_from_parent()
    block.append(op)
    return Section(holder, op.name, inputs, outputs, names, frozenset(tags), mapped, tensors, frozenset(symbols))


_REFERRING = ("memref.get_global", "func.call", "gpu.launch_func")


def _symbols(op: ir.Operation) -> Iterator[str]:
    for name in ("name", "callee", "kernel"):
        if name in op.attributes:
            yield str(op.attributes[name]).lstrip("@").split("::", 1)[0].strip('"')


Edit = tuple[int, int, Sequence[Section]]
"""A range of positions, and the sections that replace it."""

_APART = 1 << 48


class Body:
    """A function: the op without its body, the number of its first argument, and the sections of
    its body. The last section is the terminator. Sections are never searched linearly, and the cost
    of an edit does not grow with their number: each has a label, in the order of positions, and
    labels remain valid when positions change."""

    def __init__(self, husk: ir.Operation, first: int, arguments: int, sections: Sequence[Section]) -> None:
        self.husk, self.first, self.arguments = husk, first, arguments
        self.attributes = attributes(husk)
        self.sections = list(sections)
        self._index()

    def _index(self) -> None:
        self.makers: dict[int, Section] = {}
        self.tagged: dict[str, Section] = {}
        self.mapped: set[Section] = set()
        self.tensors = self.loops = 0
        self._users: dict[int, list[int]] = {}
        self._named: dict[str, list[int]] = {}
        self._labels = [_APART * n for n in range(len(self.sections))]
        self._label = dict(zip(self.sections, self._labels, strict=True))
        for section in self.sections:
            self._enter(section)

    def edit(self, edits: Sequence[Edit]) -> list[Edit]:
        """Applies the edits, whose positions (in order) are those before the first of them. Returns
        the inverse edits."""
        back: list[Edit] = []
        moved, room = 0, True
        for before, until, new in edits:
            start, stop = before + moved, until + moved
            gone = self.sections[start:stop]
            back.append((start, start + len(new), gone))
            moved += len(new) - len(gone)
            for section in gone if room else ():
                self._leave(section)
            self.sections[start:stop] = new
            labels = self._between(start, stop, len(new)) if room else None
            if labels is None:
                room = False
                continue
            self._labels[start:stop] = labels
            self._label.update(zip(new, labels, strict=True))
            for section in new:
                self._enter(section)
        if not room:
            self._index()
        return back

    def _between(self, start: int, stop: int, count: int) -> list[int] | None:
        """Labels for `count` sections that replace those in a range; None if there is no room
        between the labels of the neighbours."""
        low = self._labels[start - 1] if start else self._labels[stop] - (count + 1) * _APART
        high = self._labels[stop] if stop < len(self._labels) else low + (count + 1) * _APART
        step = (high - low) // (count + 1)
        return [low + step * (n + 1) for n in range(count)] if step else None

    def _enter(self, section: Section) -> None:
        label = self._label[section]
        for number in section.inputs:
            insort(self._users.setdefault(number, []), label)
        for name, count in section.structured:
            for _ in range(count):
                insort(self._named.setdefault(name, []), label)
        self.makers.update(dict.fromkeys(section.outputs, section))
        self.tagged.update(dict.fromkeys(section.tags, section))
        if section.mapped:
            self.mapped.add(section)
        self.tensors += section.tensors
        self.loops += section.loops

    def _leave(self, section: Section) -> None:
        label = self._label.pop(section)
        for number in section.inputs:
            labels = self._users[number]
            del labels[bisect_left(labels, label)]
        for name, count in section.structured:
            labels = self._named[name]
            at = bisect_left(labels, label)
            del labels[at : at + count]
        for number in section.outputs:
            if self.makers.get(number) is section:
                del self.makers[number]
        for tag in section.tags:
            if self.tagged.get(tag) is section:
                del self.tagged[tag]
        self.mapped.discard(section)
        self.tensors -= section.tensors
        self.loops -= section.loops

    def _at(self, label: int) -> Section:
        return self.sections[bisect_left(self._labels, label)]

    def place(self, section: Section) -> int:
        return bisect_left(self._labels, self._label[section])

    def users(self, number: int) -> Iterator[Section]:
        """The sections that use a value, in their order."""
        return map(self._at, self._users.get(number, ()))

    def users_between(self, number: int, start: int, stop: int) -> Iterator[Section]:
        """The sections in a range that use the value, the last one first; none for an argument that no
        section changes."""
        labels = self._users.get(number, [])
        if self.is_argument(number) and not any(number in section.changed for section in self.users(number)):
            return iter(())
        first, end = bisect_left(labels, self._labels[start]), bisect_right(labels, self._labels[stop - 1])
        return map(self._at, reversed(labels[first:end]))

    def is_used(self, number: int, start: int, stop: int) -> bool:
        """Whether a section in a range uses the value."""
        labels = self._users.get(number, ())
        at = bisect_left(labels, self._labels[start])
        return at < len(labels) and labels[at] <= self._labels[stop - 1]

    def count(self, name: str) -> int:
        """The number of structured ops with this name."""
        return len(self._named.get(name, ()))

    def nth(self, name: str, number: int) -> tuple[Section, int]:
        """The position of the `number`-th op of a name: the section, and the op's number there."""
        labels = self._named[name]
        return self._at(labels[number]), number - bisect_left(labels, labels[number])

    def is_argument(self, number: int) -> bool:
        return self.first <= number < self.first + self.arguments
