"""`docs/house.md` says what is so: the files it names exist, and rooms import what its table allows and nothing else."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "house.md").read_text()
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
