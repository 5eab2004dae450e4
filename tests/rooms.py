"""Which file imports which, and so which room: imports at once, late ones (in functions) and those for types alone.

    python tests/rooms.py [TREE]      counts; every import upward; circles of rooms and of files

Rooms and their order are read from `docs/house.md`: a row each, from the bottom up.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

TREE = Path(__file__).parents[1]
REGISTRY = ("interpreter/session/statement.py", "interpreter/statements/__init__.py")
"""The one import upward: the registry finds the statements, which are made of it."""


@dataclass(frozen=True)
class Arrow:
    """An import: both files' paths, the name that is taken (empty where it is the file), when, and in which line."""

    source: str
    target: str
    name: str
    when: Literal["at once", "late", "for types"]
    line: int


def files_of(tree: Path = TREE) -> dict[str, Path]:
    """All files of Weft by the module's name. The rooms stand at the top; `weft/` has links to them."""
    rooms = [path.name for path in (tree / "weft").iterdir() if path.is_symlink()]
    paths = [path for room in ("weft", *rooms) for path in sorted((tree / room).rglob("*.py"))]
    found = {}
    for path in paths:
        parts = path.relative_to(tree).with_suffix("").parts
        if parts[0] == "weft" and parts[1] in rooms:
            continue
        found[".".join(parts if parts[0] == "weft" else ("weft", *parts)).removesuffix(".__init__")] = path
    return found


def arrows(tree: Path = TREE) -> Iterator[Arrow]:
    """Every import of one of these files by another one."""
    files = files_of(tree)
    for module, path in files.items():
        package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
        for node, when in _imports(ast.parse(path.read_text()), "at once"):
            if isinstance(node, ast.Import):
                named = [(alias.name, "") for alias in node.names]
            else:
                base = package[: len(package) - node.level + 1] if node.level else []
                source = ".".join([*base, *([node.module] if node.module else [])])
                whole = {alias.name for alias in node.names if f"{source}.{alias.name}" in files}
                named = [(f"{source}.{n}", "") for n in sorted(whole)]
                named += [(source, alias.name) for alias in node.names if alias.name not in whole]
            for target, name in named:
                if target in files and target != module:
                    at, of = (str(files[one].relative_to(tree)) for one in (module, target))
                    yield Arrow(at, of, name, when, node.lineno)


When = Literal["at once", "late", "for types"]


def _imports(node: ast.AST, when: When) -> Iterator[tuple[ast.Import | ast.ImportFrom, When]]:
    for field, value in ast.iter_fields(node):
        inside: When = when
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) and when == "at once":
            inside = "late"
        if isinstance(node, ast.If) and field == "body" and "TYPE_CHECKING" in ast.unparse(node.test):
            inside = "for types"
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.Import | ast.ImportFrom):
                yield child, inside
            elif isinstance(child, ast.AST):
                yield from _imports(child, inside)


def rooms_of(page: str) -> list[str]:
    """The rooms that the page lists, from the bottom up: `interpreter/ir/`, or a file that is one, `weft/api.py`."""
    return re.findall(r"^\| `((?:\w+/)+(?:\w+\.py)?)` \| [^|]+ \|$", page, re.MULTILINE)


def room_of(path: str, rooms: Iterable[str]) -> str | None:
    """The room that a file is in; None where the page lists none."""
    return max((room for room in rooms if path == room or (room.endswith("/") and path.startswith(room))), key=len, default=None)


def upward(found: Iterable[Arrow], rooms: list[str]) -> list[Arrow]:
    """The imports of a room by one below it, but for the registry's."""
    level = {room: number for number, room in enumerate(rooms)}

    def of(path: str) -> int:
        room = room_of(path, rooms)
        assert room is not None, f"{path} is in no room of the page"
        return level[room]

    return [a for a in found if (a.source, a.target) != REGISTRY and of(a.target) > of(a.source)]


def circles(edges: Iterable[tuple[str, str]]) -> list[list[str]]:
    """The strongly connected components of more than one node: Tarjan's algorithm."""
    graph: dict[str, set[str]] = {}
    for one, other in edges:
        graph.setdefault(one, set()).add(other)
        graph.setdefault(other, set())
    found: list[list[str]] = []
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in graph[node]:
            if other not in index:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    sys.setrecursionlimit(10_000)
    for node in graph:
        if node not in index:
            visit(node)
    return found


def between_rooms(found: Iterable[Arrow], rooms: list[str]) -> Mapping[tuple[str, str], int]:
    """How often a room imports another one."""
    pairs = ((room_of(a.source, rooms) or a.source, room_of(a.target, rooms) or a.target) for a in found)
    return Counter((one, other) for one, other in pairs if one != other)


def main(tree: Path) -> None:
    found = list(arrows(tree))
    rooms = rooms_of((TREE / "docs" / "house.md").read_text())
    between = between_rooms((a for a in found if (a.source, a.target) != REGISTRY), rooms)
    print(f"{len(files_of(tree))} files, {len(found)} imports: {dict(Counter(a.when for a in found))}")
    for (one, other), count in sorted(between.items()):
        print(f"  {one} → {other}: {count}")
    for arrow in upward(found, rooms):
        print(f"upward, {arrow.when}: {arrow.source}:{arrow.line} imports {arrow.name or 'all'} of {arrow.target}")
    for what, edges in (("rooms", between), ("files", {(a.source, a.target) for a in found})):
        for circle in circles(edges):
            print(f"circle of {len(circle)} {what}: {', '.join(circle)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else TREE)
