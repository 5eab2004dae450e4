"""`CONTRIBUTING.md` and `CHANGELOG.md`: the files, commands and codes that they name exist, and the commands of `weft` run."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import pytest

from weft import cli
from weft.explain import page_of

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text()
CHANGES = (ROOT / "CHANGELOG.md").read_text()
SHELL = "\n".join(re.findall(r"^```sh\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL))
PLACEHOLDERS = ("NAME", "FOLDER", "W0999")


@pytest.mark.parametrize("line", re.findall(r"^weft (.*?)(?: {2,}#.*)?$", SHELL, re.MULTILINE))
def test_a_command_runs(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(shlex.split(line)) == 0, capsys.readouterr().err


def test_the_files_that_are_named_exist() -> None:
    named = re.findall(r"`((?:weft|tests|docs|interpreter)/[\w./]+)`|\]\(([\w./-]+)\)", TEXT + CHANGES)
    named += [(word, "") for word in re.findall(r"\btests/[\w./]+", SHELL)]
    assert len(named) > 20
    for written, linked in named:
        name = written or linked
        if not any(placeholder in name for placeholder in PLACEHOLDERS):
            assert (ROOT / name).exists() or (ROOT / "weft" / name).exists(), f"there is no {name}"


def test_the_targets_of_make_exist() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = re.findall(r"(?:^|`)make ([a-z]+)", f"{SHELL}\n{TEXT}", re.MULTILINE)
    assert named and set(named) <= targets


def test_versions_and_codes_are_those_that_there_are() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert re.findall(r"^## (\S+)", CHANGES, re.MULTILINE) == [version]
    assert all(page_of(code) is not None for code in re.findall(r"W0\d{3}", CHANGES))
