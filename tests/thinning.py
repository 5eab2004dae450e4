"""What `make test` runs of tests with many cases, and what its files cost.

    @pytest.mark.few(4)     4 of its cases, evenly spread, the first and the last among them
    @pytest.mark.few()      so many that each value of each parameter is in one of them, in place of all combinations

`make soak` (WEFT_SOAK=1) runs all, and so does a call that names a test: `pytest FILE::TEST`, `pytest -k WORD`. What it is for: one
case of each class goes through all executors in each run, and the others in a soak.

    @pytest.mark.soak       no case of it: the soak alone

`WEFT_TEST_COST=tests/costs.txt make test` writes what each file of tests has cost, in seconds of CPU; a file that did not run keeps
its line. By these, workers take the dearest files first, so that none is still in a long one when nothing is left for the others;
and `make check` takes those that fit (`tests/room_tests.py`).
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

COSTS = Path(__file__).parent / "costs.txt"
UNKNOWN = 3.0
"""What a file is taken to cost that no line in `COSTS` names: about the mean."""
SOAK = "WEFT_SOAK" in os.environ
MOST = 30
"""Seconds of CPU that a file of tests takes, at most; `make test` names those that take more."""

MARKS = (
    "few(number=None): of these cases so many, or each value of each parameter once; the soak (WEFT_SOAK=1) runs all",
    "soak: in the soak (WEFT_SOAK=1) alone",
)


def thinned(items: Sequence[pytest.Item]) -> set[pytest.Item]:
    """Those that are left to the soak."""
    cases: dict[str, list[pytest.Item]] = defaultdict(list)
    left: set[pytest.Item] = set()
    for item in items:
        if item.get_closest_marker("soak"):
            left.add(item)
        elif item.get_closest_marker("few") and hasattr(item, "callspec"):
            cases[item.nodeid.partition("[")[0]].append(item)
    for all_of_one in cases.values():
        mark = all_of_one[0].get_closest_marker("few")
        assert mark is not None
        left |= set(all_of_one) - set(spread(all_of_one, *mark.args) if mark.args else covering(all_of_one))
    return left


def spread(cases: Sequence[Any], number: int) -> list[Any]:
    """So many of the cases, evenly spread: `spread(range(10), 4)` is 0, 3, 6, 9."""
    if number >= len(cases):
        return list(cases)
    return [cases[round(n * (len(cases) - 1) / (number - 1))] for n in range(number)] if number > 1 else [cases[0]]


def covering(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Few of the cases, in which each value of each parameter occurs: always the one with most values that are still missing."""
    values = {item: {(name, repr(value)) for name, value in item.callspec.params.items()} for item in items}  # type: ignore[attr-defined]
    missing = set[Any]().union(*values.values())
    chosen: list[pytest.Item] = []
    while missing:
        best = max(items, key=lambda item: len(values[item] & missing))
        chosen.append(best)
        missing -= values[best]
    return chosen


def costs(path: Path = COSTS) -> dict[str, float]:
    """Seconds of CPU by file."""
    lines = path.read_text().splitlines() if path.exists() else []
    return {name: float(seconds) for seconds, name in (line.split("\t") for line in lines)}


def dearest_first(items: Sequence[Any], known: Mapping[str, float]) -> list[Any]:
    """The tests file by file, each file's in their order."""
    files = {item: item.nodeid.partition("::")[0] for item in items}
    return sorted(items, key=lambda item: (-known.get(files[item], UNKNOWN), files[item]))


class Cost:
    """Seconds of CPU by file, of the process and of what it has waited for; workers hand theirs over.

    A process has its cost where it ends: that of the references of many files in the test that ends their worker
    (`tests/runtime/cpu/test_worker.py`).
    """

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        begun = sum(os.times()[:4])
        done = yield
        self.seconds[item.nodeid.partition("::")[0]] += sum(os.times()[:4]) - begun  # type: ignore[assignment]
        return done

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output["cost"] = dict(self.seconds)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self.seconds.update(getattr(node, "workeroutput", {}).get("cost", {}))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if hasattr(terminalreporter.config, "workerinput"):
            return  # the controller has all
        if file := os.environ.get("WEFT_TEST_COST"):
            root, known = terminalreporter.config.rootpath, costs(Path(file)) | self.seconds
            Path(file).write_text("".join(f"{known[name]:.1f}\t{name}\n" for name in sorted(known) if (root / name).exists()))
        long = [(name, seconds) for name, seconds in self.seconds.most_common() if seconds > MOST]
        if long and not SOAK:
            terminalreporter.section(f"files that take more than {MOST} s of CPU, of {self.seconds.total():.0f} s")
            for name, seconds in long:
                terminalreporter.write_line(f"{seconds:6.1f} s  {name}")
            terminalreporter.write_line("draw fewer at random, or `@pytest.mark.few(n)`: tests/thinning.py; `make soak` runs all")
