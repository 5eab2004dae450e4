"""How the session's work grows with the payload: additions in a chain, each tiled, mapped and launched, without and with a look for
barriers. Per op in ms of the processor, and as a ratio to the smallest payload: 1 is what a statement costs that looks at what it
touches alone.

    python benchmarks/scaling.py [COUNT …]
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path

from weft.pipeline import Choice, applied

KIND = "tensor<64x64xf32>"
SCHEDULE = """schedule each() {
  let ops = match* linalg.add
  foreach op in ops {
    let (blocks, inner) = tile op [16, 16]
    let (threads, one) = tile inner [1, 1]
    map blocks to blocks(y, x)
    map threads to threads(y, x)
    launch blocks
  }
}
"""
SCHEDULES = {"launch": SCHEDULE, "insert-barriers, launch": SCHEDULE.replace("launch", "insert-barriers\n    launch")}


def payload(count: int) -> str:
    lines, last = [], "%x"
    for i in range(count):
        lines.append(f"%e{i} = tensor.empty() : {KIND}")
        lines.append(f"%v{i} = linalg.add ins({last}, %y : {KIND}, {KIND}) outs(%e{i} : {KIND}) -> {KIND}")
        last = f"%v{i}"
    body = "\n".join(lines)
    return f"func.func @main(%x: {KIND}, %y: {KIND}) -> {KIND} {{\n{body}\nreturn {last} : {KIND}\n}}\n"


def main() -> None:
    counts = [int(text) for text in sys.argv[1:]] or [100, 200, 400, 1000]
    with tempfile.TemporaryDirectory() as folder:
        for name, schedule in SCHEDULES.items():
            measured(Path(folder), name, schedule, counts)


def measured(folder: Path, name: str, text: str, counts: list[int]) -> None:
    schedule, source = folder / "each.weft", folder / "chain.mlir"
    schedule.write_text(text)
    first = None
    for count in (2, *counts):
        source.write_text(payload(count))
        recipe = Choice(str(schedule), str(source)).open()
        started = time.process_time()
        applied(recipe)
        per_op = (time.process_time() - started) / count * 1e3
        if count == 2:
            continue  # it pays for the imports
        first = first or per_op
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(f"{name}, {count} ops: {per_op:.1f} ms each, x {per_op / first:.2f}; {peak} MB so far")


if __name__ == "__main__":
    main()
