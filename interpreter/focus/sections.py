"""A module as a value: what stands at its top, and each function as a sequence of sections that are never changed.

A section is one op of a function's body, closed: held by itself, with an argument for each value that it uses. Values have numbers,
the same in all versions of the module. A version that differs from another in one loop shares all the other sections with it.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ..clone import clone_module
from ..mlir import ir, operations, run_passes, walk

HOLDER = "scf.execute_region"
"""What holds a section's op; never seen outside and never verified."""

LARGE = 40
"""A function with more ops than that in its body is worth taking apart."""

MAP = "weft.map"


@dataclass(frozen=True, eq=False)
class Section:
    """One op of a function's body.

    Args:
        holder: an op whose region holds it; the region's arguments stand for `inputs`.
        inputs, outputs: numbers of the values it uses and makes.
        names: how many ops of each name it consists of.
        tags: the attributes `weft.h3` on its ops.
        mapped: whether one of its ops bears a map.
        tensors: whether it takes, makes or computes with tensors.
        symbols: what it refers to by name.
    """

    holder: ir.Operation
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
    def name(self) -> str:
        return self.op.name

    @cached_property
    def seen_through(self) -> bool:
        """Whether rewrites look through the op, to what is behind: none with ops of its own, but for paddings."""
        return not len(self.op.regions) or self.name.startswith("tensor.")

    @cached_property
    def loops(self) -> bool:
        """Whether it is a loop or a launch."""
        return self.name.startswith(("scf.", "affine.for", "affine.parallel", "gpu."))

    def types(self) -> Iterator[tuple[int, ir.Type]]:
        """The numbers and types of what it uses and makes."""
        arguments = self.holder.regions[0].blocks[0].arguments
        yield from zip(self.inputs, (a.type for a in arguments), strict=True)
        yield from zip(self.outputs, (r.type for r in self.op.results), strict=True)

    def open(self, before: ir.Operation, values: Mapping[int, ir.Value]) -> ir.Operation:
        """A copy of the op, in front of `before`, that uses these values."""
        holder = self.holder.clone().operation
        block = holder.regions[0].blocks[0]
        for argument, number in zip(block.arguments, self.inputs, strict=True):
            argument.replace_all_uses_with(values[number])
        op = block.operations[0].operation
        op.move_before(before)
        return op


def close(op: ir.Operation, numbers: Mapping[ir.Value, int], outputs: tuple[int, ...]) -> Section:
    """The section that `op` is; it is taken out of its block."""
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
                    tensors = tensors or any(map(_is_tensor, block.arguments))
        if inner != op:
            inside.update(results)
        tensors = tensors or any(map(_is_tensor, results))
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
    tensors = tensors or any(map(_is_tensor, uses))
    inputs = tuple(numbers[v] for v in uses)
    op.detach_from_parent()
    block.append(op)
    return Section(holder, inputs, outputs, names, frozenset(tags), mapped, tensors, frozenset(symbols))


_REFERRING = ("memref.get_global", "func.call", "gpu.launch_func")


def _symbols(op: ir.Operation) -> Iterator[str]:
    for name in ("name", "callee", "kernel"):
        if name in op.attributes:
            yield str(op.attributes[name]).lstrip("@").split("::", 1)[0].strip('"')


def symbol(op: ir.Operation) -> str:
    return ir.StringAttr(op.attributes["sym_name"]).value


def _is_tensor(value: ir.Value) -> bool:
    return isinstance(value.type, (ir.RankedTensorType, ir.UnrankedTensorType))


class Index:
    """Where things are in a function's sections, so that nobody has to search them. It goes from a version to the next.

    Args:
        arguments: the numbers of the function's arguments, whose uses nobody asks for.
        sections: what stands in the function.
    """

    def __init__(self, arguments: range, sections: Sequence[Section]) -> None:
        self._arguments = arguments
        self.makers: dict[int, Section] = {}
        self.users: dict[int, set[Section]] = {}
        self.tagged: dict[str, Section] = {}
        self.mapped: set[Section] = set()
        self.tensors = self.loops = 0
        self.places: dict[Section, int] = {}
        self.change((), sections, sections)

    def change(self, gone: Sequence[Section], new: Sequence[Section], sections: Sequence[Section]) -> None:
        """Some sections are gone and others are new; `sections` is what there is now."""
        self.places = dict(zip(sections, range(len(sections)), strict=True))
        for section in gone:
            for number in section.inputs:
                if number not in self._arguments:
                    self.users[number].discard(section)
            for number in section.outputs:
                del self.makers[number]
            for tag in section.tags:
                del self.tagged[tag]
            self._count(section, -1)
        for section in new:
            for number in section.inputs:
                if number not in self._arguments:
                    self.users.setdefault(number, set()).add(section)
            self.makers.update(dict.fromkeys(section.outputs, section))
            self.tagged.update(dict.fromkeys(section.tags, section))
            self._count(section, 1)
        self.mapped.difference_update(gone)
        self.mapped.update(s for s in new if s.mapped)

    def _count(self, section: Section, by: int) -> None:
        self.tensors += by * section.tensors
        self.loops += by * section.loops


