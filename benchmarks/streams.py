"""Asynchrony on a GPU: what running at the same time wins, what a graph wins, and what a launch costs the host.

    python benchmarks/streams.py prepare build/streams      # with Weft: a bundle for each case
    python benchmarks/streams.py measure build/streams      # with CuPy and NumPy alone: all of it in one run, and streams.json
    python benchmarks/streams.py record streams.json        # keep it in docs/performance/, for the page

The two convolutions of the recipe `concurrent_convs`, at the size of the module as it was posted, where each fills the chip by
itself, and at one where both fit beside each other; eight independent products of narrow matrices; and a thousand launches of
a kernel that does next to nothing. Each runs on one stream, on its own streams, and as a graph.

Inputs are random, outputs and temporaries are poisoned before the run that is checked. What is right is told by the payload on
the CPU (in the bundle; images do not touch each other, so the larger batch repeats those), or by NumPy. Times are medians.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
import types
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from weft.runtime.bundle import Bundle
    from weft.runtime.cupy_device import CupyDevice
    from weft.runtime.plan import Plan

ROOT = Path(__file__).parents[1]
RECORDED = ROOT / "docs" / "performance" / "streams-h200.json"

FULL, CHECKED, BESIDE = 1024, 16, 2
"""Batches: as posted; whose result the CPU computes; of which both convolutions fit on the chip at once."""

PRODUCTS, LAUNCHES, REPEATS = 8, 1000, 50
DEPTH = 8192
"""The products are 128 x DEPTH times DEPTH x 128: 64 blocks each, which 132 multiprocessors hold all at once."""

TOLERANCE = 1e-5
"""Of max|got - expected| / max|expected|, as `weft run` allows f32."""

WAYS = ("serial", "streams", "serial_graph", "graph")

Arrays = Mapping[str, np.ndarray]


# ---- with Weft: the bundles ----------------------------------------------------------------------------------------------


def prepare(
    folder: Path, *, full: int = FULL, checked: int = CHECKED, depth: int = DEPTH, launches: int = LAUNCHES
) -> None:
    """Write a bundle for each case."""
    from weft.execution import build_bundle

    def build(name: str, schedule: str, settings: Mapping[str, str], seed: int | None = None) -> None:
        build_bundle(schedule, None, settings, None, folder / name, seed)
        print(f"prepared {name}", file=sys.stderr)

    folder.mkdir(parents=True, exist_ok=True)
    build("convolutions-checked", "concurrent_convs", {"batch": str(checked)}, 0)
    build("convolutions", "concurrent_convs", {"batch": str(full)})
    build("convolutions-beside", "concurrent_convs", {"batch": str(BESIDE)})
    sources = folder / "sources"
    sources.mkdir(exist_ok=True)
    for name, payload, schedule in (("products", products(depth), PRODUCT_SCHEDULE), ("launches", many(launches), AS_IT_IS)):
        (sources / f"{name}.mlir").write_text(payload)
        (sources / f"{name}.weft").write_text(f'payload "{name}.mlir"\n{schedule}')
        build(name, str(sources / f"{name}.weft"), {})


def products(depth: int) -> str:
    """Eight products, none of which touches another's matrices."""
    a, b, c = f"memref<128x{depth}xf32>", f"memref<{depth}x128xf32>", "memref<128x128xf32>"
    arguments = ", ".join(f"%a{i}: {a}, %b{i}: {b}, %c{i}: {c}" for i in range(PRODUCTS))
    body = "\n".join(
        f"  linalg.matmul ins(%a{i}, %b{i} : {a}, {b}) outs(%c{i} : {c})" for i in range(PRODUCTS)
    )
    return f"func.func @products({arguments}) {{\n{body}\n  return\n}}\n"


PRODUCT_SCHEDULE = "\n".join((
    "schedule product(mm: handle) {",
    "  let (tiles, tile_mm) = tile mm [16, 16]",
    "  map tiles to blocks(y, x)",
    "  let (lanes, one) = tile tile_mm [1, 1]",
    "  map lanes to threads(y: 16, x: 16)",
    "  launch tiles",
    "}",
    "schedule products() {",
    *(f"  let mm{i} = match linalg.matmul #{i}" for i in range(PRODUCTS)),
    *(f"  product(mm{i})" for i in range(PRODUCTS)),
    "  async-fork noalias",
    "}",
    "",
))  # fmt: skip

AS_IT_IS = "schedule launches() {}\n"


