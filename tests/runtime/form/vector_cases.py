"""Ops on vectors that move, choose or combine elements, on every element type: two vectors of four in, one of some out."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

import meaning as m
import numpy as np
from catalogue import Case
from numbers_of import FLOATS, INTEGERS, KINDS, NUMPY, edges
from programs_of import Program

Rows = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Of arrays (n, 4): the elements of the results, (n, lanes)."""

LANES, COUNT = 4, 24


def case(op: str, kind: str, lines: Sequence[str], rows: Rows, result: str | None = None, form: str = "") -> Case:
    """`lines` make `%r`, a vector or a scalar, of `%x` and `%y`, vectors of four.

    `T` stands for the element type, `V` for that of `%x`, `H` for a vector of two, `M` for one of two times two.
    """
    text = "\n".join(lines)
    for letter, shape in (("V", "4"), ("H", "2"), ("M", "2x2")):
        text = text.replace(letter, f"vector<{shape}xT>")
    text = text.replace("T", kind)
    return Case(op, (kind, kind), (result or kind,), lambda names, typed: text, lambda a, b: (rows(a, b),), form)


MASKED = "%r = arith.select %c, %x, %y : vector<4xi1>, V"
FIRST_HALF = "%h = vector.extract_strided_slice %y {offsets = [0], sizes = [2], strides = [1]} : V to H"

MOVES: tuple[tuple[str, tuple[str, ...], Rows], ...] = (
    ("vector.broadcast", ("%s = vector.extract %x[1] : T from V", "%r = vector.broadcast %s : T to vector<3xT>"),
     lambda a, b: a[:, [1, 1, 1]]),
    ("vector.extract", ("%r = vector.extract %x[2] : T from V",), lambda a, b: a[:, 2:3]),
    ("vector.insert", ("%s = vector.extract %y[3] : T from V", "%r = vector.insert %s, %x[1] : T into V"),
     lambda a, b: np.stack([a[:, 0], b[:, 3], a[:, 2], a[:, 3]], 1)),
    ("vector.to_elements", ("%e:4 = vector.to_elements %x : V", "%r = vector.from_elements %e#3, %e#0, %e#1 : vector<3xT>"),
     lambda a, b: a[:, [3, 0, 1]]),
    ("vector.from_elements", ("%s = vector.extract %y[0] : T from V", "%r = vector.from_elements %s, %s : H"),
     lambda a, b: b[:, [0, 0]]),
    ("vector.shape_cast", ("%m = vector.shape_cast %x : V to M", "%r = vector.extract %m[1] : H from M"), lambda a, b: a[:, 2:]),
    ("vector.transpose", ("%m = vector.shape_cast %x : V to M", "%w = vector.transpose %m, [1, 0] : M to M",
                          "%r = vector.shape_cast %w : M to V"), lambda a, b: a[:, [0, 2, 1, 3]]),
    ("vector.extract_strided_slice", ("%r = vector.extract_strided_slice %x {offsets = [1], sizes = [2], strides = [1]} : V to H",),
     lambda a, b: a[:, 1:3]),
    ("vector.insert_strided_slice",
     (FIRST_HALF, "%r = vector.insert_strided_slice %h, %x {offsets = [2], strides = [1]} : H into V"),
     lambda a, b: np.concatenate([a[:, :2], b[:, :2]], 1)),
    ("vector.shuffle", ("%r = vector.shuffle %x, %y [0, 5, 2, 7, 3] : V, V",),
     lambda a, b: np.concatenate([a, b], 1)[:, [0, 5, 2, 7, 3]]),
    ("vector.interleave", ("%r = vector.interleave %x, %y : V -> vector<8xT>",), lambda a, b: np.stack([a, b], 2).reshape(-1, 8)),
    ("vector.create_mask", ("%n = arith.constant 3 : index", "%c = vector.create_mask %n : vector<4xi1>", MASKED),
     lambda a, b: np.concatenate([a[:, :3], b[:, 3:]], 1)),
    ("vector.constant_mask", ("%c = vector.constant_mask [1] : vector<4xi1>", MASKED),
     lambda a, b: np.concatenate([a[:, :1], b[:, 1:]], 1)),
)  # fmt: skip
"""What takes elements from one place to another: the same for all types."""

KINDS_OF_INTEGERS = {
    "add": "addi", "mul": "muli", "and": "andi", "or": "ori", "xor": "xori", "minsi": "minsi", "maxsi": "maxsi", "minui": "minui",
    "maxui": "maxui",
}  # fmt: skip
KINDS_OF_FLOATS = {
    "add": "addf", "mul": "mulf", "minimumf": "minimumf", "maximumf": "maximumf", "minnumf": "minnumf", "maxnumf": "maxnumf",
}  # fmt: skip


def _pairs(kind: str) -> dict[str, m.Meaning]:
    """By combining kind: what is made of two elements."""
    if kind in INTEGERS:
        return {word: m.integer(name, kind) for word, name in KINDS_OF_INTEGERS.items()}
    table = {**m.ARITHMETIC, **m.EXTREMES}
    return {word: m.single_rounding(table[name], kind) for word, name in KINDS_OF_FLOATS.items()}


def _reduced(pair: m.Meaning, columns: list[np.ndarray]) -> np.ndarray:
    total = columns[0]
    for column in columns[1:]:
        (total,) = pair(total, column)
    return total[:, None]


