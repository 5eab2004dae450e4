"""The session's own work for the statements of a schedule: sum and the dearest ones, least of several runs, in CPU time.

    python benchmarks/session.py [--against TREE] [SCHEDULE …]

`TREE` is another checkout of Weft, of any age: its sessions and this one's take turns, a process each, on the recipes that each
ships. A file (`x.weft`) is applied by both.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

RUNS = 7
ROUNDS = 5
HERE = Path(__file__).resolve().parents[1]
Costs = list[tuple[str, float]]
"""Of each statement, its text and how many seconds it takes."""


def session(name: str) -> Costs:
    """The statements of a schedule, as the `weft` that is found applies it; what is done between and behind them is the last."""
    time.perf_counter = time.process_time  # what sessions measure their steps with
    from weft import pipeline

    open_one = (
        pipeline.Choice(name).open if hasattr(pipeline, "Choice") else lambda: vars(pipeline)["Recipe"].open(name)
    )
    recipe = open_one()
    runs: list[Costs] = []
    for _ in range(RUNS + 1):  # the first one imports
        started = time.process_time()
        steps = pipeline.applied(recipe).session.steps
        all_of_it = time.process_time() - started
        runs.append(
            [(s.text, s.seconds) for s in steps] + [("(around them)", all_of_it - sum(s.seconds for s in steps))]
        )
    return least(runs[1:])


def least(runs: Sequence[Costs]) -> Costs:
    """By statement, the least that it took."""
    return [(texts[0], min(seconds)) for texts, seconds in (zip(*row, strict=True) for row in zip(*runs, strict=True))]


def packages(tree: Path, into: Path) -> Path:
    """A folder from which `weft` is imported as the checkout has it: as a folder, or put together by its `package-dir`."""
    tools = tomllib.loads((tree / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    rooms = {name: folder for name, folder in tools.get("package-dir", {}).items() if name.startswith("weft.")}
    if not rooms or (tree / "weft" / "dsl").exists():
        return tree
    (into / "weft").mkdir()
    for item in (tree / "weft").iterdir():
        (into / "weft" / item.name).symlink_to(item)
    for name, folder in rooms.items():
        (into / name.replace(".", "/")).symlink_to(tree / folder)
    return into


def other_process(path: Path, name: str) -> Costs:
    """What a session costs in a process of its own."""
    command = [sys.executable, __file__, "--child", name]
    environment = {**os.environ, "PYTHONPATH": str(path)}
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True, timeout=600)
    return [(text, seconds) for text, seconds in json.loads(done.stdout)]


def compare(name: str, tree: Path) -> None:
    """This checkout and another one, taking turns."""
    with tempfile.TemporaryDirectory() as folder:
        paths = {"old": packages(tree, Path(folder)), "new": HERE}
        runs: dict[str, list[Costs]] = {which: [] for which in paths}
        for _ in range(ROUNDS):
            for which, path in paths.items():
                runs[which].append(other_process(path, name))
    rows: dict[str, dict[str, float]] = defaultdict(dict)
    for which, found in runs.items():
        for text, seconds in least(found):
            row = rows[text]
            row[which] = row.get(which, 0) + seconds
    for what, until in (("statements", -1), ("with what is around them", None)):
        old, new = (sum(seconds for _, seconds in least(runs[which])[:until]) for which in paths)
        print(f"{name}, {what}: {old * 1e3:.1f} ms → {new * 1e3:.1f} ms: {new / old:.2f}×")
    for text, row in sorted(rows.items(), key=lambda row: -max(row[1].values())):
        cells = (f"{row[which] * 1e3:8.1f}" if which in row else 8 * " " for which in paths)
        print(f"  {' '.join(cells)}  {text}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--against", type=Path, metavar="TREE")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("schedules", nargs="*", default=("naive", "shared", "simt", "simt_pipelined", "igemm"))
    given = parser.parse_args()
    for name in given.schedules:
        if given.child:
            print(json.dumps(session(name)))
        elif given.against is not None:
            compare(name, given.against.resolve())
        else:
            costs = session(name)
            print(f"{name}: {len(costs) - 1} statements, {sum(seconds for _, seconds in costs) * 1e3:.1f} ms")
            for text, seconds in sorted(costs, key=lambda cost: -cost[1])[:5]:
                print(f"  {seconds * 1e3:6.1f} ms  {text}")


if __name__ == "__main__":
    main()
