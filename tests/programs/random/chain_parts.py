"""What payloads are written with: a function in the making, types, bodies and `linalg.generic`s; all element types."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field

FLOATS, INTEGERS = ("f64", "f32", "f16", "bf16"), ("i64", "i32", "i16", "i8", "index")
SIZES = (1, 1, 2, 3, 3, 5, 7, 8, 11, 13, 16, 17, 24, 32, 33)
DIMENSIONS = ("i", "j", "k")
PAIRS = {
    "float": ("arith.addf", "arith.subf", "arith.mulf", "arith.maximumf", "arith.minimumf"),
    "int": ("arith.addi", "arith.subi", "arith.muli", "arith.maxsi", "arith.minsi", "arith.xori", "arith.andi", "arith.maxui"),
    "i1": ("arith.andi", "arith.ori", "arith.xori"),
}
SINGLES = ("math.absf", "arith.negf", "math.tanh")
COMPARISONS = {"float": ("arith.cmpf", ("olt", "uge", "ogt")), "int": ("arith.cmpi", ("slt", "uge", "ule", "sgt"))}
COMBINERS = {
    "float": {"arith.addf": "0.0", "arith.mulf": "1.0", "arith.maximumf": None, "arith.minimumf": None},
    "int": {"arith.addi": "0", "arith.muli": "1", "arith.maxsi": None, "arith.minsi": None, "arith.xori": "0"},
    "i1": {"arith.andi": None, "arith.ori": None},
}
CONVERSIONS = {
    ("f32", "f64"): "arith.extf", ("f16", "f32"): "arith.extf", ("bf16", "f32"): "arith.extf", ("f64", "f32"): "arith.truncf",
    ("f32", "f16"): "arith.truncf", ("f32", "bf16"): "arith.truncf", ("i32", "f32"): "arith.sitofp", ("i8", "i32"): "arith.extsi",
    ("i64", "i16"): "arith.trunci", ("i16", "f64"): "arith.sitofp", ("i1", "i32"): "arith.extui", ("i1", "f16"): "arith.uitofp",
    ("index", "i8"): "arith.index_cast", ("i32", "index"): "arith.index_castui", ("i8", "bf16"): "arith.uitofp",
    ("i8", "index"): "arith.index_cast",
}  # fmt: skip


Made = tuple[str, tuple[int, ...], str]
"""A value, its shape and its element type."""


@dataclass
class Op:
    """An op of the payload, as a schedule sees it.

    Args:
        match: what finds it: `linalg.generic #1`.
        space: the extents of its dimensions.
        reduced: those of them that it reduces.
        fill: what finds the fill that its result starts from.
    """

    match: str
    space: tuple[int, ...]
    reduced: tuple[int, ...] = ()
    fill: str | None = None

    @property
    def parallel(self) -> list[int]:
        return [d for d in range(len(self.space)) if d not in self.reduced]


@dataclass
class Payload:
    """Its text in the making: arguments, the ops' lines, and the ops in program order. `steps`: a chain's, last one last; `made`:
    the values that they read and make."""

    arguments: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    steps: list[Op] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    fills: set[tuple[str, str]] = field(default_factory=set)
    made: list[Made] = field(default_factory=list)
    number: int = 0

    def fresh(self) -> str:
        self.number += 1
        return f"%v{self.number}"

    def argument(self, kind: str) -> str:
        self.arguments.append(f"%a{len(self.arguments)}: {kind}")
        return f"%a{len(self.arguments) - 1}"

    def named(self, name: str) -> str:
        self.counts[name] = self.counts.get(name, -1) + 1
        return f"{name} #{self.counts[name]}"

    def empty(self, kind: str) -> str:
        value = self.fresh()
        self.lines.append(f"{value} = tensor.empty() : {kind}")
        return value

    def start(self, r: random.Random, shape: tuple[int, ...], kind: str, neutral: str | None) -> tuple[str, str | None]:
        """What a reduction starts from, an argument or (of more than one number) a fill with `neutral`; what finds the fill."""
        out = tensor(shape, kind)
        if neutral is None or not shape or (neutral, out) in self.fills or r.random() >= 0.7:
            return self.argument(out), None
        self.fills.add((neutral, out))
        number, start, empty = self.fresh(), self.fresh(), self.empty(out)
        self.lines.append(f"{number} = arith.constant {neutral} : {kind}")
        self.lines.append(f"{start} = linalg.fill ins({number} : {kind}) outs({empty} : {out}) -> {out}")
        return start, self.named("linalg.fill")

    def text(self, value: str, kind: str) -> str:
        body = "".join(f"  {line}\n" for line in self.lines)
        return f"func.func @f({', '.join(self.arguments)}) -> {kind} {{\n{body}  return {value} : {kind}\n}}\n"


def family(kind: str) -> str:
    return "i1" if kind == "i1" else "float" if kind in FLOATS else "int"


def tensor(shape: tuple[int, ...], kind: str) -> str:
    return f"tensor<{''.join(f'{n}x' for n in shape)}{kind}>"


def affine(rank: int, results: list[str]) -> str:
    return f"affine_map<({', '.join(DIMENSIONS[:rank])}) -> ({', '.join(results)})>"


def body(r: random.Random, given: list[tuple[str, str]], kind: str) -> tuple[list[str], str]:
    """Lines that compute a value of type `kind` from the given values (name, type) of that type, and the value."""
    lines: list[str] = []
    have = [name for name, _ in given]
    for number in range(r.randint(1, 3)):
        made = f"%e{number}"
        if family(kind) == "float" and r.random() < 0.3:
            lines.append(f"{made} = {r.choice(SINGLES)} {r.choice(given)[0]} : {kind}")
        elif kind != "i1" and r.random() < 0.2:  # one of the two, so that a rounded number decides nothing
            a, b, (compare, predicate) = r.choice(have), r.choice(have), COMPARISONS[family(kind)]
            lines.append(f"{made}c = {compare} {r.choice(predicate)}, {a}, {b} : {kind}")
            lines.append(f"{made} = arith.select {made}c, {a}, {b} : {kind}")
        else:
            lines.append(f"{made} = {r.choice(PAIRS[family(kind)])} {r.choice(have)}, {r.choice(have)} : {kind}")
        have.append(made)
    return lines, have[-1]


def generic(
    p: Payload, ins: list[tuple[str, str, str]], out: tuple[str, str, str], iterators: list[str], lines: list[str], last: str
) -> str:
    """A `linalg.generic`; operands are (value, type, indexing map), block arguments %x0, %x1, … and %acc."""
    value = p.fresh()
    elements = [re.sub(r"tensor<(\d+x)*|>", "", kind) for _, kind, _ in (*ins, out)]
    names = [f"%x{n}: {e}" for n, e in enumerate(elements[:-1])] + [f"%acc: {elements[-1]}"]
    kinds = ", ".join(f'"{i}"' for i in iterators)
    maps = ", ".join(m for _, _, m in (*ins, out))
    p.lines.append(f"{value} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}")
    p.lines.append(f"  ins({', '.join(v for v, _, _ in ins)} : {', '.join(k for _, k, _ in ins)}) outs({out[0]} : {out[1]}) {{")
    p.lines.append(f"^bb0({', '.join(names)}):")
    p.lines += [f"  {line}" for line in lines]
    p.lines += [f"  linalg.yield {last} : {elements[-1]}", f"}} -> {out[1]}"]
    return value
