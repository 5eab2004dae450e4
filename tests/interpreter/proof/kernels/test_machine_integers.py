"""Numbers of so many bits, signed and unsigned: what the analysis reads out of them is what a machine makes of them."""

from __future__ import annotations

import operator
import random
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from weft.dsl.diagnostics import Source
from weft.verify import Verdict, verify_source

THREADS = 32
BITS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64, "index": 64}
Value = Callable[[int], int]
"""A thread's number → the bits of a value, as unsigned."""


def judge(body: str, threads: int = THREADS) -> Verdict:
    return verify_source(Source("p.mlir", f"""func.func @f(%A: memref<64xf32>, %n: index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %count = arith.constant {threads} : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%t, %ty, %tz) in (%sx = %count, %sy = %c1, %sz = %c1)
             workgroup(%S : memref<64xf32, #gpu.address_space<workgroup>>) {{
    %v = arith.constant 1.0 : f32
    %c2 = arith.constant 2 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c63 = arith.constant 63 : index
    %c64 = arith.constant 64 : index
    {body}
    gpu.terminator
  }}
  return
}}
"""))  # fmt: skip


def put(index: str) -> str:
    return f"memref.store %v, %S[{index}] : memref<64xf32, #gpu.address_space<workgroup>>"


def get(index: str) -> str:
    return f"%w = memref.load %S[{index}] : memref<64xf32, #gpu.address_space<workgroup>>\nmemref.store %w, %A[%t] : memref<64xf32>"


WAITING = """%r = scf.while (%i = %c0) : (index) -> index {
  %p = arith.cmpi slt, %i, %c2 : index
  scf.condition(%p) %i : index
} do {
^bb0(%i: index):
  gpu.barrier
  %k = arith.addi %i, %c1 : index
  scf.yield %k : index
}"""
UPWARDS = """%m = arith.constant -1 : i32
%e = arith.constant 2 : i32
%s = arith.constant 1 : i32
scf.for unsigned %j = %m to %e step %s : i32"""


def lines(*parts: str) -> str:
    return "\n".join(parts)


