"""The wheel holds what an installed copy needs: every room, the grammar, the recipes, and nothing generic at its top."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROOMS = {"grammar", "dsl", "interpreter", "runtime", "recipes", "weft"}


def wheel(folder: Path) -> zipfile.ZipFile:
    """Build the wheel from a copy of the tree: a build writes beside its sources."""
    copy = folder / "tree"
    copy.mkdir()
    for name in [*ROOMS, "pyproject.toml", "setup.py", "README.md", "LICENSE"]:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, copy / name)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-index", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "-w", str(folder), str(copy)], check=True, capture_output=True, text=True)
    return zipfile.ZipFile(next(folder.glob("weft_gpu-*.whl")))


def test_the_wheel_is_whole(tmp_path: Path) -> None:
    built = wheel(tmp_path)
    names = set(built.namelist())
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"weft"}
    wanted = {
        f"weft/{path.relative_to(ROOT)}".replace("weft/weft/", "weft/")
        for room in ROOMS
        for path in (ROOT / room).rglob("*")
        if path.suffix in (".py", ".weft", ".lark") or path.name == "py.typed"
    }
    assert wanted - names == set()
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert not any("__pycache__" in name for name in names)
    built.extractall(tmp_path / "installed")
    expect_tables(tmp_path / "installed")


CHECK = """
import lark, weft.dsl.syntax as syntax
def refuse(*given, **named): raise AssertionError("the tables are made anew")
lark.Lark.__init__ = refuse
language = syntax.language()
assert "block-cyclic" in language.spellings.values() and language.parser.parse("schedule s() {}", start="file").data == "file"
"""


def expect_tables(folder: Path) -> None:
    """Where Python writes no compiled files, an installed copy parses by the tables that it brought; by none of another grammar."""
    command = [sys.executable, "-B", "-c", CHECK]
    subprocess.run(command, check=True, cwd=folder)
    with (folder / "weft" / "grammar" / "weft.lark").open("a") as grammar:
        grammar.write("\n")
    other = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert "the tables are made anew" in other.stderr
