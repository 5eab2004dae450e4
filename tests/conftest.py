"""Options and fixtures of all tests."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from syrupy.assertion import SnapshotAssertion

sys.path.insert(0, str(Path(__file__).parent))

import places  # noqa: F401 - with it, tests find the helpers of all folders
from thinning import MARKS, SOAK, Cost, costs, dearest_first, thinned

for name in (
    "NO_COLOR", "FORCE_COLOR", "COLORTERM", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "LINES", "TTY_COMPATIBLE", "TTY_INTERACTIVE",
    "PYTHONUNBUFFERED", "WEFT_CACHE_DIR", "WEFT_SIM_SECONDS",
):  # fmt: skip
    os.environ.pop(name, None)  # a test sets what it is about; what the caller likes changes none

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):  # before NumPy is imported, in processes of tests too
    os.environ.setdefault(name, "1")  # threads that wait for each other in small products take 20 times the CPU

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a shell's background: some tests interrupt themselves, and would hang
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile(  # the same examples each time, and none too slow; `make soak` looks for new ones
    "weft", derandomize=not SOAK, max_examples=100 if SOAK else 15, database=None, deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)  # fmt: skip
settings.load_profile("weft")


def pytest_configure(config: pytest.Config) -> None:
    for mark in MARKS:
        config.addinivalue_line("markers", mark)
    config.pluginmanager.register(Cost(), "cost-of-tests")
    config.option.loadscopereorder = False  # of pytest-xdist: files with most tests first, which are not the dearest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if hasattr(config, "workerinput"):
        items[:] = dearest_first(items, costs())
    if SOAK or config.option.keyword or any("::" in argument for argument in config.args):
        return
    if left := thinned(items):
        config.hook.pytest_deselected(items=[item for item in items if item in left])
        items[:] = [item for item in items if item not in left]


@pytest.hookimpl(wrapper=True)
def pytest_assertrepr_compare(left: object, right: object) -> Generator[None, list[list[str] | None], list[list[str] | None]]:
    """What writes a snapshot anew: of the whole file, since of a part it would delete the snapshots of the other tests."""
    shown = yield
    file = os.environ.get("PYTEST_CURRENT_TEST", "").partition("::")[0]
    hint = f"if the change is meant: `pytest --snapshot-update {file}`"
    if any(isinstance(side, SnapshotAssertion) for side in (left, right)):
        return [[*lines, hint] if lines else lines for lines in shown]
    return shown


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(call: pytest.CallInfo[None]) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """What to do about a diagnostic that no test has expected."""
    report = yield
    diagnostics = getattr(call.excinfo and call.excinfo.value, "diagnostics", None)
    if report.failed and isinstance(diagnostics, tuple):
        from proven import refusal

        report.sections.append(("what to do", refusal(diagnostics)))
    return report


def pytest_collection_finish() -> None:
    gc.freeze()  # thousands of tests and all that they have imported stay: the collector need not look at them each time
    gc.set_threshold(10_000, 20, 20)  # what a test makes is mostly gone when it ends


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="write goldens and snapshots anew")


@pytest.fixture
def update(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update"))
