"""Where the tests of a room are: the folders of its name in `tests/`, which has the rooms of `weft/`.

    python tests/room_tests.py launch            tests/interpreter/launch
    python tests/room_tests.py proof/races       tests/interpreter/proof/races
"""

from __future__ import annotations

import sys

from places import ROOT, TESTS


def rooms() -> list[str]:
    """The folders in which tests are, or folders with tests, by their paths in `tests/`: `interpreter/launch`."""
    folders = {folder for path in TESTS.rglob("test_*.py") for folder in path.parents if TESTS in folder.parents}
    return sorted(folder.relative_to(TESTS).as_posix() for folder in folders)


def folders_of(room: str) -> list[str]:
    """The paths that a room's name ends: `launch`, `interpreter/launch` and `weft/interpreter/launch` name the same."""
    name = room.strip("/").removeprefix("tests/").removeprefix("weft/")
    return [path for path in rooms() if path == name or path.endswith(f"/{name}")]


def main(room: str) -> int:
    if found := folders_of(room):
        print(*(f"tests/{path}" for path in found))
        return 0
    last = room.strip("/").rpartition("/")[2].removesuffix(".py")
    above = sorted({path.parent.relative_to(ROOT).as_posix() for path in (ROOT / "weft").rglob("*") if path.stem == last})
    has = f"; its tests are among those of {' and '.join(above)}" if above else ""
    print(f"`{room}` has no folder in tests/{has}", f"make check ROOM=…, one of: {', '.join(rooms())}", sep="\n", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]) if len(sys.argv) == 2 else __doc__)
