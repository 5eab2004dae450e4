"""A section: one op of a function's body, closed. It is held by itself, with an argument for each value that it uses, and never
changed. Values have numbers, the same in all versions of the module.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from ..ir.mlir import ir, walk

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

    @cached_property
    def structured(self) -> tuple[tuple[str, int], ...]:
        """How many structured ops of each name it consists of."""
        return tuple((name, count) for name, count in self.names.items() if name.startswith("linalg."))

    def types(self, wanted: Callable[[int], bool]) -> Iterator[tuple[int, ir.Type]]:
        """The numbers and types of what it uses, of those values that are wanted."""
        if any(map(wanted, self.inputs)):
            arguments = self.holder.regions[0].blocks[0].arguments
            yield from ((n, a.type) for n, a in zip(self.inputs, arguments, strict=True) if wanted(n))

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


def _is_tensor(value: ir.Value) -> bool:
    return isinstance(value.type, (ir.RankedTensorType, ir.UnrankedTensorType))
