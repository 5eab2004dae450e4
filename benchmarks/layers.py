"""What a program of many convolution layers costs, of equal and of different shapes: processor time per launch and step, and peak
memory, by `weft:rest` and by a `foreach` over `igemm`.

    python benchmarks/layers.py [COUNT …] [--shapes equal|different] [--schedule rest|igemm] [--profile FILE]

Each row is made in a process of its own. Statements are counted with the proofs that they make; barriers and launches are listed
apart. The last number of a series is the ratio of the largest to the smallest time per launch.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise

from weft.dsl.diagnostics import Source

COUNTS = (10, 100, 300)
SIDE = 16
PRIME = 19
"""A prime number of channel widths: 19 · 18 different pairs."""
SCHEDULES = {
    "rest": None,
    "igemm": """include "weft:conv2d/igemm"
schedule layers() {
  foreach conv in match* convolution {
    let init = match? fill of conv.acc
    igemm(conv = conv, init = init)
  }
}
""",
}
STEPS = ("parse", "statements", "barriers", "launch", "around", "plan", "emit")


def channels(count: int, different: bool) -> list[int]:
    """The channels of the image and of each layer's result: no two neighbours twice if `different`."""
    if not different:
        return [16] * (count + 1)
    if count > PRIME * (PRIME - 1):
        raise SystemExit(f"there are {PRIME * (PRIME - 1)} different shapes")
    widths = [0]
    for layer in range(count):
        widths.append((widths[-1] + 1 + layer // PRIME) % PRIME)
    return [4 * (1 + width) for width in widths]


def payload(count: int, *, different: bool) -> Source:
    """A chain of convolutions with filters of one element, each into a tensor of zeros."""
    widths = channels(count, different)

    def image(width: int) -> str:
        return f"tensor<1x{SIDE}x{SIDE}x{width}xf32>"

    def lines() -> Iterator[str]:
        yield "%zero = arith.constant 0.0 : f32"
        for n, (c, f) in enumerate(pairwise(widths)):
            yield f"%e{n} = tensor.empty() : {image(f)}"
            yield f"%i{n} = linalg.fill ins(%zero : f32) outs(%e{n} : {image(f)}) -> {image(f)}"
            yield (
                f"%x{n + 1} = linalg.conv_2d_nhwc_hwcf {{dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}}"
                f" ins(%x{n}, %w{n} : {image(c)}, tensor<1x1x{c}x{f}xf32>) outs(%i{n} : {image(f)}) -> {image(f)}"
            )
        yield f"return %x{count} : {image(widths[-1])}"

    filters = (f"%w{n}: tensor<1x1x{c}x{f}xf32>" for n, (c, f) in enumerate(pairwise(widths)))
    arguments = ", ".join((f"%x0: {image(widths[0])}", *filters))
    body = "\n  ".join(lines())
    return Source(f"layers{count}.mlir", f"func.func @layers({arguments}) -> {image(widths[-1])} {{\n  {body}\n}}\n")


def measured(count: int, different: bool, schedule: str) -> dict[str, float]:
    """Seconds of the processor for each step, the number of launches, and the peak of memory in MB."""
    time.perf_counter = time.process_time  # what sessions and clocks measure with
    from weft.pipeline import Choice, applied, load_statements, planned

    load_statements()
    text = SCHEDULES[schedule]
    made = None if text is None else Source("layers.weft", text)
    warm = Choice("", text=made, program=payload(1, different=different))
    planned(applied((warm if made else warm.of_program()).open()))
    started = time.process_time()
    choice = Choice("", text=made, program=payload(count, different=different))
    done = applied((choice if made else choice.of_program()).open())
    parsed_and_applied = time.process_time()
    steps = done.session.steps
    seconds = done.recipe.clock.seconds
    by_step: dict[str, float] = dict.fromkeys(STEPS, 0.0)
    for step in steps:
        by_step[{"insert-barriers": "barriers", "launch": "launch"}.get(step.keyword, "statements")] += step.seconds
    by_step["parse"] = seconds["parse"] + seconds["payload"]
    by_step["around"] = parsed_and_applied - started - sum(by_step.values())
    plan = planned(done).plan
    by_step["plan"], by_step["emit"] = seconds["plan"], seconds["emit"]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {**by_step, "launches": len(plan.launches), "kernels": len(plan.kernels), "peak": peak}


def profiled(file: str, count: int, different: bool, schedule: str) -> None:
    """Writes the profile of a run (`python -m pstats FILE`)."""
    profile = cProfile.Profile()
    measured(1, different, schedule)
    profile.enable()
    measured(count, different, schedule)
    profile.disable()
    profile.dump_stats(file)


def in_process(count: int, shapes: str, schedule: str) -> dict[str, float]:
    """`measured` in a process of its own."""
    command = [sys.executable, __file__, str(count), "--shapes", shapes, "--schedule", schedule, "--child"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("counts", nargs="*", type=int, default=COUNTS, metavar="COUNT")
    parser.add_argument("--shapes", choices=("equal", "different"))
    parser.add_argument("--schedule", choices=tuple(SCHEDULES))
    parser.add_argument("--profile", metavar="FILE")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        print(json.dumps(measured(given.counts[0], given.shapes == "different", given.schedule)))
        return
    if given.profile:
        profiled(given.profile, given.counts[0], given.shapes == "different", given.schedule or "rest")
        return
    for schedule in (given.schedule,) if given.schedule else tuple(SCHEDULES):
        for shapes in (given.shapes,) if given.shapes else ("equal", "different"):
            series(schedule, shapes, given.counts)


def series(schedule: str, shapes: str, counts: Sequence[int]) -> None:
    print(f"{schedule}, {shapes} shapes, ms of the processor per launch")
    print(
        f"{'layers':>8}{'launches':>10}{'kernels':>9}{'all':>9}"
        + "".join(f"{step:>12}" for step in STEPS)
        + f"{'MB':>8}"
    )
    whole: list[float] = []
    for count in counts:
        row = in_process(count, shapes, schedule)
        launches = row["launches"]
        whole.append(sum(row[step] for step in STEPS) / launches * 1e3)
        cells = "".join(f"{row[step] / launches * 1e3:12.2f}" for step in STEPS)
        print(f"{count:8}{launches:10}{row['kernels']:9}{whole[-1]:9.1f}{cells}{row['peak']:8.0f}", flush=True)
    print(f"  largest / smallest: {max(whole) / min(whole):.2f}")


if __name__ == "__main__":
    main()
