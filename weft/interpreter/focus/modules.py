"""A module as an immutable value: its top-level ops, and each function as a sequence of sections.

All versions of a module share one content, which is materialized in one of them. Every other
version is stored as a change relative to a version that is closer to the materialized one; the
change is applied to the content on access. So a version costs time and memory in proportion to its
change.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence, Set
from dataclasses import field

from ...dsl.records import record
from ..ir.cloning import clone_module, empty_module
from ..ir.functions import symbol
from ..ir.mlir import attributes, ir, operations, ops_of, run_passes
from ..ir.structured import body_of
from ..memory.table import ALLOCATIONS
from . import sections
from .sections import HOLDER, Body, Edit, close


class Names:
    """Names in use."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._first: dict[str, int] = {}

    def __contains__(self, name: object) -> bool:
        return name in self._taken

    def add(self, names: Sequence[str]) -> None:
        self._taken.update(names)

    def remove(self, names: Sequence[str]) -> None:
        self._taken.difference_update(names)
        self._first.clear()

    def free(self, base: str) -> int:
        """The least n for which `base_n` (for 0: `base`) is not in use."""
        n = self._first.get(base, 0)
        while numbered(base, n) in self._taken:
            n += 1
        self._first[base] = n
        return n


def numbered(base: str, n: int) -> str:
    """The name `base` of the copy number `n`."""
    return f"{base}_{n}" if n else base


@record
class Taken:
    """Names in use: of top-level ops, of the kernels in them, and of a function's allocations."""

    tops: Names = field(default_factory=Names)
    kernels: Names = field(default_factory=Names)
    buffers: Callable[[str], Set[str]] = lambda _: frozenset()


@record
class ContentChange:
    """The difference of a version from another: edits of one of its functions, and top-level ops
    added and removed."""

    item: int
    edits: Sequence[Edit]
    more: Sequence[ir.Operation] = ()
    fewer: int = 0


class Content:
    """The top level of a module: functions in sections, and other ops."""

    def __init__(self, items: Sequence[ir.Operation | Body]) -> None:
        self.items: list[ir.Operation | Body] = []
        self.symbols: dict[str, ir.Operation] = {}
        """Ops other than sectioned functions, by name."""
        self.taken = Taken(buffers=self._buffers)
        self.bodies = [item for item in items if isinstance(item, Body)]
        self.others = 0
        """The number of top-level ops that may contain structured ops, or use a kernel."""
        self._add(items)

    def _add(self, items: Sequence[ir.Operation | Body]) -> None:
        self.items += items
        for op in items:
            self._count(op, 1)
            if not isinstance(op, Body) and "sym_name" in op.attributes:
                self.symbols[symbol(op)] = op
        for names, new in zip((self.taken.tops, self.taken.kernels), _names(items), strict=True):
            names.add(new)

    def _count(self, item: ir.Operation | Body, by: int) -> None:
        if not isinstance(item, Body) and item.name not in ("gpu.module", "memref.global"):
            self.others += by

    def _buffers(self, function: str) -> Set[str]:
        sections = (section for body in self.bodies if symbol(body.husk) == function for section in body.sections)
        return frozenset().union(*(section.buffers for section in sections if section.names.keys() & ALLOCATIONS))

    def body(self, item: int) -> Body:
        body = self.items[item]
        assert isinstance(body, Body)
        return body

    def change(self, change: ContentChange) -> ContentChange:
        """Applies the change; returns its inverse."""
        back = self.body(change.item).edit(change.edits)
        last = len(self.items) - change.fewer
        gone = [item for item in self.items[last:] if not isinstance(item, Body)]
        del self.items[last:]
        for op in gone:
            self._count(op, -1)
            if "sym_name" in op.attributes:
                del self.symbols[symbol(op)]
        if gone:
            for names, old in zip((self.taken.tops, self.taken.kernels), _names(gone), strict=True):
                names.remove(old)
        self._add(change.more)
        return ContentChange(change.item, back, gone, len(change.more))


def _names(items: Sequence[ir.Operation | Body]) -> tuple[list[str], list[str]]:
    """The names of these ops, and of the kernels in them."""
    ops = [item.husk if isinstance(item, Body) else item for item in items]
    tops = [symbol(op) for op in ops if "sym_name" in op.attributes]
    return tops, [symbol(kernel) for op in ops if op.name == "gpu.module" for kernel in operations(op, "gpu.func")]


class Sectioned:
    """A version of a module: its attributes (on an empty module), the first unused value number,
    and the content."""

    def __init__(self, shell: ir.Module, numbers: int, content: Content | None) -> None:
        self.shell, self.numbers = shell, numbers
        self._content = content
        self._beside: tuple[Sectioned, ContentChange] | None = None

    @property
    def content(self) -> Content:
        """The content in the state of this version; valid until another version is accessed."""
        way: list[Sectioned] = []
        at = self
        while at._beside is not None:
            way.append(at)
            at = at._beside[0]
        content = at._content
        assert content is not None
        for version in reversed(way):
            assert version._beside is not None
            other, change = version._beside
            version._content, version._beside = content, None
            other._content, other._beside = None, (version, content.change(change))
        return content

    def changed(self, shell: ir.Module, numbers: int, change: ContentChange) -> Sectioned:
        """The version that differs by this change."""
        content = self.content
        made = Sectioned(shell, numbers, content)
        self._content, self._beside = None, (made, content.change(change))
        return made

    def whole(self) -> ir.Module:
        """The module itself, newly built each time, with duplicates merged."""
        module = clone_module(self.shell)
        for item in self.content.items:
            if isinstance(item, Body):
                function = item.husk.clone().operation
                module.body.append(function)
                block = body_of(function)
                values = {item.first + n: argument for n, argument in enumerate(block.arguments)}
                with function.context, function.location:
                    end = ir.Operation.create(HOLDER, ip=ir.InsertionPoint(block))  # the ops are inserted before it
                for section in item.sections:
                    made = section.open(end, values)
                    values.update(zip(section.outputs, made.results, strict=True))
                end.erase()
            else:
                module.body.append(item.clone())
        before = -1
        while (
            count := sum(len(body_of(op.operation).operations) for op in module.body.operations if _is_plain(op))
        ) != before:
            run_passes(module, "cse")  # removes the last of a chain of dead ops
            before = count
        return module


def take_apart(module: ir.Module) -> Sectioned | None:
    """The module in sections; None if no function is large enough to benefit."""
    if not any(map(_large, module.body.operations)):
        return None
    copy = clone_module(module)
    shell = empty_module(module, attributes(module.operation))
    numbers = itertools.count()
    items: list[ir.Operation | Body] = []
    for view in list(copy.body.operations):
        op = view.operation
        op.detach_from_parent()
        items.append(_body(op, numbers) if _large(op) else op)
    return Sectioned(shell, next(numbers), Content(items))


def _large(op: ir.Operation | ir.OpView) -> bool:
    return _is_plain(op) and len(body_of(op.operation).operations) > sections.LARGE


def _is_plain(op: ir.Operation | ir.OpView) -> bool:
    return op.operation.name == "func.func" and len(op.operation.regions[0].blocks) == 1


def _body(function: ir.Operation, numbers: itertools.count[int]) -> Body:
    block = body_of(function)
    known: dict[ir.Value, int] = {argument: next(numbers) for argument in block.arguments}
    first = min(known.values(), default=0)
    ops = ops_of(block)
    for op in ops:
        known.update((result, next(numbers)) for result in op.results)
    made = [close(op, known, tuple(known[r] for r in op.results)) for op in ops]
    return Body(function, first, len(block.arguments), made)
