"""`-` is standard input for every command that reads one schedule, or one payload; the others say that they do not read it."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from weft import cli
from weft.dsl.formatter import format_text

PAYLOAD = """\
func.func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %e = tensor.empty() : tensor<16xf32>
  %r = linalg.exp ins(%x : tensor<16xf32>) outs(%e : tensor<16xf32>) -> tensor<16xf32>
  return %r : tensor<16xf32>
}
"""
SCHEDULE = """\
payload "p.mlir"

schedule s(width: int = 16) {
  let op = match linalg.exp
  map op to threads(x: width) cyclic
  launch op
}
"""
KERNEL = """\
gpu.module @m { gpu.func @k(%x: memref<8xf32>) kernel attributes {known_block_size = array<i32: 8, 1, 1>} {
  gpu.return } }
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.mlir").write_text(PAYLOAD)
    Path("s.weft").write_text(SCHEDULE)


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    def run(text: str | bytes, *arguments: str) -> tuple[int, str, str]:
        data = text.encode() if isinstance(text, str) else text
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        return (cli.run(arguments), *capsys.readouterr())

    return run


@pytest.mark.parametrize(
    "command",
    [
        ("check",), ("apply",), ("emit",), ("show-map", "--set", "width=4"), ("run", "--target", "sim"), ("build", "-o", "b"),
        ("run", "--target", "sim", "--set", "width=8"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_a_schedule_on_standard_input_is_as_one_in_a_file(given, command: tuple[str, ...]) -> None:
    name, *options = command
    code, out, err = given(SCHEDULE, name, "-", *options)
    assert code == 0, err
    if name in ("apply", "emit", "show-map"):
        assert out == given("", name, "s.weft", *options)[1]


def test_what_is_wrong_has_its_place(given) -> None:
    code, _, err = given(SCHEDULE.replace("match", "mtch"), "check", "-")
    assert code == 1 and "--> <stdin>:4:" in err and "did you mean `match`?" in err
    assert "W0005" in given(b"\xff", "check", "-")[2] and "W0003" in given("", "apply", "-")[2]


def test_a_payload_comes_on_standard_input(given) -> None:
    assert given(PAYLOAD, "run", "s.weft", "--payload", "-", "--target", "sim")[0] == 0
    code, out, err = given(KERNEL, "verify", "-")
    assert code == 0 and "@k: race-free" in out + err


def test_a_schedule_is_formatted_to_standard_output(given) -> None:
    odd = SCHEDULE.replace("  let", " let")
    assert given(odd, "fmt", "-")[:2] == (0, format_text(odd, "-"))
    assert given(odd, "fmt", "--check", "-")[0] == 1 and given(SCHEDULE, "fmt", "--check", "-")[0] == 0
    assert not Path("-").exists()


@pytest.mark.parametrize(
    "command",
    [
        ("repl", "-"),
        ("run", "-", "--payload", "-"),
        ("golden", "-"),
        ("golden", "s.weft", "-"),
        ("golden", "-", "--update"),
        ("golden", "s.weft", "--payload", "-", "--update"),
        ("repl", "--payload", "-"),
    ],
    ids=" ".join,
)
def test_where_it_is_not_read_that_is_the_answer(given, command: tuple[str, ...]) -> None:
    code, _, err = given(SCHEDULE, *command)
    assert code == 2 and "`-`, standard input, is" in " ".join(err.split())
