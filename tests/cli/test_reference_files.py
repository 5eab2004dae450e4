"""`weft run --reference Y.npz`: outputs in a file, to compare with."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import weft
from weft import cli
from weft.dsl.diagnostics import WeftError

SIZES = ("--set", "m=16", "--set", "n=16", "--set", "k=16")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.run(["run", "naive", *SIZES, "--target", "sim", "--reference", "none", "--save", "y.npz"]) == 0


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = cli.run(["run", "naive", *SIZES, "--target", "sim", *words])
    return code, capsys.readouterr().err


def test_equal_and_different_outputs(capsys: pytest.CaptureFixture[str]) -> None:
    code, said = run(capsys, "--reference", "y.npz")
    assert code == 0 and "with the outputs in `y.npz`" in said and "✓ right" in said
    code, said = run(capsys, "--reference", "y.npz", "--seed", "1")
    assert code == 1 and "C differs from the reference" in said
    settings = {"m": 16, "n": 16, "k": 16}
    assert weft.run("naive", settings=settings, target="sim", reference="y.npz").ok
    assert not weft.run("naive", settings=settings, target="sim", reference=Path("y.npz"), seed=1).ok


def test_a_bundle_takes_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["build", "naive", *SIZES, "-o", "b"]) == 0
    assert cli.run(["run", "b", "--target", "cpu", "--reference", "y.npz"]) == 0
    assert "with the outputs in `y.npz`" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--reference", "other.npz"), "W0716]: `other.npz` has no `C`, to compare with: it holds `D`"),
        (("--reference", "absent.npz"), "W0715]: absent.npz is not an .npz"),
        (("--reference", "y.npz", "--save", "y.npz"), "W0714]: --save would overwrite `y.npz`, which is --reference"),
        (("--reference", "gup"), "'gup' is not one of 'jit', 'gpu', 'none'"),
    ],
)
def test_bad_references(capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str) -> None:
    np.savez("other.npz", D=np.zeros(3))
    code, shown = run(capsys, *words)
    assert code in (1, 2) and said in shown.replace("\n", " ").replace("│", "")


def test_another_shape_is_a_difference() -> None:
    np.savez("y.npz", C=np.zeros((3, 3), np.float32))
    report = weft.run("naive", settings={"m": 16, "n": 16, "k": 16}, target="sim", reference="y.npz")
    assert not report.ok and "shape" in (report.outputs[0].reason or "")
    with pytest.raises(WeftError, match="W0715"):
        weft.run("naive", target="sim", reference="absent.npz")
