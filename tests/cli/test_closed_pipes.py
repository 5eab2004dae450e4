"""A reader that has seen enough changes nothing: the command goes on, and its exit code is its own."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from places import GOLDENS

SMALL = ("--set", "m=8", "--set", "n=8", "--set", "k=8")
NAIVE = str(GOLDENS / "matmul" / "naive.golden.cu")


@pytest.mark.parametrize(
    ("arguments", "closed", "code"),
    [
        (("golden", NAIVE), "both", 0),
        (("golden", NAIVE), "stderr", 0),
        (("check", "naive"), "both", 0),
        (("check", "nothing-of-this-name"), "both", 1),
        (("run", "naive", *SMALL, "--target", "sim"), "stderr", 0),
        (("run", "naive", *SMALL, "--target", "sim", "--json"), "stdout", 0),
        (("show-map", "naive"), "both", 0),
        (("explain",), "stdout", 0),
        (("statements", "nothing-of-this-name"), "stderr", 1),
        (("--help",), "both", 0),
        (("golden", "--no-such-option"), "both", 2),
    ],
)
def test_the_exit_code_is_that_of_the_work(arguments: tuple[str, ...], closed: str, code: int) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "weft", *arguments],
            stdout=subprocess.PIPE if closed == "stderr" else writing,
            stderr=subprocess.PIPE if closed == "stdout" else writing,
            timeout=120,
        )  # fmt: skip
    finally:
        os.close(writing)
    told = (done.stdout or b"") + (done.stderr or b"")
    assert done.returncode == code and b"Traceback" not in told and b"BrokenPipe" not in told
