"""A pytest plugin that collects the goldens of schedules, enabled by one line of configuration:

    [tool.pytest.ini_options]
    weft_goldens = true

Each golden below the collected folders becomes a test, `gemm.ragged.golden.mlir::module`; `pytest
--weft-update` rewrites those that differ. No other part of Weft is imported before a golden is
found, and MLIR only when one is compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .goldens.judging import GoldenChange, Maker

_ENDINGS = (".golden.mlir", ".golden.cu", ".check")
"""A copy of `goldens.golden.SUFFIXES`, which is not imported: pytest calls the plugin for every
file."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini("weft_goldens", "collect the goldens beside .weft schedules", type="bool", default=False)
    group = parser.getgroup("weft", "goldens of Weft schedules")
    group.addoption("--weft-update", action="store_true", help="write goldens of schedules anew where they differ")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if not file_path.name.endswith(_ENDINGS) or not parent.config.getini("weft_goldens"):
        return None
    from .goldens.golden import is_golden

    return GoldenFile.from_parent(parent, path=file_path) if is_golden(file_path) else None


class GoldenFile(pytest.File):
    """A golden as a collector with one test, named after its contents."""

    def collect(self) -> Iterator[pytest.Item]:
        from .dsl.diagnostics import WeftError
        from .goldens.golden import read_golden

        try:
            name = read_golden(self.path).title
        except WeftError:  # the test reports the error
            name = "golden"
        yield GoldenItem.from_parent(self, name=name)


class GoldenItem(pytest.Item):
    def runtest(self) -> None:
        from .goldens.golden import read_golden
        from .goldens.judging import compare, update

        path, folder = self.path, self.config.invocation_params.dir
        if path.is_relative_to(folder) and Path.cwd() == folder:
            path = path.relative_to(folder)  # as the user writes it
        golden, maker = read_golden(path), _maker(self.config)
        if self.config.getoption("--weft-update") and golden.kind != "checks":
            if (change := update(golden, maker)) is not None:
                self.add_report_section("call", "weft", f"{path}: written, {'new' if change.new else change.summary}")
            return
        if (change := compare(golden, maker)) is not None:
            raise Differs(change)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The diff or the diagnostics in place of a traceback, which would only show Weft's own
        code."""
        from .dsl.diagnostics import WeftError
        from .output.console import rendered

        error, color = excinfo.value, bool(getattr(self.config.get_terminal_writer(), "hasmarkup", False))
        if isinstance(error, Differs):
            folded = self.config.get_verbosity() < 2
            hint = "if the change is meant: `pytest --weft-update`"
            return "\n".join([error.change.message, *error.change.shown(color, folded, more="-vv"), hint])
        if isinstance(error, WeftError):
            return rendered(error.diagnostics, color)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, f"{self.path.name}: {self.name}"


class Differs(Exception):
    """A golden differs from the current output of its schedule."""

    def __init__(self, change: GoldenChange) -> None:
        super().__init__(change.message)
        self.change = change


_MAKER = pytest.StashKey["Maker"]()


def _maker(config: pytest.Config) -> Maker:
    """The maker for the whole run: goldens of one schedule follow each other and share it."""
    from .goldens.judging import Maker

    if _MAKER not in config.stash:
        config.stash[_MAKER] = Maker()
    return config.stash[_MAKER]
