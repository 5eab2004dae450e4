"""Random reductions and scans, and random schedules in which processors share them: whatever is combined, by threads along any axes,
lanes, rows of lanes, in loops over other threads, warps and warp groups, two and three maps nested in each other.

Random, but not blind: an axis is taken once in a nest, without a word for the distribution an iteration has a processor, and counts
along an axis agree. Rows are seldom a multiple of the processors that have them, and blocks seldom whole warps.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

KINDS = ("i32", "i64", "f32", "f64")
WHOLE = ("i32", "i64")


@dataclass
class Reduction:
    """One of `rows` (a size, or two) of `columns` (likewise).

    Args:
        results: how many it has.
        open: sizes that only a run knows.
        after: another op reads its first result: `None`, `"rows"` one element for each, `"all"` one for each input's.
    """

    kind: str
    what: str
    rows: list[int]
    columns: list[int]
    results: int
    given: bool
    open: bool
    after: str | None
    scan: bool = False

    @property
    def shapes(self) -> list[list[int]]:
        """Of the input, where only a run knows its size."""
        sizes = [*self.rows, *self.columns]
        return [sizes, [1] * len(sizes), [n + 1 for n in sizes]] if self.open else []

    def size(self, numbers: list[int]) -> str:
        return "".join(f"{'?' if self.open else n}x" for n in numbers)


def extreme(kind: str, largest: bool) -> str:
    if kind in WHOLE:
        bits = int(kind[1:])
        return str(-(2 ** (bits - 1)) if largest else 2 ** (bits - 1) - 1)
    infinite = {"f32": ("0xFF800000", "0x7F800000"), "f64": ("0xFFF0000000000000", "0x7FF0000000000000")}[kind]
    return infinite[0 if largest else 1]


def number(kind: str, value: int) -> str:
    return str(value) if kind in WHOLE else f"{value}.0"


def combined(r: random.Random, kind: str, columns: int) -> tuple[str, list[str], list[str], list[str], list[str]]:
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
    names = [*one, "two", "two"] + ["place", "place"] * (columns == 1) + ["welford"] * (not whole)
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
    columns = [r.choice((1, 2, 7, 31, 32, 33, 64, 70, 100, 200))] if r.random() < 0.7 else [r.randint(1, 5), r.choice((1, 3, 8, 40))]
    scan = r.random() < 0.1 and len(columns) == 1
    given, opened, after = r.random() < 0.3, r.random() < 0.25 and len(rows) == 1, r.choice((None, None, "rows", "all"))
    what, kinds, starts, body, yields = combined(r, kind, len(columns))
    if scan:
        what, kinds, starts, body, yields = "scan", [kind], [number(kind, 0)], [f"%u0 = arith.add{'i' if kind in WHOLE else 'f'} %o0, %v : {kind}"], ["%u0"]
        after = None
    if what == "place":
        after = None
    opened = opened and not scan and after != "all"
    made = Reduction(kind, what, rows, columns, len(kinds), given, opened and not given, after, scan)
    m, n = len(rows), len(columns)
    body = [line.replace("DIM", str(m)) for line in body]
    x, ys = f"tensor<{made.size([*rows, *columns])}{kind}>", [f"tensor<{made.size(rows)}{k}>" for k in kinds]
    dims = [f"d{d}" for d in range(m + n)]
    whole, row = (f"affine_map<({', '.join(dims)}) -> ({', '.join(some)})>" for some in (dims, dims[:m]))
    results = [*ys, *([x] if scan else [])]
    last = {"rows": ys[0], "all": x}.get(after or "")
    returned = [last] if last else results
    head = f"func.func @f({', '.join([f'%x: {x}', *(f'%s{k}: {y}' for k, y in enumerate(ys) if given)])}) -> ({', '.join(returned)}) {{"
    lines = [head]
    sizes = ""
    if made.open:
        for d in range(m + n):
            lines += [f"%c{d} = arith.constant {d} : index", f"%n{d} = tensor.dim %x, %c{d} : {x}"]
        sizes = ", ".join(f"%n{d}" for d in range(m))
    for k, y in enumerate(ys):
        if not given:
            lines += [f"%z{k} = arith.constant {starts[k]} : {kinds[k]}", f"%e{k} = tensor.empty({sizes}) : {y}"]
            lines += [f"%s{k} = linalg.fill ins(%z{k} : {kinds[k]}) outs(%e{k} : {y}) -> {y}"]
    everything = ", ".join(f"%n{d}" for d in range(m + n)) if made.open else ""
    outs, more = [f"%s{k}" for k in range(len(ys))], [f"%o{k}: {t}" for k, t in enumerate(kinds)]
    if scan:
        lines += [f"%all = tensor.empty({everything}) : {x}"]
        outs, more, yields, kinds = [*outs, "%all"], [*more, f"%old: {kind}"], ["%u0", "%u0"], [kind, kind]
    iterators = ", ".join(['"parallel"'] * m + ['"reduction"'] * n)
    maps = ", ".join([whole, *[row] * len(ys), *([whole] if scan else [])])
    count = len(results)
    lines += [
        f"%r{f':{count}' if count > 1 else ''} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{iterators}]}} "
        f"ins(%x : {x}) outs({', '.join(outs)} : {', '.join(results)}) {{",
        f"^bb0({', '.join([f'%v: {kind}', *more])}):", *body, f"linalg.yield {', '.join(yields)} : {', '.join(kinds)}",
        f"}} -> ({', '.join(results)})",
    ]  # fmt: skip
    names = [f"%r#{k}" for k in range(count)] if count > 1 else ["%r"]
    if last:
        every = after == "all"
        inputs = [*(["%x"] if every else []), *names]
        takes, into = [*([x] if every else []), *ys], whole if every else f"affine_map<({', '.join(dims[:m])}) -> ({', '.join(dims[:m])})>"
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


# ---- schedules -----------------------------------------------------------------------------------------------------------------

WORDS = ("cyclic", "cyclic", "block", "block-cyclic(2)")
COUNTS = (1, 2, 2, 3, 4, 4, 5, 8, 16, 32, 33)


def word(r: random.Random, trips: int | None, count: int) -> str:
    return "" if trips is not None and trips <= count and r.random() < 0.5 else f" {r.choice(WORDS)}"


@dataclass
class Team:
    """Threads of a block: what loops around the reduction are mapped to, the outermost first, and the reduction itself."""

    around: list[tuple[str, int]]
    own: str
    everybody: str = "threads(*)"


def threads(r: random.Random, columns: int, scan: bool) -> Team:
    axes = r.sample("xyz", 3)
    counts = {axis: r.choice(COUNTS) for axis in axes}
    mine = 2 if columns == 2 and r.random() < 0.3 else 1
    outer = r.choice((0, 1, 1, 1, 2)) if mine == 1 else r.choice((0, 1))
    taken = axes[: outer + mine]
    if r.random() < 0.5:
        counts[taken[-1]] = r.choice((8, 16, 32, 64, 96))
    if scan and r.random() < 0.7:
        counts[taken[-1]] = r.choice((32, 64, 96))
    while math.prod(counts[a] for a in taken) > 512 or any(counts[a] > 64 for a in taken if a == "z"):
        counts[r.choice(taken)] = 4
    around = [(f"threads({a}: {counts[a]})", counts[a]) for a in taken[:outer]]
    own = f"threads({', '.join(f'{a}: {counts[a]}' for a in taken[outer:])})"
    return Team(around, own)


def warps(r: random.Random) -> Team:
    around = list[tuple[str, int]]()
    if r.random() < 0.8:
        n = r.choice((1, 2, 3, 4))
        around += [(f"warps(x: {n})", n)]
    elif r.random() < 0.6:
        n = r.choice((1, 2))
        around += [(f"warpgroups(x: {n})", n), *([("quarters", 4)] if r.random() < 0.8 else [])]
    if r.random() < 0.5:
        return Team(around, "lanes")
    n = r.choice((2, 4, 8, 16))
    rows, lanes = r.choice(("yx", "xy"))
    if r.random() < 0.85:
        around += [(f"lanes({rows}: {32 // n})", 32 // n)]
    return Team(around, f"lanes({lanes}: {n})")


def schedule(r: random.Random, one: Reduction) -> str:
    """The body."""
    team = threads(r, len(one.columns), one.scan) if r.random() < 0.6 else warps(r)
    lines = ["let g = match linalg.generic #0" if one.after else "let g = match linalg.generic"]
    fills = [] if one.given else [f"z{k}" for k in range(one.results)]
    fills = fills[:1]
    lines += ["let fills = match* linalg.fill"] if fills else []
    rest = "" if one.after is None else "w"
    if rest:
        lines += ["let w = match linalg.generic #1"]
    m, n = len(one.rows), len(one.columns)
    blocks = r.random() < 0.8 or bool(rest) or not team.around
    current, extents = "g", [*one.rows, *([None] * n)]
    known = not one.open
    number = 0

    def tiled(handle: str, sizes: list[int | None]) -> tuple[str, str]:
        nonlocal number
        number += 1
        lines.append(f"let (l{number}, o{number}) = tile {handle} [{', '.join('_' if s is None else str(s) for s in sizes)}]")
        return f"l{number}", f"o{number}"

    def fused(loop: str) -> None:
        lines.extend(["foreach z in fills {", f"fuse z into {loop}", "}"] if fills else [])

    root = ""
    if blocks:
        heights = [n for n in (1, 2, 3, 4, 5, 8, one.rows[0]) if not (rest and one.results > 1 and one.rows[0] % n)]
        height = r.choice(heights)
        if rest:
            root, rest = tiled("w", [height, *[None] * (m - 1 + n * (one.after == "all"))])
            lines.append(f"fuse g into {root}")
        else:
            root, current = tiled("g", [height, *[None] * (m - 1 + n)])
        fused(root)
        extents[0], known = height, True
        count = -(-one.rows[0] // height)
        lines.append(f"map {root} to {r.choice(('blocks(x)', 'blocks(x)', 'blocks(x: 2) cyclic', f'blocks(x: {count}) block'))}")
        if rest:
            whole = len(one.columns) == len(one.rows) == 1
            lines.append(f"map {rest} to {team.own if whole and r.random() < 0.3 else team.everybody} cyclic")
    filled_here = bool(fills) and blocks and r.random() < 0.25
    if filled_here:
        lines.extend(["foreach z in fills {", "map z to threads(*) cyclic", "}"])
        fills = []
    for position, (space, count) in enumerate(team.around):
        left = len(team.around) - position
        d = 0 if m == 1 or position == 0 else 1
        size = 1 if left == 1 or (m == 2 and position == 0) else r.choice((1, 2, 4))
        trips = -(-(extents[d] or 1) // size) if known or d else None
        sizes: list[int | None] = [None] * (m + n)
        sizes[d] = size
        if d == 0 and m == 2 and left == 1:
            sizes[1] = None
        loop, current = tiled(current, sizes)
        fused(loop)
        root = root or loop
        lines.append(f"map {loop} to {space}{word(r, trips, count)}")
        extents[d] = size
    if r.random() < 0.3 and not one.scan and n == 1 and not one.open and not fills:
        _, current = tiled(current, [*[None] * m, max(one.columns[0] // 2, 1)])
    how = r.choice(("cyclic", "cyclic", "block", "block-cyclic(3)"))
    lines.append(f"map {current} to {team.own} {'cyclic' if one.scan else how}")
    root = root or current
    end = ["insert-barriers"] if r.random() < 0.95 else []
    return "\n".join([*lines, *end, f"launch {root}"])


def program(r: random.Random) -> tuple[str, str, Reduction]:
    """A payload, the body of a schedule for it, and what it is."""
    text, made = payload(r)
    return text, schedule(r, made), made
