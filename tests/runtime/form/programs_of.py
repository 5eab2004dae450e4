"""Kernels that do one op on many numbers: read from memory, in vectors, as constants of the kernel, or one of them a constant."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from catalogue import Case
from numbers_of import NUMPY, edges, spelled

MOST = 320
"""Tuples of operands of one kernel."""

FORMS = ("run", "vector", "uniform", "constant", "folded", "left", "right")
"""`run`: scalars from memory. `vector`: vectors from memory. `uniform`: arguments of the kernel, the
same for all threads. `constant`: all operands constants. `folded`: the same, simplified by
upstream's passes. `left`, `right`: the first, or the last, is a constant."""


@dataclass(frozen=True)
class Program:
    """A case in a form: what runs, on what, and what is to come out. Output arrays are as long as the input's."""

    case: Case
    form: str
    name: str
    threads: int
    body: str
    operands: tuple[np.ndarray, ...]
    wanted: tuple[np.ndarray, ...]

    def __str__(self) -> str:
        return f"{self.case} [{self.form}]"

    @property
    def inputs(self) -> tuple[np.ndarray, ...]:
        return () if self.form in ("uniform", "constant", "folded") else self.operands

    @property
    def scalars(self) -> list[np.generic]:
        """What the kernel takes by value, before the buffers: tuple by tuple."""
        count = len(self.operands[0])
        return [column[row] for row in range(count) for column in self.operands] if self.form == "uniform" else []

    @property
    def arguments(self) -> str:
        kinds = self.case.operands
        passed = [f"%c{n // len(kinds)}_{n % len(kinds)}: {kinds[n % len(kinds)]}" for n in range(len(self.scalars))]
        named = [(f"%in{n}", len(a), self.case.operands[n]) for n, a in enumerate(self.inputs)]
        named += [(f"%out{n}", len(a), self.case.results[n]) for n, a in enumerate(self.wanted)]
        return ", ".join([*passed, *(f"{name}: memref<{count}x{kind}>" for name, count, kind in named)])

    @property
    def kernel(self) -> str:
        block = f"known_block_size = array<i32: {self.threads}, 1, 1>"
        return f"""gpu.func @{self.name}({self.arguments}) kernel attributes {{{block}}} {{
%i = gpu.thread_id x
{self.body}
gpu.return
}}"""

    @property
    def function(self) -> str:
        """The same for the JIT: a loop for the threads."""
        return f"""func.func @{self.name}({self.arguments}) attributes {{llvm.emit_c_interface}} {{
%first = arith.constant 0 : index
%step = arith.constant 1 : index
%end = arith.constant {self.threads} : index
scf.for %i = %first to %end step %step {{
{self.body}
}}
return
}}"""

    def results(self) -> list[np.ndarray]:
        """Arrays for the results, that hold none of them yet."""
        return [np.full(w.shape, 0xA5, np.uint8).view(bool) if w.dtype == bool else
                np.full(w.nbytes, 0xA5, np.uint8).view(w.dtype) for w in self.wanted]  # fmt: skip


def tuples(case: Case, rng: random.Random) -> tuple[np.ndarray, ...]:
    """Operands where the op's result is settled: all edges against each other, or as many of these as there is room for."""
    given = [edges(kind) for kind in case.operands]
    whole = int(np.prod([len(g) for g in given]))
    chosen = range(whole) if whole <= MOST else rng.sample(range(whole), min(whole, 3 * MOST))
    places = np.unravel_index(np.array(chosen), [len(g) for g in given])
    return tuple(column[:MOST] for column in settled(case, [g[p] for g, p in zip(given, places, strict=True)]))


def settled(case: Case, columns: list[np.ndarray]) -> list[np.ndarray]:
    with np.errstate(all="ignore"):
        kept = ~case.open(*columns)
    return [c[kept] for c in columns]


def program(case: Case, form: str, number: int) -> Program | None:
    """None where the form says nothing new of the case: too few settled operands, one operand alone."""
    rng = random.Random(f"{case} {form}")
    name = f"k{number}"
    if form in ("left", "right"):
        return _partly_constant(case, form, name, rng)
    columns = tuples(case, rng)
    if form == "run":
        return _made(case, form, name, len(columns[0]), _scalar_body(case), columns)
    if form == "vector":
        lanes = rng.choice((2, 3, 4))
        count = len(columns[0]) // lanes
        if not count:
            return None
        return _made(case, form, name, count, _vector_body(case, lanes, count * lanes), tuple(c[: count * lanes] for c in columns))
    picks = rng.sample(range(len(columns[0])), min(len(columns[0]), 12))
    columns = tuple(c[picks] for c in columns)
    return _made(case, form, name, 1, _constant_body(case, columns, passed=form == "uniform"), columns)


