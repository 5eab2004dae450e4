"""Where the simulator reports a result that is left open, and where `meaning` says that it is: the same operands."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from contexts import one_context
from meaning import left_open

from weft.interpreter.ir import mlir
from weft.runtime.simulator.kernel import SimKernel

INTEGERS = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64}
FLOATS = {"f32": np.float32, "f64": np.float64}
SHIFTS = ("shli", "shrsi", "shrui")
DIVISIONS = ("divsi", "remsi", "floordivsi", "ceildivsi")


@pytest.mark.parametrize(("op", "kind"), [*product((*SHIFTS, *DIVISIONS), INTEGERS)])
def test_integers_against_their_meaning(op: str, kind: str) -> None:
    bits = int(kind[1:])
    some = [0, 1, 2, 3, -1, -2, 7, bits - 1, bits, bits + 1, 2 ** (bits - 1) - 1, -(2 ** (bits - 1)), 5, -5]
    a, b = (np.array(list(each), INTEGERS[kind]) for each in zip(*product(some, repeat=2), strict=True))
    open_ = left_open(f"arith.{op}", (kind, kind), kind)(a, b)
    kept = np.ones(len(a), bool) if op in SHIFTS else b != 0
    assert faults(f"arith.{op} %x, %y : {kind}", (kind, kind), kind, [a[kept], b[kept]]) == open_[kept].sum() > 0


@pytest.mark.parametrize(("op", "kind", "result"), [*product(("fptosi", "fptoui"), FLOATS, INTEGERS)])
def test_conversions_against_their_meaning(op: str, kind: str, result: str) -> None:
    bits = int(result[1:])
    edges = [sign * 2.0**n for n in (bits - 1, bits) for sign in (1, -1)]
    some = [0.0, -0.0, -0.5, -0.999, -1.0, 1.5, 100.0, np.nan, np.inf, -np.inf, 1e30, *edges, *(np.nextafter(e, 0) for e in edges)]
    values = np.array([*some, *(np.trunc(e) + d for e in edges for d in (-1.0, -0.5, 0.5, 1.0))], FLOATS[kind])
    open_ = left_open(f"arith.{op}", (kind,), result)(values)
    assert faults(f"arith.{op} %x : {kind} to {result}", (kind,), result, [values]) == open_.sum() > 0


def faults(text: str, kinds: tuple[str, ...], result: str, values: list[np.ndarray]) -> int:
    """How many of the lanes, each with its operands, have a fault."""
    many = len(values[0])
    arguments = [f"%{name}s: memref<{many}x{kind}>" for name, kind in zip("xy", kinds, strict=False)]
    loads = [f"%{name} = memref.load %{name}s[%tx] : memref<{many}x{kind}>" for name, kind in zip("xy", kinds, strict=False)]
    out = f"memref<{many}x{result}>"
    body = "\n".join(["%tx = gpu.thread_id x", *loads, f"%r = {text}", f"memref.store %r, %out[%tx] : {out}", "gpu.return"])
    header = f"gpu.func @f({', '.join([*arguments, f'%out: {out}'])}) kernel"
    module = mlir.parse(f"gpu.module @m {{\n{header} {{\n{body}\n}}\n}}", one_context())
    kernel = SimKernel(next(iter(mlir.operations(module.operation, "gpu.func"))))
    with np.errstate(all="ignore"):
        report = kernel.launch((1, 1, 1), (many, 1, 1), [*values, np.zeros(many, INTEGERS[result])])
    assert {fault.kind for fault in report.faults} <= {"undefined result"}
    return sum(fault.count for fault in report.faults)
