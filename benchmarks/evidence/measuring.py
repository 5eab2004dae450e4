"""All items, one after the other, into one JSON that is whole at any time: what is in it is not measured again."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import threading
import time
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
ITEMS = "items.json"
BUDGET = 540.0
"""Seconds."""

LONGEST = 40.0
"""Seconds of an item, unless others are given: what takes longer hangs."""


def find_weft() -> None:
    """Weft's runtime and recipes from this checkout, where Weft is not installed."""
    if importlib.util.find_spec("weft") is None:
        package = types.ModuleType("weft")
        package.__path__ = [str(ROOT / "weft")]
        sys.modules["weft"] = package


def measure(folder: Path, output: Path, budget: float, longest: float, anew: Callable[[], None]) -> int:
    """Measure what is not in `output` yet, as long as seconds are left. An exit code: 0 where all is measured and right.

    Args:
        budget: seconds after which no item is begun.
        longest: seconds after which an item is given up.
        anew: what puts another process in the place of this one.
    """
    os.environ["NVIDIA_TF32_OVERRIDE"] = os.environ["CUPY_TF32"] = "0"
    begun = time.monotonic()
    find_weft()
    import cupy

    from . import concurrency, contest, cudnn, pytorch

    contest_or_streams = {"streams": concurrency.measure}
    device = contest.CupyDevice()
    log = Log(output, {"device": device.name, "cudnn": (cudnn.library() or pytorch.library()) is not None})
    items = json.loads((folder / ITEMS).read_text())
    todo = log.left(items)
    compiled: set[str] = set()
    for item in todo:
        if time.monotonic() - begun >= budget:
            break
        if item["group"] not in compiled:
            _compile(device, folder, [one for one in todo if one["group"] == item["group"]], contest.FAILURES)
            compiled.add(item["group"])
        log.start(item)
        since = time.monotonic()
        try:
            if not item["entries"]:
                raise ValueError(f"refused when it was prepared: {item['refused']}")
            with _watched(log, item, longest, anew):
                found = contest_or_streams.get(item["group"], contest.measure)(item, folder, device, cupy)
        except contest.FAILURES as error:
            found = contest.failed(error)
        log.keep({**item, **found, "took": time.monotonic() - since})
        print(line(log.results[-1]), flush=True)
        try:
            device.synchronize()
        except contest.FAILURES as error:
            print(f"starting anew: {error}", file=sys.stderr)
            anew()
            return 1
    if left := len(log.left(items)):
        print(f"{left} of {len(items)} items are left: the same command goes on with them", file=sys.stderr)
    return 1 if left or not all(one["right"] for one in log.results) else 0


@contextmanager
def _watched(log: Log, item: Mapping[str, Any], longest: float, anew: Callable[[], None]) -> Iterator[None]:
    """A kernel that does not end is ended by nothing but the end of the process: the next one goes on with the next item."""

    def give_up() -> None:
        log.keep(
            {**item, "right": False, "failed": f"it did not end in {longest:g} seconds (--longest)", "took": longest}
        )
        print(line(log.results[-1]), flush=True)
        anew()

    watch = threading.Timer(longest, give_up)
    watch.daemon = True
    watch.start()
    try:
        yield
    finally:  # an item that is interrupted, too: whoever called goes on, and is nobody to be replaced
        watch.cancel()
        watch.join()  # if it gives up already, the item is its own


def _compile(
    device: Any, folder: Path, items: Sequence[Mapping[str, Any]], failures: tuple[type[Exception], ...]
) -> None:
    """Compile all texts side by side. What does not compile says so when it is its turn."""

    def one(path: Path) -> None:
        with suppress(OSError, *failures):
            device.compiled((path / "kernels.cu").read_text(), folded=False)

    with ThreadPoolExecutor() as pool:
        list(pool.map(one, [folder / where for item in items for where in item["entries"].values()]))


class Log:
    """What was found so far, in a file that is replaced as a whole.

    `under_way` has items that were begun and neither finished nor failed, since they hung or took the process along: they come last
    in the next run.
    """

    def __init__(self, path: Path, about: Mapping[str, Any]) -> None:
        self.path = path
        self.data: dict[str, Any] = (
            json.loads(path.read_text()) if path.exists() else {**about, "results": [], "under_way": []}
        )
        if any(self.data[name] != value for name, value in about.items()):
            raise SystemExit(f"{path} is of another machine ({self.data['device']}): name another file with -o")
        self.results: list[dict[str, Any]] = self.data["results"]

    def left(self, items: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        done = {result["item"] for result in self.results}
        late = self.data["under_way"]
        return sorted((item for item in items if item["item"] not in done), key=lambda item: item["item"] in late)

    def start(self, item: Mapping[str, Any]) -> None:
        self.data["under_way"] = [*self._others(item["item"]), item["item"]]
        self._write()

    def keep(self, result: dict[str, Any]) -> None:
        self.data["under_way"] = self._others(result["item"])
        self.results.append(result)
        self._write()

    def _others(self, name: str) -> list[str]:
        return [one for one in self.data["under_way"] if one != name]

    def _write(self) -> None:
        made = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        made.write_text(json.dumps(self.data, indent=1) + "\n")
        made.replace(self.path)


def line(result: Mapping[str, Any]) -> str:
    """What a result says, for the terminal."""
    text = f"{result['item']:<60} {result['took']:5.1f} s"
    if "failed" in result:
        return f"{text}  FAILED: {result['failed']}"
    for one, found in {
        **result.get("libraries", {}),
        **(result["entries"] if "libraries" in result else result["ways"]),
    }.items():
        time_of = f"{found['seconds'] * 1e6:.1f} us" if "seconds" in found else found.get("failed", "WRONG")
        text += f"  {one}: {time_of}" + ("" if found["right"] else f" (WRONG, error {found['error']})")
    return text
