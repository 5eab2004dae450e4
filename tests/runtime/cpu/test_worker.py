"""Workers: what dies in one takes nothing along, is told apart, and the next call works."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from places import TESTS
from runtime_programs import parse

from weft.dsl.diagnostics import WeftError, fail
from weft.runtime.cpu import worker
from weft.runtime.cpu.reference import reference
from weft.runtime.cpu.worker import Died, call, ended_by

DIV = """func.func @main(%x: memref<4xi32>, %y: memref<4xi32>) {{
  linalg.{op} ins(%x, %y : memref<4xi32>, memref<4xi32>) outs(%x : memref<4xi32>) return }}"""
REMAINDER = """func.func @main(%x: memref<4xi32>, %y: memref<4xi32>) {
  affine.for %i = 0 to 4 { %a = affine.load %x[%i] : memref<4xi32> %b = affine.load %y[%i] : memref<4xi32>
    %c = arith.remsi %a, %b : i32 affine.store %c, %x[%i] : memref<4xi32> } return }"""
DEEP = """func.func @down(%n: index) -> index {
    %c1 = arith.constant 1 : index %c0 = arith.constant 0 : index %room = memref.alloca() : memref<4096xindex>
    memref.store %n, %room[%c0] : memref<4096xindex>
    %end = arith.cmpi eq, %n, %c0 : index
    %r = scf.if %end -> index { scf.yield %c0 : index } else {
      %m = arith.subi %n, %c1 : index %d = func.call @down(%m) : (index) -> index
      %v = memref.load %room[%d] : memref<4096xindex> scf.yield %v : index }
    return %r : index }
  func.func @main(%x: memref<4xi32>, %y: memref<4xi32>) {
    %c0 = arith.constant 0 : index %v = memref.load %y[%c0] : memref<4xi32> %w = arith.index_cast %v : i32 to index
    %s = arith.constant 1000000 : index %n = arith.muli %w, %s : index %d = func.call @down(%n) : (index) -> index
    %r = arith.index_cast %d : index to i32 memref.store %r, %x[%c0] : memref<4xi32> return }"""

DEADLY = {  # payload, the second input that ends it, one that does not, what is said
    "division": (DIV.format(op="div"), 0, 1, "SIGFPE .*, compiled for the CPU"),
    "unsigned division": (DIV.format(op="div_unsigned"), 0, 1, "SIGFPE .*, compiled for the CPU"),
    "remainder": (REMAINDER, 0, 3, "SIGFPE .*, compiled for the CPU"),
    "no end of calls": (DEEP, 1, 0, "SIGSEGV .*, compiled for the CPU"),
}


@pytest.mark.parametrize("case", DEADLY)
def test_a_payload_that_ends_its_process(case: str) -> None:
    """It ends the worker's. The same payload, on other inputs, is computed right behind."""
    text, deadly, harmless, message = DEADLY[case]
    payload, x = parse(text), np.arange(6, 10, dtype=np.int32)
    with pytest.raises(WeftError, match=f"^W0803: {message}") as caught:
        reference(payload, "main", named(x, deadly))
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.notes[0].startswith("probably") and "--reference none" in (diagnostic.hint or "")
    assert reference(payload, "main", named(x, harmless))


def named(x: np.ndarray, y: int) -> dict[str, np.ndarray]:
    return {"arg0": x, "arg1": np.full(4, y, np.int32)}


# ---- by themselves ---------------------------------------------------------------------------------------------------


def pid() -> int:
    return os.getpid()


def doubled(array: np.ndarray) -> np.ndarray:
    return array * 2


def ends(number: int) -> None:
    worker.begin("the end")
    os.write(2, b"last words\n")
    os.kill(os.getpid(), number)
    time.sleep(60)


def refuses() -> None:
    raise fail("W0800", "no", notes=("a", "b"), hint="h")


def fails() -> None:
    raise KeyError("a defect")


def deep(n: int = 0) -> int:
    return deep(n + 1) + 1


