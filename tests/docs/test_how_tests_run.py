"""The suite itself: which cases run, what a mismatch says, and which command a changed golden names."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from doc_examples import Command, differs
from executors import expect_computed, expect_equal
from kernel_text import model, read, write
from pinned import pinned
from proven import expect_no_assumption, expect_no_conflict, expect_proven, expect_refuted, refusal
from room_tests import fitting, urgency
from thinning import costs, covering, dearest_first, spread, thinned

from weft.interpreter.proof.races.proof import Findings
from weft.runtime.plan.signature import Argument, FunctionSignature
from weft.runtime.simulator.device import SimDevice

RACY = write("S", "%ty", "%tx") + "\n" + read("S", "%tx", "%ty")


class Case(SimpleNamespace):
    """What `thinning` asks of a test's case."""

    __hash__ = object.__hash__


def case(test: str, *marks: pytest.MarkDecorator, **params: object) -> Any:
    found = {one.mark.name: one.mark for one in marks}
    return Case(nodeid=f"{test}[{params}]", callspec=SimpleNamespace(params=params), get_closest_marker=found.get)


def test_few_are_spread() -> None:
    assert [spread(range(10), n) for n in (1, 2, 4, 10, 99)] == [[0], [0, 9], [0, 3, 6, 9], [*range(10)], [*range(10)]]


def test_few_without_a_number_hold_each_value() -> None:
    cases = [case("t", kind=kind, size=size) for kind in "abc" for size in (1, 2)]
    chosen = covering(cases)
    assert {c.callspec.params["kind"] for c in chosen} == set("abc") and {c.callspec.params["size"] for c in chosen} == {1, 2}
    assert len(chosen) == 3


def test_what_is_left_to_the_soak() -> None:
    few, every, soak = (
        [case(test, *marks, n=n) for n in range(4)]
        for test, marks in (("few", [pytest.mark.few(2)]), ("every", []), ("soak", [pytest.mark.soak]))
    )
    assert thinned([*few, *every, *soak]) == {*few[1:3], *soak}


def test_the_dearest_files_come_first(tmp_path: Path) -> None:
    (tmp_path / "costs.txt").write_text("0.5\ttests/a.py\n20.0\ttests/b.py\n")
    known = costs(tmp_path / "costs.txt")
    items = [Case(nodeid=f"tests/{name}") for name in ("a.py::x", "a.py::a", "b.py::x", "new.py::x", "b.py::a")]
    ordered = [item.nodeid.removeprefix("tests/") for item in dearest_first(items, known)]
    assert ordered == ["b.py::x", "b.py::a", "new.py::x", "a.py::x", "a.py::a"]


def test_a_room_runs_what_fits() -> None:
    """What differs, what has a name of it, what mentions it; the cheapest first, and one at least, however dear."""
    differ = {"tests/a/test_x.py", "weft/interpreter/proof/solver.py", "weft/recipes/matmul/hopper.weft", "docs/house.md"}

    def urgent(name: str, text: str = "") -> int:
        return urgency(f"tests/{name}", text, differ)

    assert [urgent(f"{name}.py") for name in ("a/test_x", "b/test_solver", "b/test_hopper", "b/test_house")] == [0, 1, 1, 3]
    proof = "from weft.interpreter.proof"
    mentions = f"{proof}.solver import S", f"  {proof} import x, solver", 'made("hopper")'
    assert [urgent("test_y.py", text) for text in mentions] == [2, 2, 2]
    assert urgent("test_y.py", f"{proof}.solvers import S\nhopper") == 3
    files, known = {"dear": 0, "new": 3, "cheap": 3, "mentions": 2}, {"dear": 40.0, "cheap": 1.0, "mentions": 5.0}
    assert fitting(files, known, 50.0) == ["dear", "mentions", "cheap", "new"]
    assert fitting(files, known, 45.0) == ["dear", "mentions"] and fitting(files, known, 1.0) == ["dear"]
    assert fitting(files, known, 44.0) == ["dear", "cheap", "new"]


def test_a_mismatch_says_who_where_got_and_expected() -> None:
    wanted = np.arange(12.0).reshape(3, 4)
    got = wanted.copy()
    got[1, 2] += 0.5
    expect_equal(SimDevice(), "C", wanted.copy(), wanted)
    expect_equal(SimDevice(), "C", got, wanted, allowed=0.1)
    with pytest.raises(AssertionError) as failed:
        expect_equal(SimDevice(check=False), "C", got, wanted)
    first, second, third = str(failed.value).split("\n")[:3]
    assert first == "the simulator, unchecked: `C`[1, 2]: got 6.5, expected 6.0; 1 of 12 elements are wrong"
    assert second.startswith("if the other executors") and "mend `weft/runtime/simulator/`" in second
    assert third.startswith("this case alone: pytest 'tests/docs/test_how_tests_run.py::test_a_mismatch")
    signature = FunctionSignature("main", (), (Argument("C", "f32", (3, 4), "output"),))
    with pytest.raises(AssertionError, match=r"the text by g\+\+: `C`\[1, 2\]: got 6.5, expected 6.0; error"):
        expect_computed("the text by g++", {"C": got.astype(np.float32)}, signature, {"C": wanted.astype(np.float32)})


def test_what_to_do_about_a_proof() -> None:
    racy, clean = Findings(model(RACY)), Findings(model(write("S", "%ty", "%tx")))
    expect_proven(clean)
    expect_refuted(racy)
    expect_no_conflict(clean.conflicts)
    advice = r"(?s:.)*if the simulator reports (?s:.)*this case alone: pytest 'tests/docs/test_how_tests_run.py::test_what_to_do"
    with pytest.raises(AssertionError, match=r"not proven race-free:\nerror.W0601(?s:.)*explain W0601"):
        expect_proven(racy)
    with pytest.raises(AssertionError, match=f"RAW on `arg1`: element arg1{advice}"):
        expect_no_conflict(racy.conflicts)
    with pytest.raises(AssertionError, match=f"no objection{advice}"):
        expect_refuted(clean)
    with pytest.raises(AssertionError, match=r"combination assumed: x\n(?s:.)*weft explain W0082"):
        expect_no_assumption(["combination assumed: x"])
    assert re.match(r"W0601 refuses(?s:.)*`weft explain W0601`(?s:.)*git grep(?s:.)*this case alone", refusal(racy.diagnostics()))


def test_what_to_do_about_an_example_of_a_page() -> None:
    said = differs(Command("x.md:3", "weft golden", "a\nb\n"), "a\nc\n")
    assert said.startswith("x.md:3: `weft golden` prints") and "\n-b\n+c\nif the change is meant, write it into the page" in said


def test_a_golden_that_changed_names_the_command(tmp_path: Path) -> None:
    path = tmp_path / "x.cu"
    with pytest.raises(AssertionError, match=r"x.cu is missing: `pytest --update \S+test_how_tests_run.py::test_a_golden"):
        pinned(path, "a\nb\n", False)
    pinned(path, "a\nb\n", True)
    pinned(path, "a\nb\n", False)
    with pytest.raises(AssertionError, match=r"if the change is meant: `pytest --update (?s:.)*\n-b\n\+c"):
        pinned(path, "a\nc\n", False)
