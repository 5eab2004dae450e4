"""`python -m weft.runtime DIR`: run a bundle on a GPU. Needs NumPy and CuPy, and nothing else of Weft's dependencies."""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..dsl.diagnostics import WeftError
from .files.bundle import Bundle, comparable, read_bundle
from .files.inputs import random_inputs, read_npz, write_npz
from .files.writing import write_file
from .run.compare import Comparison, compare
from .run.cupy_device import CupyDevice
from .run.runner import RunResult, run_plan
from .trace.text import expect_results, picture_path, plain, trace_files
from .trace.timeline import Timeline, timeline

COLUMNS = 78
"""Of the timeline, in characters."""


def main(arguments: Sequence[str] | None = None) -> int:
    """0: right, or nothing to compare with; 1: wrong, or an error; 2: usage; 130: interrupted."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.graph and options.trace is not None:
        parser.error("--graph replays a plan as a whole, which leaves nothing to --trace: trace it without --graph")
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
        "--bench", type=_count, default=0, metavar="N", help="run N times more, and say how long it takes"
    )
    parser.add_argument("--inputs", type=Path, metavar="X.npz", help="arrays to run on instead of the bundle's own")
    parser.add_argument(
        "--seed", type=_count, default=0, metavar="N", help="of random inputs, where there are no others"
    )
    parser.add_argument("--save", type=Path, metavar="Y.npz", help="write the outputs there")
    parser.add_argument(
        "--trace",
        type=Path,
        metavar="T.json",
        help="write the timeline there, as Chrome's trace viewer reads it, and a picture of it to T.svg",
    )
    return parser


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no number of 0 or more")
    return int(text)


def _run(options: argparse.Namespace) -> int:
    expect_results(options.save, options.trace, options.inputs, {options.bundle: "the bundle"})
    bundle = read_bundle(options.bundle)
    for warning in bundle.warnings:
        print(f"warning[{warning.code}]: {warning.message}", file=sys.stderr)
    inputs, own = _inputs(bundle, options)
    traced = options.trace is not None
    result = run_plan(bundle.plan, CupyDevice(), inputs, text=bundle.cuda, repeat=options.bench, trace=traced, graph=options.graph)
    comparison = None
    if own and bundle.expected is not None:
        comparison = compare(comparable(bundle), result.outputs, bundle.expected)
    if options.save is not None:
        write_npz(options.save, result.outputs)
    shown = _traced(options.trace, bundle, result)
    if options.json:
        print(json.dumps({**report(result, comparison), "edited": bundle.edited}, allow_nan=False))
    else:
        print("\n".join([*_lines(bundle, result, comparison), *_streams(shown)]))
    return 0 if comparison is None or comparison.ok else 1


def _traced(path: Path | None, bundle: Bundle, result: RunResult) -> Timeline | None:
    """Write the timeline and its picture, if they are asked for."""
    if path is None:
        return None
    shown = timeline(bundle.plan.steps, result.timeline or (), result.device, bundle.plan.entry, counted=False)
    for target, data in trace_files(path, shown).items():
        write_file(target, data)
    print(f"{path}, {picture_path(path)}: written", file=sys.stderr)
    return shown


def _streams(shown: Timeline | None) -> list[str]:
    """The timeline in characters, as this terminal can show them."""
    if shown is None or not shown.bars:
        return []
    lines = [*plain(shown, COLUMNS), *shown.summary()]
    coding = sys.stdout.encoding or "ascii"
    return [f"  {line}".encode(coding, "replace").decode(coding) for line in lines]


def _inputs(bundle: Bundle, options: argparse.Namespace) -> tuple[Mapping[str, np.ndarray], bool]:
    """The arrays to run on, and whether they are those that the expected outputs belong to."""
    if options.inputs is not None:
        return read_npz(options.inputs, bundle.signature), False
    if bundle.inputs is not None:
        return bundle.inputs, True
    return random_inputs(bundle.signature, options.seed), False


def report(result: RunResult, comparison: Comparison | None) -> dict[str, Any]:
    """The result as plain data, with the keys of `weft run --json`. `ok` is null where there was nothing to compare."""
    error = comparison.max_rel_error if comparison is not None else None
    return {
        "ok": comparison.ok if comparison is not None else None,
        "target": "cuda",
        "device": result.device,
        "max_rel_error": error if error is None or math.isfinite(error) else None,
        "reasons": list(comparison.reasons) if comparison is not None else [],
        "races": None,
        "barriers": None,
        "kernels": [
            {
                "name": k.name,
                "grid": list(k.grid),
                "block": list(k.block),
                "shared_bytes": k.shared_bytes,
                "unproven": k.unproven,
            }
            for k in result.kernels
        ],
        "streams_created": result.streams_created,
        "streams_destroyed": result.streams_destroyed,
        "graphs_created": result.graphs_created,
        "graphs_destroyed": result.graphs_destroyed,
        "seconds": dict(result.seconds),
        "repeats": list(result.repeats),
        "issued": list(result.issued),
    }


def _lines(bundle: Bundle, result: RunResult, comparison: Comparison | None) -> list[str]:
    lines = [f"{bundle.path}: @{bundle.plan.entry} on {result.device}"]
    lines += [
        f"  {k.name}<<<{list(k.grid)}, {list(k.block)}>>>, {k.shared_bytes} bytes of shared memory"
        for k in result.kernels
    ]
    unproven = {k.name: k.unproven for k in result.kernels if k.unproven is not None}
    lines += [f"  {name} is not proven race-free: {why}" for name, why in unproven.items()]
    if comparison is None:
        lines.append("  nothing to compare with")
    else:
        lines += [
            f"  {o.name}: error {o.error:.3g}, {'ok' if o.ok else 'WRONG: ' + str(o.reason)}"
            for o in comparison.outputs
        ]
    lines.append("  " + ", ".join(f"{phase} {seconds * 1e3:.2f} ms" for phase, seconds in result.seconds.items()))
    if result.repeats:
        middle, best = statistics.median(result.repeats), min(result.repeats)
        host = statistics.median(result.issued)
        lines.append(f"  {len(result.repeats)} more runs: median {middle * 1e3:.4f} ms, best {best * 1e3:.4f} ms")
        lines.append(f"  the host issues one in {host * 1e6:.1f} µs")
    return lines


if __name__ == "__main__":
    sys.exit(main())