KERNELS = {
    "minui: 0 - 1 is the largest number, so threads 0 and 64 store to 63": (
        65,
        lines("%m = arith.subi %t, %c1 : index", "%i = arith.minui %m, %c63 : index", put("%i")),
        "two threads conflict",
    ),
    "maxui of the same keeps the largest number": (
        2,
        lines(
            "%m = arith.subi %t, %c1 : index",
            "%x = arith.maxui %m, %c0 : index",
            "%i = arith.andi %x, %c63 : index",
            put("%i"),
        ),
        "",
    ),
    "ceildivui of what may be negative": (
        8,
        lines("%m = arith.subi %t, %c2 : index", "%i = arith.ceildivui %m, %c2 : index", put("%i")),
        "may conflict (assumed)",
    ),
    "a cast to i8 keeps 8 bits": (
        40,
        lines(
            "%m = arith.muli %t, %c8 : index",
            "%b = arith.index_cast %m : index to i8",
            "%u = arith.index_castui %b : i8 to index",
            "%i = arith.divui %u, %c8 : index",
            put("%i"),
        ),
        "two threads conflict",
    ),
    "and all of them for so many threads": (
        32,
        lines(
            "%m = arith.muli %t, %c8 : index",
            "%b = arith.index_castui %m : index to i8",
            "%u = arith.index_castui %b : i8 to index",
            "%i = arith.divui %u, %c8 : index",
            put("%i"),
        ),
        "",
    ),
    "products of i8 wrap around": (
        17,
        lines(
            "%b = arith.index_cast %t : index to i8",
            "%k = arith.constant 16 : i8",
            "%m = arith.muli %b, %k : i8",
            "%u = arith.index_castui %m : i8 to index",
            "%i = arith.divui %u, %c16 : index",
            put("%i"),
        ),
        "two threads conflict",
    ),
    "shifts of i16 do too": (
        33,
        lines(
            "%b = arith.index_cast %t : index to i16",
            "%k = arith.constant 11 : i16",
            "%m = arith.shli %b, %k : i16",
            "%u = arith.shrui %m, %k : i16",
            "%i = arith.index_cast %u : i16 to index",
            put("%i"),
        ),
        "two threads conflict",
    ),
    "true as a signed number is -1": (
        2,
        lines(
            "%p = arith.cmpi eq, %t, %c1 : index",
            "%e = arith.extsi %p : i1 to i32",
            "%x = arith.index_cast %e : i32 to index",
            "%i = arith.addi %x, %c1 : index",
            put("%i"),
        ),
        "",
    ),
    "a counter in i8 goes round": (
        1,
        lines(
            "%z = arith.constant 0 : i8",
            "%k = arith.constant 64 : i8",
            "%r = scf.for %j = %c0 to %c8 step %c1 iter_args(%b = %z) -> (i8) {",
            "%next = arith.addi %b, %k : i8",
            "%u = arith.index_castui %b : i8 to index",
            "%i = arith.divui %u, %c64 : index",
            put("%i"),
            "scf.yield %next : i8",
            "}",
            "%c4 = arith.constant 4 : index",
            get("%c4"),
        ),
        "a thread reads shared memory `S` that was never written",
    ),
    "constants are worked out through or": (
        8,
        lines(
            "%a = arith.constant 5 : i8",
            "%b = arith.constant -4 : i8",
            "%o = arith.ori %a, %b : i8",
            "%k = arith.constant 3 : i8",
            "%p = arith.cmpi ult, %o, %k : i8",
            "scf.if %p {",
            put("%c0"),
            "}",
        ),
        "",
    ),
    "a product of two arguments is not any number": (
        8,
        lines("%q = arith.muli %n, %n : index", "%p = arith.cmpi eq, %q, %c2 : index", "scf.if %p {", put("%c0"), "}"),
        "may conflict (assumed)",
    ),
    "an argument is": (
        8,
        lines("%p = arith.cmpi eq, %n, %c2 : index", "scf.if %p {", put("%c0"), "}"),
        "two threads conflict",
    ),
    "how often a while loop runs is not known, so that its barrier may order": (
        64,
        lines("%o = arith.subi %c63, %t : index", put("%t"), WAITING, get("%o")),
        "may conflict (assumed)",
    ),
    "what lies behind it conflicts anyhow": (
        64,
        lines(WAITING, "%o = arith.subi %c63, %t : index", put("%t"), get("%o")),
        "two threads conflict",
    ),
    "a select on what is not understood": (
        8,
        lines(
            "%q = arith.muli %t, %t : index",
            "%p = arith.cmpi eq, %q, %c2 : index",
            "%i = arith.select %p, %c0, %t : index",
            put("%i"),
        ),
        "may conflict (assumed)",
    ),
    "a loop that counts as unsigned, from -1 on, does not run": (
        8,
        f"{UPWARDS} {{\n{put('%c0')}\n}}",
        "may conflict (assumed)",
    ),
    "and its barrier orders nothing": (
        64,
        lines("%o = arith.subi %c63, %t : index", put("%t"), f"{UPWARDS} {{\ngpu.barrier\n}}", get("%o")),
        "may conflict (assumed)",
    ),
    "a barrier under a condition that is not understood": (
        64,
        lines(
            "%o = arith.subi %c63, %t : index",
            put("%t"),
            "%q = arith.muli %t, %t : index",
            "%p = arith.cmpi ne, %q, %c2 : index",
            "scf.if %p {",
            "gpu.barrier",
            "}",
            get("%o"),
        ),
        "some threads of a block may not reach gpu.barrier",
    ),
}


@pytest.mark.parametrize("name", KERNELS)
def test_kernels(name: str) -> None:
    threads, body, expected = KERNELS[name]
    verdict = judge(body, threads)
    said = verdict.diagnostics[0].message if verdict.diagnostics else ""
    assert (verdict.ok, expected in said) == (not expected, True), said


# ---- expressions at random, and what a machine makes of them -------------------------------------------------------------


def signed(number: int, bits: int) -> int:
    return number - (1 << bits) if number >> (bits - 1) else number


