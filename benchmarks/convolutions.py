"""The convolutions of ResNet-50 on a GPU, against cuDNN in fp32 (no TF32) and against explicit im2col and cuBLAS, in one run.

    python benchmarks/convolutions.py prepare build/convolutions     # with Weft: the kernels of every layer, layout and variant
    python benchmarks/convolutions.py measure build/convolutions     # with CuPy, NumPy and PyTorch alone: convolutions.json
    python benchmarks/convolutions.py record convolutions.json       # keep it in docs/performance/, for the page

Inputs are random (standard normal); results and temporaries are poisoned with NaN before each check. Each result is compared with
PyTorch's convolution in f64, and so is PyTorch's in fp32, so that TF32 would be noticed. All that compute one layer are timed in
turns, a sample of each and then the next sample of each, by CUDA's events; a sample is a graph of many calls, so that the host's
part is no part of it. Times are medians.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

ROOT = Path(__file__).parents[1]
RECORDED = ROOT / "docs" / "performance" / "convolutions-h200.json"

BATCH = 8
SMALL = {"tm": "4", "bm": "64", "bn": "64"}
VARIANTS: Mapping[str, Sequence[tuple[str, str, Mapping[str, str]]]] = {
    "nhwc": (
        ("128x64", "igemm", {}),
        ("128x128", "igemm", {"bn": "128"}),
        ("64x64", "igemm", SMALL),
        ("split 4", "igemm_split_k", {"parts": "4", **SMALL}),
        ("split 8", "igemm_split_k", {"parts": "8", **SMALL}),
    ),
    "nchw": (
        ("128x64", "igemm_nchw", {}),
        ("128x128", "igemm_nchw", {"bn": "128"}),
        ("64x64", "igemm_nchw", SMALL),
    ),
}
"""By layout: what a variant is called, its recipe, and what is set beside the layer."""
FEW_BLOCKS = 264
"""Sums are split where the variant before has fewer blocks than this, two for each of 132 multiprocessors."""

TOLERANCE = 1e-5
"""Of max|got - expected| / max|expected|, as `weft run` allows f32."""
LIBRARY_TOLERANCE = 1e-4
"""The same for cuDNN, which may transform (Winograd); TF32 is off by more."""
ROUNDS, SAMPLE_SECONDS, FEWEST = 25, 1e-3, 10
"""Every sample is a graph of so many calls that they take about a millisecond, and of some in any case."""


# ---- with Weft: the kernels ------------------------------------------------------------------------------------------------


def prepare(layers: Mapping[str, Mapping[str, int]], batch: int = BATCH) -> list[dict[str, Any]]:
    """Schedule and emit every variant of every layer: the text, and what is launched on which buffers."""
    prepared: list[dict[str, Any]] = []
    for name, sizes in layers.items():
        for layout, variants in VARIANTS.items():
            blocks = FEW_BLOCKS
            for variant, recipe, settings in variants:
                if "parts" in settings and blocks >= FEW_BLOCKS:
                    continue
                one = _emitted(recipe, {**{k: str(v) for k, v in sizes.items()}, "n": str(batch), **settings})
                if "parts" not in settings:
                    blocks = math.prod(one["launches"][0]["grid"])
                prepared.append({"layer": name, "layout": layout, "variant": variant, "n": batch, **sizes, **one})
        print(f"prepared {name}", file=sys.stderr)
    return prepared


def _emitted(recipe: str, settings: Mapping[str, str]) -> dict[str, Any]:
    """The text of one schedule and its launches, in order; what needs more than launches is refused."""
    from weft.pipeline import Recipe, applied, planned
    from weft.runtime.cuda.nvrtc import compile_options
    from weft.runtime.dtypes import itemsize
    from weft.runtime.plan import Alloc, BufferView, Free, Launch

    made = planned(applied(Recipe.open(recipe, None, dict(settings))))
    buffers = {b.name: b for b in made.plan.buffers}
    launches: list[dict[str, Any]] = []
    for step in made.plan.steps:
        if isinstance(step, Launch):
            if any(not isinstance(arg, BufferView) or arg.offset for arg in step.args) or step.shared_bytes:
                raise SystemExit(f"{recipe}: a launch with more than whole buffers is not measured here")
            names = [arg.buffer for arg in step.args if isinstance(arg, BufferView)]
            launches.append({"kernel": step.kernel, "grid": list(step.grid), "block": list(step.block), "buffers": names})
        elif not isinstance(step, (Alloc, Free)):
            raise SystemExit(f"{recipe}: a plan with a {type(step).__name__.lower()} is not measured here")
    temporaries = {b.name: math.prod(b.shape) * itemsize(b.dtype) for b in buffers.values() if b.role == "temp"}  # type: ignore[arg-type]
    return {"recipe": recipe, "text": made.cuda, "options": list(compile_options()), "launches": launches,
            "temporaries": temporaries}  # fmt: skip


# ---- with CuPy and PyTorch: the times --------------------------------------------------------------------------------------


class Layer(Protocol):
    """One layer's data on the device, and what the libraries do with it. All work is on the stream that it was made for."""

    explicit_bytes: int
    """Of the buffer that an explicit im2col fills."""

    def address(self, name: str) -> int:
        """Of `X`, `W`, `Y`, in the order of axes that the layout's kernels take."""
        ...

    def poisoned(self, size: int) -> int:
        """The address of a temporary of so many bytes, all of them NaN; it lives as long as the layer."""
        ...

    def poison(self) -> None:
        """Fill `Y`, and all temporaries, with NaN."""
        ...

    def error(self) -> float:
        """max|Y - expected| / max|expected|; infinite where Y is not finite."""
        ...

    def cudnn(self) -> None:
        """The convolution by the library, in the same layout and fp32."""
        ...

    def explicit(self) -> None:
        """im2col into a buffer, and a product by cuBLAS (in the order of NCHW)."""
        ...

    def library_errors(self) -> dict[str, float]:
        """Of `cudnn` and `explicit`, as `error`."""
        ...

    def captured(self, function: Callable[[], object], count: int) -> Callable[[], object]:
        """What does `function` so many times in one go of the host, as a graph: a small layer takes less time than its launch."""
        ...


