"""Random structured ops on two windows of one buffer, in loops, and what they touch inside of it, by enumeration.

A window is a chain of subviews: offsets are numbers, multiples of loop variables, or a value that is known at run time only; sizes
are numbers, or `affine.min` of what is left of a ragged tile.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from itertools import product

Form = tuple[int, dict[str, int]]
"""A number, and multiples of variables."""


@dataclass
class Windows:
    """A function with one op `linalg.generic` on two windows of `%A`; `text` is what MLIR reads.

    Args:
        seed: of the random choices.
        symbolic: offsets may have `%p` in them, an argument.
    """

    seed: int
    symbolic: bool = False
    lines: list[str] = field(default_factory=list)
    loops: list[tuple[str, int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self._names = 0
        self.side = self.random.choice([6, 8, 12])
        self.extents = [self.random.choice([1, 2, 3, 4]) for _ in range(2)]
        self._open_loops()
        self.ragged = self._ragged()
        self.windows = [self._window() for _ in range(2)]
        square = self.ragged is None and len(set(self.extents)) == 1
        self.maps = [self.random.choice([(0, 1), (1, 0)]) if square else (0, 1) for _ in range(2)]
        self._op()

    def _name(self) -> str:
        self._names += 1
        return f"%v{self._names}"

    def _open_loops(self) -> None:
        for n in range(self.random.choice([0, 1, 1, 2])):
            step, trips = self.random.choice([1, 2, 3]), self.random.choice([1, 2, 3])
            end = (trips - 1) * step + 1
            self.loops.append((f"%i{n}", end, step))
            if self.random.random() < 0.5:
                self.lines.append(f"scf.forall (%i{n}) = (0) to ({end}) step ({step}) {{")
            else:
                self.lines += [f"%e{n} = arith.constant {end} : index", f"%s{n} = arith.constant {step} : index"]
                self.lines.append(f"scf.for %i{n} = %c0 to %e{n} step %s{n} {{")

    def _ragged(self) -> tuple[str, int] | None:
        """A size `min(extent, n - variable)` in place of the first extent."""
        if not self.loops or self.random.random() < 0.5:
            return None
        variable, end, _ = self.random.choice(self.loops)
        whole, name = end + self.random.choice([0, 1]), self._name()
        self.lines.append(f"{name} = affine.min affine_map<(d0) -> ({self.extents[0]}, {whole} - d0)>({variable})")
        return name, whole

    def _offset(self) -> tuple[str, Form]:
        constant, terms = self.random.choice([0, 0, 1, 2, 3, 4]), dict[str, int]()
        if self.loops and self.random.random() < 0.7:
            terms[self.random.choice(self.loops)[0]] = self.random.choice([1, 1, 2])
        if self.symbolic and self.random.random() < 0.7:
            terms["%p"] = self.random.choice([1, 1, 2])
        name, names = self._name(), list(terms)
        total = " + ".join([*(f"d{n} * {terms[v]}" for n, v in enumerate(names)), str(constant)])
        dims = ", ".join(f"d{n}" for n in range(len(names)))
        self.lines.append(f"{name} = affine.apply affine_map<({dims}) -> ({total})>({', '.join(names)})")
        return name, (constant, terms)

    def _window(self) -> tuple[str, str, list[Form]]:
        """The window's name and type, and its offsets by the buffer's axes."""
        name, kind = "%A", f"memref<{self.side}x{self.side}xf32>"
        at: list[Form] = [(0, {}), (0, {})]
        for whole in [*self.random.choice([[], [], [self.side // 2]]), 0]:
            made, offsets = self._name(), [self._offset(), self._offset()]
            sizes = [str(whole or n) for n in self.extents]
            if not whole and self.ragged is not None:
                sizes[0] = self.ragged[0]
            shape = "x".join("?" if s.startswith("%") else s for s in sizes)
            result = f"memref<{shape}xf32, strided<[{self.side}, 1], offset: ?>>"
            given = ", ".join(text for text, _ in offsets)
            self.lines.append(f"{made} = memref.subview {name}[{given}] [{', '.join(sizes)}] [1, 1] : {kind} to {result}")
            at = [_sum(one, two) for one, (_, two) in zip(at, offsets, strict=True)]
            name, kind = made, result
        return name, kind, at

    def _op(self) -> None:
        maps = ", ".join(f"affine_map<(d0, d1) -> ({', '.join(f'd{d}' for d in m)})>" for m in self.maps)
        (a, mine, _), (b, its, _) = self.windows
        self.lines += [
            f'linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel"]}}',
            f"  ins({a} : {mine}) outs({b} : {its}) {{",
            "^bb0(%x: f32, %y: f32):", "  linalg.yield %x : f32", "}", *("}" for _ in self.loops),
        ]  # fmt: skip

    @property
    def text(self) -> str:
        body = "\n".join(self.lines)
        head = f"func.func @f(%A: memref<{self.side}x{self.side}xf32>, %p: index) {{\n%c0 = arith.constant 0 : index"
        return f"{head}\n{body}\nreturn\n}}"

    def points(self) -> list[dict[str, int]]:
        """The values of loop variables, and of `%p`."""
        of_p = range(-2 * self.side, self.side) if self.symbolic else range(1)
        ranges = [*(range(0, end, step) for _, end, step in self.loops), of_p]
        names = [*(name for name, _, _ in self.loops), "%p"]
        return [dict(zip(names, values, strict=True)) for values in product(*ranges)]

    def touched(self, which: int, point: dict[str, int]) -> dict[tuple[int, int], tuple[int, int]]:
        """By iteration of the op, the element of the buffer."""
        rows = self.extents[0] if self.ragged is None else min(self.extents[0], self.ragged[1] - point[self._ragged_variable()])
        _, _, at = self.windows[which]
        start = [constant + sum(n * point[v] for v, n in terms.items()) for constant, terms in at]
        out: dict[tuple[int, int], tuple[int, int]] = {}
        for i, j in product(range(max(rows, 0)), range(self.extents[1])):
            element = (start[0] + (i, j)[self.maps[which][0]], start[1] + (i, j)[self.maps[which][1]])
            if all(0 <= n < self.side for n in element):
                out[i, j] = element
        return out

    def _ragged_variable(self) -> str:
        assert self.ragged is not None
        line = next(line for line in self.lines if line.startswith(f"{self.ragged[0]} ="))
        return line.rsplit("(", 1)[1].rstrip(")")

    def shared(self) -> set[tuple[tuple[int, int], tuple[int, int], tuple[int, int]]]:
        """Two different iterations, and the element that the first reads and the second writes."""
        found = set[tuple[tuple[int, int], tuple[int, int], tuple[int, int]]]()
        for point in self.points():
            read, written = self.touched(0, point), self.touched(1, point)
            found |= {(i, j, a) for (i, a), (j, b) in product(read.items(), written.items()) if a == b and i != j}
        return found

    def meet(self) -> bool:
        """Whether the windows share an element, of whatever iterations of the loops they are."""
        sides = [set[tuple[int, tuple[int, int]]]() for _ in self.windows]
        for point, (which, side) in product(self.points(), enumerate(sides)):
            side |= {(point["%p"], element) for element in self.touched(which, point).values()}
        return not sides[0].isdisjoint(sides[1])


def _sum(one: Form, other: Form) -> Form:
    return one[0] + other[0], {v: one[1].get(v, 0) + other[1].get(v, 0) for v in (*one[1], *other[1])}