def endless() -> None:
    while True:
        time.sleep(60)


def test_kept_and_used_again() -> None:
    assert call(pid) == call(pid) != os.getpid()


@pytest.mark.parametrize("count", [0, 3, 1 << 22])
def test_arrays_of_any_size(count: int) -> None:
    np.testing.assert_array_equal(call(doubled, np.arange(count)), np.arange(count) * 2)


@pytest.mark.parametrize("number", [signal.SIGFPE, signal.SIGABRT, signal.SIGKILL, signal.SIGSEGV])
def test_died(number: signal.Signals) -> None:
    before = call(pid)
    with pytest.raises(Died) as caught:
        call(ends, number)
    assert (caught.value.status, caught.value.stage, caught.value.output) == (-number, "the end", "last words\n")
    assert ended_by(-number).signal.startswith(number.name) and ended_by(-number).cause
    assert call(pid) not in (before, os.getpid())


def test_raised() -> None:
    with pytest.raises(WeftError) as caught:
        call(refuses)
    assert caught.value.diagnostics == fail("W0800", "no", notes=("a", "b"), hint="h").diagnostics
    before = call(pid)
    with pytest.raises(RecursionError):
        call(deep)
    assert call(pid) == before, "what is raised ends nothing"


def test_a_defect_shows_its_traceback() -> None:
    with pytest.raises(RuntimeError, match=r"(?s)Traceback.*fails.*a defect"):
        call(fails)


def test_one_that_dies_while_idle_is_replaced() -> None:
    os.kill(call(pid), signal.SIGKILL)
    assert call(pid)


def test_interrupted() -> None:
    """At once, and the worker does not go on."""
    before = call(pid)
    threading.Timer(0.2, os.kill, [os.getpid(), signal.SIGINT]).start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        call(endless)
    assert time.monotonic() - started < 5
    with pytest.raises(ProcessLookupError):
        os.kill(before, 0)
    assert call(pid) != before


def test_from_several_threads() -> None:
    found: list[np.ndarray] = []
    threads = [threading.Thread(target=lambda n=n: found.append(call(doubled, np.full(1000, n)))) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(int(a[0]) for a in found) == [0, 2, 4, 6] and all((a == a[0]).all() for a in found)


HOST = """
import os, sys, time
sys.path[:0] = {path!r}
from test_worker import pid, endless
from weft.runtime.cpu import worker
{setup}
child = worker.call(pid)
print(child, os.getppid(), flush=True)
{rest}
"""


def host(setup: str, rest: str) -> subprocess.Popen[str]:
    code = HOST.format(path=[str(Path(__file__).parent), str(TESTS)], setup=setup, rest=rest)
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


FORKED = "worker.fork_early()\n"


@pytest.mark.parametrize("setup", ["", FORKED], ids=["fresh", "forked"])
@pytest.mark.parametrize("rest", ["", "os.kill(os.getpid(), 9)"], ids=["end", "killed"])
def test_none_outlives_its_host(setup: str, rest: str) -> None:
    process = host(setup, rest)
    out, err = process.communicate(timeout=60)
    assert err == "", err
    gone(int(out.split()[0]))


@pytest.mark.parametrize("setup", ["", FORKED], ids=["fresh", "forked"])
def test_a_host_that_forks_has_its_own(setup: str) -> None:
    rest = "again = os.fork()\nprint(os.getpid(), worker.call(pid), flush=True)\nif again: os.waitpid(again, 0)"
    out, err = host(setup, rest).communicate(timeout=60)
    assert err == "", err
    first, *both = out.splitlines()
    workers = {line.split()[1] for line in both}
    assert len(both) == 2 and len(workers) == 2 and first.split()[0] in workers, out


def gone(number: int) -> None:
    for _ in range(100):
        try:
            os.kill(number, 0)
        except ProcessLookupError:
            return
        if Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] == "Z":  # nobody asks for it here
            return
        time.sleep(0.05)
    raise AssertionError(f"{number} still runs")
