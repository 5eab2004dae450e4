"""Evaluation of expressions, and parameters that get their values."""

from __future__ import annotations

import pytest

from weft.dsl import tree
from weft.dsl.diagnostics import WeftError
from weft.dsl.expressions import evaluate
from weft.dsl.parameters import bind, bind_parameters
from weft.dsl.parser import parse_items, parse_text

VALUES = {"bm": 128, "tm": 8, "f": 0.5, "on": True, "t": "f32", "name": "a"}


def expression(text: str) -> tree.Expr:
    (item,) = parse_items(f"require {text}", "t")
    assert isinstance(item, tree.Require)
    return item.condition


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3 - 4", 3),
        ("bm / tm", 16),
        ("bm-1", 127),
        ("-7 % 4", 1),
        ("1 / 2.0", 0.5),
        ("f * 2", 1.0),
        ("-bm", -128),
        ("ceildiv(7, 2)", 4),
        ("ceildiv(-7, 2)", -3),
        ("pow2(100)", 128),
        ("pow2(128)", 128),
        ("pow2(0)", 1),
        ("min(bm, 3, 5)", 3),
        ("max(bm, 1.5)", 128),
        ('select(t == f32 and name != "a", bm, tm)', 8),
        ("select(on, tm, bm / 3)", 8),
        ("select(not on, 1 / 0, t)", "f32"),
        ("bm == 128 and not tm > 8", True),
        ("false and 1 / 0 == 1", False),
        ("true or 1 / 0 == 1", True),
        ("t == f32", True),
        ("t != bf16", True),
        ('name == "a"', True),
        ("tf32", "tf32"),
        ('"a\\n\\"\\\\"', 'a\n"\\'),
        ("9223372036854775807", 2**63 - 1),
        ("1.5e3", 1500.0),
        ("1 == 1.0", True),
    ],
)
def test_value(text: str, value: object) -> None:
    found = evaluate(expression(text), VALUES)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("nope", "W0220"),
        ("7 / 2", "W0234"),
        ("bm / 0", "W0235"),
        ("bm % 0", "W0235"),
        ("1 / 0.0", "W0235"),
        ("ceildiv(1, 0)", "W0235"),
        ("9223372036854775807 + 1", "W0236"),
        ("1.0e308 * 10", "W0236"),
        ("bm + on", "W0232"),
        ("t + 1", "W0232"),
        ("-t", "W0232"),
        ("not 1", "W0232"),
        ("1 and true", "W0232"),
        ("true and 1", "W0232"),
        ("t < 1", "W0232"),
        ("t == 1", "W0232"),
        ("on == 1", "W0232"),
        ("0.5 % 2", "W0232"),
        ("ceildiv(0.5, 2)", "W0232"),
        ("min(t)", "W0232"),
        ("min()", "W0237"),
        ("pow2(1, 2)", "W0237"),
        ("select(1, 2, 3)", "W0232"),
        ("select(on, bm / 3, 1)", "W0234"),
        ("select(on, 1)", "W0237"),
        ("sqrt(2)", "W0237"),
    ],
)
def test_refusal(text: str, code: str) -> None:
    with pytest.raises(WeftError) as caught:
        evaluate(expression(text), VALUES)
    (found,) = caught.value.diagnostics
    assert found.code == code and found.span is not None


# ---- binding ---------------------------------------------------------------------------------------------------------

SCHEDULE = parse_text(
    "schedule s(bm: int = 128 in [64, 128], bn: int = bm / 2, f: float = 1, on: bool = true, t: type = f32, "
    'name: str = "a", h: handle, must: int) {}',
    "t",
).main
DEFAULTS = {"bm": 128, "bn": 64, "f": 1.0, "on": True, "t": "f32", "name": "a", "must": 1}


@pytest.mark.parametrize(
    ("settings", "change"),
    [
        ({}, {}),
        ({"bm": "64"}, {"bm": 64, "bn": 32}),
        ({"bm": 64, "bn": "+7"}, {"bm": 64, "bn": 7}),
        ({"f": "-1e-3"}, {"f": -0.001}),
        ({"f": 2}, {"f": 2.0}),
        ({"on": "false"}, {"on": False}),
        ({"t": "bf16", "name": "64"}, {"t": "bf16", "name": "64"}),
    ],
)
def test_settings(settings: dict[str, object], change: dict[str, object]) -> None:
    assert bind_parameters(SCHEDULE, {"must": 1} | settings) == DEFAULTS | change


@pytest.mark.parametrize(
    ("settings", "code", "said"),
    [
        ({}, "W0213", "`must` of `s` has no value"),
        ({"must": "1", "bm": "96"}, "W0211", "`bm` = 96 is not in its domain"),
        ({"must": "one"}, "W0210", "`must` takes an integer, not `one`"),
        ({"must": "1.0"}, "W0210", "`must` takes an integer, not `1.0`"),
        ({"must": "9" * 5000}, "W0210", None),
        ({"must": "٣"}, "W0210", None),
        ({"must": True}, "W0210", "`must` takes an integer, not true or false"),
        ({"must": "1", "f": "inf"}, "W0210", None),
        ({"must": "1", "f": "1e999"}, "W0210", None),
        ({"must": "1", "on": "yes"}, "W0210", "`on` takes true or false, not `yes`"),
        ({"must": "1", "t": "f31"}, "W0210", "`t` takes an element type, not `f31`"),
        ({"must": "1", "bmm": "64"}, "W0482", "`s` has no parameter `bmm`"),
        ({"must": "1", "h": "x"}, "W0482", "`s` has no parameter `h`"),
        ({"must": "1", "bm": "64", "bn": ""}, "W0210", None),
    ],
)
def test_bad_settings(settings: dict[str, object], code: str, said: str | None) -> None:
    with pytest.raises(WeftError) as caught:
        bind_parameters(SCHEDULE, settings)
    found = caught.value.diagnostics[0]
    assert found.code == code and found.span is not None
    if said is not None:
        assert found.message == said


def test_legal_values_are_listed() -> None:
    with pytest.raises(WeftError) as caught:
        bind_parameters(SCHEDULE, {"must": 1, "bm": "96"})
    assert caught.value.diagnostics[0].hint == "write one of `64`, `128`"


def test_a_schedule_that_wants_handles_is_not_run_by_itself() -> None:
    with pytest.raises(WeftError) as caught:
        bind(SCHEDULE, {"must": 1})
    assert caught.value.diagnostics[0].code == "W0230"


def test_a_default_that_an_earlier_setting_breaks_says_so() -> None:
    with pytest.raises(WeftError) as caught:
        bind_parameters(parse_text("schedule s(a: int, b: int = a / 2) {}", "t").main, {"a": "3"})
    assert caught.value.diagnostics[0].code == "W0234"