def many(launches: int) -> str:
    """One launch after the other, each of which adds 1 to 256 numbers."""
    return f"""module attributes {{gpu.container_module}} {{
  func.func @launches(%x: memref<256xf32>) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c256 = arith.constant 256 : index
    %many = arith.constant {launches} : index
    scf.for %i = %c0 to %many step %c1 {{
      gpu.launch_func @kernels::@increment blocks in (%c1, %c1, %c1) threads in (%c256, %c1, %c1) args(%x : memref<256xf32>)
    }}
    return
  }}
  gpu.module @kernels {{
    gpu.func @increment(%x: memref<256xf32>) kernel attributes {{known_block_size = array<i32: 256, 1, 1>}} {{
      %one = arith.constant 1.0 : f32
      %t = gpu.thread_id x
      %old = memref.load %x[%t] : memref<256xf32>
      %new = arith.addf %old, %one : f32
      memref.store %new, %x[%t] : memref<256xf32>
      gpu.return
    }}
  }}
}}
"""


# ---- with CuPy: the times ------------------------------------------------------------------------------------------------


def find_weft() -> None:
    """`weft.runtime` from this checkout, where Weft is not installed."""
    try:
        import weft.runtime  # noqa: F401
    except ModuleNotFoundError:
        package = types.ModuleType("weft")
        package.__path__ = [str(ROOT / "weft"), str(ROOT)]
        sys.modules["weft"] = package


def measure(folder: Path, repeats: int = REPEATS) -> dict[str, Any]:
    """Run, check and time all cases."""
    from weft.runtime.bundle import read_bundle
    from weft.runtime.cupy_device import CupyDevice

    device = CupyDevice()
    bundles = {p.name: read_bundle(p) for p in sorted(folder.iterdir()) if (p / "plan.json").exists()}
    known = bundles["convolutions-checked"]
    results: list[dict[str, Any]] = []
    for name, bundle in bundles.items():
        inputs, expected = _data(name, bundle, known)
        results.append(case(name, bundle, device, inputs, expected, repeats))
        print(line(results[-1]), flush=True)
    return {"device": device.name, "results": results}


def _data(name: str, bundle: Bundle, known: Bundle) -> tuple[Arrays, Arrays]:
    """Random inputs, and what comes of them."""
    from weft.runtime.inputs import random_inputs

    if name.startswith("convolutions"):
        (images, *_), batch = bundle.plan.inputs, bundle.plan.outputs[0].shape[0]
        given, expected = known.inputs or {}, known.expected or {}
        return {images.name: _repeated(given[images.name], int(batch))}, {n: _repeated(e, int(batch)) for n, e in expected.items()}  # type: ignore[arg-type]
    inputs = random_inputs(bundle.signature, 0)
    if name == "products":
        names = list(inputs)
        trios = [names[3 * i : 3 * i + 3] for i in range(PRODUCTS)]
        wide = {n: a.astype(np.float64) for n, a in inputs.items()}
        return inputs, {c: (wide[a] @ wide[b] + wide[c]).astype(np.float32) for a, b, c in trios}
    ((x, start),) = inputs.items()
    for _ in bundle.plan.launches:
        start = start + np.float32(1)
    return inputs, {x: start}


