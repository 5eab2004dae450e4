"""`docs/house.md` says what is so: the files it names exist, and rooms import what its table allows and nothing else."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from places import ROOT
from room_tests import folders_of, rooms
from rooms import REGISTRY, Arrow, arrows, between_rooms, circles, files_of, imports, room_of, rooms_of, tree_of, upward

from weft.explain import all_codes

PAGE = (ROOT / "docs" / "house.md").read_text() + (ROOT / "docs" / "ir.md").read_text()
ROWS = re.findall(r"^\| `(\w+)/` \| (.+) \| (.+) \|$", PAGE, re.MULTILINE)
ROOMS = {room: (holds, allowed) for room, holds, allowed in ROWS}
LEVELS = rooms_of(PAGE)
FILES = files_of()
LIBRARIES = {
    "torch_mlir": ("interpreter/ir/mlir.py",),
    "islpy": ("interpreter/proof/",),
    "lark": ("dsl/",),
    "cupy": ("runtime/run/cupy_device.py", "weft/cli/commands/bench.py"),
}


@cache
def house_arrows() -> list[Arrow]:
    return list(arrows())


@cache
def trees() -> dict[str, ast.Module]:
    return {name: tree_of(path) for name, path in FILES.items()}


def may_import(room: str, target: str) -> bool:
    """Whether the table lets `room` import `target`, which is below `weft.`."""
    other = target.split(".")[1] if target.split(".")[1] in ROOMS else "weft"
    allowed = ROOMS[room][1]
    if other == room or allowed == "all":
        return True
    names = [name.strip("`") for name in allowed.split(", ")]
    return any(f"{target}.".startswith(f"weft.{name}.") for name in names)


def place(name: str) -> Path:
    """Where that is which the page calls so: the links at the top may be missing."""
    return ROOT / "weft" / name.removeprefix("weft/")


def test_the_table_has_every_room() -> None:
    assert set(ROOMS) == {"grammar", *(name.partition("/")[0] for name in FILES)}


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_import_downward_alone(room: str) -> None:
    wrong = [
        f"{name} imports {found.whole}"
        for name, tree in trees().items()
        for found in imports(name, tree)
        if name.startswith(f"{room}/") and found.whole.startswith("weft.") and not may_import(room, found.whole)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("library", LIBRARIES)
def test_libraries_are_imported_in_one_place(library: str) -> None:
    files = {
        name
        for name, tree in trees().items()
        if any(f"{found.module}.".startswith(f"{library}.") for found in imports(name, tree))
    }
    assert files, f"nothing imports {library}"
    assert all(name.startswith(LIBRARIES[library]) for name in files), files


def test_the_parts_of_a_room_exist() -> None:
    rows = [(f"{room}/", holds) for room, (holds, _) in ROOMS.items()]
    rows += re.findall(r"^\| `([\w/]+/)` \| ([^|]+) \|$", PAGE, re.MULTILINE)
    for room, holds in rows:
        for part in re.findall(r"`([\w./]+)`", holds):
            places = [place(f"{room}{part}"), place(f"{room}{part}.py")]
            assert any(place.exists() for place in places), f"{room} has no {part}"


def test_every_file_is_in_a_room_of_the_list() -> None:
    assert len(LEVELS) == len(set(LEVELS)) and all(place(room).exists() for room in LEVELS)
    of = {name: room_of(name, LEVELS) for name, path in FILES.items() if path.stat().st_size}
    assert [name for name, room in of.items() if room is None] == []
    assert set(LEVELS) - set(of.values()) == {"grammar/"}


ALL_ROOMS = ("benchmarks", "docs", "mutants", "packaging", "programs", "upstream")
"""Folders of tests that are about no one room."""


def test_tests_are_in_folders_named_like_the_rooms() -> None:
    others = [room for room in rooms() if room.partition("/")[0] not in ALL_ROOMS]
    assert [room for room in others if not (place(room).is_dir() or place(f"{room}.py").is_file())] == []
    assert {name for name in ALL_ROOMS if place(name).exists()} == set()
    assert folders_of("launch") == folders_of("weft/interpreter/launch") == ["interpreter/launch"]
    assert folders_of("proof/races") == ["interpreter/proof/races"] and folders_of("laun") == []


def test_a_room_imports_only_rooms_below_it() -> None:
    """At once, late and for types; but for the one registry."""
    found = upward(house_arrows(), LEVELS)
    assert not found, "\n".join(f"{a.source}:{a.line} imports {a.name or 'all'} of {a.target}, {a.when}" for a in found)


def test_imports_make_no_circle() -> None:
    """Of rooms (but for the registry), and of files, by imports of any kind."""
    down = [a for a in house_arrows() if (a.source, a.target) != REGISTRY]
    assert not circles(between_rooms(down, LEVELS))
    assert not circles({(a.source, a.target) for a in house_arrows()})


def test_imports_of_all_kinds_are_seen() -> None:
    """On a tree of four files: each kind of import, upward and in a circle."""
    with TemporaryDirectory() as folder:
        weft = Path(folder, "weft")
        for name, text in LITTLE.items():
            (weft / name).parent.mkdir(parents=True, exist_ok=True)
            (weft / name).write_text(text)
        found = list(arrows(Path(folder)))
    seen = {(a.source, a.target, a.name, a.when) for a in found}
    assert seen == {
        ("weft/low/a.py", "weft/high/c.py", "C", "late"),
        ("weft/low/a.py", "weft/low/b.py", "", "at once"),
        ("weft/low/b.py", "weft/high/c.py", "C", "for types"),
        ("weft/high/c.py", "weft/low/a.py", "", "at once"),
    }
    rooms = rooms_of("| room | holds |\n|---|---|\n| `weft/low/` | a, b |\n| `weft/high/` | c |\n")
    assert rooms == ["weft/low/", "weft/high/"]
    assert sorted((a.source, a.when) for a in upward(found, rooms)) == [("weft/low/a.py", "late"), ("weft/low/b.py", "for types")]
    assert circles(between_rooms(found, rooms)) == [["weft/high/", "weft/low/"]]
    assert circles((a.source, a.target) for a in found) == [["weft/high/c.py", "weft/low/a.py", "weft/low/b.py"]]


LITTLE = {
    "low/a.py": "from . import b\n\n\ndef late():\n    from ..high.c import C\n\n    return C, b\n",
    "low/b.py": "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from ..high.c import C\n",
    "high/c.py": "import weft.low.a\n\nC = weft.low.a\n",
}


def test_the_files_that_are_named_exist() -> None:
    named = re.findall(rf"`((?:{'|'.join(ROOMS)})/[\w/.]+)`", PAGE)
    assert len(named) > 10
    for name in named:
        assert place(name).exists(), f"there is no {name}"


def test_where_to_begin_is_short_and_has_what_it_names() -> None:
    """A question takes at most six files, and each of them has the names that follow it."""
    table = PAGE.partition("## Where to begin")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| ([^|`]+) \| (.+) \|$", table, re.MULTILINE)[1:]
    assert len(rows) > 5
    for question, files in rows:
        assert len(set(re.findall(r"`[\w/]+\.(?:py|lark)`", files))) <= 6, question
        for file, names in re.findall(r"`([\w/]+\.(?:py|lark))`(?: \(|: )((?:`\w+`(?:, |; )?)+)", files):
            for name in re.findall(r"`(\w+)`", names):
                made = rf"^ *(?:def {name}\(|class {name}\b|{name}(?:: [^=\n]+)? = |!{name}:)"
                assert re.search(made, place(file).read_text(), re.MULTILINE), f"{file} has no {name}"


def test_a_code_is_in_quotation_marks_where_it_is_raised() -> None:
    """So a search for it finds the place, and not what is told of it."""
    raised = {code for path in FILES.values() for code in re.findall(r'"(W\d{4})"', path.read_text())}
    assert raised == set(all_codes())


# ---- what keeps it small ------------------------------------------------------------------------------------------------------

OPS_IN_MANY_FILES = 40
"""Still too many: this number shrinks, and the next one grows."""
OPS_OF_GPUS_MADE_ELSEWHERE = 16
"""Places outside of `hardware/` that make an op of a GPU's dialect by upstream's class: may only fall."""
DOCUMENTED = 0.90


def test_a_public_name_is_one_class() -> None:
    names = Counter(
        node.name
        for tree in trees().values()
        for node in tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    twice = sorted(name for name, count in names.items() if count > 1)
    assert not twice


def test_files_have_at_most_450_lines() -> None:
    long = {name for name, path in FILES.items() if path.read_text().count("\n") > 450}
    assert not long


def test_folders_have_at_most_15_files() -> None:
    files = Counter(name.rpartition("/")[0] for name, path in FILES.items() if path.name != "__init__.py")
    large = {folder for folder, count in files.items() if count > 15 and not folder.endswith("statements")}
    assert not large


def test_what_is_public_says_what_it_is() -> None:
    public = [
        node
        for tree in trees().values()
        for node in tree.body
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_")
    ]
    said = sum(ast.get_docstring(node) is not None for node in public)
    assert said >= DOCUMENTED * len(public), f"{said} of {len(public)}"


def test_facts_of_an_op_stand_in_few_places() -> None:
    """The name of an upstream op, as a text of its own, in at most four files."""
    files: dict[str, set[Path]] = defaultdict(set)
    for path in FILES.values():
        for name in re.findall(r'"((?:memref|affine|bufferization|linalg|tensor|gpu)\.[a-z_]+)"', path.read_text()):
            files[name].add(path)
    many = sorted(name for name, where in files.items() if len(where) > 4)
    assert len(many) <= OPS_IN_MANY_FILES, many


def test_ops_of_gpus_are_named_in_hardware_alone() -> None:
    """As a text of its own; readers ask `hardware/` for names, or for sets by what the records say."""
    named, made = list[str](), list[str]()
    for name, tree in trees().items():
        for node in ast.walk(tree) if not name.startswith("interpreter/hardware/") else ():
            if isinstance(node, ast.Constant) and re.fullmatch(r"(nvgpu|nvvm|rocdl|amdgpu)\.[a-z][\w.]*", str(node.value)):
                named.append(f"{name}:{node.lineno} {node.value}")
            if isinstance(node, ast.Attribute) and re.fullmatch(r"(nvgpu|nvvm|rocdl|amdgpu)\.\w+Op", ast.unparse(node)):
                made.append(f"{name}:{node.lineno} {node.attr}")
    assert not named
    assert len(made) <= OPS_OF_GPUS_MADE_ELSEWHERE, made
