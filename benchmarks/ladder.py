"""The tutorial's rungs on a GPU, against cuBLAS in fp32 (no TF32) in the same run.

    python benchmarks/ladder.py prepare build/ladder [SCHEDULE …]   # with Weft: the kernels' text, for every size
    python benchmarks/ladder.py measure build/ladder                # with CuPy and NumPy alone: the table, and ladder.json
    python benchmarks/ladder.py record ladder.json                  # keep it in docs/performance/, for the page

`measure` without a folder prepares by itself, where Weft is installed. It writes `ladder.json`, or what `-o` names. Inputs are
random, outputs are poisoned with NaN before each check, and each result is compared with cuBLAS, which is compared with
sums in f64. Times are medians, by CUDA's events; cuBLAS is timed before and after each rung.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
RUNGS = ROOT / "docs" / "tutorial"
RECORDED = ROOT / "docs" / "performance" / "h200.json"

CASES = (
    (1024, 1024, 1024), (2048, 2048, 2048), (4096, 4096, 4096), (8192, 8192, 8192),
    (64, 4096, 4096), (4096, 64, 4096), (4096, 4096, 64),
    (1000, 777, 333), (4095, 4097, 4093),
)  # fmt: skip
"""m, n, k: square, skinny, ragged."""

TOLERANCE = 1e-5
"""Of max|got - ref| / max|ref|, as `weft run` allows f32."""
SAMPLE_SECONDS, CASE_SECONDS, MOST_SAMPLES, FEWEST_SAMPLES = 1e-3, 0.5, 50, 3
"""A sample is so many launches that it takes a millisecond; samples are taken for half a second, but some in any case."""


# ---- with Weft: the kernels ----------------------------------------------------------------------------------------------


def prepare(schedules: Sequence[str], cases: Sequence[tuple[int, int, int]] = CASES) -> list[dict[str, Any]]:
    """Schedule and emit every rung for every case: the text, the launch, and how to compile it."""
    from weft.pipeline import Recipe, applied, planned
    from weft.runtime.cuda.nvrtc import compile_options
    from weft.runtime.plan import Launch

    prepared = []
    for schedule in schedules:
        for m, n, k in cases:
            made = planned(applied(Recipe.open(schedule, None, {"m": str(m), "n": str(n), "k": str(k)})))
            steps = [step for step in made.plan.steps if isinstance(step, Launch)]
            if len(steps) != 1 or len(made.plan.steps) != 1:
                raise SystemExit(f"{schedule}: one launch is measured, and this has {len(made.plan.steps)} steps")
            (launch,) = steps
            prepared.append({
                "rung": Path(schedule).stem, "m": m, "n": n, "k": k, "kernel": launch.kernel, "grid": list(launch.grid),
                "block": list(launch.block), "options": list(compile_options()), "text": made.cuda,
            })  # fmt: skip
            print(f"prepared {Path(schedule).stem} {m}x{n}x{k}", file=sys.stderr)
    return prepared


# ---- with CuPy: the times ------------------------------------------------------------------------------------------------


def measure(prepared: Sequence[dict[str, Any]], cupy: Any) -> dict[str, Any]:
    """Run and time all of it. A kernel that does not compile or is wrong has an `error` and no time."""
    properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
    name = properties["name"].decode() if isinstance(properties["name"], bytes) else str(properties["name"])
    results: list[dict[str, Any]] = []
    for m, n, k in dict.fromkeys((p["m"], p["n"], p["k"]) for p in prepared):
        operands = Operands(cupy, m, n, k)
        for one in (p for p in prepared if (p["m"], p["n"], p["k"]) == (m, n, k)):
            results.append(rung(one, operands))
            print(line(results[-1]), flush=True)
    return {"device": name, "results": results}


class Operands:
    """Random A and B on the device, and what cuBLAS makes of them."""

    def __init__(self, cupy: Any, m: int, n: int, k: int) -> None:
        rng = np.random.default_rng(m + n + k)
        a, b = (rng.standard_normal(shape, dtype=np.float32) for shape in ((m, k), (k, n)))
        self.cupy, self.m, self.n, self.k = cupy, m, n, k
        self.a, self.b = cupy.asarray(a), cupy.asarray(b)
        self.c = cupy.empty((m, n), dtype=np.float32)
        self.reference = cupy.matmul(self.a, self.b)
        self.largest = float(cupy.abs(self.reference).max())
        rows = rng.choice(m, min(m, 16), replace=False)
        exact = a[rows].astype(np.float64) @ b.astype(np.float64)
        wrong = float(np.abs(cupy.asnumpy(self.reference)[rows] - exact).max()) / self.largest
        if not wrong <= TOLERANCE:
            raise SystemExit(f"cuBLAS is off by {wrong:.1e} from sums in f64: TF32 is on (unset CUPY_TF32), or it is broken")

    def product(self) -> None:
        self.cupy.matmul(self.a, self.b, out=self.c)

    def error(self) -> float:
        """max|c - reference| / max|reference|; infinite where c is not finite: what nobody wrote is NaN."""
        difference = float(self.cupy.abs(self.c - self.reference).max())
        return difference / self.largest if math.isfinite(difference) else math.inf


def rung(one: dict[str, Any], operands: Operands) -> dict[str, Any]:
    """Check and time one kernel."""
    m, n, k = one["m"], one["n"], one["k"]
    result: dict[str, Any] = {"rung": one["rung"], "case": f"{m}x{n}x{k}", "m": m, "n": n, "k": k}
    cupy = operands.cupy
    try:
        function = load(cupy, one)
    except cupy.cuda.nvrtc.NVRTCError as error:
        return result | {"error": None, "right": False, "failed": str(error)}
    values = tuple(np.uint64(array.data.ptr) for array in (operands.a, operands.b, operands.c))

    def launch() -> None:
        function(tuple(one["grid"]), tuple(one["block"]), values, shared_mem=0, stream=stream)

    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        operands.c.fill(math.nan)
        launch()
        stream.synchronize()
        error = operands.error()
        result |= {"error": error if math.isfinite(error) else None, "right": error <= TOLERANCE}
        if not result["right"]:
            return result
        before = samples(cupy, operands.product, stream)
        seconds = statistics.median(samples(cupy, launch, stream))
        library = statistics.median(before + samples(cupy, operands.product, stream))
    operations = 2 * m * n * k
    return result | {
        "seconds": seconds, "tflops": operations / seconds / 1e12, "cublas_seconds": library,
        "cublas_tflops": operations / library / 1e12, "of_cublas": library / seconds,
    }  # fmt: skip


def samples(cupy: Any, function: Callable[[], None], stream: Any) -> list[float]:
    """Seconds of a call, several times, after some that are not counted."""
    start, end = cupy.cuda.Event(), cupy.cuda.Event()

    def once(times: int) -> float:
        start.record(stream)
        for _ in range(times):
            function()
        end.record(stream)
        end.synchronize()
        return cupy.cuda.get_elapsed_time(start, end) / 1e3 / times

    function()
    about = once(1)
    together = max(1, math.ceil(SAMPLE_SECONDS / about))
    count = min(MOST_SAMPLES, max(FEWEST_SAMPLES, int(CASE_SECONDS / (about * together))))
    return [once(together) for _ in range(count)]


def load(cupy: Any, one: dict[str, Any]) -> Any:
    """Compile for the chip at hand, with exactly Weft's options: `RawModule` would add others."""
    capability = int(cupy.cuda.Device().compute_capability)
    nvrtc = cupy.cuda.nvrtc
    program = nvrtc.createProgram(one["text"], "kernels.cu", (), ())
    try:
        architecture = f"--gpu-architecture=sm_{capability}{'a' if capability >= 90 else ''}"
        nvrtc.compileProgram(program, (architecture, *one["options"]))
        cubin = nvrtc.getCUBIN(program)
    finally:
        nvrtc.destroyProgram(program)
    module = cupy.cuda.function.Module()
    module.load(cubin)
    return module.get_function(one["kernel"])