def _made(case: Case, form: str, name: str, threads: int, body: str, columns: tuple[np.ndarray, ...]) -> Program:
    with np.errstate(all="ignore"):
        wanted = tuple(
            np.asarray(w, NUMPY[kind]) for w, kind in zip(case.meaning(*columns), case.results, strict=True)
        )
    return Program(case, form, name, threads, body.replace("COUNT", str(len(columns[0]))), columns, wanted)


def _results(case: Case, prefix: str = "r") -> list[str]:
    return [f"%{prefix}{n}" for n in range(len(case.results))]


def _write(case: Case, names: list[str], results: list[str], typed: Callable[[str], str]) -> str:
    return f"{', '.join(results)} = {case.spell(names, typed)}"


def _scalar_body(case: Case) -> str:
    names = [f"%x{n}" for n in range(len(case.operands))]
    loads = [f"%x{n} = memref.load %in{n}[%i] : memref<COUNTx{kind}>" for n, kind in enumerate(case.operands)]
    results = _results(case)
    stores = [f"memref.store {r}, %out{n}[%i] : memref<COUNTx{case.results[n]}>" for n, r in enumerate(results)]
    return "\n".join([*loads, _write(case, names, results, str), *stores])


def _vector_body(case: Case, lanes: int, count: int) -> str:
    def typed(kind: str) -> str:
        return f"vector<{lanes}x{kind}>"

    names = [f"%x{n}" for n in range(len(case.operands))]
    lines = [f"%n = arith.constant {lanes} : index", "%j = arith.muli %i, %n : index"]
    lines += [
        f"%x{n} = vector.load %in{n}[%j] : memref<{count}x{kind}>, {typed(kind)}" for n, kind in enumerate(case.operands)
    ]
    results = _results(case)
    lines.append(_write(case, names, results, typed))
    lines += [
        f"vector.store {r}, %out{n}[%j] : memref<{count}x{kind}>, {typed(kind)}"
        for n, (r, kind) in enumerate(zip(results, case.results, strict=True))
    ]
    return "\n".join(lines)


def _constant_body(case: Case, columns: tuple[np.ndarray, ...], *, passed: bool) -> str:
    """One tuple after another; `passed`: they are arguments."""
    lines: list[str] = []
    for row in range(len(columns[0])):
        names = [f"%c{row}_{n}" for n in range(len(columns))]
        lines += [
            f"{name} = arith.constant {spelled(column[row], kind)}{'' if kind == 'i1' else f' : {kind}'}"
            for name, column, kind in zip(names, columns, case.operands, strict=True)
            if not passed
        ]
        lines.append(f"%at{row} = arith.constant {row} : index")
        results = _results(case, f"r{row}_")
        lines.append(_write(case, names, results, str))
        lines += [f"memref.store {r}, %out{n}[%at{row}] : memref<COUNTx{case.results[n]}>" for n, r in enumerate(results)]
    return "\n".join(lines)


def _partly_constant(case: Case, form: str, name: str, rng: random.Random, constants: int = 6, length: int = 24) -> Program | None:
    """Each of a few constants against numbers from memory: thread i has number i of each."""
    if len(case.operands) < 2:
        return None
    fixed = 0 if form == "left" else len(case.operands) - 1
    given = [edges(kind) for kind in case.operands]
    pieces: list[list[np.ndarray]] = []
    for value in rng.sample(list(given[fixed]), min(constants, len(given[fixed]))):
        columns = [g[[rng.randrange(len(g)) for _ in range(8 * length)]] for g in given]
        columns[fixed] = np.full(8 * length, value, NUMPY[case.operands[fixed]])
        columns = settled(case, columns)
        if len(columns[0]) >= length:
            pieces.append([c[:length] for c in columns])
    if not pieces:
        return None
    columns = tuple(np.concatenate([p[n] for p in pieces]) for n in range(len(given)))
    lines: list[str] = []
    for number, piece in enumerate(pieces):
        names = [f"%x{number}_{n}" for n in range(len(given))]
        lines += [f"%o{number} = arith.constant {number * length} : index", f"%j{number} = arith.addi %i, %o{number} : index"]
        for n, kind in enumerate(case.operands):
            if n == fixed:
                lines.append(f"{names[n]} = arith.constant {spelled(piece[n][0], kind)}{'' if kind == 'i1' else f' : {kind}'}")
            else:
                lines.append(f"{names[n]} = memref.load %in{n}[%j{number}] : memref<COUNTx{kind}>")
        results = _results(case, f"r{number}_")
        lines.append(_write(case, names, results, str))
        lines += [f"memref.store {r}, %out{n}[%j{number}] : memref<COUNTx{case.results[n]}>" for n, r in enumerate(results)]
    return _made(case, form, name, length, "\n".join(lines), columns)


def programs(cases: list[tuple[Case, str]]) -> Iterator[Program]:
    for number, (case, form) in enumerate(cases):
        made = program(case, form, number)
        if made is not None:
            yield made