Make = Callable[[Mapping[str, Any], str, Any], Layer]
"""A layer's data from its sizes, the layout and the stream."""


class TorchLayer:
    """The same with PyTorch."""

    def __init__(self, sizes: Mapping[str, Any], layout: str, stream: Any) -> None:
        import torch

        self.torch, self.stream = torch, torch.cuda.ExternalStream(stream.ptr)
        torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.benchmark = True
        n, c, h, w, k, r, s = (sizes[name] for name in "nchwkrs")
        self.steps = {"stride": sizes["stride"], "padding": sizes["pad"], "dilation": sizes["dilation"]}
        self.taps, self.filters = (r, s), k
        with torch.cuda.stream(self.stream):
            random = torch.Generator(device="cuda").manual_seed(n + c + h + k + r)
            self.x, self.w = (torch.randn(shape, generator=random, device="cuda") for shape in ((n, c, h, w), (k, c, r, s)))
            self.expected = self._convolved(self.x.double(), self.w.double())
            self.largest = float(self.expected.abs().max())
            shape = tuple(self.expected.shape)
            self.explicit_bytes = 4 * n * shape[2] * shape[3] * r * s * c
            self.last = layout == "nhwc"
            if self.last:
                form = {"memory_format": torch.channels_last}
                self.images, self.kernels = self.x.contiguous(**form), self.w.contiguous(**form)
                self.mine = (self.x.permute(0, 2, 3, 1).contiguous(), self.w.permute(2, 3, 1, 0).contiguous())
                self.y = torch.empty((n, shape[2], shape[3], k), device="cuda")
            else:
                self.images, self.kernels = self.mine = (self.x, self.w)
                self.y = torch.empty(shape, device="cuda")
        self.temporaries: list[Any] = []

    def _convolved(self, x: Any, w: Any) -> Any:
        return self.torch.nn.functional.conv2d(x, w, **self.steps)

    def address(self, name: str) -> int:
        return {"X": self.mine[0], "W": self.mine[1], "Y": self.y}[name].data_ptr()

    def poisoned(self, size: int) -> int:
        with self.torch.cuda.stream(self.stream):
            self.temporaries.append(self.torch.full((-(-size // 4),), math.nan, device="cuda"))
        return self.temporaries[-1].data_ptr()

    def poison(self) -> None:
        with self.torch.cuda.stream(self.stream):
            for tensor in (self.y, *self.temporaries):
                tensor.fill_(math.nan)

    def _error(self, got: Any) -> float:
        with self.torch.cuda.stream(self.stream):
            difference = float((got.double() - self.expected).abs().max())
        return difference / self.largest if math.isfinite(difference) else math.inf

    def error(self) -> float:
        return self._error(self.y.permute(0, 3, 1, 2) if self.last else self.y)

    def cudnn(self) -> Any:
        with self.torch.cuda.stream(self.stream):
            return self._convolved(self.images, self.kernels)

    def explicit(self) -> Any:
        with self.torch.cuda.stream(self.stream):
            columns = self.torch.nn.functional.unfold(self.x, self.taps, **self.steps)
            return self.torch.matmul(self.w.view(self.filters, -1), columns)

    def library_errors(self) -> dict[str, float]:
        return {"cudnn": self._error(self.cudnn()), "explicit": self._error(self.explicit().reshape(self.expected.shape))}

    def captured(self, function: Callable[[], object], count: int) -> Callable[[], object]:
        graph = self.torch.cuda.CUDAGraph()
        with self.torch.cuda.graph(graph, stream=self.stream):
            for _ in range(count):
                function()

        def replay() -> None:
            with self.torch.cuda.stream(self.stream):
                graph.replay()

        return replay


def measure(prepared: Sequence[Mapping[str, Any]], cupy: Any, make: Make = TorchLayer) -> dict[str, Any]:
    """Run, check and time all of it. A kernel that does not compile or is wrong has an error and no time."""
    properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
    name = properties["name"].decode() if isinstance(properties["name"], bytes) else str(properties["name"])
    stream = cupy.cuda.Stream(non_blocking=True)
    results: list[dict[str, Any]] = []
    for layer, layout in dict.fromkeys((p["layer"], p["layout"]) for p in prepared):
        variants = [p for p in prepared if (p["layer"], p["layout"]) == (layer, layout)]
        results.append(case(variants, cupy, stream, make(variants[0], layout, stream)))
        print(line(results[-1]), flush=True)
    return {"device": name, "results": results}


def case(variants: Sequence[Mapping[str, Any]], cupy: Any, stream: Any, data: Layer) -> dict[str, Any]:
    """One layer in one layout: all variants, cuDNN, and im2col with cuBLAS."""
    first = variants[0]
    sizes = {name: first[name] for name in ("n", "c", "h", "w", "k", "r", "s", "stride", "pad", "dilation")}
    result: dict[str, Any] = {"layer": first["layer"], "layout": first["layout"], **sizes, "explicit_bytes": data.explicit_bytes}
    library = data.library_errors()
    if not library["cudnn"] <= LIBRARY_TOLERANCE:
        raise SystemExit(f"{first['layer']}: cuDNN is off by {library['cudnn']:.1e} from f64: TF32 is on, or it is broken")
    contenders: dict[str, Callable[[], object]] = {"cudnn": data.cudnn, "explicit": data.explicit}
    result |= {"cudnn": {"error": library["cudnn"]}, "explicit": {"error": library["explicit"]}, "variants": {}}
    for one in variants:
        found: dict[str, Any] = {"right": False, "temporaries": sum(one["temporaries"].values())}
        result["variants"][one["variant"]] = found
        try:
            run = launcher(one, cupy, stream, data)
        except cupy.cuda.nvrtc.NVRTCError as error:
            found["failed"] = str(error)
            continue
        data.poison()
        run()
        stream.synchronize()
        error = data.error()
        found |= {"error": error if math.isfinite(error) else None, "right": error <= TOLERANCE}
        if found["right"]:
            contenders[one["variant"]] = run
    result["right"] = all(found["right"] for found in result["variants"].values())
    for who, seconds in times(cupy, contenders, stream, data).items():
        (result if who in ("cudnn", "explicit") else result["variants"])[who]["seconds"] = seconds
    return result


def launcher(one: Mapping[str, Any], cupy: Any, stream: Any, data: Layer) -> Callable[[], None]:
    """What launches all kernels of a variant, one after the other."""
    from ladder import load

    addresses = {name: data.poisoned(size) for name, size in one["temporaries"].items()}
    addresses |= {name: data.address(name) for name in "XWY"}
    calls = [
        (load(cupy, {**one, "kernel": launch["kernel"]}), tuple(launch["grid"]), tuple(launch["block"]),
         tuple(np.uint64(addresses[name]) for name in launch["buffers"]))
        for launch in one["launches"]
    ]  # fmt: skip

    def run() -> None:
        for function, grid, block, values in calls:
            function(grid, block, values, shared_mem=0, stream=stream)

    return run


def times(cupy: Any, contenders: Mapping[str, Callable[[], object]], stream: Any, data: Layer) -> dict[str, float]:
    """The median of seconds of each, taken in turns."""
    start, end = cupy.cuda.Event(), cupy.cuda.Event()

    def took(function: Callable[[], object]) -> float:
        start.record(stream)
        function()
        end.record(stream)
        end.synchronize()
        return cupy.cuda.get_elapsed_time(start, end) / 1e3

    replays: dict[str, tuple[Callable[[], object], int]] = {}
    for who, function in contenders.items():
        took(function)
        count = max(FEWEST, math.ceil(SAMPLE_SECONDS / took(function)))
        replays[who] = (data.captured(function, count), count)
        took(replays[who][0])
    samples: dict[str, list[float]] = {who: [] for who in contenders}
    for _ in range(ROUNDS):
        for who, (replay, count) in replays.items():
            samples[who].append(took(replay) / count)
    return {who: statistics.median(found) for who, found in samples.items()}


def best(result: Mapping[str, Any]) -> tuple[str, float] | None:
    """The fastest variant that is right, and its seconds."""
    found = [(name, one["seconds"]) for name, one in result["variants"].items() if "seconds" in one]
    return min(found, key=lambda pair: pair[1]) if found else None


def line(result: Mapping[str, Any]) -> str:
    text = f"{result['layer'].removeprefix('resnet50.'):<22} {result['layout']}"
    for name, one in result["variants"].items():
        if "seconds" not in one:
            text += f"   {name}: " + (f"does not compile: {one['failed']}" if "failed" in one else f"WRONG, error {one['error']}")
    if (fastest := best(result)) is None:
        return text
    (name, seconds), cudnn, explicit = fastest, result["cudnn"]["seconds"], result["explicit"]["seconds"]
    return (
        f"{text} {seconds * 1e6:>8.1f} us ({name})   cuDNN {cudnn * 1e6:>8.1f}, {cudnn / seconds:>6.1%} of its speed"
        f"   im2col {explicit * 1e6:>8.1f}, {explicit / seconds:.2f}x   error {result['variants'][name]['error']:.1e}"
    )


# ---- command line ----------------------------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    preparing = commands.add_parser("prepare", help="write the kernels into a folder")
    preparing.add_argument("folder", type=Path)
    preparing.add_argument("layers", nargs="*", help="by default all of ResNet-50's")
    measuring = commands.add_parser("measure", help="run and time them")
    measuring.add_argument("folder", type=Path)
    measuring.add_argument("-o", dest="output", type=Path, default=Path("convolutions.json"), help="where the measurement goes")
    commands.add_parser("record", help="keep a measurement for docs/performance.md").add_argument("file", type=Path)
    chosen = parser.parse_args(arguments)
    if chosen.command == "prepare":
        from weft.recipes.conv2d.resnet50 import LAYERS

        if unknown := [name for name in chosen.layers if name not in LAYERS]:
            raise SystemExit(f"no such layer: {', '.join(unknown)}")
        kernels = prepare({name: LAYERS[name] for name in chosen.layers or LAYERS})
        chosen.folder.mkdir(parents=True, exist_ok=True)
        (chosen.folder / "kernels.json").write_text(json.dumps(kernels))
        return 0
    if chosen.command == "record":
        return record(json.loads(chosen.file.read_text()))
    import cupy

    measured = measure(json.loads((chosen.folder / "kernels.json").read_text()), cupy)
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
