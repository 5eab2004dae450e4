"""What running at the same time wins, what a graph wins, and what a launch costs the host: a bundle on one stream, on its own
streams, and as a graph of either. Outputs and temporaries are poisoned before the run that is checked."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from weft.recipes import builders
from weft.runtime.files.bundle import Bundle, read_bundle
from weft.runtime.files.inputs import random_inputs
from weft.runtime.plan.plan import Plan
from weft.runtime.run.cupy_device import CupyDevice
from weft.runtime.run.runner import run_plan

from .contest import TOLERANCE, Found, verdict
from .sources import PRODUCTS

REPEATS = 50
WAYS = ("serial", "streams", "serial_graph", "graph")

Arrays = Mapping[str, np.ndarray]


def measure(item: Mapping[str, Any], folder: Path, device: CupyDevice, cupy: Any) -> Found:
    """One bundle in all its ways."""
    ((case, where),) = item["entries"].items()
    bundle = read_bundle(folder / where)
    inputs = random_inputs(bundle.signature, 0)
    expected = _expected(item, bundle, inputs, cupy)
    plan = bundle.plan
    plans = (_serial(plan), plan)
    ways = {way: (plans["serial" not in way], "graph" in way) for way in WAYS}
    if case == "products":
        ways["alone"] = (replace(plan, steps=plan.launches[:1]), False)
    result: Found = {"launches": len(plan.launches), "ways": {}}
    for way, (changed, graph) in ways.items():
        done = run_plan(changed, device, inputs, text=bundle.cuda, repeat=REPEATS, graph=graph)
        wanted = list(expected.items())[: 1 if way == "alone" else None]
        error = max(_error(done.outputs[name], array) for name, array in wanted)
        result["ways"][way] = verdict(error, TOLERANCE) | {
            "seconds": statistics.median(done.repeats), "host_seconds": statistics.median(done.issued),
            "streams": done.streams_created,
        }  # fmt: skip
    result["right"] = all(way["right"] for way in result["ways"].values())
    timeline = run_plan(plan, device, inputs, text=bundle.cuda, trace=True).timeline or ()
    result["timeline"] = [[t.name, t.stream, t.begin, t.end] for t in timeline[:100]]
    result["overlap"] = overlap([(t.begin, t.end) for t in timeline][:2]) if case.startswith("conv") else None
    if case == "launches":
        result["bare_host_seconds"] = _bare(bundle, device, inputs, cupy)
    return result


def _expected(item: Mapping[str, Any], bundle: Bundle, inputs: Arrays, cupy: Any) -> Arrays:
    """By the library in f64; the products and the increments by NumPy."""
    if "builder" in item:
        wide = {name: cupy.asarray(array.astype(np.float64)) for name, array in inputs.items()}
        (output,) = bundle.plan.outputs
        return {output.name: cupy.asnumpy(builders()[item["builder"]].baseline(cupy, wide, **item["values"]))}
    if item["case"] == "products":
        names = list(inputs)
        trios = [names[3 * i : 3 * i + 3] for i in range(PRODUCTS)]
        wide = {name: array.astype(np.float64) for name, array in inputs.items()}
        return {c: wide[a] @ wide[b] + wide[c] for a, b, c in trios}
    ((x, value),) = inputs.items()
    for _ in bundle.plan.launches:
        value = value + np.float32(1)
    return {x: value}


def _error(got: np.ndarray, expected: np.ndarray) -> float:
    """max|got - expected| / max|expected|; infinite where it is not finite: what nobody wrote is NaN."""
    error = float(np.abs(got - expected).max() / np.abs(expected).max())
    return error if np.isfinite(error) else float("inf")


def _serial(plan: Plan) -> Plan:
    """The same steps, all on one stream."""
    return replace(plan, steps=tuple(replace(step, stream=0, after=()) for step in plan.steps))


def overlap(spans: Sequence[tuple[float, float]]) -> float:
    """Of the shorter of two spans, the part in which the other one ran, too."""
    (b0, e0), (b1, e1) = spans
    shorter = min(e0 - b0, e1 - b1)
    return max(0.0, min(e0, e1) - max(b0, b1)) / shorter if shorter > 0 else 0.0


def _bare(bundle: Bundle, device: CupyDevice, inputs: Arrays, cupy: Any) -> float:
    """Seconds of the host for the same launches by a loop over CuPy's own calls, everything prepared."""
    module = device.module(bundle.cuda)
    functions = {kernel.name: module.get_function(kernel.name) for kernel in bundle.plan.kernels}
    (array,) = inputs.values()
    memory = cupy.asarray(array)
    values = (np.uint64(memory.data.ptr),)
    stream = cupy.cuda.Stream(non_blocking=True)
    calls = [(functions[s.kernel], tuple(s.grid), tuple(s.block)) for s in bundle.plan.launches]

    def once() -> float:
        stream.synchronize()
        start = time.perf_counter()
        for function, grid, block in calls:
            function(grid, block, values, shared_mem=0, stream=stream)
        return time.perf_counter() - start

    once()
    found = statistics.median(once() for _ in range(REPEATS))
    stream.synchronize()
    return found
