"""Every example of the README runs: its files are written, its command lines run in order, its Python is executed.

A code block that follows a line `` `name`: `` is that file. Only `pip` and `make` lines are left to people.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from executors import alone
from places import ROOT

from weft import cli
from weft.dsl.parser import parse_text
from weft.pipeline import resolve_schedule

README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"(?:`([\w.]+)`:\n\n)?```(\w+)\n(.*?)```", README, re.DOTALL)


def test_the_command_lines_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    ran = 0
    for name, language, text in BLOCKS:
        if name:
            Path(name).write_text(text)
        elif language == "sh":
            for line in text.splitlines():
                words = shlex.split(line, comments=True)
                if words and words[0] == "weft":
                    if words[1:] == ["run", "shared"]:  # as it stands it takes a GPU or seconds
                        words += ["--target", "sim", "--set", "m=48", "--set", "n=40", "--set", "k=24"]
                    capsys.readouterr()
                    code = cli.run(words[1:])
                    assert code == 0, f"README.md: `{line}` fails; correct the example{alone()}\n{capsys.readouterr().err}"
                    ran += 1
                else:
                    assert not words or words[0] in ("pip", "make"), line
    assert ran >= 12


def test_the_python_runs(capsys: pytest.CaptureFixture[str]) -> None:
    for code in [text for _, language, text in BLOCKS if language == "python"]:
        exec(compile(code, "README.md", "exec"), {})
    assert "gpu.launch_func" in capsys.readouterr().out


def test_the_sample_is_the_recipe_that_ships() -> None:
    sample = next(text for name, language, text in BLOCKS if language == "weft" and not name)
    shipped = resolve_schedule("shared").read_text()

    def words(text: str) -> list[str]:
        return re.sub(r"//[^\n]*", "", text).split()

    assert words(sample) == words(shipped)
    assert parse_text(sample, "README.md").main.name == "shared"


def test_what_it_says_of_speed() -> None:
    """As the kept measurement has it."""
    from evidence_tables import by_default, fastest, mean_speed, of, recorded, share

    def reached(kind: str, size: int) -> str:
        """By the defaults, and in parentheses by the best."""
        one = recorded()[f"products: {kind} {size}x{size}x{size}"]
        plain = by_default(one)
        assert plain is not None
        return f"{share(one, 'library', plain[1])} ({share(one, 'library', fastest(one)[1])})"

    softmax = share(recorded()["recipes: softmax m=8192 n=8192"], "triton")
    plain, best = (mean_speed(of("half convolutions"), "cudnn", chosen) for chosen in (by_default, fastest))
    assert plain is not None and best is not None and plain[1] == best[1] == 23
    text = " ".join(README.split())
    assert f"bf16 at 8192³ reach {reached('bf16', 8192)} of cuBLAS's speed, at 1024³ {reached('bf16', 1024)};" in text
    assert f"products of f32 at 8192³ {reached('f32', 8192)};" in text
    assert f"f16 reach {plain[0]:.2f} ({best[0]:.2f}) times cuDNN's" in text
    assert f"8192 × 8192 reaches {softmax} of Triton's." in text
