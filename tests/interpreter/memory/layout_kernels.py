"""Random small kernels on memrefs of random layouts, and which threads touch which addresses: by enumeration.

A layout may put several indices at one address, or none: strides of 0, backward ones, rows that overlap, columns first, padding,
`affine_map<(i, j) -> (i + j)>`. Accesses go to the buffer, or to a view of it. A buffer is an argument (of one block or of
several), a workgroup buffer, or a workgroup buffer of the module.
"""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import dataclass, field, replace

import numpy as np

SHARED = "#gpu.address_space<workgroup>"
WIDE = 2
"""Elements of a vector."""


@dataclass(frozen=True)
class Laid:
    """A memref: element `(i, j, ...)` at the address `offset + i * strides[0] + ...` of a buffer.

    Args:
        said: its layout in the text, where that is not `strided<...>`.
        open: axes whose stride the type leaves open; -1: the offset.
    """

    name: str
    root: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    shared: bool
    said: str = ""
    open: frozenset[int] = frozenset()

    @property
    def type(self) -> str:
        strides = ", ".join("?" if d in self.open else str(n) for d, n in enumerate(self.strides))
        offset = "?" if -1 in self.open else str(self.offset)
        layout = self.said or f"strided<[{strides}]{f', offset: {offset}' if offset != '0' else ''}>"
        extents = "".join(f"{n}x" for n in self.shape)
        return f"memref<{extents}f32, {layout}{f', {SHARED}' if self.shared else ''}>"

    @property
    def reach(self) -> tuple[int, int]:
        """The lowest and the highest address."""
        spans = [(n - 1) * stride for n, stride in zip(self.shape, self.strides, strict=True)]
        return self.offset + sum(min(s, 0) for s in spans), self.offset + sum(max(s, 0) for s in spans)

    @property
    def addresses(self) -> list[int]:
        """Of all elements."""
        return [self.at(index) for index in itertools.product(*map(range, self.shape))]

    @property
    def in_rows(self) -> bool:
        """Whether upstream takes it for no layout at all."""
        return not self.offset and self.strides == tuple(math.prod(self.shape[d + 1 :]) for d in range(len(self.shape)))

    @property
    def apart(self) -> bool:
        return len(set(self.addresses)) == math.prod(self.shape)

    def at(self, index: tuple[int, ...]) -> int:
        return self.offset + sum(i * stride for i, stride in zip(index, self.strides, strict=True))

    def array(self) -> np.ndarray:
        """An array that lies so."""
        memory = np.zeros(self.reach[1] + 1, np.float32)
        return np.lib.stride_tricks.as_strided(memory[self.offset :], self.shape, [4 * n for n in self.strides])


@dataclass(frozen=True)
class Touching:
    """One op: what each thread touches. `phase`: how many barriers came before."""

    kind: str
    root: str
    shared: bool
    phase: int
    addresses: dict[tuple[int, int], set[int]] = field(repr=False)
    """By block and thread."""