def _reductions(kind: str) -> Iterator[Case]:
    for word, pair in _pairs(kind).items():
        yield case("vector.reduction", kind, [f"%r = vector.reduction <{word}>, %x : V into T"],
                   lambda a, b, pair=pair: _reduced(pair, list(a.T)), form=word)  # fmt: skip
        started = ["%s = vector.extract %y[0] : T from V", f"%r = vector.reduction <{word}>, %x, %s : V into T"]
        yield case("vector.reduction", kind, started, lambda a, b, pair=pair: _reduced(pair, [b[:, 0], *a.T]), form=f"{word} on")
        rows = ["%m = vector.shape_cast %x : V to M", FIRST_HALF, f"%r = vector.multi_reduction <{word}>, %m, %h [1] : M to H"]
        yield case("vector.multi_reduction", kind, rows, lambda a, b, pair=pair: np.concatenate(
            [_reduced(pair, [b[:, row], a[:, 2 * row], a[:, 2 * row + 1]]) for row in (0, 1)], 1), form=word)  # fmt: skip


def _by_columns(meaning: m.Meaning, *columns: Callable[[np.ndarray, np.ndarray, int], np.ndarray]) -> Rows:
    """A result of four elements: the meaning on what the functions take of `x` and `y` for element i."""
    return lambda a, b: np.stack([meaning(*(c(a, b, i) for c in columns))[0] for i in range(4)], 1)


def vector_cases() -> Iterator[Case]:
    for kind in KINDS:
        for op, lines, rows in MOVES:
            yield case(op, kind, lines, rows)
        yield from _reductions(kind)
        product = m.integer("muli", kind) if kind in INTEGERS else m.single_rounding(np.multiply, kind)
        lines = ["%s = vector.extract %y[0] : T from V", "%r = vector.outerproduct %x, %s : V, T"]
        yield case("vector.outerproduct", kind, lines, _by_columns(product, lambda a, b, i: a[:, i], lambda a, b, i: b[:, 0]))
    for kind in FLOATS:
        yield case("vector.fma", kind, ["%r = vector.fma %x, %y, %x : V"],
                   _by_columns(m.fused(kind), *(lambda a, b, i, n=n: (a, b, a)[n][:, i] for n in range(3))))  # fmt: skip
    lines = ["%v = vector.step : V", "%r = arith.muli %v, %x : V"]
    steps = _by_columns(m.integer("muli", "index"), lambda a, b, i: a[:, i], lambda a, b, i: np.full(len(a), i))
    yield case("vector.step", "index", lines, steps)
    kinds = [kind for kind in KINDS if kind not in ("i1", "index")]
    for source in kinds:
        for result in kinds:
            lanes = 4 * NUMPY[source].itemsize // NUMPY[result].itemsize
            if lanes:
                yield case("vector.bitcast", source, [f"%r = vector.bitcast %x : V to vector<{lanes}x{result}>"],
                           lambda a, b, to=result: np.ascontiguousarray(a).view(NUMPY[to]), result)  # fmt: skip


def vector_program(made: Case, form: str, number: int) -> Program:
    """`run`: elements from and to memory one by one, as a JIT can; `vector`: by vector accesses."""
    rng = random.Random(str(made))
    kind, result = made.operands[0], made.results[0]
    known = edges(kind)
    a, b = (known[[rng.randrange(len(known)) for _ in range(LANES * COUNT)]] for _ in "ab")
    with np.errstate(all="ignore"):
        if made.form.startswith(("minnum", "maxnum")):  # which of two zeros, is open
            a, b = (np.where(v == 0, NUMPY[kind].type(1), v) for v in (a, b))
        wanted = np.asarray(made.meaning(a.reshape(-1, LANES), b.reshape(-1, LANES))[0], NUMPY[result])
    lanes = wanted.shape[1]
    lines = [made.spell([], str)]
    scalar = made.op in ("vector.extract", "vector.reduction")
    source = f"memref<{LANES * COUNT}x{kind}>"
    target = f"memref<{lanes * COUNT}x{result}>"
    apply = "%{0} = affine.apply affine_map<(i) -> (i * {1} + {2})>(%i)"
    if form == "vector":
        loads = [apply.format("j", LANES, 0)]
        loads += [f"%{v} = vector.load %in{n}[%j] : {source}, vector<{LANES}x{kind}>" for n, v in enumerate("xy")]
    else:
        loads = [apply.format(f"j{k}", LANES, k) for k in range(LANES)]
        for n, v in enumerate("xy"):
            loads += [f"%{v}{k} = memref.load %in{n}[%j{k}] : {source}" for k in range(LANES)]
            loads.append(f"%{v} = vector.from_elements {', '.join(f'%{v}{k}' for k in range(LANES))} : vector<{LANES}x{kind}>")
    if scalar:
        stores = [f"memref.store %r, %out0[%i] : {target}"]
    elif form == "vector":
        stores = [apply.format("o", lanes, 0), f"vector.store %r, %out0[%o] : {target}, vector<{lanes}x{result}>"]
    else:
        stores = []
        for k in range(lanes):
            taken = f"%r{k} = vector.extract %r[{k}] : {result} from vector<{lanes}x{result}>"
            stores += [apply.format(f"o{k}", lanes, k), taken, f"memref.store %r{k}, %out0[%o{k}] : {target}"]
    body = "\n".join([*loads, *lines, *stores])
    return Program(made, form, f"k{number}", COUNT, body, (a, b), (wanted.reshape(-1),))


