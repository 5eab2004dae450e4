"""Options and fixtures of all tests."""

from __future__ import annotations

import gc
import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))

import places  # noqa: F401 - with it, tests find the helpers of all folders

for name in (
    "NO_COLOR", "FORCE_COLOR", "COLORTERM", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "LINES", "TTY_COMPATIBLE", "TTY_INTERACTIVE",
    "PYTHONUNBUFFERED", "WEFT_CACHE_DIR", "WEFT_SIM_SECONDS",
):  # fmt: skip
    os.environ.pop(name, None)  # a test sets what it is about; what the caller likes changes none

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a shell's background: some tests interrupt themselves, and would hang
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile(  # the same examples each time, and none too slow; `make soak` looks for new ones
    "weft", derandomize="WEFT_SOAK" not in os.environ, database=None, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("weft")


def pytest_collection_finish() -> None:
    gc.freeze()  # thousands of tests and all that they have imported stay: the collector need not look at them each time
    gc.set_threshold(10_000, 20, 20)  # what a test makes is mostly gone when it ends


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="write goldens and snapshots anew")


@pytest.fixture
def update(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update"))
