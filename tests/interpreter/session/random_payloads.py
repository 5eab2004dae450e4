"""Random payloads: functions of a dozen structured ops and ops that reshape tensors, whose values several others read."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

Shape = tuple[int, ...]
SIZES = (1, 2, 3, 4, 6, 8)


def tensor(shape: Shape) -> str:
    return f"tensor<{''.join(f'{n}x' for n in shape)}f32>"


def mapped(rank: int, results: list[int] | None = None) -> str:
    dims = ", ".join(f"d{i}" for i in range(rank))
    return f"affine_map<({dims}) -> ({', '.join(f'd{i}' for i in (range(rank) if results is None else results))})>"


@dataclass
class Payload:
    """A function being written: its values by name, with their shapes, and its lines."""

    r: random.Random
    arguments: list[tuple[str, Shape]] = field(default_factory=list)
    values: list[tuple[str, Shape]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        read = "\n".join(self.lines)
        unread = [(v, s) for v, s in self.values if f"{v} " not in read.replace(f"{v} = ", "") and f"{v}," not in read]
        returned = unread or self.values[-1:]
        returned = [(v, s) for v, s in returned if not v.startswith("%a")] or self.values[-1:]
        given = ", ".join(f"{v}: {tensor(s)}" for v, s in self.arguments)
        types = ", ".join(tensor(s) for _, s in returned)
        names = ", ".join(v for v, _ in returned)
        return f"func.func @f({given}) -> ({types}) {{\n{read}\n  return {names} : {types}\n}}\n"

    # ---- values --------------------------------------------------------------------------------------------------------

    def value(self, *, rank: int | None = None, shape: Shape | None = None) -> tuple[str, Shape]:
        """A value of this rank or shape: one that is there, mostly the latest, or a new argument."""
        fit = [v for v in self.values if (rank is None or len(v[1]) == rank) and (shape is None or v[1] == shape)]
        if fit and self.r.random() < 0.85:
            return fit[-1] if self.r.random() < 0.5 else self.r.choice(fit)
        dimensions = self.r.choice((1, 2, 2, 3)) if rank is None else rank
        made = shape if shape is not None else tuple(self.r.choice(SIZES) for _ in range(dimensions))
        name = f"%a{len(self.arguments)}"
        self.arguments.append((name, made))
        self.values.append((name, made))
        return name, made

    def new(self, shape: Shape, right: str) -> None:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"  {name} = {right}")
        self.values.append((name, shape))

    def start(self, shape: Shape) -> str:
        """Where an op's result starts: nothing, zeros, or a value."""
        kind = self.r.random()
        name = f"%e{len(self.lines)}"
        if kind < 0.25:
            return self.value(shape=shape)[0]
        self.lines.append(f"  {name} = tensor.empty() : {tensor(shape)}")
        if kind < 0.5:
            return name
        self.lines.append(f"  {name}c = arith.constant 0.0 : f32")
        self.new(shape, f"linalg.fill ins({name}c : f32) outs({name} : {tensor(shape)}) -> {tensor(shape)}")
        return self.values[-1][0]

    # ---- ops -----------------------------------------------------------------------------------------------------------

    def named(self) -> None:
        v, s = self.value()
        w, _ = self.value(shape=s)
        o, t = self.start(s), tensor(s)
        self.new(s, self.r.choice([
            f"linalg.add ins({v}, {w} : {t}, {t}) outs({o} : {t}) -> {t}", f"linalg.exp ins({v} : {t}) outs({o} : {t}) -> {t}",
            f"linalg.copy ins({v} : {t}) outs({o} : {t}) -> {t}",
            f"linalg.map {{ arith.mulf }} ins({v}, {w} : {t}, {t}) outs({o} : {t})",
        ]))  # fmt: skip

    def generic(self) -> None:
        """Parallel or reduced, with transposed and broadcast inputs, one or two results."""
        r = self.r
        rank = r.choice((1, 2, 2, 3))
        dims = [r.choice(SIZES) for _ in range(rank)]
        kinds = [r.choice(("parallel", "parallel", "reduction")) for _ in range(rank)]
        out = [d for d in range(rank) if kinds[d] == "parallel"]
        inputs, maps = [], []
        for n in range(r.choice((1, 2, 2))):
            picked = list(range(rank)) if n == 0 else r.sample(range(rank), r.randint(0, rank))
            if r.random() < 0.4:
                r.shuffle(picked)
            shape = tuple(dims[d] for d in picked)
            fit = [v for v in self.values if len(v[1]) == len(picked)]
            if n == 0 and fit and r.random() < 0.8:
                name, shape = r.choice(fit)
                for d, extent in zip(picked, shape, strict=True):
                    dims[d] = extent
            else:
                name, shape = self.value(shape=shape)
            inputs.append((name, shape))
            maps.append(mapped(rank, picked))
        outs = r.choice((1, 1, 1, 2))
        shape = tuple(dims[d] for d in out)
        starts = [self.start(shape) for _ in range(outs)]
        maps += [mapped(rank, out)] * outs
        types = [tensor(s) for _, s in inputs]
        block = ", ".join([*(f"%i{n}: f32" for n in range(len(inputs))), *(f"%o{n}: f32" for n in range(outs))])
        other = "%i1" if len(inputs) > 1 else "%i0"
        combine = r.choice(("addf", "addf", "maximumf", "mulf"))
        body = [f"%t = arith.{r.choice(('mulf', 'subf'))} %i0, {other} : f32"]
        body += [f"%y{n} = arith.{combine} %o{n}, %t : f32" for n in range(outs)]
        yielded = [f"%y{n}" if "reduction" in kinds or r.random() < 0.3 else "%t" for n in range(outs)]
        iterators = ", ".join(f'"{k}"' for k in kinds)
        result = tensor(shape) if outs == 1 else f"({', '.join([tensor(shape)] * outs)})"
        right = (
            f"linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{iterators}]}} "
            f"ins({', '.join(n for n, _ in inputs)} : {', '.join(types)}) "
            f"outs({', '.join(starts)} : {', '.join([tensor(shape)] * outs)}) {{\n  ^bb0({block}):\n    "
            + "\n    ".join(body) + f"\n    linalg.yield {', '.join(yielded)} : {', '.join(['f32'] * outs)}\n  }} -> {result}"
        )
        if outs == 1:
            self.new(shape, right)
        else:
            name = f"%v{len(self.lines)}"
            self.lines.append(f"  {name}:{outs} = {right}")
            self.values += [(f"{name}#{n}", shape) for n in range(outs)]

    def contraction(self) -> None:
        r = self.r
        batch = () if r.random() < 0.7 else (r.choice(SIZES),)
        name = "linalg.matmul" if not batch else "linalg.batch_matmul"
        a, (*_, m, k) = self.value(rank=2 + len(batch))
        batch = self_shape[:1] if (self_shape := dict(self.values)[a]) and batch else ()
        n = r.choice(SIZES)
        b, _ = self.value(shape=(*batch, k, n))
        s = (*batch, m, n)
        o = self.start(s)
        left, right, out = tensor((*batch, m, k)), tensor((*batch, k, n)), tensor(s)
        self.new(s, f"{name} ins({a}, {b} : {left}, {right}) outs({o} : {out}) -> {out}")

    def moved(self) -> None:
        """linalg's own movers: transpose, broadcast, reduce."""
        r = self.r
        v, s = self.value()
        kind = r.choice(("transpose", "broadcast", "reduce"))
        if kind == "transpose" and s:  # upstream's verifier aborts on a transpose of rank 0
            order = r.sample(range(len(s)), len(s))
            made = tuple(s[d] for d in order)
            o = self.start(made)
            self.new(made, f"linalg.transpose ins({v} : {tensor(s)}) outs({o} : {tensor(made)}) permutation = {order}")
        elif kind == "broadcast" and len(s) < 3:
            at, n = r.randint(0, len(s)), r.choice(SIZES)
            made = (*s[:at], n, *s[at:])
            o = self.start(made)
            self.new(made, f"linalg.broadcast ins({v} : {tensor(s)}) outs({o} : {tensor(made)}) dimensions = [{at}]")
        elif s:
            at = r.randrange(len(s))
            made = (*s[:at], *s[at + 1 :])
            o = self.start(made)
            self.new(made, f"linalg.reduce {{ arith.{r.choice(('addf', 'maximumf'))} }} ins({v} : {tensor(s)}) "
                     f"outs({o} : {tensor(made)}) dimensions = [{at}]")  # fmt: skip

    def reshaped(self) -> None:
        """Slices, paddings, insertions, reshapes and casts."""
        r = self.r
        v, s = self.value()
        kind = r.choice(("slice", "pad", "insert", "expand", "collapse", "cast"))
        zeros, ones = [0] * len(s), [1] * len(s)
        if kind == "slice":
            sizes = [r.randint(1, n) for n in s]
            offsets = [r.randint(0, n - m) for n, m in zip(s, sizes, strict=True)]
            made = tuple(sizes)
            self.new(made, f"tensor.extract_slice {v}{offsets} {sizes} {ones} : {tensor(s)} to {tensor(made)}")
        elif kind == "pad" and s:
            low, high = [r.randint(0, 2) for _ in s], [r.randint(0, 2) for _ in s]
            made = tuple(a + n + b for a, n, b in zip(low, s, high, strict=True))
            c = f"%p{len(self.lines)}"
            self.lines.append(f"  {c} = arith.constant 0.0 : f32")
            args = ", ".join(f"%x{i}: index" for i in range(len(s)))
            self.new(made, f"tensor.pad {v} low{low} high{high} {{\n  ^bb0({args}):\n    tensor.yield {c} : f32\n  }} : "
                     f"{tensor(s)} to {tensor(made)}")  # fmt: skip
        elif kind == "insert":
            made = tuple(n + r.randint(0, 2) for n in s)
            o = self.start(made)
            self.new(made, f"tensor.insert_slice {v} into {o}{zeros} {list(s)} {ones} : {tensor(s)} into {tensor(made)}")
        elif kind == "expand" and 0 < len(s) < 3:
            made = (1, *s)
            groups = [[0, 1], *([n + 2] for n in range(len(s) - 1))]
            self.new(made, f"tensor.expand_shape {v} {groups} output_shape {list(made)} : {tensor(s)} into {tensor(made)}")
        elif kind == "collapse" and len(s) > 1:
            made = (s[0] * s[1], *s[2:])
            groups = [[0, 1], *([n + 2] for n in range(len(s) - 2))]
            self.new(made, f"tensor.collapse_shape {v} {groups} : {tensor(s)} into {tensor(made)}")
        elif kind == "cast" and s:
            loose = f"tensor<{'?x' * len(s)}f32>"
            self.lines.append(f"  %c{len(self.lines)} = tensor.cast {v} : {tensor(s)} to {loose}")
            self.new(s, f"tensor.cast %c{len(self.lines) - 1} : {loose} to {tensor(s)}")

    def windowed(self) -> None:
        """A convolution or a pooling of one axis."""
        r = self.r
        v, (c, w) = self.value(rank=2)
        size = r.randint(1, min(3, w))
        if r.random() < 0.5:
            name = f"%w{len(self.lines)}"
            self.lines.append(f"  {name} = tensor.empty() : {tensor((size,))}")
            left = w - size + 1
            o = self.start((c, left))
            maps = ", ".join(["affine_map<(d0, d1, d2) -> (d0, d1 + d2)>", mapped(3, [2]), mapped(3, [0, 1])])
            kinds = '["parallel", "parallel", "reduction"]'
            self.new((c, left), f"linalg.generic {{indexing_maps = [{maps}], iterator_types = {kinds}}} "
                     f"ins({v}, {name} : {tensor((c, w))}, {tensor((size,))}) outs({o} : {tensor((c, left))}) {{\n"
                     "  ^bb0(%i: f32, %k: f32, %o: f32):\n    %y = arith.maximumf %o, %i : f32\n    linalg.yield %y : f32\n"
                     f"  }} -> {tensor((c, left))}")  # fmt: skip
        else:
            filters = r.choice(SIZES)
            left = w - size + 1
            lines = len(self.lines)
            before, image, out = tensor((c, w)), tensor((1, c, w)), tensor((1, filters, left))
            self.lines.append(
                f"  %q{lines} = tensor.expand_shape {v} [[0, 1], [2]] output_shape [1, {c}, {w}] : {before} into {image}"
            )
            k, shape = self.value(shape=(filters, c, size))
            o = self.start((1, filters, left))
            self.new((1, filters, left), f"linalg.conv_1d_ncw_fcw ins(%q{lines}, {k} : {image}, {tensor(shape)}) "
                     f"outs({o} : {out}) -> {out}")  # fmt: skip


def payload(r: random.Random) -> str:
    """The text of a random payload."""
    made = Payload(r)
    makers = [made.named, made.generic, made.generic, made.generic, made.contraction, made.moved, made.reshaped, made.windowed]
    for _ in range(r.randint(2, 9)):
        r.choice(makers)()
    if not made.lines:
        made.named()
    return made.text
