"""Which tests `make check` runs: those of a room, in the folders of its name in `tests/`, which has the rooms of `weft/`, or the
core; of either as many as half a minute is enough for.

    python tests/room_tests.py launch            tests/interpreter/launch
    python tests/room_tests.py proof/races       tests/interpreter/proof/races
    python tests/room_tests.py runtime           the files of tests/runtime that fit, and on stderr those that are left out
    python tests/room_tests.py runtime all       tests/runtime
    python tests/room_tests.py                   the core

Files that differ from the last commit come first, then those that have the name of a source that differs, those that mention such
a source, and the others; of each the cheapest first, by the costs in `tests/costs.txt`, so that as many as possible fit. With the
core, the first two run wherever they are.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from textwrap import fill

from changed import changed
from places import ROOT, TESTS
from thinning import UNKNOWN, costs

BUDGET = 45.0
"""Seconds of CPU that the files of a room take together, at most: on two cores half a minute, with the start of two workers."""


CORE = (
    "interpreter/statements/test_statements.py", "interpreter/memory", "maps", "runtime/simulator", "interpreter/proof/races",
    "interpreter/proof/kernels", "dsl", "docs/test_house.py", "docs/test_language.py", "docs/test_readme.py",
    "runtime/cuda/test_cuda_text.py", "runtime/cuda/test_cuda_module.py", "interpreter/launch/test_refusals.py",
    "interpreter/launch/test_kernels.py", "interpreter/session/test_session.py", "runtime/run/test_runner.py",
    "runtime/host/test_host.py",
)  # fmt: skip
"""Files and folders with tests of what most other rooms rest on."""


def rooms() -> list[str]:
    """The folders in which tests are, or folders with tests, by their paths in `tests/`: `interpreter/launch`."""
    folders = {folder for path in TESTS.rglob("test_*.py") for folder in path.parents if TESTS in folder.parents}
    return sorted(folder.relative_to(TESTS).as_posix() for folder in folders)


def folders_of(room: str) -> list[str]:
    """The paths that a room's name ends: `launch`, `interpreter/launch` and `weft/interpreter/launch` name the same."""
    name = room.strip("/").removeprefix("tests/").removeprefix("weft/")
    return [path for path in rooms() if path == name or path.endswith(f"/{name}")]


def urgency(name: str, text: str, differ: Collection[str]) -> int:
    """0: the file differs; 1: it has the name of a source that differs; 2: it mentions one; 3: neither."""
    sources = [Path(each) for each in differ if each.startswith("weft/")]
    if name in differ:
        return 0
    if any(Path(name).stem == f"test_{path.stem}" for path in sources):
        return 1
    return 2 if any(re.search(_mention(path), text, re.MULTILINE) for path in sources) else 3


def _mention(path: Path) -> str:
    """An expression that finds a source in the text of a test: the import of a module, the name of a recipe in quotation marks."""
    if path.suffix != ".py":
        return rf"[\"'/]{re.escape(path.stem)}\b"
    module = path.parent if path.stem == "__init__" else path.with_suffix("")
    parent, own = map(re.escape, (".".join(module.parts[:-1]), module.name))
    return rf"^\s*(?:from|import) {parent}(?:\.{own}\b| import .*\b{own}\b)"


def fitting(files: Mapping[str, int], known: Mapping[str, float], budget: float = BUDGET) -> list[str]:
    """The files that fit, one at least: the most urgent first, of these the cheapest. `files`: their urgencies, by name."""
    taken: list[str] = []
    for name in sorted(files, key=lambda name: (files[name], known.get(name, UNKNOWN), name)):
        if not taken or sum(known.get(one, UNKNOWN) for one in (*taken, name)) <= budget:
            taken.append(name)
    return taken


def _urgencies(places: Iterable[str]) -> dict[str, int]:
    """Of the files in these files and folders of `tests/`."""
    differ, within = changed(), tuple(f"tests/{place}" for place in places)
    paths = {path.relative_to(ROOT).as_posix(): path for path in sorted(TESTS.rglob("test_*.py"))}
    return {name: urgency(name, path.read_text(), differ) for name, path in paths.items() if f"{name}/".startswith(within)}


def main(room: str = "", more: str = "") -> int:
    """`room`: empty for the core. `more`: `all` for those as well that do not fit."""
    found = folders_of(room) if room else CORE
    if not found:
        last = room.strip("/").rpartition("/")[2].removesuffix(".py")
        above = sorted({path.parent.relative_to(ROOT).as_posix() for path in (ROOT / "weft").rglob("*") if path.stem == last})
        has = f"; its tests are among those of {' and '.join(above)}" if above else ""
        print(f"`{room}` has no folder in tests/{has}\nmake check ROOM=…, one of: {', '.join(rooms())}", file=sys.stderr)
        return 2
    known, files = costs(), _urgencies(f"{place}/" for place in found)
    if not room:  # a file that the core names, and not merely its folder, is one that any edit may concern
        named = {name: min(urgent, 2) for name, urgent in files.items() if name.removeprefix("tests/") in CORE}
        files |= named | {name: urgent for name, urgent in _urgencies([""]).items() if urgent < 2}
    taken = [*files] if more else fitting(files, known)
    print(*taken)
    if left := [name.removeprefix("tests/") for name in files if name not in taken]:
        seconds = sum(known.get(name, UNKNOWN) for name in files if name not in taken)
        command = f"make check{room and f' ROOM={room}'} ALL=1"
        print(f"{len(taken)} of {len(files)} files of tests. Left out, {seconds:.0f} s of CPU, which `{command}` runs as well:",
              fill(", ".join(left), 120, break_on_hyphens=False), sep="\n", file=sys.stderr)  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) < 4 else __doc__)
