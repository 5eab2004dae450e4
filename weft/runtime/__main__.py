"""`python -m weft.runtime DIR`: runs a bundle on a GPU. It needs only NumPy and CuPy."""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

from ..dsl.diagnostics import WeftError
from .run.execution import UNTRACED, Executed, RunOptions, run_bundle
from .trace.text import picture_path, plain
from .trace.timeline import Timeline

COLUMNS = 78
"""Width of the timeline, in characters."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status 0: right, or nothing to compare with; 1: wrong, or an error; 2: usage; 130:
    interrupted."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.graph and options.trace is not None:
        parser.error(UNTRACED)
    try:
        return _run(options)
    except WeftError as error:
        for diagnostic in error.diagnostics:
            lines = [f"error[{diagnostic.code}]: {diagnostic.message}", *(f"  = {note}" for note in diagnostic.notes)]
            lines += [f"  = hint: {diagnostic.hint}"] if diagnostic.hint else []
            print("\n".join(lines), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m weft.runtime", description="Run a bundle that `weft build` wrote.")
    parser.add_argument("bundle", type=Path, metavar="DIR")
    parser.add_argument(
        "--graph", action="store_true", help="capture the launches and copies once into a graph, and replay it"
    )
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    parser.add_argument(
        "--bench", type=_count, default=0, metavar="N", help="run N more times, and report how long it takes"
    )
    parser.add_argument("--inputs", type=Path, metavar="X.npz", help="arrays to run on instead of the bundle's own")
    parser.add_argument(
        "--seed", type=_count, default=0, metavar="N", help="seed of random inputs, where there are no others"
    )
    parser.add_argument("--save", type=Path, metavar="Y.npz", help="write the outputs there")
    parser.add_argument(
        "--trace",
        type=Path,
        metavar="T.json",
        help="write the timeline there, in the format of Chrome's trace viewer, and a picture of it to T.svg",
    )
    return parser


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of 0 or more")
    return int(text)


def _run(options: argparse.Namespace) -> int:
    given = {name: getattr(options, name) for name in ("seed", "inputs", "save", "trace", "graph")}
    done = run_bundle(options.bundle, RunOptions("cuda", repeat=options.bench, **given))
    for warning in done.warnings:
        print(f"warning[{warning.code}]: {warning.message}", file=sys.stderr)
    if options.trace is not None:
        print(f"{options.trace}, {picture_path(options.trace)}: written", file=sys.stderr)
    if options.json:
        times = {"repeats": done.repeats, "issued": done.issued}
        print(json.dumps(done.report.to_json() | times, allow_nan=False))
    else:
        print("\n".join([*_lines(done), *_streams(done.timeline)]))
    return 1 if done.report.ok is False else 0


def _streams(shown: Timeline | None) -> list[str]:
    """The timeline in characters that this terminal can show."""
    if shown is None or not shown.bars:
        return []
    lines = [*plain(shown, COLUMNS), *shown.summary()]
    coding = sys.stdout.encoding or "ascii"
    return [f"  {line}".encode(coding, "replace").decode(coding) for line in lines]


def _lines(done: Executed) -> list[str]:
    report = done.report
    lines = [f"{done.title}: @{report.entry} on {report.device}"]
    lines += [
        f"  {k.name}<<<{list(k.grid)}, {list(k.block)}>>>, {k.shared_bytes} bytes of shared memory"
        for k in report.kernels
    ]
    unproven = {k.name: k.unproven for k in report.kernels if k.unproven is not None}
    lines += [f"  {name} is not proven race-free: {why}" for name, why in unproven.items()]
    lines += [] if report.unchecked is None else [f"  values not compared when it was built: {report.unchecked}"]
    compared = [o for o in report.outputs if o.error is not None]
    lines += [f"  {o.name}: error {o.error:.3g}, {'ok' if o.ok else 'WRONG: ' + str(o.reason)}" for o in compared]
    lines += [] if compared else ["  nothing to compare with"]
    lines.append("  " + ", ".join(f"{phase} {seconds * 1e3:.2f} ms" for phase, seconds in report.seconds.items()))
    if done.repeats:
        middle, best, host = statistics.median(done.repeats), min(done.repeats), statistics.median(done.issued)
        lines.append(f"  {len(done.repeats)} more runs: median {middle * 1e3:.4f} ms, best {best * 1e3:.4f} ms")
        lines.append(f"  the host issues one in {host * 1e6:.1f} µs")
    return lines


if __name__ == "__main__":
    sys.exit(main())
