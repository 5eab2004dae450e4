"""A function in sections, and where things are in it. It is changed in place: by edits, each of which knows what takes it back."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence

from ..ir.mlir import ir
from .sections import Section

Edit = tuple[int, int, Sequence[Section]]
"""From … to: the places whose sections become these."""

_APART = 1 << 48


class Body:
    """A function: itself without the ops in its body, the number of its first argument, and what stands in the body. The last of
    its sections ends it. Nobody has to search the sections, and no edit costs more where there are more of them: each has a label,
    in the order of their places, and labels stay where places move."""

    def __init__(self, husk: ir.Operation, first: int, arguments: int, sections: Sequence[Section]) -> None:
        self.husk, self.first, self.arguments = husk, first, arguments
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
        """Make the edits, whose places (in order) are those before the first of them. Returns the edits that take them back."""
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
        """Labels for as many sections in place of those from … to; None where there is no room between their neighbours'."""
        low = self._labels[start - 1] if start else self._labels[stop] - (count + 1) * _APART
        high = self._labels[stop] if stop < len(self._labels) else low + (count + 1) * _APART
        step = (high - low) // (count + 1)
        return [low + step * (n + 1) for n in range(count)] if step else None

    def _enter(self, section: Section) -> None:
        label = self._label[section]
        for number in section.inputs:
            if not self.is_argument(number):
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
            if not self.is_argument(number):
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
        """The sections that use a value, which is no argument."""
        return map(self._at, self._users.get(number, ()))

    def is_used(self, number: int, start: int, stop: int) -> bool:
        """Whether one of the sections from … to uses the value."""
        labels = self._users.get(number, ())
        at = bisect_left(labels, self._labels[start])
        return at < len(labels) and labels[at] <= self._labels[stop - 1]

    def count(self, name: str) -> int:
        """How many structured ops have this name."""
        return len(self._named.get(name, ()))

    def nth(self, name: str, number: int) -> tuple[Section, int]:
        """Where the `number`-th of them stands: the section, and how many in that stand in front of it."""
        labels = self._named[name]
        return self._at(labels[number]), number - bisect_left(labels, labels[number])

    def is_argument(self, number: int) -> bool:
        return self.first <= number < self.first + self.arguments
