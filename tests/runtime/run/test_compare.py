"""What counts as right."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from weft.interpreter.ir import mlir
from weft.runtime.host import functions
from weft.runtime.plan.dtypes import NUMPY, narrow, poison_byte
from weft.runtime.plan.signature import Argument, FunctionSignature
from weft.runtime.run.compare import compare, tolerance

INF, NAN = float("inf"), float("nan")


def signature(dtype: str, *inputs: str) -> FunctionSignature:
    arguments = tuple(Argument(f"arg{i}", t, (3,), "input") for i, t in enumerate(inputs))
    return FunctionSignature("f", arguments, (Argument("y", dtype, (3,), "output"),))


CASES: list[tuple[str, tuple[str, ...], list[Any], list[Any], bool, str]] = [
    # the output's type, the inputs' types, got, reference, ok, what the reason says
    ("f32", ("f32",), [1, 2, 4.00003], [1, 2, 4], True, ""),
    ("f32", ("f32",), [1, 2, 4.0001], [1, 2, 4], False, "error 2.5e-05 > 1e-05; element \\[2\\] is 4.0001"),
    ("f32", ("f16",), [1, 2, 4.03], [1, 2, 4], True, ""),
    ("f32", ("f16", "f64"), [1, 2, 4.1], [1, 2, 4], False, "> 0.01"),
    ("f64", ("f64",), [1, 2, 4 + 1e-12], [1, 2, 4], True, ""),
    ("f64", ("f64",), [1, 2, 4 + 1e-11], [1, 2, 4], False, "> 1e-12"),
    ("f16", ("f16",), [1, 2, 4.03], [1, 2, 4], True, ""),
    ("bf16", (), [1, 2, 4.03], [1, 2, 4], True, ""),
    ("f32", (), [0, 0, 0], [0, 0, 0], True, ""),
    ("f32", (), [0, 0, 1e-30], [0, 0, 0], False, "error inf"),
    ("f32", (), [1, NAN, 4], [1, 2, 4], False, "1 elements, the first \\[1\\]: nan, the reference has 2.0"),
    ("f32", (), [1, NAN, 4], [1, NAN, 4], True, ""),
    ("f32", (), [1, 2, 4], [1, NAN, 4], False, "the reference has nan"),
    ("f32", (), [1, INF, 4], [1, INF, 4], True, ""),
    ("f32", (), [1, INF, 4], [1, -INF, 4], False, "inf, the reference has -inf"),
    ("f32", (), [1, INF, 4], [1, 2, 4], False, "inf"),
    ("f16", (), [1, INF, 4], [1, 162754, 4], True, ""),  # a half overflows; the reference is computed in f32
    ("f16", (), [1, INF, 4], [1, 60000, 4], False, "inf, the reference has 60000"),
    ("f16", (), [1, 60000, 4], [1, 162754, 4], False, "the reference has inf"),
    ("bf16", (), [1, -INF, 4], [1, -3.4e38, 4], True, ""),
    ("bf16", (), [1, -INF, 4], [1, -3.3e38, 4], False, "-inf"),
    ("f32", (), [1, 2, 4], [1, INF, 4], False, "the reference has inf"),
    ("f32", (), ["poison", 2, 4], [1, 2, 4], False, "1 elements were never written"),
    ("f16", (), ["poison", 2, 4], [1, 2, 4], False, "1 elements were never written"),
    ("bf16", (), ["poison", 2, 4], [1, 2, 4], False, "1 elements were never written"),
    ("i32", (), [1, 2, 3], [1, 2, 3], True, ""),
    ("i32", (), [1, 2, 4], [1, 2, 3], False, "1 elements differ, the first \\[2\\]: 4, the reference has 3"),
    ("i32", ("f16",), [1, 2, 4], [1, 2, 3], False, "differ"),
    ("i8", (), ["poison", 2, 3], [1, 2, 3], False, "never written"),
    ("i64", (), [2**62, 2, 3], [2**62 + 1, 2, 3], False, "differ"),
    ("i1", (), [True, False, True], [True, False, True], True, ""),
    ("i1", (), [True, False, "poison"], [True, False, True], False, "never written"),
    ("index", (), [1, 2, 3], [1, 2, 3], True, ""),
]


@pytest.mark.parametrize(("dtype", "inputs", "got", "reference", "ok", "reason"), CASES)
def test_compare(
    dtype: str, inputs: tuple[str, ...], got: list[Any], reference: list[Any], ok: bool, reason: str
) -> None:
    mine = narrow(np.array([0 if g == "poison" else g for g in got]), dtype).copy()
    for i in (i for i, g in enumerate(got) if g == "poison"):
        mine[i : i + 1].view(np.uint8).fill(poison_byte(dtype))
    wide = "f32" if dtype in ("f16", "bf16") else dtype
    found = compare(signature(dtype, *inputs), {"y": mine}, {"y": narrow(np.array(reference), wide)})
    assert found.ok is ok, found
    if ok:
        assert found.max_rel_error <= found.outputs[0].tolerance
    else:
        assert found.max_rel_error > 0
        assert found.outputs[0].reason is not None and re.search(reason, found.outputs[0].reason), found.outputs[
            0
        ].reason


def test_the_worst_output_counts() -> None:
    outputs = tuple(Argument(n, "f32", (1,), "output") for n in "ab")
    got = {"a": np.float32([1.5]), "b": np.float32([1])}
    found = compare(FunctionSignature("f", (), outputs), got, {"a": np.float32([1]), "b": np.float32([1])})
    assert found.max_rel_error == 0.5 and not found.ok
    assert found.outputs[0].reason == "error 0.5 > 1e-05; element [0] is 1.5, the reference has 1.0"


def test_inout_arguments_are_outputs_and_inputs_are_not() -> None:
    arguments = (Argument("x", "i32", (1,), "inout"), Argument("y", "i32", (1,), "input"))
    both = {"x": np.int32([1]), "y": np.int32([1])}
    found = compare(FunctionSignature("f", arguments), both, {"x": np.int32([1])})
    assert [o.name for o in found.outputs] == ["x"] and found.ok


@pytest.mark.parametrize("side", ["got", "reference"])
def test_a_missing_output_is_wrong(side: str) -> None:
    both = {"got": {"y": np.zeros(3, np.float32)}, "reference": {"y": np.zeros(3, np.float32)}}
    both[side] = {}
    found = compare(signature("f32"), both["got"], both["reference"])
    assert not found.ok and found.max_rel_error == INF


def test_other_shapes_are_wrong() -> None:
    found = compare(signature("f32"), {"y": np.zeros(3, np.float32)}, {"y": np.zeros((3, 1), np.float32)})
    assert found.outputs[0].reason == "shape [3], the reference has [3, 1]"


@pytest.mark.parametrize("dtype", NUMPY)
def test_scalars_and_empty_arrays(dtype: str) -> None:
    for shape in ((), (0, 4)):
        array = narrow(np.ones(shape), dtype)
        assert compare(signature(dtype), {"y": array}, {"y": array.copy()}).ok


def test_tf32_can_be_asked_for() -> None:
    got, reference = {"y": np.float32([1, 2, 4.003])}, {"y": np.float32([1, 2, 4])}
    assert not compare(signature("f32"), got, reference).ok
    assert compare(signature("f32"), got, reference, rounded="tf32").ok


@pytest.mark.parametrize(("inside", "allowed"), [("f32", 1e-5), ("bf16", 1e-2), ("f64", 1e-5)])
def test_what_a_function_computes_with_sets_the_tolerance(inside: str, allowed: float) -> None:
    kind = "tensor<4xf32>"
    text = f"func.func @f(%a: {kind}) -> {kind} {{ %e = tensor.empty() : tensor<4x{inside}>\nreturn %a : {kind} }}"
    assert tolerance(functions.signature(mlir.parse(text, mlir.context()))) == allowed
