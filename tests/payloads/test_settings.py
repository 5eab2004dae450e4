"""`--set`: pairs, and which side each setting reaches."""

from __future__ import annotations

import pytest

from weft.dsl import tree
from weft.dsl.diagnostics import Source, Span, WeftError
from weft.dsl.parameters import read_setting
from weft.payloads.settings import distribute, parse_settings
from weft.recipes import builders

SPAN = Span(Source("t.weft", ""), 1, 1, 1, 1)


def schedule(*names: str) -> tree.Schedule:
    return tree.Schedule(SPAN, "s", tuple(tree.Parameter(SPAN, n, "int", None, None) for n in names), ())


def refusal(code: str, call: object, *args: object) -> WeftError:
    assert callable(call)
    with pytest.raises(WeftError) as caught:
        call(*args)
    assert caught.value.diagnostics[0].code == code
    return caught.value


def test_pairs() -> None:
    assert parse_settings(["bm=32", " type = f64 ", "s=a=b"]) == {"bm": "32", "type": "f64", "s": "a=b"}


@pytest.mark.parametrize("pair", ["bm", "=3", "bm=", ""])
def test_what_is_no_pair(pair: str) -> None:
    refusal("W0480", parse_settings, [pair])


def test_a_name_given_twice() -> None:
    refusal("W0481", parse_settings, ["bm=1", "bm=2"])


def test_a_setting_reaches_the_side_that_knows_it_and_both_where_both_do() -> None:
    found = distribute({"bm": "8", "m": "3", "type": "f64"}, schedule("bm", "m"), builders()["matmul"])
    assert found.schedule == {"bm": "8", "m": "3"}
    assert found.payload == {"m": 3, "type": "f64"}


def test_an_unknown_name_lists_both_sets() -> None:
    error = refusal("W0482", distribute, {"bmm": "8"}, schedule("bm"), builders()["matmul"])
    assert error.diagnostics[0].notes == (
        "parameters of schedule `s`: bm",
        "parameters of payload `matmul`: m, n, k, type, rounded",
    )
    assert error.diagnostics[0].hint == "did you mean `bm`?"


@pytest.mark.parametrize(
    "value",
    [("m", "0"), ("m", "-3"), ("m", "1.5"), ("m", "x"), ("m", "9" * 5000), ("m", "2147483648"), ("type", "f31"),
     ("m", "1_0"), ("m", "٣"), ("m", "0x8"), ("m", "1 0"), ("m", "--3"), ("m", "True")],
)
def test_bad_values_of_the_payload(value: tuple[str, str]) -> None:
    refusal("W0483", distribute, dict([value]), schedule(), builders()["matmul"])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("9" * 20, f"`m={'9' * 20}` is not a legal value: it must be at least 1 and at most 2147483647"),
        ("-" + "9" * 20, f"`m=-{'9' * 20}` is not a legal value: it must be at least 1"),
        ("9" * 5000, f"`m={'9' * 39}…` is not a legal value: it has 5000 digits, and must be at most 2147483647"),
        ("1.5", "`m=1.5` is not a legal value: it must be an integer"),
    ],
)
def test_an_integer_that_is_too_large_is_one(text: str, says: str) -> None:
    error = refusal("W0483", distribute, {"m": text}, schedule(), builders()["matmul"])
    assert error.diagnostics[0].message.startswith(says)


@pytest.mark.parametrize("text", ["9" * 19, "-" + "9" * 30])
def test_so_is_one_of_the_schedule(text: str) -> None:
    error = refusal("W0210", read_setting, schedule("bm").parameters[0], text)
    assert error.diagnostics[0].message == f"`bm` takes an integer of at most 18 digits, not `{text}`"


def test_the_way_out_is_in_the_words_of_who_asks() -> None:
    assert refusal("W0480", parse_settings, ["bm"], "set").diagnostics[0].hint == "write `set bm=32`"
    assert refusal("W0480", parse_settings, ["bm"]).diagnostics[0].hint == "write `--set bm=32`"


def test_a_text_payload_has_no_parameters() -> None:
    error = refusal("W0482", distribute, {"m": "8"}, schedule("bm"), None)
    assert "the payload has no parameters" in error.diagnostics[0].notes
