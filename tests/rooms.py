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
from functools import cache
from pathlib import Path
from typing import Literal

TREE = Path(__file__).parents[1]
REGISTRY = ("interpreter/session/statement.py", "interpreter/statements/__init__.py")
"""The one import upward: the registry finds the statements, which are made of it."""

LINKED = ("dsl", "grammar", "interpreter", "runtime", "recipes")
"""Rooms to which there is a link at the top: they are called without `weft/`."""

When = Literal["at once", "late", "for types"]


@dataclass(frozen=True)
class Arrow:
    """An import: both files' names in the house, the name that is taken (empty where it is the file), when, and in which line."""

    source: str
    target: str
    name: str
    when: When
    line: int


def files_of(tree: Path = TREE) -> dict[str, Path]:
    """All files of Weft by their names in the house: `interpreter/ir/mlir.py`, `weft/api.py`."""
    names = {path.relative_to(tree / "weft").as_posix(): path for path in sorted((tree / "weft").rglob("*.py"))}
    return {name if name.partition("/")[0] in LINKED else f"weft/{name}": path for name, path in names.items()}


def module_of(name: str) -> str:
    """`weft.interpreter.ir.mlir` for `interpreter/ir/mlir.py`."""
    module = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return module if module.partition(".")[0] == "weft" else f"weft.{module}"


@dataclass(frozen=True)
class Import:
    """A name that is imported: `module` (absolute) and what is taken of it, empty where it is all; when, and in which line."""

    module: str
    name: str
    when: When
    line: int

    @property
    def whole(self) -> str:
        """`weft.dsl.diagnostics.fail`, which may be a module itself."""
        return f"{self.module}.{self.name}" if self.name else self.module


def imports(name: str, tree: ast.Module) -> Iterator[Import]:
    """What a file imports. `name`: in the house."""
    package = module_of(name).split(".")
    package = package if name.endswith("__init__.py") else package[:-1]
    for node, when in _imports(tree, "at once"):
        if isinstance(node, ast.Import):
            yield from (Import(alias.name, "", when, node.lineno) for alias in node.names)
        else:
            base = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*base, *([node.module] if node.module else [])])
            yield from (Import(source, alias.name, when, node.lineno) for alias in node.names)


def _imports(node: ast.AST, when: When) -> Iterator[tuple[ast.Import | ast.ImportFrom, When]]:
    for field, value in ast.iter_fields(node):
        inside: When = when
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and when == "at once":
            inside = "late"
        if isinstance(node, ast.If) and field == "body" and "TYPE_CHECKING" in ast.unparse(node.test):
            inside = "for types"
        for child in value if isinstance(value, list) else ():  # statements are in lists, and not in expressions
            if isinstance(child, ast.Import | ast.ImportFrom):
                yield child, inside
            elif isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
                yield from _imports(child, inside)


def arrows(tree: Path = TREE) -> Iterator[Arrow]:
    """Every import of one of these files by another one."""
    files = files_of(tree)
    modules = {module_of(name): name for name in files}
    for at, path in files.items():
        for found in imports(at, tree_of(path)):
            module = modules.get(found.whole)
            of, name = (module, "") if module is not None else (modules.get(found.module, at), found.name)
            if of != at:
                yield Arrow(at, of, name, found.when, found.line)


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


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