class LayoutKernel:
    """One kernel: `text`, its arguments' layouts, and what brute force says: `racy`.

    Args:
        open_strides: some types leave strides open that they have.
    """

    def __init__(self, seed: int, *, open_strides: bool = False) -> None:
        self.random = r = random.Random(seed)
        self.block, self.grid = (r.randint(1, 5), r.choice([1, 1, 2, 3])), r.choice([1, 1, 1, 2, 3])
        self.lines: list[str] = []
        self.count = 0
        self.phase = 0
        self.touched: list[Touching] = []
        self.open_strides = open_strides
        self.roots = [self.buffer(f"%m{n}") for n in range(r.randint(1, 2))]
        self.arguments = [root for root in self.roots if not root.shared]
        for _ in range(r.randint(1, 4)):
            if r.random() < 0.4:
                self.lines.append("gpu.barrier")
                self.phase += 1
            self.access(r.choice(self.roots))
        self.text = self.kernel()

    # ---- text ----------------------------------------------------------------------------------------------------------

    def kernel(self) -> str:
        arguments = ", ".join(f"{m.name}: {m.type}" for m in self.arguments)
        shared = ", ".join(f"{m.name} : {m.type}" for m in self.roots if m.shared)
        sizes = f"known_block_size = array<i32: {self.block[0]}, {self.block[1]}, 1>"
        sizes += f", known_grid_size = array<i32: {self.grid}, 1, 1>"
        body = "\n    ".join(self.lines)
        return f"""gpu.module @m {{
  gpu.func @k({arguments}) {f"workgroup({shared})" if shared else ""} kernel attributes {{{sizes}}} {{
    %x = gpu.thread_id x
    %y = gpu.thread_id y
    %b = gpu.block_id x
    %one = arith.constant 1.0 : f32
    %ones = arith.constant dense<1.0> : vector<{WIDE}xf32>
    {body}
    gpu.return
  }}
}}"""

    def fresh(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    # ---- layouts -------------------------------------------------------------------------------------------------------

    def buffer(self, name: str) -> Laid:
        r = self.random
        rank = r.choice([1, 1, 2, 2, 2, 3, 4])
        shape = tuple(r.randint(1, 6 if rank < 3 else 3) for _ in range(rank))
        order = r.sample(range(rank), rank)
        strides = [0] * rank
        step = 1
        for axis in order:  # without overlap, in any order of the axes; padded now and then
            strides[axis] = step
            step *= shape[axis] + (r.random() < 0.3)
        for axis in range(rank):  # perhaps with overlap
            if r.random() < 0.35:
                strides[axis] = r.choice([0, 1, 1, 2, 3, 4, 5, 7, strides[axis] + 1, max(strides[axis] - 1, 0)])
            if r.random() < 0.15:
                strides[axis] = -strides[axis]
        back = sum((n - 1) * -stride for n, stride in zip(shape, strides, strict=True) if stride < 0)
        made = Laid(name, name, shape, tuple(strides), back + r.choice([0, 0, 0, 3]), r.random() < 0.4)
        if r.random() < 0.25:
            names = "ijkl"[:rank]
            form = " + ".join([str(made.offset), *(f"{d} * {n}" for d, n in zip(names, strides, strict=True))])
            made = replace(made, said=f"affine_map<({', '.join(names)}) -> ({form})>")
        elif self.open_strides and not made.shared:
            made = replace(made, open=frozenset(d for d in range(-1, rank) if r.random() < 0.4))
        return made

    # ---- views ---------------------------------------------------------------------------------------------------------

    def view(self, value: Laid) -> Laid:
        ways = [self.subview, self.transpose, self.reinterpret, self.cast, self.expand, self.collapse]
        return self.random.choice(ways)(value)

    def made(self, value: Laid, text: str, **changes: object) -> Laid:
        seen = replace(value, name=self.fresh(), said="", **{"open": frozenset(), **changes})  # type: ignore[arg-type]
        self.lines.append(f"{seen.name} = {text.format(source=value.name)} : {value.type} to {seen.type}")
        return seen

    def subview(self, value: Laid) -> Laid:
        if value.said or value.open:
            return value
        r = self.random
        starts = [r.randrange(n) for n in value.shape]
        steps = [r.choice([1, 1, 2]) for _ in value.shape]
        sizes = tuple(r.randint(1, -(-(n - a) // s)) for n, a, s in zip(value.shape, starts, steps, strict=True))
        strides = tuple(a * s for a, s in zip(value.strides, steps, strict=True))
        offset = value.at(tuple(starts))
        text = f"memref.subview {{source}}{starts} {list(sizes)} {steps}"
        return self.made(value, text, shape=sizes, strides=strides, offset=offset)

    def transpose(self, value: Laid) -> Laid:
        if value.said or value.open:
            return value
        order = self.random.sample(range(len(value.shape)), len(value.shape))
        names = [f"d{d}" for d in range(len(order))]
        text = f"memref.transpose {{source}} ({', '.join(names)}) -> ({', '.join(names[d] for d in order)})"
        shape, strides = (tuple(part[d] for d in order) for part in (value.shape, value.strides))
        return self.made(value, text, shape=shape, strides=strides)

    def reinterpret(self, value: Laid) -> Laid:
        """Another layout of the same memory, as far as its root is known to reach."""
        root = next(m for m in self.roots if m.name == value.root)
        other = self.buffer(value.root)
        shift = self.random.randint(0, 2)
        if other.reach[1] + shift > root.reach[1] or -1 in root.open:
            return value
        offset = other.offset + shift
        text = f"memref.reinterpret_cast {{source}} to offset: [{offset}], sizes: {list(other.shape)}"
        text += f", strides: {list(other.strides)}"
        return self.made(value, text, shape=other.shape, strides=other.strides, offset=offset)

    def cast(self, value: Laid) -> Laid:
        """To open strides, and back."""
        if value.said or value.open:
            return value
        middle = self.made(value, "memref.cast {source}", open=frozenset(range(-1, len(value.shape))))
        return self.made(middle, "memref.cast {source}")

    def expand(self, value: Laid) -> Laid:
        axes = [d for d, n in enumerate(value.shape) if n % 2 == 0]
        if value.said or value.open or value.in_rows or not axes or len(value.shape) > 3:
            return value
        axis = self.random.choice(axes)
        shape = (*value.shape[:axis], value.shape[axis] // 2, 2, *value.shape[axis + 1 :])
        strides = (*value.strides[:axis], value.strides[axis] * 2, value.strides[axis], *value.strides[axis + 1 :])
        groups = [[d + (d > axis)] if d != axis else [d, d + 1] for d in range(len(value.shape))]
        made = replace(value, name=self.fresh(), shape=shape, strides=strides)
        text = f"memref.expand_shape {value.name} {groups} output_shape {list(shape)} : {value.type} into {made.type}"
        self.lines.append(f"{made.name} = {text}")
        return made

    def collapse(self, value: Laid) -> Laid:
        pairs = zip(value.shape[1:], value.strides, value.strides[1:], strict=False)
        axes = [d for d, (n, outer, inner) in enumerate(pairs) if outer == n * inner and 1 not in value.shape[d : d + 2]]
        if value.said or value.open or value.in_rows or not axes:
            return value
        axis = axes[0]
        shape = (*value.shape[:axis], value.shape[axis] * value.shape[axis + 1], *value.shape[axis + 2 :])
        strides = (*value.strides[:axis], *value.strides[axis + 1 :])
        groups = [[d] if d < axis else [d, d + 1] if d == axis else [d + 1] for d in range(len(shape))]
        made = replace(value, name=self.fresh(), shape=shape, strides=strides)
        self.lines.append(f"{made.name} = memref.collapse_shape {value.name} {groups} : {value.type} into {made.type}")
        return made

    # ---- accesses ------------------------------------------------------------------------------------------------------

    def access(self, root: Laid) -> None:
        r, value = self.random, root
        for _ in range(r.choice([0, 0, 1, 2])):
            value = self.view(value)
        kind = r.choice(["read", "write", "write", "add"])
        wide = value.strides[-1] == 1 and len(value.shape) - 1 not in value.open and value.shape[-1] >= WIDE
        wide = wide and min(value.strides) >= 0 and kind != "add" and r.random() < 0.4
        names, forms = [], []
        owners = r.sample(range(max(3, len(value.shape))), len(value.shape)) if r.random() < 0.6 else None
        for axis, extent in enumerate(value.shape):
            extent -= (WIDE - 1) * (wide and axis == len(value.shape) - 1)
            factors, shift = [r.choice([0, 0, 1, 1, 1, 2, self.block[0]]) for _ in range(3)], r.randrange(extent)
            if owners is not None:  # an id for each axis
                factors = [int(owners[axis] == one) for one in range(3)]
            name = self.fresh()
            form = f"(d0 * {factors[0]} + d1 * {factors[1]} + d2 * {factors[2]} + {shift}) mod {extent}"
            self.lines.append(f"{name} = affine.apply affine_map<(d0, d1, d2) -> ({form})>(%x, %y, %b)")
            names.append(name)
            forms.append((*factors, shift, extent))
        at = f"{value.name}[{', '.join(names)}]"
        self.lines.append({
            ("read", False): f"{self.fresh()} = memref.load {at} : {value.type}",
            ("write", False): f"memref.store %one, {at} : {value.type}",
            ("add", False): f"{self.fresh()} = memref.atomic_rmw addf %one, {at} : (f32, {value.type}) -> f32",
            ("read", True): f"{self.fresh()} = vector.load {at} {{alignment = 4 : i64}} : {value.type}, vector<{WIDE}xf32>",
            ("write", True): f"vector.store %ones, {at} {{alignment = 4 : i64}} : {value.type}, vector<{WIDE}xf32>",
        }[kind, wide])  # fmt: skip
        touched: dict[tuple[int, int], set[int]] = {}
        for b, y, x in itertools.product(range(self.grid), range(self.block[1]), range(self.block[0])):
            index = [(x * f + y * g + b * h + shift) % extent for f, g, h, shift, extent in forms]
            more = range(WIDE if wide else 1)
            touched[b, y * self.block[0] + x] = {value.at((*index[:-1], index[-1] + lane)) for lane in more}
        self.touched.append(Touching(kind, value.root, root.shared, self.phase, touched))

    # ---- brute force ---------------------------------------------------------------------------------------------------

    @property
    def racy(self) -> bool:
        """Whether two threads touch one address, one of them to write it, and no barrier orders them."""
        return any(_collide(one, other) for one, other in itertools.combinations_with_replacement(self.touched, 2))


def _collide(one: Touching, other: Touching) -> bool:
    if one.root != other.root or {one.kind, other.kind} in ({"read"}, {"add"}):
        return False
    for (b, thread), mine in one.addresses.items():
        for (c, another), its in other.addresses.items():
            same_block = b == c
            ordered = (thread == another or one.phase != other.phase) if same_block else one.shared
            if not ordered and mine & its:
                return True
    return False
