"""The parts of `docs/convolution.md` that the tool makes: lines of `docs/convolution/page.md` that start with `@`.

| line | becomes |
|---|---|
| `@schedules` | the statements of `simt` and of `igemm` side by side |
| `@part` | the schedule that both call |
| `@cuda "PATTERN" LINES` | so many lines of the kernel of LAYER, from the first that PATTERN finds |
| `@loop` | what the k loop of some layers consists of, by the disassembly |
| `@open` | the same of one recipe whose sizes are open, and of one whose sizes are assumed to be multiples |
| `@pixels "PATTERN" LINES` | likewise of the recipe `igemm_hopper`, for LAYER |
| `@predicted` | the predicted times of some layers by `igemm_hopper` and `igemm_tensor` |
| `@memory` | what an explicit im2col would allocate for some layers, and what the plan allocates |
"""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from math import prod

import sass
from kept_predictions import predicted
from ladder import H200, excerpt, table
from places import ROOT

import weft
from weft.pipeline import Choice, Planned, applied, planned
from weft.recipes.conv2d.geometry import LAYERS, Convolution, operations
from weft.runtime.plan.dtypes import itemsize
from weft.runtime.plan.plan import Alloc

TEMPLATE = ROOT / "docs" / "convolution" / "page.md"
PART = "by_lanes"
CHIP, BATCH = "sm_90a", 8
LAYER = "resnet50.layer1.0.conv2"
SHOWN = (
    ("igemm", "resnet50.conv1"), ("igemm", LAYER), ("igemm", "resnet50.layer2.0.conv1"), ("igemm", "resnet50.layer4.1.conv2"),
    ("igemm_nchw", LAYER),
)  # fmt: skip


# ---- schedules ---------------------------------------------------------------------------------------------------------------


def statements(recipe: str) -> list[str]:
    """The statements of a shipped schedule, without comments and what is before the first `let` or `versions`."""
    (path,) = ROOT.glob(f"weft/recipes/*/{recipe}.weft")
    lines = [re.sub(r"\s*//.*", "", line).strip() for line in path.read_text().splitlines()]
    first = next(i for i, line in enumerate(lines) if line.startswith(("let ", "versions")))
    return [line for line in lines[first:] if line and line != "}"]


def differences(left: Sequence[str], right: Sequence[str]) -> list[tuple[str, str]]:
    """The lines of both beside each other; a line that the other one does not have stands alone."""
    rows: list[tuple[str, str]] = []
    for kind, a, b, c, d in difflib.SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if kind == "equal":
            rows += zip(left[a:b], right[c:d], strict=True)
        else:
            rows += [(line, "") for line in left[a:b]]
            rows += [("", line) for line in right[c:d]]
    return rows


def schedules() -> list[str]:
    rows = [("simt", "igemm"), *differences(statements("simt"), statements("igemm"))]
    width = max(len(left) for left, _ in rows)
    marks = {(True, True): "=", (True, False): "<", (False, True): ">"}
    lines = [f"{left:<{width}} {marks[bool(left), bool(right)]} {right}".rstrip() for left, right in rows]
    lines[0] = f"{'simt':<{width}}   igemm"
    return ["```text", *lines, "```"]


def part() -> list[str]:
    _, *lines = (ROOT / "weft" / "recipes" / "parts" / f"{PART}.weft").read_text().splitlines()
    return ["```text", *lines, "```"]


# ---- kernels -----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Made:
    """A layer at batch 8, planned."""

    planned: Planned
    sizes: Convolution

    @property
    def rows(self) -> int:
        """The product's rows (M): of all images."""
        return self.sizes.n * prod(self.sizes.out)

    @property
    def summed(self) -> int:
        """What the product sums over (K)."""
        return self.sizes.r * self.sizes.s * self.sizes.c

    @property
    def explicit(self) -> int:
        """Bytes of the buffer that an explicit im2col fills."""
        return self.rows * self.summed * itemsize(self.sizes.type)

    @property
    def allocated(self) -> int:
        """Bytes of global memory that the plan allocates besides the arguments and the result."""
        named = {b.name: b for b in self.planned.plan.buffers}
        made = [named[step.buffer] for step in self.planned.plan.steps if isinstance(step, Alloc)]
        return sum(prod(int(n) for n in b.shape) * itemsize(b.dtype) for b in made if b.role == "temp")  # type: ignore[arg-type]

    @property
    def loop(self) -> sass.Counts:
        return sass.inner_loop(self.planned.cuda, self.planned.plan.kernels[0].name, CHIP)

    @property
    def resources(self) -> sass.KernelResources:
        return sass.resources(self.planned.cuda, self.planned.plan.kernels[0].name, CHIP)


@cache
def made(recipe: str, layer: str) -> Made:
    settings = {name: str(value) for name, value in {**LAYERS[layer], "n": BATCH}.items()}
    return Made(planned(applied(Choice(recipe, None, settings).open())), Convolution(n=BATCH, type="f32", **LAYERS[layer]))


