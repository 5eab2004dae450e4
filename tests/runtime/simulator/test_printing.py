"""`gpu.printf`: what C prints, one thread after the other, whatever the order in which lanes act."""

from __future__ import annotations

import ctypes
import json
from pathlib import Path

import numpy as np
import pytest

from weft import cli
from weft.dsl.diagnostics import WeftError
from weft.interpreter.ir import mlir
from weft.runtime.simulator.kernel import Order, SimKernel

KERNEL = """
module attributes {{gpu.container_module}} {{
  gpu.module @m {{ gpu.func @k(%x: memref<?xf32>) kernel {{
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %d = gpu.block_dim x
    %p = affine.apply affine_map<()[b, d, t] -> (b * d + t)>()[%b, %d, %t]
    %v = memref.load %x[%p] : memref<?xf32>
    {body}
    gpu.return
  }} }}
  func.func @f(%x: memref<8xf32>) {{
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %y = memref.cast %x : memref<8xf32> to memref<?xf32>
    gpu.launch_func @m::@k blocks in (%c2, %c1, %c1) threads in (%c4, %c1, %c1) args(%y : memref<?xf32>)
    return
  }}
}}
"""
ONE = r'gpu.printf "%d.%d %g;", %b, %t, %v : index, index, f32'
BRANCH = f"""
    %two = arith.constant 2 : index
    %late = arith.cmpi sge, %t, %two : index
    scf.if %late {{ {ONE} }}
    scf.for %i = %t to %two step %two {{ gpu.printf "%d again;", %i : index }}"""


def printed(body: str, order: Order = "forward", batch: int = 64) -> str:
    module = mlir.parse(KERNEL.format(body=body), mlir.context())
    (function,) = mlir.operations(module.operation, "gpu.func")
    return (
        SimKernel(function)
        .launch((2, 1, 1), (4, 1, 1), [np.arange(8, dtype=np.float32)], order=order, batch=batch)
        .printed
    )


@pytest.mark.parametrize("order", ["forward", "reverse", 3])
@pytest.mark.parametrize("batch", [4, 64])
def test_one_thread_is_after_the_other(order: Order, batch: int) -> None:
    assert printed(ONE, order, batch) == "".join(f"{n // 4}.{n % 4} {n};" for n in range(8))
    rows = ("0 again;", "1 again;", "{b}.2 {n};", "{b}.3 {n};")
    said = (row.format(b=b, n=4 * b + t) for b in range(2) for t, row in enumerate(rows))
    assert printed(BRANCH, order, batch) == "".join(said)


@pytest.mark.parametrize(
    ("written", "value", "type_"),
    [
        ("%d", "-7", "i32"), ("%5d|", "-7", "i32"), ("%-5i|", "7", "i32"), ("%+d", "7", "i32"), ("%05d", "42", "i32"),
        ("%u", "-1", "i32"), ("%x", "-1", "i32"), ("%#X", "255", "i32"), ("%o", "8", "i32"), ("%lld", "-5", "i64"),
        ("%llx", "-1", "i64"), ("%lu", "-1", "i64"), ("%hhu", "-1", "i32"), ("%c", "65", "i32"), ("100%% %d", "1", "i32"),
        ("%f", "1.5", "f32"), ("%.3e", "1234.5", "f32"), ("%8.2f|", "-2.25", "f64"), ("%g", "1.0e-10", "f64"),
        ("%G", "1.0e-10", "f64"),
        ("%F", "0x7F800000", "f32"), ("%f", "0xFF800000", "f32"),
    ],
)  # fmt: skip
def test_formats_are_those_of_c(written: str, value: str, type_: str) -> None:
    text = printed(f'%c = arith.constant {value} : {type_}\n    gpu.printf "{written}", %c : {type_}')
    floats = {"0x7F800000": float("inf"), "0xFF800000": float("-inf")}
    real = type_.startswith("f")
    given = floats.get(value) or float(value) if real else int(value)
    as_c = ctypes.c_double(given) if real else ctypes.c_int64(given) if type_ == "i64" else ctypes.c_int32(given)
    room = ctypes.create_string_buffer(100)
    ctypes.CDLL(None).snprintf(room, ctypes.c_size_t(100), written.encode(), as_c)
    assert text == room.value.decode() * 8


@pytest.mark.parametrize(
    "line",
    [
        'gpu.printf "%d"', 'gpu.printf "no", %t : index', 'gpu.printf "%f", %t : index', 'gpu.printf "%d", %v : f32',
        'gpu.printf "%s", %t : index', 'gpu.printf "%*d", %t, %t : index, index', 'gpu.printf "50%", %t : index',
    ],
)  # fmt: skip
def test_a_format_that_does_not_fit_is_refused(line: str) -> None:
    with pytest.raises(WeftError) as caught:
        printed(line)
    (found,) = caught.value.diagnostics
    assert found.code == "W0750" and "gpu.printf" in found.message


def test_the_report_has_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p.mlir").write_text(KERNEL.format(body=ONE.replace(";", r"\n")))
    (tmp_path / "s.weft").write_text("schedule s() {\n}\n")
    command = ("run", str(tmp_path / "s.weft"), "--payload", str(tmp_path / "p.mlir"), "--target", "sim")
    assert cli.run(command) == 0, "the reference prints nothing"
    shown = capsys.readouterr()
    assert "Printed  one thread after the other" in shown.out + shown.err and "0.3 " in shown.out + shown.err
    assert cli.run((*command, "--json")) == 0
    assert json.loads(capsys.readouterr().out)["printed"].splitlines()[5].startswith("1.1 ")


def test_control_flow_that_the_text_has_is_simulated() -> None:
    body = """
    %w = scf.execute_region -> f32 {
      %s = arith.addf %v, %v : f32
      scf.yield %s : f32
    }
    %r = scf.index_switch %t -> f32
    case 2 {
      gpu.printf "two;"
      scf.yield %v : f32
    }
    case 1 { scf.yield %w : f32 }
    default {
      %n = arith.negf %v : f32
      scf.yield %n : f32
    }
    gpu.printf "%g;", %r : f32"""
    assert printed(body) == "-0;2;two;2;-3;-4;10;two;6;-7;"