class Body:
    """A function: itself without the ops in its body, the number of its first argument, and what stands in the body. The last of
    its sections ends it."""

    def __init__(
        self, husk: ir.Operation, first: int, arguments: int, sections: tuple[Section, ...], index: Index | None = None
    ) -> None:
        self.husk, self.first, self.arguments, self.sections = husk, first, arguments, sections
        self._index = index

    @property
    def index(self) -> Index:
        """Made anew where another version has taken it over."""
        if self._index is None:
            self._index = Index(range(self.first, self.first + self.arguments), self.sections)
        return self._index

    def changed(self, sections: Sequence[Section], gone: Sequence[Section], new: Sequence[Section]) -> Body:
        """The function with these sections, some of which are new, and without some others; takes the index over."""
        index = self.index
        self._index = None
        index.change(gone, new, sections)
        return Body(self.husk, self.first, self.arguments, tuple(sections), index)

    def is_argument(self, number: int) -> bool:
        return self.first <= number < self.first + self.arguments

    def open(self, function: ir.Operation) -> None:
        """Put the ops into `function`, a copy of the husk."""
        block = function.regions[0].blocks[0]
        values = {self.first + n: argument for n, argument in enumerate(block.arguments)}
        with function.context, function.location:
            end = ir.Operation.create(HOLDER, ip=ir.InsertionPoint(block))  # to be in front of, while the ops are put in
        for section in self.sections:
            made = section.open(end, values)
            values.update(zip(section.outputs, made.results, strict=True))
        end.erase()


@dataclass(frozen=True)
class Taken:
    """Names that are taken: of what stands at the top of the module, and of the kernels in it."""

    tops: frozenset[str] = frozenset()
    kernels: frozenset[str] = frozenset()

    def with_those_of(self, ops: Sequence[ir.Operation]) -> Taken:
        """And those of more ops at the top, and of the kernels in these."""
        kernels = [kernel for op in ops if op.name == "gpu.module" for kernel in operations(op, "gpu.func")]
        return Taken(self.tops.union(_named(ops)), self.kernels.union(_named(kernels)))


@dataclass(frozen=True, eq=False)
class Sectioned:
    """A module: its attributes (on a module that is empty), what stands in it, and the first number no value has."""

    shell: ir.Module
    items: tuple[ir.Operation | Body, ...]
    numbers: int
    symbols: Mapping[str, ir.Operation]
    """What stands at the top and is no function in sections, by name."""
    taken: Taken
    """The names of all that stands at the top, and of the kernels."""

    def with_items(
        self, shell: ir.Module, items: Sequence[ir.Operation | Body], more: Sequence[ir.Operation], numbers: int
    ) -> Sectioned:
        """The module with these items, and `more` behind them."""
        if not more:
            return Sectioned(shell, tuple(items), numbers, self.symbols, self.taken)
        return Sectioned(shell, (*items, *more), numbers, {**self.symbols, **_named(more)}, self.taken.with_those_of(more))

    def whole(self) -> ir.Module:
        """The module itself, a new one each time, with what is there twice there once."""
        module = clone_module(self.shell)
        for item in self.items:
            if isinstance(item, Body):
                function = item.husk.clone().operation
                module.body.append(function)
                item.open(function)
            else:
                module.body.append(item.clone())
        before = -1
        while (count := sum(len(_block(op).operations) for op in module.body.operations if _is_plain(op))) != before:
            run_passes(module, "cse")  # of a chain of dead ops it takes the last
            before = count
        return module


def take_apart(module: ir.Module) -> Sectioned | None:
    """The module in sections; None where no function is large enough to be worth it."""
    if not any(map(_large, module.body.operations)):
        return None
    copy = clone_module(module)
    shell = ir.Module.create(loc=module.operation.location)
    for name in module.operation.attributes:
        shell.operation.attributes[name] = module.operation.attributes[name]
    numbers = itertools.count()
    items: list[ir.Operation | Body] = []
    for view in list(copy.body.operations):
        op = view.operation
        if _large(op):
            items.append(_body(op, numbers))
        else:
            op.detach_from_parent()
            items.append(op)
    others = [item for item in items if isinstance(item, ir.Operation)]
    taken = Taken().with_those_of([item.husk if isinstance(item, Body) else item for item in items])
    return Sectioned(shell, tuple(items), next(numbers), _named(others), taken)


def _named(ops: Sequence[ir.Operation]) -> dict[str, ir.Operation]:
    return {symbol(op): op for op in ops if "sym_name" in op.attributes}


def _large(op: ir.Operation | ir.OpView) -> bool:
    return _is_plain(op) and len(_block(op).operations) > LARGE


def _is_plain(op: ir.Operation | ir.OpView) -> bool:
    return op.operation.name == "func.func" and len(op.operation.regions[0].blocks) == 1


def _block(op: ir.Operation | ir.OpView) -> ir.Block:
    return op.operation.regions[0].blocks[0]


def _body(function: ir.Operation, numbers: itertools.count[int]) -> Body:
    function.detach_from_parent()
    block = function.regions[0].blocks[0]
    known: dict[ir.Value, int] = {argument: next(numbers) for argument in block.arguments}
    first = min(known.values(), default=0)
    ops = [view.operation for view in block.operations]
    for op in ops:
        known.update((result, next(numbers)) for result in op.results)
    sections = [close(op, known, tuple(known[r] for r in op.results)) for op in ops]
    return Body(function, first, len(block.arguments), tuple(sections))


class Version:
    """The module between two statements, never changed: whole, or in sections, and then whole when somebody looks at it.

    Args:
        untidy: nobody has removed common subexpressions yet, as each statement does: the next one needs the whole.
    """

    def __init__(
        self, whole: ir.Module | None = None, sections: Sectioned | None = None, *, untidy: bool = False
    ) -> None:
        self._whole, self._sections = whole, sections
        self._apart = whole is None or untidy

    @property
    def module(self) -> ir.Module:
        """The whole module, not to be changed."""
        if self._whole is None:
            assert self._sections is not None
            self._whole = self._sections.whole()
        return self._whole

    @property
    def sections(self) -> Sectioned | None:
        """The module in sections; None for one that is too small to be worth it."""
        if not self._apart and self._whole is not None:
            self._sections, self._apart = take_apart(self._whole), True
        return self._sections