def truncating(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


UNSIGNED: dict[str, Callable[[int, int], int]] = {
    "addi": operator.add, "subi": operator.sub, "muli": operator.mul, "andi": operator.and_, "ori": operator.or_,
    "xori": operator.xor, "shli": operator.lshift, "shrui": operator.rshift, "divui": operator.floordiv, "remui": operator.mod,
    "ceildivui": lambda a, b: -(-a // b), "minui": min, "maxui": max,
}  # fmt: skip
SIGNED: dict[str, Callable[[int, int], int]] = {
    "divsi": truncating, "remsi": lambda a, b: a - truncating(a, b) * b, "floordivsi": operator.floordiv,
    "ceildivsi": lambda a, b: -(-a // b), "shrsi": operator.rshift, "minsi": min, "maxsi": max,
}  # fmt: skip
COMPARED: dict[str, Callable[[int, int], bool]] = {
    "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
}  # fmt: skip


@dataclass
class Writer:
    """Writes expressions at random, of the thread `%t`."""

    random: random.Random
    lines: list[str] = field(default_factory=list)

    def line(self, text: str) -> str:
        self.lines.append(f"%x{len(self.lines)} = arith.{text}")
        return f"%x{len(self.lines) - 1}"

    def constant(self, kind: str, *choices: int) -> tuple[str, Value]:
        number = self.random.choice(choices)
        return self.line(f"constant {number} : {kind}"), lambda t: number % (1 << BITS[kind])

    def converted(self, name: str, value: Value, source: str, target: str) -> tuple[str, Value]:
        if source == target:
            return name, value
        a, b = BITS[source], BITS[target]
        if "index" in (source, target):
            op = self.random.choice(("index_cast", "index_castui"))
        else:
            op = "trunci" if a > b else self.random.choice(("extsi", "extui"))
        as_signed = op in ("index_cast", "extsi")
        made = self.line(f"{op} {name} : {source} to {target}")
        return made, lambda t: (signed(value(t), a) if as_signed else value(t)) % (1 << b)

    def expression(self, kind: str, depth: int) -> tuple[str, Value]:
        chance = self.random.random()
        if depth == 0 or chance < 0.1:
            return self.converted("%t", lambda t: t, "index", kind)
        if chance < 0.3:
            other = self.random.choice(list(BITS))
            return self.converted(*self.expression(other, depth - 1), other, kind)
        if chance < 0.4:
            return self.selected(kind, depth)
        return self.binary(kind, depth)

    def binary(self, kind: str, depth: int) -> tuple[str, Value]:
        op, bits = self.random.choice([*UNSIGNED, *SIGNED]), BITS[kind]
        a, left = self.expression(kind, depth - 1)
        if "div" in op or "rem" in op:
            b, right = self.constant(kind, 1, 2, 3, 5, 8, *((-2,) if op in ("divsi", "remsi") else ()))
        elif op.startswith("sh"):
            b, right = self.constant(kind, 0, 1, 2, 5)
        elif self.random.random() < 0.7:
            b, right = self.constant(kind, 1, 3, 6, 8, 15, 31, 100, -1, -4)
        else:
            b, right = self.expression(kind, depth - 1)
        made = self.line(f"{op} {a}, {b} : {kind}")
        if op in UNSIGNED:
            return made, lambda t: UNSIGNED[op](left(t), right(t)) % (1 << bits)
        return made, lambda t: SIGNED[op](signed(left(t), bits), signed(right(t), bits)) % (1 << bits)

    def selected(self, kind: str, depth: int) -> tuple[str, Value]:
        sign, relation = self.random.choice("su"), self.random.choice(list(COMPARED))
        (a, left), (b, right) = self.expression(kind, depth - 1), self.constant(kind, 0, 3, 16, 100, -1)
        condition = self.line(f"cmpi {sign}{relation}, {a}, {b} : {kind}")
        made = self.line(f"select {condition}, {a}, {b} : {kind}")

        def value(t: int) -> int:
            p, q = left(t), right(t)
            sides = (p, q) if sign == "u" else (signed(p, BITS[kind]), signed(q, BITS[kind]))
            return p if COMPARED[relation](*sides) else q

        return made, value


@pytest.mark.parametrize("batch", range(6))
def test_against_the_machine(batch: int) -> None:
    """Threads that store to one element are always found, and none are shown that do not, unless it says "assumed"."""
    exact = 0
    for seed in range(batch * 25, batch * 25 + 25):
        writer = Writer(random.Random(seed))
        kind = writer.random.choice(list(BITS))
        name, value = writer.converted(*writer.expression(kind, writer.random.randint(1, 3)), kind, "index")
        last, _ = writer.constant("index", 63)
        index = writer.line(f"andi {name}, {last} : index")
        verdict = judge("\n".join([*writer.lines, put(index)]))
        collide = len({value(t) & 63 for t in range(THREADS)}) < THREADS
        assumed = any("assumed" in d.message for d in verdict.diagnostics)
        assert verdict.ok != collide or (assumed and not collide), f"seed {seed}: {writer.lines}"
        exact += not assumed
    assert exact >= 15
