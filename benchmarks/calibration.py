"""Predictions beside a kept measurement: the constants of the model are fitted to half of the items, and tested on the others.

    git worktree add ../measured COMMIT                  # the commit that was measured
    (cd ../measured; python benchmarks/gpu.py prepare build/gpu)
    python benchmarks/calibration.py test ../measured/build/gpu        # into docs/performance/predicted.json
    python benchmarks/calibration.py fit ../measured/build/gpu         # what constants the first half asks for

An item is a computation at a size; all its schedules are in the same half. Bundles are compiled and predicted as they were written.
Blocks that stay are left out of both unless `--all`: the model needs up to a minute for each.

Both keep what they know in the folder, `model.jsonl` (a line for each prediction, by its bundle, the model's sources, and the
constants that matter for it) and `machine/` (what a bundle compiles to), and continue there when they are started again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import pickle
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from multiprocessing import Pool
from pathlib import Path
from typing import Any

from weft.dsl.diagnostics import WeftError
from weft.runtime.files.bundle import read_bundle
from weft.runtime.plan.resolve import resolve
from weft.runtime.predict.chips import CHIPS, Gpu
from weft.runtime.predict.pipes import is_of_group, pipe_of
from weft.runtime.predict.prediction import CompiledKernels, machine_code, predict
from weft.runtime.predict.processor.multiprocessor import large_loops

ROOT = Path(__file__).parents[1]
MODEL = ROOT / "weft" / "runtime" / "predict"
MEASURED, PREDICTED = (ROOT / "docs" / "performance" / f"{name}.json" for name in ("measured", "predicted"))
MEASURED_ON = CHIPS["h200"]
CANDIDATES: Mapping[str, Sequence[float]] = {
    "start": (600, 800, 1000), "l2_stores": (2000, 2200, 2500), "l2": (5700, 6300, 6900), "tensor_share": (0.41, 0.43, 0.46),
    "group_share": (0.77, 0.79, 0.81), "dram_share": (0.82, 0.84, 0.86), "fetch": (8, 9, 10), "launch": (1.3e-6, 1.5e-6, 1.7e-6),
}  # fmt: skip
"""Constants of a chip that nobody publishes, or that are published and not reached; and what is tried for each."""
WITHIN, WORST = math.log(1.15), math.log(1.5)
"""A prediction that is off by more is counted; one that is off by more still weighs no more in the fit: it has another cause."""
FAMILIES = ("attention_tensor", "igemm_tensor_nchw", "tensor", "hopper")
"""Kernels by tensor cores, by what their recipe or schedule is called; others are named by their group."""


@dataclass(frozen=True)
class Row:
    """A schedule of an item: its bundle, and what was measured of it.

    Args:
        half: 0 of the items that constants are fitted to, 1 of the others.
        predicted: seconds, one for each chip that was asked of; None where the model refuses.
    """

    item: str
    entry: str
    bundle: str
    measured: float
    half: int
    predicted: tuple[float | None, ...] = ()

    @property
    def family(self) -> str:
        """Of what kind its kernels are."""
        group, _, name = self.item.partition(": ")
        said = f"{name.partition(' ')[0] if group == 'recipes' else ''} {self.entry}"
        found = next((one for one in FAMILIES if one in said), None)
        return f"{group}: {found}" if found else group

    @property
    def stays(self) -> bool:
        return "stay" in self.entry


def rows(folder: Path) -> list[Row]:
    """All that was measured, of the bundles of a folder."""
    items = json.loads((folder / "items.json").read_text())
    bundles = {(one["item"], entry): name for one in items for entry, name in one["entries"].items()}
    found = []
    for one in json.loads(MEASURED.read_text())["results"]:
        for entry, mine in one.get("entries", {}).items() if "libraries" in one else ():
            if "seconds" in mine and (one["item"], entry) in bundles:
                half = hashlib.sha1(one["item"].encode()).digest()[0] % 2
                found.append(Row(one["item"], entry, str(folder / bundles[one["item"], entry]), mine["seconds"], half))
    return found


def machine(row: Row, chip: Gpu) -> CompiledKernels:
    """What the row's bundle compiles to, kept beside the bundles; made again where other classes have kept it."""
    path = Path(row.bundle)
    kept = path.parent / "machine" / f"{path.name}.pickle"
    with suppress(FileNotFoundError, AttributeError, ImportError):
        return pickle.loads(kept.read_bytes())
    found = machine_code(read_bundle(path).cuda, chip.arch)
    kept.parent.mkdir(exist_ok=True)
    written = kept.with_suffix(".new")
    written.write_bytes(pickle.dumps(found))
    written.replace(kept)
    return found


