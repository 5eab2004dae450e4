"""The way of one module through `launch_loop`, as a reader goes it: files entered, and returns to files that were left before.

    python benchmarks/walk.py [--tree TREE] [--files] [SCHEDULE [NAME=VALUE …]]

The reader follows each function once, where it is called first, in the order of the run
(`sys.setprofile`): so a way is a list of stays in files. `files` are the files in it, `returns` all
stays in a file that was there before. What is done when a file is imported does not count. The launch
is the first one that the schedule makes, by `insert-barriers` or `launch`. `TREE` is another checkout
of Weft, of any age.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

from session import HERE, packages

USUAL = ("naive", "shared", "hopper")


class Walk:
    """Frames of Weft's own functions while `launch_loop` runs, the first time.

    Args:
        stays: the file of each stay.
        functions: where those that were followed begin: file and line.
    """

    def __init__(self) -> None:
        self.stays: list[str] = []
        self.functions: set[tuple[str, int]] = set()
        self._inside: list[str] = []
        self._over = False

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if self._over or event not in ("call", "return") or not (self._inside or code.co_name == "launch_loop"):
            return
        if "weft" not in code.co_filename or "site-packages" in code.co_filename or code.co_name == "<module>":
            return
        if event == "return":
            self._inside.pop()
            self._over = not self._inside
            if not self._over:
                self._stay(self._inside[-1])
            return
        here = (code.co_filename, code.co_firstlineno)
        # of a function that was read before, nothing is: what it calls belongs to where the reader is
        followed = here not in self.functions
        self.functions.add(here)
        self._inside.append(here[0] if followed else self._inside[-1])
        self._stay(self._inside[-1])

    def _stay(self, file: str) -> None:
        if not self.stays or self.stays[-1] != file:
            self.stays.append(file)


def walk(name: str, settings: dict[str, str]) -> Walk:
    """The way of a schedule's first launch, in the `weft` that is found."""
    from weft import pipeline

    recipe = pipeline.Choice(name, None, settings).open()
    found = Walk()
    sys.setprofile(found)
    try:
        pipeline.applied(recipe)
    finally:
        sys.setprofile(None)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=Path, default=HERE)
    parser.add_argument("--files", action="store_true", help="list them, with the number of stays in each")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("schedule", nargs="?")
    parser.add_argument("settings", nargs="*", metavar="NAME=VALUE")
    given = parser.parse_args()
    if given.child:
        found = walk(given.schedule, dict(each.split("=", 1) for each in given.settings))
        files = Counter(Path(file).resolve().as_posix().rpartition("/weft/")[2] for file in found.stays)
        counts = f"{len(files)} files, {len(found.functions)} functions, {len(found.stays) - len(files)} returns"
        print(f"{' '.join([given.schedule, *given.settings])}: {counts}")
        for file, stays in sorted(files.items()) if given.files else ():
            print(f"{stays:5}  {file}")
        return
    with tempfile.TemporaryDirectory() as folder:
        path = packages(given.tree.resolve(), Path(folder))
        for name in (given.schedule,) if given.schedule else USUAL:
            command = [sys.executable, __file__, "--child", *["--files"] * given.files, name, *given.settings]
            subprocess.run(command, env={**os.environ, "PYTHONPATH": str(path)}, check=True)


if __name__ == "__main__":
    main()