def _repeated(array: np.ndarray, batch: int) -> np.ndarray:
    return np.concatenate([array] * -(-batch // len(array)))[:batch]


def serial(plan: Plan) -> Plan:
    """The same steps, all on one stream."""
    return replace(plan, steps=tuple(replace(step, stream=0, after=()) for step in plan.steps))


def alone(plan: Plan) -> Plan:
    """The first launch only."""
    return replace(plan, steps=plan.launches[:1])


def case(
    name: str, bundle: Bundle, device: CupyDevice, inputs: Arrays, expected: Arrays, repeats: int
) -> dict[str, Any]:
    """One bundle in all its ways."""
    from weft.runtime.runner import run_plan

    plan = bundle.plan
    result: dict[str, Any] = {"case": name, "launches": len(plan.launches), "right": True}
    plans = (serial(plan), plan)
    ways = {way: (plans["serial" not in way], "graph" in way) for way in WAYS}
    if name == "products":
        ways["alone"] = (alone(plan), False)
    for way, (changed, graph) in ways.items():
        done = run_plan(changed, device, inputs, text=bundle.cuda, repeat=repeats, graph=graph)
        wanted = expected if way != "alone" else dict(list(expected.items())[:1])
        error = max(_error(done.outputs[n], e) for n, e in wanted.items())
        result["right"] &= error <= TOLERANCE
        result[way] = {
            "seconds": statistics.median(done.repeats), "host_seconds": statistics.median(done.issued),
            "streams": done.streams_created, "error": error if np.isfinite(error) else None,
        }  # fmt: skip
    traced = run_plan(plan, device, inputs, text=bundle.cuda, trace=True)
    result["timeline"] = [[t.name, t.stream, t.begin, t.end] for t in (traced.timeline or ())[:100]]
    result["overlap"] = overlap([(t.begin, t.end) for t in traced.timeline or ()][:2]) if name.startswith("conv") else None
    if name == "launches":
        result["bare_host_seconds"] = bare(bundle, device, inputs, repeats)
    return result


def _error(got: np.ndarray, expected: np.ndarray) -> float:
    """max|got - expected| / max|expected|; infinite where it is not finite: what nobody wrote is NaN."""
    error = float(np.abs(got - expected).max() / np.abs(expected).max())
    return error if np.isfinite(error) else float("inf")


def overlap(spans: Sequence[tuple[float, float]]) -> float:
    """Of the shorter of two spans, the part in which the other one ran, too."""
    (b0, e0), (b1, e1) = spans
    shorter = min(e0 - b0, e1 - b1)
    return max(0.0, min(e0, e1) - max(b0, b1)) / shorter if shorter > 0 else 0.0


def bare(bundle: Bundle, device: CupyDevice, inputs: Arrays, repeats: int) -> float:
    """Seconds of the host for the same launches by a loop over CuPy's own calls, everything prepared."""
    import cupy
    from ladder import load

    from weft.runtime.cuda.nvrtc import compile_options

    launches = bundle.plan.launches
    functions = {
        k.name: load(cupy, {"text": bundle.cuda, "kernel": k.name, "options": compile_options()}) for k in bundle.plan.kernels
    }
    (array,) = inputs.values()
    memory = cupy.asarray(array)
    stream = cupy.cuda.Stream(non_blocking=True)
    calls = [
        (functions[launch.kernel], tuple(launch.grid), tuple(launch.block), (np.uint64(memory.data.ptr),)) for launch in launches
    ]

    def once() -> float:
        stream.synchronize()
        start = time.perf_counter()
        for function, grid, block, values in calls:
            function(grid, block, values, shared_mem=0, stream=stream)
        return time.perf_counter() - start

    once()
    return statistics.median(once() for _ in range(repeats))


def line(result: Mapping[str, Any]) -> str:
    head = f"{result['case']:<22}"
    if not result["right"]:
        return f"{head} WRONG, errors " + ", ".join(str(result[w]["error"]) for w in WAYS)
    us = {way: result[way]["seconds"] * 1e6 for way in WAYS}
    text = f"{head} serial {us['serial']:>9.1f} us, streams {us['streams']:>9.1f} us ({us['serial'] / us['streams']:.2f}x)"
    text += f", as graphs {us['serial_graph']:>9.1f} and {us['graph']:>9.1f} us"
    if "alone" in result:
        text += f", one alone {result['alone']['seconds'] * 1e6:.1f} us"
    if result["overlap"] is not None:
        text += f", overlap {result['overlap']:.0%}"
    if "bare_host_seconds" in result:
        mine, theirs = result["serial"]["host_seconds"], result["bare_host_seconds"]
        text += f", host {mine / result['launches'] * 1e6:.2f} us a launch, bare {theirs / result['launches'] * 1e6:.2f} us"
    return text


# ---- command line --------------------------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("prepare", help="write the bundles").add_argument("folder", type=Path)
    measuring = commands.add_parser("measure", help="run and time them")
    measuring.add_argument("folder", type=Path)
    measuring.add_argument("-o", dest="output", type=Path, default=Path("streams.json"), help="where the measurement goes")
    commands.add_parser("record", help="keep a measurement for docs/performance.md").add_argument("file", type=Path)
    chosen = parser.parse_args(arguments)
    if chosen.command == "prepare":
        prepare(chosen.folder)
        return 0
    if chosen.command == "record":
        return record(json.loads(chosen.file.read_text()))
    find_weft()
    measured = measure(chosen.folder)
    chosen.output.write_text(json.dumps(measured, indent=1) + "\n")
    return 0 if all(result["right"] for result in measured["results"]) else 1


def record(measured: Mapping[str, Any]) -> int:
    """Keep what was measured; not if anything was wrong."""
    if wrong := [line(result) for result in measured["results"] if not result["right"]]:
        print("not kept:", *wrong, sep="\n", file=sys.stderr)
        return 1
    RECORDED.parent.mkdir(parents=True, exist_ok=True)
    RECORDED.write_text(json.dumps(measured, indent=1) + "\n")
    print(f"kept in {RECORDED.relative_to(ROOT)}; `pytest tests/docs/test_tutorial.py --update` brings it into the page")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
