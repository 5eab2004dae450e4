"""`docs/house.md` says what is so: the files it names exist, and rooms import what its table allows and nothing else."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "house.md").read_text() + (ROOT / "docs" / "ir.md").read_text()
ROWS = re.findall(r"^\| `(\w+)/` \| (.+) \| (.+) \|$", PAGE, re.MULTILINE)
ROOMS = {room: (holds, allowed) for room, holds, allowed in ROWS}
LIBRARIES = {
    "torch_mlir": ("interpreter/ir/mlir.py",),
    "islpy": ("interpreter/proof/",),
    "lark": ("dsl/",),
    "cupy": ("runtime/run/cupy_device.py", "weft/cli/bench.py"),
}


def imports(path: Path) -> Iterator[str]:
    """Every module or name that a file imports, absolute: `weft.dsl.diagnostics.fail`, `numpy`."""
    module = path.relative_to(ROOT).with_suffix("").parts
    package = (module if module[0] == "weft" else ("weft", *module))[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            source = ".".join((*base, node.module or "")).strip(".")
            yield from (f"{source}.{alias.name}" for alias in node.names)


def may_import(room: str, target: str) -> bool:
    """Whether the table lets `room` import `target`, which is below `weft.`."""
    other = target.split(".")[1] if target.split(".")[1] in ROOMS else "weft"
    allowed = ROOMS[room][1]
    if other == room or allowed == "all":
        return True
    names = [name.strip("`") for name in allowed.split(", ")]
    return any(f"{target}.".startswith(f"weft.{name}.") for name in names)


def test_the_table_has_every_room() -> None:
    linked = {path.name for path in (ROOT / "weft").iterdir() if path.is_symlink()}
    assert set(ROOMS) == linked | {"weft"}


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_import_downward_alone(room: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)} imports {target}"
        for path in sorted((ROOT / room).rglob("*.py"))
        for target in imports(path)
        if target.startswith("weft.") and not may_import(room, target)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("library", LIBRARIES)
def test_libraries_are_imported_in_one_place(library: str) -> None:
    files = {
        str(path.relative_to(ROOT))
        for room in ROOMS
        for path in (ROOT / room).rglob("*.py")
        if any(f"{target}.".startswith(f"{library}.") for target in imports(path))
    }
    assert files, f"nothing imports {library}"
    assert all(name.startswith(LIBRARIES[library]) for name in files), files


def test_the_parts_of_a_room_exist() -> None:
    for room, (holds, _) in ROOMS.items():
        for part in re.findall(r"`([\w./]+)`", holds):
            places = [ROOT / room / part, ROOT / room / f"{part}.py"]
            assert any(place.exists() for place in places), f"{room}/ has no {part}"


def test_the_files_that_are_named_exist() -> None:
    named = re.findall(rf"`((?:{'|'.join(ROOMS)})/[\w/.]+)`", PAGE)
    assert len(named) > 10
    for name in named:
        assert (ROOT / name).exists(), f"there is no {name}"


# ---- what keeps it small ------------------------------------------------------------------------------------------------------

SOURCES = {path: path.read_text() for room in ROOMS for path in sorted((ROOT / room).glob("**/*.py"))}
TREES = {path: ast.parse(text) for path, text in SOURCES.items()}

OPS_IN_MANY_FILES = 40
"""Still too many: this number shrinks, and the next one grows."""
DOCUMENTED = 0.90


def test_a_public_name_is_one_class() -> None:
    names = Counter(
        node.name
        for tree in TREES.values()
        for node in tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    twice = sorted(name for name, count in names.items() if count > 1)
    assert not twice


def test_files_have_at_most_450_lines() -> None:
    long = {str(path.relative_to(ROOT)) for path, text in SOURCES.items() if text.count("\n") > 450}
    assert not long


def test_folders_have_at_most_15_files() -> None:
    files = Counter(str(path.parent.relative_to(ROOT)) for path in SOURCES if path.name != "__init__.py")
    large = {folder for folder, count in files.items() if count > 15 and not folder.endswith("statements")}
    assert not large


def test_what_is_public_says_what_it_is() -> None:
    public = [
        node
        for tree in TREES.values()
        for node in tree.body
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_")
    ]
    said = sum(ast.get_docstring(node) is not None for node in public)
    assert said >= DOCUMENTED * len(public), f"{said} of {len(public)}"


def test_facts_of_an_op_stand_in_few_places() -> None:
    """The name of an upstream op, as a text of its own, in at most four files."""
    files: dict[str, set[Path]] = defaultdict(set)
    for path, text in SOURCES.items():
        for name in re.findall(r'"((?:memref|affine|bufferization|linalg|tensor|gpu)\.[a-z_]+)"', text):
            files[name].add(path)
    many = sorted(name for name, where in files.items() if len(where) > 4)
    assert len(many) <= OPS_IN_MANY_FILES, many


def test_no_module_imports_itself_by_way_of_others() -> None:
    """Imports that are made when a module is imported."""
    needs = {name: set(_needed(path)) - {name} for name, path in MODULES.items()}
    while True:
        wanted = {need for needed in needs.values() for need in needed}
        kept = {n: needed & needs.keys() for n, needed in needs.items() if n in wanted and needed & needs.keys()}
        if kept == needs:
            break
        needs = kept
    assert not needs, sorted(needs)


def _module(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts if parts[0] == "weft" else ("weft", *parts)).removesuffix(".__init__")


MODULES = {_module(path): path for path in SOURCES}


def _needed(path: Path) -> Iterator[str]:
    for target in _imported_at_once(path):
        name = target if target in MODULES else target.rpartition(".")[0]
        if name in MODULES:
            yield name


def _imported_at_once(path: Path) -> Iterator[str]:
    package = path.parent.relative_to(ROOT).parts
    package = package if package and package[0] == "weft" else ("weft", *package)
    for node in TREES[path].body:
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            source = ".".join((*base, node.module or "")).strip(".")
            yield from (f"{source}.{alias.name}" for alias in node.names)
