"""The wheel holds what an installed copy needs (rooms, grammar, recipes, pages of diagnostics), and nothing generic at its top."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

from places import ROOT

LINKED = ("dsl", "grammar", "interpreter", "recipes", "runtime")
"""Links at the top of the repository, which nothing that is built or installed needs."""
WANTED = {
    str(path.relative_to(ROOT))
    for path in (ROOT / "weft").rglob("*")
    if path.suffix in (".py", ".weft", ".lark", ".md") or path.name == "py.typed"
}


def copied(folder: Path) -> Path:
    """A copy of the tree, without links: a build writes beside its sources."""
    shutil.copytree(ROOT / "weft", folder / "weft", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder / name)
    return folder


def wheel(tree: Path, into: Path) -> zipfile.ZipFile:
    """The wheel of a tree, or of an archive of the sources."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-index", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "-w", str(into), str(tree)], check=True, capture_output=True, text=True)
    return zipfile.ZipFile(next(into.glob("weft_gpu-*.whl")))


def expect_whole(built: zipfile.ZipFile) -> None:
    """The wheel has every file, and nothing else at its top."""
    names = set(built.namelist())
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"weft"}
    assert WANTED - names == set()
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert not any("__pycache__" in name for name in names)


def test_the_wheel_is_whole(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    built = wheel(copied(tmp_path / "tree"), tmp_path)
    expect_whole(built)
    built.extractall(tmp_path / "installed")
    expect_tables(tmp_path / "installed")


def test_an_archive_of_the_sources_makes_the_same_wheel(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    make = "from setuptools import build_meta; print(build_meta.build_sdist('..'))"
    subprocess.run([sys.executable, "-c", make], cwd=copied(tmp_path / "tree"), check=True, capture_output=True)
    archive = next(tmp_path.glob("weft_gpu-*.tar.gz"))
    with tarfile.open(archive) as packed:
        members = packed.getmembers()
    assert not any(member.issym() or member.islnk() for member in members)
    assert WANTED - {member.name.partition("/")[2] for member in members} == set()
    expect_whole(wheel(archive, tmp_path))


def test_a_checkout_without_links_works(tmp_path: Path) -> None:
    """Where a system has no links, git writes files in their place that name what they would lead to."""
    assert all(os.readlink(ROOT / room) == f"weft/{room}" for room in LINKED if (ROOT / room).is_symlink())
    for room in LINKED:
        (tmp_path / room).write_text(f"weft/{room}")
    copied(tmp_path)
    given = {"cwd": tmp_path, "capture_output": True, "text": True, "check": False}
    shown = subprocess.run([sys.executable, "-m", "weft", "check", "shared"], **given)
    assert shown.returncode == 0, shown.stderr
    where = subprocess.run([sys.executable, "-c", "import weft.interpreter.ir as ir; print(ir.__file__)"], **given)
    assert Path(where.stdout.strip()) == tmp_path / "weft" / "interpreter" / "ir" / "__init__.py"
    (tmp_path / "built").mkdir()
    expect_whole(wheel(tmp_path, tmp_path / "built"))


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