def loop() -> list[str]:
    head = ("recipe, layer", "instructions", "FFMA", "global loads", "shared loads", "integer", "divisions", "registers", "spilled")
    rows = []
    for recipe, layer in SHOWN:
        found, one = made(recipe, layer).loop, made(recipe, layer).resources
        rows.append((
            f"`{recipe}`, {layer.removeprefix('resnet50.')}", str(sum(found.by_mnemonic.values())), str(found.ffma),
            _widths(found.global_loads), _widths(found.shared_loads), str(found.integer), str(found.divisions),
            str(one.registers), f"{one.spill_bytes} bytes",
        ))  # fmt: skip
    return table(head, rows)


MULTIPLES = ("X.3 % 16 == 0", "W.3 % 64 == 0")


def assuming(text: str, assumed: Sequence[str]) -> str:
    """A recipe's text, and a schedule that assumes these and calls it."""
    lines = "".join(f"  assume {one}\n" for one in assumed)
    return f"{text}\nschedule assumed() {{\n{lines}  igemm()\n}}\n"


def open_sizes() -> list[str]:
    text = (ROOT / "weft" / "recipes" / "conv2d" / "igemm.weft").read_text()
    rows = []
    open_ = dict.fromkeys("nchwk", "?")
    for name, source, settings, version in (
        ("one size", text, {**LAYERS[LAYER], "n": BATCH}, 0),
        ("multiples of 16 and 64", assuming(text, MULTIPLES), open_, 0),
        ("multiples of 4 (version 1)", text, open_, 0),
        ("any size (version 2)", text, open_, 1),
    ):
        done = planned(applied(weft.load(source, settings=settings)))
        launch = done.plan.launches[version]
        kernels = {"": launch.kernel} if launch.narrow is None else {", 32 bits": launch.narrow.kernel, ", 64 bits": launch.kernel}
        for bits, kernel in kernels.items():
            found, one = sass.product_loop(done.cuda, kernel, CHIP), sass.resources(done.cuda, kernel, CHIP)
            rows.append((name + bits, str(sum(found.by_mnemonic.values())), str(found.ffma), _widths(found.global_loads),
                         str(found.divisions), str(one.registers), f"{one.spill_bytes} bytes"))  # fmt: skip
    return table(("`igemm` for", "instructions", "FFMA", "global loads", "divisions", "registers", "spilled"), rows)


def _widths(loads: dict[int, int]) -> str:
    """`6 of 16 bytes`, the widest first."""
    return ", ".join(f"{count} of {bits // 8} bytes" for bits, count in sorted(loads.items(), reverse=True)) or "none"


def memory() -> list[str]:
    head = ("layer, 8 images", "M", "K", "image and filters", "explicit im2col", "Weft")
    rows = []
    for layer in ("resnet50.conv1", LAYER, "resnet50.layer2.1.conv2", "resnet50.layer3.1.conv2", "resnet50.layer4.1.conv2"):
        one = made("igemm", layer)
        sizes = one.sizes
        read = (sizes.n * sizes.h * sizes.w * sizes.c + one.summed * sizes.k) * itemsize(sizes.type)
        rows.append((layer.removeprefix("resnet50."), f"{one.rows:,}", f"{one.summed:,}", _mib(read), _mib(one.explicit),
                     _mib(one.allocated)))  # fmt: skip
    return table(head, rows)


HOPPER = (LAYER, "resnet50.layer2.0.conv2", "resnet50.layer3.1.conv2", "resnet50.layer4.1.conv2")
IMAGES = 32


def _at(recipe: str, layer: str, **settings: int) -> Planned:
    chosen = {**LAYERS[layer], "n": IMAGES, "type": "bf16", **settings}
    return planned(applied(Choice(recipe, None, {name: str(value) for name, value in chosen.items()}).open()))


@cache
def by_pixels(layer: str) -> Planned:
    """A layer in the tiles of the recipe; of 64 filters in narrower ones."""
    return _at("igemm_hopper", layer, **({"bm": 256, "bn": 64} if LAYERS[layer]["k"] == 64 else {}))


def times() -> list[str]:
    head = ("layer, 32 images", "`igemm_tensor`", "`igemm_hopper`", "TFLOP/s")
    rows = []
    for layer in HOPPER:
        before, now = (predicted(done, H200.name).kernels[0].seconds for done in (_at("igemm_tensor", layer), by_pixels(layer)))
        done = operations(**LAYERS[layer], n=IMAGES, type="bf16")
        rows.append((layer.removeprefix("resnet50."), f"{before * 1e6:.1f} µs", f"{now * 1e6:.1f} µs", f"{done / now / 1e12:,.0f}"))
    return table(head, rows)


def _mib(count: int) -> str:
    return f"{count / 2**20:.1f} MiB" if count else "0"


# ---- the page ----------------------------------------------------------------------------------------------------------------


def expanded(line: str) -> Sequence[str]:
    """What a line of the template becomes."""
    if not line.startswith("@"):
        return [line]
    name, *words = shlex.split(line[1:])
    makers: dict[str, Callable[[], list[str]]] = {
        "schedules": schedules,
        "part": part,
        "cuda": lambda: excerpt(made("igemm", LAYER).planned.cuda, words[0], int(words[1])),
        "loop": loop,
        "open": open_sizes,
        "memory": memory,
        "pixels": lambda: excerpt(by_pixels(LAYER).cuda, words[0], int(words[1])),
        "predicted": times,
    }
    return makers[name]()
