"""pytest collects the goldens of schedules, with one line of configuration:

    [tool.pytest.ini_options]
    weft_goldens = true

Each golden below what pytest looks at becomes a test, `gemm.ragged.golden.mlir::module`; `pytest --weft-update` writes
those that differ anew. Nothing else of Weft is imported before a golden is found, and no MLIR before one is tried.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .goldens.judging import GoldenChange, Maker

_ENDINGS = (".golden.mlir", ".golden.cu", ".check")
"""As `goldens.golden.SUFFIXES`, which is not imported for the sake of every file that pytest sees."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini("weft_goldens", "collect the goldens that stand beside .weft schedules", type="bool", default=False)
    group = parser.getgroup("weft", "goldens of Weft schedules")
    group.addoption("--weft-update", action="store_true", help="write goldens of schedules anew where they differ")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if not file_path.name.endswith(_ENDINGS) or not parent.config.getini("weft_goldens"):
        return None
    from .goldens.golden import is_golden

    return GoldenFile.from_parent(parent, path=file_path) if is_golden(file_path) else None


class GoldenFile(pytest.File):
    """A golden: one test, called after what it holds."""

    def collect(self) -> Iterator[pytest.Item]:
        from .dsl.diagnostics import WeftError
        from .goldens.golden import read_golden

        try:
            name = read_golden(self.path).title
        except WeftError:  # the test says what is wrong with it
            name = "golden"
        yield GoldenItem.from_parent(self, name=name)


class GoldenItem(pytest.Item):
    def runtest(self) -> None:
        from .goldens.golden import read_golden
        from .goldens.judging import compare, update

        path, folder = self.path, self.config.invocation_params.dir
        if path.is_relative_to(folder) and Path.cwd() == folder:
            path = path.relative_to(folder)  # as the user would write it
        golden, maker = read_golden(path), _maker(self.config)
        if self.config.getoption("--weft-update") and golden.kind != "checks":
            if (change := update(golden, maker)) is not None:
                self.add_report_section("call", "weft", f"{path}: written, {'new' if change.new else change.summary}")
            return
        if (change := compare(golden, maker)) is not None:
            raise Differs(change)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The diff and the diagnostics; a traceback would be one of Weft."""
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
    """A golden is not what its schedule makes now."""

    def __init__(self, change: GoldenChange) -> None:
        super().__init__(change.message)
        self.change = change


_MAKER = pytest.StashKey["Maker"]()


def _maker(config: pytest.Config) -> Maker:
    """One for the whole run: goldens of one schedule follow each other."""
    from .goldens.judging import Maker

    if _MAKER not in config.stash:
        config.stash[_MAKER] = Maker()
    return config.stash[_MAKER]
