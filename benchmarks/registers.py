"""Registers and spilled bytes of the recipes' kernels, on every chip that texts are compiled for; no GPU is needed.

    python benchmarks/registers.py [RECIPE …] [--set NAME=VALUE …] [--chip CHIP …] [--random COUNT] [--spills]

A line for each type that a recipe takes and each size: even, ragged, a single element, sizes known at run time; or COUNT random
ones. `--set` fixes sizes and parameters, each recipe those that it has. A cell is the registers of each kernel, `+n` the bytes
that it spills.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Mapping, Sequence

from weft.dsl.diagnostics import WeftError
from weft.payloads.settings import builder_of
from weft.pipeline import Choice, applied, planned, read_schedule
from weft.recipes import schedules
from weft.recipes.builder import OPEN
from weft.runtime.cuda.nvrtc import ARCHITECTURES, KernelResources, compile_cubin

Sizes = Mapping[str, str]

PRODUCTS = ((512, 512, 512), (1000, 777, 333), (65, 33, 17), (1, 1, 1), (1000, 776, 332))
HEADS = [(512, 512, d) for d in (64, 128, 192, 256)] + [(100, 77, 33), (1, 1, 1)]
ROWS = [
    dict(zip("mn", size, strict=True))
    for size in ((64, 4096), (70, 1000), (3, 33), (1, 1), (9, 8192), (2, 8191), (2, 20000))
]
IMAGES: tuple[dict[str, int], ...] = (
    {},
    {"n": 3, "h": 13, "w": 11, "c": 5, "k": 7},
    {"n": 8, "c": 3, "h": 224, "w": 224, "k": 64, "r": 7, "s": 7, "stride": 2, "pad": 3},
    {"n": 2, "c": 66, "h": 29, "w": 31, "k": 130, "stride": 2, "dilation": 2},
    {"n": 1, "c": 1, "h": 1, "w": 1, "k": 1, "r": 1, "s": 1, "pad": 0},
)


def sizes_of(recipe: str) -> list[Sizes]:
    """Sizes of each kind, as settings."""
    names = _names(recipe)
    if "causal" in names:
        listed = [{"b": 2, "n": n, "m": m, "d": d} for n, m, d in HEADS] + [{**dict.fromkeys("bnm", OPEN), "d": 64}]
    elif "m" in names and "k" not in names:
        kept = {"kept": 0} if _keeps(recipe) else {}
        listed = [*ROWS, {"m": OPEN, "n": 1000}, {"m": OPEN, "n": OPEN, **kept}]
    elif "m" in names:
        listed = [dict(zip("mnk", size, strict=True)) for size in PRODUCTS] + [dict.fromkeys("mnk", OPEN)]
    elif names.keys() in ({"n", "type"}, {"n", "bins"}):
        listed = [{"n": n} for n in (1, 33, 4096, 65537, 10**6)]
    elif "stride" in names:
        listed = [*IMAGES, dict.fromkeys("nchwk", OPEN)]
        if "residual" in names:
            listed = [{**one, "residual": n % 2} for n, one in enumerate([*listed, listed[1], listed[-1]])]
    else:
        listed = [{}, {"batch": 7, "filters": 5, "size": 9}]
    return [{name: str(value) for name, value in one.items()} for one in listed]


def _keeps(recipe: str) -> bool:
    """Whether it keeps rows in registers, if their length is known."""
    return "kept" in {one.name for one in read_schedule(recipe).main.parameters}


def random_sizes(recipe: str, draw: random.Random) -> Sizes:
    """A product or an image of any size, of few elements or many, divisible by powers of two or not."""

    def some(most: int) -> int:
        step = draw.choice((1, 1, 2, 4, 8, 16, 64))
        return step * draw.randint(1, max(draw.choice((most // 200, most // 30, most)) // step, 1))

    names = _names(recipe)
    if "causal" in names:
        chosen = {
            "b": some(20),
            "n": some(3000),
            "m": some(3000),
            "d": draw.randint(1, 256),
            "causal": draw.randint(0, 1),
        }
    elif "m" in names:
        chosen = {name: some(3000) for name in "mnk" if name in names}
    elif names.keys() in ({"n", "type"}, {"n", "bins"}):
        chosen = {"n": some(10**6)}
    elif "stride" in names:
        taps = {name: draw.choice((1, 1, 2, 3, 3, 4, 5, 7)) for name in "rs"}
        steps = {
            "stride": draw.choice((1, 1, 2, 3)),
            "dilation": draw.choice((1, 1, 1, 2, 3)),
            "pad": draw.choice((0, 1, 1, 2, 3)),
        }
        images = {side: max(some(120), steps["dilation"] * (taps[tap] - 1) + 1) for side, tap in ("hr", "ws")}
        chosen = {"n": some(60), "c": some(300), "k": some(300), **images, **taps, **steps}
        if "residual" in names:
            chosen["residual"] = draw.randint(0, 1)
    else:
        chosen = {"batch": some(300), "filters": some(60), "size": some(60)}
    if draw.random() < 0.1 and {"k", "batch"} & names.keys() == {"k"}:
        chosen |= dict.fromkeys("mnk" if "m" in names else "nchwk", OPEN)
    return {name: str(value) for name, value in chosen.items()}


def types_of(recipe: str) -> Sequence[str | None]:
    """The types that the payload comes in; a recipe refuses some."""
    return _names(recipe).get("type", (None,))


def compiled(recipe: str, settings: Sizes, chips: Sequence[str]) -> Iterator[tuple[str, Mapping[str, KernelResources]]]:
    """Each chip that has the kernels' instructions, with what each takes there. Raises WeftError for what the recipe refuses."""
    made = planned(applied(Choice(recipe, None, settings).open()))
    for chip in [one for one in chips if all(kernel.runs_on(one) for kernel in made.plan.kernels)]:
        yield chip, compile_cubin(made.cuda, chip).kernels


