"""Plans survive JSON, and what is wrong with one is found when it is read, with its place."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import Any

import pytest
from runtime_programs import two_stream_plan, whole

from weft.dsl.diagnostics import WeftError
from weft.runtime.plan.check import validate
from weft.runtime.plan.codec import dump, load
from weft.runtime.plan.plan import Apply, Buffer, BufferView, Copy, DimOf, Launch, Plan, ScalarValue
from weft.runtime.plan.resolve import apply, resolve


def dynamic_plan() -> Plan:
    plan = two_stream_plan()
    n = DimOf("x", 0)
    blocks = Apply("ceildiv", n, 4)
    launch = plan.steps[1]
    assert isinstance(launch, Launch)
    view = BufferView("x", Apply("sub", n, 8), (8,), (1,))
    first = replace(launch, grid=(blocks, 1, 1), args=(view, *launch.args[1:]))
    buffers = (Buffer("x", "f32", (n,), "input"), *plan.buffers[1:], Buffer("k", "i8", (2,), "constant", b"\x01\xff"))
    anywhere = replace(plan.kernels[0].params[0], offset=None)
    kernel = replace(plan.kernels[0], params=(anywhere, *plan.kernels[0].params[1:]))
    steps = (plan.steps[0], first, *plan.steps[2:])
    return replace(plan, buffers=buffers, steps=steps, kernels=(kernel,))


@pytest.mark.parametrize("plan", [two_stream_plan(), dynamic_plan()], ids=["static", "dynamic"])
def test_round_trip(plan: Plan) -> None:
    assert load(dump(plan)) == plan


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), 0.1, True, -3])
def test_scalar_values_survive(value: float) -> None:
    plan = two_stream_plan()
    last = plan.steps[4]
    assert isinstance(last, Launch)
    changed = replace(last, args=(*last.args[:2], ScalarValue("f32", value)))
    plan = replace(plan, steps=(*plan.steps[:4], changed, *plan.steps[5:]))
    assert load(dump(plan)) == plan


def set_at(document: Any, path: str, value: Any) -> None:
    *way, last = path.replace("[", ".[").split(".")
    for key in way:
        document = document[int(key[1:-1])] if key.startswith("[") else document[key]
    document[int(last[1:-1]) if last.startswith("[") else last] = value


DELETED = object()
WRONG: list[tuple[str, Any, str, str]] = [
    # where, new value, code, what the message says
    ("version", 2, "W0701", "version"),
    ("version", "1", "W0701", "version"),
    ("entry", 3, "W0700", "entry: expected a string"),
    ("extra", 3, "W0700", "unknown key `extra`"),
    ("buffers", {}, "W0700", "buffers: expected a list"),
    ("buffers[0].shape[0]", "8", "W0700", "buffers[0].shape[0]: expected an integer"),
    ("buffers[0].shape[0]", True, "W0700", "buffers[0].shape[0]: expected an integer"),
    ("buffers[0].shape[0]", 1.5, "W0700", "buffers[0].shape[0]: expected an integer"),
    ("buffers[0].shape[0]", 2**70, "W0700", "64 bits"),
    ("buffers[0].shape[0]", -1, "W0703", "buffers[0].shape[0]: -1 is negative"),
    ("buffers[0].shape[0]", 2**42, "W0703", "more than any device has"),
    ("buffers[0].shape[0]", {"dim": ["x"]}, "W0700", "expected [buffer, axis]"),
    ("buffers[1].shape[0]", {"dim": ["x", 3]}, "W0702", "no dimension 3"),
    ("buffers[1].shape[0]", {"dim": ["z", 0]}, "W0702", "`z` is not an input"),
    ("buffers[1].shape[0]", {"scalar": "nope"}, "W0702", "no scalar `nope`"),
    ("buffers[1].shape[0]", {"scalar": "factor"}, "W0703", "a size is an integer"),
    ("buffers[1].shape[0]", {"op": "pow", "args": [1, 2]}, "W0700", "`pow` is not an operator"),
    ("buffers[1].shape[0]", {"op": "add", "args": [1]}, "W0700", "expected the 2 operands of `add`, found 1"),
    ("buffers[0].dtype", "f31", "W0703", "buffers[0].dtype: `f31` is not an element type"),
    ("buffers[0].role", "inputs", "W0703", "buffers[0].role: `inputs` is not a role"),
    ("buffers[0].name", "y", "W0703", "the name `y` is used twice"),
    ("buffers[0].data", "AAAA", "W0703", "only constants have data"),
    ("buffers[0].data", "no base64!", "W0700", "base64"),
    ("buffers[2].role", "constant", "W0703", "0 bytes where the shape needs 32"),
    ("scalars[0].dtype", "tensor", "W0703", "scalars[0].dtype"),
    ("kernels[0].name", "not a name", "W0703", "kernels[0].name"),
    ("kernels[0].name", "other", "W0702", "steps[1].kernel: no kernel `scale`; there are: `other`"),
    ("kernels", [], "W0702", "there are: none"),
    ("kernels[0].params", [], "W0705", "3 arguments, `scale` takes 0"),
    ("kernels[0].params[0].dtype", "f64", "W0705", "steps[1].args[0]"),
    ("kernels[0].params[0].shape", [9], "W0705", "steps[1].args[0].shape"),
    ("kernels[0].params[0].shape", [8, 1], "W0703", "shape and strides"),
    ("kernels[0].params[0].strides", [2], "W0705", "steps[1].args[0].strides"),
    ("kernels[0].params[0].offset", 1, "W0705", "steps[1].args[0].offset"),
    ("kernels[0].params[2].dtype", "f64", "W0705", "steps[1].args[2]"),
    ("kernels[0].shared_bytes", 300_000, "W0704", "kernels[0].shared_bytes"),
    ("kernels[0].dynamic_shared_bytes", -1, "W0704", "kernels[0].dynamic_shared_bytes"),
    ("steps[0].do", "run", "W0700", "steps[0]: a step is"),
    ("steps[0]", 7, "W0700", "steps[0]: a step is"),
    ("steps[0].stream", -1, "W0707", "steps[0].stream"),
    ("steps[0].stream", 10**6, "W0707", "steps[0].stream"),
    ("steps[3].after", [3], "W0707", "steps[3].after[0]: 3 is not an earlier step"),
    ("steps[3].after", [-1], "W0707", "steps[3].after[0]"),
    ("steps[0].buffer", "q", "W0702", "steps[0].buffer: no buffer `q`"),
    ("steps[0].buffer", "x", "W0706", "only temp is allocated"),
    ("steps[2].buffer", "t", "W0706", "`t` is allocated twice"),
    ("steps[0]", {"do": "free", "buffer": "t", "stream": 0, "after": []}, "W0706", "used before it is allocated"),
    ("steps[6].buffer", "t", "W0706", "`t` is freed twice"),
    ("steps[1].grid", [1, 1], "W0700", "steps[1].grid: expected 3 entries"),
    ("steps[1].grid[0]", -1, "W0703", "steps[1].grid[0]: -1 is negative"),
    ("steps[1].grid[1]", 70000, "W0704", "70000 blocks in y"),
    ("steps[1].block[0]", 0, "W0704", "0 threads in x"),
    ("steps[1].block[0]", 1025, "W0704", "1025 threads in x"),
    ("steps[1].block[2]", 65, "W0704", "65 threads in z"),
    ("steps[1].block", [64, 32, 1], "W0704", "2048 threads are more than 1024"),
    ("steps[1].shared_bytes", 232_448, "W0704", "in all are more than"),
    ("steps[1].shared_bytes", -4, "W0703", "steps[1].shared_bytes: -4 is negative"),
    ("steps[1].args[0].offset", 1, "W0708", "elements 1 … 8 are touched, `x` has 8"),
    ("steps[1].args[0].offset", -1, "W0703", "steps[1].args[0].offset: -1 is negative"),
    ("steps[1].args[0].strides", [2], "W0708", "elements 0 … 14"),
    ("steps[1].args[0].strides", [-1], "W0708", "elements -7 … 0"),
    ("steps[1].args[0].strides", [], "W0703", "1 sizes but 0 strides"),
    ("steps[1].args[0].buffer", "q", "W0702", "steps[1].args[0].buffer: no buffer `q`"),
    ("steps[1].args[0].more", 1, "W0700", "unknown key `more`"),
    ("steps[1].args[2]", {"dtype": "f32"}, "W0700", "the key `value` is missing"),
    ("steps[1].args[2].value", {"scalar": "nope"}, "W0702", "no scalar `nope`"),
    ("steps[3].source.shape", [4], "W0705", "copies shape [4] to [8]"),
    ("steps[3].target.buffer", "y", "W0000", ""),
]


@pytest.mark.parametrize(("path", "value", "code", "message"), WRONG, ids=[f"{w[0]}={w[1]}"[:60] for w in WRONG])
def test_wrong_plans_are_refused(path: str, value: Any, code: str, message: str) -> None:
    document = copy.deepcopy(json.loads(dump(two_stream_plan())))
    set_at(document, path, value)
    if code == "W0000":  # legal all the same: the table can tell right from wrong
        load(json.dumps(document))
        return
    with pytest.raises(WeftError) as error:
        load(json.dumps(document), "p.json")
    found = [d for d in error.value.diagnostics if d.code == code and message in d.message]
    assert found, error.value
    assert all("p.json" in str(d) for d in error.value.diagnostics)


@pytest.mark.parametrize("key", ["version", "entry", "buffers", "scalars", "kernels", "steps"])
def test_missing_keys(key: str) -> None:
    document = json.loads(dump(two_stream_plan()))
    del document[key]
    with pytest.raises(WeftError, match=f"W0700: the document: the key `{key}` is missing"):
        load(json.dumps(document))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "3",
        "null",
        '{"version": NaN}',
        '{"version": 1, "version": 1}',
        "[" * 100_000,
        "\0",
        '{"a": 1e999}',
    ],
    ids=range(10),
)
def test_junk_is_refused(text: str) -> None:
    with pytest.raises(WeftError, match="W0700"):
        load(text)


def test_resolve_checks_again() -> None:
    plan = dynamic_plan()
    fixed = resolve(plan, {"x": (9,)}, {"factor": 1.0})
    launch = fixed.steps[1]
    assert isinstance(launch, Launch)
    assert launch.grid == (3, 1, 1)
    assert launch.args[0] == BufferView("x", 1, (8,), (1,))
    with pytest.raises(WeftError, match=r"W0703.*offset: -4 is negative"):
        resolve(plan, {"x": (4,)}, {"factor": 1.0})


@pytest.mark.parametrize(
    ("operator", "left", "right", "result"),
    [
        ("div", -7, 2, -3),
        ("rem", -7, 2, -1),
        ("floordiv", -7, 2, -4),
        ("mod", -7, 2, 1),
        ("ceildiv", 7, 2, 4),
        ("ceildiv", -7, 2, -3),
        ("div", 2**62 + 1, 1, 2**62 + 1),
        ("min", 2, -1, -1),
        ("max", 2, -1, 2),
        ("sub", 2, 5, -3),
    ],
)
def test_integer_arithmetic(operator: Any, left: int, right: int, result: int) -> None:
    assert apply(operator, left, right) == result


def test_division_by_zero_is_an_error() -> None:
    with pytest.raises(WeftError, match="W0709"):
        apply("ceildiv", 4, 0)


def test_an_empty_window_touches_nothing() -> None:
    x = Buffer("x", "f32", (8,), "inout")
    empty = replace(whole("x", 8), offset=8, shape=(0,))
    validate(Plan("f", (x,), (), (Copy(source=empty, target=empty),), ()))
