"""Everything that a GPU must show, in one command, the most important first.

    python benchmarks/gpu.py prepare build/gpu              # with Weft, without a GPU: bundles of all that is run
    python benchmarks/gpu.py measure build/gpu -o gpu.json  # with CuPy and NumPy alone, and this checkout; again: goes on
    python benchmarks/gpu.py record gpu.json                # with Weft: into docs/performance.md

Every recipe at three sizes, right, against cuBLAS and cuDNN (without cuDNN: im2col and cuBLAS); the tutorial's rungs; the
convolutions of ResNet-50; streams, graphs and the cost of a launch. In nine minutes at most (`--budget SECONDS`); an item that
takes longer than 40 seconds hangs (`--longest SECONDS`, for slower GPUs).
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from evidence import measuring


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    preparing = commands.add_parser("prepare", help="write the bundles")
    preparing.add_argument("folder", type=Path)
    preparing.add_argument("--small", action="store_true", help="tiny sizes, for a trial without a GPU")
    measure = commands.add_parser("measure", help="run, check and time what is not in the JSON yet")
    measure.add_argument("folder", type=Path)
    measure.add_argument("-o", dest="output", type=Path, default=Path("gpu.json"), help="where the measurement goes")
    measure.add_argument("--budget", type=float, default=measuring.BUDGET, help="seconds after which no item is begun")
    measure.add_argument(
        "--longest", type=float, default=measuring.LONGEST, help="seconds after which an item is given up"
    )
    record = commands.add_parser("record", help="keep a measurement, and write its tables into docs/performance.md")
    record.add_argument("file", type=Path)
    record.add_argument("--docs", type=Path, default=measuring.ROOT / "docs", help="the folder of the pages")
    chosen = parser.parse_args(arguments)
    if chosen.command == "prepare":
        from evidence import preparing as items

        items.prepare(chosen.folder, items.small() if chosen.small else items.full())
        return 0
    if chosen.command == "record":
        from evidence.recording import record as keep

        return keep(chosen.file, chosen.docs)
    begun = time.monotonic()

    def anew() -> None:
        """Nothing of CUDA is left to this process, behind an illegal access or with a kernel that does not end."""
        left = chosen.budget - (time.monotonic() - begun)
        times = ["--budget", f"{left:.0f}", "--longest", f"{chosen.longest:g}"]
        again = [__file__, "measure", str(chosen.folder), "-o", str(chosen.output), *times]
        os.execv(sys.executable, [sys.executable, *again])

    return measuring.measure(chosen.folder, chosen.output, chosen.budget, chosen.longest, anew)


if __name__ == "__main__":
    raise SystemExit(main())