def cell(kernels: Mapping[str, KernelResources]) -> str:
    return "/".join(f"{one.registers}" + (f"+{one.spill_bytes}" if one.spill_bytes else "") for one in kernels.values())


def main() -> None:
    arguments = _arguments()
    draw = random.Random(arguments.seed)
    given = dict(one.split("=", 1) for one in arguments.set)
    print(f"{'':60}", *(f"{chip:>16}" for chip in arguments.chip))
    for recipe in arguments.recipes or schedules():
        mine = {name: value for name, value in given.items() if name in _settings(recipe)}
        sizes = [random_sizes(recipe, draw) for _ in range(arguments.random)] if arguments.random else sizes_of(recipe)
        for type in [mine["type"]] if "type" in mine else types_of(recipe):
            for one in sizes:
                settings = {**one, **({} if type is None else {"type": type}), **mine}
                _line(recipe, settings, arguments.chip, only_spills=arguments.spills)


def _line(recipe: str, settings: Sizes, chips: Sequence[str], *, only_spills: bool) -> None:
    named = " ".join((recipe, *(f"{name}={value}" for name, value in settings.items())))
    try:
        found = dict(compiled(recipe, settings, chips))
    except WeftError as error:
        if not only_spills:
            print(f"{named}: {error.diagnostics[0].code} {error.diagnostics[0].message}", flush=True)
        return
    if not only_spills or any(one.spill_bytes for kernels in found.values() for one in kernels.values()):
        cells = (f"{cell(found[chip]) if chip in found else '–':>16}" for chip in chips)
        print(f"{named:60}", *cells, flush=True)


def _names(recipe: str) -> dict[str, Sequence[str]]:
    """The parameters of a recipe's payload, each with its domain."""
    builder = builder_of(read_schedule(recipe), None)
    return {} if builder is None else {one.name: [str(item) for item in one.domain] for one in builder.parameters}


def _settings(recipe: str) -> set[str]:
    return {*_names(recipe), *(one.name for one in read_schedule(recipe).main.parameters)}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipes", nargs="*", metavar="RECIPE", help="all that ship, if none is given")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--chip", action="append", choices=ARCHITECTURES)
    parser.add_argument(
        "--random", type=int, default=0, metavar="COUNT", help="random sizes in place of the listed ones"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--spills", action="store_true", help="only what spills")
    arguments = parser.parse_args()
    arguments.chip = arguments.chip or list(ARCHITECTURES)
    return arguments


if __name__ == "__main__":
    main()
