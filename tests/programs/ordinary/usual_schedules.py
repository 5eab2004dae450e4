"""Schedules that serve many programs: what the ops of a payload are, and how they are distributed."""

from __future__ import annotations

AXES = ("x", "y, x", "z, y, x")


def matched(*ops: str) -> str:
    """Handles: `matched("sum: linalg.reduce", "init: linalg.fill #1")`."""
    return "".join(f"let {name} = match {op}\n" for name, _, op in (each.partition(": ") for each in ops))


def each_alone(*ops: str) -> str:
    """A launch for each op, an element a thread: `linalg.exp`, `linalg.reduce / 1 < linalg.fill`: tiled by 1, with a fused producer,
    `… on y, x`: with these axes. Producers are matched when their op is tiled: earlier launches have taken theirs."""
    lines, launched = list[str](), list[str]()
    for number, each in enumerate(ops):
        rest, _, producers = each.partition(" < ")
        rest, _, axes = rest.partition(" on ")
        op, _, sizes = rest.partition(" / ")
        lines.append(f"let op{number} = match {op}")
        if sizes:
            launched.append(f"let (loop{number}, one{number}) = tile op{number} [{sizes}]")
            for n, producer in enumerate(p for p in producers.split(", ") if p):
                launched += [f"let p{number}{n} = match {producer}", f"fuse p{number}{n} into loop{number}"]
        name = f"loop{number}" if sizes else f"op{number}"
        axes = axes or (AXES[sizes.count("1") - 1] if sizes else "y, x")
        launched += [f"map {name} to grid({axes})", f"launch {name}"]
    return "\n".join([*lines, *launched]) + "\n"


def tiles(op: str, sizes: str, threads: str, *producers: str, blocks: str = "", lanes: str = "", how: str = "", end: str = "") -> str:
    """Tiles of blocks, an element (`lanes`) a thread. `producers`: fused into both, from the last to the first."""
    axes = blocks or AXES[sum(n.strip() not in "_0" for n in sizes.split(",")) - 1]
    ones = lanes or ", ".join("_" if n.strip() == "_" else "1" for n in sizes.split(","))
    names = [f"p{n}" for n in range(len(producers))]
    lines = [f"let op = match {op}", *(f"let {n} = match {p}" for n, p in zip(names, producers, strict=True))]
    lines += [f"let (tiles, tile) = tile op [{sizes}]", *(f"fuse {n} into tiles" for n in names)]
    lines += [f"map tiles to blocks({axes}){' cyclic' if ':' in axes else ''}"]
    lines += [f"let (lanes, one) = tile tile [{ones}]", *(f"fuse {n} into lanes" for n in names)]
    lines += [f"map lanes to threads({threads}){' ' + how if how else ''}", *([end] if end else []), "launch tiles"]
    return "\n".join(lines) + "\n"


def rows(op: str, threads: int, *shared: str, sizes: str = "1, _", fills: tuple[str, ...] = (), space: str = "threads") -> str:
    """A row for each block: `op` is tiled, the ops it reads from are fused, and all but the fills are shared by threads or lanes."""
    names, starts = [f"s{n}" for n in range(len(shared))], [f"f{n}" for n in range(len(fills))]
    lines = [f"let op = match {op}", *(f"let {n} = match {p}" for n, p in zip(names, shared, strict=True))]
    lines += [f"let {n} = match {p}" for n, p in zip(starts, fills, strict=True)]
    lines += [f"let (rows, row) = tile op [{sizes}]", *(f"fuse {n} into rows" for n in (*names, *starts))]
    lines += [f"map rows to blocks({AXES[sizes.count('1') - 1]})"]
    where = "lanes" if space == "lanes" else f"threads(x: {threads})"
    lines += [f"map {n} to {where} cyclic" for n in (*names, "row")]
    return "\n".join([*lines, "insert-barriers", "launch rows"]) + "\n"


def staged(
    gemm: str, sizes: str, step: str, lanes: str, threads: str, *producers: str, operands: str = "lhs rhs", blocks: str = "",
    how: str = "", fill: str = "linalg.fill", first: str = "", last: str = "", registers: bool = True,
) -> str:  # fmt: skip
    """A product: tiles of blocks, steps of the sum with operands in shared memory, sums in registers. `how`: how blocks take
    the tiles; `first`: before it, with `gemm` for the op; `last`: before the barriers."""
    axes = blocks or AXES[sum(n.strip() not in "_0" for n in sizes.split(",")) - 1]
    lines = [f"let op = match {gemm}"] if gemm else []
    lines += [f"let init = match {fill}"] if fill else []
    lines += [f"let p{n} = match {p}" for n, p in enumerate(producers)]
    lines += first.splitlines()
    lines += [f"let (tiles, tile) = tile op [{sizes}]", *(f"fuse p{n} into tiles" for n in range(len(producers)))]
    lines += ["fuse init into tiles"] if fill else []
    lines += [f"map tiles to blocks({axes}) {how}", f"let (k, step) = tile tile [{step}]"]
    for name in operands.split():
        lines += [f"let ({name}, copy_{name}) = promote-to-shared step.{name}", f"map copy_{name} to threads(*) cyclic"]
    lines += [f"let (lanes, one) = tile step [{lanes}]", f"map lanes to threads({threads})"]
    lines += ["promote-to-registers one.acc across k"] if registers else []
    return "\n".join([*lines, *last.splitlines(), "insert-barriers", "launch tiles"]) + "\n"