def matters(code: CompiledKernels) -> list[str]:
    """The constants that the time of such machine code depends on, beside that of a launch, which is added to it."""
    every = [one for program in code.programs.values() for one in program.instructions]
    by_tensor_cores = {is_of_group(one) for one in every if pipe_of(one) == "tensor"}
    lacking = {"tensor_share": False not in by_tensor_cores, "group_share": True not in by_tensor_cores}
    lacking["fetch"] = not any(large_loops(program) for program in code.programs.values())
    return [name for name in CANDIDATES if name != "launch" and not lacking.get(name)]


def sources() -> str:
    """A digest of the model's own text: what another one predicted is not known."""
    texts = (path.read_bytes() for path in sorted(MODEL.rglob("*.py")) if path.name != "chips.py")
    return hashlib.sha1(b"\0".join(texts)).hexdigest()[:12]


Key = tuple[str, str, str]
"""A prediction: its bundle, the digest of the model, the constants that matter for it."""
Times = list[float] | None
"""Of each launch the seconds of its blocks; None where the model refuses."""


class Model:
    """Predictions of a folder's bundles, each of which is computed once.

    Args:
        folder: where the bundles are, and where what is known is kept.
        jobs: processes.
    """

    def __init__(self, folder: Path, jobs: int) -> None:
        self.file, self.jobs, self.text = folder / "model.jsonl", jobs, sources()
        lines = self.file.read_text().splitlines() if self.file.exists() else []
        self.known: dict[Key, Times] = {tuple(key): times for key, times in map(json.loads, lines)}
        self.matters: dict[str, list[str]] = {}

    def of(self, ones: Sequence[Row], chips: Sequence[Gpu]) -> list[Row]:
        """The rows with what the model says of each of the chips."""
        with Pool(self.jobs) as pool:
            lacking = [row for row in ones if row.bundle not in self.matters]
            needed = pool.imap(constants_of, [(row, chips[0]) for row in lacking], chunksize=2)
            self.matters |= {row.bundle: found for row, found in zip(lacking, needed, strict=True)}
            asked = {self.key(row, chip): (row, chip) for row in ones for chip in chips}
            missing = [(key, *pair) for key, pair in asked.items() if key not in self.known]
            with self.file.open("a") as file:
                for key, times in pool.imap_unordered(computed, missing):
                    self.known[key] = times
                    print(json.dumps([key, times]), file=file, flush=True)
        return [replace(row, predicted=tuple(self._seconds(row, chip) for chip in chips)) for row in ones]

    def _seconds(self, row: Row, chip: Gpu) -> float | None:
        times = self.known[self.key(row, chip)]
        return None if times is None else sum(times) + len(times) * chip.launch

    def key(self, row: Row, chip: Gpu) -> Key:
        told = {name: value for name, value in constants(chip).items() if name in self.matters[row.bundle]}
        return Path(row.bundle).name, self.text, json.dumps(told)


def constants_of(asked: tuple[Row, Gpu]) -> list[str]:
    return matters(machine(*asked))


def computed(asked: tuple[Key, Row, Gpu]) -> tuple[Key, Times]:
    """What the model says of a row."""
    key, row, chip = asked
    bundle = read_bundle(Path(row.bundle))
    shapes = {
        a.name: tuple(n for n in a.shape if n is not None) for a in bundle.signature.arguments if a.shape is not None
    }
    plan = resolve(bundle.plan, shapes, {})
    try:
        found = predict(plan, bundle.cuda, replace(chip, launch=0.0), code=machine(row, chip))
        return key, [kernel.seconds for kernel in found.kernels]
    except WeftError as error:
        print(f"{row.item} {row.entry}: {error}", file=sys.stderr)
        return key, None