def line(result: dict[str, Any]) -> str:
    head = f"{result['rung']:<16} {result['case']:>16}"
    if "failed" in result:
        return f"{head}   does not compile: {result['failed']}"
    if not result["right"]:
        return f"{head}   WRONG, error {result['error']}"
    return (
        f"{head} {result['seconds'] * 1e6:>11.1f} us {result['tflops']:>7.2f} TFLOP/s   cuBLAS {result['cublas_tflops']:>6.2f}"
        f"   {result['of_cublas']:>6.1%} of it   error {result['error']:.1e}"
    )


# ---- command line --------------------------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    preparing = commands.add_parser("prepare", help="write the kernels into a folder")
    preparing.add_argument("folder", type=Path)
    preparing.add_argument("schedules", nargs="*", help="by default the tutorial's rungs")
    measuring = commands.add_parser("measure", help="run and time them")
    measuring.add_argument("folder", type=Path, nargs="?")
    measuring.add_argument("-o", dest="output", type=Path, default=Path("ladder.json"), help="where the measurement goes")
    recording = commands.add_parser("record", help="keep a measurement for docs/performance.md")
    recording.add_argument("file", type=Path)
    chosen = parser.parse_args(arguments)
    rungs = [str(path) for path in sorted(RUNGS.glob("*.weft"))]
    if chosen.command == "prepare":
        chosen.folder.mkdir(parents=True, exist_ok=True)
        (chosen.folder / "kernels.json").write_text(json.dumps(prepare(chosen.schedules or rungs)))
        return 0
    if chosen.command == "record":
        return record(json.loads(chosen.file.read_text()))
    kernels = json.loads((chosen.folder / "kernels.json").read_text()) if chosen.folder else prepare(rungs)
    os.environ["CUPY_TF32"] = "0"
    import cupy

    measured = measure(kernels, cupy)
    chosen.output.write_text(json.dumps(measured, indent=1) + "\n")
    return 0 if all(result["right"] for result in measured["results"]) else 1


def record(measured: dict[str, Any]) -> int:
    """Keep what was measured; not if a kernel was wrong."""
    if wrong := [line(result) for result in measured["results"] if not result["right"]]:
        print("not kept:", *wrong, sep="\n", file=sys.stderr)
        return 1
    RECORDED.parent.mkdir(parents=True, exist_ok=True)
    RECORDED.write_text(json.dumps(measured, indent=1) + "\n")
    print(f"kept in {RECORDED.relative_to(ROOT)}; `pytest tests/docs/test_tutorial.py --update` brings it into the page")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
