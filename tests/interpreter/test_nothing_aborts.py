"""Statements on payloads that nobody thought of: each is done or refused by a diagnostic; none raises anything else, and none ends
the process, as upstream does where it is asked for what it takes for granted.

20 payloads in a test run, 400 in a soak, 24 statements on each, in a process of their own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

WORKER = Path(__file__).parent / "random_statements.py"
EACH = 10


@pytest.mark.parametrize("first", range(0, 400 if "WEFT_SOAK" in os.environ else 20, EACH))
def test_random_statements(first: int) -> None:
    command = [sys.executable, str(WORKER), str(first), str(first + EACH)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    last = done.stdout[done.stdout.rfind("---- seed") :]
    assert done.returncode == 0 and done.stdout.endswith("---- all done\n"), f"{done.returncode}\n{last}\n{done.stderr[-3000:]}"


TWICE = """
from weft.interpreter.ir import mlir
context = mlir.context()
for _ in range(20):
    module = mlir.parse("func.func @f(%a: i32, %b: i32) -> i32 {\\n%r = math.ipowi %a, %b : i32\\nreturn %r : i32\\n}", context)
    mlir.run_passes(module, "convert-math-to-funcs")
    del module
"""


def test_a_pass_that_keeps_ops_of_one_module_does_not_meet_another() -> None:
    done = subprocess.run([sys.executable, "-c", TWICE], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
