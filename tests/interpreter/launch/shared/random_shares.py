"""Random reductions and scans, and random schedules in which processors share them: whatever is combined, by threads along any
axes, lanes, rows of lanes, in loops over blocks, other threads, warps and warp groups, two to four maps nested in each other. What
is reduced may come first in memory or among the loops, and another reduction may read the result.

Random, but not blind: an axis is taken once in a nest, without a word for the distribution an iteration has a processor, and counts
along an axis agree. Rows are seldom a multiple of the processors that have them, and blocks seldom whole warps.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

KINDS = (*("i32", "i64", "f32", "f64") * 2, "f16", "bf16")
WHOLE = ("i32", "i64")
HALVES = ("f16", "bf16")


@dataclass
class Reduction:
    """One of `rows` (a size, or two) of `columns` (likewise).

    Args:
        results: how many it has.
        fills: how many different ones they start from.
        open: sizes that only a run knows.
        after: another op reads its results: `None`, `"rows"` one element for each, `"all"` one for each input's, `"again"`
            another reduction.
        layout, order: of the input's dimensions in memory, and of the op's loops: which of rows and columns each is.
    """

    kind: str
    what: str
    rows: list[int]
    columns: list[int]
    results: int
    fills: int
    given: bool
    open: bool
    after: str | None
    layout: list[int]
    order: list[int]
    scan: bool = False

    @property
    def shape(self) -> list[int]:
        """Of the input."""
        sizes = [*self.rows, *self.columns]
        return [sizes[d] for d in self.layout]

    @property
    def shapes(self) -> list[list[int]]:
        """Of the input, where only a run knows its size."""
        return [self.shape, [1] * len(self.shape), [n + 1 for n in self.shape]] if self.open else []

    def size(self, numbers: list[int]) -> str:
        return "".join(f"{'?' if self.open else n}x" for n in numbers)


def extreme(kind: str, largest: bool) -> str:
    if kind in WHOLE:
        bits = int(kind[1:])
        return str(-(2 ** (bits - 1)) if largest else 2 ** (bits - 1) - 1)
    bits = {"f16": "7C00", "bf16": "7F80", "f32": "7F800000", "f64": "7FF0000000000000"}[kind]
    return f"0x{'F' if largest else '7'}{bits[1:]}"


def number(kind: str, value: int) -> str:
    return str(value) if kind in WHOLE else f"{value}.0"


def combined(r: random.Random, kind: str, columns: int, terms: int) -> tuple[str, list[str], list[str], list[str], list[str]]:
    """What is combined: its name, the types of results, what they start from, the lines of the body, what it yields."""
    whole = kind in WHOLE
    i = "i" if whole else "f"
    one = {
        "sum": (number(kind, 0), f"arith.add{i} %o0, %v : {kind}"),
        "squares": (number(kind, 0), f"arith.add{i} %o0, %q : {kind}"),
        "product": (number(kind, 1), f"arith.mul{i} %o0, %v : {kind}"),
        "largest": (extreme(kind, True), f"arith.max{'s' if whole else 'imum'}{i} %v, %o0 : {kind}"),
        "smallest": (extreme(kind, False), f"arith.min{'s' if whole else 'imum'}{i} %o0, %v : {kind}"),
    }
    if whole:
        one |= {w: (number(kind, -1 if w == "and" else 0), f"arith.{w}i %o0, %v : {kind}") for w in ("and", "or", "xor")}
    if kind in HALVES or (kind == "f32" and terms > 64):  # so many factors leave nothing but rounding
        del one["product"]
    if kind in HALVES:
        del one["squares"]
    names = [*one, "two", "two"] + ["place", "place"] * (columns == 1) + ["welford"] * (kind in ("f32", "f64"))
    what = r.choice(names)
    if what in one:
        start, line = one[what]
        lines = [f"%q = arith.mul{i} %v, %v : {kind}"] if what == "squares" else []
        return what, [kind], [start], [*lines, f"%u0 = {line}"], ["%u0"]
    if what == "two":
        first, second = r.sample([w for w in one if w != "squares"], 2)
        body = [f"%u0 = {one[first][1]}", f"%u1 = {one[second][1].replace('%o0', '%o1')}"]
        return f"{first} and {second}", [kind, kind], [one[first][0], one[second][0]], body, ["%u0", "%u1"]
    if what == "place":
        largest = r.random() < 0.5
        asked = {(True, True): "cmpi sgt", (True, False): "cmpi slt", (False, True): "cmpf ogt", (False, False): "cmpf olt"}
        body = [
            "%j = linalg.index DIM : index", "%k = arith.index_cast %j : index to i32",
            f"%c = arith.{asked[whole, largest]}, %v, %o0 : {kind}", f"%u0 = arith.select %c, %v, %o0 : {kind}",
            "%u1 = arith.select %c, %k, %o1 : i32",
        ]  # fmt: skip
        return "place", [kind, "i32"], [extreme(kind, largest), "0"], body, ["%u0", "%u1"]
    body = [
        f"%one = arith.constant 1.0 : {kind}", f"%u0 = arith.addf %o0, %one : {kind}", f"%d = arith.subf %v, %o1 : {kind}",
        f"%p = arith.divf %d, %u0 : {kind}", f"%u1 = arith.addf %o1, %p : {kind}", f"%e = arith.subf %v, %u1 : {kind}",
        f"%h = arith.mulf %d, %e : {kind}", f"%u2 = arith.addf %o2, %h : {kind}",
    ]  # fmt: skip
    return "welford", [kind] * 3, ["0.0"] * 3, body, ["%u0", "%u1", "%u2"]


def payload(r: random.Random) -> tuple[str, Reduction]:
    """The text, and what it is."""
    kind = r.choice(KINDS)
    rows = [r.choice((1, 2, 3, 5, 7, 8, 12, 13, 16))] if r.random() < 0.75 else [r.randint(1, 4), r.randint(1, 5)]
    columns = [r.choice((1, 2, 7, 31, 32, 33, 64, 70, 100, 200))]
    if r.random() < 0.3:
        columns = [r.randint(1, 5), r.choice((1, 3, 8, 40))]
    scan = r.random() < 0.1 and len(columns) == 1
    given, opened = r.random() < 0.3, r.random() < 0.25 and len(rows) == 1
    after = r.choice((None, None, None, "rows", "all", "again"))
    what, kinds, starts, body, yields = combined(r, kind, len(columns), math.prod(columns))
    if scan:
        what, kinds, starts, yields = "scan", [kind], [number(kind, 0)], ["%u0"]
        op = r.choice(("add", "add", "max", "min", "mul") if kind in WHOLE else ("add", "add", "max", "min"))
        if op in ("max", "min"):
            op, starts = f"{op}{'s' if kind in WHOLE else 'imum'}", [extreme(kind, op == "max")]
        body = [f"%u0 = arith.{op}{'i' if kind in WHOLE else 'f'} %o0, %v : {kind}"]
    given = given and what != "welford"  # with a count that is no count its last digits are lost
    if what in ("scan", "place"):
        after = None
    opened = opened and not scan and after not in ("all", "again")
    m, n = len(rows), len(columns)
    layout, order = ([*range(m + n)] if r.random() < 0.7 else r.sample(range(m + n), m + n) for _ in range(2))
    if what == "place" or scan or after:
        order.sort()
    fills = len({*zip(kinds, starts, strict=True)})
    made = Reduction(kind, what, rows, columns, len(kinds), fills, given, opened and not given, after, layout, order, scan)
    body = [line.replace("DIM", str(order.index(m))) for line in body]
    x, ys = f"tensor<{made.size(made.shape)}{kind}>", [f"tensor<{made.size(rows)}{k}>" for k in kinds]
    dims = [f"d{d}" for d in range(m + n)]
    own = [dims[order.index(d)] for d in range(m + n)]
    whole, row = (
        f"affine_map<({', '.join(dims)}) -> ({', '.join(some)})>" for some in ([own[d] for d in layout], own[:m])
    )
    results = [*ys, *([x] if scan else [])]
    last = {"rows": ys[0], "again": ys[0], "all": x}.get(after or "")
    returned = [last] if last else results
    arguments = [f"%x: {x}", *(f"%s{k}: {y}" for k, y in enumerate(ys) if given)]
    lines = [f"func.func @f({', '.join(arguments)}) -> ({', '.join(returned)}) {{"]
    sizes = ""
    if made.open:
        for d in range(m + n):
            at = layout.index(d)
            lines += [f"%c{d} = arith.constant {at} : index", f"%n{d} = tensor.dim %x, %c{d} : {x}"]
        sizes = ", ".join(f"%n{d}" for d in range(m))
    for k, y in enumerate(ys):
        if not given:
            lines += [f"%z{k} = arith.constant {starts[k]} : {kinds[k]}", f"%e{k} = tensor.empty({sizes}) : {y}"]
            lines += [f"%s{k} = linalg.fill ins(%z{k} : {kinds[k]}) outs(%e{k} : {y}) -> {y}"]
    everything = ", ".join(f"%n{d}" for d in layout) if made.open else ""
    outs, more = [f"%s{k}" for k in range(len(ys))], [f"%o{k}: {t}" for k, t in enumerate(kinds)]
    if scan:
        lines += [f"%all = tensor.empty({everything}) : {x}"]
        so_far = r.choice(("%u0", "%u0", "%o0"))
        outs, more, yields, kinds = [*outs, "%all"], [*more, f"%old: {kind}"], ["%u0", so_far], [kind, kind]
    iterators = ", ".join('"parallel"' if d < m else '"reduction"' for d in order)
    maps = ", ".join([whole, *[row] * len(ys), *([whole] if scan else [])])
    count = len(results)
    lines += [
        f"%r{f':{count}' if count > 1 else ''} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{iterators}]}} "
        f"ins(%x : {x}) outs({', '.join(outs)} : {', '.join(results)}) {{",
        f"^bb0({', '.join([f'%v: {kind}', *more])}):", *body, f"linalg.yield {', '.join(yields)} : {', '.join(kinds)}",
        f"}} -> ({', '.join(results)})",
    ]  # fmt: skip
    names = [f"%r#{k}" for k in range(count)] if count > 1 else ["%r"]
    if after == "again":
        lines += again(made, x, ys[0], names[0])
        names = ["%w"]
    elif last:
        every = after == "all"
        inputs = [*(["%x"] if every else []), *names]
        takes, each = [*([x] if every else []), *ys], ", ".join(dims[:m])
        into = whole if every else f"affine_map<({each}) -> ({each})>"
        row = row if every else into
        walked = ", ".join([*([whole] if every else []), *[row] * len(ys), into])
        terms = [f"%t{k}" for k in range(len(takes))]
        parallel = ", ".join(['"parallel"'] * (m + n * every))
        lines += [
            f"%all = tensor.empty({everything if every else sizes}) : {last}",
            f"%w = linalg.generic {{indexing_maps = [{walked}], iterator_types = [{parallel}]}} "
            f"ins({', '.join(inputs)} : {', '.join(takes)}) outs(%all : {last}) {{",
            f"^bb0({', '.join(f'{t}: {kind}' for t in [*terms, '%old'])}):",
        ]  # fmt: skip
        total = terms[0]
        for k, other in enumerate(terms[1:]):
            lines += [f"%b{k} = arith.add{'i' if kind in WHOLE else 'f'} {total}, {other} : {kind}"]
            total = f"%b{k}"
        lines += [f"linalg.yield {total} : {kind}", f"}} -> {last}"]
        names = ["%w"]
    lines += [f"return {', '.join(names)} : {', '.join(returned)}", "}\n"]
    return "\n".join(lines), made


def again(made: Reduction, x: str, y: str, first: str) -> list[str]:
    """`%w`: of each row the squares of what each element is off from a result, or the most it is off."""
    kind, m, rank = made.kind, len(made.rows), len(made.shape)
    i, dims = "i" if kind in WHOLE else "f", [f"d{d}" for d in range(rank)]
    most = kind in HALVES
    maps = [[dims[d] for d in made.layout], dims[:m], dims[:m]]
    walked = ", ".join(f"affine_map<({', '.join(dims)}) -> ({', '.join(some)})>" for some in maps)
    iterators = ", ".join(['"parallel"'] * m + ['"reduction"'] * (rank - m))
    return [
        f"%first = arith.constant {number(kind, -3 if most else 2)} : {kind}",
        f"%empty = tensor.empty() : {y}", f"%zero = linalg.fill ins(%first : {kind}) outs(%empty : {y}) -> {y}",
        f"%w = linalg.generic {{indexing_maps = [{walked}], iterator_types = [{iterators}]}} "
        f"ins(%x, {first} : {x}, {y}) outs(%zero : {y}) {{",
        f"^bb0(%a: {kind}, %b: {kind}, %o: {kind}):", f"%d = arith.sub{i} %a, %b : {kind}",
        *([f"%u = arith.maximumf %o, %d : {kind}"] if most else
          [f"%q = arith.mul{i} %d, %d : {kind}", f"%u = arith.add{i} %o, %q : {kind}"]),
        f"linalg.yield %u : {kind}", f"}} -> {y}",
    ]  # fmt: skip


# ---- schedules -----------------------------------------------------------------------------------------------------------------

WORDS = ("cyclic", "cyclic", "block", "block-cyclic(2)")
COUNTS = (1, 2, 2, 3, 4, 4, 5, 8, 16, 32, 33)


@dataclass
class Team:
    """Threads of a block.

    Args:
        around: what loops around the reduction are mapped to, the outermost first, and the processors along each axis.
        own: what the reduction is mapped to.
        one: likewise, along a single axis.
    """

    around: list[tuple[str, list[int]]]
    own: str
    one: str


def axes_of(space: str, axes: list[str], counts: dict[str, int]) -> str:
    return f"{space}({', '.join(f'{a}: {counts[a]}' for a in axes)})"


def threads(r: random.Random, one: Reduction) -> Team:
    axes = r.sample("xyz", 3)
    counts = {axis: r.choice(COUNTS) for axis in axes}
    mine = 2 if len(one.columns) == 2 and r.random() < 0.3 else 1
    outer = r.choice((0, 1, 1, 1, 2)) if mine == 1 else r.choice((0, 1))
    taken, own = axes[: outer + mine], axes[outer : outer + mine]
    if r.random() < 0.5:
        counts[own[-1]] = r.choice((8, 16, 32, 64, 96))
    if one.scan and r.random() < 0.7:
        counts[own[-1]] = r.choice((32, 64, 96))
    if math.prod(counts[a] for a in own) == 1:  # one processor does it whole
        counts[own[-1]] = 2
    while math.prod(counts[a] for a in taken) > 512 or any(counts[a] > 64 for a in taken if a == "z"):
        counts[r.choice(taken)] = 4
    together = outer == 2 and len(one.rows) == 2 and r.random() < 0.6  # a loop of two dimensions
    loops = [taken[:2]] if together else [[axis] for axis in taken[:outer]]
    if not outer and r.random() < 0.15:
        return Team([], "threads(*)", "threads(x: 64)")
    space = "grid" if outer and not one.after and r.random() < 0.05 else "threads"
    around = [(axes_of(space if n == 0 else "threads", loop, counts), [counts[a] for a in loop]) for n, loop in enumerate(loops)]
    return Team(around, axes_of("threads", own, counts), axes_of("threads", own[:1], counts))


def warps(r: random.Random, one: Reduction) -> Team:
    around = list[tuple[str, list[int]]]()
    if r.random() < 0.8:
        counts = {"y": r.choice((1, 2)), "x": r.choice((1, 2, 3, 4))}
        axes = ["y", "x"] if len(one.rows) == 2 and r.random() < 0.5 else ["x"]
        around += [(axes_of("warps", axes, counts), [counts[a] for a in axes])]
    elif r.random() < 0.6:
        n = r.choice((1, 2))
        around += [(f"warpgroups(x: {n})", [n]), *([("quarters", [4])] if r.random() < 0.8 else [])]
    if r.random() < 0.5:
        return Team(around, "lanes", "lanes")
    n = r.choice((2, 4, 8, 16))
    rows, lanes = r.choice(("yx", "xy"))
    if r.random() < 0.85:
        around += [(f"lanes({rows}: {32 // n})", [32 // n])]
    return Team(around, f"lanes({lanes}: {n})", f"lanes({lanes}: {n})")


@dataclass
class Schedule:
    r: random.Random
    one: Reduction
    lines: list[str]
    number: int = 0
    follow: tuple[str, ...] = ()
    """What is fused into each loop."""

    def tile(self, handle: str, sizes: list[int | None]) -> tuple[str, str]:
        self.number += 1
        if len(sizes) == len(self.one.order):
            sizes = [sizes[d] for d in self.one.order]
        spelled = ", ".join("_" if size is None else str(size) for size in sizes)
        self.lines += [f"let (l{self.number}, o{self.number}) = tile {handle} [{spelled}]"]
        self.lines += [f"fuse {other} into l{self.number}" for other in self.follow]
        return f"l{self.number}", f"o{self.number}"

    def blocks(self, handle: str, rank: int, extents: list[int | None]) -> tuple[str, str]:
        """A loop over blocks; it and what is inside."""
        rows, whole = self.one.rows, self.one.after and self.one.after != "again" and self.one.results > 1
        sides = 2 if len(rows) == 2 and self.r.random() < 0.4 else 1
        heights = [self.r.choice([h for h in (1, 2, 3, 4, 5, 8, n) if not (whole and n % h)]) for n in rows[:sides]]
        loop, inside = self.tile(handle, [*heights, *[None] * (rank - sides)])
        extents[:sides] = heights
        if sides == 2:
            space = self.r.choice(("blocks(y, x)", "blocks(x, y)", "blocks(y: 2, x: 2) cyclic"))
        else:
            count = -(-rows[0] // heights[0])
            space = self.r.choice(("blocks(x)", "blocks(y)", "blocks(x: 2) cyclic", f"blocks(x: {count}) block"))
        self.lines += [f"map {loop} to {space}"]
        return loop, inside

    def nest(self, handle: str, rank: int, extents: list[int | None], team: Team) -> tuple[str, str]:
        """Loops around an op of so many dimensions; the outermost of them, and what is inside."""
        root, m = "", len(self.one.rows)
        for position, (space, counts) in enumerate(team.around):
            last = position == len(team.around) - 1
            over = list(range(len(counts))) if len(counts) > 1 else [0 if m == 1 or position == 0 else 1]
            sizes: list[int | None] = [None] * rank
            for d in over:
                sizes[d] = 1 if last or m == 2 else self.r.choice((1, 2, 4))
            if last and m == 2 and extents[1] != 1 and self.r.random() < 0.8:
                over, sizes[1] = [*over, *([1] if len(counts) > 1 and 1 not in over else [])], sizes[1]
            loop, handle = self.tile(handle, sizes)
            root = root or loop
            trips = [-(-(extents[d] or 10**6) // (sizes[d] or 1)) for d in over]
            turned = self.one.order.index(over[0]) > self.one.order.index(over[-1])
            fit = not turned and all(n <= count for n, count in zip(trips, counts, strict=True))
            self.lines += [f"map {loop} to {space}" + ("" if fit and self.r.random() < 0.5 else f" {self.r.choice(WORDS)}")]
            for d in over:
                extents[d] = sizes[d]
        return root, handle


def schedule(r: random.Random, one: Reduction) -> str:
    """The body."""
    team = threads(r, one) if r.random() < 0.6 else warps(r, one)
    s = Schedule(r, one, ["let g = match linalg.generic #0" if one.after else "let g = match linalg.generic"])
    m, n, twice = len(one.rows), len(one.columns), one.after == "again"
    s.lines += ["let w = match linalg.generic #1"] if one.after else []
    fills = () if one.given else tuple(f"z{k}" for k in range(one.fills))
    ours = (f"z{len(fills)}",) if twice else ()
    s.lines += [f"let {z} = match linalg.fill #{k}" for k, z in enumerate((*fills, *ours))]
    beside = one.after is not None and r.random() < 0.4  # in the innermost loop of what reads it
    main, rank = ("w", m + n * (one.after != "rows")) if one.after else ("g", m + n)
    s.follow = ("g", *fills, *ours) if one.after else fills
    grid = any(space.startswith("grid") for space, _ in team.around)
    root, current, extents = "", main, [None if one.open else size for size in one.rows]
    if not grid and (r.random() < 0.8 or one.after or not team.around):
        root, current = s.blocks(main, rank, extents)
    if one.after and not beside:
        alike = n == m == 1 and r.random() < 0.3
        if twice:
            s.follow = ours
            _, current = s.nest(current, rank, [*extents], team)
        s.lines += [f"map {current} to {team.own if alike or twice else 'threads(*)'} cyclic"]
        current, rank = "g", m + n
    if not beside:
        s.follow = fills
    if root and fills and not beside and r.random() < 0.25:
        s.lines += [f"map {z} to threads(*) cyclic" for z in fills]
        s.follow = ()
    outermost, current = s.nest(current, rank, extents, team)
    if beside:
        s.lines += [f"map {current} to {f'{team.own} cyclic' if twice else f'{team.one} {r.choice(WORDS)}'}"]
        current = "g"
    elif r.random() < 0.3 and not one.scan and n == 1 and not one.open and not s.follow:
        _, current = s.tile(current, [*[None] * m, max(one.columns[0] // 2, 1)])
    how = "cyclic" if one.scan else r.choice(("cyclic", "cyclic", "block", "block-cyclic(3)"))
    if how == "cyclic" and n == 1 and one.layout[-1] == m and not one.open and one.columns[0] % 2 == 0 and r.random() < 0.3:
        how = "cyclic vector 2"
    s.lines += [f"map {current} to {team.own} {how}"]
    end = ["insert-barriers"] if r.random() < 0.95 else []
    return "\n".join([*s.lines, *end, f"launch {root or outermost or current}"])


def program(r: random.Random) -> tuple[str, str, Reduction]:
    """A payload, the body of a schedule for it, and what it is."""
    text, made = payload(r)
    return text, schedule(r, made), made
