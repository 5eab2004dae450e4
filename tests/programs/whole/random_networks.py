"""Random programs of linalg on tensors: 5 to 60 ops of all kinds, several functions, and in a third of them open sizes.

Numbers stay small: what grows (products, sums, exponentials) is scaled or bounded, so that a comparison means something.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod

FLOATS = ("f32", "f64")
LARGEST = 6000
"""Elements of a value."""

LONGEST_SUM = 300
"""Terms of a sum: the last digits of a longer one depend on the order of its terms too much for a comparison."""

UNARY = {
    "tanh": "math.tanh {0}",
    "abs": "math.absf {0}",
    "negf": "arith.negf {0}",
    "sin": "math.sin {0}",
}
BINARY = ("arith.addf", "arith.subf", "arith.mulf", "arith.maximumf", "arith.minimumf")


@dataclass(frozen=True)
class Axis:
    """A size; with a name it is open until a run."""

    size: int
    name: str = ""

    @property
    def text(self) -> str:
        return "?" if self.name else str(self.size)


@dataclass(frozen=True)
class Value:
    name: str
    axes: tuple[Axis, ...]
    kind: str

    @property
    def type(self) -> str:
        return f"tensor<{''.join(f'{a.text}x' for a in self.axes)}{self.kind}>"

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(a.size for a in self.axes)

    @property
    def open(self) -> bool:
        return any(a.name for a in self.axes)


@dataclass
class Program:
    """A module, the open sizes of each of its functions, and the number of its ops."""

    text: str
    sizes: dict[str, dict[str, int]]
    ops: int
    kinds: list[str]


def program(seed: int) -> Program:
    r = random.Random(seed)
    wanted, opened = r.randint(5, 60), r.random() < 1 / 3
    count = r.choice((1, 1, 2, 3)) if wanted >= 15 else 1
    made = [Function(f"f{i}", r, opened).filled(wanted // count) for i in range(count)]
    text = "\n".join(f.text() for f in made)
    return Program(text, {f.name: f.open_sizes() for f in made}, sum(f.ops for f in made), [k for f in made for k in f.kinds])


@dataclass
class Function:
    """A function in the making."""

    name: str
    r: random.Random
    opened: bool
    lines: list[str] = field(default_factory=list)
    arguments: list[Value] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    kinds: list[str] = field(default_factory=list)
    ops: int = 0
    names: int = 0

    def filled(self, wanted: int) -> Function:
        self.kind = self.r.choice(("f32", "f32", "f32", "f64"))
        self.rows = Axis(self.r.choice((1, 4, 7, 12, 16, 33)), "open_m" if self.opened else "")
        self.columns = Axis(self.r.choice((3, 8, 16, 20, 65, 96)), "open_n" if self.opened and self.r.random() < 0.4 else "")
        self.argument((self.rows, self.columns))
        while self.ops < wanted:
            kind = self.r.choices(list(KINDS), [weight for weight, _ in KINDS.values()])[0]
            if KINDS[kind][1](self):
                self.kinds.append(kind)
                self.ops += 1
        return self

    # ---- values -------------------------------------------------------------------------------------------------------

    def fresh(self, prefix: str = "v") -> str:
        self.names += 1
        return f"%{prefix}{self.names}"

    def argument(self, axes: Sequence[Axis]) -> Value:
        value = Value(f"%x{len(self.arguments)}", tuple(axes), self.kind)
        self.arguments.append(value)
        self.values.append(value)
        return value

    def made(self, line: str, axes: Sequence[Axis], kind: str | None = None) -> Value:
        """The result of an op: `line` has `{0}` and `{1}` for its name and type."""
        value = Value(self.fresh(), tuple(axes), kind or self.kind)
        self.lines.append(line.format(value.name, value.type))
        self.values.append(value)
        return value

    def take(self, accept: Callable[[Value], bool], default: Sequence[Axis] | None = None) -> Value | None:
        """A recent value, or a new argument."""
        found = [v for v in self.values if v.kind == self.kind and accept(v)]
        if found and (default is None or self.r.random() < 0.8):
            value = self.r.choice(found[-6:])
        elif default is not None:
            value = self.argument(default)
        else:
            return None
        self.used.add(value.name)
        return value

    def any(self, accept: Callable[[Value], bool] = lambda v: True) -> Value:
        return self.take(accept) or self.use(self.argument((self.rows, self.columns)))

    def use(self, value: Value) -> Value:
        self.used.add(value.name)
        return value

    def dims(self, axes: Sequence[Axis]) -> str:
        return ", ".join(f"%{a.name}" for a in axes if a.name)

    def empty(self, axes: Sequence[Axis], kind: str | None = None) -> Value:
        value = Value(self.fresh("e"), tuple(axes), kind or self.kind)
        self.lines.append(f"{value.name} = tensor.empty({self.dims(axes)}) : {value.type}")
        return value

    def start(self, axes: Sequence[Axis], constant: str = "0.0") -> Value:
        empty, value = self.empty(axes), Value(self.fresh("z"), tuple(axes), self.kind)
        number = self.constant(constant)
        self.lines.append(
            f"{value.name} = linalg.fill ins({number} : {self.kind}) outs({empty.name} : {empty.type}) -> {value.type}"
        )
        return value

    def constant(self, text: str, kind: str | None = None) -> str:
        name = self.fresh("c")
        self.lines.append(f"{name} = arith.constant {text} : {kind or self.kind}")
        return name

    def generic(
        self, ins: Sequence[tuple[Value, str]], out: Value, out_map: str, dims: int, reduced: Sequence[int], body: Sequence[str]
    ) -> Value:
        """`body`: lines with %in0…, %out, and the yielded value in the last one."""
        over = ", ".join(f"d{i}" for i in range(dims))
        maps = ", ".join(f"affine_map<({over}) -> ({m})>" for m in (*(m for _, m in ins), out_map))
        iterators = ", ".join('"reduction"' if i in reduced else '"parallel"' for i in range(dims))
        inputs = f"ins({', '.join(v.name for v, _ in ins)} : {', '.join(v.type for v, _ in ins)}) " if ins else ""
        arguments = ", ".join((*(f"%in{i}: {v.kind}" for i, (v, _) in enumerate(ins)), f"%out: {out.kind}"))
        *lines, last = body
        text = "\n      ".join((*lines, f"linalg.yield {last} : {out.kind}"))
        return self.made(
            f"{{0}} = linalg.generic {{{{indexing_maps = [{maps}], iterator_types = [{iterators}]}}}} {inputs}"
            f"outs({out.name} : {out.type}) {{{{\n    ^bb0({arguments}):\n      {text}\n  }}}} -> {{1}}",
            out.axes,
            out.kind,
        )

    def named(self, op: str, ins: Sequence[Value], out: Value, attributes: str = "") -> Value:
        """The result of a named op; with `attributes` that do not follow its name, they follow its operands."""
        names, types = ", ".join(v.name for v in ins), ", ".join(v.type for v in ins)
        line = f"{{0}} = linalg.{op} ins({names} : {types}) outs({out.name} : {out.type}){attributes or ' -> {1}'}"
        return self.made(line, out.axes)

    def bounded(self, value: Value) -> Value:
        """The tanh of an eighth of the value, in place of the value: its last digits are not those of a long sum."""
        self.use(value)
        self.values.remove(value)
        places = over(len(value.axes))
        lines = (
            f"%eighth = arith.constant 0.125 : {value.kind}",
            f"%less = arith.mulf %in0, %eighth : {value.kind}",
            f"%b = math.tanh %less : {value.kind}",
            "%b",
        )
        return self.generic([(value, places)], self.empty(value.axes, value.kind), places, len(value.axes), (), lines)

    # ---- the text -----------------------------------------------------------------------------------------------------

    def open_sizes(self) -> dict[str, int]:
        return {f"{v.name[1:]}.{i}": a.size for v in self.arguments for i, a in enumerate(v.axes) if a.name}

    def text(self) -> str:
        results = [v for v in self.values if v.name not in self.used and v not in self.arguments] or self.values[-1:]
        arguments = ", ".join(f"{v.name}: {v.type}" for v in self.arguments)
        head, places = [], {}
        for v in self.arguments:
            for i, a in enumerate(v.axes):
                if a.name:
                    places.setdefault(a.name, (v, i))
        for name, (v, i) in places.items():
            head += [f"%at_{name} = arith.constant {i} : index", f"%{name} = tensor.dim {v.name}, %at_{name} : {v.type}"]
        types = ", ".join(v.type for v in results)
        body = "\n  ".join((*head, *self.lines, f"return {', '.join(v.name for v in results)} : {types}"))
        return f"func.func @{self.name}({arguments}) -> ({types}) {{\n  {body}\n}}"


def over(rank: int) -> str:
    return ", ".join(f"d{i}" for i in range(rank))


# ---- kinds of ops: each adds one to a function, or returns None where none fits ----------------------------------------


def unary(f: Function) -> Value:
    x = f.any()
    name = f.r.choice(("tanh", "abs", "negf"))
    return f.named(name, [x], f.empty(x.axes))


def binary(f: Function) -> Value:
    x = f.any()
    y = f.take(lambda v: v.axes == x.axes, x.axes)
    assert y is not None
    return f.named(f.r.choice(("add", "sub", "max", "min")), [x, y], f.empty(x.axes))


def body(f: Function) -> Value:
    """A generic of several inputs, some of them broadcast or transposed."""
    x = f.any()
    ins, rank = [(x, over(len(x.axes)))], len(x.axes)
    if rank and f.r.random() < 0.6:
        kept = sorted(f.r.sample(range(rank), f.r.randint(0, rank)))
        axes = tuple(x.axes[i] for i in kept)
        y = f.take(lambda v: v.axes == axes, axes)
        assert y is not None
        ins.append((y, ", ".join(f"d{i}" for i in kept)))
    lines, last = [], "%in0"
    for i in range(f.r.randint(1, 4)):
        if f.r.random() < 0.4 or len(ins) == 1:
            op = f.r.choice(list(UNARY.values())).format(last)
        elif f.r.random() < 0.2:
            lines.append(f"%p{i} = arith.cmpf ogt, {last}, %in1 : {f.kind}")
            lines.append(f"%b{i} = arith.select %p{i}, {last}, %in1 : {f.kind}")
            last = f"%b{i}"
            continue
        else:
            op = f"{f.r.choice(BINARY)} {last}, %in1"
        lines.append(f"%b{i} = {op} : {f.kind}")
        last = f"%b{i}"
    lines.append(f"%last = math.tanh {last} : {f.kind}")
    return f.generic(ins, f.empty(x.axes), over(rank), rank, (), [*lines, "%last"])


def index(f: Function) -> Value:
    """The values of which the index is odd, and zeros."""
    x = f.any(lambda v: len(v.axes) > 0)
    d = f.r.randrange(len(x.axes))
    lines = (
        f"%i = linalg.index {d} : index",
        "%two = arith.constant 2 : index",
        "%odd = arith.remui %i, %two : index",
        "%zero = arith.constant 0 : index",
        "%even = arith.cmpi eq, %odd, %zero : index",
        f"%nothing = arith.constant 0.0 : {f.kind}",
        f"%b = arith.select %even, %nothing, %in0 : {f.kind}",
        "%b",
    )
    return f.generic([(x, over(len(x.axes)))], f.empty(x.axes), over(len(x.axes)), len(x.axes), (), lines)


def cast(f: Function) -> Value:
    x, other = f.any(), "f64" if f.kind == "f32" else "f32"
    narrower = f.kind == "f64"
    rank, up, down = len(x.axes), "arith.extf", "arith.truncf"
    one = f.generic(
        [(x, over(rank))], f.empty(x.axes, other), over(rank), rank, (),
        [f"%b = {down if narrower else up} %in0 : {f.kind} to {other}", "%b"],
    )  # fmt: skip
    f.use(one)
    return f.generic(
        [(one, over(rank))], f.empty(x.axes), over(rank), rank, (),
        [f"%b = {up if narrower else down} %in0 : {other} to {f.kind}", "%b"],
    )  # fmt: skip


def broadcast(f: Function) -> Value | None:
    x = f.take(lambda v: len(v.axes) < 4)
    if x is None:
        return None
    at = f.r.randint(0, len(x.axes))
    added = f.r.choice((f.rows, f.columns, Axis(f.r.choice((2, 3, 8)))))
    axes = (*x.axes[:at], added, *x.axes[at:])
    if prod(a.size for a in axes) > LARGEST:
        return None
    return f.named("broadcast", [x], f.empty(axes), f" dimensions = [{at}]")


def transpose(f: Function) -> Value | None:
    x = f.take(lambda v: len(v.axes) > 1)
    if x is None:
        return None
    order = f.r.sample(range(len(x.axes)), len(x.axes))
    axes = tuple(x.axes[i] for i in order)
    return f.named("transpose", [x], f.empty(axes), f" permutation = {order}")


def reduce(f: Function) -> Value | None:
    x = f.take(lambda v: len(v.axes) > 0)
    if x is None:
        return None
    gone = sorted(f.r.sample(range(len(x.axes)), f.r.randint(1, min(2, len(x.axes)))))
    axes = tuple(a for i, a in enumerate(x.axes) if i not in gone)
    combiner, first = f.r.choice((("arith.addf", "0.0"), ("arith.maximumf", "-1.0"), ("arith.minimumf", "1.0")))
    if prod(x.sizes[i] for i in gone) > LONGEST_SUM:
        combiner, first = "arith.maximumf", "-1.0"
    made = f.named(f"reduce {{{{ {combiner} }}}}", [x], f.start(axes, first), f" dimensions = {gone}")
    return f.bounded(made) if combiner == "arith.addf" else made


def squares(f: Function) -> Value | None:
    """A sum of squares of rows or columns, as a generic."""
    x = f.take(lambda v: len(v.axes) > 1)
    if x is None:
        return None
    gone = f.r.randrange(len(x.axes))
    if x.sizes[gone] > LONGEST_SUM:
        return None
    kept = [i for i in range(len(x.axes)) if i != gone]
    out = f.start([x.axes[i] for i in kept])
    made = f.generic(
        [(x, over(len(x.axes)))], out, ", ".join(f"d{i}" for i in kept), len(x.axes), (gone,),
        [f"%q = arith.mulf %in0, %in0 : {f.kind}", f"%s = arith.addf %out, %q : {f.kind}", "%s"],
    )  # fmt: skip
    return f.bounded(made)


def matmul(f: Function) -> Value | None:
    a = f.take(lambda v: len(v.axes) == 2)
    if a is None:
        return None
    n = f.r.choice((f.columns, f.rows, Axis(f.r.choice((5, 16, 32)))))
    b = f.take(lambda v: len(v.axes) == 2 and v.axes[0] == a.axes[1], (a.axes[1], n))
    assert b is not None
    made = f.named("matmul", [a, b], f.start((a.axes[0], b.axes[1])))
    return f.bounded(made)


def large_matmul(f: Function) -> Value | None:
    if (f.opened and f.r.random() < 0.5) or "large_matmul" in f.kinds:
        return None
    a, b = f.argument((Axis(256), Axis(256))), f.argument((Axis(256), Axis(f.r.choice((256, 260)))))
    f.used |= {a.name, b.name}
    made = f.named("matmul", [a, b], f.start((a.axes[0], b.axes[1])))
    f.use(made)
    lines = (f"%scale = arith.constant 0.015625 : {f.kind}", f"%b = arith.mulf %in0, %scale : {f.kind}", "%b")
    return f.generic([(made, "d0, d1")], f.empty(made.axes), "d0, d1", 2, (), lines)


def batch_matmul(f: Function) -> Value | None:
    a = f.take(lambda v: len(v.axes) == 3, (Axis(f.r.choice((2, 3))), f.rows, f.columns))
    assert a is not None
    b = f.take(
        lambda v: len(v.axes) == 3 and v.axes[:2] == (a.axes[0], a.axes[2]), (a.axes[0], a.axes[2], Axis(f.r.choice((4, 9))))
    )
    assert b is not None
    made = f.named("batch_matmul", [a, b], f.start((a.axes[0], a.axes[1], b.axes[2])))
    return f.bounded(made)


def matvec(f: Function) -> Value | None:
    a = f.take(lambda v: len(v.axes) == 2)
    if a is None:
        return None
    x = f.take(lambda v: v.axes == a.axes[1:], a.axes[1:])
    assert x is not None
    made = f.named("matvec", [a, x], f.start(a.axes[:1]))
    return f.bounded(made)


def conv(f: Function) -> Value | None:
    return windows(f, "conv_2d_nhwc_hwcf", lambda c: (c, Axis(f.r.choice((3, 4, 8)))), last=True)


def conv_nchw(f: Function) -> Value | None:
    return windows(f, "conv_2d_nchw_fchw", lambda c: (Axis(f.r.choice((3, 4, 8))), c), last=False)


def moving(stride: int = 1, dilation: int = 1) -> str:
    """The attributes of windows along two axes."""
    return f"{{{{strides = dense<{stride}> : tensor<2xi64>, dilations = dense<{dilation}> : tensor<2xi64>}}}}"


def image(f: Function, last: bool) -> Value:
    n = f.rows if f.opened else Axis(f.r.choice((1, 2)))
    h, w, c = Axis(f.r.choice((6, 8))), Axis(f.r.choice((6, 9))), Axis(f.r.choice((3, 4)))

    def fits(v: Value) -> bool:
        spatial = (v.axes[1:] if last else v.axes[2:]) if len(v.axes) == 4 else ()
        return len(spatial) >= 2 and not any(a.name for a in v.axes[1:]) and all(a.size >= 4 for a in spatial[:2])

    found = f.take(fits, (n, h, w, c) if last else (n, c, h, w))
    assert found is not None
    return found


def windows(f: Function, name: str, channels: Callable[[Axis], tuple[Axis, ...]], *, last: bool) -> Value | None:
    x, stride, dilation = image(f, last), f.r.choice((1, 1, 2)), f.r.choice((1, 1, 1, 2))
    (h, w), c = (x.sizes[1:3] if last else x.sizes[2:]), x.axes[3 if last else 1]
    kh, kw = f.r.choice(((1, 1), (2, 2), (3, 3) if dilation == 1 else (2, 1)))
    oh, ow = ((s - dilation * (k - 1) - 1) // stride + 1 for s, k in ((h, kh), (w, kw)))
    if min(oh, ow) < 1:
        return None
    one, other = channels(c)
    filters = (Axis(kh), Axis(kw), one, other) if last else (one, other, Axis(kh), Axis(kw))
    k = f.take(lambda v: v.axes == filters, filters)
    assert k is not None
    out_channels = other if last else one
    axes = (x.axes[0], Axis(oh), Axis(ow), out_channels) if last else (x.axes[0], out_channels, Axis(oh), Axis(ow))
    return f.bounded(f.named(f"{name} {moving(stride, dilation)}", [x, k], f.start(axes)))


def grouped_conv(f: Function) -> Value | None:
    g, c, fs, k = Axis(2), Axis(f.r.choice((2, 3))), Axis(f.r.choice((2, 4))), f.r.choice((1, 2, 3))
    n, h = f.rows if f.opened else Axis(2), Axis(f.r.choice((5, 7)))
    x = f.take(lambda v: v.axes == (n, g, c, h, h), (n, g, c, h, h))
    w = f.argument((g, fs, c, Axis(k), Axis(k)))
    assert x is not None
    f.use(w)
    o = Axis(h.size - k + 1)
    return f.bounded(f.named(f"conv_2d_ngchw_gfchw {moving()}", [x, w], f.start((n, g, fs, o, o))))


def depthwise_conv(f: Function) -> Value | None:
    x = image(f, True)
    filters = (Axis(2), Axis(3), x.axes[3])
    k = f.take(lambda v: v.axes == filters, filters)
    assert k is not None
    out = f.start((x.axes[0], Axis(x.sizes[1] - 1), Axis(x.sizes[2] - 2), x.axes[3]))
    return f.bounded(f.named(f"depthwise_conv_2d_nhwc_hwc {moving()}", [x, k], out))


def pooling(f: Function) -> Value | None:
    x, k, stride = image(f, True), f.r.choice((2, 3)), f.r.choice((1, 2))
    name, first = f.r.choice((("sum", "0.0"), ("max", "-1.0"), ("min", "1.0")))
    oh, ow = ((s - k) // stride + 1 for s in x.sizes[1:3])
    window = f.empty((Axis(k), Axis(k)))
    out = f.start((x.axes[0], Axis(oh), Axis(ow), x.axes[3]), first)
    made = f.named(f"pooling_nhwc_{name} {moving(stride)}", [x, window], out)
    return f.bounded(made) if name == "sum" else made


def extract_slice(f: Function) -> Value | None:
    x = f.take(lambda v: any(not a.name and a.size > 2 for a in v.axes))
    if x is None:
        return None
    axes, parts = [], []
    for a in x.axes:
        stride, size, offset = 1, a.size, 0
        if not a.name and f.r.random() < 0.7:
            size = f.r.randint(1, a.size)
            stride = f.r.choice([s for s in (1, 1, 1, 2) if (size - 1) * s < a.size])
            offset = f.r.randint(0, a.size - (size - 1) * stride - 1)
            a = Axis(size)
        axes.append(a)
        parts.append((str(offset), f"%{a.name}" if a.name else str(size), str(stride)))
    place = "".join(f"[{', '.join(each)}]" for each in zip(*parts, strict=True))
    return f.made(f"{{0}} = tensor.extract_slice {x.name}{place} : {x.type} to {{1}}", axes)


def insert_slice(f: Function) -> Value | None:
    whole = f.take(lambda v: len(v.axes) > 0 and not v.open)
    if whole is None:
        return None
    rank = len(whole.axes)
    part = f.take(
        lambda v: len(v.axes) == rank and not v.open and all(p <= w for p, w in zip(v.sizes, whole.sizes, strict=True)),
        tuple(Axis(f.r.randint(1, s)) for s in whole.sizes),
    )
    assert part is not None
    at = [f.r.randint(0, w - p) for p, w in zip(part.sizes, whole.sizes, strict=True)]
    place = f"{at}{list(part.sizes)}{[1] * rank}"
    return f.made(f"{{0}} = tensor.insert_slice {part.name} into {whole.name}{place} : {part.type} into {{1}}", whole.axes)


def pad(f: Function) -> Value | None:
    x = f.take(lambda v: any(not a.name for a in v.axes))
    if x is None:
        return None
    low = [0 if a.name else f.r.choice((0, 1, 2)) for a in x.axes]
    high = [0 if a.name else f.r.choice((0, 1)) for a in x.axes]
    axes = [a if a.name else Axis(a.size + one + two) for a, one, two in zip(x.axes, low, high, strict=True)]
    value = f.constant(f.r.choice(("0.0", "0.5")))
    arguments = ", ".join(f"%i{i}: index" for i in range(len(axes)))
    return f.made(
        f"{{0}} = tensor.pad {x.name} low{low} high{high} {{{{\n  ^bb0({arguments}):\n    tensor.yield {value} : {f.kind}\n"
        f"  }}}} : {x.type} to {{1}}",
        axes,
    )


def concat(f: Function) -> Value | None:
    x = f.take(lambda v: any(not a.name for a in v.axes))
    if x is None:
        return None
    at = f.r.choice([i for i, a in enumerate(x.axes) if not a.name])
    parts = [x]
    for _ in range(f.r.randint(1, 2)):
        wanted = (*x.axes[:at], Axis(f.r.choice((1, 2, 5))), *x.axes[at + 1 :])
        y = f.take(
            lambda v: len(v.axes) == len(x.axes) and not v.axes[at].name
            and all(i == at or a == b for i, (a, b) in enumerate(zip(v.axes, x.axes, strict=True))), wanted,
        )  # fmt: skip
        assert y is not None
        parts.append(y)
    axes = (*x.axes[:at], Axis(sum(v.sizes[at] for v in parts)), *x.axes[at + 1 :])
    if prod(a.size for a in axes) > LARGEST:
        return None
    names, types = ", ".join(v.name for v in parts), ", ".join(v.type for v in parts)
    return f.made(f"{{0}} = tensor.concat dim({at}) {names} : ({types}) -> {{1}}", axes)


def collapse(f: Function) -> Value | None:
    x = f.take(lambda v: any(not a.name and not b.name for a, b in zip(v.axes, v.axes[1:], strict=False)))
    if x is None:
        return None
    at = f.r.choice([i for i, (a, b) in enumerate(zip(x.axes, x.axes[1:], strict=False)) if not a.name and not b.name])
    groups = [[i] for i in range(at)] + [[at, at + 1]] + [[i] for i in range(at + 2, len(x.axes))]
    axes = (*x.axes[:at], Axis(x.sizes[at] * x.sizes[at + 1]), *x.axes[at + 2 :])
    return f.made(f"{{0}} = tensor.collapse_shape {x.name} {groups} : {x.type} into {{1}}", axes)


def expand(f: Function) -> Value | None:
    def factors(a: Axis) -> list[int]:
        return [] if a.name else [k for k in (2, 3, 4, 5) if a.size % k == 0 and a.size > k]

    x = f.take(lambda v: len(v.axes) < 4 and any(factors(a) for a in v.axes))
    if x is None:
        return None
    at = f.r.choice([i for i, a in enumerate(x.axes) if factors(a)])
    k = f.r.choice(factors(x.axes[at]))
    axes = (*x.axes[:at], Axis(x.sizes[at] // k), Axis(k), *x.axes[at + 1 :])
    groups = [[i] for i in range(at)] + [[at, at + 1]] + [[i + 1] for i in range(at + 1, len(x.axes))]
    shape = ", ".join(f"%{a.name}" if a.name else str(a.size) for a in axes)
    return f.made(f"{{0}} = tensor.expand_shape {x.name} {groups} output_shape [{shape}] : {x.type} into {{1}}", axes)


def gather(f: Function) -> Value | None:
    """Rows of a table, at places computed from another value."""
    table = f.take(lambda v: len(v.axes) == 2 and not v.axes[0].name)
    if table is None:
        return None
    places = f.take(lambda v: len(v.axes) == 1, (f.rows,))
    assert places is not None
    rows = table.sizes[0]
    lines = (
        f"%threshold = arith.constant 0.377 : {f.kind}",  # a value this close to it is improbable
        f"%large = arith.cmpf ogt, %in0, %threshold : {f.kind}",
        "%i = linalg.index 0 : index",
        "%five = arith.constant 5 : index",
        "%three = arith.constant 3 : index",
        "%times = arith.muli %i, %five : index",
        "%more = arith.addi %times, %three : index",
        "%at = arith.select %large, %more, %times : index",
        f"%rows = arith.constant {rows} : index",
        "%row = arith.remui %at, %rows : index",
        "%column = linalg.index 1 : index",
        f"%v = tensor.extract {table.name}[%row, %column] : {table.type}",
        "%v",
    )
    return f.generic([(places, "d0")], f.empty((places.axes[0], table.axes[1])), "d0, d1", 2, (), lines)


def splat(f: Function) -> Value:
    made = f.start((f.rows, f.columns), f.r.choice(("0.25", "-0.5")))
    f.values.append(made)
    return made


def softmax(f: Function) -> Value | None:
    """Of rows: five ops."""
    x = f.take(lambda v: len(v.axes) == 2 and v.sizes[1] > 1)
    if x is None:
        return None
    def of_rows(source: Value, combiner: str, first: str) -> Value:
        lines = (f"%m = arith.{combiner} %out, %in0 : {f.kind}", "%m")
        return f.use(f.generic([(source, "d0, d1")], f.start(x.axes[:1], first), "d0", 2, (1,), lines))

    largest = of_rows(x, "maximumf", "-1.0e30")
    lines = (f"%d = arith.subf %in0, %in1 : {f.kind}", f"%e = math.exp %d : {f.kind}", "%e")
    powers = f.use(f.generic([(x, "d0, d1"), (largest, "d0")], f.empty(x.axes), "d0, d1", 2, (), lines))
    sums = of_rows(powers, "addf", "0.0")
    f.ops += 3
    return f.generic(
        [(powers, "d0, d1"), (sums, "d0")], f.empty(x.axes), "d0, d1", 2, (), [f"%q = arith.divf %in0, %in1 : {f.kind}", "%q"]
    )


KINDS: dict[str, tuple[int, Callable[[Function], Value | None]]] = {
    "unary": (6, unary),
    "binary": (6, binary),
    "body": (6, body),
    "index": (1, index),
    "cast": (1, cast),
    "broadcast": (3, broadcast),
    "transpose": (3, transpose),
    "reduce": (4, reduce),
    "squares": (2, squares),
    "matmul": (3, matmul),
    "large_matmul": (1, large_matmul),
    "batch_matmul": (2, batch_matmul),
    "matvec": (1, matvec),
    "conv": (2, conv),
    "conv_nchw": (1, conv_nchw),
    "grouped_conv": (1, grouped_conv),
    "depthwise_conv": (1, depthwise_conv),
    "pooling": (2, pooling),
    "slice": (3, extract_slice),
    "insert": (1, insert_slice),
    "pad": (3, pad),
    "concat": (3, concat),
    "collapse": (2, collapse),
    "expand": (2, expand),
    "gather": (2, gather),
    "splat": (1, splat),
    "softmax": (1, softmax),
}
"""Kind → how often, and the function that adds one."""
