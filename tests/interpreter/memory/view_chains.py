"""Random kernels whose threads store and load through chains of views, and which bytes of the buffer each of them touches.

NumPy is the oracle: an array that holds its own byte numbers is taken apart by the same views.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field, replace

import numpy as np

THREADS = 12
SHARED = "#gpu.address_space<workgroup>"
BYTES = {"f32": 4, "i8": 1, "f64": 8}


@dataclass(frozen=True)
class Viewed:
    """A memref value: its name and type, and the bytes of the buffer behind each element (the last axis). `base`: the byte that its
    offset counts from, which `memref.view` moves."""

    name: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    element: str
    space: str
    bytes: np.ndarray = field(repr=False)
    plain: bool = True  # no layout is spelled
    base: int = 0

    @property
    def type(self) -> str:
        layout = "" if self.plain else f", strided<[{', '.join(map(str, self.strides))}], offset: {self.offset}>"
        extents = "".join(f"{e}x" for e in self.shape)
        return f"memref<{extents}{self.element}{layout}{f', {self.space}' if self.space else ''}>"

    @property
    def contiguous(self) -> bool:
        return self.plain and self.strides == row_major(self.shape)


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(math.prod(shape[d + 1 :]) for d in range(len(shape)))


class Maker:
    """One kernel: `text`, and `store` and `load`, the bytes that each thread touches. `atomic`: what it stores is added."""

    def __init__(self, seed: int, used: set[str]) -> None:
        self.random = random.Random(seed)
        self.used = used
        self.lines: list[str] = []
        self.count = 0
        self.exact = True
        element = self.random.choice(["f32", "f32", "i8"])
        shape = (256,) if element == "i8" else self.random.choice([(64,), (8, 8), (4, 4, 4), (6, 5)])
        shared = element == "i8" or self.random.random() < 0.5
        units = np.arange(math.prod(shape) * BYTES[element]).reshape(*shape, BYTES[element])
        self.root = Viewed("%A", shape, row_major(shape), 0, element, SHARED if shared else "", units)
        self.atomic = self.random.random() < 0.2
        self.store, self.load = self.access("store"), self.access("load")
        self.text = self.kernel(shared)

    def kernel(self, shared: bool) -> str:
        where = f"workgroup({self.root.name} : {self.root.type})" if shared else ""
        arguments = "%other: memref<3xf32>, %shape1: memref<1xi32>, %shape2: memref<2xi32>"
        arguments += "" if shared else f", {self.root.name}: {self.root.type}"
        body = "\n    ".join(self.lines)
        sizes = f"known_block_size = array<i32: {THREADS}, 1, 1>, known_grid_size = array<i32: 1, 1, 1>"
        return f"""gpu.module @m {{
  gpu.func @k({arguments}) {where} kernel attributes {{{sizes}}} {{
    %t = gpu.thread_id x
    {body}
    gpu.return
  }}
}}"""

    def fresh(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def emit(self, op: str, text: str) -> None:
        self.used.add(op)
        self.lines.append(text)

    # ---- accesses ------------------------------------------------------------------------------------------------------

    def access(self, kind: str) -> list[set[int]]:
        """A store or a load of each thread, through a chain of views of the buffer."""
        value = self.root
        for _ in range(self.random.randint(0, 5)):
            value = self.step(value)
        if self.random.random() < 0.15 and value.contiguous and value.shape and value.element == "f32":
            return self.whole_vector(kind, value)
        indices, names = [], []
        for extent in value.shape:
            factor, shift = self.random.randint(0, 3), self.random.randint(0, extent)
            name = self.fresh()
            self.lines.append(f"{name} = affine.apply affine_map<(d0) -> ((d0 * {factor} + {shift}) mod {extent})>(%t)")
            indices.append([(t * factor + shift) % extent for t in range(THREADS)])
            names.append(name)
        at = f"{value.name}[{', '.join(names)}] : {value.type}"
        if kind == "load":
            self.lines.append(f"{self.fresh()} = memref.load {at}")
        else:
            constant = self.fresh()
            self.lines.append(f"{constant} = arith.constant {'1' if value.element == 'i8' else '1.0'} : {value.element}")
            if self.atomic:
                add = "addi" if value.element == "i8" else "addf"
                place, kind = f"{value.name}[{', '.join(names)}]", f"({value.element}, {value.type}) -> {value.element}"
                self.emit("memref.atomic_rmw", f"{self.fresh()} = memref.atomic_rmw {add} {constant}, {place} : {kind}")
            else:
                self.lines.append(f"memref.store {constant}, {at}")
        return [set(value.bytes[tuple(i[t] for i in indices)].tolist()) for t in range(THREADS)]

    def whole_vector(self, kind: str, value: Viewed) -> list[set[int]]:
        """`vector.type_cast`: all threads store or load all of it at once."""
        self.exact, self.atomic = False, self.atomic and kind == "load"
        cast, vector = self.fresh(), f"vector<{'x'.join(map(str, value.shape))}xf32>"
        target = f"memref<{vector}{f', {value.space}' if value.space else ''}>"
        self.emit("vector.type_cast", f"{cast} = vector.type_cast {value.name} : {value.type} to {target}")
        if kind == "load":
            self.lines.append(f"{self.fresh()} = memref.load {cast}[] : {target}")
        else:
            constant = self.fresh()
            self.lines.append(f"{constant} = arith.constant dense<1.0> : {vector}")
            self.lines.append(f"memref.store {constant}, {cast}[] : {target}")
        return [set(value.bytes.reshape(-1).tolist())] * THREADS

    # ---- views ---------------------------------------------------------------------------------------------------------

    def step(self, value: Viewed) -> Viewed:
        ways = [self.subview, self.aligned, self.there_and_back, self.space_cast, self.reinterpret, self.metadata,
                self.distinct]  # fmt: skip
        ways += [self.opaque_cast] * (self.random.random() < 0.3)
        ways += [self.transpose] * (len(value.shape) > 1)
        ways += [self.collapse, self.expand, self.reshape] * value.contiguous
        ways += [self.view] * 4 * (value.contiguous and value.element == "i8" and len(value.shape) == 1)
        return self.random.choice(ways)(value)

    def subview(self, value: Viewed) -> Viewed:
        offsets, sizes, steps = [], [], []
        for extent in value.shape:
            step = self.random.choice([1, 1, 2, 3])
            offset = self.random.randrange(extent)
            offsets.append(offset)
            steps.append(step)
            sizes.append(self.random.randint(1, max(1, -(-(extent - offset) // step))))
        slices = tuple(slice(o, o + (n - 1) * s + 1, s) for o, n, s in zip(offsets, sizes, steps, strict=True))
        strides = tuple(a * s for a, s in zip(value.strides, steps, strict=True))
        start = value.offset + sum(o * a for o, a in zip(offsets, value.strides, strict=True))
        made = replace(value, name=self.fresh(), shape=tuple(sizes), strides=strides, offset=start, bytes=value.bytes[slices],
                       plain=False)  # fmt: skip
        drop = [d for d, n in enumerate(sizes) if n == 1 and self.random.random() < 0.5]
        if drop:
            keep = [d for d in range(len(sizes)) if d not in drop]
            made = replace(made, shape=tuple(sizes[d] for d in keep), strides=tuple(strides[d] for d in keep),
                           bytes=made.bytes.reshape(*(sizes[d] for d in keep), -1))  # fmt: skip
        spelled = f"[{', '.join(map(str, offsets))}] [{', '.join(map(str, sizes))}] [{', '.join(map(str, steps))}]"
        self.emit("memref.subview", f"{made.name} = memref.subview {value.name}{spelled} : {value.type} to {made.type}")
        return made

    def aligned(self, value: Viewed) -> Viewed:
        made = replace(value, name=self.fresh())
        self.emit("memref.assume_alignment", f"{made.name} = memref.assume_alignment {value.name}, 4 : {value.type}")
        return made

    def there_and_back(self, value: Viewed) -> Viewed:
        """To dynamic sizes, and back."""
        middle, made = self.fresh(), replace(value, name=self.fresh())
        layout = "" if value.plain else f", strided<[{', '.join('?' for _ in value.strides)}], offset: ?>"
        loose = f"memref<{'?x' * len(value.shape)}{value.element}{layout}{f', {value.space}' if value.space else ''}>"
        self.emit("memref.cast", f"{middle} = memref.cast {value.name} : {value.type} to {loose}")
        self.lines.append(f"{made.name} = memref.cast {middle} : {loose} to {value.type}")
        return made

    def opaque_cast(self, value: Viewed) -> Viewed:
        """A conversion that says nothing of what it does: any element of the same buffer."""
        self.exact = False
        middle, made = self.fresh(), replace(value, name=self.fresh())
        cast = "builtin.unrealized_conversion_cast"
        self.emit(cast, f"{middle} = {cast} {value.name} : {value.type} to memref<?x?xf64>")
        self.lines.append(f"{made.name} = {cast} {middle} : memref<?x?xf64> to {value.type}")
        return made

    def space_cast(self, value: Viewed) -> Viewed:
        made = replace(value, name=self.fresh(), space=self.random.choice(["", SHARED, "#gpu.address_space<global>"]))
        if made.space == value.space:
            return value
        self.emit("memref.memory_space_cast", f"{made.name} = memref.memory_space_cast {value.name} : {value.type} to {made.type}")
        return made

    def reinterpret(self, value: Viewed, source: str | None = None, kind: str | None = None) -> Viewed:
        """Offset and strides count from where the buffer (or the `memref.view` of it) begins, whatever the source shows of it."""
        if value.element != self.root.element:
            return value
        width = BYTES[value.element]
        flat = self.root.bytes.reshape(-1, width)[value.base // width :]
        shape = tuple(self.random.randint(1, 5) for _ in range(self.random.randint(1, 2)))
        strides = tuple(self.random.randint(1, 4) for _ in shape)
        reach = sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
        if reach >= len(flat):
            return value
        offset = self.random.randint(0, len(flat) - 1 - reach)
        at = np.full(shape, offset)
        for axis, (extent, stride) in enumerate(zip(shape, strides, strict=True)):
            at = at + (np.arange(extent) * stride).reshape([-1 if d == axis else 1 for d in range(len(shape))])
        made = Viewed(self.fresh(), shape, strides, offset, value.element, value.space, flat[at], plain=False, base=value.base)
        spelled = f"offset: [{offset}], sizes: [{', '.join(map(str, shape))}], strides: [{', '.join(map(str, strides))}]"
        self.emit(
            "memref.reinterpret_cast",
            f"{made.name} = memref.reinterpret_cast {source or value.name} to {spelled} : {kind or value.type} to {made.type}",
        )
        return made

    def metadata(self, value: Viewed) -> Viewed:
        """The buffer that `extract_strided_metadata` gives, with another offset."""
        if value.element != self.root.element:
            return value
        base, rank = self.fresh(), len(value.shape)
        kind = f"memref<{value.element}{f', {value.space}' if value.space else ''}>"
        others = f"{self.fresh()}{f', {self.fresh()}:{rank}, {self.fresh()}:{rank}' if rank else ''}"
        indices = ", ".join(["index"] * (1 + 2 * rank))
        op = "memref.extract_strided_metadata"
        self.emit(op, f"{base}, {others} = {op} {value.name} : {value.type} -> {kind}, {indices}")
        return self.reinterpret(value, base, kind)

    def distinct(self, value: Viewed) -> Viewed:
        made, other = replace(value, name=self.fresh()), self.fresh()
        op = "memref.distinct_objects"
        if self.random.random() < 0.5:
            self.emit(op, f"{made.name}, {other} = {op} {value.name}, %other : {value.type}, memref<3xf32>")
        else:
            self.emit(op, f"{other}, {made.name} = {op} %other, {value.name} : memref<3xf32>, {value.type}")
        return made

    def transpose(self, value: Viewed) -> Viewed:
        order = list(range(len(value.shape)))
        self.random.shuffle(order)
        made = replace(
            value, name=self.fresh(), shape=tuple(value.shape[d] for d in order), strides=tuple(value.strides[d] for d in order),
            bytes=value.bytes.transpose(*order, len(order)), plain=False,
        )  # fmt: skip
        dims = [f"d{d}" for d in range(len(order))]
        spelled = f"({', '.join(dims)}) -> ({', '.join(dims[d] for d in order)})"
        offset = f", offset: {made.offset}" if made.offset else ""
        layout = f"strided<[{', '.join(map(str, made.strides))}]{offset}>"
        extents = "".join(f"{e}x" for e in made.shape)
        kind = f"memref<{extents}{made.element}, {layout}{f', {made.space}' if made.space else ''}>"
        self.emit("memref.transpose", f"{made.name} = memref.transpose {value.name} {spelled} : {value.type} to {kind}")
        return made

    def _shaped(self, value: Viewed, shape: tuple[int, ...]) -> Viewed:
        units = value.bytes.reshape(*shape, BYTES[value.element])
        return replace(value, name=self.fresh(), shape=shape, strides=row_major(shape), bytes=units)

    def collapse(self, value: Viewed) -> Viewed:
        if len(value.shape) < 2:
            return value
        made = self._shaped(value, (value.shape[0] * value.shape[1], *value.shape[2:]))
        groups = ", ".join(["[0, 1]", *(f"[{d}]" for d in range(2, len(value.shape)))])
        text = f"{made.name} = memref.collapse_shape {value.name} [{groups}] : {value.type} into {made.type}"
        self.emit("memref.collapse_shape", text)
        return made

    def expand(self, value: Viewed) -> Viewed:
        divisors = [n for n in range(2, value.shape[0]) if value.shape[0] % n == 0] if value.shape else []
        if not divisors or len(value.shape) > 2:
            return value
        first = self.random.choice(divisors)
        made = self._shaped(value, (first, value.shape[0] // first, *value.shape[1:]))
        groups = ", ".join(["[0, 1]", *(f"[{d + 1}]" for d in range(1, len(value.shape)))])
        sizes = ", ".join(map(str, made.shape))
        text = f"memref.expand_shape {value.name} [{groups}] output_shape [{sizes}] : {value.type} into {made.type}"
        self.emit("memref.expand_shape", f"{made.name} = {text}")
        return made

    def reshape(self, value: Viewed) -> Viewed:
        count = math.prod(value.shape)
        first = self.random.choice([n for n in range(1, count + 1) if count % n == 0])
        made = self._shaped(value, self.random.choice([(count,), (first, count // first)]))
        rank = len(made.shape)
        text = f"memref.reshape {value.name}(%shape{rank}) : ({value.type}, memref<{rank}xi32>) -> {made.type}"
        self.emit("memref.reshape", f"{made.name} = {text}")
        return made

    def view(self, value: Viewed) -> Viewed:
        """Bytes of the buffer as elements of another type."""
        element = self.random.choice(["f32", "f64", "i8"])
        width, size = BYTES[element], value.shape[0]
        if size < 2 * width:
            return value
        rows = self.random.randint(1, min(4, size // width))
        shape = (rows, self.random.randint(1, size // width // rows))
        start = self.random.randint(0, size - math.prod(shape) * width) // width * width
        units = value.bytes[start : start + math.prod(shape) * width].reshape(*shape, width)
        base = int(value.bytes[start, 0])
        made = Viewed(self.fresh(), shape, row_major(shape), 0, element, value.space, units, base=base)
        offset = self.fresh()
        self.lines.append(f"{offset} = arith.constant {start} : index")
        self.emit("memref.view", f"{made.name} = memref.view {value.name}[{offset}][] : {value.type} to {made.type}")
        return made


def collide(kernel: Maker) -> bool:
    """Whether two threads touch one byte, and one of them stores; two that add to it at once do not collide."""
    for one in range(THREADS):
        for other in range(THREADS):
            others = kernel.load[other] if kernel.atomic else kernel.store[other] | kernel.load[other]
            if one != other and kernel.store[one] & others:
                return True
    return False
