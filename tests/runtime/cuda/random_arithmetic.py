"""Random chains of arith and math ops: one body, written as a kernel and as a function for MLIR's JIT.

Where MLIR leaves a result open (division by zero, shifts past the width, floats outside an integer's range) the operand is
brought into bounds first, so that both sides must agree on every bit.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

N = 64
INTEGERS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64, "index": 64}
FLOATS = ("f32", "f64")
TO_WIDER = (("f32", "f64"), ("f16", "f32"), ("bf16", "f32"))
"""f64 and the halves by way of f32, or one rounding and two would be told apart by the JIT's library, which lacks the one."""
STORED = ("i8", "i16", "i32", "i64", "f32", "f64")
BIT_PAIRS = (("f32", "i32"), ("f64", "i64"), ("f16", "i16"), ("bf16", "i16"))
_SAFE = ("addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "minsi", "maxui", "minui")
_DIVISIONS = ("divsi", "divui", "remsi", "remui", "ceildivsi", "floordivsi", "ceildivui")
_INT_COMPARE = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
_FLOAT_COMPARE = (
    "false",
    "oeq",
    "ogt",
    "oge",
    "olt",
    "ole",
    "one",
    "ord",
    "ueq",
    "ugt",
    "uge",
    "ult",
    "ule",
    "une",
    "uno",
    "true",
)


@dataclass
class Body:
    """Ops in MLIR's text, and the values that they define, by type; `floats`: the float types that they have."""

    random: random.Random
    lines: list[str] = field(default_factory=list)
    values: dict[str, list[str]] = field(default_factory=dict)
    count: int = 0
    floats: tuple[str, ...] = tuple(FLOATS)

    def emit(self, text: str, type: str) -> str:
        self.count += 1
        name = f"%v{self.count}"
        self.lines.append(f"{name} = {text}")
        self.values.setdefault(type, []).append(name)
        return name

    def constant(self, value: int | float, type: str) -> str:
        return self.emit(f"arith.constant {value} : {type}", type)

    def pick(self, type: str) -> str:
        """A value of the type: a recent one more often than not."""
        known = self.values[type]
        return self.random.choice(known[-4:] if self.random.random() < 0.6 else known)


def make_body(seed: int, length: int = 30) -> Body:
    """A chain of random ops, from one input of each stored type; the last values of each are stored."""
    body = Body(random.Random(seed))
    for type in STORED:
        body.emit(f"memref.load %in_{type}[%i] : memref<{N}x{type}>", type)
    body.emit(f"arith.index_cast {body.values['i32'][0]} : i32 to index", "index")
    body.values["index"].append("%i")
    body.emit(f"arith.cmpi slt, {body.values['i32'][0]}, {body.values['i32'][0]} : i32", "i1")
    for _ in range(length):
        body.random.choice((integer_op, integer_op, float_op, division, shift, compare, select, convert, unary))(body)
    for type in STORED:
        body.lines.append(f"memref.store {body.values[type][-1]}, %out_{type}[%i] : memref<{N}x{type}>")
    return body


def integer_op(b: Body) -> None:
    type = b.random.choice([*INTEGERS, "i1"])
    right = b.pick(type)
    if type != "i1" and b.random.random() < 0.3:
        right = b.constant(b.random.choice([0, 1, 2, 3, 7, 16, 100, -1, -5]), type)
    b.emit(f"arith.{b.random.choice(_SAFE)} {b.pick(type)}, {right} : {type}", type)


def float_op(b: Body) -> None:
    type = b.random.choice(b.floats)
    name = b.random.choice(("addf", "subf", "mulf", "divf", "maximumf", "minimumf"))
    b.emit(f"arith.{name} {b.pick(type)}, {b.pick(type)} : {type}", type)


def division(b: Body) -> None:
    """By 1 … 8, or (signed) by -9 … -2: the least integer divided by -1 overflows."""
    type, name = b.random.choice([*INTEGERS]), b.random.choice(_DIVISIONS)
    small = b.emit(f"arith.andi {b.pick(type)}, {b.constant(7, type)} : {type}", type)
    if name in ("divsi", "remsi", "ceildivsi", "floordivsi") and b.random.random() < 0.5:
        divisor = b.emit(f"arith.subi {b.constant(-2, type)}, {small} : {type}", type)
    else:
        divisor = b.emit(f"arith.addi {small}, {b.constant(1, type)} : {type}", type)
    b.emit(f"arith.{name} {b.pick(type)}, {divisor} : {type}", type)


def shift(b: Body) -> None:
    type = b.random.choice([*INTEGERS])
    amount = b.emit(f"arith.andi {b.pick(type)}, {b.constant(INTEGERS[type] - 1, type)} : {type}", type)
    b.emit(f"arith.{b.random.choice(('shli', 'shrsi', 'shrui'))} {b.pick(type)}, {amount} : {type}", type)


def compare(b: Body) -> None:
    if b.random.random() < 0.5:
        type = b.random.choice([*INTEGERS, "i1"])
        b.emit(f"arith.cmpi {b.random.choice(_INT_COMPARE)}, {b.pick(type)}, {b.pick(type)} : {type}", "i1")
    else:
        type = b.random.choice(b.floats)
        b.emit(f"arith.cmpf {b.random.choice(_FLOAT_COMPARE)}, {b.pick(type)}, {b.pick(type)} : {type}", "i1")


def select(b: Body) -> None:
    type = b.random.choice([*INTEGERS, *b.floats, "i1"])
    b.emit(f"arith.select {b.pick('i1')}, {b.pick(type)}, {b.pick(type)} : {type}", type)


def convert(b: Body) -> None:
    kind = b.random.choice(("widen", "narrow", "index", "to_float", "to_int", "float", "bits", "bool"))
    widths = ["i8", "i16", "i32", "i64"]
    if kind in ("widen", "narrow"):
        low, high = sorted(b.random.sample(range(4), 2))
        small, large = widths[low], widths[high]
        if kind == "widen":
            b.emit(f"arith.{b.random.choice(('extsi', 'extui'))} {b.pick(small)} : {small} to {large}", large)
        else:
            b.emit(f"arith.trunci {b.pick(large)} : {large} to {small}", small)
    elif kind == "index":
        type, name = b.random.choice(widths), b.random.choice(("index_cast", "index_castui"))
        source, target = (type, "index") if b.random.random() < 0.5 else ("index", type)
        b.emit(f"arith.{name} {b.pick(source)} : {source} to {target}", target)
    elif kind == "to_float":
        target = b.random.choice(b.floats)
        source = b.random.choice(["i8", "i1"] if target == "bf16" else [*widths, "i1"])  # the JIT rounds wider ones twice
        b.emit(f"arith.{b.random.choice(('sitofp', 'uitofp'))} {b.pick(source)} : {source} to {target}", target)
    elif kind == "to_int":
        _to_integer(b, b.random.choice(b.floats), b.random.choice(widths))
    elif kind == "float":
        small, large = b.random.choice([pair for pair in TO_WIDER if pair[0] in b.floats])
        if b.random.random() < 0.5:
            b.emit(f"arith.extf {b.pick(small)} : {small} to {large}", large)
        else:
            b.emit(f"arith.truncf {b.pick(large)} : {large} to {small}", small)
    elif kind == "bits":
        source, target = b.random.choice([pair for f, i in BIT_PAIRS if f in b.floats for pair in ((f, i), (i, f))])
        value = b.pick(source)
        if source in b.floats:  # which NaN an operation makes is open
            ordered = b.emit(f"arith.cmpf ord, {value}, {value} : {source}", "i1")
            value = b.emit(f"arith.select {ordered}, {value}, {b.constant('0.0', source)} : {source}", source)
        b.emit(f"arith.bitcast {value} : {source} to {target}", target)
    else:
        type = b.random.choice(widths)
        if b.random.random() < 0.5:
            b.emit(f"arith.trunci {b.pick(type)} : {type} to i1", "i1")
        else:
            b.emit(f"arith.{b.random.choice(('extsi', 'extui'))} {b.pick('i1')} : i1 to {type}", type)


def _to_integer(b: Body, source: str, target: str) -> None:
    """A float outside the integer's range (or a NaN) becomes zero first."""
    value = b.pick(source)
    magnitude = b.emit(f"math.absf {value} : {source}", source)
    inside = b.emit(f"arith.cmpf olt, {magnitude}, {b.constant('1.0e+02', source)} : {source}", "i1")
    name = b.random.choice(("fptosi", "fptoui"))
    kept = b.emit(
        f"arith.select {inside}, {magnitude if name == 'fptoui' else value}, {b.constant('0.0', source)} : {source}",
        source,
    )
    raw = b.emit(f"arith.{name} {kept} : {source} to {target}", target)
    b.values[target].remove(raw)  # the JIT takes `uitofp (fptosi x)` for x, even where x is negative
    b.emit(f"arith.xori {raw}, {b.constant(1, target)} : {target}", target)


def unary(b: Body) -> None:
    if b.random.random() < 0.6:
        type = b.random.choice(b.floats)
        name = b.random.choice(("arith.negf", "math.absf", "math.floor", "math.ceil", "math.sqrt", "math.trunc"))
        b.emit(f"{name} {b.pick(type)} : {type}", type)
    else:
        type = b.random.choice(("i32", "i64"))
        b.emit(
            f"{b.random.choice(('math.ctpop', 'math.ctlz', 'math.cttz', 'math.absi'))} {b.pick(type)} : {type}", type
        )


# ---- the two programs ---------------------------------------------------------------------------------------------------


def _arguments() -> str:
    return ", ".join(f"%{way}_{type}: memref<{N}x{type}>" for way in ("in", "out") for type in STORED)


def kernels(seeds: list[int]) -> str:
    """A `gpu.module` with a kernel per seed, one thread an element."""
    made = []
    for seed in seeds:
        body = "\n    ".join(make_body(seed).lines)
        made.append(f"""  gpu.func @chain{seed}({_arguments()}) kernel attributes {{known_block_size = array<i32: {N}, 1, 1>}} {{
    %i = gpu.thread_id x
    {body}
    gpu.return
  }}""")
    return "gpu.module @chains {\n" + "\n".join(made) + "\n}"


def functions(seeds: list[int]) -> str:
    """The same as functions with a loop, for the JIT."""
    made = []
    for seed in seeds:
        body = "\n      ".join(make_body(seed).lines)
        made.append(f"""func.func @chain{seed}({_arguments()}) attributes {{llvm.emit_c_interface}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant {N} : index
    scf.for %i = %c0 to %n step %c1 {{
      {body}
    }}
    return
  }}""")
    return "\n".join(made)
