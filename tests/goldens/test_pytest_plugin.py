"""The pytest plugin, in a repository of its own: one line of configuration, and its goldens are tests."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from golden_samples import CHECKS, SCALE, write_samples

from weft import cli

pytest_plugins = ("pytester",)
CONFIG = "[pytest]\nweft_goldens = true\n"


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made once, and before there is a `pytester`: it forgets what was imported since, and no binding can be imported twice."""
    folder = tmp_path_factory.mktemp("samples")
    write_samples(folder)
    with contextlib.chdir(folder):
        for options in ((), ("--cuda",), ("--after", "map tiles")):
            assert cli.run(["golden", "scale.weft", "--update", *options]) == 0
    (folder / "scale.check").write_text(CHECKS)
    return folder


@pytest.fixture
def repository(samples: Path, pytester: pytest.Pytester) -> pytest.Pytester:
    shutil.copytree(samples, pytester.path, dirs_exist_ok=True)
    pytester.makeini(CONFIG)
    return pytester


def run(repository: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """In a process of its own, as a user's pytest is: what the plugin imports shows there."""
    return repository.runpytest_subprocess("-p", "weft.pytest_plugin", *arguments)


def test_one_line_collects_them(repository: pytest.Pytester) -> None:
    result = run(repository, "-v")
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines_random(["*scale.golden.mlir::module PASSED*", "*scale.check::checks of the CUDA text PASSED*",
                                        "*::module after map tiles PASSED*", "*scale.golden.cu::CUDA text PASSED*"])  # fmt: skip
    run(repository, "-k", "cuda and not check").assert_outcomes(passed=1, deselected=3)
    run(repository, "scale.golden.cu").assert_outcomes(passed=1)
    run(repository, "-n", "2").assert_outcomes(passed=4)


def test_without_the_line_nothing_is_collected(repository: pytest.Pytester) -> None:
    repository.makeini("[pytest]\n")
    assert run(repository).ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_a_failure_is_the_diff_and_no_traceback(repository: pytest.Pytester) -> None:
    (repository.path / "scale.weft").write_text(SCALE.replace("int = 8", "int = 4"))
    result = run(repository, "--color=no")
    result.assert_outcomes(failed=4)
    said = result.stdout.str()
    assert "Traceback" not in said and "judging.py" not in said and "runtest" not in said
    assert "\n-extern" in said and "\n+extern" in said and "`pytest --weft-update`" in said and "error[W0907]" in said
    result.stdout.fnmatch_lines(["FAILED scale.golden.cu::CUDA text - `scale.golden.cu` is not what*"])
    run(repository, "--weft-update").assert_outcomes(passed=3, failed=1)
    assert (repository.path / "scale.check").read_text() == CHECKS
    run(repository).assert_outcomes(passed=3, failed=1)


def test_what_is_wrong_with_a_golden_is_a_failure(repository: pytest.Pytester) -> None:
    (repository.path / "scale.golden.mlir").write_text("// weft golden scale.weft --after nothing\n")
    (repository.path / "scale.golden.cu").write_text("lost\n")
    result = run(repository)
    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines_random(["*error?W0902*", "*error?W0905*"])


def test_it_costs_nothing_until_a_golden_is_tried(repository: pytest.Pytester, tmp_path: Path) -> None:
    """Neither Weft's rooms for those who don't use it, nor MLIR while collecting."""
    light = "('weft', 'weft.source', 'weft.pytest_plugin')"
    loaded = f"import sys; print([m for m in sys.modules if m.startswith(({{}})) and m not in {light}])"
    code = "import weft.pytest_plugin; " + loaded.format("'weft', 'torch_mlir', 'lark', 'rich', 'numpy'")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    plain = subprocess.run([sys.executable, "-c", "import pytest; " + loaded.format("'lark', 'rich', 'numpy'")],
                           capture_output=True, text=True, check=True)  # fmt: skip
    assert done.stdout == plain.stdout
    repository.makeconftest(
        "import sys\ndef pytest_collection_finish():\n    assert 'torch_mlir' not in sys.modules and 'lark' not in sys.modules\n"
    )
    result = run(repository, "--collect-only", "-q")
    assert result.ret == 0 and "scale.golden.cu::CUDA text" in result.stdout.str()