def errors(ones: Iterable[Row], number: int = 0) -> list[float]:
    """ln(predicted / measured), by the chip of that number."""
    return [math.log(said / row.measured) for row in ones if (said := row.predicted[number]) is not None]


def loss(found: Sequence[float]) -> float:
    return sum(min(abs(one), WORST) ** 2 for one in found) / len(found)


def fitted(model: Model, half: Sequence[Row], each: int) -> Gpu:
    """The chip with those candidates, one constant after the other, that are closest to the measured times."""
    by_item: dict[str, list[Row]] = {}
    for row in sorted(half, key=lambda row: hashlib.sha1(row.entry.encode()).digest()):
        by_item.setdefault(row.item, []).append(row)
    sample, chip = [row for ones in by_item.values() for row in ones[:each]], MEASURED_ON
    for name, values in CANDIDATES.items():
        chips = [replace(chip, **{name: value}) for value in values]
        found = model.of(sample, chips)
        losses = [loss(errors(found, n)) for n in range(len(chips))]
        chip = chips[losses.index(min(losses))]
        told = (f"{value:g} {off**0.5:.4f}" for value, off in zip(values, losses, strict=True))
        print(f"{name}: {', '.join(told)}", flush=True)
    return chip


def constants(chip: Gpu) -> dict[str, float]:
    """What was fitted, as the chip has it."""
    return {name: asdict(chip)[name] for name in CANDIDATES}


def summary(ones: Sequence[Row]) -> str:
    """The geometric mean of predicted / measured, and how many are off."""
    found = errors(ones)
    off = sum(abs(one) > WITHIN for one in found)
    mean, worst = math.exp(sum(found) / len(found)), max(found, key=abs)
    return f"{len(found):4} rows, mean {mean:.2f}, {off / len(found):4.0%} off by more than 15 %, worst {math.exp(worst):.2f}"


def table(ones: Sequence[Row]) -> list[str]:
    """A line for all, and for each family, the worst last."""
    known = [row for row in ones if row.predicted[0] is not None]
    families: dict[str, list[Row]] = {}
    for row in known:
        families.setdefault(row.family, []).append(row)
    order = sorted(families.items(), key=lambda pair: loss(errors(pair[1])))
    lines = [f"{name:38} {summary(mine)}" for name, mine in (("all", known), *order)]
    return [*lines, f"refused: {len(ones) - len(known)} of {len(ones)}"]


def kept(ones: Sequence[Row]) -> dict[str, Any]:
    """As the page takes it."""
    each = [
        {"item": row.item, "entry": row.entry, "family": row.family, "half": row.half, "predicted": row.predicted[0]}
        for row in ones
    ]
    return {"chip": MEASURED_ON.name, "constants": constants(MEASURED_ON), "rows": each}


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("fit", "test"))
    parser.add_argument("folder", type=Path, help="where `gpu.py prepare` of the measured commit wrote its bundles")
    parser.add_argument("-o", dest="output", type=Path, default=PREDICTED, help="where `test` keeps its rows")
    parser.add_argument("--all", action="store_true", help="blocks that stay, too")
    parser.add_argument("--each", type=int, default=2, help="schedules of an item that `fit` looks at")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    chosen = parser.parse_args(arguments)
    every = [row for row in rows(chosen.folder) if chosen.all or not row.stays]
    model = Model(chosen.folder, chosen.jobs)
    if chosen.command == "fit":
        print(json.dumps(constants(fitted(model, [row for row in every if row.half == 0], chosen.each))))
        return 0
    found = model.of(every, [MEASURED_ON])
    whole = kept(found)
    whole_rows = ",\n".join(json.dumps(one) for one in whole.pop("rows"))
    chosen.output.write_text(f'{json.dumps(whole)[:-1]}, "rows": [\n{whole_rows}\n]}}\n')
    for half, title in enumerate(("fitted to these items", "tested on these items")):
        print(title, *table([row for row in found if row.half == half]), sep="\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
