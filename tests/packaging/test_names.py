"""What is called what: the distribution, the module, what a user completes, and hints that install something."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib

import pytest
from places import ROOT

import weft

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
TEXTS = [p for folder in ("weft", "docs") for p in (ROOT / folder).rglob("*") if p.suffix in (".py", ".md")]


def test_the_distribution_is_no_one_else_s() -> None:
    assert PROJECT["name"] == "weft-gpu"
    assert PROJECT["scripts"] == {"weft": "weft.__main__:main"} and PROJECT["version"] == weft.__version__


def test_what_is_installed_by_a_hint_is_an_extra_that_exists() -> None:
    """A hint may be read anywhere, so it names the distribution and not a checkout; what is not Weft's is named itself."""
    named = [found for path in TEXTS for found in re.findall(r"""pip install '?([^\s'"`]+)""", path.read_text())]
    for name in named:
        own = re.fullmatch(r"weft-gpu\[(\w+)\]", name)
        assert name == "torch" or (own and own[1] in PROJECT["optional-dependencies"]), name
    assert {"weft-gpu[cuda12]", "weft-gpu[predict]"} <= set(named)


@pytest.mark.parametrize("first", ["", "weft.load; "])
def test_what_completes_is_the_api(first: str) -> None:
    """Before anything is loaded, and after."""
    command = [sys.executable, "-c", f"import weft; {first}print(*(n for n in dir(weft) if not n.startswith('_')))"]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    assert shown == sorted(weft.__all__)
