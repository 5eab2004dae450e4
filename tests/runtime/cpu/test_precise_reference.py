"""A long sum in f32 is off by itself: where outputs differ from the payload's, they are compared with the payload in f64."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from weft import cli
from weft.execution import _program
from weft.pipeline import Choice, applied
from weft.runtime.run.execution import RunOptions, open_device


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, object]]:
    code = cli.run(["run", *words, "--target", "sim", "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_a_long_sum(capsys: pytest.CaptureFixture[str]) -> None:
    code, said = run(capsys, "sum", "--set", "n=131072", "--input", "X=0.1")
    assert code == 0 and said["ok"] and float(str(said["max_rel_error"])) < 1e-5
    assert str(said["reference"]).startswith("the payload in f64 (off by ")


def test_what_is_wrong_stays_wrong() -> None:
    """Outputs from which both references differ by a thousandth: the payload in its own types is told of."""
    done = applied(Choice("naive", None, {"m": "32", "n": "32", "k": "32"}).open())
    program = _program(done, None, "jit", text=False)
    asked: list[float] = []

    def off(arrays: Any, result: Any) -> Any:
        found, name = program.expected(arrays, result)
        return {n: a * np.float32(1.001) for n, a in (found or {}).items()}, name

    def precise(arrays: Any) -> Any:
        assert program.precise is not None
        made = program.precise(arrays)
        asked.append(float(max(np.abs(a).max() for a in made.values())))
        assert all(a.dtype == np.float64 for a in made.values())
        return {n: a * 1.001 for n, a in made.items()}

    report = replace(program, expected=off, precise=precise).run(RunOptions(), open_device("sim")).report
    assert report.ok is False and asked and report.reference == "the payload, compiled for the CPU"
    assert report.max_rel_error == pytest.approx(1e-3, rel=0.1)
